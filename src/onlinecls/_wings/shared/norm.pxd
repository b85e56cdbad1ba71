"""The normaliser shared by all weights of a p-norm model, or the squared length of a centre, kept as a compensated running sum.

A step takes its features' terms out of the sum and puts the new ones in. The sum has 106 bits and a bound on its rounding errors:
where the bound grows too large for what is left of the sum, the terms are summed anew, O(n_features).
"""
from libc.math cimport fabs

cdef extern from "_wings/shared/norm.h":
    double coarse "onlinecls_coarse" (double x) noexcept nogil


ctypedef struct Normaliser:     # part of a model
    double high                 # S = high + low
    double low
    double noise                # bound of the error of S


ctypedef struct Sum:            # in registers while a row's terms are added
    double total
    double rest                 # the rounding errors of total
    double mass                 # bound of all partial sums
    double n


cdef inline Sum open_sum(const Normaliser* s) noexcept nogil:
    """Return the sum, to be added to."""
    return Sum(s.high, s.low, fabs(s.high), 1.0)


cdef inline void add(Sum* sum, double x) noexcept nogil:
    """Add x to total, and the rounding error to rest (Knuth's two-sum)."""
    cdef double total = sum.total + x, part = total - sum.total
    sum.rest += (sum.total - (total - part)) + (x - part)
    sum.total = total
    sum.mass += fabs(x)
    sum.n += 1.0


cdef inline void add_all(Sum* sum, const double* x, Py_ssize_t n) noexcept nogil:
    """Add n numbers, independently of each other: each is split into a multiple of one unit, whose sums up to
    `above` are exact, and a rest of at most half the unit, 2^-53 above. (Rump, Ogita, Oishi 2008: the error-free extraction.)"""
    cdef Py_ssize_t i, j
    cdef double[4] units, rests, sizes
    cdef double above, unit
    for j in range(4):
        units[j] = rests[j] = sizes[j] = 0.0
    for i in range(0, n - 3, 4):
        for j in range(4):
            sizes[j] += fabs(x[i + j])
    for i in range(n - n % 4, n):
        sizes[0] += fabs(x[i])
    above = (sizes[0] + sizes[1]) + (sizes[2] + sizes[3])
    sum.mass += above
    above = coarse(above) if above > 1e-300 else 0.0
    for i in range(0, n - 3, 4):
        for j in range(4):
            unit = (above + x[i + j]) - above
            units[j] += unit
            rests[j] += x[i + j] - unit
    for i in range(n - n % 4, n):
        unit = (above + x[i]) - above
        units[0] += unit
        rests[0] += x[i] - unit
    add(sum, (units[0] + units[1]) + (units[2] + units[3]))
    add(sum, (rests[0] + rests[1]) + (rests[2] + rests[3]))
    sum.n += n


cdef inline void close_sum(const Sum* sum, Normaliser* s) noexcept nogil:
    """Store a sum with its error: each of n roundings of rest is at most 2^-53 |rest| <= n 2^-106 mass."""
    s.high = sum.total + sum.rest
    s.low = sum.rest - (s.high - sum.total)
    s.noise += 2.5e-32 * sum.n * sum.n * sum.mass           # 2^-105


cdef inline bint is_known(const Normaliser* s, double total) noexcept nogil:
    """Return True if the sum is exact to 2^-44 of a total that it is part of. (False for NaN.)"""
    return s.noise <= 5.7e-14 * total
