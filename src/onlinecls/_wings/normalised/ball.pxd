"""A ball of radius epsilon around the rows: the loop of the one-class learners (the uniclass), and the steps of both kinds of
centre.

Passive-aggressive (PA 2): w = a u moves towards a row by a share b of the way,

    w <- (1 - b) w + b x,   that is   a <- (1 - b) a,   u += (b/a) x,   ||x - w||² = ||x||² - 2a u.x + a² ||u||²,

so that a step costs O(nnz). ||u||² is a compensated running sum of u_i². a only shrinks; before a or u leaves the dtype's range,
a is multiplied into u, O(n_features).

Multiplicative (PA 6): w is on a simplex (simplex.pxd), θ moves along x - w, which has all features: O(n_features) a step.
"""
from libc.math cimport fabs, isfinite, sqrt

from ..._compiled.rounds cimport Batch, PassContext, Round, add_loss, after_step, measure, next_round
from ..._compiled.sparse cimport Row, Sums, column, floating, index_t, larger, scan
from ..._rules cimport ADDITIVE, CENTRE, Params, Stats, apply_rule
from ..shared.norm cimport Normaliser, add, is_known, settle
from ..shared.simplex cimport Simplex, normaliser, scan_sums, start_group


ctypedef struct Centre:
    Normaliser squares      # ||u||²
    double scale            # a; 0: no centre yet


ctypedef struct Ball:
    Centre* centre
    Simplex* simplex        # of the other kind
    double* way             # room for z - w, on a simplex


ctypedef struct Distance:   # of a row z
    double way              # ||z - w||: exactly epsilon within rounding of the surface, where updates leave rows
    double q                # ||x||²
    double size             # ||z||² + ||w||²


cdef inline Distance distance(const Ball* ball, const floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                              Row row, double inverse, const Params* p) noexcept nogil:
    """Return the distance of z = x / s from the centre. inverse : 1/s.

    It is the root of a difference of numbers as large as `size`, off by up to 16 of the dtype's spacings of these.
    """
    cdef Sums sums
    cdef double square, scale, squares, product = 0.0
    cdef Distance d
    if p.geometry == CENTRE:
        scale, squares = ball.centre.scale, ball.centre.squares.high
        sums = scan(ADDITIVE, state, data, indices, row, p)
        d.q, product = sums.q, sums.score
    else:
        scale, squares = p.norm_bound / normaliser(ball.simplex.group), ball.simplex.group.squares
        d.q = scan_sums(state, 2, 1, data, indices, row, 0.0, &product).q
    d.size = d.q * (inverse * inverse) + scale * scale * squares
    square = larger(d.size - 2.0 * scale * (product * inverse), <double>0.0)
    d.way = p.epsilon if fabs(square - p.epsilon * p.epsilon) <= 16.0 * p.spacing * d.size else sqrt(square)
    return d


cdef inline int learn_ball(Ball* ball, const Batch* b, PassContext* context, floating[::1] state, const floating[::1] data,
                           const index_t[::1] indices, const Params* p) except -1 nogil:
    """Learn the centre of a ball around the rows."""
    cdef double share, unused = 0.0
    cdef bint first, wrong
    cdef Distance d
    cdef Round r
    cdef Stats s
    while next_round(&r, b, context):
        d = distance(ball, state, data, indices, r.row, context.inverse, p)
        wrong = d.way > p.epsilon
        if measure(data, &r, context, &unused):
            d = distance(ball, state, data, indices, r.row, context.inverse, p)
        s.weight, s.margin, s.q, s.v = r.weight, p.epsilon - d.way, 1.0, 0.0    # z = (x - w) / ||x - w||
        if not (isfinite(d.size) and isfinite(s.margin)):
            context.counters.skipped += 1.0
            continue
        first = p.geometry == CENTRE and ball.centre.scale == 0.0
        if not first:
            context.counters.mistakes += wrong
            if s.margin >= 0.0:
                continue
            add_loss(s.weight * (p.margin - s.margin), context)
            if -s.margin <= p.slack:
                continue
        if p.geometry == CENTRE:
            # (A hard constraint: a row's weight cannot enlarge the step.)
            share = 1.0 if first else min(1.0, min(s.weight, 1.0) * apply_rule(&s, p).tau / d.way)
            after_step(&r, move(ball.centre, share, d.q, r.row, context, state, data, indices, p) and not first, context)
        else:
            after_step(&r, step_on_simplex(ball, &r, &s, context, state, data, indices, p), context)
    return 0


