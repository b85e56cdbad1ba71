/* e^x, |x|^a and hyperbolic functions of many numbers at once, and sums of changes: plain loops that compilers vectorise, without a
   fused operation or a sum whose order is the compiler's. This file includes itself, with `real` as float and as double: NAME is
   onlinecls_NAME_float or onlinecls_NAME_double, and onlinecls_NAME takes sizeof(real) and pointers to void. See powers.pxd. */
#ifndef real
#ifndef ONLINECLS_POWERS_H
#define ONLINECLS_POWERS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Functions in two versions of the same bits, for machines with AVX2 and without: they pay off where there is a power or a root. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
#define ONLINECLS_CLONED __attribute__((target_clones("avx2", "default")))
#else
#define ONLINECLS_CLONED
#endif
#define ONLINECLS_LANES 4
#define ONLINECLS_JOIN(name, type) onlinecls_##name##_##type
#define ONLINECLS_NAMED(name, type) ONLINECLS_JOIN(name, type)
#define OF(name) ONLINECLS_NAMED(name, real)
#define ONLINECLS_EITHER(name, size, ...) \
    ((size) == sizeof(float) ? onlinecls_##name##_float(__VA_ARGS__) : onlinecls_##name##_double(__VA_ARGS__))
#define onlinecls_exp(size, ...) ONLINECLS_EITHER(exp, size, __VA_ARGS__)
#define onlinecls_pow(size, ...) ONLINECLS_EITHER(pow, size, __VA_ARGS__)
#define onlinecls_powers(size, ...) ONLINECLS_EITHER(powers, size, __VA_ARGS__)
#define onlinecls_cosh(size, ...) ONLINECLS_EITHER(cosh, size, __VA_ARGS__)
#define onlinecls_masses(size, ...) ONLINECLS_EITHER(masses, size, __VA_ARGS__)
#define onlinecls_changes(size, ...) ONLINECLS_EITHER(changes, size, __VA_ARGS__)

/* the coefficients of polynomials, the highest power's first: of floats, and of doubles */
static const double onlinecls_exp_series[2][10] = {
    {0.0013933733571320772f, 0.008363235741853714f, 0.041666463017463684f, 0.16666576266288757f, 0.5f},
    {2.5105260230519278e-08, 2.7620139757939593e-07, 2.755725529609744e-06, 2.4801521187721228e-05, 0.00019841269874902947,
     0.001388888891728367, 0.008333333333326112, 0.04166666666662399, 0.1666666666666667, 0.5000000000000001}};
static const double onlinecls_log_series[2][7] = {
    {0.43095796f, 0.57675401f, 0.96179828f},
    {0.21346045572365136, 0.22093504556791842, 0.26233338088061901, 0.32059855679004397, 0.41219858557756838,
     0.57707801634714087, 0.96179669392598538}};

#define real float
#define word uint32_t
#include "powers.h"
#undef real
#undef word
#define real double
#define word uint64_t
#include "powers.h"
#undef real
#undef word
#endif

#else
#define SINGLE (sizeof(real) == sizeof(float))
#define OR(single, twice) ((real)(SINGLE ? (single) : (twice)))
#define DIGITS (SINGLE ? 23 : 52)                       /* of the mantissa */
#define BIAS ((word)(SINGLE ? 127 : 1023))

/* e^r 2^k, |r| <= 0.35, k in the low bits of `shifted` */
static inline real OF(exp_at)(real r, real shifted)
{
    const double* series = onlinecls_exp_series[!SINGLE];
    real p = (real)series[0], scale;
    word bits;
    int i;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << DIGITS) + (BIAS << DIGITS);         /* 2^k */
    memcpy(&scale, &bits, sizeof bits);
    for (i = 1; i < (SINGLE ? 5 : 10); i++)
        p = p * r + (real)series[i];
    return (1 + (r + r * r * p)) * scale;
}

/* found[i] = |x[i]|^a, by log2 of the mantissa. high: 2^-32 (float: 2^-15) times an integer */
static inline void OF(pow)(real* found, const real* x, ptrdiff_t n, real a)
{
    const double* series = onlinecls_log_series[!SINGLE];
    const real shifter = OR(0x1.8p23, 0x1.8p52), high = (a + OR(0x1.8p8, 0x1.8p20)) - OR(0x1.8p8, 0x1.8p20), low = a - high;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        word bits, rest;
        real e, f, s, z, p = (real)series[0], t, shifted;
        int j;
        memcpy(&bits, &x[i], sizeof bits);
        bits = (bits << 1 >> 1) + (word)(SINGLE ? 0x004afb0d : 0x00095f619980c433u);    /* 1 - sqrt(1/2), in bits */
        rest = (bits & (((word)1 << DIGITS) - 1)) + (word)(SINGLE ? 0x3f3504f3 : 0x3fe6a09e667f3bcdu);
        bits = (bits >> DIGITS) | (BIAS + DIGITS) << DIGITS;
        memcpy(&e, &bits, sizeof e);
        memcpy(&f, &rest, sizeof f);
        e -= (real)(((word)1 << DIGITS) + BIAS);
        s = (f - 1) / (f + 1);
        z = s * s;
        for (j = 1; j < (SINGLE ? 3 : 7); j++)
            p = p * z + (real)series[j];
        p = a * (s * OR(2.88539008f, 2.8853900817779268) + s * z * p) + e * low;
        t = e * high;
        t = t < -1020 ? -1020 : t;
        shifted = (t + p) + shifter;
        found[i] = OF(exp_at)(((t - (shifted - shifter)) + p) * OR(0.693147181f, 0x1.62e42fefa39efp-1), shifted);
    }
}

