"""Hold what compiled code shares: the base of all models, with their start and small calls of a few rows; locks; and BLAS.

A geometry's model extends `Model` by `visit`, its training loops and its scores.
"""
from cpython.dict cimport PyDict_Next
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from cpython.pythread cimport NOWAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock
from cpython.pythread cimport PyThread_get_thread_ident, PyThread_release_lock, PyThread_type_lock
from cython cimport critical_section
from libc.math cimport INFINITY, exp, log1p
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

import os
from math import prod

cimport numpy as cnp
import numpy as np

from .rounds cimport (
    BINARY, CRAMMER_SINGER, DECISION, DEVIATION, HELD_LEVEL, ONE_CLASS, OVR, QUANTUM, REGRESSION, RUNNING_LEVEL,
    SCALE_ROWS, Batch, Calibration, Counters, PassContext, Task, measure_row, open_scale,
)
from .sparse cimport Row, floating
from .._rows cimport Rows, are_finite, converted, has_type, new_array, numbers_of, start_of
from .._rules cimport Params

from .._rules import Costs, Geometry, Rule, Trigger

cdef extern from "pythread.h":
    int PyThread_acquire_lock_timed(PyThread_type_lock lock, long long microseconds, int interruptible) nogil

NUMBERED = {field: {each.name.lower(): int(each) for each in names} for field, names in (
    ("rule", Rule), ("trigger", Trigger), ("geometry", Geometry), ("costs", Costs))}     # fields of Params that are names
TASKS = {"binary": BINARY, "crammer_singer": CRAMMER_SINGER, "ovr": OVR, "regression": REGRESSION, "one_class": ONE_CLASS,
         "decision": DECISION, "deviation": DEVIATION}

#: The places of a model's counters, by their names in Python.
COUNTERS = {"t": 0, "mistakes": 1, "updates": 2, "skipped": 3, "seen": 4, "loss": 5, "max_abs_weight": 6, "curvature": 7,
            "squared": 8, "absolute": 9, "growth": 10, "level": 11, "level_rest": 12, "mass": 13, "scale": 14, "bias": 15,
            "measured": 16, "exponents": 17, "mantissas": 18, "lengths": 19}
N_COUNTERS = sizeof(Counters) // sizeof(double)
TOLD = SCALE_ROWS  # of the counter "measured": no row moves the scale

FLOAT64 = np.dtype(np.float64)
NUMBERS = frozenset((float, int, np.float64, np.float32, np.int64))     # types of numbers in a list
#: Types of labels in a list that are equal just where they are the same label, by the kind of the classes.
TYPES = {"i": (int, np.int64), "u": (int, np.uint64), "f": (float, np.float64), "b": (bool, np.bool_), "U": (str, np.str_),
         "S": ()}


def n_vectors(n_classes):
    """Return the number of vectors of weights for this number of classes: two classes share one."""
    return n_classes if n_classes > 2 else 1


def best_of(const double[:, ::1] scores):
    """Return each row's class: by the score's sign for one vector of weights, else the first of the highest scores."""
    cdef Py_ssize_t i, c, best, n, k = scores.shape[1]
    codes = new_array(scores.shape[0], cnp.NPY_INT64)
    cdef int64_t* found = <int64_t*>start_of(codes, &n)
    with nogil:
        for i in range(scores.shape[0]):
            best = k == 1 and scores[i, 0] > 0.0
            for c in range(1, k):
                if scores[i, c] > scores[i, best]:
                    best = c
            found[i] = best
    return codes


def log_softmax(const double[:, ::1] scores, double a, double b, const double[::1] offsets):
    """Return the logarithms of the classes' probabilities, in proportion to e^z, z = a score + b offset made finite.

    Where there is one score a row, the first of two classes has the score 0.
    """
    cdef Py_ssize_t i, c, top, k = offsets.shape[0], single = scores.shape[1] == 1
    cdef double z, total
    cdef double[:, ::1] found
    if k != max(scores.shape[1], 2):
        raise RuntimeError("onlinecls: the model must stay the same while rows are read, got one fitted in another thread.")
    result = np.empty((scores.shape[0], k))
    found = result
    with nogil:
        for i in range(scores.shape[0]):
            top, total = 0, 0.0
            for c in range(k):
                z = a * (scores[i, c] if not single else scores[i, 0] if c else 0.0) + b * offsets[c]
                found[i, c] = 0.0 if z != z else 1e300 if z > 1e300 else -1e300 if z < -1e300 else z
                top = c if found[i, c] > found[i, top] else top
            z = found[i, top]
            for c in range(k):
                found[i, c] -= z
                total += exp(found[i, c]) if c != top else 0.0
            total = log1p(total)
            for c in range(k):
                found[i, c] -= total
    return result


