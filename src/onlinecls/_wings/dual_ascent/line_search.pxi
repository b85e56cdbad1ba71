# Maximisation of the dual of min_w f(w) + Σ c_t loss_t(w) along a line, and over a row's dual variables: mathematics only. f*,
# entropic, is σ log Z, and Z the sum of what a line moves and a rest: only positive numbers are added, never a difference, so
# that nothing of Z is lost however far it falls.

cdef enum:
    MOST = 1000             # iterations of a maximisation that is not in closed form

cdef double GAP = 1e-11     # of a row's dual value: where the maximisations end


# --- a line in the dual --------------------------------------------------------------------------------------------------------

cdef double weigh(const Ascent* a, Py_ssize_t c, double move, double* first, double* second) noexcept nogil:
    """Return the sum of class c's masses after this move, and Σ h (up - down) and Σ h² (up + down)."""
    cdef Py_ssize_t j, m = a.n_masses
    cdef double u, v, total = 0.0, mean = 0.0, square = 0.0
    cdef const double* h = a.h
    cdef double* up = a.up + c * a.row.capacity
    cdef double* down = a.down + c * a.row.capacity
    cdef double* rise = a.powers
    cdef double* fall = a.powers + a.row.capacity
    if move != 0.0:
        for j in range(m):
            rise[j] = move * h[j]
        exp_all(rise, m)
        for j in range(m):
            fall[j] = down[j] * (1.0 / rise[j])
            rise[j] *= up[j]
        up, down = rise, fall
    for j in range(m):
        u, v = up[j], down[j]
        total += u + v
        mean += h[j] * (u - v)
        square += h[j] * h[j] * (u + v)
    first[0], second[0] = mean, square
    return total


cdef double probe(const Ascent* a, double s, double* value, double* curvature) noexcept nogil:
    """Compute df*/ds and d²f*/ds²; return the sum of the sizes of the vectors' parts in the former."""
    cdef Py_ssize_t i
    cdef double first, second, mean = 0.0, size = 0.0, square = 0.0, z = a.rest, sigma = a.shared.sigma
    if not a.entropic:
        value[0], curvature[0] = a.start + s * a.slope, a.slope
        return fabs(a.start) + s * a.slope
    for i in range(a.n_moves):
        z += weigh(a, a.moves[i], s * a.d[i], &first, &second)
        mean += a.d[i] * first
        size += fabs(a.d[i] * first)
        square += a.d[i] * a.d[i] * second
    mean /= z
    value[0], curvature[0] = sigma * mean, sigma * (square / z - mean * mean)
    return sigma * size / z


cdef double climb(const Ascent* a, double high, double gain, double ridge, Py_ssize_t n_shares, double guess) noexcept nogil:
    """Return the s in [0, high] that maximises gain s - ridge s²/2 + c H(shares α + s direction) - f*; n_shares = 0: no entropy.

    Newton's steps from the guess (without entropy from 0), halvings where they leave the bracket. They end with a step that is
    small beside s, from where the derivative is small beside its parts: near an end a step is small wherever the maximum is.
    """
    cdef double low = 0.0, top = high, s = guess, value, curvature, slope, bend, at, new, part, parts, change, c = a.most
    cdef bint asked = False
    cdef Py_ssize_t i, _n
    if n_shares == 0:                       # Newton's first step, from 0, takes no powers
        probe(a, 0.0, &value, &curvature)
        slope, bend = gain - value, curvature + ridge
        if slope <= 0.0 and slope < high * bend:
            return 0.0
        s = slope / bend if slope < high * bend else high
    for _n in range(200):
        parts = fabs(gain) + ridge * s + probe(a, s, &value, &curvature)
        slope = gain - ridge * s - value
        bend = curvature + ridge
        for i in range(n_shares):
            change = a.direction[i]
            at = a.alpha[i] + s * change
            if change != 0.0 and at <= 0.0:
                slope += -1e300 if change < 0.0 else 1e300
            elif change != 0.0:
                part = c * change * log(at)
                slope -= part
                parts += fabs(part)
                bend += c * change * change / at
        if slope > 0.0 and s < high:
            low = s
        elif slope < 0.0 and s > 0.0:
            top = s
        else:
            return s
        new = s + slope / bend if bend > 0.0 else 0.5 * (low + top)
        if new >= high and not asked:       # high itself may be the maximum
            new, asked = high, True
        elif not (low < new < top):
            new = 0.5 * (low + top)
            if not (low < new < top):
                return low
        elif fabs(new - s) <= 1e-9 * new and fabs(slope) <= 1e-6 * parts:
            return new                      # the error after a Newton step is of the order of its square
        s = new
    return low


