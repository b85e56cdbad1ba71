"""A committee: members learn block after block while its rows are in the cache, and a small learner combines their scores.

Member k's score before it learns a row is number k of the combiner's row z. For two classes z holds the members' scores,
and y is the label's sign; for more, z holds each member's score of the true class less that of the best wrong one, and y = 1.

    arow     Σ <- Σ/(1-λ), scaled back where its trace passes K;   m = y a.z;   u = Σz,   v = z.u
             m < 1:   a += y (1 - m)/(v + r/c) u,   Σ -= u u'/(v + r/c)
             w = Σ_k p_k e_k + p_0 a,   p_k ~ exp(-η_t L_k),   p_0 ~ K exp(-η_t L_0),   η_t = √(8 ln(K+1) / t) / max c,
             L_k the sum of c over the member's mistakes, L_0 over those of a
             numbers: with z and y divided by s, always   a += (y - a.z)/(v + r/c) u,   Σ the same,   w = a
    hedge    L_k += c l_k,   w_k ~ exp(-η_t L_k),   η_t = √(8 ln K / t),   l_k the member's loss in [0, 1]
             with a share α > 0   w_k <- (1-α) v_k + α/K,   v_k ~ w_k exp(-η_t c l_k)

with the row's weight c and a = w = (1/K, ..), Σ = I before the first row. w weighs the members' scores in the committee's. λ is
the forgetting, for labels times q, the share of the rarest class among the rows so far times the number of classes: rows are
forgotten as if only those of the rarest class counted. AROW skips rows that all members score 0.

Of two classes with q < 0.1, w becomes  φ w + (1 - φ) v/Σv,  φ = [20q - 1]+,  v >= 0 the weights that tell the classes apart as
Fisher's discriminant does: those of most  N v.(μ_1 - μ_0) - v'(S + rI)v/2,  one sweep of coordinate ascent a row of the
rarer class. N is the number of rows that came while q was below 0.1, μ_y the mean of z of a class, S the scatter about
these means; rows are forgotten at the rate λ.
"""
from cython cimport critical_section
from libc.math cimport exp, fabs, frexp, isfinite, ldexp, log, sqrt

import numpy as np

from ..._compiled.model cimport Model
from ..._compiled.rounds cimport (
    DECISION, QUANTUM, REGRESSION, Batch, Counters, PassContext, Round, Task, add_loss, before_step, check_signals,
    count_error, next_round, top,
)

cdef enum:
    MOST_OUTPUTS = 1 << 12  # most scores of all members in a block,
    MOST_WORK = 1 << 15     # most non-zeros, and
    MOST_SUMS = 1 << 19     # most non-zeros times vectors of weights: all members learn a block between two checks of signals
    YOUNG = 16              # rows that determine the unit of y

cdef Py_ssize_t ENDLESS = <Py_ssize_t>1 << 60      # a budget that no block uses up, so that no signal is handled within it

cdef double RARE = 0.1      # q from which on v has no part
cdef double FAR = 1e50      # scores and weights of rows beyond which v does not change

KEPT = YOUNG


ctypedef struct Combiner:
    Py_ssize_t k            # members
    bint hedges
    double r
    double forgetting
    double share            # Hedge: α
    double entropy          # 8 ln n, of n weights that are exponential
    double limit            # the largest score that is combined
    double* shares          # [k] w
    double* a               # [k]; of numbers and of Hedge the shares
    double* sigma           # [k, k]; of Hedge NULL
    double* losses          # [k + 1] L of the members; Hedge: and of their mean by the shares; AROW: and of a; of numbers NULL
    double* seen            # [2] rows of two classes, by their weights; of numbers and of Hedge NULL, as the next ones
    double* means           # [2, k] μ
    double* scatter         # [k, k] S, 0 above its diagonal
    double* apart           # [k] v
    double* kept            # [YOUNG, k + 2] regression: z, y and c of the first rows
    double* gauge           # [2] s, and the number of rows kept
    double* z               # [k] the present row, and room for k + 1 other numbers, and for scores of all classes
    double* u
    double* own


cdef enum Outcome:
    UNCHANGED
    CHANGED
    SKIPPED                 # a number would leave its range


# --- a step of the combiner ----------------------------------------------------------------------------------------------------

