"""The rows of a small call of `partial_fit` or `predict`."""
from libc.stdint cimport int64_t

import numpy as np


cdef class FewRows:
    cdef public object data, indices
    cdef Py_ssize_t n


cdef inline bint is_array(array, dtype):
    """Return True for a numpy array of one dimension and of just this dtype."""
    return type(array) is np.ndarray and array.dtype is dtype and array.ndim == 1


cdef FewRows read_few(X, values, Py_ssize_t n_features, int64_t* indptr)
