/* Cartesian products of sweep axes (contract: runfile_parts.h), counted like an odometer whose last wheel
 * turns fastest. */
#include "evalcore/runfile/runfile_parts.h"

#include <stdlib.h>
#include <string.h>

enum { AXES_MAX = 16 };

struct axis {
    const char *key;
    const json_t *values;
};

/* "8", "0.5", "name", "2+5+7": a value as labels write it. */
static void axis_value_text(struct str *out, const json_t *v)
{
    size_t i;
    const json_t *item;
    if (json_is_string(v)) {
        str_puts(out, json_string_value(v));
    } else if (json_is_array(v)) {
        json_array_foreach(v, i, item)
        {
            if (i)
                str_putc(out, '+');
            axis_value_text(out, item);
        }
    } else {
        json_canonical(out, v);
    }
}

static int is_axis(const char *key, const json_t *v, axis_takes_list_fn takes_list)
{
    if (!json_is_array(v))
        return 0;
    return !takes_list(key) || json_is_array(json_array_get(v, 0));
}

static int find_axes(struct axis *axes, int *n, size_t *points, const json_t *object,
                     axis_takes_list_fn takes_list, const char *where, struct err *e)
{
    const char *key;
    json_t *v;
    *n = 0;
    *points = 1;
    json_object_foreach((json_t *)object, key, v)
    {
        if (!is_axis(key, v, takes_list))
            continue;
        if (!json_array_size(v))
            return err_set(e, ERR_USAGE, "%s: %s is an empty list; give at least one value", where, key);
        if (*n == AXES_MAX)
            return err_set(e, ERR_USAGE, "%s: more than %d options are lists", where, AXES_MAX);
        axes[(*n)++] = (struct axis){key, v};
        *points *= json_array_size(v);
        if (*points > AXIS_POINTS_MAX)
            return err_set(e, ERR_USAGE, "%s: the lists multiply to more than %d cells", where,
                           AXIS_POINTS_MAX);
    }
    return 0;
}

int axes_expand(struct axis_points *out, const json_t *object, axis_takes_list_fn takes_list,
                const char *where, struct arena *a, struct err *e)
{
    struct axis axes[AXES_MAX];
    struct str swept = {0};
    size_t points;
    int n;
    int rc = find_axes(axes, &n, &points, object, takes_list, where, e);
    memset(out, 0, sizeof *out);
    if (rc)
        return rc;
    out->point = xcalloc(points, sizeof *out->point);
    out->n = points;
    for (size_t p = 0; p < points; p++) {
        json_t *o = json_copy((json_t *)object);
        size_t stride = points, left = p;
        str_clear(&swept);
        for (int i = 0; i < n; i++) {
            stride /= json_array_size(axes[i].values);
            json_t *v = json_array_get(axes[i].values, left / stride);
            left %= stride;
            json_object_set(o, axes[i].key, v);
            str_printf(&swept, "%s%s=", i ? " " : "", axes[i].key);
            axis_value_text(&swept, v);
        }
        out->point[p] = (struct axis_point){o, arena_strdup(a, str_text(&swept))};
    }
    str_release(&swept);
    return 0;
}

void axes_release(struct axis_points *p)
{
    for (size_t i = 0; i < p->n; i++)
        json_decref(p->point[i].object);
    free(p->point);
    memset(p, 0, sizeof *p);
}
