"""Dual ascent (Shalev-Shwartz and Singer's tutorial) and what is of its form: one pass of each over rows.

A model is θ = Σ α_i Δφ_i, and the weights are ∇f*(θ): a number κ of the moment times what is stored of each feature, so that a
row costs O(nnz) however κ moves.

    f             state of a feature              the weight that predicts       κ
    Euclidean     θ                               κ θ                            1/σ
    entropic      e^-K sinh u, u = Wθ/σ           κ e^-K sinh u                  W / Z,  Z = e^-K Σ cosh u

Z is kept in two doubles (its telescoping sums are then exact), K is the largest |u| when the numbers were last scaled; that is
done again, in O(features), when they have grown by e^SPREAD or Z has shrunk by 2^40, and when a growing σ has left its step of
the grid (see `settle`): amortised, nothing.

A group is what shares a simplex (entropic) or a norm: all classes, or with one against the rest each class. Its numbers are a run
of `books`; the first few are the model's.
"""
from libc.math cimport INFINITY, exp, fabs, isfinite, log, log1p, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from ._linalg cimport Row, column, dense_t, floating, index_t, larger, prefetch, row_at
from ._rounds cimport QUANTUM, look_up

cdef enum:                  # slots of tally: those of _core, which a test compares
    ROUNDS
    MISTAKES
    UPDATES
    SKIPPED
    SEEN
    LOSS
    REACH

cdef enum:                  # slots of books
    GAIN                    # what the losses' conjugates give the dual value: D = GAIN - f*(θ)
    LIPSCHITZ               # the largest dual norm of c W Δφ so far
    SIGMA                   # σ of the last round
    N_SHARED
    AGES = 0                # and of each group: the sum of κ over the rounds of the average (Euclidean)
    ENERGY                  # Euclidean: ||θ||^2
    Z_HIGH                  # entropic: Z, as the sum of two doubles
    Z_LOW
    SHIFT                   # K
    PEAK                    # the largest Z since the numbers were last scaled
    N_GROUP

BOOKS = {"gain": GAIN, "lipschitz": LIPSCHITZ, "sigma": SIGMA, "shared": N_SHARED, "ages": AGES, "energy": ENERGY,
         "high": Z_HIGH, "low": Z_LOW, "shift": SHIFT, "peak": PEAK, "group": N_GROUP}

cdef enum:
    HINGE, LOG_LOSS
    DA1 = 1, DA2 = 2, DA3 = 3
    FIXED = 0, AUTO, STRONGLY_CONVEX, SQRT     # how σ goes: OGD is DA1 with σ = λt, or steps η/√t
    MOST = 1000             # iterations of a maximisation that is not in closed form
    HEADROOM = 300          # e^HEADROOM fits a double with room for sums

LOSSES = {"hinge": HINGE, "log_loss": LOG_LOSS}
UPDATES_OF = {"DA1": DA1, "DA2": DA2, "DA3": DA3}
SCHEDULES = {"fixed": FIXED, "auto": AUTO, "strongly_convex": STRONGLY_CONVEX, "sqrt": SQRT}

cdef double SPREAD = 30.0
cdef double SHRUNK = 2.0 ** -40
cdef double STEP_OF_GRID = 1.25
cdef double HUGE = 1e150    # rows beyond it, or (σ = auto) below its inverse, are left out: all that follows is then finite
cdef double GAP = 1e-11     # of a row's dual value: where the maximisations end

ctypedef struct Params:
    int entropic
    int loss
    int update
    int schedule
    int joint               # multiclass: one joint learner
    int open_classes
    int balanced
    int average_from
    double margin           # γ
    double sigma            # σ; OGD: λ or η
    double bound            # W
    double bias
    double limit

ctypedef struct Facts:      # of a row
    double q                # ||x||^2
    double largest          # max |x_i|
    double weight           # c


# --- one feature, one number ---------------------------------------------------------------------------------------------------

cdef inline double sinh_of(double u, double shift, double root) noexcept nogil:
    """e^-K sinh u, for root = e^-K."""
    cdef double size = fabs(u), power
    if size <= 40.0:
        power = exp(size)
        power = 0.5 * (root * power - root / power)
    else:                       # (e^-u is below 1e-34 of e^u)
        power = 0.5 * exp(size - shift)
    return power if u >= 0.0 else -power


