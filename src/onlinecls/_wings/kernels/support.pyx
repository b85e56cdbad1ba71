"""The kernel learners' recursion: a rule applied to rows that are given by their kernel values alone.

A model is kept on its support set x_1..x_s: w = Σ a_i φ(x_i) and, for second-order rules, Σ = prior I - Σ P_ij φ(x_i) φ(x_j)'
(AROW, Lemma 1, with b = -P), one a, one P and one prior for each column (class). With k_i = k(x_i, x) and u = P k:

    w.φ(x) = a.k,   φ(x)'Σφ(x) = prior k(x, x) - k.u,   Σφ(x) = Σ g_i φ(x_i) with g = -u on the support set and prior on x itself,

so a step w += τ Σφ(x), Σ^-1 += β φ(x)φ(x)' is a += τ g, P += β/(1 + βv) g g': O(s) for a first-order rule, O(s^2) for the others.
Symmetric matrices are packed, row i of the lower triangle from i(i + 1)/2 on: a new vector is a new row at the end.

Kernel values come a block of rows at a time from NumPy: K[i] against the support set at the block's start, then against the
block. Rows are learnt one by one, and an interrupt leaves a whole number of them.
"""
from libc.math cimport fabs
from libc.stdint cimport int64_t
from libc.string cimport memset

import numpy as np

from ..._compiled.model cimport Model
from ..._compiled.rounds cimport (
    OVR, REGRESSION, Batch, Example, PassContext, Round, add_loss, after_step, before_step, example, next_round,
)
from ..._rows cimport Rows
from ..._rules cimport LOOKAHEAD_MISTAKE, LOSS, Params, Stats, Step, apply_rule, margin_suffices, precision

cdef enum:
    BLOCK = 256             # rows whose kernel values are computed in one call
    PROJECTED = -1          # instead of a row's slot: the combination e of the support vectors replaces it
    NOWHERE = -2            # it has none so far

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
    """Return max |a_i|; NaN if there is one."""
    cdef double top = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        if not (fabs(a[i]) <= top or top != top):
            top = fabs(a[i])
    return top


cpdef Py_ssize_t packed(Py_ssize_t n) noexcept nogil:
    """Return the size of a packed matrix of n rows."""
    return n * (n + 1) // 2


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
        to[i] = M[packed(i) + j] if i >= j else M[packed(j) + i]


cdef inline void remove(double* M, Py_ssize_t j, Py_ssize_t n) noexcept nogil:
    """Remove row and column j; those behind move up."""
    cdef Py_ssize_t i, k
    cdef double* to = M + packed(j)
    cdef double* row
    for i in range(j + 1, n):
        row = M + packed(i)
        for k in range(i + 1):
            if k != j:
                to[0] = row[k]
                to += 1


# --- a block of rows -----------------------------------------------------------------------------------------------------------

