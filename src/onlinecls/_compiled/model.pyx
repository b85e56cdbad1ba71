"""The compiled base of all models: the arrays that a pass reads and changes, its start, and small calls of one or a few rows.

A geometry's model extends `Model` by `visit`, its training loops and its scores.
"""
from cython cimport critical_section
from libc.math cimport exp, log, log1p
from libc.stdint cimport int32_t, int64_t, uint32_t
from libc.string cimport memcmp, memcpy

import numpy as np

from .few_rows cimport FewRows, numbers_of, read_few, table_of
from .lock cimport Lock
from .rounds cimport (
    BINARY, CRAMMER_SINGER, DECISION, HELD_LEVEL, ONE_CLASS, OVR, QUANTUM, REGRESSION, RUNNING_LEVEL, Batch, Calibration,
    SCALE_ROWS, Counters, PassContext, Task, measure_row, open_scale, publish_scale, row_at,
)
from .small_calls cimport FEW, are_finite, are_weights, match_list, match_numbers, match_texts, start_of

from .._rules import Costs, Geometry, Rule, Trigger

RULES = {rule.name.lower(): int(rule) for rule in Rule}
TRIGGERS = {trigger.name.lower(): int(trigger) for trigger in Trigger}
COSTS = {costs.name.lower(): int(costs) for costs in Costs}
GEOMETRIES = {geometry.name.lower(): int(geometry) for geometry in Geometry}
TASKS = {"binary": BINARY, "crammer_singer": CRAMMER_SINGER, "ovr": OVR, "regression": REGRESSION,
         "one_class": ONE_CLASS}

#: The places of a model's counters, by their names in Python.
COUNTERS = {"t": 0, "mistakes": 1, "updates": 2, "skipped": 3, "seen": 4, "loss": 5, "max_abs_weight": 6, "curvature": 7,
            "squared": 8, "absolute": 9, "growth": 10, "level": 11, "level_rest": 12, "mass": 13, "scale": 14, "bias": 15,
            "measured": 16, "exponents": 17, "mantissas": 18, "lengths": 19}
N_COUNTERS = sizeof(Counters) // sizeof(double)
TOLD = SCALE_ROWS  # of the counter "measured": no row moves the scale

INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)
NUMBERS = frozenset((float, int, np.float64, np.float32, np.int64))             # types of targets in a list
PLAIN = frozenset((int, float, bool, str, np.int64, np.float64, np.str_))       # types of labels that cannot change


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


def widen(const unsigned char[::1] old, unsigned char[::1] new, Py_ssize_t used, const unsigned char[:, ::1] fresh):
    """Copy the first `used` bytes of each run of `old` to the same run of `new`, which is longer and all zeros.

    fresh : a run of `new` for each slot of a new feature. If that is all zeros, features that are zeros in `old` are left out:
    untouched memory takes neither time nor room.
    """
    cdef Py_ssize_t slot, j, at, n_slots = fresh.shape[0], long = fresh.shape[1], n = new.shape[0] // (n_slots * long)
    cdef Py_ssize_t short = old.shape[0] // (n_slots * n)
    cdef const unsigned char[::1] zeros = bytes(n_slots * short)
    cdef bint begins_with_zeros = not np.any(fresh)
    if used > short or short > long:
        raise ValueError("widen: runs must grow")
    with nogil:
        for j in range(n):
            if begins_with_zeros and memcmp(&old[j * n_slots * short], &zeros[0], n_slots * short) == 0:
                continue
            for slot in range(n_slots):
                at = j * n_slots + slot
                memcpy(&new[at * long], &fresh[slot, 0], long)
                memcpy(&new[at * long], &old[at * short], used)


cdef inline double log_sigmoid(double z) noexcept nogil:
    """Return log(1 / (1 + e^-z)) of a number made finite."""
    z = 0.0 if z != z else 1e300 if z > 1e300 else -1e300 if z < -1e300 else z
    return -log1p(exp(-z)) if z > 0.0 else z - log1p(exp(z))


