"""The kernel learners' recursion: one pass of a rule over rows that are known by their kernel values alone (dual form).

A model lives on its support set x_1..x_s: w = Σ a_i φ(x_i) and, for second-order rules, Σ = scale I - Σ P_ij φ(x_i) φ(x_j)'
(AROW, Lemma 1, with b = -P), one a, one P and one scale for each column (class). With k_i = k(x_i, x) and u = P k:

    w.φ(x) = a.k,   φ(x)'Σφ(x) = scale k(x, x) - k.u,   Σφ(x) = Σ g_i φ(x_i) with g = -u on the support set and scale on x itself,

so a step w += τ Σφ(x), Σ^-1 += β φ(x)φ(x)' is a += τ g, P += β/(1 + βv) g g': O(s) for a first-order rule, O(s^2) for the others.
Symmetric matrices are packed, row i of the lower triangle from i(i + 1)/2 on: a new vector is a new row at the end.

Kernel values come a block of rows at a time from NumPy: K[i] against the support set at the block's start, then against the
block. State and counters are changed in place, row by row, so that an interrupt leaves a whole number of rows.
"""
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

import numpy as np

from .._geometry.books cimport QUANTUM, look_up
from .._rules cimport (
    AGGRESSIVE_SOP, LEAST_SQUARES, LOSS as ON_LOSS, PEEKED_LOSS, SOP, Params, Stats, Step, apply_rule, precision, settled, smaller,
)

cdef enum:                  # the slots of tally: those of _core, so that the estimators' shared code reads both
    ROUNDS
    MISTAKES
    UPDATES
    SKIPPED
    SEEN
    LOSS
    REACH                   # no |a_i| is larger than this
    CURVATURE               # no |P_ij| is larger than this
    DROPPED                 # support vectors given up for the budget
    NORM                    # one class: ||w||^2
    N_SLOTS

TALLY = {"t": ROUNDS, "mistakes": MISTAKES, "updates": UPDATES, "skipped": SKIPPED, "seen": SEEN, "loss": LOSS, "reach": REACH,
         "dropped": DROPPED, "norm": NORM}
TALLY_SIZE = N_SLOTS

cdef enum:
    PROJECTED = -1
    NOWHERE = -2

cdef double LIMIT = 1e150   # coefficients and kernel values: a product of two is still a double
cdef double TINY = 2.2250738585072014e-308
cdef double NOVELTY = 1e-6  # with Q: a row whose squared distance from the span is below this k(x, x) is taken as its projection


# --- vectors and packed symmetric matrices -------------------------------------------------------------------------------------

cdef inline double dot(const double* a, const double* b, Py_ssize_t n) noexcept nogil:
    """Eight sums: the compiler pairs them, and the processor need not wait for one."""
    cdef double[8] sums
    cdef Py_ssize_t i, k, whole = n - n % 8
    for k in range(8):
        sums[k] = 0.0
    for i in range(0, whole, 8):
        for k in range(8):
            sums[k] += a[i + k] * b[i + k]
    for i in range(whole, n):
        sums[0] += a[i] * b[i]
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]))


