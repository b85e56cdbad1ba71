"""The sparse geometries: what a feature's numbers mean, and the loops over the non-zeros of a row with one vector of weights.

The loops with a vector for each class stand in classes.pxd.

A feature owns two slots, a and b, of one flat state array (additive: one). Its row holds the first slots of all classes, then
the second slots, so that a non-zero touches one run of memory:

    one vector     feature j:   a = 2j,          b = 2j + 1                (w, σ side by side: one cache line a non-zero)
    k classes      feature j:   a = 2kj + c,     b = 2kj + k + c           (c the class)

What a and b are in each geometry stands beside its name, in _rules.pxd. The last row of the state is the constant feature (the
intercept). A row of X is the range [lo, hi) of data and indices; dense storage has the tag dense_t for an index type and column k
- lo. Sums are in double, from left to right: sparse equals dense.
"""
from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from .._rules cimport ADDITIVE, DUAL, FORGETTING, GAUSSIAN, MIRROR, POTENTIAL, Params, Step

cdef extern from "_compiled/lanes.h":
    void prefetch "onlinecls_prefetch" (const void* address) noexcept nogil
    ctypedef struct Pair "onlinecls_pair":      # two doubles side by side
        pass
    Pair pair_of(double first, double second) noexcept nogil
    Pair pair_of_floats(const float* at) noexcept nogil
    Pair pair_of_doubles(const double* at) noexcept nogil
    Pair pair_powers(double x) noexcept nogil       # (x, x²)
    Pair pair_times(Pair a, Pair b) noexcept nogil
    Pair pair_plus(Pair a, Pair b) noexcept nogil
    Pair pair_over(Pair a, Pair b) noexcept nogil
    Pair pair_least(Pair a, Pair b) noexcept nogil
    double pair_first(Pair a) noexcept nogil
    double pair_second(Pair a) noexcept nogil
    Pair pair_firsts(Pair a, Pair b) noexcept nogil
    Pair pair_seconds(Pair a, Pair b) noexcept nogil
    void variances_of_floats(bint potential, float** p, const float* x, float tau, float beta, float least) noexcept nogil
    void variances_of_doubles(bint potential, double** p, const double* x, double tau, double beta, double least) noexcept nogil
    void growing_of_floats(float** p, const float* x, float tau, float beta, float least, float growth, float most) noexcept nogil
    void growing_of_doubles(double** p, const double* x, double tau, double beta, double least, double growth,
                            double most) noexcept nogil
    void write_down_floats(float* at, size_t n, float growth, float most) noexcept nogil
    void write_down_doubles(double* at, size_t n, double growth, double most) noexcept nogil
    void rates_of_floats(float** p, const float* x, float tau, double eta, double delta) noexcept nogil
    void rates_of_doubles(double** p, const double* x, double tau, double eta, double delta) noexcept nogil


cdef enum:
    CACHE_LINE = 64         # bytes

ctypedef unsigned char dense_t

ctypedef fused index_t:
    int32_t
    int64_t
    dense_t

ctypedef fused floating:
    float
    double


cdef enum:                  # types of a model's values and of a row's indices: which loop visits rows
    FLOAT_INT32
    FLOAT_INT64
    FLOAT_DENSE
    DOUBLE_INT32
    DOUBLE_INT64
    DOUBLE_DENSE


cdef inline int storage_of(values, indices) except -1:
    """Return the number of a combination of types, for values and indices that have been checked."""
    cdef Py_ssize_t size = indices.itemsize
    return (FLOAT_INT32 if values.itemsize == 4 else DOUBLE_INT32) + (0 if size == 4 else 1 if size == 8 else 2)


ctypedef struct Row:
    Py_ssize_t lo
    Py_ssize_t hi
    Py_ssize_t ahead        # the prefetch distance, in non-zeros; 0 near the end


ctypedef struct Sums:
    double score            # w.x
    double q                # ||x||^2
    double v                # x'Σx


ctypedef struct Steps:      # the steps of a row
    Py_ssize_t n
    int64_t* classes        # whose vectors take them: rising; Crammer-Singer's two: the label, its rival
    Step* each
    void* workspace         # two numbers of the model's dtype for each class; NULL: there is but one vector


# --- one feature -------------------------------------------------------------------------------------------------------------

cdef inline double soft(double z, double threshold) noexcept nogil:
    cdef double size = fabs(z) - threshold
    if size <= 0.0:
        return 0.0
    return size if z > 0.0 else -size


