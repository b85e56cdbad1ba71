"""Kernel functions on blocks of rows, and the model of a kernel learner: its support set, whose arrays `support` changes."""

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
NO_NUMBERS = np.empty(0, np.int64)
LARGEST = 1e150  # bound of kernel values and coefficients in learners too


def _csr_array(*parts, **options):
    from scipy.sparse import csr_array

    return csr_array(*parts, **options)


def matrix_of(vectors) -> Any:
    """Return the support vectors of a `Support` as one matrix."""
    return vectors.stacked() if isinstance(vectors, Unstacked) else vectors


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


class Kind(NamedTuple):
    """The parameters that are fixed for a model's lifetime: its kernel, geometry and kind of budget.

    The first five are the estimator's parameters. second_order : True if there is a Σ. projects : True if vectors beyond the
    budget are replaced by their projections.
    """

    kernel: Any
    gamma: Any
    degree: int
    coef0: float
    kernel_params: dict | None
    bias: float
    second_order: bool
    projects: bool

    def kernel_of(self, n_features: int, scale: float | None) -> Kernel:
        """Return the kernel as an object. scale : the number for gamma="scale"."""
        gammas: dict[Any, Any] = {"auto": 1.0 / n_features, "scale": scale}
        gamma = gammas.get(self.gamma, self.gamma)
        return Kernel(self.kernel, gamma, self.degree, self.coef0, self.kernel_params, self.bias)


class KernelParams(NamedTuple):
    """The parameters of a kernel learner, whose rules read no other fields of `Params`."""

    rule: int
    trigger: int
    margin: float
    kind: Kind
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
        kind = Kind(
            *(values[name] for name in ("kernel", "gamma", "degree", "coef0", "kernel_params")), abs(common(values)["constant"]),
            second_order, second_order and values["budget"] is not None,
        )
        budget = None if values["budget"] is None else int(values["budget"])
        fields = {name: number for name, number in algorithm.kernel_params(values).items() if name in cls._fields}
        return cls(
            model.RULES[algorithm.rule], model.TRIGGERS[algorithm.trigger], algorithm.margin, kind, budget,
            level=common(values)["level"],
            costs=model.COSTS[algorithm.costs],
        )._replace(**fields)

    def limits(self, dtype: DTypeLike) -> tuple[()]:
        """Return no limits: every parameter fits a double."""
        return ()

    def of_pass(self, state: Any, is_open: bool, balanced: bool) -> Self:
        """Add the numbers that depend on the labels."""
        return self._replace(open_classes=int(is_open), balanced=int(balanced))


