"""Running sums of terms that steps replace, in two doubles: a step takes its features' terms out and puts the new ones in.

A sum has 106 bits, those of its largest so far: where less than 2^-40 of that is left, the terms are summed anew, O(n_features).
"""
from ..._compiled.sparse cimport floating, larger

cdef extern from "_wings/shared/powers.h":
    enum: LANES "ONLINECLS_LANES"
    void changes_of "onlinecls_changes" (size_t size, const void* before, const void* after, Py_ssize_t n,
                                         double* sums) noexcept nogil


ctypedef struct Normaliser:     # the sum of a p-norm, or a centre's squared length: part of a model
    double high                 # S = high + low
    double low
    double peak                 # the largest S since the terms were last summed


cdef inline void add(double* high, double* low, double x) noexcept nogil:
    """Add x to high, and the rounding error to low (Knuth's two-sum)."""
    cdef double total = high[0] + x, part = total - high[0]
    low[0] += (high[0] - (total - part)) + (x - part)
    high[0] = total


cdef inline void replace(double* high, double* low, const floating* before, const floating* after, Py_ssize_t n) noexcept nogil:
    """Add Σ (after - before), with the rounding errors of differences and sums. n : a multiple of LANES."""
    cdef Py_ssize_t j
    cdef double[2 * LANES] sums
    changes_of(sizeof(floating), before, after, n, sums)
    for j in range(LANES):
        add(high, low, sums[j])
        low[0] += sums[LANES + j]


cdef inline void settle(Normaliser* s) noexcept nogil:
    """Write S as high + low with high its nearest double."""
    cdef double total = s.high + s.low
    s.low -= total - s.high
    s.high, s.peak = total, larger(s.peak, total)


cdef inline bint is_known(const Normaliser* s, double total) noexcept nogil:
    """Return True if the sum's error is small beside a total that it is part of. (False for NaN.)"""
    return 9.1e-13 * s.peak <= total    # 2^-40
