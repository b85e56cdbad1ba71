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

A row's scores are computed first, then σ of the round, then for each dual problem (one, or one a class) its dual variables, which
say how far θ moves along the row. Gradient descent is DA1 with σ = λt, or with steps η/√t. Hedge has a loop of its own.
"""
from libc.math cimport INFINITY, exp, fabs, isfinite, log, log1p, sqrt

import numpy as np

from ..._compiled.model cimport Model
from ..._rules cimport ADDITIVE, EXP, SINH, Params
from ..shared.powers cimport exp_all, with_sign
from ..._compiled.rounds cimport (
    DECISION, REGRESSION, Batch, PassContext, Round, add_loss, after_step, averaged, before_step, check_signals,
    count_mistake, measure, next_round, row_at, top,
)
from ..shared.simplex cimport (
    GatheredRow, Group, Simplex, Size, add_changes, compute_powers, gather, masses_of, n_work, normaliser, root_of, round_up,
    scan_sums, start_group, step_group, terms_of,
)
from ..shared.simplex import GROUP
from ..._compiled.sparse cimport Row, column, floating, index_t, larger

include "line_search.pxi"

cdef enum:
    # In `Params`: the trigger (the loss), the rule (the update), and the schedule of σ (gradient descent: λ or η; Hedge: η).
    HINGE, LOG_LOSS, ABSOLUTE_LOSS, SQUARED_LOSS, ADVICE
    DA1 = 1, DA2 = 2, DA3 = 3
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


ctypedef struct Ascent:     # a pass: the model's numbers, those of the row at hand, and the workspace
    Params p
    bint entropic
    bint is_signed          # entropic: EG±, else the probability simplex
    Shared* shared
    Group* groups
    double* correction      # see rounds.pxd; NULL: no average
    Py_ssize_t k            # vectors
    Py_ssize_t width        # numbers in the state for each feature
    Py_ssize_t n_features
    Py_ssize_t n_groups
    bint joint              # one dual problem of several classes
    double inverse          # 1/s: the row is z = x / s
    Size size               # of the row
    double weight           # c
    double margin           # γ, with what the weight of its class adds to it
    double steepness        # the dual norm of the loss's (sub)gradient, times c
    double loss             # of the row in the group at hand
    double dual_gain        # its step's part of the dual value without f*
    Py_ssize_t n_moves      # vectors that the step moves, by their numbers in `moves`:
    double* d               # θ_c += d_c x
    Py_ssize_t* moves
    Simplex simplex         # of the group at hand
    GatheredRow row
    Py_ssize_t* sizes       # of the row's |x|, by number
    Line line
    # A number for each vector:
    double* sums            # Σ x_i (the stored number of feature i)
    double* kappa
    double* scores
    double* averages        # the average's scores
    double* alpha           # dual variables; log loss: the classes' shares of c
    double* chances         # the softmax of the scores
    double* direction       # log loss: the change of the shares along a line
    double* work            # three
    Py_ssize_t* every       # 0, 1, ..


# --- a row and the model -------------------------------------------------------------------------------------------------------

cdef inline double kappa_of(const Ascent* a, const Group* group, double t) noexcept nogil:
    """Return κ after t rounds."""
    if a.entropic:
        return a.p.norm_bound / normaliser(group)
    if a.p.schedule == SQRT:
        return 1.0
    if a.p.schedule == STRONGLY_CONVEX:
        return 1.0 / (a.p.sigma * t) if t > 0.0 else 0.0
    return 1.0 / max(a.shared.sigma, <double>1e-290) if a.shared.sigma > 0.0 else 0.0     # (a sum of them stays finite)


cdef inline Group* group_of(const Ascent* a, Py_ssize_t c) noexcept nogil:
    return &a.groups[c if a.n_groups > 1 else 0]


cdef inline void compute_kappa(Ascent* a, double t) noexcept nogil:
    cdef Py_ssize_t c
    for c in range(a.k):
        a.kappa[c] = kappa_of(a, group_of(a, c), t)


cdef inline void scan_row(Ascent* a, const floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                          Row row) noexcept nogil:
    """Compute the sums and the size of the row z = x / s, and its scores by the present κ."""
    cdef Py_ssize_t c
    a.size = scan_sums(state, a.width, a.k, data, indices, row, a.p.bias, a.sums)
    a.size = Size(a.size.q * (a.inverse * a.inverse), a.size.largest * a.inverse)
    for c in range(a.k):
        a.sums[c] *= a.inverse
        a.scores[c] = a.kappa[c] * a.sums[c]


cdef inline void score_row(Ascent* a, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                           double rounds, double* averages) noexcept nogil:
    """Compute a row's scores, and those by the average over these rounds; 0: there is none."""
    cdef Py_ssize_t c, j
    cdef double lag
    scan_row(a, state, data, indices, row)
    for c in range(a.k):
        averages[c] = a.scores[c]
        if rounds > 0.0:
            lag = group_of(a, c).ages * a.sums[c]
            for j in range(row.lo, row.hi):
                lag -= data[j] * a.inverse * a.correction[a.k * column(indices, j, row.lo) + c]
            averages[c] = (lag - a.p.bias * a.inverse * a.correction[a.k * a.n_features + c]) / rounds


