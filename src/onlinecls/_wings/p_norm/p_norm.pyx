"""The p-norm geometry (NAROW 4.1): the weights are w = ∇f*(θ) for f = ||.||_q²/2, 1/p + 1/q = 1, p >= 2; a step moves θ along x.

    w_i = (q - 1) sgn(θ_i) |θ_i|^(p-1) / ||θ||^(p-2) = (q - 1) ||θ|| sgn(θ_i) (|θ_i| / ||θ||)^(p-1),   ||.|| = ||.||_p

Powers cost 15 ns and, at p = 28, leave the range of any dtype. So the second slot keeps a root of the power,

    ρ_i = sgn(θ_i) |θ_i|^a,   a = (p - 1) / 2^squarings <= 1,   w_i = g sgn(ρ_i) (|ρ_i| m)^(2^squarings),

with m = ||θ||^-a and g = (q - 1) ||θ||: a scan multiplies and squares, only a step takes a root, and no θ is out of range.
(|ρ_i| m is at most 1; a root's rounding counts 2^squarings < 2 (p - 1) times, θ's own p - 1 times.)

The norm comes from S = Σ (|θ_i| / s)^p, s a power of two near it. A step takes its features' terms out of S and puts the new ones
in. A term is a function of the stored numbers, so that exactly what was added is taken out; the sum has 106 bits, and a bound on
its rounding errors. Where the bound exceeds 2^-44 S (S has fallen by a factor of 2^50 or so: the largest θ_i has shrunk), or S
leaves double's range, S is summed anew, O(n_features). The term of the constant feature, which is in every row and at first the
largest of all, is not in the sum, but is added where S is used.

Crammer-Singer's joint learner has one norm, of all classes' θ together. One against the rest: one norm a class.
"""
from cython cimport critical_section
from libc.math cimport copysign, fabs, fmin, ilogb, ldexp, pow

import numpy as np

from ..._compiled.model cimport Model
from ..._rules cimport AGGRESSIVE_P_NORM, P_NORM, Params, Stats, Step, apply_rule, margin_suffices
from ..shared.norm cimport Normaliser, Sum, add, add_all, close_sum, is_known, open_sum
from ..shared.powers cimport pow_all, pow_of_parts, with_sign
from ..._compiled.rounds cimport (
    DECISION, OVR, Batch, Example, PassContext, Round, after_step, before_step, check_signals, count_loss, example, measure,
    next_round, row_at, step_fits,
)
from ..._compiled.sparse cimport Row, column, dense_t, floating, index_t, larger, prefetch

#: The numbers of a norm, by their names in Python.
FIELDS = ("high", "low", "noise", "scale", "shrink", "inverse", "weight_scale")

cdef enum:
    BLOCK = 64              # features treated side by side: loops that a compiler can take several at a time

cdef double LARGEST = 1.7976931348623157e308


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
    double* scores          # of each


cdef inline Norm* norm_of(const Norms* norms, Py_ssize_t c) noexcept nogil:
    """Return the norm of vector c."""
    return &norms.of[c if norms.n > 1 else 0]


def root_of(power):
    """Return (a, squarings) for a p."""
    cdef int squarings = 0
    while (1 << squarings) < power - 1.0:
        squarings += 1
    return (power - 1.0) / (1 << squarings), squarings


# --- the norm ------------------------------------------------------------------------------------------------------------------

cdef inline double raised(double root, double factor, int squarings) noexcept nogil:
    """Return (|root| factor)^(2^squarings)."""
    cdef double value = fabs(root) * factor
    cdef int _
    if squarings >= 4:                  # (as for most p = 2 ln n_features; a loop's overhead is as much as its squares)
        value *= value
        value *= value
        value *= value
        value *= value
        squarings -= 4
    for _ in range(squarings):
        value *= value
    return value


