"""The dense geometry: one symmetric Σ, (D, D), for each vector of weights, changed by Sherman-Morrison.

    u = Σx,   w += τ u,   Σ -= k u u',   k = β / (1 + β x'Σx)          (the same as Σ^-1 += β x x')

Only Σ's lower triangle, as C orders it, is kept: there is no other half to disagree with it. Writing it for every row would
cost as much memory traffic as all else, so the last steps of a vector wait beside it, and

    Σ_t x = Σ_0 x - Σ_i s_i (s_i.x),   s = √k u

gives every product exactly, with Σ_0 the matrix as it was last written. When M steps wait, one rank-M update writes them at the
speed of a matrix product. Products Σ_0 x of rows that will probably step are made together, B at once, as one matrix product;
a row that was not foreseen makes its own. A row that its margin settles costs no product at all.

In exact arithmetic Σ stays positive definite. In rounded arithmetic x'Σx is known to about ε a², a = Σ_j |x_j| √Σ_jj, and a
variance below that is noise, which would run away from 0 (v - kv² falls for ever once v < 0). Two guards keep every number of Σ
within twice the initial variance, and act on noise alone: no step takes more from a Σ_jj than there is, and where x'Σx comes out
as noise, Σ moves towards its diagonal until it is ε a².

Workspace, rows of D numbers: for each vector, M rows s_i of steps that wait (the dense rows of a product lie behind them while it
is made), B of products made ahead, one of a product made alone, √Σ_jj as written, Σ_jj now; then the present row, and a row of M
coefficients s_i.x (D >= M = B = depth).

A matrix is also written as soon as one of its variances has fallen to a fourth of what is written: what rounding has done to the
matrix as written would be large beside what is left (Σ would no longer be positive definite, and float32 weights grow for ever).
"""
from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int64_t

from .blas cimport gemv, gemv_t, symm, symv, syrk
from .sparse cimport Row, column, dense_t, floating, index_t, larger
from .._rules cimport Params, smaller


cdef enum:
    AHEAD_AT_LEAST = 3      # products that pay for a matrix product instead of one by one
    FALL = 4                # a variance that falls to less than a fourth of what is written has its matrix written
    SPARSE = 12             # a row with fewer than D/12 non-zeros gathers its rows of Σ instead


ctypedef struct Full:
    Py_ssize_t k            # vectors of weights
    Py_ssize_t D            # features, the constant one among them
    Py_ssize_t depth        # M and B
    Py_ssize_t span         # rows in a window at most
    double noise            # a relative error that rounding makes in Σ
    Py_ssize_t start        # the window: rows [start, stop) of the pass have been looked at
    Py_ssize_t stop
    Py_ssize_t resume       # the row from which on looking ahead is worth while again
    Py_ssize_t aim          # products to make ahead for a vector
    Py_ssize_t made         # products made ahead in this window
    Py_ssize_t used         # and those that a row asked for
    int64_t* n_waiting      # [k]
    int64_t* n_ahead        # [k]
    int64_t* place          # [k] the workspace row of the present row's u
    int64_t* slots          # [k, span] which product is that of the window's row; -1: none
    int64_t* chosen         # [k, depth] the rows whose products are made


cdef inline Py_ssize_t waiting_at(const Full* f, Py_ssize_t c) noexcept nogil:
    return c * (2 * f.depth + 3)


cdef inline Py_ssize_t ahead_at(const Full* f, Py_ssize_t c) noexcept nogil:
    return waiting_at(f, c) + f.depth


cdef inline Py_ssize_t alone_at(const Full* f, Py_ssize_t c) noexcept nogil:
    return waiting_at(f, c) + 2 * f.depth


cdef inline Py_ssize_t roots_at(const Full* f, Py_ssize_t c) noexcept nogil:
    return waiting_at(f, c) + 2 * f.depth + 1


cdef inline Py_ssize_t present_at(const Full* f) noexcept nogil:
    return waiting_at(f, f.k)


cdef inline void expand(const floating[::1] data, const index_t[::1] indices, Row row, floating[::1] x,
                        const Params* p) noexcept nogil:
    """The row as D numbers, the constant feature last."""
    cdef Py_ssize_t j
    for j in range(x.shape[0]):
        x[j] = 0.0
    for j in range(row.lo, row.hi):
        x[column(indices, j, row.lo)] = data[j]
    x[x.shape[0] - 1] = <floating>p.bias