cdef inline double cosh_of(double sinh, double root) noexcept nogil:
    """e^-K cosh u of e^-K sinh u: what is stored tells it without another power."""
    return sqrt(sinh * sinh + root * root)


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

cdef void rescale(floating[::1] state, Py_ssize_t k, Py_ssize_t n_live, Py_ssize_t first, Py_ssize_t last, double* group,
                  double factor) noexcept nogil:
    """u *= factor for the classes first .. last - 1, a group; then K, Z and all that is stored anew."""
    cdef Py_ssize_t j, c, at, n_idle = 0
    cdef double shift = 0.0, root
    cdef floating u
    for j in range(n_live):
        for c in range(first, last):
            at = 2 * k * j + k + c
            u = <floating>(state[at] * factor)
            state[at] = u
            shift = larger(shift, fabs(u))
    group[SHIFT], group[Z_HIGH], group[Z_LOW] = shift, 0.0, 0.0
    root = exp(-shift)
    for j in range(n_live):
        for c in range(first, last):
            at = 2 * k * j + c
            if state[at + k] == 0.0:
                n_idle += 1
                continue
            state[at] = <floating>sinh_of(state[at + k], shift, root)
            add_to(&group[Z_HIGH], &group[Z_LOW], cosh_of(state[at], root))
    add_to(&group[Z_HIGH], &group[Z_LOW], n_idle * root)
    group[PEAK] = group[Z_HIGH]


def rebuild(floating[::1] state, Py_ssize_t k, Py_ssize_t n_live, bint joint, double[::1] books):
    """Z and all that is stored, from u: for a model that begins, or whose classes have changed."""
    cdef Py_ssize_t c
    with nogil:
        if joint:
            rescale(state, k, n_live, 0, k, &books[N_SHARED], 1.0)
        else:
            for c in range(k):
                rescale(state, k, n_live, c, c + 1, &books[N_SHARED + c * N_GROUP], 1.0)


# --- a line in the dual --------------------------------------------------------------------------------------------------------

cdef struct Line:
    # θ_c += s d_c x for the classes which[:n]; what the derivative of f* along it is. Entropic: the masses up and down of the
    # row's m features in each of these classes (all in one where the features are ±h: P and N of the closed form), of Z in all.
    bint entropic
    Py_ssize_t n, m, room
    const Py_ssize_t* which
    double* d
    double* up
    double* down
    double* h
    double z
    double steepest         # max |h|
    double sigma
    double start, slope     # Euclidean: start + s slope


cdef void probe(const Line* line, double s, double* value, double* curvature) noexcept nogil:
    """df*/ds and d²f*/ds²."""
    cdef Py_ssize_t i, j, at
    cdef double e, back, h, a, b, first = 0.0, second = 0.0, z = line.z, high = 0.0, top, scale = 1.0
    if not line.entropic:
        value[0] = line.start + s * line.slope
        curvature[0] = line.slope
        return
    for i in range(line.n):
        high = larger(high, fabs(line.d[i]))
    top = fabs(s) * high * line.steepest
    if top > HEADROOM:              # everything times e^-top
        scale = exp(-top)
        z *= scale
    for i in range(line.n):
        for j in range(line.m):
            at = line.which[i] * line.room + j
            h = line.d[i] * line.h[j]
            if s == 0.0:
                e = back = 1.0
            elif top > HEADROOM:
                e, back = exp(s * h - top), exp(-s * h - top)
            else:
                e = exp(s * h)
                back = 1.0 / e
            a, b = line.up[at] * e, line.down[at] * back
            z += (a - line.up[at] * scale) + (b - line.down[at] * scale)
            first += h * (a - b)
            second += h * h * (a + b)
    value[0] = line.sigma * first / z
    curvature[0] = line.sigma * (second / z - (first / z) * (first / z))


