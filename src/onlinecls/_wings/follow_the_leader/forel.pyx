"""Follow the regularized leader (the tutorial's part III): after each row w is optimal for all rows so far.

    w_t = argmin σ/2 ||w||² + Σ_{i <= t} c_i loss_i(w),    the hinge or the log loss,    by coordinate ascent on its dual

    D(α) = Σ g_i(α_i) - ||θ||²/(2σ),   0 <= α <= c (joint: Σ_r α_r <= c),   θ = Σ α Δφ,   w = θ/σ,

g_i = Σ_r α_ir (hinge) or c_i H(α_i / c_i) (log loss; H the entropy of these shares and of the rest of 1), starting
from the α of earlier rounds. The gap between primal and dual is a sum of non-negative terms, one a row:

    σ/2 ||w||² + Σ c loss - D = Σ_i c_i loss_i(w) - g_i + Σ_r α_ir m_ir

so that one scan of all rows at a fixed w gives the gap, and the rows that contribute to it: a sweep goes over these.
"""
from libc.math cimport exp, fabs, isfinite, log1p, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from ..shared.line_search cimport balance, entropy, log_sum, share_out, squash
from ..shared.dual_params cimport HINGE, LOG_LOSS
from ..._compiled.rounds cimport (
    BINARY, QUANTUM, Batch, Counters, PassContext, Round, add_loss, after_step, before_step, check_signals, next_round,
    open_records,
)
from ..._compiled.sparse cimport floating, larger
from ..._rules cimport WEIGHT

cdef enum:                  # slots of `shared`
    GAP                     # after the last row
    PENDING                 # 1 + the sweep before which an interrupt came; 0: no interrupt
    N_SHARED

SHARED = {"gap": GAP, "pending": PENDING, "size": N_SHARED}

cdef enum:
    MOST = 1000             # sweeps a row

cdef double HUGE = 1e140    # rows beyond it are left out, so that nothing below overflows

ctypedef struct ForelParams:
    int loss
    int joint
    double sigma
    double tolerance
    double bias
    double limit


cdef class Leader:
    """The rows so far, their dual variables, and θ: the arrays of a ForelState; and a workspace for one row."""
    cdef ForelParams p
    cdef const int64_t[::1] indices, indptr
    cdef const int32_t[::1] labels
    cdef double[::1] weights        # of rows; 0: left out for their size
    cdef double[::1] shared
    cdef double[:, ::1] alpha       # (rows, k)
    cdef double[:, ::1] theta       # (features + 1, k)
    cdef Py_ssize_t k
    cdef bint joint                 # one dual problem of several classes
    cdef double[::1] scores, excess, shares, sorted, open
    cdef Py_ssize_t[::1] active     # rows with a part in the gap

    def __init__(self, params, state):
        self.p = dict(zip(params._fields, params))
        self.indices, self.indptr, self.labels, self.weights = state.indices, state.indptr, state.labels, state.weights
        self.alpha, self.theta, self.shared = state.alpha, state.theta, state.shared
        self.k = self.theta.shape[1]
        self.joint = self.p.joint and self.k > 1
        self.scores, self.excess, self.shares, self.sorted, self.open = np.zeros((5, max(self.k, 2)))
        self.active = np.empty(self.labels.shape[0] + 1, np.intp)


cdef double scores_of(const double[:, ::1] theta, const floating[::1] data, const int64_t[::1] indices, int64_t lo, int64_t hi,
                      double* scores, const ForelParams* p) noexcept nogil:
    """Compute scores[c] = w_c.x; return ||x||²."""
    cdef Py_ssize_t j, c, k = theta.shape[1], last = theta.shape[0] - 1
    cdef double q = p.bias * p.bias, x
    for c in range(k):
        scores[c] = 0.0
    for j in range(lo, hi):
        x = data[j]
        q += x * x
        for c in range(k):
            scores[c] += x * theta[indices[j], c]
    for c in range(k):
        scores[c] = (scores[c] + p.bias * theta[last, c]) / p.sigma
    return q


cdef inline void apply_step(double[:, ::1] theta, const floating[::1] data, const int64_t[::1] indices, int64_t lo,
                            int64_t hi, Py_ssize_t c, double step, const ForelParams* p) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(lo, hi):
        theta[indices[j], c] += step * data[j]
    theta[theta.shape[0] - 1, c] += step * p.bias


