/* Loads matrices and vectors into the layouts of the backend. Every shape is checked against the
 * configuration. */
#include "engine/model/model_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/hash.h"

/* ---- random weights of a given shape, for measuring speed without the files of a model. Values are uniform,
 * with a spread that keeps activations near 1. Each is a function of its matrix, row and column. */

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

/* An (n, k) matrix whose values follow from `key`. 0 or a negative backend code. */
static int fill_matrix(const struct backend *be, struct device *dev, struct weight *w, int n, int k,
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

/* ---- tensors of files */

int load_device_error(struct loader *l, const char *name)
{
    return err_set(l->e, ERR_DEVICE, "loading %s: %s", name, l->m->be->last_error(l->m->dev));
}

static const struct st_tensor *need_tensor(struct loader *l, const char *name, int n_dims, int64_t a,
                                           int64_t b)
{
    int64_t shape[2] = {a, b};
    const struct st_tensor *t = NULL;
    return safetensors_need(l->st, name, n_dims, shape, &t, l->e) ? NULL : t;
}

/* Rows of `bytes` each, in the order that the channels of a head of q and k have here. */
static void order_rows(const struct loader *l, void *rows, int n, size_t bytes)
{
    int d = l->m->config.head_dim;
    char *head = rows, *copy = xmalloc((size_t)d * bytes);
    for (int from = 0; from < n; from += d, head += (size_t)d * bytes) {
        memcpy(copy, head, (size_t)d * bytes);
        for (int i = 0; i < d; i++)
            memcpy(head + (size_t)l->order[i] * bytes, copy + (size_t)i * bytes, bytes);
    }
    free(copy);
}

static int send_vector(struct loader *l, const char *name, const float *host, int n, float **out)
{
    size_t bytes = (size_t)n * sizeof *host;
    *out = l->m->be->alloc(l->m->dev, bytes);
    if (!*out || (!l->only_headers && l->m->be->upload(l->m->dev, *out, host, bytes) < 0))
        return load_device_error(l, name);
    return 0;
}

int load_vector(struct loader *l, const char *name, int n, int is_gain, int is_rotated, float **out)
{
    const struct st_tensor *t = l->st ? need_tensor(l, name, 1, n, 0) : NULL;
    float *host = xcalloc((size_t)n, sizeof *host);
    l->m->bytes += (size_t)n * sizeof **out;
    int rc = l->st && !t ? l->e->code : 0;
    if (!rc && t && !l->only_headers)
        rc = st_to_f32(t, host, (size_t)n, l->e);
    for (int i = 0; i < n && is_gain; i++)
        host[i] = !l->st ? 1 : l->m->config.gain_plus_one ? 1 + host[i] : host[i];
    if (is_rotated && l->is_ordered)
        order_rows(l, host, n, sizeof *host);
    if (!rc)
        rc = send_vector(l, name, host, n, out);
    free(host);
    return rc;
}

/* The rows of t that the part has. */
static struct st_tensor part_of(const struct st_tensor *t, const struct part *part)
{
    struct st_tensor out = *t;
    if (part->all) {
        size_t row = t->bytes / (size_t)part->all;
        out.shape[0] = part->rows;
        out.data += (size_t)part->from * row;
        out.bytes = (size_t)part->rows * row;
    }
    return out;
}

/* Copies one tensor into rows of a fused matrix. bf16 stays bf16; fp16 and fp32 become fp32, which is exact.
 */
static int put_rows(struct loader *l, struct weight *w, int row0, const struct part *part,
                    const struct st_tensor *t)
{
    enum dtype src = t->dtype != ST_BF16 || w->dtype == DTYPE_F32 ? DTYPE_F32 : DTYPE_BF16;
    const void *data = t->data;
    size_t count = (size_t)part->rows * (size_t)w->k, row = (size_t)w->k * dtype_bytes(src);
    int is_ordered = part->is_rotated && l->is_ordered, rc = 0;
    void *copy = src == DTYPE_F32 || is_ordered ? xmalloc(count * dtype_bytes(src)) : NULL;
    if (src == DTYPE_F32)
        rc = st_to_f32(t, copy, count, l->e);
    else if (copy)
        memcpy(copy, t->data, t->bytes);
    if (is_ordered && !rc)
        order_rows(l, copy, part->rows, row);
    if (!rc && l->m->be->weight_put(l->m->dev, w, row0, part->rows, src, copy ? copy : data) < 0)
        rc = load_device_error(l, t->name);
    free(copy);
    return rc;
}

static int random_matrix(struct loader *l, struct weight *w, const struct part *parts, int n_parts, int k,
                         int with_bias)
{
    int n = 0;
    for (int i = 0; i < n_parts; i++)
        n += parts[i].rows;
    l->m->bytes += (size_t)n * (size_t)k * 2;
    if (l->only_headers)
        return l->m->be->weight_alloc(l->m->dev, w, n, k, DTYPE_BF16, with_bias) < 0
                   ? load_device_error(l, parts[0].name)
                   : 0;
    uint64_t key = hash_bytes64(parts[0].name, strlen(parts[0].name));
    return fill_matrix(l->m->be, l->m->dev, w, n, k, key, with_bias) < 0 ? load_device_error(l, parts[0].name)
                                                                         : 0;
}

/* The tensors of a matrix's part, their shapes checked. */
static int find_part(struct loader *l, const struct part *part, int k, int with_bias,
                     struct st_tensor *weight, struct st_tensor *bias)
{
    char name[160];
    int rows = part->all ? part->all : part->rows;
    snprintf(name, sizeof name, "%s.weight", part->name);
    const struct st_tensor *t = need_tensor(l, name, 2, rows, k);
    if (!t)
        return l->e->code;
    *weight = part_of(t, part);
    if (!with_bias)
        return 0;
    snprintf(name, sizeof name, "%s.bias", part->name);
    if (!(t = need_tensor(l, name, 1, rows, 0)))
        return l->e->code;
    *bias = part_of(t, part);
    return 0;
}

int load_matrix(struct loader *l, struct weight *w, const struct part *parts, int n_parts, int k,
                int with_bias)
{
    int n = 0, rc = 0;
    enum dtype dtype = DTYPE_BF16;
    struct st_tensor t[3], b[3];
    if (!l->st)
        return random_matrix(l, w, parts, n_parts, k, with_bias);
    for (int i = 0; i < n_parts; i++) {
        if (find_part(l, &parts[i], k, with_bias, &t[i], &b[i]))
            return l->e->code;
        if (t[i].dtype != ST_BF16)
            dtype = DTYPE_F32;
        n += parts[i].rows;
    }
    if (l->m->be->weight_alloc(l->m->dev, w, n, k, dtype, with_bias) < 0)
        return load_device_error(l, parts[0].name);
    l->m->bytes += (size_t)n * (size_t)k * (dtype == DTYPE_BF16 ? 2 : 4);
    if (l->only_headers)
        return 0;
    float *bias = with_bias ? xcalloc((size_t)n, sizeof *bias) : NULL;
    for (int i = 0, row = 0; i < n_parts && !rc; row += parts[i++].rows) {
        rc = put_rows(l, w, row, &parts[i], &t[i]);
        if (!rc && with_bias)
            rc = st_to_f32(&b[i], bias + row, (size_t)parts[i].rows, l->e);
        if (!rc && with_bias && parts[i].is_rotated && l->is_ordered)
            order_rows(l, bias + row, parts[i].rows, sizeof *bias);
    }
    if (!rc && with_bias && l->m->be->upload(l->m->dev, w->bias, bias, (size_t)n * sizeof *bias) < 0)
        rc = load_device_error(l, parts[0].name);
    free(bias);
    return rc;
}