cdef inline void add(double* to, double factor, const double* a, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        to[i] += factor * a[i]


cdef inline double largest(const double* a, Py_ssize_t n) noexcept nogil:
    """max |a_i|; NaN or infinity if there is one."""
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
    """to = M x, each entry of the triangle read once."""
    cdef Py_ssize_t i
    cdef const double* row = M
    for i in range(n):
        to[i] = dot(row, x, i) + row[i] * x[i]
        add(to, x[i], row, i)
        row += i + 1


cdef inline void rank_one(double* M, double factor, const double* g, Py_ssize_t n) noexcept nogil:
    """M += factor g g'."""
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
    """Take row and column j out; those behind move up."""
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

cdef class Dual:
    """A model's arrays while a block of rows is learnt.

    alpha : (columns, capacity). P : (columns, packed capacity) for a second-order rule, else (columns, 0). scale : (columns,).
    Q : packed inverse of the Gram matrix where vectors are given up by projection, else empty. norms : k(x_i, x_i).
    origin : number of the row in the present `fit` that a vector is, else -1. slot_of : the way back; empty outside of `fit`.
    """
    cdef readonly Py_ssize_t size
    cdef readonly int64_t[::1] members      # column of K in which a vector has its kernel values
    cdef double[:, ::1] alpha, P, u, K
    cdef double[::1] scale, Q, norms, k, e, g, tally, taus, betas, v
    cdef int64_t[::1] origin, slot_of, which
    cdef Py_ssize_t budget, n_columns, row, n_steps
    cdef bint second_order
    cdef double self_product

    def __init__(self, Py_ssize_t size, double[:, ::1] alpha, double[:, ::1] P, double[::1] scale, double[::1] Q,
                 double[::1] norms, int64_t[::1] origin, int64_t[::1] slot_of, double[::1] tally, double[:, ::1] K,
                 Py_ssize_t budget):
        cdef Py_ssize_t capacity = alpha.shape[1]
        self.size, self.alpha, self.P, self.scale, self.Q, self.norms = size, alpha, P, scale, Q, norms
        self.origin, self.slot_of, self.tally, self.K, self.budget = origin, slot_of, tally, K, budget
        self.n_columns, self.second_order = alpha.shape[0], P.shape[1] > 0
        self.members = np.arange(capacity, dtype=np.int64)
        self.k, self.e, self.g = np.empty(capacity), np.empty(capacity), np.empty(capacity)
        self.u = np.empty((self.n_columns, capacity if self.second_order else 0))
        self.taus, self.betas, self.v = np.empty(self.n_columns), np.empty(self.n_columns), np.empty(self.n_columns)
        self.which = np.empty(self.n_columns, np.int64)

    cdef inline void look(self, Py_ssize_t i, Py_ssize_t n_old) noexcept nogil:
        """Gather the kernel values of the block's row i."""
        cdef Py_ssize_t j
        for j in range(self.size):
            self.k[j] = self.K[i, self.members[j]]
        self.row, self.self_product, self.n_steps = i, self.K[i, n_old + i], 0

    cdef inline bint readable(self) noexcept nogil:
        """Whether the row can be learnt from; counted if it cannot: kernel values beyond range, or k(x, x) < 0 (no kernel)."""
        cdef double least = 1.0 / LIMIT if self.Q.shape[0] else 0.0     # its inverse will be in Q
        if largest(&self.k[0], self.size) <= LIMIT and (least <= self.self_product <= LIMIT or self.self_product == 0.0):
            return True
        self.tally[SKIPPED] += 1.0
        return False

    cdef inline double score(self, Py_ssize_t c) noexcept nogil:
        return dot(&self.alpha[c, 0], &self.k[0], self.size)

    cdef inline double spread(self, Py_ssize_t c) noexcept nogil:
        """v = φ(x)'Σφ(x) of a column; u is kept for the step. 0 for a first-order rule."""
        cdef double v
        if not self.second_order:
            return 0.0
        times(&self.P[c, 0], &self.k[0], &self.u[c, 0], self.size)
        v = self.scale[c] * self.self_product - dot(&self.k[0], &self.u[c, 0], self.size)
        self.v[c] = v if v > 0.0 else 0.0       # it is >= 0 but for rounding, and for kernels that are none
        return self.v[c]

    cdef inline bint propose(self, Py_ssize_t c, double tau, double beta) noexcept nogil:
        """Put down a step for a column, unless a number of the model would go beyond range (counted)."""
        cdef double g = 1.0, reach, curvature = self.tally[CURVATURE]
        if self.second_order:
            g = largest(&self.u[c, 0], self.size) + self.scale[c]
            beta = beta / (1.0 + beta * self.v[c])
            curvature += beta * g * g
        reach = self.tally[REACH] + fabs(tau) * g
        if not (reach <= LIMIT and curvature <= LIMIT and (tau == 0.0 or TINY <= fabs(tau))):
            self.tally[SKIPPED] += 1.0
            return False
        self.tally[REACH], self.tally[CURVATURE] = reach, curvature
        self.which[self.n_steps], self.taus[self.n_steps], self.betas[self.n_steps] = c, tau, beta
        self.n_steps += 1
        return True

    cdef inline Py_ssize_t place(self, Py_ssize_t n_old, int64_t number) noexcept nogil:
        """The slot of the row that is about to change the model. PROJECTED: the combination e of the others stands for it.
        NOWHERE: it would take Q beyond range."""
        cdef Py_ssize_t c, j, s = self.size
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
                for j in range(self.n_steps):
                    self.tally[NORM] -= self.taus[j] * self.taus[j] * novelty
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
        self.norms[s], self.members[s], self.origin[s] = self.self_product, n_old + self.row, number
        if self.slot_of.shape[0]:
            self.slot_of[number] = s
        self.size += 1
        return s

    cdef void commit(self, Py_ssize_t n_old, int64_t number) noexcept nogil:
        """Take the steps that were put down, then give up vectors beyond the budget."""
        cdef Py_ssize_t i, j, c, at, s
        cdef double tau, weight
        at = self.place(n_old, number)
        if at == NOWHERE:
            self.tally[SKIPPED] += 1.0
            return
        s = self.size
        for i in range(self.n_steps):
            c, tau = self.which[i], self.taus[i]
            weight = self.scale[c]
            if not self.second_order and at >= 0:
                self.alpha[c, at] += tau * weight
                continue
            for j in range(s):
                self.g[j] = -self.u[c, j] if self.second_order else 0.0
            if at >= 0:
                self.g[at] += weight
            else:
                add(&self.g[0], weight, &self.e[0], s)
            add(&self.alpha[c, 0], tau, &self.g[0], s)
            if self.betas[i] > 0.0:
                rank_one(&self.P[c, 0], self.betas[i], &self.g[0], s)
        self.tally[UPDATES] += 1.0
        while self.size > self.budget:
            self.drop()

    cdef void drop(self) noexcept nogil:
        """Give up the vector without which w changes least, the oldest of equals.

        First order: ||Δw|| = |a_j| √k(x_j, x_j). With Q: φ(x_j) is replaced by its projection on the span of the others,
        ||Δw|| = |a_j| / √Q_jj, the same in Σ, which so stays between 0 and the identity.
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
                self.e[i] /= -q                     # φ(x_j) -> Σ e_i φ(x_i), over the others; what row and column j get goes
            for c in range(self.n_columns):
                self.tally[NORM] -= self.alpha[c, j] * self.alpha[c, j] / q
                add(&self.alpha[c, 0], self.alpha[c, j], &self.e[0], s)
                if self.second_order:               # P += P_j e' + e P_j' + P_jj e e', as two squares
                    column(&self.P[c, 0], j, &self.g[0], s)
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
        self.tally[DROPPED] += 1.0

    cdef void clear(self) noexcept nogil:
        """Forget all vectors: their coefficients are 0."""
        cdef Py_ssize_t j
        for j in range(self.size):
            if self.slot_of.shape[0] and self.origin[j] >= 0:
                self.slot_of[self.origin[j]] = -1
        self.size = 0

    cdef inline void symmetric(self, Py_ssize_t c, double p_j, Py_ssize_t s) noexcept nogil:
        """P += g e' + e g' + p_j e e', g being the column of P that goes."""
        cdef Py_ssize_t i
        for i in range(s):
            add(&self.P[c, triangle(i)], self.g[i] + p_j * self.e[i], &self.e[0], i + 1)
            add(&self.P[c, triangle(i)], self.e[i], &self.g[0], i + 1)


cdef inline Py_ssize_t work_of(Dual dual) noexcept nogil:
    return dual.size * (1 + dual.n_columns) * (dual.size if dual.second_order or dual.Q.shape[0] else 1) + 8


cdef inline Params params_of(int rule, double margin, double eta0, double C, double r) noexcept nogil:
    cdef Params p
    memset(&p, 0, sizeof(Params))
    p.rule, p.margin, p.eta0, p.C, p.r = rule, margin, eta0, C, r
    p.trigger = PEEKED_LOSS if rule == SOP or rule == AGGRESSIVE_SOP else ON_LOSS
    return p


cdef inline void charge(double loss, double[::1] tally) noexcept nogil:
    """Add the row's loss to the sum by which epochs end; not where that would take the sum out of double's range."""
    if 0.0 < loss < 1e290:
        tally[LOSS] += loss


# --- the tasks -----------------------------------------------------------------------------------------------------------------

cdef inline Py_ssize_t top(const double[::1] scores, const double[::1] counts, Py_ssize_t but, bint is_open) noexcept nogil:
    """First argmax over the classes that have joined, leaving out one."""
    cdef Py_ssize_t c, best = -1
    for c in range(counts.shape[0]):
        if c != but and not (is_open and counts[c] == 0.0) and (best < 0 or scores[c] > scores[best]):
            best = c
    return best


def classify(Dual dual, int rule, double margin, double eta0, double C, double r, bint joint, bint is_open, bint balanced,
             Py_ssize_t n_old, const int64_t[::1] numbers, const int32_t[::1] y, const double[::1] weights, double[::1] counts,
             int32_t[::1] predictions):
    """Learn a block of rows.

    joint : Crammer and Singer's form, else each class against the rest. n_old : support vectors at the block's start. numbers :
    of the rows, in `fit`. y : places of the labels in counts. weights : one a row, or empty. predictions : empty, or for the
    class that predict would have named just before each row of weight > 0 was learnt.
    """
    cdef Params p = params_of(rule, margin, eta0, C, r)
    cdef bint potential = rule == SOP or rule == AGGRESSIVE_SOP
    cdef Py_ssize_t i, c, label, guess, newcomer, rival, n_columns = dual.n_columns, budget = QUANTUM
    cdef double[::1] scores = np.empty(n_columns), tally = dual.tally
    cdef double sign, beta, skipped
    cdef Stats s
    cdef Step step
    with nogil:
        for i in range(y.shape[0]):
            budget = look_up(budget, work_of(dual))
            label = y[i]
            s.weight = weights[i] if weights.shape[0] else 1.0
            if s.weight <= 0.0:
                continue
            tally[ROUNDS] += 1.0
            counts[label] += 1.0
            if counts[label] == 1.0:
                tally[SEEN] += 1.0
            if balanced:
                s.weight *= tally[ROUNDS] / (tally[SEEN] * counts[label])

            dual.look(i, n_old)
            for c in range(n_columns):
                scores[c] = dual.score(c)
            newcomer = label if is_open and counts[label] == 1.0 else -1    # which nobody could have predicted
            if n_columns == 1:
                guess = scores[0] > 0.0 if newcomer < 0 else 1 - label
            else:
                guess = top(scores, counts, newcomer, is_open)
            tally[MISTAKES] += guess != label
            if predictions.shape[0]:
                predictions[i] = <int32_t>guess
            if not dual.readable() or dual.self_product == 0.0:
                continue

            skipped = tally[SKIPPED]
            if joint and n_columns > 1:
                rival = top(scores, counts, label, is_open)
                s.margin = scores[label] - scores[rival]
                charge(s.weight * (margin - s.margin), tally)
                if settled(s.margin, &p):
                    continue
                s.q = 2.0 * dual.self_product
                s.v = dual.spread(label) + dual.spread(rival)
                if potential:
                    beta = precision(&s, &p)
                    s.margin = scores[label] / (1.0 + beta * dual.v[label]) - scores[rival] / (1.0 + beta * dual.v[rival])
                step = apply_rule(&s, &p)
                if step.tau != 0.0:
                    take(dual, label, step, scores[label], potential)
                    if dual.n_steps:            # both or none
                        step.tau = -step.tau
                        take(dual, rival, step, scores[rival], potential)
                        if dual.n_steps == 1:
                            dual.n_steps = 0
            else:
                s.q = dual.self_product
                for c in range(n_columns):
                    if n_columns > 1 and is_open and counts[c] == 0.0:
                        continue
                    sign = 1.0 if label == (1 if n_columns == 1 else c) else -1.0
                    s.margin = sign * scores[c]
                    charge(s.weight * (margin - s.margin), tally)
                    if settled(s.margin, &p) or (rule == SOP and s.margin > 0.0):   # m' has the sign of m
                        continue
                    s.v = dual.spread(c)
                    if potential:
                        s.margin /= 1.0 + precision(&s, &p) * s.v
                    step = apply_rule(&s, &p)
                    if step.tau != 0.0:
                        step.tau *= sign
                        take(dual, c, step, scores[c], potential)
            if tally[SKIPPED] > skipped:
                tally[SKIPPED] = skipped + 1.0  # a row, not a class
            if dual.n_steps:
                dual.commit(n_old, numbers[i])


cdef inline bint take(Dual dual, Py_ssize_t c, Step step, double score, bint potential) noexcept nogil:
    """Put a rule's step down as one along Σφ(x).

    A potential rule moves θ along φ(x), and w = Σθ: w += (τ - βs)/(1 + βv) Σφ(x), s and v with the Σ before.
    """
    if potential:
        step.tau = (step.tau - step.beta * score) / (1.0 + step.beta * dual.v[c])
    return dual.propose(c, step.tau, step.beta)


def regress(Dual dual, int rule, double epsilon, double C, double r, Py_ssize_t n_old, const int64_t[::1] numbers,
            const double[::1] y, const double[::1] weights):
    """Learn a block of rows with real targets: passive-aggressive regression (PA1, PA2), or recursive least squares."""
    cdef Params p = params_of(rule, 0.0, 1.0, C, r)
    cdef Py_ssize_t i, budget = QUANTUM
    cdef double[::1] tally = dual.tally
    cdef double residual
    cdef Stats s
    cdef Step step
    if rule == LEAST_SQUARES:       # every residual is a loss
        epsilon = 0.0
    with nogil:
        for i in range(y.shape[0]):
            budget = look_up(budget, work_of(dual))
            s.weight = weights[i] if weights.shape[0] else 1.0
            if s.weight <= 0.0:
                continue
            tally[ROUNDS] += 1.0
            dual.look(i, n_old)
            residual = y[i] - dual.score(0)
            if not dual.readable():
                continue
            s.margin = epsilon - fabs(residual)
            s.q = dual.self_product
            charge(-s.weight * s.margin, tally)
            # Least squares learns from a residual of 0 too: how certain the model is.
            if s.q == 0.0 or (s.margin >= 0.0 and rule != LEAST_SQUARES):
                continue
            s.v = dual.spread(0) if rule == LEAST_SQUARES else 0.0
            step = apply_rule(&s, &p)
            if dual.propose(0, step.tau if residual > 0.0 else -step.tau, step.beta):
                dual.commit(n_old, numbers[i])


def enclose(Dual dual, double epsilon, Py_ssize_t n_old, const int64_t[::1] numbers, const double[::1] weights, Py_ssize_t n):
    """Learn a block of rows: the centre w of a ball of radius epsilon moves towards a row outside until it is inside.

    n = ||φ(x) - w||, λ = [n - ε]+/n, w = (1 - λ)w + λφ(x); ||w||^2 is kept beside.
    """
    cdef Py_ssize_t i, j, budget = QUANTUM
    cdef double[::1] tally = dual.tally
    cdef double weight, score, square, distance, share
    with nogil:
        for i in range(n):
            budget = look_up(budget, work_of(dual))
            weight = weights[i] if weights.shape[0] else 1.0
            if weight <= 0.0:
                continue
            dual.look(i, n_old)
            tally[ROUNDS] += 1.0
            if not dual.readable():
                continue
            if tally[ROUNDS] - tally[SKIPPED] == 1.0:   # the first row is the centre: a beginning, no update
                share, score = 1.0, 0.0
                tally[UPDATES] -= 1.0
            else:
                score = dual.score(0)
                square = dual.self_product - 2.0 * score + tally[NORM]
                distance = sqrt(square) if square > 0.0 else 0.0
                charge(weight * (distance - epsilon), tally)
                if not distance > epsilon:
                    continue
                tally[MISTAKES] += 1.0
                share = smaller(1.0, weight) * (distance - epsilon) / distance
            if share == 1.0:
                dual.clear()
            for j in range(dual.size):
                dual.alpha[0, j] *= 1.0 - share
            tally[NORM] *= (1.0 - share) * (1.0 - share)
            tally[NORM] += share * (2.0 * (1.0 - share) * score + share * dual.self_product)
            dual.which[0], dual.taus[0], dual.betas[0], dual.n_steps = 0, share, 0.0, 1
            dual.commit(n_old, numbers[i])