def exponentials(double[:, ::1] logs):
    """Compute e^x of each number in place."""
    cdef Py_ssize_t i, c
    with nogil:
        for i in range(logs.shape[0]):
            for c in range(logs.shape[1]):
                logs[i, c] = exp(logs[i, c])


cdef void measure_rows(const floating[::1] data, const int64_t[::1] starts, const int64_t[::1] numbers, Counters* counters,
                       const Params* p) noexcept:
    """Let rows of these numbers tell the scale."""
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        if counters.measured < SCALE_ROWS:
            measure_row(data, Row(starts[numbers[i]], starts[numbers[i] + 1], 0), counters, p.scale, p.constant)


cdef void* address(cnp.ndarray array, int type, bint writable=False) except? NULL:
    """Return where the numbers of an array of this type begin; NULL where there are none. The caller keeps the array."""
    cdef Py_ssize_t n = 0
    if array is None:
        return NULL
    cdef void* found = start_of(array, &n, writable)
    if found == NULL or not has_type(array, type):
        raise ValueError(f"Model: a contiguous and aligned array of numpy's type {type} is needed, got {array!r}.")
    return found if n else NULL


cdef checked_numbers(given, Py_ssize_t n, double least):
    """Return n finite numbers, none of them below `least`, as an array of doubles; None for anything else."""
    cdef Py_ssize_t i, size = 0
    if type(given) is list and all([type(number) in NUMBERS for number in given]):
        try:
            given = np.array(given, FLOAT64)
        except OverflowError:
            return None
    cdef const double* numbers = <const double*>numbers_of(given, FLOAT64, &size)
    if numbers == NULL or size != n or not are_finite(numbers, n):
        return None
    for i in range(n):
        if numbers[i] < least:
            return None
    return given


