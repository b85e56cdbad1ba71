# cython: language_level=3, boundscheck=False, wraparound=False
"""Score and learn the rows of a CSR matrix one by one, in C: a loop that needs no Python from the first row to the last.

    pip install .
    >>> from progressive import errors

Only `onlinecls/api.pxd` is needed to compile this, no header and no library to link.
"""
from libc.stdint cimport int32_t

from onlinecls.api cimport DONE, Handle, OpenModel, learn_float_unchecked, score_float

from onlinecls import api


def errors(learner, const float[::1] data, const int32_t[::1] indices, const int32_t[::1] indptr, const double[::1] y):
    """Return how many rows a classifier of two classes gets wrong before it learns them, and the first bad row, or -1.

    learner : of float32, with its first rows behind it. data, indices, indptr : of a CSR matrix. y : 0.0 for the first class, 1.0
    for the second.
    """
    cdef Handle handle = api.open(learner)
    cdef OpenModel* model = handle.model
    cdef Py_ssize_t i, nnz, wrong = 0, bad = -1
    cdef const int32_t* columns
    cdef const float* values
    cdef double score
    try:
        with nogil:
            for i in range(y.shape[0]):
                columns, values, nnz = &indices[0] + indptr[i], &data[0] + indptr[i], indptr[i + 1] - indptr[i]
                if score_float(model, columns, values, nnz, &score) != DONE:
                    bad = i
                    break
                wrong += (score > 0.0) != (y[i] > 0.0)
                if learn_float_unchecked(model, columns, values, nnz, y[i], 1.0) != DONE:
                    bad = i
                    break
    finally:
        handle.close()
    return wrong, bad
