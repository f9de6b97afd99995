/* Two cells, settings or runs, problem by problem (contract: compare.h). */
#include "evalcore/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/compare/compare_parts.h"
#include "evalcore/report/data/report_match.h"

/* Splits "RUN:CELL" at the first colon that follows a folder's name; a name that is a folder is a run. */
static int split_run_cell(struct arena *a, const char *text, const char **dir, const char **cell)
{
    *cell = NULL;
    *dir = text;
    if (file_is_dir(text))
        return 1;
    for (const char *p = strchr(text, ':'); p; p = strchr(p + 1, ':')) {
        *dir = arena_strndup(a, text, (size_t)(p - text));
        *cell = p + 1;
        if (p > text && p[1] && file_is_dir(*dir))
            return 1;
    }
    return 0;
}

/* Which run and which cells each side means. */
static int name_sides(struct comparison *c, const struct compare_options *o, const char **dir_a,
                      const char **dir_b, struct side *sides, struct err *e)
{
    *dir_a = *dir_b = o->dir;
    sides[0].name = o->a;
    sides[1].name = o->b;
    if (o->dir)
        return 0;
    if (!split_run_cell(&c->arena, o->a, dir_a, &sides[0].name))
        return err_set(e, ERR_USAGE,
                       "\"%s\" is neither a run folder nor RUN:CELL; kveval compare DIR A B compares two "
                       "cells of one run",
                       o->a);
    if (!split_run_cell(&c->arena, o->b, dir_b, &sides[1].name)) {
        if (!sides[0].name)
            return err_set(e, ERR_USAGE, "\"%s\" is neither a run folder nor RUN:CELL", o->b);
        *dir_b = *dir_a;
        sides[1].name = o->b;
    }
    if (!sides[0].name != !sides[1].name)
        return err_set(
            e, ERR_USAGE,
            "one side is a whole run and the other a cell; name a cell on both sides, as RUN:CELL");
    return 0;
}

static int load_sides(struct comparison *c, const char *dir_a, const char *dir_b, const char *zh_dict,
                      struct err *e)
{
    struct run_options o = {.zh_dict = zh_dict};
    int is_same = !strcmp(dir_a, dir_b);
    int rc = run_load_with(&c->runs[0], dir_a, &o, e);
    if (rc)
        return rc;
    c->n_runs = 1;
    if (!is_same && !(rc = run_load_with(&c->runs[1], dir_b, &o, e)))
        c->n_runs = 2;
    if (rc)
        return rc;
    for (int i = 0; i < c->n_runs; i++)
        report_compute(&c->reports[i], &c->runs[i], &c->arena);
    c->a = &c->reports[0];
    c->b = &c->reports[c->n_runs - 1];
    return 0;
}

static int has_one_model(const struct side *s)
{
    for (int i = 1; i < s->n; i++)
        if (strcmp(s->run->cells[s->cells[i]].model, s->run->cells[s->cells[0]].model) != 0)
            return 0;
    return 1;
}

/* Single cells are a pair whatever they are; else the same task and generation settings, the same model
 * unless each side has just one, and between whole runs the same policy setting. */
static int is_counterpart(const struct side *sides, int a, int b)
{
    const struct cell *x = &sides[0].run->cells[a], *y = &sides[1].run->cells[b];
    if (sides[0].n == 1 && sides[1].n == 1 && sides[0].name)
        return 1;
    return !strcmp(x->task->label, y->task->label) && !strcmp(x->settings_label, y->settings_label) &&
           (sides[0].name || !strcmp(x->policy_label, y->policy_label)) &&
           (run_same_model(x, y) || (sides[0].name && has_one_model(&sides[0]) && has_one_model(&sides[1])));
}

/* Returns the number of cells without a counterpart. */
static int match_cells(struct comparison *c, const struct side *sides)
{
    int *used = arena_alloc(&c->arena, (size_t)(sides[0].n + 1) * sizeof *used), n_used = 0;
    c->cells = arena_alloc(&c->arena, (size_t)(sides[1].n + 1) * sizeof *c->cells);
    for (int i = 0; i < sides[1].n; i++)
        for (int k = 0; k < sides[0].n; k++) {
            if (used[k] || !is_counterpart(sides, sides[0].cells[k], sides[1].cells[i]))
                continue;
            used[k] = 1;
            n_used++;
            c->cells[c->n_cells++] = (struct compared){.a = sides[0].cells[k], .b = sides[1].cells[i]};
            break;
        }
    return sides[0].n + sides[1].n - 2 * n_used;
}

