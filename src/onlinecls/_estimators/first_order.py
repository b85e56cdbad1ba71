"""Learners with one number for each feature (AdaGrad: two): Perceptron, passive-aggressive, AdaGrad."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, Any, Literal, Self

from .._models.adagrad import FullDualState, FullMirrorState
from .._models.states import PNormState
from .base import OnlineLearner
from .classifier import LinearClassifier, OnlineClassifier
from .parameters import LinearParameters, estimator
from .regressor import OnlineRegressor
from .until_converged import ClassifierUntilConverged, RegressorUntilConverged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, DTypeLike

    from .._input.types import FloatOrAuto, Matrix, RandomState
    from .._registry import Algorithm

MATRICES = {"diagonal": 0, "mirror_descent": 1, "dual_averaging": 2}  # of AdaGrad: the diagonal, or the full matrix of an update
MOST_FEATURES = 500  # with the full matrix: more would take longer than 50 ms a row


class _WithStart(OnlineLearner):
    """A learner that can start from given weights."""

    def fit(  # type: ignore[override]  # scikit-learn's order of arguments
        self, X: Matrix, y: ArrayLike, coef_init: ArrayLike | None = None, intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from scratch in epochs, like other learners' `fit`, starting from the weights coef_init and intercept_init.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        coef_init : array-like of the shape of `coef_`, default=None
        intercept_init : array-like of the shape of `intercept_`, default=None
        sample_weight : array-like of shape (n_samples,), default=None

        Returns
        -------
        self : object
        """
        return self._fit(X, y, sample_weight, coef_init, intercept_init)


@estimator
class Perceptron(_WithStart, LinearClassifier):
    """Perceptron, conservative (learns from mistakes) or aggressive (learns from margins below 1).

    With the margin m = y w.x and the row's weight c,

        m <= 0 (aggressive: m < 1):   w += eta0 c y x,

    for each class against the rest or, with ``multi_class="crammer_singer"``, with x on the true class, -x on the best wrong one,
    and m the difference of their scores.

    Parameters
    ----------
    aggressive : bool, default=False
        Update on every margin below 1 instead of on mistakes (m <= 0) only.
    eta0 : float or "auto", default="auto"
        Step size, > 0; for a conservative Perceptron only the unit of the scores.
    penalty, alpha, l1_ratio : None, float, float
        scikit-learn's arguments. Only ``penalty=None`` is accepted; the other two are not used.
    {shared}

    Notes
    -----
    It takes scikit-learn's arguments, with one difference: the constant feature is a feature like any other, dense or sparse
    (scikit-learn damps the intercept's steps for CSR).

    References
    ----------
    .. [1] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, part III (Perceptron)
       and DA1 (the aggressive form).

    Examples
    --------
    >>> from onlinecls import Perceptron
    >>> learner = Perceptron().partial_fit([[1.0, 0.0], [0.0, 1.0]], ["ham", "spam"], classes=["ham", "spam"])
    >>> learner.predict([[0.0, 2.0]]).tolist(), learner.n_mistakes_
    (['spam'], 1)
    """

    _is_biased = True

    aggressive: bool = False
    _: KW_ONLY
    eta0: FloatOrAuto = "auto"
    max_iter: int = 1000
    random_state: RandomState = 0
    penalty: None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15

    def _check_parameters(self, values: dict[str, Any]) -> None:
        if values["penalty"] is not None:
            raise ValueError(
                f"Perceptron: penalty must be None, got penalty={values['penalty']!r}. Online learners of this library take no "
                "penalty; for L1 see AdaGradClassifier(update='dual_averaging', l1=...)."
            )


@estimator
class PassiveAggressiveClassifier(_WithStart, ClassifierUntilConverged, LinearClassifier):
    """Passive-aggressive: the smallest step that gives the row a margin of 1 (or `margin`), or a compromise set by C.

    With the margin m = y w.x, loss l = [margin - m]+ and the row's weight c, w += tau y x with

        PA     (C=inf):                 tau = l / ||x||^2
        PA-I   (loss="hinge"):          tau = min(C c, l / ||x||^2)
        PA-II  (loss="squared_hinge"):  tau = l / (||x||^2 + 1/(2 C c))

    for each class against the rest or, with ``multi_class="crammer_singer"``, with x on the true class and -x on the best wrong
    one, so that ||.||^2 = 2 ||x||^2.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0: the largest step. ``float("inf")`` is the plain PA.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        PA-I or PA-II.
    margin : float, default=1.0
        The wanted margin, > 0 (the paper's insensitivity |epsilon|): another one only changes the units of weights and C.
    {shared}

    Notes
    -----
    It takes the arguments of scikit-learn's class of the same name, which scikit-learn 1.10 removes, with two differences: the
    constant feature is in ||x||^2, so that the margin after a step is exactly 1, dense or sparse (scikit-learn leaves it out
    and damps it for CSR), and weights are inside the cap, C c (scikit-learn multiplies the capped step).

    References
    ----------
    .. [1] K. Crammer, O. Dekel, S. Shalev-Shwartz, Y. Singer. Online Passive-Aggressive Algorithms. NIPS 2003, sections 3 and 5
       (the paper's gamma is 1/(2C)).
    .. [2] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, part III (PA-I).

    Examples
    --------
    >>> from onlinecls import PassiveAggressiveClassifier
    >>> learner = PassiveAggressiveClassifier(C=float("inf"), fit_intercept=False)
    >>> learner.partial_fit([[3.0, 4.0]], [1], classes=[0, 1]).decision_function([[3.0, 4.0]]).round(12).tolist()
    [1.0]
    """

    _is_biased = True

    C: float = 1.0
    _: KW_ONLY
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    max_iter: int = 1000
    loss_tol: float | None = None
    margin: float = 1.0


