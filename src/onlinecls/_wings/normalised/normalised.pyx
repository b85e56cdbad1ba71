"""Learning weights that share numbers, which every step changes: a norm (p_norm.pxd), the normaliser of a simplex
(../shared/simplex.pxd; PA 6, an exponentiated gradient), or the length of a centre (ball.pxd).

A step moves θ along x, of a centre along x - w. The weights are a common factor times stored numbers, so that a row costs O(nnz).
"""
from libc.math cimport log

import numpy as np

from ..._compiled.model cimport Model
from ..._compiled.rounds cimport (
    DECISION, OVR, Batch, Example, PassContext, Round, after_step, before_step, check_signals, count_loss, example, measure,
    next_round, row_at, step_fits,
)
from ..._compiled.sparse cimport Row, floating, index_t
from ..._rows cimport Rows
from ..._rules cimport (
    AGGRESSIVE_P_NORM, CENTRE, EXP, MULTIPLICATIVE_CENTRE, P_NORM, SINH, Params, Stats, Step, apply_rule, margin_suffices,
)
from ..shared.simplex cimport (
    GatheredRow, Group, Simplex, Size, gather, join, n_work, normaliser, round_up, scan_sums, start_group, step_group,
)
from .ball cimport Ball, Centre, distance, learn_ball, start_on_simplex
from .p_norm cimport Norm, Norms, p_norm, score_by_norm, step_by_norm, sum_anew

#: The numbers of a norm and of a centre, by their names in Python.
NORM = ("high", "low", "peak", "scale", "shrink", "inverse", "weight_scale")
CENTRE_FIELDS = ("high", "low", "peak", "scale")


ctypedef struct Weights:    # of a model: one group, or one for each vector
    Py_ssize_t n_groups
    Norms norms             # p-norm
    Group* groups           # on a simplex
    Simplex simplex         # of one group at a time: see `select_group`
    GatheredRow row
    Ball ball
    bint is_ball


def power_of(given, n_features):
    """Return (p, a, squarings) of a p-norm model; given : p, or 0 for the default."""
    cdef double power = given or max(2.0, 2.0 * log(n_features))
    cdef int squarings = 0
    while (1 << squarings) < power - 1.0:
        squarings += 1
    return power, (power - 1.0) / (1 << squarings), squarings


cdef inline void select_group(Weights* w, Py_ssize_t c) noexcept nogil:
    """Make the simplex that of vector c's group."""
    w.simplex.first, w.simplex.last, w.simplex.group = 0, w.simplex.k, w.groups
    if w.n_groups > 1:
        w.simplex.first, w.simplex.last, w.simplex.group = c, c + 1, &w.groups[c]


cdef inline Size score_all(bint by_norm, const floating[::1] state, const Weights* w, const floating[::1] data,
                           const index_t[::1] indices, Row row, double inverse, double* scores, const Params* p) noexcept nogil:
    """Compute the scores of all vectors for z = x / s; return the size of z (p-norm: without its largest). inverse : 1/s."""
    cdef Py_ssize_t c, k = w.simplex.k
    cdef Size size
    if by_norm:
        return Size(score_by_norm(state, &w.norms, data, indices, row, inverse, scores, p), 0.0)
    size = scan_sums(state, 2 * k, k, data, indices, row, p.bias, scores)
    for c in range(k):
        scores[c] *= p.norm_bound / normaliser(&w.groups[c if w.n_groups > 1 else 0]) * inverse
    return Size(size.q * (inverse * inverse), size.largest * inverse)


cdef inline Py_ssize_t step_on_simplices(floating[::1] state, Weights* w, const Example* z, double tau,
                                         const floating[::1] data, const index_t[::1] indices, Row row, double inverse,
                                         const Params* p) noexcept nogil:
    """Apply the step tau along the joint example; return the work beyond the row's own."""
    cdef Py_ssize_t[2] vectors
    cdef double[2] d
    cdef double shift
    if w.row.n < 0:
        gather(&w.row, w.simplex.k, data, indices, row, p.bias, inverse, state.shape[0] - 2 * w.simplex.k)
    vectors[0], vectors[1], d[0], d[1] = z.c[0], z.c[1], z.sign[0] * tau, z.sign[1] * tau
    select_group(w, z.c[0])
    shift = w.simplex.group.shift
    step_group(state, &w.simplex, &w.row, vectors, d, z.n)
    return state.shape[0] if w.simplex.group.shift != shift else 0      # (all powers were computed anew)


