"""The rows of the table of algorithms for the p-norm Perceptrons."""

from __future__ import annotations

from ..._algorithm import NO_SUM, NONE, Algorithm, Either, Real

POWER = Either(
    (NONE, Real(2.0, 500.0, True, True)),
    hint="2 is the plain Perceptron, None max(2, 2 ln n_features). p <= 1 has no dual norm, p < 2 no bound.",
)
RADIUS = Real(0.0, hint="radius bounds the p-norm of the rows; with 2**0.5 and norms up to 1 the steps of p = 2 are PA-I's.")

ALGORITHMS = (
    Algorithm("p_norm", "perceptron", "p_norm", "PNormPerceptron", {"p": POWER, "radius": RADIUS}, selects={"aggressive": False},
              margin=0.0, trials=({"p": 3.3}, {"p": 18.0}, {"p": 2}),
              theorems=("p_norm", "fixed_rate", "lemma_1", "potential_based"), conflicts=(NO_SUM,),
              title="p-norm Perceptron", paper="NAROW, section 4.1"),
    Algorithm("aggressive_p_norm", "aggressive_p_norm", "p_norm", "PNormPerceptron", {"p": POWER, "radius": RADIUS},
              selects={"aggressive": True}, trials=({"p": 6.0, "radius": 1.7}, {"p": 2.5, "radius": 0.9}),
              theorems=("p_norm", "lemma_1", "potential_based"), conflicts=(NO_SUM,),
              title="Aggressive p-norm Perceptron", paper="NAROW, section 4.1 (aggressive)"),
)
