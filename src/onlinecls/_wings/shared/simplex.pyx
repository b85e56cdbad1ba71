"""Steps of the simplex, and its O(features) computations: see simplex.pxd."""
from libc.math cimport fabs

import numpy as np

#: The numbers of a group, by their names in Python.
GROUP = {"ages": 0, "squares": 1, "high": 2, "low": 3, "shift": 4, "peak": 5, "top": 6}
GROUP_SIZE = sizeof(Group) // sizeof(double)

cdef enum:
    BATCH = 256             # powers computed side by side

cdef double SPREAD = 40.0   # how far θ may exceed K: e^80, a square, fits a float
cdef double CLOSE = 5.0     # SPREAD with an average, a difference of numbers that grow by as much
cdef double SHRUNK = 2.0 ** -40     # the least ratio of Z to its largest (with an average 0.01)
cdef double LEAST = -1.7e308


cdef inline double top_of(const floating* theta, const Simplex* s, Py_ssize_t n) noexcept nogil:
    """Return the largest |θ|; unsigned: θ. (Zeros follow theta, up to a full register.)"""
    cdef Py_ssize_t j
    cdef double top = LEAST
    if s.is_signed:
        return largest_of(theta, round_up(n))
    for j in range(n):
        top = larger(top, <double>theta[j])
    return top


