"""What weights have in common that share a number, a norm, and a sum that terms go into and come out of."""
from libc.math cimport fabs

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


cdef inline void end(const Sum* sum, double* norm) noexcept nogil:
    """Each of n roundings of rest is at most 2^-53 |rest| <= n 2^-106 mass."""
    norm[SUM] = sum.whole + sum.rest
    norm[REST] = sum.rest - (norm[SUM] - sum.whole)
    norm[NOISE] += 2.5e-32 * sum.n * sum.n * sum.mass           # 2^-105
