"""Learners whose weights are w = ∇f*(θ) for a θ that moves along x, where ∇f* has one number in common for all features, a norm.

The geometry P_NORM (NAROW 4.1), f = ||.||_q²/2, 1/p + 1/q = 1, p >= 2:

    w_i = (q - 1) sgn(θ_i) |θ_i|^(p-1) / ||θ||^(p-2) = (q - 1) ||θ|| sgn(θ_i) (|θ_i| / ||θ||)^(p-1),   ||.|| = ||.||_p

Powers cost 15 ns and, at p = 28, leave the range of any dtype. So the second slot keeps a root of the power,

    ρ_i = sgn(θ_i) |θ_i|^a,   a = (p - 1) / 2^squarings <= 1,   w_i = g sgn(ρ_i) (|ρ_i| m)^(2^squarings),

with m = ||θ||^-a and g = (q - 1) ||θ||: a scan multiplies and squares, only a step takes a root, and no θ is out of range.
(|ρ_i| m is at most 1; a root's rounding counts 2^squarings < 2 (p - 1) times, θ's own counts p - 1 times.)

The norm comes from S = Σ (|θ_i| / s)^p, s a power of two near it. A step takes its features' terms out of S and puts the new ones
in. A term is a function of what is stored, so that the same number goes out that came in; the sum has 106 bits, and a bound on
its rounding errors. Where the bound passes 2^-44 S (S has fallen by a factor of 2^50 or so: the largest θ_i went), or S leaves
double's range, S is summed anew, O(n_features). The constant feature, in every row and at first the largest of all, would come
and go in the sum: its term is not in it, but is added where S is used.

Crammer-Singer's joint learner lives in all classes' θ together: one norm. One against the rest: one norm a class.

The geometry CENTRE (PA 2, the uniclass): the centre of a ball, w = a u, moves towards a row by a share b of the way,

    w <- (1 - b) w + b x,   that is   a <- (1 - b) a,   u += (b/a) x,   ||x - w||² = ||x||² - 2a u.x + a² ||u||².

||u||² is the sum S above, of u_i². a only shrinks; before it, or u, leaves the range it is multiplied into u, O(n_features).

The geometries SINH and EXP (PA 6) are in _multiplicative.pxd; their centre of a ball is here, for every feature takes a step.
"""
from libc.math cimport copysign, fabs, fmin, ilogb, ldexp, pow, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .sparse cimport (
    ADDITIVE, CENTRE, P_NORM, SINH, Row, Sums, column, dense_t, floating, index_t, larger, prefetch,
    scan_single,
)
from .multiplicative cimport join, multiply, n_weights, scan_products, write_anew
from .multiplicative cimport settle as settle_products
from .norm cimport (
    FRESH, GAIN, INVERSE, N_NORM, NOISE, REST, SCALE, SHIFT, SHRINK, SQUARES, SUM, Sum, add, add_all, begin, end,
)
from .powers cimport pow_all, pow_of_parts, with_sign
from .books cimport (
    MISTAKES, OVR, QUANTUM, REACH, REGRESSION, SKIPPED, UPDATES, Party, Task, charge, enter, fits, look_up, note, party, readable,
    row_at, top,
)
from .._rules cimport AGGRESSIVE_P_NORM, MULTIPLICATIVE, MULTIPLICATIVE_CENTRE, Params, Stats, Step, apply_rule, settled, smaller

NORM_SIZE, SUM_AT, REST_AT, SCALE_AT, INVERSE_AT, GAIN_AT = N_NORM, SUM, REST, SCALE, INVERSE, GAIN
FRESH_AT, SHIFT_AT, SQUARES_AT, NOISE_AT = FRESH, SHIFT, SQUARES, NOISE


def roots(power):
    """The fields of Params for a p."""
    cdef int squarings = 0
    while (1 << squarings) < power - 1.0:
        squarings += 1
    return {"power": power, "root": (power - 1.0) / (1 << squarings), "squarings": squarings}


