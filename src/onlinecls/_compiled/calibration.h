/* The update of one score's numbers by one row: see update_platt of rounds.pxd. Not inlined: loops without it stay small. */
#ifndef ONLINECLS_CALIBRATION_H
#define ONLINECLS_CALIBRATION_H

#include <math.h>

#if defined(__GNUC__) || defined(__clang__)
#define ONLINECLS_APART static __attribute__((noinline, unused))
#else
#define ONLINECLS_APART static
#endif

/* p(score) = 1 / (1 + e^-(a score + b)) */
typedef struct {
    double a, b;
    double haa, hab, hbb; /* curvature of the log loss in (a, b), weighted towards later rows */
    double ridge;         /* added to haa, towards a = 1: the square of the largest score so far, at most 1. That of hbb is 1 */
    double seen;          /* sum of the rows' weights */
} onlinecls_calibration;

static const double onlinecls_large = 1e300;

/* found = H^-1 (x, y) for H = curvature + ridge. */
static inline void onlinecls_solve(const onlinecls_calibration* now, double x, double y, double found[2])
{
    double first = now->haa + now->ridge, ratio = first > 0.0 ? now->hab / first : 0.0;
    double rest = fmax(1.0 + (now->hbb - ratio * now->hab), 1.0); /* (below 1 by rounding only) */
    found[1] = (y - ratio * x) / rest;
    found[0] = first > 0.0 ? x / first - ratio * found[1] : 0.0;
}

/* Solves m' = m + w / (1 + e^m') for m' > m, w > 0. */
static inline double onlinecls_pulled(double m, double w)
{
    double low = m, high = m + w / (1.0 + exp(m)), at, share, next;
    int i;
    if (w > 1.0)
        high = fmin(high, fmax(m, 0.0) + log1p(w));
    at = high;
    for (i = 0; i < 100; i++) {
        share = 1.0 / (1.0 + exp(at));
        next = at - m - w * share;
        if (next > 0.0)
            high = at;
        else
            low = at;
        next = at - next / (1.0 + w * share * (1.0 - share));
        if (!(low < next && next < high))
            next = 0.5 * low + 0.5 * high;
        if (fabs(next - at) <= 1e-9 * (1.0 + fabs(next)))
            return next;
        at = next;
    }
    return at;
}

/* sign: 1 for a row of the class, -1 for another; c: its weight. A step that would leave double's range is not taken. */
ONLINECLS_APART void onlinecls_calibrate(onlinecls_calibration* pair, double score, double sign, double c)
{
    onlinecls_calibration now = *pair;
    double along[2], more, keep, w, share;
    const double large = onlinecls_large;
    if (!(fabs(score) <= 1e150 && c > 0.0 && c <= large))
        return;
    keep = now.seen / (now.seen + 3.0 * c); /* rows of weight 1 count as 1, 4, 10, 20 ... in the end */
    now.seen += c;
    now.haa *= keep;
    now.hab *= keep;
    now.hbb *= keep;
    more = fmax(fmin(score * score, 1.0) - now.ridge, 0.0);
    now.ridge += more;
    if (more > 0.0) { /* an `a` learnt from smaller scores may be far off for larger ones: pull it back by the new ridge */
        onlinecls_solve(&now, more * (1.0 - now.a), 0.0, along);
        now.a += along[0];
        now.b += along[1];
    }
    onlinecls_solve(&now, score, 1.0, along);
    w = c * (score * along[0] + along[1]);
    share = sign * (now.a * score + now.b);
    if (!(w > 0.0 && w <= large && fabs(share) <= large))
        return;
    share = 1.0 / (1.0 + exp(onlinecls_pulled(share, w)));
    now.a += sign * c * share * along[0];
    now.b += sign * c * share * along[1];
    share = c * share * (1.0 - share);
    now.haa += share * score * score;
    now.hab += share * score;
    now.hbb += share;
    if (fabs(now.a) <= large && fabs(now.b) <= large && now.haa <= large && fabs(now.hab) <= large && now.hbb <= large
        && now.seen <= large)
        *pair = now;
}

#endif
