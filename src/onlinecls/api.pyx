"""One row at a time from C: the functions that api.pxd declares, and the handle through which a learner gives its model to them.

A handle is one long learning call: it has the learner's lock, so that nobody else changes the model, and its parameters, counters
and addresses stay valid. A row then runs the loop that `partial_fit` runs, over a batch of that row. Models of `QuadraticModel`
without a full covariance need no Python for that; others take the GIL and the way of small calls.
"""
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.buffer cimport PyBUF_READ
from cpython.ref cimport PyObject
from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from types import SimpleNamespace

import numpy as np

from ._compiled.few_rows cimport FewRows
from ._compiled.few_rows import NO_INDICES
from ._compiled.lock cimport Lock
from ._compiled.model cimport Model
from ._compiled.rounds cimport DECISION, ONE_CLASS, REGRESSION, Batch, Counters, PassContext, Task
from ._compiled.small_calls cimport are_finite, are_rows, are_weights
from ._compiled.sparse cimport floating
from ._core cimport Bare, QuadraticModel, Reading, learn_row, score_row
from ._estimators.learner import open_model

__all__ = ["Handle", "Result", "ctypes_functions", "open"]

cdef Py_ssize_t ENDLESS = <Py_ssize_t>1 << 60      # work before signals are looked for: not within a row

cdef struct OpenModel:
    bint is_open
    bint learns_bare            # rows are learnt without Python,
    bint scores_bare            # and scored
    Bare bare
    Task task
    Py_ssize_t n_features
    Py_ssize_t n_classes
    Py_ssize_t n_scores
    PassContext context         # of the learning call that the handle is
    Counters* counters          # of the model, where others read them
    Reading reading
    PyObject* owner             # the model


cdef inline Batch batch_of(const int64_t* indptr) noexcept nogil:
    """Return a batch of one row."""
    cdef Batch b
    memset(&b, 0, sizeof(b))
    b.n, b.n_rows, b.indptr = 1, 1, indptr
    return b


cdef inline int check_row(const OpenModel* m, const int32_t* indices, const floating* data, Py_ssize_t nnz) noexcept nogil:
    """Return DONE if a row is as the loops require."""
    cdef int64_t[2] indptr
    indptr[0], indptr[1] = 0, nnz
    if m.bare.is_float != (sizeof(data[0]) == 4):
        return WRONG_DTYPE
    if not 0 <= nnz <= m.n_features or (indices == NULL and nnz != m.n_features):
        return WRONG_LENGTH
    if are_finite(data, nnz) if indices == NULL else are_rows(data, nnz, indices, nnz, indptr, 1, m.n_features):
        return DONE
    return WRONG_COLUMNS if are_finite(data, nnz) else WRONG_VALUES


cdef inline int check_target(const OpenModel* m, double label, double weight) noexcept nogil:
    """Return DONE if a label and a weight are as the loops require."""
    if m.task == REGRESSION and not are_finite(&label, 1):
        return WRONG_LABEL
    if m.task != REGRESSION and m.task != ONE_CLASS and not (0.0 <= label < m.n_classes and floor(label) == label):
        return WRONG_LABEL
    return DONE if are_weights(&weight, 1) else WRONG_WEIGHT


cdef inline int learn(OpenModel* m, const int32_t* indices, const floating* data, Py_ssize_t nnz, double label,
                      double weight) noexcept nogil:
    """Learn a row that has been checked."""
    cdef int64_t[2] indptr
    cdef int32_t number
    cdef Batch b
    cdef int result = DONE
    if not m.is_open:
        return CLOSED
    if m.bare.is_float != (sizeof(data[0]) == 4):
        return WRONG_DTYPE
    indptr[0], indptr[1] = 0, nnz
    b = batch_of(indptr)
    if weight != 1.0:
        b.weights = &weight
    if m.task == REGRESSION:
        b.targets = &label
    elif m.task != ONE_CLASS:
        number = <int32_t>label
        b.labels = &number
    m.context.next, m.context.budget = 0, ENDLESS
    if m.learns_bare:
        learn_row(&m.bare, data, indices, &b, &m.context)       # (it has no error to raise: there are memory and a loop)
    else:
        result = learn_through_python(m, data, indices, &b)
    m.counters[0] = m.context.counters
    return result