cdef enum:
    SURFACE = 16            # how far rounding may take ||x - w||², in units of the dtype's spacing times ||x||² + ||w||²
    BATCH = 64              # features treated side by side: loops that a compiler can take several at a time

SURFACE_SPACINGS = SURFACE

cdef double LARGEST = 1.7976931348623157e308


# --- the norm ------------------------------------------------------------------------------------------------------------------

cdef inline double raised(double root, double factor, int squarings) noexcept nogil:
    """(|root| factor)^(2^squarings)"""
    cdef double value = fabs(root) * factor
    cdef int _
    if squarings >= 4:                  # (most p that ln n_features gives; a loop's counting costs as much as its squares)
        value *= value
        value *= value
        value *= value
        value *= value
        squarings -= 4
    for _ in range(squarings):
        value *= value
    return value


cdef inline double term(double theta, double root, double scale, double shrink, int squarings) noexcept nogil:
    """(|θ_i| / s)^p"""
    return raised(root, shrink, squarings) * (fabs(theta) * scale)


cdef inline bint settle(const floating[::1] state, Py_ssize_t k, Py_ssize_t first, Py_ssize_t last, double* norm,
                        const Params* p) noexcept nogil:
    """The numbers that scans use, from S. False if it is not known to 2^-44 of itself, or not in the midst of double's range."""
    cdef Py_ssize_t c, at
    cdef double size, sum = norm[SUM]
    for c in range(first, last):
        at = state.shape[0] - 2 * k + c
        sum += term(state[at], state[at + k], norm[SCALE], norm[SHRINK], p.squarings)
    if p.power == 2.0:                  # w = θ
        norm[INVERSE] = norm[GAIN] = 1.0
    elif sum > 0.0:
        size = fmin(pow(sum, 1.0 / p.power) / norm[SCALE], LARGEST)
        norm[INVERSE] = fmin(pow(size, -p.root), LARGEST)
        norm[GAIN] = size / (p.power - 1.0)
    else:
        norm[INVERSE] = norm[GAIN] = 0.0
    return norm[NOISE] <= 5.7e-14 * sum and 1e-270 <= sum <= 1e270         # (NaN is not)


cdef void sum_anew(const floating[::1] state, Py_ssize_t k, Py_ssize_t first, Py_ssize_t last, double* norm,
                   const Params* p) noexcept nogil:
    """The norm of the classes first .. last - 1 of k from their θ."""
    cdef Py_ssize_t j, at, c, n = state.shape[0] // (2 * k)
    cdef double largest = 0.0
    cdef Sum sum
    for j in range(n):
        for c in range(first, last):
            largest = larger(largest, fabs(state[2 * k * j + c]))
    norm[SUM] = norm[REST] = norm[NOISE] = 0.0
    norm[SCALE] = ldexp(1.0, -ilogb(larger(largest, <double>1e-300)) - 1) if largest > 0.0 else 1.0
    norm[SHRINK] = pow(norm[SCALE], p.root)
    sum = begin(norm)
    for j in range(n - 1):
        for c in range(first, last):
            at = 2 * k * j + c
            if state[at] != 0.0:
                add(&sum, term(state[at], state[at + k], norm[SCALE], norm[SHRINK], p.squarings))
    end(&sum, norm)
    settle(state, k, first, last, norm, p)


cdef Py_ssize_t know(floating[::1] state, Py_ssize_t k, double[:, ::1] norms, const double[::1] counts, bint untouched,
                     const Params* p) noexcept nogil:
    """Sum what norms are not known at all; returns the work that it was."""
    cdef Py_ssize_t j, first, last, work = 0
    for j in range(norms.shape[0]):
        if norms[j, SCALE] == 0.0:
            first = j if norms.shape[0] == k else 0
            last = j + 1 if norms.shape[0] == k else k
            if p.geometry == P_NORM:
                sum_anew(state, k, first, last, &norms[j, 0], p)
            else:
                write_anew(state, k, first, last, &norms[j, 0], counts, untouched, p)
            work += state.shape[0]
    return work


