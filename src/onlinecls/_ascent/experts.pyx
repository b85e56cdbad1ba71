"""Hedge: the weights of experts are powers of what their advice has lost, all of them new in each round: O(experts) a row."""
from libc.math cimport exp, log, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .ascent cimport AUTO, GAIN, Params
from .._geometry.sparse cimport Row, column, floating, index_t, larger
from .._geometry.books cimport LOSS, MISTAKES, QUANTUM, REACH, ROUNDS, SKIPPED, UPDATES, count_in, look_up, row_at


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
            c = count_in(at, label, weights, class_weights, counts, tally, p.balanced)
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