cdef double climb(const Line* line, double high, double gain, double c, const double* a, const double* da,
                  Py_ssize_t k) noexcept nogil:
    """s in [0, high] that maximises gain s + c H(a + s da) - f*: Newton's steps, halvings where they leave the bracket.

    k = 0: no entropy.
    """
    cdef double low = 0.0, top = high, s = high, value, curvature, slope, bend, at, new
    cdef Py_ssize_t i, _n
    if k:
        s = 1.0 if high > 1.0 else 0.5 * high
    elif line.entropic:                     # Newton's first step, from 0, takes no powers
        probe(line, 0.0, &value, &curvature)
        if not (gain - value) < high * curvature:
            s = high
        elif gain > value:
            s = (gain - value) / curvature
        else:
            return 0.0
    for _n in range(200):
        probe(line, s, &value, &curvature)
        slope = gain - value
        bend = curvature
        for i in range(k):
            if da[i] == 0.0:
                continue
            at = a[i] + s * da[i]
            if at <= 0.0:
                slope += -1e300 if da[i] < 0.0 else 1e300
                continue
            slope -= c * da[i] * log(at)
            bend += c * da[i] * da[i] / at
        if slope > 0.0:
            if s >= high:
                return high
            low = s
        elif slope < 0.0:
            if s <= 0.0:
                return 0.0
            top = s
        else:
            return s
        new = s + slope / bend if bend > 0.0 else 0.5 * (low + top)
        if not (low < new < top):
            new = 0.5 * (low + top)
            if not (low < new < top):
                return low
        if fabs(new - s) <= 1e-9 * new:     # what is left is of the order of the square
            return new
        s = new
    return low


cdef double log_sum(const double* values, Py_ssize_t k, double* shares) noexcept nogil:
    """log Σ exp(values), and into shares their softmax."""
    cdef Py_ssize_t i
    cdef double most = values[0], total = 0.0
    for i in range(k):
        most = larger(most, values[i])
    for i in range(k):
        shares[i] = exp(values[i] - most)
        total += shares[i]
    for i in range(k):
        shares[i] /= total
    return most + log(total)


# --- the dual variables of a row -----------------------------------------------------------------------------------------------

cdef double single(Line* line, double margin, double gamma, const Facts* f, double* gain, const Params* p) noexcept nogil:
    """α of one signed example of this margin, and what it gives the dual value. 0: no step."""
    cdef double c = f.weight, alpha, rate, loss = gamma - margin
    cdef double[2] a, da
    gain[0] = 0.0
    if p.loss == LOG_LOSS:
        alpha = c / (1.0 + exp(margin)) if margin < 700.0 else 0.0
        if p.update != DA1:
            a[0], a[1], da[0], da[1] = 0.0, 1.0, 1.0, -1.0
            line.d[0] *= c                  # (s is the share α/c)
            rate = climb(line, 1.0, 0.0, c, a, da, 2) if line.entropic else squash(margin, c * line.slope)
            alpha = c * rate
        rate = alpha / c
        if rate > 0.0:
            gain[0] = -c * rate * log(rate) - (c * (1.0 - rate) * log1p(-rate) if rate < 1.0 else 0.0)
        return alpha
    if not loss > 0.0:
        return 0.0
    alpha = c
    if p.update != DA1:
        if line.entropic:
            alpha = climb(line, c, gamma, 0.0, NULL, NULL, 0)
        else:
            rate = loss / line.slope if line.slope > 0.0 else c
            alpha = rate if rate < c else c
    gain[0] = alpha * gamma
    return alpha


cdef double squash(double margin, double slope) noexcept nogil:
    """The a in (0, 1) with log(a/(1 - a)) + margin + slope a = 0: online logistic regression's DA2, Euclidean."""
    cdef double low = 0.0, high = 1.0, a = 0.5, new, value
    cdef Py_ssize_t _n
    for _n in range(200):
        value = log(a) - log1p(-a) + margin + slope * a
        if value > 0.0:
            high = a
        elif value < 0.0:
            low = a
        else:
            return a
        new = a - value / (1.0 / (a * (1.0 - a)) + slope)
        if not (low < new < high):
            new = 0.5 * (low + high)
            if not (low < new < high):
                return a
        if fabs(new - a) <= 1e-15 * new:
            return new
        a = new
    return a


cdef void share_out(const double* excess, Py_ssize_t k, double most, double* alpha, double* sorted) noexcept nogil:
    """The α >= 0, Σ α <= most, that maximise Σ α_r b_r - ((Σα)² + Σ α²)/2, b = excess: DA3, Euclidean, exact by sorting.

    α_r = [b_r - A - λ]+ with A = Σ α: of the j largest, A = Σ b/(1 + j); where that is more than there is, A = most.
    """
    cdef Py_ssize_t i, j, n = 0
    cdef double value, total = 0.0, level = 0.0
    for i in range(k):                      # (insertion: classes are few)
        if excess[i] <= 0.0:
            continue
        value = excess[i]
        j = n
        while j > 0 and sorted[j - 1] < value:
            sorted[j] = sorted[j - 1]
            j -= 1
        sorted[j] = value
        n += 1
    for j in range(n):
        if sorted[j] <= (total + sorted[j]) / (2.0 + j):
            break
        total += sorted[j]
        level = total / (2.0 + j)           # A of the j + 1 largest
    if level > most:
        total = 0.0
        for j in range(n):
            if sorted[j] <= (total + sorted[j] - most) / (1.0 + j):
                break
            total += sorted[j]
            level = (total - most) / (1.0 + j)
    for i in range(k):
        alpha[i] = larger(excess[i] - level, <double>0.0)


