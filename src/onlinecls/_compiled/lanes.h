/* Two or four numbers at a time, with the bits of the plain loops: each number goes through the same operations in the same order.
   SSE2 is part of every x86-64; other machines take the plain versions below. */
#ifndef ONLINECLS_LANES_H
#define ONLINECLS_LANES_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define onlinecls_prefetch(address) __builtin_prefetch(address)
#define ONLINECLS_INLINE static inline __attribute__((always_inline))
#else
#define onlinecls_prefetch(address)
#define ONLINECLS_INLINE static inline
#endif

#if defined(__SSE2__)
#include <emmintrin.h>

typedef __m128d onlinecls_pair; /* two doubles side by side */

ONLINECLS_INLINE onlinecls_pair pair_of(double first, double second) { return _mm_set_pd(second, first); }
/* Two floats as the bytes of a double: they are at multiples of 4 bytes, where no double may be read. */
ONLINECLS_INLINE double two_floats(const float* at)
{
    double both;
    memcpy(&both, at, sizeof both);
    return both;
}
ONLINECLS_INLINE void put_two_floats(float* at, double both) { memcpy(at, &both, sizeof both); }
ONLINECLS_INLINE onlinecls_pair pair_of_floats(const float* at) { return _mm_cvtps_pd(_mm_castpd_ps(_mm_set_sd(two_floats(at)))); }
ONLINECLS_INLINE onlinecls_pair pair_of_doubles(const double* at) { return _mm_loadu_pd(at); }
ONLINECLS_INLINE onlinecls_pair pair_times(onlinecls_pair a, onlinecls_pair b) { return _mm_mul_pd(a, b); }
ONLINECLS_INLINE onlinecls_pair pair_plus(onlinecls_pair a, onlinecls_pair b) { return _mm_add_pd(a, b); }
ONLINECLS_INLINE onlinecls_pair pair_over(onlinecls_pair a, onlinecls_pair b) { return _mm_div_pd(a, b); }
ONLINECLS_INLINE onlinecls_pair pair_least(onlinecls_pair a, onlinecls_pair b) { return _mm_min_pd(a, b); }
ONLINECLS_INLINE double pair_first(onlinecls_pair a) { return _mm_cvtsd_f64(a); }
ONLINECLS_INLINE double pair_second(onlinecls_pair a) { return _mm_cvtsd_f64(_mm_unpackhi_pd(a, a)); }
ONLINECLS_INLINE onlinecls_pair pair_firsts(onlinecls_pair a, onlinecls_pair b) { return _mm_unpacklo_pd(a, b); }
ONLINECLS_INLINE onlinecls_pair pair_seconds(onlinecls_pair a, onlinecls_pair b) { return _mm_unpackhi_pd(a, b); }
/* (x, x²) */
ONLINECLS_INLINE onlinecls_pair pair_powers(double x)
{
    onlinecls_pair one = _mm_set_sd(x);
    return _mm_unpacklo_pd(one, _mm_mul_sd(one, one));
}

/* What follows takes the step of move_feature (sparse.pxd) for several features, each a pair of numbers at its own place. */

/* float32: the first numbers of four features, and the second */
ONLINECLS_INLINE void load_four(float* const p[4], __m128* first, __m128* second)
{
    __m128 low = _mm_castpd_ps(_mm_set_pd(two_floats(p[1]), two_floats(p[0])));
    __m128 high = _mm_castpd_ps(_mm_set_pd(two_floats(p[3]), two_floats(p[2])));
    *first = _mm_shuffle_ps(low, high, 0x88);
    *second = _mm_shuffle_ps(low, high, 0xdd);
}
ONLINECLS_INLINE void store_four(float* const p[4], __m128 first, __m128 second)
{
    __m128d low = _mm_castps_pd(_mm_unpacklo_ps(first, second)), high = _mm_castps_pd(_mm_unpackhi_ps(first, second));
    put_two_floats(p[0], pair_first(low));
    put_two_floats(p[1], pair_second(low));
    put_two_floats(p[2], pair_first(high));
    put_two_floats(p[3], pair_second(high));
}