cdef inline double mixed(const double* shares, const double* outputs, Py_ssize_t stride, Py_ssize_t k) noexcept nogil:
    """Return the sum, weighted by the shares, of k numbers `stride` apart: the committee's score from its members'."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(k):
        total += shares[j] * outputs[j * stride]
    return total


cdef void grow(Combiner* f, double rate) noexcept nogil:
    """Let the variances grow by 1/(1 - rate), but not their sum beyond K."""
    cdef Py_ssize_t j, k = f.k
    cdef double* sigma = f.sigma
    cdef double trace = 0.0, factor = 1.0 / (1.0 - rate)
    if rate <= 0.0:
        return
    for j in range(k):
        trace += sigma[j * k + j]
    if factor * trace > k:
        factor = k / trace
    for j in range(k * k):
        sigma[j] *= factor


cdef Outcome step(Combiner* f, double amount, double c) noexcept nogil:
    """Move a by amount/(v + r/c) along u = Σz, and narrow Σ."""
    cdef Py_ssize_t i, j, k = f.k
    cdef double* sigma = f.sigma
    cdef double* u = f.u
    cdef double v = 0.0, beta, largest = 0.0
    for i in range(k):
        u[i] = mixed(&sigma[i * k], f.z, 1, k)
        v += u[i] * f.z[i]
        largest = max(largest, fabs(u[i]))
    v = v if v > 0.0 else 0.0
    beta = 1.0 / (v + f.r / c)
    if not (isfinite(v) and isfinite(amount * beta * largest) and fabs(amount * beta * largest) < 1e100):
        return SKIPPED
    for i in range(k):
        f.a[i] += amount * beta * u[i]
        for j in range(k):
            sigma[i * k + j] -= beta * (u[i] * u[j])
    for i in range(k):              # (rounding: a variance of 0 has no covariances)
        if sigma[i * k + i] <= 0.0:
            for j in range(k):
                sigma[i * k + j] = sigma[j * k + i] = 0.0
    return CHANGED


cdef double weigh(const double* losses, Py_ssize_t n, double eta, double last, double* weights) noexcept nogil:
    """Compute exp(-η L) of n losses, of the last one times `last`, up to a common factor, and return their sum."""
    cdef Py_ssize_t j
    cdef double least = losses[0], total = 0.0
    for j in range(1, n):
        least = min(least, losses[j])
    for j in range(n):
        weights[j] = exp(-eta * (losses[j] - least)) if losses[j] > least else 1.0
    weights[n - 1] *= last
    for j in range(n):
        total += weights[j]
    return total


cdef void pay(Combiner* f, const double* losses, double c, double t) noexcept nogil:
    """Add the losses of round t, each in [0, 1], to the members' sums, and weigh the members for the next round."""
    cdef Py_ssize_t j
    cdef double total = 0.0, eta = sqrt(f.entropy / t), paid = 0.0
    c = min(c, 1e290)               # (a row's weight times its class's may be infinite, and that times a loss of 0 is NaN)
    for j in range(f.k):
        paid += f.shares[j] * losses[j]
    for j in range(f.k + 1):
        f.losses[j] = min(f.losses[j] + c * (losses[j] if j < f.k else paid), 1e290)
    if f.share > 0.0:
        for j in range(f.k):
            f.shares[j] *= exp(-eta * c * losses[j])
            total += f.shares[j]
        for j in range(f.k):        # (no share is left if the row's weight is huge: they begin anew)
            f.shares[j] = (1.0 - f.share) * (f.shares[j] / total if total > 0.0 else 1.0 / f.k) + f.share / f.k
        return
    total = weigh(f.losses, f.k, sqrt(f.entropy / (t + 1.0)), 1.0, f.shares)
    for j in range(f.k):
        f.shares[j] /= total


cdef void trust(Combiner* f, double t, double heaviest, double q) noexcept nogil:
    """Mix a with the members by their mistakes, a by half before the first row; heaviest : the largest c so far. Of two classes
    with q below RARE mix v in."""
    cdef Py_ssize_t j, k = f.k
    cdef double eta = min(sqrt(f.entropy / (t + 1.0)) / heaviest, 1e300), sum_of_v = 0.0, rest
    cdef double total = weigh(f.losses, k + 1, eta, k, f.u)
    for j in range(k):
        f.shares[j] = (f.u[j] + f.u[k] * f.a[j]) / total
    if q < RARE:
        for j in range(k):
            sum_of_v += f.apart[j]
        if sum_of_v > 0.0:
            rest = max(0.0, 2.0 * q / RARE - 1.0)
            for j in range(k):
                f.shares[j] = rest * f.shares[j] + (1.0 - rest) * f.apart[j] / sum_of_v     # (whose inverse may be infinite)