cdef inline double term(double theta, double root, double scale, double shrink, int squarings) noexcept nogil:
    """Return (|θ_i| / s)^p."""
    return raised(root, shrink, squarings) * (fabs(theta) * scale)


cdef inline bint refresh(const floating[::1] state, const Norms* norms, Py_ssize_t c, const Params* p) noexcept nogil:
    """Compute the norm's factors for scans of vector c from S; return False if S has too large an error, or is near the ends of
    double's range."""
    cdef Py_ssize_t at, first = state.shape[0] - 2 * norms.k
    cdef Norm* norm = norm_of(norms, c)
    cdef double size, total = norm.sum.high
    for at in range(first + c if norms.n > 1 else first, first + c + 1 if norms.n > 1 else first + norms.k):
        total += term(state[at], state[at + norms.k], norm.scale, norm.shrink, p.squarings)
    if p.power == 2.0:                  # w = θ
        norm.inverse = norm.weight_scale = 1.0
    elif total > 0.0:
        size = fmin(pow(total, 1.0 / p.power) / norm.scale, LARGEST)
        norm.inverse = fmin(pow(size, -p.root), LARGEST)
        norm.weight_scale = size / (p.power - 1.0)
    else:
        norm.inverse = norm.weight_scale = 0.0
    return is_known(&norm.sum, total) and 1e-270 <= total <= 1e270


cdef void sum_anew(const floating[::1] state, const Norms* norms, Py_ssize_t c, const Params* p) noexcept nogil:
    """Compute the norm of vector c from the θ of all vectors that share it."""
    cdef Py_ssize_t j, at, k = norms.k, first = c if norms.n > 1 else 0, last = c + 1 if norms.n > 1 else k
    cdef Py_ssize_t n = state.shape[0] // (2 * k)
    cdef double largest = 0.0
    cdef Norm* norm = norm_of(norms, c)
    cdef Sum sum
    for j in range(n):
        for at in range(2 * k * j + first, 2 * k * j + last):
            largest = larger(largest, fabs(state[at]))
    norm.sum = Normaliser(0.0, 0.0, 0.0)
    norm.scale = ldexp(1.0, -ilogb(larger(largest, <double>1e-300)) - 1) if largest > 0.0 else 1.0
    norm.shrink = pow(norm.scale, p.root)
    sum = open_sum(&norm.sum)
    for j in range(n - 1):
        for at in range(2 * k * j + first, 2 * k * j + last):
            if state[at] != 0.0:
                add(&sum, term(state[at], state[at + k], norm.scale, norm.shrink, p.squarings))
    close_sum(&sum, &norm.sum)
    refresh(state, norms, c, p)


cdef Py_ssize_t sum_unknown(const floating[::1] state, const Norms* norms, const Params* p) noexcept nogil:
    """Sum the norms that are not known yet; return the work done."""
    cdef Py_ssize_t c, work = 0
    for c in range(norms.n):
        if norms.of[c].scale == 0.0:
            sum_anew(state, norms, c, p)
            work += state.shape[0]
    return work


# --- one row -------------------------------------------------------------------------------------------------------------------

cdef inline void raise_all(double* values, Py_ssize_t n, int squarings) noexcept nogil:
    """Raise values[i] to the power 2^squarings."""
    cdef Py_ssize_t i
    cdef double value
    while squarings >= 4:               # (as for most p = 2 ln n_features; a loop over all costs as much as its squares)
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


cdef inline double score_one(const floating[::1] state, const Norm* norm, const floating[::1] data, const index_t[::1] indices,
                             Row row, double* score, const Params* p) noexcept nogil:
    """Compute the score w.x of the only vector; return ||x||²."""
    cdef Py_ssize_t i, n, k = row.lo
    cdef double x, total = 0.0, squares = p.bias * p.bias, inverse = norm.inverse
    cdef double[BLOCK] roots
    cdef double[BLOCK] powers
    while k < row.hi:
        n = row.hi - k if row.hi - k < BLOCK else BLOCK
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
    score[0] = norm.weight_scale * (total + p.bias * copysign(raised(x, inverse, p.squarings), x))
    return squares


