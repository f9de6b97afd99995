/* Stands in for cuBLASLt (kernels/cuda/linear/gemm.cuh): plain sums, which the stream computes itself. */
#include <cstdio>
#include <vector>

#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/linear/gemm.cuh"

int gemm_open(struct device *)
{
    return 0;
}

void gemm_close(struct device *)
{
}

void gemm_version(struct device *, char *text, size_t size)
{
    snprintf(text, size, "plain");
}

static void widen_value(std::vector<float> *to, const void *p, enum dtype dtype, size_t from)
{
    for (size_t i = 0; i < to->size(); i++)
        (*to)[i] = get_as(p, dtype, from + i);
}

/* Eight sums side by side, in the same order for every row. */
static float dot_rows(const std::vector<float> &a, const float *b)
{
    float sum[8] = {}, all = 0;
    for (size_t i = 0; i < a.size(); i += 8)
        for (size_t j = 0; j < 8; j++)
            sum[j] += a[i + j] * b[i + j];
    for (float s : sum)
        all += s;
    return all;
}

static void multiply_rows(const struct product &p)
{
    size_t k = (size_t)p.k;
    std::vector<float> x((size_t)p.rows * k), row(k);
    for (int r = 0; r < p.rows; r++) {
        widen_value(&row, p.x, p.dtype, (size_t)r * (size_t)p.x_stride);
        memcpy(&x[(size_t)r * k], row.data(), k * sizeof(float));
    }
    for (int n = 0; n < p.n; n++) {
        widen_value(&row, p.w, p.dtype, (size_t)n * k);
        for (int r = 0; r < p.rows; r++) {
            float *out = p.out + (size_t)r * (size_t)p.out_stride + n;
            float sum = dot_rows(row, &x[(size_t)r * k]) + (p.bias ? p.bias[n] : 0.0f);
            *out = p.accumulate ? *out + sum : sum;
        }
    }
}

int gemm_run(struct device *d, const struct product *p)
{
    struct product product = *p;
    emulated_act(d->stream, [=] { multiply_rows(product); });
    d->pdl = OP_COUNT;
    return 0;
}

/* There is no library to compare with. */
double gemm_fastest(struct device *, const struct weight *, int, int, int, int)
{
    return 0;
}
