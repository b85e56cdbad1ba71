"""The dense geometry: one symmetric Σ, (D, D), for each vector of weights, and the products Σx (the update: _core.pyx).

    u = Σx,   w += τ u,   Σ -= k u u',   k = β / (1 + β x'Σx)          (the same as Σ^-1 += β x x')

Only Σ's lower triangle (in C order) is kept, so that no two halves can differ. Writing it for every row would cost as much memory
traffic as all else, so the last steps of a vector wait beside it, and

    Σ_t x = Σ_0 x - Σ_i s_i (s_i.x),   s = √k u

gives every product exactly, with Σ_0 the matrix as it was last written. When M steps wait, one rank-M update writes them at the
speed of a matrix product. Products Σ_0 x of rows that will probably step are made together, B at once, as one matrix product;
other rows make theirs alone. A row whose margin rules out a step costs no product at all.

In exact arithmetic Σ stays positive definite. In rounded arithmetic x'Σx is known to about ε a², a = Σ_j |x_j| √Σ_jj, and a
smaller variance is noise, which diverges once it is negative (v - kv² then falls for ever). Two guards keep every number of Σ
within twice the initial variance, and act on noise alone: no step takes more from a Σ_jj than is left of it, and where x'Σx is
below ε a², Σ moves towards its diagonal until it is ε a².

The workspace has the rows of `Part` for each vector, the present row, and a row of M coefficients s_i.x (D >= M = B = depth).

A matrix is also written as soon as one of its variances has fallen to a fourth of its written value: the rounding errors of
the written matrix would be large beside what is left (Σ would no longer be positive definite, and float32 weights grow for ever).
"""
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

from .._rules cimport ADDITIVE, FULL_POTENTIAL, Params, Stats, never_steps, precision
from .classes cimport score_classes
from .model cimport gemv, symm, symv
from .rounds cimport OVR, Batch, Example, PassContext, Round, example, read_row, row_at, weigh_class
from .sparse cimport Row, column, dense_t, floating, index_t, larger


cdef enum:
    AHEAD_AT_LEAST = 3      # products from which on a matrix product is faster than single ones
    FALL = 4                # a matrix is written once a variance is below a fourth of its written value
    SPARSE = 12             # a row with fewer than D/12 non-zeros gathers its rows of Σ instead
    SPAN = 4                # rows looked at for each product that is to be made ahead
    WORTH = 64              # looking at D/64 rows costs as much as one product made ahead saves
    RARELY = 16             # where looking ahead does not pay, rows that are skipped for each that is looked at
    MOST_GROWTH = 1 << 20
    NOISE = 4               # the error of a number of Σ, in units of the dtype's spacing


cdef enum Part:             # of the workspace of a vector, in rows of D numbers
    ROOTS                   # √Σ_jj as written
    LEFT                    # Σ_jj now
    ALONE                   # a product made alone
    WAITING                 # M steps s_i that wait; behind them, the dense rows of a product while it is made
    AHEAD                   # B products made ahead


ctypedef struct Full:
    const PassContext* context
    Params* p
    Py_ssize_t k            # vectors of weights
    Py_ssize_t D            # features, the constant one among them
    Py_ssize_t depth        # M and B
    double noise            # the relative error of rounding in Σ
    Py_ssize_t start        # the window: rows [start, stop) of the pass have been looked at
    Py_ssize_t stop
    Py_ssize_t resume       # the row at which to look ahead again
    Py_ssize_t aim          # products to make ahead for a vector
    Py_ssize_t made         # products made ahead in this window
    Py_ssize_t used         # those of them that a row needed
    int64_t* n_waiting      # [k]
    int64_t* n_ahead        # [k]
    int64_t* place          # [k] the workspace row of the present row's u
    int64_t* chosen         # [k, depth] the rows of the pass whose products are made
    double* scores          # [k] of the present row
    double* ahead_scores    # [k] of a row that is looked at ahead
    double* spare           # [k] room for more numbers
    double* growth          # [k] forgetting: Σ = growth C S C of the stored matrix S (else Σ = S),
    double* caps            # [k, D] C diagonal, <= 1: it keeps variances that have reached the initial one at that
    int64_t* capped_at      # [k, D] the row of this pass that last changed C_jj
    Py_ssize_t present      # the workspace row of the present row's numbers
    Py_ssize_t now          # the present row of the pass
    double least            # below this, the x'Σx that was last computed is noise
    double most             # max |u_j| of its u = Σx
    double[2] v             # x'Σx of the vectors of the present step


