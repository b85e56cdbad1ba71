"""Follow the regularized leader (the tutorial's part III): after each row w is the best there is for all rows so far.

    w_t = argmin σ/2 ||w||² + Σ_{i <= t} c_i loss_i(w),    the hinge loss,    by coordinate ascent on its dual

    D(α) = Σ α - ||θ||²/(2σ),   0 <= α <= c (joint: Σ_r α_r <= c),   θ = Σ α Δφ,   w = θ/σ,

which goes on from the α of the rounds before. The gap between primal and dual is a sum over rows, none of them negative:

    σ/2 ||w||² + Σ c loss - D = Σ_i c_i loss_i(w) - Σ_r α_ir (1 - m_ir)

so that one scan of all rows at a fixed w tells it, and which rows there is something to gain from: a sweep goes over these.
"""
from libc.math cimport fabs, isfinite, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from .line cimport share_out
from .._geometry.sparse cimport floating, larger
from .._geometry.books cimport LOSS, MISTAKES, QUANTUM, REACH, SKIPPED, UPDATES, best_of, count_in, look_up

cdef enum:                  # slots of books
    GAP                     # after the last row
    PENDING                 # 1 + the sweep before which an interrupt came; 0: none did
    N_BOOKS

BOOKS = {"gap": GAP, "pending": PENDING, "size": N_BOOKS}

cdef enum:
    MOST = 1000             # sweeps a row

cdef double HUGE = 1e140    # rows beyond it are left out, so that nothing below overflows

ctypedef struct Params:
    int joint
    int open_classes
    int balanced
    double sigma
    double tolerance
    double bias
    double limit


ctypedef struct Space:      # numbers of one row, a number for each column
    double* scores
    double* excess
    double* alpha
    double* sorted
    Py_ssize_t* active      # rows


cdef double scores_of(const double[:, ::1] theta, const floating[::1] data, const int64_t[::1] indices, int64_t lo, int64_t hi,
                      double* scores, const Params* p) noexcept nogil:
    """scores[c] = w_c.x; returns ||x||²."""
    cdef Py_ssize_t j, c, k = theta.shape[1], last = theta.shape[0] - 1
    cdef double q = p.bias * p.bias, x
    for c in range(k):
        scores[c] = 0.0
    for j in range(lo, hi):
        x = data[j]
        q += x * x
        for c in range(k):
            scores[c] += x * theta[indices[j], c]
    for c in range(k):
        scores[c] = (scores[c] + p.bias * theta[last, c]) / p.sigma
    return q


cdef inline void move(double[:, ::1] theta, const floating[::1] data, const int64_t[::1] indices, int64_t lo, int64_t hi,
                      Py_ssize_t c, double step, const Params* p) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(lo, hi):
        theta[indices[j], c] += step * data[j]
    theta[theta.shape[0] - 1, c] += step * p.bias


cdef inline double sign_of(Py_ssize_t label, Py_ssize_t c, Py_ssize_t k) noexcept nogil:
    return 2.0 * label - 1.0 if k == 1 else 1.0 if label == c else -1.0


cdef inline bint is_there(const double[::1] counts, Py_ssize_t c, const Params* p) noexcept nogil:
    return not (p.open_classes and counts[c] == 0.0)


cdef double loss_of(const double* scores, Py_ssize_t label, const double[::1] counts, Py_ssize_t k,
                    const Params* p) noexcept nogil:
    """The hinge loss, one against the rest: all columns' together."""
    cdef Py_ssize_t c
    cdef double loss = 0.0
    for c in range(k):
        if k > 1 and not is_there(counts, c, p):
            continue
        if k == 1 or not p.joint:
            loss += larger(1.0 - sign_of(label, c, k) * scores[c], <double>0.0)
        elif c != label:
            loss = larger(loss, 1.0 - (scores[label] - scores[c]))
    return loss


cdef double gap_of(const double* scores, const double[:, ::1] alpha, Py_ssize_t i, Py_ssize_t label, double weight,
                   const double[::1] counts, const Params* p) noexcept nogil:
    """A row's part of the gap, >= 0 but for rounding."""
    cdef Py_ssize_t c, k = alpha.shape[1]
    cdef double gap = weight * loss_of(scores, label, counts, k, p)
    for c in range(k):
        if alpha[i, c] != 0.0:
            gap -= alpha[i, c] * (1.0 - (scores[label] - scores[c] if k > 1 and p.joint else sign_of(label, c, k) * scores[c]))
    return gap


