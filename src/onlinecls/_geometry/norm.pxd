"""What weights have in common that share a number, a norm, and a sum that terms go into and come out of."""
from libc.math cimport fabs

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    static inline double onlinecls_coarse(double x)
    {
        uint64_t bits;
        x *= 8.0;
        memcpy(&bits, &x, sizeof bits);
        bits = (bits & 0x7ff0000000000000u) | 0x0008000000000000u;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    """
    double coarse "onlinecls_coarse" (double x) noexcept nogil      # 12 times the power of two that x > 0 begins with

cdef enum:                  # the numbers of a norm
    SUM                     # S = SUM + REST
    REST
    NOISE                   # S is known to this
    SCALE                   # 1/s; 0: nothing of this is known. CENTRE: a; 0: there is no centre yet. SINH, EXP: 1
    SHRINK                  # s^-a
    INVERSE                 # m
    GAIN                    # g
    N_NORM
    FRESH = 4               # SINH, EXP, in the place of SHRINK: e^-shift
    SHIFT = 5               # and of INVERSE
    SQUARES = 1             # and, for one class, of REST: the squares of the second slots


ctypedef struct Sum:        # in registers while a row's terms are added
    double whole
    double rest             # of whole's roundings
    double mass             # no partial sum was larger
    double n


cdef inline Sum begin(const double* norm) noexcept nogil:
    return Sum(norm[SUM], norm[REST], fabs(norm[SUM]), 1.0)


cdef inline void add(Sum* sum, double x) noexcept nogil:
    """Knuth's two-sum: whole takes x, rest what was rounded away."""
    cdef double whole = sum.whole + x, part = whole - sum.whole
    sum.rest += (sum.whole - (whole - part)) + (x - part)
    sum.whole = whole
    sum.mass += fabs(x)
    sum.n += 1.0


cdef inline void add_all(Sum* sum, const double* x, Py_ssize_t n) noexcept nogil:
    """`add` for n numbers, none of which waits for another: each is split into a multiple of one unit, of which any sum up to
    `above` is exact, and a rest of at most half the unit, 2^-53 above. (Rump, Ogita, Oishi 2008: the error-free extraction.)"""
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


cdef inline void end(const Sum* sum, double* norm) noexcept nogil:
    """Each of n roundings of rest is at most 2^-53 |rest| <= n 2^-106 mass."""
    norm[SUM] = sum.whole + sum.rest
    norm[REST] = sum.rest - (norm[SUM] - sum.whole)
    norm[NOISE] += 2.5e-32 * sum.n * sum.n * sum.mass           # 2^-105
