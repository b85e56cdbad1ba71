"""Dual ascent (Shalev-Shwartz and Singer's tutorial) and learners of its form: the loops over rows.

A model is θ = Σ α_i Δφ_i, and the weights are ∇f*(θ): the present factor κ times the stored numbers, so that a row costs O(nnz)
however κ changes.

    f             state of a feature             the weight that predicts       κ
    Euclidean     θ                              κ θ                            1/σ
    entropic      e^-K sinh u, u = Wθ/σ          κ e^-K sinh u                  W / Z,  Z = e^-K Σ cosh u
     (unsigned)   e^(u-K)                        κ e^(u-K)                      W / Z,  Z = e^-K Σ e^u

The entropic geometry is the simplex of ../shared/simplex.pxd, signed or the probability simplex. A group shares a simplex
(entropic) or a norm: all classes, or with one against the rest each class. The numbers of a model are a `Shared` and a `Group`
for each group.

A row's scores are computed first, then σ of the round, then for each dual problem (one, or one a class) its loss and its dual
variables, which say how far θ moves along the row. Gradient descent is DA1 with σ = λt, or with steps η/√t. Hedge has a loop of
its own.
"""
from libc.math cimport INFINITY, exp, fabs, isfinite, log, log1p, sqrt

import numpy as np

from ..._compiled.model cimport Model
from ..._compiled.rounds cimport (
    DECISION, REGRESSION, Batch, PassContext, Round, add_loss, after_step, averaged, before_step, check_signals,
    count_mistake, measure, next_round, row_at, top,
)
from ..._compiled.sparse cimport Row, column, floating, index_t, larger, smaller
from ..._rows cimport Rows
from ..._rules cimport ADDITIVE, EXP, SINH, Params
from ..shared.norm cimport replace
from ..shared.powers cimport exp_all
from ..shared.simplex cimport (
    GatheredRow, Group, Simplex, Size, compute_powers, gather, masses, n_work, normaliser, root_of, round_up,
    scan_sums, start_group, step_group, terms_of,
)

from ..shared.simplex import GROUP

cdef enum:
    # In `Params`: the trigger (the loss), the rule (the update), and the schedule of σ (gradient descent: λ or η; Hedge: η).
    HINGE, LOG_LOSS, ABSOLUTE_LOSS, SQUARED_LOSS, ADVICE
    DA1 = 1, DA2, DA3
    FIXED = 0, AUTO, STRONGLY_CONVEX, SQRT
    SIZES = 8               # different |x| in a row that are treated separately

ctypedef struct Shared:     # the numbers of a model that all of its groups share
    double dual_gain        # the losses' part of the dual value: D = gain - f*(θ). Hedge: the expected loss
    double lipschitz        # the largest dual norm of a (weighted) step c W Δφ so far
    double sigma            # σ of the last round

#: The places of the numbers in a model's `shared`, and in each of its `groups`.
SHARED = {"dual_gain": 0, "lipschitz": 1, "sigma": 2, **GROUP}
LOSSES = {"hinge": HINGE, "log_loss": LOG_LOSS, "absolute": ABSOLUTE_LOSS, "squared": SQUARED_LOSS, "advice": ADVICE}
UPDATES_OF = {"DA1": DA1, "DA2": DA2, "DA3": DA3}
SCHEDULES = {"fixed": FIXED, "auto": AUTO, "strongly_convex": STRONGLY_CONVEX, "sqrt": SQRT}

cdef double STEP_OF_GRID = 1.5
cdef double HUGE = 1e150    # rows beyond it, or (σ = auto) below its inverse, are left out, so that everything below is finite
cdef double FAR = 300.0     # how far a row moves a u at most (entropic), so that masses stay numbers


