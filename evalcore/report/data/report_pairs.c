/* Comparing cells problem by problem: against the baseline of the same run, or against another run.
 *
 * One answer a problem, right or wrong: exact McNemar, with Newcombe's interval. Several samples, or scores
 * that are fractions: sign-flip permutation over problems, with a t interval. (Miller, arXiv 2411.00640,
 * section 4; Dietterich 1998 for McNemar on classifiers.) */
#include "evalcore/report/data/report_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct matched { /* problems that both cells have finished samples of */
    double *mean_a, *mean_b, *d;
    int *at_a, *at_b;
    int n;
    double unit; /* d are multiples of it; 0 when they are not */
};

static long greatest_common(long a, long b)
{
    while (b) {
        long t = a % b;
        a = b;
        b = t;
    }
    return a;
}

static int same_problem(const struct run_problem *a, const struct run_problem *b)
{
    if (strcmp(a->id, b->id))
        return 0;
    return !a->prompt_sha256 || !b->prompt_sha256 || !strcmp(a->prompt_sha256, b->prompt_sha256);
}

/* The problem of `t` that matches p; sets are nearly always in the same order, so look at `hint` first. */
static int find_problem(const struct run_task *t, const struct run_problem *p, int hint)
{
    if (hint < t->n_problems && same_problem(&t->problems[hint], p))
        return hint;
    for (int i = 0; i < t->n_problems; i++)
        if (same_problem(&t->problems[i], p))
            return i;
    return -1;
}

static void match(struct matched *m, const struct cell_stats *a, const struct cell_stats *b, int *n_dropped)
{
    const struct run_task *ta = a->cell->task, *tb = b->cell->task;
    size_t room = (size_t)tb->n_problems + 1;
    int shared = 0;
    long lcm = 1;
    *m = (struct matched){.mean_a = xmalloc(room * sizeof(double)),
                          .mean_b = xmalloc(room * sizeof(double)),
                          .d = xmalloc(room * sizeof(double)),
                          .at_a = xmalloc(room * sizeof(int)),
                          .at_b = xmalloc(room * sizeof(int))};
    for (int i = 0; i < tb->n_problems; i++) {
        int k = ta == tb ? i : find_problem(ta, &tb->problems[i], i);
        if (k < 0)
            continue;
        shared++;
        if (!a->jobs[k] || !b->jobs[i])
            continue;
        m->mean_a[m->n] = a->sum[k] / (double)a->jobs[k];
        m->mean_b[m->n] = b->sum[i] / (double)b->jobs[i];
        m->d[m->n] = m->mean_b[m->n] - m->mean_a[m->n];
        m->at_a[m->n] = k;
        m->at_b[m->n++] = i;
        if (lcm <= 4096)
            lcm *= a->jobs[k] / greatest_common(lcm, a->jobs[k]);
        if (lcm <= 4096)
            lcm *= b->jobs[i] / greatest_common(lcm, b->jobs[i]);
    }
    int is_binary = !strcmp(ta->metric, "accuracy") && !strcmp(tb->metric, "accuracy");
    m->unit = is_binary && lcm <= 4096 ? 1 / (double)lcm : 0;
    if (n_dropped)
        *n_dropped = ta->n_problems + tb->n_problems - 2 * shared;
}

static void matched_release(struct matched *m)
{
    free(m->mean_a);
    free(m->mean_b);
    free(m->d);
    free(m->at_a);
    free(m->at_b);
}

static void compare_matched(struct pair *out, const struct matched *m)
{
    size_t n = (size_t)m->n;
    *out = (struct pair){.problems = m->n, .is_single = m->unit >= 1, .p = NAN, .holm = NAN, .test = ""};
    for (int i = 0; i < m->n; i++) {
        int a = m->mean_a[i] > 0.5, b = m->mean_b[i] > 0.5;
        out->both += a && b;
        out->only_a += a && !b;
        out->only_b += b && !a;
        out->neither += !a && !b;
    }
    out->accuracy_a = stat_mean(m->mean_a, n);
    out->accuracy_b = stat_mean(m->mean_b, n);
    out->delta = out->accuracy_b - out->accuracy_a;
    if (!n) {
        out->ci = (struct interval){-1, 1};
        out->spread = NAN;
        return;
    }
    if (out->is_single) {
        out->test = "mcnemar_exact";
        out->p = stat_mcnemar(out->only_a, out->only_b);
        out->ci = stat_paired_newcombe(out->both, out->only_a, out->only_b, out->neither);
        out->spread = (double)(out->only_a + out->only_b) / (double)n;
        return;
    }
    enum signflip how;
    out->p = stat_signflip(m->d, n, m->unit, &how);
    out->test = how == SIGNFLIP_EXACT ? "signflip_exact" : "signflip_monte_carlo";
    out->ci = stat_paired_t(m->d, n);
    out->spread = stat_sd(m->d, n);
}