cdef inline void gather(const floating[:, ::1] S, const floating[::1] x, const floating[::1] data, const index_t[::1] indices,
                        Row row, floating[::1] u) noexcept nogil:
    """u = S x from the rows (and, above the diagonal, the columns) of S where x is not 0."""
    cdef Py_ssize_t n = x.shape[0], k, i, j
    cdef floating xj
    for i in range(n):
        u[i] = x[n - 1] * S[n - 1, i]
    for k in range(row.lo, row.hi):
        j = column(indices, k, row.lo)
        xj = data[k]
        for i in range(j + 1):
            u[i] += xj * S[j, i]
        for i in range(j + 1, n):
            u[i] += xj * S[i, j]


cdef inline double form(const floating[:, ::1] S, const floating[::1] data, const index_t[::1] indices, Row row,
                        const Params* p) noexcept nogil:
    """x'Sx, of the non-zeros alone."""
    cdef Py_ssize_t k, j, a, b, n = S.shape[0] - 1
    cdef double total = p.bias * p.bias * S[n, n], part
    for k in range(row.lo, row.hi):
        a = column(indices, k, row.lo)
        part = p.bias * S[n, a]
        for j in range(row.lo, k):
            b = column(indices, j, row.lo)
            part += <double>data[j] * S[max(a, b), min(a, b)]
        total += data[k] * (2.0 * part + data[k] * <double>S[a, a])
    return total


cdef inline double dot(const floating[::1] x, const floating[::1] y) noexcept nogil:
    cdef Py_ssize_t j
    cdef double total = 0.0
    for j in range(x.shape[0]):
        total += <double>x[j] * y[j]
    return total


cdef inline bint is_sparse(const index_t[::1] indices, Row row, const Full* f) noexcept nogil:
    if index_t is dense_t:
        return False
    else:
        return SPARSE * (row.hi - row.lo) < f.D


cdef inline void forget(Full* f, Py_ssize_t c) noexcept nogil:
    """Vector c has no products for this window."""
    cdef Py_ssize_t i
    for i in range(f.stop - f.start):
        f.slots[c * f.span + i] = -1


cdef inline void keep_roots(floating[:, ::1] S, floating[:, ::1] work, const Full* f, Py_ssize_t c,
                            double noise) noexcept nogil:
    """√Σ_jj and Σ_jj, for telling noise; a Σ_jj that has shrunk below the noise of what it was is lifted to that."""
    cdef Py_ssize_t j, at = roots_at(f, c)
    for j in range(f.D):
        S[j, j] = larger(S[j, j], <floating>(noise * work[at, j] * work[at, j]))
        work[at, j] = <floating>sqrt(<double>S[j, j])
        work[at + 1, j] = S[j, j]


cdef inline void write_down(floating[:, ::1] S, floating[:, ::1] work, Full* f, Py_ssize_t c) noexcept nogil:
    """Σ_c -= Σ_i s_i s_i' of all steps that wait. Products made ahead by the old matrix are void."""
    cdef Py_ssize_t i, j, n = f.n_waiting[c], at = waiting_at(f, c)
    cdef floating si
    if n == 1:
        for i in range(f.D):
            si = work[at, i]
            for j in range(i + 1):
                S[i, j] -= si * work[at, j]
    elif n > 1:
        syrk(S, work[at:], <int>n)
    f.n_waiting[c] = 0
    forget(f, c)
    keep_roots(S, work, f, c, f.noise)