cdef double lambert(double t, double kappa) noexcept nogil:
    """The a > 0 with log a + κ a = t."""
    cdef double y = t, value
    cdef Py_ssize_t _n
    if kappa * exp(y if y < 700.0 else <double>700.0) > 1.0:
        value = larger(t, <double>1.0) / kappa
        y = log(value) if value > 0.0 else t
        y = y if y < t else t
    for _n in range(100):                    # Newton in y = log a, on y + κ e^y - t, rising and convex
        value = y + kappa * exp(y) - t
        value /= 1.0 + kappa * exp(y)
        y -= value
        if fabs(value) <= 1e-15 * (1.0 + fabs(y)):
            break
    return exp(y)


cdef void balance(const double* scores, Py_ssize_t k, Py_ssize_t label, double kappa, const double* open,
                  double* shares) noexcept nogil:
    """The shares a of the classes with log a_r + κ a_r = s_r + κ [r = label] - ν, Σ a = 1: DA3 of the log loss, Euclidean."""
    cdef double low, high, nu, total, slope, h, new
    cdef Py_ssize_t r, _n
    high = scores[label] + kappa
    for r in range(k):
        if open[r]:
            high = larger(high, scores[r])
    low = high - kappa                      # the largest share is 1 there
    high += log(<double>k)                  # and no share more than 1/k here
    nu = 0.5 * (low + high)
    for _n in range(200):
        total = slope = 0.0
        for r in range(k):
            shares[r] = 0.0
            if not open[r]:
                continue
            h = scores[r] + (kappa if r == label else 0.0)
            shares[r] = lambert(h - nu, kappa)
            total += shares[r]
            slope += shares[r] / (1.0 + kappa * shares[r])
        if total > 1.0:
            low = nu
        elif total < 1.0:
            high = nu
        if fabs(total - 1.0) <= 1e-15:
            return
        new = nu + (total - 1.0) / slope if slope > 0.0 else 0.5 * (low + high)
        if not (low < new < high):
            new = 0.5 * (low + high)
            if not (low < new < high):
                return
        nu = new


cdef double pairs(Line* line, const double* scores, Py_ssize_t k, Py_ssize_t label, double gamma, double c, const double* open,
                  double* alpha, double* gradient) noexcept nogil:
    """DA3 of the hinge loss, entropic: the α >= 0, Σ α <= c, that maximise the dual, to a gap of GAP γ c, from the α given.

    Mass goes from the α (or what is left of c, which is in alpha[label]) of the least derivative to that of the largest, as much
    as is best: the line's masses move along. Returns the gap.
    """
    cdef Py_ssize_t r, j, at, best, worst, _n
    cdef double total, gap, gain, s, value
    cdef Py_ssize_t[3] which
    cdef double[3] d
    line.which, line.d = which, d
    for _n in range(MOST * k):
        for r in range(k):                  # scores at this α
            total = 0.0
            at = r * line.room
            for j in range(line.m):
                total += line.h[j] * (line.up[at + j] - line.down[at + j])
            gradient[r] = line.sigma * total / line.z
        value = gradient[label]
        best = worst = label
        gap = 0.0
        for r in range(k):
            gradient[r] = gamma - value + gradient[r] if r != label else 0.0
        for r in range(k):
            if not open[r]:
                continue
            if gradient[r] > gradient[best]:
                best = r
            if alpha[r] > 0.0 and (gradient[r] < gradient[worst] or alpha[worst] <= 0.0):
                worst = r
        for r in range(k):
            if open[r]:
                gap += alpha[r] * (gradient[best] - gradient[r])
        if gap <= GAP * gamma * c or best == worst:
            return gap
        line.n = 0
        if best != label:
            which[line.n], d[line.n] = best, -1.0
            line.n += 1
        if worst != label:
            which[line.n], d[line.n] = worst, 1.0
            line.n += 1
        gain = 0.0
        if best == label or worst == label:
            which[line.n] = label
            d[line.n] = 1.0 if worst == label else -1.0
            gain = gamma * d[line.n]
            line.n += 1
        s = climb(line, alpha[worst], gain, 0.0, NULL, NULL, 0)
        if s <= 0.0:
            return gap
        alpha[best] += s
        alpha[worst] = alpha[worst] - s if s < alpha[worst] else 0.0
        follow(line, s)
    return gap


