"""The kernel learners: Perceptron, passive-aggressive, second-order Perceptron and AROW in dual form, for both tasks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..._estimators.classifier import OnlineClassifier
from ..._estimators.estimator import quiet
from ..._estimators.learner import Batch, OnlineLearner
from ..._estimators.parameters import EpochParameters, estimator
from ..._estimators.regressor import OnlineRegressor
from .states import Kernel, SupportState

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    from ..._algorithm import Algorithm
    from ..._input.types import ClassWeight, FloatOrAuto, KernelFunction
    from ..._models.params import Params
    from ..._rows import Rows


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class _KernelLearner(EpochParameters, OnlineLearner):
    """Base of the kernel learners: parameters, the kernel, passes over rows, and the support set's attributes."""

    kernel: KernelFunction = "rbf"
    gamma: float | Literal["auto", "scale"] = "auto"
    degree: int = 3
    coef0: float = 0.0
    kernel_params: dict[str, Any] | None = None
    budget: int | None = None

    if not TYPE_CHECKING:  # (the base has them as parameters)
        average = early_stopping = False  # (not parameters, where a class does not name them)
        dtype = np.float64  # (not a parameter: coefficients and kernel values are float64)
    _has_fast_path = False
    _kind = "the kernel's parameters, of the intercept's, of algorithm or of whether budget is None"

    def _params_of(self, algorithm: Algorithm, values: dict) -> Params:
        found = super()._params_of(algorithm, values)
        constant, budget = abs(found.constant), values["budget"]  # (-1: it is auto)
        kernel = Kernel(
            values["kernel"], values["gamma"], values["degree"], values["coef0"], values["kernel_params"], constant,
            projects=algorithm.geometry == "gaussian_kernel" and budget is not None, who=type(self).__name__,
        )
        return found._replace(r2=found.r, constant=constant, kernel=kernel, budget=None if budget is None else int(budget))

    def _check_call(self, X: Any, whole: bool) -> None:
        """Check that a precomputed kernel is square, and that partial_fit has no gamma="scale"."""
        who = type(self).__name__
        if not whole and "_state" not in self.__dict__ and self._choice.params.kernel.needs_rows:
            raise ValueError(
                f"{who}: gamma must be a number or 'auto' for partial_fit, got gamma='scale', which needs the variance of a "
                "whole set. Call fit first, or give gamma."
            )
        if self.kernel == "precomputed" and hasattr(X, "format"):
            raise ValueError(f"{who}: X must be a dense array for kernel='precomputed', got a sparse matrix. Use X.toarray().")
        shape: tuple[int, ...] = np.shape(X) if self.kernel == "precomputed" else ()
        if len(shape) == 2 and shape[0] != shape[1]:
            raise ValueError(
                f"{who}: Precomputed matrix must be a square matrix to learn from (k of each row with each), got shape {shape}. "
                "For streams give the kernel itself, as a callable."
            )

    def _start(self, params: Params, rows: Rows, n_classes: int) -> SupportState:
        state = super()._start(params, rows, n_classes)
        if params.kernel.needs_rows:
            state.kernel = params.kernel.of_rows(rows)
        return state

    def _learn(self, batch: Batch) -> None:
        # (A callable kernel may raise, or return NaN, half-way through: the model before the call is still there, then.)
        self._state = self._state.copy() if callable(self.kernel) else self._state
        super()._learn(batch)

    # --- files ---------------------------------------------------------------------------------------------------------------

    def _described(self, metadata: dict) -> tuple[dict, dict[str, np.ndarray]]:
        for kernel in (self._state.kernel.kernel, self.kernel):
            if callable(kernel):
                raise ValueError(
                    f"{type(self).__name__}: save must have a kernel given by name, got kernel={kernel!r}, whose code a file "
                    "without pickle cannot hold. Use pickle."
                )
        return super()._described(metadata)

    # --- fitted attributes ---------------------------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    @property
    def support_vectors_(self) -> Any:
        """Rows of the support set, (n_support_, n_features), an array or CSR as the first X was; a copy."""
        state = self._fitted_state()
        if state.kernel.kernel == "precomputed":
            raise AttributeError(f"{type(self).__name__}: a precomputed kernel has no support_vectors_. Use support_.")
        vectors, _ = state.weights()
        return np.empty((0, state.n_features)) if vectors is None else vectors.copy()

    @property
    def support_(self) -> NDArray[np.int64]:
        """Numbers of the support vectors among the rows of a precomputed kernel, (n_support_,)."""
        state = self._fitted_state()
        if state.kernel.kernel != "precomputed":
            raise AttributeError(f"{type(self).__name__}: only a precomputed kernel has support_. Use support_vectors_.")
        numbers, _ = state.weights()
        return np.empty(0, np.int64) if numbers is None else numbers.copy()

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Coefficients a of w = Σ a_i φ(x_i), (1 or n_classes, n_support_): a copy."""
        return self._fitted_state().alpha.copy()

    @property
    def n_support_(self) -> int:
        """Number of support vectors."""
        return self._fitted_state().size

    @property
    def n_dropped_(self) -> int:
        """Support vectors removed for the budget."""
        return self._fitted_state().dropped

    @property
    def gamma_(self) -> float:
        """The kernel's gamma, a number."""
        return self._fitted_state().kernel.gamma

    @property
    @quiet
    def coef_(self) -> NDArray[np.floating]:
        """Weights Σ a_i x_i, (1 or n_classes, n_features), with a linear kernel; with others they have no finite form."""
        state = self._fitted_state()
        if state.kernel.kernel != "linear":
            raise AttributeError(f"{type(self).__name__}: coef_ is only available with kernel='linear'. Use dual_coef_.")
        vectors, alpha = state.weights()
        return np.asarray(alpha @ vectors) if alpha.size else np.zeros((state.n_columns, state.n_features))

    @property
    def intercept_(self) -> NDArray[np.floating]:
        """Weight of the constant feature times its value, (1 or n_classes,); with a level of the targets, their sum."""
        state = self._fitted_state()
        return state.kernel.bias**2 * state.alpha.sum(axis=1) + state.level

    @property
    def sparsify(self) -> Any:
        """No method: a kernel learner has no ``coef_`` to make sparse or dense, and reading it raises an AttributeError."""
        raise AttributeError(f"{type(self).__name__} has no coef_ to make sparse: w is a combination of support_vectors_.")

    densify = sparsify


