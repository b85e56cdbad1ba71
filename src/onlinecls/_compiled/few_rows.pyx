"""Read and check the rows of a small call of `partial_fit` or `predict` without numpy's or Python's layers."""
from libc.stdint cimport int32_t, int64_t

from sys import modules

import numpy as np

from .small_calls cimport FEW, are_rows
from .sparse cimport dense_t, floating

INT32, INT64, FLOAT32 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float32)
NO_INDICES = np.empty(0, np.uint8)


cdef class FewRows:
    """The rows of a small call, for `run` and `decide`."""


cdef bint is_csr(X) except -1:
    """Return True if X is one of scipy's own CSR matrices, not of a subclass."""
    scipy = modules.get("scipy.sparse")
    return scipy is not None and (type(X) is getattr(scipy, "csr_matrix", None) or type(X) is getattr(scipy, "csr_array", None))


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
    with np.errstate(over="ignore"):            # (infinity is refused by `read_few`)
        return np.ascontiguousarray(table, dtype)


cdef FewRows read_few(X, dtype, Py_ssize_t n_features, int64_t* indptr):
    """Return X as rows of a model of this dtype, with their bounds in indptr (room for FEW + 1); None if anything is unusual."""
    cdef FewRows rows = FewRows()
    cdef Py_ssize_t i, n, width, n_data, n_indices = 0, size = 1
    cdef const void* data
    cdef const void* indices = NULL
    cdef bint is_dense = type(X) is np.ndarray
    if not is_dense and not is_csr(X):
        return None
    shape = X.shape
    if type(shape) is not tuple or len(shape) != 2:
        return None
    try:
        n, width = shape    # (converted before they are compared: what somebody has put there may answer otherwise each time)
    except (OverflowError, TypeError):
        return None
    if not 0 < n <= FEW or width != n_features:
        return None
    rows.n = n
    if is_dense:
        rows.data, rows.indices = X.ravel(), NO_INDICES
        for i in range(n + 1):
            indptr[i] = i * n_features
    else:
        rows.data, rows.indices = X.data, X.indices
        if not read_places(X.indptr, indptr, n):
            return None
        size, indices = 4, numbers_of(rows.indices, INT32, 4, &n_indices)
        if indices == NULL:
            return None
    data = numbers_of(rows.data, dtype, 4 if dtype is FLOAT32 else 8, &n_data)
    if data == NULL:
        return None
    if dtype is FLOAT32:
        return rows if check_rows(<const float*>data, n_data, indices, n_indices, size, indptr, n, n_features) else None
    return rows if check_rows(<const double*>data, n_data, indices, n_indices, size, indptr, n, n_features) else None


cdef bint read_places(places, int64_t* indptr, Py_ssize_t n):
    """Copy the indptr of a CSR matrix of n rows; return False if it is not plain."""
    cdef Py_ssize_t i, size = 0
    cdef const int32_t* short_places = <const int32_t*>numbers_of(places, INT32, 4, &size)
    cdef const int64_t* long_places = NULL
    if short_places == NULL:
        long_places = <const int64_t*>numbers_of(places, INT64, 8, &size)
    if size != n + 1 or (short_places == NULL and long_places == NULL):
        return False
    for i in range(n + 1):
        indptr[i] = short_places[i] if short_places != NULL else long_places[i]
    return True


cdef bint check_rows(const floating* data, Py_ssize_t n_data, const void* indices, Py_ssize_t n_indices, Py_ssize_t size,
                     const int64_t* indptr, Py_ssize_t n, Py_ssize_t n_features) noexcept nogil:
    """Call `are_rows` by the size of an index (1: the rows are dense)."""
    if size == 1:
        return are_rows(data, n_data, <const dense_t*>indices, 0, indptr, n, n_features)
    return are_rows(data, n_data, <const int32_t*>indices, n_indices, indptr, n, n_features)
