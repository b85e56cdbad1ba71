"""The sparse geometries: the layout of a state, and loops that read the non-zeros of a row with one vector of weights.

The loops with a vector for each class are in classes.pxd, the update is in _core.pyx.

A feature owns two slots, a and b, of one flat state array (additive: one). Its row holds the first slots of all classes, then
the second slots, so that a non-zero touches one run of memory:

    one vector     feature j:   a = 2j,          b = 2j + 1                (w, σ side by side: one cache line a non-zero)
    k classes      feature j:   a = 2kj + c,     b = 2kj + k + c           (c the class)

Where classes join, k is the room for vectors, and each class takes the next place in it (`Layout`).

_rules.pxd says what a and b hold in each geometry. The last row of the state is the constant feature (the
intercept). A row of X is the range [lo, hi) of data and indices; dense storage has the tag dense_t as index type, and column k -
lo. Sums are in double, from left to right: sparse equals dense.
"""
from libc.math cimport INFINITY, NAN, fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from .._rules cimport DUAL, FORGETTING, GAUSSIAN, MIRROR, POTENTIAL, PROXIMAL, Params, Slots, Step, slots_of

cdef extern from "_compiled/lanes.h":
    void prefetch "onlinecls_prefetch" (const void* address) noexcept nogil
    ctypedef struct double2 "onlinecls_double2":      # two doubles side by side
        pass
    double2 double2_of(double first, double second) noexcept nogil
    double2 double2_of_floats(const float* at) noexcept nogil
    double2 double2_of_doubles(const double* at) noexcept nogil
    double2 double2_powers(double x) noexcept nogil       # (x, x²)
    double2 double2_mul(double2 a, double2 b) noexcept nogil
    double2 double2_add(double2 a, double2 b) noexcept nogil
    double2 double2_div(double2 a, double2 b) noexcept nogil
    double2 double2_min(double2 a, double2 b) noexcept nogil
    double double2_first(double2 a) noexcept nogil
    double double2_second(double2 a) noexcept nogil
    double2 double2_firsts(double2 a, double2 b) noexcept nogil
    double2 double2_seconds(double2 a, double2 b) noexcept nogil
    double2 double2_shrunk(double2 z, double2 G, double eta, double threshold, double delta) noexcept nogil
    void variances_floats(bint potential, float** p, const float* x, float tau, float beta, float least) noexcept nogil
    void variances_doubles(bint potential, double** p, const double* x, double tau, double beta, double least) noexcept nogil
    void growing_floats(float** p, const float* x, float tau, float beta, float least, float growth, float most) noexcept nogil
    void growing_doubles(double** p, const double* x, double tau, double beta, double least, double growth,
                         double most) noexcept nogil
    void write_down_floats(float* at, size_t n, float growth, float most) noexcept nogil
    void write_down_doubles(double* at, size_t n, double growth, double most) noexcept nogil
    void rates_floats(float** p, const float* x, float tau, double eta, double delta) noexcept nogil
    void rates_doubles(double** p, const double* x, double tau, double eta, double delta) noexcept nogil
    void proximal_floats(float** p, const float* x, float tau, double threshold, double delta, float tiny) noexcept nogil
    void proximal_doubles(double** p, const double* x, double tau, double threshold, double delta, double tiny) noexcept nogil
    double pulled(double z, double n, double grown, double g, double threshold, double delta) noexcept nogil


cdef enum:
    CACHE_LINE = 64         # bytes

ctypedef unsigned char dense_t

ctypedef fused index_t:
    int32_t
    dense_t

ctypedef fused floating:
    float
    double


ctypedef struct Row:
    Py_ssize_t lo
    Py_ssize_t hi
    Py_ssize_t ahead        # the prefetch distance, in non-zeros; 0 near the end


ctypedef struct Sums:
    double score            # w.x
    double q                # ||x||^2
    double v                # x'Σx


ctypedef struct Layout:     # where the vectors of all classes lie among a feature's slots
    Py_ssize_t n            # vectors, at the first n places
    Py_ssize_t room         # places there are
    const int64_t* places   # of each class's vector; NULL: the numbers of the classes


ctypedef struct Steps:      # the steps of a row
    Py_ssize_t n
    int64_t* places         # of the vectors that step; Crammer-Singer's two: the label's, its rival's
    Step* each
    void* workspace         # two numbers of the model's dtype for each class; NULL: a single vector


cdef inline Py_ssize_t place_of(const Layout* layout, Py_ssize_t c) noexcept nogil:
    return c if layout.places == NULL else layout.places[c]


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
    if geometry == DUAL or geometry == PROXIMAL:
        return p.eta0 * soft(first, p.l1_sum) / (p.delta + sqrt(second))
    return first


cdef inline double root_of_sum(double G, double g) noexcept nogil:
    """Return √(G + g²), never below |g|, even where g² underflows."""
    cdef double root = sqrt(G + g * g)
    return root if root > fabs(g) else fabs(g)


