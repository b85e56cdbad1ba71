"""The compiled base of all models: what a pass over rows reads and changes."""
from libc.stdint cimport int32_t, int64_t

from ._geometry.rounds cimport Batch, Books, Task
from ._geometry.sparse cimport floating, index_t
from ._rules cimport Params


cdef class Model:
    cdef public object values, drift, counts, tally     # arrays
    cdef public object params                           # the parameters that it was last learnt with, a dict
    cdef public object sigma
    cdef public int foresight, depth                    # how a full covariance meets many rows at once: see Full
    cdef object bound                                   # the dict that p was made from
    cdef Params p
    cdef bint learning

    cdef int bind(self) except -1
    cdef int run(self, Task task, rows, const Batch* b, Books* books) except -1
    cdef int run_in(self, Task task, floating[::1] state, const floating[::1] data, indices, const Batch* b,
                    Books* books) except -1
    cdef int run_on(self, Task task, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    Books* books) except -1
    cdef int decision_in(self, const floating[::1] state, const floating[::1] data, indices, const int64_t[::1] indptr,
                         double[:, ::1] scores) except -1
    cdef int decision_on(self, const floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                         const int64_t[::1] indptr, double[:, ::1] scores) except -1
    cdef int deviation_in(self, const floating[::1] state, const floating[:, :, ::1] sigma, const floating[::1] data, indices,
                          const int64_t[::1] indptr, double[:, ::1] deviations) except -1