cdef inline floating larger(floating a, floating b) noexcept nogil:
    return a if a > b else b


cdef inline floating smaller(floating a, floating b) noexcept nogil:
    return a if a < b else b


cdef inline double weight_of(int geometry, double first, double second, const Params* p) noexcept nogil:
    if geometry == POTENTIAL:
        return first * second
    if geometry == DUAL:
        return p.eta0 * soft(first, p.l1_sum) / (p.delta + sqrt(second))
    return first


cdef inline double root_of_sum(double G, double g) noexcept nogil:
    """√(G + g²), never below |g|, even where g² underflows."""
    cdef double root = sqrt(G + g * g)
    return root if root > fabs(g) else fabs(g)


cdef inline floating forgetful_variance(floating stored, const Params* p) noexcept nogil:
    """σ of a feature, which has grown with every row since it was stored, up to the first variance."""
    return <floating>p.growth * smaller(stored, <floating>p.stored_cap)


cdef inline void write_variances_down(floating[::1] state, Py_ssize_t n_classes, Params* p) noexcept nogil:
    """Store σ itself of all features: s begins with 1 again."""
    cdef Py_ssize_t c, at = n_classes, n = state.shape[0]
    if n_classes > 1:
        while at < n:
            for c in range(n_classes):
                state[at + c] = smaller(<floating>p.growth * state[at + c], <floating>p.variance)
            at += 2 * n_classes
    elif floating is float:
        write_down_floats(&state[0], n // 2, <float>p.growth, <float>p.variance)
    else:
        write_down_doubles(&state[0], n // 2, p.growth, p.variance)
    p.growth, p.stored_cap = 1.0, p.variance


# --- one row, one vector of weights --------------------------------------------------------------------------------------------

cdef inline Py_ssize_t column(const index_t[::1] indices, Py_ssize_t k, Py_ssize_t lo) noexcept nogil:
    if index_t is dense_t:
        return k - lo
    else:
        return indices[k]


cdef inline Pair pair_at(const floating[::1] state, Py_ssize_t a) noexcept nogil:
    """The two slots of a feature."""
    if floating is float:
        return pair_of_floats(&state[a])
    else:
        return pair_of_doubles(&state[a])


cdef inline Sums scan_single(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                             const Params* p) noexcept nogil:
    """Score and norm of a row where a feature has one number, the weight."""
    cdef Sums sums = Sums(0.0, 0.0, 0.0)
    cdef Py_ssize_t k
    cdef double x
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[indices[k + row.ahead]])
        x = data[k]
        sums.score += x * state[column(indices, k, row.lo)]
        sums.q += x * x
    sums.score += p.bias * state[state.shape[0] - 1]
    sums.q += p.bias * p.bias
    return sums


cdef inline Sums scan_gaussian(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                               const Params* p) noexcept nogil:
    """Score and variance of a row: both sums, of x w and x² σ, in one register."""
    cdef Pair sums = pair_of(0.0, 0.0)
    cdef Py_ssize_t k
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
        sums = pair_plus(sums, pair_times(pair_powers(data[k]), pair_at(state, 2 * column(indices, k, row.lo))))
    sums = pair_plus(sums, pair_times(pair_powers(p.bias), pair_at(state, state.shape[0] - 2)))
    return Sums(pair_first(sums), 0.0, pair_second(sums))


cdef inline Sums scan_forgetting(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                                 const Params* p) noexcept nogil:
    """The same where variances grow: σ is s times what is stored, of which no more than σ_0/s counts."""
    cdef Pair sums = pair_of(0.0, 0.0), most = pair_of(INFINITY, <floating>p.stored_cap)
    cdef Py_ssize_t k
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
        sums = pair_plus(sums, pair_times(pair_powers(data[k]), pair_least(
            pair_at(state, 2 * column(indices, k, row.lo)), most)))
    sums = pair_plus(sums, pair_times(pair_powers(p.bias), pair_least(pair_at(state, state.shape[0] - 2), most)))
    return Sums(pair_first(sums), 0.0, p.growth * pair_second(sums))


cdef inline Sums scan_potential(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                                const Params* p) noexcept nogil:
    """Score, norm and variance of a row, w = σθ."""
    cdef Pair sums = pair_of(0.0, 0.0), powers, slots
    cdef double q = 0.0
    cdef Py_ssize_t k
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
        powers = pair_powers(data[k])
        slots = pair_at(state, 2 * column(indices, k, row.lo))
        slots = pair_times(slots, pair_of(pair_second(slots), 1.0))
        sums = pair_plus(sums, pair_times(powers, slots))
        q += pair_second(powers)
    slots = pair_at(state, state.shape[0] - 2)
    slots = pair_times(slots, pair_of(pair_second(slots), 1.0))
    sums = pair_plus(sums, pair_times(pair_powers(p.bias), slots))
    return Sums(pair_first(sums), q + p.bias * p.bias, pair_second(sums))


cdef inline Sums scan_rate(int geometry, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                           const Params* p) noexcept nogil:
    """Score and norm of a row of the geometries with a rate for each feature, MIRROR and DUAL."""
    cdef Sums sums = Sums(0.0, 0.0, 0.0)
    cdef Py_ssize_t k, a
    cdef double x
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
        a = 2 * column(indices, k, row.lo)
        x = data[k]
        sums.score += x * weight_of(geometry, state[a], state[a + 1], p)
        sums.q += x * x
    a = state.shape[0] - 2
    sums.score += p.bias * weight_of(geometry, state[a], state[a + 1], p)
    sums.q += p.bias * p.bias
    return sums


cdef inline Sums scan(int geometry, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                      const Params* p) noexcept nogil:
    """Score, norm and variance of a row under one vector of weights, as far as the geometry has them."""
    if geometry == ADDITIVE:
        return scan_single(state, data, indices, row, p)
    elif geometry == GAUSSIAN:
        return scan_gaussian(state, data, indices, row, p)
    elif geometry == FORGETTING:
        return scan_forgetting(state, data, indices, row, p)
    elif geometry == POTENTIAL:
        return scan_potential(state, data, indices, row, p)
    elif geometry == MIRROR:
        return scan_rate(MIRROR, state, data, indices, row, p)
    else:
        return scan_rate(DUAL, state, data, indices, row, p)


cdef inline double lookahead_weight(const floating[::1] state, Py_ssize_t at, Py_ssize_t gap, double x,
                                    double beta) noexcept nogil:
    cdef double sigma = state[at + gap]
    return x * state[at] * sigma / (1.0 + beta * x * x * sigma)


cdef inline void apply_step_lanes(int geometry, floating** places, const floating* x, floating tau, floating beta, floating least,
                              const Params* p) noexcept nogil:
    """`apply_step_feature` of as many features as 16 bytes hold numbers: their divisions wait for one another less."""
    if geometry == MIRROR:
        if floating is float:
            rates_of_floats(places, x, tau, p.eta0, p.delta)
        else:
            rates_of_doubles(places, x, tau, p.eta0, p.delta)
    elif geometry == FORGETTING:
        if floating is float:
            growing_of_floats(places, x, tau, beta, least, <float>p.growth, <float>p.stored_cap)
        else:
            growing_of_doubles(places, x, tau, beta, least, p.growth, p.stored_cap)
    else:
        if floating is float:
            variances_of_floats(geometry == POTENTIAL, places, x, tau, beta, least)
        else:
            variances_of_doubles(geometry == POTENTIAL, places, x, tau, beta, least)


cdef inline double lookahead_margin_one(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                                        double beta, const Params* p) noexcept nogil:
    """`peek` where there is one vector of weights: two divisions at a time."""
    cdef Pair a, b, x, theta, sigma, ones = pair_of(1.0, 1.0), betas = pair_of(beta, beta)
    cdef Py_ssize_t k, last = row.hi - (row.hi - row.lo) % 2
    cdef double total = 0.0
    for k in range(row.lo, last, 2):
        a, b = pair_at(state, 2 * column(indices, k, row.lo)), pair_at(state, 2 * column(indices, k + 1, row.lo))
        x, theta, sigma = pair_at(data, k), pair_firsts(a, b), pair_seconds(a, b)
        a = pair_times(pair_times(x, theta), sigma)
        a = pair_over(a, pair_plus(ones, pair_times(pair_times(pair_times(betas, x), x), sigma)))
        total += pair_first(a)
        total += pair_second(a)
    if last < row.hi:
        total += lookahead_weight(state, 2 * column(indices, last, row.lo), 1, data[last], beta)
    return total + lookahead_weight(state, state.shape[0] - 2, 1, p.bias, beta)