cdef void follow(Line* line, double s) noexcept nogil:
    """The line's masses, moved on by s."""
    cdef Py_ssize_t i, j, at
    cdef double e, up, down
    for i in range(line.n):
        for j in range(line.m):
            at = line.which[i] * line.room + j
            e = exp(s * line.d[i] * line.h[j])
            up, down = line.up[at] * e, line.down[at] / e
            line.z += (up - line.up[at]) + (down - line.down[at])
            line.up[at], line.down[at] = up, down


cdef double interior(Line* line, double* scores, Py_ssize_t k, double c, double* shares, double* wanted, double* d, double* rate,
                     Py_ssize_t* which) noexcept nogil:
    """DA3 of the log loss, entropic: shares a of the classes that maximise the dual, to a gap of GAP c, from those given.

    At the best of them a is the softmax of the scores that it leads to (the gap is Σ a log(a / softmax)). Each step is Newton's
    by the diagonal of the Hessian, 1/a_r + c σ Z''_r/Z, as far along it as is best. Returns the gap.
    """
    cdef Py_ssize_t r, j, at, _n
    cdef double total, square, gap, s, mean, rates, high
    line.which, line.d, line.n = which, d, k
    for r in range(k):
        which[r] = r
    for _n in range(MOST):
        for r in range(k):
            total = square = 0.0
            at = r * line.room
            for j in range(line.m):
                total += line.h[j] * (line.up[at + j] - line.down[at + j])
                square += line.h[j] * line.h[j] * (line.up[at + j] + line.down[at + j])
            scores[r] = line.sigma * total / line.z
            rate[r] = shares[r] / (1.0 + c * line.sigma * square / line.z * shares[r])
        log_sum(scores, k, wanted)
        gap = mean = rates = 0.0
        for r in range(k):
            if shares[r] <= 0.0:
                continue
            gap += shares[r] * log(shares[r] / wanted[r]) if wanted[r] > 0.0 else 1.0
            mean += rate[r] * (scores[r] - log(shares[r]))
            rates += rate[r]
        if gap <= GAP or rates == 0.0:
            return c * gap
        mean /= rates
        high = INFINITY
        for r in range(k):
            wanted[r] = rate[r] * (scores[r] - log(shares[r]) - mean) if shares[r] > 0.0 else 0.0
            d[r] = -c * wanted[r]
            if wanted[r] < 0.0 and -shares[r] / wanted[r] < high:
                high = -shares[r] / wanted[r]
        if high == INFINITY:
            return c * gap
        s = climb(line, high, 0.0, c, shares, wanted, k)
        if s <= 0.0:
            return c * gap
        for r in range(k):
            shares[r] = larger(shares[r] + s * wanted[r], <double>0.0)
        follow(line, s)
    return c * gap


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


cdef void lay_out(Line* line, const floating[::1] state, Py_ssize_t k, const double* group, double beta, const floating[::1] data,
                  const index_t[::1] indices, Row row, const Facts* f, const Py_ssize_t* classes, Py_ssize_t n,
                  const Params* p) noexcept nogil:
    """The masses of the row's features in these classes."""
    cdef Py_ssize_t i, j, c, at, n_columns = state.shape[0] // (2 * k)
    cdef double x, up, down, root = exp(-group[SHIFT])
    cdef bint flat = True
    for j in range(row.lo, row.hi):
        x = fabs(data[j])
        flat &= x == f.largest or x == 0.0
    flat &= p.bias == 0.0 or p.bias == f.largest
    line.entropic = True
    line.z = group[Z_HIGH] + group[Z_LOW]
    line.steepest = beta * f.largest
    line.m = 1 if flat else row.hi - row.lo + 1
    if flat:
        line.h[0] = beta * f.largest
        for i in range(n):
            line.up[classes[i] * line.room] = line.down[classes[i] * line.room] = 0.0
    for j in range(row.lo, row.hi + 1):
        x = data[j] if j < row.hi else p.bias
        if not flat:
            line.h[j - row.lo] = beta * x
        at = 2 * k * (column(indices, j, row.lo) if j < row.hi else n_columns - 1)
        for i in range(n):
            c = classes[i]
            up = down = 0.0
            if x != 0.0:
                down = cosh_of(state[at + c], root)
                up = 0.5 * (down + state[at + c])
                down = down - up
            if not flat:
                line.up[c * line.room + j - row.lo] = up
                line.down[c * line.room + j - row.lo] = down
            elif x > 0.0:
                line.up[c * line.room] += up
                line.down[c * line.room] += down
            else:
                line.up[c * line.room] += down
                line.down[c * line.room] += up


