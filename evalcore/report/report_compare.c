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
    return !strcmp(test, "mcnemar_exact")    ? "exact McNemar"
           : !strcmp(test, "signflip_exact") ? "exact sign flip"
           : *test                           ? "random sign flips"
                                             : "";
}

static void pair_cells(struct doc *d, struct table *t, const struct pair *p)
{
    table_add(d, t, 0, "%d", p->problems);
    table_add(d, t, 0, "%d", p->both);
    table_add(d, t, 0, "%d", p->only_a);
    table_add(d, t, 0, "%d", p->only_b);
    table_add(d, t, 0, "%d", p->neither);
    unsigned flags = p->holm < 0.05 ? p->delta < 0 ? CELL_BAD : CELL_GOOD : 0;
    if (p->problems)
        table_add(d, t, flags, "%+.1f [%+.1f, %+.1f]", 100 * p->delta, 100 * p->ci.low, 100 * p->ci.high);
    else
        table_add(d, t, CELL_MUTED, "no shared problem yet");
    table_add(d, t, 0, "%s", p_text(d->arena, p->p));
    table_add(d, t, flags, "%s", p_text(d->arena, p->holm));
    table_add(d, t, CELL_MUTED, "%s", test_text(p->test));
}

/* What this many problems can show. */
static void limits_row(struct doc *d, struct table *t, const struct report *r, int column)
{
    double *spread = xmalloc((size_t)(r->n_pairs + 1) * sizeof *spread);
    size_t n = 0;
    int problems = 0, samples = 0, is_single = 1;
    for (int i = 0; i < r->n_pairs; i++) {
        const struct pair *p = &r->pairs[i];
        if (r->cells[p->b].column != column || p->problems < 2 || (n && p->is_single != is_single))
            continue;
        spread[n++] = p->spread;
        is_single = p->is_single;
        problems = p->problems > problems ? p->problems : problems;
        samples = r->cells[p->b].cell->samples;
    }
    if (n) {
        stat_sort(spread, n);
        double typical = stat_quantile(spread, n, 0.5);
        struct interval half = stat_wilson(problems / 2.0, problems);
        double found =
            is_single ? stat_mdd_mcnemar(problems, typical) : stat_mdd_paired((size_t)problems, typical);
        table_row(d, t);
        table_add(d, t, 0, "%s", r->columns[column]);
        table_add(d, t, 0, "%d \xC3\x97 %d", problems, samples);
        table_add(d, t, 0, "%.1f points", 100.0 / problems);
        table_add(d, t, 0, "\xC2\xB1%.0f points", 50 * (half.high - half.low));
        table_add(d, t, CELL_STRONG, "%.0f points", 100 * found);
        if (is_single)
            table_add(d, t, CELL_MUTED, "cells differ from the baseline on %.0f %% of the problems (median)",
                      100 * typical);
        else
            table_add(d, t, CELL_MUTED, "standard deviation of the problems' differences %.2f (median)",
                      typical);
    }
    free(spread);
}