cdef inline void select_group(Ascent* a, Py_ssize_t g) noexcept nogil:
    """Make g the group at hand."""
    a.simplex.group = &a.groups[g]
    a.simplex.first = g if a.n_groups > 1 else 0
    a.simplex.last = g + 1 if a.n_groups > 1 else a.k
    a.loss, a.dual_gain, a.n_moves = 0.0, 0.0, 0


cdef inline void prepare(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                         PassContext* context) noexcept nogil:
    """Choose σ of this round, and compute the scores with it and the numbers that steps of this row need.

    Entropic with σ = L √(t / log n): every weight changes with σ, so σ keeps its last value until the formula gives a half more;
    then all powers are computed anew.
    """
    cdef Py_ssize_t c, g
    cdef double wanted = a.p.sigma, old = a.shared.sigma, t = context.counters.rounds, entries = 2.0 if a.is_signed else 1.0
    if a.p.schedule == AUTO:
        a.shared.lipschitz = larger(a.shared.lipschitz, a.steepness)
        if a.entropic:
            entries *= a.simplex.n * (a.k if a.n_groups == 1 else 1)
            wanted = a.shared.lipschitz * sqrt(t / log(larger(entries, <double>2.0)))
            wanted = wanted if wanted > old * STEP_OF_GRID and isfinite(wanted) else old
        else:
            wanted = sqrt(2.0 * t) * a.shared.lipschitz / a.p.norm_bound
    a.shared.sigma = a.line.sigma = wanted
    if a.p.schedule == AUTO:
        if a.entropic and wanted != old > 0.0:
            for g in range(a.n_groups):
                select_group(a, g)
                compute_powers(state, &a.simplex, old / wanted)
            context.budget -= a.simplex.n * a.k       # (signals are handled at the end of the row)
            scan_row(a, state, data, indices, row)
        compute_kappa(a, t - 1.0)
        for c in range(a.k):
            a.scores[c] = a.kappa[c] * a.sums[c]
    if a.entropic:
        a.simplex.rate = a.p.norm_bound / wanted
        gather(&a.row, a.k, data, indices, row, a.p.bias, a.inverse, 2 * a.k * a.n_features)


# --- steps ---------------------------------------------------------------------------------------------------------------------

cdef inline void move(floating[::1] state, const Ascent* a, Py_ssize_t at, floating change) noexcept nogil:
    """Move a θ (Euclidean), and the average's sum."""
    cdef double before = state[at]
    state[at] += change
    if a.correction != NULL:
        a.correction[at] += a.simplex.group.ages * (state[at] - before)


