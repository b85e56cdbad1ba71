"""Learning on the simplex (simplex.pxd): the multiplicative passive-aggressive algorithms (PA 6), an exponentiated gradient.

A step moves θ along x, and so multiplies weights. The one-class learner, whose centre moves along x - w, has the loop of balls
(one_class/ball.pxd).
"""
import numpy as np

from ..._compiled.model cimport Model
from ..._rules cimport MULTIPLICATIVE_CENTRE, SINH, Params, Stats, Step, apply_rule, margin_suffices
from ..._compiled.rounds cimport (
    DECISION, OVR, Batch, Example, PassContext, Round, after_step, before_step, check_signals, count_loss, example, measure,
    next_round, row_at, step_fits,
)
from ..one_class.ball cimport Ball, learn_ball, read_ball, start_on_simplex
from ..shared.simplex cimport (
    GatheredRow, Group, Simplex, Size, gather, join, n_work, normaliser, round_up, scan_sums, start_group, step_group,
)
from ..._compiled.sparse cimport Row, floating, index_t

from ..shared.simplex import GROUP


ctypedef struct Weights:    # of a model
    Group* groups           # one, or one for each vector
    Py_ssize_t n_groups
    Simplex simplex         # of one group at a time: see `select_group`
    GatheredRow row


cdef inline void select_group(Weights* w, Py_ssize_t c) noexcept nogil:
    """Make the simplex that of vector c's group."""
    w.simplex.first, w.simplex.last, w.simplex.group = 0, w.simplex.k, w.groups
    if w.n_groups > 1:
        w.simplex.first, w.simplex.last, w.simplex.group = c, c + 1, &w.groups[c]


cdef inline double weight_scale(const Weights* w, Py_ssize_t c, const Params* p) noexcept nogil:
    """Return W/Z of vector c, by which its powers are multiplied."""
    return p.norm_bound / normaliser(&w.groups[c if w.n_groups > 1 else 0])


cdef inline Size score_all(const floating[::1] state, Weights* w, const floating[::1] data, const index_t[::1] indices, Row row,
                           double inverse, double* scores, const Params* p) noexcept nogil:
    """Compute the scores of all vectors for z = x / s; return the size of z. inverse : 1/s."""
    cdef Py_ssize_t c, k = w.simplex.k
    cdef Size size = scan_sums(state, 2 * k, k, data, indices, row, p.bias, scores)
    for c in range(k):
        scores[c] *= weight_scale(w, c, p) * inverse
    return Size(size.q * (inverse * inverse), size.largest * inverse)


cdef int learn_products(Weights* w, double* scores, const Batch* b, PassContext* context, floating[::1] state,
                        const floating[::1] data, const index_t[::1] indices, Params* p) except -1 nogil:
    """Learn rows of classes or numbers by steps that multiply weights."""
    cdef Py_ssize_t number, k = w.simplex.k, n_steps = w.simplex.k if context.task == OVR else 1
    cdef Py_ssize_t[2] vectors
    cdef double[2] d
    cdef double shift
    cdef bint updated
    cdef Round r
    cdef Stats s
    cdef Step found
    cdef Example z
    cdef Size size
    while next_round(&r, b, context):
        if w.simplex.counts != NULL and (r.newcomer or w.groups.high == 0.0):
            join(state, &w.simplex, r.label)
        size = score_all(state, w, data, indices, r.row, context.inverse, scores, p)
        before_step(context.task, scores, NULL, &r, b, context)
        if measure(data, &r, context, &p.bias):
            size = score_all(state, w, data, indices, r.row, context.inverse, scores, p)
        updated, w.row.n = False, -1        # (not gathered yet)
        s.norm_p2 = s.width = s.shift = 0.0
        for number in range(n_steps):
            z = example(context.task, number, &r, b, scores, context, p.epsilon)
            s.weight, s.margin, s.q, s.v = r.weight, z.margin, z.n * size.q, 0.0
            if z.n == 0 or not count_loss(&s, context, p) or margin_suffices(s.margin, p):
                continue
            # The range of the simplex's features: W x or W [x, -x], and in a joint example both signs of x.
            s.width = (2.0 if p.geometry == SINH or z.n == 2 else 1.0) * p.norm_bound * size.largest
            found = apply_rule(&s, p)
            if found.tau == 0.0 or not step_fits(p.geometry, &s, found, context, p):
                continue
            if w.row.n < 0:
                gather(&w.row, k, data, indices, r.row, p.bias, context.inverse, state.shape[0] - 2 * k)
            vectors[0], vectors[1], d[0], d[1] = z.c[0], z.c[1], z.sign[0] * found.tau, z.sign[1] * found.tau
            select_group(w, z.c[0])
            shift = w.simplex.group.shift
            step_group(state, &w.simplex, &w.row, vectors, d, z.n)
            updated = True
            context.budget -= state.shape[0] if w.simplex.group.shift != shift else 0       # (all powers were computed anew)
        after_step(&r, updated, context)
    return 0


