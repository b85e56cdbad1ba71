"""e^x of many numbers at once, in plain arithmetic that compilers vectorise (SSE2: two doubles, four floats at a time).

Adding 1.5 * 2^52 rounds x / ln 2 to an integer k, which is then in the low bits of the sum and goes from there into an exponent;
e^(x - k ln 2) is a polynomial, 1 + r + r² q(r), q near the best for |r| <= ln 2 / 2. No branch and no table: every number is
treated alike wherever it stands, so that the same number gives the same bits. Within 1.1 ulp for |x| <= 708 (float: 87); beyond,
as at these ends.
"""
from libc.math cimport copysign, copysignf, sqrt, sqrtf

from ._linalg cimport floating

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    #include <string.h>

    static inline void onlinecls_exp(double* x, ptrdiff_t n)
    {
        const double shifter = 0x1.8p52;
        ptrdiff_t i;
        for (i = 0; i < n; i++) {                           /* (apart, for the next loop has no branch) */
            x[i] = x[i] < -708.0 ? -708.0 : x[i];
            x[i] = x[i] > 708.0 ? 708.0 : x[i];
        }
        for (i = 0; i < n; i++) {
            double t = x[i] * 0x1.71547652b82fep0 + shifter, k = t - shifter, r, p, scale;
            uint64_t bits;
            memcpy(&bits, &t, sizeof bits);
            bits = (bits << 52) + 0x3ff0000000000000u;      /* 2^k */
            memcpy(&scale, &bits, sizeof bits);
            r = (x[i] - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45;
            p = 2.5105260230519278e-08;
            p = p * r + 2.7620139757939593e-07;
            p = p * r + 2.755725529609744e-06;
            p = p * r + 2.4801521187721228e-05;
            p = p * r + 0.00019841269874902947;
            p = p * r + 0.001388888891728367;
            p = p * r + 0.008333333333326112;
            p = p * r + 0.04166666666662399;
            p = p * r + 0.1666666666666667;
            p = p * r + 0.5000000000000001;
            x[i] = (1.0 + (r + r * r * p)) * scale;
        }
    }

    static inline void onlinecls_expf(float* x, ptrdiff_t n)
    {
        const float shifter = 0x1.8p23f;
        ptrdiff_t i;
        for (i = 0; i < n; i++) {
            x[i] = x[i] < -87.0f ? -87.0f : x[i];
            x[i] = x[i] > 87.0f ? 87.0f : x[i];
        }
        for (i = 0; i < n; i++) {
            float t = x[i] * 1.44269504f + shifter, k = t - shifter, r, p, scale;
            uint32_t bits;
            memcpy(&bits, &t, sizeof bits);
            bits = (bits << 23) + 0x3f800000u;
            memcpy(&scale, &bits, sizeof bits);
            r = (x[i] - k * 0.693359375f) - k * -2.12194440e-4f;
            p = 0.0013933733571320772f;
            p = p * r + 0.008363235741853714f;
            p = p * r + 0.041666463017463684f;
            p = p * r + 0.16666576266288757f;
            p = p * r + 0.5f;
            x[i] = (1.0f + (r + r * r * p)) * scale;
        }
    }
    """
    void exp_of_doubles "onlinecls_exp" (double* x, Py_ssize_t n) noexcept nogil
    void exp_of_floats "onlinecls_expf" (float* x, Py_ssize_t n) noexcept nogil


cdef inline void exp_all(floating* x, Py_ssize_t n) noexcept nogil:
    """x[i] = e^x[i]"""
    if floating is float:
        exp_of_floats(x, n)
    else:
        exp_of_doubles(x, n)


cdef inline floating root_of(floating x) noexcept nogil:
    """√x in x's own precision."""
    if floating is float:
        return sqrtf(x)
    else:
        return sqrt(x)


cdef inline floating with_sign(floating size, floating sign) noexcept nogil:
    if floating is float:
        return copysignf(size, sign)
    else:
        return copysign(size, sign)
