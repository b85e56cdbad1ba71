"""e^-K sinh u and e^-K cosh u of many numbers at once, and their sums: what entropic models store of a feature.

In C for compilers to make two versions of, one of them with twice the lanes (AVX2) for machines that have it. There is neither a
fused operation nor a sum whose order is the compiler's in them: both give the same bits.
The macro is there because Cython's functions cannot be given such versions; float and double differ in names and in `near`.
"""
from .sparse cimport floating
from .powers cimport exp_all

cdef extern from *:
    """
    #include <math.h>
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
    #define ONLINECLS_CLONED __attribute__((target_clones("avx2", "default")))
    #else
    #define ONLINECLS_CLONED
    #endif
    #define ONLINECLS_LANES 4

    #define ONLINECLS_HYPERBOLIC(real, exp, sqrt, fabs, copysign, near, of)                                              \\
    static ONLINECLS_CLONED void onlinecls_sinh_##of(real* power, const real* u, real shift, real root, ptrdiff_t n)     \\
    {                                                                                                                    \\
        ptrdiff_t i;                                                                                                     \\
        for (i = 0; i < n; i++)                                                                                          \\
            power[i] = fabs(u[i]) - shift;                                                                               \\
        exp(power, n);                                                                                                   \\
        for (i = 0; i < n; i++) {                                                                                        \\
            real x = u[i], square = x * x;                                                                               \\
            real series = (real)1 / 5040 + square * ((real)1 / 362880);                                                  \\
            real far = copysign((real)0.5 * (power[i] - root * (root / power[i])), x);                                   \\
            series = (real)1 / 6 + square * ((real)1 / 120 + square * series);                                           \\
            series = root * (x + x * (square * series));                                                                 \\
            power[i] = square < (real)near * (real)near ? series : far;                                                  \\
        }                                                                                                                \\
    }                                                                                                                    \\
    static ONLINECLS_CLONED real onlinecls_largest_##of(const real* u, ptrdiff_t n)                                      \\
    {                                                                                                                    \\
        real most[8] = {0};                                                                                              \\
        ptrdiff_t i, l;                                                                                                  \\
        for (i = 0; i + 8 <= n; i += 8)                                                                                  \\
            for (l = 0; l < 8; l++)                                                                                      \\
                most[l] = fabs(u[i + l]) > most[l] ? fabs(u[i + l]) : most[l];                                           \\
        for (; i < n; i++)                                                                                               \\
            most[0] = fabs(u[i]) > most[0] ? fabs(u[i]) : most[0];                                                       \\
        for (l = 1; l < 8; l++)                                                                                          \\
            most[0] = most[l] > most[0] ? most[l] : most[0];                                                             \\
        return most[0];                                                                                                  \\
    }                                                                                                                    \\
    static ONLINECLS_CLONED void onlinecls_cosh_##of(real* sinh, real root, ptrdiff_t n)                                 \\
    {                                                                                                                    \\
        ptrdiff_t i;                                                                                                     \\
        for (i = 0; i < n; i++)                                                                                          \\
            sinh[i] = sqrt(sinh[i] * sinh[i] + root * root);                                                             \\
    }                                                                                                                    \\
    static ONLINECLS_CLONED void onlinecls_masses_##of(const real* sinh, double* up, double* down, double root,          \\
                                                       ptrdiff_t n)                                                      \\
    {                                                                                                                    \\
        ptrdiff_t i;                                                                                                     \\
        for (i = 0; i < n; i++) {                                                                                        \\
            double size = __builtin_fabs((double)sinh[i]), mass, rest;                                                   \\
            mass = 0.5 * (__builtin_sqrt(size * size + root * root) + size);                                             \\
            rest = 0.25 * root * root / mass;                                                                            \\
            up[i] = sinh[i] > 0 ? mass : rest;                                                                           \\
            down[i] = sinh[i] > 0 ? rest : mass;                                                                         \\
        }                                                                                                                \\
    }                                                                                                                    \\
    static ONLINECLS_CLONED void onlinecls_changes_##of(const real* before, const real* after, ptrdiff_t n, double* sum) \\
    {                                                                                                                    \\
        double high[ONLINECLS_LANES] = {0}, low[ONLINECLS_LANES] = {0};                                                  \\
        ptrdiff_t i, l;                                                                                                  \\
        for (i = 0; i + ONLINECLS_LANES <= n; i += ONLINECLS_LANES)                                                      \\
            for (l = 0; l < ONLINECLS_LANES; l++) {                                                                      \\
                double a = after[i + l], b = before[i + l], change = a - b, part = change - a, total = high[l] + change; \\
                low[l] += (a - (change - part)) - (b + part);                                                            \\
                part = total - high[l];                                                                                  \\
                low[l] += (high[l] - (total - part)) + (change - part);                                                  \\
                high[l] = total;                                                                                         \\
            }                                                                                                            \\
        for (l = 0; i < n; i++, l++) {                                                                                   \\
            double a = after[i], b = before[i], change = a - b, part = change - a, total = high[l] + change;             \\
            low[l] += (a - (change - part)) - (b + part);                                                                \\
            part = total - high[l];                                                                                      \\
            low[l] += (high[l] - (total - part)) + (change - part);                                                      \\
            high[l] = total;                                                                                             \\
        }                                                                                                                \\
        for (l = 0; l < ONLINECLS_LANES; l++) {                                                                          \\
            sum[l] = high[l];                                                                                            \\
            sum[ONLINECLS_LANES + l] = low[l];                                                                           \\
        }                                                                                                                \\
    }
    ONLINECLS_HYPERBOLIC(float, onlinecls_expf, __builtin_sqrtf, __builtin_fabsf, __builtin_copysignf, 1.0, floats)
    ONLINECLS_HYPERBOLIC(double, onlinecls_exp, __builtin_sqrt, __builtin_fabs, __builtin_copysign, 0.1, doubles)
    """
    enum: LANES "ONLINECLS_LANES"
    void sinh_floats "onlinecls_sinh_floats" (float*, const float*, float, float, Py_ssize_t) noexcept nogil
    void sinh_doubles "onlinecls_sinh_doubles" (double*, const double*, double, double, Py_ssize_t) noexcept nogil
    void cosh_floats "onlinecls_cosh_floats" (float*, float, Py_ssize_t) noexcept nogil
    void cosh_doubles "onlinecls_cosh_doubles" (double*, double, Py_ssize_t) noexcept nogil
    float largest_floats "onlinecls_largest_floats" (const float*, Py_ssize_t) noexcept nogil
    double largest_doubles "onlinecls_largest_doubles" (const double*, Py_ssize_t) noexcept nogil
    void masses_floats "onlinecls_masses_floats" (const float*, double*, double*, double, Py_ssize_t) noexcept nogil
    void masses_doubles "onlinecls_masses_doubles" (const double*, double*, double*, double, Py_ssize_t) noexcept nogil
    void changes_floats "onlinecls_changes_floats" (const float*, const float*, Py_ssize_t, double*) noexcept nogil
    void changes_doubles "onlinecls_changes_doubles" (const double*, const double*, Py_ssize_t, double*) noexcept nogil


