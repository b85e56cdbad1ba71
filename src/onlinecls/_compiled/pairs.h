/* Two doubles side by side, with the bits of plain code: both sums of a scan are in one register, and each number goes through the
   same operations in the same order. Compilers without vectors take structs, and so does a build with ONLINECLS_PORTABLE. */
#ifndef ONLINECLS_PAIRS_H
#define ONLINECLS_PAIRS_H

#include <math.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define onlinecls_prefetch(address) __builtin_prefetch(address)
#define ONLINECLS_INLINE static inline __attribute__((always_inline))
#else
#define onlinecls_prefetch(address)
#define ONLINECLS_INLINE static inline
#endif

#if (defined(__GNUC__) || defined(__clang__)) && !defined(ONLINECLS_PORTABLE)
typedef double onlinecls_double2 __attribute__((vector_size(16)));
typedef float onlinecls_float2 __attribute__((vector_size(8)));
#define ONLINECLS_FIRST(a) ((a)[0])
#define ONLINECLS_SECOND(a) ((a)[1])
#define ONLINECLS_EACH(a, sign, b) ((a) sign (b))
ONLINECLS_INLINE onlinecls_double2 double2_of_floats(const float* at)
{
    onlinecls_float2 both;
    memcpy(&both, at, sizeof both);
    return __builtin_convertvector(both, onlinecls_double2);
}
#else
typedef struct { double first, second; } onlinecls_double2;
#define ONLINECLS_FIRST(a) ((a).first)
#define ONLINECLS_SECOND(a) ((a).second)
#define ONLINECLS_EACH(a, sign, b) double2_of((a).first sign (b).first, (a).second sign (b).second)
ONLINECLS_INLINE onlinecls_double2 double2_of_floats(const float* at) { onlinecls_double2 a = {at[0], at[1]}; return a; }
#endif

ONLINECLS_INLINE onlinecls_double2 double2_of(double first, double second) { onlinecls_double2 a = {first, second}; return a; }
ONLINECLS_INLINE onlinecls_double2 double2_of_doubles(const double* at) { onlinecls_double2 a; memcpy(&a, at, sizeof a); return a; }
ONLINECLS_INLINE double double2_first(onlinecls_double2 a) { return ONLINECLS_FIRST(a); }
ONLINECLS_INLINE double double2_second(onlinecls_double2 a) { return ONLINECLS_SECOND(a); }
ONLINECLS_INLINE onlinecls_double2 double2_mul(onlinecls_double2 a, onlinecls_double2 b) { return ONLINECLS_EACH(a, *, b); }
ONLINECLS_INLINE onlinecls_double2 double2_add(onlinecls_double2 a, onlinecls_double2 b) { return ONLINECLS_EACH(a, +, b); }
ONLINECLS_INLINE onlinecls_double2 double2_div(onlinecls_double2 a, onlinecls_double2 b) { return ONLINECLS_EACH(a, /, b); }

/* max(x, 0): an instruction. Of a condition, the compiler makes a branch. */
#if defined(__SSE2__) && !defined(ONLINECLS_PORTABLE)
#include <emmintrin.h>
ONLINECLS_INLINE double positive_part(double x) { return _mm_cvtsd_f64(_mm_max_sd(_mm_set_sd(x), _mm_setzero_pd())); }
#else
ONLINECLS_INLINE double positive_part(double x) { return x > 0 ? x : 0; }
#endif

/* sgn(z) [|z| - threshold]+ */
ONLINECLS_INLINE double shrunk(double z, double threshold) { return copysign(positive_part(fabs(z) - threshold), z); }

/* dual averaging's eta soft(z, threshold) / (delta + sqrt(G)) of two features */
ONLINECLS_INLINE onlinecls_double2 double2_shrunk(onlinecls_double2 z, onlinecls_double2 G, double eta, double threshold, double delta)
{
    onlinecls_double2 size = double2_of(shrunk(double2_first(z), threshold), shrunk(double2_second(z), threshold));
    onlinecls_double2 root = double2_of(sqrt(double2_first(G)), sqrt(double2_second(G)));
    return double2_div(double2_mul(double2_of(eta, eta), size), double2_add(double2_of(delta, delta), root));
}

/* FTRL-proximal's g + (sqrt(grown) - sqrt(n)) soft(z, threshold) / (delta + sqrt(n)) */
ONLINECLS_INLINE double pulled(double z, double n, double grown, double g, double threshold, double delta)
{
    double before = sqrt(n);
    return g + (sqrt(grown) - before) * shrunk(z, threshold) / (delta + before);
}

#endif
