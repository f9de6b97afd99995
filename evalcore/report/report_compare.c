/* The comparisons of a report: with the baseline, what sets of this size can show at all, and with another
 * run. */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *p_text(struct arena *a, double p)
{
    if (isnan(p))
        return "";
    return p < 0.001 ? arena_printf(a, "%.0e", p) : arena_printf(a, "%.3f", p);
}

static const char *test_text(const char *test)
{
    return !strcmp(test, "mcnemar_exact")      ? "exact McNemar"
           : !strcmp(test, "stratified_exact") ? "exact stratified"
           : !strcmp(test, "signflip_exact")   ? "exact sign flip"
           : *test                             ? "random sign flips"
                                               : "";
}

/* The difference, p, both adjusted p values and the mark, whose colour is on the p that earned it. */
static void difference_cells(struct doc *d, struct table *t, const struct pair *p, const char *none)
{
    const char *sign = report_mark_sign(p->mark);
    if (p->problems)
        table_add(d, t, 0, "%+.1f [%+.1f, %+.1f]", 100 * p->delta, 100 * p->ci.low, 100 * p->ci.high);
    else
        table_add(d, t, CELL_MUTED, "%s", none);
    table_add(d, t, 0, "%s", p_text(d->arena, p->p));
    table_add(d, t, report_differs_flags(p), "%s", p_text(d->arena, p->holm));
    table_add(d, t, report_within_flags(p), "%s", p_text(d->arena, p->noninferior_holm));
    table_add(d, t, report_pair_flags(p), "%s", sign);
}

static void pair_cells(struct doc *d, struct table *t, const struct pair *p)
{
    table_add(d, t, 0, "%d", p->problems);
    table_add(d, t, 0, "%d", p->both);
    table_add(d, t, 0, "%d", p->only_a);
    table_add(d, t, 0, "%d", p->only_b);
    table_add(d, t, 0, "%d", p->neither);
    difference_cells(d, t, p, "no shared problem yet");
    table_add(d, t, CELL_MUTED, "%s", test_text(p->test));
}

/* What this many problems can show, over the comparisons of a task. */
struct limits {
    int compared, problems, samples, is_single, is_stratified;
    int can_differ;    /* some outcome of some comparison would have been marked */
    double typical;    /* spread, median */
    long min_problems; /* problems that could be marked if each went the same way */
};

/* Fewest problems that reach alpha when k problems gave p: it falls by one factor a problem. */
static double one_way(double p, long k, double alpha)
{
    return k > 0 && p > 0 ? ceil(log(alpha / 2) * (double)k / log(p / 2) - 1e-9) : INFINITY;
}

/* Most comparisons that one model has in the task. */
static int largest_family(const struct report *r, int column)
{
    int max = 0;
    for (int i = 0; i < r->n_pairs; i++) {
        int n = 0;
        for (int k = 0; k < r->n_pairs; k++)
            n += r->cells[r->pairs[k].b].column == column && !isnan(r->pairs[k].p) &&
                 !strcmp(r->cells[r->pairs[k].b].cell->model, r->cells[r->pairs[i].b].cell->model);
        max = n > max ? n : max;
    }
    return max;
}

static struct limits limits_of(const struct report *r, int column)
{
    struct limits l = {0};
    double *spread = xmalloc((size_t)(r->n_pairs + 1) * sizeof *spread), min_problems = INFINITY;
    size_t n = 0;
    l.compared = largest_family(r, column);
    for (int i = 0; i < r->n_pairs; i++) {
        const struct pair *p = &r->pairs[i];
        if (r->cells[p->b].column != column || p->problems < 2 || (n && p->is_single != l.is_single))
            continue;
        spread[n++] = p->spread;
        l.is_single = p->is_single;
        l.problems = p->problems > l.problems ? p->problems : l.problems;
        l.samples = r->cells[p->b].cell->samples;
        l.can_differ |= (p->could & (1U << MARK_LOWER | 1U << MARK_HIGHER)) != 0;
        if (!strcmp(p->test, "stratified_exact")) {
            l.is_stratified = 1;
            min_problems = fmin(min_problems, one_way(p->best.lower, p->best.can_lose, 0.05 / l.compared));
            min_problems = fmin(min_problems, one_way(p->best.higher, p->best.can_gain, 0.05 / l.compared));
        }
    }
    stat_sort(spread, n);
    l.typical = n ? stat_quantile(spread, n, 0.5) : NAN;
    l.min_problems = l.is_stratified ? (isfinite(min_problems) ? (long)min_problems : -1)
                     : l.compared    ? stat_problems_to_differ(0.05 / l.compared)
                                     : -1;
    free(spread);
    return l;
}

