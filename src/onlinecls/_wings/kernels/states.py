"""Kernel functions on blocks of rows, and the model of a kernel learner: its support set."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..._files import require, require_layout
from ..._input import validate
from ..._input.compat import issparse
from ..._models.arrays import FLOAT64, Array, Move, as_theta, halved, laid_out, n_vectors
from ..._models.state import Counted
from . import support

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from ..._models.params import Params
    from ..._rows import Rows

READ_ENTRIES = 1 << 22  # kernel values held at once when scores are read
CSR = ("data", "indices", "indptr")
LARGEST = 1e150  # bound of kernel values and coefficients in learners too


def _alike(X: Any, vectors: Any) -> Any:
    """Return X as dense or CSR, like the support vectors."""
    if issparse(X) == issparse(vectors):
        return X
    if not issparse(vectors):
        return X.toarray()
    from scipy.sparse import csr_array

    return csr_array(X)


def _stacked(old: Any, rows: Any) -> Any:
    if not issparse(rows):
        return np.concatenate([old, rows])
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([old, rows]))


def _with_room(array: np.ndarray, n: int) -> np.ndarray:
    """Return an array whose last axis has room for n numbers, growing by at least a half."""
    old = array.shape[-1]
    if n <= old:
        return array
    wider = np.zeros((*array.shape[:-1], max(n, old + old // 2)), array.dtype)
    wider[..., :old] = array
    return wider


def packed(n: int) -> int:
    """Return the size of a packed symmetric matrix of n rows."""
    return n * (n + 1) // 2


def _squares(A: Any) -> np.ndarray:
    return np.asarray(A.multiply(A).sum(axis=1)).reshape(-1) if issparse(A) else np.einsum("ij,ij->i", A, A)


class Kernel(NamedTuple):
    """k(x, z), plus bias^2 for the constant feature: the parameters that are fixed for a model's lifetime.

    The first five are the estimator's; in a model gamma is a number. projects : True if vectors beyond the budget are replaced by
    their projections. who : the learner's name.
    """

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    kernel_params: dict | None
    bias: float
    projects: bool
    who: str

    @property
    def needs_rows(self) -> bool:
        """True if gamma depends on all rows of a `fit`."""
        return self.gamma == "scale" and self.kernel in ("rbf", "poly", "sigmoid")

    def of_rows(self, rows: Rows) -> Kernel:
        """Return the kernel with SVC's gamma="scale": 1 / (n_features Var(X)) over all entries."""
        X = rows.array()
        mean = X.mean()
        variance = float((X.multiply(X) if issparse(X) else X * X).mean() - mean * mean)
        return self._replace(gamma=1.0 / (rows.n_features * variance) if variance > 0.0 else 1.0)

    def values(self, A: Any, B: Any, same: bool = False) -> np.ndarray:
        """Compute k of each row of A with each of B, (len(A), len(B)). same: B is A. Only a callable's values are checked.

        A precomputed kernel's rows in B are numbers of columns of A.
        """
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if self.kernel == "precomputed":
                return A[:, B] + self.bias**2
            if callable(self.kernel):
                return self._called(A, B) + self.bias**2
            K = A @ B.T
            K = products = K.toarray() if issparse(K) else K
            if self.kernel == "rbf":
                a, b = _squares(A)[:, None], _squares(B)
                K = np.maximum(-2.0 * K + a + b, 0.0)
                if not np.isfinite(a.max() + b.max()):
                    K[~np.isfinite(a + b)] = np.inf  # so large: far from every row
                if same:
                    np.fill_diagonal(K, 0.0)
                K = np.exp(-self.gamma * K)
            elif self.kernel != "linear":
                K = self.gamma * products + self.coef0
                K = K**self.degree if self.kernel == "poly" else np.tanh(K)
                if same:  # a row whose square leaves double's range cannot be learnt, though its tanh is 1
                    far = np.flatnonzero(~np.isfinite(products.diagonal()))
                    K[far, far] = np.inf
            return K + self.bias**2

    def _called(self, A: Any, B: Any) -> np.ndarray:
        K = self.kernel(A, B, **(self.kernel_params or {}))
        K = validate.read_numbers(f"{self.who}: what kernel returns", K.toarray() if issparse(K) else K)
        if K.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"{self.who}: kernel must return an array of shape {(A.shape[0], B.shape[0])} for {A.shape[0]} and {B.shape[0]} "
                f"rows, got shape {K.shape}. It is called with two matrices, as by SVC."
            )
        if not np.isfinite(K).all():
            row, column = (int(i) for i in np.argwhere(~np.isfinite(K))[0])
            raise ValueError(
                f"{self.who}: kernel must return finite numbers, got {K[row, column]:g} for row {row} of its first and row "
                f"{column} of its second argument. The model is unchanged."
            )
        return K


