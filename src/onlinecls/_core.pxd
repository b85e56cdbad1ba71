"""The model of quadratic potentials."""
from libc.stdint cimport int64_t

from ._compiled.model cimport Model
from ._compiled.rounds cimport Batch, PassContext, Task
from ._compiled.sparse cimport floating, index_t


cdef class QuadraticModel(Model):
    cdef public object growth           # of a full covariance, see Full
    cdef public int foresight, depth    # how a full covariance updates by many rows at once, see Full

    cdef int run_in(self, Task task, floating[::1] state, const floating[::1] data, indices, const Batch* b,
                    PassContext* context) except -1
    cdef int run_on(self, Task task, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1
    cdef int decision_in(self, const floating[::1] state, const floating[::1] data, indices, const Batch* b, double* scores,
                         Py_ssize_t k) except -1
    cdef int decision_on(self, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                         double* scores, Py_ssize_t k) except -1
    cdef int deviation_in(self, const floating[::1] state, const floating[:, :, ::1] sigma, const floating[::1] data, indices,
                          const int64_t[::1] indptr, double[:, ::1] deviations) except -1