static void limits_row(struct doc *d, struct table *t, const struct report *r, int column)
{
    struct limits l = limits_of(r, column);
    if (!l.problems)
        return;
    double alpha = 0.05 / l.compared, found = NAN;
    struct interval half = stat_wilson(l.problems / 2.0, l.problems);
    if (l.is_single)
        found = stat_mdd_mcnemar(l.problems, l.typical, alpha);
    else if (!l.is_stratified)
        found = stat_mdd_paired((size_t)l.problems, l.typical, alpha);
    table_row(d, t);
    table_add(d, t, 0, "%s", r->columns[column]);
    table_add(d, t, 0, "%d \xC3\x97 %d", l.problems, l.samples);
    table_add(d, t, 0, "%.1f points", 100.0 / l.problems);
    table_add(d, t, 0, "%.0f to %.0f", 100 * half.low, 100 * half.high);
    if (!l.can_differ)
        table_add(d, t, CELL_STRONG, "none");
    else if (isnan(found))
        table_add(d, t, CELL_MUTED, "-");
    else
        table_add(d, t, CELL_STRONG, "%.0f points", 100 * found);
    table_add(d, t, 0, l.min_problems < 0 ? "-" : "%ld", l.min_problems);
    if (l.is_single)
        table_add(d, t, CELL_MUTED, "cells differ from the baseline on %.0f %% of the problems (median)",
                  100 * l.typical);
    else if (l.is_stratified)
        table_add(d, t, CELL_MUTED, "several samples a problem: no formula tells the size");
    else
        table_add(d, t, CELL_MUTED, "standard deviation of the problems' differences %.2f (median)",
                  l.typical);
}

static void add_limits(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d,
        "What sets of this size can show. A true difference from the baseline that is smaller "
        "than the fifth column would be missed more than one time in five (two-sided test at 5 "
        "%, divided by the number of the model's cells compared in the task: the first of them that can "
        "be marked has to pass that). \"none\": no outcome would have been marked; \"-\": some would, but no "
        "size is sure to be. "
        "The sixth column is the fewest problems that could be marked at all, if each "
        "of them went the same way.");
    static const struct table_column columns[] = {{"task", 0},
                                                  {"problems \xC3\x97 samples", CELL_NUMBER},
                                                  {"one problem is", CELL_NUMBER},
                                                  {"95 % interval at 50 %", CELL_NUMBER},
                                                  {"smallest difference found", CELL_NUMBER},
                                                  {"fewest problems", CELL_NUMBER},
                                                  {"because", 0}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int col = 0; col < r->n_columns; col++)
        limits_row(d, t, r, col);
}

void report_add_pairs(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d, arena_printf(
               d->arena,
               "Problem by problem: solved by both, by the baseline only, by the cell only, by neither (with "
               "several samples: by more than half of them); difference in points with its 95 %% interval; "
               "two-sided p, the same adjusted for the number of comparisons of the model in the task "
               "(Holm), and the "
               "one-sided p "
               "of a loss of %s or more, adjusted likewise. %s",
               report_points(d->arena, r->run->margin), report_interval_note));
    static const struct table_column columns[] = {{"cell", 0},
                                                  {"problems", CELL_NUMBER},
                                                  {"both", CELL_NUMBER},
                                                  {"only baseline", CELL_NUMBER},
                                                  {"only cell", CELL_NUMBER},
                                                  {"neither", CELL_NUMBER},
                                                  {"difference", CELL_NUMBER},
                                                  {"p, unadjusted", CELL_NUMBER},
                                                  {"p, Holm-adjusted", CELL_NUMBER},
                                                  {"p of a loss, Holm-adjusted", CELL_NUMBER},
                                                  {"mark", 0},
                                                  {"test", 0}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    static const char *const same[] = {[MARK_LOWER] = "lower than the baseline",
                                       [MARK_HIGHER] = "higher than the baseline",
                                       [MARK_WITHIN] = "as good as the baseline, within the margin",
                                       [MARK_OPEN] = "not decided",
                                       [MARK_TOO_FEW] = "too few problems for any verdict"};
    for (int col = 0; col < r->n_columns; col++) {
        int last_base = -1;
        for (int i = 0; i < r->n_pairs; i++) {
            const struct pair *p = &r->pairs[i];
            if (r->cells[p->b].column != col)
                continue;
            if (p->a != last_base)
                table_group(d, t,
                            arena_printf(d->arena, "%s, against %s", r->columns[col],
                                         report_full_name(r, r->cells[p->a].row)));
            last_base = p->a;
            table_row(d, t);
            table_add(d, t, 0, "%s", report_full_name(r, r->cells[p->b].row));
            table_cell_of(d, t, r->cells[p->b].cell->id);
            pair_cells(d, t, p);
            if (p->mark != MARK_NONE)
                table_same(d, t, "%s", p->is_incomplete ? "answers are missing" : same[p->mark]);
        }
    }
    add_limits(d, r);
}

