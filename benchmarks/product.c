/* X @ W for CSR rows of floats, with the rows of W fetched ahead, as the learners fetch theirs: scipy's product does not, so
   that its time depends on what the neighbours of a virtual machine leave of the shared cache. peers.py compiles and races it. */
#include <stdint.h>

#define AHEAD 80 /* non-zeros */

static void product_of_one(int64_t n_rows, const int32_t *indptr, const int32_t *indices, const float *data, const float *w, float *out)
{
    const int64_t nnz = indptr[n_rows];
    for (int64_t row = 0; row < n_rows; row++) {
        float sum = 0.0f;
        for (int64_t i = indptr[row]; i < indptr[row + 1]; i++) {
            __builtin_prefetch(w + indices[i + AHEAD < nnz ? i + AHEAD : nnz - 1]);
            sum += data[i] * w[indices[i]];
        }
        out[row] = sum;
    }
}

void product(int64_t n_rows, int64_t n_columns, const int32_t *indptr, const int32_t *indices, const float *data, const float *W,
             float *out)
{
    const int64_t nnz = indptr[n_rows];
    if (n_columns == 1) {
        product_of_one(n_rows, indptr, indices, data, W, out);
        return;
    }
    for (int64_t row = 0; row < n_rows; row++) {
        float *sums = out + row * n_columns;
        for (int64_t c = 0; c < n_columns; c++)
            sums[c] = 0.0f;
        for (int64_t i = indptr[row]; i < indptr[row + 1]; i++) {
            const float *ahead = W + n_columns * indices[i + AHEAD < nnz ? i + AHEAD : nnz - 1];
            const float *w = W + n_columns * indices[i];
            for (int64_t c = 0; c < n_columns; c += 16)
                __builtin_prefetch(ahead + c);
            for (int64_t c = 0; c < n_columns; c++)
                sums[c] += data[i] * w[c];
        }
    }
}
