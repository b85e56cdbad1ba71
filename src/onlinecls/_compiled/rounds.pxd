"""Everything that happens to a row besides the mathematics of its algorithm. A training loop is

    while next_round(&r, b, context):                       the next row of weight > 0; signals
        score the row
        before_step(task, scores, lag, &r, b, context)      mistake or error, calibration
        if measure(...): score it again                     the first rows tell the scale
        Stats, Step, update
        after_step(&r, updated, context)                    updates, skipped rows

and `count_loss` for each of a row's Stats. `PassContext` is filled from the model's arrays when a pass begins, and its counters
are copied back when it ends, however it ends. A caller that knows at compile time what is not needed (weights, an average, a
calibration ...) makes those fields constants of its own copies: all functions here are inlined, and the compiler drops the rest.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fabs, floor, frexp, isfinite, ldexp, log2, sqrt
from libc.stdint cimport int32_t, int64_t

from .._rules cimport (
    DUAL, EXP, FULL_GAUSSIAN, FULL_POTENTIAL, HARD_MARGIN, MIRROR, POTENTIAL, PROXIMAL, P_NORM, SINH, WEIGHT,
    Params, Slots, Stats,
    Step, loss_of, slots_of,
)
from .sparse cimport Layout, Row, column, dense_t, floating, index_t, prefetch_run

cdef extern from *:
    bint unlikely(bint) noexcept nogil      # Cython's hint to the compiler: optimise for the other case

cdef extern from "_compiled/calibration.h":
    ctypedef struct Calibration "onlinecls_calibration":    # a and b of the probabilities, and the curvature in them
        pass
    void calibrate "onlinecls_calibrate"(
        Calibration* numbers, const double* scores, bint is_single, Py_ssize_t n, Py_ssize_t label, double c,
        const double* counts, const double* weights, const double* balanced,
    ) noexcept nogil

cdef enum:
    QUANTUM = 1 << 21       # non-zeros of work between two checks of pending signals: well under 50 ms


cdef enum Task:
    BINARY                  # one vector of weights, label 1 on its positive side
    CRAMMER_SINGER          # a vector for each class, the true one against the best wrong one
    OVR                     # a vector for each class, independent binary learners
    REGRESSION              # one vector, whose scores are to be the targets
    ONE_CLASS               # no targets: the centre of a ball around the rows
    DECISION                # scores of rows: nothing is learnt
    DEVIATION               # their standard deviations


ctypedef struct Counters:   # a model's counters, in the order of its array `counters`
    double rounds           # rows of weight > 0
    double mistakes         # rounds that `predict` would have got wrong just before the update
    double updates          # rounds that changed the model
    double skipped          # rounds whose update would have left the range of the dtype
    double seen             # classes that have had a row
    double loss             # sum of weighted losses before the update
    double max_abs_weight   # no |w_i| (θ_i, z_i) is larger than this
    double curvature        # no G_i is larger than this
    double squared          # regression: sum of the squared errors that `predict` would have made just before the update
    double absolute         # and of the absolute ones
    double growth           # forgetting: s, see Params; 0 before the first row
    double level            # regression: the mean of the targets so far, see `take_level`,
    double level_rest       # what is to be added to it, below its last digit,
    double mass             # and the sum of the weights of the rows in it
    double scale            # s of the last row, see `measure`; 0 before the first
    double bias             # and the value of the constant feature beside x, c s
    double measured         # rows that have told them, with the sums over these rows
    double exponents        # of the exponents of ||x||²,
    double mantissas        # of the logarithms of its mantissas,
    double lengths          # and of those of the numbers of non-zeros


cdef enum:
    RUNNING_LEVEL = 1       # deviations from the level are learnt, which follows the rows,
    HELD_LEVEL = 2          # or which stays as it is


ctypedef struct PassContext:    # what a pass counts in; one that only reads writes found and budget alone
    Task task
    double* found           # n_found numbers for each row
    Py_ssize_t n_found
    Counters counters
    double* counts          # rows seen of each class
    Py_ssize_t n_classes
    Py_ssize_t columns      # vectors of weights: one for two classes, else one a class, and perhaps "none of these" behind them
    Layout layout           # their places
    double* correction      # see `averaged`; NULL: no average
    Py_ssize_t constant     # number of the constant feature
    Calibration* calibration    # NULL: none, or the rows are seen again
    double* scores_out      # place for the next row's scores before the update; NULL: not asked for
    bint has_observers      # a calibration or a committee needs the scores
    Py_ssize_t next         # place of the next row in the pass
    Py_ssize_t budget       # work left before the next check of signals
    int open_classes        # labels join as they appear
    int balanced            # class_weight="balanced" from running counts
    int costs               # how a class's weight enters
    double margin           # γ, the margin that rows of a class of the least weight must have
    int average_from        # rounds before the average starts
    int level               # of targets: RUNNING_LEVEL, HELD_LEVEL, or 0: they are learnt as they are
    double memory           # the factor of older rows in the level
    bint measures           # the next rows tell the scale or the constant feature's value
    double given_scale      # `Params.scale` and `Params.constant`
    double given_constant
    double inverse          # 1/s
    double bias             # the value of the constant feature beside x
    Counters* published     # the model's counters, where readers in other threads find the rounds, the level and the scale


ctypedef struct Batch:      # the rows of one call, beside their features
    Py_ssize_t n            # rounds
    Py_ssize_t n_rows       # rows of X
    const int64_t* indptr
    const int64_t* order    # numbers of rows; NULL: storage order
    const int32_t* labels   # numbers of classes, by number of row; NULL: none
    const double* targets   # of regression; NULL: none
    const double* weights   # NULL: all 1
    const double* class_weights     # NULL: all 1
    int32_t* predictions    # the class predicted before each row, by number of row; NULL: not wanted


ctypedef struct Round:      # the row at hand
    Py_ssize_t i            # its place in the pass
    Row row
    Py_ssize_t at           # the row's number
    Py_ssize_t label        # its class; 0 without labels
    double weight           # c
    double target           # of regression; a deviation where there is a level
    double shift            # what its class's weight adds to a wanted margin
    bint newcomer           # its label has just joined: predict could not have named it
    double skipped          # the counter before it


cdef inline Py_ssize_t check_signals(Py_ssize_t budget, Py_ssize_t work) except -1 nogil:
    """Let Ctrl-C through, between two rows, every QUANTUM of work; return the budget that is left."""
    budget -= work
    if budget < 0:
        with gil:
            PyErr_CheckSignals()
        budget = QUANTUM
    return budget


cdef enum:
    AHEAD = 80              # non-zeros between the prefetch of a feature's state and its use: the row's length, at least this,
    FAR_AHEAD = 128         # and at most this: from further ahead, it may have been evicted again


cdef inline Row row_at(const Batch* b, Py_ssize_t i) noexcept nogil:
    """Return row i in the given order, with the distance from its non-zeros to those whose state is prefetched."""
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


cdef inline void read_row(Round* r, const Batch* b, Py_ssize_t i) noexcept nogil:
    """Read row i of the pass, its label and its target."""
    r.i, r.row = i, row_at(b, i)
    r.at = i if b.order == NULL else b.order[i]
    r.label = 0 if b.labels == NULL else b.labels[r.at]
    r.target = 0.0 if b.targets == NULL else b.targets[r.at]


cdef inline bint next_round(Round* r, const Batch* b, PassContext* context) except -1 nogil:
    """Move to the next row of weight > 0 and count it; return False after the last. Pending signals are let through first."""
    cdef double c
    while context.next < b.n:
        read_row(r, b, context.next)
        context.budget = check_signals(context.budget, (r.row.hi - r.row.lo + 8) * context.columns)
        context.next += 1
        c = 1.0 if b.weights == NULL else b.weights[r.at]
        if c > 0.0 and b.class_weights != NULL:     # (a row of weight 0 may have a label that is not a class yet)
            c *= b.class_weights[r.label]
        if c > 0.0:
            count_round(r, c, context)
            if b.targets != NULL:
                take_level(r, context)
            weigh_class(r, b, context)
            return True
    return False


cdef inline void count_round(Round* r, double c, PassContext* context) noexcept nogil:
    """Count a row of weight c, and compute its weight in the update."""
    r.skipped = context.counters.skipped
    context.counters.rounds += 1.0
    context.counts[r.label] += 1.0
    r.newcomer = False
    if context.counts[r.label] == 1.0:
        context.counters.seen += 1.0
        r.newcomer = context.open_classes
    if context.balanced:      # N_t / (k_t n_{y,t}), this row included
        c *= context.counters.rounds / (context.counters.seen * context.counts[r.label])
        c = c if c > 0.0 else 5e-324        # (it has been counted: instead of underflowing, c is the least number > 0)
    r.weight = c


cdef inline void take_level(Round* r, PassContext* context) noexcept nogil:
    """Set a row's target to its deviation from the level m, the weighted mean of the targets before the row, and move m.

    m <- m + c (y - m) / (sum of all c), kept as a sum of two numbers, so that roundings do not add up. Before the first row m is
    that row's target. Targets beyond 1e150, whose squares are no numbers, do not move it.
    """
    cdef Counters* n = &context.counters
    cdef double y = r.target, c, before, change, carried
    if context.level == 0:
        return
    if n.mass == 0.0 and fabs(y) <= 1e150:
        n.level, n.level_rest = y, 0.0
    r.target = (y - n.level) - n.level_rest
    if context.level == RUNNING_LEVEL and fabs(y) <= 1e150:
        c = r.weight if r.weight < 1e290 else 1e290
        n.mass = n.mass * context.memory + c
        n.mass = n.mass if n.mass < 1e290 else 1e290
        before, change = n.level, n.level_rest + r.target * (c / n.mass)
        n.level = before + change
        carried = n.level - before
        n.level_rest = (before - (n.level - carried)) + (change - carried)
        context.published.level, context.published.level_rest = n.level, n.level_rest


# --- the scale of rows ---------------------------------------------------------------------------------------------------------

# A row x is learnt as z = x / s, and the model is of z. The loops read x itself: scores, q and v are multiplied by 1/s, 1/s² and
# 1/s² when they come out of a scan, τ and β of a step along x by 1/s and 1/s² when it goes in, and the constant feature, c in z,
# is c s beside x.

cdef enum:
    SCALE_ROWS = 16         # rows but zeros that tell the scale


cdef inline void open_scale(PassContext* context, const Params* p) noexcept nogil:
    """Begin a pass, or a reading, with the scale of the rows so far. p : for its scale and constant alone."""
    cdef Counters* n = &context.counters
    context.given_scale, context.given_constant = p.scale, p.constant
    n.scale = p.scale if p.scale > 0.0 else n.scale
    n.bias = p.constant * (n.scale if n.scale > 0.0 else 1.0) if p.constant >= 0.0 else n.bias
    n.measured = SCALE_ROWS if p.scale > 0.0 and p.constant >= 0.0 else n.measured
    use_scale(context)


cdef inline void use_scale(PassContext* context) noexcept nogil:
    cdef const Counters* n = &context.counters
    context.measures = n.measured < SCALE_ROWS
    context.inverse, context.bias = 1.0 / n.scale if n.scale > 0.0 else 1.0, n.bias


cdef inline bint measure(const floating[::1] data, const Round* r, PassContext* context, double* bias) noexcept nogil:
    """Let a row that has been predicted tell the scale, if it is one of the first that do: return True, and set the value of the
    constant feature, if the row must be scored again. (`measure_row` has no pointer to the pass, whose numbers are in registers.)
    """
    cdef Counters* n = &context.counters
    cdef Counters* told = context.published
    if unlikely(context.measures):
        measure_row(data, r.row, told, context.given_scale, context.given_constant)
        n.scale, n.bias, n.measured = told.scale, told.bias, told.measured
        n.exponents, n.mantissas, n.lengths = told.exponents, told.mantissas, told.lengths
        use_scale(context)
        bias[0] = context.bias
        return True
    return False


cdef inline void measure_row(const floating[::1] data, Row row, Counters* n, double scale, double constant) noexcept nogil:
    """Set s = 2^k nearest to the geometric mean of ||x|| over the rows so far, this one included, and c s = 2^j to that of
    ||x|| / √nnz. (A given s need not be a power of two: then c is the one nearest to ||z|| / √nnz.)

    Sums of exponents are exact, so that X times a power of two adds to k and j alone. scale, constant : as given; 0, -1: auto.
    """
    cdef int exponent = 0, own = 0, farthest = 44 if floating is float else 158     # (1/s² is a number of the dtype, too)
    cdef double x, whole, part, largest = 0.0, squares = 0.0, length = 0.0
    cdef Py_ssize_t k
    for k in range(row.lo, row.hi):
        largest = max(largest, fabs(data[k]))
    if not 0.0 < largest:
        return
    frexp(largest, &exponent)
    for k in range(row.lo, row.hi):
        x = ldexp(data[k], -exponent)
        squares += x * x
        length += x != 0.0
    n.mantissas += log2(frexp(squares, &own))
    n.exponents += own + 2.0 * exponent
    n.lengths += log2(length)
    n.measured += 1.0
    whole = floor(n.exponents / (2.0 * n.measured))
    part = n.exponents - 2.0 * n.measured * whole + n.mantissas
    if scale == 0.0:
        n.scale = power_of_two(whole + floor(part / (2.0 * n.measured) + 0.5), farthest)
    part = (part - n.lengths) / (2.0 * n.measured)
    if constant >= 0.0:
        n.bias = constant * n.scale
    elif scale == 0.0:
        n.bias = power_of_two(whole + floor(part + 0.5), farthest)
    else:
        n.bias = n.scale * power_of_two(floor(whole + part - log2(n.scale) + 0.5), farthest)


cdef inline double power_of_two(double exponent, int farthest) noexcept nogil:
    return ldexp(1.0, <int>max(min(exponent, <double>farthest), -<double>farthest))


cdef inline double root_of_ratio(double a, double b) noexcept nogil:
    """Return √(a/b), at most √1000."""
    return sqrt(a / b) if a < 1000.0 * b else sqrt(1000.0)


cdef inline void weigh_class(Round* r, const Batch* b, const PassContext* context) noexcept nogil:
    """Let the weight of a row's class multiply its margin, by ρ = √(c_y / min c), and its weight by what is left of it, c_y / ρ.

    A rule that takes the whole step at any weight from 1 on gets that over the largest one of a class, if that is above 1. The
    extremes are those of the classes that have had a row (so that they do not depend on how a stream is divided into calls).
    """
    cdef Py_ssize_t j
    cdef double weight, factor, own = 0.0, lightest = 0.0, heaviest = 0.0
    r.shift = 0.0
    if context.costs == WEIGHT or (b.class_weights == NULL and not context.balanced):
        return
    for j in range(context.n_classes):
        if context.counts[j] > 0.0 or j == r.label:
            if context.balanced:
                weight = context.counters.rounds / (context.counters.seen * max(context.counts[j], <double>1.0))
            else:
                weight = b.class_weights[j]
            own = weight if j == r.label else own
            lightest = weight if weight > 0.0 and (lightest == 0.0 or weight < lightest) else lightest
            heaviest = max(heaviest, weight)
    factor = root_of_ratio(own, lightest)
    r.shift = (factor - 1.0) * context.margin
    if context.costs == HARD_MARGIN:
        factor *= max(heaviest / root_of_ratio(heaviest, lightest), <double>1.0)
    r.weight /= factor
    r.weight = r.weight if r.weight > 0.0 else 5e-324       # (as in `count_round`)


# --- the average of all w_t ----------------------------------------------------------------------------------------------------

# It is kept lazily: a step costs O(nnz), a row without a step nothing. With correction = Σ_s s Δw_s, the sum of steps weighted by
# the rounds before them, the average over T rounds is w - correction / T.

cdef inline double averaged(const PassContext* context) noexcept nogil:
    """Return the number of w_t in the average, before the present row."""
    cdef double rounds = context.counters.rounds - 1.0 - context.average_from
    return rounds if context.correction != NULL and rounds > 0.0 else 0.0


cdef inline void correction_scores(const double* correction, const Layout* layout, Py_ssize_t constant, const floating[::1] data,
                                   const index_t[::1] indices, Row row, double bias, double* scores) noexcept nogil:
    """Compute correction.x of all vectors, in the order of their places."""
    cdef Py_ssize_t k, c
    cdef const double* at
    cdef double x
    for c in range(layout.n):
        scores[c] = 0.0
    for k in range(row.lo, row.hi + 1):
        at = &correction[layout.room * (column(indices, k, row.lo) if k < row.hi else constant)]
        x = data[k] if k < row.hi else bias
        if index_t is not dense_t:
            if k < row.hi:
                prefetch_run(&correction[layout.room * <Py_ssize_t>indices[k + row.ahead]], layout.n)
        for c in range(layout.n):
            scores[c] += x * at[c]


cdef inline void average_lags(const PassContext* context, const floating[::1] data, const index_t[::1] indices, Row row,
                              double bias, double* lags) noexcept nogil:
    """Compute the scores of all vectors less those of their averages, in the order of their places; without an average, 0."""
    cdef double rounds = averaged(context)
    cdef Py_ssize_t c
    if rounds > 0.0:
        correction_scores(context.correction, &context.layout, context.constant, data, indices, row, bias, lags)
    for c in range(context.layout.n):
        lags[c] = lags[c] * context.inverse / rounds if rounds > 0.0 else 0.0


# --- before a step -------------------------------------------------------------------------------------------------------------

cdef inline void before_step(Task task, const double* scores, double* lags, const Round* r, const Batch* b,
                             PassContext* context) noexcept nogil:
    """Count a row's mistake or error, those of `predict` just before the update, and pass its scores on to the observers.

    scores : of all vectors. lags : what is to be subtracted for those of the average, which replace them; NULL: nothing. Errors
    above 1e140 count as 1e140. A newcomer's label is one that predict could not have named.
    """
    cdef Py_ssize_t c
    cdef double error
    if task == REGRESSION:
        error = fabs((r.target - scores[0]) + (0.0 if lags == NULL else lags[0]))
        error = error if error < 1e140 else 1e140
        context.counters.squared += error * error
        context.counters.absolute += error
        return
    if lags != NULL:
        for c in range(context.columns):
            lags[c] = scores[c] - lags[c]
        scores = lags
    if context.columns == 1:
        count_mistake(1 - r.label if r.newcomer else scores[0] > 0.0, r, b, context)
    else:
        count_mistake(top(scores, context, r.label if r.newcomer else -1), r, b, context)
    observe_scores(scores, r, b, context)


cdef inline bint count_loss(const Stats* s, PassContext* context, const Params* p) noexcept nogil:
    """Add a row's weighted loss to the sum of losses; return False for a row that cannot be learnt."""
    if not is_usable(s, context):
        return False
    add_loss(s.weight * loss_of(s, p), context)
    return True


