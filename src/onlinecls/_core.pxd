"""The model of quadratic potentials."""
from ._compiled.model cimport Model
from ._compiled.rounds cimport Batch, PassContext
from ._compiled.sparse cimport floating, index_t


cdef class QuadraticModel(Model):
    cdef public object growth, caps     # of a full covariance, see Full

    cdef int decide(self, const floating[::1] data, const index_t[::1] indices, const Batch* b, PassContext* context) except -1
    cdef int deviate(self, const floating[::1] data, const index_t[::1] indices, const Batch* b, PassContext* context) except -1