static void add_limits(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(d, "What sets of this size can show. A true difference from the baseline "
                                   "that is smaller than the fifth column "
                                   "would be missed more than one time in five (two-sided test at 5 %, "
                                   "before the adjustment for several cells).");
    static const char *const columns[] = {"task",
                                          "problems \xC3\x97 samples",
                                          "one problem is",
                                          "95 % interval at 50 %",
                                          "smallest difference found",
                                          "because"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(d, t, columns[i], i > 0 && i < 5 ? CELL_NUMBER : 0);
    for (int col = 0; col < r->n_columns; col++)
        limits_row(d, t, r, col);
}

void report_add_pairs(struct doc *d, const struct report *r)
{
    if (!r->n_pairs)
        return;
    doc_section(d, "pairs", "Compared with the baseline");
    struct table *t = doc_table(d, "Problem by problem: solved by both, by the baseline only, by the cell "
                                   "only, by neither (with several samples: "
                                   "by more than half of them); difference in points with its 95 % interval; "
                                   "two-sided p, and the same adjusted "
                                   "for the number of comparisons in the task (Holm).");
    static const char *const columns[] = {"cell",    "problems",   "both", "only baseline", "only cell",
                                          "neither", "difference", "p",    "Holm p",        "test"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(d, t, columns[i], i > 0 && i < 9 ? CELL_NUMBER : 0);
    for (int col = 0; col < r->n_columns; col++) {
        int last_base = -1;
        for (int i = 0; i < r->n_pairs; i++) {
            const struct pair *p = &r->pairs[i];
            if (r->cells[p->b].column != col)
                continue;
            if (p->a != last_base)
                table_group(d, t,
                            arena_printf(d->arena, "%s, against %s", r->columns[col],
                                         report_row_name(r, &r->cells[p->a])));
            last_base = p->a;
            table_row(d, t);
            table_add(d, t, 0, "%s", report_row_name(r, &r->cells[p->b]));
            pair_cells(d, t, p);
        }
    }
    add_limits(d, r);
}

void report_add_against(struct doc *d, const struct report *old, const struct report *now,
                        const struct against *list, int n)
{
    doc_section(d, "against", REPORT_AGAINST_TITLE);
    doc_paragraph(d,
                  "The other run: %s. %d of %d cells here have a counterpart there (same label, task and "
                  "swept settings).",
                  old->run->dir, n, now->run->n_cells);
    if (!n)
        return;
    struct table *t = doc_table(d, "Accuracy in percent, old and new, on the problems that both have; "
                                   "difference in points with its 95 % interval "
                                   "and Holm-adjusted p; mean completion length, its change (geometric mean "
                                   "over problems) and a sign-flip test "
                                   "of that change.");
    static const char *const columns[] = {"cell",       "problems",   "old",      "new",         "only old",
                                          "only new",   "difference", "p",        "Holm p",      "old tokens",
                                          "new tokens", "length",     "length p", "not the same"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_column(d, t, columns[i], i > 0 && i < 13 ? CELL_NUMBER : 0);
    int column = -1;
    for (int i = 0; i < n; i++) {
        const struct pair *p = &list[i].pair;
        if (now->cells[p->b].column != column)
            table_group(d, t, now->columns[column = now->cells[p->b].column]);
        unsigned flags = p->holm < 0.05 ? p->delta < 0 ? CELL_BAD : CELL_GOOD : 0;
        table_row(d, t);
        table_add(d, t, 0, "%s", report_row_name(now, &now->cells[p->b]));
        table_add(d, t, 0, "%d", p->problems);
        if (list[i].dropped)
            table_small(d, t, "%d not in both", list[i].dropped);
        report_number_cell(d, t, 100 * p->accuracy_a, 1);
        report_number_cell(d, t, 100 * p->accuracy_b, 1);
        table_add(d, t, 0, "%d", p->only_a);
        table_add(d, t, 0, "%d", p->only_b);
        if (p->problems)
            table_add(d, t, flags, "%+.1f [%+.1f, %+.1f]", 100 * p->delta, 100 * p->ci.low, 100 * p->ci.high);
        else
            table_add(d, t, CELL_MUTED, "no shared problem");
        table_add(d, t, 0, "%s", p_text(d->arena, p->p));
        table_add(d, t, flags, "%s", p_text(d->arena, p->holm));
        report_number_cell(d, t, list[i].tokens_a, 0);
        report_number_cell(d, t, list[i].tokens_b, 0);
        if (isfinite(list[i].length_ratio))
            table_add(d, t, 0, "%+.1f%%", 100 * (list[i].length_ratio - 1));
        else
            table_add(d, t, CELL_MUTED, "-");
        table_add(d, t, 0, "%s", p_text(d->arena, list[i].length_p));
        table_add(d, t, *list[i].differs ? CELL_BAD : CELL_MUTED, "%s",
                  *list[i].differs ? list[i].differs : "-");
    }
}
