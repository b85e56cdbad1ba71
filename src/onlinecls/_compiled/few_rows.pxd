"""The rows of a small call of `partial_fit` or `predict`."""
from libc.stdint cimport int64_t

import numpy as np

from .small_calls cimport start_of


cdef class FewRows:
    cdef public object data, indices
    cdef Py_ssize_t n


cdef inline const void* numbers_of(array, dtype, Py_ssize_t size, Py_ssize_t* n):
    """Return `start_of` a numpy array of exactly this dtype, of `size` bytes a number; NULL for anything else."""
    return start_of(array, size, n) if type(array) is np.ndarray and array.dtype is dtype else NULL


cdef table_of(X, columns, dtype)
cdef FewRows read_few(X, dtype, Py_ssize_t n_features, int64_t* indptr)
