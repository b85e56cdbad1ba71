"""The compiled base of all models: the arrays that a pass reads and changes, its start, and small calls of one or a few rows.

A geometry's model extends `Model` by `visit`, its training loops and its scores.
"""
from cython cimport critical_section
from libc.math cimport INFINITY, exp, log1p
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from math import prod

import numpy as np

from .lock cimport Lock
from .rounds cimport (
    BINARY, CRAMMER_SINGER, DECISION, HELD_LEVEL, ONE_CLASS, OVR, QUANTUM, REGRESSION, RUNNING_LEVEL, Batch, Calibration,
    SCALE_ROWS, Counters, PassContext, Task, measure_row, open_scale,
)
from .sparse cimport Row, floating

from .._rules cimport Params

from .._rows cimport Rows, are_finite, converted, is_csr, is_writable, numbers_of, start_of

from .._rules import Costs, Geometry, Rule, Trigger

NUMBERED = {field: {each.name.lower(): int(each) for each in names} for field, names in (
    ("rule", Rule), ("trigger", Trigger), ("geometry", Geometry), ("costs", Costs))}     # fields of Params that are names
TASKS = {"binary": BINARY, "crammer_singer": CRAMMER_SINGER, "ovr": OVR, "regression": REGRESSION,
         "one_class": ONE_CLASS}

#: The places of a model's counters, by their names in Python.
COUNTERS = {"t": 0, "mistakes": 1, "updates": 2, "skipped": 3, "seen": 4, "loss": 5, "max_abs_weight": 6, "curvature": 7,
            "squared": 8, "absolute": 9, "growth": 10, "level": 11, "level_rest": 12, "mass": 13, "scale": 14, "bias": 15,
            "measured": 16, "exponents": 17, "mantissas": 18, "lengths": 19}
N_COUNTERS = sizeof(Counters) // sizeof(double)
TOLD = SCALE_ROWS  # of the counter "measured": no row moves the scale

INT32, INT64, FLOAT64 = np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.float64)
NUMBERS = frozenset((float, int, np.float64, np.float32, np.int64))     # types of numbers in a list
#: Types of labels in a list that are equal just where they are the same label, by the kind of the classes.
TYPES = {"i": (int, np.int64), "u": (int, np.uint64), "f": (float, np.float64), "b": (bool, np.bool_), "U": (str, np.str_),
         "S": ()}

cdef enum:
    FEW = 1024              # most rows of a small call


def n_vectors(n_classes):
    """Return the number of vectors of weights for this number of classes: two classes share one."""
    return n_classes if n_classes > 2 else 1


def best_of(const double[:, ::1] scores):
    """Return each row's class: by the score's sign for one vector of weights, else the first of the highest scores."""
    cdef Py_ssize_t i, c, best, n, k = scores.shape[1]
    codes = np.empty(scores.shape[0], INT64)
    cdef int64_t* found = <int64_t*>start_of(codes, 8, &n)
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


cdef class Call:
    """Describe what holds for small calls of `partial_fit` that need no check in Python."""

    cdef codes_of(self, y, Py_ssize_t n):
        """Return the places of n labels among the classes; None if y is anything else."""
        cdef Py_ssize_t i, c, n_classes = 0, size = 0
        cdef const int64_t* known
        cdef const int64_t* given
        codes = np.empty(n, INT32)
        cdef int32_t* found = <int32_t*>start_of(codes, 4, &size)
        given = <const int64_t*>numbers_of(y, INT64, 8, &size)
        known = <const int64_t*>numbers_of(self.classes, INT64, 8, &n_classes)
        if given != NULL and known != NULL:
            for i in range(min(n, size)):
                c = 0
                while c < n_classes and known[c] != given[i]:
                    c += 1
                if c == n_classes:
                    return None
                found[i] = <int32_t>c
            return codes if size == n else None
        labels = self.labels_of(y)
        if labels is None or len(labels) != n:
            return None
        for i in range(n):
            code = self.places.get(labels[i])
            if code is None:
                return None
            found[i] = code
        return codes

    cdef labels_of(self, given):
        """Return labels of the classes' kind as Python's or numpy's objects; None for any others, which may have to be cast."""
        if type(given) is np.ndarray:
            return given.tolist() if given.ndim == 1 and given.dtype.kind == self.classes.dtype.kind else None
        if type(given) is not list and type(given) is not tuple:
            return None
        for label in given:
            if type(label) not in self.types:
                return None
        return given


cdef void measure_rows(const floating[::1] data, const int64_t[::1] starts, const int64_t[::1] numbers, Counters* counters,
                       const Params* p) noexcept:
    """Let rows of these numbers tell the scale."""
    cdef Py_ssize_t i
    for i in range(numbers.shape[0]):
        if counters.measured < SCALE_ROWS:
            measure_row(data, Row(starts[numbers[i]], starts[numbers[i] + 1], 0), counters, p.scale, p.constant)