ctypedef struct Ascent:     # a pass: the model's numbers, those of the row at hand, and the workspace
    Params p
    bint entropic
    bint joint              # one dual problem of several classes
    Shared* shared
    Group* groups
    Py_ssize_t n_groups, n_features
    Py_ssize_t k, width     # vectors, and numbers in the state for each feature
    double inverse          # 1/s: the row is z = x / s
    Size size               # of the row
    double weight           # c
    double most             # the largest |α|: c, or with the squared loss 2c times the error
    double margin           # γ, with what the weight of its class adds to it
    double steepness        # the dual norm of the loss's (sub)gradient, times c
    Simplex simplex         # of the group at hand
    GatheredRow row
    Py_ssize_t* sizes       # of the row's |x|, by number
    double loss             # of the row in that group
    double gain             # what a unit of α adds to the dual beside f*, along the loss's (sub)gradient
    double dual_gain        # the step's part of the dual value without f*
    # Numbers for each vector:
    double* sums            # Σ x_i (the stored number of feature i)
    double* scores
    double* averages        # the average's scores
    double* alpha           # dual variables; log loss: the classes' shares of c
    double* direction       # log loss: the softmax of the scores, then the change of the shares along a line
    double* work            # three
    # A line in the dual, and then the step: θ_c += s d_c x for the n_moves vectors in `moves`. Entropic: the masses up and down
    # of the row's n_masses features in each of these (one for all features of ±h: P and N of the closed form), and the rest of Z.
    Py_ssize_t n_moves
    Py_ssize_t* moves
    double* d
    Py_ssize_t n_masses
    double* up
    double* down
    double* h
    double* powers          # workspace of two rows
    double rest
    double start, slope     # log loss, Euclidean: the derivative of f* is start + s slope


include "line_search.pxi"


# --- a row and the model -------------------------------------------------------------------------------------------------------

cdef inline Group* group_of(const Ascent* a, Py_ssize_t c) noexcept nogil:
    return &a.groups[c if a.n_groups > 1 else 0]


cdef inline double kappa_of(const Ascent* a, Py_ssize_t c, double t) noexcept nogil:
    """Return κ of a vector after t rounds."""
    if a.entropic:
        return a.p.norm_bound / normaliser(group_of(a, c))
    if a.p.schedule == SQRT:
        return 1.0
    if a.p.schedule == STRONGLY_CONVEX:
        return 1.0 / (a.p.sigma * t) if t > 0.0 else 0.0
    return 1.0 / max(a.shared.sigma, <double>1e-290) if a.shared.sigma > 0.0 else 0.0     # (a sum of them stays finite)


cdef inline void compute_scores(Ascent* a, double t) noexcept nogil:
    """Compute the scores by κ after t rounds."""
    cdef Py_ssize_t c
    for c in range(a.k):
        a.scores[c] = kappa_of(a, c, t) * a.sums[c]


cdef inline void scan_row(Ascent* a, const floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                          Row row) noexcept nogil:
    """Compute the sums and the size of the row z = x / s."""
    cdef Py_ssize_t c
    a.size = scan_sums(state, a.width, a.k, data, indices, row, a.p.bias, a.sums)
    a.size = Size(a.size.q * (a.inverse * a.inverse), a.size.largest * a.inverse)
    for c in range(a.k):
        a.sums[c] *= a.inverse


cdef inline void score_row(Ascent* a, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                           double t, double rounds) noexcept nogil:
    """Compute a row's scores after t rounds, and those by the average over these rounds; 0: there is none."""
    cdef Py_ssize_t c, j, at
    cdef double lag
    scan_row(a, state, data, indices, row)
    compute_scores(a, t)
    for c in range(a.k):
        a.averages[c] = a.scores[c]
        if rounds > 0.0:
            lag = group_of(a, c).ages * a.sums[c]
            for j in range(row.lo, row.hi + 1):
                at = a.k * (column(indices, j, row.lo) if j < row.hi else a.n_features) + c
                lag -= (data[j] if j < row.hi else a.p.bias) * a.inverse * a.simplex.correction[at]
            a.averages[c] = lag / rounds


cdef inline void select_group(Ascent* a, Py_ssize_t g) noexcept nogil:
    """Make the group of vector g, or of all, the one at hand."""
    a.simplex.group = group_of(a, g)
    a.simplex.first = g if a.n_groups > 1 else 0
    a.simplex.last = g + 1 if a.n_groups > 1 else a.k


cdef inline void start_unknown(floating[::1] state, Ascent* a) noexcept nogil:
    """Compute the simplexes that are not known yet, and all their powers."""
    cdef Py_ssize_t g
    for g in range(a.n_groups if a.entropic else 0):
        select_group(a, g)
        if a.simplex.group.high == 0.0:
            start_group(state, &a.simplex)


cdef inline double sigma_of(const Ascent* a, double t) noexcept nogil:
    """Return σ of round t, by the largest step so far."""
    cdef double entries = (2.0 if a.simplex.is_signed else 1.0) * a.simplex.n * (a.k if a.n_groups == 1 else 1)
    if a.p.schedule != AUTO:
        return a.p.sigma
    if a.entropic:
        return a.shared.lipschitz * sqrt(t / log(larger(entries, <double>2.0)))
    return sqrt(2.0 * t) * a.shared.lipschitz / a.p.norm_bound