/* (w, σ): w += τ g, σ /= 1 + β x g, g = xσ; of a potential rule (θ, σ): θ += τ x.
   growing_: the same where variances grow with the rows: σ = growth min(s, most) of what is stored, which a zero leaves alone */
ONLINECLS_INLINE void variances_of_floats(int potential, float* const p[4], const float* x, float tau, float beta, float least)
{
    __m128 w, s, xs = _mm_loadu_ps(x), g;
    load_four(p, &w, &s);
    g = _mm_mul_ps(xs, s);
    w = _mm_add_ps(w, _mm_mul_ps(_mm_set1_ps(tau), potential ? xs : g));
    s = _mm_div_ps(s, _mm_add_ps(_mm_set1_ps(1.0f), _mm_mul_ps(_mm_set1_ps(beta), _mm_mul_ps(xs, g))));
    store_four(p, w, _mm_max_ps(s, _mm_set1_ps(least)));
}
ONLINECLS_INLINE void growing_of_floats(float* const p[4], const float* x, float tau, float beta, float least, float growth, float most)
{
    __m128 w, s, stored, moved, xs = _mm_loadu_ps(x), g;
    load_four(p, &w, &stored);
    s = _mm_min_ps(stored, _mm_set1_ps(most));
    g = _mm_mul_ps(xs, _mm_mul_ps(s, _mm_set1_ps(growth)));
    w = _mm_add_ps(w, _mm_mul_ps(_mm_set1_ps(tau), g));
    s = _mm_div_ps(s, _mm_add_ps(_mm_set1_ps(1.0f), _mm_mul_ps(_mm_set1_ps(beta), _mm_mul_ps(xs, g))));
    s = _mm_max_ps(s, _mm_set1_ps(least));
    moved = _mm_cmpneq_ps(xs, _mm_setzero_ps());
    store_four(p, w, _mm_or_ps(_mm_and_ps(moved, s), _mm_andnot_ps(moved, stored)));
}
ONLINECLS_INLINE void variances_of_doubles(int potential, double* const p[2], const double* x, double tau, double beta, double least)
{
    __m128d a = _mm_loadu_pd(p[0]), b = _mm_loadu_pd(p[1]), xs = _mm_loadu_pd(x);
    __m128d w = _mm_unpacklo_pd(a, b), s = _mm_unpackhi_pd(a, b), g = _mm_mul_pd(xs, s);
    w = _mm_add_pd(w, _mm_mul_pd(_mm_set1_pd(tau), potential ? xs : g));
    s = _mm_div_pd(s, _mm_add_pd(_mm_set1_pd(1.0), _mm_mul_pd(_mm_set1_pd(beta), _mm_mul_pd(xs, g))));
    s = _mm_max_pd(s, _mm_set1_pd(least));
    _mm_storeu_pd(p[0], _mm_unpacklo_pd(w, s));
    _mm_storeu_pd(p[1], _mm_unpackhi_pd(w, s));
}

ONLINECLS_INLINE void growing_of_doubles(double* const p[2], const double* x, double tau, double beta, double least, double growth, double most)
{
    __m128d a = _mm_loadu_pd(p[0]), b = _mm_loadu_pd(p[1]), xs = _mm_loadu_pd(x), w = _mm_unpacklo_pd(a, b);
    __m128d stored = _mm_unpackhi_pd(a, b), moved = _mm_cmpneq_pd(xs, _mm_setzero_pd());
    __m128d s = _mm_min_pd(stored, _mm_set1_pd(most)), g = _mm_mul_pd(xs, _mm_mul_pd(s, _mm_set1_pd(growth)));
    w = _mm_add_pd(w, _mm_mul_pd(_mm_set1_pd(tau), g));
    s = _mm_div_pd(s, _mm_add_pd(_mm_set1_pd(1.0), _mm_mul_pd(_mm_set1_pd(beta), _mm_mul_pd(xs, g))));
    s = _mm_max_pd(s, _mm_set1_pd(least));
    s = _mm_or_pd(_mm_and_pd(moved, s), _mm_andnot_pd(moved, stored));
    _mm_storeu_pd(p[0], _mm_unpacklo_pd(w, s));
    _mm_storeu_pd(p[1], _mm_unpackhi_pd(w, s));
}