cdef inline void count_mistake(Py_ssize_t predicted, const Round* r, const Batch* b, PassContext* context) noexcept nogil:
    """Count a mistake if the predicted class is wrong, and store the predicted class if asked to.

    (Branch-free: mispredicted branches dominate otherwise.)
    """
    context.counters.mistakes += (predicted > r.label) + (predicted < r.label)
    if b.predictions != NULL:
        b.predictions[r.at] = <int32_t>predicted


cdef inline void observe_scores(const double* scores, const Round* r, const Batch* b, PassContext* context) noexcept nogil:
    """Pass the scores before the update, out of sample, to the calibration, and to a committee."""
    cdef Py_ssize_t c
    if unlikely(context.has_observers):
        if context.calibration != NULL:
            calibrate(
                context.calibration, scores, context.columns == 1, context.n_classes, r.label,
                1.0 if b.weights == NULL else b.weights[r.at], context.counts, b.class_weights,
                context.counts if context.balanced else NULL,
            )
        for c in range(context.columns if context.scores_out != NULL else 0):
            context.scores_out[0] = scores[c]
            context.scores_out += 1


cdef inline void add_loss(double loss, PassContext* context) noexcept nogil:
    """Add a weighted loss to the sum of losses, unless it would take the sum out of double's range. (Branch-free: which rows have
    a loss is unpredictable.)"""
    loss += fabs(loss)
    context.counters.loss += 0.5 * loss if loss < 2e290 else 0.0


