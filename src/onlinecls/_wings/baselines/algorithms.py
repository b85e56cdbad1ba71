"""The rows of the table of algorithms for the baselines: gradient descent, and Hedge."""

from __future__ import annotations

from ..._algorithm import AUTO, BOOLEAN, POSITIVE, STEP, Algorithm, Default, Either

DESCENT = {"alpha": Either((AUTO, POSITIVE), hint="The steps are 1/(alpha t)."), "eta0": STEP}
OGD = {"alpha": Default(1e-4, 2), "eta0": Default(1.0, -2, used=False)}
OGD_SQRT = {"alpha": Default(1e-4, 2, used=False), "eta0": Default(1.0, -2)}

ALGORITHMS = (
    Algorithm("ogd", "gradient", "additive", "OGDClassifier", DESCENT, selects={"learning_rate": "strongly_convex"}, units=OGD,
              trials=({"alpha": 0.1},), theorems=("gradient_descent",), title="Online gradient descent, strongly convex",
              paper="ICML 2008 tutorial, V"),
    Algorithm("ogd_sqrt", "gradient", "additive", "OGDClassifier", DESCENT, selects={"learning_rate": "sqrt"}, units=OGD_SQRT,
              trials=({"eta0": 0.3},), theorems=("potential_based", "lemma_1"), title="Online gradient descent, plain",
              paper="ICML 2008 tutorial, V (its baseline)"),
    Algorithm("hedge", "hedge", "experts", "HedgeClassifier", {"eta0": STEP, "signed": BOOLEAN},
              tasks=("experts",), trials=({"eta0": 0.3}, {"eta0": "auto"}), merge="sum",
              title="Hedge (experts)",
              paper="ICML 2008 tutorial, I, III and V"),
)
