"""Dual ascent (Shalev-Shwartz and Singer's tutorial) and what is of its form: one pass of each over rows.

A model is θ = Σ α_i Δφ_i, and the weights are ∇f*(θ): a number κ of the moment times what is stored of each feature, so that a
row costs O(nnz) however κ moves.

    f             state of a feature              the weight that predicts       κ
    Euclidean     θ                               κ θ                            1/σ
    entropic      e^-K sinh u, u = Wθ/σ           κ e^-K sinh u                  W / Z,  Z = e^-K Σ cosh u

Z is kept in two doubles (its telescoping sums are then exact), K is the largest |u| when the numbers were last scaled; that is
done again, in O(features), when they have grown by e^SPREAD or Z has shrunk by 2^40 (with an average, sooner), and when a growing
σ has left its step of the grid (see `settle`).

A group is what shares a simplex (entropic) or a norm: all classes, or with one against the rest each class. Its numbers are a run
of `books`; the first few are the model's.
"""
from libc.math cimport exp, fabs, isfinite, log, log1p, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .line cimport Line, balance, climb, entropy, follow, interior, log_sum, pairs, share_out, single
from .._geometry.hyperbolic cimport LANES, changes, cosh_all, largest_of, masses_of, sinh_all, whole
from .._geometry.sparse cimport Row, column, dense_t, floating, index_t, larger, prefetch
from .._geometry.powers cimport exp_all, with_sign
from .._geometry.books cimport LOSS, MISTAKES, QUANTUM, ROUNDS, SKIPPED, UPDATES, best_of, count_in, look_up, note, row_at

BOOKS = {"gain": GAIN, "lipschitz": LIPSCHITZ, "sigma": SIGMA, "shared": N_SHARED, "ages": AGES, "energy": ENERGY,
         "high": Z_HIGH, "low": Z_LOW, "shift": SHIFT, "peak": PEAK, "top": TOP, "group": N_GROUP}

LOSSES = {"hinge": HINGE, "log_loss": LOG_LOSS, "absolute": ABSOLUTE_LOSS, "squared": SQUARED_LOSS}
UPDATES_OF = {"DA1": DA1, "DA2": DA2, "DA3": DA3}
SCHEDULES = {"fixed": FIXED, "auto": AUTO, "strongly_convex": STRONGLY_CONVEX, "sqrt": SQRT}

cdef double SPREAD = 40.0    # (e^80, a square, fits a float)
cdef double CLOSE = 5.0      # with an average: AGES (what is stored) and drift, whose difference counts, are as much larger
cdef double SHRUNK = 2.0 ** -40
cdef double STEP_OF_GRID = 1.5
cdef double HUGE = 1e150
LARGEST_STEP = HUGE         # rows beyond it, or (σ = auto) below its inverse, are left out: all that follows is then finite

ctypedef struct Facts:      # of a row
    double q                # ||x||^2
    double largest          # max |x_i|
    double weight           # c


# --- one feature, one number ---------------------------------------------------------------------------------------------------

cdef inline floating floor_of(floating shift) noexcept nogil:
    """e^-K, as the powers of features have it: what is stored for u = 0 is then exactly 0."""
    cdef floating root = -shift
    exp_all(&root, 1)
    return root


cdef inline void add_to(double* high, double* low, double value) noexcept nogil:
    """(high, low) += value, the rounding of the sum kept."""
    cdef double total = high[0] + value, part = total - high[0]
    low[0] += (high[0] - (total - part)) + (value - part)
    high[0] = total


cdef inline double scale_of(const double* books, const double* group, int64_t t, const Params* p) noexcept nogil:
    """κ, after t rounds."""
    if p.entropic:
        return p.bound / (group[Z_HIGH] + group[Z_LOW])
    if p.schedule == SQRT:
        return 1.0
    if p.schedule == STRONGLY_CONVEX:
        return 1.0 / (p.sigma * t) if t > 0 else 0.0
    return 1.0 / books[SIGMA] if books[SIGMA] > 0.0 else 0.0


def scales(Params p, const double[::1] books, int64_t t):
    """κ of each group, after t rounds."""
    cdef Py_ssize_t g, n = (books.shape[0] - N_SHARED) // N_GROUP
    return [scale_of(&books[0], &books[N_SHARED + g * N_GROUP], t, &p) for g in range(n)]


# --- scaling the numbers of an entropic model ----------------------------------------------------------------------------------

cdef enum:
    BATCH = 256
    SIZES = 8

