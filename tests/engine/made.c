/* Small random models whose values follow from names (contract: made.h). */
#include "tests/engine/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/str.h"

void made_ids(int32_t *ids, int n, uint64_t seed, int vocab)
{
    uint64_t key = hash_mix64(seed);
    for (int i = 0; i < n; i++)
        ids[i] = (int32_t)((hash_mix64(key + (uint64_t)i) >> 33) % (uint64_t)vocab);
}

static float rounded_to_bf16(float x)
{
    union {
        float f;
        uint32_t u;
    } v = {x};
    v.u = (v.u + 0x7fff + (v.u >> 16 & 1)) & 0xffff0000;
    return v.f;
}

static float *make_values(const char *name, size_t n, float base, float spread)
{
    float *v = xmalloc(n * sizeof *v);
    uint64_t key = 0xcbf29ce484222325;
    for (; *name; name++)
        key = (key ^ (unsigned char)*name) * 0x100000001b3;
    for (size_t i = 0; i < n; i++) {
        float u = (float)(hash_mix64(key + i) >> 48) / 32767.5f - 1, noise = spread * u;
        v[i] = rounded_to_bf16(base + noise);
    }
    return v;
}

int made_numbers(const char **text, double *out, int max)
{
    int n = 0;
    while (n < max) {
        char *end;
        double v = strtod(*text, &end);
        if (end == *text)
            break;
        out[n++] = v;
        *text = end;
    }
    return n;
}

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void add_one(struct made_tensors *m, const char *name, int n_dims, const double *shape, float base,
                    float spread)
{
    if (m->n == MADE_TENSORS)
        die("too many tensors");
    struct st_new *t = &m->t[m->n++];
    size_t n = 1;
    *t = (struct st_new){.name = xstrdup(name), .n_dims = n_dims};
    for (int i = 0; i < n_dims; i++)
        n *= (size_t)(t->shape[i] = (int64_t)shape[i]);
    t->data = make_values(name, n, base, spread);
}

void made_add(struct made_tensors *m, const char *line, int n_layers)
{
    double v[4];
    char name[256];
    int n = made_numbers(&line, v, 4);
    if (n < 3 || *line != ' ')
        die("a tensor's line is BASE SPREAD SHAPE... NAME");
    const char *star = strchr(++line, '*');
    for (int layer = 0; layer < (star ? n_layers : 1); layer++) {
        if (star)
            snprintf(name, sizeof name, "%.*s%d%s", (int)(star - line), line, layer, star + 1);
        add_one(m, star ? name : line, n - 2, v + 2, (float)v[0], (float)v[1]);
    }
}

void made_write(const struct made_tensors *m, const char *path, const struct st_meta *meta)
{
    struct err e = {0};
    if (safetensors_write(path, m->t, (size_t)m->n, meta, &e))
        die(e.text);
}

void made_write_bf16(const struct made_tensors *m, const char *path)
{
    struct err e = {0};
    struct str head = {0}, data = {0};
    uint64_t length;
    str_puts(&head, "{");
    for (int i = 0; i < m->n; i++) {
        const struct st_new *t = &m->t[i];
        size_t n = 1, at = data.len;
        str_printf(&head, "%s\"%s\":{\"dtype\":\"BF16\",\"shape\":[", i ? "," : "", t->name);
        for (int k = 0; k < t->n_dims; n *= (size_t)t->shape[k++])
            str_printf(&head, "%s%lld", k ? "," : "", (long long)t->shape[k]);
        for (size_t k = 0; k < n; k++)
            str_add(&data, (const char *)&t->data[k] + 2, 2); /* the upper half; the lower one is 0 */
        str_printf(&head, "],\"data_offsets\":[%zu,%zu]}", at, data.len);
    }
    str_puts(&head, "}");
    length = head.len;
    struct str out = {0};
    str_add(&out, (const char *)&length, sizeof length);
    str_add(&out, head.data, head.len);
    str_add(&out, data.data, data.len);
    if (file_write_atomic(path, out.data, out.len, &e))
        die(e.text);
    str_release(&head);
    str_release(&data);
    str_release(&out);
}

void made_release(struct made_tensors *m)
{
    for (int i = 0; i < m->n; i++) {
        free((char *)m->t[i].name);
        free((float *)m->t[i].data);
    }
    m->n = 0;
}
