"""The rows of the table of algorithms for the baselines: gradient descent, and Hedge."""

from __future__ import annotations

from ..._algorithm import AUTO, BOOLEAN, POSITIVE, STEP, Algorithm, Either, Real

DESCENT = {"alpha": Real(0.0, hint="The steps are 1/(alpha t)."), "eta0": STEP}
RATE = Either((AUTO, POSITIVE), hint="It is the rate of learning; 'auto' needs no horizon.")

ALGORITHMS = (
    Algorithm("ogd", "gradient", "additive", "OGDClassifier", DESCENT, selects={"learning_rate": "strongly_convex"},
              trials=({"alpha": 0.1},), theorems=("gradient_descent",), title="Online gradient descent, strongly convex",
              paper="ICML 2008 tutorial, V"),
    Algorithm("ogd_sqrt", "gradient", "additive", "OGDClassifier", DESCENT, selects={"learning_rate": "sqrt"},
              trials=({"eta0": 0.3},), theorems=("potential_based", "lemma_1"), title="Online gradient descent, plain",
              paper="ICML 2008 tutorial, V (its baseline)"),
    Algorithm("hedge", "hedge", "experts", "HedgeClassifier", {"eta0": RATE, "signed": BOOLEAN},
              tasks=("experts",), trials=({"eta0": 0.3}, {"eta0": "auto"}), merge="sum",
              title="Hedge (experts)",
              paper="ICML 2008 tutorial, I, III and V"),
)
