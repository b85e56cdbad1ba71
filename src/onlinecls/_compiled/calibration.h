/* How probabilities learn from the scores of one row: see Calibration of rounds.pxd. Not inlined: loops without it stay small. */
#ifndef ONLINECLS_CALIBRATION_H
#define ONLINECLS_CALIBRATION_H

#include <math.h>
#include <stddef.h>

#if defined(__GNUC__) || defined(__clang__)
#define ONLINECLS_APART static __attribute__((noinline, unused))
#else
#define ONLINECLS_APART static
#endif

/* The probabilities are the softmax of z = a s + b u, for s the scores of the classes. Of two classes, the scores are 0 and that
   of the single vector, and u is 0 and 1; of more, u = -log of the classes' weights, if they have any, so that b = 0 without. */
typedef struct {
    double a, b;
    double haa, hab, hbb; /* curvature of the log loss in (a, b), weighted towards later rows */
    double seen;          /* sum of the rows' weights */
} onlinecls_calibration;

/* What each row adds to the curvature at least: for b this, for a this times the square of its scores' spread, or of 1 / a. */
static const double onlinecls_floor = 1e-3;

static inline double onlinecls_score(ptrdiff_t c, int is_single, const double* scores)
{
    return is_single ? (double)c * scores[0] : scores[c];
}

/* weights : those of the classes, or NULL. balanced : their counts, if their weights are in proportion to 1 / counts, or NULL. */
static inline double onlinecls_offset(ptrdiff_t c, int is_single, const double* weights, const double* balanced)
{
    if (is_single)
        return (double)c;
    if (balanced)
        return log(balanced[c]);
    return weights && weights[c] > 0.0 ? -log(weights[c]) : 0.0;
}

/* One step of Newton for a row of the class `label` and weight c, by the scores of the classes that have rows by now. A step at
   most doubles or halves a, and moves b by 1; one that would leave double's range is not taken. */
ONLINECLS_APART void onlinecls_calibrate(onlinecls_calibration* numbers, const double* scores, int is_single, ptrdiff_t n,
    ptrdiff_t label, double c, const double* counts, const double* weights, const double* balanced)
{
    onlinecls_calibration now = *numbers;
    const double own = onlinecls_score(label, is_single, scores), large = 1e300;
    const double own_offset = onlinecls_offset(label, is_single, weights, balanced);
    double top = 0.0, least = 0.0, most = 0.0, total = 0.0, s = 0.0, u = 0.0, ss = 0.0, su = 0.0, uu = 0.0;
    double score, offset, p, spread, keep, ratio, rest, along_a, along_b, excess;
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        if (counts[i] > 0.0) {
            score = onlinecls_score(i, is_single, scores) - own;
            top = fmax(top, now.a * score + now.b * (onlinecls_offset(i, is_single, weights, balanced) - own_offset));
            least = fmin(least, score);
            most = fmax(most, score);
        }
    for (i = 0; i < n; i++)
        if (counts[i] > 0.0) {
            score = onlinecls_score(i, is_single, scores) - own; /* (relative to the row's own class, whose z is 0) */
            offset = onlinecls_offset(i, is_single, weights, balanced) - own_offset;
            p = exp(now.a * score + now.b * offset - top);
            total += p;
            s += p * score;
            u += p * offset;
            ss += p * score * score;
            su += p * score * offset;
            uu += p * offset * offset;
        }
    spread = fmin(most - least, 1.0 / now.a);
    s /= total;
    u /= total;
    keep = now.seen / (now.seen + 3.0 * c); /* rows of weight 1 count as 1, 4, 10, 20 ... in the end */
    now.seen += c;
    now.haa = keep * now.haa + c * (fmax(ss / total - s * s, 0.0) + onlinecls_floor * spread * spread);
    now.hab = keep * now.hab + c * (su / total - s * u);
    now.hbb = keep * now.hbb + c * (fmax(uu / total - u * u, 0.0) + onlinecls_floor);
    ratio = now.haa > 0.0 ? now.hab / now.haa : 0.0;
    rest = fmax(now.hbb - ratio * now.hab, onlinecls_floor * c); /* (below it by rounding only) */
    along_b = c * (ratio * s - u) / rest;
    along_a = now.haa > 0.0 ? -c * s / now.haa - ratio * along_b : 0.0;
    excess = fmax(1.0, fmax(fabs(along_b), fmax(along_a, -2.0 * along_a) / now.a));
    now.a += along_a / excess;
    now.b += along_b / excess;
    if (now.a >= 1.0 / large && now.a <= large && fabs(now.b) <= large && now.haa <= large && fabs(now.hab) <= large
        && now.hbb <= large && now.seen <= large)
        *numbers = now;
}

#endif