cdef class Model:
    """The arrays that learning changes, as the training loops see them. A state (_models.py) declares and grows them.

    values : flat array, a run of (first slots, second slots) of all vectors for each feature, the constant feature last.
    sigma : full covariances, (vectors, n_features + 1, n_features + 1); or empty. correction : see rounds.pxd, or empty.
    counts : rows seen of each class. counters : counters. params : the parameters of the pass, fields of `Params`.
    places : int64, the place of each class's vector among the `room` that a feature has in `values` and `correction`; None: they
    lie in the order of the classes, and there is no room for more.
    sparse_coef : the weights as a CSR matrix, from `sparsify` to the next row; or None.
    """

    # --- parts ------------------------------------------------------------------------------------------------------------------

    def __init__(self, n_features, n_classes, dtype, params):
        self.n_features, self.n_columns, self.variance, self.params = n_features, n_vectors(n_classes), params.variance, params
        layout = self.layout(dtype, n_features, n_classes, params)
        self.__setstate__({name: self._fresh(name, *of) for name, of in layout.items()})

    @classmethod
    def layout(cls, dtype, *of, **sizes):
        """Return {name: (shape, dtype)} of the arrays. of, sizes : the arguments of `sizes`."""
        lengths = cls.sizes(*of, **sizes)
        return {
            name: (tuple([lengths.get(axis, axis) for axis in array.axes]), array.dtype or np.dtype(dtype))
            for name, array in cls.ARRAYS.items()
        }

    @classmethod
    def sizes(cls, n_features, n_classes, params, n_none=0, n_groups=1):
        """Return the lengths of the axes that the arrays' declarations name.

        n_none : 1 with "none of these". n_groups : groups of vectors that share numbers (`WithGroups`).
        """
        return {
            "features": n_features + 1, "slots": len(cls.SLOTS), "vectors": n_vectors(n_classes) + n_none, "classes": n_classes,
            "groups": n_groups, "fields": len(cls.FIELDS), "sums": (n_features + 1) * (params.average_from >= 0),
            "calibrated": int(params.probability),
        }

    @classmethod
    def n_bytes(cls, params, n_features, n_classes, dtype):
        """Return the size of the arrays of a new model."""
        return sum(prod(shape) * of.itemsize for shape, of in cls.layout(dtype, n_features, n_classes, params).values())

    def _fresh(self, name, shape, dtype):
        """Return an array of new vectors. (Memory that stays untouched takes neither time nor room.)"""
        found, fresh = np.zeros(shape, dtype), self.ARRAYS[name].fresh
        if fresh != 0.0:
            found[...] = fresh
        for at, slot in enumerate(self.SLOTS if name == "values" else ()):
            if slot.fresh != 0.0:
                found[:, at] = self.declared(slot.fresh)
        return found

    def declared(self, number):
        """Return a number of a declaration, which may be the name of an attribute."""
        return getattr(self, number) if isinstance(number, str) else number

    def __setstate__(self, parts):
        for name, part in parts.items():
            setattr(self, name, part.reshape(-1) if name in self.OF_PLACES else part)

    def arrays(self):
        """Return the arrays that learning changes, as they lie in memory."""
        return [getattr(self, name) for name in self.ARRAYS]

    def writable(self):
        """Return this model, or a copy if some of its arrays are read-only (memory-mapped by joblib, say)."""
        return self if all(array.flags.writeable for array in self.arrays()) else self.copy()

    def count(self, name):
        return <int64_t><double>self.counters.item(self.COUNTERS[name])

    # --- learning ---------------------------------------------------------------------------------------------------------------

    cdef int bind(self) except -1:
        """Convert the parameters to the C struct that the loops read, if they have changed."""
        if self.bound is not self.params:
            params = self.params
            given = <dict>self.p        # (all without a call of Python, in which a signal might be raised)
            given.update(zip(params._fields, params))
            for name, numbers in NUMBERED.items():
                given[name] = numbers.get(given[name], given[name])
            with critical_section(self):        # several threads may read at once (and the learning one may replace them)
                self.p = given
                self.bound = params

    cpdef Py_ssize_t learn(self, Task task, Rows rows, targets, weights, class_weights, order, predictions) except -1:
        """Learn one pass over rows: the one way in which a model changes. Return the number of rows skipped.

        targets : numbers of classes (int32), or numbers (float64).
        weights, class_weights : a row's weight is the product of both, either may be empty. order : row numbers, or empty for
        storage order. predictions : empty, or filled with the class predicted just before each row of weight > 0 is learnt.
        None stands for an empty array.
        """
        cdef Batch b
        cdef PassContext context
        cdef double skipped
        self.enter(rows, &b, &context)
        b.order = <const int64_t*>address(order, cnp.NPY_INT64)
        if b.order != NULL:
            b.n = len(order)
        b.weights = <const double*>address(weights, cnp.NPY_FLOAT64)
        b.class_weights = <const double*>address(class_weights, cnp.NPY_FLOAT64)
        b.predictions = <int32_t*>address(predictions, cnp.NPY_INT32, True)
        if task == REGRESSION:
            b.targets = <const double*>address(targets, cnp.NPY_FLOAT64)
        elif task != ONE_CLASS:
            b.labels = <const int32_t*>address(targets, cnp.NPY_INT32)
        skipped = context.counters.skipped
        try:
            context.task = task
            self.visit(rows, &b, &context)
        finally:
            context.published[0] = context.counters
        return <Py_ssize_t>(context.counters.skipped - skipped)

    cdef int enter(self, Rows rows, Batch* b, PassContext* context, bint learns=True) except -1:
        """Begin a pass: a batch of rows without labels and weights, and a context that continues the model's counters.

        learns : False for a pass that only reads.
        """
        cdef double[:, ::1] calibration
        self.bind()
        memset(b, 0, sizeof(Batch))
        memset(context, 0, sizeof(PassContext))
        b.n = b.n_rows = rows.n_rows
        b.indptr = <const int64_t*>address(rows.indptr, cnp.NPY_INT64)
        context.published = <Counters*>address(self.counters, cnp.NPY_FLOAT64, learns)
        context.counters = context.published[0]
        context.correction = <double*>address(self.correction, cnp.NPY_FLOAT64, learns)
        context.columns, context.constant, context.budget = self.n_columns, self.n_features, QUANTUM
        context.layout.n, context.layout.places = context.columns, <const int64_t*>address(self.places, cnp.NPY_INT64)
        context.layout.room = context.columns if context.layout.places == NULL else self.room
        open_scale(context, &self.p)
        if not learns:
            return 0
        context.published[0] = context.counters     # (for `measure_row`, and for readers in other threads)
        context.counts, context.n_classes = <double*>address(self.counts, cnp.NPY_FLOAT64, True), self.counts.size
        if len(self.calibration) and not self.are_seen:
            calibration = self.calibration
            context.calibration = <Calibration*>&calibration[0, 0]
        context.has_observers = context.calibration != NULL
        context.open_classes, context.balanced, context.average_from = self.p.open_classes, self.p.balanced, self.p.average_from
        context.costs, context.margin, context.memory = self.p.costs, self.p.margin, 1.0 - self.p.forgetting
        if self.p.level:
            context.level = HELD_LEVEL if self.holds_level else RUNNING_LEVEL
        return 0

    @property
    def dtype(self):
        return self.values.dtype

    def tell_scale(self, Rows rows, const int64_t[::1] numbers):
        """Let rows of these numbers tell the scale before any of them is learnt."""
        cdef Batch b
        cdef PassContext context
        self.enter(rows, &b, &context)
        if self.values.itemsize == 4:
            measure_rows[float](rows.data, rows.indptr, numbers, context.published, &self.p)
        else:
            measure_rows[double](rows.data, rows.indptr, numbers, context.published, &self.p)

    def count_rows(self, const int64_t[::1] numbers, Rows rows=None):
        """Count rows of a single class, which tell the scale and nothing else. (Before the first, the class was not known.)"""
        cdef Counters* n = <Counters*>address(self.counters, cnp.NPY_FLOAT64, True)
        if rows is not None:
            self.tell_scale(rows, numbers)
        n.mistakes += numbers.shape[0] > 0 and n.rounds == 0.0
        n.rounds += numbers.shape[0]
        n.seen = 1.0
        self.counts[0] += numbers.shape[0]

    # --- small calls: the same pass, with every check in C ----------------------------------------------------------------------

    def open_small_calls(self, dict same, Lock lock, Task task, classes):
        """Let `try_partial_fit` learn while these attributes of the estimator, its parameters among them, stay the same objects.

        lock : around the model. classes : the labels, or None.
        """
        self.lock, self.task, self.own = lock, task, tuple(self.arrays())
        if classes is not None:
            self.kind, self.codes = classes.dtype.kind, {label: code for code, label in enumerate(classes.tolist())}
        self.same = same

    def try_partial_fit(self, dict attributes, X, y, sample_weight, classes=None):
        """Learn a small call of an estimator of these attributes: return 1 + the rows skipped; 0, nothing written, for others."""
        if not are_unchanged(self.same, attributes):
            return 0
        if classes is not None:
            named = self.labels_of(classes)
            if named is None or self.codes.keys() != set(named):
                return 0
        if not self.lock.take(True, False):
            return 0
        try:
            for array in self.own:      # (some may be read-only, from a memory-mapped file)
                if not cnp.PyArray_ISWRITEABLE(array):
                    return 0
            rows = self.few(X, attributes.get("feature_names_in_"))
            if rows is None:
                return 0
            if sample_weight is not None:
                sample_weight = checked_numbers(sample_weight, rows.n_rows, 0.0)
                if sample_weight is None:
                    return 0
            y = checked_numbers(y, rows.n_rows, -INFINITY) if self.task == REGRESSION else self.codes_of(y, rows.n_rows)
            if y is None:
                return 0
            self.sparse_coef = None
            return 1 + self.learn(self.task, rows, y, sample_weight, None, None, None)
        finally:
            self.lock.release()

    cdef codes_of(self, y, Py_ssize_t n):
        """Return the numbers of the classes of n labels; None if y is anything else."""
        cdef Py_ssize_t i, size = 0
        labels = self.labels_of(y)
        if labels is None or len(labels) != n:
            return None
        codes = new_array(n, cnp.NPY_INT32)
        cdef int32_t* found = <int32_t*>start_of(codes, &size)
        for i in range(n):
            code = self.codes.get(labels[i])
            if code is None:
                return None
            found[i] = code
        return codes

    cdef labels_of(self, given):
        """Return labels of the classes' kind as Python's or numpy's objects; None for any others, which may have to be cast."""
        if type(given) is np.ndarray:
            return given.tolist() if given.ndim == 1 and given.dtype.kind == self.kind else None
        if type(given) is not list and type(given) is not tuple:
            return None
        for label in given:
            if type(label) not in <tuple>TYPES[self.kind]:
                return None
        return given

    cdef Rows few(self, X, feature_names):
        """Return X as rows of this model; None if it is wrong, or of a kind or size that takes the general path."""
        cdef Rows rows = None if feature_names is not None else converted(X, self.values.dtype, True)
        return rows if rows is not None and rows.n_rows > 0 and rows.n_features == self.n_features else None

    # --- overridden by each geometry --------------------------------------------------------------------------------------------

    cdef int visit(self, Rows rows, const Batch* b, PassContext* context) except -1:
        """Do context.task with the rows of a batch: learn them, or compute scores (`DECISION`) or deviations (`DEVIATION`).

        Each model chooses its loop by the types of the values and of the rows' indices (visit.pxi).
        """
        raise NotImplementedError

    # --- reading: never a write ------------------------------------------------------------------------------------------------

    def try_decision(self, X, feature_names=None):
        """Return the scores of a small call, or None for a call that needs the general path. feature_names : the estimator's."""
        rows = self.few(X, feature_names)
        return None if rows is None else self.decision(rows)

    def decision(self, Rows rows, Task task=DECISION):
        """Return w_c.x_i of the model, or of its average if there is one, (rows, vectors but for "none of these").

        task : DEVIATION for √(x_i'Σ_c x_i) instead.
        """
        cdef Py_ssize_t size, k = self.n_columns
        found = np.empty(rows.n_rows * k)
        self.read(task, rows, <double*>start_of(found, &size))
        found = found.reshape(rows.n_rows, k)
        return found if k == n_vectors(self.counts.size) else np.ascontiguousarray(found[:, :-1])

    cdef int read(self, Task task, Rows rows, double* found) except -1:
        """Fill in the task's results: a number of each row and vector."""
        cdef Batch b
        cdef PassContext context
        cdef Py_ssize_t i
        self.enter(rows, &b, &context, False)
        context.task, context.found, context.n_found = task, found, context.columns
        self.visit(rows, &b, &context)
        if task == DECISION and self.p.level:
            for i in range(b.n * context.columns):
                found[i] += context.counters.level + context.counters.level_rest
        return 0