cdef void rescale(floating[::1] state, double[::1] drift, Py_ssize_t k, Py_ssize_t n_live, Py_ssize_t first, Py_ssize_t last,
                  double* group, double factor) noexcept nogil:
    """u *= factor for the classes first .. last - 1, a group; then K, Z and all that is stored anew.

    The sums of the average, AGES (what is stored) - drift, are from then on in drift alone.

    In one pass, with the largest |u| there has been for K; where that is far above what there is, once more. (What is stored for
    u = 0 is 0 already. Which features these are is not to be foreseen: no branch asks.)
    """
    cdef Py_ssize_t j, c, at, n = 0, n_moved = 0
    cdef Py_ssize_t[BATCH] places
    cdef floating[BATCH] sinh
    group[SHIFT], group[Z_HIGH], group[Z_LOW], group[TOP] = <floating>(group[TOP] * factor), 0.0, 0.0, 0.0
    for j in range(n_live):
        for c in range(first, last):
            at = 2 * k * j + c
            places[n] = at
            n += state[at + k] != 0.0
            if n == BATCH:
                recast(state, drift, k, group, factor, places, sinh, n)
                n_moved += n
                n = 0
    recast(state, drift, k, group, factor, places, sinh, n)
    add_to(&group[Z_HIGH], &group[Z_LOW], ((last - first) * n_live - n_moved - n) * <double>floor_of(<floating>group[SHIFT]))
    group[PEAK], group[AGES] = group[Z_HIGH], 0.0
    if group[SHIFT] > group[TOP] + 20.0:
        rescale(state, drift, k, n_live, first, last, group, 1.0)


