"""The compiled base of all models: what a pass reads and changes, how it begins, and small calls of one or a few rows.

A geometry's model extends `Model` by `run`, its training loops, and `decide`, its scores.
"""
from cython cimport critical_section
from libc.stdint cimport int32_t, int64_t, uint32_t

import numpy as np

from .few_rows cimport FewRows, is_array, read_few
from .lock cimport Lock
from .rounds cimport (
    BINARY, CRAMMER_SINGER, ONE_CLASS, OVR, QUANTUM, REGRESSION, Batch, PassContext, Calibration, Counters, Task, open_records,
)
from .small_calls cimport FEW, are_finite, are_weights, is_aligned, match_list, match_numbers, match_texts

from .._rules import Geometry, Rule, Trigger

RULES = {rule.name.lower(): int(rule) for rule in Rule}
TRIGGERS = {trigger.name.lower(): int(trigger) for trigger in Trigger}
GEOMETRIES = {geometry.name.lower(): int(geometry) for geometry in Geometry}
TASKS = {"binary": BINARY, "crammer_singer": CRAMMER_SINGER, "ovr": OVR, "regression": REGRESSION, "one_class": ONE_CLASS}

#: The places of a model's counters, by their names in Python.
COUNTERS = {"t": 0, "mistakes": 1, "updates": 2, "skipped": 3, "seen": 4, "loss": 5, "reach": 6, "curvature": 7, "squared": 8,
            "absolute": 9, "growth": 10}
N_COUNTERS = sizeof(Counters) // sizeof(double)

#: The columns of `Model.record`: see Record of rounds.pxd.
RECORD = ("scores", "squares", "updates", "chi", "spread", "peeked", "forgotten", "sigma")

INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)


def best_of(const double[:, ::1] scores):
    """The number of each row's class: of one vector of weights by the score's sign, else the first of the highest."""
    cdef Py_ssize_t i, c, best, k = scores.shape[1]
    cdef int64_t[::1] found
    codes = np.empty(scores.shape[0], INT64)
    found = codes
    with nogil:
        for i in range(scores.shape[0]):
            best = k == 1 and scores[i, 0] > 0.0
            for c in range(1, k):
                if scores[i, c] > scores[i, best]:
                    best = c
            found[i] = best
    return codes


cdef inline const double* doubles(const double[::1] numbers) noexcept:
    """The numbers; NULL where there are none."""
    return &numbers[0] if numbers.shape[0] else NULL