static void against_row(struct doc *d, struct table *t, const struct report *r, const struct against *x)
{
    const struct pair *p = &x->pair;
    table_row(d, t);
    table_add(d, t, 0, "%s", report_full_name(r, r->cells[p->b].row));
    table_add(d, t, 0, "%d", p->problems);
    if (x->dropped)
        table_small(d, t, "%d not in both", x->dropped);
    report_number_cell(d, t, 100 * p->accuracy_a, 1);
    report_number_cell(d, t, 100 * p->accuracy_b, 1);
    table_add(d, t, 0, "%d", p->only_a);
    table_add(d, t, 0, "%d", p->only_b);
    difference_cells(d, t, p, "no shared problem");
    report_number_cell(d, t, x->tokens_a, 0);
    report_number_cell(d, t, x->tokens_b, 0);
    if (isfinite(x->length_ratio))
        table_add(d, t, 0, "%+.1f %%", 100 * (x->length_ratio - 1));
    else
        table_add(d, t, CELL_MUTED, "-");
    table_add(d, t, 0, "%s", p_text(d->arena, x->length_p));
    table_add(d, t, *x->differs ? CELL_BAD : CELL_MUTED, "%s", *x->differs ? x->differs : "-");
}

void report_add_against(struct doc *d, const struct report *r)
{
    doc_paragraph(d,
                  "The other run: %s. %d of %d cells here have a counterpart there (same label, task, "
                  "model and swept settings; another model only where there is no choice).",
                  r->old->run->dir, r->n_against, r->run->n_cells);
    if (!r->n_against)
        return;
    struct table *t = doc_table(
        d,
        arena_printf(d->arena,
                     "Accuracy in percent, old and new, on the problems that both have; difference in points "
                     "with its 95 %% interval, p and the same after Holm's adjustment, and the one-sided p "
                     "of a loss of %s or more, adjusted likewise; mean completion length, its change "
                     "(geometric mean over problems) and a sign-flip test of that change. %s",
                     report_points(d->arena, r->run->margin), report_interval_note));
    static const struct table_column columns[] = {{"cell", 0},
                                                  {"problems", CELL_NUMBER},
                                                  {"old", CELL_NUMBER},
                                                  {"new", CELL_NUMBER},
                                                  {"only old", CELL_NUMBER},
                                                  {"only new", CELL_NUMBER},
                                                  {"difference", CELL_NUMBER},
                                                  {"p, unadjusted", CELL_NUMBER},
                                                  {"p, Holm-adjusted", CELL_NUMBER},
                                                  {"p of a loss, Holm-adjusted", CELL_NUMBER},
                                                  {"mark", 0},
                                                  {"old tokens", CELL_NUMBER},
                                                  {"new tokens", CELL_NUMBER},
                                                  {"length", CELL_NUMBER},
                                                  {"length p", CELL_NUMBER},
                                                  {"not the same", 0}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    int column = -1;
    for (int i = 0; i < r->n_against; i++) {
        const struct against *x = &r->against[i];
        if (r->cells[x->pair.b].column != column)
            table_group(d, t, r->columns[column = r->cells[x->pair.b].column]);
        against_row(d, t, r, x);
    }
}
