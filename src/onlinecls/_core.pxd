"""The model of quadratic potentials."""
from libc.stdint cimport int32_t, int64_t

from ._compiled.model cimport Model
from ._compiled.rounds cimport Batch, Counters, PassContext
from ._compiled.sparse cimport Layout, floating, index_t
from ._rules cimport Params


ctypedef struct Reading:        # what scores need beside the weights
    Layout layout
    const double* correction    # NULL: no average
    const Counters* counters    # of the model; with an average or l1 alone
    double* spare               # room for a number for each vector, if there are places or an average,
    double* lags                # and for one for each vector and row that is scored at once


ctypedef struct Bare:           # a model as C has it
    void* values
    Py_ssize_t n                # of values
    bint is_float               # float32, else float64
    const Params* p
    double* numbers             # several classes: a workspace, see `learn_classes_in`
    int64_t* places


cdef class QuadraticModel(Model):
    cdef public object growth, caps     # of a full covariance, see Full
    cdef public int foresight, depth    # how a full covariance updates by many rows at once, see Full

    cdef int learn_with_sigma(self, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                              PassContext* context) except -1
    cdef int decide(self, const floating[::1] data, const index_t[::1] indices, const Batch* b, PassContext* context) except -1
    cdef int deviate(self, const floating[::1] data, const index_t[::1] indices, const Batch* b, PassContext* context) except -1


cdef int learn_row(const Bare* m, const void* data, const int32_t* indices, const Batch* b, PassContext* context) except -1 nogil
cdef int score_row(const Bare* m, const Reading* g, const void* data, const int32_t* indices, const Batch* b,
                   PassContext* context) except -1 nogil