# --- a centre that moves towards a row -----------------------------------------------------------------------------------------

cdef inline void rescale(floating[::1] state, double factor, Centre* centre) noexcept nogil:
    """Multiply u by a factor, and sum ||u||² anew."""
    cdef Py_ssize_t at
    cdef double high = 0.0, low = 0.0
    for at in range(state.shape[0]):
        state[at] = <floating>(factor * state[at])
        add(&high, &low, <double>state[at] * state[at])
    centre.squares = Normaliser(high, low, 0.0)
    settle(&centre.squares)


cdef inline bint move(Centre* centre, double share, double q, Row row, PassContext* context, floating[::1] state,
                      const floating[::1] data, const index_t[::1] indices, const Params* p) noexcept nogil:
    """Move the centre a share of the way to a row of length √q; return False if there is no step."""
    cdef Py_ssize_t k, at
    cdef double length = larger(sqrt(q), <double>1e-150) * context.inverse   # (no |x_i| is larger, though squares underflow)
    cdef double least = 1e-18 if floating is float else 1e-120         # of a
    cdef double limit = min(1e150, p.limit), a = (1.0 - share) * centre.scale
    cdef Normaliser squares
    cdef floating step
    if length > limit or share == 0.0:
        context.counters.skipped += 1.0
        return False
    if a < least or context.counters.max_abs_weight + share / a * length > limit:
        rescale(state, a, centre)
        context.budget -= state.shape[0]
        context.counters.max_abs_weight *= a
        a = 1.0
    centre.scale = a
    context.counters.max_abs_weight += share / a * length
    squares, step = centre.squares, <floating>(share / a)
    for k in range(row.lo, row.hi):
        at = column(indices, k, row.lo)
        if data[k] != 0.0:
            add(&squares.high, &squares.low, -<double>state[at] * state[at])
            state[at] += step * <floating>(data[k] * context.inverse)
            add(&squares.high, &squares.low, <double>state[at] * state[at])
    settle(&squares)
    centre.squares = squares
    if not is_known(&squares, squares.high):
        rescale(state, 1.0, centre)
        context.budget -= state.shape[0]
    return True


# --- a centre on a simplex -----------------------------------------------------------------------------------------------------

cdef inline void start_on_simplex(floating[::1] state, Simplex* s) noexcept nogil:
    """Compute powers, their sum and the sum of their squares from θ."""
    cdef Py_ssize_t j
    cdef double squares = 0.0
    start_group(state, s)
    for j in range(s.n):
        squares += <double>state[2 * j] * state[2 * j]
    s.group.squares = squares


cdef inline bint step_on_simplex(const Ball* ball, const Round* r, Stats* s, PassContext* context, floating[::1] state,
                                 const floating[::1] data, const index_t[::1] indices, const Params* p) noexcept nogil:
    """Move the centre towards a row outside the ball; return False if there is no step."""
    cdef Py_ssize_t i, j, n = ball.simplex.n
    cdef double* way = ball.way
    cdef double square = 0.0, farthest = 0.0, tau, scale = p.norm_bound / normaliser(ball.simplex.group)
    context.budget -= 4 * n
    for j in range(n):      # (again without the difference of squares, which cancels where x is near the centre)
        way[j] = -scale * state[2 * j]
    for i in range(r.row.lo, r.row.hi):
        way[column(indices, i, r.row.lo)] += data[i] * context.inverse
    for j in range(n):
        square += way[j] * way[j]
        farthest = larger(farthest, fabs(way[j]))
    s.margin, s.width = p.epsilon - sqrt(square), p.norm_bound * farthest
    tau = apply_rule(s, p).tau               # times x - w
    if not (p.tiny <= tau <= p.limit and context.counters.max_abs_weight + tau * farthest <= p.limit):
        context.counters.skipped += tau != 0.0
        return False
    context.counters.max_abs_weight += tau * farthest
    for j in range(n):
        state[2 * j + 1] += <floating>(tau * way[j])
    start_on_simplex(state, ball.simplex)
    return True
