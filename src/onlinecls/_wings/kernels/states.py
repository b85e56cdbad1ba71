"""Kernel functions on blocks of rows, and the model of a kernel learner: its support set."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from ..._compiled import model
from ..._files import require, require_layout
from ..._input import validate
from ..._input.compat import issparse
from ..._input.rows import NO_INDICES, Rows
from ..._models.arrays import FLOAT64, Array, Move, as_theta, halved, laid_out, n_vectors
from ..._models.params import common
from ..._models.state import Counted
from . import support

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import DTypeLike

BLOCK = 256  # rows whose kernel values are computed in one call
READ_ENTRIES = 1 << 22  # kernel values held at once when scores are read
LARGEST = 1e150  # bound of kernel values and coefficients in learners too


def _csr_array(*parts, **options):
    from scipy.sparse import csr_array

    return csr_array(*parts, **options)


def _alike(X, vectors):
    """Return X as dense or CSR, like the support vectors."""
    if issparse(X) == issparse(vectors):
        return X
    return _csr_array(X) if issparse(vectors) else X.toarray()


def _rows_of(K: np.ndarray) -> Rows:
    """Return kernel values as rows of a call."""
    n_rows, n_columns = K.shape
    return Rows(K.reshape(-1), NO_INDICES, np.arange(n_rows + 1, dtype=np.int64) * n_columns, n_rows, n_columns)


def _products(A, B) -> np.ndarray:
    product = A @ B.T
    return product.toarray() if issparse(product) else product


def _squares(A) -> np.ndarray:
    return np.asarray(A.multiply(A).sum(axis=1)).reshape(-1) if issparse(A) else np.einsum("ij,ij->i", A, A)


class Kernel(NamedTuple):
    """k(x, z), plus bias^2 for the constant feature: the parameters that are fixed for a model's lifetime.

    The first five are the estimator's; a model's own has a number as gamma, None until it is known. second_order : True if there
    is a Σ. projects : True if vectors beyond the budget are replaced by their projections.
    """

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    kernel_params: dict | None
    bias: float
    second_order: bool
    projects: bool

    def of_rows(self, n_features: int) -> Kernel:
        """Return the kernel of rows of this length; its gamma is None if that takes all of them."""
        gamma = {"auto": 1.0 / n_features, "scale": None}.get(self.gamma, self.gamma)
        return self._replace(gamma=None if gamma is None else float(gamma))

    @property
    def uses_gamma(self) -> bool:
        return self.kernel in ("rbf", "poly", "sigmoid")

    @property
    def is_positive(self) -> bool:
        """Return True if the kernel's Gram matrices are known to have no negative eigenvalue."""
        return self.kernel in ("linear", "rbf") or (self.kernel == "poly" and self.coef0 >= 0.0)

    def values(self, who: str, A, B, same: bool = False) -> np.ndarray:
        """Compute k of each row of A with each of B, (len(A), len(B)). same: B is A. Only a callable's values are checked."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if self.kernel == "precomputed":
                K = A[:, B[:, 0].astype(np.intp)]
            elif callable(self.kernel):
                K = self._called(who, A, B)
            elif self.kernel == "linear":
                K = _products(A, B)
            elif self.kernel == "rbf":
                squares = _squares(A)[:, None], _squares(B)[None, :]
                K = -2.0 * _products(A, B)
                K += squares[0]
                K += squares[1]
                np.maximum(K, 0.0, out=K)
                if not (np.isfinite(squares[0]).all() and np.isfinite(squares[1]).all()):
                    K[np.broadcast_to(~np.isfinite(squares[0] + squares[1]), K.shape)] = np.inf  # so large: far from every row
                if same:
                    np.fill_diagonal(K, 0.0)
                K = np.exp(-self.gamma * K)
            else:
                products = _products(A, B)
                K = self.gamma * products + self.coef0
                K = K**self.degree if self.kernel == "poly" else np.tanh(K)
                if same:  # a row whose square leaves double's range cannot be learnt, though its tanh is 1
                    far = np.flatnonzero(~np.isfinite(products.diagonal()))
                    K[far, far] = np.inf
            return K + self.bias**2

    def _called(self, who: str, A, B) -> np.ndarray:
        K = self.kernel(A, B, **(self.kernel_params or {}))
        K = validate.read_numbers(f"{who}: what kernel returns", K.toarray() if issparse(K) else K)
        if K.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"{who}: kernel must return an array of shape {(A.shape[0], B.shape[0])} for {A.shape[0]} and {B.shape[0]} rows, "
                f"got shape {K.shape}. It is called with two matrices, as by SVC."
            )
        if not np.isfinite(K).all():
            row, column = (int(i) for i in np.argwhere(~np.isfinite(K))[0])
            raise ValueError(
                f"{who}: kernel must return finite numbers, got {K[row, column]:g} for row {row} of its first and row {column} "
                "of its second argument. The model is unchanged."
            )
        return K


class KernelParams(NamedTuple):
    """The parameters of a kernel learner, whose rules read no other fields of `Params`."""

    rule: int
    trigger: int
    margin: float
    kernel: Kernel
    budget: int | None
    epsilon: float = 0.0
    eta0: float = 1.0
    C: float = 1.0
    r: float = 1.0
    open_classes: int = 0
    balanced: int = 0
    level: int = 0
    costs: int = 0

    model, average_from, probability, joins_singly, scale = "kernel", -1, 0, False, 1.0

    @classmethod
    def of(cls, algorithm: Any, values: Mapping[str, Any]) -> Self:
        """Return the parameters of a kernel learner's algorithm, from numbers within their ranges."""
        second_order = algorithm.geometry == "gaussian_kernel"
        kernel = Kernel(
            *(values[name] for name in ("kernel", "gamma", "degree", "coef0", "kernel_params")), abs(common(values)["constant"]),
            second_order, second_order and values["budget"] is not None,
        )
        budget = None if values["budget"] is None else int(values["budget"])
        fields = {name: number for name, number in algorithm.kernel_params(values).items() if name in cls._fields}
        return cls(
            model.RULES[algorithm.rule], model.TRIGGERS[algorithm.trigger], algorithm.margin, kernel, budget,
            level=common(values)["level"], costs=model.COSTS[algorithm.costs],
        )._replace(**fields)

    def limits(self, dtype: DTypeLike) -> tuple[()]:
        """Return no limits: every parameter fits a double."""
        return ()

    def of_pass(self, state: Any, is_open: bool, balanced: bool) -> Self:
        """Add the numbers that depend on the labels."""
        return self._replace(open_classes=int(is_open), balanced=int(balanced))


