/* The columns of a file of problems (contract: task_columns.h). */
#include "tasks/task_columns.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What is in the name of a column that holds options, and what begins that of one with wrong ones. */
static const char *const option_words[] = {"option", "choice", "alternative", NULL};
static const char *const wrong_words[] = {"incorrect", "wrong", "distractor", NULL};

static int is_scalar(const json_t *v)
{
    return json_is_string(v) || json_is_number(v);
}

static void look_at(struct columns *k, const char *name, const json_t *v, long line)
{
    int i = 0;
    if (strchr(name, ',') || !*name || strlen(name) >= 64)
        return;
    while (i < k->n_columns && strcmp(k->column[i].name, name))
        i++;
    if (i == COLUMNS_MAX) {
        k->is_full = 1;
        return;
    }
    if (i == k->n_columns)
        k->column[k->n_columns++] = (struct column){.name = arena_strdup(&k->task->arena, name)};
    struct column *c = &k->column[i];
    c->n++;
    c->n_text += is_scalar(v);
    c->n_held += json_string_length(v) || json_array_size(v) || json_object_size(v);
    c->bytes += json_string_length(v);
    c->n_mark += json_is_string(v) && strstr(json_string_value(v), "####");
    c->n_box += json_is_string(v) && strstr(json_string_value(v), "\\boxed{");
    int is_list = json_array_size(v) >= 2;
    for (size_t n = 0; n < json_array_size(v); n++)
        is_list &= is_scalar(json_array_get(v, n));
    c->n_list += is_list;
    if (!is_list && !json_is_object(v) && !c->other_at)
        c->other_at = line;
}

static int look_at_row(struct rows *r, const json_t *row, void *context, struct err *e)
{
    struct columns *k = context;
    const char *name, *part;
    json_t *v, *w;
    char path[160];
    (void)e;
    k->n_rows++;
    json_object_foreach((json_t *)row, name, v)
    {
        if (!json_is_null(v))
            look_at(k, name, v, r->line);
        json_object_foreach(v, part, w)
        {
            if (json_is_null(w))
                continue;
            snprintf(path, sizeof path, "%.70s.%.70s", name, part);
            look_at(k, path, w, r->line);
        }
    }
    rows_add(r)->prompt = "";
    return 0;
}

static int is_alike(const char *column, const char *name, size_t n)
{
    size_t i = 0;
    for (; *column; column++) {
        if (strchr(" _-", *column))
            continue;
        if (i == n || tolower((unsigned char)*column) != name[i])
            return 0;
        i++;
    }
    return i == n;
}

/* The name in small letters, without blanks and underscores. */
static void bare_name(char out[64], const char *column)
{
    size_t n = 0;
    for (; *column && n < 63; column++)
        if (!strchr(" _-", *column))
            out[n++] = (char)tolower((unsigned char)*column);
    out[n] = 0;
}

int column_is_wrong_options(const char *column)
{
    char name[64];
    bare_name(name, column);
    for (size_t i = 0; wrong_words[i]; i++)
        if (!strncmp(name, wrong_words[i], strlen(wrong_words[i])))
            return 1;
    return 0;
}

int column_is_options(const char *column)
{
    static const char *const ends[] = {"", "text", "texts", "list", "str", "string", "json", "raw", NULL};
    char name[64];
    bare_name(name, column);
    for (size_t i = 0; option_words[i]; i++)
        for (const char *p = name; (p = strstr(p, option_words[i])); p++) {
            const char *end = p + strlen(option_words[i]), *rest = end + (*end == 's');
            int is_one = p == name && *end && (!end[1] || strspn(end, "0123456789") == strlen(end));
            for (size_t n = 0; ends[n]; n++)
                is_one |= !strcmp(rest, ends[n]) && (!*rest || p == name);
            if (is_one)
                return 1;
        }
    return 0;
}

struct column *columns_named(struct columns *k, const char *names, size_t count)
{
    for (const char *p = names; *p;) {
        size_t n = strcspn(p, ",");
        for (int i = 0; i < k->n_columns; i++)
            if (*(const size_t *)((const char *)&k->column[i] + count) && is_alike(k->column[i].name, p, n))
                return &k->column[i];
        p += n + (p[n] == ',');
    }
    return NULL;
}

/* Columns of a series have a common beginning and end in a letter or in a number: A, B, C; option_1 to
 * option_12; choice0. */
struct series {
    const char *prefix;
    size_t n;
    int is_number;
    long first, last;
};

/* The place of a column in a series; -1: it is not of it. */
static long place_in(const struct series *x, const struct column *c)
{
    const char *end = c->name + x->n;
    if (!c->n_text || strlen(c->name) <= x->n || memcmp(c->name, x->prefix, x->n) != 0)
        return -1;
    if (x->is_number)
        return strlen(end) < 5 && strspn(end, "0123456789") == strlen(end) ? strtol(end, NULL, 10) : -1;
    return !end[1] && isalpha((unsigned char)*end) && !islower((unsigned char)*end) == (x->first == 'A')
               ? *end
               : -1;
}

static const struct column *column_at(const struct columns *k, const struct series *x, long place)
{
    for (int i = 0; i < k->n_columns; i++)
        if (place_in(x, &k->column[i]) == place)
            return &k->column[i];
    return NULL;
}

/* Does the column begin a series? One that ends in 0 or 1 is not the 0 of 10. */
static int begins_series(struct series *x, const struct column *c)
{
    size_t n = strlen(c->name), digits = 0;
    while (digits < n && isdigit((unsigned char)c->name[n - 1 - digits]))
        digits++;
    *x = (struct series){.prefix = c->name, .n = n - (digits ? digits : 1), .is_number = digits > 0};
    x->first = digits ? strtol(c->name + x->n, NULL, 10) : c->name[n - 1];
    return c->n_text && (digits ? digits < 5 && x->first <= 1 : x->first == 'A' || x->first == 'a');
}

/* A column behind a gap of the series; NULL: there is none. Other columns may have one letter as name. */
static const struct column *behind_gap(const struct columns *k, const struct series *x)
{
    for (int i = 0; i < k->n_columns; i++) {
        long place = place_in(x, &k->column[i]);
        if (place > x->last && (x->n || x->is_number || place == x->last + 2))
            return &k->column[i];
    }
    return NULL;
}

int columns_series(json_t **list, size_t *n_rows, const struct columns *k, const char *path, struct err *e)
{
    struct series x;
    for (int i = 0; i < k->n_columns; i++) {
        if (!begins_series(&x, &k->column[i]) || !column_at(k, &x, x.first + 1))
            continue;
        if (x.first == 1 && x.is_number && column_at(k, &x, 0))
            continue;
        *list = json_array();
        *n_rows = column_at(k, &x, x.first + 1)->n_text;
        for (x.last = x.first; column_at(k, &x, x.last); x.last++)
            json_array_append_new(*list, json_string(column_at(k, &x, x.last)->name));
        x.last--;
        const struct column *lost = behind_gap(k, &x);
        return lost
                   ? err_set(e, ERR_USAGE,
                             "%s: the columns \"%s\" to \"%s\" look like options, and so does \"%s\", but "
                             "the one before it is missing; write the task's entry by hand, with all of "
                             "them in \"fields\": {\"options\": [...]}",
                             path, json_string_value(json_array_get(*list, 0)),
                             json_string_value(json_array_get(*list, json_array_size(*list) - 1)), lost->name)
                   : 0;
    }
    return 0;
}

int columns_read(struct columns *k, struct task *t, const char *path, struct err *e)
{
    *k = (struct columns){.task = t};
    return rows_read(t, path, NULL, look_at_row, NULL, k, e);
}