cdef inline bint take_step(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                           double t) noexcept nogil:
    """Take the present group's step in round t; return False if a weight (κ θ, κ = 1/σ) would leave the dtype's range."""
    cdef Py_ssize_t i, j, c
    cdef double squares = 0.0, d, limit = a.p.limit
    for i in range(a.n_moves):
        if a.p.schedule == SQRT:
            a.d[i] *= a.p.sigma / sqrt(t)
        squares += a.d[i] * (2.0 * a.sums[a.moves[i]] + a.d[i] * a.size.q)
    if a.entropic:
        return step_group(state, &a.simplex, &a.row, a.moves, a.d, a.n_moves)
    if a.p.schedule != SQRT and a.shared.sigma < 1.0:
        limit *= a.shared.sigma
    squares += a.simplex.group.squares
    if not squares <= limit * limit:
        return False
    for i in range(a.n_moves):
        c, d = a.moves[i], a.d[i] * a.inverse
        for j in range(row.lo, row.hi):
            move(state, a, a.k * column(indices, j, row.lo) + c, <floating>(d * data[j]))
        move(state, a, a.k * a.n_features + c, <floating>(d * a.p.bias))
    a.simplex.group.squares = squares
    return True


# --- dual variables ------------------------------------------------------------------------------------------------------------

cdef inline bint takes_all(const Ascent* a, const floating[::1] state, Py_ssize_t n) noexcept nogil:
    """Return True if α = c is optimal (entropic): if the dual derivative stays positive on [0, c].

    For each unit of α it falls by f*'' <= σ (β max|x|)²; and by no more than σ β² Σ x² cosh u / Σ cosh u (unsigned: e^u), whose
    terms change by factors within e^(±c β max|x|) on the way.
    """
    cdef Py_ssize_t i, j
    cdef const floating* x = <const floating*>a.row.x
    cdef double bend = a.shared.sigma * a.simplex.rate * a.simplex.rate * a.weight, largest = a.size.largest, total = 0.0
    cdef double root = root_of(<floating>a.simplex.group.shift) if a.is_signed else 0.0
    if a.loss >= bend * largest * largest:
        return True
    for i in range(n):
        for j in range(a.row.n):
            total += <double>x[j] * x[j] * (fabs(state[a.row.places[j] + a.moves[i]]) + root)
    return a.loss >= bend * exp(2.0 * a.weight * a.simplex.rate * largest) * total / normaliser(a.simplex.group)


cdef inline Py_ssize_t number_sizes(Ascent* a, floating* met) noexcept nogil:
    """Number the sizes |x| of a row in order of appearance, and return how many there are; 0 if more than SIZES."""
    cdef Py_ssize_t j, s, n = 0
    cdef const floating* x = <const floating*>a.row.x
    cdef floating size
    for j in range(a.row.n):
        size = with_sign(x[j], <floating>1.0)
        s = 0
        while s < n and met[s] != size:
            s += 1
        if s == SIZES:
            return 0
        if s == n:
            met[n], n = size, n + 1
        a.sizes[j] = s
    return n


cdef double log_of_others(const Ascent* a, const floating[::1] state) noexcept nogil:
    """Return the logarithm of Σ e^±θ over what a step along the line leaves as it is, from θ: O(features)."""
    cdef Py_ssize_t i, j, c, met = 0
    cdef bint in_row, moves
    cdef double theta, value, most = -INFINITY, total = 0.0
    for j in range(a.simplex.n):
        in_row = met < a.row.n and a.row.places[met] == 2 * a.k * j
        met += in_row
        for c in range(a.simplex.first, a.simplex.last):
            moves = False
            for i in range(a.line.n):
                moves |= in_row and a.line.which[i] == c
            if moves:
                continue
            theta = state[2 * a.k * j + a.k + c]
            for i in range(1 + a.simplex.is_signed):
                value = -theta if i else theta
                if value > most:
                    total, most = total * exp(most - value) + 1.0, value
                elif value > most - 50.0:
                    total += exp(value - most)
    return most + log(total)