cdef inline void add_scores(const floating[::1] state, Py_ssize_t at, double x, const Norms* norms,
                            const Params* p) noexcept nogil:
    cdef Py_ssize_t c
    cdef double root
    for c in range(norms.k):
        root = state[at + norms.k + c]
        if root != 0.0:
            norms.scores[c] += x * copysign(raised(root, norm_of(norms, c).inverse, p.squarings), root)


cdef inline double score_all(const floating[::1] state, const Norms* norms, const floating[::1] data, const index_t[::1] indices,
                             Row row, const Params* p) noexcept nogil:
    """Compute the scores of all vectors, into norms.scores; return ||x||²."""
    cdef Py_ssize_t i, c, k = norms.k
    cdef double q = p.bias * p.bias
    if k == 1:
        return score_one(state, norms.of, data, indices, row, norms.scores, p)
    for c in range(k):
        norms.scores[c] = 0.0
    for i in range(row.lo, row.hi):
        if index_t is not dense_t:
            prefetch(&state[2 * k * <Py_ssize_t>indices[i + row.ahead]])
            prefetch(&state[2 * k * <Py_ssize_t>indices[i + row.ahead] + k])
        add_scores(state, 2 * k * column(indices, i, row.lo), data[i], norms, p)
        q += <double>data[i] * data[i]
    add_scores(state, state.shape[0] - 2 * k, p.bias, norms, p)
    for c in range(k):
        norms.scores[c] *= norm_of(norms, c).weight_scale
    return q


cdef inline double score_z(const floating[::1] state, const Norms* norms, const floating[::1] data, const index_t[::1] indices,
                           Row row, const PassContext* context, const Params* p) noexcept nogil:
    """Compute the scores of all vectors for z = x / s; return ||z||²."""
    cdef Py_ssize_t c
    cdef double q = score_all(state, norms, data, indices, row, p)
    for c in range(norms.k):
        norms.scores[c] *= context.inverse
    return q * (context.inverse * context.inverse)