cdef inline void prepare(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Round* r,
                         PassContext* context) noexcept nogil:
    """Choose σ of this round, and compute the scores with it and the numbers that steps of this row need.

    Entropic with σ = L √(t / log n): every weight changes with σ, so σ keeps its last value until the formula gives a half more;
    then all powers are computed anew.
    """
    cdef Py_ssize_t g
    cdef double wanted, old = a.shared.sigma, t = context.counters.rounds
    a.shared.lipschitz = larger(a.shared.lipschitz, a.steepness)
    wanted = sigma_of(a, t)
    if a.entropic and a.p.schedule == AUTO and not (wanted > old * STEP_OF_GRID and isfinite(wanted)):
        wanted = old
    a.shared.sigma = wanted
    if a.entropic and wanted != old > 0.0:
        for g in range(a.n_groups):
            select_group(a, g)
            compute_powers(state, &a.simplex, old / wanted)
        context.budget -= a.simplex.n * a.k       # (signals are handled at the end of the row)
        scan_row(a, state, data, indices, r.row)
    if wanted != old:
        compute_scores(a, t - 1.0)
    a.most = a.weight if a.p.trigger != SQUARED_LOSS else 2.0 * a.weight * fabs(r.target - a.scores[0])
    if a.entropic:
        a.simplex.rate = a.p.norm_bound / wanted
        if a.most * a.simplex.rate * a.size.largest > FAR:
            a.most = FAR / (a.simplex.rate * a.size.largest)
        gather(&a.row, a.k, data, indices, r.row, a.p.bias, a.inverse, 2 * a.k * a.n_features)


# --- steps ---------------------------------------------------------------------------------------------------------------------

cdef inline bint take_step(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                           PassContext* context) noexcept nogil:
    """Take the present group's step; return False if a weight (κ θ, κ = 1/σ) might leave the dtype's range."""
    cdef Py_ssize_t i, j, at
    cdef double bound = 0.0, d, before
    if a.entropic:
        step_group(state, &a.simplex, &a.row, a.moves, a.d, a.n_moves)
        return True
    for i in range(a.n_moves):
        if a.p.schedule == SQRT:
            a.d[i] *= a.p.sigma / sqrt(context.counters.rounds)
        bound = larger(bound, fabs(a.d[i]) * a.size.largest)
    bound += context.counters.max_abs_weight
    if not bound <= (a.p.limit if a.p.schedule == SQRT else a.p.limit * smaller(a.shared.sigma, <double>1.0)):
        return False
    context.counters.max_abs_weight = bound
    for i in range(a.n_moves):
        d = a.d[i] * a.inverse
        for j in range(row.lo, row.hi + 1):
            at = a.k * (column(indices, j, row.lo) if j < row.hi else a.n_features) + a.moves[i]
            before = state[at]
            state[at] += <floating>(d * (data[j] if j < row.hi else a.p.bias))
            if a.simplex.correction != NULL:
                a.simplex.correction[at] += a.simplex.group.ages * (state[at] - before)
    return True


# --- the masses along a line ---------------------------------------------------------------------------------------------------

cdef inline Py_ssize_t number_sizes(Ascent* a, floating* met) noexcept nogil:
    """Number the sizes |x| of a row in order of appearance, and return how many there are; 0 if more than SIZES."""
    cdef Py_ssize_t j, s, n = 0
    cdef const floating* x = <const floating*>a.row.x
    for j in range(a.row.n):
        s = 0
        while s < n and met[s] != fabs(x[j]):
            s += 1
        if s == SIZES:
            return 0
        if s == n:
            met[n], n = <floating>fabs(x[j]), n + 1
        a.sizes[j] = s
    return n


cdef double sum_of_others(const Ascent* a, const floating[::1] state, double unit) noexcept nogil:
    """Return Σ e^(±u - unit) over what a step along the line leaves as it is, from u: O(features)."""
    cdef Py_ssize_t i, j, c, met = 0
    cdef bint moves
    cdef double u, total = 0.0
    for j in range(a.simplex.n):
        met += met < a.row.n and a.row.places[met] < 2 * a.k * j
        for c in range(a.simplex.first, a.simplex.last):
            moves = False
            for i in range(a.n_moves if met < a.row.n and a.row.places[met] == 2 * a.k * j else 0):
                moves |= a.moves[i] == c
            u = state[2 * a.k * j + a.k + c]
            if not moves:
                total += exp(u - unit) + (exp(-u - unit) if a.simplex.is_signed else 0.0)
    return total


