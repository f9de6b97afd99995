/* The option table: checking and setting (contract: param.h). All values pass through set_json(): text is
 * first turned into the JSON value of the same meaning (param_text.c), so that there is one set of checks
 * and messages. */
#include "evalcore/base/param.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/param_text.h"

static void *field_of(const struct param *p, void *base)
{
    return (char *)base + p->offset;
}

static int is_text(const struct param *p)
{
    return p->type == PARAM_STRING || p->type == PARAM_FILE;
}

const struct param *param_find(const struct param *t, const char *name)
{
    for (; t && t->name; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

const char *param_nearest(const struct param *t, const char *name)
{
    size_t n = 0;
    while (t && t[n].name)
        n++;
    const char **names = xcalloc(n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = t[i].name;
    const char *best = str_nearest(name, names);
    free(names);
    return best;
}

static int unknown_key(const struct param *t, const char *key, const char *where, struct err *e)
{
    const char *near = param_nearest(t, key);
    if (near)
        return err_set(e, ERR_USAGE, "%s: unknown option \"%s\"; did you mean \"%s\"?", where, key, near);
    if (!t || !t->name)
        return err_set(e, ERR_USAGE, "%s: unknown option \"%s\"; it has no options", where, key);
    struct str names = {0};
    for (const struct param *p = t; p->name; p++)
        str_printf(&names, "%s%s", p == t ? "" : ", ", p->name);
    int rc = err_set(e, ERR_USAGE, "%s: unknown option \"%s\"; it has %s", where, key, names.data);
    str_release(&names);
    return rc;
}

/* "policy delta: k_pages must be WANT, not VALUE" where a long VALUE is cut. */
static int refuse_value(const struct param *p, const json_t *v, const char *want, const char *where,
                        struct err *e)
{
    enum { SHOWN = 60 };
    struct str text = {0};
    json_canonical(&text, v);
    int rc = err_set(e, ERR_USAGE, "%s: %s must be %s, not %.*s%s", where, p->name, want, SHOWN, text.data,
                     text.len > SHOWN ? "..." : "");
    str_release(&text);
    return rc;
}

static int has_bounds(const struct param *p)
{
    return p->min != 0 || p->max != 0;
}

/* Reads the number v and checks it against the option's bounds; `whole`: it must be an integer. */
static int param_number(const struct param *p, const json_t *v, int whole, double *out, const char *where,
                        struct err *e)
{
    char want[160];
    const char *kind = p->type == PARAM_INTS ? "a list of integers" : whole ? "an integer" : "a number";
    if (!json_is_number(v))
        return refuse_value(p, v, kind, where, e);
    double x = json_number_value(v);
    double min = has_bounds(p) ? p->min : -INFINITY, max = has_bounds(p) ? p->max : INFINITY;
    if (whole && x != floor(x))
        return refuse_value(p, v, kind, where, e);
    if (whole && fabs(x) > INT_MAX) {
        min = fmax(min, -INT_MAX);
        max = fmin(max, INT_MAX);
    }
    *out = x;
    if (x >= min && x <= max)
        return 0;
    struct str low = {0}, high = {0};
    json_number(&low, min);
    json_number(&high, max);
    if (isinf(max))
        snprintf(want, sizeof want, "%s of at least %s", kind, low.data);
    else
        snprintf(want, sizeof want, "%s between %s and %s", kind, low.data, high.data);
    /* "top_k": -1 is another program's word for all: the help says which number is ours. */
    const char *zero = x < min && min == 0 && p->help ? strstr(p->help, "; 0: ") : NULL;
    size_t used = strlen(want);
    if (zero)
        snprintf(want + used, sizeof want - used, " (%s)", zero + 2);
    str_release(&low);
    str_release(&high);
    return refuse_value(p, v, want, where, e);
}

static int set_enum(const struct param *p, int *field, const json_t *v, const char *where, struct err *e)
{
    struct str text = {0}, want = {0};
    int rc = 0;
    if (json_is_string(v))
        str_puts(&text, json_string_value(v));
    else
        json_canonical(&text, v);
    for (int i = 0; p->choices[i]; i++)
        if (strcmp(p->choices[i], text.data) == 0) {
            *field = i;
            goto out;
        }
    str_puts(&want, "one of ");
    for (int i = 0; p->choices[i]; i++)
        str_printf(&want, "%s%s", i ? ", " : "", p->choices[i]);
    rc = refuse_value(p, v, want.data, where, e);
out:
    str_release(&want);
    str_release(&text);
    return rc;
}

static int set_ints(const struct param *p, struct param_ints *field, const json_t *v, const char *where,
                    struct err *e)
{
    struct param_ints list = {0};
    if (!json_is_array(v))
        return refuse_value(p, v, "a list of integers", where, e);
    if (json_array_size(v) > PARAM_LIST_MAX)
        return err_set(e, ERR_USAGE, "%s: %s has %zu elements; at most %d are possible", where, p->name,
                       json_array_size(v), PARAM_LIST_MAX);
    for (size_t i = 0; i < json_array_size(v); i++) {
        double x = 0;
        int rc = param_number(p, json_array_get(v, i), 1, &x, where, e);
        if (rc)
            return rc;
        for (int k = 0; k < list.n; k++)
            if (list.v[k] == (int)x)
                return err_set(e, ERR_USAGE, "%s: %s lists %d twice; remove one of them", where, p->name,
                               list.v[k]);
        list.v[list.n++] = (int)x;
    }
    *field = list;
    return 0;
}

/* A layer number: digits only, below INT_MAX. -1 when it is none. */
static int map_key(const char *text)
{
    long long k = 0;
    size_t n = strlen(text);
    if (!n || n > 9 || text[strspn(text, "0123456789")])
        return -1;
    for (; *text; text++)
        k = 10 * k + (*text - '0');
    return (int)k;
}

static int set_map_row(const struct param *p, struct param_map *m, const char *key, const json_t *row,
                       const char *where, struct err *e)
{
    int layer = map_key(key), at = m->n;
    size_t n = json_array_size(row);
    if (layer < 0)
        return err_set(e, ERR_USAGE, "%s: %s has the key \"%s\", but its keys are layer numbers", where,
                       p->name, key);
    if (!json_is_array(row) || n < 1 || n > PARAM_MAP_HEADS)
        return err_set(e, ERR_USAGE, "%s: %s must give layer %d a list of 1 to %d head numbers", where,
                       p->name, layer, PARAM_MAP_HEADS);
    while (at > 0 && m->key[at - 1] > layer)
        at--;
    if (at > 0 && m->key[at - 1] == layer)
        return err_set(e, ERR_USAGE, "%s: %s names layer %d twice", where, p->name, layer);
    size_t after = (size_t)(m->n - at);
    memmove(m->key + at + 1, m->key + at, after * sizeof *m->key);
    memmove(m->count + at + 1, m->count + at, after * sizeof *m->count);
    memmove(m->v + at + 1, m->v + at, after * sizeof *m->v);
    m->n++;
    m->key[at] = layer;
    m->count[at] = (int)n;
    for (size_t i = 0; i < n; i++) {
        const json_t *head = json_array_get(row, i);
        json_int_t h = json_integer_value(head);
        if (!json_is_integer(head) || h < 0 || h >= PARAM_MAP_HEADS)
            return err_set(e, ERR_USAGE, "%s: %s must give layer %d head numbers from 0 to %d", where,
                           p->name, layer, PARAM_MAP_HEADS - 1);
        m->v[at][i] = (int)h;
    }
    return 0;
}

static int set_map(const struct param *p, struct param_map *field, const json_t *v, const char *where,
                   struct err *e)
{
    if (!json_is_object(v))
        return refuse_value(p, v, "an object of layer numbers, each with a list of head numbers", where, e);
    if (json_object_size(v) > PARAM_LIST_MAX)
        return err_set(e, ERR_USAGE, "%s: %s has %zu layers; at most %d are possible", where, p->name,
                       json_object_size(v), PARAM_LIST_MAX);
    struct param_map *m = xcalloc(1, sizeof *m);
    json_t *o = (json_t *)(uintptr_t)v; /* jansson's iterators want a mutable object; they do not change it */
    int rc = 0;
    for (void *it = json_object_iter(o); it && !rc; it = json_object_iter_next(o, it))
        rc = set_map_row(p, m, json_object_iter_key(it), json_object_iter_value(it), where, e);
    if (!rc)
        *field = *m;
    free(m);
    return rc;
}

static int set_string(const struct param *p, const char **field, struct arena *a, const json_t *v,
                      const char *where, struct err *e)
{
    if (!json_is_string(v) || strlen(json_string_value(v)) != json_string_length(v))
        return refuse_value(p, v, p->type == PARAM_FILE ? "a file name" : "a text", where, e);
    *field = arena_strdup(a, json_string_value(v));
    return 0;
}

static int set_json(const struct param *p, void *base, struct arena *a, const json_t *v, const char *where,
                    struct err *e)
{
    void *field = field_of(p, base);
    double x = 0;
    int rc = 0;
    switch (p->type) {
    case PARAM_INT:
        rc = param_number(p, v, 1, &x, where, e);
        if (!rc)
            *(int *)field = (int)x;
        break;
    case PARAM_DOUBLE:
        rc = param_number(p, v, 0, &x, where, e);
        if (!rc)
            *(double *)field = x;
        break;
    case PARAM_BOOL:
        if (!json_is_boolean(v))
            return refuse_value(p, v, "true or false", where, e);
        *(int *)field = json_is_true(v);
        break;
    case PARAM_STRING:
    case PARAM_FILE:
        return set_string(p, field, a, v, where, e);
    case PARAM_ENUM:
        return set_enum(p, field, v, where, e);
    case PARAM_INTS:
        return set_ints(p, field, v, where, e);
    case PARAM_MAP:
        return set_map(p, field, v, where, e);
    }
    return rc;
}

static void unset_param(const struct param *p, void *base)
{
    void *field = field_of(p, base);
    switch (p->type) {
    case PARAM_INT:
        *(int *)field = PARAM_UNSET_INT;
        break;
    case PARAM_BOOL:
    case PARAM_ENUM:
        *(int *)field = -1;
        break;
    case PARAM_DOUBLE:
        *(double *)field = NAN;
        break;
    case PARAM_STRING:
    case PARAM_FILE:
        *(const char **)field = NULL;
        break;
    case PARAM_INTS:
        memset(field, 0, sizeof(struct param_ints));
        ((struct param_ints *)field)->n = -1;
        break;
    case PARAM_MAP:
        memset(field, 0, sizeof(struct param_map));
        break;
    }
}

void param_copy(const struct param *t, void *to, const void *from, size_t size, struct arena *a)
{
    memcpy(to, from, size);
    for (const struct param *p = t; p && p->name; p++)
        if (is_text(p)) {
            const char **s = field_of(p, to);
            *s = *s ? arena_strdup(a, *s) : NULL;
        }
}

void param_defaults(const struct param *t, void *base)
{
    for (const struct param *p = t; p && p->name; p++) {
        unset_param(p, base);
        if (is_text(p)) {
            *(const char **)field_of(p, base) = p->def;
        } else if (p->def) {
            struct err e = {0};
            json_t *v = param_text_to_json(p, p->def);
            if (set_json(p, base, NULL, v, "option table", &e)) {
                fprintf(stderr, "kveval: bad default in an %s\n", e.text);
                abort();
            }
            json_decref(v);
        }
    }
}

int param_set_json(const struct param *t, void *base, struct arena *a, const char *key, const json_t *v,
                   const char *where, struct err *e)
{
    const struct param *p = param_find(t, key);
    return p ? set_json(p, base, a, v, where, e) : unknown_key(t, key, where, e);
}

int param_set_text(const struct param *t, void *base, struct arena *a, const char *key, const char *text,
                   const char *where, struct err *e)
{
    const struct param *p = param_find(t, key);
    if (!p)
        return unknown_key(t, key, where, e);
    json_t *v = param_text_to_json(p, text);
    int rc = set_json(p, base, a, v, where, e);
    json_decref(v);
    return rc;
}

int param_set_pairs(const struct param *t, void *base, struct arena *a, const char *pairs, const char *where,
                    struct err *e)
{
    char *copy = xstrdup(pairs), *next = *copy ? copy : NULL;
    int rc = 0;
    while (next && !rc) {
        char *pair = next, *comma = strchr(pair, ',');
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = 0;
        char *equals = strchr(pair, '=');
        if (!equals || equals == pair) {
            rc = err_set(e, ERR_USAGE, "%s: \"%s\" is not of the form key=value; write %s", where, pair,
                         "key=value,key=value");
            break;
        }
        *equals = 0;
        rc = param_set_text(t, base, a, pair, equals + 1, where, e);
    }
    free(copy);
    return rc;
}