# --- locks -------------------------------------------------------------------------------------------------------------------

cdef long FORKS = 0, FORKER = 0         # forks that have led to this process, and the thread that made the last one


cdef class Lock:
    """A mutex: `with lock:` is a learning call, which raises a RuntimeError during another one. `with lock.waiting():` (a copy, a
    merge, a reading of several models at one moment) waits for it, and it waits for these. A thread that would wait for
    itself, as in a signal handler, gets a RuntimeError. A copied or pickled lock is a new, free one; so is each lock in a
    forked process, but for those of the thread that forked it.

    It is compiled because Ctrl-C arrives between two steps of the interpreter, and there is none between taking the lock and the
    block.
    """

    def __cinit__(self, who):
        self.who, self.lock = who, PyThread_allocate_lock()

    def __dealloc__(self):
        PyThread_free_lock(self.lock)

    def __reduce__(self):
        return Lock, (self.who,)

    def __enter__(self):
        if not self.take(True, not self.learns):
            raise RuntimeError(
                f"{self.who}: one call at a time may learn, got another one while a call to fit or partial_fit goes on. Wait "
                "for it, or give each thread a model of its own (copy.deepcopy). Predicting meanwhile is allowed."
            )

    def __exit__(self, kind=None, error=None, trace=None):
        self.release()

    def waiting(self):
        """Return the context that waits for the lock."""
        return Waiting(self)

    cdef bint take(self, bint learns, bint waits) except -1:
        """Take the lock, when it is free; without `waits`, return False if it is not. A signal handler's exception ends the wait.

        In a forked process, a lock that another thread held or was about to take is made anew: nobody would release it here.
        """
        cdef long me = PyThread_get_thread_ident()
        cdef bint is_taken = False
        if self.forks != FORKS and self.holder != FORKER:
            self.lock, self.holder, self.learns = PyThread_allocate_lock(), 0, False
        self.forks = FORKS
        if not PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
            if not waits:
                return False
            if self.holder == me:
                raise RuntimeError(
                    f"{self.who}: fit, partial_fit, merge, save, copy and pickle, and predictions of pipelines and committees, "
                    "must be called when no other such call of the same thread uses the model, got one from a signal handler or "
                    "callback within it, which would wait for itself. Set a flag there, and go on when the call has returned."
                )
            while not is_taken:     # (signals do not end a wait)
                PyErr_CheckSignals()
                with nogil:
                    is_taken = PyThread_acquire_lock_timed(self.lock, 20_000, 0)
        self.holder, self.learns = me, learns
        return True

    cdef int release(self) except -1:
        """Release the lock."""
        self.holder, self.learns = 0, False
        PyThread_release_lock(self.lock)
        return 0


