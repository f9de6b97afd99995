/* Random weights of a given shape, for measuring speed without the files of a model. Values are uniform, with
 * a spread that keeps activations near 1. Each is a function of its matrix, row and column. */
#include "engine/model/model_random.h"

#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

enum { ROWS_AT_ONCE = 4096 };

static uint16_t to_bf16(float x)
{
    union {
        float f;
        uint32_t u;
    } v = {x};
    return (uint16_t)((v.u + 0x7fff + (v.u >> 16 & 1)) >> 16);
}

/* Each value takes sixteen random bits, which give a number from -1 to 1, and is that times the spread. */
static void fill_row(uint16_t *to, int k, uint64_t key, float spread)
{
    for (int j = 0; j < k; j += 4) {
        uint64_t bits = hash_mix64(key + (uint64_t)j);
        for (int i = 0; i < 4 && j + i < k; i++)
            to[j + i] = to_bf16(((float)(bits >> 16 * i & 0xffff) / 32767.5f - 1) * spread);
    }
}

int model_random_matrix(const struct backend *be, struct device *dev, struct weight *w, int n, int k,
                        uint64_t key, int with_bias)
{
    const float spread = sqrtf(3.0f / (float)k);
    size_t rows = (size_t)(n < ROWS_AT_ONCE ? n : ROWS_AT_ONCE);
    uint16_t *host = xmalloc(rows * (size_t)k * sizeof *host);
    int rc = be->weight_alloc(dev, w, n, k, DTYPE_BF16, with_bias);
    for (int r0 = 0; r0 < n && rc >= 0; r0 += ROWS_AT_ONCE) {
        int m = n - r0 < ROWS_AT_ONCE ? n - r0 : ROWS_AT_ONCE;
#pragma omp parallel for
        for (int r = 0; r < m; r++)
            fill_row(host + (size_t)r * (size_t)k, k, hash_mix64(key) + hash_mix64((uint64_t)(r0 + r)),
                     spread);
        rc = be->weight_put(dev, w, r0, m, DTYPE_BF16, host);
    }
    free(host);
    return rc;
}

float *model_random_ones(const struct backend *be, struct device *dev, int n)
{
    float *host = xmalloc((size_t)n * sizeof *host), *p = be->alloc(dev, (size_t)n * sizeof *host);
    for (int i = 0; i < n; i++)
        host[i] = 1;
    if (p && be->upload(dev, p, host, (size_t)n * sizeof *host) < 0) {
        be->release(dev, p);
        p = NULL;
    }
    free(host);
    return p;
}
