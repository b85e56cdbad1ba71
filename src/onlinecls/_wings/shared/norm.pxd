"""Running sums of terms that steps replace, in two doubles: a step takes its features' terms out and puts the new ones in.

A sum has 106 bits and, as a `Normaliser`, a bound on its rounding errors: where the bound grows too large for what is left of the
sum, the terms are summed anew, O(n_features).
"""
from libc.math cimport fabs

from ..._compiled.sparse cimport floating

cdef extern from "_wings/shared/powers.h":
    enum: LANES "ONLINECLS_LANES"
    void changes_of "onlinecls_changes" (size_t size, const void* before, const void* after, Py_ssize_t n,
                                         double* sums) noexcept nogil


ctypedef struct Normaliser:     # the sum of a p-norm, or a centre's squared length: part of a model
    double high                 # S = high + low
    double low
    double noise                # bound of the error of S


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


cdef inline void settle(Normaliser* s, double before, double n) noexcept nogil:
    """Write S, which was `before`, as high + low with high its nearest double, and add the bound of the errors of n changes: each
    rounding of low is at most 2^-53 |low| <= n 2^-106 times the largest partial sum, and a change has four."""
    cdef double total = s.high + s.low
    s.low -= total - s.high
    s.high = total
    s.noise += 4e-31 * n * n * (fabs(before) + fabs(total))     # 2^-101


cdef inline bint is_known(const Normaliser* s, double total) noexcept nogil:
    """Return True if the sum is exact to 2^-44 of a total that it is part of. (False for NaN.)"""
    return s.noise <= 5.7e-14 * total