cdef inline floating forgetful_variance(floating stored, const Params* p) noexcept nogil:
    """Return σ of a feature, which has grown with every row since it was stored, up to the initial variance."""
    return <floating>p.growth * smaller(stored, <floating>p.stored_cap)


cdef inline void write_variances_down(floating[::1] state, Py_ssize_t room, Params* p) noexcept nogil:
    """Store σ itself for all features, so that s is 1 again."""
    cdef Py_ssize_t c, at = room, n = state.shape[0]
    if room > 1:
        while at < n:
            for c in range(room):
                state[at + c] = smaller(<floating>p.growth * state[at + c], <floating>p.variance)
            at += 2 * room
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


cdef inline double2 double2_at(const floating[::1] state, Py_ssize_t a) noexcept nogil:
    """Load the two slots of a feature."""
    if floating is float:
        return double2_of_floats(&state[a])
    else:
        return double2_of_doubles(&state[a])


cdef inline Sums scan_single(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                             const Params* p) noexcept nogil:
    """Compute score and norm of a row if a feature has one slot, the weight."""
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
    """Compute score and variance of a row: both sums, of x w and x² σ, in one register."""
    cdef double2 sums = double2_of(0.0, 0.0)
    cdef Py_ssize_t k
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
        sums = double2_add(sums, double2_mul(double2_powers(data[k]), double2_at(state, 2 * column(indices, k, row.lo))))
    sums = double2_add(sums, double2_mul(double2_powers(p.bias), double2_at(state, state.shape[0] - 2)))
    return Sums(double2_first(sums), 0.0, double2_second(sums))


cdef inline Sums scan_forgetting(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                                 const Params* p) noexcept nogil:
    """Compute score and variance of a row if variances grow: σ = s min(stored, σ_0/s)."""
    cdef double2 sums = double2_of(0.0, 0.0), most = double2_of(INFINITY, <floating>p.stored_cap)
    cdef Py_ssize_t k
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
        sums = double2_add(sums, double2_mul(double2_powers(data[k]), double2_min(
            double2_at(state, 2 * column(indices, k, row.lo)), most)))
    sums = double2_add(sums, double2_mul(double2_powers(p.bias), double2_min(double2_at(state, state.shape[0] - 2), most)))
    return Sums(double2_first(sums), 0.0, p.growth * double2_second(sums))


cdef inline Sums scan_potential(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                                const Params* p) noexcept nogil:
    """Compute score, norm and variance of a row, w = σθ."""
    cdef double2 sums = double2_of(0.0, 0.0), powers, slots
    cdef double q = 0.0
    cdef Py_ssize_t k
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
        powers = double2_powers(data[k])
        slots = double2_at(state, 2 * column(indices, k, row.lo))
        slots = double2_mul(slots, double2_of(double2_second(slots), 1.0))
        sums = double2_add(sums, double2_mul(powers, slots))
        q += double2_second(powers)
    slots = double2_at(state, state.shape[0] - 2)
    slots = double2_mul(slots, double2_of(double2_second(slots), 1.0))
    sums = double2_add(sums, double2_mul(double2_powers(p.bias), slots))
    return Sums(double2_first(sums), q + p.bias * p.bias, double2_second(sums))


cdef inline Sums scan_mirror(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                             const Params* p) noexcept nogil:
    """Compute score and norm of a row if the weight is stored beside a sum of squared gradients."""
    cdef Sums sums = Sums(0.0, 0.0, 0.0)
    cdef Py_ssize_t k
    cdef double x
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
        x = data[k]
        sums.score += x * state[2 * column(indices, k, row.lo)]
        sums.q += x * x
    sums.score += p.bias * state[state.shape[0] - 2]
    sums.q += p.bias * p.bias
    return sums


cdef inline Sums scan_dual(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                           const Params* p) noexcept nogil:
    """Compute score and norm of a row under shrunk sums of gradients: two weights, each with a root and a division, at a time."""
    cdef Sums sums = Sums(0.0, 0.0, 0.0)
    cdef double2 a, b, x, scores, squares
    cdef Py_ssize_t k, at, last = row.hi - (row.hi - row.lo) % 2
    for k in range(row.lo, last, 2):
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
            prefetch(&state[2 * <Py_ssize_t>indices[k + 1 + row.ahead]])
        a, b = double2_at(state, 2 * column(indices, k, row.lo)), double2_at(state, 2 * column(indices, k + 1, row.lo))
        x = double2_at(data, k)
        scores = double2_mul(x, double2_shrunk(double2_firsts(a, b), double2_seconds(a, b), p.eta0, p.l1_sum, p.delta))
        squares = double2_mul(x, x)
        sums.score += double2_first(scores)
        sums.score += double2_second(scores)
        sums.q += double2_first(squares)
        sums.q += double2_second(squares)
    if last < row.hi:
        at = 2 * column(indices, last, row.lo)
        sums.score += data[last] * weight_of(DUAL, state[at], state[at + 1], p)
        sums.q += <double>data[last] * data[last]
    at = state.shape[0] - 2
    sums.score += p.bias * weight_of(DUAL, state[at], state[at + 1], p)
    sums.q += p.bias * p.bias
    return sums


