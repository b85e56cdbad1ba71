"""Rows of any kind, matrices, tables and lists, for what cuts and makes them: steps of pipelines, streams, evaluation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .._input.compat import issparse
from .._rows import Rows


def n_rows_of(X: Any) -> int:
    """Return the number of rows of a matrix, a table or a list."""
    if hasattr(X, "items") and not hasattr(X, "iloc"):
        return len(next(iter(X.values()), ()))
    return X.shape[0] if hasattr(X, "shape") else len(X)


def lasting(X: Any) -> Any:
    """Return rows that can be read again, and of which parts can be taken: not an iterator, or a stream of Arrow, that ends."""
    if type(X) is list:
        return X
    if hasattr(X, "__arrow_c_stream__") and not (hasattr(X, "iloc") or hasattr(X, "slice")):
        import pyarrow

        return pyarrow.table(X)
    return list(X) if isinstance(X, Iterator) else X


def part_of(X: Any, start: int, stop: int) -> Any:
    """Return consecutive rows of a matrix, an array, a table, a list or `Rows`, without copying.

    (scipy's own slices of a CSR matrix take as long as learning them. It must have been checked before: `validate.as_csr`.)
    """
    if stop - start == n_rows_of(X):
        return X
    if isinstance(X, Rows):
        return X.part(start, stop)
    if issparse(X) and X.format == "csr":
        lo, hi = X.indptr[start], X.indptr[stop]
        parts = X.data[lo:hi], X.indices[lo:hi], X.indptr[start : stop + 1] - lo
        return type(X)(parts, shape=(stop - start, X.shape[1]))
    if hasattr(X, "items") and not hasattr(X, "iloc"):
        return {name: values[start:stop] for name, values in X.items()}
    return X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]


def plain_rows(rows: Any) -> Any:
    """Return `Rows` as a CSR matrix, a sparse array if scikit-learn (1.9 or later) is configured so; other rows as they are."""
    if not isinstance(rows, Rows):
        return rows
    module = sys.modules.get("sklearn")
    is_array = module and module.get_config().get("sparse_interface") == "sparray"
    return rows.matrix("csr_array" if is_array else "csr_matrix")
