"""`Rows`: the container of rows between the code that reads them and the compiled code."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .._compiled import model

if TYPE_CHECKING:
    from typing import Any

NO_INDICES = np.empty(0, np.uint8)  # the indices of dense rows: a number's column is its place in the row


class Rows:
    """Rows for the compiled code: row i is data[indptr[i]:indptr[i + 1]], at the columns in the same part of indices.

    data : float32 or float64. indices : int32, strictly rising in each row and below n_features; `NO_INDICES` where the
    rows are dense. indptr : int64; it does not begin with 0 in a part of other rows. All are contiguous, all values are finite.

    The code that makes them guarantees this: `validate` has checked a user's input, a parser its own. They are not checked again,
    and cost less than a matrix of scipy.sparse, which takes a tenth of the time of parsing to make, and whose import takes twice
    as long as that of this package.
    """

    data: np.ndarray
    format: str
    indices: np.ndarray
    indptr: np.ndarray
    n_features: int
    n_rows: int
    ndim: int

    __slots__ = ("data", "indices", "indptr", "n_features", "n_rows")
    format, ndim = "csr", 2

    def __init__(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_rows: int, n_features: int):
        self.data, self.indices, self.indptr, self.n_rows, self.n_features = data, indices, indptr, n_rows, n_features

    def __reduce__(self) -> tuple[Any, ...]:
        return Rows, (self.data, self.indices, self.indptr, self.n_rows, self.n_features)

    def __repr__(self) -> str:
        return f"<{self.n_rows} rows of {self.n_features} features, {self.nnz} stored, {self.data.dtype}>"

    @classmethod
    def of_table(cls, table: np.ndarray) -> Rows:
        """Return the non-zeros of a table of finite numbers."""
        row, column = np.nonzero(table)
        indptr = np.zeros(len(table) + 1, np.int64)
        np.cumsum(np.bincount(row, minlength=len(table)), out=indptr[1:])
        return cls(table[row, column], column.astype(np.int32, copy=False), indptr, *table.shape)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.n_features

    @property
    def nnz(self) -> int:
        return int(self.indptr[-1] - self.indptr[0])

    @property
    def is_dense(self) -> bool:
        return self.indices.itemsize == 1

    def part(self, start: int, stop: int) -> Rows:
        """Return consecutive rows without copying."""
        return Rows(self.data, self.indices, self.indptr[start : stop + 1], stop - start, self.n_features)

    def narrow(self) -> tuple[np.ndarray, Rows]:
        """Return the columns that sparse rows have, and the rows with these columns and one more, which none of them has."""
        columns, indices = np.unique(self.indices, return_inverse=True)
        return columns, Rows(self.data, indices.reshape(-1).astype(np.int32), self.indptr, self.n_rows, len(columns) + 1)

    def take(self, numbers: np.ndarray) -> Rows:
        """Return copies of the rows of these numbers."""
        if self.is_dense:
            indptr = np.arange(0, (len(numbers) + 1) * self.n_features, self.n_features, dtype=np.int64)
            return Rows(self.array()[numbers].reshape(-1), self.indices, indptr, len(numbers), self.n_features)
        X = self.array()[numbers]
        indices, indptr = X.indices.astype(self.indices.dtype, copy=False), X.indptr.astype(np.int64, copy=False)
        return Rows(X.data, indices, indptr, len(numbers), self.n_features)

    def array(self) -> Any:
        """Return a dense array or a CSR array, without copying values."""
        if self.is_dense:
            return self.data[int(self.indptr[0]) : int(self.indptr[-1])].reshape(self.shape)
        return self._filled(_empty_rows("csr_array", self.shape, self.data.dtype))

    def matrix(self) -> Any:
        """Return a scipy.sparse.csr_matrix of sparse rows, without copying values."""
        return self._filled(_empty_rows("csr_matrix", self.shape, self.data.dtype))

    def _filled(self, empty):
        """Put these rows in a copy of an empty matrix, whose constructor would copy a part of less than half of the whole."""
        X = type(empty).__new__(type(empty))
        X.__dict__.update(empty.__dict__)  # (as copy.copy, in a fifth of its time)
        data, indices, indptr = self.data, self.indices, self.indptr
        start, stop = indptr.item(0), indptr.item(-1)
        if start or stop < len(data):
            data, indices = data[start:stop], indices[start:stop]
        if stop - start > 2**31 - 1 and indices.itemsize == 4:  # indptr, of the same dtype, has to count them
            indices = indices.astype(np.int64)
        X.data, X.indices = data, indices
        X.indptr = (indptr - start if start else indptr).astype(indices.dtype, copy=False)
        X.has_canonical_format = True  # (and so sorted)
        return X


@lru_cache(maxsize=256)
def _empty_rows(kind: str, shape: tuple[int, int], dtype: np.dtype):
    """Return an empty scipy matrix. (Its constructor takes thirty times as long as copying it.)"""
    from scipy import sparse

    return getattr(sparse, kind)(shape, dtype=dtype)


def dense_of(rows: Rows) -> np.ndarray:
    """Return rows as a dense array, without copying if they are dense."""
    return rows.array() if rows.is_dense else rows.array().toarray()


def centred(rows: Rows, centre: tuple[float, ...]) -> Rows:
    """Return rows less the columns' means, as dense rows of the same dtype."""
    data = model.less_means(dense_of(rows), np.array(centre))
    indptr = np.arange(0, data.size + 1, rows.n_features, dtype=np.int64)
    return Rows(data.reshape(-1), NO_INDICES, indptr, rows.n_rows, rows.n_features)


