/* The loops of a pass over CSR rows of floats in plain C: what they must do and nothing else. Rows have weight 1 and come in
   their order, there is no average and no observer, and the rule and the number of classes are constants. They leave the
   library's bits, which studies/instructions.py makes sure of before it counts the instructions of both. */
#include <stdint.h>

#include "_compiled/lanes.h" /* the library's own lanes of several numbers, and its prefetch */

typedef struct { int64_t n, *indptr; int32_t *indices; float *data; int32_t *labels; } rows;
typedef struct { double bias, C, r, variance, floor, limit, tiny; } params;
typedef struct { double rounds, mistakes, updates, skipped, seen, loss, max_abs_weight; } counters;
enum rule { PERCEPTRON, PA1, AROW };
enum { K = 20 }; /* classes, one against the rest */

/* How far ahead of the non-zeros of a row those are whose weights are fetched. */
ONLINECLS_INLINE int64_t distance(int64_t lo, int64_t hi, int64_t nnz)
{
    const int64_t length = hi - lo, ahead = length < 80 ? 80 : length > 128 ? 128 : length;
    return hi + ahead > nnz ? 0 : ahead;
}

/* Whether a step leaves the model in the range of its type; along : ||x||², or σ x'Σx of a step along Σx. */
ONLINECLS_INLINE int fits(double tau, double beta, double v, double along, counters *c, const params *p)
{
    const double most = c->max_abs_weight + fabs(tau) * sqrt(along);
    if (most * (p->bias > 1 ? p->bias : 1) <= p->limit && beta <= p->limit && beta * v <= p->limit && p->tiny <= fabs(tau)
        && fabs(tau) <= p->limit && v <= p->limit && sqrt(p->variance * v) <= p->limit)
        return c->max_abs_weight = most, 1;
    return c->skipped += 1, 0;
}

ONLINECLS_INLINE void add_loss(double loss, counters *c)
{
    loss = positive_part(loss);
    c->loss += loss < 1e290 ? loss : 0;
}

/* One vector: w of each column, or (w, σ); the constant feature is the last. */
ONLINECLS_INLINE void learn(enum rule rule, const rows *X, float *w, float *constant, double *counts, counters *total,
                            const params *given)
{
    const params copy = *given, *p = &copy;
    counters own = *total, *c = &own;
    for (int64_t i = 0, nnz = X->indptr[X->n]; i < X->n; i++) {
        const int64_t lo = X->indptr[i], hi = X->indptr[i + 1], ahead = distance(lo, hi, nnz), label = X->labels[i];
        const float *x = X->data;
        const int32_t *at = X->indices;
        double score = 0, q = 0, v = 0, tau = 0, beta = 0;
        int64_t k;
        c->rounds += 1;
        c->seen += (counts[label] += 1) == 1;
        if (rule == AROW) {
            onlinecls_double2 sums = double2_of(0, 0);
            for (k = lo; k < hi; k++) {
                onlinecls_prefetch(w + 2 * (int64_t)at[k + ahead]);
                sums = double2_add(sums, double2_mul(double2_powers(x[k]), double2_of_floats(w + 2 * (int64_t)at[k])));
            }
            sums = double2_add(sums, double2_mul(double2_powers(p->bias), double2_of_floats(constant)));
            score = double2_first(sums), v = double2_second(sums);
        } else {
            for (k = lo; k < hi; k++) {
                const double xk = x[k];
                onlinecls_prefetch(w + at[k + ahead]);
                score += xk * w[at[k]], q += xk * xk;
            }
            score += p->bias * *constant, q += p->bias * p->bias;
        }
        const double sign = 2.0 * label - 1.0, margin = sign * score, loss = (rule != PERCEPTRON) - margin;
        c->mistakes += ((score > 0) > label) + ((score > 0) < label);
        if (!isfinite(margin) || !isfinite(q + v)) {
            c->skipped += 1;
            continue;
        }
        if (!(q > 0 || v > 0))
            continue;
        add_loss(loss, c);
        if (rule == PERCEPTRON && loss >= 0)
            tau = 1;
        else if (rule == PA1 && loss > 0)
            tau = p->C < loss / q ? p->C : loss / q;
        else if (rule == AROW && loss > 0)
            tau = loss / (v + p->r), beta = 1 / p->r;
        if (tau == 0 || !fits(tau, beta, v, rule == AROW ? p->variance * v : q, c, p))
            continue;
        const float step = sign * tau, narrowing = beta, least = p->floor, bias = p->bias;
        if (rule == AROW) {
            for (k = lo; k + 4 <= hi; k += 4) {
                float *places[4];
                for (int j = 0; j < 4; j++)
                    places[j] = w + 2 * (int64_t)at[k + j];
                variances_floats(0, places, x + k, step, narrowing, least);
            }
            for (; k < hi; k++)
                narrow_of_float(0, x[k], step, narrowing, least, w + 2 * (int64_t)at[k], w + 2 * (int64_t)at[k] + 1);
            narrow_of_float(0, bias, step, narrowing, least, constant, constant + 1);
        } else {
            for (k = lo; k < hi; k++)
                w[at[k]] += step * x[k];
            *constant += step * bias;
        }
        c->updates += 1;
    }
    *total = own;
}

