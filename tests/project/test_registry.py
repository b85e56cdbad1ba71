"""The table of algorithms and what must agree with it."""

import onlinecls
from onlinecls._compiled import model
from onlinecls._registry import ALGORITHMS, OTHERS
from onlinecls._wings.dual_ascent import dual_ascent as ascent

IN_ASCENT = {*ascent.UPDATES_OF, "gradient", "hedge"}  # rules whose loops are in dual_ascent.pyx


def test_rows_name_the_rules_and_geometries_that_are_compiled_and_parameters_of_their_classes():
    for algorithm in ALGORITHMS.values():
        assert algorithm.rule not in IN_ASCENT or algorithm.geometry in ("additive", "entropic", "experts")
        parameters = getattr(onlinecls, algorithm.estimator)().get_params()
        assert {*algorithm.params, *algorithm.selects} <= set(parameters)
    assert {a.rule for a in ALGORITHMS.values()} == {*model.RULES, *IN_ASCENT}
    offered = {geometry for a in (*ALGORITHMS.values(), *OTHERS.values()) for geometry in a.geometries if a.rule in model.RULES}
    assert offered == model.GEOMETRIES.keys()