def n_rows_of(X) -> int:
    """Return the number of rows of a matrix, a table or a list."""
    if hasattr(X, "items") and not hasattr(X, "iloc"):
        return len(next(iter(X.values()), ()))
    return X.shape[0] if hasattr(X, "shape") else len(X)


def n_values_of(X) -> int:
    """Return the number of values of rows: those that are not 0, or all of a table."""
    if hasattr(X, "nnz"):
        return X.nnz
    return sum(map(len, X)) if isinstance(X, list) else int(np.prod(X.shape))


def rows_of(X, numbers: np.ndarray):
    """Return the rows of these numbers of a matrix, an array, a table, a list or `Rows`, copied."""
    if hasattr(X, "iloc"):
        return X.iloc[numbers]
    if hasattr(X, "items"):
        return {name: rows_of(values, numbers) for name, values in X.items()}
    if isinstance(X, Rows) or hasattr(X, "column_names"):
        return X.take(numbers)
    return X[numbers] if hasattr(X, "shape") else [X[number] for number in numbers.tolist()]


def lasting(X):
    """Return rows that can be read again, and of which parts can be taken: not an iterator, or a stream of Arrow, that ends."""
    if hasattr(X, "__arrow_c_stream__") and not (hasattr(X, "iloc") or hasattr(X, "slice")):
        import pyarrow

        return pyarrow.table(X)
    return list(X) if hasattr(X, "__next__") else X


def part_of(X, start: int, stop: int):
    """Return consecutive rows of a matrix, an array, a table, a list or `Rows`, without copying.

    (scipy's own slices of a CSR matrix take as long as learning them.) A CSR matrix must have been checked before by
    `validate.read_structure`.
    """
    if stop - start == n_rows_of(X):
        return X
    if isinstance(X, Rows):
        return X.part(start, stop)
    if getattr(X, "format", None) == "csr":
        lo, hi = X.indptr[start], X.indptr[stop]
        parts = X.data[lo:hi], X.indices[lo:hi], X.indptr[start : stop + 1] - lo
        return type(X)(parts, shape=(stop - start, X.shape[1]))
    if hasattr(X, "items") and not hasattr(X, "iloc"):
        return {name: values[start:stop] for name, values in X.items()}
    return X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]