cdef class Block:
    """Rows while they are learnt: their kernel values, a model's arrays, with room for them, and numbers of the row at hand.

    alpha : (columns, capacity). P : (columns, packed capacity) for a second-order rule, else (columns, 0). prior : (columns, 1),
    or (columns, 0). Q : packed inverse of the Gram matrix where vectors are removed by projection, else empty.
    norms : k(x_i, x_i). origin : a vector's row number. members : the column of K with its kernel values.
    """
    cdef readonly Py_ssize_t size, dropped
    cdef readonly object coefficients, numbers      # alpha and members as arrays
    cdef const double[:, ::1] K
    cdef double[:, ::1] alpha, P, prior, u
    cdef double[::1] Q, norms, k, e, g, v, scores
    cdef int64_t[::1] members, origin
    cdef Py_ssize_t budget, n_old, first, start, n_columns
    cdef Py_ssize_t row, number, at, before         # of the row at hand; its slot, and the size before it
    cdef bint second_order, projects, potential
    cdef double self_product

    def __init__(self, state, K, alpha, Py_ssize_t first):
        """first : the number of row 0 of the pass."""
        cdef Py_ssize_t n = alpha.shape[1], k = alpha.shape[0]
        self.coefficients, self.numbers = alpha, np.arange(n)
        self.K, self.alpha, self.members, self.first, self.budget = K, alpha, self.numbers, first, state.params.budget
        self.P, self.Q, self.norms, self.origin, self.prior = state.P, state.Q, state.norms, state.origin, state.prior
        self.size = self.n_old = state.size
        self.n_columns, self.second_order, self.projects = k, self.prior.shape[1] > 0, self.Q.shape[0] > 0
        self.k, self.e, self.g, self.u = np.empty(n), np.empty(n), np.empty(n), np.empty((k, n * self.second_order))
        self.scores, self.v = np.empty(k), np.empty(k)

    cdef inline double spread(self, Py_ssize_t c) noexcept nogil:
        """Return v = φ(x)'Σφ(x) of a column, 0 for a first-order rule; keep u for the step."""
        cdef double v
        if not self.second_order:
            return 0.0
        times(&self.P[c, 0], &self.k[0], &self.u[c, 0], self.before)
        v = self.prior[c, 0] * self.self_product - dot(&self.k[0], &self.u[c, 0], self.before)
        self.v[c] = v if v > 0.0 else 0.0       # (< 0 only by rounding, or for functions that are not kernels)
        return self.v[c]

    cdef bint place(self) noexcept nogil:
        """Find the slot of the row that is about to change the model; return False if Q would leave its range."""
        cdef Py_ssize_t c, j, s = self.size
        cdef double novelty, size
        if self.at != NOWHERE:          # (another class's step has found it)
            return True
        for j in range(s):
            if self.origin[j] == self.number:
                self.at = j
                return True
        if self.projects:
            times(&self.Q[0], &self.k[0], &self.e[0], s)
            novelty = self.self_product - dot(&self.e[0], &self.k[0], s)
            size = largest(&self.e[0], s)
            if not size * size <= LIMIT:
                return False
            if novelty <= NOVELTY * self.self_product:
                self.at = PROJECTED
                return True
            if not size * size / novelty <= LIMIT:
                return False
            rank_one(&self.Q[0], 1.0 / novelty, &self.e[0], s)
            for j in range(s):
                self.Q[packed(s) + j] = -self.e[j] / novelty
            self.Q[packed(s) + s] = 1.0 / novelty
        for c in range(self.n_columns):
            self.alpha[c, s] = 0.0
            if self.second_order:
                memset(&self.P[c, packed(s)], 0, (s + 1) * sizeof(double))
                self.u[c, s] = 0.0
        self.norms[s], self.members[s], self.origin[s] = self.self_product, self.n_old + self.row, self.number
        self.at, self.size = s, s + 1
        return True

    cdef bint move(self, const Example* z, Step step, PassContext* context) noexcept nogil:
        """Take a rule's step along Σφ(x) in each column of the joint example; return False, and count it, if a number of the
        model would leave its range. `max_abs_weight` bounds |a_i|, `curvature` |P_ij|.

        A potential rule moves θ along φ(x), and w = Σθ: w += (τ - βs)/(1 + βv) Σφ(x), s and v with the old Σ.
        """
        cdef Py_ssize_t j, c
        cdef double tau, beta, g = 1.0, max_abs = context.counters.max_abs_weight, curvature = context.counters.curvature
        cdef double[2] taus, betas
        cdef bint fits = True
        for j in range(z.n):
            c, tau, beta = z.c[j], z.sign[j] * step.tau, step.beta
            if self.potential:
                tau = (tau - beta * self.scores[c]) / (1.0 + beta * self.v[c])
            if self.second_order:
                g, beta = largest(&self.u[c, 0], self.before) + self.prior[c, 0], beta / (1.0 + beta * self.v[c])
                curvature += beta * g * g
            max_abs += fabs(tau) * g
            fits &= tau == 0.0 or TINY <= fabs(tau)
            taus[j], betas[j] = tau, beta
        if not (fits and max_abs <= LIMIT and curvature <= LIMIT and self.place()):
            context.counters.skipped += 1.0
            return False
        context.counters.max_abs_weight, context.counters.curvature = max_abs, curvature
        for j in range(z.n):
            self.take(z.c[j], taus[j], betas[j])
        return True

    cdef void take(self, Py_ssize_t c, double tau, double beta) noexcept nogil:
        """Take a step along Σφ(x) in a column: a += τ g, P += β g g'."""
        cdef Py_ssize_t i, s = self.size
        if not self.second_order:
            self.alpha[c, self.at] += tau
            return
        for i in range(s):
            self.g[i] = -self.u[c, i]
        if self.at >= 0:
            self.g[self.at] += self.prior[c, 0]
        else:
            add(&self.g[0], self.prior[c, 0], &self.e[0], s)
        add(&self.alpha[c, 0], tau, &self.g[0], s)
        rank_one(&self.P[c, 0], beta, &self.g[0], s)

    cdef void drop(self) noexcept nogil:
        """Remove the vector whose removal changes w least, the oldest of equals.

        First order: ||Δw|| = |a_j| √k(x_j, x_j). With Q: φ(x_j) is replaced by its projection on the span of the others, in w
        with ||Δw|| = |a_j| / √Q_jj and in Σ, which thus stays between 0 and the identity.
        """
        cdef Py_ssize_t i, c, j = 0, s = self.size
        cdef double change, least = -1.0, q
        cdef double* row
        for i in range(s):
            change = 0.0
            for c in range(self.n_columns):
                change += self.alpha[c, i] * self.alpha[c, i]
            change = change / self.Q[packed(i) + i] if self.projects else change * self.norms[i]
            if least < 0.0 or change < least:
                least, j = change, i
        if self.projects:
            column(&self.Q[0], j, &self.e[0], s)
            q = self.e[j]
            for i in range(s):
                self.e[i] /= -q                     # φ(x_j) -> Σ e_i φ(x_i), over the others; row and column j are removed
            for c in range(self.n_columns):
                add(&self.alpha[c, 0], self.alpha[c, j], &self.e[0], s)
                column(&self.P[c, 0], j, &self.g[0], s)
                row = &self.P[c, 0]
                for i in range(s):                  # P += P_j e' + e P_j' + P_jj e e'
                    add(row, self.g[i] + self.g[j] * self.e[i], &self.e[0], i + 1)
                    add(row, self.e[i], &self.g[0], i + 1)
                    row += i + 1
                remove(row - packed(s), j, s)
            rank_one(&self.Q[0], -q, &self.e[0], s)
            remove(&self.Q[0], j, s)
        for c in range(self.n_columns):
            for i in range(j + 1, s):
                self.alpha[c, i - 1] = self.alpha[c, i]
        for i in range(j + 1, s):
            self.norms[i - 1], self.members[i - 1], self.origin[i - 1] = self.norms[i], self.members[i], self.origin[i]
        self.size -= 1
        self.dropped += 1


