"""The mean of the rows so far, and its score by every vector: how the weights lie at present, whatever a row says.

The last weights of a learner that takes large steps lean to one side or the other, by the rows that came last, and all scores
with them. Probabilities know of it by the mean row's score (see update_platt of rounds.pxd). `total` is the sum of the rows over
their lengths, so that one as long as all others together is no more than they are; and, last, `met`, that of the same shares of
the constant feature. `level` = w.total is kept beside each vector. A step moves it by what it changes on the row's features,
O(nnz), where it moves no other weight; a full covariance makes it anew. An average leans little and does without.
"""
from libc.math cimport fabs, sqrt

from .._rules cimport ADDITIVE, Params
from .average cimport update_average
from .rounds cimport Batch, PassContext, Round, averaged, observe_scores, unlikely
from .sparse cimport Moves, Row, column, dense_t, floating, index_t, prefetch, weight_of


cdef inline double within(double number) noexcept nogil:
    """Clamp to ±1e300 (NaN included)."""
    if -1e300 <= number <= 1e300:
        return number
    return 1e300 if number > 0.0 else -1e300        # (of NaN, too)


cdef inline void meet(const double* scores, const Round* r, const Batch* b, PassContext* context, const floating[::1] data,
                      const index_t[::1] indices, const Params* p) noexcept nogil:
    """Count a row that is new in, if it is not all zeros; scores : its own, w.x of each vector, within double's range."""
    cdef Py_ssize_t k, c, j
    cdef double weight = 1.0 if b.weights == NULL else b.weights[r.at], square = 0.0, length
    for c in range(context.columns):
        if not fabs(scores[c]) <= 1e150:
            return
    for k in range(r.row.lo, r.row.hi):
        square += <double>data[k] * data[k]
    if square == 0.0:
        return
    length = sqrt(square)
    weight /= length if length > p.bias else p.bias     # (0 of a row beyond double's range)
    for c in range(context.columns):
        context.platt[c].level = within(context.platt[c].level + weight * scores[c])
    for k in range(r.row.lo, r.row.hi):
        if index_t is not dense_t:
            prefetch(&context.total[indices[k + r.row.ahead]])
        j = column(indices, k, r.row.lo)
        context.total[j] = within(context.total[j] + weight * data[k])
    context.met[0] = within(context.met[0] + weight)


cdef inline void observe_row(const double* scores, double q, const Round* r, const Batch* b, PassContext* context,
                             const floating[::1] data, const index_t[::1] indices, const Params* p) noexcept nogil:
    """`observe_scores` of a learner that keeps the mean row."""
    if unlikely(context.has_observers):
        observe_scores(scores, q, r, b, context)
        if context.total != NULL and not context.are_seen:
            meet(scores, r, b, context, data, indices, p)


cdef inline void update_mean_scores(double sign, const floating[::1] state, PassContext* context, const Moves* moves,
                                    const floating[::1] data, const index_t[::1] indices, Row row,
                                    const Params* p) noexcept nogil:
    """level += sign * w.total on the row's features, of the vectors that move: -1 before a step, 1 after."""
    cdef Py_ssize_t i, k, j, c, width = context.columns if p.geometry == ADDITIVE else 2 * context.columns
    cdef Py_ssize_t second = width - context.columns, last = state.shape[0] - width
    cdef double level
    for i in range(moves.n):
        c = moves.which[i]
        level = p.bias * context.met[0] * weight_of(p.geometry, state[last + c], state[last + second + c], p)
        for k in range(row.lo, row.hi):
            if data[k] != 0.0:      # (a stored zero moves nothing)
                j = column(indices, k, row.lo)
                level += context.total[j] * weight_of(p.geometry, state[j * width + c], state[j * width + second + c], p)
        context.platt[c].level = within(context.platt[c].level + sign * level)


cdef inline void refresh_mean_scores(const floating[::1] state, PassContext* context, const Params* p) noexcept nogil:
    """level = w.total, of all vectors of a model that stores w alone and whose steps move all of it."""
    cdef Py_ssize_t c, j, k = context.columns, last = state.shape[0] - k
    cdef double level
    for c in range(k):
        level = p.bias * context.met[0] * state[last + c]
        for j in range(last // k):
            level += context.total[j] * state[j * k + c]
        context.platt[c].level = within(level)


cdef inline void follow_weights(double sign, const floating[::1] state, PassContext* context, const Moves* moves,
                                const floating[::1] data, const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """Before a step (-1) and after it (1): what follows the weights as they move."""
    if context.correction != NULL:
        update_average(state, context, moves, sign * averaged(context), data, indices, row, p)
    else:
        update_mean_scores(sign, state, context, moves, data, indices, row, p)
