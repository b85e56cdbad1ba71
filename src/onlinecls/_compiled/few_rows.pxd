"""The rows of a small call of `partial_fit` or `predict`."""
from libc.stdint cimport int64_t

from .._rows cimport numbers_of


cdef class FewRows:
    cdef public object data, indices
    cdef Py_ssize_t n


cdef table_of(X, columns, dtype)
cdef FewRows read_few(X, dtype, Py_ssize_t n_features, int64_t* indptr)