cdef void* address(array, dtype, bint writable=False) except? NULL:
    """Return where the numbers of an array of this dtype begin; NULL where there are none. The caller keeps the array."""
    cdef Py_ssize_t n = 0
    if array is None:
        return NULL
    cdef void* found = start_of(array, 4 if dtype is INT32 else 8, &n, writable)
    if found == NULL or not (array.dtype is dtype or array.dtype == dtype):
        raise ValueError(f"Model: a contiguous and aligned array of {dtype} is needed, got {array!r}.")
    return found if n else NULL


cdef checked_numbers(given, Py_ssize_t n, double least):
    """Return n finite numbers, none of them below `least`, as an array of doubles; None for anything else."""
    cdef Py_ssize_t i, size = 0
    if type(given) is list and all([type(number) in NUMBERS for number in given]):
        try:
            given = np.array(given, FLOAT64)
        except OverflowError:
            return None
    cdef const double* numbers = <const double*>numbers_of(given, FLOAT64, 8, &size)
    if numbers == NULL or size != n or not are_finite(numbers, n):
        return None
    for i in range(n):
        if numbers[i] < least:
            return None
    return given


cdef class Model:
    """The arrays that learning changes, as the training loops see them. A state (_models/state.py) declares and grows them.

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
        return int(self.counters[self.COUNTERS[name]])

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
        indptr = rows.indptr            # (a local reference keeps the address valid)
        self.enter(&b, &context)
        b.n = b.n_rows = rows.n_rows
        b.indptr, b.order = <const int64_t*>address(indptr, INT64), <const int64_t*>address(order, INT64)
        if b.order != NULL:
            b.n = len(order)
        b.weights, b.class_weights = <const double*>address(weights, FLOAT64), <const double*>address(class_weights, FLOAT64)
        b.predictions = <int32_t*>address(predictions, INT32, True)
        if task == REGRESSION:
            b.targets = <const double*>address(targets, FLOAT64)
        elif task != ONE_CLASS:
            b.labels = <const int32_t*>address(targets, INT32)
        skipped = context.counters.skipped
        try:
            context.task = task
            self.visit(rows, &b, &context)
        finally:
            context.published[0] = context.counters
        return <Py_ssize_t>(context.counters.skipped - skipped)

    cdef int enter(self, Batch* b, PassContext* context) except -1:
        """Begin a pass: a batch without labels and weights, and a context that continues the model's counters."""
        cdef double* counters = <double*>address(self.counters, FLOAT64, True)
        cdef double[:, ::1] calibration
        self.bind()
        memset(b, 0, sizeof(Batch))
        memset(context, 0, sizeof(PassContext))
        context.counters, context.published = (<Counters*>counters)[0], <Counters*>counters
        context.counts, context.n_classes = <double*>address(self.counts, FLOAT64, True), self.counts.size
        context.columns = self.n_columns
        self.lay_out(&context.layout, context.columns)
        context.correction = <double*>address(self.correction, FLOAT64, True)
        context.constant = self.n_features
        if len(self.calibration) and not self.are_seen:
            calibration = self.calibration
            context.calibration = <Calibration*>&calibration[0, 0]
        context.has_observers = context.calibration != NULL
        context.open_classes, context.balanced, context.average_from = self.p.open_classes, self.p.balanced, self.p.average_from
        context.costs, context.margin = self.p.costs, self.p.margin
        context.budget, context.memory = QUANTUM, 1.0 - self.p.forgetting
        open_scale(context, &self.p)
        context.published[0] = context.counters     # (for `measure_row`, and for readers in other threads)
        if self.p.level:
            context.level = HELD_LEVEL if self.holds_level else RUNNING_LEVEL
        return 0

    cdef int lay_out(self, Layout* layout, Py_ssize_t n) except -1:
        """Say where the n vectors lie."""
        layout.n, layout.places = n, <const int64_t*>address(self.places, INT64)
        layout.room = n if layout.places == NULL else self.room
        return 0

    @property
    def dtype(self):
        return self.values.dtype

    def tell_scale(self, Rows rows, const int64_t[::1] numbers):
        """Let rows of these numbers tell the scale before any of them is learnt."""
        cdef Batch b
        cdef PassContext context
        self.enter(&b, &context)
        if self.values.itemsize == 4:
            measure_rows[float](rows.data, rows.indptr, numbers, context.published, &self.p)
        else:
            measure_rows[double](rows.data, rows.indptr, numbers, context.published, &self.p)

    # --- small calls: the same pass, with every check in C ----------------------------------------------------------------------

    def open_small_calls(self, dict same, Lock lock, Task task, classes):
        """Let `try_partial_fit` learn while these attributes of the estimator, its parameters among them, stay the same objects.

        lock : around the model. classes : the labels, or None.
        """
        cdef Call call = Call()
        call.arrays = tuple(self.arrays())
        call.names, call.values, call.lock, call.task, call.params = tuple(same), tuple(same.values()), lock, task, self.params
        call.classes = classes
        if classes is not None:
            call.types = TYPES[classes.dtype.kind]
            call.places = {label: place for place, label in enumerate(classes.tolist())}
        self.call = call

    def try_partial_fit(self, dict attributes, X, y, sample_weight, classes=None):
        """Learn a small call and return 1 + the number of rows skipped; return 0, with nothing written, for a call that needs the
        general path.

        attributes : the estimator's, those among them that must have stayed the same.
        """
        cdef Call call = self.call
        cdef Py_ssize_t i
        if call is None or self.params is not call.params:
            return 0
        for i in range(len(call.names)):
            if attributes.get(call.names[i]) is not call.values[i]:
                return 0
        if classes is not None:
            named = call.labels_of(classes)
            if named is None or call.places.keys() != set(named):
                return 0
        if not call.lock.take(True, False):
            return 0
        try:
            for i in range(len(call.arrays)):       # (some may be read-only, from a memory-mapped file)
                if not is_writable(call.arrays[i]):
                    return 0
            rows = self.few(X, attributes.get("feature_names_in_"))
            if rows is None:
                return 0
            if sample_weight is not None:
                sample_weight = checked_numbers(sample_weight, rows.n_rows, 0.0)
                if sample_weight is None:
                    return 0
            y = checked_numbers(y, rows.n_rows, -INFINITY) if call.task == REGRESSION else call.codes_of(y, rows.n_rows)
            if y is None:
                return 0
            self.sparse_coef = None
            return 1 + self.learn(call.task, rows, y, sample_weight, None, None, None)
        finally:
            call.lock.release()

    cdef Rows few(self, X, feature_names):
        """Return X as rows of this model; None if it is wrong, or of a kind or size that takes the general path."""
        cdef Rows rows
        if feature_names is not None or (type(X) is not list and type(X) is not np.ndarray and not is_csr(X)):
            return None
        shape = (len(X),) if type(X) is list else X.shape
        if type(shape) is not tuple or not shape or type(shape[0]) is not int or not 0 < shape[0] <= FEW:
            return None
        dtype = self.values.dtype
        rows = converted(X, dtype)
        return rows if rows is not None and 0 < rows.n_rows <= FEW and rows.n_features == self.n_features else None

    # --- overridden by each geometry --------------------------------------------------------------------------------------------

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        """Do context.task with the rows of a batch: learn them, or compute scores (`DECISION`) or deviations (`DEVIATION`).

        Each model chooses its loop by the types of the values and of the rows' indices (visit.pxi).
        """
        raise NotImplementedError

    # --- reading: never a write ------------------------------------------------------------------------------------------------

    def try_decision(self, X, feature_names=None):
        """Return the scores of a small call, (rows, vectors), or None for a call that needs the general path.

        feature_names : of the estimator, or None.
        """
        cdef Py_ssize_t size, k = self.n_columns
        cdef Rows rows = self.few(X, feature_names)
        if rows is None:
            return None
        scores = np.empty(rows.n_rows * k)
        self.read(DECISION, rows, <double*>start_of(scores, 8, &size), k)
        return scores.reshape(rows.n_rows, k)

    def decision(self, Rows rows, double[:, ::1] scores):
        """Fill in scores[i, c] = w_c.x_i of the model, or of its average if there is one."""
        if scores.shape[0]:
            self.read(DECISION, rows, &scores[0, 0], scores.shape[1])

    cdef int read(self, Task task, Rows rows, double* found, Py_ssize_t n_found) except -1:
        """Fill in the task's results for one row or more: n_found numbers a row."""
        cdef Batch b
        cdef PassContext context
        cdef Py_ssize_t i, size = 0
        counters, correction, indptr = self.counters, self.correction, rows.indptr  # (local references keep addresses valid)
        self.bind()
        b.n = b.n_rows = rows.n_rows
        b.order, b.indptr = NULL, <const int64_t*>start_of(indptr, 8, &size)
        context.task, context.found, context.n_found, context.budget = task, found, n_found, QUANTUM
        context.published = <Counters*>start_of(counters, 8, &size)
        context.counters, context.correction = context.published[0], <double*>address(correction, FLOAT64)
        context.constant = self.n_features
        self.lay_out(&context.layout, n_found)
        open_scale(&context, &self.p)
        self.visit(rows, &b, &context)
        if task == DECISION and self.p.level:
            for i in range(b.n * n_found):
                found[i] += context.counters.level + context.counters.level_rest
        return 0
