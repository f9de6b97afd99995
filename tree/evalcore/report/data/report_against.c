/* Comparing with another run, cell by cell on the problems that both have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_match.h"

/* Mean completion length of every problem, NaN without one: a failed job has none. A length of 0 counts as
 * one token so that ratios exist. */
static double *mean_lengths(const struct cell_stats *s)
{
    const struct cell *c = s->cell;
    double *v = xcalloc((size_t)c->task->n_problems + 1, sizeof *v);
    int *n = xcalloc((size_t)c->task->n_problems + 1, sizeof *n);
    for (int i = 0; i < c->n_records; i++) {
        if (c->records[i].finish == FINISHED_ERROR)
            continue;
        v[c->records[i].problem] += c->records[i].tokens > 0 ? c->records[i].tokens : 1;
        n[c->records[i].problem]++;
    }
    for (int i = 0; i < c->task->n_problems; i++)
        v[i] = n[i] ? v[i] / n[i] : NAN;
    free(n);
    return v;
}

void match_lengths(struct against *out, const struct matched *m, const struct cell_stats *a,
                   const struct cell_stats *b)
{
    double *la = mean_lengths(a), *lb = mean_lengths(b), *ratio = xmalloc((size_t)(m->n + 1) * sizeof *ratio);
    double sum_a = 0, sum_b = 0;
    size_t n = 0;
    for (int i = 0; i < m->n; i++) {
        double x = la[m->at_a[i]], y = lb[m->at_b[i]];
        if (isnan(x) || isnan(y))
            continue;
        sum_a += x;
        sum_b += y;
        ratio[n++] = log(y / x);
    }
    enum signflip how;
    out->tokens_a = n ? sum_a / (double)n : NAN;
    out->tokens_b = n ? sum_b / (double)n : NAN;
    out->length_ratio = n ? exp(stat_mean(ratio, n)) : NAN;
    out->length_p = n ? stat_signflip(ratio, n, 0, &how) : NAN;
    free(la);
    free(lb);
    free(ratio);
}

const char *match_differences(const struct report *old, const struct report *now, const struct cell *a,
                              const struct cell *b)
{
    const struct {
        const char *name, *old_value, *new_value;
    } item[] = {
        {"model", a->model_path ? a->model_path : a->model, b->model_path ? b->model_path : b->model},
        {"weights", a->weights ? a->weights : old->run->weights, b->weights ? b->weights : now->run->weights},
        {"model configuration", a->configuration ? a->configuration : old->run->configuration,
         b->configuration ? b->configuration : now->run->configuration},
        {"numerics class", old->run->numerics, now->run->numerics},
        {"grader", old->run->grader, now->run->grader},
        {"policy options", a->params, b->params},
        {"generation settings", a->settings, b->settings},
        {"task version", a->task->version, b->task->version},
        {"problems", a->task->source, b->task->source}};
    const char *out = "";
    for (size_t i = 0; i < sizeof item / sizeof *item; i++)
        if (item[i].old_value && item[i].new_value && strcmp(item[i].old_value, item[i].new_value))
            out = arena_printf(now->arena, "%s%s%s", out, *out ? ", " : "", item[i].name);
    return out;
}

static int same_cell(const struct cell *a, const struct cell *b)
{
    return !a->task->is_text && !strcmp(a->policy_label, b->policy_label) &&
           !strcmp(a->task->label, b->task->label) && !strcmp(a->settings_label, b->settings_label);
}

/* The cell of the same model; that of another only where no choice is left on either side. */
static int find_counterpart(const struct report *old, const struct report *now, const struct cell *c)
{
    int other = -1, n_old = 0, n_now = 0;
    for (int i = 0; i < old->run->n_cells; i++) {
        if (!same_cell(&old->run->cells[i], c))
            continue;
        if (!strcmp(old->run->cells[i].model, c->model))
            return i;
        other = i;
        n_old++;
    }
    for (int i = 0; i < now->run->n_cells; i++)
        n_now += same_cell(&now->run->cells[i], c);
    return n_old == 1 && n_now == 1 ? other : -1;
}

int match_same_golds(const struct run_problem *a, const struct run_problem *b)
{
    int same = a->n_golds == b->n_golds && !strcmp(a->gold, b->gold);
    for (int i = 0; same && i < a->n_golds; i++)
        same = !strcmp(a->golds[i], b->golds[i]);
    return same;
}

/* What is not the same, and what kveval compare refuses besides. */
static const char *difference_words(const struct report *old, const struct report *now,
                                    const struct matched *m, const struct cell *a, const struct cell *b)
{
    const char *out = match_differences(old, now, a, b);
    int missing = a->n_expected - a->n_records + b->n_expected - b->n_records, golds = 0;
    for (int i = 0; i < m->n; i++)
        golds += !match_same_golds(&a->task->problems[m->at_a[i]], &b->task->problems[m->at_b[i]]);
    if (golds)
        out = arena_printf(now->arena, "%s%sreference answers (%d)", out, *out ? ", " : "", golds);
    if (missing > 0)
        out = arena_printf(now->arena, "%s%smissing answers (%d)", out, *out ? ", " : "", missing);
    return out;
}

static void compare_with(struct against *out, struct pair *pair, const struct report *old,
                         const struct report *now, int k, int i)
{
    const struct cell_stats *a = &old->cells[k], *b = &now->cells[i];
    struct matched m = match_begin();
    match_add(&m, a, b, &out->dropped);
    match_compare(pair, &m, now->run->margin / 100);
    match_lengths(out, &m, a, b);
    out->differs = difference_words(old, now, &m, a->cell, b->cell);
    match_release(&m);
    pair->a = k;
    pair->b = i;
}

void report_against(struct report *now, const struct report *old)
{
    size_t capacity = (size_t)now->run->n_cells + 1;
    struct against *list = arena_alloc(now->arena, capacity * sizeof *list);
    struct pair *pairs = xcalloc(capacity, sizeof *pairs);
    int *group = xcalloc(capacity, sizeof *group), n = 0;
    for (int i = 0; i < now->run->n_cells; i++) {
        int k = find_counterpart(old, now, now->cells[i].cell);
        if (k < 0)
            continue;
        compare_with(&list[n], &pairs[n], old, now, k, i);
        group[n++] = report_cell_family(now, i);
    }
    report_mark_pairs(pairs, n, group, now->run->margin);
    for (int i = 0; i < n; i++)
        list[i].pair = pairs[i];
    free(pairs);
    free(group);
    now->old = old;
    now->against = list;
    now->n_against = n;
}

int report_cell_family(const struct report *r, int cell)
{
    return report_family(r, r->cells[cell].row) * (r->n_columns + 1) + r->cells[cell].column;
}