# --- one row -------------------------------------------------------------------------------------------------------------------

cdef inline void raise_all(double* values, Py_ssize_t n, int squarings) noexcept nogil:
    """values[i]^(2^squarings)"""
    cdef Py_ssize_t i
    cdef double value
    while squarings >= 4:               # (most p that ln n_features gives; a loop over all costs as much as its squares)
        for i in range(n):
            value = values[i] * values[i]
            value *= value
            value *= value
            values[i] = value * value
        squarings -= 4
    while squarings > 0:
        for i in range(n):
            values[i] *= values[i]
        squarings -= 1


cdef inline double score(const floating[::1] state, const double* norm, const floating[::1] data, const index_t[::1] indices,
                         Row row, double* q, const Params* p) noexcept nogil:
    """w.x of the only vector there is, and q = ||x||²."""
    cdef Py_ssize_t i, n, k = row.lo
    cdef double x, total = 0.0, squares = p.bias * p.bias, inverse = norm[INVERSE]
    cdef double[BATCH] roots
    cdef double[BATCH] powers
    while k < row.hi:
        n = row.hi - k if row.hi - k < BATCH else BATCH
        for i in range(n):
            if index_t is not dense_t:
                prefetch(&state[2 * <Py_ssize_t>indices[k + i + row.ahead]])
            roots[i] = state[2 * column(indices, k + i, row.lo) + 1]
        for i in range(n):
            powers[i] = roots[i] * inverse
        raise_all(powers, n, p.squarings)
        for i in range(n):
            x = data[k + i]
            total += x * copysign(powers[i], roots[i])
            squares += x * x
        k += n
    x = state[state.shape[0] - 1]
    q[0] = squares
    return norm[GAIN] * (total + p.bias * copysign(raised(x, inverse, p.squarings), x))


cdef inline void add_scores(const floating[::1] state, Py_ssize_t at, double x, const double[:, ::1] norms, double[:, ::1] scores,
                            Py_ssize_t i, const Params* p) noexcept nogil:
    cdef Py_ssize_t c, k = scores.shape[1], own = norms.shape[0] > 1
    cdef double root
    for c in range(k):
        root = state[at + k + c]
        if root != 0.0:
            scores[i, c] += x * copysign(raised(root, norms[c * own, INVERSE], p.squarings), root)


cdef inline double score_all(const floating[::1] state, const double[:, ::1] norms, const floating[::1] data,
                             const index_t[::1] indices, Row row, double[:, ::1] scores, Py_ssize_t i,
                             const Params* p) noexcept nogil:
    """The scores of all vectors, into scores[i]; returns ||x||²."""
    cdef Py_ssize_t k, c, n_classes = scores.shape[1], own = norms.shape[0] > 1
    cdef double q = p.bias * p.bias
    if n_classes == 1:
        scores[i, 0] = score(state, &norms[0, 0], data, indices, row, &q, p)
        return q
    for c in range(n_classes):
        scores[i, c] = 0.0
    for k in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * n_classes * <Py_ssize_t>indices[k + row.ahead]])
            prefetch(&state[2 * n_classes * <Py_ssize_t>indices[k + row.ahead] + n_classes])
        add_scores(state, 2 * n_classes * column(indices, k, row.lo), data[k], norms, scores, i, p)
        q += <double>data[k] * data[k]
    add_scores(state, state.shape[0] - 2 * n_classes, p.bias, norms, scores, i, p)
    for c in range(n_classes):
        scores[i, c] *= norms[c * own, GAIN]
    return q


cdef inline double sum_of_powers(const double* parts, const double* times, Py_ssize_t n, double a) noexcept nogil:
    """Σ times[i] parts[i]^a"""
    cdef Py_ssize_t i
    cdef double total = 0.0
    cdef double[BATCH] powers
    pow_of_parts(powers, parts, n, a)
    for i in range(n):
        total += times[i] * powers[i]
    return total


