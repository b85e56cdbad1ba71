"""The geometry of the passive-aggressive one-class learner (PA 2, the uniclass): w is the centre of a ball around the rows.

w = a u moves towards a row by a share b of the way,

    w <- (1 - b) w + b x,   that is   a <- (1 - b) a,   u += (b/a) x,   ||x - w||² = ||x||² - 2a u.x + a² ||u||²,

so that a step costs O(nnz). ||u||² is a compensated running sum of u_i². a only shrinks; before a or u leaves the dtype's range,
a is multiplied into u, O(n_features).
"""
from libc.math cimport isfinite, sqrt

from ..._compiled.model cimport Model
from ..._rules cimport ADDITIVE, Params, Stats, apply_rule, smaller
from ..shared.norm cimport Normaliser, add, distance_of, is_known, settle
from ..._compiled.rounds cimport (
    DECISION, Batch, PassContext, Round, add_loss, after_step, check_signals, measure, next_round, row_at,
)
from ..._compiled.sparse cimport Row, Sums, column, floating, index_t, larger, scan

#: The numbers of a centre, by their names in Python.
FIELDS = ("high", "low", "noise", "scale")


ctypedef struct Centre:
    Normaliser squares      # ||u||²
    double scale            # a; 0: no centre yet


cdef void rescale(floating[::1] state, double factor, Centre* centre) noexcept nogil:
    """Multiply u by a factor, and sum ||u||² anew."""
    cdef Py_ssize_t at
    centre.squares = Normaliser(0.0, 0.0, 0.0)
    for at in range(state.shape[0]):
        state[at] = <floating>(factor * state[at])
        add(&centre.squares.high, &centre.squares.low, <double>state[at] * state[at])
    settle(&centre.squares, 0.0, state.shape[0])


cdef inline double distance(Sums sums, double inverse, const Centre* centre, double* size, const Params* p) noexcept nogil:
    """Return ||z - w||, from a difference of numbers as large as size. sums : of the row x; inverse : 1/s."""
    size[0] = sums.q * (inverse * inverse) + centre.scale * centre.scale * centre.squares.high
    return distance_of(larger(size[0] - 2.0 * centre.scale * (sums.score * inverse), <double>0.0), size[0], p)


cdef inline void apply_step(floating[::1] state, Centre* centre, double share, double length, const floating[::1] data,
                            const index_t[::1] indices, const Round* r, PassContext* context, double limit) noexcept nogil:
    """Move the centre a share of the way to a row z, ||z|| = length. limit : of |u_i|. (9 arguments: a step's numbers.)"""
    cdef Py_ssize_t k, at, n = 0
    cdef double least = 1e-18 if floating is float else 1e-120         # of a
    cdef double a = (1.0 - share) * centre.scale, before
    cdef Normaliser squares
    cdef floating step
    if a < least or context.counters.max_abs_weight + share / a * length > limit:
        rescale(state, a, centre)
        context.budget -= state.shape[0]
        context.counters.max_abs_weight *= a
        a = 1.0
    centre.scale = a
    context.counters.max_abs_weight += share / a * length
    squares, step, before = centre.squares, <floating>(share / a), centre.squares.high
    for k in range(r.row.lo, r.row.hi):
        at = column(indices, k, r.row.lo)
        if data[k] != 0.0:
            n += 1
            add(&squares.high, &squares.low, -<double>state[at] * state[at])
            state[at] += step * <floating>(data[k] * context.inverse)
            add(&squares.high, &squares.low, <double>state[at] * state[at])
    settle(&squares, before, n)
    centre.squares = squares
    if not is_known(&squares, squares.high):
        rescale(state, 1.0, centre)
        context.budget -= state.shape[0]


cdef int learn_centre(Centre* centre, const Batch* b, PassContext* context, floating[::1] state, const floating[::1] data,
                      const index_t[::1] indices, const Params* p) except -1 nogil:
    """Learn the centre of a ball of radius epsilon around the rows."""
    cdef double limit = smaller(p.limit, 1e150), way, share, length, size = 0.0, unused = 0.0
    cdef bint first, wrong
    cdef Round r
    cdef Sums sums
    cdef Stats s
    while next_round(&r, b, context):
        sums = scan(ADDITIVE, state, data, indices, r.row, p)
        first = centre.scale == 0.0
        way = distance(sums, context.inverse, centre, &size, p)
        wrong = way > p.epsilon
        if measure(data, &r, context, &unused):
            way = distance(sums, context.inverse, centre, &size, p)
        s.weight, s.margin, s.q, s.v = r.weight, p.epsilon - way, 1.0, 0.0      # z = (x - w) / ||x - w||
        if not (isfinite(size) and isfinite(s.margin)):
            context.counters.skipped += 1.0
            continue
        share = 1.0
        if not first:
            context.counters.mistakes += wrong
            if s.margin >= 0.0:
                continue
            add_loss(s.weight * (p.margin - s.margin), context)
            if -s.margin <= p.slack:
                continue
            # (A hard constraint: a row's weight cannot enlarge the step.)
            share = smaller(smaller(1.0, s.weight) * apply_rule(&s, p).tau / way, 1.0)
        length = larger(sqrt(sums.q), <double>1e-150) * context.inverse     # (no |x_i| is larger, even where squares underflow)
        if length > limit or share == 0.0:
            context.counters.skipped += 1.0
            continue
        apply_step(state, centre, share, length, data, indices, &r, context, limit)
        after_step(&r, not first, context)
    return 0


cdef class CentreModel(Model):
    """groups : float64, (1, len(FIELDS)), a `Centre`."""

    cdef public object groups

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)


cdef int visit_rows(CentreModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    """Learn, or compute found[i] = ||x_i - w||."""
    cdef Py_ssize_t i
    cdef const floating[::1] shown = self.values
    cdef const double[:, ::1] groups = self.groups
    cdef Centre* centre = <Centre*>&groups[0, 0]
    cdef floating[::1] state
    cdef double size = 0.0
    cdef Sums sums
    cdef Row row
    if context.task == DECISION:
        with nogil:
            for i in range(b.n):
                row = row_at(b, i)
                context.budget = check_signals(context.budget, row.hi - row.lo + 8)
                sums = scan(ADDITIVE, shown, data, indices, row, &self.p)
                context.found[i] = distance(sums, context.inverse, centre, &size, &self.p)
        return 0
    state = self.values
    with nogil:
        return learn_centre(centre, b, context, state, data, indices, &self.p)


include "../../_compiled/visit.pxi"