cdef void lay_out(Ascent* a, const floating[::1] state, Py_ssize_t* which, Py_ssize_t n, double most) noexcept nogil:
    """Compute the masses of the row's features in these classes, and the rest of Z, for steps of up to `most`: one mass for all
    features of equal |x| (the P and N of the closed form) if x has few sizes, as counts do; else one for each feature.

    Z less the row's terms is exact but for 10^-24 of its largest. The stored powers of masses far below the others are not: where
    a step might raise those beside them, the masses are computed from θ; where it goes beyond doubles, they are logarithms, θ.
    """
    cdef Py_ssize_t i, j, s, n_met, n_sizes, m = a.row.n, full = round_up(a.row.n)
    cdef const floating* x = <const floating*>a.row.x
    cdef floating* sinh = <floating*>a.row.x + a.row.capacity
    cdef floating* zeros = sinh + a.row.capacity
    cdef floating[SIZES] met
    cdef Line* line = &a.line
    cdef Group group = a.simplex.group[0]
    cdef double* up
    cdef double* down
    cdef double rise, fall, beta = a.simplex.rate, root = root_of(<floating>group.shift), scale, part = 0.0
    cdef double reach = most * beta * a.size.largest, z = normaliser(&group)
    cdef double unit = (log(2.0) if a.is_signed else 0.0) + group.shift
    cdef bint anew = group.shift > 300.0 or (reach > 12.0 and 2.0 * reach > 65.0 + log(z)), exact
    line.far, line.which, line.d, line.n = reach > 300.0, which, a.d, n
    scale = 0.0 if line.far else unit       # masses are e^(±θ - scale)
    n_sizes = 0 if line.far else number_sizes(a, met)
    line.m = n_sizes if n_sizes else m
    exact = reach > 12.0 or line.m > 32     # (else a plain sum is good for what is left of Z; of few numbers it is faster)
    for j in range(line.m):
        line.h[j] = beta * (met[j] if n_sizes else x[j])
    for j in range(full if exact else 0):
        zeros[j] = 0.0
    for i in range(n):
        up = line.up + which[i] * line.capacity
        down = line.down + which[i] * line.capacity
        for j in range(m):
            sinh[j] = state[a.row.places[j] + which[i]]
        for j in range(m, full):
            sinh[j] = 0.0
        if anew:
            for j in range(m):
                up[j] = state[a.row.places[j] + a.k + which[i]] - scale
                down[j] = -up[j] - 2.0 * scale if a.is_signed else -INFINITY
            if not line.far:
                exp_all(up, m)
                exp_all(down, m)
        elif a.is_signed:
            masses_of(sinh, up, down, root, full)
        else:
            for j in range(m):
                up[j], down[j] = sinh[j], 0.0
        if exact:
            terms_of(sinh, &a.simplex, <floating>root, full)
            for j in range(m, full):
                sinh[j] = 0.0
            add_changes(&group, sinh, zeros, full)
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
        for j in range(0 if exact else line.m):
            part += up[j] + down[j]
    line.rest = larger(normaliser(&group) - part, <double>0.0)
    if line.rest <= 1e-24 * group.peak and z * exp(-reach) <= 1e-10 * group.peak:
        line.rest = log_of_others(a, state) - scale
        line.rest = line.rest if line.far else exp(line.rest)
    elif line.far:
        line.rest = log(line.rest) + unit


cdef inline void straight_step(Ascent* a, const floating[::1] state, Py_ssize_t n, double gamma, double m, double most,
                               double ridge) noexcept nogil:
    """Find α in [0, most], DA1's or DA2's, of a step α d of the first n `moves`, along which the loss is [γ - m]+, and the dual
    gets α γ - ridge α²/2."""
    cdef Py_ssize_t i
    cdef double alpha = most
    a.loss = gamma - m
    if not a.loss > 0.0:
        return
    if a.p.rule != DA1 and not a.entropic:
        alpha = a.loss / (ridge + n * (a.size.q / a.shared.sigma))
        alpha = alpha if alpha < most else most
    elif a.p.rule != DA1 and (ridge > 0.0 or not takes_all(a, state, n)):
        a.line.ridge = ridge
        lay_out(a, state, a.moves, n, most)
        alpha = climb(&a.line, most, gamma, 0.0, NULL, NULL, 0, 0.0)
    for i in range(n):
        a.d[i] *= alpha
    a.dual_gain = alpha * gamma
    a.n_moves = n if alpha != 0.0 else 0