cdef bint ascend(double[:, ::1] theta, double[:, ::1] alpha, Py_ssize_t i, Py_ssize_t label, double weight, double q,
                 const floating[::1] data, const int64_t[::1] indices, int64_t lo, int64_t hi, const double[::1] counts,
                 Space* space, const Params* p) noexcept nogil:
    """The best α of row i, all others as they are, from the row's scores; whether it is another than before."""
    cdef Py_ssize_t c, k = alpha.shape[1]
    cdef double new, whole = 0.0, total = 0.0, ratio = p.sigma / q
    cdef bint changed = False
    if k == 1 or not p.joint:
        for c in range(k):
            if k > 1 and not is_there(counts, c, p):
                continue
            new = alpha[i, c] + (1.0 - sign_of(label, c, k) * space.scores[c]) * ratio
            new = 0.0 if not new > 0.0 else weight if new > weight else new
            if new != alpha[i, c]:
                move(theta, data, indices, lo, hi, c, sign_of(label, c, k) * (new - alpha[i, c]), p)
                alpha[i, c] = new
                changed = True
        return changed
    for c in range(k):
        whole += alpha[i, c]
    for c in range(k):                      # 1 - m without this row, by q/σ
        space.excess[c] = 0.0
        if c != label and is_there(counts, c, p):
            space.excess[c] = (1.0 - space.scores[label] + space.scores[c]) * ratio + (whole + alpha[i, c])
    share_out(space.excess, k, weight, space.alpha, space.sorted)
    for c in range(k):
        if c != label and space.alpha[c] != alpha[i, c]:
            move(theta, data, indices, lo, hi, c, alpha[i, c] - space.alpha[c], p)
            alpha[i, c] = space.alpha[c]
            changed = True
        if c != label:
            total += alpha[i, c]
    if total != whole:
        move(theta, data, indices, lo, hi, label, total - whole, p)
    return changed


cdef inline void shuffle(Py_ssize_t* rows, Py_ssize_t n, uint64_t seed) noexcept nogil:
    """Fisher and Yates, by the numbers of splitmix64: the same seed, the same order."""
    cdef Py_ssize_t i, j
    cdef uint64_t mixed
    for i in range(n - 1, 0, -1):
        seed += 0x9E3779B97F4A7C15U
        mixed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9U
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU
        j = <Py_ssize_t>((mixed ^ (mixed >> 31)) % <uint64_t>(i + 1))
        rows[i], rows[j] = rows[j], rows[i]


cdef int settle(double[:, ::1] theta, double[:, ::1] alpha, Py_ssize_t n, const floating[::1] data, const int64_t[::1] indices,
                const int64_t[::1] indptr, const int32_t[::1] y, const double[::1] weights, const double[::1] counts,
                double[::1] books, Space* space, Py_ssize_t* budget, const Params* p) except -1 nogil:
    """Sweep over the first n rows until the gap is at most the tolerance (or what rounding leaves of it).

    A sweep goes, in a random order (a tenth of the sweeps that the order of arrival takes), over the rows with a part in the gap.
    """
    cdef Py_ssize_t i, j, n_active, k = alpha.shape[1], sweep
    cdef double q, gap, size, term
    cdef bint changed
    for sweep in range(<Py_ssize_t>larger(books[PENDING] - 1.0, <double>0.0), MOST):
        books[PENDING] = sweep + 1.0
        budget[0] = look_up(budget[0], (indptr[n] + 8 * n) * k)
        gap = size = 0.0
        n_active = 0
        for i in range(n):
            if weights[i] > 0.0:
                scores_of(theta, data, indices, indptr[i], indptr[i + 1], space.scores, p)
                term = gap_of(space.scores, alpha, i, y[i], weights[i], counts, p)
                gap += term
                size += weights[i] * loss_of(space.scores, y[i], counts, k, p)
                if term * n > p.tolerance:              # (if none were, the gap would be within the tolerance)
                    space.active[n_active] = i
                    n_active += 1
        books[GAP] = gap
        if gap <= larger(p.tolerance, 1e-13 * size):
            break
        changed = False
        shuffle(space.active, n_active, (<uint64_t>n << 20) + <uint64_t>sweep)
        for j in range(n_active):
            i = space.active[j]
            q = scores_of(theta, data, indices, indptr[i], indptr[i + 1], space.scores, p)
            changed |= ascend(theta, alpha, i, y[i], weights[i], q, data, indices, indptr[i], indptr[i + 1], counts, space, p)
        if not changed:
            break
    books[PENDING] = 0.0
    return 0