def log_sigmoids(const double[:, ::1] scores, const double[:, ::1] pairs):
    """Return log(1 / (1 + e^-z)), z = a score + b, for each class: the numbers (a, b) of its vector of weights are in `pairs`.

    If there is one vector only, the first of the two classes has -z for z.
    """
    cdef Py_ssize_t i, c, k = scores.shape[1]
    cdef double z
    cdef double[:, ::1] found
    if pairs.shape[0] != k or pairs.shape[1] < 2:
        raise RuntimeError("onlinecls: the model must stay the same while rows are read, got one fitted in another thread.")
    result = np.empty((scores.shape[0], max(k, 2)))
    found = result
    with nogil:
        for i in range(scores.shape[0]):
            for c in range(k):
                z = pairs[c, 0] * scores[i, c] + pairs[c, 1]
                if k == 1:
                    found[i, 0] = log_sigmoid(-z)
                found[i, 1 if k == 1 else c] = log_sigmoid(z)
    return result


def normalise(double[:, ::1] logs):
    """Shift the logarithms in place, so that the numbers of each row sum to 1."""
    cdef Py_ssize_t i, c
    cdef double largest, total
    with nogil:
        for i in range(logs.shape[0]):
            largest, total = logs[i, 0], 0.0
            for c in range(1, logs.shape[1]):
                largest = max(largest, logs[i, c])
            for c in range(logs.shape[1]):
                total += exp(logs[i, c] - largest)
            total = log(total)
            for c in range(logs.shape[1]):
                logs[i, c] = logs[i, c] - largest - total


def exponentials(double[:, ::1] logs):
    """Compute e^x of each number in place."""
    cdef Py_ssize_t i, c
    with nogil:
        for i in range(logs.shape[0]):
            for c in range(logs.shape[1]):
                logs[i, c] = exp(logs[i, c])