@estimator
class PassiveAggressiveRegressor(_WithStart, RegressorUntilConverged, LinearParameters, OnlineRegressor):
    """Passive-aggressive regression: the smallest step to a prediction within epsilon of y, or a compromise set by C.

    With the prediction s = w.x, loss l = [|y - s| - epsilon]+ and the row's weight c, w += tau sgn(y - s) x with

        PA     (C=inf):                              tau = l / ||x||^2
        PA-I   (loss="epsilon_insensitive"):         tau = min(C c, l / ||x||^2)
        PA-II  (loss="squared_epsilon_insensitive"): tau = l / (||x||^2 + 1/(2 C c))

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0: the largest step, in units of y. ``float("inf")`` is the plain PA.
    epsilon : float, default=0.1
        Residuals up to epsilon, >= 0, in units of y, have no loss and change nothing.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        PA-I or PA-II.
    {shared}

    Notes
    -----
    It takes the arguments of scikit-learn's class of the same name, which scikit-learn 1.10 removes, with two differences: the
    constant feature is in ||x||^2, so that a step with C=inf ends exactly epsilon from y, dense or sparse (scikit-learn leaves
    it out and damps it for CSR), and weights are inside the cap, C c (scikit-learn multiplies the capped step).

    References
    ----------
    .. [1] K. Crammer, O. Dekel, S. Shalev-Shwartz, Y. Singer. Online Passive-Aggressive Algorithms. NIPS 2003, sections 2, 3 and
       5 (the paper's gamma is 1/(2C)).
    .. [2] S. Shalev-Shwartz, Y. Singer. Theory and Applications of Online Learning. ICML 2008 tutorial, part III (PA-I).

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
    max_iter: int = 1000
    loss_tol: float | None = None


@estimator
class PNormPerceptron(LinearClassifier):
    """p-norm Perceptron, conservative or aggressive: between the Perceptron (p = 2) and multiplicative updates (p = 2 ln d).

    With 1/p + 1/q = 1, the margin m = y w.x and the row's weight c, theta += eta c y x, and

        w_i = (q - 1) sgn(theta_i) |theta_i|^(p-1) / ||theta||_p^(p-2),

        m <= 0:                     eta = 1
        0 < m < 1, if aggressive:   eta = clip((radius^2/2 - m) / ||x||_p^2, 0, 1),

    for each class against the rest or, with ``multi_class="crammer_singer"``, with x on the true class, -x on the best wrong one,
    m the difference of their scores and the norms those of the joint vectors (``||.||_p^p = 2 ||x||_p^p``).

    Parameters
    ----------
    p : float or None, default=None
        The norm, in [2, 500]. None: max(2, 2 ln n_features), with which the mistake bound grows with ln n_features and the
        largest feature instead of with the length of the rows: for many features, few of them relevant.
    aggressive : bool, default=False
        Update on every margin below 1 instead of on mistakes (m <= 0) only.
    radius : float, default=2**0.5
        > 0, in units of the rows' p-norm. Only for the aggressive form: it wants margins of up to radius^2/2.
    {shared}

    Notes
    -----
    A row costs O(nnz): ``||theta||_p`` is kept as a running sum with a bound on its error, and summed anew, O(n_features), where
    the bound requires it. ``coef_`` is computed when it is read, O(n_features). ``average`` is refused: the scale of all weights
    falls with ``||theta||^(p-2)``, so that a sum over rounds cancels all digits of the later ones.

    References
    ----------
    .. [1] F. Orabona, K. Crammer. New Adaptive Algorithms for Online Classification. NIPS 2010, section 4.1.

    Examples
    --------
    >>> from onlinecls import PNormPerceptron
    >>> learner = PNormPerceptron(p=3, fit_intercept=False).partial_fit([[3.0, 4.0]], [1], classes=[0, 1])
    >>> (learner.coef_ * (3**3 + 4**3) ** (1 / 3)).round(12).tolist()
    [[4.5, 8.0]]
    """

    p: float | None = None
    _: KW_ONLY
    aggressive: bool = False
    radius: float = 2**0.5

    def _is_another_kind(self, params: dict) -> bool:
        return super()._is_another_kind(params) or PNormState.power_of(params, self.n_features_in_) != self._state.power

    def _grown(self, places: np.ndarray, n_classes: int) -> Any:
        """Scale theta so that w becomes -w/2 and w/2: the joint norm of two halves is 2^(1/p) times that of one."""
        power = self._state.power
        share = 0.5 if self.multi_class == "ovr" else 0.5 * 2.0 ** ((power - 2.0) / power)
        return self._state.grow_classes(places, n_classes, share)


@estimator
class AdaGradClassifier(LinearClassifier):
    """AdaGrad on the hinge loss: each feature has its own step size, which falls as it is used.

    With the margin m = y w.x and the row's weight c: if m < 1, g = -c y x, G_i += g_i^2, and

        update="mirror_descent":   w_i -= eta0 g_i / (delta + sqrt(G_i))
        update="dual_averaging":   w_i = eta0 soft(z_i, l1 t) / (delta + sqrt(G_i)),   z = -(sum of g),   t rounds so far.

    With ``matrix="full"`` G is the sum of gg', a matrix for each vector of weights, in float64:

        update="mirror_descent":   w -= eta0 (delta I + G^(1/2))^-1 g
        update="dual_averaging":   w = eta0 (delta I + G^(1/2))^-1 z

    which also fits a step to directions across features. It takes at most 500 features: an update costs O(d^3), about 0.2 ms with
    20 features and 30 ms with 500.

    Parameters
    ----------
    eta0 : float or "auto", default="auto"
        Step size, > 0.
    delta : float or "auto", default="auto"
        Added to every sqrt(G_i), > 0: it limits a feature's first steps.
    update : {"mirror_descent", "dual_averaging"}, default="{update}"
    matrix : {"diagonal", "full"}, default="diagonal"
        Whether G has a number for each feature, or for each pair of features.
    l1 : float, default=0.0
        L1 regularisation of the dual averaging form, >= 0, per round: weights whose |z_i| is at most l1 t are exactly 0. With
        the full matrix it must be 0.
    {shared}

    References
    ----------
    .. [1] F. Orabona, K. Crammer. New Adaptive Algorithms for Online Classification. NIPS 2010, experiments: the baseline [9].
    .. [2] J. Duchi, E. Hazan, Y. Singer. Adaptive Subgradient Methods for Online Learning and Stochastic Optimization. COLT 2010.

    Examples
    --------
    >>> from onlinecls import AdaGradClassifier
    >>> learner = AdaGradClassifier().partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], classes=[0, 1])
    >>> learner.predict([[3.0, 1.0], [1.0, 3.0]]).tolist()
    [0, 1]
    """

    eta0: FloatOrAuto = "auto"
    _: KW_ONLY
    delta: FloatOrAuto = "auto"
    update: Literal["mirror_descent", "dual_averaging"] = "mirror_descent"
    matrix: Literal["diagonal", "full"] = "diagonal"
    l1: float = 0.0
    _kept = (*OnlineClassifier._kept, "matrix")
    _fields = {**OnlineClassifier._fields, "matrix": MATRICES}

    def _params_from(self, algorithm: Algorithm, values: dict) -> dict:
        matrix = values["update"] if values["matrix"] == "full" else "diagonal"
        return {**super()._params_from(algorithm, values), "matrix": MATRICES[matrix]}

    @staticmethod
    def _state_class(params: dict) -> type[Any]:
        return {1: FullMirrorState, 2: FullDualState}.get(params["matrix"]) or OnlineClassifier._state_class(params)

    @classmethod
    def _fields_of(cls, header: dict, compiled: dict) -> dict:
        fields, is_full = super()._fields_of(header, compiled), header["geometry"] == "additive"
        return {**fields, "matrix": {name: number for name, number in MATRICES.items() if (number > 0) == is_full}}

    def _check_memory(self, params: dict, n_features: int, n_classes: int, dtype: DTypeLike) -> None:
        if params["matrix"] and n_features > MOST_FEATURES:
            raise ValueError(
                f"{type(self).__name__}: matrix='full' must have at most {MOST_FEATURES} features, got {n_features:,}: every "
                f"update would take the eigenvectors of a matrix of that size, about {2.4e-10 * n_features**3:.2g} s. "
                "Use matrix='diagonal', or fewer features."
            )
        super()._check_memory(params, n_features, n_classes, dtype)
