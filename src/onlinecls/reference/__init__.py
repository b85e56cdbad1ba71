"""Reference implementations of the algorithms: NumPy, float64, dense, one row at a time. Slow, made to be read and changed.

A rule is a function from a row's statistics (`Stats`) to a step (`Step`). With a geometry, which defines what a step changes, it
is a learner of signed rows z = y x; `Model` makes one of several classes of it:

>>> from onlinecls.reference import Additive, Stats, Step
>>> def cautious(s: Stats) -> Step:
...     "Take half of PA-I's step."
...     return Step(tau=min(1.0, 0.5 * s.loss / s.q)) if s.loss > 0.0 else Step()
>>> learner = Additive(2, cautious)
>>> learner.step([3.0, 4.0]), learner.w.round(9).tolist()
(True, [0.06, 0.08])

RULES has the papers' rules, by their names in the library's tables, in their order and symbols: `Gaussian(d, RULES["arow"].step,
r=1.0)` is AROWClassifier(r=1.0), some hundred times slower. The library's tests compare its compiled learners with these.

`PotentialLearner` is the potential framework of Orabona and Crammer (NIPS 2010), Fig. 1, for any convex loss, any rates and
any functions f_t, and knows both sides of Lemma 1. `LeaderLearner` follows the regularized leader with the same f and losses.
`MatrixAdaGrad` and `DualMatrixAdaGrad` are AdaGrad with its full matrix. `Scale` makes of a row what a learner reads.
docs/reference.md shows how to use all of this.
"""

from .learners import GEOMETRIES, Additive, DualMatrixAdaGrad, Gaussian, Learner, MatrixAdaGrad, Model
from .potential import (
    LOSSES,
    REGRESSION_LOSSES,
    Entropic,
    LeaderLearner,
    Loss,
    PNorm,
    PotentialLearner,
    Quadratic,
    SquaredNorm,
    aggressive_p_norm_rate,
    best_r,
    conservative,
    insensitive,
)
from .reading import Scale
from .rules import RULES, Rule, Stats, Step

__all__ = [
    "GEOMETRIES", "LOSSES", "REGRESSION_LOSSES", "RULES", "Additive", "DualMatrixAdaGrad", "Entropic", "Gaussian",
    "LeaderLearner", "Learner", "Loss", "MatrixAdaGrad", "Model", "PNorm", "PotentialLearner", "Quadratic", "Rule", "Scale",
    "SquaredNorm", "Stats", "Step", "aggressive_p_norm_rate", "best_r", "conservative", "insensitive",
]