# --- a pass --------------------------------------------------------------------------------------------------------------------

cdef int learn_rows(Block m, const Batch* b, PassContext* context, const Params* p) except -1 nogil:
    """Learn a block of rows with labels or targets."""
    cdef Py_ssize_t j, number, n_examples = context.columns if context.task == OVR else 1
    cdef double beta, least = 1.0 / LIMIT if m.projects else 5e-324     # of k(x, x), whose inverse Q will hold
    cdef bint fits, moves
    cdef Round r
    cdef Stats s
    cdef Step step
    cdef Example z
    s.norm_p2 = s.width = s.shift = 0.0
    while next_round(&r, b, context):
        m.row, m.number, m.at, m.before, moves = r.i - m.start, m.first + r.at, NOWHERE, m.size, False
        for j in range(m.size):
            m.k[j] = m.K[m.row, m.members[j]]
        m.self_product = m.K[m.row, m.n_old + m.row]
        context.budget -= m.size * (1 + m.second_order * m.size) * (1 + m.n_columns)    # (signals: at the end of the row)
        for j in range(context.columns):
            m.scores[j] = dot(&m.alpha[j, 0], &m.k[0], m.size)
        before_step(context.task, &m.scores[0], NULL, &r, b, context)
        fits = largest(&m.k[0], m.size) <= LIMIT
        if not (fits and least <= m.self_product <= LIMIT):     # beyond range, or no kernel; but φ(x) = 0 changes nothing
            context.counters.skipped += not (fits and m.self_product == 0.0)
            continue
        for number in range(n_examples):
            z = example(context.task, number, &r, b, &m.scores[0], context, p.epsilon)
            if z.n == 0:
                continue
            s.weight, s.margin, s.q, s.v = r.weight, z.margin, z.n * m.self_product, 0.0
            add_loss(s.weight * (p.margin - s.margin), context)
            if margin_suffices(s.margin, p) or (p.trigger == LOOKAHEAD_MISTAKE and z.n == 1 and s.margin > 0.0):  # (m' as m)
                continue
            for j in range(z.n):
                s.v += m.spread(z.c[j])
            if m.potential:             # m' = z'Σ_tθ, the margin with the row already in Σ
                s.margin, beta = 0.0, precision(&s, p)
                for j in range(z.n):
                    s.margin += z.sign[j] * m.scores[z.c[j]] / (1.0 + beta * m.v[z.c[j]])
            step = apply_rule(&s, p)
            # Least squares learns from a residual of 0 too: its variances shrink.
            if step.tau != 0.0 or (context.task == REGRESSION and step.beta > 0.0):
                moves |= m.move(&z, step, context)
        while m.size > m.budget:
            m.drop()
        after_step(&r, moves, context)
    return 0


cdef class SupportSet(Model):
    """The compiled base of `SupportState`, which computes the kernel values.

    kept : the support set as readers see it, a tuple that is replaced after each block: a matrix of rows; which of these are
    support vectors, their numbers in ascending order; and alpha, (columns, size). dropped : vectors removed for the budget.
    """
    cdef public tuple kept
    cdef public Py_ssize_t dropped

    def __cinit__(self, *_):
        self.values = self.correction = self.sigma = np.empty(0)        # (those of models of weights)
        self.kept = None, np.empty(0, np.int64), None

    cdef int visit(self, Rows rows, const Batch* b, PassContext* context) except -1:
        """Learn rows, a block at a time."""
        cdef Batch part = b[0]
        cdef Block block
        numbers = np.arange(b.n) if b.order == NULL else np.asarray(<int64_t[:b.n]><int64_t*>b.order)
        while context.next < b.n:
            part.n = min(context.next + BLOCK, b.n)
            block, matrix = self.block(rows, numbers[context.next:part.n], context.next == 0)
            block.start, block.potential = context.next, self.p.trigger != LOSS
            try:
                with nogil:
                    learn_rows(block, &part, context, &self.p)
            finally:                            # (no call of Python, in which a signal might be raised)
                self.kept = matrix, block.numbers[:block.size], block.coefficients[:, :block.size]
                self.dropped += block.dropped
        vectors, alpha = self.weights()
        self.kept = vectors, np.arange(self.size), alpha        # (without rows that are no support vectors)
        return 0