class SupportState(Counted, support.SupportSet):
    """The support set of a kernel learner, with its coefficients and matrices, which have room for more vectors (see `Block`).

    kept : the part that readers take, whole at any time (see `SupportSet`); its matrix is dense or CSR, or, of a precomputed
    kernel, an array of row numbers. origin : the row numbers of the support vectors in the present `fit`, or of a precomputed
    kernel; else -1.
    """

    ARRAYS = {
        **Counted.ARRAYS,
        "alpha": Array(("vectors", "size"), half=as_theta, least=-LARGEST, most=LARGEST),
        "P": Array(("vectors", "covariances"), half=halved, least=-LARGEST, most=LARGEST), "Q": Array(("inverses",)),
        "prior": Array(("vectors", "priors"), fresh=1.0, half=halved, least=0.5, most=1.0),
        "norms": Array(("size",), least=0.0, most=LARGEST),
    }
    SCALARS = ("dropped", "kernel", "kept", "n_features", "origin")

    geometry, KEPT = "kernel", (*Counted.KEPT, "kernel")
    second_order = False
    variance = 1.0  # of a weight, at first

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: Params):
        gamma = {"auto": 1.0 / n_features, "scale": 1.0}.get(params.kernel.gamma, params.kernel.gamma)
        self.kernel, self.params, self.n_features = params.kernel._replace(gamma=float(gamma)), params, n_features
        self.dropped, self.kept, self.origin = 0, (None, np.empty(0, np.int64), None), np.empty(0, np.int64)
        for name, (shape, of) in self._layout(n_classes, 0).items():
            setattr(self, name, self._fresh(name, shape, of))

    def _layout(self, n_classes: int, size: int) -> dict:
        """Return {name: (shape, dtype)} of the arrays of a support set of this size, without room."""
        second_order, projects = self.second_order, self.kernel.projects
        return laid_out(self.ARRAYS, {
            "vectors": n_vectors(n_classes), "classes": n_classes, "size": size, "priors": int(second_order),
            "covariances": packed(size) * second_order, "inverses": packed(size) * projects,
        }, FLOAT64)

    @property
    def alpha(self) -> np.ndarray:
        return self.kept[2]

    @alpha.setter
    def alpha(self, alpha: np.ndarray) -> None:
        self.kept = (*self.kept[:2], alpha)

    n_columns = property(lambda self: len(self.prior))
    size = property(lambda self: len(self.kept[1]))

    def weights(self) -> tuple[Any, np.ndarray]:
        """Return the support vectors as one matrix (None: there are none) and their coefficients, (columns, size)."""
        matrix, members, alpha = self.kept
        if not len(members):
            return None, alpha
        return matrix if len(members) == matrix.shape[0] else matrix[members], alpha

    # --- classes that join or leave ------------------------------------------------------------------------------------------

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Any) -> SupportState:
        """Return this model with its classes at `places` among n_classes; new classes start from zero.

        A single vector w becomes the two -w/2 and +w/2, with half the covariance each.
        """
        move = Move.of_classes(places, self.n_columns, n_classes) if n_vectors(n_classes) > self.n_columns else None
        return self._moved(self.counts_at(places, n_classes), move)

    def keep_classes(self, keep: np.ndarray, n_none: int | None = None) -> SupportState:
        return self._moved(self.counts[keep], Move.of_kept(keep))

    def _moved(self, counts: np.ndarray, move: Move | None) -> SupportState:
        found = self.copy()
        found.counts = counts
        for name, part in self._vectors_moved(move, 0.5).items() if move else ():
            setattr(found, name, part)
        return found

    # --- learning ------------------------------------------------------------------------------------------------------------

    def block(self, rows: Rows, numbers: np.ndarray, is_first: bool) -> tuple[support.Block, Any, np.ndarray, np.ndarray]:
        """Return what learns the rows of these numbers, the first ones of a pass or others; and the matrix, the members of the
        support set in it, and the coefficients of `kept`, with room for the rows.

        A row that is learnt again, in a later epoch of a `fit` or by a precomputed kernel, is the same support vector.
        """
        matrix, (old, _) = rows.array()[numbers], self.weights()
        kernel, size, n, first, origin = self.kernel, self.size, len(numbers), 0, self.origin
        if kernel.kernel == "precomputed":
            first = int(rows.indptr[0]) // rows.n_features  # (rows may be a slice of X)
            added = numbers + first
        else:
            matrix = added = matrix if old is None else _alike(matrix, old)
            if is_first and not (self.are_seen and self.holds_level):
                origin = np.full(len(origin), -1)
        K = np.empty((n, size + n))
        if size:
            K[:, :size] = kernel.values(matrix, old)
        K[:, size:] = kernel.values(matrix, added, same=matrix is added)
        budget = np.iinfo(np.int64).max if self.params.budget is None else self.params.budget
        capacity = min(size + n, max(size, budget) + 1)
        alpha, members = np.zeros((self.n_columns, capacity)), np.arange(capacity)
        alpha[:, :size] = self.alpha
        arrays = {
            "P": _with_room(self.P, packed(capacity) * self.second_order),
            "Q": _with_room(self.Q, packed(capacity) * kernel.projects),
            "norms": _with_room(self.norms, capacity), "origin": _with_room(origin, capacity),
        }
        block = support.Block(K, alpha, members, *arrays.values(), self.prior, size, first, budget)
        added = added if old is None else _stacked(old, added)
        for name, part in arrays.items():
            setattr(self, name, part)
        return block, added, members, alpha

    def gather(self) -> None:
        """Keep the rows of support vectors alone, where there is memory for a copy. (Without it the model is whole, too.)"""
        with suppress(MemoryError):
            vectors, alpha = self.weights()
            self.kept = vectors, np.arange(self.size), alpha

    def decision(self, rows: Rows, found: np.ndarray) -> None:
        """Fill in w.φ(x) of each row and column, (n_rows, n_columns)."""
        found[:], X, (vectors, alpha) = self.level, rows.array(), self.weights()
        n = alpha.shape[1]
        step = max(READ_ENTRIES // max(n, 1), 1)
        for start in range(0, rows.n_rows if n else 0, step):
            part = slice(start, start + step)
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                found[part] += self.kernel.values(_alike(X[part], vectors), vectors) @ alpha.T

    # --- files ---------------------------------------------------------------------------------------------------------------

    def in_file(self) -> dict:
        """Return the arrays for a file, without spare room, and what the parameters do not tell."""
        vectors, ends = self.weights()[0], {"norms": self.size, "P": packed(self.size), "Q": packed(self.size)}
        found = {name: getattr(self, name)[..., : ends.get(name)] for name in self.ARRAYS}
        found.update(n_features=self.n_features, dropped=self.dropped, gamma=self.kernel.gamma)
        if self.size and issparse(vectors):
            found.update({f"vectors_{name}": getattr(vectors, name) for name in CSR})
        elif self.size:
            found["vectors"] = vectors
        return found

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], n_classes: int, params: Params) -> Self:
        """Return the model of these parts; raise InvalidError if learning cannot produce one of them."""
        require(sorted(header) == ["dropped", "gamma", "n_features"], "a state of dropped, gamma and n_features", header)
        dropped, gamma, n_features = map(header.get, ("dropped", "gamma", "n_features"))
        whole = all(type(number) is int and 0 <= number < 2**62 for number in (n_features, dropped))
        require(whole and n_features > 0, "whole numbers of features and vectors", header)
        require(type(gamma) is float and 0.0 < gamma < np.inf, "gamma > 0", gamma)
        state = cls(n_features, n_classes, FLOAT64, params)
        state.kernel, state.dropped = state.kernel._replace(gamma=gamma), dropped
        size, vectors = len(arrays["norms"]), arrays.pop("vectors", None)
        if "vectors_data" in arrays:
            from scipy.sparse import csr_array

            vectors = csr_array(tuple(arrays.pop(f"vectors_{name}") for name in CSR), shape=(size, n_features))
        require_layout(arrays, state._layout(n_classes, size))
        for name, part in arrays.items():
            setattr(state, name, part)
        state.origin = np.full(size, -1)
        if size:
            is_numbered = state.kernel.kernel == "precomputed"
            require(vectors.dtype == (np.int64 if is_numbered else FLOAT64), "rows of their type", vectors.dtype)
            if is_numbered:
                state.origin, fits = vectors.copy(), 0 <= vectors.min() and vectors.max() < n_features
            else:
                vectors = validate.read_rows(cls.__name__, vectors, FLOAT64).array()
                fits = vectors.shape[1] == n_features
            require(fits and vectors.shape[0] == size, f"{size} rows of {n_features} features", vectors)
        state.kept = vectors, np.arange(size), state.alpha
        return state.checked()

    def _problem_of_values(self, counters: dict) -> str:
        """Describe a fault of the inverse Q of a Gram matrix: up to rounding, Q_ii >= 1/k(x_i, x_i), Q_ij² <= Q_ii Q_jj."""
        rows, columns = np.tril_indices(self.size if len(self.Q) else 0)
        diagonal = self.Q[rows == columns]
        roots, share = np.sqrt(np.maximum(diagonal, 0.0)), diagonal * self.norms[: len(diagonal)]
        fits = ((share >= 0.5) & (share <= 1e30)).all() and (np.abs(self.Q) <= 2.0 * roots[rows] * roots[columns]).all()
        return "" if fits else "an inverse that no kernel matrix has"


class GaussianSupportState(SupportState):
    """The support set of a second-order learner."""

    geometry, second_order = "gaussian_kernel", True