static void add_flips(struct comparison *c, int cells, const struct matched *m)
{
    for (int i = 0; i < m->n; i++) {
        int a = m->mean_a[i] > 0.5, b = m->mean_b[i] > 0.5;
        if (a != b)
            c->flips[c->n_flips++] = (struct flip){cells, m->at_a[i], m->at_b[i], a};
    }
}

static int by_loss(const void *x, const void *y)
{
    const struct flip *a = x, *b = y;
    if (a->is_lost != b->is_lost)
        return b->is_lost - a->is_lost;
    return a->cells != b->cells ? a->cells - b->cells : a->problem_b - b->problem_b;
}

static void compare_cells(struct comparison *c)
{
    size_t capacity = 1, n = (size_t)c->n_cells;
    struct pair *pairs = xcalloc(n + 1, sizeof *pairs);
    int *group = xcalloc(n + 1, sizeof *group);
    for (int i = 0; i < c->n_cells; i++)
        capacity += (size_t)c->b->run->cells[c->cells[i].b].task->n_problems;
    c->flips = arena_alloc(&c->arena, capacity * sizeof *c->flips);
    for (int i = 0; i < c->n_cells; i++) {
        struct compared *x = &c->cells[i];
        const struct cell_stats *a = &c->a->cells[x->a], *b = &c->b->cells[x->b];
        struct matched m = match_begin();
        match_add(&m, a, b, &x->lengths.dropped);
        match_compare(&pairs[i], &m, c->margin / 100);
        match_lengths(&x->lengths, &m, a, b);
        add_flips(c, i, &m);
        match_release(&m);
    }
    report_mark_pairs(pairs, c->n_cells, group, c->margin);
    for (int i = 0; i < c->n_cells; i++)
        c->cells[i].pair = pairs[i];
    compare_settings(c);
    qsort(c->flips, (size_t)c->n_flips, sizeof *c->flips, by_loss);
    free(pairs);
    free(group);
}

static double reads_of(const struct comparison *c, const struct report *r, int is_b)
{
    double reads = 0, full = 0;
    for (int i = 0; i < c->n_cells; i++) {
        const struct cell_stats *s = &r->cells[is_b ? c->cells[i].b : c->cells[i].a];
        if (s->reads_full > 0) {
            reads += s->total_density * s->reads_full;
            full += s->reads_full;
        }
    }
    return full > 0 ? reads / full : NAN;
}

int compare_open(struct comparison *c, const struct compare_options *o, struct err *e)
{
    const char *dir_a, *dir_b;
    struct side sides[2] = {{0}};
    *c = (struct comparison){0};
    int rc = name_sides(c, o, &dir_a, &dir_b, sides, e);
    if (!rc)
        rc = load_sides(c, dir_a, dir_b, o->zh_dict, e);
    if (rc)
        return rc;
    sides[0].run = c->a->run;
    sides[1].run = c->b->run;
    for (int i = 0; i < 2 && !rc; i++)
        rc = side_find(&sides[i], &c->arena, e);
    if (rc)
        return rc;
    c->name_a = sides[0].name ? arena_printf(&c->arena, "%s:%s", dir_a, sides[0].name) : dir_a;
    c->name_b = sides[1].name ? arena_printf(&c->arena, "%s:%s", dir_b, sides[1].name) : dir_b;
    c->margin = o->margin > 0 ? o->margin : c->b->run->margin;
    int unmatched = match_cells(c, sides);
    rc = compare_check(c, o->allowed, unmatched, e);
    if (rc)
        return rc;
    compare_cells(c);
    c->reads_a = reads_of(c, c->a, 0);
    c->reads_b = reads_of(c, c->b, 1);
    return 0;
}

void compare_release(struct comparison *c)
{
    for (int i = 0; i < c->n_runs; i++)
        run_release(&c->runs[i]);
    arena_release(&c->arena);
}