cdef inline Sums scan(int geometry, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                      const Params* p) noexcept nogil:
    """Compute score, norm and variance of a row under one vector of weights, as far as the geometry has them.

    (No row is usable in a geometry that is missing here.)
    """
    cdef Slots slots = slots_of(geometry)
    if slots.n == 1:
        return scan_single(state, data, indices, row, p)
    elif geometry == FORGETTING:
        return scan_forgetting(state, data, indices, row, p)
    elif slots.weight:
        return scan_gaussian(state, data, indices, row, p) if slots.variance else scan_mirror(state, data, indices, row, p)
    elif geometry == POTENTIAL:
        return scan_potential(state, data, indices, row, p)
    elif geometry == DUAL or geometry == PROXIMAL:
        return scan_dual(state, data, indices, row, p)
    return Sums(NAN, NAN, NAN)


cdef enum:
    ROWS = 8                # dense rows that are scored at once


cdef inline void scan_rows(int geometry, const floating[::1] state, const floating* x, Py_ssize_t n, double* scores,
                           const Params* p) noexcept nogil:
    """Compute the scores of ROWS dense rows of n columns, x the first: side by side, each with a sum of its own as in `scan`."""
    cdef double[ROWS] sums
    cdef double w
    cdef Py_ssize_t j, i, width = slots_of(geometry).n
    for i in range(ROWS):
        sums[i] = 0.0
    for j in range(n):
        w = weight_of(geometry, state[width * j], state[width * j + width - 1], p)
        for i in range(ROWS):
            sums[i] += x[i * n + j] * w
    w = weight_of(geometry, state[state.shape[0] - width], state[state.shape[0] - 1], p)
    for i in range(ROWS):
        scores[i] = sums[i] + p.bias * w


cdef inline double lookahead_weight(const floating[::1] state, Py_ssize_t at, Py_ssize_t gap, double x,
                                    double beta) noexcept nogil:
    cdef double sigma = state[at + gap]
    return x * state[at] * sigma / (1.0 + beta * x * x * sigma)


cdef inline void apply_step_lanes(int geometry, floating** places, const floating* x, floating tau, floating beta, floating least,
                                  const Params* p) noexcept nogil:
    """Apply a step to as many features as 16 bytes hold numbers, as `apply_step_feature` (_core.pyx) does to one."""
    if geometry == MIRROR:
        if floating is float:
            rates_floats(places, x, tau, p.eta0, p.delta)
        else:
            rates_doubles(places, x, tau, p.eta0, p.delta)
    elif geometry == PROXIMAL:
        if floating is float:
            proximal_floats(places, x, tau, p.l1_sum, p.delta, <float>p.tiny)
        else:
            proximal_doubles(places, x, tau, p.l1_sum, p.delta, p.tiny)
    elif geometry == FORGETTING:
        if floating is float:
            growing_floats(places, x, tau, beta, least, <float>p.growth, <float>p.stored_cap)
        else:
            growing_doubles(places, x, tau, beta, least, p.growth, p.stored_cap)
    elif geometry == GAUSSIAN or geometry == POTENTIAL:
        if floating is float:
            variances_floats(geometry == POTENTIAL, places, x, tau, beta, least)
        else:
            variances_doubles(geometry == POTENTIAL, places, x, tau, beta, least)


cdef inline double lookahead_margin_one(const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                                        double beta, const Params* p) noexcept nogil:
    """Return the look-ahead margin x'Σ_tθ of one vector (see classes.pxd), two divisions at a time."""
    cdef double2 a, b, x, theta, sigma, ones = double2_of(1.0, 1.0), betas = double2_of(beta, beta)
    cdef Py_ssize_t k, last = row.hi - (row.hi - row.lo) % 2
    cdef double total = 0.0
    for k in range(row.lo, last, 2):
        a, b = double2_at(state, 2 * column(indices, k, row.lo)), double2_at(state, 2 * column(indices, k + 1, row.lo))
        x, theta, sigma = double2_at(data, k), double2_firsts(a, b), double2_seconds(a, b)
        a = double2_mul(double2_mul(x, theta), sigma)
        a = double2_div(a, double2_add(ones, double2_mul(double2_mul(double2_mul(betas, x), x), sigma)))
        total += double2_first(a)
        total += double2_second(a)
    if last < row.hi:
        total += lookahead_weight(state, 2 * column(indices, last, row.lo), 1, data[last], beta)
    return total + lookahead_weight(state, state.shape[0] - 2, 1, p.bias, beta)
