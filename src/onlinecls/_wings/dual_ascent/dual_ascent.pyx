"""Dual ascent (Shalev-Shwartz and Singer's tutorial) and learners of its form: the loops over rows.

A model is θ = Σ α_i Δφ_i, and the weights are ∇f*(θ): the present factor κ times the stored numbers, so that a row costs O(nnz)
however κ changes.

    f             state of a feature             the weight that predicts       κ
    Euclidean     θ                              κ θ                            1/σ
    entropic      e^-K sinh u, u = Wθ/σ          κ e^-K sinh u                  W / Z,  Z = e^-K Σ cosh u
     (unsigned)   e^(u-K)                        κ e^(u-K)                      W / Z,  Z = e^-K Σ e^u

The entropic geometry is the simplex of ../shared/simplex.pxd, signed or the probability simplex.
With σ = auto all powers are also computed anew when σ has grown by a half (see `choose_sigma`).

A group shares a simplex (entropic) or a norm: all classes, or with one against the rest each class. The numbers of a model are a
`Shared` and a `Group` for each group, side by side in the array `shared`.

A row's scores are computed first, then σ of the round, then for each dual problem (one, or one a class) its dual variables, which
say how far θ moves along the row.
"""
from cython cimport critical_section
from libc.math cimport INFINITY, exp, fabs, isfinite, log, log1p, sqrt

import numpy as np

from .experts cimport chance, learn_experts, weigh_experts
from ..shared.line_search cimport Line, ascend_pairwise, balance, climb, entropy, follow, interior, log_sum, share_out, single
from ..shared.dual_params cimport (
    ABSOLUTE_LOSS, AUTO, DA1, DA2, DA3, FIXED, HINGE, LOG_LOSS, SQRT, SQUARED_LOSS, STRONGLY_CONVEX, AscentParams, Shared,
)
from ..._compiled.model cimport Model
from ..shared.powers cimport exp_all, with_sign
from ..._compiled.rounds cimport (
    BINARY, DECISION, REGRESSION, Batch, PassContext, Round, add_loss, after_step, averaged, before_step, check_signals, measure,
    next_round, row_at, top,
)
from ..shared.simplex cimport (
    GatheredRow, Group, Simplex, Size, add_changes, compute_powers, gather, masses_of, n_work, normaliser, root_of, round_up,
    scan_sums, start_group, step_group, terms_of,
)
from ..shared.simplex import GROUP, GROUP_SIZE
from ..._compiled.sparse cimport Row, column, floating, index_t, larger

