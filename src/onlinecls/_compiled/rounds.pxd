"""Bookkeeping shared by all training loops: which row is next, its weight, counters, what predict would have said, signals.

A training loop calls `next_round` for each row, scores it, calls `judge`, takes its steps and closes with the counters of updates
and skipped rows. The counters live in a struct on the loop's stack, so that they stay in registers; `Books` is copied from
the model's arrays when a pass begins and back when it ends, however it ends.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t

from .._rules cimport DUAL, FORGETTING, FULL_GAUSSIAN, FULL_POTENTIAL, GAUSSIAN, MIRROR, POTENTIAL, Params, Stats, Step
from .sparse cimport Row

cdef extern from *:
    bint unlikely(bint) noexcept nogil      # Cython's hint to the compiler: what follows shall cost the others nothing

cdef extern from "_compiled/calibration.h":
    ctypedef struct Calibration "onlinecls_calibration":    # Platt's numbers of one vector of weights, and what they rest on
        double level
    void learn_pair "onlinecls_calibrate"(Calibration* pair, double score, double sign, double c, double n) noexcept nogil
    void see_again "onlinecls_see_again"(Calibration* pair, double c, double n) noexcept nogil

cdef enum:
    QUANTUM = 1 << 21       # non-zeros of work between two checks of pending signals: well under 50 ms


cdef enum Task:
    BINARY                  # one vector of weights, label 1 on its positive side
    CRAMMER_SINGER          # a vector for each class, the true one against the best wrong one
    OVR                     # a vector for each class, independent binary learners
    REGRESSION              # one vector, whose scores are to be the targets
    ONE_CLASS               # no targets: the centre of a ball around the rows


ctypedef struct Tally:      # a model's counters, in the order of its array `tally`
    double rounds           # rows of weight > 0
    double mistakes         # of them, those that predict would have got wrong just before the update
    double updates          # of them, those that changed the model
    double skipped          # of them, those whose update would have left the range of the dtype
    double seen             # classes that have had a row
    double loss             # sum of weighted losses before the update: what the margin lacks
    double reach            # no |w_i| (θ_i, z_i) is larger than this
    double curvature        # no G_i is larger than this
    double squared          # regression: sum of the squared errors of predict, asked just before the update
    double absolute         # and of the absolute ones
    double growth           # forgetting: s, see Params; 0 before the first row


ctypedef struct Record:     # what a row has left, for certificates; but for the first three of rows that changed the model
    double score            # w.x before it
    double q                # ||x||², where the geometry has it; of others 0
    double updates          # the counter before it
    double v                # x'Σx before it
    double spread           # a diagonal Σ of a potential: x'Σx after it, Σ'
    double peeked           # x'Σ'θ, θ from before it
    double forgotten        # θ'(Σ' - Σ)θ
    double sigma            # dual ascent: σ of the round (of each)


ctypedef struct Books:      # what a pass counts in
    Tally tally
    double* counts          # rows seen of each class
    Py_ssize_t n_classes
    Py_ssize_t columns      # vectors of weights: one for two classes, else one a class
    double* drift           # see average.pxd; NULL: no average
    Calibration* pairs      # Platt's numbers of each vector; NULL: none
    bint are_seen           # the rows have been met before
    double* total           # the sum of the rows, see mean_row.pxd; NULL: it is not kept
    double* met             # the sum of their weights
    bint is_watched         # an average or the mean row's score follows the weights
    Record* records         # room for those of so many rounds, the first after `records_from`; NULL: none are kept
    Py_ssize_t n_records
    double records_from
    Record* record          # of the present row; NULL: none is kept
    bint is_heard           # somebody asks for the scores: a calibration or a record
    Py_ssize_t budget       # work left before the next check of signals
    int open_classes        # labels join as they appear
    int balanced            # class_weight="balanced" from running counts
    int average_from        # rounds before the average starts


ctypedef struct Batch:      # the rows of one call, beside their features
    Py_ssize_t n            # rounds
    Py_ssize_t n_rows       # rows there are
    const int64_t* indptr
    const int64_t* order    # numbers of rows; NULL: storage order
    const int32_t* labels   # numbers of classes, by number of row; NULL: none
    const double* targets   # of regression; NULL: none
    const double* weights   # NULL: all 1
    const double* class_weights     # NULL: all 1
    int32_t* predictions    # what predict would have said, by number of row; NULL: not asked for


ctypedef struct Round:
    Row row
    Py_ssize_t at           # the row's number
    Py_ssize_t label        # its class; 0 where there are none
    double weight           # c
    bint newcomer           # its label has just joined: predict could not have said it


cdef inline Py_ssize_t check_signals(Py_ssize_t budget, Py_ssize_t work) except -1 nogil:
    """Let Ctrl-C through, between two rows, every QUANTUM of work. Returns the budget that is left."""
    budget -= work
    if budget < 0:
        with gil:
            PyErr_CheckSignals()
        budget = QUANTUM
    return budget


cdef enum:
    AHEAD = 80              # non-zeros between the prefetch of a feature's state and its use, at least: a row's own number
    FAR_AHEAD = 128         # and at most: beyond, what was fetched may be gone again


cdef inline Row row_at(const Batch* b, Py_ssize_t i) noexcept nogil:
    """Row i of the order given, and the prefetch distance: from its non-zeros to those that are read `ahead` places later."""
    cdef Row row
    cdef Py_ssize_t at = i if b.order == NULL else b.order[i]
    row.lo = b.indptr[at]
    row.hi = b.indptr[at + 1]
    if b.order == NULL:
        row.ahead = max(AHEAD, min(row.hi - row.lo, FAR_AHEAD))
    else:
        row.ahead = b.indptr[b.order[i + 1]] - row.lo if i + 1 < b.n else 0
    if row.hi + row.ahead > b.indptr[b.n_rows]:
        row.ahead = 0
    return row


cdef inline int next_round(Round* r, Py_ssize_t i, const Batch* b, Books* books) except -1 nogil:
    """Count row i of the pass in. 0: its weight is 0, it is an exact no-op. 1: it is to be learnt. Signals come before."""
    cdef double c = 1.0
    r.row = row_at(b, i)
    books.budget = check_signals(books.budget, (r.row.hi - r.row.lo + 8) * books.columns)
    r.at = i if b.order == NULL else b.order[i]
    r.label = 0 if b.labels == NULL else b.labels[r.at]
    if b.weights != NULL:
        c = b.weights[r.at]
    if b.class_weights != NULL:
        c *= b.class_weights[r.label]
    if c <= 0.0:
        return 0
    books.tally.rounds += 1.0
    books.counts[r.label] += 1.0
    r.newcomer = False
    if books.counts[r.label] == 1.0:
        books.tally.seen += 1.0
        r.newcomer = books.open_classes
    if books.balanced:      # N_t / (k_t n_{y,t}), this row among them
        c *= books.tally.rounds / (books.tally.seen * books.counts[r.label])
        c = c if c > 0.0 else 5e-324        # (it has been counted: what underflows is the least number there is)
    r.weight = c
    return 1


cdef inline double averaged(const Books* books) noexcept nogil:
    """Over how many w_t the average runs, before the present row."""
    cdef double rounds = books.tally.rounds - 1.0 - books.average_from
    return rounds if books.drift != NULL and rounds > 0.0 else 0.0


cdef inline void judge(Py_ssize_t said, const Round* r, const Batch* b, Books* books) noexcept nogil:
    """What predict, asked just before the update, would have said: count a mistake, and note it if asked for.

    (A sum of two comparisons: of one, the compiler would make a branch, and which way it goes is what nobody can predict.)
    """
    books.tally.mistakes += (said > r.label) + (said < r.label)
    if b.predictions != NULL:
        b.predictions[r.at] = <int32_t>said


cdef inline void calibrate(const double* scores, const Round* r, const Batch* b, Books* books) noexcept nogil:
    """Let Platt's numbers learn from the scores by which predict goes, before the row is learnt: that is, out of sample.

    With t, by how much the mean row's score is above what it usually is, (a, b, d) takes the step along H^-1 (s, 1, t) to the
    least of the row's log loss and the distance ½ δ'H δ from where it was: Newton's, made safe for scores of any size. H is a
    ridge and the curvature of the rows, which count as the cube of their number: later scores are those of a better model. A
    class that has not joined learns nothing, nor does one from the row that it joins with. Class weights do not count.
    """
    cdef Py_ssize_t c
    cdef double weight, n = 0.0 if books.met == NULL else books.met[0]
    weight = 1.0 if b.weights == NULL else b.weights[r.at]
    if books.are_seen:
        for c in range(books.columns):
            see_again(&books.pairs[c], weight, n)
        return
    if books.columns == 1:
        if not r.newcomer:
            learn_pair(books.pairs, scores[0], 2.0 * r.label - 1.0, weight, n)
        return
    for c in range(books.columns):
        if not (books.open_classes and (books.counts[c] == 0.0 or (r.newcomer and c == r.label))):
            learn_pair(&books.pairs[c], scores[c], 1.0 if c == r.label else -1.0, weight, n)


cdef inline void hear(const double* scores, double q, const Round* r, const Batch* b, Books* books) noexcept nogil:
    """Tell the scores by which predict goes, before the row is learnt, and ||x||² to those who ask for them."""
    cdef Py_ssize_t at
    if unlikely(books.is_heard):
        if books.records != NULL:
            at = <Py_ssize_t>(books.tally.rounds - books.records_from) - 1
            books.record = &books.records[at] if 0 <= at < books.n_records else NULL
            if books.record != NULL:
                books.record.score, books.record.q, books.record.updates = scores[0], q, books.tally.updates
        if books.pairs != NULL:
            calibrate(scores, r, b, books)


cdef inline int open_records(Books* books, record, double rounds) except -1:
    """Rows leave their records, of the round after so many on, in this array; None: they leave none."""
    cdef double[:, ::1] records
    books.records, books.record, books.n_records, books.records_from = NULL, NULL, 0, rounds
    if record is not None and len(record) and record.shape[1] * sizeof(double) == sizeof(Record):
        records = record
        books.records, books.n_records = <Record*>&records[0, 0], records.shape[0]
    books.is_heard = books.pairs != NULL or books.records != NULL
    return 0


cdef inline void judge_error(double error, Books* books) noexcept nogil:
    """The same for a regressor. The sums stay numbers whatever the scores were."""
    error = fabs(error)
    error = error if error < 1e140 else 1e140
    books.tally.squared += error * error
    books.tally.absolute += error


cdef inline void charge(double loss, Books* books) noexcept nogil:
    """Add a weighted loss to the sum by which epochs end; not where that would take the sum out of double's range."""
    if 0.0 < loss < 1e290:
        books.tally.loss += loss


