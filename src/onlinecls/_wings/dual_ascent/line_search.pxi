# Maximisation of the dual of min_w f(w) + Σ c_t loss_t(w) along a line, and over a row's dual variables: mathematics only. f*,
# entropic, is σ log Z, and Z the sum of what a line moves and a rest: only positive numbers are added, never a difference, so
# that nothing of Z is lost however far it falls.

cdef enum:
    MOST = 1000             # iterations of a maximisation that is not in closed form

cdef double GAP = 1e-11     # of a row's dual value: where the maximisations end


ctypedef struct Line:
    # θ_c += s d_c x for the classes which[:n], and the numbers of f*'s derivative along it. Entropic: the masses up and down of
    # the row's m features in each of these classes (one for all features of ±h: P and N of the closed form), and the rest of Z.
    bint entropic
    Py_ssize_t n, m, capacity
    Py_ssize_t* which
    double* d
    double* up
    double* down
    double* h
    double* powers          # workspace of two rows
    double rest
    double sigma
    double start, slope     # Euclidean: start + s slope


# --- a line in the dual --------------------------------------------------------------------------------------------------------

cdef double weigh(const Line* line, Py_ssize_t c, double move, double* first, double* second) noexcept nogil:
    """Return the sum of class c's masses after this move, and Σ h (up - down) and Σ h² (up + down)."""
    cdef Py_ssize_t j
    cdef double a, b, h, total = 0.0, mean = 0.0, square = 0.0
    cdef double* up = line.up + c * line.capacity
    cdef double* down = line.down + c * line.capacity
    cdef double* rise = line.powers
    cdef double* fall = line.powers + line.capacity
    if move != 0.0:
        for j in range(line.m):
            rise[j] = move * line.h[j]
        exp_all(rise, line.m)
        for j in range(line.m):
            fall[j] = down[j] * (1.0 / rise[j])
            rise[j] *= up[j]
        up, down = rise, fall
    for j in range(line.m):
        a, b, h = up[j], down[j], line.h[j]
        total += a + b
        mean += h * (a - b)
        square += h * h * (a + b)
    first[0], second[0] = mean, square
    return total


cdef double probe(const Line* line, double s, double* value, double* curvature) noexcept nogil:
    """Compute df*/ds and d²f*/ds²; return the sum of the sizes of the classes' parts in the former."""
    cdef Py_ssize_t i
    cdef double first, second, mean = 0.0, size = 0.0, square = 0.0, z = line.rest
    value[0], curvature[0] = line.start + s * line.slope, line.slope
    if not line.entropic:
        return fabs(line.start) + s * line.slope
    for i in range(line.n):
        z += weigh(line, line.which[i], s * line.d[i], &first, &second)
        mean += line.d[i] * first
        size += fabs(line.d[i] * first)
        square += line.d[i] * line.d[i] * second
    mean /= z
    value[0], curvature[0] = line.sigma * mean, line.sigma * (square / z - mean * mean)
    return line.sigma * size / z


cdef double climb(const Line* line, double high, double gain, double ridge, double c, const double* a, const double* da,
                  Py_ssize_t k, double guess) noexcept nogil:
    """Return the s in [0, high] that maximises gain s - ridge s²/2 + c H(a + s da) - f*; k = 0: no entropy.

    Newton's steps from the guess (without entropy from 0), halvings where they leave the bracket. They end with a step that is
    small beside s, from where the derivative is small beside its parts: near an end a step is small wherever the maximum is.
    """
    cdef double low = 0.0, top = high, s = guess, value, curvature, slope, bend, at, new, part, parts
    cdef bint asked = False
    cdef Py_ssize_t i, _n
    if k == 0:                              # Newton's first step, from 0, takes no powers
        probe(line, 0.0, &value, &curvature)
        slope, bend = gain - value, curvature + ridge
        if slope <= 0.0 and slope < high * bend:
            return 0.0
        s = slope / bend if slope < high * bend else high
    for _n in range(200):
        parts = fabs(gain) + ridge * s + probe(line, s, &value, &curvature)
        slope = gain - ridge * s - value
        bend = curvature + ridge
        for i in range(k):
            at = a[i] + s * da[i]
            if da[i] != 0.0 and at <= 0.0:
                slope += -1e300 if da[i] < 0.0 else 1e300
            elif da[i] != 0.0:
                part = c * da[i] * log(at)
                slope -= part
                parts += fabs(part)
                bend += c * da[i] * da[i] / at
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


cdef void follow(const Line* line, double s) noexcept nogil:
    """Move the line's masses on by s."""
    cdef Py_ssize_t i, j, at
    for i in range(line.n):
        at = line.which[i] * line.capacity
        for j in range(line.m):
            line.powers[j] = s * line.d[i] * line.h[j]
        exp_all(line.powers, line.m)
        for j in range(line.m):
            line.up[at + j] *= line.powers[j]
            line.down[at + j] /= line.powers[j]