cdef void lay_out(Ascent* a, const floating[::1] state) noexcept nogil:
    """Compute the masses e^(±u - K) of the row's features in the classes that move, and the rest of Z: one mass for all features
    of equal |x| (the P and N of the closed form) if x has few sizes, as counts do; else one for each feature.

    Z less the row's terms is exact but for 10^-24 of its largest. The stored powers of masses far below the others are not: where
    a step might raise those beside them, the masses are computed from u.
    """
    cdef Py_ssize_t i, j, s, n_met, m = a.row.n, full = round_up(a.row.n), n_sizes
    cdef const floating* x = <const floating*>a.row.x
    cdef floating* sinh = <floating*>a.row.x + a.row.capacity
    cdef floating* zeros = sinh + a.row.capacity
    cdef floating[SIZES] met
    cdef Group group = a.simplex.group[0]
    cdef double* up
    cdef double* down
    cdef double rise, fall, root = root_of(<floating>group.shift), part = 0.0, z = normaliser(&group)
    cdef double reach = a.most * a.simplex.rate * a.size.largest
    cdef double unit = (log(2.0) if a.simplex.is_signed else 0.0) + group.shift
    cdef bint anew = group.shift > 300.0 or (reach > 12.0 and 2.0 * reach > 65.0 + log(z)), exact
    n_sizes = number_sizes(a, met)
    a.n_masses = n_sizes if n_sizes else m
    exact = reach > 12.0 or a.n_masses > 32     # (else a plain sum is good for what is left of Z; of few numbers it is faster)
    for j in range(a.n_masses):
        a.h[j] = a.simplex.rate * (met[j] if n_sizes else x[j])
    for j in range(full if exact else 0):
        zeros[j] = 0.0
    for i in range(a.n_moves):
        up, down = a.up + a.moves[i] * a.row.capacity, a.down + a.moves[i] * a.row.capacity
        for j in range(full):
            sinh[j] = state[a.row.places[j] + a.moves[i]] if j < m else 0.0
        if anew:
            for j in range(m):
                up[j] = state[a.row.places[j] + a.k + a.moves[i]] - unit
                down[j] = -up[j] - 2.0 * unit if a.simplex.is_signed else -INFINITY
            exp_all(up, m)
            exp_all(down, m)
        elif a.simplex.is_signed:
            masses(sizeof(floating), sinh, up, down, root, full)
        else:
            for j in range(m):
                up[j], down[j] = sinh[j], 0.0
        if exact:
            terms_of(sinh, &a.simplex, <floating>root, full)
            for j in range(m, full):
                sinh[j] = 0.0
            replace(&group.high, &group.low, sinh, zeros, full)
        n_met = 0               # (size s first appears at feature s or later: its sums overwrite numbers that have been read)
        for j in range(m if n_sizes else 0):
            s = a.sizes[j]
            rise = up[j] if x[j] > 0.0 else down[j]
            fall = down[j] if x[j] > 0.0 else up[j]
            if s == n_met:
                up[s], down[s], n_met = rise, fall, n_met + 1
            else:
                up[s] += rise
                down[s] += fall
        for j in range(0 if exact else a.n_masses):
            part += up[j] + down[j]
    a.rest = larger(normaliser(&group) - part, <double>0.0)
    if a.rest <= 1e-24 * group.peak and z * exp(-reach) <= 1e-10 * group.peak:
        a.rest = sum_of_others(a, state, unit)


# --- dual variables ------------------------------------------------------------------------------------------------------------

cdef inline bint waits(Py_ssize_t c, const PassContext* context) noexcept nogil:
    """Return True if class c has not joined yet."""
    return c < context.n_classes and context.open_classes and context.counts[c] == 0.0