cdef inline Py_ssize_t top(const double* scores, const Books* books, Py_ssize_t but) noexcept nogil:
    """First argmax of the scores of the classes that have joined, leaving out one (-1: none)."""
    cdef Py_ssize_t c, best = 0
    cdef double highest
    while best < books.n_classes and (best == but or (books.open_classes and books.counts[best] == 0.0)):
        best += 1
    if best == books.n_classes:
        return -1
    highest = scores[best]
    for c in range(best + 1, books.n_classes):
        if c == but or (books.open_classes and books.counts[c] == 0.0):
            continue
        best = c if scores[c] > highest else best       # (no branch: which class leads is what nobody can predict)
        highest = scores[c] if scores[c] > highest else highest
    return best


cdef inline Py_ssize_t said_by(const double* scores, const Round* r, const Books* books) noexcept nogil:
    """The class that these scores name: of one vector by its sign, else the top one."""
    if books.n_classes > 2:
        return top(scores, books, r.label if r.newcomer else -1)
    return 1 - r.label if r.newcomer else scores[0] > 0.0


cdef inline bint readable(const Stats* s, Books* books) noexcept nogil:
    """False for a zero row, which teaches nothing, and (counted) for one whose scores overflow double."""
    if isfinite(s.margin) and isfinite(s.q) and isfinite(s.v):
        return s.q > 0.0 or s.v > 0.0
    books.tally.skipped += 1.0
    return False