cdef void separate(Combiner* f, Py_ssize_t label, double c, double rate) noexcept nogil:
    """Add a row z of one of two classes to their moments; with one of the rarer class, go once along each axis of v."""
    cdef Py_ssize_t i, j, k = f.k
    cdef double kept = 1.0 - rate, gain, left, wanted, largest = 0.0
    cdef double* mean = &f.means[label * k]
    cdef double* s = f.scatter
    cdef double* u = f.u
    for i in range(k):
        u[i] = f.z[i] - mean[i]
        largest = max(largest, fabs(u[i]))
    if not (largest < FAR and c < FAR):
        return
    f.seen[0] *= kept
    f.seen[1] *= kept
    f.seen[label] += c
    gain = c / f.seen[label]
    for i in range(k):
        mean[i] += gain * u[i]
        left = c * (1.0 - gain) * u[i]
        for j in range(i + 1):
            s[j] = kept * s[j] + left * u[j]
        s += k
    if f.seen[label] > f.seen[1 - label]:
        return
    s = f.scatter
    for i in range(k):
        wanted = (f.seen[0] + f.seen[1]) * (f.means[k + i] - f.means[i])
        for j in range(k):
            wanted -= s[max(i, j) * k + min(i, j)] * f.apart[j] if j != i else 0.0
        f.apart[i] = min(wanted / (s[i * k + i] + f.r), 1e100) if wanted > 0.0 else 0.0


cdef inline double clipped(double loss) noexcept nogil:
    """Return a loss within [0, 1]; 1 for NaN."""
    return 0.0 if loss <= 0.0 else loss if loss < 1.0 else 1.0


cdef inline bint are_zero(const Combiner* f) noexcept nogil:
    """Return True if all members score the row 0."""
    cdef Py_ssize_t j
    for j in range(f.k):
        if f.z[j] != 0.0:
            return False
    return True


# --- classes -------------------------------------------------------------------------------------------------------------------

cdef inline double rarity(const PassContext* context) noexcept nogil:
    """Return the rarest class's share of the rows so far, times the number of classes that had rows: 1 if all had as many."""
    cdef Py_ssize_t c
    cdef double least = context.counts[0], n = 0.0, seen = 0.0
    for c in range(context.n_classes):
        n += context.counts[c]
        seen += context.counts[c] > 0.0
        if 0.0 < context.counts[c] < least or least == 0.0:
            least = context.counts[c]
    return seen * least / n if n > 0.0 else 1.0


cdef inline double cost_of(const Round* r) noexcept nogil:
    """Return the weight of a row times that of its class, whose root ρ = 1 + shift multiplies the margin."""
    return min(r.weight * (1.0 + r.shift), 1e290)


cdef Outcome learn_label(Combiner* f, const double* outputs, Py_ssize_t stride, const Round* r, double weight,
                         PassContext* context) noexcept nogil:
    """Learn a labelled row. weight : its own, without that of its class, which the members' scores (about ρ) have in them."""
    cdef Py_ssize_t j, rival = 0, k = f.k
    cdef double sign = 2.0 * r.label - 1.0, margin, c = cost_of(r), q
    cdef bint fits = True
    cdef const double* own
    cdef Outcome outcome = UNCHANGED
    if r.newcomer:
        return UNCHANGED
    for j in range(context.columns):
        f.own[j] = mixed(f.a, &outputs[j], stride, k)
    margin = sign * f.own[0]
    if context.columns > 1:
        rival, sign = top(f.own, context, r.label), 1.0
        margin = f.own[r.label] - f.own[rival]
    for j in range(k):
        own = &outputs[j * stride]
        f.z[j] = own[0] if context.columns == 1 else own[r.label] - own[rival]
        f.u[j] = sign * own[0] if context.columns == 1 else own[r.label] - own[top(own, context, r.label)]      # its margin
        fits &= fabs(f.z[j]) <= f.limit         # (NaN is not)
    if f.hedges:
        for j in range(k):
            f.u[j] = clipped(1.0 - f.u[j])
        pay(f, f.u, r.weight, context.counters.rounds)
        return UNCHANGED if are_zero(f) else CHANGED
    if not (fits and isfinite(margin)):
        return SKIPPED
    add_loss(r.weight * (1.0 + r.shift - margin), context)
    if are_zero(f):
        return UNCHANGED
    for j in range(k + 1):
        f.losses[j] = min(f.losses[j] + c * ((f.u[j] if j < k else margin) <= 0.0), 1e290)
    q = rarity(context)
    if q < RARE and context.columns == 1:
        separate(f, r.label, weight, f.forgetting * q)
    grow(f, f.forgetting * q)
    margin -= r.shift
    if margin < 1.0:
        outcome = step(f, sign * (1.0 - margin), weight)
    trust(f, context.counters.rounds, context.counters.max_abs_weight, q if context.columns == 1 else 1.0)
    return outcome


