"""The rows of a small call of `partial_fit` or `predict`, read and checked without numpy's or Python's layers."""
from libc.stdint cimport int32_t, int64_t

from sys import modules

import numpy as np

from .small_calls cimport FEW, are_rows, is_aligned
from .sparse cimport dense_t, floating

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
NO_INDICES = np.empty(0, np.uint8)


cdef class FewRows:
    """The rows of a small call, for `run` and `decision`."""


cdef bint is_csr(X) except -1:
    """Whether X is one of scipy's own CSR matrices (not of a class that extends them)."""
    scipy = modules.get("scipy.sparse")
    return scipy is not None and (type(X) is getattr(scipy, "csr_matrix", None) or type(X) is getattr(scipy, "csr_array", None))


cdef FewRows read_few(X, values, Py_ssize_t n_features, int64_t* indptr):
    """X as rows of a model of these values, and their places, FEW + 1 at most; None if anything about them is unusual."""
    cdef FewRows rows = FewRows()
    cdef Py_ssize_t i, n
    cdef bint is_dense = type(X) is np.ndarray
    if not is_dense and not is_csr(X):
        return None
    shape = X.shape
    if len(shape) != 2 or not 0 < shape[0] <= FEW or shape[1] != n_features:
        return None
    rows.n = n = shape[0]
    if is_dense:
        if not X.flags.c_contiguous:
            return None
        for i in range(n + 1):
            indptr[i] = i * n_features
        rows.data, rows.indices = X.reshape(-1), NO_INDICES
    else:
        rows.data, rows.indices = X.data, X.indices
        if not read_places(X.indptr, indptr, n):
            return None
    if not is_array(rows.data, values.dtype):
        return None
    try:
        if values.itemsize == 4:
            return rows if check_rows[float](rows.data, rows.indices, indptr, n, n_features) else None
        return rows if check_rows[double](rows.data, rows.indices, indptr, n, n_features) else None
    except ValueError:              # strided, say
        return None


cdef bint read_places(places, int64_t* indptr, Py_ssize_t n) except -1:
    """The indptr of a CSR matrix of n rows; False if it is not plain."""
    cdef const int32_t[::1] short_places
    cdef const int64_t[::1] long_places
    cdef Py_ssize_t i
    if type(places) is not np.ndarray or places.ndim != 1 or len(places) != n + 1:
        return False
    try:
        if places.dtype is INT32:
            short_places = places
        elif places.dtype is INT64:
            long_places = places
        else:
            return False
    except ValueError:
        return False
    if not (is_aligned(&short_places[0], 4) if places.itemsize == 4 else is_aligned(&long_places[0], 8)):
        return False
    for i in range(n + 1):
        indptr[i] = short_places[i] if places.itemsize == 4 else long_places[i]
    return True


cdef bint check_rows(const floating[::1] data, indices, const int64_t* indptr, Py_ssize_t n, Py_ssize_t n_features) except -1:
    """`are_rows`, by the type of the indices."""
    cdef const int32_t[::1] short_indices
    cdef const int64_t[::1] long_indices
    cdef const dense_t[::1] no_indices
    if indices is NO_INDICES:
        no_indices = indices
        return are_rows(data, no_indices, indptr, n, n_features)
    if is_array(indices, INT32):
        short_indices = indices
        return are_rows(data, short_indices, indptr, n, n_features)
    if is_array(indices, INT64):
        long_indices = indices
        return are_rows(data, long_indices, indptr, n, n_features)
    return False
