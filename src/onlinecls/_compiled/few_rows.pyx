"""Read and check the rows of a small call of `partial_fit` or `predict` without numpy's or Python's layers."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from sys import modules

import numpy as np

from .._rows cimport Rows, converted, is_csr, start_of, take
from .small_calls cimport FEW


cdef class FewRows:
    """The rows of a small call, for `run` and `decide`."""


cdef table_of(X, columns, dtype):
    """Return a pandas data frame with these columns as an array of this dtype; None if it needs the general path."""
    pandas = modules.get("pandas")
    if pandas is None or type(X) is not getattr(pandas, "DataFrame", None) or len(X) > FEW or not X.columns.equals(columns):
        return None
    table = X.values
    if type(table) is not np.ndarray or table.dtype.kind not in "biuf":
        return None
    if table.dtype is dtype:
        return np.ascontiguousarray(table)
    with np.errstate(over="ignore", under="ignore"):     # (infinity is refused by `read_few`)
        return np.ascontiguousarray(table, dtype)


cdef FewRows read_few(X, dtype, Py_ssize_t n_features, int64_t* indptr):
    """Return X as rows of a model of this dtype, with their bounds in indptr (room for FEW + 1); None if anything is wrong."""
    cdef FewRows found = FewRows()
    cdef Rows rows
    cdef const int64_t* starts
    cdef Py_ssize_t n = 0
    if type(X) is not list and type(X) is not np.ndarray and not is_csr(X):
        return None
    shape = (len(X),) if type(X) is list else X.shape
    if type(shape) is not tuple or not shape or type(shape[0]) is not int or not 0 < shape[0] <= FEW:
        return None
    rows = take(X, dtype)
    if rows is None:
        rows = converted(X, dtype)
    if rows is None or not 0 < rows.n_rows <= FEW or rows.n_features != n_features:
        return None
    starts = <const int64_t*>start_of(rows.indptr, 8, &n)
    memcpy(indptr, starts, n * sizeof(int64_t))
    found.data, found.indices, found.n = rows.data, rows.indices, rows.n_rows
    return found