cdef void survey(const Line* line, Py_ssize_t k, double* part, double* scores, double* squares) noexcept nogil:
    """Compute the k classes' parts of Z, their scores, and σ Z''_r/Z, where the masses are."""
    cdef Py_ssize_t r
    cdef double z = line.rest
    for r in range(k):
        part[r] = weigh(line, r, 0.0, &scores[r], &squares[r])
        z += part[r]
    for r in range(k):
        scores[r] *= line.sigma / z
        squares[r] *= line.sigma / z


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
    cdef double low, high, nu, total, slope
    cdef Py_ssize_t r, _n
    high = scores[label] + kappa
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
        if total > 1.0:
            low = nu
        else:
            high = nu
        nu = nu + (total - 1.0) / slope if slope > 0.0 else 0.5 * (low + high)
        if not (low < nu < high):
            nu = 0.5 * (low + high)
            if not (low < nu < high):
                return


cdef void ascend_pairwise(Line* line, Py_ssize_t k, Py_ssize_t label, double gamma, double c, double* alpha,
                          double* work) noexcept nogil:
    """Find DA3's step (hinge loss, entropic): the α >= 0, Σ α <= c, that maximise the dual, to a gap of GAP γ c.

    The optimal mass moves from the α (or the rest of c, in alpha[label]) of the least derivative to that of the largest; the
    line's masses follow. work : 3k numbers.
    """
    cdef Py_ssize_t r, best, worst, _n
    cdef double gap, s, value, rest = line.rest
    cdef double* gradient = work
    cdef double* part = work + k
    line.n = 2
    for _n in range(MOST * k):
        line.rest = rest
        survey(line, k, part, gradient, work + 2 * k)
        value = gradient[label]
        best = worst = label
        gap = 0.0
        for r in range(k):
            gradient[r] = gamma - value + gradient[r] if r != label else 0.0
        for r in range(k):
            if gradient[r] > gradient[best]:
                best = r
            if alpha[r] > 0.0 and (gradient[r] < gradient[worst] or alpha[worst] <= 0.0):
                worst = r
        for r in range(k):
            gap += alpha[r] * (gradient[best] - gradient[r])
        if gap <= GAP * gamma * c or best == worst:
            return
        for r in range(k):
            if r != best and r != worst:
                line.rest += part[r]
        line.which[best == label], line.d[best == label] = best, -1.0
        line.which[best != label], line.d[best != label] = worst, 1.0
        s = climb(line, alpha[worst], gamma * ((worst == label) - (best == label)), 0.0, 0.0, NULL, NULL, 0, 0.0)
        if s <= 0.0:
            return
        alpha[best] += s
        alpha[worst] = alpha[worst] - s if s < alpha[worst] else 0.0
        follow(line, s)


cdef void interior(Line* line, Py_ssize_t k, double c, double* shares, double* work) noexcept nogil:
    """Find DA3's step for the log loss, entropic: shares of the classes that maximise the dual, to a gap of GAP c.

    At the optimum a is the softmax of the scores that it leads to (the gap is Σ a log(a / softmax)). Each step is Newton's with
    the Hessian's diagonal, 1/a_r + c σ Z''_r/Z, and an optimal step length; the line moves all classes. work : 3k numbers.
    """
    cdef Py_ssize_t r, largest = 0, _n
    cdef double gap, s, mean, rates, change, high
    cdef double* wanted = work
    cdef double* scores = work + k
    cdef double* rate = work + 2 * k
    for _n in range(MOST):
        survey(line, k, wanted, scores, rate)
        log_sum(scores, k, wanted)
        gap = mean = rates = change = 0.0
        high = INFINITY
        for r in range(k):
            rate[r] = shares[r] / (1.0 + c * rate[r] * shares[r])
            if shares[r] > 0.0:
                gap += shares[r] * log(shares[r] / wanted[r]) if wanted[r] > 0.0 else 1.0
                mean += rate[r] * (scores[r] - log(shares[r]))
                rates += rate[r]
            largest = r if shares[r] > shares[largest] else largest
        if gap <= GAP or rates == 0.0:
            return
        for r in range(k):
            wanted[r] = rate[r] * (scores[r] - log(shares[r]) - mean / rates) if shares[r] > 0.0 and r != largest else 0.0
            change += wanted[r]
        wanted[largest] = -change           # exactly: a step may be many times as long
        for r in range(k):
            line.d[r] = -c * wanted[r]
            if wanted[r] < 0.0 and -shares[r] / wanted[r] < high:
                high = -shares[r] / wanted[r]
        s = climb(line, high, 0.0, 0.0, c, shares, wanted, k, 1.0 if high > 1.0 else 0.5 * high) if high != INFINITY else 0.0
        if s <= 0.0:
            return
        for r in range(k):
            shares[r] = larger(shares[r] + s * wanted[r], <double>0.0)
        follow(line, s)
