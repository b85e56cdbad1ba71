"""The table of algorithms and what must agree with it."""

from pathlib import Path

import pytest
from reference import MODELS, ONE_CLASS, REGRESSION

import onlinecls
from onlinecls import _core
from onlinecls._ascent import ascent
from onlinecls._registry import ALGORITHMS

README = Path(__file__).resolve().parents[1] / "README.md"
IN_ASCENT = {*ascent.UPDATES_OF, "gradient", "hedge", "forel"}  # rules whose kernels are in _ascent and beside it
every_algorithm = pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)


@every_algorithm
def test_a_row_names_what_there_is(algorithm):
    if algorithm.rule in IN_ASCENT:
        assert algorithm.geometry in ("additive", "entropic", "experts")
    else:
        assert algorithm.rule in _core.RULES and set(algorithm.geometries) <= set(_core.GEOMETRIES)
    own = {("regression",): REGRESSION, ("one_class",): ONE_CLASS, ("experts",): {"hedge"}, ("leader",): {"forel"}}
    twins = own.get(algorithm.tasks, MODELS)  # (Hedge's is in test_dual_ascent.py, FoReL's in test_follow_the_leader.py)
    assert algorithm.name in twins, "every algorithm has its slow twin"
    parameters = getattr(onlinecls, algorithm.estimator)().get_params()
    assert {*algorithm.params, *algorithm.selects} <= set(parameters)


def test_every_compiled_rule_is_offered():
    assert {a.rule for a in ALGORITHMS.values()} == {*_core.RULES, *IN_ASCENT}
    offered = {geometry for a in ALGORITHMS.values() for geometry in a.geometries if a.rule in _core.RULES}
    assert offered == set(_core.GEOMETRIES)


@every_algorithm
def test_readme_has_its_row(algorithm):
    rows = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {algorithm.title} |")]
    assert len(rows) == 1
    assert algorithm.paper in rows[0] and f"`{algorithm.estimator}(" in rows[0]


@every_algorithm
def test_readme_s_call_selects_it(algorithm):
    """The call in the table, on the class's defaults, is this algorithm and no other of the class."""
    row = next(line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {algorithm.title} |"))
    call = row.split("`")[1].replace("l1=...", "l1=0.1")
    learner = eval(call, vars(onlinecls))  # our own README
    assert {name: getattr(learner, name) for name in algorithm.selects} == dict(algorithm.selects)
