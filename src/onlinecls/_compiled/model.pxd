"""Declare what compiled code shares: the base of all models, locks, and four routines of scipy's BLAS."""
from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int32_t, int64_t

from .._rows cimport Rows
from .._rules cimport Params
from .rounds cimport Batch, PassContext, Task
from .sparse cimport floating


cdef class Lock:
    cdef object who
    cdef PyThread_type_lock lock
    cdef long holder                # thread of the call that holds the lock; 0: none
    cdef bint learns                # that call learns
    cdef long forks                 # `FORKS` when it was last taken

    cdef bint take(self, bint learns, bint waits) except -1
    cdef int release(self) except -1


cdef class Model:
    cdef public object values, correction, counts, counters     # arrays
    cdef public object params                           # the parameters of its last pass, a named tuple
    cdef public object places                           # see Model
    cdef public Py_ssize_t room
    cdef public object sigma                            # full covariances, or an empty array
    cdef public object calibration                      # array, (0 or 1, 6); see calibration.h
    cdef public bint are_seen                           # the rows of the next pass are seen again: no calibration
    cdef public bint holds_level                        # they do not move the level of the targets
    cdef object bound                                   # the one that p was made from
    cdef Params p
    cdef public object sparse_coef                      # see Model
    cdef public dict same                               # attributes of the estimator that let small calls be small, or None
    cdef tuple own                                      # its arrays, and for small calls
    cdef Lock lock                                      # the estimator's lock and
    cdef Task task                                      # task,
    cdef dict codes                                     # the numbers of the classes, by their labels as Python's objects,
    cdef str kind                                       # and the classes' kind, see `TYPES`

    cdef int bind(self) except -1
    cdef int enter(self, Rows rows, Batch* b, PassContext* context, bint learns=*) except -1
    cpdef Py_ssize_t learn(self, Task task, Rows rows, targets, weights, class_weights, order, predictions) except -1
    cdef codes_of(self, y, Py_ssize_t n)
    cdef labels_of(self, given)
    cdef Rows few(self, X, feature_names)
    cdef int read(self, Task task, Rows rows, double* found) except -1
    cdef int visit(self, Rows rows, const Batch* b, PassContext* context) except -1


# Of BLAS, for C-ordered matrices: a C-ordered lower triangle is its upper one.
cdef bint begin_pass(Py_ssize_t n)
cdef void end_pass(bint has_begun)
# y = S x;  Y[i] = S X[i] for the first rows of X;  S -= U'U over the first rows of U: from, and to, S's lower triangle.
cdef void symv(const floating[:, ::1] S, const floating[::1] x, floating[::1] y) noexcept nogil
cdef void symm(const floating[:, ::1] S, const floating[:, ::1] X, floating[:, ::1] Y, int n_rows) noexcept nogil
cdef void syrk(floating[:, ::1] S, const floating[:, ::1] U, int n_rows) noexcept nogil
# Over the first rows of U, y = U x; or else y -= U'x.
cdef void gemv(const floating[:, ::1] U, int n_rows, const floating[::1] x, floating[::1] y, bint along_rows) noexcept nogil
