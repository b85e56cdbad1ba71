"""Functions of rows of any kind: matrices, tables, lists, and `Rows`."""

from __future__ import annotations

import numpy as np

from .._rows import NO_INDICES as NO_INDICES
from .._rows import Rows as Rows


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
    if isinstance(X, Rows):
        return X.chosen(numbers)
    if hasattr(X, "column_names"):
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