cdef void find_loss(Ascent* a, Py_ssize_t g, const Round* r, const PassContext* context) noexcept nogil:
    """Compute the row's loss in group g, of which its label or target asks something (squared loss: the error), and the line of
    the loss's (sub)gradient; of the softmax, the probabilities."""
    cdef Py_ssize_t rival
    cdef double m, sign = 1.0 if (g == r.label if a.k > 1 else r.label == 1) else -1.0
    select_group(a, g)
    a.loss, a.dual_gain, a.gain = 0.0, 0.0, a.margin
    if context.task == REGRESSION:          # one α: of c |y - s| the dual gets α y, of c (y - s)² α y - α²/(4c)
        sign = 1.0 if r.target - a.scores[0] > 0.0 else -1.0
        a.gain = sign * r.target
    if not a.joint:
        m = sign * a.scores[g]
        a.n_moves, a.moves[0], a.d[0] = 1, g, sign
        if context.task == REGRESSION or not waits(g, context):
            a.loss = a.gain - m if a.p.trigger != LOG_LOSS else log1p(exp(-m)) if m > -30.0 else -m
    elif a.p.trigger == LOG_LOSS:
        a.loss = log_sum(a.scores, a.k, a.direction) - a.scores[r.label]
    else:
        rival = top(a.scores, context, r.label)
        if rival >= 0:                      # (learning always leaves a rival, but a file might not)
            a.loss = a.margin - (a.scores[r.label] - a.scores[rival])
            a.n_moves, a.moves[0], a.moves[1], a.d[0], a.d[1] = 2, r.label, rival, 1.0, -1.0


cdef inline void find_step(Ascent* a, const floating[::1] state, Py_ssize_t label, const PassContext* context) noexcept nogil:
    """Find the step of the group at hand."""
    if not a.loss > 0.0:
        a.n_moves = 0
    elif a.p.trigger == LOG_LOSS and a.joint:
        softmax_step(a, state, label)
    elif a.p.trigger == LOG_LOSS:
        logistic_step(a, state)
    elif a.joint and a.p.rule == DA3 and (a.entropic or a.size.q / a.shared.sigma * a.weight > 1e-300):
        best_step(a, state, label, context)
    else:
        straight_step(a, state)


cdef void straight_step(Ascent* a, const floating[::1] state) noexcept nogil:
    """Find α in [0, most], DA1's or DA2's, of a step α d along which the dual gets α gain - ridge α²/2."""
    cdef Py_ssize_t i
    # (Half of a weight's inverse is infinite for the least weights, whose α² is 0.)
    cdef double alpha = a.most, ridge = smaller(0.5 / a.weight, 1e308) if a.p.trigger == SQUARED_LOSS else 0.0
    cdef double reach = a.simplex.rate * a.size.largest     # entropic: f*'' <= σ reach²
    if a.p.rule != DA1 and not a.entropic:
        alpha = smaller(a.loss / (ridge + a.n_moves * (a.size.q / a.shared.sigma)), alpha)
    elif a.p.rule != DA1 and (ridge > 0.0 or a.loss < a.most * a.shared.sigma * reach * reach):     # (else all of it is best)
        lay_out(a, state)
        alpha = climb(a, alpha, a.gain, ridge, 0, 0.0)
    for i in range(a.n_moves):
        a.d[i] *= alpha
    a.dual_gain = alpha * a.gain - 0.5 * ridge * alpha * alpha
    a.n_moves = a.n_moves if alpha != 0.0 else 0


cdef void logistic_step(Ascent* a, const floating[::1] state) noexcept nogil:
    """Find α of the step α d of one vector, along which the loss is log(1 + e^-m)."""
    cdef double c = a.most, sign = a.d[0], margin = sign * a.scores[a.moves[0]], s
    cdef double alpha = c / (1.0 + exp(margin)) if margin < 700.0 else 0.0
    if a.p.rule != DA1 and a.entropic:
        lay_out(a, state)
        a.d[0] = sign * c                   # (s is the share α/c)
        a.alpha[0], a.alpha[1], a.direction[0], a.direction[1] = 0.0, 1.0, 1.0, -1.0
        alpha = c * climb(a, 1.0, 0.0, 0.0, 2, alpha / c)
    elif a.p.rule != DA1:
        alpha = c * squash(margin, c * (a.size.q / a.shared.sigma))
    s = alpha / c
    if s > 0.0:
        a.dual_gain = -c * s * log(s) - (c * (1.0 - s) * log1p(-s) if s < 1.0 else 0.0)
    a.d[0] = sign * alpha
    a.n_moves = alpha != 0.0


