"""The geometries SINH and EXP: weights that a step multiplies and that share a sum (PA 6, the multiplicative PA).

    EXP     w_j = W e^θ_j / Σ e^θ              for features >= 0
    SINH    w_j = W sinh θ_j / Σ cosh θ        EG±: the same on the features x and -x, w the difference of their weights

The sums run over the features of all vectors that share them: those of one learner, in Crammer-Singer's those of all classes that
have joined. θ moves along x. The second slot keeps s_j = e^(θ_j - S), or sinh(θ_j) e^-S, and GAIN is W e^S / Σ: a scan only
multiplies, a step computes exponentials. The shift S was the largest θ_j (|θ_j|) when all of s was last written; it is written
anew, O(n_features), before an s_j leaves the range, or where the sum has lost its digits (see `Sum`).

A term of the sum is a function of what is stored, so that the same number goes out that came in: cosh = √(sinh² + 1).
"""
from libc.math cimport copysign, exp, fabs, fmin, sqrt

from .sparse cimport EXP, SINH, Row, column, dense_t, floating, index_t, larger, prefetch
from .norm cimport FRESH, GAIN, NOISE, REST, SCALE, SHIFT, SUM, Sum, add, add_all, begin, end
from .powers cimport exp_all
from .books cimport Party
from .._rules cimport Params

cdef enum:
    BATCH = 64              # exponentials computed side by side
    HEADROOM = 64           # no s_j above e^64: float32 ends at e^88, and below at e^-87


ctypedef struct Batch:      # features that move: columns of numbers, so that a compiler can take several at a time
    Py_ssize_t n
    Py_ssize_t[BATCH] at
    double[BATCH] theta     # after the step
    double[BATCH] s         # the second slot, before the step and then after it


cdef inline void enlist(floating[::1] state, Py_ssize_t k, Py_ssize_t at, floating way, Batch* batch) noexcept nogil:
    """Move a θ, and put it where its second slot will be written down."""
    state[at] += way
    batch.at[batch.n], batch.theta[batch.n], batch.s[batch.n] = at, state[at], state[at + k]
    batch.n += 1


cdef inline double size_of(double theta, const Params* p) noexcept nogil:
    return theta if p.geometry == EXP else fabs(theta)


cdef inline double term(double s, double fresh, const Params* p) noexcept nogil:
    """What a feature adds to the sum: e^θ or cosh θ, times e^-S."""
    return s if p.geometry == EXP else sqrt(s * s + fresh * fresh)


cdef inline double sinh_of(double theta, double power, double fresh) noexcept nogil:
    """sinh(θ) e^-S from power = e^(|θ| - S) and fresh = e^-S. (Both ways are computed: a branch would be guessed wrong.)"""
    cdef double z = theta * theta, ratio = fresh / (power + 1e-300)             # e^-|θ|
    # Near 0 the difference of exponentials cancels: the series.
    cdef double near = fresh * theta * (1.0 + z * (1.0 / 6.0 + z * (1.0 / 120.0 + z * (1.0 / 5040.0 + z * (
        1.0 / 362880.0 + z * (1.0 / 39916800.0))))))
    cdef double far = copysign(0.5 * power * (1.0 - ratio) * (1.0 + ratio), theta)
    return near if z < 0.0625 else far


cdef inline bint write_down(floating[::1] state, Py_ssize_t k, const double* norm, Batch* batch, bint moved, Sum* sum,
                            const Params* p) noexcept nogil:
    """Second slots from θ, their terms into the sum, and if they have moved the old ones' terms out of it. True if a second slot
    leaves its range: then all is to be written anew."""
    cdef Py_ssize_t i, n = batch.n, n_old = n if moved else 0
    cdef double shift = norm[SHIFT], fresh = norm[FRESH], largest = -1e300
    cdef double[BATCH] sizes
    cdef double[BATCH] powers
    cdef double[2 * BATCH] changes
    batch.n = 0
    for i in range(n):
        largest = larger(largest, size_of(batch.theta[i], p))
    if n > 0 and not largest - shift <= HEADROOM:
        return True
    for i in range(n_old):
        changes[i] = -term(batch.s[i], fresh, p)
    for i in range(n):
        sizes[i] = powers[i] = size_of(batch.theta[i], p) - shift
    exp_all(powers, n)
    for i in range(n):
        powers[i] = powers[i] if sizes[i] >= -708.0 else 0.0        # (where exp_all ends)
    for i in range(n):
        batch.s[i] = <floating>(powers[i] if p.geometry == EXP else sinh_of(batch.theta[i], powers[i], fresh))
    for i in range(n):
        changes[n_old + i] = term(batch.s[i], fresh, p)
    for i in range(n):
        state[batch.at[i] + k] = <floating>batch.s[i]
    add_all(sum, changes, n_old + n)
    return False


cdef inline void settle(double* norm, const Params* p) noexcept nogil:
    norm[GAIN] = p.norm_bound / norm[SUM]


cdef inline bint is_within(const double* norm) noexcept nogil:
    """Whether the sum is known to 2^-44 of itself, and its largest terms far from where numbers end. (NaN is not.)"""
    return norm[NOISE] <= 5.7e-14 * norm[SUM] and 1e-15 <= norm[SUM]


cdef inline Py_ssize_t n_weights(const floating[::1] state, Py_ssize_t k, const Params* p) noexcept nogil:
    """The features of a vector: the constant one is none of them where there is no intercept."""
    return state.shape[0] // (2 * k) - (p.bias == 0.0)