cdef inline bint fits(int geometry, const Stats* s, Step step, Books* books, const Params* p) noexcept nogil:
    """True, and the reach of the model moved on, if neither the step nor the model after it leaves the range of the dtype.

    max |Δw_i| from O(1) numbers: |τ| max|x_i| <= |τ| √q; gaussian, |τ| σ_i |x_i| <= |τ| √(σ_max v); AdaGrad, <= η; G: <= τ² q.
    The intercept is the constant feature's weight times its value. What is computed on the way must fit too:
    x_i σ_i <= √(σ_max v), x_i² σ_i <= v, dual averaging's η |z_i| / δ.
    """
    cdef double stride, reach, curvature = books.tally.curvature
    if geometry == GAUSSIAN or geometry == FORGETTING or geometry == FULL_GAUSSIAN or geometry == FULL_POTENTIAL:
        stride = fabs(step.tau) * sqrt(p.variance * s.v)
    else:
        stride = fabs(step.tau) * sqrt(s.q)
    if geometry == MIRROR or geometry == DUAL:
        curvature += stride * stride
        if geometry == MIRROR:
            stride = p.eta0
    reach = books.tally.reach + stride
    if not (reach * (p.bias if p.bias > 1.0 else 1.0) <= p.limit
            and curvature <= p.limit and step.beta <= p.limit and step.beta * s.v <= p.limit
            and (p.tiny <= fabs(step.tau) <= p.limit or step.tau == 0.0)        # NaN is not <= either
            and s.v <= p.limit and sqrt(p.variance * s.v) <= p.limit
            and (geometry != DUAL or p.eta0 * reach <= p.limit * p.delta)
            and (geometry != POTENTIAL or reach * p.variance <= p.limit)):      # w = σθ
        books.tally.skipped += 1.0
        return False
    books.tally.reach = reach
    books.tally.curvature = curvature
    return True


