"""The compiled base of all models: the arrays that a pass over rows reads and changes."""
from libc.stdint cimport int32_t, int64_t

from .._rules cimport Params
from .lock cimport Lock
from .rounds cimport Batch, PassContext, Task
from .sparse cimport Layout


cdef class Call:
    """The preconditions of the fast path for small calls of `partial_fit`."""
    cdef tuple others               # the model's arrays beyond those that every model has
    cdef tuple names, values        # the estimator's attributes that must still be these objects
    cdef Lock lock
    cdef object feature_names       # of the estimator, or None
    cdef object parameters, dtype
    cdef object classes             # an array: texts as their code points, `width` each
    cdef list labels                # the classes as Python's objects
    cdef object named               # a copy of the `classes` argument found to equal these, or None
    cdef Py_ssize_t width, n_features
    cdef Task task

    cdef bint match(self, y, Py_ssize_t n, int32_t* labels) except -1


cdef class Model:
    cdef public object values, correction, counts, counters     # arrays
    cdef public object params                           # the parameters of its last pass, a named tuple
    cdef public object places                           # see `lay_out`
    cdef public Py_ssize_t room
    cdef public object sigma                            # full covariances, or an empty array
    cdef public object calibration                      # array; see update_platt of rounds.pxd
    cdef public bint are_seen                           # the rows of the next pass are seen again: no calibration
    cdef public bint holds_level                        # they do not move the level of the targets
    cdef object bound                                   # the one that p was made from
    cdef Params p
    cdef public object columns, sparse_coef             # see Model
    cdef Call call                                      # None: no fast path

    cdef int bind(self) except -1
    cdef int lay_out(self, Layout* layout, Py_ssize_t n) except -1
    cdef double level_now(self) except *
    cdef int open_platt(self, PassContext* context) except -1
    cdef int enter(self, Batch* b, PassContext* context, double* counts, Py_ssize_t n_classes, double* counters,
                   double* correction) except -1
    cdef table(self, feature_names, X)
    cdef Py_ssize_t learn_few(self, X, y, sample_weight) except -1
    cdef int run(self, Task task, rows, const Batch* b, PassContext* context) except -1
    cdef int open_reading(self, PassContext* context, Task task, double* found, Py_ssize_t n_found) except -1
    cdef int read(self, Task task, rows, const int64_t* indptr, Py_ssize_t n, double* found, Py_ssize_t n_found) except -1
    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1
