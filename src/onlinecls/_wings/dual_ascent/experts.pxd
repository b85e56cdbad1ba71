"""Hedge: experts are weighted by powers of their losses, all computed anew in each round: O(experts) a row."""
from libc.math cimport exp, log, sqrt

from ..shared.dual_params cimport AUTO, AscentParams, Shared
from ..._compiled.rounds cimport Batch, PassContext, Round, add_loss, after_step, count_mistake, next_round
from ..._compiled.sparse cimport Row, column, floating, index_t, larger


cdef inline double hedge_rate(double t, Py_ssize_t n, const AscentParams* p) noexcept nogil:
    """Return η of round t = 1, 2, ..."""
    return sqrt(8.0 * log(<double>n) / t) if p.schedule == AUTO else p.sigma


cdef inline void weigh_experts(const floating[::1] theta, double t, double[::1] w, const AscentParams* p) noexcept nogil:
    """Compute the weights of round t, w_j = exp(η θ_j) / Σ exp(η θ)."""
    cdef Py_ssize_t j, n = w.shape[0]
    cdef double rate = hedge_rate(t, n, p), most = theta[0], total = 0.0
    for j in range(n):
        most = larger(most, <double>theta[j])
    for j in range(n):
        w[j] = exp(rate * (theta[j] - most))
        total += w[j]
    for j in range(n):
        w[j] /= total


cdef inline double chance(const double[::1] w, const floating[::1] data, const index_t[::1] indices, Row row) noexcept nogil:
    """Return w.x of advice in [0, 1]."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(row.lo, row.hi):
        total += data[j] * w[column(indices, j, row.lo)]
    return total


cdef inline int learn_experts(double[::1] w, Shared* shared, floating[::1] state, const floating[::1] data,
                              const index_t[::1] indices, const Batch* b, PassContext* context,
                              const AscentParams* p) except -1 nogil:
    """Learn rows of experts' advice: θ_j is an expert's right advice less its wrong advice. O(experts) a row.

    The expected loss of the randomised prediction is summed, weighted in counters.loss and unweighted in shared.dual_gain.
    w : workspace for the weights. Advice x in [-1, 1] is the chance (1 + x)/2: only x/2 counts, as 1/2 is common to all.
    """
    cdef Py_ssize_t j
    cdef bint moved
    cdef double score, loss, share = 0.5 if p.is_signed else 1.0
    cdef Round r
    while next_round(&r, b, context):
        context.budget -= 4 * w.shape[0]
        weigh_experts(state, context.counters.rounds, w, p)
        score = share * chance(w, data, indices, r.row) + (0.5 if p.is_signed else 0.0)
        count_mistake(1 - r.label if r.newcomer else score > 0.5, &r, b, context)
        loss = 1.0 - score if r.label else score
        shared.dual_gain += loss
        add_loss(r.weight * loss, context)
        if context.counters.max_abs_weight + r.weight > p.limit:
            context.counters.skipped += 1.0
            continue
        context.counters.max_abs_weight += r.weight
        moved = False       # (dense rows may be all zeros)
        for j in range(r.row.lo, r.row.hi):
            state[column(indices, j, r.row.lo)] += <floating>((share if r.label else -share) * r.weight * data[j])
            moved |= data[j] != 0.0
        after_step(&r, moved, context)
    return 0