cdef inline double* correction_at(Simplex* s, Py_ssize_t place) noexcept nogil:
    """Return where the correction of a feature in a vector is, from the feature's place in the state."""
    return &s.correction[place // (2 * s.k) * s.k + place % (2 * s.k)]


cdef inline bint has_joined(const Simplex* s, Py_ssize_t c) noexcept nogil:
    return s.counts == NULL or s.counts[c] > 0.0


# --- all features --------------------------------------------------------------------------------------------------------------

cdef inline void compute_batch(floating[::1] state, Simplex* s, double factor, const Py_ssize_t* places,
                               Py_ssize_t n) noexcept nogil:
    """Multiply θ at these places by a factor; compute their powers, their part of Z, and the largest θ."""
    cdef Py_ssize_t j, at, full = round_up(n)
    cdef floating[BATCH] theta, zero, r, terms
    cdef Group* group = s.group
    cdef floating shift = <floating>group.shift, root = root_of(shift)
    for j in range(n):
        at = places[j] + s.k
        state[at] = theta[j] = <floating>(state[at] * factor)
    for j in range(n, full):
        theta[j] = 0.0
    powers_of(r, theta, s, shift, root, full)
    for j in range(full):
        zero[j], terms[j] = 0.0, r[j]
    terms_of(terms, s, root, full)
    for j in range(n, full):
        terms[j] = 0.0
    add_changes(group, zero, terms, full)
    group.top = larger(group.top, top_of(theta, s, n))
    for j in range(n):
        if s.correction != NULL and group.ages > 0.0:
            correction_at(s, places[j])[0] -= group.ages * state[places[j]]
        state[places[j]] = r[j]


cdef void compute_once(floating[::1] state, Simplex* s, double factor) noexcept nogil:
    """Compute all powers. A signed θ of 0 has the power 0 already: its feature only adds to Z. (Branch-free: unpredictable.)"""
    cdef Py_ssize_t j, c, at, n = 0, n_done = 0, n_all = 0
    cdef Py_ssize_t[BATCH] places
    cdef Group* group = s.group
    cdef floating root
    group.shift, group.high, group.low = <floating>(group.top * factor), 0.0, 0.0
    root = root_of(<floating>group.shift)
    for c in range(s.first, s.last):
        n_all += s.n * has_joined(s, c)
    group.top = 0.0 if s.is_signed or n_all == 0 else LEAST
    for j in range(s.n):
        for c in range(s.first, s.last):
            at = 2 * s.k * j + c
            if not has_joined(s, c):
                state[at] = 0.0 if s.is_signed else root
                continue
            places[n] = at
            n += (state[at + s.k] != 0.0) | (not s.is_signed)
            if n == BATCH:
                compute_batch(state, s, factor, places, n)
                n_done += n
                n = 0
    compute_batch(state, s, factor, places, n)
    add_to(&group.high, &group.low, (n_all - n_done - n) * <double>root)
    group.peak, group.ages = group.high, 0.0


cdef void compute_powers(floating[::1] state, Simplex* s, double factor) noexcept nogil:
    """Multiply θ by a factor; then compute K, all powers and Z anew, and put the average's sums, ages r - correction, in
    correction alone.

    K is the largest θ so far, so that one pass usually suffices; a second one follows if K is far above the present largest θ.
    """
    compute_once(state, s, factor)
    if s.group.shift > s.group.top + 20.0:
        compute_once(state, s, 1.0)


cdef void start_group(floating[::1] state, Simplex* s) noexcept nogil:
    """Compute Z and all powers from θ, in a new model or after its vectors have changed."""
    cdef Py_ssize_t j, c
    cdef double theta
    s.group.top = 0.0 if s.is_signed else LEAST
    for j in range(s.n):
        for c in range(s.first, s.last):
            if has_joined(s, c):
                theta = state[2 * s.k * j + s.k + c]
                s.group.top = larger(s.group.top, fabs(theta) if s.is_signed else theta)
    if s.group.top == LEAST:
        s.group.top = 0.0
    compute_powers(state, s, 1.0)


cdef void join(floating[::1] state, Simplex* s) noexcept nogil:
    """Add another vector, whose θ are all 0 and whose count is no longer 0, to the sum. Usually O(1)."""
    cdef Group* group = s.group
    group.top = larger(group.top, <double>0.0)
    if group.top > group.shift + SPREAD:
        compute_powers(state, s, 1.0)
    else:
        add_to(&group.high, &group.low, s.n * <double>root_of(<floating>group.shift))
        group.peak = larger(group.peak, group.high)


# --- a step along a row --------------------------------------------------------------------------------------------------------

cdef inline void write_powers(floating[::1] state, Simplex* s, const GatheredRow* row, Py_ssize_t c, const floating* theta,
                              floating* before, floating* terms, floating root) noexcept nogil:
    """Store the powers of one vector's new θ. before : its powers so far. terms : workspace of two rows. root : e^-K."""
    cdef Py_ssize_t j, at, full = round_up(row.n)
    cdef floating* r = terms + row.capacity
    cdef Group* group = s.group
    powers_of(r, theta, s, <floating>group.shift, root, full)
    for j in range(full):
        terms[j] = r[j]
    terms_of(before, s, root, full)
    terms_of(terms, s, root, full)
    if not s.is_signed:
        for j in range(row.n, full):
            terms[j] = 0.0
    if s.correction != NULL and group.ages > 0.0:
        for j in range(row.n):
            at = row.places[j] + c
            correction_at(s, at)[0] += group.ages * (<double>r[j] - state[at])
    for j in range(row.n):
        at = row.places[j] + c
        state[at], state[at + s.k] = r[j], theta[j]
    add_changes(group, before, terms, full)


cdef inline void write_theta(floating[::1] state, Simplex* s, const GatheredRow* row, Py_ssize_t c,
                             const floating* theta) noexcept nogil:
    """Store θ of one vector; its powers are recomputed later, except those of signed zeros, written here."""
    cdef Py_ssize_t j, at
    for j in range(row.n):
        at = row.places[j] + c
        state[at + s.k] = theta[j]
        if s.is_signed and theta[j] == 0.0:
            if s.correction != NULL and s.group.ages > 0.0:
                correction_at(s, at)[0] -= s.group.ages * state[at]
            state[at] = 0.0


cdef bint step_group(floating[::1] state, Simplex* s, const GatheredRow* row, const Py_ssize_t* vectors, const double* d,
                     Py_ssize_t n) noexcept nogil:
    """Add rate d_c x to θ_c for n vectors of a group; return False, and do nothing, if a |θ| would pass the limit.

    All numbers of the row are updated at once, powers, roots and quotients several at a time, and stored back.
    """
    cdef Py_ssize_t i, j, at, full = round_up(row.n)
    cdef const floating* x = <const floating*>row.x
    cdef floating* theta = <floating*>row.x + row.capacity
    cdef floating* before = theta + n * row.capacity
    cdef floating* terms = before + n * row.capacity
    cdef floating largest = 0.0, root
    cdef double move, top = 0.0 if s.is_signed else LEAST
    cdef Group* group = s.group
    for i in range(n):
        move = s.rate * d[i]
        for j in range(row.n):
            at = row.places[j] + vectors[i]
            before[i * row.capacity + j] = state[at]
            theta[i * row.capacity + j] = state[at + s.k] + <floating>(move * x[j])
        for j in range(row.n, full):
            theta[i * row.capacity + j] = before[i * row.capacity + j] = 0.0
        largest = larger(largest, largest_of(theta + i * row.capacity, full))
        if not s.is_signed:
            top = larger(top, top_of(theta + i * row.capacity, s, row.n))
    if largest > s.limit:
        return False
    if s.is_signed:
        top = largest
    group.top = larger(group.top, top)
    if top > group.shift + (SPREAD if s.correction == NULL else CLOSE):
        for i in range(n):
            write_theta(state, s, row, vectors[i], theta + i * row.capacity)
        compute_powers(state, s, 1.0)
        return True
    root = root_of(<floating>group.shift)
    for i in range(n):
        write_powers(state, s, row, vectors[i], theta + i * row.capacity, before + i * row.capacity, terms, root)
    group.peak = larger(group.peak, group.high)
    if group.high < (SHRUNK if s.correction == NULL else <double>0.01) * group.peak:
        compute_powers(state, s, 1.0)
    return True


# --- checking ------------------------------------------------------------------------------------------------------------------

def problem(powers, theta, groups, is_signed):
    """Return what is wrong with the numbers of a simplex in a file; "" if its weights and steps are finite.

    powers, theta : (features, vectors), for those in the sum. groups : (1 or vectors, GROUP_SIZE); high = 0: not known yet.
    """
    ages, squares, high, low, shift, peak, top = groups.T
    if min(part.min() for part in (ages, squares, high, peak)) < 0.0:
        return "normalisers below 0"
    largest, most = (np.abs(theta) if is_signed else theta).max(axis=0), np.abs(powers).max(axis=0)
    fits = (most <= 1.001 * (high + low)) & (high <= peak) & (largest <= shift + 100.0)
    fits &= (largest <= top) & (top <= np.finfo(powers.dtype).max / 4)
    return "" if (fits | (high == 0.0)).all() else "normalisers that are not those of the weights"