cdef class Call:
    """The preconditions of the fast path for small calls of `partial_fit`."""

    cdef bint match(self, y, Py_ssize_t n, int32_t* labels) except -1:
        """Find the places of n labels among the classes; return False if y is anything else."""
        cdef const void* found
        cdef const void* classes
        cdef Py_ssize_t size, n_classes, width
        if type(y) is list:
            return len(<list>y) == n and match_list(<list>y, self.labels, labels)
        if type(y) is not np.ndarray:
            return False
        classes = start_of(self.classes, 1, &n_classes)
        dtype = y.dtype
        if dtype is INT64 and self.classes.dtype is INT64:
            found = start_of(y, 8, &size)
            return found != NULL and size == n and match_numbers(<const int64_t*>found, n, <const int64_t*>classes, n_classes,
                                                                 labels)
        if dtype is FLOAT64 and self.classes.dtype is FLOAT64:
            found = start_of(y, 8, &size)
            return found != NULL and size == n and match_numbers(<const double*>found, n, <const double*>classes, n_classes,
                                                                 labels)
        width = dtype.itemsize // 4
        if self.width == 0 or dtype.kind != "U" or not dtype.isnative or width == 0:
            return False
        found = start_of(y, 4, &size)
        return found != NULL and size == n and match_texts(<const uint32_t*>found, n, width, <const uint32_t*>classes,
                                                           n_classes // self.width, self.width, labels)


cdef bint is_the_same(given, known) except -1:
    """Return True for a list, tuple or array with the same labels as `known`, a copy of one (see `enable_fast_path`)."""
    if type(given) is not type(known):
        return False
    if type(given) is np.ndarray:
        return given.dtype == known.dtype and given.shape == known.shape and given.tobytes() == known.tobytes()
    return len(given) == len(known) and all([type(a) is type(b) and a == b for a, b in zip(given, known)])


cdef inline const double* doubles(const double[::1] numbers) noexcept:
    """Return the address of the numbers; NULL where there are none."""
    return &numbers[0] if numbers.shape[0] else NULL


cdef void add_to_all(double* numbers, double term, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        numbers[i] += term


cdef class Model:
    """The arrays that learning changes, as the training loops see them. A state (_models/state.py) starts and grows them.

    values : flat array, a run of (first slots, second slots) of all vectors for each feature, the constant feature last.
    sigma : full covariances, (vectors, n_features + 1, n_features + 1); or empty. correction : see rounds.pxd, or empty.
    counts : rows seen of each class. counters : counters. params : the parameters of the pass, fields of `Params`.
    places : int64, the place of each class's vector among the `room` that a feature has in `values` and `correction`; None: they
    lie in the order of the classes, and there is no room for more.
    columns : the estimator's feature_names_in_ and the columns of a data frame found to equal them; or None.
    sparse_coef : the weights as a CSR matrix, from `sparsify` to the next row; or None.
    """

    cdef int bind(self) except -1:
        """Convert the parameters to the C struct that the loops read, if they have changed."""
        if self.bound is not self.params:
            params = self.params
            given = dict(zip(params._fields, params))   # (without a call of Python, in which a signal might be raised)
            with critical_section(self):        # several threads may read at once (and the learning one may replace them)
                self.p = given
                self.bound = params

    def learn(self, Task task, rows, targets, const double[::1] weights, const double[::1] class_weights,
              const int64_t[::1] order, int32_t[::1] predictions):
        """Learn one pass over rows: the one way in which a model changes.

        targets : numbers of classes (int32), or numbers (float64).
        weights, class_weights : a row's weight is the product of both, either may be empty. order : row numbers, or empty for
        storage order. predictions : empty, or filled with the class predicted just before each row of weight > 0 is learnt.
        """
        cdef Batch b
        cdef PassContext context
        cdef const int64_t[::1] indptr = rows.indptr
        cdef const int32_t[::1] labels
        cdef const double[::1] numbers
        cdef double[::1] counters = self.counters, counts = self.counts, correction = self.correction
        self.bind()
        self.enter(&b, &context, &counts[0], counts.shape[0], &counters[0], <double*>doubles(correction))
        b.n_rows = indptr.shape[0] - 1
        b.n = order.shape[0] if order.shape[0] else b.n_rows
        b.indptr, b.order = &indptr[0], &order[0] if order.shape[0] else NULL
        b.weights, b.class_weights = doubles(weights), doubles(class_weights)
        b.predictions = &predictions[0] if predictions.shape[0] else NULL
        if task == REGRESSION:
            numbers = targets
            b.targets = doubles(numbers)
        elif task != ONE_CLASS:
            labels = targets
            b.labels = &labels[0] if labels.shape[0] else NULL
        try:
            self.run(task, rows, &b, &context)
        finally:
            (<Counters*>&counters[0])[0] = context.counters

    cdef int enter(self, Batch* b, PassContext* context, double* counts, Py_ssize_t n_classes, double* counters,
                   double* correction) except -1:
        """Begin a pass: a batch without labels and weights, and a context that continues the model's counters."""
        b.labels, b.targets, b.weights, b.class_weights, b.order, b.predictions = NULL, NULL, NULL, NULL, NULL, NULL
        context.counters, context.published = (<Counters*>counters)[0], <Counters*>counters
        context.counts, context.n_classes = counts, n_classes
        context.columns = context.n_classes if context.n_classes > 2 else 1
        self.lay_out(&context.layout, context.columns)
        context.correction = correction
        if correction != NULL:
            context.constant, context.rounds_to_read = self.n_features, counters
        self.open_platt(context)
        context.has_observers, context.scores_out = context.platt != NULL, NULL
        context.open_classes, context.balanced, context.average_from = self.p.open_classes, self.p.balanced, self.p.average_from
        context.costs, context.margin = self.p.costs, self.p.margin
        context.budget, context.next = QUANTUM, 0
        open_scale(context, &self.p)
        publish_scale(context)
        context.level, context.memory = 0, 1.0 - self.p.forgetting
        if self.p.level:
            context.level = HELD_LEVEL if self.holds_level else RUNNING_LEVEL
        return 0

    cdef int lay_out(self, Layout* layout, Py_ssize_t n) except -1:
        """Say where the n vectors lie."""
        cdef const int64_t[::1] places
        layout.n, layout.room, layout.places = n, n, NULL
        if self.places is not None:
            places = self.places
            layout.room, layout.places = self.room, &places[0]
        return 0

    cdef double level_now(self) except *:
        """Return the level of the targets, which predictions include; 0 if the learner has none."""
        cdef Py_ssize_t size = 0
        counters = self.counters            # (a local reference keeps the address valid)
        cdef const Counters* found = <const Counters*>start_of(counters, 8, &size)
        return found.level + found.level_rest if self.p.level and found != NULL else 0.0

    @property
    def level(self):
        """The level of the targets, which predictions include; 0 if the learner has none."""
        self.bind()
        return self.level_now()

    cdef int open_platt(self, PassContext* context) except -1:
        """Let the pass update Platt's numbers, if there are any and the rows are new."""
        cdef double[:, ::1] calibration
        context.platt = NULL
        if self.calibration is not None and len(self.calibration) and not self.are_seen:
            calibration = self.calibration
            if calibration.shape[1] * sizeof(double) != sizeof(Calibration):
                raise ValueError("onlinecls: a pickled model must be of this version, got one of another. Use save and load.")
            context.platt = <Calibration*>&calibration[0, 0]
        return 0

    def tell_scale(self, rows, const int64_t[::1] numbers):
        """Let rows of these numbers tell the scale before any of them is learnt."""
        cdef Batch b
        cdef PassContext context
        cdef const int64_t[::1] indptr = rows.indptr
        cdef double[::1] counters = self.counters
        cdef const float[::1] floats
        cdef const double[::1] doubles
        cdef Py_ssize_t i
        self.bind()
        b.n = b.n_rows = indptr.shape[0] - 1
        b.order, b.indptr = NULL, &indptr[0]
        context.counters, context.published = (<Counters*>&counters[0])[0], <Counters*>&counters[0]
        open_scale(&context, &self.p)
        publish_scale(&context)
        if self.values.itemsize == 4:
            floats = rows.data
        else:
            doubles = rows.data
        for i in range(numbers.shape[0]):
            if context.published.measured < SCALE_ROWS and self.values.itemsize == 4:
                measure_row(floats, row_at(&b, numbers[i]), context.published, self.p.scale, self.p.constant)
            elif context.published.measured < SCALE_ROWS:
                measure_row(doubles, row_at(&b, numbers[i]), context.published, self.p.scale, self.p.constant)

    # --- small calls: the same pass, with every check in C ----------------------------------------------------------------------

    def disable_fast_path(self):
        """Let all calls take the general path."""
        self.call = None

    def enable_fast_path(self, dict same, Lock lock, Task task, feature_names, classes, named):
        """Enable the fast path while these attributes of the estimator, its parameters among them, stay the same objects.

        lock : around the model. feature_names : of the estimator, or None. classes : the labels. named : a `classes` argument
        that has just been found to equal them; or None.
        """
        cdef Call call = Call()
        call.others = tuple([part for part in self.parts().values() if isinstance(part, np.ndarray) and part.size and not any(
            [part is one for one in (self.values, self.counts, self.counters, self.correction)])])
        call.names, call.values, call.lock, call.feature_names = tuple(same), tuple(same.values()), lock, feature_names
        call.classes, call.labels, call.width = classes, None if classes is None else classes.tolist(), 0
        if classes is not None and classes.dtype.kind == "U":
            call.classes, call.width = np.ascontiguousarray(classes).view(np.uint32), classes.dtype.itemsize // 4
        call.named = None               # (labels that may change have no copy)
        if type(named) is np.ndarray and named.dtype.kind in "biufU":
            call.named = named.copy()
        elif type(named) in (list, tuple) and all([type(label) in PLAIN for label in named]):
            call.named = named[:]
        call.task, call.parameters = task, self.params
        call.n_features, call.dtype = self.n_features, self.values.dtype
        self.call = call

    def try_partial_fit(self, dict attributes, X, y, sample_weight, classes=None):
        """Learn a small call and return 1 + the number of rows skipped; return 0, with nothing written, for a call that needs the
        general path.

        attributes : the estimator's, those among them that must have stayed the same.
        """
        cdef Call call = self.call
        cdef Py_ssize_t i
        if call is None or self.params is not call.parameters:
            return 0
        for i in range(len(call.names)):
            if attributes.get(call.names[i]) is not call.values[i]:
                return 0
        if classes is not None and not is_the_same(classes, call.named):
            return 0
        for i in range(len(call.others)):
            if not call.others[i].flags.writeable:
                return 0
        if not call.lock.try_learn():
            return 0
        try:
            self.bind()                 # (a copy may have learnt no row yet)
            return self.learn_few(X if call.feature_names is None else self.table(call.feature_names, X), y, sample_weight)
        finally:
            call.lock.end_learning()

    cdef table(self, feature_names, X):
        """Return a data frame with the known columns as an array; None for anything else."""
        known = self.columns
        if known is None or known[0] is not feature_names:
            return None
        return table_of(X, known[1], self.values.dtype)

    cdef Py_ssize_t learn_few(self, X, y, sample_weight) except -1:
        """Check X, the labels and the weights in C, and learn them; return 1 + the number of rows skipped, or 0, with nothing
        written, if one check fails."""
        cdef int64_t[FEW + 1] indptr
        cdef int32_t[FEW] labels
        cdef Call call = self.call
        cdef Batch b
        cdef PassContext context
        cdef double skipped
        cdef Py_ssize_t n, n_classes = 0, n_weights = 0, size = 0
        cdef FewRows rows = read_few(X, call.dtype, call.n_features, indptr)
        if rows is None:
            return 0
        n = rows.n
        # (Local references keep their addresses valid; they may be read-only, from a memory-mapped file.)
        values, counts, counters, correction = self.values, self.counts, self.counters, self.correction
        cdef double* start_of_counts = <double*>start_of(counts, 8, &n_classes, True)
        cdef double* start_of_counters = <double*>start_of(counters, 8, &size, True)
        cdef double* start_of_correction = <double*>start_of(correction, 8, &size, True)
        cdef const double* weights = NULL
        cdef const double* targets = NULL
        if start_of_counts == NULL or start_of_counters == NULL or start_of_correction == NULL:
            return 0
        if size == 0:
            start_of_correction = NULL
        if start_of(values, 1, &size, True) == NULL:
            return 0
        if sample_weight is not None:
            weights = <const double*>numbers_of(sample_weight, FLOAT64, 8, &n_weights)
            if weights == NULL or n_weights != n or not are_weights(weights, n):
                return 0
        if call.task == REGRESSION:
            if type(y) is list and all([type(target) in NUMBERS for target in y]):
                try:
                    y = np.array(y, FLOAT64)
                except OverflowError:
                    return 0
            targets = <const double*>numbers_of(y, FLOAT64, 8, &size)
            if targets == NULL or size != n or not are_finite(targets, n):
                return 0
        elif not call.match(y, n, labels):
            return 0
        self.enter(&b, &context, start_of_counts, n_classes, start_of_counters, start_of_correction)
        b.n = b.n_rows = n
        b.indptr, b.weights, b.targets, b.labels = indptr, weights, targets, labels if targets == NULL else NULL
        self.sparse_coef = None
        skipped = context.counters.skipped
        try:
            self.run(call.task, rows, &b, &context)
        finally:
            (<Counters*>start_of_counters)[0] = context.counters
        return 1 + <Py_ssize_t>(context.counters.skipped - skipped)

    # --- overridden by each geometry --------------------------------------------------------------------------------------------

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        """Do context.task with the rows of a batch: learn them, or compute scores (`DECISION`) or deviations (`DEVIATION`).

        Each model chooses its loop by the types of the values and of the rows' indices (visit.pxi).
        """
        raise NotImplementedError

    cdef int run(self, Task task, rows, const Batch* b, PassContext* context) except -1:
        """Learn the rows of a batch."""
        context.task = task
        return self.visit(rows, b, context)

    # --- reading: never a write ------------------------------------------------------------------------------------------------

    def try_decision(self, X, feature_names=None):
        """Return the scores of a small call, (rows, vectors), or None for a call that needs the general path.

        feature_names : of the estimator, or None.
        """
        cdef int64_t[FEW + 1] indptr
        cdef FewRows rows
        cdef Py_ssize_t size, k = self.n_columns
        X = X if feature_names is None else self.table(feature_names, X)
        rows = read_few(X, self.values.dtype, self.n_features, indptr)
        if rows is None:
            return None
        scores = np.empty(rows.n * k)
        self.read(DECISION, rows, indptr, rows.n, <double*>start_of(scores, 8, &size), k)
        return scores.reshape(rows.n, k)

    def decision(self, rows, double[:, ::1] scores):
        """Fill in scores[i, c] = w_c.x_i of the model, or of its average if there is one."""
        cdef const int64_t[::1] indptr = rows.indptr
        if scores.shape[0]:
            self.read(DECISION, rows, &indptr[0], scores.shape[0], &scores[0, 0], scores.shape[1])

    cdef int open_reading(self, PassContext* context, Task task, double* found, Py_ssize_t n_found) except -1:
        """Prepare a context that only reads: n_found numbers a row, with the scale that readers find."""
        cdef Py_ssize_t size = 0
        counters = self.counters            # (a local reference keeps the address valid)
        self.bind()
        context.task, context.found, context.n_found, context.budget = task, found, n_found, QUANTUM
        context.counters = (<const Counters*>start_of(counters, 8, &size))[0]
        open_scale(context, &self.p)
        return 0

    cdef int read(self, Task task, rows, const int64_t* indptr, Py_ssize_t n, double* found, Py_ssize_t n_found) except -1:
        """Fill in the task's results for n >= 1 rows: n_found numbers a row."""
        cdef Batch b
        cdef PassContext context
        b.n = b.n_rows = n
        b.order, b.indptr = NULL, indptr
        self.open_reading(&context, task, found, n_found)
        self.visit(rows, &b, &context)
        if task == DECISION and self.p.level:
            add_to_all(found, self.level_now(), n * n_found)
        return 0
