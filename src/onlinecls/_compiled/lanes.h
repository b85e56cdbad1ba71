/* Several numbers at a time, with the bits of plain loops: each number goes through the same operations in the same order.
   SSE2 is part of every x86-64; other machines take the plain versions, and so does a build with ONLINECLS_PORTABLE. */
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

/* --- two doubles side by side ------------------------------------------------------------------------------------------------- */

#if defined(__SSE2__) && !defined(ONLINECLS_PORTABLE)
#define ONLINECLS_SSE2
#include <emmintrin.h>

typedef __m128d onlinecls_double2;

/* Two floats as the bytes of a double: they are at multiples of 4 bytes, where no double may be read. */
ONLINECLS_INLINE double two_floats(const float* at)
{
    double both;
    memcpy(&both, at, sizeof both);
    return both;
}
ONLINECLS_INLINE void put_two_floats(float* at, double both) { memcpy(at, &both, sizeof both); }
ONLINECLS_INLINE __m128d double2_of(double first, double second) { return _mm_set_pd(second, first); }
ONLINECLS_INLINE __m128d double2_of_floats(const float* at) { return _mm_cvtps_pd(_mm_castpd_ps(_mm_set_sd(two_floats(at)))); }
ONLINECLS_INLINE __m128d double2_of_doubles(const double* at) { return _mm_loadu_pd(at); }
ONLINECLS_INLINE __m128d double2_mul(__m128d a, __m128d b) { return _mm_mul_pd(a, b); }
ONLINECLS_INLINE __m128d double2_add(__m128d a, __m128d b) { return _mm_add_pd(a, b); }
ONLINECLS_INLINE __m128d double2_div(__m128d a, __m128d b) { return _mm_div_pd(a, b); }
ONLINECLS_INLINE __m128d double2_min(__m128d a, __m128d b) { return _mm_min_pd(a, b); }
ONLINECLS_INLINE double double2_first(__m128d a) { return _mm_cvtsd_f64(a); }
ONLINECLS_INLINE double double2_second(__m128d a) { return _mm_cvtsd_f64(_mm_unpackhi_pd(a, a)); }
ONLINECLS_INLINE __m128d double2_firsts(__m128d a, __m128d b) { return _mm_unpacklo_pd(a, b); }
ONLINECLS_INLINE __m128d double2_seconds(__m128d a, __m128d b) { return _mm_unpackhi_pd(a, b); }
/* max(x, 0): an instruction. Of a condition, the compiler makes a branch. */
ONLINECLS_INLINE double positive_part(double x) { return double2_first(_mm_max_sd(_mm_set_sd(x), _mm_setzero_pd())); }
/* (x, x²) */
ONLINECLS_INLINE __m128d double2_powers(double x)
{
    __m128d one = _mm_set_sd(x);
    return _mm_unpacklo_pd(one, _mm_mul_sd(one, one));
}
/* dual averaging's eta soft(z, threshold) / (delta + sqrt(G)) */
ONLINECLS_INLINE __m128d double2_shrunk(__m128d z, __m128d G, double eta, double threshold, double delta)
{
    __m128d sign = _mm_and_pd(_mm_set1_pd(-0.0), z), size = _mm_sub_pd(_mm_xor_pd(sign, z), _mm_set1_pd(threshold));
    z = _mm_or_pd(sign, _mm_max_pd(size, _mm_setzero_pd()));
    return _mm_div_pd(_mm_mul_pd(_mm_set1_pd(eta), z), _mm_add_pd(_mm_set1_pd(delta), _mm_sqrt_pd(G)));
}
#else
typedef struct { double first, second; } onlinecls_double2;

