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
from libc.math cimport NAN, fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from .._rules cimport DUAL, FORGETTING, MIRROR, POTENTIAL, PROXIMAL, Params, Step, slots_of

cdef extern from "_compiled/lanes.h":
    enum:
        HAS_LANES "ONLINECLS_HAS_LANES"
    void prefetch "onlinecls_prefetch" (const void* address) noexcept nogil
    ctypedef struct double2:        # two doubles side by side
        pass
    double2 double2_of(double first, double second) noexcept nogil
    double2 double2_of_floats(const float* at) noexcept nogil
    double2 double2_of_doubles(const double* at) noexcept nogil
    double2 double2_add(double2 sums, double2 a, double2 b) noexcept nogil      # sums + a b
    double2 double2_div(double2 a, double2 b) noexcept nogil
    double double2_first(double2 a) noexcept nogil
    double double2_second(double2 a) noexcept nogil
    double2 shrunk2(double2 z, double2 G, double eta, double threshold, double delta) noexcept nogil
    double2 rated2(double2 G, double2 g, double eta, double delta) noexcept nogil
    double2 pulled2(double2 z, double2 n, double2 grown, double2 g, double threshold, double delta) noexcept nogil
    void narrow4(bint potential, bint grows, float** p, const float* x, float tau, float beta, float least, float growth,
                 float most) noexcept nogil


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