cdef inline double fresh_term(const floating[::1] state, const double* norm, const Params* p) noexcept nogil:
    """The term of a θ of 0, as stored."""
    return <floating>norm[FRESH] if p.geometry == EXP else norm[FRESH]


cdef inline void write_anew(floating[::1] state, Py_ssize_t k, Py_ssize_t first, Py_ssize_t last, double* norm,
                            const double[::1] counts, bint untouched, const Params* p) noexcept nogil:
    """Shift, second slots and sum of the vectors first .. last - 1 of k, from their θ; untouched: these are known to be 0."""
    cdef Py_ssize_t j, c, at, n = n_weights(state, k, p), n_moved = 0 if untouched and p.geometry == SINH else n
    cdef double largest = -1.7e308 if p.geometry == EXP else 0.0, n_fresh = 0.0
    cdef Batch batch
    cdef Sum sum
    for j in range(n_moved):
        for c in range(first, last):
            largest = larger(largest, size_of(state[2 * k * j + c], p))
    norm[SUM] = norm[REST] = norm[NOISE] = 0.0
    norm[SCALE] = 1.0
    norm[SHIFT] = largest
    norm[FRESH] = fmin(exp(-largest), 1e30)         # above 1 no θ is 0, and nothing asks for it
    sum = begin(norm)
    batch.n = 0
    for c in range(first, last):
        if last - first == 1 or not p.open_classes or counts[c] > 0.0:
            n_fresh += n
    for j in range(n_moved):
        for c in range(first, last):
            at = 2 * k * j + c
            if state[at] != 0.0:
                n_fresh -= 1.0
                enlist(state, k, at, 0.0, &batch)
                if batch.n == BATCH:
                    write_down(state, k, norm, &batch, False, &sum, p)
            elif p.geometry == EXP:
                state[at + k] = <floating>norm[FRESH]
    write_down(state, k, norm, &batch, False, &sum, p)
    add(&sum, n_fresh * fresh_term(state, norm, p))
    end(&sum, norm)
    settle(norm, p)


cdef inline void join(const floating[::1] state, Py_ssize_t k, double* norm, const Params* p) noexcept nogil:
    """A class joins the sum of all."""
    cdef Sum sum = begin(norm)
    add(&sum, n_weights(state, k, p) * fresh_term(state, norm, p))
    end(&sum, norm)
    settle(norm, p)


cdef inline double scan_products(const floating[::1] state, const double[:, ::1] norms, const floating[::1] data,
                                 const index_t[::1] indices, Row row, double[:, ::1] scores, Py_ssize_t i,
                                 double* farthest, const Params* p) noexcept nogil:
    """The scores of all vectors, into scores[i], and ||x||_∞; returns ||x||²."""
    cdef Py_ssize_t j, c, at, k = scores.shape[1], own = norms.shape[0] > 1
    cdef double x, total = 0.0, q = p.bias * p.bias, largest = p.bias
    if k == 1:
        for j in range(row.lo, row.hi):
            if index_t is not dense_t:
                prefetch(&state[2 * <Py_ssize_t>indices[j + row.ahead]])
            x = data[j]
            total += x * state[2 * column(indices, j, row.lo) + 1]
            q += x * x
            largest = larger(largest, fabs(x))
        farthest[0] = largest
        scores[i, 0] = norms[0, GAIN] * (total + p.bias * state[state.shape[0] - 1])
        return q
    for c in range(k):
        scores[i, c] = 0.0
    for j in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * k * <Py_ssize_t>indices[j + row.ahead] + k])
        at = 2 * k * column(indices, j, row.lo) + k
        x = data[j]
        for c in range(k):
            scores[i, c] += x * state[at + c]
        q += x * x
        largest = larger(largest, fabs(x))
    farthest[0] = largest
    at = state.shape[0] - k
    for c in range(k):
        scores[i, c] = norms[c * own, GAIN] * (scores[i, c] + p.bias * state[at + c])
    return q


cdef inline Py_ssize_t multiply(floating[::1] state, Py_ssize_t k, const Party* members, double tau, double[:, ::1] norms,
                                const double[::1] counts, const floating[::1] data, const index_t[::1] indices, Row row,
                                const Params* p) noexcept nogil:
    """Take the step tau along the joint example; returns the work beyond the row's own."""
    cdef Py_ssize_t i, j, c, own = norms.shape[0] > 1
    cdef double* norm = &norms[members.c[0] * own, 0]
    cdef floating step
    cdef bint beyond = False
    cdef Batch batch
    cdef Sum sum = begin(norm)
    batch.n = 0
    for j in range(members.n):
        c = members.c[j]
        step = <floating>(members.sign[j] * tau)
        for i in range(row.lo, row.hi):
            if data[i] != 0.0:
                enlist(state, k, 2 * k * column(indices, i, row.lo) + c, step * data[i], &batch)
                if batch.n == BATCH:
                    beyond |= write_down(state, k, norm, &batch, True, &sum, p)
        if p.bias != 0.0:
            enlist(state, k, state.shape[0] - 2 * k + c, step * <floating>p.bias, &batch)
            if batch.n == BATCH:
                beyond |= write_down(state, k, norm, &batch, True, &sum, p)
    beyond |= write_down(state, k, norm, &batch, True, &sum, p)
    end(&sum, norm)
    if not beyond and is_within(norm):
        settle(norm, p)
        return 0
    if own or k == 1:
        write_anew(state, k, members.c[0], members.c[0] + 1, norm, counts, False, p)
    else:
        write_anew(state, k, 0, k, norm, counts, False, p)
    return state.shape[0]