cdef class Waiting:
    """The context of `Lock.waiting`."""
    cdef Lock lock

    def __init__(self, Lock lock):
        self.lock = lock

    def __enter__(self):
        self.lock.take(False, True)

    def __exit__(self, kind=None, error=None, trace=None):
        self.lock.release()


def own_lock(owner):
    """Return the lock of an object, which it has from the first call on."""
    cdef dict attributes = owner.__dict__
    return attributes.get("_lock") or attributes.setdefault("_lock", Lock(type(owner).__name__))


def count_fork():
    global FORKS, FORKER
    FORKS, FORKER = FORKS + 1, PyThread_get_thread_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=count_fork)


cpdef bint are_unchanged(dict known, dict attributes) except -1:
    """Return True if an estimator's known attributes, if any are, are the same objects; None: there is no such attribute."""
    cdef Py_ssize_t i = 0
    cdef PyObject* known_one[2]         # a name and its value
    cdef bint is_same = known is not None
    with critical_section(attributes):
        while is_same and PyDict_Next(known, &i, &known_one[0], &known_one[1]):
            is_same = attributes.get(<object>known_one[0]) is <object>known_one[1]
    return is_same


def are_same(tuple known, values):
    """Return True if all items of a tuple or list are the same objects as those known, if any are."""
    cdef Py_ssize_t k, n = len(values)
    if known is None or len(known) != n:
        return False
    for k in range(n):
        if known[k] is not values[k]:
            return False
    return True