cdef inline Py_ssize_t top(const double* scores, const PassContext* context, Py_ssize_t but) noexcept nogil:
    """Return the first argmax of the scores of the classes that have joined, leaving out one (-1: none)."""
    cdef Py_ssize_t c, best = 0
    cdef double highest
    while best < context.n_classes and (best == but or (context.open_classes and context.counts[best] == 0.0)):
        best += 1
    if best == context.n_classes:
        return -1
    highest = scores[best]
    for c in range(best + 1, context.n_classes):
        if c == but or (context.open_classes and context.counts[c] == 0.0):
            continue
        best = c if scores[c] > highest else best       # (branch-free: the leading class is unpredictable)
        highest = scores[c] if scores[c] > highest else highest
    return best


# --- a step --------------------------------------------------------------------------------------------------------------------

cdef inline bint is_usable(const Stats* s, PassContext* context) noexcept nogil:
    """Return False for a row of zeros, and (counted) for one whose scores overflow double."""
    if isfinite(s.margin) and isfinite(s.q) and isfinite(s.v):
        return s.q > 0.0 or s.v > 0.0
    context.counters.skipped += 1.0
    return False


cdef inline bint step_fits(int geometry, const Stats* s, Step step, PassContext* context, const Params* p) noexcept nogil:
    """Return True, and update the bounds of the model, if neither the step nor the model after it leaves the dtype's range.

    max |Δw_i| from O(1) numbers: |τ| max|x_i| <= |τ| √q; along Σx, |τ| σ_i |x_i| <= |τ| √(σ_max v); AdaGrad, <= η; G, <= τ² q.
    The intercept is the constant feature's weight times its value, c in z and c s beside x. Intermediate results must fit too:
    z_i σ_i <= √(σ_max v), x_i² σ_i <= v, dual averaging's η |z_i| / δ. FTRL-proximal has |z_i| <= t √n_i and |w_i| <= η t: a step
    adds |g_i| <= √n_i to z_i, and scales it by no more than √n_i.
    """
    cdef double change, max_abs_weight, curvature = context.counters.curvature, size = s.v
    cdef double c = max(p.bias, p.bias * context.inverse)
    cdef double inverse = context.inverse
    cdef Slots slots = slots_of(geometry)
    if geometry == FULL_GAUSSIAN or geometry == FULL_POTENTIAL or geometry == SINH or geometry == EXP:
        inverse = 1.0               # (the step goes along z itself)
    if geometry == P_NORM:
        size = s.norm_p2
    elif geometry == SINH or geometry == EXP:
        size = s.width
    change = fabs(step.tau) * sqrt(p.variance * s.v if slots.along_sigma else s.q)
    if slots.squares:
        curvature += change * change
        if geometry == MIRROR:
            change = p.eta0
    max_abs_weight = context.counters.max_abs_weight + change
    if geometry == PROXIMAL:
        max_abs_weight = context.counters.rounds * sqrt(curvature + p.tiny)
    if not (max_abs_weight * (c if c > 1.0 else 1.0) <= p.limit
            and curvature <= p.limit and step.beta * inverse * inverse <= p.limit and step.beta * size <= p.limit
            and (p.tiny <= fabs(step.tau) * inverse <= p.limit or step.tau == 0.0)        # NaN is not <= either
            and size <= p.limit and sqrt(p.variance * size) <= p.limit * inverse
            and (geometry != DUAL or p.eta0 * max_abs_weight <= p.limit * p.delta)
            and (geometry != PROXIMAL or p.eta0 * max(max_abs_weight, context.counters.rounds * max(c, 1.0)) <= p.limit)
            and (geometry != POTENTIAL or max_abs_weight * p.variance <= p.limit)):      # w = σθ
        context.counters.skipped += 1.0
        return False
    context.counters.max_abs_weight = max_abs_weight
    context.counters.curvature = curvature
    return True