cdef inline Py_ssize_t whole(Py_ssize_t n) noexcept nogil:
    """n, or what is next above it that leaves nothing over of the widest lanes: these functions are called for so many."""
    return (n + 7) // 8 * 8


cdef inline void sinh_all(floating* sinh, const floating* u, floating shift, floating root, Py_ssize_t n) noexcept nogil:
    """sinh[i] = e^-shift sinh u[i], root = e^-shift."""
    if floating is float:
        sinh_floats(sinh, u, shift, root, n)
    else:
        sinh_doubles(sinh, u, shift, root, n)


cdef inline floating largest_of(const floating* u, Py_ssize_t n) noexcept nogil:
    """max |u[i]|"""
    if floating is float:
        return largest_floats(u, n)
    else:
        return largest_doubles(u, n)


cdef inline void cosh_all(floating* sinh, floating root, Py_ssize_t n) noexcept nogil:
    """e^-K sinh u to e^-K cosh u: what is stored tells it without another power, the same number whenever it is asked."""
    if floating is float:
        cosh_floats(sinh, root, n)
    else:
        cosh_doubles(sinh, root, n)


cdef inline void masses_of(const floating* sinh, double* up, double* down, double root, Py_ssize_t n) noexcept nogil:
    """e^(u - K)/2 and e^(-u - K)/2, each to a double's last digits."""
    if floating is float:
        masses_floats(sinh, up, down, root, n)
    else:
        masses_doubles(sinh, up, down, root, n)


cdef inline void changes(const floating* before, const floating* after, Py_ssize_t n, double* sums) noexcept nogil:
    """Sums of after - before in LANES pairs of doubles, whose first are sums[:LANES] and second what their rounding left out."""
    if floating is float:
        changes_floats(before, after, n, sums)
    else:
        changes_doubles(before, after, n, sums)
