/* The option table: values as text and as JSON, and help (contract: param.h). */
#include "evalcore/base/param_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const void *field_of(const struct param *p, const void *base)
{
    return (const char *)base + p->offset;
}

static json_t *number_of(const char *text)
{
    char *end;
    errno = 0;
    long long i = strtoll(text, &end, 10);
    if (*text && text[strspn(text, "+-0123456789")] == 0 && !*end && !errno)
        return json_integer(i);
    double x = strtod(text, &end);
    if (*text && text[strspn(text, "+-.0123456789eE")] == 0 && !*end && isfinite(x))
        return json_real(x);
    return NULL;
}

/* Cuts the part before the next '+' off a text and returns it; *next moves behind the '+', or becomes NULL.
 */
static char *cut_part(char **next)
{
    char *part = *next, *plus = strchr(part, '+');
    *next = plus ? plus + 1 : NULL;
    if (plus)
        *plus = 0;
    return part;
}

static json_t *ints_of(char *text)
{
    json_t *list = json_array();
    if (strcmp(text, "none") == 0 || !*text)
        return list;
    for (char *next = text; next;) {
        json_t *v = number_of(cut_part(&next));
        if (!v) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, v);
    }
    return list;
}

/* "11" is heads 1 and 1, "1.12" heads 1 and 12. */
static json_t *heads_of(const char *text)
{
    json_t *list = json_array();
    int has_points = strchr(text, '.') != NULL;
    while (*text) {
        size_t n = has_points ? strcspn(text, ".") : 1;
        char head[4] = {0};
        if (n < 1 || n > 2 || strspn(text, "0123456789") < n) {
            json_decref(list);
            return NULL;
        }
        memcpy(head, text, n);
        json_array_append_new(list, json_integer(strtol(head, NULL, 10)));
        text += n + (text[n] == '.');
    }
    return list;
}

static json_t *map_of(char *text)
{
    json_t *map = json_object();
    if (strcmp(text, "none") == 0 || !*text)
        return map;
    for (char *next = text; next;) {
        char *row = cut_part(&next);
        char *colon = strchr(row, ':');
        if (colon)
            *colon = 0;
        json_t *heads = colon && !json_object_get(map, row) ? heads_of(colon + 1) : NULL;
        if (!heads || json_object_set_new(map, row, heads)) {
            json_decref(map);
            return NULL;
        }
    }
    return map;
}

json_t *param_text_to_json(const struct param *p, const char *text)
{
    char *copy = xstrdup(text);
    json_t *v = NULL;
    switch (p->type) {
    case PARAM_INT:
    case PARAM_DOUBLE:
        v = number_of(text);
        break;
    case PARAM_BOOL:
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
            v = json_boolean(*text == 't');
        break;
    case PARAM_INTS:
        v = ints_of(copy);
        break;
    case PARAM_MAP:
        v = map_of(copy);
        break;
    case PARAM_STRING:
    case PARAM_FILE:
    case PARAM_ENUM:
        break;
    }
    free(copy);
    if (!v)
        v = json_string(text);
    return v ? v : json_string_nocheck(text); /* not UTF-8: the checks can still name the option */
}

int param_is_set(const struct param *p, const void *base)
{
    const void *field = field_of(p, base);
    switch (p->type) {
    case PARAM_INT:
        return *(const int *)field != PARAM_UNSET_INT;
    case PARAM_DOUBLE:
        return !isnan(*(const double *)field);
    case PARAM_STRING:
    case PARAM_FILE:
        return *(const char *const *)field != NULL;
    case PARAM_INTS:
        return ((const struct param_ints *)field)->n >= 0;
    case PARAM_MAP:
        return ((const struct param_map *)field)->n > 0;
    default:
        return *(const int *)field >= 0;
    }
}

static json_t *ints_json(const int *v, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer(v[i]));
    return list;
}

static json_t *map_json(const struct param_map *m)
{
    json_t *map = json_object();
    struct str key = {0};
    for (int i = 0; i < m->n; i++) {
        str_clear(&key);
        str_printf(&key, "%d", m->key[i]);
        json_object_set_new(map, key.data, ints_json(m->v[i], m->count[i]));
    }
    str_release(&key);
    return map;
}

