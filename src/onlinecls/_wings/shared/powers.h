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
#define onlinecls_largest(size, ...) ONLINECLS_EITHER(largest, size, __VA_ARGS__)
#define onlinecls_masses(size, ...) ONLINECLS_EITHER(masses, size, __VA_ARGS__)
#define onlinecls_changes(size, ...) ONLINECLS_EITHER(changes, size, __VA_ARGS__)

/* e^r 2^k, |r| <= 0.35, k in the low bits of `shifted` */
static inline double onlinecls_exp_at_double(double r, double shifted)
{
    double p, scale;
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 52) + 0x3ff0000000000000u;          /* 2^k */
    memcpy(&scale, &bits, sizeof bits);
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
    return (1.0 + (r + r * r * p)) * scale;
}

static inline float onlinecls_exp_at_float(float r, float shifted)
{
    float p, scale;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits << 23) + 0x3f800000u;
    memcpy(&scale, &bits, sizeof bits);
    p = 0.0013933733571320772f;
    p = p * r + 0.008363235741853714f;
    p = p * r + 0.041666463017463684f;
    p = p * r + 0.16666576266288757f;
    p = p * r + 0.5f;
    return (1.0f + (r + r * r * p)) * scale;
}

/* found[i] = |x[i]|^a, by log2 of the mantissa. high: 2^-32 (float: 2^-15) times an integer */
static inline void onlinecls_pow_double(double* found, const double* x, ptrdiff_t n, double a)
{
    const double shifter = 0x1.8p52, high = (a + 0x1.8p20) - 0x1.8p20, low = a - high;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint64_t bits, rest;
        double e, f, s, z, p, t, shifted;
        memcpy(&bits, &x[i], sizeof bits);
        bits = (bits & 0x7fffffffffffffffu) + 0x00095f619980c433u;     /* 1 - sqrt(1/2), in bits */
        rest = (bits & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu;
        bits = (bits >> 52) | 0x4330000000000000u;
        memcpy(&e, &bits, sizeof e);
        memcpy(&f, &rest, sizeof f);
        e -= 0x1.0p52 + 1023.0;
        s = (f - 1.0) / (f + 1.0);
        z = s * s;
        p = 0.21346045572365136;
        p = p * z + 0.22093504556791842;
        p = p * z + 0.26233338088061901;
        p = p * z + 0.32059855679004397;
        p = p * z + 0.41219858557756838;
        p = p * z + 0.57707801634714087;
        p = p * z + 0.96179669392598538;
        p = a * (s * 2.8853900817779268 + s * z * p) + e * low;
        t = e * high;
        t = t < -1020.0 ? -1020.0 : t;
        shifted = (t + p) + shifter;
        found[i] = onlinecls_exp_at_double(((t - (shifted - shifter)) + p) * 0x1.62e42fefa39efp-1, shifted);
    }
}

static inline void onlinecls_pow_float(float* found, const float* x, ptrdiff_t n, float a)
{
    const float shifter = 0x1.8p23f, high = (a + 0x1.8p8f) - 0x1.8p8f, low = a - high;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint32_t bits, rest;
        float e, f, s, z, p, t, shifted;
        memcpy(&bits, &x[i], sizeof bits);
        bits = (bits & 0x7fffffffu) + 0x004afb0du;
        rest = (bits & 0x007fffffu) + 0x3f3504f3u;
        bits = (bits >> 23) | 0x4b000000u;
        memcpy(&e, &bits, sizeof e);
        memcpy(&f, &rest, sizeof f);
        e -= 0x1.0p23f + 127.0f;
        s = (f - 1.0f) / (f + 1.0f);
        z = s * s;
        p = 0.43095796f;
        p = p * z + 0.57675401f;
        p = p * z + 0.96179828f;
        p = a * (s * 2.88539008f + s * z * p) + e * low;
        t = e * high;
        shifted = (t + p) + shifter;
        found[i] = onlinecls_exp_at_float(((t - (shifted - shifter)) + p) * 0.693147181f, shifted);
    }
}

#define real float
#include "powers.h"
#undef real
#define real double
#include "powers.h"
#undef real
#endif

#else
/* x[i] to e^x[i] */
static inline void OF(exp)(real* x, ptrdiff_t n)
{
    const int single = sizeof(real) == sizeof(float);
    const real most = single ? 87.0 : 708.0, shifter = single ? 0x1.8p23 : 0x1.8p52;
    const real per_ln2 = single ? 1.44269504 : 0x1.71547652b82fep0;
    const real high = single ? 0.693359375 : 0x1.62e42fefa3800p-1, low = single ? -2.12194440e-4 : 0x1.ef35793c76730p-45;
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
    const real near = sizeof(real) == sizeof(float) ? 1.0 : 0.1;
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

/* max |theta[i]|, n a multiple of 8 */
static ONLINECLS_CLONED real OF(largest)(const real* theta, ptrdiff_t n)
{
    real most[8] = {0};
    ptrdiff_t i, l;
    for (i = 0; i < n; i += 8)
        for (l = 0; l < 8; l++)
            most[l] = (real)fabs(theta[i + l]) > most[l] ? (real)fabs(theta[i + l]) : most[l];
    for (l = 1; l < 8; l++)
        most[0] = most[l] > most[0] ? most[l] : most[0];
    return most[0];
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
#endif