# --- numbers -------------------------------------------------------------------------------------------------------------------

cdef Outcome learn_number(Combiner* f, double y, double c, double t) noexcept nogil:
    """Learn a row z with its target, both divided by s."""
    cdef Py_ssize_t j
    cdef double error
    if f.hedges:
        for j in range(f.k):
            f.u[j] = clipped(fabs(y - f.z[j]) / f.gauge[0])
        pay(f, f.u, c, t)
        return UNCHANGED if are_zero(f) else CHANGED
    for j in range(f.k):
        f.z[j] /= f.gauge[0]
    if are_zero(f):
        return UNCHANGED
    error = y / f.gauge[0] - mixed(f.shares, f.z, 1, f.k)
    grow(f, f.forgetting)
    return step(f, error, c)


cdef double unit_of(const double* kept, Py_ssize_t n, Py_ssize_t width) noexcept nogil:
    """Return the power of two nearest to the (lower) median of the |y| > 0 of the kept rows; 1 if there are none."""
    cdef Py_ssize_t i, j, at, n_below, n_live = 0
    cdef int exponent
    cdef double y, found = 1.0
    for i in range(n):
        n_live += kept[i * width + width - 2] != 0.0
    for i in range(n):
        y = fabs(kept[i * width + width - 2])
        n_below = 0
        for j in range(n):
            at = j * width + width - 2
            n_below += 0.0 < fabs(kept[at]) < y or (fabs(kept[at]) == y and j < i)
        if y > 0.0 and n_below == (n_live - 1) // 2:
            found = y
    found = frexp(found, &exponent)
    return 1.0 if n_live == 0 else ldexp(1.0, max(-400, min(exponent - (found * found < 0.5), 400)))


cdef void begin(Combiner* f) noexcept nogil:
    """Set the shares, Σ and losses to their values before the first row."""
    cdef Py_ssize_t j
    for j in range(f.k):
        f.shares[j] = 1.0 / f.k
    for j in range(f.k * f.k if f.sigma != NULL else 0):
        f.sigma[j] = j % (f.k + 1) == 0
    for j in range(f.k + 1 if f.losses != NULL else 0):
        f.losses[j] = 0.0


cdef Outcome learn_target(Combiner* f, double y, double c, double t) noexcept nogil:
    """Learn a row of a regression; learn the first YOUNG rows again where they change the unit of y."""
    cdef Py_ssize_t i, j, n, width = f.k + 2
    cdef double unit
    cdef Outcome outcome = UNCHANGED
    if f.gauge[1] >= YOUNG:
        return learn_number(f, y, c, t)
    n = <Py_ssize_t>f.gauge[1]
    for j in range(f.k):
        f.kept[n * width + j] = f.z[j]
    f.kept[n * width + f.k], f.kept[n * width + f.k + 1] = y, c
    f.gauge[1] += 1.0
    unit = unit_of(f.kept, n + 1, width)
    if unit != f.gauge[0]:
        f.gauge[0] = unit
        begin(f)
        i = 0
    else:
        i = n
    while i <= n:
        for j in range(f.k):
            f.z[j] = f.kept[i * width + j]
        outcome = learn_number(f, f.kept[i * width + f.k], f.kept[i * width + f.k + 1], i + 1.0)
        i += 1
    for i in range(YOUNG * width if f.gauge[1] >= YOUNG else 0):       # (no model keeps targets longer than that)
        f.kept[i] = 0.0
    return outcome


# --- a block -------------------------------------------------------------------------------------------------------------------