cdef inline double sign_of(Py_ssize_t label, Py_ssize_t c, Py_ssize_t k) noexcept nogil:
    return 2.0 * label - 1.0 if k == 1 else 1.0 if label == c else -1.0


cdef inline bint has_joined(Leader leader, const PassContext* context, Py_ssize_t c) noexcept nogil:
    return leader.k == 1 or not (context.open_classes and context.counts[c] == 0.0)


cdef double loss_of(Leader leader, Py_ssize_t label, const PassContext* context) noexcept nogil:
    """Return the loss of a row from its scores; one against the rest, summed over all columns."""
    cdef Py_ssize_t c, n = 0, k = leader.k
    cdef double loss = 0.0, margin
    if leader.p.loss == LOG_LOSS:
        for c in range(k):
            if not has_joined(leader, context, c):
                continue
            margin = sign_of(label, c, k) * leader.scores[c]
            loss += log1p(exp(-margin)) if margin > -30.0 else -margin
            leader.excess[n] = leader.scores[c]
            n += 1
        return log_sum(&leader.excess[0], n, &leader.shares[0]) - leader.scores[label] if leader.joint else loss
    for c in range(k):
        if not has_joined(leader, context, c):
            continue
        if not leader.joint:
            loss += larger(1.0 - sign_of(label, c, k) * leader.scores[c], <double>0.0)
        elif c != label:
            loss = larger(loss, 1.0 - (leader.scores[label] - leader.scores[c]))
    return loss


cdef double gap_of(Leader leader, Py_ssize_t i, double loss) noexcept nogil:
    """Return row i's part of the gap, >= 0 but for rounding, from its scores and its loss."""
    cdef Py_ssize_t c, k = leader.k, label = leader.labels[i]
    cdef double margin, gap = leader.weights[i] * loss, rest = 1.0
    cdef double[2] share
    for c in range(k):
        if leader.alpha[i, c] == 0.0:
            continue
        margin = leader.scores[label] - leader.scores[c] if leader.joint else sign_of(label, c, k) * leader.scores[c]
        if leader.p.loss == HINGE:
            gap -= leader.alpha[i, c] * (1.0 - margin)
            continue
        share[0] = leader.alpha[i, c] / leader.weights[i]
        share[1] = 0.0 if leader.joint else 1.0 - share[0]
        rest -= share[0]
        gap += leader.alpha[i, c] * margin - leader.weights[i] * entropy(share, 2)
    if leader.joint and leader.p.loss == LOG_LOSS:
        gap -= leader.weights[i] * entropy(&rest, 1)
    return gap


cdef bint fill(Leader leader, Py_ssize_t i, const PassContext* context) noexcept nogil:
    """Set α of row i, all zeros, to the largest value, as no weights reduce its loss; return True if it has changed."""
    cdef Py_ssize_t c, k = leader.k
    cdef double weight = leader.weights[i], total = 0.0
    cdef double[:, ::1] alpha = leader.alpha
    cdef bint changed = False
    for c in range(k):
        total += <double>has_joined(leader, context, c) if leader.p.loss == LOG_LOSS else alpha[i, c]
    if leader.p.loss == LOG_LOSS:       # a share of 1/2; joint: of 1/n each
        weight *= 1.0 / total if leader.joint else 0.5
    elif leader.joint:
        for c in range(k):
            if total < weight and c != leader.labels[i] and has_joined(leader, context, c):
                alpha[i, c] += weight - total
                return True
        return False
    for c in range(k):
        if has_joined(leader, context, c) and not (leader.joint and c == leader.labels[i]):
            changed |= alpha[i, c] != weight
            alpha[i, c] = weight
    return changed


