/* Numbers side by side, with the bits of plain loops: each goes through the operations of `apply_step_feature` (_core.pyx) in their
   order. Compilers without vectors, and builds with ONLINECLS_PORTABLE, have pairs of two numbers and step one feature at a time. */
#ifndef ONLINECLS_LANES_H
#define ONLINECLS_LANES_H

#include <math.h>
#include <string.h>

#if defined(__GNUC__)
#define onlinecls_prefetch(address) __builtin_prefetch(address)
#define LANES_INLINE static inline __attribute__((always_inline))
#else
#define onlinecls_prefetch(address)
#define LANES_INLINE static inline
#endif

#if defined(__GNUC__) && !defined(ONLINECLS_PORTABLE)
#define ONLINECLS_HAS_LANES 1
typedef double double2 __attribute__((vector_size(16)));
typedef float float4 __attribute__((vector_size(16)));
#ifdef __clang__
#define LANES_PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define LANES_PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, (int __attribute__((vector_size(16)))){i, j, k, l})
#endif
/* the bits of a where a condition holds, else those of b */
#define LANES_WHERE(vec, where, a, b) ((vec)(((where) & (__typeof__(where))(a)) | (~(where) & (__typeof__(where))(b))))

LANES_INLINE double2 double2_of(double first, double second) { return (double2){first, second}; }
LANES_INLINE double double2_first(double2 a) { return a[0]; }
LANES_INLINE double double2_second(double2 a) { return a[1]; }
LANES_INLINE double2 double2_add(double2 sums, double2 a, double2 b) { return sums + a * b; }
LANES_INLINE double2 double2_div(double2 a, double2 b) { return a / b; }
LANES_INLINE float4 two_pairs(const float* first, const float* second)
{
    double pairs[2];        /* (as bytes: floats are at multiples of 4 bytes, where no double may be read) */
    memcpy(&pairs[0], first, sizeof(double));
    memcpy(&pairs[1], second, sizeof(double));
    return (float4)double2_of(pairs[0], pairs[1]);
}
LANES_INLINE double2 double2_of_floats(const float* at)
{
    float4 x = {at[0], at[1], at[0], at[1]};        /* (one load and one conversion; of two numbers, compilers make two each) */
    return double2_of(x[0], x[1]);
}
LANES_INLINE double2 double2_of_doubles(const double* at) { return double2_of(at[0], at[1]); }
LANES_INLINE double2 double2_sqrt(double2 x) { return double2_of(sqrt(x[0]), sqrt(x[1])); }
LANES_INLINE double2 double2_abs(double2 x) { return double2_of(fabs(x[0]), fabs(x[1])); }

/* as `soft` and `weight_of`, `root_of_sum` and `pulled` in sparse.pxd */
LANES_INLINE double2 soft2(double2 z, double threshold)
{
    double2 size = double2_abs(z) - threshold;
    size = LANES_WHERE(double2, size > 0, size, double2_of(0, 0));
    return LANES_WHERE(double2, z > 0, size, -size);
}
LANES_INLINE double2 shrunk2(double2 z, double2 G, double eta, double threshold, double delta)
{
    return eta * soft2(z, threshold) / (delta + double2_sqrt(G));
}
LANES_INLINE double2 rated2(double2 G, double2 g, double eta, double delta)
{
    double2 size = double2_abs(g), root = double2_sqrt(G + g * g);
    return eta * (g / (delta + LANES_WHERE(double2, root > size, root, size)));
}
LANES_INLINE double2 pulled2(double2 z, double2 n, double2 grown, double2 g, double threshold, double delta)
{
    double2 before = double2_sqrt(n);
    return g + (double2_sqrt(grown) - before) * soft2(z, threshold) / (delta + before);
}

LANES_INLINE void load_pairs(float* const* p, float4* a, float4* b)
{
    float4 low = two_pairs(p[0], p[1]), high = two_pairs(p[2], p[3]);
    *a = LANES_PICK(low, high, 0, 2, 4, 6);
    *b = LANES_PICK(low, high, 1, 3, 5, 7);
}
LANES_INLINE void store_pairs(float* const* p, float4 a, float4 b)
{
    float4 low = LANES_PICK(a, b, 0, 4, 1, 5), high = LANES_PICK(a, b, 2, 6, 3, 7);
    memcpy(p[0], &low, sizeof(double));
    memcpy(p[1], (char*)&low + sizeof(double), sizeof(double));
    memcpy(p[2], &high, sizeof(double));
    memcpy(p[3], (char*)&high + sizeof(double), sizeof(double));
}
/* The update of the geometries with variances, for four features whose slots are at p[0], p[1] .. */
LANES_INLINE void narrow4(int potential, int grows, float* const* p, const float* x, float tau, float beta, float least,
                          float growth, float most)
{
    float4 w, s, stored, z, g;
    memcpy(&z, x, sizeof z);
    load_pairs(p, &w, &stored);
    s = grows ? LANES_WHERE(float4, stored < most, stored, most - (float4){0}) : stored;
    g = z * (grows ? s * growth : s);
    w += tau * (potential ? z : g);
    s /= 1 + beta * (z * g);
    s = LANES_WHERE(float4, s > least, s, least - (float4){0});
    store_pairs(p, w, grows ? LANES_WHERE(float4, z != 0, s, stored) : s);
}
#else
#define ONLINECLS_HAS_LANES 0
typedef struct { double first, second; } double2;

LANES_INLINE double2 double2_of(double first, double second) { double2 a; a.first = first, a.second = second; return a; }
LANES_INLINE double double2_first(double2 a) { return a.first; }
LANES_INLINE double double2_second(double2 a) { return a.second; }
LANES_INLINE double2 double2_add(double2 sums, double2 a, double2 b)
{
    return double2_of(sums.first + a.first * b.first, sums.second + a.second * b.second);
}
LANES_INLINE double2 double2_of_floats(const float* at) { return double2_of(at[0], at[1]); }
LANES_INLINE double2 double2_of_doubles(const double* at) { return double2_of(at[0], at[1]); }
#define double2_div(a, b) (a)       /* (the rest is not reached) */
#define shrunk2(z, G, eta, threshold, delta) (z)
#define rated2(G, g, eta, delta) (g)
#define pulled2(z, n, grown, g, threshold, delta) (g)
#define narrow4(potential, grows, p, x, tau, beta, least, growth, most) ((void)0)
#endif

#endif
