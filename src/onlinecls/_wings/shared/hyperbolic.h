/* Functions of many numbers at once for the simplex. simplex.h includes this file twice: with `real` as float and as double.
   n is a multiple of 8 (`round_up` in simplex.pxd). Plain loops that compilers vectorise; no fused operation and no sum whose
   order is the compiler's. Both versions of ONLINECLS_CLONED, for machines with AVX2 and without, so give the same bits. */

/* power[i] = e^(theta[i] - shift) */
static ONLINECLS_CLONED void OF(exp)(real* power, const real* theta, real shift, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        power[i] = theta[i] - shift;
    EXP(power, n);
}

/* power[i] = e^-shift sinh theta[i], root = e^-shift: near 0, where a difference of exponentials cancels, by the series */
static ONLINECLS_CLONED void OF(sinh)(real* power, const real* theta, real shift, real root, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        power[i] = FABS(theta[i]) - shift;
    EXP(power, n);
    for (i = 0; i < n; i++) {
        real x = theta[i], square = x * x;
        real series = (real)1 / 5040 + square * ((real)1 / 362880);
        real far = COPYSIGN((real)0.5 * (power[i] - root * (root / power[i])), x);
        series = (real)1 / 6 + square * ((real)1 / 120 + square * series);
        series = root * (x + x * (square * series));
        power[i] = square < (real)NEAR * (real)NEAR ? series : far;
    }
}

/* e^-K sinh theta to e^-K cosh theta, root = e^-K */
static ONLINECLS_CLONED void OF(cosh)(real* sinh, real root, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        sinh[i] = SQRT(sinh[i] * sinh[i] + root * root);
}

/* max |theta[i]| */
static ONLINECLS_CLONED real OF(largest)(const real* theta, ptrdiff_t n)
{
    real most[8] = {0};
    ptrdiff_t i, l;
    for (i = 0; i < n; i += 8)
        for (l = 0; l < 8; l++)
            most[l] = FABS(theta[i + l]) > most[l] ? FABS(theta[i + l]) : most[l];
    for (l = 1; l < 8; l++)
        most[0] = most[l] > most[0] ? most[l] : most[0];
    return most[0];
}

/* up[i] = e^(theta - K) / 2 and down[i] = e^(-theta - K) / 2 from e^-K sinh theta, each to a double's last digits */
static ONLINECLS_CLONED void OF(masses)(const real* sinh, double* up, double* down, double root, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double size = fabs((double)sinh[i]), mass, rest;
        mass = 0.5 * (sqrt(size * size + root * root) + size);
        rest = 0.25 * root * root / mass;
        up[i] = sinh[i] > 0 ? mass : rest;
        down[i] = sinh[i] > 0 ? rest : mass;
    }
}

/* The sum of after - before in lanes of two doubles each: sum[0 .. LANES), and what was rounded away in sum[LANES .. 2 LANES) */
static ONLINECLS_CLONED void OF(changes)(const real* before, const real* after, ptrdiff_t n, double* sum)
{
    double high[ONLINECLS_LANES] = {0}, low[ONLINECLS_LANES] = {0};
    ptrdiff_t i, l;
    for (i = 0; i < n; i += ONLINECLS_LANES)
        for (l = 0; l < ONLINECLS_LANES; l++) {
            double a = after[i + l], b = before[i + l], change = a - b, part = change - a, total = high[l] + change;
            low[l] += (a - (change - part)) - (b + part);
            part = total - high[l];
            low[l] += (high[l] - (total - part)) + (change - part);
            high[l] = total;
        }
    for (l = 0; l < ONLINECLS_LANES; l++) {
        sum[l] = high[l];
        sum[ONLINECLS_LANES + l] = low[l];
    }
}
