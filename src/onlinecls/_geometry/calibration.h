/* One row for one pair of Platt's numbers: see calibrate of rounds.pxd. Not inlined: a loop without pairs is to stay small. */
#ifndef ONLINECLS_CALIBRATION_H
#define ONLINECLS_CALIBRATION_H

#include <math.h>

#if defined(__GNUC__) || defined(__clang__)
#define ONLINECLS_APART static __attribute__((noinline, unused))
#else
#define ONLINECLS_APART static
#endif

/* p(score) = 1 / (1 + e^-(a score + b)); h is the curvature of the log loss in (a, b), the later a row, the more. */
typedef struct {
    double a, b;
    double haa, hab, hbb;
    double ridge; /* beside haa, towards a = 1: the square of the largest score so far, 1 at most. Beside hbb it is 1 */
    double seen;  /* sum of the rows' weights */
} onlinecls_calibration;

/* The margin m' > m at which the sigmoid's own pull ends: m' = m + w / (1 + e^m'), w > 0. */
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

/* sign: 1 for a row of the class, -1 for another; c: the row's weight. What would leave double's range is left out. */
ONLINECLS_APART void onlinecls_calibrate(onlinecls_calibration* pair, double score, double sign, double c)
{
    onlinecls_calibration now = *pair;
    double square = score * score, more, keep, first, ratio = 0.0, along_a = 0.0, along_b, rest, w, share;
    const double large = 1e300;
    if (!(fabs(score) <= 1e150 && c > 0.0 && c <= large))
        return;
    more = fmax(fmin(square, 1.0) - now.ridge, 0.0);
    now.ridge += more;
    keep = now.seen / (now.seen + 2.0 * c); /* rows of weight 1 come to count as 1, 3, 6, 10 ... */
    now.seen += c;
    now.haa *= keep;
    now.hab *= keep;
    now.hbb *= keep;
    first = now.haa + now.ridge;
    if (first > 0.0)
        ratio = now.hab / first;
    rest = fmax(1.0 + (now.hbb - ratio * now.hab), 1.0); /* (only rounding makes it less) */
    if (more > 0.0) { /* what the smaller scores said of a may be far from what larger ones will say: so much of it goes */
        more *= 1.0 - now.a;
        now.a += more * (1.0 / first + ratio * ratio / rest);
        now.b -= more * ratio / rest;
    }
    along_b = (1.0 - ratio * score) / rest; /* of H^-1 (score, 1) */
    if (first > 0.0)
        along_a = score / first - ratio * along_b;
    w = c * (score * along_a + along_b);
    share = sign * (now.a * score + now.b);
    if (!(w > 0.0 && w <= large && fabs(share) <= large))
        return;
    share = 1.0 / (1.0 + exp(onlinecls_pulled(share, w)));
    now.a += sign * c * share * along_a;
    now.b += sign * c * share * along_b;
    share = c * share * (1.0 - share);
    now.haa += share * square;
    now.hab += share * score;
    now.hbb += share;
    if (fabs(now.a) <= large && fabs(now.b) <= large && now.haa <= large && fabs(now.hab) <= large && now.hbb <= large
        && now.seen <= large)
        *pair = now;
}

#endif