cdef void best_step(Ascent* a, const floating[::1] state, Py_ssize_t label, const PassContext* context) noexcept nogil:
    """Find DA3's α_r for the wrong classes that have joined, hinge loss: θ_r -= α_r x, and θ_label += Σ α x."""
    cdef Py_ssize_t r
    cdef double q = a.size.q / a.shared.sigma, value = 0.0
    for r in range(a.k):
        a.moves[r], a.alpha[r], a.work[r] = r, 0.0, 0.0
        if r != label and not waits(r, context):
            a.work[r] = (a.margin - a.scores[label] + a.scores[r]) / q
    if a.entropic:
        a.n_moves, a.alpha[label] = a.k, a.most
        lay_out(a, state)
        ascend_pairwise(a, label)
    else:
        share_out(a.work, a.k, a.most, a.alpha, a.work + a.k)
    a.n_moves = 1
    for r in range(a.k):
        if a.alpha[r] != 0.0 and r != label:
            a.moves[a.n_moves], a.d[a.n_moves] = r, -a.alpha[r]
            a.n_moves += 1
            value += a.alpha[r]
    a.moves[0], a.d[0] = label, value
    a.dual_gain = a.margin * value
    a.n_moves = a.n_moves if value > 0.0 else 0


cdef void softmax_step(Ascent* a, const floating[::1] state, Py_ssize_t label) noexcept nogil:
    """Find the classes' shares a of c, log loss: θ_r -= c a_r x, and θ_label += c (1 - a_label) x.

    The search begins on the line from e_y, the label's unit vector, to the softmax p of the scores: a = e_y + s (p - e_y).
    """
    cdef Py_ssize_t r
    cdef double c = a.most, q = a.size.q / a.shared.sigma, total = 0.0, s = 1.0
    for r in range(a.k):
        total += a.direction[r] if r != label else 0.0
    a.direction[label] = -total
    a.start, a.slope, a.n_moves = 0.0, 0.0, a.k if total > 0.0 else 0
    for r in range(a.n_moves):
        a.moves[r], a.alpha[r], a.d[r] = r, r == label, -c * a.direction[r]
        a.start += a.d[r] * a.scores[r]
        a.slope += a.d[r] * a.d[r] * q
    if a.n_moves == 0:
        return
    if a.entropic and a.p.rule != DA1:
        lay_out(a, state)
    if a.p.rule == DA2 or (a.p.rule == DA3 and a.entropic):
        s = climb(a, 1.0 / total, 0.0, 0.0, a.k, 1.0)
    for r in range(a.k):
        a.alpha[r] += s * a.direction[r]
    a.alpha[label] = larger(a.alpha[label], <double>0.0)
    if a.p.rule == DA3 and a.entropic:
        follow(a, s)
        interior(a)
    elif a.p.rule == DA3:
        balance(a.scores, a.k, label, c * q, a.alpha)
    total = 0.0
    for r in range(a.k):
        a.d[r] = -c * a.alpha[r]
        total += c * a.alpha[r] if r != label else 0.0
        a.dual_gain -= a.alpha[r] * log(a.alpha[r]) if a.alpha[r] > 0.0 else 0.0
    a.dual_gain *= c
    a.d[label] = total


# --- a pass --------------------------------------------------------------------------------------------------------------------

cdef int learn_all(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                   PassContext* context) except -1 nogil:
    """Learn rows: one vector for targets or two classes, else one a class."""
    cdef Py_ssize_t c, g
    cdef bint fine, updated
    cdef double size, slope, t, paid
    cdef Round r
    while next_round(&r, b, context):
        t = context.counters.rounds
        score_row(a, state, data, indices, r.row, t - 1.0, averaged(context))
        before_step(context.task, a.averages, NULL, &r, b, context)
        if measure(data, &r, context, &a.p.bias):
            a.inverse = context.inverse
            score_row(a, state, data, indices, r.row, t - 1.0, averaged(context))
        a.weight, a.margin = r.weight, a.p.margin + r.shift
        slope = 2.0 * a.weight * fabs(r.target - a.scores[0]) if a.p.trigger == SQUARED_LOSS else a.weight
        a.steepness = slope * (
            a.p.norm_bound * a.size.largest if a.entropic else sqrt(a.size.q * (2.0 if a.joint else 1.0)))
        size = fabs(r.target)
        for c in range(a.k):
            size += fabs(a.scores[c])
        fine = (a.size.q <= HUGE and a.size.largest <= a.p.limit and slope <= HUGE and size <= HUGE and a.steepness <= HUGE
                and a.weight * max(a.margin, size * size) <= 1e280
                and (a.p.schedule != AUTO or a.steepness >= 1.0 / HUGE or slope == 0.0 or a.size.largest == 0.0)
                and (not a.entropic or a.p.schedule == AUTO or a.p.norm_bound * a.size.largest <= HUGE * a.p.sigma))
        updated = False
        context.counters.skipped += not fine and a.size.largest != 0.0      # (something might overflow)
        if fine and a.size.largest != 0.0:
            prepare(a, state, data, indices, &r, context)
        for g in range(0 if not fine else 1 if a.joint else a.k):
            find_loss(a, g, &r, context)
            paid = a.weight * (a.loss * a.loss if a.p.trigger == SQUARED_LOSS else a.loss)
            if a.size.largest == 0.0:       # a row of zeros: no weights reduce its loss, no step changes anything
                a.shared.dual_gain += paid
                continue
            find_step(a, state, r.label, context)
            add_loss(paid, context)
            if a.n_moves > 0 and take_step(a, state, data, indices, r.row, context):
                a.shared.dual_gain += a.dual_gain
                updated = True
            else:
                context.counters.skipped += a.n_moves > 0
        after_step(&r, updated, context)
        for g in range(a.n_groups if a.simplex.correction != NULL and t > context.average_from else 0):
            a.groups[g].ages += kappa_of(a, g, t)
    return 0