cdef double p_norm(const floating[::1] data, Row row, double copies, double least, const Params* p) noexcept nogil:
    """||z||_p², for so many copies of x in z.

    A row's numbers are often the same: one power for a run of them. Those below `least` times the largest do not count.
    """
    cdef Py_ssize_t k, n = 0
    cdef double x, largest = fabs(p.bias), last = 0.0, run = 0.0, total = largest > 0.0
    cdef double[BATCH] parts
    cdef double[BATCH] times
    for k in range(row.lo, row.hi):
        largest = larger(largest, fabs(data[k]))
    least *= largest
    if fabs(p.bias) < largest:
        total = pow(fabs(p.bias) / largest, p.power)
    for k in range(row.lo, row.hi):
        x = fabs(data[k])
        if x == last:
            run += 1.0
        elif x > least:
            parts[n], times[n] = last / largest, run
            n += 1
            if n == BATCH:
                total += sum_of_powers(parts, times, n, p.power)
                n = 0
            last, run = x, 1.0
    if last > 0.0:
        parts[n], times[n] = last / largest, run
        total += sum_of_powers(parts, times, n + 1, p.power)
    total *= copies
    x = largest if total == 1.0 else largest * pow(total, 1.0 / p.power)
    return x * x


cdef inline void roots_of(floating* roots, const floating* theta, Py_ssize_t n, double a) noexcept nogil:
    """sgn(θ) |θ|^a of each."""
    cdef Py_ssize_t i
    if a == 1.0:
        for i in range(n):
            roots[i] = theta[i]
    else:
        pow_all(roots, theta, n, a)
        for i in range(n):
            roots[i] = with_sign(roots[i], theta[i])


cdef inline void terms(double* found, const floating* theta, const floating* root, Py_ssize_t n, double scale, double shrink,
                       int squarings) noexcept nogil:
    """`term` of each."""
    cdef Py_ssize_t i
    for i in range(n):
        found[i] = fabs(<double>root[i]) * shrink
    raise_all(found, n, squarings)
    for i in range(n):
        found[i] *= fabs(<double>theta[i]) * scale


cdef inline void step_all(floating[::1] state, Py_ssize_t k, const Py_ssize_t* places, floating* theta, floating* roots,
                          const floating* ways, Py_ssize_t n, Sum* sum, double scale, double shrink,
                          const Params* p) noexcept nogil:
    """Move some θ by their ways, and with them their roots and their part of the sum."""
    cdef Py_ssize_t i
    cdef double[2 * BATCH] changes
    terms(&changes[n], theta, roots, n, scale, shrink, p.squarings)
    for i in range(n):
        changes[i] = -changes[n + i]
        theta[i] += ways[i]
    roots_of(roots, theta, n, p.root)
    terms(&changes[n], theta, roots, n, scale, shrink, p.squarings)
    for i in range(n):
        state[places[i]] = theta[i]
        state[places[i] + k] = roots[i]
    add_all(sum, changes, 2 * n)