cdef void follow(const Ascent* a, double s) noexcept nogil:
    """Move the line's masses on by s."""
    cdef Py_ssize_t i, j, at
    for i in range(a.n_moves):
        at = a.moves[i] * a.row.capacity
        for j in range(a.n_masses):
            a.powers[j] = s * a.d[i] * a.h[j]
        exp_all(a.powers, a.n_masses)
        for j in range(a.n_masses):
            a.up[at + j] *= a.powers[j]
            a.down[at + j] /= a.powers[j]


cdef void survey(const Ascent* a, double rest, double* part, double* scores, double* squares) noexcept nogil:
    """Compute the classes' parts of Z, their scores, and σ Z''_r/Z, where the masses are. rest : what no class moves."""
    cdef Py_ssize_t r
    cdef double z = rest
    for r in range(a.k):
        part[r] = weigh(a, r, 0.0, &scores[r], &squares[r])
        z += part[r]
    for r in range(a.k):
        scores[r] *= a.shared.sigma / z
        squares[r] *= a.shared.sigma / z


# --- the dual variables of a row -----------------------------------------------------------------------------------------------

cdef double log_sum(const double* values, Py_ssize_t k, double* shares) noexcept nogil:
    """Return log Σ exp(values); put their softmax into shares."""
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


cdef double squash(double margin, double slope) noexcept nogil:
    """Return the a in (0, 1) with log(a/(1 - a)) + margin + slope a = 0: online logistic regression's DA2, Euclidean."""
    cdef double low = 0.0, high = 1.0, a = 0.5, new, value
    cdef Py_ssize_t _n
    for _n in range(200):
        value = log(a) - log1p(-a) + margin + slope * a
        if value == 0.0:
            return a
        low, high = (low, a) if value > 0.0 else (a, high)
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
    """Find the α >= 0, Σ α <= most, that maximise Σ α_r b_r - ((Σα)² + Σ α²)/2, b = excess: DA3, Euclidean, exact by sorting.

    α_r = [b_r - A - λ]+ with A = Σ α: of the j largest, A = Σ b/(1 + j); where that exceeds `most`, A = most.
    """
    cdef Py_ssize_t i, j, n = 0
    cdef double value, total = 0.0, level = 0.0, base = 0.0
    for i in range(k):                      # (insertion: classes are few)
        if excess[i] <= 0.0:
            continue
        j = n
        while j > 0 and sorted[j - 1] < excess[i]:
            sorted[j] = sorted[j - 1]
            j -= 1
        sorted[j], n = excess[i], n + 1
    for j in range(n):
        if sorted[j] <= (total + sorted[j]) / (2.0 + j):
            break
        total += sorted[j]
        level = total / (2.0 + j)           # A of the j + 1 largest
    if level > most:                        # (relative to the largest: `most` may be below the rounding error of their sum)
        base, total = sorted[0], 0.0
        for j in range(n):
            value = sorted[j] - base
            if value <= (total + value - most) / (1.0 + j):
                break
            total += value
            level = (total - most) / (1.0 + j)
    for i in range(k):
        alpha[i] = larger(excess[i] - base - level, <double>0.0)


cdef double lambert(double t, double kappa) noexcept nogil:
    """Return the a > 0 with log a + κ a = t."""
    cdef double y = t, value
    cdef Py_ssize_t _n
    if kappa * exp(y if y < 700.0 else <double>700.0) > 1.0:
        value = larger(t, <double>1.0) / kappa
        y = log(value) if value > 0.0 else t
        y = y if y < t else t
    for _n in range(100):                    # Newton in y = log a, on y + κ e^y - t, rising and convex
        value = (y + kappa * exp(y) - t) / (1.0 + kappa * exp(y))
        y -= value
        if fabs(value) <= 1e-15 * (1.0 + fabs(y)):
            break
    return exp(y)


cdef void balance(const double* scores, Py_ssize_t k, Py_ssize_t label, double kappa, double* shares) noexcept nogil:
    """Find the classes' shares a with log a_r + κ a_r = s_r + κ [r = label] - ν, Σ a = 1: DA3, log loss, Euclidean."""
    cdef double low, high = scores[label] + kappa, nu, total, slope
    cdef Py_ssize_t r, _n
    for r in range(k):
        high = larger(high, scores[r])
    low = high - kappa                      # at low the largest share is 1
    high += log(<double>k)                  # at high no share exceeds 1/k
    nu = 0.5 * (low + high)
    for _n in range(200):
        total = slope = 0.0
        for r in range(k):
            shares[r] = lambert(scores[r] + (kappa if r == label else 0.0) - nu, kappa)
            total += shares[r]
            slope += shares[r] / (1.0 + kappa * shares[r])
        if fabs(total - 1.0) <= 1e-15:
            return
        low, high = (nu, high) if total > 1.0 else (low, nu)
        nu = nu + (total - 1.0) / slope if slope > 0.0 else 0.5 * (low + high)
        if not (low < nu < high):
            nu = 0.5 * (low + high)
            if not (low < nu < high):
                return


