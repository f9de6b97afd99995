/* The section "Compared with the paper". */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <string.h>

static int is_tokens(const struct published *x)
{
    return !strcmp(x->metric, "mean_tokens");
}

static void value_cell(struct doc *d, struct table *t, const struct published *x, const char *word, double v,
                       struct interval ci)
{
    double scale = is_tokens(x) ? 1 : 100;
    int digits = is_tokens(x) ? 0 : 1;
    if (!isfinite(v)) {
        table_add(d, t, CELL_MUTED, "-");
        return;
    }
    table_add(d, t, 0, "%s%s%.*f", word, *word ? " " : "", digits, scale * v);
    if (isfinite(ci.low) && isfinite(ci.high))
        table_small(d, t, "[%.*f, %.*f]", digits, scale * ci.low, digits, scale * ci.high);
}

static void add_row(struct doc *d, struct table *t, const struct report *r, const struct published *x)
{
    const struct cell_stats *s = &r->cells[x->cell];
    const char *differs = report_published_differs(r, x);
    table_row(d, t);
    table_add(d, t, 0, "%s", report_full_name(r, s->row));
    table_small(d, t, "%s, %s", x->paper, x->where);
    table_add(d, t, 0, "%s", x->n_cells == 1 && strcmp(x->metric, "score") ? s->cell->task->label : x->task);
    table_add(d, t, 0, "%s", is_tokens(x) ? "mean tokens" : x->metric);
    value_cell(d, t, x, x->word, x->value, x->theirs_ci);
    value_cell(d, t, x, "", x->measured, x->ci);
    table_add(d, t, 0, "%s", report_published_verdict(r, x));
    if (*differs)
        table_small(d, t, "%s", differs);
}

static void add_summary(struct doc *d, const struct report *r)
{
    int n = 0, low = 0, answered = 0;
    for (int i = 0; i < r->n_published; i++) {
        const struct published *x = &r->published[i];
        answered += isfinite(x->measured);
        n += isfinite(x->p);
        low += fmax(x->p, x->p_answers) < 0.05;
    }
    doc_paragraph(d,
                  "%d published figures belong to this run; %d comparisons with its cells, %d of them with "
                  "results.",
                  r->n_figures, r->n_published, answered);
    if (n > 1)
        doc_paragraph(d,
                      "%d of %d tested comparisons are told apart; without any true difference chance alone "
                      "would bring up to %.1f.",
                      low, n, 0.05 * n);
}

void report_add_published(struct doc *d, const struct report *r)
{
    add_summary(d, r);
    if (!r->n_published) {
        doc_paragraph(d, "No cell has the model, policy, options and task of any of them, so nothing is "
                         "compared. A figure's model is looked for in the path of the run's.");
        return;
    }
    struct table *t = doc_table(
        d,
        "The paper's figures and ours: accuracy and scores in percent, with 95 % intervals; the paper's by "
        "its number of problems, as one answer each. Both sides are taken as independent, since a paper "
        "does not say which problems it solved; on the same problems the test is cautious.");
    static const struct table_column columns[] = {{"policy", 0},         {"task", 0},
                                                  {"metric", 0},         {"paper", CELL_NUMBER},
                                                  {"ours", CELL_NUMBER}, {"verdict", 0}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < r->n_published; i++)
        add_row(d, t, r, &r->published[i]);
}
