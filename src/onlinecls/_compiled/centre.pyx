"""The geometry of the passive-aggressive one-class learner (PA 2, the uniclass): w is the centre of a ball around the rows.

w = a u moves towards a row by a share b of the way,

    w <- (1 - b) w + b x,   that is   a <- (1 - b) a,   u += (b/a) x,   ||x - w||² = ||x||² - 2a u.x + a² ||u||²,

so that a step costs O(nnz). ||u||² is a compensated running sum, of u_i². a only shrinks; before it, or u, leaves the range it is
multiplied into u, O(n_features).
"""
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from .model cimport Model
from .._rules cimport Params, Stats, apply_rule, smaller
from .norm cimport Normaliser, Sum, add, begin, end, known_to
from .rounds cimport QUANTUM, Batch, PassContext, Round, Task, add_loss, check_signals, begin_row, is_usable, row_at
from .sparse cimport Row, Sums, column, dense_t, floating, index_t, larger, scan_single

#: The numbers of a centre, by their names in Python.
FIELDS = ("high", "low", "noise", "scale")

cdef enum:
    SURFACE = 16            # how far rounding may take ||x - w||², in units of the dtype's spacing times ||x||² + ||w||²

SURFACE_SPACINGS = SURFACE


ctypedef struct Centre:
    Normaliser squares      # ||u||²
    double scale            # a; 0: there is no centre yet


cdef inline void shift(floating[::1] state, Py_ssize_t at, floating x, floating share, Sum* sum) noexcept nogil:
    if x == 0.0:
        return
    add(sum, -<double>state[at] * state[at])
    state[at] += share * x
    add(sum, <double>state[at] * state[at])


cdef void rescale(floating[::1] state, double factor, Centre* centre) noexcept nogil:
    """u *= factor, and ||u||² anew."""
    cdef Py_ssize_t at
    cdef Sum sum
    centre.squares = Normaliser(0.0, 0.0, 0.0)
    sum = begin(&centre.squares)
    for at in range(state.shape[0]):
        state[at] = <floating>(factor * state[at])
        add(&sum, <double>state[at] * state[at])
    end(&sum, &centre.squares)


cdef inline double squared_distance(Sums sums, const Centre* centre, double* size) noexcept nogil:
    """||x - w||², a difference of numbers as large as size."""
    size[0] = sums.q + centre.scale * centre.scale * centre.squares.high
    return larger(size[0] - 2.0 * centre.scale * sums.score, <double>0.0)


cdef inline void move_centre(floating[::1] state, Centre* centre, double share, double stride, const floating[::1] data,
                             const index_t[::1] indices, const Round* r, PassContext* context, double limit) noexcept nogil:
    """A share of the way to a row, which is `stride` long. limit : of |u_i|. (9 arguments: all of a step's numbers.)"""
    cdef Py_ssize_t k
    cdef double least = 1e-18 if floating is float else 1e-120         # of a
    cdef double a = (1.0 - share) * centre.scale
    cdef Sum sum
    if a < least or context.counters.reach + share / a * stride > limit:
        rescale(state, a, centre)
        context.budget -= state.shape[0]
        context.counters.reach *= a
        a = 1.0
    centre.scale = a
    context.counters.reach += share / a * stride
    sum = begin(&centre.squares)
    for k in range(r.row.lo, r.row.hi):
        shift(state, column(indices, k, r.row.lo), data[k], <floating>(share / a), &sum)
    end(&sum, &centre.squares)
    if not known_to(&centre.squares, centre.squares.high):
        rescale(state, 1.0, centre)
        context.budget -= state.shape[0]


