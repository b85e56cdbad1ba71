"""The rows of the table of algorithms for the multiplicative passive-aggressive learners."""

from __future__ import annotations

from ..._algorithm import BALL, BOOLEAN, EPSILON, NO_SUM, NORM_BOUND, Algorithm, Real

MARGIN = Real(0.0, hint="Scores lie in [-norm_bound max|x|, norm_bound max|x|]: no row can have a larger margin.")

ALGORITHMS = (
    Algorithm("multiplicative_pa", "multiplicative", "sinh", "MultiplicativePassiveAggressiveClassifier",
              {"margin": MARGIN, "signed": BOOLEAN, "norm_bound": NORM_BOUND},
              trigger="own_margin", trials=({"margin": 0.4, "norm_bound": 2.5}, {"margin": 1.5, "norm_bound": 1.0}),
              theorems=("multiplicative",), conflicts=(NO_SUM,), costs="hard_margin", title="Multiplicative PA",
              paper="PA, section 6"),
    Algorithm("multiplicative_pa_regression", "multiplicative", "sinh", "MultiplicativePassiveAggressiveRegressor",
              {"epsilon": EPSILON, "signed": BOOLEAN, "norm_bound": NORM_BOUND}, margin=0.0, tasks=("regression",),
              trigger="own_margin",
              trials=({"epsilon": 0.3, "norm_bound": 6.0}, {"epsilon": 0.0, "norm_bound": 0.8}), theorems=("multiplicative",),
              conflicts=(NO_SUM,), title="Multiplicative PA regression", paper="PA, section 6"),
    Algorithm("multiplicative_pa_one_class", "multiplicative_centre", "sinh", "MultiplicativePassiveAggressiveOneClass",
              {"epsilon": BALL, "signed": BOOLEAN, "norm_bound": NORM_BOUND}, margin=0.0, tasks=("one_class",),
              trigger="own_margin",
              trials=({"epsilon": 1.5, "norm_bound": 3.0}, {"epsilon": 0.4, "norm_bound": 1.0},
                      {"epsilon": 0.0, "norm_bound": 0.5}),
              theorems=("one_class",), title="Multiplicative PA one-class (uniclass)", paper="PA, section 6 (uniclass)"),
)