cdef inline Py_ssize_t row_of(const Full* f, Py_ssize_t c, int part) noexcept nogil:
    """Return the first workspace row of a part of vector c's."""
    return c * (3 + 2 * f.depth) + (part if part < AHEAD else WAITING + f.depth)


cdef inline const double* caps_of(const Full* f, Py_ssize_t c) noexcept nogil:
    return NULL if f.p.forgetting == 0.0 else &f.caps[c * f.D]


cdef inline double capped(double x, const double* caps, Py_ssize_t j) noexcept nogil:
    return x if caps == NULL else x * caps[j]


cdef inline void expand(const floating[::1] data, const index_t[::1] indices, Row row, floating[::1] x, double bias,
                        double inverse, const double* caps) noexcept nogil:
    """Write the row times 1/s, multiplied by C in a learner that forgets, as D numbers, the constant feature last."""
    cdef Py_ssize_t j, n = x.shape[0] - 1
    for j in range(n):
        x[j] = 0.0
    for j in range(row.lo, row.hi):
        x[column(indices, j, row.lo)] = <floating>capped(data[j] * inverse, caps, column(indices, j, row.lo))
    x[n] = <floating>capped(bias * inverse, caps, n)


cdef inline void gather(const floating[:, ::1] S, const floating[::1] x, const index_t[::1] indices, Row row,
                        floating[::1] u) noexcept nogil:
    """Compute u = S x from the rows (and, above the diagonal, the columns) of S where x is not 0."""
    cdef Py_ssize_t n = x.shape[0], k, i, j
    cdef floating xj
    for i in range(n):
        u[i] = x[n - 1] * S[n - 1, i]
    for k in range(row.lo, row.hi):
        j = column(indices, k, row.lo)
        xj = x[j]
        for i in range(j + 1):
            u[i] += xj * S[j, i]
        for i in range(j + 1, n):
            u[i] += xj * S[i, j]


cdef inline double dot(const floating[::1] x, const floating[::1] y) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(x.shape[0]):
        total += <double>x[j] * y[j]
    return total


cdef inline bint is_sparse(const index_t[::1] indices, Row row, Py_ssize_t D) noexcept nogil:
    return index_t is not dense_t and SPARSE * (row.hi - row.lo) < D


cdef inline void multiply(const floating[:, ::1] S, const floating[::1] x, const index_t[::1] indices, Row row,
                          floating[::1] u) noexcept nogil:
    """Compute u = S x of an expanded row."""
    if is_sparse(indices, row, x.shape[0]):
        gather(S, x, indices, row, u)
    else:
        symv(S, x, u)


cdef inline void keep_roots(floating[:, ::1] S, floating[:, ::1] work, const Full* f, Py_ssize_t c, double noise) noexcept nogil:
    """Store √Σ_jj and Σ_jj, from which noise is computed; lift a Σ_jj that has fallen below the noise of its last value."""
    cdef Py_ssize_t j, at = row_of(f, c, ROOTS)
    for j in range(f.D):
        S[j, j] = larger(S[j, j], <floating>(noise * work[at, j] * work[at, j]))
        work[at, j] = <floating>sqrt(<double>S[j, j])
        work[at + 1, j] = S[j, j]