cdef inline double sum_of_powers(const double* parts, const double* counts, Py_ssize_t n, double a) noexcept nogil:
    """Return Σ counts[i] parts[i]^a."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    cdef double[BLOCK] powers
    pow_of_parts(powers, parts, n, a)
    for i in range(n):
        total += counts[i] * powers[i]
    return total


cdef double p_norm(const floating[::1] data, Row row, double copies, double least, const Params* p) noexcept nogil:
    """Return ||z||_p² for z with this many copies of x.

    Neighbouring numbers of a row are often equal: one power for a run. Those below `least` times the largest are ignored.
    """
    cdef Py_ssize_t k, n = 0
    cdef double x, largest = fabs(p.bias), last = 0.0, run = 0.0, total = largest > 0.0
    cdef double[BLOCK] parts
    cdef double[BLOCK] counts
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
            parts[n], counts[n] = last / largest, run
            n += 1
            if n == BLOCK:
                total += sum_of_powers(parts, counts, n, p.power)
                n = 0
            last, run = x, 1.0
    if last > 0.0:
        parts[n], counts[n] = last / largest, run
        total += sum_of_powers(parts, counts, n + 1, p.power)
    total *= copies
    x = largest if total == 1.0 else largest * pow(total, 1.0 / p.power)
    return x * x


cdef inline void roots_of(floating* roots, const floating* theta, Py_ssize_t n, double a) noexcept nogil:
    """Compute sgn(θ) |θ|^a for n numbers."""
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
    """Compute `term` for n features."""
    cdef Py_ssize_t i
    for i in range(n):
        found[i] = fabs(<double>root[i]) * shrink
    raise_all(found, n, squarings)
    for i in range(n):
        found[i] *= fabs(<double>theta[i]) * scale


cdef inline void step_all(floating[::1] state, Py_ssize_t k, const Py_ssize_t* places, floating* theta, floating* roots,
                          const floating* deltas, Py_ssize_t n, Sum* sum, double scale, double shrink,
                          const Params* p) noexcept nogil:
    """Add deltas to some θ, and update their roots and their part of the sum. (11 arguments: columns of a block of features,
    which the caller has gathered, and the numbers of the norm.)"""
    cdef Py_ssize_t i
    cdef double[2 * BLOCK] changes
    terms(&changes[n], theta, roots, n, scale, shrink, p.squarings)
    for i in range(n):
        changes[i] = -changes[n + i]
        theta[i] += deltas[i]
    roots_of(roots, theta, n, p.root)
    terms(&changes[n], theta, roots, n, scale, shrink, p.squarings)
    for i in range(n):
        state[places[i]] = theta[i]
        state[places[i] + k] = roots[i]
    add_all(sum, changes, 2 * n)


cdef Py_ssize_t apply_step(floating[::1] state, const Norms* norms, const Example* z, double tau, const floating[::1] data,
                           const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """Apply the step tau along the joint example; return the work beyond the row's own."""
    cdef Py_ssize_t i, j, at, n = 0, k = norms.k
    cdef Norm* norm = norm_of(norms, z.c[0])
    cdef Py_ssize_t[BLOCK] places
    cdef floating[BLOCK] theta
    cdef floating[BLOCK] roots
    cdef floating[BLOCK] deltas
    cdef floating x, step
    cdef Sum sum = open_sum(&norm.sum)
    for j in range(z.n):
        step = <floating>(z.sign[j] * tau)
        for i in range(row.lo, row.hi):
            x = data[i]
            at = 2 * k * column(indices, i, row.lo) + z.c[j]
            places[n], deltas[n], theta[n], roots[n] = at, step * x, state[at], state[at + k]
            n += x != 0.0
            if n == BLOCK:
                step_all(state, k, places, theta, roots, deltas, n, &sum, norm.scale, norm.shrink, p)
                n = 0
        if p.bias != 0.0:
            at = state.shape[0] - 2 * k + z.c[j]
            state[at] += step * <floating>p.bias
            roots_of(&state[at + k], &state[at], 1, p.root)
    step_all(state, k, places, theta, roots, deltas, n, &sum, norm.scale, norm.shrink, p)
    close_sum(&sum, &norm.sum)
    if norm.sum.high < 0.0:             # its terms are >= 0: it is 0 within the noise
        norm.sum.high = norm.sum.low = 0.0
    if refresh(state, norms, z.c[0], p):
        return 0
    sum_anew(state, norms, z.c[0], p)
    return state.shape[0]


# --- the pass ------------------------------------------------------------------------------------------------------------------

cdef int learn_p_norm(const Norms* norms, const Batch* b, PassContext* context, floating[::1] state,
                      const floating[::1] data, const index_t[::1] indices, Params* p) except -1 nogil:
    """Learn rows of classes by steps of θ."""
    cdef Py_ssize_t number, n_steps = norms.k if context.task == OVR else 1
    cdef double q, size, least = pow(2.0, -80.0 / p.power)
    cdef bint updated
    cdef Round r
    cdef Stats s
    cdef Step step
    cdef Example z
    while next_round(&r, b, context):
        context.budget -= sum_unknown(state, norms, p)
        q = score_z(state, norms, data, indices, r.row, context, p)
        before_step(context.task, norms.scores, 0.0, &r, b, context)
        if measure(data, &r, context, &p.bias):
            q = score_z(state, norms, data, indices, r.row, context, p)
        updated = False
        size = -1.0
        s.norm_p2 = s.width = s.shift = 0.0
        for number in range(n_steps):
            z = example(context.task, number, &r, b, norms.scores, context, p.epsilon)
            s.weight, s.margin, s.q, s.v = r.weight, z.margin, z.n * q, 0.0
            if z.n == 0 or not count_loss(&s, context, p) or margin_suffices(s.margin, p):
                continue
            if p.rule == AGGRESSIVE_P_NORM and s.margin > 0.0:
                if size < 0.0:
                    size = p_norm(data, r.row, z.n, least, p) * (context.inverse * context.inverse)
                s.norm_p2 = size
            step = apply_rule(&s, p)
            if step.tau != 0.0 and step_fits(P_NORM, &s, step, context, p):
                context.budget -= apply_step(state, norms, &z, step.tau * context.inverse, data, indices, r.row, p)
                updated = True
        after_step(&r, updated, context)
    return 0


