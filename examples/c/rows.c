/* Loops over the rows of a CSR matrix in plain C. The functions and the model come from onlinecls.api in Python (docs/c.md):
 *
 *     cc -O2 -shared -fPIC rows.c -o rows.so
 */
#include <stddef.h>
#include <stdint.h>

typedef int learn_row(void *model, const int32_t *indices, const float *data, ptrdiff_t nnz, double label, double weight);
typedef int score_row(void *model, const int32_t *indices, const float *data, ptrdiff_t nnz, double *scores);

/* Learns n rows, labels of classes by their numbers; returns how many were learnt before one was refused. */
ptrdiff_t learn_rows(learn_row *learn, void *model, const float *data, const int32_t *indices, const int32_t *indptr,
                     const double *labels, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        if (learn(model, indices + indptr[i], data + indptr[i], indptr[i + 1] - indptr[i], labels[i], 1.0) != 0)
            break;
    return i;
}

/* Writes the score of each row of a learner with one vector of weights; returns as learn_rows does. */
ptrdiff_t score_rows(score_row *score, void *model, const float *data, const int32_t *indices, const int32_t *indptr,
                     double *scores, ptrdiff_t n)
{
    ptrdiff_t i;
    for (i = 0; i < n; i++)
        if (score(model, indices + indptr[i], data + indptr[i], indptr[i + 1] - indptr[i], &scores[i]) != 0)
            break;
    return i;
}