/* n pairs side by side: the second numbers grow to most, the first variance, at most */
ONLINECLS_INLINE void write_down_floats(float* at, size_t n, float growth, float most)
{
    const __m128 factors = _mm_set_ps(growth, 1.0f, growth, 1.0f), bounds = _mm_set_ps(most, INFINITY, most, INFINITY);
    for (; n > 1; n -= 2, at += 4)
        _mm_storeu_ps(at, _mm_min_ps(_mm_mul_ps(_mm_loadu_ps(at), factors), bounds));
    if (n)
        at[1] = growth * at[1] < most ? growth * at[1] : most;
}
ONLINECLS_INLINE void write_down_doubles(double* at, size_t n, double growth, double most)
{
    const __m128d factors = _mm_set_pd(growth, 1.0), bounds = _mm_set_pd(most, INFINITY);
    for (; n; n--, at += 2)
        _mm_storeu_pd(at, _mm_min_pd(_mm_mul_pd(_mm_loadu_pd(at), factors), bounds));
}

/* AdaGrad's η g / (δ + √(G + g²)) of two gradients, the root never below |g| */
ONLINECLS_INLINE __m128d rated(__m128d G, __m128d g, double eta, double delta)
{
    __m128d root = _mm_sqrt_pd(_mm_add_pd(G, _mm_mul_pd(g, g)));
    root = _mm_max_pd(root, _mm_andnot_pd(_mm_set1_pd(-0.0), g));
    return _mm_mul_pd(_mm_set1_pd(eta), _mm_div_pd(g, _mm_add_pd(_mm_set1_pd(delta), root)));
}
/* (w, G): w += η g / (δ + √(G + g²)), G += g², g = τ x */
ONLINECLS_INLINE void rates_of_floats(float* const p[4], const float* x, float tau, double eta, double delta)
{
    __m128 w, G, g = _mm_mul_ps(_mm_set1_ps(tau), _mm_loadu_ps(x));
    __m128d low, high;
    load_four(p, &w, &G);
    low = rated(_mm_cvtps_pd(G), _mm_cvtps_pd(g), eta, delta);
    high = rated(_mm_cvtps_pd(_mm_movehl_ps(G, G)), _mm_cvtps_pd(_mm_movehl_ps(g, g)), eta, delta);
    w = _mm_add_ps(w, _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)));
    store_four(p, w, _mm_add_ps(G, _mm_mul_ps(g, g)));
}
ONLINECLS_INLINE void rates_of_doubles(double* const p[2], const double* x, double tau, double eta, double delta)
{
    __m128d a = _mm_loadu_pd(p[0]), b = _mm_loadu_pd(p[1]), g = _mm_mul_pd(_mm_set1_pd(tau), _mm_loadu_pd(x));
    __m128d w = _mm_unpacklo_pd(a, b), G = _mm_unpackhi_pd(a, b);
    w = _mm_add_pd(w, rated(G, g, eta, delta));
    G = _mm_add_pd(G, _mm_mul_pd(g, g));
    _mm_storeu_pd(p[0], _mm_unpacklo_pd(w, G));
    _mm_storeu_pd(p[1], _mm_unpackhi_pd(w, G));
}

#else

typedef struct { double first, second; } onlinecls_pair;