cdef bint move(floating[::1] state, double[::1] drift, Py_ssize_t k, double* group, Py_ssize_t first, Py_ssize_t last,
               const Py_ssize_t* classes, const double* d, Py_ssize_t n, const floating[::1] data, const index_t[::1] indices,
               Row row, double beta, double ages, Py_ssize_t n_live, const Params* p) noexcept nogil:
    """θ_c += d_c x for some classes of a group; False, and nothing done, where that would leave the range of the dtype."""
    cdef Py_ssize_t i, j, at, place, width = 2 * k if p.entropic else k, n_columns = state.shape[0] // width, second = k
    cdef double x, root, before, most = 0.0
    cdef bint far
    if not p.entropic:
        second = 0
    for j in range(row.lo, row.hi + 1):
        x = data[j] if j < row.hi else p.bias
        at = width * (column(indices, j, row.lo) if j < row.hi else n_columns - 1) + second
        for i in range(n):
            before = fabs(state[at + classes[i]] + beta * d[i] * x)
            if not before <= p.limit:
                return False
            most = larger(most, before)
    far = p.entropic and most > group[SHIFT] + SPREAD
    root = exp(-group[SHIFT])
    for j in range(row.lo, row.hi + 1):
        x = data[j] if j < row.hi else p.bias
        if x == 0.0:
            continue
        place = column(indices, j, row.lo) if j < row.hi else n_columns - 1
        for i in range(n):
            at = width * place + classes[i]
            if not p.entropic:
                before = state[at]
                state[at] += <floating>(beta * d[i] * x)
                if ages > 0.0:
                    drift[place * k + classes[i]] += ages * (state[at] - before)
            elif far:
                state[at + k] += <floating>(beta * d[i] * x)
            else:
                before = cosh_of(state[at], root)
                state[at + k] += <floating>(beta * d[i] * x)
                state[at] = <floating>sinh_of(state[at + k], group[SHIFT], root)
                add_to(&group[Z_HIGH], &group[Z_LOW], cosh_of(state[at], root))
                add_to(&group[Z_HIGH], &group[Z_LOW], -before)
    if not p.entropic:
        return True
    group[PEAK] = larger(group[PEAK], group[Z_HIGH])
    if far or group[Z_HIGH] < SHRUNK * group[PEAK]:
        rescale(state, k, n_live, first, last, group, 1.0)
    return True


cdef inline double enter(Py_ssize_t at, Py_ssize_t label, const double[::1] weights, const double[::1] class_weights,
                         double[::1] counts, double[::1] tally, const Params* p) noexcept nogil:
    """Count a row in and return its weight c; a row of weight 0 is an exact no-op. As in _core."""
    cdef double c = 1.0
    if weights.shape[0]:
        c = weights[at]
    if class_weights.shape[0]:
        c *= class_weights[label]
    if c <= 0.0:
        return 0.0
    tally[ROUNDS] += 1.0
    counts[label] += 1.0
    if counts[label] == 1.0:
        tally[SEEN] += 1.0
    if p.balanced:
        c *= tally[ROUNDS] / (tally[SEEN] * counts[label])
    return c


cdef inline Py_ssize_t top(const double* scores, const double[::1] counts, Py_ssize_t but, const Params* p) noexcept nogil:
    """First argmax over the classes that have joined, leaving out one."""
    cdef Py_ssize_t c, best = -1
    for c in range(counts.shape[0]):
        if c != but and not (p.open_classes and counts[c] == 0.0) and (best < 0 or scores[c] > scores[best]):
            best = c
    return best


