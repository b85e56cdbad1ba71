/* Two or four numbers at a time, with the bits of the plain loops: each number goes through the same operations in the same order.
   SSE2 is part of every x86-64; other machines take the plain versions below. */
#ifndef ONLINECLS_LANES_H
#define ONLINECLS_LANES_H

#include <stddef.h>

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
ONLINECLS_INLINE onlinecls_pair pair_of_floats(const float* at)
{
    return _mm_cvtps_pd(_mm_castpd_ps(_mm_load_sd((const double*)at)));
}
ONLINECLS_INLINE onlinecls_pair pair_of_doubles(const double* at) { return _mm_loadu_pd(at); }
ONLINECLS_INLINE onlinecls_pair pair_times(onlinecls_pair a, onlinecls_pair b) { return _mm_mul_pd(a, b); }
ONLINECLS_INLINE onlinecls_pair pair_plus(onlinecls_pair a, onlinecls_pair b) { return _mm_add_pd(a, b); }
ONLINECLS_INLINE onlinecls_pair pair_over(onlinecls_pair a, onlinecls_pair b) { return _mm_div_pd(a, b); }
ONLINECLS_INLINE double pair_first(onlinecls_pair a) { return _mm_cvtsd_f64(a); }
ONLINECLS_INLINE double pair_second(onlinecls_pair a) { return _mm_cvtsd_f64(_mm_unpackhi_pd(a, a)); }
/* (x, x²) */
ONLINECLS_INLINE onlinecls_pair pair_powers(double x)
{
    onlinecls_pair one = _mm_set_sd(x);
    return _mm_unpacklo_pd(one, _mm_mul_sd(one, one));
}

/* The Gaussian step for four features of float32, each a pair (w, σ) at its own place: g = xσ, w += τ g, σ /= 1 + β x g. */
ONLINECLS_INLINE void gaussian_four(float* p0, float* p1, float* p2, float* p3, const float* x, float tau, float beta, float least)
{
    __m128 low = _mm_castpd_ps(_mm_loadh_pd(_mm_load_sd((double*)p0), (double*)p1));
    __m128 high = _mm_castpd_ps(_mm_loadh_pd(_mm_load_sd((double*)p2), (double*)p3));
    __m128 w = _mm_shuffle_ps(low, high, 0x88), s = _mm_shuffle_ps(low, high, 0xdd);
    __m128 xs = _mm_loadu_ps(x), g = _mm_mul_ps(xs, s);
    __m128d first, last;
    w = _mm_add_ps(w, _mm_mul_ps(_mm_set1_ps(tau), g));
    s = _mm_div_ps(s, _mm_add_ps(_mm_set1_ps(1.0f), _mm_mul_ps(_mm_set1_ps(beta), _mm_mul_ps(xs, g))));
    s = _mm_max_ps(s, _mm_set1_ps(least));
    first = _mm_castps_pd(_mm_unpacklo_ps(w, s));
    last = _mm_castps_pd(_mm_unpackhi_ps(w, s));
    _mm_storel_pd((double*)p0, first);
    _mm_storeh_pd((double*)p1, first);
    _mm_storel_pd((double*)p2, last);
    _mm_storeh_pd((double*)p3, last);
}

/* The same for two features of float64. */
ONLINECLS_INLINE void gaussian_two(double* p0, double* p1, const double* x, double tau, double beta, double least)
{
    __m128d a = _mm_loadu_pd(p0), b = _mm_loadu_pd(p1), xs = _mm_loadu_pd(x);
    __m128d w = _mm_unpacklo_pd(a, b), s = _mm_unpackhi_pd(a, b), g = _mm_mul_pd(xs, s);
    w = _mm_add_pd(w, _mm_mul_pd(_mm_set1_pd(tau), g));
    s = _mm_div_pd(s, _mm_add_pd(_mm_set1_pd(1.0), _mm_mul_pd(_mm_set1_pd(beta), _mm_mul_pd(xs, g))));
    s = _mm_max_pd(s, _mm_set1_pd(least));
    _mm_storeu_pd(p0, _mm_unpacklo_pd(w, s));
    _mm_storeu_pd(p1, _mm_unpackhi_pd(w, s));
}

#else

typedef struct { double first, second; } onlinecls_pair;

ONLINECLS_INLINE onlinecls_pair pair_of(double first, double second) { onlinecls_pair a = {first, second}; return a; }
ONLINECLS_INLINE onlinecls_pair pair_of_floats(const float* at) { return pair_of(at[0], at[1]); }
ONLINECLS_INLINE onlinecls_pair pair_of_doubles(const double* at) { return pair_of(at[0], at[1]); }
ONLINECLS_INLINE onlinecls_pair pair_times(onlinecls_pair a, onlinecls_pair b) { return pair_of(a.first * b.first, a.second * b.second); }
ONLINECLS_INLINE onlinecls_pair pair_plus(onlinecls_pair a, onlinecls_pair b) { return pair_of(a.first + b.first, a.second + b.second); }
ONLINECLS_INLINE onlinecls_pair pair_over(onlinecls_pair a, onlinecls_pair b) { return pair_of(a.first / b.first, a.second / b.second); }
ONLINECLS_INLINE double pair_first(onlinecls_pair a) { return a.first; }
ONLINECLS_INLINE double pair_second(onlinecls_pair a) { return a.second; }
ONLINECLS_INLINE onlinecls_pair pair_powers(double x) { return pair_of(x, x * x); }

#define ONLINECLS_GAUSSIAN(real, at, x)                                          \
    {                                                                            \
        real g = (x) * (at)[1], s = (at)[1] / ((real)1 + beta * ((x) * g));       \
        (at)[0] += tau * g;                                                      \
        (at)[1] = s > least ? s : least;                                         \
    }
ONLINECLS_INLINE void gaussian_four(float* p0, float* p1, float* p2, float* p3, const float* x, float tau, float beta, float least)
{
    ONLINECLS_GAUSSIAN(float, p0, x[0])
    ONLINECLS_GAUSSIAN(float, p1, x[1])
    ONLINECLS_GAUSSIAN(float, p2, x[2])
    ONLINECLS_GAUSSIAN(float, p3, x[3])
}
ONLINECLS_INLINE void gaussian_two(double* p0, double* p1, const double* x, double tau, double beta, double least)
{
    ONLINECLS_GAUSSIAN(double, p0, x[0])
    ONLINECLS_GAUSSIAN(double, p1, x[1])
}
#endif
#endif
