"""Reference implementations of the algorithms: NumPy, float64, dense, one row at a time. Slow, made to be read and changed.

A rule is a function from a row's statistics (`Stats`) to a step (`Step`). With a geometry, which defines what a step changes, it
is a learner with the interface of the others:

>>> from onlinecls.reference import RuleClassifier, Stats, Step
>>> def cautious(s: Stats) -> Step:
...     "Take half of PA-I's step."
...     return Step(tau=min(1.0, 0.5 * s.loss / s.q)) if s.loss > 0.0 else Step()
>>> learner = RuleClassifier(cautious).partial_fit([[3.0, 4.0]], [1], classes=[0, 1])
>>> learner.coef_.round(9).tolist(), learner.intercept_.round(9).tolist()
([[0.057692308, 0.076923077]], [0.019230769])

RULES has the papers' rules, by their names in the library's tables, in their order and symbols; `RuleClassifier("arow",
{"r": 1.0})` is AROWClassifier(r=1.0), some hundred times slower. The library's tests compare its compiled learners with these.

`PotentialClassifier` and `PotentialRegressor` are the potential framework of Orabona and Crammer (NIPS 2010), Fig. 1, for any
convex loss, any rates and any functions f_t: LOSSES, REGRESSION_LOSSES, `SquaredNorm`, `SimplexNorm`, `PNorm`, `Entropic`,
`Quadratic`. They compute both sides of Lemma 1 while learning. `LeaderClassifier` and `LeaderRegressor` follow the regularized
leader with any of these f and losses. `MatrixAdaGrad` and `DualMatrixAdaGrad` are AdaGrad with its full matrix.
`Committee` combines models of classes by a `Combiner` of their scores.

docs/reference.md shows how to use all of this.
"""

from .committee import Combiner, Committee, NumberCommittee
from .estimators import (
    LeaderClassifier,
    LeaderRegressor,
    PotentialClassifier,
    PotentialRegressor,
    RuleClassifier,
    RuleRegressor,
)
from .learners import (
    GEOMETRIES,
    Additive,
    DualMatrixAdaGrad,
    Gaussian,
    Learner,
    Level,
    MatrixAdaGrad,
    Model,
    Potential,
)
from .potential import (
    LOSSES,
    REGRESSION_LOSSES,
    Entropic,
    LeaderLearner,
    Loss,
    PNorm,
    PotentialLearner,
    Quadratic,
    SimplexNorm,
    SquaredNorm,
    aggressive_p_norm_rate,
    best_r,
    conservative,
    insensitive,
)
from .rules import RULES, Rule, Stats, Step

__all__ = [
    "GEOMETRIES", "LOSSES", "REGRESSION_LOSSES", "RULES", "Additive", "Combiner", "Committee", "DualMatrixAdaGrad",
    "Entropic", "Gaussian", "LeaderClassifier", "LeaderLearner", "LeaderRegressor", "Learner", "Level", "Loss",
    "MatrixAdaGrad", "Model", "NumberCommittee", "PNorm", "Potential", "PotentialClassifier", "PotentialLearner",
    "PotentialRegressor", "Quadratic", "Rule", "RuleClassifier", "RuleRegressor", "SimplexNorm", "SquaredNorm",
    "Stats", "Step", "aggressive_p_norm_rate", "best_r", "conservative", "insensitive",
]


def __dir__() -> list[str]:
    return __all__
