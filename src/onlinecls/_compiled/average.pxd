"""The average of all w_t, kept lazily: a step costs O(nnz), and rows without one nothing.

drift = Σ_s s Δw_s, the steps weighted by the rounds before them, so that the average over T rounds is w - drift/T.
"""
from .._rules cimport ADDITIVE, Params
from .rounds cimport Books
from .sparse cimport Moves, Row, column, floating, index_t, weight_of


cdef inline void remember(const floating[::1] state, Books* books, const Moves* moves, double rounds, const floating[::1] data,
                          const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """drift += rounds * w on the row's features, of the vectors that move: with -rounds before a step, with rounds after."""
    cdef Py_ssize_t i, k, j, c, width = books.columns if p.geometry == ADDITIVE else 2 * books.columns
    cdef Py_ssize_t n_features = state.shape[0] // width - 1
    for i in range(moves.n):
        c = moves.which[i]
        for k in range(row.lo, row.hi + 1):
            if k < row.hi and data[k] == 0.0:   # a stored zero moves nothing: leave no rounding either
                continue
            j = column(indices, k, row.lo) if k < row.hi else n_features
            books.drift[j * books.columns + c] += rounds * weight_of(
                p.geometry, state[j * width + c], state[j * width + width - books.columns + c], p)


cdef inline double drift_score(const double* drift, Py_ssize_t columns, Py_ssize_t c, Py_ssize_t n_features,
                               const floating[::1] data, const index_t[::1] indices, Row row, double bias) noexcept nogil:
    """drift.x of vector c."""
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(row.lo, row.hi):
        total += data[k] * drift[columns * column(indices, k, row.lo) + c]
    return total + bias * drift[columns * n_features + c]
