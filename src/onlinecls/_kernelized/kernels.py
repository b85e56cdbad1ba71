"""Kernel functions on blocks of rows, and the model of a kernel learner: its support set, whose arrays `support` changes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._geometry.state import Counted, n_vectors
from .._input import validate
from .._input.compat import issparse
from .._input.rows import NO_INDICES, Rows
from . import support

BLOCK = 256  # rows whose kernel values are computed in one call
READ_ENTRIES = 1 << 22  # kernel values held at once when scores are read
NO_NUMBERS = np.empty(0, np.int64)


def _csr_array(*parts, **options):
    from scipy.sparse import csr_array

    return csr_array(*parts, **options)


def _stacked(above, below):
    from scipy.sparse import vstack

    return _csr_array(vstack([above, below]))


def matrix_of(vectors) -> Any:
    """The matrix of support vectors that a `Support` has."""
    return vectors.stacked() if isinstance(vectors, Unstacked) else vectors


def first_row_number(rows: validate.Rows) -> int:
    """Where dense rows begin in the matrix that they are a part of."""
    return int(rows.indptr[0]) // rows.n_features


def _alike(X, vectors):
    """X dense or CSR as the support vectors are."""
    if issparse(X) == issparse(vectors):
        return X
    return _csr_array(X) if issparse(vectors) else X.toarray()


def _rows_of(K: np.ndarray) -> Rows:
    """Kernel values as rows of a call."""
    n_rows, n_columns = K.shape
    return Rows(K.reshape(-1), NO_INDICES, np.arange(n_rows + 1, dtype=np.int64) * n_columns, n_rows, n_columns)


def _products(A, B) -> np.ndarray:
    product = A @ B.T
    return product.toarray() if issparse(product) else product


def _squares(A) -> np.ndarray:
    return np.asarray(A.multiply(A).sum(axis=1)).reshape(-1) if issparse(A) else np.einsum("ij,ij->i", A, A)


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

    def values(self, who: str, A, B, same: bool = False) -> np.ndarray:
        """k of each row of A with each of B, (len(A), len(B)) float64. same: B is A. Only a callable's values are checked."""
        with np.errstate(over="ignore", invalid="ignore"):
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
                    K[np.broadcast_to(~np.isfinite(squares[0] + squares[1]), K.shape)] = np.inf  # so far out, far from all
                if same:
                    np.fill_diagonal(K, 0.0)
                K = np.exp(-self.gamma * K)
            else:
                K = self.gamma * _products(A, B) + self.coef0
                K = K**self.degree if self.name == "poly" else np.tanh(K)
            return K + self.bias**2

    def _called(self, who: str, A, B) -> np.ndarray:
        K = self.name(A, B, **self.params)
        K = validate.read_numbers(f"{who}: what kernel returns", K.toarray() if issparse(K) else K)
        if K.shape != (A.shape[0], B.shape[0]):
            raise ValueError(
                f"{who}: kernel must return an array of shape {(A.shape[0], B.shape[0])} for {A.shape[0]} and {B.shape[0]} rows, "
                f"got shape {K.shape}. It is called with two matrices, as SVC's."
            )
        if not np.isfinite(K).all():
            row, column = (int(i) for i in np.argwhere(~np.isfinite(K))[0])
            raise ValueError(
                f"{who}: kernel must return finite numbers, got {K[row, column]:g} for row {row} of its first and row {column} "
                "of its second argument. The model is what it was."
            )
        return K


def scale_gamma(rows: validate.Rows) -> float:
    """SVC's gamma="scale": 1 / (n_features Var(X)) over all entries."""
    X = rows.array()
    mean = X.mean()
    variance = float((X.multiply(X) if issparse(X) else X * X).mean() - mean * mean)
    return 1.0 / (rows.n_features * variance) if variance > 0.0 else 1.0


class Unstacked(NamedTuple):
    """Support vectors as places (sorted) among the old ones and then the rows of a block: what a model has of them until they are
    one matrix. It takes no memory to make: where there is none for the matrix, the model is a whole one all the same."""

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
        return _stacked(kept, fresh) if issparse(fresh) else np.concatenate([kept, fresh])