cdef void ascend_pairwise(Ascent* a, Py_ssize_t label) noexcept nogil:
    """Find DA3's step (hinge loss, entropic): the α >= 0, Σ α <= c, that maximise the dual, to a gap of GAP γ c.

    The optimal mass moves from the α (or the rest of c, in alpha[label]) of the least derivative to that of the largest; the
    line's masses follow.
    """
    cdef Py_ssize_t r, best, worst, _n
    cdef double gap, s, value, rest = a.rest
    cdef double* gradient = a.work
    cdef double* part = a.work + a.k
    a.n_moves = 2
    for _n in range(MOST * a.k):
        survey(a, rest, part, gradient, a.work + 2 * a.k)
        value, gap, best, worst = gradient[label], 0.0, label, label
        for r in range(a.k):
            gradient[r] = a.margin - value + gradient[r] if r != label else 0.0
        for r in range(a.k):
            if gradient[r] > gradient[best]:
                best = r
            if a.alpha[r] > 0.0 and (gradient[r] < gradient[worst] or a.alpha[worst] <= 0.0):
                worst = r
        for r in range(a.k):
            gap += a.alpha[r] * (gradient[best] - gradient[r])
        if gap <= GAP * a.margin * a.most or best == worst:
            return
        a.rest = rest
        for r in range(a.k):
            a.rest += part[r] if r != best and r != worst else 0.0
        a.moves[best == label], a.d[best == label] = best, -1.0
        a.moves[best != label], a.d[best != label] = worst, 1.0
        s = climb(a, a.alpha[worst], a.margin * ((worst == label) - (best == label)), 0.0, 0, 0.0)
        if s <= 0.0:
            return
        a.alpha[best] += s
        a.alpha[worst] = a.alpha[worst] - s if s < a.alpha[worst] else 0.0
        follow(a, s)


cdef void interior(Ascent* a) noexcept nogil:
    """Find DA3's step for the log loss, entropic: shares of the classes that maximise the dual, to a gap of GAP c.

    At the optimum a is the softmax of the scores that it leads to (the gap is Σ a log(a / softmax)). Each step is Newton's with
    the Hessian's diagonal, 1/a_r + c σ Z''_r/Z, and an optimal step length; the line moves all classes.
    """
    cdef Py_ssize_t r, largest = 0, _n
    cdef double gap, s, mean, rates, change, high
    cdef double* shares = a.alpha
    cdef double* wanted = a.direction
    cdef double* scores = a.work
    cdef double* rate = a.work + a.k
    for _n in range(MOST):
        survey(a, a.rest, wanted, scores, rate)
        log_sum(scores, a.k, wanted)
        gap = mean = rates = change = 0.0
        high = INFINITY
        for r in range(a.k):
            rate[r] = shares[r] / (1.0 + a.most * rate[r] * shares[r])
            if shares[r] > 0.0:
                gap += shares[r] * log(shares[r] / wanted[r]) if wanted[r] > 0.0 else 1.0
                mean += rate[r] * (scores[r] - log(shares[r]))
                rates += rate[r]
            largest = r if shares[r] > shares[largest] else largest
        if gap <= GAP or rates == 0.0:
            return
        for r in range(a.k):
            wanted[r] = rate[r] * (scores[r] - log(shares[r]) - mean / rates) if shares[r] > 0.0 and r != largest else 0.0
            change += wanted[r]
        wanted[largest] = -change           # exactly: a step may be many times as long
        for r in range(a.k):
            a.d[r] = -a.most * wanted[r]
            if wanted[r] < 0.0 and -shares[r] / wanted[r] < high:
                high = -shares[r] / wanted[r]
        s = climb(a, high, 0.0, 0.0, a.k, 1.0 if high > 1.0 else 0.5 * high) if high != INFINITY else 0.0
        if s <= 0.0:
            return
        for r in range(a.k):
            shares[r] = larger(shares[r] + s * wanted[r], <double>0.0)
        follow(a, s)