cdef inline void open_window(floating[:, :, ::1] sigma, floating[:, ::1] work, Full* f, Py_ssize_t i) noexcept nogil:
    """A new window at row i. Where most products of the last one were for nothing, fewer are made now."""
    cdef Py_ssize_t c
    if f.made:
        f.aim = max(AHEAD_AT_LEAST, f.aim // 2) if 2 * f.used < f.made else min(f.depth, 2 * f.aim)
    f.start = f.stop = i
    f.made = f.used = 0
    for c in range(f.k):
        f.n_ahead[c] = 0
        if f.n_waiting[c] + f.aim > f.depth:
            write_down(sigma[c], work, f, c)


cdef inline void foresee(Full* f, Py_ssize_t c, Py_ssize_t i, Py_ssize_t at) noexcept nogil:
    """Row i of the pass, row `at` of storage, will probably ask for Σ_c x."""
    f.chosen[c * f.depth + f.n_ahead[c]] = at
    f.slots[c * f.span + i - f.start] = f.n_ahead[c]
    f.n_ahead[c] += 1


cdef inline void make_products(const floating[:, :, ::1] sigma, floating[:, ::1] work, Full* f, const floating[::1] data,
                               const index_t[::1] indices, const int64_t[::1] indptr, const Params* p) noexcept nogil:
    """The products that were foreseen, one matrix product for each vector."""
    cdef Py_ssize_t c, i, n, operand
    cdef Row row
    row.ahead = 0
    for c in range(f.k):
        n = f.n_ahead[c]
        if n < AHEAD_AT_LEAST:
            forget(f, c)
            continue
        operand = waiting_at(f, c) + f.n_waiting[c]     # (open_window left room for as many steps to wait)
        for i in range(n):
            row.lo = indptr[f.chosen[c * f.depth + i]]
            row.hi = indptr[f.chosen[c * f.depth + i] + 1]
            expand(data, indices, row, work[operand + i], p)
        symm(sigma[c], work[operand:], work[ahead_at(f, c):], <int>n)
        f.made += n


cdef inline void calm(floating[:, ::1] S, floating[:, ::1] work, Full* f, Py_ssize_t c, double v,
                      double least) noexcept nogil:
    """Σ moves towards its diagonal until x'Σx, which came out as v, is `least`; u = Σx moves along."""
    cdef Py_ssize_t i, j, x = present_at(f)
    cdef double diagonal = 0.0
    cdef floating share, one = 1.0
    write_down(S, work, f, c)
    for j in range(f.D):
        diagonal += <double>work[x, j] * work[x, j] * S[j, j]
    share = <floating>((least - v) / larger(diagonal - v, least - v))
    for i in range(f.D):
        for j in range(i):
            S[i, j] *= one - share
        work[f.place[c], i] = (one - share) * work[f.place[c], i] + share * S[i, i] * work[x, i]


cdef inline double spread_full(floating[:, ::1] S, floating[:, ::1] work, Full* f, Py_ssize_t c, Py_ssize_t i,
                               const floating[::1] data, const index_t[::1] indices, Row row, const Params* p) noexcept nogil:
    """x'Σx of vector c for the present row (expanded already), row i of the pass; u = Σx is left in the workspace."""
    cdef Py_ssize_t j, n = f.n_waiting[c], slot = -1, present = present_at(f)
    cdef double a = 0.0, most = 0.0, v = 0.0, least
    if i < f.stop:
        slot = f.slots[c * f.span + i - f.start]
    f.place[c] = ahead_at(f, c) + slot if slot >= 0 else alone_at(f, c)
    if slot >= 0:
        f.used += 1
    elif is_sparse(indices, row, f):
        gather(S, work[present], data, indices, row, work[f.place[c]])
    else:
        symv(S, work[present], work[f.place[c]])
    if n:
        gemv(work[waiting_at(f, c):], <int>n, work[present], work[present + 1])
        gemv_t(work[waiting_at(f, c):], <int>n, work[present + 1], work[f.place[c]])
    for j in range(f.D):
        v += <double>work[present, j] * work[f.place[c], j]
        a += fabs(work[present, j]) * <double>work[roots_at(f, c), j]
        most = larger(most, fabs(work[f.place[c], j]))
    least = larger(f.noise * a * a, p.floor)
    if not isfinite(v):
        return v
    if v < least:
        calm(S, work, f, c, v, least)
        for j in range(f.D):
            most = larger(most, fabs(work[f.place[c], j]))
    return larger(larger(v, least), most * most / p.variance)       # u_j² <= Σ_jj x'Σx


cdef inline void move_full(floating[::1] state, floating[:, ::1] S, floating[:, ::1] work, Full* f, Py_ssize_t c, double tau,
                           double k, double[::1] drift, double rounds) noexcept nogil:
    """w_c += τ u; the step Σ_c -= k u u' waits. The average's books take rounds * Δw."""
    cdef Py_ssize_t j, at = f.place[c], waiting = waiting_at(f, c) + f.n_waiting[c], left = roots_at(f, c) + 1
    cdef floating before, s, step = <floating>tau, root = <floating>sqrt(k), share = 1.0
    cdef bint fallen = False
    for j in range(f.D):
        before = state[j * f.k + c]
        state[j * f.k + c] = before + step * work[at, j]
        if rounds != 0.0:
            drift[j * f.k + c] += rounds * (<double>state[j * f.k + c] - before)
        s = root * work[at, j]
        if s * s > work[left, j]:
            share = smaller(share, sqrt(work[left, j]) / fabs(s))
    if k == 0.0:
        return
    for j in range(f.D):
        s = share * root * work[at, j]
        work[waiting, j] = s
        work[left, j] = larger(work[left, j] - s * s, <floating>0.0)       # (its root is taken; rounding may pass 0)
        fallen |= FALL * work[left, j] < work[left - 1, j] * work[left - 1, j]
    f.n_waiting[c] += 1
    if fallen or f.n_waiting[c] == f.depth:
        write_down(S, work, f, c)