#: The names in Python of the numbers in `shared`: three that the groups share, then those of each group.
SHARED = {"dual_gain": 0, "lipschitz": 1, "sigma": 2, "shared": sizeof(Shared) // sizeof(double), **GROUP, "group": GROUP_SIZE}

LOSSES = {"hinge": HINGE, "log_loss": LOG_LOSS, "absolute": ABSOLUTE_LOSS, "squared": SQUARED_LOSS}
UPDATES_OF = {"DA1": DA1, "DA2": DA2, "DA3": DA3}
SCHEDULES = {"fixed": FIXED, "auto": AUTO, "strongly_convex": STRONGLY_CONVEX, "sqrt": SQRT}

cdef double STEP_OF_GRID = 1.5
cdef double HUGE = 1e150    # rows beyond it, or (σ = auto) below its inverse, are left out, so that everything below is finite
LARGEST_STEP = HUGE

cdef enum:
    SIZES = 8               # different |x| in a row that are treated separately

ctypedef struct Workspace:       # of a row, a number for each vector
    double* sums            # Σ x_i (the stored number of feature i)
    double* scores
    double* averages        # the average's scores
    double* shares          # the softmax of the scores
    double* d               # the step: θ_c += d_c x for the vectors `moves`
    double* alpha           # dual variables
    double* start           # log loss: the shares at the beginning of a line, and
    double* direction       # their change along it
    double* open            # 1: the class has joined
    double* scratch
    double* rates           # three numbers for each vector: see `interior`
    Py_ssize_t* every       # 0, 1, ..
    Py_ssize_t* moves

ctypedef struct Ascent:     # a pass: the model's numbers, those of the row at hand, and the workspace
    AscentParams p
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
    double limit            # bound of all |θ|
    double loss             # of the row in the group at hand
    double dual_gain        # its step's part of the dual value without f*
    Py_ssize_t n_moves      # vectors that the step moves
    Py_ssize_t* sizes       # of the row's |x|, by number
    Simplex simplex         # of the group at hand
    GatheredRow row
    Line line
    Workspace work


# --- a row and the model -------------------------------------------------------------------------------------------------------

cdef inline double scale_of(const AscentParams* p, const Shared* shared, const Group* group, double t) noexcept nogil:
    """Return κ after t rounds."""
    if p.entropic:
        return p.bound / normaliser(group)
    if p.schedule == SQRT:
        return 1.0
    if p.schedule == STRONGLY_CONVEX:
        return 1.0 / (p.sigma * t) if t > 0.0 else 0.0
    return 1.0 / max(shared.sigma, <double>1e-290) if shared.sigma > 0.0 else 0.0     # (a sum of them stays finite)


cdef inline Group* group_of(const Ascent* a, Py_ssize_t c) noexcept nogil:
    return &a.groups[c if a.n_groups > 1 else 0]


cdef inline void scale_scores(Ascent* a, double t) noexcept nogil:
    """Compute scores after t rounds, from the sums."""
    cdef Py_ssize_t c
    for c in range(a.k):
        a.work.scores[c] = scale_of(&a.p, a.shared, group_of(a, c), t) * a.work.sums[c]


cdef inline double score_of_average(double value, const Ascent* a, Py_ssize_t c, const floating[::1] data,
                                    const index_t[::1] indices, Row row) noexcept nogil:
    """Return value - correction.x of vector c."""
    cdef Py_ssize_t j
    for j in range(row.lo, row.hi):
        value -= data[j] * a.inverse * a.correction[a.k * column(indices, j, row.lo) + c]
    return value - a.p.bias * a.inverse * a.correction[a.k * a.n_features + c]


cdef inline void scan_row(Ascent* a, const floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                          Row row) noexcept nogil:
    """Compute the sums and the size of the row z = x / s."""
    cdef Py_ssize_t c
    a.size = scan_sums(state, a.width, a.k, data, indices, row, a.p.bias, a.work.sums)
    a.size = Size(a.size.q * (a.inverse * a.inverse), a.size.largest * a.inverse)
    for c in range(a.k):
        a.work.sums[c] *= a.inverse


cdef inline void read_row(Ascent* a, const floating[::1] state, const floating[::1] data, const index_t[::1] indices,
                          const Round* r, const PassContext* context) noexcept nogil:
    """Compute the scores of a row by the present weights and by the average, and its size."""
    cdef Py_ssize_t c
    cdef double rounds = averaged(context)
    a.inverse = context.inverse
    scan_row(a, state, data, indices, r.row)
    a.weight, a.margin = r.weight, a.p.margin + r.shift
    scale_scores(a, context.counters.rounds - 1.0)
    for c in range(a.k):
        a.work.averages[c] = a.work.scores[c]
        if rounds > 0.0:
            a.work.averages[c] = score_of_average(group_of(a, c).ages * a.work.sums[c], a, c, data, indices, r.row) / rounds


cdef inline bint in_range(const Ascent* a, bint at_rest) noexcept nogil:
    """Return True if nothing computed for this row can overflow; at_rest : True if it makes no step."""
    return (a.size.q <= HUGE and a.weight <= HUGE and a.steepness <= HUGE and a.weight * a.margin <= 1e280
            and (a.p.schedule != AUTO or a.steepness >= 1.0 / HUGE or at_rest)
            and (not a.p.entropic or a.p.schedule == AUTO or a.p.bound * a.size.largest <= HUGE * a.p.sigma))


cdef inline void select_group(Ascent* a, Py_ssize_t g) noexcept nogil:
    """Make g the group at hand."""
    a.simplex.group = &a.groups[g]
    a.simplex.first = g if a.n_groups > 1 else 0
    a.simplex.last = g + 1 if a.n_groups > 1 else a.k
    a.loss, a.dual_gain, a.n_moves = 0.0, 0.0, 0


cdef bint choose_sigma(Ascent* a, floating[::1] state, const PassContext* context) noexcept nogil:
    """Choose σ of this round; return True if the scores have changed by more than a common factor.

    Entropic with σ = L √(t / log n): every weight changes with σ, so σ keeps its last value until the formula gives a half more;
    then all powers are computed anew.
    """
    cdef Py_ssize_t g
    cdef double wanted, old = a.shared.sigma, entries = 2.0 if a.p.is_signed else 1.0
    cdef double size = entries * a.simplex.n * (a.k if a.n_groups == 1 else 1)
    if a.p.schedule != AUTO:
        a.shared.sigma = a.p.sigma
        return False
    a.shared.lipschitz = larger(a.shared.lipschitz, a.steepness)
    if not a.p.entropic:
        a.shared.sigma = sqrt(2.0 * context.counters.rounds) * a.shared.lipschitz / a.p.bound
        return False
    wanted = a.shared.lipschitz * sqrt(context.counters.rounds / log(larger(size, <double>2.0)))
    if wanted <= old * STEP_OF_GRID or not isfinite(wanted):
        return False
    a.shared.sigma = wanted
    if old > 0.0:
        for g in range(a.n_groups):
            select_group(a, g)
            compute_powers(state, &a.simplex, old / wanted)
    return old > 0.0


cdef inline void prepare(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                         PassContext* context) noexcept nogil:
    """Choose σ of this round, and compute the scores with it and the numbers that steps of this row need."""
    if choose_sigma(a, state, context):
        context.budget -= a.simplex.n * a.k       # (signals are handled at the end of the row)
        scan_row(a, state, data, indices, row)
    if a.p.schedule == AUTO:
        scale_scores(a, context.counters.rounds - 1.0)
    a.line.entropic, a.line.sigma = a.p.entropic, a.shared.sigma
    a.simplex.rate = a.p.bound / a.shared.sigma if a.p.entropic else 1.0
    a.limit = a.p.limit
    if not a.p.entropic and a.p.schedule != SQRT and a.shared.sigma < 1.0:      # the weights are θ/σ
        a.limit = a.p.limit * a.shared.sigma
    if a.p.entropic:
        gather(&a.row, a.k, data, indices, row, a.p.bias, a.inverse, 2 * a.k * a.n_features)


cdef inline void close_row(const Ascent* a, const PassContext* context) noexcept nogil:
    """Add the weights after this round to the average."""
    cdef Py_ssize_t g
    if a.correction != NULL and context.counters.rounds > context.average_from:
        for g in range(a.n_groups):
            a.groups[g].ages += scale_of(&a.p, a.shared, &a.groups[g], context.counters.rounds)


# --- steps ---------------------------------------------------------------------------------------------------------------------

cdef inline bint step_fits(const floating[::1] state, const Ascent* a, Py_ssize_t c, double d, const floating[::1] data,
                           const index_t[::1] indices, Row row) noexcept nogil:
    """Return True if θ_c + d z is within the limit (Euclidean)."""
    cdef Py_ssize_t j
    cdef double limit = a.limit
    d *= a.inverse
    for j in range(row.lo, row.hi):
        if not fabs(state[a.k * column(indices, j, row.lo) + c] + d * data[j]) <= limit:
            return False
    return fabs(state[a.k * a.n_features + c] + d * a.p.bias) <= limit


cdef inline void apply_step(floating[::1] state, const Ascent* a, Py_ssize_t c, double d, const floating[::1] data,
                            const index_t[::1] indices, Row row) noexcept nogil:
    """Add d z to θ_c (Euclidean)."""
    cdef Py_ssize_t j, at, k = a.k
    cdef double before, ages = a.simplex.group.ages if a.correction != NULL else 0.0
    d *= a.inverse
    if ages == 0.0:
        for j in range(row.lo, row.hi):
            state[k * column(indices, j, row.lo) + c] += <floating>(d * data[j])
        state[k * a.n_features + c] += <floating>(d * a.p.bias)
        return
    for j in range(row.lo, row.hi + 1):
        at = k * (column(indices, j, row.lo) if j < row.hi else a.n_features) + c
        before = state[at]
        state[at] += <floating>(d * (data[j] if j < row.hi else a.p.bias))
        a.correction[at] += ages * (state[at] - before)


cdef inline bint take_step(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, Row row,
                           double t) noexcept nogil:
    """Take the present group's step in round t, and add its part to the dual value; return False if it would leave the dtype's
    range."""
    cdef Py_ssize_t i
    cdef double squares = 0.0
    cdef double* d = a.work.d
    for i in range(a.n_moves):
        if a.p.schedule == SQRT:
            d[i] *= a.p.sigma / sqrt(t)
        squares += d[i] * (2.0 * a.work.sums[a.work.moves[i]] + d[i] * a.size.q)
    if a.p.entropic:
        if not step_group(state, &a.simplex, &a.row, a.work.moves, d, a.n_moves):
            return False
    else:
        for i in range(a.n_moves):
            if not step_fits(state, a, a.work.moves[i], d[i], data, indices, row):
                return False
        for i in range(a.n_moves):
            apply_step(state, a, a.work.moves[i], d[i], data, indices, row)
        a.simplex.group.squares += squares
    a.shared.dual_gain += a.dual_gain
    return True


# --- dual variables ------------------------------------------------------------------------------------------------------------

cdef inline bint takes_all(const Ascent* a, const floating[::1] state, const Py_ssize_t* which, Py_ssize_t n) noexcept nogil:
    """Return True if α = c is optimal (entropic): if the dual derivative stays positive on [0, c].

    For each unit of α it falls by f*'' <= σ (β max |x|)²; and by no more than σ β² Σ x² cosh u / Σ cosh u (unsigned: e^u), whose
    terms change by factors within e^(±c β max |x|) on the way.
    """
    cdef Py_ssize_t i, j
    cdef const floating* x = <const floating*>a.row.x
    cdef double sigma = a.shared.sigma, beta = a.simplex.rate, total = 0.0
    cdef double root = root_of(<floating>a.simplex.group.shift) if a.p.is_signed else 0.0
    cdef double bend = sigma * (beta * a.size.largest) * (beta * a.size.largest)
    if a.loss >= a.weight * bend:
        return True
    for i in range(n):
        for j in range(a.row.n):
            total += <double>x[j] * x[j] * (fabs(state[a.row.places[j] + which[i]]) + root)
    bend = sigma * beta * beta * exp(2.0 * a.weight * beta * a.size.largest) * total / normaliser(a.simplex.group)
    return a.loss >= a.weight * bend


cdef inline Py_ssize_t number_sizes(Ascent* a, floating* met) noexcept nogil:
    """Number the sizes |x| of a row in order of appearance, and return how many there are; 0 if more than SIZES."""
    cdef Py_ssize_t j, s, n = 0
    cdef const floating* x = <const floating*>a.row.x
    cdef floating size
    for j in range(a.row.n):
        size = with_sign(x[j], <floating>1.0)
        for s in range(n):
            if met[s] == size:
                break
        else:
            if n == SIZES:
                return 0
            met[n] = size
            s = n
            n += 1
        a.sizes[j] = s
    return n


cdef double log_of_others(const Ascent* a, const floating[::1] state, const Py_ssize_t* which, Py_ssize_t n) noexcept nogil:
    """Return the logarithm of Σ e^±θ over what a step of these classes along the row leaves as it is, from θ: O(features)."""
    cdef Py_ssize_t i, j, c, met = 0
    cdef bint in_row, moves
    cdef double theta, value, most = -INFINITY, total = 0.0
    for j in range(a.simplex.n):
        in_row = met < a.row.n and a.row.places[met] == 2 * a.k * j
        met += in_row
        for c in range(a.simplex.first, a.simplex.last):
            moves = False
            for i in range(n):
                moves |= in_row and which[i] == c
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


cdef void lay_out(Ascent* a, const floating[::1] state, const Py_ssize_t* which, Py_ssize_t n, double most) noexcept nogil:
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
    cdef double rise, fall, beta = a.simplex.rate, root = root_of(<floating>group.shift), scale = 0.0, part = 0.0
    cdef double reach = most * beta * a.size.largest, z = normaliser(&group), unit = log(2.0) if a.p.is_signed else 0.0
    cdef bint anew = group.shift > 300.0 or (reach > 12.0 and 2.0 * reach > 65.0 + log(z)), exact
    line.entropic, line.far = True, reach > 300.0
    unit += group.shift
    if not line.far:
        scale = unit                    # masses are e^(±θ - scale)
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
                down[j] = -up[j] - 2.0 * scale if a.p.is_signed else -INFINITY
            if not line.far:
                exp_all(up, m)
                exp_all(down, m)
        elif a.p.is_signed:
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
        line.rest = log_of_others(a, state, which, n) - scale
        line.rest = line.rest if line.far else exp(line.rest)
    elif line.far:
        line.rest = log(line.rest) + unit


cdef inline void own_step(Ascent* a, const floating[::1] state, Py_ssize_t c, double sign) noexcept nogil:
    """Find the step of one vector c for a row on its positive or negative side."""
    cdef double margin = sign * a.work.scores[c]
    cdef int update = a.p.update
    a.loss = a.margin - margin
    if a.p.loss == LOG_LOSS:
        a.loss = log1p(exp(-margin)) if margin > -30.0 else -margin
    if not a.loss > 0.0:
        return
    a.work.moves[0], a.work.d[0] = c, sign
    a.line.which, a.line.d, a.line.n = a.work.moves, a.work.d, 1
    if a.p.entropic and update != DA1 and a.p.loss == HINGE and takes_all(a, state, a.work.moves, 1):
        update = DA1
    if update != DA1:
        if a.p.entropic:
            lay_out(a, state, a.work.moves, 1, a.weight)
        else:
            a.line.slope = a.size.q / a.shared.sigma
    a.work.d[0] = sign * single(&a.line, margin, a.margin, a.weight, &a.dual_gain, a.p.loss, update)
    a.n_moves = a.work.d[0] != 0.0


cdef inline void joint_step(Ascent* a, const floating[::1] state, Py_ssize_t label, const PassContext* context) noexcept nogil:
    """Find the step of all classes' vectors in the joint construction."""
    cdef Py_ssize_t c, rival = top(a.work.scores, context, label)
    cdef double total = 0.0
    if rival < 0:                               # (learning always leaves a rival, but a file might not)
        return
    for c in range(a.k):
        a.work.open[c] = not (context.open_classes and context.counts[c] == 0.0)
    a.loss = a.margin - (a.work.scores[label] - a.work.scores[rival])
    if a.p.loss == LOG_LOSS:
        a.loss = log_sum(a.work.scores, a.k, a.work.shares) - a.work.scores[label]
        for c in range(a.k):
            if c != label:
                total += a.work.shares[c]
        if a.loss > 0.0 and total > 0.0:
            softmax_step(a, state, label, total)
    elif a.loss > 0.0:
        hinge_step(a, state, label, rival)


cdef void hinge_step(Ascent* a, const floating[::1] state, Py_ssize_t label, Py_ssize_t rival) noexcept nogil:
    """Find α_r for the wrong classes: θ_r -= α_r x, and θ_label += Σ α x."""
    cdef Py_ssize_t r, n = 0
    cdef Line* line = &a.line
    cdef double* alpha = a.work.alpha
    cdef double* excess = a.work.start
    cdef double c = a.weight, q = a.size.q / line.sigma, value
    cdef Py_ssize_t* moves = a.work.moves
    cdef double* d = a.work.d
    for r in range(a.k):
        alpha[r] = 0.0
    alpha[rival] = c
    moves[0], moves[1], d[0], d[1] = label, rival, 1.0, -1.0
    if a.p.update == DA2 and a.p.entropic and takes_all(a, state, moves, 2):
        pass
    elif a.p.update != DA1:
        if a.p.entropic and a.p.update == DA3:
            lay_out(a, state, a.work.every, a.k, c)
            alpha[label], alpha[rival] = c, 0.0
            ascend_pairwise(line, a.k, label, a.margin, c, a.work.open, alpha, a.work.rates)
        elif a.p.entropic:
            lay_out(a, state, moves, 2, c)
            line.which, line.d, line.n = moves, d, 2
            alpha[rival] = climb(line, c, a.margin, 0.0, NULL, NULL, 0, 0.0)
        elif a.p.update == DA2 or not (q * c > 1e-300):
            value = a.loss / (2.0 * q) if q > 0.0 else c
            alpha[rival] = value if value < c else c
        else:
            for r in range(a.k):
                excess[r] = 0.0
                if r != label and a.work.open[r]:
                    excess[r] = (a.margin - a.work.scores[label] + a.work.scores[r]) / q
            share_out(excess, a.k, c, alpha, a.work.scratch)
    value = 0.0
    for r in range(a.k):
        if alpha[r] != 0.0 and r != label:
            n += 1
            moves[n], d[n] = r, -alpha[r]
            value += alpha[r]
    moves[0], d[0] = label, value
    a.dual_gain = a.margin * value
    a.n_moves = n + 1 if value > 0.0 else 0


cdef void softmax_step(Ascent* a, const floating[::1] state, Py_ssize_t label, double total) noexcept nogil:
    """Find the classes' shares a of c: θ_r -= c a_r x, and θ_label += c (1 - a_label) x.

    The search begins on the line from e_y, the label's unit vector, to the softmax p of the scores: a = e_y + s (p - e_y).
    total : the wrong classes' part of p.
    """
    cdef Py_ssize_t r
    cdef Line* line = &a.line
    cdef double* shares = a.work.start
    cdef double* direction = a.work.direction
    cdef double* d = a.work.d
    cdef double c = a.weight, q = a.size.q / line.sigma, value, s = 1.0
    for r in range(a.k):
        shares[r] = 0.0
        direction[r] = a.work.shares[r]
        d[r] = -c * a.work.shares[r]
    shares[label], direction[label], d[label] = 1.0, -total, c * total
    if a.p.update != DA1:
        line.which, line.d, line.n = a.work.every, d, a.k
        if a.p.entropic:
            lay_out(a, state, a.work.every, a.k, c)
        line.start = line.slope = 0.0
        for r in range(a.k):
            line.start += d[r] * a.work.scores[r]
            line.slope += d[r] * d[r] * q
        if a.p.update == DA2 or a.p.entropic:
            s = climb(line, 1.0 / total, 0.0, c, shares, direction, a.k, 1.0)
            if a.p.entropic and a.p.update == DA3:
                follow(line, s)
    for r in range(a.k):
        shares[r] += s * direction[r]
    if shares[label] < 0.0:
        shares[label] = 0.0
    if a.p.update == DA3:
        if a.p.entropic:
            interior(line, a.k, c, shares, a.work.rates)
        else:
            balance(a.work.scores, a.k, label, c * q, a.work.open, shares)
    a.dual_gain = c * entropy(shares, a.k)
    value = 0.0
    for r in range(a.k):
        a.work.moves[r], d[r] = r, -c * shares[r]
        if r != label:
            value += c * shares[r]
    d[label] = value
    a.n_moves = a.k


cdef inline double loss_of_zeros(const Ascent* a, const PassContext* context) noexcept nogil:
    """Return the loss of a row of zeros, summed over all learners: no weights reduce it, no step changes anything."""
    cdef Py_ssize_t c, n = 0
    if a.joint:
        return log(<double>a.k) if a.p.loss == LOG_LOSS else a.margin
    for c in range(a.k):
        n += not (a.k > 1 and context.open_classes and context.counts[c] == 0.0)
    return n * (log(2.0) if a.p.loss == LOG_LOSS else a.margin)


cdef inline void number_step(Ascent* a, const floating[::1] state, double y, bint squared) noexcept nogil:
    """Find a regressor's step: one dual variable α, λ = -α x. For the loss c |y - s| the dual has α y, |α| <= c; for c (y - s)²
    it has α y - α²/(4c). The optimal α lies between 0 and the (sub)gradient's, c sgn(y - s) or 2c (y - s)."""
    cdef double error = y - a.work.scores[0], sign = 1.0 if error > 0.0 else -1.0, value
    cdef double alpha = 2.0 * a.weight * fabs(error) if squared else a.weight
    a.loss = error * error if squared else fabs(error)
    if error == 0.0:
        return
    a.work.moves[0] = 0
    if a.p.entropic and a.p.update != DA1 and not squared and takes_all(a, state, a.work.moves, 1):
        pass
    elif a.p.update != DA1:
        a.line.ridge = 0.5 / a.weight if squared else 0.0
        a.work.d[0], a.line.which, a.line.d, a.line.n = sign, a.work.moves, a.work.d, 1
        if a.p.entropic:
            lay_out(a, state, a.work.moves, 1, alpha)
            alpha = climb(&a.line, alpha, sign * y, 0.0, NULL, NULL, 0, 0.0)
        else:
            value = fabs(error) / (a.line.ridge + a.size.q / a.shared.sigma)
            alpha = value if value < alpha else alpha
    a.work.d[0] = sign * alpha
    a.dual_gain = a.work.d[0] * y - (0.25 * alpha * alpha / a.weight if squared else 0.0)
    a.n_moves = alpha != 0.0


# --- a pass --------------------------------------------------------------------------------------------------------------------

cdef inline bint step_label(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Round* r,
                            PassContext* context) noexcept nogil:
    """Take the step of a row's label in the present group; return False if there is none. Steps beyond range are counted."""
    cdef Py_ssize_t g = a.simplex.first
    if a.joint:
        joint_step(a, state, r.label, context)
    elif not (context.open_classes and context.counts[g] == 0.0):
        own_step(a, state, g, (2.0 * r.label - 1.0) if a.k == 1 else (1.0 if g == r.label else -1.0))
    add_loss(a.weight * a.loss, context)
    if a.n_moves == 0:
        return False
    if take_step(a, state, data, indices, r.row, context.counters.rounds):
        return True
    context.counters.skipped += 1.0
    return False


cdef int learn_labels(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                      PassContext* context) except -1 nogil:
    """Learn labelled rows with one vector for two classes, else one a class."""
    cdef Py_ssize_t c, g
    cdef bint fine, updated
    cdef Round r
    while next_round(&r, b, context):
        read_row(a, state, data, indices, &r, context)
        before_step(BINARY, a.work.averages, 0.0, &r, b, context)
        if measure(data, &r, context, &a.p.bias):
            read_row(a, state, data, indices, &r, context)
        a.steepness = a.weight * (
            a.p.bound * a.size.largest if a.p.entropic else sqrt(a.size.q * (2.0 if a.joint else 1.0)))
        fine = in_range(a, a.size.largest == 0.0)
        for c in range(a.k):
            fine &= isfinite(a.work.scores[c])
        updated = False
        if not fine:
            context.counters.skipped += a.size.largest != 0.0
        elif a.size.largest == 0.0:
            a.shared.dual_gain += a.weight * loss_of_zeros(a, context)
        else:
            prepare(a, state, data, indices, r.row, context)
            for g in range(1 if a.joint else a.k):
                select_group(a, g)
                updated |= step_label(a, state, data, indices, &r, context)
        after_step(&r, updated, context)
        close_row(a, context)
    return 0


cdef int learn_numbers(Ascent* a, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                       PassContext* context) except -1 nogil:
    """Learn rows with targets, with one vector."""
    cdef bint fine, updated, squared = a.p.loss == SQUARED_LOSS
    cdef double y, error, size, slope
    cdef Round r
    while next_round(&r, b, context):
        y = r.target
        read_row(a, state, data, indices, &r, context)
        before_step(REGRESSION, a.work.averages, 0.0, &r, b, context)
        if measure(data, &r, context, &a.p.bias):
            read_row(a, state, data, indices, &r, context)
        error = y - a.work.scores[0]
        size = fabs(y) + fabs(a.work.scores[0])
        slope = 2.0 * a.weight * fabs(error) if squared else a.weight
        a.steepness = slope * (a.p.bound * a.size.largest if a.p.entropic else sqrt(a.size.q))
        fine = in_range(a, error == 0.0 or a.size.largest == 0.0)
        fine &= slope <= HUGE and size <= HUGE and a.weight * size * size <= 1e280
        updated = False
        if not fine:
            context.counters.skipped += a.size.largest != 0.0
        elif a.size.largest == 0.0:                 # (as in loss_of_zeros)
            a.shared.dual_gain += a.weight * (y * y if squared else fabs(y))
        else:
            prepare(a, state, data, indices, r.row, context)
            select_group(a, 0)
            number_step(a, state, y, squared)
            add_loss(a.weight * a.loss, context)
            updated = a.n_moves > 0 and take_step(a, state, data, indices, r.row, context.counters.rounds)
            context.counters.skipped += a.n_moves - updated
        after_step(&r, updated, context)
        close_row(a, context)
    return 0


# --- a model -------------------------------------------------------------------------------------------------------------------

cdef void place_model(Ascent* a, double* own, Py_ssize_t k, Py_ssize_t size) noexcept:
    """Set the pointers to the model's numbers: own, those in `shared`; k vectors in a state of `size` numbers."""
    a.k, a.width = k, 2 * k if a.p.entropic else k
    a.n_groups = 1 if a.p.joint else k
    a.n_features = size // a.width - 1
    a.shared, a.groups = <Shared*>own, <Group*>(<Shared*>own + 1)
    a.simplex.is_signed, a.simplex.k, a.simplex.n = a.p.is_signed, k, a.n_features + (a.p.constant != 0.0)


cdef void place_workspace(Ascent* a, double* numbers, Py_ssize_t* places, Py_ssize_t k) noexcept:
    """Lay out the workspace of a row; k >= 2."""
    cdef Workspace* w = &a.work
    cdef Py_ssize_t c, capacity = a.row.capacity
    w.sums, w.scores, w.averages, w.shares, w.d = numbers, numbers + k, numbers + 2 * k, numbers + 3 * k, numbers + 4 * k
    w.alpha, w.start, w.direction = numbers + 5 * k, numbers + 6 * k, numbers + 7 * k
    w.open, w.scratch, w.rates = numbers + 8 * k, numbers + 9 * k, numbers + 10 * k
    numbers += 13 * k
    a.line.capacity, a.line.ridge = capacity, 0.0
    a.line.h, a.line.powers, a.line.up, a.line.down = (
        numbers, numbers + capacity, numbers + 3 * capacity, numbers + (3 + a.k) * capacity)
    w.every, w.moves = places, places + k
    for c in range(a.k):
        w.every[c] = c
    a.row.places, a.sizes = places + 2 * k, places + 2 * k + capacity


cdef class AscentModel(Model):
    """A model of dual ascent, or of Hedge. `shared`, an array of float64: a `Shared`, and the numbers of each group."""
    cdef public object shared
    cdef AscentParams q

    cdef int bind(self) except -1:
        if self.bound is not self.params:
            params = self.params
            given = dict(zip(params._fields, params))   # (without a call of Python, in which a signal might be raised)
            with critical_section(self):        # several threads may read at once
                self.q = given
                self.p.open_classes, self.p.balanced, self.p.average_from, self.p.level = (
                    given["open_classes"], given["balanced"], given["average_from"], given["level"]
                )
                self.p.costs, self.p.margin, self.p.scale, self.p.constant = (
                    given["costs"], given["margin"], given["scale"], given["constant"]
                )
                self.bound = params
        return 0

    cdef int visit(self, rows, const Batch* b, PassContext* context) except -1:
        return visit_any_rows(self, rows, b, context)

    cdef int learn_rows(self, floating[::1] state, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                        PassContext* context) except -1:
        """Allocate the workspace of a pass, and learn."""
        cdef Py_ssize_t i, n_masses, longest = 0, k = max(context.columns, 2)
        cdef double[::1] own = self.shared, numbers
        cdef Py_ssize_t[::1] places
        cdef floating[::1] entries
        cdef Ascent a
        a.p, a.inverse = self.q, context.inverse
        a.p.bias = context.bias
        if a.p.experts:
            numbers = np.empty(state.shape[0] - 1)
            with nogil:
                return learn_experts(numbers, <Shared*>&own[0], state, data, indices, b, context, &a.p)
        place_model(&a, &own[0], context.columns, state.shape[0])
        a.joint, a.correction = a.p.joint and a.k > 1, context.correction
        a.simplex.counts, a.simplex.correction, a.simplex.limit = NULL, context.correction, a.p.limit
        for i in range(b.n_rows):
            longest = max(longest, b.indptr[i + 1] - b.indptr[i])
        a.row.capacity = round_up(longest + 1)
        n_masses = 2 * a.k if a.p.entropic and a.p.update != DA1 else 0     # (for the searches of DA2 and DA3)
        numbers = np.zeros(13 * k + (3 + n_masses) * a.row.capacity)
        places = np.zeros(2 * k + 2 * a.row.capacity, np.intp)
        entries = np.empty(n_work(a.k) * a.row.capacity if a.p.entropic else 1, np.float32 if floating is float else np.float64)
        a.row.x = &entries[0]
        place_workspace(&a, &numbers[0], &places[0], k)
        with nogil:
            if context.task == REGRESSION:
                return learn_numbers(&a, state, data, indices, b, context)
            return learn_labels(&a, state, data, indices, b, context)

    # --- reading: never a write ------------------------------------------------------------------------------------------------

    cdef int decide(self, const floating[::1] data, const index_t[::1] indices, const Batch* b, PassContext* context) except -1:
        """Compute found[i, c] = w_c.x_i of the model, or of its average if there is one."""
        cdef Py_ssize_t i, c, k = context.n_found
        cdef const floating[::1] state = self.values
        cdef const double[::1] own = self.shared, correction = self.correction, counters = self.counters
        cdef double[::1] scales, ages = np.empty(k)
        cdef double rounds = counters[0] - self.p.average_from if correction.shape[0] else 0.0
        cdef double* scores
        cdef Ascent a
        cdef Row row
        a.p, a.inverse = self.q, context.inverse
        a.p.bias = context.bias
        scales = self.expert_weights() if a.p.experts else np.empty(k)
        place_model(&a, <double*>&own[0], k, state.shape[0])
        a.correction = <double*>&correction[0] if correction.shape[0] else NULL
        for c in range(0 if a.p.experts else k):
            scales[c], ages[c] = scale_of(&a.p, a.shared, group_of(&a, c), counters[0]), group_of(&a, c).ages
        with nogil:
            for i in range(b.n):
                row = row_at(b, i)
                scores = &context.found[i * k]
                context.budget = check_signals(context.budget, (row.hi - row.lo + 8) * k)
                if a.p.experts:
                    scores[0] = chance(scales, data, indices, row) - (0.0 if a.p.is_signed else 0.5)
                    continue
                scan_sums(state, a.width, k, data, indices, row, a.p.bias, scores)
                for c in range(k):
                    scores[c] *= a.inverse
                    if rounds > 0.0:
                        scores[c] = score_of_average(ages[c] * scores[c], &a, c, data, indices, row) / rounds
                    else:
                        scores[c] *= scales[c]
        return 0

    def scales(self, Py_ssize_t k):
        """Return κ of each of k vectors, the factor of the stored numbers."""
        cdef const double[::1] own = self.shared, counters = self.counters
        cdef Ascent a
        self.bind()
        a.p = self.q
        place_model(&a, <double*>&own[0], k, len(self.values))
        return np.array([scale_of(&a.p, a.shared, group_of(&a, c), counters[0]) for c in range(k)])

    def expert_weights(self):
        """Return w of the next round (Hedge)."""
        cdef const double[::1] counters = self.counters
        cdef const float[::1] floats
        cdef const double[::1] doubles
        cdef double[::1] w = np.empty(len(self.values) - 1)
        self.bind()
        if self.values.itemsize == 4:
            floats = self.values
            weigh_experts(floats, counters[0] + 1.0, w, &self.q)
        else:
            doubles = self.values
            weigh_experts(doubles, counters[0] + 1.0, w, &self.q)
        return np.asarray(w)

    # --- beginning -------------------------------------------------------------------------------------------------------------

    def start_simplexes(self, Py_ssize_t k, Py_ssize_t n_live, bint joint, bint is_signed):
        """Compute the groups' numbers and all powers from u, in a new model or after its classes have changed."""
        if self.values.itemsize == 4:
            self.start_in[float](self.values, k, n_live, joint, is_signed)
        else:
            self.start_in[double](self.values, k, n_live, joint, is_signed)

    cdef int start_in(self, floating[::1] state, Py_ssize_t k, Py_ssize_t n_live, bint joint, bint is_signed) except -1:
        cdef double[::1] own = self.shared
        cdef Ascent a
        cdef Py_ssize_t g
        a.p.joint, a.p.entropic, a.p.is_signed, a.p.constant = joint, True, is_signed, 0.0
        place_model(&a, &own[0], k, state.shape[0])
        a.simplex.n, a.simplex.counts, a.simplex.correction = n_live, NULL, NULL
        with nogil:
            for g in range(a.n_groups):
                select_group(&a, g)
                start_group(state, &a.simplex)
        return 0


cdef int visit_rows(AscentModel self, const floating[::1] data, const index_t[::1] indices, const Batch* b,
                    PassContext* context) except -1:
    cdef floating[::1] state
    if context.task == DECISION:
        return self.decide(data, indices, b, context)
    state = self.values
    return self.learn_rows(state, data, indices, b, context)


include "../../_compiled/visit.pxi"


def powers(floating[::1] x):
    """Replace x[i] by e^x[i]: for tests of powers.pxd."""
    exp_all(&x[0], x.shape[0])
