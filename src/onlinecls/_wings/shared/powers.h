/* e^x and |x|^a of many numbers at once, in plain loops that compilers vectorise. See powers.pxd. */
#ifndef ONLINECLS_POWERS_H
#define ONLINECLS_POWERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline double onlinecls_exp_at(double r, double shifted)     /* e^r 2^k, |r| <= 0.35, k in the low bits */
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

static inline float onlinecls_expf_at(float r, float shifted)
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

static inline void onlinecls_exp(double* x, ptrdiff_t n)
{
    const double shifter = 0x1.8p52;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {                           /* (apart, so that the next loop has no branch) */
        x[i] = x[i] < -708.0 ? -708.0 : x[i];
        x[i] = x[i] > 708.0 ? 708.0 : x[i];
    }
    for (i = 0; i < n; i++) {
        double t = x[i] * 0x1.71547652b82fep0 + shifter, k = t - shifter;
        x[i] = onlinecls_exp_at((x[i] - k * 0x1.62e42fefa3800p-1) - k * 0x1.ef35793c76730p-45, t);
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
        float t = x[i] * 1.44269504f + shifter, k = t - shifter;
        x[i] = onlinecls_expf_at((x[i] - k * 0.693359375f) - k * -2.12194440e-4f, t);
    }
}

static inline void onlinecls_pow(double* found, const double* x, ptrdiff_t n, double a)
{
    const double shifter = 0x1.8p52, high = (a + 0x1.8p20) - 0x1.8p20, low = a - high;  /* high: 2^-32 times an integer */
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
        found[i] = onlinecls_exp_at(((t - (shifted - shifter)) + p) * 0x1.62e42fefa39efp-1, shifted);
    }
}

static inline void onlinecls_powf(float* found, const float* x, ptrdiff_t n, float a)
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
        found[i] = onlinecls_expf_at(((t - (shifted - shifter)) + p) * 0.693147181f, shifted);
    }
}

#endif
