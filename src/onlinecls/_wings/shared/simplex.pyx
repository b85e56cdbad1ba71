"""Steps of the simplex, and its O(features) computations: see simplex.pxd."""
from libc.math cimport INFINITY, fabs

from ..._compiled.sparse cimport smaller
from .norm cimport add, replace

#: The numbers of a group, by their names in Python.
GROUP = {"ages": 0, "squares": 1, "high": 2, "low": 3, "shift": 4, "peak": 5, "top": 6}

cdef enum:
    BATCH = 256             # powers computed side by side, a multiple of 8

cdef double SPREAD = 40.0   # how far θ may exceed K: e^80, a square, fits a float
cdef double CLOSE = 5.0     # SPREAD with an average, a difference of numbers that grow by as much
cdef double SHRUNK = 2.0 ** -40     # the least ratio of Z to its largest (with an average 0.01)


cdef inline bint has_joined(const Simplex* s, Py_ssize_t c) noexcept nogil:
    return s.counts == NULL or s.counts[c] > 0.0


cdef inline void write_powers(floating[::1] state, Simplex* s, const Py_ssize_t* places, Py_ssize_t c, const floating* theta,
                              floating* before, floating* work, Py_ssize_t n) noexcept nogil:
    """Store n θ of vector c and their powers, and put their terms into Z. places : of vector 0. before : the terms that they
    replace. work : room for two numbers each. (Zeros follow theta, up to a full register; there is room for as many.)"""
    cdef Py_ssize_t j, at, full = round_up(n)
    cdef floating* r = work + full
    cdef Group* group = s.group
    cdef floating shift = <floating>group.shift, root = root_of(shift)
    powers_of(sizeof(floating), r, theta, shift, root, s.is_signed, full)
    for j in range(full):
        work[j] = r[j]
    terms_of(work, s, root, full)
    for j in range(n, full):
        before[j] = work[j] = 0.0
    if s.correction != NULL and group.ages > 0.0:
        for j in range(n):
            s.correction[places[j] // 2 + c] += group.ages * (<double>r[j] - state[places[j] + c])
    for j in range(n):
        at = places[j] + c
        state[at], state[at + s.k] = r[j], theta[j]
    replace(&group.high, &group.low, before, work, full)


# --- all features --------------------------------------------------------------------------------------------------------------

cdef void compute_powers(floating[::1] state, Simplex* s, double factor) noexcept nogil:
    """Multiply θ by a factor; then compute K, all powers and Z anew, and put the average's sums, ages r - correction, in
    correction alone. K is the largest θ so far, or the present one if that is far below it.

    A signed θ of 0 has the power 0: its feature only adds to Z. (Untouched memory then stays so.)
    """
    cdef Py_ssize_t j, c, at, n = 0, n_zeros = 0
    cdef Py_ssize_t[BATCH] places
    cdef floating[BATCH] theta, before
    cdef floating[2 * BATCH] work
    cdef bint is_zero
    cdef double top = 0.0 if s.is_signed else -INFINITY
    cdef Group* group = s.group
    for j in range(s.n if s.correction != NULL and group.ages > 0.0 else 0):
        for c in range(s.first, s.last):
            s.correction[j * s.k + c] -= group.ages * state[2 * s.k * j + c]
    group.shift = <floating>(group.top * factor)
    group.ages = group.high = group.low = 0.0
    for j in range(BATCH):
        before[j] = 0.0
    for j in range(s.n):
        for c in range(s.first, s.last):
            at = 2 * s.k * j + c
            if not has_joined(s, c):
                continue
            places[n], theta[n] = at, <floating>(state[at + s.k] * factor)
            top = larger(top, fabs(theta[n]) if s.is_signed else <double>theta[n])
            is_zero = s.is_signed & (state[at + s.k] == 0.0)
            if is_zero & (state[at] != 0.0):
                state[at] = 0.0
            n_zeros += is_zero
            n += not is_zero            # (branch-free: unpredictable)
            if n == BATCH:
                write_powers(state, s, places, 0, theta, before, work, n)
                n = 0
    for j in range(n, BATCH):
        theta[j] = 0.0
    write_powers(state, s, places, 0, theta, before, work, n)
    add(&group.high, &group.low, n_zeros * <double>root_of(<floating>group.shift))
    group.peak, group.top = group.high, top
    if group.shift > top + 20.0:
        compute_powers(state, s, 1.0)


cdef void start_group(floating[::1] state, Simplex* s) noexcept nogil:
    """Compute Z and all powers from θ, in a new model or after its vectors have changed: for K = 0, which finds the largest θ,
    and then for that."""
    s.group.top = 0.0
    compute_powers(state, s, 1.0)
    compute_powers(state, s, 1.0)


cdef void join(floating[::1] state, Simplex* s, Py_ssize_t c) noexcept nogil:
    """Add vector c, whose θ are all 0 and whose count is no longer 0, to the sum; compute this if it is not known yet.

    (The θ of a joint learner's classes add up to 0, so that K is not below them.)
    """
    cdef Py_ssize_t j
    cdef Group* group = s.group
    cdef floating root = root_of(<floating>group.shift)
    if group.high == 0.0:
        start_group(state, s)
        return
    for j in range(0 if s.is_signed else s.n):
        state[2 * s.k * j + c] = root
    add(&group.high, &group.low, s.n * <double>root)
    group.peak = larger(group.peak, group.high)


# --- a step along a row --------------------------------------------------------------------------------------------------------

cdef void step_group(floating[::1] state, Simplex* s, const GatheredRow* row, const Py_ssize_t* vectors, const double* d,
                     Py_ssize_t n) noexcept nogil:
    """Add rate d_c x to θ_c for n vectors of a group.

    All numbers of the row are updated at once, powers, roots and quotients several at a time, and stored back.
    """
    cdef Py_ssize_t i, j, at, full = round_up(row.n)
    cdef const floating* x = <const floating*>row.x
    cdef floating* all_theta = <floating*>row.x + row.capacity
    cdef floating* theta
    cdef floating* before
    cdef floating* work = all_theta + 2 * n * row.capacity
    cdef floating highest = -INFINITY, lowest = INFINITY
    cdef double move, top
    cdef Group* group = s.group
    for i in range(n):
        move = s.rate * d[i]
        theta = all_theta + 2 * i * row.capacity
        before = theta + row.capacity
        for j in range(row.n):
            at = row.places[j] + vectors[i]
            before[j] = state[at]
            theta[j] = state[at + s.k] + <floating>(move * x[j])
            highest, lowest = larger(highest, theta[j]), smaller(lowest, theta[j])
        for j in range(row.n, full):
            theta[j] = before[j] = 0.0
    top = larger(highest, -lowest) if s.is_signed else highest
    group.top = larger(group.top, top)
    if top > group.shift + (SPREAD if s.correction == NULL else CLOSE):
        for i in range(n):
            for j in range(row.n):
                at = row.places[j] + vectors[i]
                state[at + s.k] = all_theta[2 * i * row.capacity + j]
        compute_powers(state, s, 1.0)
        return
    for i in range(n):
        theta = all_theta + 2 * i * row.capacity
        before = theta + row.capacity
        terms_of(before, s, root_of(<floating>group.shift), full)
        write_powers(state, s, row.places, vectors[i], theta, before, work, row.n)
    group.peak = larger(group.peak, group.high)
    if group.high < (SHRUNK if s.correction == NULL else <double>0.01) * group.peak:
        compute_powers(state, s, 1.0)
