"""One row at a time from Cython, C and Numba, without Python and without the GIL.

    from onlinecls.api cimport Handle, OpenModel, learn_float, score_float

    cdef Handle handle = onlinecls.api.open(learner)        # (with the GIL)
    cdef OpenModel* model = handle.model
    with nogil:
        score_float(model, indices, data, nnz, &score)      # a row's score ...
        learn_float(model, indices, data, nnz, label, 1.0)  # ... and what partial_fit would do with it, to the bit

Only this file need be there to compile against. All functions take a row's `nnz` columns and values, in the model's dtype
(`_float`: float32, `_double`: float64), with the columns rising; indices NULL: a dense row, of all n_features values. They return
DONE, or a negative `Result`, with nothing learnt.

label : the number of a class among `classes_`, a target of regression; not used by one-class learners. weight : of the row, >= 0;
0: nothing is learnt or counted. scores : `Handle.n_scores` numbers, those of `decision_function` (`predict` of regression); of a
one-class learner the squared distance from the centre, and the size of the numbers whose difference it is.

An `_unchecked` function requires of its caller that columns rise and lie in the model, that values, targets and weights are
finite, and that the label is a class. Others look, and return what is wrong.

One thread at a time learns. Scores may be computed at any time, in any thread, as long as the handle is open.
"""
from libc.stdint cimport int32_t


cpdef enum Result:
    """Tell what a function of C has done.

    See Also
    --------
    open : Open a learner for such functions.
    """
    DONE = 0
    CLOSED = -1             # the handle has been closed
    WRONG_DTYPE = -2        # the model is of the other dtype
    WRONG_LENGTH = -3       # nnz is below 0 or above n_features, or that of a dense row is not n_features
    WRONG_COLUMNS = -4      # columns do not rise, or lie outside of the model
    WRONG_VALUES = -5       # NaN or infinity
    WRONG_LABEL = -6        # not the number of a class; a target that is not finite
    WRONG_WEIGHT = -7       # not a finite number >= 0
    FAILED = -8             # no memory; the row may have been counted


cdef struct OpenModel       # (opaque)


cdef class Handle:
    cdef readonly object learner
    cdef OpenModel* model       # valid as long as the handle exists
    cdef object kept, lock


cdef int learn_float(OpenModel* model, const int32_t* indices, const float* data, Py_ssize_t nnz, double label,
                     double weight) noexcept nogil
cdef int learn_double(OpenModel* model, const int32_t* indices, const double* data, Py_ssize_t nnz, double label,
                      double weight) noexcept nogil
cdef int learn_float_unchecked(OpenModel* model, const int32_t* indices, const float* data, Py_ssize_t nnz, double label,
                               double weight) noexcept nogil
cdef int learn_double_unchecked(OpenModel* model, const int32_t* indices, const double* data, Py_ssize_t nnz, double label,
                                double weight) noexcept nogil
cdef int score_float(OpenModel* model, const int32_t* indices, const float* data, Py_ssize_t nnz,
                     double* scores) noexcept nogil
cdef int score_double(OpenModel* model, const int32_t* indices, const double* data, Py_ssize_t nnz,
                      double* scores) noexcept nogil
cdef int score_float_unchecked(OpenModel* model, const int32_t* indices, const float* data, Py_ssize_t nnz,
                               double* scores) noexcept nogil
cdef int score_double_unchecked(OpenModel* model, const int32_t* indices, const double* data, Py_ssize_t nnz,
                                double* scores) noexcept nogil