cdef inline void logistic_step(Ascent* a, const floating[::1] state, double margin) noexcept nogil:
    """Find α of the step α d of the first of the `moves`, along which the loss is log(1 + e^-m)."""
    cdef double c = a.weight, sign = a.d[0], s, alpha
    cdef double[2] shares = [0.0, 1.0], change = [1.0, -1.0]
    a.loss = log1p(exp(-margin)) if margin > -30.0 else -margin
    if not a.loss > 0.0:
        return
    alpha = c / (1.0 + exp(margin)) if margin < 700.0 else 0.0
    if a.p.rule != DA1 and a.entropic:
        lay_out(a, state, a.moves, 1, c)
        a.d[0] = sign * c                   # (s is the share α/c)
        alpha = c * climb(&a.line, 1.0, 0.0, c, shares, change, 2, alpha / c)
    elif a.p.rule != DA1:
        alpha = c * squash(margin, c * (a.size.q / a.shared.sigma))
    s = alpha / c
    if s > 0.0:
        a.dual_gain = -c * s * log(s) - (c * (1.0 - s) * log1p(-s) if s < 1.0 else 0.0)
    a.d[0] = sign * alpha
    a.n_moves = alpha != 0.0


cdef void best_step(Ascent* a, const floating[::1] state, Py_ssize_t label, Py_ssize_t rival,
                    const double* counts) noexcept nogil:
    """Find DA3's α_r for the wrong classes, hinge loss: θ_r -= α_r x, and θ_label += Σ α x. counts : NULL: all have joined."""
    cdef Py_ssize_t r
    cdef double q = a.size.q / a.shared.sigma, value = 0.0
    cdef double* alpha = a.alpha
    a.loss = a.margin - (a.scores[label] - a.scores[rival])
    if not a.loss > 0.0:
        return
    for r in range(a.k):
        alpha[r] = a.work[r] = 0.0
        if r != label and not (counts != NULL and counts[r] == 0.0):
            a.work[r] = (a.margin - a.scores[label] + a.scores[r]) / q
    if a.entropic:
        alpha[label] = a.weight
        lay_out(a, state, a.every, a.k, a.weight)
        a.line.which = a.moves
        ascend_pairwise(&a.line, a.k, label, a.margin, a.weight, alpha, a.work)
    else:
        share_out(a.work, a.k, a.weight, alpha, a.work + a.k)
    for r in range(a.k):
        if alpha[r] != 0.0 and r != label:
            a.n_moves += 1
            a.moves[a.n_moves], a.d[a.n_moves] = r, -alpha[r]
            value += alpha[r]
    a.moves[0], a.d[0] = label, value
    a.dual_gain = a.margin * value
    a.n_moves = a.n_moves + 1 if value > 0.0 else 0


cdef void softmax_step(Ascent* a, const floating[::1] state, Py_ssize_t label) noexcept nogil:
    """Find the classes' shares a of c, log loss: θ_r -= c a_r x, and θ_label += c (1 - a_label) x.

    The search begins on the line from e_y, the label's unit vector, to the softmax p of the scores: a = e_y + s (p - e_y).
    """
    cdef Py_ssize_t r
    cdef Line* line = &a.line
    cdef double c = a.weight, q = a.size.q / a.shared.sigma, total = 0.0, s = 1.0
    cdef double* shares = a.alpha
    a.loss = log_sum(a.scores, a.k, a.chances) - a.scores[label]
    for r in range(a.k):
        total += a.chances[r] if r != label else 0.0
        shares[r], a.direction[r], a.d[r] = 0.0, a.chances[r], -c * a.chances[r]
    if not (a.loss > 0.0 and total > 0.0):
        return
    shares[label], a.direction[label], a.d[label] = 1.0, -total, c * total
    if a.p.rule != DA1:
        if a.entropic:
            lay_out(a, state, a.every, a.k, c)
        line.start = line.slope = 0.0
        for r in range(a.k):
            line.start += a.d[r] * a.scores[r]
            line.slope += a.d[r] * a.d[r] * q
        if a.p.rule == DA2 or a.entropic:
            s = climb(line, 1.0 / total, 0.0, c, shares, a.direction, a.k, 1.0)
            if a.entropic and a.p.rule == DA3:
                follow(line, s)
    for r in range(a.k):
        shares[r] += s * a.direction[r]
    if shares[label] < 0.0:
        shares[label] = 0.0
    if a.p.rule == DA3 and a.entropic:
        interior(line, a.k, c, shares, a.work)
    elif a.p.rule == DA3:
        balance(a.scores, a.k, label, c * q, shares)
    a.dual_gain = c * entropy(shares, a.k)
    total = 0.0
    for r in range(a.k):
        a.moves[r], a.d[r] = r, -c * shares[r]
        total += c * shares[r] if r != label else 0.0
    a.d[label], a.n_moves = total, a.k