/* x[i] to e^x[i] */
static inline void OF(exp)(real* x, ptrdiff_t n)
{
    const real most = OR(87.0, 708.0), shifter = OR(0x1.8p23, 0x1.8p52), per_ln2 = OR(1.44269504, 0x1.71547652b82fep0);
    const real high = OR(0.693359375, 0x1.62e42fefa3800p-1), low = OR(-2.12194440e-4, 0x1.ef35793c76730p-45);
    ptrdiff_t i;
    for (i = 0; i < n; i++) {                           /* (apart, so that the next loop has no branch) */
        x[i] = x[i] < -most ? -most : x[i];
        x[i] = x[i] > most ? most : x[i];
    }
    for (i = 0; i < n; i++) {
        real t = x[i] * per_ln2 + shifter, k = t - shifter;
        x[i] = OF(exp_at)((x[i] - k * high) - k * low, t);
    }
}

/* power[i] = e^(theta[i] - shift), or e^-shift sinh theta[i], root = e^-shift: near 0, where a difference of exponentials cancels,
   by the series */
static ONLINECLS_CLONED void OF(powers)(real* power, const real* theta, real shift, real root, int is_signed, ptrdiff_t n)
{
    const real near = OR(1.0, 0.1);
    ptrdiff_t i;
    if (!is_signed) {
        for (i = 0; i < n; i++)
            power[i] = theta[i] - shift;
        OF(exp)(power, n);
        return;
    }
    for (i = 0; i < n; i++)
        power[i] = (real)fabs(theta[i]) - shift;
    OF(exp)(power, n);
    for (i = 0; i < n; i++) {
        real x = theta[i], square = x * x;
        real series = (real)1 / 5040 + square * ((real)1 / 362880), far = (real)0.5 * (power[i] - root * (root / power[i]));
        far = x < 0 ? -far : far;
        series = (real)1 / 6 + square * ((real)1 / 120 + square * series);
        series = root * (x + x * (square * series));
        power[i] = square < near * near ? series : far;
    }
}

/* e^-K sinh theta to e^-K cosh theta, root = e^-K */
static ONLINECLS_CLONED void OF(cosh)(real* sinh, real root, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        sinh[i] = (real)sqrt(sinh[i] * sinh[i] + root * root);
}

/* up[i] = e^(theta - K) / 2 and down[i] = e^(-theta - K) / 2 from e^-K sinh theta, each to a double's last digits */
static ONLINECLS_CLONED void OF(masses)(const real* sinh, double* up, double* down, double root, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double size = fabs((double)sinh[i]), mass, rest;
        mass = 0.5 * (sqrt(size * size + root * root) + size);
        rest = 0.25 * root * root / mass;
        up[i] = sinh[i] > 0 ? mass : rest;
        down[i] = sinh[i] > 0 ? rest : mass;
    }
}

/* The sum of after - before in lanes of two doubles each: sum[0 .. LANES), and what was rounded away in sum[LANES .. 2 LANES);
   n is a multiple of LANES */
static ONLINECLS_CLONED void OF(changes)(const real* before, const real* after, ptrdiff_t n, double* sum)
{
    double high[ONLINECLS_LANES] = {0}, low[ONLINECLS_LANES] = {0};
    ptrdiff_t i, l;
    for (i = 0; i < n; i += ONLINECLS_LANES)
        for (l = 0; l < ONLINECLS_LANES; l++) {
            double a = after[i + l], b = before[i + l], change = a - b, part = change - a, total = high[l] + change;
            low[l] += (a - (change - part)) - (b + part);
            part = total - high[l];
            low[l] += (high[l] - (total - part)) + (change - part);
            high[l] = total;
        }
    for (l = 0; l < ONLINECLS_LANES; l++) {
        sum[l] = high[l];
        sum[ONLINECLS_LANES + l] = low[l];
    }
}
#undef SINGLE
#undef OR
#undef DIGITS
#undef BIAS
#endif