cdef bint ascend(Leader leader, const floating[::1] data, Py_ssize_t i, double q, const PassContext* context) noexcept nogil:
    """Set α of row i to its optimum given all others, from its scores and q = ||x||²; return True if it has changed."""
    cdef Py_ssize_t c, k = leader.k, label = leader.labels[i], lo = leader.indptr[i], hi = leader.indptr[i + 1]
    cdef double new, margin, weight = leader.weights[i], sum_before = 0.0, total = 0.0
    cdef double ratio = leader.p.sigma / q if q > 0.0 else 0.0
    cdef double[:, ::1] alpha = leader.alpha
    cdef bint changed = False
    if q == 0.0:
        return fill(leader, i, context)
    if not leader.joint:
        for c in range(k):
            if not has_joined(leader, context, c):
                continue
            margin = sign_of(label, c, k) * leader.scores[c]
            if leader.p.loss == LOG_LOSS:
                new = weight * squash(margin - alpha[i, c] / ratio, weight / ratio)
            else:
                new = alpha[i, c] + (1.0 - margin) * ratio
            new = 0.0 if not new > 0.0 else weight if new > weight else new
            if new != alpha[i, c]:
                apply_step(leader.theta, data, leader.indices, lo, hi, c, sign_of(label, c, k) * (new - alpha[i, c]), &leader.p)
                alpha[i, c] = new
                changed = True
        return changed
    for c in range(k):
        sum_before += alpha[i, c]
    if leader.p.loss == LOG_LOSS:
        for c in range(k):                  # the scores without this row
            leader.open[c] = has_joined(leader, context, c)
            leader.excess[c] = leader.scores[c] + (-sum_before if c == label else alpha[i, c]) / ratio
        balance(&leader.excess[0], k, label, weight / ratio, &leader.open[0], &leader.shares[0])
        for c in range(k):
            leader.shares[c] *= weight
    else:
        for c in range(k):                  # 1 - m without this row, by q/σ
            leader.excess[c] = 0.0
            if c != label and has_joined(leader, context, c):
                leader.excess[c] = (1.0 - leader.scores[label] + leader.scores[c]) * ratio + (sum_before + alpha[i, c])
        share_out(&leader.excess[0], k, weight, &leader.shares[0], &leader.sorted[0])
    for c in range(k):
        if c != label and leader.shares[c] != alpha[i, c]:
            apply_step(leader.theta, data, leader.indices, lo, hi, c, alpha[i, c] - leader.shares[c], &leader.p)
            alpha[i, c] = leader.shares[c]
            changed = True
        if c != label:
            total += alpha[i, c]
    if total != sum_before:
        apply_step(leader.theta, data, leader.indices, lo, hi, label, total - sum_before, &leader.p)
    return changed


cdef inline void shuffle(Py_ssize_t* rows, Py_ssize_t n, uint64_t seed) noexcept nogil:
    """Shuffle rows (Fisher and Yates) with the generator splitmix64: the same seed gives the same order."""
    cdef Py_ssize_t i, j
    cdef uint64_t mixed
    for i in range(n - 1, 0, -1):
        seed += 0x9E3779B97F4A7C15U
        mixed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9U
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU
        j = <Py_ssize_t>((mixed ^ (mixed >> 31)) % <uint64_t>(i + 1))
        rows[i], rows[j] = rows[j], rows[i]


cdef inline double score_row(Leader leader, const floating[::1] data, Py_ssize_t i) noexcept nogil:
    """Compute the scores of row i; return ||x||²."""
    return scores_of(leader.theta, data, leader.indices, leader.indptr[i], leader.indptr[i + 1], &leader.scores[0], &leader.p)


cdef int sweep_rows(Leader leader, const floating[::1] data, Py_ssize_t n, PassContext* context) except -1 nogil:
    """Sweep over the first n rows until the gap is at most the tolerance (or rounding allows no less).

    A sweep visits the rows with a part in the gap in random order, which takes a tenth of the sweeps of the order of arrival.
    """
    cdef Py_ssize_t i, j, n_active, sweep
    cdef double q, gap, size, term, loss
    cdef bint changed
    for sweep in range(<Py_ssize_t>larger(leader.shared[PENDING] - 1.0, <double>0.0), MOST):
        leader.shared[PENDING] = sweep + 1.0
        context.budget = check_signals(context.budget, (leader.indptr[n] + 8 * n) * leader.k)
        gap = size = 0.0
        n_active = 0
        for i in range(n):
            if leader.weights[i] > 0.0:
                score_row(leader, data, i)
                loss = loss_of(leader, leader.labels[i], context)
                term = gap_of(leader, i, loss)
                gap += term
                size += leader.weights[i] * loss
                if term * n > leader.p.tolerance:       # (else for all rows, the gap would be within the tolerance)
                    leader.active[n_active] = i
                    n_active += 1
        leader.shared[GAP] = gap
        if gap <= larger(leader.p.tolerance, 1e-13 * size):
            break
        changed = False
        shuffle(&leader.active[0], n_active, (<uint64_t>n << 20) + <uint64_t>sweep)
        for j in range(n_active):
            i = leader.active[j]
            q = score_row(leader, data, i)
            changed |= ascend(leader, data, i, q, context)
        if not changed:
            break
    leader.shared[PENDING] = 0.0
    return 0


