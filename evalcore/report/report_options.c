/* Options that are scored by their likelihood: what each of two metrics makes of the same numbers, side by
 * side (contract: report_parts.h). The first one's verdicts stand in all other tables. */
#include <math.h>
#include <string.h>

#include "evalcore/base/shown.h"
#include "evalcore/report/report_parts.h"

/* Its names, "acc" and "acc_norm". */
static const char *first_name(const struct report *r, const struct cell_stats *s)
{
    const char *names = s->cell->task->option_metrics;
    return arena_strndup(r->arena, names, strcspn(names, ","));
}

static const char *difference_of(const struct report *r, const struct pair *p)
{
    return p && p->problems
               ? arena_printf(r->arena, "%s%s", report_difference(r->arena, p), report_pair_sign(r->arena, p))
               : "-";
}

void report_add_options(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d,
        "An option's log-likelihood is the sum over its tokens. acc: the option with the largest is right; "
        "acc_norm: the one with the largest over the number of its characters. Percent of problems with a 95 "
        "% interval; differences from the baseline in points, paired by problem, with the marks of the table "
        "of accuracies, adjusted within each metric. The first metric of a task is the one of all other "
        "tables.");
    static const struct table_column columns[] = {
        {"task", 0}, {"policy", 0}, {"metric", 0}, {"% correct", CELL_NUMBER}, {"difference", CELL_NUMBER}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < r->run->n_cells; i++)
        for (int k = 0; k < 2 && r->cells[i].second_name; k++) {
            const struct cell_stats *s = &r->cells[i];
            table_row(d, t);
            table_add(d, t, 0, "%s", k ? "" : s->cell->task->label);
            table_add(d, t, s->cell->is_baseline ? CELL_STRONG : 0, "%s",
                      k ? "" : report_full_name(r, s->row));
            table_add(d, t, 0, "%s", k ? s->second_name : first_name(r, s));
            table_add(d, t, 0, "%s",
                      k ? report_percent(r->arena, s->second, s->second_ci)
                        : report_percent(r->arena, s->accuracy, s->ci));
            table_add(d, t, 0, "%s",
                      difference_of(r, k ? report_second_pair_of(r, i) : report_pair_of(r, i)));
        }
}

static const char *shown_label(const struct report *r, const char *label)
{
    struct str clean = {0};
    shown_add(&clean, label, strlen(label));
    const char *kept = arena_strdup(r->arena, str_text(&clean));
    str_release(&clean);
    return kept;
}

void report_options_text(struct str *out, const struct report *r)
{
    const char *last = "";
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell_stats *s = &r->cells[i];
        if (!s->second_name)
            continue;
        if (strcmp(last, s->cell->task->label) != 0)
            str_printf(out, "\n%s  %s, %s; difference by %s\n", shown_label(r, s->cell->task->label),
                       first_name(r, s), s->second_name, s->second_name);
        last = s->cell->task->label;
        str_printf(out, "  %-28s  %-14s  %-14s  %s\n", shown_label(r, report_full_name(r, s->row)),
                   report_percent(r->arena, s->accuracy, s->ci),
                   report_percent(r->arena, s->second, s->second_ci),
                   difference_of(r, report_second_pair_of(r, i)));
    }
}