cdef inline void after_step(const Round* r, bint updated, PassContext* context) noexcept nogil:
    """Count the row if it has changed the model, and if a step was skipped: once, for however many classes."""
    context.counters.updates += updated
    if context.counters.skipped > r.skipped:
        context.counters.skipped = r.skipped + 1.0


# --- which vectors a step changes ----------------------------------------------------------------------------------------------

ctypedef struct Example:    # the joint example z of a step: the vectors it changes, the sign of x in each, and its margin w.z
    Py_ssize_t n
    int64_t[2] c
    double[2] sign
    double margin


cdef inline Example example(Task task, Py_ssize_t number, const Round* r, const Batch* b, const double* scores,
                            const PassContext* context, double epsilon) noexcept nogil:
    """Return the `number`-th update of a row: classes, signs and margin; n = 0 if it does not exist. epsilon : as in `Params`."""
    cdef Example z
    z.n = 1
    z.c[0], z.c[1], z.sign[1] = number, 0, -1.0
    if task == REGRESSION:
        z.sign[0] = 1.0 if r.target - scores[0] >= 0.0 else -1.0
        z.margin = epsilon - fabs(r.target - scores[0])
        return z
    if task == BINARY:
        z.sign[0] = 2.0 * r.label - 1.0
    elif task == OVR:
        z.sign[0] = 1.0 if number == r.label else -1.0
        z.n = number >= context.n_classes or not (context.open_classes and context.counts[number] == 0.0)
    else:
        z.n = 2
        z.c[0], z.sign[0] = r.label, 1.0
        z.c[1] = top(scores, context, r.label)
    z.margin = z.sign[0] * scores[z.c[0]]
    if z.n == 2:
        z.margin -= scores[z.c[1]]
    z.margin -= r.shift
    return z