cdef bint in_range(Leader leader, double weight, double q, double max_abs) noexcept nogil:
    """Return True if nothing can overflow for a row of these scores; max_abs : the bound of the model after it."""
    cdef Py_ssize_t c
    cdef bint fine = q <= HUGE and weight <= HUGE and max_abs <= leader.p.limit and leader.p.sigma <= HUGE * q
    for c in range(leader.k):
        fine &= isfinite(leader.scores[c]) and fabs(leader.scores[c]) * leader.p.sigma <= HUGE * q
    return fine


cdef int learn_rows(Leader leader, const floating[::1] data, const Batch* b, PassContext* context) except -1 nogil:
    """Learn the rows from context.next on; those before have been learnt."""
    cdef double q, length, loss
    cdef bint fine
    cdef Round r
    if leader.shared[PENDING] > 0.0:
        sweep_rows(leader, data, context.next, context)
    while next_round(&r, b, context):
        leader.weights[r.i] = r.weight
        q = score_row(leader, data, r.i)
        before_step(BINARY, &leader.scores[0], 0.0, q, &r, b, context)
        length = r.weight * sqrt(q)
        fine = in_range(leader, r.weight, q, context.counters.max_abs_weight + length)
        if q == 0.0 and r.weight <= HUGE:
            fill(leader, r.i, context)
            if not r.newcomer:
                continue
        elif not fine:
            context.counters.skipped += q > 0.0
            leader.weights[r.i] = 0.0
            if not r.newcomer:
                continue
        context.counters.max_abs_weight += length if leader.weights[r.i] > 0.0 else 0.0
        loss = loss_of(leader, r.label, context)
        if loss > 0.0:          # (else w stays optimal. A new class's row has a loss: the others' scores add up to 0)
            if leader.weights[r.i] > 0.0:
                add_loss(r.weight * loss, context)
                after_step(&r, ascend(leader, data, r.i, q, context), context)
            sweep_rows(leader, data, r.i + 1, context)
    return 0


def learn(params, state, const floating[::1] data, Py_ssize_t first, Py_ssize_t n, int32_t[::1] predictions):
    """Learn the rows first .. n - 1 of a ForelState, whose rows before them have been learnt. data : the state's.

    On return the state's weights are the rows' effective ones (0: left out for its size). predictions : empty, or filled
    with the class predicted before each row, by the row's number.
    """
    cdef Leader leader = Leader(params, state)
    cdef double[::1] counts = state.counts, counters = state.counters
    cdef Batch b
    cdef PassContext context
    if n == 0:
        return
    b.n, b.n_rows, b.indptr, b.order = n, leader.labels.shape[0], &leader.indptr[0], NULL
    b.labels, b.sets, b.targets, b.weights, b.class_weights = &leader.labels[0], NULL, NULL, &leader.weights[0], NULL
    b.predictions = &predictions[0] if predictions.shape[0] else NULL
    context.counters = (<Counters*>&counters[0])[0]
    context.counts, context.n_classes = &counts[0], counts.shape[0]
    context.platt, context.target_margins = NULL, NULL
    open_records(&context, state.record, state.records_from)
    context.columns, context.correction, context.budget, context.average_from = leader.k, NULL, QUANTUM, -1
    context.next = first
    context.open_classes, context.balanced, context.costs = params.open_classes, params.balanced, WEIGHT
    try:
        with nogil:
            learn_rows(leader, data, &b, &context)
    finally:
        (<Counters*>&counters[0])[0] = context.counters


def decision(ForelParams p, const floating[::1] data, const int64_t[::1] indices, const int64_t[::1] indptr,
             const double[:, ::1] theta, double[:, ::1] scores):
    """Compute scores[i, c] = w_c.x_i."""
    cdef Py_ssize_t i, budget = QUANTUM
    with nogil:
        for i in range(scores.shape[0]):
            budget = check_signals(budget, (indptr[i + 1] - indptr[i] + 8) * theta.shape[1])
            scores_of(theta, data, indices, indptr[i], indptr[i + 1], &scores[i, 0], &p)
