/* One verdict for each policy setting over all its tasks: what a reader wants first. A task of ten problems
 * decides little by itself, and nineteen settings on four tasks are seventy questions; over all problems it
 * is one question a setting. The tasks weigh the same, so that many problems of one that a policy does not
 * hurt cannot hide what it loses on the others. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/report/data/report_group.h"
#include "evalcore/report/data/report_match.h"

/* Is the cell of this row one that has answers and is compared? */
static int is_compared(const struct report *r, int i, int row)
{
    const struct cell *c = &r->run->cells[i];
    return r->cells[i].row == row && r->cells[i].column >= 0 && c->baseline >= 0 && c->baseline != i;
}

static void compare_setting(struct setting *s, const struct report *r)
{
    struct matched m = match_begin();
    s->baseline_row = -1;
    for (int i = 0; i < r->run->n_cells; i++) {
        if (!is_compared(r, i, s->row))
            continue;
        const struct cell_stats *base = &r->cells[r->run->cells[i].baseline];
        int before = m.n;
        match_add(&m, base, &r->cells[i], NULL);
        s->baseline_row = base->row;
        s->n_tasks += m.n > before;
    }
    match_weigh(&m, NULL);
    match_compare(&s->pooled, &m, r->run->margin / 100);
    s->pooled.a = s->pooled.b = -1;
    match_release(&m);
}

static int is_answered(const struct cell *c, int k)
{
    (void)k;
    return !c->task->is_text;
}

/* Over all problems with results. Where the tasks do not have as many, their means and intervals are put
 * together as those of a benchmark of many data sets are. */
static void add_accuracy(struct setting *s, const struct report *r)
{
    size_t n = 0, capacity = 1, each = 0;
    int is_binary = 1, is_even = 1;
    long same = 0;
    for (int i = 0; i < r->run->n_cells; i++)
        capacity += (size_t)r->run->cells[i].task->n_problems;
    double *sum = xmalloc(capacity * sizeof *sum), *mean = xmalloc(capacity * sizeof *mean);
    long *jobs = xmalloc(capacity * sizeof *jobs), *one = xmalloc(capacity * sizeof *one);
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *c = &r->cells[i];
        if (c->row != s->row || c->column < 0)
            continue;
        is_binary &= !strcmp(c->cell->task->metric, "accuracy");
        size_t before = n;
        for (int k = 0; k < c->cell->task->n_problems; k++) {
            if (!c->jobs[k])
                continue;
            same = !n || same == c->jobs[k] ? c->jobs[k] : -1;
            sum[n] = c->sum[k];
            jobs[n] = c->jobs[k];
            mean[n] = c->sum[k] / (double)c->jobs[k];
            one[n++] = 1;
        }
        is_even &= n == before || !each || n - before == each;
        each = n > before ? n - before : each;
    }
    struct group_mean over = is_even ? (struct group_mean){0} : group_mean(r, s->row, is_answered, 0);
    s->accuracy = !is_even ? over.mean : n ? stat_mean(mean, n) : NAN;
    s->ci = !is_even   ? over.ci
            : same > 0 ? stat_clustered(sum, jobs, n, is_binary)
                       : stat_clustered(mean, one, n, 0);
    free(sum);
    free(mean);
    free(jobs);
    free(one);
}

static enum activity worse_activity(enum activity a, enum activity b)
{
    static const enum activity order[] = {ACTIVITY_FULL, ACTIVITY_UNKNOWN, ACTIVITY_UNNEEDED, ACTIVITY_USED,
                                          ACTIVITY_INACTIVE};
    for (int i = sizeof order / sizeof *order; i-- > 0;)
        if (order[i] == a || order[i] == b)
            return order[i];
    return a;
}

static void add_counts(struct setting *s, const struct report *r)
{
    double kv = 0, aux = 0, full = 0;
    s->activity = ACTIVITY_FULL;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *c = &r->cells[i];
        if (c->row != s->row || c->column < 0)
            continue;
        if (c->reads_full > 0) {
            full += c->reads_full;
            kv += c->kv_density * c->reads_full;
            aux += c->aux_density * c->reads_full;
        }
        s->is_baseline |= c->cell->is_baseline;
        s->is_bound |= c->is_bound;
        s->activity = worse_activity(s->activity, c->activity);
        s->n_inactive += c->activity == ACTIVITY_INACTIVE;
        s->n_answered += c->n_answered;
        s->n_idle += c->n_idle;
        s->n_records += c->cell->n_records;
        s->n_expected += c->cell->n_expected;
        s->n_cut += c->n_cut;
        s->n_missed += c->cell->n_records - c->count[VERDICT_CORRECT];
    }
    s->kv_share = full > 0 ? kv / full : NAN;
    s->aux_share = full > 0 ? aux / full : NAN;
    s->reads = s->kv_share + (s->is_bound ? 0 : s->aux_share);
}

static int has_answers(const struct report *r, int row)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row && r->cells[i].column >= 0)
            return 1;
    return 0;
}

void report_settings(struct report *r)
{
    size_t capacity = (size_t)r->n_rows + 1;
    struct pair *pooled = xmalloc(capacity * sizeof *pooled);
    int *group = xmalloc(capacity * sizeof *group);
    r->settings = arena_alloc(r->arena, capacity * sizeof *r->settings);
    for (int row = 0; row < r->n_rows; row++) {
        if (!has_answers(r, row))
            continue;
        struct setting *s = &r->settings[r->n_settings];
        s->row = row;
        group[r->n_settings++] = report_family(r, row);
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < r->n_settings; i++) {
        struct setting *s = &r->settings[i];
        compare_setting(s, r);
        add_accuracy(s, r);
        add_counts(s, r);
        pooled[i] = s->pooled;
    }
    report_mark_pairs(pooled, r->n_settings, group, r->run->margin);
    for (int i = 0; i < r->n_settings; i++)
        r->settings[i].pooled = pooled[i];
    free(pooled);
    free(group);
}

const struct setting *report_setting_of(const struct report *r, int row)
{
    for (int i = 0; i < r->n_settings; i++)
        if (r->settings[i].row == row)
            return &r->settings[i];
    return NULL;
}
