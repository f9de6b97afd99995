/* The CPU's device memory, weights in it, and the sentence of the last error.
 *
 * Blocks of 256 KiB and more get a mapping of their own: the operating system zeroes
 * them when they are first touched and refuses them when they cannot fit. They use huge pages where the
 * system allows it, because with small pages a pass over the weights of a small model spends its time looking
 * up pages. A 64-byte header before the block says what to give back. */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/cpu/cpu.h"
#include "kernels/cpu/simd.h"

int cpu_error(struct device *d, int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    vsnprintf(d->error, sizeof d->error, format, ap);
    va_end(ap);
    return code;
}

struct header {
    void *base;
    size_t mapped; /* 0: from the heap */
};

enum { HEADER_BYTES = 64 };
static const size_t map_from = (size_t)256 << 10, huge = (size_t)2 << 20;

void *cpu_alloc(size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t padded_bytes = (bytes + HEADER_BYTES + 63) / 64 * 64;
    struct header h = {NULL, 0};
    char *p;
    if (padded_bytes < map_from) {
        h.base = aligned_alloc(64, padded_bytes);
        if (!h.base)
            return NULL;
        memset(h.base, 0, padded_bytes);
        p = (char *)h.base + HEADER_BYTES;
    } else {
        padded_bytes = (padded_bytes + huge - 1) / huge * huge;
        h.mapped = padded_bytes + huge;
        h.base = mmap(NULL, h.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (h.base == MAP_FAILED)
            return NULL;
        uintptr_t start = ((uintptr_t)h.base + HEADER_BYTES + huge - 1) / huge * huge;
        madvise((void *)start, padded_bytes, MADV_HUGEPAGE);
        p = (char *)start;
    }
    memcpy(p - HEADER_BYTES, &h, sizeof h);
    return p;
}

void cpu_release(void *p)
{
    struct header h;
    if (!p)
        return;
    memcpy(&h, (char *)p - HEADER_BYTES, sizeof h);
    if (h.mapped)
        munmap(h.base, h.mapped);
    else
        free(h.base);
}

/* ---- weights */

/* Weights are stored in panels of 16 outputs, [n / 16][k][16], so that vector lanes are outputs and k runs in
 * sequence. Lanes of bf16 are stored in pairs (simd.h). The last panel is padded with zeros. */
int cpu_weight_alloc(struct device *d, struct weight *w, int n, int k, enum dtype dtype, int with_bias)
{
    memset(w, 0, sizeof *w);
    if (n < 1 || k < 1)
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "a weight of %d x %d is not possible", n, k);
    size_t padded = ((size_t)n + LANES - 1) / LANES * LANES;
    w->n = n;
    w->k = k;
    w->dtype = dtype;
    w->data = cpu_alloc(padded * (size_t)k * dtype_bytes(dtype));
    w->bias = with_bias ? cpu_alloc(padded * sizeof *w->bias) : NULL;
    if (!w->data || (with_bias && !w->bias)) {
        cpu_weight_release(d, w);
        return cpu_error(d, BACKEND_ERR_MEMORY, "no memory for a weight of %d x %d", n, k);
    }
    return 0;
}

void cpu_weight_release(struct device *d, struct weight *w)
{
    (void)d;
    cpu_release(w->data);
    cpu_release(w->bias);
    w->data = NULL;
    w->bias = NULL;
}

/* Value j of a row of bf16, which in a file may begin at any address. */
static uint16_t bf16_at(const void *src, int j)
{
    uint16_t x;
    memcpy(&x, (const char *)src + (size_t)j * sizeof x, sizeof x);
    return x;
}

static float f32_at(const void *src, int j)
{
    float x;
    memcpy(&x, (const char *)src + (size_t)j * sizeof x, sizeof x);
    return x;
}

static void put_row(struct weight *w, int row, enum dtype from, const void *src)
{
    size_t base = (size_t)(row / LANES) * (size_t)w->k * LANES;
    int lane = row % LANES;
    if (w->dtype == DTYPE_BF16) {
        uint16_t *to = (uint16_t *)w->data + base + bf16_place(lane);
        for (int j = 0; j < w->k; j++)
            to[(size_t)j * LANES] = bf16_at(src, j);
        return;
    }
    float *to = (float *)w->data + base + lane;
    for (int j = 0; j < w->k; j++)
        to[(size_t)j * LANES] = from == DTYPE_BF16 ? bf16_to_f32(bf16_at(src, j)) : f32_at(src, j);
}

int cpu_weight_put(struct device *d, struct weight *w, int row0, int n_rows, enum dtype src_dtype,
                   const void *src)
{
    if (row0 < 0 || n_rows < 0 || row0 > w->n - n_rows)
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "rows %d to %d are outside a weight of %d", row0,
                         row0 + n_rows, w->n);
    if (w->dtype == DTYPE_BF16 && src_dtype == DTYPE_F32)
        return cpu_error(d, BACKEND_ERR_UNSUPPORTED, "fp32 values do not fit into a bf16 weight exactly");
    size_t row_bytes = (size_t)w->k * dtype_bytes(src_dtype);
    int last = (row0 + n_rows + LANES - 1) / LANES;
#pragma omp parallel for num_threads(d->threads) schedule(dynamic, 1)
    for (int p = row0 / LANES; p < last; p++)
        for (int row = p * LANES; row < (p + 1) * LANES; row++)
            if (row >= row0 && row < row0 + n_rows)
                put_row(w, row, src_dtype, (const char *)src + (size_t)(row - row0) * row_bytes);
    return 0;
}