cdef class Model:
    """What learning changes, as the training loops see it. A state (_models/state.py) extends it by how it starts and grows.

    values : flat array, a run of (first slots, second slots) of all vectors for each feature, the constant feature last.
    sigma : full covariances, (vectors, n_features + 1, n_features + 1); or empty. correction : see average.pxd, or empty.
    counts : rows seen of each class. counters : counters. params : the parameters that it is learnt with, fields of `Params`.
    """

    cdef int bind(self) except -1:
        """The parameters as the loops read them: converted when they have changed."""
        if self.bound is not self.params:
            with critical_section(self):        # several threads may read at once
                self.p = self.params
                self.bound = self.params

    def learn(self, Task task, rows, targets, const double[::1] weights, const double[::1] class_weights,
              const int64_t[::1] order, int32_t[::1] predictions):
        """One pass over rows: the one way in which a model changes.

        targets : numbers of classes (int32), or numbers (float64). weights, class_weights : a row's weight is the product of
        both, either may be empty. order : row numbers, or empty for storage order. predictions : empty, or for the class that
        predict would have named just before each row of weight > 0 was learnt.
        """
        cdef Batch b
        cdef PassContext context
        cdef const int64_t[::1] indptr = rows.indptr
        cdef const int32_t[::1] labels
        cdef const double[::1] numbers
        cdef double[::1] counters = self.counters
        self.bind()
        self.enter(&b, &context, self.counts, counters, self.correction)
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

    cdef int enter(self, Batch* b, PassContext* context, double[::1] counts, double[::1] counters,
                   double[::1] correction) except -1:
        """Begin a pass: a batch without labels and weights, and a context that continues the model's counters."""
        b.labels, b.targets, b.weights, b.class_weights, b.order, b.predictions = NULL, NULL, NULL, NULL, NULL, NULL
        context.counters = (<Counters*>&counters[0])[0]
        context.counts, context.n_classes = &counts[0], counts.shape[0]
        context.columns = context.n_classes if context.n_classes > 2 else 1
        context.correction = &correction[0] if correction.shape[0] else NULL
        self.open_platt(context)
        open_records(context, self.record, self.records_from)
        context.open_classes, context.balanced, context.average_from = self.p.open_classes, self.p.balanced, self.p.average_from
        context.budget = QUANTUM
        return 0

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

    # --- small calls: the same pass, with every check in C ----------------------------------------------------------------------

    def enable_fast_path(self, dict estimator, names, Task task, classes=None):
        """Enable the fast path while the estimator's parameters of these names stay these objects; None disables it.

        classes : the estimator's classes.
        """
        cdef Call call = Call()
        call.others = tuple([part for part in self.parts().values() if isinstance(part, np.ndarray) and part.size and not any(
            [part is one for one in (self.values, self.counts, self.counters, self.correction)])])
        if names is None:
            self.call = None
            return
        call.names, call.values = tuple(names), tuple([estimator[name] for name in names])
        call.classes, call.labels = classes, None if classes is None else classes.tolist()
        if classes is not None and classes.dtype.kind == "U":
            call.classes = classes.view(np.uint32).reshape(len(classes), -1)
        call.task, call.parameters = task, self.params
        call.n_features = estimator["n_features_in_"]
        self.call = call

    def try_partial_fit(self, dict estimator, X, y, sample_weight):
        """Learn a small call and return True; return False, with nothing written, for a call that needs the long way."""
        cdef Call call = self.call
        cdef Lock lock
        cdef Py_ssize_t i
        if call is None or self.params is not call.parameters:
            return False
        for i in range(len(call.names)):
            if estimator.get(call.names[i]) is not call.values[i]:
                return False
        lock = estimator.get("_lock")
        if lock is None or "_sparse_coef" in estimator:
            return False
        for i in range(len(call.others)):
            if not call.others[i].flags.writeable:
                return False
        if not lock.take():
            return False
        try:
            self.bind()                 # (a copy may have had a call without rows only)
            return self.learn_few(X, y, sample_weight)
        finally:
            lock.held = 0

    cdef bint learn_few(self, X, y, sample_weight) except -1:
        """X as rows, and the pass."""
        cdef int64_t[FEW + 1] indptr
        cdef FewRows rows = read_few(X, self.values, self.call.n_features, indptr)
        cdef Batch b
        if rows is None:
            return False
        b.indptr, b.n = indptr, rows.n
        return self.learn_checked(rows, &b, y, sample_weight)

    cdef bint learn_checked(self, FewRows rows, Batch* b, y, sample_weight) except -1:
        """Labels and weights, and the pass."""
        cdef int32_t[FEW] labels
        cdef const double[::1] targets, weights
        cdef const int64_t* indptr = b.indptr
        cdef Py_ssize_t n = b.n
        cdef PassContext context
        cdef double[::1] counters, counts, correction
        try:
            counters, counts, correction = self.counters, self.counts, self.correction
            if not self.values.flags.writeable:
                return False
            if sample_weight is not None:
                if not is_array(sample_weight, FLOAT64):
                    return False
                weights = sample_weight
            if self.call.task == REGRESSION:
                if not is_array(y, FLOAT64) or len(y) != n:
                    return False
                targets = y
            elif not self.match(y, n, labels):
                return False
        except ValueError:              # strided, or read-only where the model is
            return False
        if sample_weight is not None and not are_weights(weights, n):
            return False
        if self.call.task == REGRESSION and not (is_aligned(&targets[0], 8) and are_finite(targets, n)):
            return False
        self.enter(b, &context, counts, counters, correction)
        b.n = b.n_rows = n
        b.indptr, b.labels = indptr, labels
        if self.call.task == REGRESSION:
            b.targets, b.labels = &targets[0], NULL
        if sample_weight is not None:
            b.weights = &weights[0]
        try:
            self.run(self.call.task, rows, b, &context)
        finally:
            (<Counters*>&counters[0])[0] = context.counters
        return True

    cdef bint match(self, y, Py_ssize_t n, int32_t* labels) except -1:
        """The labels' places among the classes."""
        cdef const int64_t[::1] numbers, number_classes
        cdef const double[::1] reals, real_classes
        cdef const uint32_t[:, ::1] texts, text_classes
        if type(y) is list:
            return len(<list>y) == n and match_list(<list>y, self.call.labels, labels)
        if type(y) is not np.ndarray or y.ndim != 1 or len(y) != n:
            return False
        if y.dtype.kind == "U" and self.call.classes.ndim == 2 and y.flags.c_contiguous and y.dtype.isnative and y.dtype.itemsize:
            texts, text_classes = y.view(np.uint32).reshape(n, -1), self.call.classes
            return match_texts(texts, text_classes, labels)
        if y.dtype is INT64 and self.call.classes.dtype is INT64:
            numbers, number_classes = y, self.call.classes
            return match_numbers(numbers, number_classes, labels)
        if y.dtype is FLOAT64 and self.call.classes.dtype is FLOAT64:
            reals, real_classes = y, self.call.classes
            return match_numbers(reals, real_classes, labels)
        return False

    # --- what a geometry overrides ----------------------------------------------------------------------------------------------

    cdef int run(self, Task task, rows, const Batch* b, PassContext* context) except -1:
        """Learn the rows of a batch."""
        raise NotImplementedError

    cdef int decide(self, rows, const Batch* b, double* scores, Py_ssize_t k) except -1:
        """Fill in the scores of the rows of a batch, k a row."""
        raise NotImplementedError

    # --- reading: never a write ------------------------------------------------------------------------------------------------

    def try_decision(self, dict estimator, X):
        """Return the scores of a small call, (rows, vectors), or None for a call that needs the long way."""
        cdef int64_t[FEW + 1] indptr
        cdef FewRows rows
        cdef double[:, ::1] scores
        if "feature_names_in_" in estimator:
            return None
        rows = read_few(X, self.values, self.n_features, indptr)
        if rows is None:
            return None
        found = np.empty((rows.n, self.n_columns))
        scores = found
        self.decide_rows(rows, indptr, scores)
        return found

    def decision(self, rows, double[:, ::1] scores):
        """scores[i, c] = w_c.x_i of the model, or of its average where it has one."""
        cdef const int64_t[::1] indptr = rows.indptr
        self.decide_rows(rows, &indptr[0], scores)

    cdef int decide_rows(self, rows, const int64_t* indptr, double[:, ::1] scores) except -1:
        cdef Batch b
        b.n = b.n_rows = scores.shape[0]
        b.order, b.indptr = NULL, indptr
        self.bind()
        if b.n:
            self.decide(rows, &b, &scores[0, 0], scores.shape[1])
        return 0