cdef inline bint waits(Py_ssize_t c, const PassContext* context) noexcept nogil:
    """Return True if class c has not joined yet."""
    return c < context.n_classes and context.open_classes and context.counts[c] == 0.0


cdef inline double loss_of_zeros(const Ascent* a, double y, const PassContext* context) noexcept nogil:
    """Return the loss of a row of zeros, summed over all learners: no weights reduce it, no step changes anything."""
    cdef Py_ssize_t c, n = 0
    if context.task == REGRESSION:
        return y * y if a.p.trigger == SQUARED_LOSS else fabs(y)
    for c in range(a.n_groups):
        n += a.joint or not waits(c, context)
    return n * (log(<double>(a.k if a.joint else 2)) if a.p.trigger == LOG_LOSS else a.margin)


cdef inline void find_step(Ascent* a, const floating[::1] state, Py_ssize_t g, const Round* r,
                           const PassContext* context) noexcept nogil:
    """Find the step of group g, of which the row's label or target asks something."""
    cdef Py_ssize_t rival
    cdef bint squared = a.p.trigger == SQUARED_LOSS
    cdef double sign = 1.0 if (g == r.label if a.k > 1 else r.label == 1) else -1.0
    a.moves[0], a.d[0] = g, sign
    if context.task == REGRESSION:
        # One α, λ = -α x: of the loss c |y - s| the dual gets α y, |α| <= c, of c (y - s)² α y - α²/(4c), |α| <= 2c |y - s|.
        sign = a.d[0] = 1.0 if r.target - a.scores[0] > 0.0 else -1.0
        straight_step(a, state, 1, sign * r.target, sign * a.scores[0],
                      2.0 * a.weight * fabs(r.target - a.scores[0]) if squared else a.weight, 0.5 / a.weight if squared else 0.0)
        if squared:
            a.loss *= a.loss
            a.dual_gain -= 0.25 * a.d[0] * a.d[0] / a.weight if a.n_moves else 0.0
    elif a.joint:
        rival = top(a.scores, context, r.label)
        if rival < 0:                           # (learning always leaves a rival, but a file might not)
            return
        if a.p.trigger == LOG_LOSS:
            softmax_step(a, state, r.label)
        elif a.p.rule == DA3 and (a.entropic or a.size.q / a.shared.sigma * a.weight > 1e-300):
            best_step(a, state, r.label, rival, context.counts if context.open_classes else NULL)
        else:
            a.moves[0], a.moves[1], a.d[0], a.d[1] = r.label, rival, 1.0, -1.0
            straight_step(a, state, 2, a.margin, a.scores[r.label] - a.scores[rival], a.weight, 0.0)
    elif a.p.trigger == LOG_LOSS:
        logistic_step(a, state, sign * a.scores[g])
    else:
        straight_step(a, state, 1, a.margin, sign * a.scores[g], a.weight, 0.0)


# --- a pass --------------------------------------------------------------------------------------------------------------------