# --- which vectors a step moves ------------------------------------------------------------------------------------------------

ctypedef struct Example:    # the joint example z of a step: the vectors that it moves, the sign of x in each, and its margin w.z
    Py_ssize_t n
    int64_t[2] c
    double[2] sign
    double margin


cdef inline Example example(Task task, Py_ssize_t number, const Round* r, const Batch* b, const double* scores,
                            const Books* books, double epsilon) noexcept nogil:
    """Of a task's steps for a row the one with this number; n = 0 if there is none. epsilon : the residual that is no loss."""
    cdef Example z
    z.n = 1
    z.c[0], z.c[1], z.sign[1] = number, 0, -1.0
    if task == REGRESSION:
        z.sign[0] = 1.0 if b.targets[r.at] - scores[0] >= 0.0 else -1.0
        z.margin = epsilon - fabs(b.targets[r.at] - scores[0])
        return z
    if task == BINARY:
        z.sign[0] = 2.0 * r.label - 1.0
    elif task == OVR:
        z.sign[0] = 1.0 if number == r.label else -1.0
        z.n = not (books.open_classes and books.counts[number] == 0.0)
    else:
        z.n = 2
        z.c[0], z.sign[0] = r.label, 1.0
        z.c[1] = top(scores, books, r.label)
    z.margin = z.sign[0] * scores[z.c[0]]
    if z.n == 2:
        z.margin -= scores[z.c[1]]
    return z
