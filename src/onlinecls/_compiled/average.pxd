"""The average of all w_t, kept lazily: a step costs O(nnz), and rows without one nothing.

correction = Σ_s s Δw_s, the steps weighted by the rounds before them, so that the average over T rounds is w - correction/T.
"""
from .._rules cimport ADDITIVE, Params
from .rounds cimport PassContext, averaged
from .sparse cimport Moves, Row, column, floating, index_t, weight_of


cdef inline void update_average(double sign, const floating[::1] state, PassContext* context, const Moves* moves,
                                const floating[::1] data, const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """correction += sign * rounds * w on the row's features, of the vectors that move: sign is -1 before a step, 1 after it."""
    cdef double rounds = sign * averaged(context)
    cdef Py_ssize_t i, k, j, c, width = context.columns if p.geometry == ADDITIVE else 2 * context.columns
    cdef Py_ssize_t n_features = state.shape[0] // width - 1
    for i in range(moves.n):
        c = moves.which[i]
        for k in range(row.lo, row.hi + 1):
            if k < row.hi and data[k] == 0.0:   # a stored zero moves nothing: leave no rounding either
                continue
            j = column(indices, k, row.lo) if k < row.hi else n_features
            context.correction[j * context.columns + c] += rounds * weight_of(
                p.geometry, state[j * width + c], state[j * width + width - context.columns + c], p)


cdef inline double correction_score(const double* correction, Py_ssize_t columns, Py_ssize_t c, Py_ssize_t n_features,
                                    const floating[::1] data, const index_t[::1] indices, Row row, double bias) noexcept nogil:
    """correction.x of vector c."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(row.lo, row.hi):
        total += data[k] * correction[columns * column(indices, k, row.lo) + c]
    return total + bias * correction[columns * n_features + c]
