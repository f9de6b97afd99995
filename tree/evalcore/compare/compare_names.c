/* What a side of a comparison names. Whatever a report or a comparison prints as the name of a cell or of a
 * policy setting can be given as a side, also where a terminal's table has cut it: "quest k_pages=8 temp…".
 */
#include <string.h>

#include "evalcore/compare/compare_parts.h"
#include "evalcore/report/data/report_data.h"

enum { NAMES = 5, NAMES_SHOWN = 6 };
static const char cut_mark[] = "\xE2\x80\xA6";

/* The names of one cell: the setting as reports print it, the setting behind the task as comparisons print
 * it, the setting without its model, and the labels of accuracy.csv. Terminals cut the first two. */
struct names {
    const char *v[NAMES];
};

static struct names names_of(const struct run *run, const struct cell *c, struct arena *a)
{
    const char *row = report_cell_name(a, run, c);
    return (struct names){{row, arena_printf(a, "%s, %s", c->task->label, row),
                           report_setting_name(a, c->policy_label, c->settings_label), c->label,
                           c->policy_label}};
}

static int is_named(const struct names *x, const char *name)
{
    int is_same = 0;
    for (int k = 0; k < NAMES; k++)
        is_same |= !strcmp(x->v[k], name);
    return is_same;
}

/* The whole of a name that was cut; the name itself when it was not, or when nothing begins so. */
static int complete_name(struct side *s, const struct names *names, struct arena *a, struct err *e)
{
    size_t n = strlen(s->name), mark = sizeof cut_mark - 1;
    const char *whole = NULL;
    if (n <= mark || strcmp(s->name + n - mark, cut_mark) != 0)
        return 0;
    for (int i = 0; i < s->run->n_cells; i++)
        for (int k = 0; k < 2; k++) {
            const char *v = names[i].v[k];
            if (strncmp(v, s->name, n - mark) != 0 || (whole && !strcmp(v, whole)))
                continue;
            if (whole)
                return err_set(e, ERR_USAGE, "%s: \"%s\" may be \"%s\" or \"%s\"; write the whole name",
                               s->run->dir, s->name, whole, v);
            whole = v;
        }
    s->name = whole ? arena_strdup(a, whole) : s->name;
    return 0;
}

/* Names one of which was meant, or all settings. */
static int unknown_name(const struct side *s, const struct names *names, struct arena *a, struct err *e)
{
    int n_cells = s->run->n_cells, n = 0, shown = 0;
    const char **all = arena_alloc(a, ((size_t)n_cells * (NAMES + 1) + 1) * sizeof *all);
    struct str some = {0};
    for (int i = 0; i < n_cells; i++) {
        int is_new = 1;
        for (int k = 0; k < i; k++)
            is_new &= strcmp(names[k].v[0], names[i].v[0]) != 0;
        if (is_new && shown++ < NAMES_SHOWN)
            str_printf(&some, "%s%s", shown > 1 ? ", " : "", names[i].v[0]);
        for (int k = 0; k < NAMES; k++)
            all[n++] = names[i].v[k];
        all[n++] = s->run->cells[i].id;
    }
    const char *near = str_nearest(s->name, all);
    if (near)
        err_set(e, ERR_USAGE, "%s: no cell or policy setting is named \"%s\"; did you mean \"%s\"?",
                s->run->dir, s->name, near);
    else
        err_set(e, ERR_USAGE, "%s: no cell or policy setting is named \"%s\"; the settings are %s%s",
                s->run->dir, s->name, str_text(&some), shown > NAMES_SHOWN ? ", ..." : "");
    str_release(&some);
    return ERR_USAGE;
}

/* A cell by its id, or a setting over all its tasks, or a cell by a part of its id that no other has. */
static int find_cell(struct side *s, struct arena *a, struct err *e)
{
    const struct cell *cells = s->run->cells;
    int n_cells = s->run->n_cells, is_part = 0;
    struct names *names = arena_alloc(a, (size_t)(n_cells + 1) * sizeof *names);
    for (int i = 0; i < n_cells; i++)
        names[i] = names_of(s->run, &cells[i], a);
    int rc = complete_name(s, names, a, e);
    for (int i = 0; i < n_cells && !rc; i++) {
        is_part |= strstr(cells[i].id, s->name) != NULL;
        if (!strcmp(cells[i].id, s->name)) {
            s->cells[0] = i;
            s->n = 1;
            return 0;
        }
    }
    for (int i = 0; i < n_cells && !rc; i++)
        if (!cells[i].task->is_text && is_named(&names[i], s->name))
            s->cells[s->n++] = i;
    if (rc || s->n)
        return rc;
    for (int i = 0; i < n_cells; i++)
        is_part |= is_named(&names[i], s->name); /* a text's name */
    if (!is_part)
        return unknown_name(s, names, a, e);
    int i = run_find_cell(s->run, s->name, e);
    s->cells[s->n++] = i;
    return i < 0 ? ERR_USAGE : 0;
}

int side_find(struct side *s, struct arena *a, struct err *e)
{
    const struct cell *cells = s->run->cells;
    s->cells = arena_alloc(a, (size_t)(s->run->n_cells + 1) * sizeof *s->cells);
    int rc = s->name ? find_cell(s, a, e) : 0;
    for (int i = 0; i < s->run->n_cells && !s->name; i++)
        if (!cells[i].task->is_text)
            s->cells[s->n++] = i;
    if (!rc && (!s->n || cells[s->cells[0]].task->is_text))
        rc = err_set(e, ERR_USAGE,
                     "%s: %s has no answers to compare; texts are compared with their baseline in the report",
                     s->run->dir, s->name ? s->name : "the run");
    return rc;
}
