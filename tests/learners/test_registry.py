"""The table of algorithms and what must agree with it."""

import re
from pathlib import Path

import pytest

import onlinecls
from onlinecls._compiled import model
from onlinecls._registry import ALGORITHMS, OTHERS
from onlinecls._wings.dual_ascent import dual_ascent as ascent

ROOT = Path(__file__).resolve().parents[2]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "algorithms.md"
IN_ASCENT = {*ascent.UPDATES_OF, "gradient", "hedge"}  # rules whose loops are in dual_ascent.pyx
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)


@every_algorithm
def test_a_registry_row_names_an_existing_rule_and_parameters(algorithm):
    if algorithm.rule in IN_ASCENT:
        assert algorithm.geometry in ("additive", "entropic", "experts")
    else:
        assert algorithm.rule in model.RULES and set(algorithm.geometries) <= model.GEOMETRIES.keys()
    parameters = getattr(onlinecls, algorithm.estimator)().get_params()
    assert {*algorithm.params, *algorithm.selects} <= set(parameters)


def test_every_compiled_rule_is_offered():
    assert {a.rule for a in ALGORITHMS.values()} == {*model.RULES, *IN_ASCENT}
    offered = {geometry for a in (*ALGORITHMS.values(), *OTHERS.values()) for geometry in a.geometries if a.rule in model.RULES}
    assert offered == model.GEOMETRIES.keys()


@every_algorithm
def test_the_call_in_the_page_of_algorithms_selects_its_row(algorithm):
    """The call in the table of algorithms, on the class's defaults, is this algorithm and no other of the class."""
    (row,) = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {algorithm.title} |")]
    learner = eval(row.split("|")[3].strip(" `"), {name: getattr(onlinecls, name) for name in onlinecls.__all__})  # our own page
    assert type(learner).__name__ == algorithm.estimator
    assert {name: getattr(learner, name) for name in algorithm.selects} == dict(algorithm.selects)


def test_the_readme_has_a_row_for_every_class():
    text = README.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", text[text.index("## Classes") :], re.MULTILINE)
    assert sorted(rows) == sorted(name for name in onlinecls.__all__ if isinstance(getattr(onlinecls, name), type))
