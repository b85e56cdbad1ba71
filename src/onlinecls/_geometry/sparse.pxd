"""The geometry: every loop over the non-zeros of a row, and what a feature's numbers mean. Nothing else is O(nnz).

A feature owns two slots, a and b, of one flat state array (additive: one). Its row holds the first slots of all classes, then
the second slots, so that a non-zero touches one run of memory:

    binary       feature j:   a = 2j,          b = 2j + 1                (w, σ side by side: one cache line a non-zero)
    k classes    feature j:   a = 2kj + c,     b = 2kj + k + c           (c the class)

    geometry     first slot             second slot           the weight that predicts
    ADDITIVE     w                      -                     w
    GAUSSIAN     w                      σ, its variance       w
    POTENTIAL    θ                      σ                     σθ
    MIRROR       w                      G = Σ g²              w
    DUAL         z = -Σ g               G                     η soft(z, λt) / (δ + √G)
    FULL_*       w                      -  (Σ: _full.pxd)     w
    P_NORM       θ                      see _link.pyx         ∇f*(θ)
    CENTRE       u                      -                     a u
    SINH, EXP    θ                      see _multiplicative.pxd

The last row of the state is the constant feature (the intercept). A row of X is the range [lo, hi) of data and indices; dense
storage has the tag dense_t for an index type and column k - lo. Sums are in double, from left to right: sparse equals dense.
"""
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from .._rules cimport Params, Step

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
      #define onlinecls_prefetch(address) __builtin_prefetch(address)
    #else
      #define onlinecls_prefetch(address)
    #endif
    """
    void prefetch "onlinecls_prefetch" (const void* address) noexcept nogil


cdef enum Geometry:
    ADDITIVE
    GAUSSIAN
    POTENTIAL
    MIRROR
    DUAL
    FULL_GAUSSIAN
    FULL_POTENTIAL
    P_NORM
    CENTRE
    SINH
    EXP

cdef enum:
    AHEAD = 80              # non-zeros between a state row's prefetch and its use, at least: a row's own number
    FAR_AHEAD = 128         # and at most: beyond, what was fetched may be gone again
    CACHE_LINE = 64         # bytes

ctypedef unsigned char dense_t

ctypedef fused index_t:
    int32_t
    int64_t
    dense_t

ctypedef fused floating:
    float
    double


ctypedef struct Row:
    Py_ssize_t lo
    Py_ssize_t hi
    Py_ssize_t ahead        # how far ahead in storage to prefetch; 0 near the end


ctypedef struct Sums:
    double score            # w.x
    double q                # ||x||^2
    double v                # x'Σx


# --- one feature -------------------------------------------------------------------------------------------------------------

cdef inline double soft(double z, double threshold) noexcept nogil:
    cdef double size = fabs(z) - threshold
    if size <= 0.0:
        return 0.0
    return size if z > 0.0 else -size


cdef inline floating larger(floating a, floating b) noexcept nogil:
    return a if a > b else b


cdef inline double weight_of(int geometry, double first, double second, const Params* p) noexcept nogil:
    if geometry == POTENTIAL:
        return first * second
    if geometry == DUAL:
        return p.eta0 * soft(first, p.threshold) / (p.delta + sqrt(second))
    return first


cdef inline double root_of_sum(double G, double g) noexcept nogil:
    """√(G + g²), never below |g|, even where g² underflows."""
    cdef double root = sqrt(G + g * g)
    return root if root > fabs(g) else fabs(g)


cdef inline void see(int geometry, const floating[::1] state, Py_ssize_t a, Py_ssize_t b, double x, Sums* sums,
                     const Params* p) noexcept nogil:
    cdef double second = 0.0
    if geometry != ADDITIVE:
        second = state[b]
    sums.score += x * weight_of(geometry, state[a], second, p)
    if geometry == GAUSSIAN or geometry == POTENTIAL:
        sums.v += x * x * second
    if geometry != GAUSSIAN:
        sums.q += x * x


cdef inline void move_feature(int geometry, floating[::1] state, Py_ssize_t a, Py_ssize_t b, floating x, floating tau,
                              floating beta, const Params* p) noexcept nogil:
    """The only writes to a model: one feature takes the step tau, beta along x. In the model's own precision, which is what is
    kept of it anyway: converting float32 to double and back would take as long as the step."""
    cdef floating second, one = 1.0, g = tau * x
    if geometry == ADDITIVE:
        state[a] += g
    elif geometry == GAUSSIAN:
        second = state[b]
        g = x * second
        state[a] += tau * g
        state[b] = larger(second / (one + beta * (x * g)), <floating>p.floor)
    elif geometry == POTENTIAL:
        second = state[b]
        state[a] += g
        state[b] = larger(second / (one + beta * (x * (x * second))), <floating>p.floor)
    elif geometry == MIRROR:
        state[a] += <floating>(p.eta0 * (g / (p.delta + root_of_sum(state[b], g))))
        state[b] += g * g
    else:
        state[a] += g
        state[b] += g * g


# --- one row, one vector of weights --------------------------------------------------------------------------------------------

cdef inline Py_ssize_t column(const index_t[::1] indices, Py_ssize_t k, Py_ssize_t lo) noexcept nogil:
    if index_t is dense_t:
        return k - lo
    else:
        return indices[k]


cdef inline Row row_at(const int64_t[::1] indptr, const int64_t[::1] order, Py_ssize_t i) noexcept nogil:
    """Row i of the order given (none: storage order), and how far from its non-zeros those lie that come next."""
    cdef Row row
    cdef Py_ssize_t n = indptr.shape[0] - 1, at = i
    if order.shape[0]:
        at = order[i]
    row.lo = indptr[at]
    row.hi = indptr[at + 1]
    row.ahead = max(AHEAD, min(row.hi - row.lo, FAR_AHEAD))
    if order.shape[0]:
        row.ahead = indptr[order[i + 1]] - row.lo if i + 1 < order.shape[0] else 0
    if row.hi + row.ahead > indptr[n]:
        row.ahead = 0
    return row


cdef inline Sums scan_as(int geometry, const floating[::1] state, Py_ssize_t width, const floating[::1] data,
                         const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    cdef Sums sums = Sums(0.0, 0.0, 0.0)
    cdef Py_ssize_t k, a
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[width * <Py_ssize_t>indices[k + row.ahead]])
        a = width * column(indices, k, row.lo)
        see(geometry, state, a, a + 1, data[k], &sums, p)
    a = state.shape[0] - width
    see(geometry, state, a, a + width - 1, p.bias, &sums, p)
    return sums


cdef inline Sums scan(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                      const Params* p) noexcept nogil:
    """Score, norm and variance of a row under one vector of weights. (Constants below: a loop of its own for each geometry.)"""
    if p.geometry == ADDITIVE:
        return scan_as(ADDITIVE, state, 1, data, indices, row, p)
    elif p.geometry == GAUSSIAN:
        return scan_as(GAUSSIAN, state, 2, data, indices, row, p)
    elif p.geometry == POTENTIAL:
        return scan_as(POTENTIAL, state, 2, data, indices, row, p)
    elif p.geometry == MIRROR:
        return scan_as(MIRROR, state, 2, data, indices, row, p)
    else:
        return scan_as(DUAL, state, 2, data, indices, row, p)


# --- one row, some classes: which[:n], in a feature's run of `width` slots, the second slots `gap` behind the first ------------

cdef inline void move_as(int geometry, floating[::1] state, Py_ssize_t width, Py_ssize_t gap, const int64_t* which, Py_ssize_t n,
                         const Step* steps, const floating[::1] data, const index_t[::1] indices, Row row,
                         const Params* p) noexcept nogil:
    cdef Py_ssize_t k, i, at
    for k in range(row.lo, row.hi):
        at = width * column(indices, k, row.lo)
        for i in range(n):
            move_feature(geometry, state, at + which[i], at + gap + which[i], data[k], <floating>steps[i].tau,
                         <floating>steps[i].beta, p)
    at = state.shape[0] - width
    for i in range(n):
        move_feature(geometry, state, at + which[i], at + gap + which[i], <floating>p.bias, <floating>steps[i].tau,
                     <floating>steps[i].beta, p)


cdef inline void move(floating[::1] state, Py_ssize_t k, const int64_t* which, Py_ssize_t n, const Step* steps,
                      const floating[::1] data, const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """Take steps[i] for class which[i] of k. (Geometry and, where k is a constant, width are constants in each loop.)"""
    if p.geometry == ADDITIVE:
        move_as(ADDITIVE, state, k, 0, which, n, steps, data, indices, row, p)
    elif p.geometry == GAUSSIAN:
        move_as(GAUSSIAN, state, 2 * k, k, which, n, steps, data, indices, row, p)
    elif p.geometry == POTENTIAL:
        move_as(POTENTIAL, state, 2 * k, k, which, n, steps, data, indices, row, p)
    elif p.geometry == MIRROR:
        move_as(MIRROR, state, 2 * k, k, which, n, steps, data, indices, row, p)
    else:
        move_as(DUAL, state, 2 * k, k, which, n, steps, data, indices, row, p)


cdef inline void spread(const floating[::1] state, Py_ssize_t width, Py_ssize_t gap, const int64_t* which, Py_ssize_t n,
                        const floating[::1] data, const index_t[::1] indices, Row row, double* v, const Params* p) noexcept nogil:
    """v[i] = x'Σx of class which[i]."""
    cdef Py_ssize_t k, i, at
    cdef double square
    for i in range(n):
        v[i] = 0.0
    for k in range(row.lo, row.hi):
        at = width * column(indices, k, row.lo) + gap
        square = <double>data[k] * data[k]
        for i in range(n):
            v[i] += square * state[at + which[i]]
    at = state.shape[0] - width + gap
    for i in range(n):
        v[i] += p.bias * p.bias * state[at + which[i]]


