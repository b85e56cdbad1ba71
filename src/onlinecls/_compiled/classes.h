/* The steps of all classes at one feature, side by side: n first numbers w, n second numbers s behind them, and for each class its
   tau and beta (0 where the class takes no step: it stays as it is). Each number goes through the operations of move_feature
   (sparse.pxd) in their order. SSE2 is part of every x86-64; other machines take only the plain loops. */
#ifndef ONLINECLS_CLASSES_H
#define ONLINECLS_CLASSES_H

#include "lanes.h"

/* w += tau s x, s /= 1 + beta s x² */
ONLINECLS_INLINE void gaussian_classes_of_floats(float* w, const float* tau, const float* beta, ptrdiff_t n, float x, float least)
{
    float* s = w + n;
    ptrdiff_t c = 0;
#if defined(__SSE2__)
    __m128 xs = _mm_set1_ps(x), one = _mm_set1_ps(1.0f), low = _mm_set1_ps(least);
    for (; c + 4 <= n; c += 4) {
        __m128 second = _mm_loadu_ps(s + c), g = _mm_mul_ps(xs, second);
        _mm_storeu_ps(w + c, _mm_add_ps(_mm_loadu_ps(w + c), _mm_mul_ps(_mm_loadu_ps(tau + c), g)));
        second = _mm_div_ps(second, _mm_add_ps(one, _mm_mul_ps(_mm_loadu_ps(beta + c), _mm_mul_ps(xs, g))));
        _mm_storeu_ps(s + c, _mm_max_ps(second, low));
    }
#endif
    for (; c < n; c++) {
        float g = x * s[c], second = s[c] / (1.0f + beta[c] * (x * g));
        w[c] += tau[c] * g;
        s[c] = second > least ? second : least;
    }
}
ONLINECLS_INLINE void gaussian_classes_of_doubles(double* w, const double* tau, const double* beta, ptrdiff_t n, double x, double least)
{
    double* s = w + n;
    ptrdiff_t c = 0;
#if defined(__SSE2__)
    __m128d xs = _mm_set1_pd(x), one = _mm_set1_pd(1.0), low = _mm_set1_pd(least);
    for (; c + 2 <= n; c += 2) {
        __m128d second = _mm_loadu_pd(s + c), g = _mm_mul_pd(xs, second);
        _mm_storeu_pd(w + c, _mm_add_pd(_mm_loadu_pd(w + c), _mm_mul_pd(_mm_loadu_pd(tau + c), g)));
        second = _mm_div_pd(second, _mm_add_pd(one, _mm_mul_pd(_mm_loadu_pd(beta + c), _mm_mul_pd(xs, g))));
        _mm_storeu_pd(s + c, _mm_max_pd(second, low));
    }
#endif
    for (; c < n; c++) {
        double g = x * s[c], second = s[c] / (1.0 + beta[c] * (x * g));
        w[c] += tau[c] * g;
        s[c] = second > least ? second : least;
    }
}

/* w += tau x */
ONLINECLS_INLINE void additive_classes_of_floats(float* w, const float* tau, ptrdiff_t n, float x)
{
    ptrdiff_t c = 0;
#if defined(__SSE2__)
    for (; c + 4 <= n; c += 4)
        _mm_storeu_ps(w + c, _mm_add_ps(_mm_loadu_ps(w + c), _mm_mul_ps(_mm_loadu_ps(tau + c), _mm_set1_ps(x))));
#endif
    for (; c < n; c++)
        w[c] += tau[c] * x;
}
ONLINECLS_INLINE void additive_classes_of_doubles(double* w, const double* tau, ptrdiff_t n, double x)
{
    ptrdiff_t c = 0;
#if defined(__SSE2__)
    for (; c + 2 <= n; c += 2)
        _mm_storeu_pd(w + c, _mm_add_pd(_mm_loadu_pd(w + c), _mm_mul_pd(_mm_loadu_pd(tau + c), _mm_set1_pd(x))));
#endif
    for (; c < n; c++)
        w[c] += tau[c] * x;
}

#endif
