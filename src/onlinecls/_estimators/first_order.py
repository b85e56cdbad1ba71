"""Learners with one number for each feature: Perceptron, passive-aggressive."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Literal, Self

from .classifier import LinearClassifier
from .learner import OnlineLearner, fit
from .parameters import LinearParameters, estimator
from .regressor import OnlineRegressor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._input.types import FloatOrAuto, Matrix, RandomState


class _WithStart(OnlineLearner):
    """A learner that can start from given weights."""

    def fit(  # type: ignore[override]  # scikit-learn's order of arguments
        self, X: Matrix, y: ArrayLike, coef_init: ArrayLike | None = None, intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch in epochs, like other learners' `fit`. Returns the estimator.

        It starts from the weights coef_init and intercept_init, of the shapes of `coef_` and `intercept_`; None: from 0.
        """
        return fit(self, X, y, sample_weight, coef_init, intercept_init)


@estimator
class Perceptron(_WithStart, LinearClassifier):
    """Perceptron, conservative (learns from mistakes) or aggressive (learns from margins below 1).

    With the margin m = y w.x and the row's weight c,

        m <= 0 (aggressive: m < 1):   w += eta0 c y x.

    S. Shalev-Shwartz, Y. Singer: Online Learning, ICML 2008 tutorial, part III (Perceptron) and DA1 (the aggressive form).

    Parameters
    ----------
    aggressive : bool, default=False
        Update on every margin below 1 instead of on mistakes (m <= 0) only.
    eta0 : float, default=1.0
        Step size, > 0; for a conservative Perceptron only the unit of the scores.
    penalty, alpha, l1_ratio : None, float, float
        scikit-learn's arguments. Only ``penalty=None`` is accepted; the other two are not used.
    n_jobs : int or None, default=None
        scikit-learn's argument, not used.
    {shared}

    Examples
    --------
    >>> from onlinecls import Perceptron
    >>> learner = Perceptron().partial_fit([[1.0, 0.0], [0.0, 1.0]], ["ham", "spam"], classes=["ham", "spam"])
    >>> learner.predict([[0.0, 2.0]]).tolist(), learner.n_mistakes_
    (['spam'], 1)
    """

    aggressive: bool = False
    _: KW_ONLY
    eta0: float = 1.0
    scale: FloatOrAuto = 1.0
    max_iter: int = 1000
    random_state: RandomState = 0
    penalty: None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    n_jobs: int | None = None


@estimator
class PassiveAggressiveClassifier(_WithStart, LinearClassifier):
    """Passive-aggressive: the smallest step that gives the row a margin of 1 (or `margin`), or a compromise set by C.

    With the margin m = y w.x, loss l = [margin - m]+ and the row's weight c, w += tau y x with

        PA     (C=inf):                 tau = l / ||x||^2
        PA-I   (loss="hinge"):          tau = min(C c, l / ||x||^2)
        PA-II  (loss="squared_hinge"):  tau = l / (||x||^2 + 1/(2 C c)).

    K. Crammer et al.: Online Passive-Aggressive Algorithms, NIPS 2003, sections 3 and 5 (the paper's gamma is 1/(2C)); PA-I: part
    III of S. Shalev-Shwartz, Y. Singer: Online Learning, ICML 2008 tutorial.

    It takes the arguments of scikit-learn's class of the same name, which scikit-learn 1.10 removes, with two differences: the
    constant feature is in ||x||^2, so that the margin after a step is exactly 1, dense or sparse (scikit-learn leaves it out
    and damps it for CSR), and weights are inside the cap, C c (scikit-learn multiplies the capped step).

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0: the largest step. ``float("inf")`` is the plain PA.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        PA-I or PA-II.
    margin : float, default=1.0
        The wanted margin, > 0 (the paper's insensitivity |epsilon|): another one only changes the units of weights and C.
    n_jobs : int or None, default=None
        scikit-learn's argument, not used.
    {shared}

    Examples
    --------
    >>> from onlinecls import PassiveAggressiveClassifier
    >>> learner = PassiveAggressiveClassifier(C=float("inf"), fit_intercept=False)
    >>> learner.partial_fit([[3.0, 4.0]], [1], classes=[0, 1]).decision_function([[3.0, 4.0]]).round(12).tolist()
    [1.0]
    """

    C: float = 1.0
    _: KW_ONLY
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    scale: FloatOrAuto = 1.0
    max_iter: int = 1000
    loss_tol: float | None = None
    margin: float = 1.0
    n_jobs: int | None = None


@estimator
class PassiveAggressiveRegressor(_WithStart, LinearParameters, OnlineRegressor):
    """Passive-aggressive regression: the smallest step to a prediction within epsilon of y, or a compromise set by C.

    With the prediction s = w.x, loss l = [|y - s| - epsilon]+ and the row's weight c, w += tau sgn(y - s) x with

        PA     (C=inf):                              tau = l / ||x||^2
        PA-I   (loss="epsilon_insensitive"):         tau = min(C c, l / ||x||^2)
        PA-II  (loss="squared_epsilon_insensitive"): tau = l / (||x||^2 + 1/(2 C c))

    The papers, and the differences to scikit-learn's class, are those of `PassiveAggressiveClassifier`. It learns deviations from
    the mean of the targets so far, unless `intercept_scaling` is a number.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0: the largest step, in units of y. ``float("inf")`` is the plain PA.
    epsilon : float, default=0.1
        Residuals up to epsilon, >= 0, in units of y, have no loss and change nothing.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        PA-I or PA-II.
    {shared}

    Examples
    --------
    >>> from onlinecls import PassiveAggressiveRegressor
    >>> learner = PassiveAggressiveRegressor(C=float("inf"), epsilon=0.5, fit_intercept=False)
    >>> learner.partial_fit([[3.0, 4.0]], [10.0]).predict([[3.0, 4.0]]).round(12).tolist(), learner.progressive_mae_
    ([9.5], 10.0)
    """

    C: float = 1.0
    _: KW_ONLY
    epsilon: float = 0.1
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive"
    scale: FloatOrAuto = 1.0
    max_iter: int = 1000
    loss_tol: float | None = None
