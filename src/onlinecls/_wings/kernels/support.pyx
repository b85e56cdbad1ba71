"""The kernel learners' recursion: a rule applied to rows that are given by their kernel values alone.

A model is kept on its support set x_1..x_s: w = Σ a_i φ(x_i) and, for second-order rules, Σ = prior I - Σ P_ij φ(x_i) φ(x_j)'
(AROW, Lemma 1, with b = -P), one a, one P and one prior for each column (class). With k_i = k(x_i, x) and u = P k:

    w.φ(x) = a.k,   φ(x)'Σφ(x) = prior k(x, x) - k.u,   Σφ(x) = Σ g_i φ(x_i) with g = -u on the support set and prior on x itself,

so a step w += τ Σφ(x), Σ^-1 += β φ(x)φ(x)' is a += τ g, P += β/(1 + βv) g g': O(s) for a first-order rule, O(s^2) for the others.
Symmetric matrices are packed, row i of the lower triangle from i(i + 1)/2 on: a new vector is a new row at the end.

Kernel values come a block of rows at a time from NumPy: K[i] against the support set at the block's start, then against the
block. State and counters are changed in place, row by row, so that an interrupt leaves a whole number of rows.
"""
from libc.math cimport fabs
from libc.stdint cimport int64_t
from libc.string cimport memset

import numpy as np

from ..._compiled.model cimport Model
from ..._compiled.rounds cimport (
    OVR, REGRESSION, Batch, Example, PassContext, Round, add_loss, after_step, before_step, example, next_round,
)
from ..._rules cimport LOOKAHEAD_MISTAKE, LOSS, Params, Stats, Step, apply_rule, margin_suffices, precision

cdef enum:
    PROJECTED = -1
    NOWHERE = -2

cdef double LIMIT = 1e150   # coefficients and kernel values: a product of two is still a double
cdef double TINY = 2.2250738585072014e-308
cdef double NOVELTY = 1e-6  # with Q: a row whose squared distance from the span is below NOVELTY k(x, x) becomes its projection


# --- vectors and packed symmetric matrices -------------------------------------------------------------------------------------

cdef inline double dot(const double* a, const double* b, Py_ssize_t n) noexcept nogil:
    """Return a.b. (Eight sums: the compiler pairs them, and the processor need not wait for one.)"""
    cdef double[8] sums
    cdef Py_ssize_t i, k, full = n - n % 8
    for k in range(8):
        sums[k] = 0.0
    for i in range(0, full, 8):
        for k in range(8):
            sums[k] += a[i + k] * b[i + k]
    for i in range(full, n):
        sums[0] += a[i] * b[i]
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))


cdef inline void add(double* to, double factor, const double* a, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i] += factor * a[i]


cdef inline double largest(const double* a, Py_ssize_t n) noexcept nogil:
    """Return max |a_i|; NaN or infinity if there is one."""
    cdef double top = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        if not fabs(a[i]) <= top:
            top = fabs(a[i])
            if top != top:
                return top
    return top


cdef inline Py_ssize_t triangle(Py_ssize_t n) noexcept nogil:
    return n * (n + 1) // 2