cdef inline int learn_rows(bint by_norm, Weights* w, double* scores, const Batch* b, PassContext* context, floating[::1] state,
                           const floating[::1] data, const index_t[::1] indices, Params* p) except -1 nogil:
    """Learn rows of classes or numbers by steps of θ. by_norm : a constant in each call, for which the compiler makes a loop."""
    cdef Py_ssize_t number, n_steps = w.simplex.k if context.task == OVR else 1
    cdef bint updated
    cdef Round r
    cdef Stats s
    cdef Step step
    cdef Example z
    cdef Size size
    while next_round(&r, b, context):
        if w.simplex.counts != NULL and (r.newcomer or w.groups.high == 0.0):
            join(state, &w.simplex, r.label)
        size = score_all(by_norm, state, w, data, indices, r.row, context.inverse, scores, p)
        before_step(context.task, scores, NULL, &r, b, context)
        if measure(data, &r, context, &p.bias):
            size = score_all(by_norm, state, w, data, indices, r.row, context.inverse, scores, p)
        updated, w.row.n = False, -1        # (not gathered yet)
        s.norm_p2 = s.width = s.shift = 0.0
        for number in range(n_steps):
            z = example(context.task, number, &r, b, scores, context, p.epsilon)
            s.weight, s.margin, s.q, s.v = r.weight, z.margin, z.n * size.q, 0.0
            if z.n == 0 or not count_loss(&s, context, p) or margin_suffices(s.margin, p):
                continue
            if not by_norm:
                # The range of the simplex's features: W x or W [x, -x], and in a joint example both signs of x.
                s.width = (2.0 if p.geometry == SINH or z.n == 2 else 1.0) * p.norm_bound * size.largest
            elif p.rule == AGGRESSIVE_P_NORM and s.margin > 0.0 and s.norm_p2 == 0.0:
                s.norm_p2 = p_norm(data, r.row, z.n, p) * (context.inverse * context.inverse)
            step = apply_rule(&s, p)
            if step.tau == 0.0 or not step_fits(P_NORM if by_norm else p.geometry, &s, step, context, p):
                continue
            if by_norm:
                context.budget -= step_by_norm(state, &w.norms, &z, step.tau * context.inverse, data, indices, r.row, p)
            else:
                context.budget -= step_on_simplices(state, w, &z, step.tau, data, indices, r.row, context.inverse, p)
            updated = True
        after_step(&r, updated, context)
    return 0


cdef inline int read_rows(bint by_norm, const Weights* w, const Batch* b, PassContext* context, const floating[::1] state,
                          const floating[::1] data, const index_t[::1] indices, const Params* p) except -1 nogil:
    """Compute found[i, c] = w_c.x_i; for a ball, found[i] = ||x_i - w||."""
    cdef Py_ssize_t i, k = w.simplex.k
    cdef Row row
    for i in range(b.n):
        row = row_at(b, i)
        context.budget = check_signals(context.budget, (row.hi - row.lo + 8) * k)
        if w.is_ball:
            context.found[i] = distance(&w.ball, state, data, indices, row, context.inverse, p).way
        else:
            score_all(by_norm, state, w, data, indices, row, context.inverse, &context.found[i * k], p)
    return 0


cdef int learn_by_norm(Weights* w, double* scores, const Batch* b, PassContext* context, floating[::1] state,
                       const floating[::1] data, const index_t[::1] indices, Params* p) except -1 nogil:
    return learn_rows(True, w, scores, b, context, state, data, indices, p)


cdef int learn_products(Weights* w, double* scores, const Batch* b, PassContext* context, floating[::1] state,
                        const floating[::1] data, const index_t[::1] indices, Params* p) except -1 nogil:
    return learn_rows(False, w, scores, b, context, state, data, indices, p)


# --- a model -------------------------------------------------------------------------------------------------------------------

