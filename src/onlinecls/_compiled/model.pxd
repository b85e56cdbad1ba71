"""The compiled base of all models: the arrays that a pass over rows reads and changes."""
from libc.stdint cimport int32_t, int64_t

from .._rows cimport Rows
from .._rules cimport Params
from .lock cimport Lock
from .rounds cimport Batch, PassContext, Task
from .sparse cimport Layout


cdef class Call:
    """Describe what holds for small calls of `partial_fit` that need no check in Python."""
    cdef tuple arrays               # of the model
    cdef tuple names, values        # the estimator's attributes that must still be these objects
    cdef Lock lock
    cdef Task task
    cdef object params              # of the model
    cdef object classes             # an array, or None
    cdef dict places                # of the classes, by their labels as Python's objects
    cdef tuple types                # see `TYPES`

    cdef codes_of(self, y, Py_ssize_t n)
    cdef labels_of(self, given)


cdef class Model:
    cdef public object values, correction, counts, counters     # arrays
    cdef public object params                           # the parameters of its last pass, a named tuple
    cdef public object places                           # see `lay_out`
    cdef public Py_ssize_t room
    cdef public object sigma                            # full covariances, or an empty array
    cdef public object calibration                      # array, (0 or 1, 6); see calibration.h
    cdef public bint are_seen                           # the rows of the next pass are seen again: no calibration
    cdef public bint holds_level                        # they do not move the level of the targets
    cdef object bound                                   # the one that p was made from
    cdef Params p
    cdef public object sparse_coef                      # see Model
    cdef public Call call                               # None: small calls take the general path

    cdef int bind(self) except -1
    cdef int lay_out(self, Layout* layout, Py_ssize_t n) except -1
    cdef int enter(self, Batch* b, PassContext* context) except -1
    cpdef Py_ssize_t learn(self, Task task, Rows rows, targets, weights, class_weights, order, predictions) except -1
    cdef Rows few(self, X, feature_names)
    cdef int read(self, Task task, Rows rows, double* found, Py_ssize_t n_found) except -1
    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1