def scale_gamma(rows: validate.Rows) -> float:
    """Compute SVC's gamma="scale": 1 / (n_features Var(X)) over all entries."""
    X = rows.array()
    mean = X.mean()
    variance = float((X.multiply(X) if issparse(X) else X * X).mean() - mean * mean)
    return 1.0 / (rows.n_features * variance) if variance > 0.0 else 1.0


class Unstacked(NamedTuple):
    """Support vectors as sorted places among the old ones followed by the rows of a block, until they are stacked into one
    matrix. It takes no memory: where there is not enough for the matrix, the model is still whole."""

    old: Any
    block: Any
    members: np.ndarray

    def stacked(self) -> Any:
        n_old = 0 if self.old is None else self.old.shape[0]
        n_kept = int(np.searchsorted(self.members, n_old))
        if n_kept == n_old == len(self.members):
            return self.old
        kept = self.old if n_kept == n_old else self.old[self.members[:n_kept]]
        fresh = self.block[self.members[n_kept:] - n_old]
        if n_kept == 0:
            return fresh
        if not issparse(fresh):
            return np.concatenate([kept, fresh])
        from scipy.sparse import vstack

        return _csr_array(vstack([kept, fresh]))


class SupportState(Counted):
    """The support set of a kernel learner, with its coefficients and matrices.

    Readers hold a whole state: a block of rows makes another one (`after`), and changes only what scores do not need in place.

    size : number of support vectors. stack : these, (size, n_features) dense or CSR (precomputed: a column of row numbers),
    or `Unstacked`. alpha : coefficients, (columns, at least size). dropped : vectors removed for the budget. P, prior, Q, norms,
    origin, slot_of : see `support.SupportSet`.
    """

    #: Of a file: in memory they have room for more support vectors.
    ARRAYS = {
        **Counted.ARRAYS,
        "alpha": Array(("vectors", "size"), half=as_theta, least=-LARGEST, most=LARGEST),
        "P": Array(("vectors", "covariances"), half=halved, least=-LARGEST, most=LARGEST), "Q": Array(("inverses",)),
        "prior": Array(("vectors",), fresh=1.0, half=halved, least=0.5, most=1.0),
        "norms": Array(("size",), least=0.0, most=LARGEST),
    }
    SCALARS = ("dropped", "kernel", "n_features", "origin", "size", "slot_of", "stack")

    geometry, KEPT = "kernel", ("kernel", "level")
    sparse_coef = None  # as in Model
    dtype = np.dtype(np.float64)  # of rows and coefficients
    scale = 1.0  # of rows: a kernel has units of its own

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: KernelParams):
        columns, kernel = n_vectors(n_classes), params.kernel
        self.kernel, self.n_features, self.params = kernel.of_rows(n_features), n_features, params
        self.size, self.stack, self.dropped = 0, None, 0
        self.alpha, self.prior, self.norms = np.zeros((columns, 1)), np.ones(columns), np.zeros(1)
        self.P, self.Q = np.zeros((columns, int(kernel.second_order))), np.zeros(int(kernel.projects))
        self.origin, self.slot_of = np.full(1, -1, np.int64), np.empty(0, np.int64)
        self.counts, self.counters = np.zeros(n_classes), np.zeros(model.N_COUNTERS)

    constant = property(lambda self: self.kernel.bias)
    level = property(lambda self: self._level_in(self.counters))
    n_columns = property(lambda self: self.alpha.shape[0])

    @property
    def vectors(self) -> Any:
        """The support vectors as one matrix; None before the first."""
        return self.stack.stacked() if isinstance(self.stack, Unstacked) else self.stack

    def try_partial_fit(self, *call) -> int:
        """Return 0: the kernel values of a call come from Python, and there is no fast path."""
        return 0

    def tell_scale(self, rows: Rows, numbers: np.ndarray) -> None:
        """Do nothing."""

    def prepare(self, holds_level: bool, foresight: int, depth: int) -> None:
        self.holds_level = holds_level

    # --- classes that join or leave ------------------------------------------------------------------------------------------

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Any) -> SupportState:
        """Return this model with its classes at `places` among n_classes; new classes start from zero.

        A single vector w becomes the two -w/2 and +w/2, with half the covariance each.
        """
        grown = self.copy()
        grown.counts = self.counts_at(places, n_classes)
        if n_vectors(n_classes) > self.n_columns:
            grown._move(Move.of_classes(places, self.n_columns, n_classes))
        return grown

    def keep_classes(self, keep: np.ndarray, n_none: int | None = None) -> SupportState:
        rest = self.copy()
        rest.counts = self.counts[keep]
        rest._move(Move.of_kept(keep))
        return rest

    def _move(self, move: Move) -> None:
        for name, part in self._vectors_moved(move, 0.5).items():
            setattr(self, name, part)
        if not self.kernel.second_order:
            self.prior = np.ones(move.n)

    # --- learning ------------------------------------------------------------------------------------------------------------

    def forget_origins(self, n_rows: int) -> None:
        """Number rows anew, 0..n_rows - 1, so that a repeated row stays one support vector; 0: no numbers."""
        self.slot_of, self.origin[:] = np.full(n_rows, -1, np.int64), -1

    def _with_room(self, capacity: int) -> list[np.ndarray]:
        """Return alpha (a copy), P, Q, norms and origin with room for `capacity` support vectors, growing by at least a half."""
        old = self.alpha.shape[1]
        if capacity <= old:
            return [self.alpha.copy(), self.P, self.Q, self.norms, self.origin]
        capacity = max(capacity, old + old // 2)
        packed, found = capacity * (capacity + 1) // 2, []
        for array, n in zip((self.alpha, self.P, self.Q, self.norms, self.origin), (capacity, packed, packed, capacity, capacity),
                            strict=True):
            wider = np.zeros((*array.shape[:-1], n if array.shape[-1] else 0), array.dtype)
            wider[..., : array.shape[-1]] = array
            found.append(wider)
        return found

    def block(self, who: str, rows: Rows, taken: np.ndarray) -> tuple[support.SupportSet, Rows, Any]:
        """Return what learns the rows of these numbers, their kernel values, and the rows as support vectors to come."""
        matrix, precomputed = rows.array()[taken], self.kernel.kernel == "precomputed"
        old = self.stack = self.vectors
        numbers = np.ascontiguousarray(taken, np.int64)
        if precomputed:
            numbers = numbers + int(rows.indptr[0]) // rows.n_features  # (rows may be a slice of X)
            if not len(self.slot_of):
                self.slot_of = np.full(self.n_features, -1, np.int64)
                self.slot_of[self.origin[: self.size]] = np.arange(self.size)
        elif old is not None:
            matrix = _alike(matrix, old)
        added = numbers[:, None].astype(np.float64) if precomputed else matrix
        n_old, n_new, budget = self.size, len(taken), self.params.budget
        K = np.empty((n_new, n_old + n_new))
        if n_old:
            K[:, :n_old] = self.kernel.values(who, matrix, old)
        K[:, n_old:] = self.kernel.values(who, matrix, added, same=not precomputed)
        most = np.iinfo(np.int64).max if budget is None else budget
        learnt = support.SupportSet(self, self._with_room(min(n_old + n_new, max(n_old, most) + 1)), numbers, most)
        learnt.params, learnt.holds_level = self.params, self.holds_level
        return learnt, _rows_of(K), added

    def after(self, learnt: support.SupportSet, added: Any) -> SupportState:
        """Return the model of what a block's rows have left: a whole number of them."""
        stack = Unstacked(self.stack, added, np.asarray(learnt.members)[: learnt.size])
        alpha, P, Q, norms, origin = learnt.arrays
        arrays = {"alpha": alpha, "P": P, "Q": Q, "norms": norms, "origin": origin}
        found = self.sharing(size=learnt.size, dropped=learnt.dropped, stack=stack, **arrays)
        found.asked, found.holds_level = self.asked, self.holds_level
        with suppress(MemoryError):  # (the model is whole: the next call stacks its vectors or fails)
            found.stack = stack.stacked()
        return found

    def scores(self, who: str, rows: Rows) -> np.ndarray:
        """Return w.φ(x) of each row and column, (n_rows, n_columns)."""
        X, vectors, found = rows.array(), self.vectors, np.zeros((rows.n_rows, self.n_columns))
        step = max(READ_ENTRIES // max(self.size, 1), 1)
        for start in range(0, X.shape[0] if self.size else 0, step):
            part = slice(start, start + step)
            Z = X[part] if self.kernel.kernel == "precomputed" else _alike(X[part], vectors)
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                found[part] = self.kernel.values(who, Z, vectors) @ self.alpha[:, : self.size].T
        return found + self.level

    # --- files ---------------------------------------------------------------------------------------------------------------

    def in_file(self) -> dict:
        """Return the arrays for a file, without spare room, and what the parameters do not tell."""
        packed, vectors = self.size * (self.size + 1) // 2, self.vectors
        ends = {"alpha": self.size, "norms": self.size, "P": packed, "Q": packed}
        found = {name: np.ascontiguousarray(getattr(self, name)[..., : ends.get(name)]) for name in self.ARRAYS}
        found.update(n_features=self.n_features, size=self.size, dropped=self.dropped, gamma=self.kernel.gamma)
        if not self.size:
            return found
        if issparse(vectors):
            return {**found, **{f"vectors_{name}": getattr(vectors, name) for name in ("data", "indices", "indptr")}}
        precomputed = self.kernel.kernel == "precomputed"
        return {**found, "vectors": self.origin[: self.size] if precomputed else np.ascontiguousarray(vectors)}

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], n_classes: int, params: KernelParams) -> SupportState:
        """Return the model of these parts; raise InvalidError if learning cannot produce one of them."""
        scalars = ["dropped", "gamma", "n_features", "size"]
        require(sorted(header) == scalars, f"a state of {scalars}", sorted(header))
        dropped, gamma, n_features, size = (header[name] for name in scalars)
        whole = all(type(number) is int and 0 <= number < 2**62 for number in (n_features, size, dropped))
        require(whole and n_features > 0, "whole numbers of features and vectors", header)
        state = cls(n_features, n_classes, FLOAT64, params)
        kernel, known = state.kernel, state.kernel.gamma
        is_told = known is None and kernel.uses_gamma and type(gamma) is float and 0.0 < gamma < np.inf
        require(is_told or gamma == known, f"the gamma of {params.kernel.gamma!r}", gamma)

        packed, dtypes = size * (size + 1) // 2, {name: part.dtype for name, part in arrays.items() if part.dtype.kind == "i"}
        sizes = {"vectors": n_vectors(n_classes), "classes": n_classes, "size": size,
                 "covariances": packed * kernel.second_order, "inverses": packed * kernel.projects}
        layout: dict[str, Any] = laid_out(cls.ARRAYS, sizes, FLOAT64)
        is_csr = kernel.kernel != "precomputed" and "vectors_data" in arrays
        if size and is_csr:
            layout["vectors_data"] = arrays["vectors_data"].shape[:1], FLOAT64
            for name, n in (("vectors_indices", arrays["vectors_data"].shape[:1]), ("vectors_indptr", (size + 1,))):
                layout[name] = n, dtypes.get(name)
        elif size:
            layout["vectors"] = ((size,), np.dtype(np.int64)) if kernel.kernel == "precomputed" else ((size, n_features), FLOAT64)
        require_layout(arrays, layout)

        state.kernel, state.size, state.dropped = kernel._replace(gamma=gamma), size, dropped
        for name in cls.ARRAYS:
            if arrays[name].size:  # (an empty set has room for one vector)
                setattr(state, name, arrays[name])
        if size:
            state.origin = np.full(size, -1, np.int64)
            state.stack = state._csr_of(arrays) if is_csr else arrays["vectors"]
            numbers = state.stack.data if is_csr else state.stack
            require(bool(np.isfinite(numbers).all()), "finite vectors", "NaN or infinity")
            if kernel.kernel == "precomputed":
                inside = numbers.min() >= 0 and numbers.max() < n_features
                require(inside and len(np.unique(numbers)) == size, f"numbers of {n_features} rows", numbers)
                state.origin, state.stack = numbers, numbers[:, None].astype(np.float64)
        return state.checked()

    def _csr_of(self, arrays: dict[str, np.ndarray]) -> Any:
        data, indices, indptr = (arrays[f"vectors_{name}"] for name in ("data", "indices", "indptr"))
        follows = indptr[0] == 0 and indptr[-1] == len(data)
        in_order = follows and validate.rows_in_order(indices, indptr.astype(np.int64), self.n_features)
        require(in_order, "rows that are a CSR matrix in order", "others")
        return _csr_array((data, indices, indptr), shape=(self.size, self.n_features))

    def _problem_of_values(self, counters: dict) -> str:
        if self.size + self.dropped > counters["t"]:
            return "more support vectors than rounds"
        if max(counters["max_abs_weight"], counters["curvature"]) > LARGEST:
            return "scales out of range"
        return self._problem_of_inverses() if self.size and len(self.Q) else ""

    def _problem_of_inverses(self) -> str:
        """Describe a fault of the inverse Q of a Gram matrix; "" if there is none.

        Up to rounding, Q_ii >= 1/k(x_i, x_i), Q_ij² <= Q_ii Q_jj, and P <= Q if the kernel is positive.
        """
        diagonal = np.arange(1, self.size + 1).cumsum() - 1
        roots, share = np.sqrt(np.maximum(self.Q[diagonal], 0.0)), self.Q[diagonal] * self.norms[: self.size]
        if not (share.min() >= 0.5 and share.max() <= 1e30):
            return "an inverse that no kernel matrix has"
        for i, end in enumerate(diagonal):
            row, most = slice(end - i, end + 1), 2.0 * roots[i] * roots[: i + 1]
            if (np.abs(self.Q[row]) > most).any():
                return "an inverse that no kernel matrix has"
            if self.kernel.is_positive and (np.abs(self.P[:, row]) > 2.0 * most).any():
                return "a covariance beyond its range"
        return ""