void report_compare(struct pair *out, const struct cell_stats *a, const struct cell_stats *b, int *n_dropped)
{
    struct matched m;
    match(&m, a, b, n_dropped);
    compare_matched(out, &m);
    matched_release(&m);
}

void report_holm(struct pair *pairs, int n, const int *group)
{
    double *p = xmalloc((size_t)(n + 1) * sizeof *p), *adjusted = xmalloc((size_t)(n + 1) * sizeof *adjusted);
    for (int first = 0; first < n; first++) {
        int seen = 0;
        for (int i = 0; i < first; i++)
            seen |= group[i] == group[first];
        if (seen)
            continue;
        for (int i = 0; i < n; i++)
            p[i] = group[i] == group[first] ? pairs[i].p : NAN;
        stat_holm(p, (size_t)n, adjusted);
        for (int i = 0; i < n; i++)
            if (group[i] == group[first])
                pairs[i].holm = adjusted[i];
    }
    free(p);
    free(adjusted);
}

/* Mean completion length of every problem; a job of length 0 counts as one token so that ratios exist. */
static double *mean_lengths(const struct cell_stats *s)
{
    const struct cell *c = s->cell;
    double *v = xcalloc((size_t)c->task->n_problems + 1, sizeof *v);
    for (int i = 0; i < c->n_records; i++)
        v[c->records[i].problem] += c->records[i].tokens > 0 ? c->records[i].tokens : 1;
    for (int i = 0; i < c->task->n_problems; i++)
        v[i] = s->jobs[i] ? v[i] / (double)s->jobs[i] : NAN;
    return v;
}

static void compare_lengths(struct against *out, const struct matched *m, const struct cell_stats *a,
                            const struct cell_stats *b)
{
    double *la = mean_lengths(a), *lb = mean_lengths(b), *ratio = xmalloc((size_t)(m->n + 1) * sizeof *ratio);
    double sum_a = 0, sum_b = 0;
    for (int i = 0; i < m->n; i++) {
        sum_a += la[m->at_a[i]];
        sum_b += lb[m->at_b[i]];
        ratio[i] = log(lb[m->at_b[i]] / la[m->at_a[i]]);
    }
    enum signflip how;
    out->tokens_a = m->n ? sum_a / m->n : NAN;
    out->tokens_b = m->n ? sum_b / m->n : NAN;
    out->length_ratio = m->n ? exp(stat_mean(ratio, (size_t)m->n)) : NAN;
    out->length_p = m->n ? stat_signflip(ratio, (size_t)m->n, 0, &how) : NAN;
    free(la);
    free(lb);
    free(ratio);
}

static const char *differences(const struct report *old, const struct report *now, const struct cell *a,
                               const struct cell *b)
{
    const struct {
        const char *name, *old_value, *new_value;
    } item[] = {{"model", a->model, b->model},
                {"weights", old->run->weights, now->run->weights},
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
    return !strcmp(a->policy_label, b->policy_label) && !strcmp(a->task->label, b->task->label) &&
           !strcmp(a->settings_label, b->settings_label);
}

void report_against(struct report *now, const struct report *old)
{
    size_t room = (size_t)now->run->n_cells + 1;
    struct against *list = arena_alloc(now->arena, room * sizeof *list);
    struct pair *pairs = xcalloc(room, sizeof *pairs);
    int *group = xcalloc(room, sizeof *group), n = 0;
    for (int i = 0; i < now->run->n_cells; i++) {
        const struct cell_stats *b = &now->cells[i];
        for (int k = 0; k < old->run->n_cells; k++) {
            const struct cell_stats *a = &old->cells[k];
            if (b->cell->task->is_text || !same_cell(a->cell, b->cell))
                continue;
            struct matched m;
            match(&m, a, b, &list[n].dropped);
            compare_matched(&pairs[n], &m);
            compare_lengths(&list[n], &m, a, b);
            matched_release(&m);
            pairs[n].a = k;
            pairs[n].b = i;
            list[n].differs = differences(old, now, a->cell, b->cell);
            group[n++] = b->column;
            break;
        }
    }
    report_holm(pairs, n, group);
    for (int i = 0; i < n; i++)
        list[i].pair = pairs[i];
    free(pairs);
    free(group);
    now->old = old;
    now->against = list;
    now->n_against = n;
}