def follow(Params p, const floating[::1] data, const int64_t[::1] indices, const int64_t[::1] indptr, const int32_t[::1] y,
           double[::1] weights, Py_ssize_t first, double[:, ::1] alpha, double[:, ::1] theta, double[::1] counts,
           double[::1] tally, double[::1] books, int32_t[::1] predictions):
    """Learn the rows first, first + 1, .. of a history; what came before them has been learnt.

    y : codes of the labels. weights : > 0; on return those by which the rows count (0: left out for their size). alpha, theta :
    (rows, columns) and (features + 1, columns). predictions : what predict would have said before each new row, or empty.
    """
    cdef Py_ssize_t i, c, said, label, k = alpha.shape[1], budget = QUANTUM, n = y.shape[0]
    cdef double[:, ::1] work = np.zeros((4, max(k, 2)))
    cdef double[::1] no_weights = np.empty(0)
    cdef Py_ssize_t[::1] active = np.empty(n + 1, np.intp)
    cdef double q, stride, loss
    cdef bint fine, is_new
    cdef Space space = Space(&work[0, 0], &work[1, 0], &work[2, 0], &work[3, 0], &active[0])
    with nogil:
        if books[PENDING] > 0.0:
            settle(theta, alpha, first, data, indices, indptr, y, weights, counts, books, &space, &budget, &p)
        for i in range(first, n):
            budget = look_up(budget, (indptr[i + 1] - indptr[i] + 8) * k)
            label = y[i]
            weights[i] = count_in(i, label, weights, no_weights, counts, tally, p.balanced)
            is_new = p.open_classes and counts[label] == 1.0
            q = scores_of(theta, data, indices, indptr[i], indptr[i + 1], space.scores, &p)
            said = (space.scores[0] > 0.0) if k == 1 else best_of(space.scores, counts, -1, p.open_classes)
            tally[MISTAKES] += (said != label) | is_new
            if predictions.shape[0]:
                predictions[i - first] = <int32_t>said
            stride = weights[i] * sqrt(q)
            fine = q <= HUGE and weights[i] <= HUGE and tally[REACH] + stride <= p.limit and p.sigma <= HUGE * q
            for c in range(k):
                fine &= isfinite(space.scores[c]) and fabs(space.scores[c]) * p.sigma <= HUGE * q
            if not fine or q == 0.0:
                tally[SKIPPED] += q > 0.0
                weights[i] = 0.0
                if not is_new:
                    continue
            tally[REACH] += stride if weights[i] > 0.0 else 0.0
            loss = loss_of(space.scores, label, counts, k, &p)
            if loss > 0.0:          # (with none w is the best still. A new class's row has one: the others' scores add up to 0)
                loss *= weights[i]
                tally[LOSS] += loss if loss < 1e290 else 0.0
                if weights[i] > 0.0:
                    tally[UPDATES] += ascend(theta, alpha, i, label, weights[i], q, data, indices, indptr[i], indptr[i + 1],
                                             counts, &space, &p)
                settle(theta, alpha, i + 1, data, indices, indptr, y, weights, counts, books, &space, &budget, &p)


def decision(Params p, const floating[::1] data, const int64_t[::1] indices, const int64_t[::1] indptr,
             const double[:, ::1] theta, double[:, ::1] scores):
    """scores[i, c] = w_c.x_i"""
    cdef Py_ssize_t i, budget = QUANTUM
    with nogil:
        for i in range(scores.shape[0]):
            budget = look_up(budget, (indptr[i + 1] - indptr[i] + 8) * theta.shape[1])
            scores_of(theta, data, indices, indptr[i], indptr[i + 1], &scores[i, 0], &p)