def learn_together(learn, tuple arguments, dict named, list commits, recover, *others):
    """Run learn(*arguments, **named), then all commits, so that what they change stands at the same row.

    If the first is ended by an error (Ctrl-C, say), recover(*others) returns the commits to run instead. Ctrl-C in one of these
    is raised at the end: that function is run again, which must not matter to it. (It is compiled for the reason of `Lock`.)
    """
    cdef list errors = []
    try:
        learn(*arguments, **named)
    except BaseException as error:
        errors.append(error)
        commits = run_through(recover, others, errors)
    for commit in commits:
        run_through(commit, (), errors)
    if errors:
        raise errors[0]


cdef object run_through(function, tuple arguments, list errors):
    """Return function(*arguments), which is called again after each Ctrl-C."""
    while True:
        try:
            return function(*arguments)
        except KeyboardInterrupt as error:
            errors.append(error)


# --- BLAS, of scipy.linalg.cython_blas, found at the first pass of a full covariance -----------------------------------------

ctypedef void (*symv_t)(char*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*symm_t)(char*, char*, int*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*syrk_t)(char*, char*, int*, int*, void*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef void (*gemv_t)(char*, int*, int*, void*, void*, int*, void*, int*, void*, void*, int*) noexcept nogil
ctypedef int (*get_threads_t)() noexcept nogil
ctypedef void (*set_threads_t)(int) noexcept nogil

cdef enum:
    SMALL = 512             # OpenBLAS's threads wait for each other longer than they compute products of smaller matrices
    SYMV = 0                # the routines,
    SYMM = 1
    SYRK = 2
    GEMV = 3
    ALL = 4

cdef void* ROUTINES[2][ALL]     # [0] of float, [1] of double
cdef get_threads_t GET_THREADS = NULL
cdef set_threads_t SET_THREADS = NULL
cdef int n_passes = 0       # that have one thread
cdef int n_threads = 1      # before the first of them
cdef object CHANGING = object()     # their numbers


def load_blas():
    """Find the routines."""
    global GET_THREADS, SET_THREADS
    import ctypes

    import scipy.linalg.cython_blas as blas

    library = ctypes.CDLL(blas.__file__)
    for prefix in ("scipy_openblas", "openblas"):   # (of another BLAS the number of threads stays)
        if hasattr(library, prefix + "_set_num_threads"):
            get, set = [ctypes.cast(library[f"{prefix}_{verb}_num_threads"], ctypes.c_void_p).value for verb in ("get", "set")]
            GET_THREADS, SET_THREADS = <get_threads_t><size_t>get, <set_threads_t><size_t>set
    for i in range(2):
        for j, name in enumerate(("symv", "symm", "syrk", "gemv")):
            capsule = blas.__pyx_capi__["sd"[i] + name]
            signature = PyCapsule_GetName(capsule)
            if b"int *" not in signature:
                raise ImportError(f"scipy's BLAS takes other integers than int: {name} is {signature!r}.")
            ROUTINES[i][j] = PyCapsule_GetPointer(capsule, signature)


cdef bint begin_pass(Py_ssize_t n):
    """Find the routines; give BLAS one thread while small matrices, of n rows, are multiplied: return True to `end_pass` it."""
    global n_passes, n_threads
    if ROUTINES[1][GEMV] == NULL:       # (another thread may be calling them)
        load_blas()
    if SET_THREADS == NULL or n > SMALL:
        return False
    with critical_section(CHANGING):
        if n_passes == 0:
            n_threads = GET_THREADS()
            SET_THREADS(1)
        n_passes += 1
    return True


cdef void end_pass(bint has_begun):
    """Give BLAS its threads back after the last of the passes that have begun."""
    global n_passes
    if has_begun:
        with critical_section(CHANGING):
            n_passes -= 1
            if n_passes == 0:
                SET_THREADS(n_threads)


cdef void symv(const floating[:, ::1] S, const floating[::1] x, floating[::1] y) noexcept nogil:
    cdef int n = <int>S.shape[0], one = 1
    cdef floating alpha = 1.0, beta = 0.0
    (<symv_t>ROUTINES[floating is double][SYMV])(b"U", &n, &alpha, &S[0, 0], &n, &x[0], &one, &beta, &y[0], &one)


cdef void symm(const floating[:, ::1] S, const floating[:, ::1] X, floating[:, ::1] Y, int n_rows) noexcept nogil:
    cdef int n = <int>S.shape[0]
    cdef floating alpha = 1.0, beta = 0.0
    (<symm_t>ROUTINES[floating is double][SYMM])(
        b"L", b"U", &n, &n_rows, &alpha, &S[0, 0], &n, &X[0, 0], &n, &beta, &Y[0, 0], &n)


cdef void syrk(floating[:, ::1] S, const floating[:, ::1] U, int n_rows) noexcept nogil:
    cdef int n = <int>S.shape[0]
    cdef floating alpha = -1.0, beta = 1.0
    (<syrk_t>ROUTINES[floating is double][SYRK])(b"U", b"N", &n, &n_rows, &alpha, &U[0, 0], &n, &beta, &S[0, 0], &n)


cdef void gemv(const floating[:, ::1] U, int n_rows, const floating[::1] x, floating[::1] y, bint along_rows) noexcept nogil:
    cdef int n = <int>U.shape[1], one = 1
    cdef floating alpha = 1.0 if along_rows else -1.0, beta = not along_rows
    (<gemv_t>ROUTINES[floating is double][GEMV])(
        b"T" if along_rows else b"N", &n, &n_rows, &alpha, &U[0, 0], &n, &x[0], &one, &beta, &y[0], &one)
