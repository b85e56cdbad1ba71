"""The p-norm geometry (NAROW 4.1): the weights are w = ∇f*(θ) for f = ||.||_q²/2, 1/p + 1/q = 1, p >= 2; a step moves θ along x.

    w_i = (q - 1) sgn(θ_i) |θ_i|^(p-1) / ||θ||^(p-2) = (q - 1) ||θ|| sgn(θ_i) (|θ_i| / ||θ||)^(p-1),   ||.|| = ||.||_p

Powers cost 15 ns and, at p = 28, leave the range of any dtype. So the second slot keeps a root of the power,

    ρ_i = sgn(θ_i) |θ_i|^a,   a = (p - 1) / 2^squarings <= 1,   w_i = g sgn(ρ_i) (|ρ_i| m)^(2^squarings),

with m = ||θ||^-a and g = (q - 1) ||θ||: a scan multiplies and squares, only a step takes a root, and no θ is out of range.
(|ρ_i| m is at most 1; a root's rounding counts 2^squarings < 2 (p - 1) times, θ's own p - 1 times.)

The norm comes from S = Σ (|θ_i| / s)^p, s a power of two near it, a sum as in norm.pxd: it is summed anew, O(n_features), where
it has fallen by a factor of 2^40 (the largest θ_i has shrunk), or leaves double's range. The term of the constant feature,
which is in every row and at first the largest of all, is not in S, but is added where S is used.

Crammer-Singer's joint learner has one norm, of all classes' θ together. One against the rest: one norm a class.
"""
from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, copysign, fabs, fmin, ilogb, ldexp, pow

from ..._compiled.rounds cimport Example
from ..._compiled.sparse cimport Row, column, dense_t, floating, index_t, larger, prefetch
from ..._rules cimport Params
from ..shared.norm cimport LANES, Normaliser, add, is_known, replace, settle
from ..shared.powers cimport pow_all, pow_of

cdef enum:
    BLOCK = 64              # features treated side by side: loops that a compiler can take several at a time


ctypedef struct Norm:
    Normaliser sum          # S but for the constant feature's term
    double scale            # 1/s; 0: the norm is not known yet
    double shrink           # s^-a
    double inverse          # m
    double weight_scale     # g


ctypedef struct Norms:      # of a model
    Norm* of                # one, or one for each vector
    Py_ssize_t n
    Py_ssize_t k            # vectors


cdef inline Norm* norm_of(const Norms* norms, Py_ssize_t c) noexcept nogil:
    return &norms.of[c if norms.n > 1 else 0]


# --- many features -------------------------------------------------------------------------------------------------------------