cdef inline void prefetch_run(const floating* at, Py_ssize_t n) noexcept nogil:
    """Prefetch n numbers side by side."""
    cdef Py_ssize_t line, per_line = CACHE_LINE // sizeof(floating)
    for line in range((n + per_line - 1) // per_line):
        prefetch(at + line * per_line)


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


cdef inline double pulled(double z, double n, double grown, double g, double threshold, double delta) noexcept nogil:
    """Return FTRL-proximal's g + (√grown - √n) soft(z, threshold) / (δ + √n)."""
    cdef double before = sqrt(n)
    return g + (sqrt(grown) - before) * soft(z, threshold) / (delta + before)


cdef inline void write_variances_down(floating[::1] state, Py_ssize_t room, Params* p) noexcept nogil:
    """Store σ itself for all features, so that s is 1 again."""
    cdef Py_ssize_t c, j
    for j in range(1, state.shape[0] // room, 2):
        for c in range(j * room, (j + 1) * room):
            state[c] = smaller(<floating>p.growth * state[c], <floating>p.variance)
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


cdef inline void add_feature(int geometry, const floating[::1] state, Py_ssize_t at, double x, double2* pair, Sums* sums,
                             const Params* p) noexcept nogil:
    """Add a feature's part to score, norm and variance: score and variance side by side in a register, where there are both.

    (No row is usable in a geometry that is missing here.)
    """
    if geometry == FORGETTING:          # σ = s min(stored, σ_0/s)
        pair[0] = double2_add(pair[0], double2_of(x, x * x), double2_of(
            state[at], smaller(state[at + 1], <floating>p.stored_cap)))
    elif slots_of(geometry).weight and slots_of(geometry).variance:
        pair[0] = double2_add(pair[0], double2_of(x, x * x), double2_at(state, at))
    elif geometry == POTENTIAL:
        pair[0] = double2_add(pair[0], double2_of(x, x * x), double2_of(<double>state[at] * state[at + 1], state[at + 1]))
        sums.q += x * x
    elif slots_of(geometry).weight:
        sums.score += x * state[at]
        sums.q += x * x
    elif geometry == DUAL or geometry == PROXIMAL:
        sums.score += x * weight_of(DUAL, state[at], state[at + 1], p)
        sums.q += x * x
    else:
        sums.q = NAN


cdef inline Sums scan(int geometry, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                      const Params* p) noexcept nogil:
    """Compute score, norm and variance of a row under one vector of weights, as far as the geometry has them."""
    cdef Py_ssize_t k = row.lo, a, b, width = slots_of(geometry).n
    cdef double x, y
    cdef double2 pair = double2_of(0.0, 0.0)
    cdef Sums sums = Sums(0.0, 0.0, 0.0)
    while HAS_LANES and (geometry == DUAL or geometry == PROXIMAL) and k + 2 <= row.hi:     # a root and a division each
        if index_t is not dense_t:
            prefetch(&state[2 * <Py_ssize_t>indices[k + row.ahead]])
            prefetch(&state[2 * <Py_ssize_t>indices[k + 1 + row.ahead]])
        a, b, x, y = 2 * column(indices, k, row.lo), 2 * column(indices, k + 1, row.lo), data[k], data[k + 1]
        pair = shrunk2(double2_of(state[a], state[b]), double2_of(state[a + 1], state[b + 1]), p.eta0, p.l1_sum, p.delta)
        sums.score += x * double2_first(pair)
        sums.score += y * double2_second(pair)
        sums.q += x * x
        sums.q += y * y
        k += 2
    for k in range(k, row.hi):
        if index_t is not dense_t:
            prefetch(&state[width * <Py_ssize_t>indices[k + row.ahead]])
        add_feature(geometry, state, width * column(indices, k, row.lo), data[k], &pair, &sums, p)
    add_feature(geometry, state, state.shape[0] - width, p.bias, &pair, &sums, p)
    if slots_of(geometry).variance:
        sums.score, sums.v = double2_first(pair), double2_second(pair)
        if geometry == FORGETTING:
            sums.v *= p.growth
    return sums


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


cdef inline void apply_step_two(int geometry, floating* a, floating* b, floating g, floating h, const Params* p) noexcept nogil:
    """Apply a step to two features of MIRROR or PROXIMAL, with the gradients g and h, as `apply_step_feature` (_core.pyx) does to
    one: roots and divisions side by side."""
    cdef double2 change, gradients = double2_of(g, h)
    cdef floating first = a[1] + g * g, second = b[1] + h * h
    if geometry == MIRROR:
        change = rated2(double2_of(a[1], b[1]), gradients, p.eta0, p.delta)
        a[0] += <floating>double2_first(change)
        b[0] += <floating>double2_second(change)
        a[1], b[1] = first, second
    else:
        first, second = larger(first, <floating>p.tiny), larger(second, <floating>p.tiny)
        change = pulled2(double2_of(a[0], b[0]), double2_of(a[1], b[1]), double2_of(first, second), gradients, p.l1_sum, p.delta)
        if g != 0.0:
            a[0] += <floating>double2_first(change)
            a[1] = first
        if h != 0.0:
            b[0] += <floating>double2_second(change)
            b[1] = second


cdef inline double lookahead_margin(const floating[::1] state, Py_ssize_t room, Py_ssize_t place, const floating[::1] data,
                                    const index_t[::1] indices, Row row, double beta, const Params* p) noexcept nogil:
    """Return x'Σ_tθ of the vector at a place with x already in Σ_t:  Σ_i x_i θ_i σ_i / (1 + β x_i² σ_i)."""
    cdef Py_ssize_t k = row.lo, a, b
    cdef double x, y, total = 0.0
    cdef double2 parts
    while HAS_LANES and k + 2 <= row.hi:
        a, b = 2 * room * column(indices, k, row.lo) + place, 2 * room * column(indices, k + 1, row.lo) + place
        x, y = data[k], data[k + 1]
        parts = double2_div(
            double2_of(x * state[a] * state[a + room], y * state[b] * state[b + room]),
            double2_of(1.0 + beta * x * x * state[a + room], 1.0 + beta * y * y * state[b + room]))
        total += double2_first(parts)
        total += double2_second(parts)
        k += 2
    for k in range(k, row.hi):
        total += lookahead_weight(state, 2 * room * column(indices, k, row.lo) + place, room, data[k], beta)
    return total + lookahead_weight(state, state.shape[0] - 2 * room + place, room, p.bias, beta)