cdef bint settle(floating[::1] state, Py_ssize_t k, Py_ssize_t n_live, double[::1] books, double[::1] tally, const Facts* f,
                 double steepness, const Params* p) noexcept nogil:
    """σ of this round. True if the scores have changed by it otherwise than by a factor.

    Entropic with σ = L √(t / log n): every weight changes with σ, so that σ keeps to the last value until the one wanted is a
    quarter more; then all is made anew.
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
            rescale(state, k, n_live, g if n_groups > 1 else 0, g + 1 if n_groups > 1 else k, &books[N_SHARED + g * N_GROUP],
                    old / wanted)
    return old > 0.0


cdef double entropy(const double* shares, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t r
    cdef double total = 0.0
    for r in range(k):
        if shares[r] > 0.0:
            total -= shares[r] * log(shares[r])
    return total


def classify(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
             const int64_t[::1] order, const int32_t[::1] y, const double[::1] weights, const double[::1] class_weights,
             floating[::1] state, double[::1] drift, double[::1] counts, double[::1] tally, double[::1] books,
             int32_t[::1] predictions):
    """One pass over rows, one vector for two classes, else one a class; arguments as in _core.

    predictions : what predict would have said before each row, by row number; or empty.
    """
    cdef Py_ssize_t n_classes = counts.shape[0], k = n_classes if n_classes > 2 else 1, width = 2 * k if p.entropic else k
    cdef Py_ssize_t i, j, g, c, at, label, said, rival, n, n_moves, first, last
    cdef Py_ssize_t n_live = state.shape[0] // width - (p.bias == 0.0)
    cdef Py_ssize_t n_groups = 1 if p.joint else k, n_rows = order.shape[0] if order.shape[0] else y.shape[0], budget = QUANTUM
    cdef bint joint = p.joint and k > 1, averaging = p.average_from >= 0, fine, updated, newcomer
    cdef Py_ssize_t room = (int(np.diff(np.asarray(indptr)).max()) if indptr.shape[0] > 1 else 0) + 1
    cdef Py_ssize_t n_masses = k * room if p.entropic and p.update != DA1 else 0
    cdef double[::1] masses = np.empty(2 * n_masses + room)
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
    line.room = room
    line.h = &masses[2 * n_masses]
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
            value = enter(at, label, weights, class_weights, counts, tally, &p)
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
                said = top(scratch, counts, label if newcomer else -1, &p)
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
                if settle(state, k, n_live, books, tally, &f, steepness, &p):
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
                        rival = top(scores, counts, label, &p)
                        loss = p.margin - (scores[label] - scores[rival])
                        if p.loss == LOG_LOSS:
                            value = log_sum(scores, k, shares)
                            loss = value - scores[label]
                            for c in range(k):
                                if c != label:
                                    total += shares[c]
                        if loss > 0.0 and (p.loss == HINGE or total > 0.0):
                            n_moves = joint_step(&line, state, group, beta, data, indices, row, &f, scores, shares, total, label,
                                                 rival, loss, k, open, alpha, a, da, d, which, moves, followed, scratch,
                                                 &gain, &p)
                    elif not (p.open_classes and counts[g] == 0.0):
                        sign = (2.0 * label - 1.0) if k == 1 else (1.0 if g == label else -1.0)
                        value = sign * scores[g]
                        loss = p.margin - value
                        if p.loss == LOG_LOSS:
                            loss = log1p(exp(-value)) if value > -30.0 else -value
                        if loss > 0.0:
                            moves[0], d[0] = g, sign
                            line.which, line.d, line.n = moves, d, 1
                            if p.update != DA1:
                                if p.entropic:
                                    lay_out(&line, state, k, group, beta, data, indices, row, &f, moves, 1, &p)
                                else:
                                    line.slope = f.q / books[SIGMA]
                            d[0] = sign * single(&line, value, p.margin, &f, &gain, &p)
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
                    if move(state, drift, k, group, first, last, moves, d, n_moves,
                            data, indices, row, beta, group[AGES] if averaging else 0.0, n_live, &bounded):
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


cdef Py_ssize_t joint_step(Line* line, const floating[::1] state, const double* group, double beta, const floating[::1] data,
                           const index_t[::1] indices, Row row, const Facts* f, double* scores, double* shares, double total,
                           Py_ssize_t label, Py_ssize_t rival, double loss, Py_ssize_t k, const double* open, double* alpha,
                           double* a, double* da, double* d, const Py_ssize_t* which, Py_ssize_t* moves, Py_ssize_t* followed,
                           double* scratch, double* gain, const Params* p) noexcept nogil:
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
        if p.update != DA1:
            if p.entropic:
                lay_out(line, state, k, group, beta, data, indices, row, f, which if p.update == DA3 else moves,
                        k if p.update == DA3 else 2, p)
                line.which, line.d, line.n = moves, d, 2
                alpha[rival] = climb(line, c, p.margin, 0.0, NULL, NULL, 0)
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
            lay_out(line, state, k, group, beta, data, indices, row, f, which, k, p)
        line.start = line.slope = 0.0
        for r in range(k):
            line.start += d[r] * scores[r]
            line.slope += d[r] * d[r] * q
        if p.update == DA2 or p.entropic:
            s = climb(line, 1.0 / total, 0.0, c, a, da, k)
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


# --- experts -------------------------------------------------------------------------------------------------------------------

cdef void committee(const floating[::1] theta, Py_ssize_t n, double rate, double[::1] w) noexcept nogil:
    """w_j = exp(η θ_j) / Σ exp(η θ)."""
    cdef Py_ssize_t j
    cdef double most = theta[0], total = 0.0
    for j in range(n):
        most = larger(most, <double>theta[j])
    for j in range(n):
        w[j] = exp(rate * (theta[j] - most))
        total += w[j]
    for j in range(n):
        w[j] /= total


cdef inline double hedge_rate(double t, Py_ssize_t n, const Params* p) noexcept nogil:
    """η of round t = 1, 2, ..."""
    return sqrt(8.0 * log(<double>n) / t) if p.schedule == AUTO else p.sigma


def hedge(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr,
          const int64_t[::1] order, const int32_t[::1] y, const double[::1] weights, const double[::1] class_weights,
          floating[::1] state, Py_ssize_t n, double[::1] counts, double[::1] tally, double[::1] books, int32_t[::1] predictions):
    """One pass of Hedge over rows of n experts' advice: θ_j, the advice that was right less what was wrong. O(n) a row.

    The expected loss of the randomised prediction is summed, weighted in tally[LOSS] and as it is in books[GAIN].
    """
    cdef Py_ssize_t i, j, at, label, n_rows = order.shape[0] if order.shape[0] else y.shape[0], budget = QUANTUM
    cdef double[::1] w = np.empty(n)
    cdef double c, score
    cdef int32_t said
    cdef Row row
    with nogil:
        for i in range(n_rows):
            row = row_at(indptr, order, i)
            budget = look_up(budget, 4 * n)
            at = order[i] if order.shape[0] else i
            label = y[at]
            c = enter(at, label, weights, class_weights, counts, tally, &p)
            if c == 0.0:
                continue
            committee(state, n, hedge_rate(tally[ROUNDS], n, &p), w)
            score = 0.0
            for j in range(row.lo, row.hi):
                score += data[j] * w[column(indices, j, row.lo)]
            said = 1 - label if p.open_classes & (counts[label] == 1.0) else score > 0.5
            tally[MISTAKES] += said != label
            if predictions.shape[0]:
                predictions[at] = said
            if label:
                score = 1.0 - score
            books[GAIN] += score
            tally[LOSS] += c * score if c * score < 1e290 else 0.0
            if tally[REACH] + c > p.limit:
                tally[SKIPPED] += 1.0
                continue
            tally[REACH] += c
            for j in range(row.lo, row.hi):
                state[column(indices, j, row.lo)] += <floating>((c if label else -c) * data[j])
            tally[UPDATES] += row.hi > row.lo


def advise(Params p, const floating[::1] data, const index_t[::1] indices, const int64_t[::1] indptr, const floating[::1] state,
           double t, double[::1] w, double[:, ::1] scores):
    """w of round t, and scores[i, 0] = w.x_i - 1/2."""
    cdef Py_ssize_t i, j, budget = QUANTUM
    cdef int64_t[::1] order = np.empty(0, np.int64)
    cdef Row row
    with nogil:
        committee(state, w.shape[0], hedge_rate(t, w.shape[0], &p), w)
        for i in range(scores.shape[0]):
            row = row_at(indptr, order, i)
            budget = look_up(budget, row.hi - row.lo + 8)
            scores[i, 0] = 0.0
            for j in range(row.lo, row.hi):
                scores[i, 0] += data[j] * w[column(indices, j, row.lo)]
            scores[i, 0] -= 0.5
