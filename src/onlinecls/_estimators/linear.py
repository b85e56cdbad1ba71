"""The linear learners of the core: Perceptron and passive-aggressive, and those that keep a variance for each weight."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal, Self, overload

from .learner import OnlineLearner
from .parameters import LinearParameters, estimator
from .tasks import LinearClassifier, OnlineRegressor, SecondOrderClassifier, WithVariances

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._input.types import FloatOrAuto, Matrix, Numbers, RandomState


# --- one number for each feature ---------------------------------------------------------------------------------------------


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class _LikeScikitLearns(OnlineLearner):
    """A learner that takes what scikit-learn's of the same name takes, and can start from given weights."""

    scale: FloatOrAuto = 1.0
    max_iter: int = 1000

    def fit(  # type: ignore[override]  # scikit-learn's order of arguments
        self, X: Matrix, y: ArrayLike, coef_init: ArrayLike | None = None, intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch in epochs, like other learners' `fit`. Returns the estimator.

        It starts from the weights coef_init and intercept_init, of the shapes of `coef_` and `intercept_`; None: from 0.
        """
        return self._fit(X, y, sample_weight, coef_init=coef_init, intercept_init=intercept_init)


@estimator
class Perceptron(_LikeScikitLearns, LinearClassifier):
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
    random_state: RandomState = 0
    penalty: None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    n_jobs: int | None = None


@estimator
class PassiveAggressiveClassifier(_LikeScikitLearns, LinearClassifier):
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
    loss_tol: float | None = None
    margin: float = 1.0
    n_jobs: int | None = None


@estimator
class PassiveAggressiveRegressor(_LikeScikitLearns, LinearParameters, OnlineRegressor):
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
    loss_tol: float | None = None


# --- a variance for each weight ----------------------------------------------------------------------------------------------


@estimator
class AROWClassifier(SecondOrderClassifier):
    """Adaptive Regularization of Weights: a Gaussian over weights that every row with hinge loss moves and narrows.

    With the margin m = y w.x, v = x'Σx and the row's weight c, r1 = r2 = r: if m < 1,

        w += y (1 - m) / (v + r1/c) Σx,     Σ^-1 += (c/r2) x x'   (on the diagonal).

    The diagonal form is Σ_i /= 1 + c x_i^2 Σ_i / r2, the exact minimiser among diagonal matrices, not the full update's diagonal.
    Eqs (7)-(9) of K. Crammer, A. Kulesza, M. Dredze: Adaptive Regularization of Weight Vectors, NIPS 2009.

    Parameters
    ----------
    r : float, default=0.1
        Noise variance of a row, > 0. Larger r, smaller steps.
    {shared}

    Examples
    --------
    >>> from onlinecls import AROWClassifier
    >>> learner = AROWClassifier(r=1.0, fit_intercept=False).partial_fit([[1.0, 0.0]], [1], classes=[0, 1])
    >>> learner.coef_.tolist(), learner.covariance_.tolist()
    ([[0.5, 0.0]], [[0.5, 1.0]])
    """

    r: float = 0.1
    _: KW_ONLY
    forgetting: float = 0.0
    r1: float | None = None
    r2: float | None = None


@estimator
class AROWRegressor(WithVariances, LinearParameters, OnlineRegressor):
    """AROW for regression, which is recursive least squares: a Gaussian over weights that every row moves and narrows.

    With the prediction s = w.x, v = x'Σx, the row's weight c and r1 = r2 = r, on every row

        w += (y - s) / (v + r1/c) Σx,     Σ^-1 += (c/r2) x x'   (on the diagonal),

    where y is the target's deviation from the mean of the targets before it (see `intercept_scaling`). The full update is ridge
    regression on all rows so far, argmin r ||w||^2 + sum c (y - w.x)^2 (`fit`: of centred targets). ``tol`` of `fit` is in units
    of y. Section 7 of K. Crammer, A. Kulesza, M. Dredze: Adaptive Regularization of Weight Vectors, NIPS 2009.

    Parameters
    ----------
    r : float, default=0.1
        Noise variance of a row, > 0. Larger r, smaller steps.
    {shared}

    Examples
    --------
    >>> from onlinecls import AROWRegressor
    >>> learner = AROWRegressor(r=1.0, fit_intercept=False).partial_fit([[1.0, 0.0]], [3.0])
    >>> learner.coef_.tolist(), learner.covariance_.tolist(), learner.progressive_mse_
    ([1.5, 0.0], [0.5, 1.0], 9.0)
    """

    r: float = 0.1
    _: KW_ONLY
    forgetting: float = 0.0
    r1: float | None = None
    r2: float | None = None

    @overload
    def predict(self, X: Matrix, return_std: Literal[False] = False) -> Numbers: ...
    @overload
    def predict(self, X: Matrix, return_std: Literal[True]) -> tuple[Numbers, Numbers]: ...
    def predict(self, X: Matrix, return_std: bool = False) -> Numbers | tuple[Numbers, Numbers]:
        """Predict w.x of each row, including the intercept, and optionally its standard deviation.

        For X of shape (n_samples, n_features): ndarray of float64, shape (n_samples,), in units of y.

        With ``return_std=True`` a pair of the predictions and, in their shape, √(x'Σx) of each, the uncertainty of w.x. With
        noise of variance r in y, a prior of variance 1 for each weight and a full covariance, it is the posterior's standard
        deviation, in units of y.
        """
        return self._scores(X, return_std)


@estimator
class NAROWClassifier(SecondOrderClassifier):
    """Narrow AROW: the matrix changes only as long as a row still adds to it, so that the bound holds without tuning r.

    With θ the sum of signed rows, w = Σθ, χ = x'Σx and m' = y x'Σ_tθ, the margin with x already in Σ_t: if m' < 1 and χ > 0,

        θ += c y x,     and if b χ > 1:   Σ^-1 += ((b χ - 1)/χ) x x'   (on the diagonal).

    Section 5 and Fig. 1 of F. Orabona, K. Crammer: New Adaptive Algorithms for Online Classification, NIPS 2010.

    Parameters
    ----------
    b : float, default={b}
        Confidence wanted, > 0: a row of variance below 1/b does not change Σ. With the default variance b
        must be above 1 for Σ to change at all.
    {shared}

    Examples
    --------
    >>> from onlinecls import NAROWClassifier
    >>> learner = NAROWClassifier(b=4.0, fit_intercept=False).partial_fit([[1.0, 0.0]], [1], classes=[0, 1])
    >>> learner.coef_.tolist(), learner.covariance_.tolist()
    ([[0.25, 0.0]], [[0.25, 4.0]])
    """

    b: float = 5.0
    _: KW_ONLY
    initial_variance: float = 4.0


@estimator
class SecondOrderPerceptron(SecondOrderClassifier):
    """Second-order Perceptron, conservative or aggressive: a Perceptron in the metric of the rows it has learnt from.

    With θ the sum of signed rows, w = Σθ and m' = y x'Σ_tθ, the margin with x already in Σ_t: if m' <= 0 (aggressive: m' < 1),

        θ += c y x,     Σ^-1 += x x'/r   (on the diagonal).

    Sections 4.2 and 4.3 of F. Orabona, K. Crammer: New Adaptive Algorithms for Online Classification, NIPS 2010.

    Parameters
    ----------
    r : float, default={r}
        Noise variance of a row, > 0. Larger r: closer to the Perceptron.
    aggressive : bool, default=False
        Update on every m' below 1 instead of on m' <= 0 only.
    {shared}

    Examples
    --------
    >>> from onlinecls import SecondOrderPerceptron
    >>> learner = SecondOrderPerceptron(r=1.0, fit_intercept=False).partial_fit([[1.0, 0.0]], [1], classes=[0, 1])
    >>> learner.coef_.tolist(), learner.covariance_.tolist()
    ([[0.5, 0.0]], [[0.5, 1.0]])
    """

    r: float = 0.5
    _: KW_ONLY
    aggressive: bool = False
    initial_variance: float = 1.0


@estimator
class ConfidenceWeightedClassifier(SecondOrderClassifier):
    """Confidence-weighted: the nearest Gaussian over weights under which the row is right with probability eta.

    With the margin m = y w.x, v = x'Σx, φ = Φ^-1(eta): if α > 0, w += α y Σx and, on the diagonal,

        variant="stdev":      α = [(-mψ + √(m²φ⁴/4 + vφ²ζ)) / (vζ)]+,  ψ = 1 + φ²/2,  ζ = 1 + φ²,     Σ^-1 += (αφ/√u) x x',
                              √u = (-αvφ + √(α²v²φ² + 4v)) / 2
        variant="variance":   α = [(-(1 + 2φm) + √((1 + 2φm)² - 8φ(m - φv))) / (4φv)]+,               Σ^-1 += 2αφ x x'.

    A row's weight c multiplies both steps by min(1, c). No variance is less than the dtype's smallest normal number / eps, or, in
    the diagonal "stdev" form, 1e-4 of the initial one: rows that contradict each other would narrow the model until it stops
    learning. M. Dredze, K. Crammer, F. Pereira: Confidence-Weighted Linear Classification, ICML 2008 ("variance"), and Exact
    Convex Confidence-Weighted Learning, NIPS 2008 ("stdev").

    Parameters
    ----------
    eta : float, default={eta}
        Confidence wanted, a probability in (0.5, 1).
    variant : {"stdev", "variance"}, default={variant}
        The exact convex form, or the first paper's linearised one.
    {shared}

    Examples
    --------
    >>> from onlinecls import ConfidenceWeightedClassifier
    >>> learner = ConfidenceWeightedClassifier(eta=0.9).partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], classes=[0, 1])
    >>> learner.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    _poor_score = True

    eta: float = 0.8
    _: KW_ONLY
    variant: Literal["stdev", "variance"] = "stdev"
    initial_variance: float = 3.0
    forgetting: float = 0.0