cdef inline int score(OpenModel* m, const int32_t* indices, const floating* data, Py_ssize_t nnz, double* scores) noexcept nogil:
    """Compute the scores of a row that has been checked."""
    cdef int64_t[2] indptr
    cdef double* room = NULL
    cdef Batch b
    cdef PassContext context
    cdef Reading g
    cdef Py_ssize_t c
    if not m.is_open:
        return CLOSED
    if m.bare.is_float != (sizeof(data[0]) == 4):
        return WRONG_DTYPE
    indptr[0], indptr[1] = 0, nnz
    if not m.scores_bare:
        return score_through_python(m, data, indices, indptr, scores)
    b = batch_of(indptr)
    context.task, context.found, context.n_found, context.budget = DECISION, scores, m.n_scores, ENDLESS
    g = m.reading
    if g.correction != NULL or g.layout.places != NULL:         # (several threads may compute scores at once)
        room = <double*>malloc(2 * m.n_scores * sizeof(double))
        if room == NULL:
            return FAILED
        g.spare, g.lags = room, room + m.n_scores
    score_row(&m.bare, &g, data, indices, &b, &context)
    free(room)
    for c in range(m.n_scores if m.bare.p.level else 0):
        scores[c] += m.counters.level + m.counters.level_rest
    return DONE


cdef FewRows rows_of(const OpenModel* m, const void* data, const int32_t* indices, Py_ssize_t nnz):
    """Return a row as Python's objects, which do not own its numbers."""
    cdef FewRows rows = FewRows()
    rows.n, rows.data, rows.indices = 1, np.empty(0, (<Model>m.owner).values.dtype), NO_INDICES
    if indices != NULL:
        rows.indices = np.empty(0, np.int32)
    if nnz > 0:
        rows.data = np.frombuffer(PyMemoryView_FromMemory(<char*>data, nnz * rows.data.itemsize, PyBUF_READ), rows.data.dtype)
    if nnz > 0 and indices != NULL:
        rows.indices = np.frombuffer(PyMemoryView_FromMemory(<char*>indices, 4 * nnz, PyBUF_READ), np.int32)
    return rows


cdef int learn_through_python(OpenModel* m, const void* data, const int32_t* indices, const Batch* b) noexcept with gil:
    cdef Model model = <Model>m.owner
    try:
        model.run(m.task, rows_of(m, data, indices, b.indptr[1]), b, &m.context)
    except BaseException:
        return FAILED
    return DONE


cdef int score_through_python(OpenModel* m, const void* data, const int32_t* indices, const int64_t* indptr,
                              double* scores) noexcept with gil:
    cdef Model model = <Model>m.owner
    try:
        model.read(DECISION, rows_of(m, data, indices, indptr[1]), indptr, 1, scores, m.n_scores)
    except BaseException:
        return FAILED
    return DONE


# --- the functions of api.pxd --------------------------------------------------------------------------------------------------

cdef inline int learn_checked(OpenModel* m, const int32_t* indices, const floating* data, Py_ssize_t nnz, double label,
                              double weight) noexcept nogil:
    cdef int result = check_row(m, indices, data, nnz) if m.is_open else CLOSED
    result = check_target(m, label, weight) if result == DONE else result
    return learn(m, indices, data, nnz, label, weight) if result == DONE else result


cdef inline int score_checked(OpenModel* m, const int32_t* indices, const floating* data, Py_ssize_t nnz,
                              double* scores) noexcept nogil:
    cdef int result = check_row(m, indices, data, nnz) if m.is_open else CLOSED
    return score(m, indices, data, nnz, scores) if result == DONE else result