# --- Hedge ---------------------------------------------------------------------------------------------------------------------

cdef inline void weigh_experts(const floating[::1] theta, double t, double[::1] w, const Params* p) noexcept nogil:
    """Compute the weights of round t, w_j = exp(η θ_j) / Σ exp(η θ), all anew."""
    cdef Py_ssize_t j, n = w.shape[0]
    cdef double rate = sqrt(8.0 * log(<double>n) / t) if p.schedule == AUTO else p.sigma, most = theta[0], total = 0.0
    for j in range(n):
        most = larger(most, <double>theta[j])
    for j in range(n):
        w[j] = exp(rate * (theta[j] - most))
        total += w[j]
    for j in range(n):
        w[j] /= total


cdef inline double chance(const double[::1] w, const floating[::1] data, const index_t[::1] indices, Row row) noexcept nogil:
    """Return w.x of advice in [0, 1]."""
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(row.lo, row.hi):
        total += data[j] * w[column(indices, j, row.lo)]
    return total


cdef int learn_experts(double[::1] w, Shared* shared, floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                       const Batch* b, PassContext* context, const Params* p) except -1 nogil:
    """Learn rows of experts' advice: θ_j is an expert's right advice less its wrong advice. O(experts) a row.

    The expected loss of the randomised prediction is summed, weighted in counters.loss and unweighted in shared.dual_gain.
    w : workspace for the weights. Advice x in [-1, 1] is the chance (1 + x)/2: only x/2 counts, as 1/2 is common to all.
    """
    cdef Py_ssize_t j
    cdef bint moved
    cdef double score, loss, half = 0.5 if p.geometry == SINH else 0.0, share = 1.0 - half
    cdef Round r
    while next_round(&r, b, context):
        context.budget -= 4 * w.shape[0]
        weigh_experts(state, context.counters.rounds, w, p)
        score = share * chance(w, data, indices, r.row) + half
        count_mistake(1 - r.label if r.newcomer else score > 0.5, &r, b, context)
        loss = 1.0 - score if r.label else score
        shared.dual_gain += loss
        add_loss(r.weight * loss, context)
        if context.counters.max_abs_weight + r.weight > p.limit:
            context.counters.skipped += 1.0
            continue
        context.counters.max_abs_weight += r.weight
        moved = False       # (dense rows may be all zeros)
        for j in range(r.row.lo, r.row.hi):
            state[column(indices, j, r.row.lo)] += <floating>((share if r.label else -share) * r.weight * data[j])
            moved |= data[j] != 0.0
        after_step(&r, moved, context)
    return 0


# --- a model -------------------------------------------------------------------------------------------------------------------