# --- a model -------------------------------------------------------------------------------------------------------------------

cdef Weights weights_of(const double[:, ::1] groups, Py_ssize_t k, Py_ssize_t n_values, const double* counts,
                        const Params* p) noexcept:
    """Point to a model's groups. counts : of classes, 0 before one joins the sum. (Readers write nothing.)"""
    cdef Weights w
    w.groups, w.n_groups = <Group*>&groups[0, 0], groups.shape[0]
    w.simplex.is_signed, w.simplex.k = p.geometry == SINH, k
    w.simplex.n = n_values // (2 * k) - (p.constant == 0.0)
    w.simplex.counts = counts if p.open_classes and p.joint and w.n_groups < k else NULL
    w.simplex.correction, w.simplex.rate = NULL, 1.0
    select_group(&w, 0)
    return w


cdef void start_unknown(floating[::1] state, Weights* w, const Params* p) noexcept:
    """Compute the groups that are not known yet, and all their powers."""
    cdef Py_ssize_t c
    for c in range(w.n_groups):
        select_group(w, c)
        if w.groups[c].high == 0.0 and p.rule == MULTIPLICATIVE_CENTRE:
            start_on_simplex(state, &w.simplex)
        elif w.groups[c].high == 0.0:
            start_group(state, &w.simplex)


cdef class SimplexModel(Model):
    """groups : float64, (1 or vectors, len(GROUP)), a `Group` each; high = 0: not known yet."""

    cdef public object groups

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)

    def start(self, floating[::1] state):
        """Compute the groups that are not known yet. state : the values."""
        cdef const double[:, ::1] groups = self.groups
        cdef const double[::1] counts = self.counts
        cdef Weights w
        self.bind()
        w = weights_of(groups, self.n_columns, state.shape[0], &counts[0], &self.p)
        start_unknown(state, &w, &self.p)


cdef int visit_rows(SimplexModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    """Learn, or compute found[i, c] = w_c.x_i; for a ball, found[i] = ||x_i - w||."""
    cdef const floating[::1] shown
    cdef floating[::1] state, numbers
    cdef Py_ssize_t i, k = self.n_columns, n = k if context.task == OVR else 1, longest = 0
    cdef const double[:, ::1] groups
    cdef double[::1] doubles = np.empty(self.n_features if self.p.rule == MULTIPLICATIVE_CENTRE else k)     # a way, or scores
    cdef Py_ssize_t[::1] places
    cdef bint is_centre = self.p.rule == MULTIPLICATIVE_CENTRE
    cdef Weights w
    cdef Ball ball = Ball(NULL, &w.simplex, &doubles[0], 0.0)
    cdef Params p = self.p
    cdef Row row
    p.bias = context.bias
    if context.task == DECISION:
        known = self.known()
        shown, groups = known.values, known.groups
        w = weights_of(groups, k, shown.shape[0], NULL, &p)
        with nogil:
            if is_centre:
                return read_ball(&ball, True, b, context, shown, data, indices, &p)
            for i in range(b.n):
                row = row_at(b, i)
                context.budget = check_signals(context.budget, (row.hi - row.lo + 8) * k)
                score_all(shown, &w, data, indices, row, context.inverse, &context.found[i * k], &p)
        return 0
    if len(self.groups) != n:       # the task has changed
        self.groups = np.zeros((n, len(GROUP)))
    state, groups = self.values, self.groups
    w = weights_of(groups, k, state.shape[0], context.counts, &p)
    if w.simplex.counts == NULL:    # (else the first row's class may join)
        start_unknown(state, &w, &p)
    if is_centre:
        with nogil:
            return learn_ball(&ball, True, b, context, state, data, indices, &p)
    for i in range(b.n_rows):
        longest = max(longest, b.indptr[i + 1] - b.indptr[i])
    w.row.capacity = round_up(longest + 1)      # (of whole registers, with the constant feature)
    places = np.empty(w.row.capacity, np.intp)
    numbers = np.empty(w.row.capacity * (1 + n_work(2)), np.float32 if floating is float else np.float64)
    w.row.places, w.row.x = &places[0], &numbers[0]
    with nogil:
        return learn_products(&w, &doubles[0], b, context, state, data, indices, &p)


include "../../_compiled/visit.pxi"