ONLINECLS_INLINE onlinecls_pair pair_of(double first, double second) { onlinecls_pair a = {first, second}; return a; }
ONLINECLS_INLINE onlinecls_pair pair_of_floats(const float* at) { return pair_of(at[0], at[1]); }
ONLINECLS_INLINE onlinecls_pair pair_of_doubles(const double* at) { return pair_of(at[0], at[1]); }
ONLINECLS_INLINE onlinecls_pair pair_times(onlinecls_pair a, onlinecls_pair b) { return pair_of(a.first * b.first, a.second * b.second); }
ONLINECLS_INLINE onlinecls_pair pair_plus(onlinecls_pair a, onlinecls_pair b) { return pair_of(a.first + b.first, a.second + b.second); }
ONLINECLS_INLINE onlinecls_pair pair_over(onlinecls_pair a, onlinecls_pair b) { return pair_of(a.first / b.first, a.second / b.second); }
ONLINECLS_INLINE onlinecls_pair pair_least(onlinecls_pair a, onlinecls_pair b)
{
    return pair_of(a.first < b.first ? a.first : b.first, a.second < b.second ? a.second : b.second);
}
ONLINECLS_INLINE double pair_first(onlinecls_pair a) { return a.first; }
ONLINECLS_INLINE double pair_second(onlinecls_pair a) { return a.second; }
ONLINECLS_INLINE onlinecls_pair pair_firsts(onlinecls_pair a, onlinecls_pair b) { return pair_of(a.first, b.first); }
ONLINECLS_INLINE onlinecls_pair pair_seconds(onlinecls_pair a, onlinecls_pair b) { return pair_of(a.second, b.second); }
ONLINECLS_INLINE onlinecls_pair pair_powers(double x) { return pair_of(x, x * x); }

#define ONLINECLS_VARIANCE(real, at, x)                                           \
    {                                                                            \
        real g = (x) * (at)[1], s = (at)[1] / ((real)1 + beta * ((x) * g));       \
        (at)[0] += tau * (potential ? (x) : g);                                  \
        (at)[1] = s > least ? s : least;                                         \
    }
ONLINECLS_INLINE void variances_of_floats(int potential, float* const p[4], const float* x, float tau, float beta, float least)
{
    int i;
    for (i = 0; i < 4; i++)
        ONLINECLS_VARIANCE(float, p[i], x[i])
}
ONLINECLS_INLINE void variances_of_doubles(int potential, double* const p[2], const double* x, double tau, double beta, double least)
{
    ONLINECLS_VARIANCE(double, p[0], x[0])
    ONLINECLS_VARIANCE(double, p[1], x[1])
}

#define ONLINECLS_GROWING(real, at, x)                                            \
    {                                                                            \
        real s = (at)[1] < most ? (at)[1] : most, g = (x) * (s * growth);        \
        s = s / ((real)1 + beta * ((x) * g));                                    \
        (at)[0] += tau * g;                                                      \
        if ((x) != 0)                                                            \
            (at)[1] = s > least ? s : least;                                     \
    }
ONLINECLS_INLINE void growing_of_floats(float* const p[4], const float* x, float tau, float beta, float least, float growth, float most)
{
    int i;
    for (i = 0; i < 4; i++)
        ONLINECLS_GROWING(float, p[i], x[i])
}
ONLINECLS_INLINE void growing_of_doubles(double* const p[2], const double* x, double tau, double beta, double least, double growth, double most)
{
    ONLINECLS_GROWING(double, p[0], x[0])
    ONLINECLS_GROWING(double, p[1], x[1])
}

#define ONLINECLS_WRITE_DOWN                                                      \
    for (; n; n--, at += 2)                                                      \
        at[1] = growth * at[1] < most ? growth * at[1] : most;
ONLINECLS_INLINE void write_down_floats(float* at, size_t n, float growth, float most) { ONLINECLS_WRITE_DOWN }
ONLINECLS_INLINE void write_down_doubles(double* at, size_t n, double growth, double most) { ONLINECLS_WRITE_DOWN }

#define ONLINECLS_RATE(real, at, x)                                              \
    {                                                                            \
        real gradient = tau * (x);                                               \
        double g = gradient, size = fabs(g), root = sqrt((at)[1] + g * g);         \
        (at)[0] += (real)(eta * (g / (delta + (root > size ? root : size))));    \
        (at)[1] += gradient * gradient;                                          \
    }
ONLINECLS_INLINE void rates_of_floats(float* const p[4], const float* x, float tau, double eta, double delta)
{
    int i;
    for (i = 0; i < 4; i++)
        ONLINECLS_RATE(float, p[i], x[i])
}
ONLINECLS_INLINE void rates_of_doubles(double* const p[2], const double* x, double tau, double eta, double delta)
{
    ONLINECLS_RATE(double, p[0], x[0])
    ONLINECLS_RATE(double, p[1], x[1])
}
#endif
#endif