cdef int learn_centre(Centre* centre, const Batch* b, PassContext* caller, floating[::1] state, const floating[::1] data,
                      const index_t[::1] indices, const Params* given) except -1 nogil:
    """One pass over rows: the centre of a ball of radius epsilon around them."""
    cdef Py_ssize_t i
    cdef int taken
    cdef double limit = smaller(given.limit, 1e150), square, distance, share, stride, size = 0.0
    cdef bint first
    cdef PassContext context = caller[0]
    cdef Params p = given[0]
    cdef Round r
    cdef Sums sums
    cdef Stats s
    try:
        for i in range(b.n):
            taken = begin_row(&r, i, b, &context)
            if taken == 0:
                continue
            sums = scan_single(state, data, indices, r.row, &p)
            first = centre.scale == 0.0
            square = squared_distance(sums, centre, &size)
            distance = sqrt(square)
            s.weight, s.margin, s.q, s.v = r.weight, p.epsilon - distance, 1.0, size    # ||v|| = 1;  v's place: it must be finite
            if not is_usable(&s, &context):
                continue
            share = 1.0
            if not first:
                # An update leaves its row on the surface, where rounding decides nothing: as decision_function has it.
                if square - p.epsilon * p.epsilon <= SURFACE * p.spacing * size:
                    continue
                context.counters.mistakes += 1.0
                add_loss(s.weight * (p.margin - s.margin), &context)
                if -s.margin <= p.slack:
                    continue
                # A hard constraint: a row's weight can but hold the step back.
                share = smaller(smaller(1.0, s.weight) * apply_rule(&s, &p).tau / distance, 1.0)
            stride = sqrt(sums.q)
            if stride > limit or share == 0.0:
                context.counters.skipped += 1.0
                continue
            move_centre(state, centre, share, stride, data, indices, &r, &context, limit)
            context.counters.updates += not first
    finally:
        caller[0] = context
    return 0


cdef class CentreModel(Model):
    """groups : float64, (1, len(FIELDS)), a `Centre`."""

    cdef public object groups

    cdef int run(self, Task task, rows, const Batch* b, PassContext* context) except -1:
        if self.values.itemsize == 4:
            return self.run_in[float](task, self.values, rows.data, rows.indices, b, context)
        return self.run_in[double](task, self.values, rows.data, rows.indices, b, context)

    cdef int run_in(self, Task task, floating[::1] state, const floating[::1] data, indices, const Batch* b,
                    PassContext* context) except -1:
        if indices.itemsize == 4:
            return self.run_on[floating, int32_t](task, state, data, indices, b, context)
        elif indices.itemsize == 8:
            return self.run_on[floating, int64_t](task, state, data, indices, b, context)
        return self.run_on[floating, dense_t](task, state, data, indices, b, context)

    cdef int run_on(self, Task task, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
        cdef double[:, ::1] groups = self.groups
        with nogil:
            return learn_centre(<Centre*>&groups[0, 0], b, context, state, data, indices, &self.p)

    cdef int decide(self, rows, const Batch* b, double* scores, Py_ssize_t k) except -1:
        if self.values.itemsize == 4:
            return self.decision_in[float](self.values, rows.data, rows.indices, b, scores, k)
        return self.decision_in[double](self.values, rows.data, rows.indices, b, scores, k)

    cdef int decision_in(self, const floating[::1] state, const floating[::1] data, indices, const Batch* b, double* scores,
                         Py_ssize_t k) except -1:
        if indices.itemsize == 4:
            return self.decision_on[floating, int32_t](state, data, indices, b, scores, k)
        elif indices.itemsize == 8:
            return self.decision_on[floating, int64_t](state, data, indices, b, scores, k)
        return self.decision_on[floating, dense_t](state, data, indices, b, scores, k)

    cdef int decision_on(self, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                         double* scores, Py_ssize_t k) except -1:
        """scores[i] = ||x_i - w||², and how large the numbers are of which it is a difference."""
        cdef Py_ssize_t i, budget = QUANTUM
        cdef const double[:, ::1] groups = self.groups
        cdef Row row
        with nogil:
            for i in range(b.n):
                row = row_at(b, i)
                budget = check_signals(budget, row.hi - row.lo + 8)
                scores[i * k] = squared_distance(scan_single(state, data, indices, row, &self.p), <const Centre*>&groups[0, 0],
                                                 &scores[i * k + 1])
        return 0