json_t *param_value_json(const struct param *p, const void *base)
{
    const void *field = field_of(p, base);
    if (!param_is_set(p, base))
        return NULL;
    switch (p->type) {
    case PARAM_INT:
        return json_integer(*(const int *)field);
    case PARAM_DOUBLE:
        return json_real(*(const double *)field);
    case PARAM_BOOL:
        return json_boolean(*(const int *)field);
    case PARAM_STRING:
    case PARAM_FILE: {
        const char *s = *(const char *const *)field;
        struct str clean = {0};
        str_add_utf8(&clean, s, strlen(s));
        json_t *v = json_string(clean.data);
        str_release(&clean);
        return v;
    }
    case PARAM_ENUM: {
        const char *choice = p->choices[*(const int *)field];
        int is_true = strcmp(choice, "true") == 0;
        return is_true || strcmp(choice, "false") == 0 ? json_boolean(is_true) : json_string(choice);
    }
    case PARAM_INTS: {
        const struct param_ints *list = field;
        return ints_json(list->v, list->n);
    }
    case PARAM_MAP:
        return map_json(field);
    }
    return NULL;
}

json_t *param_json(const struct param *t, const void *base)
{
    json_t *o = json_object();
    for (const struct param *p = t; p && p->name; p++) {
        json_t *v = param_value_json(p, base);
        if (v)
            json_object_set_new(o, p->name, v);
    }
    return o;
}

static void map_text(const struct param_map *m, struct str *out)
{
    for (int i = 0; i < m->n; i++) {
        int is_wide = 0;
        for (int h = 0; h < m->count[i]; h++)
            is_wide |= m->v[i][h] > 9;
        str_printf(out, "%s%d:", i ? "+" : "", m->key[i]);
        for (int h = 0; h < m->count[i]; h++)
            str_printf(out, "%s%d", h && is_wide ? "." : "", m->v[i][h]);
        if (is_wide && m->count[i] == 1)
            str_putc(out, '.'); /* so that "12." is head 12, not heads 1 and 2 */
    }
}

void param_text(const struct param *p, const void *base, struct str *out)
{
    const void *field = field_of(p, base);
    str_puts(out, "");
    if (!param_is_set(p, base))
        return;
    switch (p->type) {
    case PARAM_INT:
        str_printf(out, "%d", *(const int *)field);
        break;
    case PARAM_DOUBLE:
        json_number(out, *(const double *)field);
        break;
    case PARAM_BOOL:
        str_puts(out, *(const int *)field ? "true" : "false");
        break;
    case PARAM_STRING:
    case PARAM_FILE:
        str_puts(out, *(const char *const *)field);
        break;
    case PARAM_ENUM:
        str_puts(out, p->choices[*(const int *)field]);
        break;
    case PARAM_INTS: {
        const struct param_ints *list = field;
        for (int i = 0; i < list->n; i++)
            str_printf(out, "%s%d", i ? "+" : "", list->v[i]);
        if (!list->n)
            str_puts(out, "none");
        break;
    }
    case PARAM_MAP:
        map_text(field, out);
        break;
    }
}

/* "integer, 1 to 4096" */
static void kind_text(const struct param *p, struct str *out)
{
    static const char *const kind[] = {
        [PARAM_INT] = "integer",         [PARAM_DOUBLE] = "number",
        [PARAM_BOOL] = "true or false",  [PARAM_STRING] = "text",
        [PARAM_FILE] = "file name",      [PARAM_ENUM] = "",
        [PARAM_INTS] = "integers a+b+c", [PARAM_MAP] = "layer:heads+layer:heads"};
    str_puts(out, kind[p->type]);
    for (int i = 0; p->type == PARAM_ENUM && p->choices[i]; i++)
        str_printf(out, "%s%s", i ? "|" : "", p->choices[i]);
    if (p->min == 0 && p->max == 0)
        return;
    str_puts(out, isinf(p->max) ? ", at least " : ", ");
    json_number(out, p->min);
    if (!isinf(p->max)) {
        str_puts(out, " to ");
        json_number(out, p->max);
    }
}

void param_help(const struct param *t, struct str *out)
{
    struct str kind = {0};
    for (const struct param *p = t; p && p->name; p++) {
        str_clear(&kind);
        kind_text(p, &kind);
        str_printf(out, "  %-18s %s", p->name, p->help ? p->help : "");
        /* some defaults depend on the model or a file, and the help says so */
        const char *without = p->help && strstr(p->help, "default") ? "" : "; no default";
        str_printf(out, " (%s%s%s)\n", kind.data, p->def ? "; default " : without, p->def ? p->def : "");
    }
    str_release(&kind);
}