cdef int learn_all(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                   PassContext* context) except -1 nogil:
    """Learn rows: one vector for targets or two classes, else one a class."""
    cdef Py_ssize_t c, g
    cdef bint fine, at_rest, updated, numbers = context.task == REGRESSION
    cdef double error, size, slope
    cdef Round r
    while next_round(&r, b, context):
        compute_kappa(a, context.counters.rounds - 1.0)
        score_row(a, state, data, indices, r.row, averaged(context), a.averages)
        before_step(context.task, a.averages, 0.0, &r, b, context)
        if measure(data, &r, context, &a.p.bias):
            a.inverse = context.inverse
            score_row(a, state, data, indices, r.row, averaged(context), a.averages)
        a.weight, a.margin = r.weight, a.p.margin + r.shift
        error = r.target - a.scores[0] if numbers else 1.0
        size = fabs(r.target) + fabs(a.scores[0]) if numbers else 0.0
        slope = 2.0 * a.weight * fabs(error) if a.p.trigger == SQUARED_LOSS else a.weight
        a.steepness = slope * (
            a.p.norm_bound * a.size.largest if a.entropic else sqrt(a.size.q * (2.0 if a.joint else 1.0)))
        at_rest = error == 0.0 or a.size.largest == 0.0
        fine = (a.size.q <= HUGE and slope <= HUGE and size <= HUGE and a.steepness <= HUGE
                and a.weight * max(a.margin, size * size) <= 1e280
                and (a.p.schedule != AUTO or a.steepness >= 1.0 / HUGE or at_rest)
                and (not a.entropic or a.p.schedule == AUTO or a.p.norm_bound * a.size.largest <= HUGE * a.p.sigma))
        for c in range(a.k):
            fine &= isfinite(a.scores[c])
        updated = False
        if not fine:                        # (something might overflow)
            context.counters.skipped += a.size.largest != 0.0
        elif a.size.largest == 0.0:
            a.shared.dual_gain += a.weight * loss_of_zeros(a, r.target, context)
        else:
            prepare(a, state, data, indices, r.row, context)
            for g in range(1 if a.joint else a.k):
                select_group(a, g)
                if a.joint or not waits(g, context):
                    find_step(a, state, g, &r, context)
                add_loss(a.weight * a.loss, context)
                if a.n_moves > 0 and take_step(a, state, data, indices, r.row, context.counters.rounds):
                    a.shared.dual_gain += a.dual_gain
                    updated = True
                else:
                    context.counters.skipped += a.n_moves > 0
        after_step(&r, updated, context)
        for g in range(a.n_groups if a.correction != NULL and context.counters.rounds > context.average_from else 0):
            a.groups[g].ages += kappa_of(a, &a.groups[g], context.counters.rounds)
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
    """A model of dual ascent, or of Hedge. `shared` and `groups`, arrays of float64: a `Shared`, and a `Group` a row."""
    cdef public object shared, groups

    cdef int open(self, Ascent* a, Py_ssize_t k, Py_ssize_t size) except -1:
        """Set the parameters, and pointers to the model's numbers: k vectors in a state of this size."""
        cdef const double[::1] shared = self.shared
        cdef const double[:, ::1] groups = self.groups
        self.bind()
        a.p, a.is_signed = self.p, self.p.geometry != EXP
        a.entropic = a.p.geometry != ADDITIVE and a.p.trigger != ADVICE
        a.k, a.width, a.n_groups, a.joint = k, 2 * k if a.entropic else k, groups.shape[0], a.p.joint and k > 1
        a.shared, a.groups, a.correction, a.n_features = <Shared*>&shared[0], <Group*>&groups[0, 0], NULL, size // a.width - 1
        a.simplex.is_signed, a.simplex.k, a.simplex.n = a.is_signed, k, a.n_features + (a.p.constant != 0.0)
        a.simplex.rate, a.simplex.limit, a.simplex.counts, a.simplex.correction = 1.0, a.p.limit, NULL, NULL
        a.line.entropic, a.line.ridge = a.entropic, 0.0
        return 0

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)

    cdef int learn_rows(self, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                        PassContext* context) except -1:
        """Allocate the workspace of a pass, and learn."""
        cdef Py_ssize_t i, n_masses, capacity, longest = 0, k = context.columns
        cdef double[::1] numbers
        cdef Py_ssize_t[::1] places
        cdef floating[::1] entries
        cdef double* at
        cdef Ascent a
        self.open(&a, k, state.shape[0])
        if a.p.trigger == ADVICE:
            numbers = np.empty(state.shape[0] - 1)
            with nogil:
                return learn_experts(numbers, a.shared, state, data, indices, b, context, &a.p)
        a.correction = a.simplex.correction = context.correction
        a.inverse, a.p.bias = context.inverse, context.bias
        for i in range(b.n_rows):
            longest = max(longest, b.indptr[i + 1] - b.indptr[i])
        a.row.capacity = a.line.capacity = capacity = round_up(longest + 1)
        n_masses = 2 * k if a.entropic and a.p.rule != DA1 else 0     # (for the searches of DA2 and DA3)
        numbers = np.zeros(12 * k + 1 + (3 + n_masses) * capacity)
        places = np.zeros(2 * k + 1 + 2 * capacity, np.intp)
        entries = np.empty(n_work(k) * capacity if a.entropic else 1, np.float32 if floating is float else np.float64)
        a.row.x = &entries[0]
        at = &numbers[0]
        a.line.h, a.line.powers, a.line.up, a.line.down = at, at + capacity, at + 3 * capacity, at + (3 + k) * capacity
        at += (3 + n_masses) * capacity
        a.sums, a.kappa, a.scores, a.averages, a.alpha, a.chances = at, at + k, at + 2 * k, at + 3 * k, at + 4 * k, at + 5 * k
        a.direction, a.work, a.d = at + 6 * k, at + 7 * k, at + 10 * k
        a.sizes, a.row.places, a.every, a.moves = (
            &places[0], &places[capacity], &places[2 * capacity], &places[2 * capacity + k])
        for i in range(k):
            a.every[i] = i
        with nogil:
            return learn_all(&a, state, data, indices, b, context)

    # --- reading: never a write ------------------------------------------------------------------------------------------------

    cdef int decide(self, const floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
        """Compute found[i, c] = w_c.x_i of the model, or of its average if there is one."""
        cdef Py_ssize_t i, k = context.n_found
        cdef const double[::1] correction = self.correction
        cdef double[::1] numbers = np.empty(state.shape[0] - 1 if self.p.trigger == ADVICE else 3 * k)
        cdef double rounds = context.counters.rounds - self.p.average_from if correction.shape[0] else 0.0
        cdef Ascent a
        cdef Row row
        self.open(&a, k, state.shape[0])
        a.correction = <double*>&correction[0] if correction.shape[0] else NULL
        a.inverse, a.p.bias = context.inverse, context.bias
        a.sums, a.kappa, a.scores = &numbers[0], &numbers[0] + k, &numbers[0] + 2 * k
        with nogil:
            if a.p.trigger == ADVICE:
                weigh_experts(state, context.counters.rounds + 1.0, numbers, &a.p)
            else:
                compute_kappa(&a, context.counters.rounds)
            for i in range(b.n):
                row = row_at(b, i)
                context.budget = check_signals(context.budget, (row.hi - row.lo + 8) * k)
                if a.p.trigger == ADVICE:
                    context.found[i] = chance(numbers, data, indices, row) - (0.0 if a.is_signed else 0.5)
                else:
                    score_row(&a, state, data, indices, row, rounds, &context.found[i * k])
        return 0

    def kappa(self):
        """Return κ of each vector, the factor of the stored numbers."""
        cdef const double[::1] counters = self.counters
        cdef Ascent a
        self.open(&a, self.n_columns, len(self.values))
        return np.array([kappa_of(&a, group_of(&a, c), counters[0]) for c in range(a.k)])

    def expert_weights(self):
        """Return w of the next round (Hedge)."""
        w = np.empty(len(self.values) - 1)
        self.bind()
        if self.values.itemsize == 4:
            weigh_experts[float](self.values, self.counters[0] + 1.0, w, &self.p)
        else:
            weigh_experts[double](self.values, self.counters[0] + 1.0, w, &self.p)
        return w

    def start_simplexes(self, floating[::1] state):
        """Compute the numbers of the groups that have none yet, and all their powers, from u. state : the values."""
        cdef Ascent a
        cdef Py_ssize_t g
        self.open(&a, self.n_columns, state.shape[0])
        with nogil:
            for g in range(a.n_groups):
                select_group(&a, g)
                if a.simplex.group.high == 0.0:
                    start_group(state, &a.simplex)


cdef int visit_rows(AscentModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    cdef floating[::1] state
    cdef const floating[::1] read
    if context.task == DECISION:
        read = self.values
        return self.decide(read, data, indices, b, context)
    state = self.values
    return self.learn_rows(state, data, indices, b, context)


include "../../_compiled/visit.pxi"


def powers(floating[::1] x):
    """Replace x[i] by e^x[i]: for tests of powers.pxd."""
    exp_all(&x[0], x.shape[0])