cdef inline double* drift_of(double[::1] drift, Py_ssize_t place, Py_ssize_t k) noexcept nogil:
    """The drift of a feature and class, from their place in the state."""
    return &drift[place // (2 * k) * k + place % (2 * k)]


cdef inline void recast(floating[::1] state, double[::1] drift, Py_ssize_t k, double* group, double factor,
                        const Py_ssize_t* places, floating* sinh, Py_ssize_t n) noexcept nogil:
    """What is stored at these places, and their part of Z and of TOP, from u times factor."""
    cdef Py_ssize_t j, at, full = whole(n)
    cdef floating[BATCH] u, zero, cosh
    cdef double[2 * LANES] sums
    cdef floating shift = <floating>group[SHIFT], root = floor_of(shift)
    for j in range(n):
        at = places[j] + k
        state[at] = u[j] = <floating>(state[at] * factor)
    for j in range(n, full):
        u[j] = 0.0
    sinh_all(sinh, u, shift, root, full)
    for j in range(full):
        zero[j], cosh[j] = 0.0, sinh[j]
    cosh_all(cosh, root, full)
    for j in range(n, full):
        cosh[j] = 0.0
    changes(zero, cosh, full, sums)
    for j in range(LANES):
        add_to(&group[Z_HIGH], &group[Z_LOW], sums[j])
        group[Z_LOW] += sums[LANES + j]
    group[TOP] = larger(group[TOP], <double>largest_of(u, full))
    for j in range(n):
        if group[AGES] > 0.0 and drift.shape[0]:
            drift_of(drift, places[j], k)[0] -= group[AGES] * state[places[j]]
        state[places[j]] = sinh[j]


def rebuild(floating[::1] state, Py_ssize_t k, Py_ssize_t n_live, bint joint, double[::1] books):
    """Z and all that is stored, from u: for a model that begins, or whose classes have changed."""
    cdef Py_ssize_t c, j, at
    cdef double[::1] no_drift = np.empty(0)
    cdef double* group
    with nogil:
        for c in range(1 if joint else k):
            group = &books[N_SHARED + c * N_GROUP]
            for j in range(n_live):
                for at in range(2 * k * j + k + (0 if joint else c), 2 * k * j + k + (k if joint else c + 1)):
                    group[TOP] = larger(group[TOP], fabs(state[at]))
            rescale(state, no_drift, k, n_live, 0 if joint else c, k if joint else c + 1, group, 1.0)


# --- a row and the model -------------------------------------------------------------------------------------------------------

cdef inline Facts scan(const floating[::1] state, Py_ssize_t width, Py_ssize_t k, const floating[::1] data,
                       const index_t[::1] indices, Row row, double* sums, const Params* p) noexcept nogil:
    """sums[c] = Σ x_i (what is stored of feature i, class c), from left to right; and what there is to know of the row itself."""
    cdef Py_ssize_t i, c, at
    cdef double x, total = 0.0, q = 0.0, largest = 0.0
    cdef Facts facts
    if k == 1:
        for i in range(row.lo, row.hi):
            if index_t is not dense_t:
                prefetch(&state[width * <Py_ssize_t>indices[i + row.ahead]])
            x = data[i]
            total += x * state[width * column(indices, i, row.lo)]
            q += x * x
            largest = larger(largest, fabs(x))
        sums[0] = total + p.bias * state[state.shape[0] - width]
    else:
        for c in range(k):
            sums[c] = 0.0
        for i in range(row.lo, row.hi):
            x = data[i]
            at = width * column(indices, i, row.lo)
            for c in range(k):
                sums[c] += x * state[at + c]
            q += x * x
            largest = larger(largest, fabs(x))
        for c in range(k):
            sums[c] += p.bias * state[state.shape[0] - width + c]
    facts.q = q + p.bias * p.bias
    facts.largest = larger(largest, p.bias)
    facts.weight = 0.0
    return facts


ctypedef struct Bench:      # a row without its zeros
    Py_ssize_t m, room      # (room: whole)
    Py_ssize_t* places      # of its features in the state
    Py_ssize_t* sizes       # of its |x|, by number
    void* numbers           # of the model's type: x, and room for what goes with it


cdef inline void pick(Bench* bench, const floating[::1] state, Py_ssize_t k, const floating[::1] data,
                      const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    cdef Py_ssize_t j, m = 0
    cdef floating* x = <floating*>bench.numbers
    for j in range(row.lo, row.hi):
        if data[j] != 0.0:
            bench.places[m] = 2 * k * column(indices, j, row.lo)
            x[m] = data[j]
            m += 1
    if p.bias > 0.0:
        bench.places[m], x[m], m = state.shape[0] - 2 * k, <floating>p.bias, m + 1
    bench.m = m


cdef inline bint takes_all(double loss, const floating[::1] state, const double* group, double beta, double sigma,
                           const Bench* bench, const Facts* f, const Py_ssize_t* classes, Py_ssize_t n) noexcept nogil:
    """Whether the best α is surely c, the most there may be, entropic: whether its derivative, the loss, falls to 0 before.

    For each unit of α it falls by f*'' <= σ (β max |x|)²; and by no more than σ β² Σ x² cosh u / Σ cosh u, whose parts move
    by e^(±c β max |x|) on the way.
    """
    cdef Py_ssize_t i, j
    cdef const floating* x = <const floating*>bench.numbers
    cdef double bend = sigma * (beta * f.largest) * (beta * f.largest), total = 0.0, root = floor_of(<floating>group[SHIFT])
    if loss >= f.weight * bend:
        return True
    for i in range(n):
        for j in range(bench.m):
            total += <double>x[j] * x[j] * (fabs(state[bench.places[j] + classes[i]]) + root)
    bend = sigma * beta * beta * exp(2.0 * f.weight * beta * f.largest) * total / (group[Z_HIGH] + group[Z_LOW])
    return loss >= f.weight * bend


cdef void lay_out(Line* line, const floating[::1] state, const double* group, double beta, const Bench* bench,
                  const Facts* f, const Py_ssize_t* classes, Py_ssize_t n) noexcept nogil:
    """The masses of the row's features in these classes: of those of one |x| together, as they move together (the P and N of the
    closed form), where there are few sizes of x, as of counts; else of each."""
    cdef Py_ssize_t i, j, s, m = bench.m, n_sizes = 0, n_met
    cdef const Py_ssize_t* places = bench.places
    cdef const floating* x = <const floating*>bench.numbers
    cdef floating* sinh = <floating*>bench.numbers + bench.room
    cdef floating size
    cdef floating[SIZES] sizes
    cdef double* up
    cdef double* down
    cdef double rise, fall, root = floor_of(<floating>group[SHIFT])
    for j in range(m):
        size = with_sign(x[j], <floating>1.0)
        for s in range(n_sizes):
            if sizes[s] == size:
                break
        else:
            if n_sizes == SIZES:
                n_sizes = 0
                break
            sizes[n_sizes] = size
            s = n_sizes
            n_sizes += 1
        bench.sizes[j] = s
    line.entropic = True
    line.z = group[Z_HIGH] + group[Z_LOW]
    line.steepest = beta * f.largest
    line.m = n_sizes if n_sizes else m
    for j in range(line.m):
        line.h[j] = beta * (sizes[j] if n_sizes else x[j])
    for i in range(n):
        up = line.up + classes[i] * line.room
        down = line.down + classes[i] * line.room
        for j in range(m):
            sinh[j] = state[places[j] + classes[i]]
        for j in range(m, whole(m)):
            sinh[j] = 0.0
        masses_of(sinh, up, down, root, whole(m))
        if n_sizes == 0:
            continue
        n_met = 0
        for j in range(m):      # (the s-th size is not met before the s-th feature: its sums take a place that is read already)
            s = bench.sizes[j]
            rise = up[j] if x[j] > 0.0 else down[j]
            fall = down[j] if x[j] > 0.0 else up[j]
            if s == n_met:
                up[s], down[s], n_met = rise, fall, n_met + 1
            else:
                up[s] += rise
                down[s] += fall


cdef inline bint move(floating[::1] state, double[::1] drift, Py_ssize_t k, const Py_ssize_t* classes, const double* d,
                      Py_ssize_t n, const floating[::1] data, const index_t[::1] indices, Row row, double ages,
                      const Params* p) noexcept nogil:
    """θ_c += d_c x for some classes, Euclidean; False, and nothing done, where that would leave the range of the dtype."""
    cdef Py_ssize_t i, j, at, n_columns = state.shape[0] // k
    cdef double x, before
    for j in range(row.lo, row.hi + 1):
        x = data[j] if j < row.hi else p.bias
        at = k * (column(indices, j, row.lo) if j < row.hi else n_columns - 1)
        for i in range(n):
            if not fabs(state[at + classes[i]] + d[i] * x) <= p.limit:
                return False
    for j in range(row.lo, row.hi + 1):
        x = data[j] if j < row.hi else p.bias
        if x == 0.0:
            continue
        at = k * (column(indices, j, row.lo) if j < row.hi else n_columns - 1)
        for i in range(n):
            before = state[at + classes[i]]
            state[at + classes[i]] += <floating>(d[i] * x)
            if ages > 0.0:
                drift[at + classes[i]] += ages * (state[at + classes[i]] - before)
    return True


cdef inline bint tilt(floating[::1] state, double[::1] drift, Py_ssize_t k, double* group, Py_ssize_t first, Py_ssize_t last,
                      const Py_ssize_t* classes, const double* d, Py_ssize_t n, double beta, Py_ssize_t n_live,
                      const Bench* bench, const Params* p) noexcept nogil:
    """`move`, entropic: u_c += β d_c x for some classes of a group.

    A row's numbers are gathered, changed all at once (powers, roots and quotients of several at a time), and put back. The
    change of Z goes to the two doubles with what its own difference rounds away.
    """
    cdef Py_ssize_t i, j, at, m = bench.m, room = bench.room, full = whole(m)
    cdef const Py_ssize_t* places = bench.places
    cdef const floating* x = <const floating*>bench.numbers
    cdef floating* u = <floating*>bench.numbers + room
    cdef floating* before = u + n * room
    cdef floating* after = before + n * room
    cdef floating* sinh = after + room
    cdef floating shift = <floating>group[SHIFT], root = floor_of(shift), most = 0.0
    cdef double step, high = group[Z_HIGH], low = group[Z_LOW]
    cdef double[2 * LANES] sums
    for i in range(n):
        step = beta * d[i]
        for j in range(m):
            at = places[j] + classes[i]
            before[i * room + j] = state[at]
            u[i * room + j] = state[at + k] + <floating>(step * x[j])
        for j in range(m, full):
            u[i * room + j] = before[i * room + j] = 0.0
        most = larger(most, largest_of(u + i * room, full))
    if most > p.limit:
        return False
    group[TOP] = larger(group[TOP], <double>most)
    if most > group[SHIFT] + (CLOSE if drift.shape[0] else SPREAD):
        for i in range(n):
            for j in range(m):
                state[places[j] + k + classes[i]] = u[i * room + j]
                if u[i * room + j] == 0.0:
                    if group[AGES] > 0.0 and drift.shape[0]:
                        drift_of(drift, places[j] + classes[i], k)[0] -= group[AGES] * state[places[j] + classes[i]]
                    state[places[j] + classes[i]] = 0.0
        rescale(state, drift, k, n_live, first, last, group, 1.0)
        return True
    for i in range(n):
        sinh_all(sinh, u, shift, root, full)
        for j in range(full):
            after[j] = sinh[j]
        cosh_all(before, root, full)
        cosh_all(after, root, full)
        if group[AGES] > 0.0 and drift.shape[0]:
            for j in range(m):
                at = places[j] + classes[i]
                drift_of(drift, at, k)[0] += group[AGES] * (<double>sinh[j] - state[at])
        for j in range(m):
            at = places[j] + classes[i]
            state[at], state[at + k] = sinh[j], u[j]
        changes(before, after, full, sums)
        for j in range(LANES):
            add_to(&high, &low, sums[j])
            low += sums[LANES + j]
        u, before = u + room, before + room
    group[Z_HIGH], group[Z_LOW] = high, low
    group[PEAK] = larger(group[PEAK], high)
    if high < (0.01 if drift.shape[0] else SHRUNK) * group[PEAK]:
        rescale(state, drift, k, n_live, first, last, group, 1.0)
    return True


cdef bint settle(floating[::1] state, double[::1] drift, Py_ssize_t k, Py_ssize_t n_live, double[::1] books, double[::1] tally,
                 const Facts* f, double steepness, const Params* p) noexcept nogil:
    """σ of this round. True if the scores have changed by it otherwise than by a factor.

    Entropic with σ = L √(t / log n): every weight changes with σ, so that σ keeps to the last value until the one wanted is a
    half more; then all is made anew.
    """
    cdef Py_ssize_t g, n_groups = (books.shape[0] - N_SHARED) // N_GROUP
    cdef double wanted, old = books[SIGMA], size = 2.0 * n_live * (k if n_groups == 1 else 1)
    if p.schedule != AUTO:
        books[SIGMA] = p.sigma
        return False
    books[LIPSCHITZ] = larger(books[LIPSCHITZ], steepness)
    if not p.entropic:
        books[SIGMA] = sqrt(2.0 * tally[ROUNDS]) * books[LIPSCHITZ] / p.bound
        return False
    wanted = books[LIPSCHITZ] * sqrt(tally[ROUNDS] / log(size))
    if wanted <= old * STEP_OF_GRID or not isfinite(wanted):
        return False
    books[SIGMA] = wanted
    if old > 0.0:
        for g in range(n_groups):
            rescale(state, drift, k, n_live, g if n_groups > 1 else 0, g + 1 if n_groups > 1 else k,
                    &books[N_SHARED + g * N_GROUP], old / wanted)
    return old > 0.0


def classify(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
             const int64_t[::1] order, const int32_t[::1] y, const double[::1] weights, const double[::1] class_weights,
             floating[::1] state, double[::1] drift, double[::1] counts, double[::1] tally, double[::1] books,
             int32_t[::1] predictions):
    """One pass over rows, one vector for two classes, else one a class; arguments as in _core.

    predictions : what predict would have said before each row, by row number; or empty.
    """
    cdef Py_ssize_t n_classes = counts.shape[0], k = n_classes if n_classes > 2 else 1, width = 2 * k if p.entropic else k
    cdef Py_ssize_t i, j, g, c, at, label, said, rival, n, n_moves, first, last
    cdef int update
    cdef Py_ssize_t n_live = state.shape[0] // width - (p.bias == 0.0)
    cdef Py_ssize_t n_groups = 1 if p.joint else k, n_rows = order.shape[0] if order.shape[0] else y.shape[0], budget = QUANTUM
    cdef bint joint = p.joint and k > 1, averaging = p.average_from >= 0 and drift.shape[0] > 0, fine, moved, updated, newcomer
    cdef Py_ssize_t room = whole((int(np.diff(np.asarray(indptr)).max()) if indptr.shape[0] > 1 else 0) + 1)
    cdef Py_ssize_t n_masses = k * room if p.entropic and p.update != DA1 else 0
    cdef double[::1] masses = np.empty(2 * n_masses + 3 * room)
    cdef Py_ssize_t n_numbers = (2 * k + 3) * room if p.entropic else 1
    cdef floating[::1] numbers = np.empty(n_numbers, np.float32 if floating is float else np.float64)
    cdef Py_ssize_t[::1] places = np.empty(2 * room, np.intp)
    cdef double[:, ::1] work = np.zeros((10, max(k, 2)))
    cdef Py_ssize_t[::1] slots = np.zeros(3 * max(k, 2), np.intp)
    cdef double* sums = &work[0, 0]
    cdef double* scores = &work[1, 0]
    cdef double* shares = &work[2, 0]
    cdef double* d = &work[3, 0]
    cdef double* alpha = &work[4, 0]
    cdef double* a = &work[5, 0]
    cdef double* da = &work[6, 0]
    cdef double* open = &work[7, 0]
    cdef double* scratch = &work[8, 0]
    cdef Py_ssize_t* which = &slots[0]
    cdef Py_ssize_t* moves = &slots[max(k, 2)]
    cdef Py_ssize_t* followed = &slots[2 * max(k, 2)]
    cdef double* group
    cdef double kappa, beta, sign, value, gain, rounds, steepness, loss, total
    cdef Row row
    cdef Facts f
    cdef Line line
    cdef Params bounded
    cdef Bench bench = Bench(0, room, &places[0], &places[room], &numbers[0])
    line.room, line.ridge = room, 0.0
    line.h = &masses[2 * n_masses]
    line.powers = line.h + room
    line.up = &masses[0]
    line.down = &masses[n_masses]
    for c in range(k):
        slots[c] = c
    with nogil:
        for i in range(n_rows):
            row = row_at(indptr, order, i)
            budget = look_up(budget, (row.hi - row.lo + 8) * k)
            at = order[i] if order.shape[0] else i
            label = y[at]
            value = count_in(at, label, weights, class_weights, counts, tally, p.balanced)
            if value == 0.0:
                continue
            f = scan(state, width, k, data, indices, row, sums, &p)
            f.weight = value

            # What predict would have said, by the weights as they were.
            rounds = tally[ROUNDS] - 1.0 - p.average_from if averaging else 0.0
            for c in range(k):
                group = &books[N_SHARED + (c if n_groups > 1 else 0) * N_GROUP]
                kappa = scale_of(&books[0], group, <int64_t>tally[ROUNDS] - 1, &p)
                scores[c] = kappa * sums[c]
                if rounds > 0.0:
                    value = group[AGES] * sums[c]
                    for j in range(row.lo, row.hi):
                        value -= data[j] * drift[k * column(indices, j, row.lo) + c]
                    scratch[c] = (value - p.bias * drift[drift.shape[0] - k + c]) / rounds
                else:
                    scratch[c] = scores[c]
            newcomer = p.open_classes & (counts[label] == 1.0)      # which could not have been said
            if k > 1:
                said = best_of(scratch, counts, label if newcomer else -1, p.open_classes)
            else:
                said = 1 - label if newcomer else scratch[0] > 0.0
            tally[MISTAKES] += said != label
            if predictions.shape[0]:
                predictions[at] = <int32_t>said

            # σ of this round, and the scores by it.
            steepness = f.weight * (p.bound * f.largest if p.entropic else sqrt(f.q * (2.0 if joint else 1.0)))
            fine = f.q <= HUGE and larger(f.weight, steepness) <= HUGE and (p.schedule != AUTO or steepness >= 1.0 / HUGE)
            fine &= not p.entropic or p.schedule == AUTO or p.bound * f.largest <= HUGE * p.sigma
            for c in range(k):
                fine &= isfinite(scores[c])
            if f.largest > 0.0 and not fine:
                tally[SKIPPED] += 1.0
            elif f.largest > 0.0:
                if settle(state, drift, k, n_live, books, tally, &f, steepness, &p):
                    budget = look_up(budget, n_live * k)
                    value = f.weight
                    f = scan(state, width, k, data, indices, row, sums, &p)
                    f.weight = value
                if p.schedule == AUTO:
                    for c in range(k):
                        group = &books[N_SHARED + (c if n_groups > 1 else 0) * N_GROUP]
                        scores[c] = scale_of(&books[0], group, <int64_t>tally[ROUNDS] - 1, &p) * sums[c]
                beta = p.bound / books[SIGMA] if p.entropic else 1.0
                line.entropic, line.sigma = p.entropic, books[SIGMA]
                bounded = p
                if not p.entropic and p.schedule != SQRT and books[SIGMA] < 1.0:
                    bounded.limit = p.limit * books[SIGMA]
                if p.entropic:
                    pick(&bench, state, k, data, indices, row, &p)
                updated = False
                fine = True
                for g in range(1 if joint else k):
                    group = &books[N_SHARED + g * N_GROUP]
                    gain = loss = 0.0
                    n_moves = 0
                    if joint:
                        total = 0.0
                        for c in range(k):
                            open[c] = not (p.open_classes and counts[c] == 0.0)
                        rival = best_of(scores, counts, label, p.open_classes)
                        loss = p.margin - (scores[label] - scores[rival]) if rival >= 0 else 0.0
                        if p.loss == LOG_LOSS:
                            value = log_sum(scores, k, shares)
                            loss = value - scores[label]
                            for c in range(k):
                                if c != label:
                                    total += shares[c]
                        if loss > 0.0 and rival >= 0 and (p.loss == HINGE or total > 0.0):
                            n_moves = joint_step(&line, state, group, beta, &bench, &f, scores, shares, total, label, rival, loss,
                                                 k, open, alpha, a, da, d, which, moves, followed, scratch, &gain, &p)
                    elif not (p.open_classes and counts[g] == 0.0):
                        sign = (2.0 * label - 1.0) if k == 1 else (1.0 if g == label else -1.0)
                        value = sign * scores[g]
                        loss = p.margin - value
                        if p.loss == LOG_LOSS:
                            loss = log1p(exp(-value)) if value > -30.0 else -value
                        if loss > 0.0:
                            moves[0], d[0] = g, sign
                            line.which, line.d, line.n = moves, d, 1
                            update = p.update
                            if (p.entropic and update != DA1 and p.loss == HINGE and
                                    takes_all(loss, state, group, beta, books[SIGMA], &bench, &f, moves, 1)):
                                update = DA1
                            if update != DA1:
                                if p.entropic:
                                    lay_out(&line, state, group, beta, &bench, &f, moves, 1)
                                else:
                                    line.slope = f.q / books[SIGMA]
                            d[0] = sign * single(&line, value, p.margin, f.weight, &gain, p.loss, update)
                            n_moves = d[0] != 0.0
                    value = f.weight * loss
                    if 0.0 < value < 1e290:
                        tally[LOSS] += value
                    if n_moves == 0:
                        continue
                    value = 0.0
                    for n in range(n_moves):
                        if p.schedule == SQRT:
                            d[n] *= p.sigma / sqrt(tally[ROUNDS])
                        value += d[n] * (2.0 * sums[moves[n]] + d[n] * f.q)
                    first = 0 if n_groups == 1 else g
                    last = k if n_groups == 1 else g + 1
                    if p.entropic:
                        moved = tilt(state, drift, k, group, first, last, moves, d, n_moves, beta, n_live, &bench, &p)
                    else:
                        moved = move(state, drift, k, moves, d, n_moves, data, indices, row,
                                     group[AGES] if averaging else 0.0, &bounded)
                    if moved:
                        if not p.entropic:
                            group[ENERGY] += value
                        books[GAIN] += gain
                        updated = True
                    else:
                        fine = False
                tally[UPDATES] += updated
                tally[SKIPPED] += not fine
            if averaging and tally[ROUNDS] > p.average_from:
                for g in range(n_groups):
                    group = &books[N_SHARED + g * N_GROUP]
                    group[AGES] += scale_of(&books[0], group, <int64_t>tally[ROUNDS], &p)


cdef Py_ssize_t joint_step(Line* line, const floating[::1] state, const double* group, double beta, const Bench* bench,
                           const Facts* f, double* scores, double* shares, double total, Py_ssize_t label, Py_ssize_t rival,
                           double loss, Py_ssize_t k, const double* open, double* alpha, double* a, double* da, double* d,
                           const Py_ssize_t* which, Py_ssize_t* moves, Py_ssize_t* followed, double* scratch, double* gain,
                           const Params* p) noexcept nogil:
    """The dual variables of a row in the joint construction: θ_c += d_c x for the classes in moves; returns how many.

    shares : the softmax of the scores; total : of them, what the wrong classes have.
    """
    cdef Py_ssize_t r, n = 0
    cdef double c = f.weight, q = f.q / line.sigma, value, s
    if p.loss == HINGE:
        for r in range(k):
            alpha[r] = 0.0
        alpha[rival] = c
        moves[0], moves[1], d[0], d[1] = label, rival, 1.0, -1.0
        if p.update == DA2 and p.entropic and takes_all(loss, state, group, beta, line.sigma, bench, f, moves, 2):
            pass
        elif p.update != DA1:
            if p.entropic:
                lay_out(line, state, group, beta, bench, f, which if p.update == DA3 else moves, k if p.update == DA3 else 2)
                line.which, line.d, line.n = moves, d, 2
                alpha[rival] = climb(line, c, p.margin, 0.0, NULL, NULL, 0, 0.0)
            elif p.update == DA2 or not (q * c > 1e-300):
                value = loss / (2.0 * q) if q > 0.0 else c
                alpha[rival] = value if value < c else c
            else:
                for r in range(k):
                    a[r] = (p.margin - scores[label] + scores[r]) / q if r != label and open[r] else 0.0
                share_out(a, k, c, alpha, scratch)
            if p.update == DA3 and p.entropic:
                follow(line, alpha[rival])
                alpha[label] = c - alpha[rival]
                pairs(line, scores, k, label, p.margin, c, open, alpha, scratch)
                alpha[label] = 0.0
        value = 0.0
        for r in range(k):
            if alpha[r] != 0.0 and r != label:
                n += 1
                moves[n], d[n] = r, -alpha[r]
                value += alpha[r]
        moves[0], d[0] = label, value
        gain[0] = p.margin * value
        return n + 1 if value > 0.0 else 0

    for r in range(k):                      # the line towards the softmax: a = e_y + s (p - e_y)
        a[r] = 0.0
        da[r] = shares[r]
        d[r] = -c * shares[r]
    a[label], da[label], d[label] = 1.0, -total, c * total
    s = 1.0
    if p.update != DA1:
        line.which, line.d, line.n = which, d, k
        if p.entropic:
            lay_out(line, state, group, beta, bench, f, which, k)
        line.start = line.slope = 0.0
        for r in range(k):
            line.start += d[r] * scores[r]
            line.slope += d[r] * d[r] * q
        if p.update == DA2 or p.entropic:
            s = climb(line, 1.0 / total, 0.0, c, a, da, k, 1.0)
            if p.entropic and p.update == DA3:
                follow(line, s)
    for r in range(k):
        a[r] += s * da[r]
    if a[label] < 0.0:
        a[label] = 0.0
    if p.update == DA3:
        if p.entropic:
            interior(line, scratch, k, c, a, da, d, alpha, followed)
        else:
            balance(scores, k, label, c * q, open, a)
    gain[0] = c * entropy(a, k)
    value = 0.0
    for r in range(k):
        moves[r], d[r] = r, -c * a[r]
        if r != label:
            value += c * a[r]
    d[label] = value
    return k


def regress(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
            const int64_t[::1] order, const double[::1] y, const double[::1] weights, floating[::1] state, double[::1] drift,
            double[::1] counts, double[::1] tally, double[::1] books):
    """One pass over rows of targets y, one vector; arguments as in _core.

    A row has one dual variable, λ = -α x. With the loss c |y - s|, |α| <= c and α y is its part of the dual; with c (y - s)²,
    α y - α²/(4c). The (sub)gradient's α is c sgn(y - s) and 2c (y - s): the best α lies between 0 and it.
    """
    cdef Py_ssize_t i, j, at, n_rows = order.shape[0] if order.shape[0] else y.shape[0], budget = QUANTUM, zero = 0
    cdef Py_ssize_t n_live = state.shape[0] // (2 if p.entropic else 1) - (p.bias == 0.0)
    cdef Py_ssize_t room = whole((int(np.diff(np.asarray(indptr)).max()) if indptr.shape[0] > 1 else 0) + 1)
    cdef bint fine, averaging = p.average_from >= 0 and drift.shape[0] > 0, squared = p.loss == SQUARED_LOSS
    cdef double[::1] masses = np.empty(5 * room), no_weights = np.empty(0)
    cdef floating[::1] numbers = np.empty(5 * room if p.entropic else 1, np.float32 if floating is float else np.float64)
    cdef Py_ssize_t[::1] places = np.empty(2 * room, np.intp)
    cdef double* group = &books[N_SHARED]
    cdef double score, total, c, error, value, rounds, steepness, size, alpha, beta, sign
    cdef Row row
    cdef Facts f
    cdef Line line
    cdef Params bounded
    cdef Bench bench = Bench(0, room, &places[0], &places[room], &numbers[0])
    line.room, line.n, line.which, line.d, line.entropic = room, 1, &zero, &sign, p.entropic
    line.up, line.down, line.h, line.powers = &masses[0], &masses[room], &masses[2 * room], &masses[3 * room]
    with nogil:
        for i in range(n_rows):
            row = row_at(indptr, order, i)
            budget = look_up(budget, row.hi - row.lo + 8)
            at = order[i] if order.shape[0] else i
            c = count_in(at, 0, weights, no_weights, counts, tally, False)
            if c == 0.0:
                continue
            f = scan(state, 2 if p.entropic else 1, 1, data, indices, row, &total, &p)
            f.weight = c
            score = scale_of(&books[0], group, <int64_t>tally[ROUNDS] - 1, &p) * total
            error = y[at] - score

            # What predict would have erred, by the weights as they were.
            rounds = tally[ROUNDS] - 1.0 - p.average_from if averaging else 0.0
            value = error
            if rounds > 0.0:
                value = group[AGES] * total
                for j in range(row.lo, row.hi):
                    value -= data[j] * drift[column(indices, j, row.lo)]
                value = y[at] - (value - p.bias * drift[drift.shape[0] - 1]) / rounds
            note(value, tally)

            # σ of this round, and the error by it. Beyond these numbers something below could overflow.
            size = fabs(y[at]) + fabs(score)
            alpha = 2.0 * c * fabs(error) if squared else c
            steepness = alpha * (p.bound * f.largest if p.entropic else sqrt(f.q))
            fine = f.q <= HUGE and larger(larger(c, alpha), steepness) <= HUGE and size <= HUGE and c * size * size <= 1e280
            fine &= p.schedule != AUTO or steepness >= 1.0 / HUGE or error == 0.0
            fine &= not p.entropic or p.schedule == AUTO or p.bound * f.largest <= HUGE * p.sigma
            if f.largest > 0.0 and not fine:
                tally[SKIPPED] += 1.0
            elif f.largest > 0.0:
                if settle(state, drift, 1, n_live, books, tally, &f, steepness, &p):
                    budget = look_up(budget, n_live)
                    f = scan(state, 2 if p.entropic else 1, 1, data, indices, row, &total, &p)
                    f.weight = c
                if p.schedule == AUTO:
                    error = y[at] - scale_of(&books[0], group, <int64_t>tally[ROUNDS] - 1, &p) * total
                value = c * (error * error if squared else fabs(error))
                tally[LOSS] += value if value < 1e290 else 0.0
                if p.entropic:
                    pick(&bench, state, 1, data, indices, row, &p)
                sign = 1.0 if error > 0.0 else -1.0
                alpha = 2.0 * c * fabs(error) if squared else c
                beta = p.bound / books[SIGMA] if p.entropic else 1.0
                if error == 0.0:
                    alpha = 0.0
                elif (p.entropic and p.update != DA1 and not squared and
                      takes_all(fabs(error), state, group, beta, books[SIGMA], &bench, &f, &zero, 1)):
                    pass
                elif p.update != DA1:
                    line.sigma, line.ridge = books[SIGMA], 0.5 / c if squared else 0.0
                    if p.entropic:
                        lay_out(&line, state, group, beta, &bench, &f, &zero, 1)
                        alpha = climb(&line, alpha, sign * y[at], 0.0, NULL, NULL, 0, 0.0)
                    else:
                        value = fabs(error) / (line.ridge + f.q / books[SIGMA])
                        alpha = value if value < alpha else alpha
                bounded = p
                if not p.entropic and books[SIGMA] < 1.0:
                    bounded.limit = p.limit * books[SIGMA]
                sign *= alpha
                if alpha == 0.0:
                    pass
                elif (tilt(state, drift, 1, group, 0, 1, &zero, &sign, 1, beta, n_live, &bench, &p) if p.entropic else
                      move(state, drift, 1, &zero, &sign, 1, data, indices, row, group[AGES] if averaging else 0.0, &bounded)):
                    if not p.entropic:
                        group[ENERGY] += sign * (2.0 * total + sign * f.q)
                    books[GAIN] += sign * y[at] - (0.25 * alpha * alpha / c if squared else 0.0)
                    tally[UPDATES] += 1.0
                else:
                    tally[SKIPPED] += 1.0
            if averaging and tally[ROUNDS] > p.average_from:
                group[AGES] += scale_of(&books[0], group, <int64_t>tally[ROUNDS], &p)


def powers(floating[::1] x):
    """x[i] = e^x[i]: for tests of _powers.pxd."""
    exp_all(&x[0], x.shape[0])


# --- reading -------------------------------------------------------------------------------------------------------------------

def decision(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
             const floating[::1] state, const double[::1] drift, const double[::1] ages, double rounds, const double[::1] scales,
             double[:, ::1] scores):
    """scores[i, c] = w_c.x_i of the model, w = κ (what is stored); or of its average, (ages (stored) - drift) / rounds."""
    cdef Py_ssize_t i, j, c, k = scores.shape[1], width = 2 * k if p.entropic else k, budget = QUANTUM
    cdef int64_t[::1] order = np.empty(0, np.int64)
    cdef double value
    cdef Row row
    with nogil:
        for i in range(scores.shape[0]):
            row = row_at(indptr, order, i)
            budget = look_up(budget, (row.hi - row.lo + 8) * k)
            scan(state, width, k, data, indices, row, &scores[i, 0], &p)
            for c in range(k):
                if rounds == 0.0:
                    scores[i, c] *= scales[c]
                    continue
                value = ages[c] * scores[i, c]
                for j in range(row.lo, row.hi):
                    value -= data[j] * drift[k * column(indices, j, row.lo) + c]
                scores[i, c] = (value - p.bias * drift[drift.shape[0] - k + c]) / rounds
