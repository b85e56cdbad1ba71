"""e^x and |x|^a of many numbers at once, in plain arithmetic that compilers vectorise (SSE2: two doubles, four floats at a time).

Adding 1.5 * 2^52 rounds x / ln 2 to an integer k, which is then in the low bits of the sum and goes from there into an exponent;
e^(x - k ln 2) is a polynomial, 1 + r + r² q(r), q near the best for |r| <= ln 2 / 2. There is no branch and no table, so that
equal numbers give equal bits wherever they are. Within 1.1 ulp for |x| <= 708 (float: 87); beyond, the value at that end.
"""
from libc.math cimport fabs, pow

from ..._compiled.sparse cimport floating

cdef extern from "_wings/shared/powers.h":
    void exp_of "onlinecls_exp" (size_t size, void* x, Py_ssize_t n) noexcept nogil
    void pow_of "onlinecls_pow" (size_t size, void* found, const void* x, Py_ssize_t n, double a) noexcept nogil


cdef inline void exp_all(floating* x, Py_ssize_t n) noexcept nogil:
    """Replace x[i] by e^x[i]."""
    exp_of(sizeof(floating), x, n)


cdef inline void pow_all(floating* found, const floating* x, Py_ssize_t n, double a) noexcept nogil:
    """Compute found[i] = |x[i]|^a for 0 < a <= 1 (x and found apart)."""
    cdef Py_ssize_t i
    cdef floating low = 1e-30 if floating is float else 1e-300, high = 1e30 if floating is float else 1e300
    pow_of(sizeof(floating), found, x, n, a)
    for i in range(n):
        if not low <= fabs(x[i]) <= high:       # 0, and sizes near the ends of the range
            found[i] = <floating>pow(fabs(x[i]), <floating>a)