@estimator
class KernelOnlineClassifier(_KernelLearner, OnlineClassifier):  # type: ignore[override]
    """Perceptron, passive-aggressive, second-order Perceptron or AROW in the feature space of a kernel.

    The updates are those of the linear learners, with w and a full Σ on the s rows learnt from (AROW, Lemma 1):

        w = Σ a_i φ(x_i),     Σ = I - Σ P_ij φ(x_i) φ(x_j)',     φ(x).φ(z) = k(x, z) + intercept_scaling².

    With ``kernel="linear"`` they are the linear learners, first order (perceptron, pa: O(s) a row) or with full covariance (sop,
    arow: O(s²) a row learnt from, s²/2 numbers a column).

    Parameters
    ----------
    algorithm : {"arow", "pa", "perceptron", "sop"}, default="arow"
        See `AROWClassifier`, `PassiveAggressiveClassifier`, `Perceptron` and `SecondOrderPerceptron`.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        x.z, exp(-gamma ||x - z||²), (gamma x.z + coef0)^degree, tanh(gamma x.z + coef0), as in scikit-learn's SVC; or a
        callable of two matrices that returns the matrix of their kernel values. "precomputed": X is that matrix, square to learn
        from (each call to `partial_fit` is one pass over the same rows), rows against the learnt ones to predict.
    gamma : float > 0, "auto" or "scale", default="auto"
        "auto": 1 / n_features. "scale": 1 / (n_features Var(X)) over the rows of `fit`.
    degree : int, default=3
        For "poly", >= 1.
    coef0 : float, default=0.0
        For "poly" and "sigmoid".
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.
    budget : int or None, default=None
        Most support vectors, >= 1. None: as many as rows are learnt from. Beyond it the vector whose removal changes w least is
        removed, the oldest of equals: perceptron, pa: the one of smallest ||a_i|| √k(x_i, x_i); sop, arow: the one of smallest
        ||a_i|| / √Q_ii, with Q the inverse of the support set's Gram matrix. Its projection on the others replaces it in w and Σ,
        as that of a row within 1e-3 ||φ(x)|| of their span replaces the row.
    C : float, default=1.0
        pa: the largest step, > 0; inf for the plain form.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        pa: PA-I or PA-II.
    r : float, default=0.1
        arow, sop: noise variance of a row, > 0.
    eta0 : float, default=1.0
        perceptron: step, > 0.
    aggressive : bool, default=False
        perceptron, sop: update on margins below 1 instead of only on those <= 0.
    fit_intercept : bool, default=True
        Learn an intercept, the weight of a constant feature, which adds intercept_scaling² to the kernel.
    intercept_scaling : float, default=1.0
        Value of the constant feature, > 0.
    {parameters}
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, as in the linear learner of each algorithm.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        For three classes or more; one support set, and coefficients (and a covariance) for each class.

    Attributes
    ----------
    support_vectors_ : ndarray or CSR array of shape (n_support_, n_features)
    dual_coef_ : ndarray of shape (1 or n_classes, n_support_)
    coef_ : ndarray of shape (1 or n_classes, n_features)
        Only with a linear kernel.
    gamma_ : float
    n_support_, n_dropped_ : int
        Support vectors, and those removed for the budget.
    {attributes}

    Raises
    ------
    {raises}

    Notes
    -----
    Everything is float64. Any split of a stream into calls gives the same model up to the rounding of the kernel values. A row
    learnt from in several epochs of one `fit` is one support vector. Rows whose kernel values or step are beyond 1e150, or whose
    k(x, x) < 0, are skipped. A callable kernel's calls learn all rows or none; the model is copied for this.

    References
    ----------
    .. [1] K. Crammer, A. Kulesza, M. Dredze. Adaptive Regularization of Weight Vectors. NIPS 2009, Lemma 1.
    .. [2] L. Csató, M. Opper. Sparse On-Line Gaussian Processes. Neural Computation 14, 2002 (the projection under a budget).

    Examples
    --------
    >>> from onlinecls import KernelOnlineClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
    >>> learner = KernelOnlineClassifier(kernel="rbf", gamma=2.0).partial_fit(X, y, classes=[0, 1])
    >>> learner.predict(X).tolist(), learner.n_support_
    ([0, 1, 1, 0], 4)
    """

    algorithm: Literal["arow", "pa", "perceptron", "sop"] = "arow"
    _: KW_ONLY
    C: float = 1.0
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    r: float = 0.1
    eta0: float = 1.0
    aggressive: bool = False
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    class_weight: ClassWeight = None
    multi_class: Literal["ovr", "crammer_singer"] = "ovr"