cdef int combine(Combiner* f, const Batch* b, PassContext* context, double* outputs, Py_ssize_t stride, double* scores,
                 bint learns) except -1 nogil:
    """Learn the rows of a block; outputs[j * stride + i] is the i-th score of member j. learns : True if the rows are new."""
    cdef Py_ssize_t j, c, n = 0
    cdef Round r
    cdef bint fits
    cdef Outcome outcome
    cdef double y
    context.next = 0
    while next_round(&r, b, context):
        outcome = UNCHANGED
        if learns:
            context.counters.max_abs_weight = max(context.counters.max_abs_weight, cost_of(&r))
        if context.task == REGRESSION:
            y, fits = r.target, fabs(r.target) <= 1e150
            for j in range(f.k):
                f.z[j] = y - outputs[j * stride + n]
                fits &= fabs(f.z[j]) <= min(f.limit, 1e150)
            scores[0] = y - mixed(f.shares, f.z, 1, f.k)
            count_error(scores[0], context)
            add_loss(r.weight * fabs(scores[0]), context)
            if learns:
                outcome = learn_target(f, y, r.weight, context.counters.rounds) if fits else SKIPPED
        else:
            for c in range(context.columns):
                scores[c] = mixed(f.shares, &outputs[n + c], stride, f.k)
            before_step(context.task, scores, 0.0, &r, b, context)
            if learns:
                outcome = learn_label(f, &outputs[n], stride, &r, 1.0 if b.weights == NULL else b.weights[r.at], context)
        n += context.columns
        context.counters.updates += outcome == CHANGED
        context.counters.skipped += outcome == SKIPPED
    return 0


cdef Py_ssize_t end_of_block(const Batch* b, Py_ssize_t start, Py_ssize_t columns, Py_ssize_t most,
                             Py_ssize_t* work) noexcept nogil:
    """Return the end of the block of rows that begins at `start`; its non-zeros come to `work`."""
    cdef Py_ssize_t i = start, at, n
    work[0] = 0
    while i < b.n and i - start < most:
        at = i if b.order == NULL else b.order[i]
        n = b.indptr[at + 1] - b.indptr[at] + 8
        if i > start and (work[0] + n > MOST_WORK or (work[0] + n) * columns > MOST_SUMS):
            break
        work[0] += n
        i += 1
    return i


cdef Batch part(const Batch* b, Py_ssize_t start, Py_ssize_t stop) noexcept nogil:
    """Return rows [start, stop) of a batch."""
    cdef Batch found = b[0]
    found.n = stop - start
    if b.order != NULL:
        found.order = b.order + start
        return found
    found.n_rows = found.n
    found.indptr = b.indptr + start
    if b.labels != NULL:
        found.labels = b.labels + start
    if b.targets != NULL:
        found.targets = b.targets + start
    if b.weights != NULL:
        found.weights = b.weights + start
    if b.predictions != NULL:
        found.predictions = b.predictions + start
    return found


cdef int learn_member(Model member, Task task, rows, const Batch* block, double* outputs) except -1:
    """Let a member learn a block by its own rule, and store its scores of each row from before it learnt the row."""
    cdef PassContext context
    cdef Batch b
    cdef double[::1] counts = member.counts, counters = member.counters, correction = member.correction
    member.bind()
    member.enter(&b, &context, &counts[0], counts.shape[0], &counters[0], &correction[0] if correction.shape[0] else NULL)
    b = block[0]
    b.predictions = NULL
    context.budget, context.scores_out, context.has_observers = ENDLESS, outputs, True
    try:
        member.run(task, rows, &b, &context)
    finally:
        (<Counters*>&counters[0])[0] = context.counters
    return 0


