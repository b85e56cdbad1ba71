"""The kernel learners: kernel functions on blocks of rows; the model, which is a support set; and the estimators."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from ..._estimators.learner import OnlineLearner
from ..._estimators.parameters import EpochParameters, estimator
from ..._estimators.tasks import OnlineClassifier, OnlineRegressor
from ..._files import require, require_layout
from ..._input import validate
from ..._input.compat import available_if, issparse
from ..._models import COMMON, FLOAT64, STATES, Array, State
from . import support
from .support import packed

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray
    from sklearn.utils import Tags

    from ..._input.types import ClassWeight, FloatOrAuto, KernelFunction
    from ..._registry import Algorithm, Params
    from ..._rows import Rows

INT64 = np.dtype(np.int64)
READ_ENTRIES = 1 << 22  # kernel values held at once when scores are read
CSR = ("data", "indices", "indptr")
LARGEST = 1e150  # bound of kernel values and coefficients in learners too


def _alike(X: Any, vectors: Any) -> Any:
    """Return X as dense or CSR, like the support vectors."""
    if issparse(X) == issparse(vectors):
        return X
    return type(vectors)(X) if issparse(vectors) else X.toarray()


def _squares(A: Any) -> np.ndarray:
    return np.asarray(A.multiply(A).sum(axis=1)).reshape(-1) if issparse(A) else np.einsum("ij,ij->i", A, A)


class Kernel(NamedTuple):
    """k(x, z), plus bias² for the constant feature: what is fixed for a model's lifetime, the estimator's parameters first.

    In a model gamma is a number. projects : True if vectors beyond the budget are replaced by their projections. who : the
    learner's name.
    """

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    kernel_params: dict | None
    bias: float
    projects: bool
    who: str

    def values(self, A: Any, B: Any, same: bool = False) -> np.ndarray:
        """Compute k of each row of A with each of B, (len(A), len(B)). same: B is A. Only a callable's values are checked.

        A precomputed kernel's rows in B are numbers of columns of A.
        """
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if self.kernel == "precomputed" or callable(self.kernel):
                return (self._called(A, B) if callable(self.kernel) else A[:, B]) + self.bias**2
            K = A @ B.T
            K = K.toarray() if issparse(K) else K
            if self.kernel == "rbf":
                a, b = _squares(A)[:, None], _squares(B)
                K *= -2.0
                K += a
                K += b
                np.maximum(K, 0.0, out=K)
                if not np.isfinite(a.max() + b.max()):
                    K[~np.isfinite(a + b)] = np.inf  # so large: far from every row
                if same:
                    np.fill_diagonal(K, 0.0)
                K = np.exp(-self.gamma * K)
            elif self.kernel != "linear":
                far = np.flatnonzero(~np.isfinite(K.diagonal()) & same)
                K = self.gamma * K + self.coef0
                K = K**self.degree if self.kernel == "poly" else np.tanh(K)
                K[far, far] = np.inf  # (a row whose square leaves double's range cannot be learnt, though its tanh is 1)
            return K + self.bias**2

    def _called(self, A: Any, B: Any) -> np.ndarray:
        K, shape = self.kernel(A, B, **(self.kernel_params or {})), (A.shape[0], B.shape[0])
        K = validate.read_numbers(f"{self.who}: what kernel returns", K.toarray() if issparse(K) else K)
        if K.shape != shape or not np.isfinite(K).all():
            raise ValueError(
                f"{self.who}: kernel must return finite numbers, an array of shape {shape} for two matrices of {shape[0]} and "
                f"{shape[1]} rows, as for SVC, got shape {K.shape} with {np.count_nonzero(~np.isfinite(K))} numbers that are not "
                "finite. The model is unchanged."
            )
        return K


class SupportState(State, support.SupportSet):
    """The support set of a kernel learner, with its coefficients and matrices, which have room for more vectors (see `Block`).

    kept : see `SupportSet`; its matrix is dense or CSR, or, of a precomputed kernel, an array of row numbers.
    origin : the row numbers of the support vectors in the last pass. gamma : the kernel's, a number.
    """

    ARRAYS = {
        **COMMON, "alpha": Array(("vectors", "size"), half=-0.5, most=LARGEST),
        "P": Array(("vectors", "covariances"), half=0.5, most=LARGEST), "Q": Array(("inverses",)),
        "prior": Array(("vectors", "priors"), fresh=1.0, half=0.5, least=0.5, most=1.0),
        "norms": Array(("size",), least=0.0, most=LARGEST), "origin": Array(("size",), INT64),
    }
    SCALARS = ("dropped", "gamma", "n_columns", "n_features")
    LEARNT_WITH = (*State.LEARNT_WITH, "kept")
    SLOTS = ()
    HAS_NONE = False
    KEPT = (*State.KEPT, "kernel")
    geometry, variance = "kernel", 1.0
    kept: tuple[Any, Any, Any]

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: Params):
        super().__init__(n_features, n_classes, dtype, params)
        self.gamma = float({"auto": 1.0 / n_features, "scale": 1.0}.get(params.kernel.gamma, params.kernel.gamma))

    @classmethod
    def sizes(cls, n_features: int, n_classes: int, params: Params, *others: int, size: int = 0) -> dict[str, int]:
        second_order, projects = params.model == "gaussian_kernel", params.kernel.projects
        return {**super().sizes(n_features, n_classes, params, *others), "size": size, "priors": int(second_order),
                "covariances": packed(size) * second_order, "inverses": packed(size) * projects}

    alpha = property(lambda self: self.kept[2], lambda self, alpha: setattr(self, "kept", (*self.kept[:2], alpha)))
    size = property(lambda self: self.alpha.shape[1])
    kernel = property(lambda self: self.params.kernel._replace(gamma=self.gamma))
    is_precomputed = property(lambda self: self.params.kernel.kernel == "precomputed")

    def weights(self) -> tuple[Any, np.ndarray]:
        """Return the support vectors as one matrix and their coefficients, (columns, size)."""
        matrix, members, alpha = self.kept
        if not len(members):
            return np.empty(0, np.int64) if self.is_precomputed else np.empty((0, self.n_features)), alpha
        return matrix if len(members) == matrix.shape[0] else matrix[members], alpha

    def weights_of(self, features: slice) -> np.ndarray:
        """Return Σ a_i x_i, of a linear kernel alone, or the weight of the constant feature."""
        vectors, alpha = self.weights()
        if features.stop is None:
            return self.kernel.bias * alpha.sum(axis=1)[:, None] + 0.0  # (no -0)
        if self.kernel.kernel != "linear":
            raise AttributeError(f"{self.kernel.who}: coef_ is only available with kernel='linear'. Use dual_coef_.")
        return np.asarray(alpha @ vectors)

    def parts(self) -> dict:
        """Return the parts, without room for more vectors."""
        s, n = self.size, packed(self.size)
        return {**super().parts(), "P": self.P[:, :n], "Q": self.Q[:n], "norms": self.norms[:s], "origin": self.origin[:s]}

    # --- learning ------------------------------------------------------------------------------------------------------------

    def writable(self) -> Self:
        # (A callable may raise, or return NaN, half-way through a call: the model before it is still there, then.)
        return self.copy() if callable(self.kernel.kernel) else super().writable()

    def block(self, rows: Rows, numbers: np.ndarray, is_first: bool) -> tuple[support.Block, Any]:
        """Return what learns the rows of these numbers, the first ones of a pass or others, and the matrix of `kept` with them.

        A row that is learnt again, in a later epoch of a `fit` or by a precomputed kernel, is the same support vector.
        """
        X, (old, _), kernel, size, first = rows.array()[numbers], self.weights(), self.kernel, self.size, 0
        if self.is_precomputed:
            first = int(rows.indptr[0]) // rows.n_features  # (rows may be a slice of X)
            added = numbers + first
        else:
            X = added = _alike(X, old) if size else X
        parts = [old, added] if size else [added]
        K = np.concatenate([kernel.values(X, part, same=part is X) for part in parts], axis=1)
        room = min(size + len(numbers), max(size, self.params.budget) + 1)
        rooms = {"P": packed(room) * self.prior.shape[1], "Q": packed(room) * kernel.projects, "norms": room, "origin": room}
        for name, wanted in rooms.items():
            array = getattr(self, name)
            if (more := wanted - array.shape[-1]) > 0:  # (the last axis grows by at least a half)
                more = max(more, array.shape[-1] // 2)
                setattr(self, name, np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, more)]))
        alpha = np.zeros((self.n_columns, room))
        alpha[:, :size] = self.alpha
        block = support.Block(self, np.ascontiguousarray(K), alpha, first)
        if size and issparse(added):
            from scipy.sparse import vstack

            added = vstack(parts, format="csr")
        elif size:
            added = np.concatenate(parts)
        if is_first and not ((self.are_seen and self.holds_level) or self.is_precomputed):
            self.origin[:] = -1
        return block, added

    def decision(self, rows: Rows) -> np.ndarray:
        """Return w.φ(x) of each row and column, (n_rows, n_columns)."""
        found, X, (vectors, alpha) = np.full((rows.n_rows, self.n_columns), self.level), rows.array(), self.weights()
        step = READ_ENTRIES // max(alpha.shape[1], 1) + 1
        for start in range(0, rows.n_rows if alpha.size else 0, step):
            part = slice(start, start + step)
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                found[part] += self.kernel.values(_alike(X[part], vectors), vectors) @ alpha.T
        return found

    # --- files ---------------------------------------------------------------------------------------------------------------

    def in_file(self) -> dict:
        """Return the parts for a file, with the support vectors where they are no numbers of rows (`origin`)."""
        vectors, found = self.weights()[0], super().in_file()
        if issparse(vectors):
            return {**found, **{f"vectors_{name}": getattr(vectors, name) for name in CSR}}
        return found if self.is_precomputed else {**found, "vectors": vectors}

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], n_classes: int, params: Params, **sizes: int) -> Self:
        dropped, gamma, size = header["dropped"], header["gamma"], len(arrays["norms"])
        fits = type(dropped) is int and dropped >= 0 and type(gamma) is float and 0.0 < gamma < np.inf
        require(fits, "a number of dropped vectors, and gamma > 0", (dropped, gamma))
        if "vectors_data" in arrays:
            from scipy.sparse import csr_array

            csr = tuple(arrays.pop(f"vectors_{name}") for name in CSR)
            vectors = csr_array(csr, shape=(size, header["n_features"]))
        else:
            vectors = arrays.pop("vectors", arrays["origin"])
        state = super().of_file(header, arrays, n_classes, params, size=size, **sizes)
        shape, dtype = ((size,), INT64) if state.is_precomputed else ((size, state.n_features), FLOAT64)
        require_layout({"vectors": vectors}, {"vectors": (shape, dtype)})
        if state.is_precomputed:
            require(bool(((vectors >= 0) & (vectors < state.n_features)).all()), f"numbers of {state.n_features} rows", vectors)
        else:
            vectors = validate.read_rows(cls.__name__, vectors, FLOAT64).array()
        state.kept = vectors, np.arange(size), state.alpha
        return state

    def check(self) -> None:
        """Check the inverse Q of a Gram matrix, too: up to rounding, Q_ii >= 1/k(x_i, x_i), Q_ij² <= Q_ii Q_jj."""
        super().check()
        rows, columns = np.tril_indices(self.size if len(self.Q) else 0)
        diagonal = self.Q[rows == columns]
        roots, share = np.sqrt(np.maximum(diagonal, 0.0)), diagonal * self.norms[: len(diagonal)]
        fits = ((share >= 0.5) & (share <= 1e30)).all() and (np.abs(self.Q) <= 2.0 * roots[rows] * roots[columns]).all()
        require(fits, "the inverse of a kernel matrix", "another one")


STATES["gaussian_kernel"] = SupportState  # (of a second-order learner)


@dataclass(init=False, eq=False, repr=False, kw_only=True)
class _KernelLearner(EpochParameters, OnlineLearner):
    """Base of the kernel learners: parameters, the kernel, passes over rows, and the support set's attributes."""

    kernel: KernelFunction = "rbf"
    gamma: float | Literal["auto", "scale"] = "auto"
    degree: int = 3
    coef0: float = 0.0
    kernel_params: dict[str, Any] | None = None
    budget: int | None = None
    C: float = 1.0
    r: float = 0.1
    fit_intercept: bool = True

    if not TYPE_CHECKING:  # (the base has it as a parameter)
        dtype = np.float64  # (coefficients and kernel values are float64)
    _has_fast_path = _flat = False

    def _params_of(self, algorithm: Algorithm, values: dict) -> Params:
        found, budget = super()._params_of(algorithm, values), values["budget"]
        constant, projects = abs(found.constant), found.model == "gaussian_kernel" and budget is not None  # (-1: it is auto)
        given = map(values.get, Kernel._fields[:5])
        kernel = Kernel._make([*given, constant, projects, type(self).__name__])
        return found._replace(r2=found.r, constant=constant, kernel=kernel, budget=1 << 62 if budget is None else int(budget))

    def _needs_rows(self) -> bool:
        """Return True if gamma depends on all rows of a `fit`."""
        return self.gamma == "scale" and self.kernel in ("rbf", "poly", "sigmoid")

    def _partial_fit(self, X: Any, *more: Any) -> np.ndarray:
        if "_state" not in self.__dict__ and self._needs_rows():
            raise ValueError(
                f"{type(self).__name__}: gamma must be a number or 'auto' for partial_fit, got gamma='scale', which needs the "
                "variance of a whole set. Call fit first, or give gamma."
            )
        return super()._partial_fit(X, *more)

    def _read_rows(self, X: Any, state: Any, learns: bool = False) -> Rows:
        rows = super()._read_rows(X, state)
        if learns and self.kernel == "precomputed" and (rows.n_rows != rows.n_features or not rows.is_dense):
            raise ValueError(
                f"{type(self).__name__}: X must be a dense square matrix for kernel='precomputed' (k of each row with each) to "
                f"learn from, got one of shape {np.shape(X)}. For streams give the kernel itself, as a callable."
            )
        return rows

    def _start(self, params: Params, rows: Rows, n_classes: int) -> SupportState:
        state = super()._start(params, rows, n_classes)
        if self._needs_rows():  # SVC's gamma="scale": 1 / (n_features Var(X)) over all entries
            X = rows.array()
            variance = float((X.multiply(X) if issparse(X) else X * X).mean() - X.mean() ** 2)
            state.gamma = 1.0 / (rows.n_features * variance) if variance > 0.0 else 1.0
        return state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags

    @property
    def support_vectors_(self) -> Any:
        """Rows of the support set, (n_support_, n_features), an array or CSR as the first X was; a copy."""
        if (state := self._fitted_state()).is_precomputed:
            raise AttributeError(f"{type(self).__name__}: a precomputed kernel has no support_vectors_. Use support_.")
        return state.weights()[0].copy()

    @property
    def support_(self) -> NDArray[np.int64]:
        """Numbers of the support vectors among the rows of a precomputed kernel, (n_support_,)."""
        if not (state := self._fitted_state()).is_precomputed:
            raise AttributeError(f"{type(self).__name__}: only a precomputed kernel has support_. Use support_vectors_.")
        return state.weights()[0].copy()

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
        return self._fitted_state().gamma

    sparsify = available_if(lambda self: self.coef_)(OnlineClassifier.sparsify)
    densify = available_if(lambda self: self.coef_)(OnlineClassifier.densify)