@estimator
class KernelOnlineRegressor(_KernelLearner, OnlineRegressor):  # type: ignore[override]
    """Passive-aggressive regression or recursive least squares (AROW for regression) in the feature space of a kernel.

    With s = w.φ(x), w = Σ a_i φ(x_i) on the rows learnt from, φ(x).φ(z) = k(x, z) + intercept_scaling²:

        pa:    l = [|y - s| - ε]+,   w += τ sgn(y - s) φ(x),   τ = min(C, l/||φ(x)||²),  or  l/(||φ(x)||² + 1/(2C)) (squared)
        arow:  w += (y - s)/(v + r) Σφ(x),   Σ^-1 += φ(x)φ(x)'/r,   v = φ(x)'Σφ(x)

    A row's weight c turns C into C c and r into r/c.

    Parameters
    ----------
    algorithm : {"pa", "arow"}, default="pa"
    kernel, gamma, degree, coef0, kernel_params, budget
        As in `KernelOnlineClassifier`.
    C : float, default=1.0
        pa: the largest step, > 0; inf for the plain form.
    epsilon : float, default=0.1
        pa: residuals up to this have no loss, >= 0, in units of y.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
    r : float, default=0.1
        arow: noise variance of a target, > 0, relative to the prior's.
    fit_intercept : bool, default=True
        As in `KernelOnlineClassifier`.
    intercept_scaling : float or "auto", default="auto"
        A number: as in `KernelOnlineClassifier`. "auto": 1, and y is the target's deviation from the weighted mean m of the
        targets before it (`fit`: of all rows). Predictions and ``intercept_`` then include m.
    {parameters}

    Attributes
    ----------
    support_vectors_, dual_coef_, gamma_, n_support_, n_dropped_
        As in `KernelOnlineClassifier`, one column.
    coef_ : ndarray of shape (1, n_features)
        Only with a linear kernel.
    {attributes}

    Raises
    ------
    {raises}

    References
    ----------
    .. [1] K. Crammer, O. Dekel, S. Shalev-Shwartz, Y. Singer. Online Passive-Aggressive Algorithms. NIPS 2003, sections 2-5.
    .. [2] K. Crammer, A. Kulesza, M. Dredze. Adaptive Regularization of Weight Vectors. NIPS 2009, section 7 and Lemma 1.

    Examples
    --------
    >>> from onlinecls import KernelOnlineRegressor
    >>> learner = KernelOnlineRegressor(kernel="rbf", gamma=1.0, epsilon=0.0, C=10.0, fit_intercept=False)
    >>> learner.partial_fit([[0.0], [5.0]], [1.0, -2.0]).predict([[0.0], [5.0]]).round(6).tolist()
    [1.0, -2.0]
    """

    algorithm: Literal["pa", "arow"] = "pa"
    _: KW_ONLY
    C: float = 1.0
    epsilon: float = 0.1
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive"
    r: float = 0.1
    fit_intercept: bool = True
    intercept_scaling: FloatOrAuto = "auto"