#define ONLINECLS_EACH(name, expression) \
    ONLINECLS_INLINE double name##_of_one(double a, double b) { return expression; } \
    ONLINECLS_INLINE onlinecls_double2 name(onlinecls_double2 a, onlinecls_double2 b) \
    { \
        return double2_of(name##_of_one(a.first, b.first), name##_of_one(a.second, b.second)); \
    }
ONLINECLS_INLINE onlinecls_double2 double2_of(double first, double second) { onlinecls_double2 a = {first, second}; return a; }
ONLINECLS_INLINE onlinecls_double2 double2_of_floats(const float* at) { return double2_of(at[0], at[1]); }
ONLINECLS_INLINE onlinecls_double2 double2_of_doubles(const double* at) { return double2_of(at[0], at[1]); }
ONLINECLS_EACH(double2_mul, a * b)
ONLINECLS_EACH(double2_add, a + b)
ONLINECLS_EACH(double2_div, a / b)
ONLINECLS_EACH(double2_min, a < b ? a : b)
ONLINECLS_INLINE double double2_first(onlinecls_double2 a) { return a.first; }
ONLINECLS_INLINE double double2_second(onlinecls_double2 a) { return a.second; }
ONLINECLS_INLINE onlinecls_double2 double2_firsts(onlinecls_double2 a, onlinecls_double2 b) { return double2_of(a.first, b.first); }
ONLINECLS_INLINE onlinecls_double2 double2_seconds(onlinecls_double2 a, onlinecls_double2 b) { return double2_of(a.second, b.second); }
ONLINECLS_INLINE double positive_part(double x) { return x > 0 ? x : 0; }
ONLINECLS_INLINE onlinecls_double2 double2_powers(double x) { return double2_of(x, x * x); }
ONLINECLS_INLINE double shrunk(double z, double G, double eta, double threshold, double delta)
{
    double size = fabs(z) - threshold;
    return eta * copysign(size > 0 ? size : 0, z) / (delta + sqrt(G));
}
ONLINECLS_INLINE onlinecls_double2 double2_shrunk(onlinecls_double2 z, onlinecls_double2 G, double eta, double threshold, double delta)
{
    return double2_of(shrunk(z.first, G.first, eta, threshold, delta), shrunk(z.second, G.second, eta, threshold, delta));
}
#endif

/* FTRL-proximal's g + (sqrt(grown) - sqrt(n)) soft(z, threshold) / (delta + sqrt(n)) */
ONLINECLS_INLINE double pulled(double z, double n, double grown, double g, double threshold, double delta)
{
    double size = fabs(z) - threshold, before = sqrt(n);
    return g + (sqrt(grown) - before) * copysign(size > 0 ? size : 0, z) / (delta + before);
}

/* --- the diagonal update: steps.h for each type of vectors -------------------------------------------------------------------- */

#define ONLINECLS_PLAIN(real) \
    ONLINECLS_INLINE real set_of_##real(real x) { return x; } \
    ONLINECLS_INLINE real load_of_##real(const real* at) { return *at; } \
    ONLINECLS_INLINE void store_of_##real(real* at, real x) { *at = x; } \
    ONLINECLS_INLINE real add_of_##real(real a, real b) { return a + b; } \
    ONLINECLS_INLINE real mul_of_##real(real a, real b) { return a * b; } \
    ONLINECLS_INLINE real div_of_##real(real a, real b) { return a / b; } \
    ONLINECLS_INLINE real min_of_##real(real a, real b) { return a < b ? a : b; } \
    ONLINECLS_INLINE real max_of_##real(real a, real b) { return a > b ? a : b; } \
    ONLINECLS_INLINE real where_of_##real(real x, real a, real b) { return x != 0 ? a : b; } \
    ONLINECLS_INLINE void load_pairs_of_##real(real* const* p, real* a, real* b) { *a = p[0][0], *b = p[0][1]; } \
    ONLINECLS_INLINE void store_pairs_of_##real(real* const* p, real a, real b) { p[0][0] = a, p[0][1] = b; } \
    /* AdaGrad's eta g / (delta + sqrt(G + g g)), the root never below |g| */ \
    ONLINECLS_INLINE real rated_of_##real(real G, real gradient, double eta, double delta) \
    { \
        double g = gradient, size = fabs(g), root = sqrt(G + g * g); \
        return (real)(eta * (g / (delta + (root > size ? root : size)))); \
    } \
    ONLINECLS_INLINE real pulled_of_##real(real z, real n, real grown, real g, double threshold, double delta) \
    { \
        return (real)pulled(z, n, grown, g, threshold, delta); \
    }
ONLINECLS_PLAIN(float)
ONLINECLS_PLAIN(double)

#define real float
#define vec float
#define LANES 1
#define V(name) name##_of_float
#include "steps.h"
#define real double
#define vec double
#define LANES 1
#define V(name) name##_of_double
#include "steps.h"

#if defined(ONLINECLS_SSE2)
#define set_of_floats _mm_set1_ps
#define load_of_floats _mm_loadu_ps
#define store_of_floats _mm_storeu_ps
#define add_of_floats _mm_add_ps
#define mul_of_floats _mm_mul_ps
#define div_of_floats _mm_div_ps
#define min_of_floats _mm_min_ps
#define max_of_floats _mm_max_ps
#define set_of_doubles _mm_set1_pd
#define load_of_doubles _mm_loadu_pd
#define store_of_doubles _mm_storeu_pd
#define add_of_doubles _mm_add_pd
#define mul_of_doubles _mm_mul_pd
#define div_of_doubles _mm_div_pd
#define min_of_doubles _mm_min_pd
#define max_of_doubles _mm_max_pd

ONLINECLS_INLINE __m128 alternate_of_floats(float a, float b) { return _mm_set_ps(b, a, b, a); }
ONLINECLS_INLINE __m128d alternate_of_doubles(double a, double b) { return _mm_set_pd(b, a); }
ONLINECLS_INLINE __m128 where_of_floats(__m128 x, __m128 a, __m128 b)
{
    __m128 chosen = _mm_cmpneq_ps(x, _mm_setzero_ps());
    return _mm_or_ps(_mm_and_ps(chosen, a), _mm_andnot_ps(chosen, b));
}
ONLINECLS_INLINE __m128d where_of_doubles(__m128d x, __m128d a, __m128d b)
{
    __m128d chosen = _mm_cmpneq_pd(x, _mm_setzero_pd());
    return _mm_or_pd(_mm_and_pd(chosen, a), _mm_andnot_pd(chosen, b));
}
ONLINECLS_INLINE void load_pairs_of_floats(float* const* p, __m128* a, __m128* b)
{
    __m128 low = _mm_castpd_ps(_mm_set_pd(two_floats(p[1]), two_floats(p[0])));
    __m128 high = _mm_castpd_ps(_mm_set_pd(two_floats(p[3]), two_floats(p[2])));
    *a = _mm_shuffle_ps(low, high, 0x88);
    *b = _mm_shuffle_ps(low, high, 0xdd);
}
ONLINECLS_INLINE void store_pairs_of_floats(float* const* p, __m128 a, __m128 b)
{
    __m128d low = _mm_castps_pd(_mm_unpacklo_ps(a, b)), high = _mm_castps_pd(_mm_unpackhi_ps(a, b));
    put_two_floats(p[0], double2_first(low));
    put_two_floats(p[1], double2_second(low));
    put_two_floats(p[2], double2_first(high));
    put_two_floats(p[3], double2_second(high));
}
ONLINECLS_INLINE void load_pairs_of_doubles(double* const* p, __m128d* a, __m128d* b)
{
    __m128d first = _mm_loadu_pd(p[0]), second = _mm_loadu_pd(p[1]);
    *a = _mm_unpacklo_pd(first, second);
    *b = _mm_unpackhi_pd(first, second);
}
ONLINECLS_INLINE void store_pairs_of_doubles(double* const* p, __m128d a, __m128d b)
{
    _mm_storeu_pd(p[0], _mm_unpacklo_pd(a, b));
    _mm_storeu_pd(p[1], _mm_unpackhi_pd(a, b));
}
ONLINECLS_INLINE __m128d rated_of_doubles(__m128d G, __m128d g, double eta, double delta)
{
    __m128d root = _mm_sqrt_pd(_mm_add_pd(G, _mm_mul_pd(g, g)));
    root = _mm_max_pd(root, _mm_andnot_pd(_mm_set1_pd(-0.0), g));
    return _mm_mul_pd(_mm_set1_pd(eta), _mm_div_pd(g, _mm_add_pd(_mm_set1_pd(delta), root)));
}
ONLINECLS_INLINE __m128 rated_of_floats(__m128 G, __m128 g, double eta, double delta)
{
    __m128d low = rated_of_doubles(_mm_cvtps_pd(G), _mm_cvtps_pd(g), eta, delta);
    __m128d high = rated_of_doubles(_mm_cvtps_pd(_mm_movehl_ps(G, G)), _mm_cvtps_pd(_mm_movehl_ps(g, g)), eta, delta);
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}
ONLINECLS_INLINE __m128d pulled_of_doubles(__m128d z, __m128d n, __m128d grown, __m128d g, double threshold, double delta)
{
    __m128d sign = _mm_and_pd(_mm_set1_pd(-0.0), z), before = _mm_sqrt_pd(n);
    z = _mm_or_pd(sign, _mm_max_pd(_mm_sub_pd(_mm_xor_pd(sign, z), _mm_set1_pd(threshold)), _mm_setzero_pd()));
    z = _mm_div_pd(_mm_mul_pd(_mm_sub_pd(_mm_sqrt_pd(grown), before), z), _mm_add_pd(_mm_set1_pd(delta), before));
    return _mm_add_pd(g, z);
}
ONLINECLS_INLINE __m128 pulled_of_floats(__m128 z, __m128 n, __m128 grown, __m128 g, double threshold, double delta)
{
    __m128d low = pulled_of_doubles(_mm_cvtps_pd(z), _mm_cvtps_pd(n), _mm_cvtps_pd(grown), _mm_cvtps_pd(g), threshold, delta);
    __m128d high = pulled_of_doubles(_mm_cvtps_pd(_mm_movehl_ps(z, z)), _mm_cvtps_pd(_mm_movehl_ps(n, n)),
                                     _mm_cvtps_pd(_mm_movehl_ps(grown, grown)), _mm_cvtps_pd(_mm_movehl_ps(g, g)), threshold, delta);
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

#define real float
#define vec __m128
#define LANES 4
#define V(name) name##_of_floats
#include "steps.h"
#define real double
#define vec __m128d
#define LANES 2
#define V(name) name##_of_doubles
#include "steps.h"
#define ONLINECLS_WIDE(name, real) name##_of_##real##s
#else
#define ONLINECLS_WIDE(name, real) name##_of_##real
#endif

/* What the loops call: full vectors of lanes, then the remainder one by one. */
#define ONLINECLS_CALLS(real) \
    ONLINECLS_INLINE void write_down_##real##s(real* at, size_t n, real growth, real most) \
    { \
        size_t left = ONLINECLS_WIDE(write_down, real)(at, n, growth, most); \
        write_down_of_##real(at + 2 * (n - left), left, growth, most); \
    } \
    ONLINECLS_INLINE void gaussian_classes_##real##s(real* w, real* s, const real* tau, const real* beta, ptrdiff_t n, real x, real least) \
    { \
        ptrdiff_t c = ONLINECLS_WIDE(gaussian_classes, real)(w, s, tau, beta, 0, n, x, least); \
        gaussian_classes_of_##real(w, s, tau, beta, c, n, x, least); \
    } \
    ONLINECLS_INLINE void additive_classes_##real##s(real* w, const real* tau, ptrdiff_t n, real x) \
    { \
        additive_classes_of_##real(w, tau, ONLINECLS_WIDE(additive_classes, real)(w, tau, 0, n, x), n, x); \
    }
ONLINECLS_CALLS(float)
ONLINECLS_CALLS(double)
#define variances_floats ONLINECLS_WIDE(variances, float)
#define variances_doubles ONLINECLS_WIDE(variances, double)
#define growing_floats ONLINECLS_WIDE(growing, float)
#define growing_doubles ONLINECLS_WIDE(growing, double)
#define rates_floats ONLINECLS_WIDE(rates, float)
#define rates_doubles ONLINECLS_WIDE(rates, double)
#define proximal_floats ONLINECLS_WIDE(proximal, float)
#define proximal_doubles ONLINECLS_WIDE(proximal, double)

#endif