#define LEARN(name, rule) \
    void name(const rows *X, float *w, float *constant, double *counts, counters *total, const params *p) \
    { \
        learn(rule, X, w, constant, counts, total, p); \
    }
LEARN(perceptron, PERCEPTRON)
LEARN(pa1, PA1)
LEARN(arow, AROW)

/* AROW of K classes: the classes' w side by side, then their σ. */
void arow_classes(const rows *X, float *w, float *constant, double *counts, counters *total, const params *given)
{
    const params copy = *given, *p = &copy;
    counters own = *total, *c = &own;
    for (int64_t i = 0, nnz = X->indptr[X->n]; i < X->n; i++) {
        const int64_t lo = X->indptr[i], hi = X->indptr[i + 1], ahead = distance(lo, hi, nnz), label = X->labels[i];
        double numbers[2][K], margin[K];
        float taus[K] = {0}, betas[K] = {0};
        int n_open = 0, n_steps = 0, best = 0;
        c->rounds += 1;
        c->seen += (counts[label] += 1) == 1;
        for (int part = 0; part < 2; part++) { /* scores, then variances if a class needs them */
            onlinecls_double2 sums[K / 2];
            for (int j = 0; j < K / 2; j++)
                sums[j] = double2_of(0, 0);
            for (int64_t k = lo; k <= hi; k++) {
                const float *from = (k < hi ? w + 2 * K * (int64_t)X->indices[k] : constant) + part * K;
                const double x = k < hi ? X->data[k] : p->bias, factor = part ? x * x : x;
                for (int j = 0; part == 0 && j < 3; j++)
                    onlinecls_prefetch(w + 2 * K * (int64_t)X->indices[k + ahead < nnz ? k + ahead : nnz - 1] + 16 * j);
                for (int j = 0; j < K / 2; j++)
                    sums[j] = double2_add(sums[j], double2_mul(double2_of(factor, factor), double2_of_floats(from + 2 * j)));
            }
            memcpy(numbers[part], sums, sizeof sums);
            for (int j = 0; part == 0 && j < K; j++) {
                best = numbers[0][j] > numbers[0][best] ? j : best;
                margin[j] = j == label ? numbers[0][j] : -numbers[0][j];
                if (isfinite(margin[j]))
                    add_loss(1 - margin[j], c);
                n_open += margin[j] < 1;
            }
            if (n_open == 0)
                break;
        }
        c->mistakes += best != label;
        for (int j = 0; j < K && n_open; j++) {
            const double v = numbers[1][j], tau = (1 - margin[j]) / (v + p->r), beta = 1 / p->r;
            if (margin[j] < 1 && fits(tau, beta, v, p->variance * v, c, p))
                taus[j] = j == label ? tau : -tau, betas[j] = beta, n_steps++;
        }
        for (int64_t k = lo; k <= hi && n_steps; k++) {
            float *to = k < hi ? w + 2 * K * (int64_t)X->indices[k] : constant;
            gaussian_classes_floats(to, to + K, taus, betas, K, k < hi ? X->data[k] : p->bias, p->floor);
        }
        c->updates += n_steps > 0;
    }
    *total = own;
}