cdef inline double peek(const floating[::1] state, Py_ssize_t width, Py_ssize_t gap, Py_ssize_t c, const floating[::1] data,
                        const index_t[::1] indices, Row row, double beta, const Params* p) noexcept nogil:
    """x'Σ_tθ of class c with x already in Σ_t:  Σ_i x_i θ_i σ_i / (1 + β x_i² σ_i)."""
    cdef Py_ssize_t k, at
    cdef double x, sigma, total = 0.0
    for k in range(row.lo, row.hi):
        at = width * column(indices, k, row.lo) + c
        x = data[k]
        sigma = state[at + gap]
        total += x * state[at] * sigma / (1.0 + beta * x * x * sigma)
    at = state.shape[0] - width + c
    sigma = state[at + gap]
    return total + p.bias * state[at] * sigma / (1.0 + beta * p.bias * p.bias * sigma)


# --- one row, all classes ------------------------------------------------------------------------------------------------------

cdef inline void see_classes(int geometry, const floating[::1] state, Py_ssize_t at, double x, double[:, ::1] scores,
                             Py_ssize_t i, const Params* p) noexcept nogil:
    cdef Py_ssize_t c, n_classes = scores.shape[1]
    if geometry == POTENTIAL or geometry == DUAL:
        for c in range(n_classes):
            scores[i, c] += x * weight_of(geometry, state[at + c], state[at + n_classes + c], p)
    else:
        for c in range(n_classes):
            scores[i, c] += x * state[at + c]