cdef class CommitteeModel(Model):
    """members : a tuple of models. shares : (K,) w. combined : (K,) a, or (0,). losses : (K + 1,), or (0,). sigma : (1, K, K), or
    (0, 1, 1). seen : (2,), means : (2, K), scatter : (1, K, K), apart : (K,), see Combiner, or without rows.

    kept : regression: (YOUNG, K + 2), z, y and c of the first rows, or (0, 1). gauge : (2,), see Combiner. All are float64.
    """

    cdef public tuple members
    cdef double share       # of params
    cdef public object shares, combined, losses, seen, means, scatter, apart, kept, gauge

    cdef int bind(self) except -1:
        if self.bound is not self.params:
            params = self.params
            given = dict(zip(params._fields, params))   # (without a call of Python, in which a signal might be raised)
            with critical_section(self):        # several threads may read at once
                self.p.open_classes, self.p.balanced = given["open_classes"], given["balanced"]
                self.p.average_from, self.p.limit, self.p.level = -1, given["limit"], given["level"]
                self.p.r, self.p.forgetting = given["r"], given["forgetting"]
                self.share = given["share"]
                self.p.costs, self.p.margin = given["costs"], 1.0
                self.bound = params
        return 0

    cdef Combiner combiner(self, double[::1] room):
        cdef double[::1] shares = self.shares, combined = self.combined, losses = self.losses, gauge = self.gauge
        cdef double[::1] seen = self.seen, apart = self.apart
        cdef double[:, ::1] kept = self.kept, means = self.means
        cdef double[:, :, ::1] sigma = self.sigma, scatter = self.scatter
        cdef Combiner f
        f.k, f.hedges, f.r, f.limit = shares.shape[0], sigma.shape[0] == 0, self.p.r, self.p.limit
        f.forgetting, f.share = self.p.forgetting, self.share
        f.shares, f.gauge = &shares[0], &gauge[0]
        f.entropy = 8.0 * log(<double>f.k + (not f.hedges))
        f.a = &combined[0] if combined.shape[0] else f.shares
        f.sigma = &sigma[0, 0, 0] if sigma.shape[0] else NULL
        f.losses = &losses[0] if losses.shape[0] else NULL
        f.seen, f.means, f.scatter, f.apart = NULL, NULL, NULL, NULL
        if apart.shape[0]:
            f.seen, f.means, f.scatter, f.apart = &seen[0], &means[0, 0], &scatter[0, 0, 0], &apart[0]
        f.kept = &kept[0, 0] if kept.shape[0] else NULL
        f.z, f.u, f.own = &room[0], &room[f.k], &room[2 * f.k + 1]
        return f

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        if context.task == DECISION:
            return self.decide(rows, b, context.found, context.n_found)
        return self.learn_blocks(rows, b, context)

    cdef int learn_blocks(self, rows, const Batch* b, PassContext* context) except -1:
        """Let the members learn one block of rows after another, and the combiner their scores."""
        cdef Py_ssize_t start = 0, stop, j, work, columns = context.columns, k = len(self.members), budget = context.budget
        cdef Py_ssize_t most = max(1, min(b.n, MOST_OUTPUTS // (columns * k))), stride = most * columns
        cdef double[::1] outputs = np.empty(stride * k), room = np.empty(2 * k + 1 + 2 * columns)
        cdef Combiner f = self.combiner(room)
        cdef Batch block
        cdef bint learns = not self.are_seen
        context.budget = ENDLESS
        while start < b.n:
            stop = end_of_block(b, start, columns, most, &work)
            block = part(b, start, stop)
            budget = check_signals(budget, work * columns * k)
            for j in range(k):
                learn_member(self.members[j], context.task, rows, &block, &outputs[j * stride])
            with nogil:
                combine(&f, &block, context, &outputs[0], stride, &room[2 * k + 1 + columns], learns)
            start = stop
        return 0

    cdef double level_now(self) except *:
        """Return m + Σ_j a_j (m_j - m), m the committee's own level and m_j the members'."""
        cdef const double[::1] shares = self.shares
        cdef double own = Model.level_now(self), found = own
        cdef Py_ssize_t j
        cdef Model member
        for j in range(len(self.members) if self.p.level else 0):
            member = self.members[j]
            member.bind()
            found += shares[j] * (member.level_now() - own)
        return found

    cdef int decide(self, rows, const Batch* b, double* scores, Py_ssize_t k) except -1:
        """Compute scores[i, c] = Σ_j a_j s_j[i, c] of the members' scores."""
        cdef Py_ssize_t start = 0, stop, i, j, n_members = len(self.members)
        cdef Py_ssize_t most = max(1, min(b.n, MOST_OUTPUTS // (k * n_members))), stride = most * k
        cdef double[::1] outputs = np.empty(stride * n_members)
        cdef const double[::1] shares = self.shares
        cdef Batch block
        cdef PassContext reading
        cdef Model member
        block.order = NULL
        while start < b.n:
            stop = min(start + most, b.n)
            block.n = block.n_rows = stop - start
            block.indptr = b.indptr + start
            for j in range(n_members):
                member = self.members[j]
                member.bind()
                reading.task, reading.found, reading.n_found, reading.budget = DECISION, &outputs[j * stride], k, QUANTUM
                member.visit(rows, &block, &reading)
            with nogil:
                for i in range((stop - start) * k):
                    scores[start * k + i] = mixed(&shares[0], &outputs[i], stride, n_members)
            start = stop
        return 0