@estimator
class KernelOnlineClassifier(_KernelLearner, OnlineClassifier):
    """Perceptron, passive-aggressive, second-order Perceptron or AROW in the feature space of a kernel.

    The updates are those of the linear learners, with w and a full Σ on the s rows learnt from (AROW, Lemma 1):

        w = Σ a_i φ(x_i),     Σ = I - Σ P_ij φ(x_i) φ(x_j)',     φ(x).φ(z) = k(x, z) + intercept_scaling².

    With ``kernel="linear"`` (which alone has ``coef_``) they are the linear learners, first order (perceptron, pa: O(s) a row) or
    with full covariance (sop, arow: O(s²) a row learnt from, s²/2 numbers a column). Three classes or more share one support set.
    Everything is float64. Any split of a stream into calls gives the same model up to the rounding of the kernel values.

    K. Crammer, A. Kulesza, M. Dredze: Adaptive Regularization of Weight Vectors, NIPS 2009. L. Csató, M. Opper: Sparse On-Line
    Gaussian Processes, Neural Computation 14, 2002 (the projection under a budget).

    Parameters
    ----------
    algorithm : {"arow", "pa", "perceptron", "sop"}, default="arow"
        See `AROWClassifier`, `PassiveAggressiveClassifier`, `Perceptron` and `SecondOrderPerceptron`.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        x.z, exp(-gamma ||x - z||²), (gamma x.z + coef0)^degree, tanh(gamma x.z + coef0), as in scikit-learn's SVC; or a
        callable of two matrices that returns the matrix of their kernel values: its calls learn all rows or none. "precomputed":
        X is that matrix, square to learn from (each `partial_fit` is one pass over the same rows), rows against the learnt ones
        to predict.
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
        removed (perceptron, pa) or replaced by its projection on the others, as a row within 1e-3 ||φ(x)|| of their span is.
    C, r, loss, eta0, aggressive
        As there, with the defaults 1.0, 0.1, "hinge", 1.0 and False.
    fit_intercept : bool, default=True
        Learn an intercept: add intercept_scaling², the square of a constant feature, to the kernel.
    intercept_scaling : float, default=1.0
    {shared}

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
    loss: Literal["hinge", "squared_hinge"] = "hinge"
    eta0: float = 1.0
    aggressive: bool = False
    intercept_scaling: float = 1.0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    class_weight: ClassWeight = None
    multi_class: Literal["ovr", "crammer_singer"] = "ovr"


@estimator
class KernelOnlineRegressor(_KernelLearner, OnlineRegressor):
    """Passive-aggressive regression or recursive least squares (AROW for regression) in the feature space of a kernel.

    With s = w.φ(x), w = Σ a_i φ(x_i) on the rows learnt from, φ(x).φ(z) = k(x, z) + intercept_scaling², and a row's weight c,
    which turns C into C c and r into r/c (``coef_``, of shape (1, n_features), is only there with ``kernel="linear"``):

        pa:    l = [|y - s| - ε]+,   w += τ sgn(y - s) φ(x),   τ = min(C, l/||φ(x)||²),  or  l/(||φ(x)||² + 1/(2C)) (squared)
        arow:  w += (y - s)/(v + r) Σφ(x),   Σ^-1 += φ(x)φ(x)'/r,   v = φ(x)'Σφ(x)

    K. Crammer et al.: Online Passive-Aggressive Algorithms, NIPS 2003, sections 2-5; Adaptive Regularization of Weight Vectors,
    NIPS 2009, section 7 and Lemma 1.

    Parameters
    ----------
    algorithm : {"pa", "arow"}, default="pa"
    kernel, gamma, degree, coef0, kernel_params, budget
        As in `KernelOnlineClassifier`.
    C, r, epsilon, loss
        As in `PassiveAggressiveRegressor` and `AROWRegressor`, with the defaults 1.0, 0.1, 0.1 and "epsilon_insensitive".
    fit_intercept : bool, default=True
    intercept_scaling : float or "auto", default="auto"
        A number: as in `KernelOnlineClassifier`. "auto": 1, and y is the target's deviation from the weighted mean m of the
        targets before it (`fit`: of all rows). Predictions and ``intercept_`` then include m.
    {shared}

    Examples
    --------
    >>> from onlinecls import KernelOnlineRegressor
    >>> learner = KernelOnlineRegressor(kernel="rbf", gamma=1.0, epsilon=0.0, C=10.0, fit_intercept=False)
    >>> learner.partial_fit([[0.0], [5.0]], [1.0, -2.0]).predict([[0.0], [5.0]]).round(6).tolist()
    [1.0, -2.0]
    """

    algorithm: Literal["pa", "arow"] = "pa"
    _: KW_ONLY
    epsilon: float = 0.1
    loss: Literal["epsilon_insensitive", "squared_epsilon_insensitive"] = "epsilon_insensitive"
    intercept_scaling: FloatOrAuto = "auto"