cdef inline double scan_classes(int geometry, const floating[::1] state, Py_ssize_t width, const floating[::1] data,
                                const index_t[::1] indices, Row row, double[:, ::1] scores, Py_ssize_t i,
                                const Params* p) noexcept nogil:
    """The scores of all classes, into scores[i]; returns ||x||^2."""
    cdef Py_ssize_t k, c, line, at, n_classes = scores.shape[1], per_line = CACHE_LINE // sizeof(floating)
    cdef Py_ssize_t n_lines = (width + per_line - 1) // per_line
    cdef double q = p.bias * p.bias
    for c in range(n_classes):
        scores[i, c] = 0.0
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            at = width * <Py_ssize_t>indices[k + row.ahead]
            for line in range(n_lines):
                prefetch(&state[at + line * per_line])
        at = width * column(indices, k, row.lo)
        see_classes(geometry, state, at, data[k], scores, i, p)
        q += <double>data[k] * data[k]
    see_classes(geometry, state, state.shape[0] - width, p.bias, scores, i, p)
    return q


# --- averaging -----------------------------------------------------------------------------------------------------------------

cdef inline void remember(int geometry, const floating[::1] state, double[::1] drift, Py_ssize_t width, Py_ssize_t n_classes,
                          Py_ssize_t c, const floating[::1] data, const index_t[::1] indices, Row row, double rounds,
                          const Params* p) noexcept nogil:
    """drift += rounds * w on the row's features. Called before a step with -rounds and after it with rounds, it leaves
    drift = Σ_s s Δw_s, from which the average of all w_t is w - drift/T: O(nnz) a row."""
    cdef Py_ssize_t k, j, n_columns = state.shape[0] // width
    for k in range(row.lo, row.hi + 1):
        if k < row.hi and data[k] == 0.0:   # a stored zero moves nothing: leave no rounding either
            continue
        j = column(indices, k, row.lo) if k < row.hi else n_columns - 1
        drift[j * n_classes + c] += rounds * weight_of(
            geometry, state[j * width + c], state[j * width + width - n_classes + c], p)


cdef inline double drift_score(const double[::1] drift, Py_ssize_t n_classes, Py_ssize_t c, const floating[::1] data,
                               const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    cdef Py_ssize_t k
    cdef double total = 0.0
    for k in range(row.lo, row.hi):
        total += data[k] * drift[n_classes * column(indices, k, row.lo) + c]
    return total + p.bias * drift[drift.shape[0] - n_classes + c]