cdef inline double entry(const double* M, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    return M[triangle(i) + j] if i >= j else M[triangle(j) + i]


cdef inline void times(const double* M, const double* x, double* to, Py_ssize_t n) noexcept nogil:
    """Compute to = M x; each entry of the triangle is read once."""
    cdef Py_ssize_t i
    cdef const double* row = M
    for i in range(n):
        to[i] = dot(row, x, i) + row[i] * x[i]
        add(to, x[i], row, i)
        row += i + 1


cdef inline void rank_one(double* M, double factor, const double* g, Py_ssize_t n) noexcept nogil:
    """Add factor g g' to M."""
    cdef Py_ssize_t i
    cdef double* row = M
    for i in range(n):
        add(row, factor * g[i], g, i + 1)
        row += i + 1


cdef inline void column(const double* M, Py_ssize_t j, double* to, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i] = entry(M, i, j)


cdef inline void remove(double* M, Py_ssize_t j, Py_ssize_t n) noexcept nogil:
    """Remove row and column j; those behind move up."""
    cdef Py_ssize_t i, k
    cdef double* to = M + triangle(j)
    cdef double* row
    for i in range(j + 1, n):
        row = M + triangle(i)
        for k in range(i + 1):
            if k != j:
                to[0] = row[k]
                to += 1


# --- the model -----------------------------------------------------------------------------------------------------------------

cdef class SupportSet(Model):
    """A kernel learner's model while it learns a block of rows given by their kernel values.

    Its arrays are those of a `SupportState` (see there); some have capacity for vectors to come:
    alpha : (columns, capacity). P : (columns, packed capacity) for a second-order rule, else (columns, 0). prior : (columns,).
    Q : packed inverse of the Gram matrix where vectors are removed by projection, else empty. norms : k(x_i, x_i).
    origin : a vector's row number in the present `fit`, else -1. slot_of : the inverse of origin; empty outside of `fit`.
    """
    cdef readonly Py_ssize_t size
    cdef readonly list arrays               # those given
    cdef readonly int64_t[::1] members      # column of K with a vector's kernel values
    cdef readonly Py_ssize_t dropped        # support vectors removed for the budget
    cdef double[:, ::1] alpha, P, u
    cdef const double[:, ::1] K
    cdef double[::1] prior, Q, norms, k, e, g, taus, betas, v, scores
    cdef int64_t[::1] origin, slot_of, classes
    cdef const int64_t[::1] numbers
    cdef Py_ssize_t budget, n_old, row, n_steps
    cdef readonly Py_ssize_t n_columns
    cdef bint second_order, potential
    cdef double self_product

    def __init__(self, state, list arrays, const int64_t[::1] numbers, Py_ssize_t budget):
        """Take a state. arrays : alpha, P, Q, norms, origin. numbers : of the block's rows, in `fit`. budget : most vectors."""
        self.arrays, (self.alpha, self.P, self.Q, self.norms, self.origin) = arrays, arrays
        self.prior, self.slot_of, self.numbers, self.budget = state.prior, state.slot_of, numbers, budget
        self.size, self.dropped, self.correction = state.size, state.dropped, np.empty(0)
        self.counts, self.counters = state.counts, state.counters
        cdef Py_ssize_t capacity = self.alpha.shape[1], k = self.alpha.shape[0]
        self.n_old, self.n_columns, self.second_order = self.size, k, self.P.shape[1] > 0
        self.members = np.arange(capacity, dtype=np.int64)
        self.k, self.e, self.g = np.empty(capacity), np.empty(capacity), np.empty(capacity)
        self.u = np.empty((k, capacity if self.second_order else 0))
        self.scores, self.taus, self.betas, self.v = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
        self.classes = np.empty(k, np.int64)

    cdef int bind(self) except -1:
        """Convert the task's parameters; its rules read no others."""
        given = self.params
        cdef Params p
        memset(&p, 0, sizeof(Params))
        p.scale = 1.0               # (a kernel has units of its own)
        p.rule, p.trigger, p.margin, p.epsilon = given.rule, given.trigger, given.margin, given.epsilon
        p.eta0, p.C, p.r, p.r2 = given.eta0, given.C, given.r, given.r
        p.open_classes, p.balanced, p.level, p.costs = given.open_classes, given.balanced, given.level, given.costs
        self.p, self.potential = p, p.trigger != LOSS
        return 0

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        self.K = rows.array()
        with nogil:
            return learn_rows(self, b, context)

    cdef inline void look(self, Py_ssize_t i, PassContext* context) noexcept nogil:
        """Gather the kernel values of the block's row i."""
        cdef Py_ssize_t j
        for j in range(self.size):
            self.k[j] = self.K[i, self.members[j]]
        self.row, self.self_product, self.n_steps = i, self.K[i, self.n_old + i], 0
        if self.second_order:
            context.budget -= self.size * self.size * (1 + self.n_columns)    # (signals are handled at the end of the row)

    cdef inline bint is_usable(self, PassContext* context) noexcept nogil:
        """Return False, and count it, if the row cannot be learnt: kernel values beyond range, or k(x, x) < 0 (no kernel)."""
        cdef double least = 1.0 / LIMIT if self.Q.shape[0] else 0.0     # (Q will hold its inverse)
        if largest(&self.k[0], self.size) <= LIMIT and (least <= self.self_product <= LIMIT or self.self_product == 0.0):
            return True
        context.counters.skipped += 1.0
        return False

    cdef inline double score(self, Py_ssize_t c) noexcept nogil:
        return dot(&self.alpha[c, 0], &self.k[0], self.size)

    cdef inline double spread(self, Py_ssize_t c) noexcept nogil:
        """Return v = φ(x)'Σφ(x) of a column, 0 for a first-order rule; keep u for the step."""
        cdef double v
        if not self.second_order:
            return 0.0
        times(&self.P[c, 0], &self.k[0], &self.u[c, 0], self.size)
        v = self.prior[c] * self.self_product - dot(&self.k[0], &self.u[c, 0], self.size)
        self.v[c] = v if v > 0.0 else 0.0       # (< 0 only by rounding, or for functions that are not kernels)
        return self.v[c]

    cdef inline double lookahead(self, const Example* z, double beta) noexcept nogil:
        """Return m' = z'Σ_tθ, the margin with the row already in Σ."""
        cdef Py_ssize_t j
        cdef double margin = 0.0
        for j in range(z.n):
            margin += z.sign[j] * self.scores[z.c[j]] / (1.0 + beta * self.v[z.c[j]])
        return margin

    cdef inline void propose(self, const Example* z, Step step, PassContext* context) noexcept nogil:
        """Propose a rule's step along Σφ(x) for each column of the joint example; skip and count it if a number of the model
        would leave its range. `max_abs_weight` bounds |a_i|, `curvature` |P_ij|.

        A potential rule moves θ along φ(x), and w = Σθ: w += (τ - βs)/(1 + βv) Σφ(x), s and v with the old Σ.
        """
        cdef Py_ssize_t j, c
        cdef double tau, g = 1.0, max_abs = context.counters.max_abs_weight, curvature = context.counters.curvature
        cdef bint fits = True
        for j in range(z.n):
            c, tau = z.c[j], z.sign[j] * step.tau
            self.classes[self.n_steps + j], self.betas[self.n_steps + j] = c, step.beta
            if self.potential:
                tau = (tau - step.beta * self.scores[c]) / (1.0 + step.beta * self.v[c])
            if self.second_order:
                g = largest(&self.u[c, 0], self.size) + self.prior[c]
                self.betas[self.n_steps + j] = step.beta / (1.0 + step.beta * self.v[c])
                curvature += self.betas[self.n_steps + j] * g * g
            max_abs += fabs(tau) * g
            fits &= tau == 0.0 or TINY <= fabs(tau)
            self.taus[self.n_steps + j] = tau
        if not (fits and max_abs <= LIMIT and curvature <= LIMIT):
            context.counters.skipped += 1.0
            return
        context.counters.max_abs_weight, context.counters.curvature = max_abs, curvature
        self.n_steps += z.n

    cdef inline Py_ssize_t place(self) noexcept nogil:
        """Return the slot of the row that is about to change the model. PROJECTED: the combination e of the others replaces it.
        NOWHERE: Q would leave its range."""
        cdef Py_ssize_t c, j, s = self.size
        cdef int64_t number = self.numbers[self.row]
        cdef double novelty, size
        if self.slot_of.shape[0] and self.slot_of[number] >= 0:
            return self.slot_of[number]
        if self.Q.shape[0]:
            times(&self.Q[0], &self.k[0], &self.e[0], s)
            novelty = self.self_product - dot(&self.e[0], &self.k[0], s)
            size = largest(&self.e[0], s)
            if not size * size <= LIMIT:
                return NOWHERE
            if novelty <= NOVELTY * self.self_product:
                return PROJECTED
            if not size * size / novelty <= LIMIT:
                return NOWHERE
            rank_one(&self.Q[0], 1.0 / novelty, &self.e[0], s)
            for j in range(s):
                self.Q[triangle(s) + j] = -self.e[j] / novelty
            self.Q[triangle(s) + s] = 1.0 / novelty
        for c in range(self.n_columns):
            self.alpha[c, s] = 0.0
            if self.second_order:
                memset(&self.P[c, triangle(s)], 0, (s + 1) * sizeof(double))
                self.u[c, s] = 0.0
        self.norms[s], self.members[s], self.origin[s] = self.self_product, self.n_old + self.row, -1
        if self.slot_of.shape[0]:
            self.slot_of[number], self.origin[s] = s, number
        self.size += 1
        return s

    cdef bint commit(self, PassContext* context) noexcept nogil:
        """Take the proposed steps, then remove vectors beyond the budget; return False, and count it, if a step fails."""
        cdef Py_ssize_t i, j, c, at, s
        cdef double tau, weight
        at = self.place()
        if at == NOWHERE:
            context.counters.skipped += 1.0
            return False
        s = self.size
        for i in range(self.n_steps):
            c, tau = self.classes[i], self.taus[i]
            weight = self.prior[c]
            if not self.second_order:
                self.alpha[c, at] += tau * weight
                continue
            for j in range(s):
                self.g[j] = -self.u[c, j]
            if at >= 0:
                self.g[at] += weight
            else:
                add(&self.g[0], weight, &self.e[0], s)
            add(&self.alpha[c, 0], tau, &self.g[0], s)
            if self.betas[i] > 0.0:
                rank_one(&self.P[c, 0], self.betas[i], &self.g[0], s)
        while self.size > self.budget:
            self.drop()
        return True

    cdef void drop(self) noexcept nogil:
        """Remove the vector whose removal changes w least, the oldest of equals.

        First order: ||Δw|| = |a_j| √k(x_j, x_j). With Q: φ(x_j) is replaced by its projection on the span of the others, in w
        with ||Δw|| = |a_j| / √Q_jj and in Σ, which thus stays between 0 and the identity.
        """
        cdef Py_ssize_t i, c, j = 0, s = self.size
        cdef double change, least = -1.0, q, p_j
        for i in range(s):
            change = 0.0
            for c in range(self.n_columns):
                change += self.alpha[c, i] * self.alpha[c, i]
            change = change / self.Q[triangle(i) + i] if self.Q.shape[0] else change * self.norms[i]
            if least < 0.0 or change < least:
                least, j = change, i
        if self.Q.shape[0]:
            column(&self.Q[0], j, &self.e[0], s)
            q = self.e[j]
            for i in range(s):
                self.e[i] /= -q                     # φ(x_j) -> Σ e_i φ(x_i), over the others; row and column j are removed
            for c in range(self.n_columns):
                add(&self.alpha[c, 0], self.alpha[c, j], &self.e[0], s)
                column(&self.P[c, 0], j, &self.g[0], s)     # P += P_j e' + e P_j' + P_jj e e', as two squares
                p_j = self.g[j]
                self.symmetric(c, p_j, s)
            rank_one(&self.Q[0], -q, &self.e[0], s)
            remove(&self.Q[0], j, s)
        for c in range(self.n_columns):
            if self.second_order:
                remove(&self.P[c, 0], j, s)
            for i in range(j + 1, s):
                self.alpha[c, i - 1] = self.alpha[c, i]
        if self.slot_of.shape[0] and self.origin[j] >= 0:
            self.slot_of[self.origin[j]] = -1
        for i in range(j + 1, s):
            self.norms[i - 1], self.members[i - 1], self.origin[i - 1] = self.norms[i], self.members[i], self.origin[i]
            if self.slot_of.shape[0] and self.origin[i] >= 0:
                self.slot_of[self.origin[i]] = i - 1
        self.size -= 1
        self.dropped += 1

    cdef inline void symmetric(self, Py_ssize_t c, double p_j, Py_ssize_t s) noexcept nogil:
        """Compute P += g e' + e g' + p_j e e', g being the removed column of P."""
        cdef Py_ssize_t i
        for i in range(s):
            add(&self.P[c, triangle(i)], self.g[i] + p_j * self.e[i], &self.e[0], i + 1)
            add(&self.P[c, triangle(i)], self.e[i], &self.g[0], i + 1)


# --- the tasks -----------------------------------------------------------------------------------------------------------------

cdef int learn_rows(SupportSet model, const Batch* b, PassContext* context) except -1 nogil:
    """Learn a block of rows with labels or targets."""
    cdef Py_ssize_t j, number, n_examples = context.columns if context.task == OVR else 1
    cdef const Params* p = &model.p
    cdef Round r
    cdef Stats s
    cdef Step step
    cdef Example z
    s.norm_p2 = s.width = s.shift = 0.0
    while next_round(&r, b, context):
        model.look(r.i, context)
        for j in range(context.columns):
            model.scores[j] = model.score(j)
        before_step(context.task, &model.scores[0], 0.0, &r, b, context)
        if not model.is_usable(context) or model.self_product == 0.0:      # (φ(x) = 0 changes nothing)
            continue
        for number in range(n_examples):
            z = example(context.task, number, &r, b, &model.scores[0], context, p.epsilon)
            if z.n == 0:
                continue
            s.weight, s.margin, s.q, s.v = r.weight, z.margin, z.n * model.self_product, 0.0
            add_loss(s.weight * (p.margin - s.margin), context)
            if margin_suffices(s.margin, p) or (p.trigger == LOOKAHEAD_MISTAKE and z.n == 1 and s.margin > 0.0):  # (m' as m)
                continue
            for j in range(z.n):
                s.v += model.spread(z.c[j])
            if model.potential:
                s.margin = model.lookahead(&z, precision(&s, p))
            step = apply_rule(&s, p)
            # Least squares learns from a residual of 0 too: its variances shrink.
            if step.tau != 0.0 or (context.task == REGRESSION and step.beta > 0.0):
                model.propose(&z, step, context)
        after_step(&r, model.n_steps > 0 and model.commit(context), context)
    return 0
