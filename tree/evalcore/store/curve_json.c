/* Curves of reads as JSON (contract: curve_json.h). Adding a count of struct kv_point: a row here. */
#include "evalcore/store/curve_json.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

static const struct {
    const char *name;
    size_t offset; /* where the int64_t lies in struct kv_point */
} counts[] = {
    {"reads", offsetof(struct kv_point, reads)},
    {"live", offsetof(struct kv_point, live)},
    {"peak", offsetof(struct kv_point, peak)},
};
enum { N_COUNTS = sizeof counts / sizeof *counts };

static int64_t *count_of(struct kv_point *p, int k)
{
    return (int64_t *)(void *)((char *)p + counts[k].offset);
}

json_t *curve_json(const struct kv_curve *c)
{
    if (!c->every)
        return NULL;
    json_t *o = json_pack("{s:i, s:i, s:i}", "every", c->every, "layers", c->layers, "heads", c->heads);
    for (int k = 0; k < N_COUNTS; k++) {
        json_t *list = json_array();
        for (int i = 0; i < c->n; i++)
            json_array_append_new(list, json_integer(*count_of(&c->point[i], k)));
        json_object_set_new(o, counts[k].name, list);
    }
    json_t *aux = json_array();
    for (int i = 0; i < c->n; i++)
        json_array_append_new(aux, json_real(c->point[i].aux));
    json_object_set_new(o, "aux", aux);
    if (!c->by_head)
        return o;
    json_t *list = json_array();
    for (int h = 0; h < c->heads; h++)
        json_array_append_new(list, json_integer(c->by_head[h]));
    json_object_set_new(o, "by_head", list);
    return o;
}

/* A number of tokens, not negative. */
static int read_tokens(const json_t *v, int64_t *out)
{
    *out = json_integer_value(v);
    return json_is_integer(v) && *out >= 0;
}

static int read_points(const json_t *o, struct kv_curve *c)
{
    const json_t *aux = json_object_get(o, "aux");
    if (!json_is_array(aux) || json_array_size(aux) != (size_t)c->n)
        return 0;
    for (int i = 0; i < c->n; i++) {
        const json_t *v = json_array_get(aux, (size_t)i);
        c->point[i].aux = json_number_value(v);
        if (!json_is_number(v) || !(c->point[i].aux >= 0))
            return 0;
    }
    for (int k = 0; k < N_COUNTS; k++) {
        const json_t *list = json_object_get(o, counts[k].name);
        if (!json_is_array(list) || json_array_size(list) != (size_t)c->n)
            return 0;
        for (int i = 0; i < c->n; i++)
            if (!read_tokens(json_array_get(list, (size_t)i), count_of(&c->point[i], k)))
                return 0;
    }
    return 1;
}

static int read_heads(const json_t *list, struct kv_curve *c)
{
    if (!list)
        return 1;
    if (!json_is_array(list) || json_array_size(list) != (size_t)c->heads)
        return 0;
    c->by_head = xmalloc((size_t)c->heads * sizeof *c->by_head);
    for (int h = 0; h < c->heads; h++) {
        int64_t n;
        if (!read_tokens(json_array_get(list, (size_t)h), &n) || n > INT32_MAX)
            return 0;
        c->by_head[h] = (int32_t)n;
    }
    return 1;
}

/* A whole number from 1 on. */
static int read_size(const json_t *o, const char *name, int *out)
{
    const json_t *v = json_object_get(o, name);
    json_int_t n = json_integer_value(v);
    *out = n < 1 || n > INT_MAX ? 0 : (int)n;
    return json_is_integer(v) && *out;
}

int curve_json_read(const json_t *o, struct kv_curve *out)
{
    size_t n = json_array_size(json_object_get(o, counts[0].name));
    memset(out, 0, sizeof *out);
    struct kv_curve c = {.n = (int)n};
    if (n > INT_MAX || !read_size(o, "every", &c.every) || !read_size(o, "layers", &c.layers) ||
        !read_size(o, "heads", &c.heads) || c.heads % c.layers)
        return 0;
    c.point = xcalloc(n + 1, sizeof *c.point);
    if (read_points(o, &c) && read_heads(json_object_get(o, "by_head"), &c)) {
        *out = c;
        return 1;
    }
    curve_json_release(&c);
    return 0;
}

void curve_json_release(struct kv_curve *c)
{
    free(c->point);
    free(c->by_head);
    memset(c, 0, sizeof *c);
}