cdef void start_unknown(floating[::1] state, Weights* w, const Params* p) noexcept:
    """Compute the groups that are not known yet, and all powers of a simplex."""
    cdef Py_ssize_t c
    for c in range(w.n_groups if p.geometry != CENTRE else 0):
        select_group(w, c)
        if p.geometry == P_NORM:
            if w.norms.of[c].scale == 0.0:
                sum_anew(state, &w.norms, c, p)
        elif w.groups[c].high == 0.0 and p.rule == MULTIPLICATIVE_CENTRE:
            start_on_simplex(state, &w.simplex)
        elif w.groups[c].high == 0.0:
            start_group(state, &w.simplex)


cdef class NormalisedModel(Model):
    """groups : float64, (1 or vectors, fields), a `Norm` or `Group` each (zeros: not known yet), or the `Centre`."""

    cdef public object groups

    cdef int visit(self, Rows rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)

    cdef int open(self, Weights* w, Params* p) except -1:
        """Set the parameters, with what follows from p, and pointers to the numbers of the model."""
        cdef const double[:, ::1] groups = self.groups
        cdef const double[::1] counts
        cdef Py_ssize_t k = self.n_columns
        self.bind()
        p[0] = self.p
        if p.geometry == P_NORM:
            p.power, p.root, p.squarings = power_of(p.power, self.n_features)
        w.n_groups, w.is_ball = groups.shape[0], p.geometry == CENTRE or p.rule == MULTIPLICATIVE_CENTRE
        w.norms = Norms(<Norm*>&groups[0, 0], w.n_groups, k)
        w.groups = <Group*>&groups[0, 0]
        w.ball.centre, w.ball.simplex = <Centre*>&groups[0, 0], &w.simplex
        w.simplex.is_signed, w.simplex.k, w.simplex.n = p.geometry == SINH, k, self.n_features + (p.constant != 0.0)
        w.simplex.counts, w.simplex.correction, w.simplex.rate = NULL, NULL, 1.0
        if p.geometry != P_NORM and p.open_classes and p.joint and w.n_groups < k:
            counts = self.counts
            w.simplex.counts = &counts[0]
        select_group(w, 0)
        return 0

    def start(self, floating[::1] state):
        """Compute the groups that are not known yet. state : the values."""
        cdef Weights w
        cdef Params p
        self.open(&w, &p)
        start_unknown(state, &w, &p)


cdef int visit_rows(NormalisedModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    cdef NormalisedModel known
    cdef const floating[::1] shown
    cdef floating[::1] state, numbers
    cdef Py_ssize_t[::1] places
    cdef double[::1] doubles                    # a way, or scores
    cdef Py_ssize_t i, n, k = self.n_columns, longest = 0
    cdef Weights w
    cdef Params p
    if context.task == DECISION:
        known = self.known()
        shown = known.values
        known.open(&w, &p)
        p.bias = context.bias
        with nogil:
            if p.geometry == P_NORM:
                return read_rows(True, &w, b, context, shown, data, indices, &p)
            return read_rows(False, &w, b, context, shown, data, indices, &p)
    n = k if context.task == OVR else 1
    if len(self.groups) != n:                   # the task has changed
        self.groups = np.zeros((n, self.groups.shape[1]))
    state = self.values
    self.open(&w, &p)
    p.bias = context.bias
    doubles = np.empty(self.n_features if w.is_ball else k)
    w.ball.way = &doubles[0]
    if w.simplex.counts == NULL:                # (else the first row's class may join)
        start_unknown(state, &w, &p)
    if p.geometry == SINH or p.geometry == EXP:
        for i in range(b.n_rows):
            longest = max(longest, b.indptr[i + 1] - b.indptr[i])
        w.row.capacity = round_up(longest + 1)  # (of whole registers, with the constant feature)
        places = np.empty(w.row.capacity, np.intp)
        numbers = np.empty(w.row.capacity * (1 + n_work(2)), np.float32 if floating is float else np.float64)
        w.row.places, w.row.x = &places[0], &numbers[0]
    with nogil:
        if w.is_ball:
            return learn_ball(&w.ball, b, context, state, data, indices, &p)
        elif p.geometry == P_NORM:
            return learn_by_norm(&w, &doubles[0], b, context, state, data, indices, &p)
        return learn_products(&w, &doubles[0], b, context, state, data, indices, &p)


include "../../_compiled/visit.pxi"