cdef class PNormModel(Model):
    """groups : float64, (1 or vectors, len(FIELDS)), a `Norm` each. power : p."""

    cdef public object groups
    cdef public double power

    cdef int bind(self) except -1:
        if self.bound is not self.params:
            params = self.params
            given = dict(zip(params._fields, params))   # (without a call of Python, in which a signal might be raised)
            with critical_section(self):        # several threads may read at once
                self.p = given
                self.p.power = self.power
                self.p.root, self.p.squarings = root_of(self.power)
                self.bound = params
        return 0

    cdef Norms view_of(self, const double[:, ::1] norms, double* scores, Py_ssize_t k) noexcept:
        return Norms(<Norm*>&norms[0, 0], norms.shape[0], k, scores)

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)

    cdef object known_of(self, const floating[::1] state, Py_ssize_t k):
        cdef Norms norms
        found = self.groups
        if (found[:, FIELDS.index("scale")] == 0.0).any():
            found = found.copy()
            norms = self.view_of(found, NULL, k)
            sum_unknown(state, &norms, &self.p)
        return found

    def known(self):
        """Return the norms for reading: a copy if some are not known yet, as reading never writes."""
        cdef Py_ssize_t k = len(self.counts) if len(self.counts) > 2 else 1
        self.bind()
        if self.values.itemsize == 4:
            return self.known_of[float](self.values, k)
        return self.known_of[double](self.values, k)

    cdef int decide(self, const floating[::1] data, const index_t[::1] indices, const Batch* b, PassContext* context) except -1:
        """Compute found[i, c] = w_c.x_i."""
        cdef Py_ssize_t i, k = context.n_found
        cdef const floating[::1] state = self.values
        cdef const double[:, ::1] known = self.known_of(state, k)
        cdef Norms norms = self.view_of(known, NULL, k)
        cdef Params p = self.p
        cdef Row row
        p.bias = context.bias
        with nogil:
            for i in range(b.n):
                row = row_at(b, i)
                context.budget = check_signals(context.budget, (row.hi - row.lo + 8) * k)
                norms.scores = &context.found[i * k]
                score_all(state, &norms, data, indices, row, &p)
            for i in range(b.n * k):
                context.found[i] *= context.inverse
        return 0


cdef int visit_rows(PNormModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    cdef floating[::1] state
    cdef Py_ssize_t n = context.columns if context.task == OVR else 1
    cdef double[::1] scores
    cdef Norms norms
    if context.task == DECISION:
        return self.decide(data, indices, b, context)
    cdef Params p = self.p
    p.bias = context.bias
    state, scores = self.values, np.empty(context.columns)
    if len(self.groups) != n:        # the task has changed
        self.groups = np.zeros((n, len(FIELDS)))
    norms = self.view_of(self.groups, &scores[0], context.columns)
    with nogil:
        return learn_p_norm(&norms, b, context, state, data, indices, &p)


include "../../_compiled/visit.pxi"


def roots_of_all(floating[::1] x, double a):
    """Return |x[i]|^a: for tests of powers.pxd."""
    found = np.empty_like(x)
    cdef floating[::1] view = found
    pow_all(&view[0], &x[0], x.shape[0], a)
    return found
