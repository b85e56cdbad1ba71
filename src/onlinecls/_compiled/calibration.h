/* One row for one score's numbers: see update_platt of rounds.pxd. Not inlined: a loop without them is to stay small. */
#ifndef ONLINECLS_CALIBRATION_H
#define ONLINECLS_CALIBRATION_H

#include <math.h>

#if defined(__GNUC__) || defined(__clang__)
#define ONLINECLS_APART static __attribute__((noinline, unused))
#else
#define ONLINECLS_APART static
#endif

/* p(score) = 1 / (1 + e^-(a score + b + d tilt)), tilt = the score of the mean row at present less what it usually is. */
typedef struct {
    double a, b, d;
    double haa, hab, hbb, had, hbd, hdd; /* curvature of the log loss in (a, b, d), the later a row, the more */
    double ridge, tilt_ridge; /* beside haa, towards a = 1, and beside hdd, towards d = 0: the square of the largest score and
                                 tilt so far, 1 at most. Beside hbb it is 1 */
    double seen;  /* sum of the rows' weights */
    double level; /* the score of the sum of all rows; see mean_row.pxd */
    double usual; /* mean of the mean row's scores, the later, the more, rows that are seen again among them: */
    double rounds; /* the sum of their weights */
} onlinecls_calibration;

static const double onlinecls_large = 1e300;

/* The mean row's score before a row of weight c, less what it usually is, which takes it in. n: the weight of the rows so far. */
static inline double onlinecls_tilt(onlinecls_calibration* now, double c, double n)
{
    double level = n > 0.0 ? now->level / n : 0.0;
    now->usual += (level - now->usual) * (4.0 * c / (now->rounds + 4.0 * c)); /* they count alike */
    now->rounds += c;
    return level - now->usual;
}

/* A row that is seen again: it says nothing of probabilities. */
static inline void onlinecls_see_again(onlinecls_calibration* pair, double c, double n)
{
    onlinecls_calibration now = *pair;
    double tilt = onlinecls_tilt(&now, c, n);
    if (c > 0.0 && fabs(tilt) <= 1e150 && now.rounds <= onlinecls_large)
        *pair = now;
}

/* H = curvature and ridge as L D L', L of unit diagonal. */
typedef struct {
    double first, rest, last;
    double ratio, tilt_ratio, cross;
} onlinecls_factors;

static inline onlinecls_factors onlinecls_factorized(const onlinecls_calibration* now)
{
    onlinecls_factors f = {now->haa + now->ridge, 1.0, 0.0, 0.0, 0.0, 0.0};
    if (f.first > 0.0) {
        f.ratio = now->hab / f.first;
        f.tilt_ratio = now->had / f.first;
    }
    f.rest = fmax(1.0 + (now->hbb - f.ratio * now->hab), 1.0); /* (only rounding makes it less) */
    f.cross = (now->hbd - f.tilt_ratio * now->hab) / f.rest;
    f.last = now->hdd - f.tilt_ratio * now->had - f.cross * (now->hbd - f.tilt_ratio * now->hab);
    f.last = now->tilt_ridge + fmax(f.last, 0.0);
    return f;
}

/* found = H^-1 (x, y, z) */
static inline void onlinecls_solve(const onlinecls_factors* f, double x, double y, double z, double found[3])
{
    y -= f->ratio * x;
    z -= f->tilt_ratio * x + f->cross * y;
    found[2] = f->last > 0.0 ? z / f->last : 0.0;
    found[1] = y / f->rest - f->cross * found[2];
    found[0] = f->first > 0.0 ? x / f->first - f->ratio * found[1] - f->tilt_ratio * found[2] : 0.0;
}

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

/* sign: 1 for a row of the class, -1 for another; c: its weight; n: as above. What would leave double's range is left out. */
ONLINECLS_APART void onlinecls_calibrate(onlinecls_calibration* pair, double score, double sign, double c, double n)
{
    onlinecls_calibration now = *pair;
    onlinecls_factors f;
    double along[3], tilt = onlinecls_tilt(&now, c, n), more, less, keep, w, share;
    const double large = onlinecls_large;
    if (!(fabs(score) <= 1e150 && fabs(tilt) <= 1e150 && c > 0.0 && c <= large))
        return;
    keep = now.seen / (now.seen + 3.0 * c); /* rows of weight 1 come to count as 1, 4, 10, 20 ... */
    now.seen += c;
    now.haa *= keep;
    now.hab *= keep;
    now.hbb *= keep;
    now.had *= keep;
    now.hbd *= keep;
    now.hdd *= keep;
    more = fmax(fmin(score * score, 1.0) - now.ridge, 0.0);
    less = fmax(fmin(tilt * tilt, 1.0) - now.tilt_ridge, 0.0);
    now.ridge += more;
    now.tilt_ridge += less;
    f = onlinecls_factorized(&now);
    if (more > 0.0 || less > 0.0) { /* what smaller scores said of a may be far from what larger ones will say: so much goes */
        onlinecls_solve(&f, more * (1.0 - now.a), 0.0, -less * now.d, along);
        now.a += along[0];
        now.b += along[1];
        now.d += along[2];
    }
    onlinecls_solve(&f, score, 1.0, tilt, along);
    w = c * (score * along[0] + along[1] + tilt * along[2]);
    share = sign * (now.a * score + now.b + now.d * tilt);
    if (!(w > 0.0 && w <= large && fabs(share) <= large))
        return;
    share = 1.0 / (1.0 + exp(onlinecls_pulled(share, w)));
    now.a += sign * c * share * along[0];
    now.b += sign * c * share * along[1];
    now.d += sign * c * share * along[2];
    share = c * share * (1.0 - share);
    now.haa += share * score * score;
    now.hab += share * score;
    now.hbb += share;
    now.had += share * score * tilt;
    now.hbd += share * tilt;
    now.hdd += share * tilt * tilt;
    if (fabs(now.a) <= large && fabs(now.b) <= large && fabs(now.d) <= large && now.haa <= large && fabs(now.hab) <= large
        && now.hbb <= large && fabs(now.had) <= large && fabs(now.hbd) <= large && now.hdd <= large && now.seen <= large)
        *pair = now;
}

#endif