class Support(NamedTuple):
    """All that is read by those who predict, one tuple so that they find what belongs together: learning changes copies and puts
    them in its place after each block.

    vectors : rows of the support vectors, (size, n_features) dense or CSR (precomputed kernel: their numbers, a column); or
    `Unstacked`.
    alpha : coefficients, (columns, at least size). tally : counters, see `_core.TALLY`. dropped : support vectors given up for
    the budget. norm : one class, ||w||².
    """

    size: int
    vectors: Any
    alpha: np.ndarray
    tally: np.ndarray
    dropped: int
    norm: float


class SupportState(Counted):
    """The support set of a kernel learner, and what goes with it.

    support : see `Support`. P, scale, Q, norms, origin, slot_of : see `support.SupportSet`. counts : rows seen of each class.
    """

    PARTS = ("P", "Q", "counts", "kernel", "n_features", "norms", "origin", "scale", "slot_of", "support")
    __slots__ = (*PARTS, "params")

    def __init__(self, kernel: Kernel, n_features: int, n_classes: int, second_order: bool, projects: bool):
        columns = n_vectors(n_classes)
        self.kernel, self.n_features = kernel, n_features
        self.params = None  # those that it was last learnt with
        self.support = Support(0, None, np.zeros((columns, 1)), np.zeros(_core.TALLY_SIZE), 0, 0.0)
        self.P = np.zeros((columns, int(second_order)))
        self.Q = np.zeros(int(projects))
        self.scale = np.ones(columns)
        self.norms, self.origin, self.slot_of = np.zeros(1), np.full(1, -1, np.int64), NO_NUMBERS
        self.counts = np.zeros(n_classes)

    dtype = np.dtype(np.float64)  # of rows and coefficients alike

    size = property(lambda self: self.support.size)
    alpha = property(lambda self: self.support.alpha)
    tally = property(lambda self: self.support.tally)

    @property
    def vectors(self) -> Any:
        return matrix_of(self.support.vectors)

    @property
    def n_columns(self) -> int:
        return self.alpha.shape[0]

    @property
    def second_order(self) -> bool:
        return self.P.shape[1] > 0

    def learn_at_once(self, *call) -> bool:
        """Kernel values of a call come from Python: there is no shorter way."""
        return False

    def arrays(self) -> list[np.ndarray]:
        return [self.alpha, self.tally, *super().arrays()]

    def copy(self) -> SupportState:
        """A model of its own. (The vectors are shared: they are replaced, never changed.)"""
        twin = super().copy()
        twin.support = self.support._replace(alpha=self.alpha.copy(), tally=self.tally.copy())
        return twin

    def with_classes(self, places: np.ndarray, n_classes: int) -> SupportState:
        """This model with its classes at `places` among n_classes; the newcomers start from nothing.

        One vector w becomes the two -w/2 and +w/2, with half the covariance each.
        """
        grown = self.copy()
        grown.counts = np.zeros(n_classes)
        grown.counts[places] = self.counts
        columns = n_vectors(n_classes)
        if columns == self.n_columns:
            return grown
        alpha, grown.P = np.zeros((columns, self.alpha.shape[1])), np.zeros((columns, self.P.shape[1]))
        grown.support = grown.support._replace(alpha=alpha)
        grown.scale = np.ones(columns)
        if self.n_columns > 1:
            alpha[places], grown.P[places], grown.scale[places] = self.alpha, self.P, self.scale
        else:
            for sign, place in zip((-0.5, 0.5), places, strict=False):
                alpha[place] = sign * self.alpha[0]
                if self.second_order:
                    grown.P[place], grown.scale[place] = self.P[0] / 2, self.scale[0] / 2
        return grown

    def only(self, keep: np.ndarray) -> SupportState:
        """This model of three classes or more without the others, which have never had a row."""
        rest = self.copy()
        rest.P, rest.scale, rest.counts = self.P[keep], self.scale[keep], self.counts[keep]
        rest.support = rest.support._replace(alpha=self.alpha[keep])
        return rest

    def forget_origins(self, n_rows: int) -> None:
        """Let rows be numbered anew, 0..n_rows - 1, so that one that comes again is one support vector; 0: no numbers."""
        self.slot_of, self.origin[:] = np.full(n_rows, -1, np.int64), -1

    def _with_room(self, capacity: int) -> tuple:
        """alpha (a copy), P, Q, norms and origin with room for support vectors: arrays grow by half as much again."""
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

    def learn(self, who: str, rows, order: np.ndarray, params: dict, step) -> None:
        """One pass over rows in their order (numbers; empty: as they are).

        step(model, block, taken) runs a compiled pass on a block, rows of kernel values: `taken` are their places in what was
        given.
        """
        self._stack()
        matrix, precomputed = rows.array(), self.kernel.name == "precomputed"
        first = first_row_number(rows) if precomputed and rows.n_rows else 0
        if precomputed and len(self.slot_of) == 0:
            self.forget_origins(self.n_features)
        order = order if len(order) else np.arange(rows.n_rows)
        budget = params["budget"]
        most = np.iinfo(np.int64).max if budget is None else budget
        for start in range(0, len(order), BLOCK):
            taken = order[start : start + BLOCK]
            contiguous = len(taken) and taken[-1] - taken[0] == len(taken) - 1 and (np.diff(taken) == 1).all()
            block = matrix[taken[0] : taken[-1] + 1] if contiguous else matrix[taken]
            numbers = np.ascontiguousarray(taken + first, np.int64)
            block = self._like_vectors(block)
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
                if (model.tally != self.tally).any():
                    unstacked = Unstacked(self.support.vectors, added, np.asarray(model.members)[: model.size])
                    found = Support(model.size, unstacked, alpha, model.tally, model.dropped, model.norm)
                    self.P, self.Q, self.norms, self.origin, self.support = P, Q, norms, origin, found
                    with suppress(MemoryError):  # (the model is whole: the next call stacks them, or is refused)
                        self._stack()

    def _like_vectors(self, X):
        """X dense or CSR as the support vectors are."""
        return X if self.vectors is None or self.kernel.name == "precomputed" else _alike(X, self.vectors)

    def _stack(self) -> None:
        """Make the support vectors one matrix."""
        self.support = self.support._replace(vectors=self.vectors)

    def scores(self, who: str, rows) -> np.ndarray:
        """w.φ(x) of each row and column, (n_rows, n_columns)."""
        return self.scores_and_norm(who, rows)[0]

    def scores_and_norm(self, who: str, rows) -> tuple[np.ndarray, float]:
        """The same, and (one class) the ||w||² that goes with it."""
        size, vectors, alpha, _, _, norm = self.support
        vectors = matrix_of(vectors)
        X, found = rows.array(), np.zeros((rows.n_rows, len(alpha)))
        step = max(READ_ENTRIES // max(size, 1), 1)
        for start in range(0, X.shape[0] if size else 0, step):
            part = slice(start, start + step)
            Z = X[part] if self.kernel.name == "precomputed" else _alike(X[part], vectors)
            with np.errstate(over="ignore", invalid="ignore"):  # of products beyond all numbers
                found[part] = self.kernel.values(who, Z, vectors) @ alpha[:, :size].T
        return found, norm

    def self_products(self, who: str, rows) -> np.ndarray:
        """k(x, x) of each row."""
        X, found = rows.array(), np.zeros(rows.n_rows)
        if self.kernel.name == "linear":
            return _squares(X) + self.kernel.bias**2
        if self.kernel.name == "rbf":
            return np.full(rows.n_rows, 1.0 + self.kernel.bias**2)
        for start in range(0, rows.n_rows, BLOCK):
            part = slice(start, start + BLOCK)
            found[part] = self.kernel.values(who, X[part], X[part], same=True).diagonal()
        return found