cdef inline void open_window(Full* f) noexcept nogil:
    """Open a new window at the present row. If most products of the last one were not used, fewer are made now."""
    cdef Py_ssize_t c
    if f.made:
        f.aim = max(AHEAD_AT_LEAST, f.aim // 2) if 2 * f.used < f.made else min(f.depth, 2 * f.aim)
    f.start = f.stop = f.now
    f.made = f.used = 0
    for c in range(f.k):
        f.n_ahead[c] = 0


cdef inline void make_products(const floating[:, :, ::1] sigma, floating[:, ::1] work, Full* f, const floating[::1] data,
                               const index_t[::1] indices, const Batch* b) noexcept nogil:
    """Compute the products that were foreseen, by one matrix product for each vector."""
    cdef Py_ssize_t c, i, n, operand
    for c in range(f.k):
        n = f.n_ahead[c]
        if n < AHEAD_AT_LEAST:
            f.n_ahead[c] = 0
            continue
        operand = row_of(f, c, WAITING) + f.n_waiting[c]     # (there is room for as many rows as steps could wait)
        for i in range(n):
            expand(data, indices, row_at(b, f.chosen[c * f.depth + i]), work[operand + i], f.p.bias, f.context.inverse,
                   caps_of(f, c))
        symm(sigma[c], work[operand:], work[row_of(f, c, AHEAD):], <int>n)
        f.made += n


cdef inline void shrink_to_diagonal(floating[:, ::1] S, floating[:, ::1] work, Full* f, Py_ssize_t c, double v) noexcept nogil:
    """Move Σ, as written, towards its diagonal until x'Σx, computed as v, is `f.least`; update u = Σx."""
    cdef Py_ssize_t i, j, x = f.present
    cdef double diagonal = 0.0
    cdef floating part, one = 1.0
    for j in range(f.D):
        diagonal += <double>work[x, j] * work[x, j] * S[j, j]
    part = <floating>((f.least - v) / larger(diagonal - v, f.least - v))
    for i in range(f.D):
        for j in range(i):
            S[i, j] *= one - part
        work[f.place[c], i] = (one - part) * work[f.place[c], i] + part * S[i, i] * work[x, i]
        f.most = larger(f.most, fabs(work[f.place[c], i]))


cdef inline bint is_stale(const Full* f, Py_ssize_t c, const floating[::1] x) noexcept nogil:
    """Return True if Cx has changed since the window was opened, so that a product made then is out of date."""
    cdef Py_ssize_t j
    cdef bint found = False
    if f.p.forgetting > 0.0:
        for j in range(f.D):
            found |= x[j] != 0.0 and f.capped_at[c * f.D + j] > f.start
    return found


cdef inline double product(Full* f, Py_ssize_t c, floating[:, ::1] S, floating[:, ::1] work, const floating[::1] data,
                           const index_t[::1] indices, Row row) noexcept nogil:
    """Return x'Σx of vector c for the present row, as computed; leave u = Σx in the workspace. (If the learner forgets: x'CSCx
    and SCx.)"""
    cdef Py_ssize_t j, n = f.n_waiting[c], slot = -1, present = f.present
    cdef double a = 0.0, most = 0.0, v = 0.0
    expand(data, indices, row, work[present], f.p.bias, f.context.inverse, caps_of(f, c))
    if not is_stale(f, c, work[present]):
        for j in range(f.n_ahead[c]):
            slot = j if f.chosen[c * f.depth + j] == f.now else slot
    f.place[c] = row_of(f, c, AHEAD) + slot if slot >= 0 else row_of(f, c, ALONE)
    if slot >= 0:
        f.used += 1
    else:
        multiply(S, work[present], indices, row, work[f.place[c]])
    if n:
        gemv(work[row_of(f, c, WAITING):], <int>n, work[present], work[present + 1], True)
        gemv(work[row_of(f, c, WAITING):], <int>n, work[present + 1], work[f.place[c]], False)
    for j in range(f.D):
        v += <double>work[present, j] * work[f.place[c], j]
        a += fabs(work[present, j]) * <double>work[row_of(f, c, ROOTS), j]
        most = larger(most, fabs(work[f.place[c], j]))
    f.least, f.most = larger(f.noise * a * a, f.p.floor), most
    return v


cdef inline double rank_one_gain(double beta, double v, double spacing) noexcept nogil:
    """Return k of Σ -= k u u'. The variance left, v - k v², is never so small that rounding hides it."""
    cdef double k = beta / (1.0 + beta * v)
    return k if k * v < 1.0 - 8.0 * spacing else (1.0 - 8.0 * spacing) / v


cdef inline bint grow(Full* f, Py_ssize_t c, const floating[:, ::1] work) noexcept nogil:
    """Grow Σ_c before a row of a learner that forgets: Σ <- D Σ D, D_jj = 1/√(1 - λ), or less where Σ_jj would exceed σ_0.

    Return True if growth must be written into the matrix, before its numbers get too small.
    """
    cdef Py_ssize_t j
    cdef double variance
    cdef double* caps = &f.caps[c * f.D]
    f.growth[c] /= 1.0 - f.p.forgetting
    for j in range(f.D):
        variance = f.growth[c] * work[row_of(f, c, LEFT), j]
        if variance * caps[j] * caps[j] > f.p.variance:
            caps[j] = sqrt(f.p.variance / variance)
            f.capped_at[c * f.D + j] = f.now
    return f.growth[c] > MOST_GROWTH


cdef inline void write_growth(floating[:, ::1] S, floating[:, ::1] work, Full* f, Py_ssize_t c) noexcept nogil:
    """Write the growth of Σ_c, whose steps are written, into its matrix."""
    cdef Py_ssize_t i, j
    cdef double* caps = &f.caps[c * f.D]
    for i in range(f.D):
        for j in range(i + 1):
            S[i, j] *= <floating>(f.growth[c] * caps[i] * caps[j])
    for j in range(f.D):
        caps[j] = 1.0
    f.growth[c] = 1.0
    keep_roots(S, work, f, c, 0.0)


# --- deciding whether a row needs a product, and making those of several rows at once -------------------------------------------

cdef inline double lookahead(const Example* z, const double* scores, double beta, const double* v,
                             const Params* p) noexcept nogil:
    """Return m' = z'Σ_tθ, for Σ_t x = (1 - kv) Σx."""
    cdef Py_ssize_t j
    cdef double margin = 0.0
    for j in range(z.n):
        margin += z.sign[j] * scores[z.c[j]] * (1.0 - rank_one_gain(beta, v[j], p.spacing) * v[j])
    return margin


cdef inline bint cannot_step(const Full* f, const Example* z, const double* scores, double q) noexcept nogil:
    """Return True if the scores alone rule out a step: no variance is above the initial one times ||x||^2, or, where Σ
    grows and only its diagonal is bounded by that, D times it."""
    cdef Py_ssize_t j
    cdef const Params* p = f.p
    cdef double[2] v
    cdef Stats s
    s.v = p.variance * q * z.n * (f.D if p.forgetting > 0.0 else 1)
    s.margin = z.margin
    if p.geometry == FULL_POTENTIAL:        # the least m': only terms that raise it shrink, as far as they can
        for j in range(z.n):
            v[j] = p.variance * q if z.sign[j] * scores[z.c[j]] > 0.0 else 0.0
        s.margin = lookahead(z, scores, precision(&s, p), v, p)
    return never_steps(&s, p)


cdef inline void look_ahead(Full* f, const Batch* b, const floating[::1] state,
                            const floating[:, :, ::1] sigma, floating[:, ::1] work, const floating[::1] data,
                            const index_t[::1] indices) noexcept nogil:
    """Compute the products that the rows of a new window will need if the weights stay as they are."""
    cdef Py_ssize_t j, number, n_steps = f.k if f.context.task == OVR else 1, n_products = 0
    cdef double q
    cdef bint full = False
    cdef Round r
    cdef Example z
    while f.stop < b.n and f.stop - f.start < SPAN * f.depth and not full:
        read_row(&r, b, f.stop)         # (each row of a regression takes a step, whatever its target is)
        r.weight = 1.0
        weigh_class(&r, b, f.context)       # (balanced: by the counts so far, which may differ when the row comes)
        f.stop += 1
        if is_sparse(indices, r.row, f.D) or (b.weights != NULL and b.weights[r.at] == 0.0):
            continue                    # (a row of weight 0 may have a label that is not a class yet)
        q = score_classes(ADDITIVE, False, state, f.context, f.ahead_scores, f.spare, data, indices, r.row, f.p)
        for number in range(n_steps):
            z = example(f.context.task, number, &r, b, f.ahead_scores, f.context, f.p.epsilon)
            if not cannot_step(f, &z, f.ahead_scores, q):
                for j in range(z.n):
                    f.chosen[z.c[j] * f.depth + f.n_ahead[z.c[j]]] = r.i
                    f.n_ahead[z.c[j]] += 1
        for j in range(f.k):
            full |= f.n_ahead[j] == f.aim
    for j in range(f.k):
        n_products += f.n_ahead[j]
    if n_products * f.D < WORTH * f.k * (f.stop - f.start):
        f.resume = f.stop + RARELY * (f.stop - f.start)
    make_products(sigma, work, f, data, indices, b)


cdef inline void open_full(Full* f, int64_t* places, floating[:, :, ::1] sigma, floating[:, ::1] work) noexcept nogil:
    """Begin a pass: no step waits, no product has been made ahead."""
    cdef Py_ssize_t i, j
    f.start, f.stop, f.resume, f.aim, f.made, f.used, f.now = 0, 0, 0, (f.depth + 3) // 4, 0, 0, 0
    f.n_waiting, f.n_ahead, f.place = places, places + f.k, places + 2 * f.k
    f.chosen, f.capped_at = places + 3 * f.k, places + f.k * (3 + f.depth)
    f.present = row_of(f, f.k, ROOTS)
    for i in range(f.k):
        for j in range(f.D):
            work[row_of(f, i, ROOTS), j] = 0.0
        keep_roots(sigma[i], work, f, i, 0.0)