cdef int learn_float(OpenModel* model, const int32_t* indices, const float* data, Py_ssize_t nnz, double label,
                     double weight) noexcept nogil:
    return learn_checked(model, indices, data, nnz, label, weight)


cdef int learn_double(OpenModel* model, const int32_t* indices, const double* data, Py_ssize_t nnz, double label,
                      double weight) noexcept nogil:
    return learn_checked(model, indices, data, nnz, label, weight)


cdef int learn_float_unchecked(OpenModel* model, const int32_t* indices, const float* data, Py_ssize_t nnz, double label,
                               double weight) noexcept nogil:
    return learn(model, indices, data, nnz, label, weight)


cdef int learn_double_unchecked(OpenModel* model, const int32_t* indices, const double* data, Py_ssize_t nnz, double label,
                                double weight) noexcept nogil:
    return learn(model, indices, data, nnz, label, weight)


cdef int score_float(OpenModel* model, const int32_t* indices, const float* data, Py_ssize_t nnz,
                     double* scores) noexcept nogil:
    return score_checked(model, indices, data, nnz, scores)


cdef int score_double(OpenModel* model, const int32_t* indices, const double* data, Py_ssize_t nnz,
                      double* scores) noexcept nogil:
    return score_checked(model, indices, data, nnz, scores)


cdef int score_float_unchecked(OpenModel* model, const int32_t* indices, const float* data, Py_ssize_t nnz,
                               double* scores) noexcept nogil:
    return score(model, indices, data, nnz, scores)


cdef int score_double_unchecked(OpenModel* model, const int32_t* indices, const double* data, Py_ssize_t nnz,
                                double* scores) noexcept nogil:
    return score(model, indices, data, nnz, scores)


# --- in Python -----------------------------------------------------------------------------------------------------------------

cdef int enter(Handle self, Model model) except -1:
    """Begin the learning call: fill in the struct from the model, whose arrays are kept as long as their addresses."""
    cdef OpenModel* m = self.model
    cdef double[::1] counts = model.counts, counters = model.counters, correction = model.correction
    cdef double[::1] numbers
    cdef int64_t[::1] places
    cdef unsigned char[::1] values = model.values.view(np.uint8)
    cdef Batch b
    cdef Py_ssize_t k
    model.bind()
    model.enter(&b, &m.context, &counts[0], counts.shape[0], &counters[0], &correction[0] if correction.shape[0] else NULL)
    k = m.context.columns
    m.context.task, m.counters = m.task, <Counters*>&counters[0]
    m.n_features, m.n_classes, m.n_scores = model.n_features, counts.shape[0], 2 if m.task == ONE_CLASS else k
    workspace = np.empty(8 * k), np.empty(k, np.int64)
    numbers, places = workspace
    m.bare = Bare(&values[0], model.values.size, model.values.itemsize == 4, &model.p, &numbers[0], &places[0])
    m.reading.layout, m.reading.correction, m.reading.counters = m.context.layout, m.context.correction, m.counters
    m.scores_bare = isinstance(model, QuadraticModel)
    m.learns_bare = m.scores_bare and model.sigma.size == 0
    m.owner = <PyObject*>model
    self.kept = (model, workspace, model.values, model.counts, model.counters, model.correction, model.calibration,
                 model.places, model.target_margins, model.record)
    return 0