cdef Py_ssize_t move(floating[::1] state, Py_ssize_t k, const Party* members, double tau, double[:, ::1] norms,
                     const floating[::1] data, const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """Take the step tau along the joint example; returns the work beyond the row's own."""
    cdef Py_ssize_t i, j, at, n = 0, own = norms.shape[0] > 1, first = members.c[0], last = first + 1
    cdef double* norm = &norms[first * own, 0]
    cdef Py_ssize_t[BATCH] places
    cdef floating[BATCH] theta
    cdef floating[BATCH] roots
    cdef floating[BATCH] ways
    cdef floating x, step
    cdef Sum sum = begin(norm)
    for j in range(members.n):
        step = <floating>(members.sign[j] * tau)
        for i in range(row.lo, row.hi):
            x = data[i]
            at = 2 * k * column(indices, i, row.lo) + members.c[j]
            places[n], ways[n], theta[n], roots[n] = at, step * x, state[at], state[at + k]
            n += x != 0.0
            if n == BATCH:
                step_all(state, k, places, theta, roots, ways, n, &sum, norm[SCALE], norm[SHRINK], p)
                n = 0
        if p.bias != 0.0:
            at = state.shape[0] - 2 * k + members.c[j]
            state[at] += step * <floating>p.bias
            roots_of(&state[at + k], &state[at], 1, p.root)
    step_all(state, k, places, theta, roots, ways, n, &sum, norm[SCALE], norm[SHRINK], p)
    end(&sum, norm)
    if norm[SUM] < 0.0:                 # none of its terms is: it is 0 to within the noise
        norm[SUM] = norm[REST] = 0.0
    if not own and k > 1:
        first, last = 0, k
    if settle(state, k, first, last, norm, p):
        return 0
    sum_anew(state, k, first, last, norm, p)
    return state.shape[0]


# --- the tasks -----------------------------------------------------------------------------------------------------------------

def learn(Params p, Task task, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
          const int64_t[::1] order, const double[::1] y, const double[::1] weights, const double[::1] class_weights,
          floating[::1] state, double[::1] counts, double[::1] tally, int32_t[::1] predictions, double[:, ::1] norms):
    """One pass over rows, any task.

    Arguments as in `_core.binary`, y as numbers (labels 0, 1, .. or targets; these are not predicted); norms : (1 or vectors,
    NORM_SIZE).
    """
    cdef Py_ssize_t i, at, number, label, guess, newcomer, k = counts.shape[0] if counts.shape[0] > 2 else 1
    cdef Py_ssize_t n = order.shape[0] if order.shape[0] else y.shape[0], n_steps = k if task == OVR else 1
    cdef Py_ssize_t budget = QUANTUM, work
    cdef double[:, ::1] scores = np.empty((1, k))
    cdef double q, skipped, size, farthest = 0.0, least = pow(2.0, -80.0 / p.power)
    cdef bint updated
    cdef Row row
    cdef Stats s
    cdef Step step
    cdef Party members
    with nogil:
        if p.geometry != P_NORM:
            for i in range(norms.shape[0]):         # norm_bound may be another than at the last call
                if norms[i, SCALE] > 0.0:
                    settle_products(&norms[i, 0], &p)
        for i in range(n):
            row = row_at(indptr, order, i)
            budget = look_up(budget, (row.hi - row.lo + 8) * k)
            at = order[i] if order.shape[0] else i
            label = 0 if task == REGRESSION else <Py_ssize_t>y[at]
            s.weight = enter(at, label, weights, class_weights, counts, tally, &p)
            if s.weight == 0.0:
                continue
            if p.geometry != P_NORM and p.open_classes and counts[label] == 1.0 and k > norms.shape[0] and norms[0, SCALE] > 0.0:
                join(state, k, &norms[0, 0], &p)
            work = know(state, k, norms, counts, tally[REACH] == 0.0, &p)
            if p.geometry == P_NORM:
                q = score_all(state, norms, data, indices, row, scores, 0, &p)
            else:
                q = scan_products(state, norms, data, indices, row, scores, 0, &farthest, &p)
            if task == REGRESSION:
                note(y[at] - scores[0, 0], tally)
            else:
                newcomer = label if p.open_classes and counts[label] == 1.0 else -1     # it could not have been predicted
                if k > 1:
                    guess = top(scores, 0, counts, newcomer, &p)
                else:
                    guess = 1 - label if newcomer >= 0 else scores[0, 0] > 0.0
                tally[MISTAKES] += guess != label
                if predictions.shape[0]:
                    predictions[at] = <int32_t>guess

            updated = False
            size = -1.0
            skipped = tally[SKIPPED]
            for number in range(n_steps):
                members = party(task, number, y[at], scores, 0, counts, &p)
                s.margin, s.q, s.v = members.margin, members.n * q, 0.0
                if members.n == 0 or not readable(&s, tally):
                    continue
                charge(&s, tally, &p)
                if settled(s.margin, &p):
                    continue
                if p.rule == AGGRESSIVE_P_NORM and s.margin > 0.0:
                    if size < 0.0:
                        size = p_norm(data, row, members.n, least, &p)
                    s.v = size
                elif p.rule == MULTIPLICATIVE:
                    # How far the features of the simplex lie apart: W x or W [x, -x], and in a joint example both signs of x.
                    s.v = (2.0 if p.geometry == SINH or members.n == 2 else 1.0) * p.norm_bound * farthest
                step = apply_rule(&s, &p)
                if step.tau != 0.0 and fits(&s, step, tally, &p):
                    if p.geometry == P_NORM:
                        work += move(state, k, &members, step.tau, norms, data, indices, row, &p)
                    else:
                        work += multiply(state, k, &members, step.tau, norms, counts, data, indices, row, &p)
                    updated = True
            if tally[SKIPPED] > skipped:        # rows are counted, not classes
                tally[SKIPPED] = skipped + 1.0
            tally[UPDATES] += updated
            budget = look_up(budget, work)


cdef inline void shift(floating[::1] state, Py_ssize_t at, floating x, floating share, Sum* sum) noexcept nogil:
    if x == 0.0:
        return
    add(sum, -<double>state[at] * state[at])
    state[at] += share * x
    add(sum, <double>state[at] * state[at])


cdef void rescale(floating[::1] state, double factor, double* norm) noexcept nogil:
    """u *= factor (a is then 1), and ||u||² anew."""
    cdef Py_ssize_t at
    cdef Sum sum
    norm[SUM] = norm[REST] = norm[NOISE] = 0.0
    norm[SCALE] = 1.0
    sum = begin(norm)
    for at in range(state.shape[0]):
        state[at] = <floating>(factor * state[at])
        add(&sum, <double>state[at] * state[at])
    end(&sum, norm)


cdef inline double squared_distance(Sums sums, const double* norm, double* size) noexcept nogil:
    """||x - w||², from numbers as large as size."""
    size[0] = sums.q + norm[SCALE] * norm[SCALE] * norm[SUM]
    return larger(size[0] - 2.0 * norm[SCALE] * sums.score, <double>0.0)


def enclose(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
            const int64_t[::1] order, const double[::1] weights, floating[::1] state, double[::1] counts, double[::1] tally,
            double[:, ::1] norms):
    """One pass over rows: the centre of a ball of radius epsilon around them.

    Arguments as in `learn`; norms : (1, NORM_SIZE), of which SCALE is a, 0 before there is a centre.
    """
    cdef Py_ssize_t i, k, at, n = order.shape[0] if order.shape[0] else indptr.shape[0] - 1, budget = QUANTUM
    cdef double least = 1e-18 if floating is float else 1e-120, limit = smaller(p.limit, 1e150)     # of a; of |u_i|
    cdef double square, distance, size = 0.0, share, a, stride
    cdef double[::1] no_weights = np.empty(0)
    cdef double* norm = &norms[0, 0]
    cdef bint first
    cdef Row row
    cdef Sum sum
    cdef Sums sums
    cdef Stats s
    with nogil:
        for i in range(n):
            row = row_at(indptr, order, i)
            budget = look_up(budget, row.hi - row.lo + 8)
            at = order[i] if order.shape[0] else i
            s.weight = enter(at, 0, weights, no_weights, counts, tally, &p)
            if s.weight == 0.0:
                continue
            sums = scan_single(state, data, indices, row, &p)
            first = norm[SCALE] == 0.0
            square = squared_distance(sums, norm, &size)
            distance = sqrt(square)
            s.margin, s.q, s.v = p.epsilon - distance, 1.0, size        # ||v|| = 1;  v's place: it must be finite
            if not readable(&s, tally):
                continue
            share = 1.0
            if not first:
                # An update leaves its row on the surface, where rounding decides nothing: as decision_function has it.
                if square - p.epsilon * p.epsilon <= SURFACE * p.spacing * size:
                    continue
                tally[MISTAKES] += 1.0
                charge(&s, tally, &p)
                if -s.margin <= p.slack:
                    continue
                # A hard constraint: a row's weight can but hold the step back.
                share = smaller(smaller(1.0, s.weight) * apply_rule(&s, &p).tau / distance, 1.0)
            stride = sqrt(sums.q)
            if stride > limit or share == 0.0:
                tally[SKIPPED] += 1.0
                continue
            a = (1.0 - share) * norm[SCALE]
            if a < least or tally[REACH] + share / a * stride > limit:
                rescale(state, a, norm)
                budget = look_up(budget, state.shape[0])
                tally[REACH] *= a
                a = 1.0
            norm[SCALE] = a
            tally[REACH] += share / a * stride
            sum = begin(norm)
            for k in range(row.lo, row.hi):
                shift(state, column(indices, k, row.lo), data[k], <floating>(share / a), &sum)
            end(&sum, norm)
            if not norm[NOISE] <= 5.7e-14 * norm[SUM]:
                rescale(state, 1.0, norm)
                norm[SCALE] = a
                budget = look_up(budget, state.shape[0])
            tally[UPDATES] += not first


cdef void take_stock(floating[::1] state, double* norm, const double[::1] counts, const Params* p) noexcept nogil:
    """Second slots, sum and squares of a centre from its θ."""
    cdef Py_ssize_t j, n = n_weights(state, 1, p)
    cdef double squares = 0.0
    write_anew(state, 1, 0, 1, norm, counts, False, p)
    for j in range(n):
        squares += <double>state[2 * j + 1] * state[2 * j + 1]
    norm[SQUARES] = squares


cdef inline double squared_distance_of_product(const floating[::1] state, const double* norm, const floating[::1] data,
                                               const index_t[::1] indices, Row row, double* size) noexcept nogil:
    """||x - w||², from numbers as large as size."""
    cdef Py_ssize_t k
    cdef double x, product = 0.0, q = 0.0
    for k in range(row.lo, row.hi):
        x = data[k]
        product += x * state[2 * column(indices, k, row.lo) + 1]
        q += x * x
    size[0] = q + norm[GAIN] * norm[GAIN] * norm[SQUARES]
    return larger(size[0] - 2.0 * norm[GAIN] * product, <double>0.0)


def surround(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
             const int64_t[::1] order, const double[::1] weights, floating[::1] state, double[::1] counts, double[::1] tally,
             double[:, ::1] norms):
    """One pass over rows: the centre of a ball of radius epsilon around them, by multiplicative steps. As `enclose`."""
    cdef Py_ssize_t i, j, k, at, n_features, n = order.shape[0] if order.shape[0] else indptr.shape[0] - 1, budget = QUANTUM
    cdef double distance, difference, square, farthest, share, stride, size = 0.0
    cdef double[::1] no_weights = np.empty(0)
    cdef double* norm = &norms[0, 0]
    cdef Row row
    cdef Stats s
    with nogil:
        n_features = n_weights(state, 1, &p)
        if norm[SCALE] > 0.0:                       # norm_bound may be another than at the last call
            settle_products(norm, &p)
        for i in range(n):
            row = row_at(indptr, order, i)
            budget = look_up(budget, row.hi - row.lo + 8)
            at = order[i] if order.shape[0] else i
            s.weight = enter(at, 0, weights, no_weights, counts, tally, &p)
            if s.weight == 0.0:
                continue
            if norm[SCALE] == 0.0:
                take_stock(state, norm, counts, &p)
            distance = sqrt(squared_distance_of_product(state, norm, data, indices, row, &size))
            s.margin, s.q, s.v = p.epsilon - distance, 1.0, size
            if not readable(&s, tally) or s.margin >= 0.0:
                continue
            tally[MISTAKES] += 1.0
            charge(&s, tally, &p)
            budget = look_up(budget, 4 * n_features)

            # Again without the difference of squares, which is worth nothing where x is near the centre.
            k, square, farthest = row.lo, 0.0, 0.0
            for j in range(n_features):
                difference = -norm[GAIN] * state[2 * j + 1]
                if k < row.hi and column(indices, k, row.lo) == j:
                    difference += data[k]
                    k += 1
                square += difference * difference
                farthest = larger(farthest, fabs(difference))
            s.margin, s.v = p.epsilon - sqrt(square), p.norm_bound * farthest
            share = apply_rule(&s, &p).tau              # of x - w
            stride = share * farthest
            if share == 0.0:
                continue
            if not (p.tiny <= share <= p.limit and tally[REACH] + stride <= p.limit):
                tally[SKIPPED] += 1.0
                continue
            tally[REACH] += stride
            k = row.lo
            for j in range(n_features):
                difference = -norm[GAIN] * state[2 * j + 1]
                if k < row.hi and column(indices, k, row.lo) == j:
                    difference += data[k]
                    k += 1
                state[2 * j] += <floating>(share * difference)
            take_stock(state, norm, counts, &p)
            tally[UPDATES] += 1.0


# --- reading -------------------------------------------------------------------------------------------------------------------

def known(Params p, state, Py_ssize_t k, norms, const double[::1] counts):
    """The state and the norms, (1 or k, NORM_SIZE), themselves if all is known of them, else copies that are made so."""
    if (np.asarray(norms)[:, SCALE] > 0.0).all():
        return state, norms
    state, norms = np.array(state), np.array(norms)
    complete(p, state, k, norms, counts)
    return state, norms


def roots_of_all(floating[::1] x, double a):
    """|x[i]|^a: for tests of _powers.pxd."""
    found = np.empty_like(x)
    cdef floating[::1] view = found
    pow_all(&view[0], &x[0], x.shape[0], a)
    return found


def complete(Params p, floating[::1] state, Py_ssize_t k, double[:, ::1] norms, const double[::1] counts):
    with nogil:
        if p.rule == MULTIPLICATIVE_CENTRE:
            take_stock(state, &norms[0, 0], counts, &p)
        else:
            know(state, k, norms, counts, False, &p)


def decision(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
             const floating[::1] state, const double[:, ::1] norms, double[:, ::1] scores):
    """scores[i, c] = w_c.x_i"""
    cdef Py_ssize_t i, k = scores.shape[1], budget = QUANTUM
    cdef double farthest = 0.0
    cdef int64_t[::1] order = np.empty(0, np.int64)
    with nogil:
        for i in range(scores.shape[0]):
            budget = look_up(budget, (indptr[i + 1] - indptr[i] + 8) * k)
            if p.geometry == P_NORM:
                score_all(state, norms, data, indices, row_at(indptr, order, i), scores, i, &p)
            else:
                scan_products(state, norms, data, indices, row_at(indptr, order, i), scores, i, &farthest, &p)


def squared_distances(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
                      const floating[::1] state, const double[:, ::1] norms, double[::1] squares, double[::1] sizes):
    """squares[i] = ||x_i - w||², the difference of numbers as large as sizes[i]."""
    cdef Py_ssize_t i, budget = QUANTUM
    cdef int64_t[::1] order = np.empty(0, np.int64)
    with nogil:
        for i in range(squares.shape[0]):
            budget = look_up(budget, indptr[i + 1] - indptr[i] + 8)
            if p.geometry == CENTRE:
                squares[i] = squared_distance(scan_single(state, data, indices, row_at(indptr, order, i), &p),
                                              &norms[0, 0], &sizes[i])
            else:
                squares[i] = squared_distance_of_product(state, &norms[0, 0], data, indices, row_at(indptr, order, i), &sizes[i])


def weights(Params p, const floating[:, :, ::1] view, const double[:, ::1] norms, floating[:, ::1] found):
    """found[c, j] : the weights that predict, of features view[j] = (first slots, second slots)."""
    cdef Py_ssize_t c, j, own = norms.shape[0] > 1
    cdef double second
    with nogil:
        for j in range(view.shape[0]):
            for c in range(view.shape[2]):
                second = view[j, 1, c]
                if p.geometry == P_NORM:
                    second = copysign(raised(second, norms[c * own, INVERSE], p.squarings), second)
                found[c, j] = <floating>(norms[c * own, GAIN] * second)