cdef class AscentModel(Model):
    """A model of dual ascent, or of Hedge. `shared` and `groups`, arrays of float64: a `Shared`, and a `Group` a row; entropic:
    high = 0: not known yet."""
    cdef public object shared, groups

    cdef int open(self, Ascent* a, Py_ssize_t size) except -1:
        """Set the parameters, and pointers to the numbers of the model, whose state has this size."""
        cdef const double[::1] shared = self.shared
        cdef const double[:, ::1] groups = self.groups
        self.bind()
        a.p, a.k = self.p, self.n_columns
        a.entropic, a.joint = a.p.geometry != ADDITIVE and a.p.trigger != ADVICE, a.p.joint and a.k > 1
        a.width = 2 * a.k if a.entropic else a.k
        a.n_features = size // a.width - 1
        a.shared, a.groups, a.n_groups = <Shared*>&shared[0], <Group*>&groups[0, 0], groups.shape[0]
        a.simplex.is_signed, a.simplex.k, a.simplex.n = a.p.geometry != EXP, a.k, a.n_features + (a.p.constant != 0.0)
        a.simplex.rate, a.simplex.counts, a.simplex.correction = 1.0, NULL, NULL
        return 0

    cdef int visit(self, Rows rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)

    def factors(self):
        """Return κ of each vector, the factor of the stored numbers, and σ of a model with these counters and longest step."""
        cdef const double[::1] counters = self.counters
        cdef Ascent a
        self.open(&a, len(self.values))
        return np.array([kappa_of(&a, c, counters[0]) for c in range(a.k)]), sigma_of(&a, counters[0])

    def expert_weights(self, const floating[::1] theta):
        """Return w of the next round (Hedge). theta : the values."""
        cdef double[::1] w = np.empty(theta.shape[0] - 1)
        self.bind()
        weigh_experts(theta, <double>self.counters[0] + 1.0, w, &self.p)
        return np.asarray(w)

    def start(self, floating[::1] state):
        """Compute the simplexes that are not known yet, and all their powers. state : the values."""
        cdef Ascent a
        self.open(&a, state.shape[0])
        start_unknown(state, &a)


cdef int visit_rows(AscentModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    """Learn, or compute found[i, c] = w_c.x_i of the model, or of its average if there is one."""
    cdef bint reads = context.task == DECISION
    cdef AscentModel known
    cdef const floating[::1] shown
    cdef const double[::1] correction
    cdef floating[::1] state, entries
    cdef double[::1] numbers
    cdef Py_ssize_t[::1] places
    cdef Py_ssize_t i, n, m, longest = 0
    cdef double rounds = 0.0
    cdef double* at
    cdef Ascent a
    cdef Row row
    if reads:                       # (never a write)
        known = self.known()
        shown, correction = known.values, known.correction
        known.open(&a, shown.shape[0])
    else:
        state = self.values
        self.open(&a, state.shape[0])
        if a.entropic and a.n_groups != (1 if a.joint else a.k):
            self.groups = np.zeros((1 if a.joint else a.k, len(GROUP)))
            self.open(&a, state.shape[0])
    a.inverse, a.p.bias = context.inverse, context.bias
    if a.p.trigger == ADVICE:
        numbers = np.empty(a.n_features)
    else:
        for i in range(0 if reads else b.n_rows):
            longest = max(longest, b.indptr[i + 1] - b.indptr[i])
        n, m = a.k + 1, round_up(longest + 1)
        numbers = np.empty(3 * n) if reads else np.zeros(9 * n + (3 + (2 * a.k if a.entropic else 0)) * m)
        at = &numbers[0]
        a.sums, a.scores, a.averages, a.alpha, a.direction = at, at + n, at + 2 * n, at + 3 * n, at + 4 * n
        a.d, a.work, at = at + 5 * n, at + 6 * n, at + 9 * n
        a.h, a.powers, a.up, a.down = at, at + m, at + 3 * m, at + (3 + a.k) * m
    if reads:
        if correction.shape[0]:
            a.simplex.correction, rounds = <double*>&correction[0], context.counters.rounds - a.p.average_from
        with nogil:
            if a.p.trigger == ADVICE:
                weigh_experts(shown, context.counters.rounds + 1.0, numbers, &a.p)
            for i in range(b.n):
                row = row_at(b, i)
                context.budget = check_signals(context.budget, (row.hi - row.lo + 8) * a.k)
                if a.p.trigger == ADVICE:
                    context.found[i] = chance(numbers, data, indices, row) - (0.0 if a.simplex.is_signed else 0.5)
                else:
                    a.averages = &context.found[i * a.k]
                    score_row(&a, shown, data, indices, row, context.counters.rounds, rounds)
        return 0
    if a.p.trigger == ADVICE:
        with nogil:
            return learn_experts(numbers, a.shared, state, data, indices, b, context, &a.p)
    places = np.zeros(n + 2 * m, np.intp)
    entries = np.empty(n_work(a.k) * m if a.entropic else 1, np.float32 if floating is float else np.float64)
    a.moves, a.sizes, a.row.places, a.row.x, a.row.capacity = &places[0], &places[n], &places[n + m], &entries[0], m
    with nogil:
        start_unknown(state, &a)
        a.simplex.correction = context.correction
        return learn_all(&a, state, data, indices, b, context)


include "../../_compiled/visit.pxi"
