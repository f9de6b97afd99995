/* Reading the parts of decode steps (contract: report_steps.h) from the names that bench_components.c prints:
 * "components MODEL POLICY batch B at N tokens: PART, K operations". */
#include "evalcore/report/data/report_steps.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/json.h"

static const char prefix[] = "components ", middle[] = " tokens: ", whole[] = "the whole step as recorded";
enum { STACKS_MAX = 64, DEPTH_MAX = 8 };

/* Length of the part's name in "attention, dense layers, 28 operations"; 0 for other lines about a part. */
static size_t part_length(const char *text)
{
    const char *comma = NULL;
    for (const char *at = text; (at = strstr(at, ", ")) != NULL; at += 2)
        comma = at;
    if (!comma || !isdigit((unsigned char)comma[2]))
        return 0;
    const char *after = comma + 2 + strspn(comma + 2, "0123456789");
    return strncmp(after, " operation", 10) ? 0 : (size_t)(comma - text);
}

static struct step_stack *find_stack(struct steps *s, const char *name, struct arena *a)
{
    for (int i = 0; i < s->n; i++)
        if (!strcmp(s->stack[i].name, name))
            return &s->stack[i];
    if (s->n == STACKS_MAX)
        return NULL;
    struct step_stack *new = &s->stack[s->n++];
    *new = (struct step_stack){.name = arena_strdup(a, name), .whole = NAN};
    for (int i = 0; i < STEP_PARTS_MAX; i++)
        new->part[i] = NAN;
    return new;
}

/* A new part comes behind the one that its own stack had last, so that parts keep the order of a step. */
static int find_part(struct steps *s, const struct step_stack *k, const char *name, size_t n, struct arena *a)
{
    int at = 0;
    for (int i = 0; i < s->n_parts; i++) {
        if (strlen(s->part[i]) == n && !memcmp(s->part[i], name, n))
            return i;
        if (!isnan(k->part[i]))
            at = i + 1;
    }
    if (s->n_parts == STEP_PARTS_MAX)
        return -1;
    size_t behind = (size_t)(s->n_parts++ - at);
    memmove(s->part + at + 1, s->part + at, behind * sizeof *s->part);
    for (int i = 0; i < s->n; i++) {
        memmove(s->stack[i].part + at + 1, s->stack[i].part + at, behind * sizeof(double));
        s->stack[i].part[at] = NAN;
    }
    s->part[at] = arena_strndup(a, name, n);
    return at;
}

static void add_figure(struct steps *s, const char *name, double us, struct arena *a)
{
    const char *tokens = strstr(name, middle);
    if (strncmp(name, prefix, strlen(prefix)) || !tokens || !isfinite(us) || us < 0)
        return;
    const char *what = tokens + strlen(middle), *from = name + strlen(prefix);
    size_t n = part_length(what);
    int is_whole = !strcmp(what, whole);
    if (!n && !is_whole)
        return;
    struct step_stack *k = find_stack(s, arena_strndup(a, from, (size_t)(tokens - from)), a);
    int part = k && n ? find_part(s, k, what, n, a) : -1;
    if (k && is_whole)
        k->whole = us;
    if (part < 0 || !isnan(k->part[part])) /* a figure measured twice: the first counts */
        return;
    k->part[part] = us;
    k->sum += us;
}

/* Figures stand in objects with a name, a value and a unit, at any depth. */
static void walk_figures(struct steps *s, const json_t *v, int depth, struct arena *a)
{
    const char *key, *name = json_string_value(json_object_get(v, "name"));
    const char *unit = json_string_value(json_object_get(v, "unit"));
    const json_t *value = json_object_get(v, "value");
    json_t *child;
    size_t i;
    if (name && unit && json_is_number(value) && !strcmp(unit, "us"))
        add_figure(s, name, json_number_value(value), a);
    if (depth == DEPTH_MAX)
        return;
    json_array_foreach(v, i, child) walk_figures(s, child, depth + 1, a);
    json_object_foreach((json_t *)v, key, child) walk_figures(s, child, depth + 1, a);
}

/* One document, or one on each line. */
static int read_documents(struct steps *s, const char *path, const struct str *text, struct arena *a,
                          struct err *e)
{
    json_t *v = NULL;
    struct err whole_file = {0};
    if (!json_read_text(&v, str_text(text), text->len, path, &whole_file)) {
        walk_figures(s, v, 0, a);
        json_decref(v);
        return 0;
    }
    for (const char *line = str_text(text); *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t n = strcspn(line, "\n");
        if (strspn(line, " \t\r") >= n)
            continue;
        if (json_read_text(&v, line, n, path, e))
            return e->code;
        walk_figures(s, v, 0, a);
        json_decref(v);
    }
    return 0;
}

/* A model folder's path says little more than its last part. */
static size_t model_length(const char *name)
{
    return strcspn(name, " ");
}

static void name_model(struct steps *s, struct arena *a)
{
    const char *first = s->stack[0].name;
    size_t n = model_length(first);
    for (int i = 0; i < s->n; i++)
        if (model_length(s->stack[i].name) != n || memcmp(s->stack[i].name, first, n) != 0)
            return;
    s->model = arena_strndup(a, first, n);
    for (int i = 0; i < s->n; i++)
        s->stack[i].name += n + (s->stack[i].name[n] == ' ');
}

int report_steps_read(struct steps *out, const char *path, struct arena *a, struct err *e)
{
    struct str text = {0};
    *out = (struct steps){.model = "", .stack = arena_alloc(a, STACKS_MAX * sizeof *out->stack)};
    int rc = file_read(path, &text, e);
    if (!rc)
        rc = read_documents(out, path, &text, a, e);
    str_release(&text);
    if (!rc && !out->n_parts)
        rc = err_set(e, ERR_FORMAT,
                     "%s: no parts of a decode step in this file; kveval bench components prints them", path);
    if (!rc)
        name_model(out, a);
    return rc;
}