cdef class Handle:
    """A learner's model, open for rows from C: what `open` returns.

    It can be used in a `with` statement. As long as it is open, the learner may predict, but neither learn nor be copied, saved
    or pickled: these calls raise a RuntimeError. Its parameters are those it had when it was opened.

    Attributes
    ----------
    learner : estimator
    address : int
        The address that the C functions take as their first argument.
    n_features : int
    n_scores : int
        How many numbers a score function writes.
    dtype : numpy.dtype
        float32 (the functions ``..._float``) or float64 (``..._double``).
    is_open : bool

    See Also
    --------
    open : Open a learner.
    """

    def __cinit__(self, learner):
        cdef Lock lock = learner._own_lock() if hasattr(learner, "_own_lock") else Lock("")
        cdef OpenModel* m = <OpenModel*>calloc(1, sizeof(OpenModel))
        self.model = m
        if m == NULL:
            raise MemoryError
        lock.__enter__()
        try:
            model, m.task = open_model(learner)
            enter(self, model)
            self.learner, self.lock = learner, lock
            m.is_open = lock.has_handle = True
        finally:
            if not m.is_open:
                lock.end_learning()

    def close(self):
        """Close the handle, so that the learner can learn otherwise, be copied and saved. C functions then return CLOSED.

        No thread may be inside of one of them. Closing a handle twice changes nothing.
        """
        if self.model.is_open:
            self.model.is_open = False
            (<Lock>self.lock).end_learning()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if self.model != NULL:
            self.close()

    def __dealloc__(self):
        free(self.model)

    @property
    def address(self):
        return <size_t>self.model

    @property
    def n_features(self):
        return self.model.n_features

    @property
    def n_scores(self):
        return self.model.n_scores

    @property
    def dtype(self):
        return (<Model>self.model.owner).values.dtype

    @property
    def is_open(self):
        return bool(self.model.is_open)


def open(learner):
    """Open a fitted learner for rows from C, Cython or Numba; see api.pxd for the functions that take them.

    Parameters
    ----------
    learner : classifier, regressor or one-class learner
        With its first rows behind it: 16 of them determine the units of X, on which defaults depend. The learner is refused if
        `partial_fit` takes a step or a check in Python for each call (kernels, AdaGrad with its full matrix, FoReL,
        multiplicative updates, Hedge, rows far from the origin), or if it has a ``class_weight``.

    Returns
    -------
    handle : Handle
        The learner learns through it alone until it is closed.

    Raises
    ------
    ValueError
        If rows cannot be learnt without Python, or a parameter is not valid.
    RuntimeError
        If another call learns, or another handle is open.

    See Also
    --------
    ctypes_functions : Return the functions for ctypes and Numba.

    Examples
    --------
    >>> import ctypes
    >>> import numpy as np
    >>> from onlinecls import PassiveAggressiveClassifier, api
    >>> X, y = np.eye(4), np.array([0, 1, 0, 1])
    >>> learner = PassiveAggressiveClassifier(C=1.0, intercept_scaling=1.0).partial_fit(X, y, classes=[0, 1])
    >>> with api.open(learner) as handle:
    ...     learn = api.ctypes_functions().learn_double
    ...     print(learn(handle.address, None, X[0].ctypes.data, 4, 1.0, 1.0), learner.t_)
    0 5
    """
    return Handle(learner)


def ctypes_functions():
    """Return the functions of api.pxd for ctypes and Numba, with the types of their arguments, as attributes of one object.

    model, indices, data and scores are addresses (``handle.address``, ``array.ctypes.data``), indices of int32; None or 0 is
    NULL. The GIL is released while one runs.

    See Also
    --------
    open : Open a learner, whose address they take.
    """
    import ctypes

    address, size, number, result = ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_double, ctypes.c_int
    learns = ctypes.CFUNCTYPE(result, address, address, address, size, number, number)
    scores = ctypes.CFUNCTYPE(result, address, address, address, size, address)
    return SimpleNamespace(
        learn_float=learns(<size_t>&learn_float), learn_double=learns(<size_t>&learn_double),
        learn_float_unchecked=learns(<size_t>&learn_float_unchecked),
        learn_double_unchecked=learns(<size_t>&learn_double_unchecked),
        score_float=scores(<size_t>&score_float), score_double=scores(<size_t>&score_double),
        score_float_unchecked=scores(<size_t>&score_float_unchecked),
        score_double_unchecked=scores(<size_t>&score_double_unchecked),
    )


def __dir__():
    return __all__