cdef inline void raise_all(double* values, Py_ssize_t n, int squarings) noexcept nogil:
    """Raise values[i] to the power 2^squarings."""
    cdef Py_ssize_t i
    cdef double value
    for _ in range(squarings // 4):     # (as for most p = 2 ln n_features; a loop over all costs as much as its squares)
        for i in range(n):
            value = values[i] * values[i]
            value *= value
            value *= value
            values[i] = value * value
    for _ in range(squarings % 4):
        for i in range(n):
            values[i] *= values[i]


cdef inline void roots_of(floating* roots, const floating* theta, Py_ssize_t n, double a) noexcept nogil:
    """Compute sgn(θ) |θ|^a for n numbers."""
    cdef Py_ssize_t i
    if a < 1.0:
        pow_all(roots, theta, n, a)
    for i in range(n):
        roots[i] = <floating>copysign(roots[i], theta[i]) if a < 1.0 else theta[i]


cdef inline void terms(double* found, const floating* theta, const floating* roots, Py_ssize_t n, const Norm* norm,
                       const Params* p) noexcept nogil:
    """Compute (|θ_i| / s)^p for n numbers."""
    cdef Py_ssize_t i
    cdef double scale = norm.scale, shrink = norm.shrink
    for i in range(n):
        found[i] = fabs(<double>roots[i]) * shrink
    raise_all(found, n, p.squarings)
    for i in range(n):
        found[i] *= fabs(<double>theta[i]) * scale


# --- the norm ------------------------------------------------------------------------------------------------------------------

cdef inline bint refresh(const floating[::1] state, const Norms* norms, Py_ssize_t c, const Params* p) noexcept nogil:
    """Compute the norm's factors for scans of vector c from S; return False if S has too large an error, or is near the ends of
    double's range."""
    cdef Py_ssize_t i, at = state.shape[0] - 2 * norms.k + (c if norms.n > 1 else 0)
    cdef Norm* norm = norm_of(norms, c)
    cdef double size, term, total = norm.sum.high
    for i in range(1 if norms.n > 1 else norms.k):
        terms(&term, &state[at + i], &state[at + i + norms.k], 1, norm, p)
        total += term
    if p.power == 2.0:                  # w = θ
        norm.inverse = norm.weight_scale = 1.0
    elif total > 0.0:
        size = fmin(pow(total, 1.0 / p.power) / norm.scale, DBL_MAX)
        norm.inverse = fmin(pow(size, -p.root), DBL_MAX)
        norm.weight_scale = size / (p.power - 1.0)
    else:
        norm.inverse = norm.weight_scale = 0.0
    return is_known(&norm.sum, total) and 1e-270 <= total <= 1e270


cdef inline void sum_anew(const floating[::1] state, const Norms* norms, Py_ssize_t c, const Params* p) noexcept nogil:
    """Compute the norm of vector c from the θ of all vectors that share it."""
    cdef Py_ssize_t j, at, k = norms.k, features = state.shape[0] // (2 * k)
    cdef Py_ssize_t first = c if norms.n > 1 else 0, n = 1 if norms.n > 1 else k
    cdef double term, largest = 0.0
    cdef Norm* norm = norm_of(norms, c)
    for j in range(features):
        for at in range(2 * k * j + first, 2 * k * j + first + n):
            largest = larger(largest, fabs(state[at]))
    norm.sum = Normaliser(0.0, 0.0, 0.0)
    norm.scale = ldexp(1.0, -ilogb(larger(largest, <double>1e-300)) - 1) if largest > 0.0 else 1.0
    norm.shrink = pow(norm.scale, p.root)
    for j in range(features - 1):
        for at in range(2 * k * j + first, 2 * k * j + first + n):
            if state[at] != 0.0:
                terms(&term, &state[at], &state[at + k], 1, norm, p)
                add(&norm.sum.high, &norm.sum.low, term)
    settle(&norm.sum)
    refresh(state, norms, c, p)


# --- one row -------------------------------------------------------------------------------------------------------------------

cdef inline double score_by_norm(const floating[::1] state, const Norms* norms, const floating[::1] data,
                                 const index_t[::1] indices, Row row, double inverse, double* scores,
                                 const Params* p) noexcept nogil:
    """Compute the scores of all vectors for z = x / s; return ||z||². inverse : 1/s."""
    cdef Py_ssize_t i, c, n, last, at = row.lo, k = norms.k
    cdef double total, factor, q = p.bias * p.bias
    cdef double[BLOCK] x, roots, powers
    cdef Py_ssize_t[BLOCK] places
    for c in range(k):
        scores[c] = 0.0
    while at <= row.hi:                 # (the last feature is the constant one)
        n, last = 0, min(at + BLOCK, row.hi)
        for i in range(at, last):
            if index_t is not dense_t:
                prefetch(&state[2 * k * <Py_ssize_t>indices[i + row.ahead] + k])
            places[n], x[n] = 2 * k * column(indices, i, row.lo) + k, data[i]
            q += x[n] * x[n]
            n += (index_t is not dense_t) | (x[n] != 0.0)
        if last < at + BLOCK:
            places[n], x[n], n = state.shape[0] - k, p.bias, n + 1
        at += BLOCK
        for c in range(k):
            total, factor = scores[c], norm_of(norms, c).inverse
            for i in range(n):
                roots[i] = state[places[i] + c]
                powers[i] = roots[i] * factor
            raise_all(powers, n, p.squarings)
            for i in range(n):
                total += x[i] * copysign(powers[i], roots[i])
            scores[c] = total
    for c in range(k):
        scores[c] = norm_of(norms, c).weight_scale * scores[c] * inverse
    return q * (inverse * inverse)


cdef inline double p_norm(const floating[::1] data, Row row, double copies, const Params* p) noexcept nogil:
    """Return ||z||_p² for z with this many copies of x, which is not 0.

    Neighbouring numbers of a row are often equal: one power for a run. Those whose power is below 2^-80 are ignored.
    """
    cdef Py_ssize_t i, k, n = 0
    cdef double x, total, part, least, largest = fabs(p.bias), last = 0.0, run = 0.0
    cdef double[BLOCK] sizes, counts, powers
    for k in range(row.lo, row.hi):
        largest = larger(largest, fabs(data[k]))
    least = largest * pow(2.0, -80.0 / p.power)
    total = pow(fabs(p.bias) / largest, p.power)
    for k in range(row.lo, row.hi + 1):
        x = fabs(data[k]) if k < row.hi else INFINITY       # (which ends the last run)
        if x == last:
            run += 1.0
        elif x > least:
            sizes[n], counts[n] = last / largest, run
            last, run, n = x, 1.0, n + 1
        if n == BLOCK or k == row.hi:
            pow_of(sizeof(double), powers, sizes, n, p.power)        # (of parts: below 10^-300 they are inexact)
            part = 0.0
            for i in range(n):
                part += counts[i] * powers[i]
            total, n = total + part, 0
    x = largest * pow(total * copies, 1.0 / p.power)
    return x * x


cdef inline void move_all(floating[::1] state, Py_ssize_t k, const Py_ssize_t* places, const floating* deltas, Py_ssize_t n,
                          Norm* norm, const Params* p) noexcept nogil:
    """Add deltas to the θ at some places, and update their roots and their part of the sum."""
    cdef Py_ssize_t i
    cdef floating[BLOCK] theta, roots
    cdef double[BLOCK] before, after
    for i in range(n):
        theta[i], roots[i] = state[places[i]], state[places[i] + k]
    terms(before, theta, roots, n, norm, p)
    for i in range(n):
        theta[i] += deltas[i]
    roots_of(roots, theta, n, p.root)
    terms(after, theta, roots, n, norm, p)
    for i in range(n):
        state[places[i]], state[places[i] + k] = theta[i], roots[i]
    while n % LANES > 0:
        before[n], after[n], n = 0.0, 0.0, n + 1
    replace(&norm.sum.high, &norm.sum.low, before, after, n)


cdef inline Py_ssize_t step_by_norm(floating[::1] state, const Norms* norms, const Example* z, double tau,
                                    const floating[::1] data, const index_t[::1] indices, Row row,
                                    const Params* p) noexcept nogil:
    """Apply the step tau along the joint example; return the work beyond the row's own."""
    cdef Py_ssize_t i, j, at, n = 0, k = norms.k
    cdef Norm* norm = norm_of(norms, z.c[0])
    cdef Py_ssize_t[BLOCK] places
    cdef floating[BLOCK] deltas
    cdef floating x, step
    for j in range(z.n):
        step = <floating>(z.sign[j] * tau)
        for i in range(row.lo, row.hi):
            x = data[i]
            places[n], deltas[n] = 2 * k * column(indices, i, row.lo) + z.c[j], step * x
            n += x != 0.0
            if n == BLOCK:
                move_all(state, k, places, deltas, n, norm, p)
                n = 0
        if p.bias != 0.0:
            at = state.shape[0] - 2 * k + z.c[j]
            state[at] += step * <floating>p.bias
            roots_of(&state[at + k], &state[at], 1, p.root)
    move_all(state, k, places, deltas, n, norm, p)
    settle(&norm.sum)
    if norm.sum.high < 0.0:             # its terms are >= 0: it is 0 within the noise
        norm.sum.high = norm.sum.low = 0.0
    if refresh(state, norms, z.c[0], p):
        return 0
    sum_anew(state, norms, z.c[0], p)
    return state.shape[0]