class Kernel:
    """k(x, z), plus bias^2 for the constant feature.

    name : "linear", "rbf", "poly", "sigmoid", "precomputed" or a callable of two matrices. gamma : a number; None until
    it is known.
    """

    def __init__(self, name, gamma, degree, coef0, params, bias: float):
        self.name, self.gamma, self.degree, self.coef0, self.params, self.bias = name, gamma, degree, coef0, params or {}, bias

    @property
    def uses_gamma(self) -> bool:
        return self.name in ("rbf", "poly", "sigmoid")

    @property
    def is_positive(self) -> bool:
        """Return True if the kernel's Gram matrices are known to have no negative eigenvalue."""
        return self.name in ("linear", "rbf") or (self.name == "poly" and self.coef0 >= 0.0)

    def values(self, who: str, A, B, same: bool = False) -> np.ndarray:
        """Compute k of each row of A with each of B, (len(A), len(B)). same: B is A. Only a callable's values are checked."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if self.name == "precomputed":
                K = A[:, B[:, 0].astype(np.intp)]
            elif callable(self.name):
                K = self._called(who, A, B)
            elif self.name == "linear":
                K = _products(A, B)
            elif self.name == "rbf":
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
                K = K**self.degree if self.name == "poly" else np.tanh(K)
                if same:  # a row whose square leaves double's range cannot be learnt, though its tanh is 1
                    far = np.flatnonzero(~np.isfinite(products.diagonal()))
                    K[far, far] = np.inf
            return K + self.bias**2

    def _called(self, who: str, A, B) -> np.ndarray:
        K = self.name(A, B, **self.params)
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


class Support(NamedTuple):
    """The arrays that predicting reads.

    They are one tuple, so that a reader's parts belong together: learning changes copies, and replaces it after each block.

    vectors : the support vectors, (size, n_features) dense or CSR (precomputed kernel: a column of row numbers); or
    `Unstacked`.
    alpha : coefficients, (columns, at least size). counters : see `model.COUNTERS`. dropped : support vectors removed for
    the budget.
    """

    size: int
    vectors: Any
    alpha: np.ndarray
    counters: np.ndarray
    dropped: int


class SupportState(Counted):
    """The support set of a kernel learner, with its coefficients and matrices.

    support : see `Support`. P, prior, Q, norms, origin, slot_of : see `support.SupportSet`. counts : rows seen of each class.
    """

    #: Of a file: in memory they have room for more support vectors.
    ARRAYS = {
        **Counted.ARRAYS,
        "alpha": Array(("vectors", "size"), half=as_theta, least=-LARGEST, most=LARGEST),
        "P": Array(("vectors", "covariances"), half=halved), "Q": Array(("inverses",)),
        "prior": Array(("vectors",), fresh=1.0, half=halved), "norms": Array(("size",), least=0.0, most=LARGEST),
    }
    PARTS = ("P", "Q", "counts", "kernel", "n_features", "norms", "origin", "prior", "slot_of", "support")

    geometry, KEPT = "kernel", ("kind", "level")
    sparse_coef = None  # as in Model

    def __init__(self, n_features: int, n_classes: int, dtype: DTypeLike, params: KernelParams):
        columns, kind = n_vectors(n_classes), params.kind
        self.kernel, self.n_features, self.params = kind.kernel_of(n_features, None), n_features, params
        self.support = Support(0, None, np.zeros((columns, 1)), np.zeros(model.N_COUNTERS), 0)
        self.P = np.zeros((columns, int(kind.second_order)))
        self.Q = np.zeros(int(kind.projects))
        self.prior = np.ones(columns)
        self.norms, self.origin, self.slot_of = np.zeros(1), np.full(1, -1, np.int64), NO_NUMBERS
        self.counts = np.zeros(n_classes)

    dtype = np.dtype(np.float64)  # of rows and coefficients

    scale = 1.0  # of rows: a kernel has units of its own
    constant = property(lambda self: self.kernel.bias)
    size = property(lambda self: self.support.size)
    level = property(lambda self: self._level_in(self.counters))
    alpha = property(lambda self: self.support.alpha)
    counters = property(lambda self: self.support.counters)

    @property
    def vectors(self) -> Any:
        return matrix_of(self.support.vectors)

    @property
    def n_columns(self) -> int:
        return self.alpha.shape[0]

    @property
    def second_order(self) -> bool:
        return self.P.shape[1] > 0

    def try_partial_fit(self, *call) -> bool:
        """Return False: the kernel values of a call come from Python, and there is no fast path."""
        return False

    def tell_scale(self, rows: Rows, numbers: np.ndarray) -> None:
        """Do nothing."""

    def parts(self) -> dict:
        return {name: getattr(self, name) for name in self.PARTS}

    def writable(self) -> SupportState:
        return super().writable() if self.alpha.flags.writeable and self.counters.flags.writeable else self.copy()

    def copy(self) -> SupportState:
        """Return an independent copy. (The vectors are shared: they are replaced, never changed.)"""
        twin = super().copy()
        twin.support = self.support._replace(alpha=self.alpha.copy(), counters=self.counters.copy())
        return twin

    def grow_classes(self, places: np.ndarray, n_classes: int, params: Any) -> SupportState:
        """Return this model with its classes at `places` among n_classes; new classes start from zero.

        A single vector w becomes the two -w/2 and +w/2, with half the covariance each.
        """
        grown = self.copy()
        grown.counts = self.counts_at(places, n_classes)
        if n_vectors(n_classes) > self.n_columns:
            grown._take(self._vectors_moved(Move.of_classes(places, self.n_columns, n_classes), 0.5))
        return grown

    def keep_classes(self, keep: np.ndarray) -> SupportState:
        rest = self.copy()
        rest.counts = self.counts[keep]
        rest._take(self._vectors_moved(Move.of_kept(keep), 0.5))
        return rest

    def _take(self, of_vectors: dict[str, np.ndarray]) -> None:
        """Set the arrays with an axis of vectors."""
        self.P = of_vectors["P"]
        self.prior = of_vectors["prior"] if self.second_order else np.ones(len(self.P))
        self.support = self.support._replace(alpha=of_vectors["alpha"])

    def forget_origins(self, n_rows: int) -> None:
        """Number rows anew, 0..n_rows - 1, so that a repeated row stays one support vector; 0: no numbers."""
        self.slot_of, self.origin[:] = np.full(n_rows, -1, np.int64), -1

    def _with_room(self, capacity: int) -> tuple:
        """Return alpha (a copy), P, Q, norms and origin with room for `capacity` support vectors, growing by at least a half."""
        old = self.alpha.shape[1]
        if capacity <= old:
            return self.alpha.copy(), self.P, self.Q, self.norms, self.origin
        capacity = max(capacity, old + old // 2)

        def wider(array, n, filler=0):
            grown = np.full((*array.shape[:-1], n), filler, array.dtype)
            grown[..., : array.shape[-1]] = array
            return grown

        packed = capacity * (capacity + 1) // 2
        P = wider(self.P, packed) if self.second_order else self.P
        Q = wider(self.Q, packed) if len(self.Q) else self.Q
        return wider(self.alpha, capacity), P, Q, wider(self.norms, capacity), wider(self.origin, capacity, -1)

    def learn(self, who: str, rows, order: np.ndarray, params: KernelParams, step) -> None:
        """Learn one pass over rows in the given order (row numbers; empty: storage order).

        step(model, block, taken) runs a compiled pass over a block of kernel values; `taken` are the numbers of its rows.
        """
        self._stack()
        matrix, precomputed = rows.array(), self.kernel.name == "precomputed"
        first = int(rows.indptr[0]) // rows.n_features if precomputed and rows.n_rows else 0  # (rows may be a slice of X)
        if precomputed and len(self.slot_of) == 0:
            self.slot_of = np.full(self.n_features, -1, np.int64)
            self.slot_of[self.origin[: self.size]] = np.arange(self.size)
        order = order if len(order) else np.arange(rows.n_rows)
        budget = params.budget
        most = np.iinfo(np.int64).max if budget is None else budget
        for start in range(0, len(order), BLOCK):
            taken = order[start : start + BLOCK]
            contiguous = len(taken) and taken[-1] - taken[0] == len(taken) - 1 and (np.diff(taken) == 1).all()
            block = matrix[taken[0] : taken[-1] + 1] if contiguous else matrix[taken]
            numbers = np.ascontiguousarray(taken + first, np.int64)
            if self.vectors is not None and not precomputed:
                block = _alike(block, self.vectors)
            added = numbers[:, None].astype(np.float64) if precomputed else block
            n_old, n_new = self.size, len(taken)
            K = np.empty((n_new, n_old + n_new))
            if n_old:
                K[:, :n_old] = self.kernel.values(who, block, self.vectors)
            K[:, n_old:] = self.kernel.values(who, block, added, same=not precomputed)
            room = alpha, P, Q, norms, origin = self._with_room(min(n_old + n_new, max(n_old, most) + 1))
            model = support.SupportSet(self, room, numbers, most)
            model.params = params
            try:
                step(model, _rows_of(K), taken)
            finally:  # an interrupt leaves a whole number of rows
                if (model.counters != self.counters).any():
                    unstacked = Unstacked(self.support.vectors, added, np.asarray(model.members)[: model.size])
                    found = Support(model.size, unstacked, alpha, model.counters, model.dropped)
                    self.P, self.Q, self.norms, self.origin, self.support = P, Q, norms, origin, found
                    with suppress(MemoryError):  # (the model is whole: the next call stacks them or fails)
                        self._stack()

    def _stack(self) -> None:
        self.support = self.support._replace(vectors=self.vectors)

    def scores(self, who: str, rows) -> np.ndarray:
        """Return w.φ(x) of each row and column, (n_rows, n_columns)."""
        size, vectors, alpha, counters, _ = self.support
        vectors = matrix_of(vectors)
        X, found = rows.array(), np.zeros((rows.n_rows, len(alpha)))
        step = max(READ_ENTRIES // max(size, 1), 1)
        for start in range(0, X.shape[0] if size else 0, step):
            part = slice(start, start + step)
            Z = X[part] if self.kernel.name == "precomputed" else _alike(X[part], vectors)
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                found[part] = self.kernel.values(who, Z, vectors) @ alpha[:, :size].T
        return found + self._level_in(counters)

    # --- files ---------------------------------------------------------------------------------------------------------------

    def in_file(self) -> dict:
        """Return the arrays for a file, without spare capacity and without those that the model's kind determines."""
        size, vectors, alpha, counters, dropped = self.support
        packed, vectors = size * (size + 1) // 2, matrix_of(vectors)
        scale = self.kernel.gamma if self.kernel.uses_gamma else None
        found = {
            "n_features": self.n_features, "size": size, "dropped": dropped, "gamma": scale, "vectors_as": "none",
            "alpha": np.ascontiguousarray(alpha[:, :size]), "P": np.ascontiguousarray(self.P[:, :packed]),
            "Q": self.Q[:packed], "prior": self.prior, "norms": self.norms[:size],
            "counts": self.counts, "counters": counters,
        }
        if vectors is None:
            return found
        if self.kernel.name == "precomputed":
            return {**found, "vectors_as": "numbers", "vectors": self.origin[:size]}
        if not issparse(vectors):
            return {**found, "vectors_as": "dense", "vectors": np.ascontiguousarray(vectors)}
        parts = {"data": vectors.data, "indices": vectors.indices, "indptr": vectors.indptr}
        return {**found, "vectors_as": "csr", **{f"vectors_{name}": part for name, part in parts.items()}}

    @classmethod
    def of_file(cls, header: dict, arrays: dict[str, np.ndarray], n_classes: int, params: KernelParams) -> SupportState:
        """Return the model of these parts, of a `Kind`; raise InvalidError if learning cannot produce one of them."""
        kind: Kind = params.kind
        scalars = ["dropped", "gamma", "n_features", "size", "vectors_as"]
        require(sorted(header) == scalars, f"a state of {scalars}", sorted(header))
        dropped, gamma, n_features, size, as_ = (header[name] for name in scalars)
        whole = all(type(number) is int and 0 <= number < 2**62 for number in (n_features, size, dropped))
        require(whole and n_features > 0, "whole numbers of features and vectors", header)
        kernel = kind.kernel_of(n_features, gamma)
        usual = gamma == kernel.gamma if kernel.uses_gamma else gamma is None
        fits = usual and (gamma is None or (type(gamma) in (int, float) and 0.0 < gamma < np.inf))
        require(fits, f"the gamma of {kind.gamma!r}", gamma)

        packed, n_stored = size * (size + 1) // 2, len(arrays.get("vectors_data", ()))
        of = {name: array.dtype for name, array in arrays.items() if array.dtype.kind == "i"}.get
        sizes = {"vectors": n_vectors(n_classes), "classes": n_classes, "size": size,
                 "covariances": packed * kind.second_order, "inverses": packed * kind.projects}
        forms = {
            "none": {}, "numbers": {"vectors": ((size,), of("vectors"))}, "dense": {"vectors": ((size, n_features), FLOAT64)},
            "csr": {"vectors_data": ((n_stored,), FLOAT64), "vectors_indices": ((n_stored,), of("vectors_indices")),
                    "vectors_indptr": ((size + 1,), of("vectors_indptr"))},
        }
        require_layout(arrays, {**laid_out(cls.ARRAYS, sizes, FLOAT64), **forms[as_]})
        right = (as_ in ("none", "numbers")) if kernel.name == "precomputed" else as_ != "numbers"
        require(right and (as_ != "none" or size == 0), f"vectors of {kernel.name!r}", as_)

        state = cls(n_features, n_classes, np.float64, params)
        state.kernel = kernel
        if size:  # (an empty set has room for one)
            state.P, state.Q, state.norms = arrays["P"], arrays["Q"], arrays["norms"]
            state.origin = np.full(size, -1, np.int64)
        state.prior, state.counts = arrays["prior"], arrays["counts"]
        alpha = arrays["alpha"] if size else state.alpha
        state.support = Support(size, None, alpha, arrays["counters"], dropped)
        state._take_vectors(as_, arrays)
        return state.checked()

    def _take_vectors(self, as_: str, arrays: dict[str, np.ndarray]) -> None:
        """Check and take a file's support vectors, whose shapes have been checked."""
        vectors = arrays.get("vectors")
        if as_ == "numbers":
            numbers = vectors.astype(np.int64)
            inside = len(numbers) == 0 or (numbers.min() >= 0 and numbers.max() < self.n_features)
            require(inside and len(np.unique(numbers)) == len(numbers), f"numbers of {self.n_features} rows", numbers)
            self.origin[: self.size], vectors = numbers, numbers[:, None].astype(np.float64)
        elif as_ == "csr":
            data, indices, indptr = (arrays[f"vectors_{name}"] for name in ("data", "indices", "indptr"))
            follows = indptr[0] == 0 and indptr[-1] == len(data)
            in_order = follows and validate.rows_in_order(indices, indptr.astype(np.int64), self.n_features)
            require(in_order, "rows that are a CSR matrix in order", "others")
            vectors = _csr_array((data, indices, indptr), shape=(self.size, self.n_features))
        if vectors is not None:
            numbers = vectors.data if issparse(vectors) else vectors
            require(bool(np.isfinite(numbers).all()), "finite vectors", "NaN or infinity")
        self.support = self.support._replace(vectors=vectors)

    def _problem_of_values(self, counters: dict) -> str:
        size, alpha = self.size, self.alpha
        diagonal = np.arange(1, size + 1).cumsum() - 1
        if size + self.support.dropped > counters["t"]:
            return "more support vectors than rounds"
        if max(counters["max_abs_weight"], counters["curvature"]) > LARGEST or not np.isin(self.prior, (0.5, 1.0)).all():
            return "scales out of range"
        if size and self.kernel.name == "linear":
            squares = _squares(matrix_of(self.support.vectors)) + self.kernel.bias**2
            if not np.allclose(squares, self.norms[:size], 1e-6, 0.0):
                return "norms of other vectors"
        if len(self.Q):
            return self._problem_of_inverses(diagonal) if size else ""
        # Rounding at most doubles a step that is not below one rounding: what has moved by `max_abs_weight` is within a few times
        # that.
        if np.abs(alpha).max(initial=0.0) > 4.0 * counters["max_abs_weight"]:
            return "coefficients larger than the steps allow"
        if size and self.second_order:
            beyond = np.abs(self.P[:, : diagonal[-1] + 1]).max() > 4.0 * counters["curvature"]
            if beyond or self.P[:, diagonal].min() < 0.0:
                return "a covariance beyond its range"
        return ""

    def _problem_of_inverses(self, diagonal: np.ndarray) -> str:
        """Describe a fault of the inverse Q of a Gram matrix; "" if there is none.

        Up to rounding, Q_ii >= 1/k(x_i, x_i), Q_ij² <= Q_ii Q_jj, and P <= Q if the kernel is positive.
        """
        roots, share = np.sqrt(np.maximum(self.Q[diagonal], 0.0)), self.Q[diagonal] * self.norms[: self.size]
        if not (share.min() >= 0.5 and share.max() <= 1e30):
            return "an inverse that no kernel matrix has"
        for i, end in enumerate(diagonal):
            row, most = slice(end - i, end + 1), 2.0 * roots[i] * roots[: i + 1]
            if (np.abs(self.Q[row]) > most).any():
                return "an inverse that no kernel matrix has"
            if (np.abs(self.P[:, row]) > (2.0 * most if self.kernel.is_positive else LARGEST)).any():
                return "a covariance beyond its range"
        return ""
