"""THE table: every algorithm's rule, geometry, hyper-parameters with their ranges, estimator and paper.

Estimators, tests, benchmarks and the demo read it, and the README's table is checked against it. A row names the compiled rule
and geometry, the estimator class that offers it, and, where one class offers several, the constructor argument that selects it.
The rows of learners of first and second order are here; those of a wing stand in its folder.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from ._algorithm import (
    AGGRESSIVENESS,
    COMMON,
    CYCLES,
    EPSILON,
    EVIDENCE,
    NONE,
    POSITIVE,
    ROW_MARGIN,
    STEP,
    TABLE,
    Algorithm,
    Either,
    Options,
    Range,
    Real,
    parameter_error,
)

#: The families beside the core: folders of `_wings`. Without its line here, and its folder, a family is gone.
WINGS = (
    "one_class", "adagrad", "ftrl", "p_norm", "multiplicative", "dual_ascent", "baselines", "kernels", "online_to_batch",
    "committee",
)

R = Real(0.0, hint="r is the noise variance of one row, whose length is about 1.")
FORGETTING = Real(0.0, 0.1, True, True, hint="Each row lets the variances grow by 1/(1 - forgetting).")
ONE_R = Either((NONE, POSITIVE), hint=R.hint)
VARIANCE = Real(0.0, hint="It is the variance of each weight before the first row.")
CAP = Real(0.0, high_allowed=True, hint="C caps the step; float('inf') gives the plain CW.")
CONFIDENCE = Real(0.5, 1.0, hint="eta is the required probability of a correct prediction; 0.5 would require nothing.")


def _in_wings(kind: str) -> list[Algorithm]:
    """Return the rows of this kind that the wings have."""
    return [row for wing in WINGS for row in getattr(import_module(f"{__package__}._wings.{wing}.algorithms"), kind, ())]


ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType({a.name: a for a in [
    Algorithm("perceptron", "perceptron", "additive", "Perceptron", {"eta0": STEP},
              selects={"aggressive": False}, margin=0.0,
              trials=({"eta0": 0.75},),
              theorems=("perceptron", "fixed_rate", "lemma_1", "potential_based"),
              title="Perceptron", paper="ICML 2008 tutorial, III; NAROW, section 2"),
    Algorithm("aggressive_perceptron", "aggressive_perceptron", "additive", "Perceptron", {"eta0": STEP},
              selects={"aggressive": True}, trials=({"eta0": 0.375},),
              theorems=("fixed_rate", "lemma_1", "potential_based"), title="Aggressive Perceptron", costs="margin",
              paper="ICML 2008 tutorial, DA1"),
    Algorithm("pa1", "pa1", "additive", "PassiveAggressiveClassifier", {"C": AGGRESSIVENESS, "margin": ROW_MARGIN},
              selects={"loss": "hinge"},
              trials=({"C": 0.02}, {"C": math.inf}, {"C": 0.3, "margin": 2.5}, {"C": 0.3, "margin": 0.4}),
              theorems=("passive_aggressive", "margin_corollary", "distance"), conflicts=CYCLES, title="PA-I (PA with C=inf)",
              costs="margin", paper="PA, section 3; ICML 2008 tutorial, III"),
    Algorithm("pa2", "pa2", "additive", "PassiveAggressiveClassifier", {"C": AGGRESSIVENESS, "margin": ROW_MARGIN},
              selects={"loss": "squared_hinge"}, trials=({"C": 0.05}, {"C": math.inf}, {"C": 0.3, "margin": 2.5}),
              theorems=("passive_aggressive", "margin_corollary", "distance"), conflicts=CYCLES,
              title="PA-II", costs="margin", paper="PA, section 5"),
    Algorithm("sop", "sop", "potential", "SecondOrderPerceptron", {"r": EVIDENCE, "initial_variance": VARIANCE},
              selects={"aggressive": False}, margin=0.0, trigger="lookahead_mistake",
              trials=({"r": 2.0, "initial_variance": 1.0}, {"r": 0.8, "initial_variance": 0.5}),
              theorems=("potential_based", "second_order_perceptron", "fixed_rate", "lemma_1"), merge="sum",
              title="Second-order Perceptron", paper="NAROW, section 4.2"),
    Algorithm("aggressive_sop", "aggressive_sop", "potential", "SecondOrderPerceptron",
              {"r": EVIDENCE, "initial_variance": VARIANCE}, selects={"aggressive": True}, trigger="lookahead_loss",
              trials=({"r": 0.7, "initial_variance": 1.0},),
              theorems=("potential_based", "second_order_perceptron", "fixed_rate", "lemma_1"), merge="sum",
              title="Aggressive second-order Perceptron", paper="NAROW, Fig. 1, sections 4.2 and 4.3"),
    Algorithm("arow", "arow", "gaussian", "AROWClassifier", {"r": R, "r1": ONE_R, "r2": ONE_R, "forgetting": FORGETTING},
              trials=({"r": 0.5}, {"r": 0.5, "r1": 2.0}, {"r1": 0.3, "r2": 1.5}, {"r": 0.5, "forgetting": 0.01}),
              theorems=("arow", "potential_based"), merge="posterior", title="AROW", costs="margin", paper="AROW, eqs (7)-(9)"),
    Algorithm("narow", "narow", "potential", "NAROWClassifier", {"b": POSITIVE, "initial_variance": VARIANCE},
              trigger="lookahead_loss",
              trials=({"b": 0.3, "initial_variance": 1.0}, {"b": 0.6, "initial_variance": 2.0}),
              theorems=("potential_based", "narow", "fixed_rate", "lemma_1"), merge="sum", title="NAROW",
              paper="NAROW, section 5"),
    Algorithm("cw_stdev", "cw_stdev", "gaussian", "ConfidenceWeightedClassifier",
              {"eta": CONFIDENCE, "initial_variance": VARIANCE, "forgetting": FORGETTING},
              selects={"variant": "stdev"}, trigger="stdev", trials=({"eta": 0.7, "initial_variance": 0.5},), merge="posterior",
              kernel={"least": 1e-4},
              title="Confidence-weighted (stdev)", costs="hard_margin", paper="exact convex CW (NIPS 2008)"),
    Algorithm("cw_variance", "cw_variance", "gaussian", "ConfidenceWeightedClassifier",
              {"eta": CONFIDENCE, "initial_variance": VARIANCE, "forgetting": FORGETTING},
              selects={"variant": "variance"}, trigger="variance",
              trials=({"eta": 0.8, "initial_variance": 2.0}, {"eta": 0.8, "initial_variance": 2.0, "forgetting": 0.05}),
              merge="posterior", title="Confidence-weighted (variance)", costs="hard_margin", paper="CW (ICML 2008)"),
    Algorithm("scw1", "scw1", "gaussian", "SCWClassifier",
              {"C": CAP, "eta": CONFIDENCE, "initial_variance": VARIANCE, "forgetting": FORGETTING},
              selects={"variant": "SCW-I"}, trigger="stdev",
              trials=({"C": 0.3, "eta": 0.8, "initial_variance": 0.5}, {"C": math.inf, "eta": 0.7, "initial_variance": 1.0},
                      {"C": 0.3, "eta": 0.8, "initial_variance": 0.5, "forgetting": 0.003}),
              merge="posterior", costs="margin", title="Soft confidence-weighted (SCW-I)",
              paper="SCW (ICML 2012), proposition 1"),
    Algorithm("scw2", "scw2", "gaussian", "SCWClassifier",
              {"C": CAP, "eta": CONFIDENCE, "initial_variance": VARIANCE, "forgetting": FORGETTING},
              selects={"variant": "SCW-II"}, trigger="stdev", trials=({"C": 0.6, "eta": 0.8, "initial_variance": 2.0},),
              merge="posterior", costs="margin", title="Soft confidence-weighted (SCW-II)",
              paper="SCW (ICML 2012), proposition 2"),
    Algorithm("pa1_regression", "pa1", "additive", "PassiveAggressiveRegressor", {"C": AGGRESSIVENESS, "epsilon": EPSILON},
              selects={"loss": "epsilon_insensitive"}, margin=0.0, tasks=("regression",),
              trials=({"C": 0.2, "epsilon": 0.3}, {"C": math.inf, "epsilon": 0.0}), theorems=("passive_aggressive", "distance"),
              conflicts=CYCLES, level=True, title="PA-I regression (PA with C=inf)",
              paper="PA, sections 2 and 3; ICML 2008 tutorial, III"),
    Algorithm("pa2_regression", "pa2", "additive", "PassiveAggressiveRegressor", {"C": AGGRESSIVENESS, "epsilon": EPSILON},
              selects={"loss": "squared_epsilon_insensitive"}, margin=0.0, tasks=("regression",),
              trials=({"C": 0.3, "epsilon": 0.2}, {"C": math.inf, "epsilon": 0.5}), theorems=("passive_aggressive", "distance"),
              conflicts=CYCLES, level=True, title="PA-II regression", paper="PA, sections 2 and 5"),
    Algorithm("arow_regression", "least_squares", "gaussian", "AROWRegressor",
              {"r": R, "r1": ONE_R, "r2": ONE_R, "forgetting": FORGETTING}, margin=0.0, tasks=("regression",),
              trials=({"r": 0.5}, {"r": 0.5, "r2": 2.0}, {"r": 0.5, "forgetting": 0.02}), theorems=("least_squares",),
              merge="posterior", level=True, title="AROW regression (recursive least squares)", paper="AROW, section 7"),
    *_in_wings("ALGORITHMS"),
]})

#: Estimators that run the rules of the table above in another way: in dual form, or wrapped.
OTHERS: Mapping[str, Algorithm] = MappingProxyType({a.name: a for a in _in_wings("OTHERS")})
TABLE.update({**ALGORITHMS, **OTHERS})

#: The rows of each estimator, by its name; and all names.
OFFERED = {name: tuple(row for row in TABLE.values() if row.estimator == name) for name in {a.estimator for a in TABLE.values()}}
ESTIMATORS = frozenset(OFFERED)

#: Compositions of an estimator and the steps before it, with their folders.
COMPOSED = {"StreamPipeline": "_pipeline"}

#: The modules with the estimators, in the order in which they are searched.
MODULES = (
    *(f"_estimators.{name}" for name in ("second_order", "first_order")),
    *(f"_wings.{wing}.estimators" for wing in WINGS),
)


def estimator_class(name: str) -> type:
    """Return the estimator class of this name; its file is imported now."""
    modules = (import_module(f"{__package__}.{file}") for file in ((COMPOSED[name],) if name in COMPOSED else MODULES))
    return next(vars(module)[name] for module in modules if name in vars(module))


def algorithms_of(cls: type) -> tuple[Algorithm, ...]:
    """Return the rows that a class, or the class that it extends, offers; none for a class of another library."""
    for base in cls.__mro__:
        if base.__name__ in OFFERED:
            return OFFERED[base.__name__]
    return ()


@cache
def _offered_by(cls: type) -> tuple[tuple[Algorithm, ...], Mapping[str, Range]]:
    """Return the rows that a class offers, and the values of the parameters that choose among them."""
    rows = algorithms_of(cls)
    names = dict.fromkeys(name for row in rows for name in row.selects)
    return rows, {name: Options(tuple(dict.fromkeys(row.selects[name] for row in rows if name in row.selects))) for name in names}


def select(cls: type, values: Mapping[str, object]) -> Algorithm:
    """Check the parameters of an estimator of this class against their ranges, and return the row that they choose."""
    who, (offered, choices) = cls.__name__, _offered_by(cls)
    for name, allowed in choices.items():
        if values[name] not in allowed:
            raise parameter_error(who, name, allowed, values[name])
    for chosen in offered:
        if chosen.selects.items() <= values.items():
            break
    for name, allowed in {**COMMON, **chosen.params}.items():
        if name in values and values[name] not in allowed:
            raise parameter_error(who, name, allowed, values[name])
    for conflict in chosen.conflicts:
        if conflict.occurs(values):
            raise conflict.error(who, values)
    return chosen