@estimator
class SCWClassifier(SecondOrderClassifier):
    """Soft confidence-weighted: confidence-weighted learning with steps bounded by C, so that noisy labels do not end it.

    With m, v, φ, ψ, ζ of `ConfidenceWeightedClassifier` and the row's weight c: if φ√v > m, w += α y Σx, Σ changes as there, and

        variant="SCW-I":    α = min(C c, [(-mψ + √(m²φ⁴/4 + vφ²ζ)) / (vζ)]+)
        variant="SCW-II":   α = [(-(2mn + φ²mv) + γ) / (2(n² + nvφ²))]+,        n = v + 1/(2Cc),  γ = φ√(φ²m²v² + 4nv(n + vφ²)).

    Propositions 1 (SCW-I) and 2 (SCW-II) of J. Wang, P. Zhao, S. Hoi: Exact Soft Confidence-Weighted Learning, ICML 2012.

    Parameters
    ----------
    C : float, default={C}
        Aggressiveness, > 0: the largest α. ``float("inf")`` is the confidence-weighted learner (its "stdev" form).
    eta : float, default={eta}
        Confidence wanted, a probability in (0.5, 1).
    variant : {"SCW-I", "SCW-II"}, default={variant}
        Linear or squared penalty on missing confidence.
    {shared}

    Examples
    --------
    >>> from onlinecls import SCWClassifier
    >>> learner = SCWClassifier(eta=0.9).partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], classes=[0, 1])
    >>> learner.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [0, 1]
    """

    C: float = 1.0
    _: KW_ONLY
    eta: float = 0.8
    variant: Literal["SCW-I", "SCW-II"] = "SCW-I"
    initial_variance: float = 3.0
    forgetting: float = 0.0
