/* Texts: bits per byte under each policy, and how far its distributions are from those of full attention. A
 * text has no right and wrong, so its cells are in no table of accuracies. */
#include <math.h>

#include "evalcore/report/figures/report_figures.h"
#include "evalcore/report/report_parts.h"

static void difference_cells(struct doc *d, struct table *t, const struct pair *p)
{
    int is_told = p && !p->is_incomplete && p->holm < 0.05; /* the colour is a verdict */
    unsigned flags = !is_told ? 0 : p->delta > 0 ? CELL_BAD : CELL_GOOD;
    if (!p || !p->problems) {
        table_add(d, t, CELL_MUTED, "-");
        table_add(d, t, CELL_MUTED, "-");
        return;
    }
    table_add(d, t, flags, "%+.4f", p->delta);
    if (isfinite(p->ci.low))
        table_small(d, t, "[%+.4f, %+.4f]", p->ci.low, p->ci.high);
    if (isnan(p->holm))
        table_add(d, t, CELL_MUTED, "-");
    else
        table_add(d, t, flags, "%.3g", p->holm);
}

static void text_row(struct doc *d, struct table *t, const struct report *r, int i)
{
    const struct cell_stats *s = &r->cells[i];
    const struct cell *c = s->cell;
    struct likelihood_figures f = report_likelihood_figures(&s->likelihood);
    int errors = s->count[VERDICT_ERROR];
    table_row(d, t);
    table_add(d, t, c->is_baseline ? CELL_STRONG : 0, "%s", report_row_name(r, s->row));
    table_add(d, t, c->n_records < c->n_expected || errors ? CELL_BAD : 0, "%d/%d", c->n_records - errors,
              c->n_expected);
    if (errors)
        table_small(d, t, "%d failed", errors);
    report_number_cell(d, t, f.bits_per_byte, 4);
    difference_cells(d, t, report_text_pair_of(r, i));
    report_number_cell(d, t, f.kl, 5);
    report_number_cell(d, t, 100 * f.top1, 2);
    report_number_cell(d, t, s->total_density, 3);
    report_number_cell(d, t, s->kv_density, 3);
    report_number_cell(d, t, s->aux_density, 3);
    report_number_cell(d, t, s->peak_tokens, 0);
}

void report_add_likelihood(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d, "Bits per byte: -log2 of the probabilities of the scored tokens over the bytes of their text, all "
           "windows together; lower is better. Its difference from the baseline is the mean over windows, "
           "with a 95 % t interval and the p of a sign-flip test after Holm's adjustment. KL: divergence of "
           "the policy's next-token distribution from that of full attention on the same tokens, in nats, "
           "over the whole vocabulary. Top-1: percent of tokens before which both have the same likeliest "
           "token. "
           "Total reads: tokens attended and read to choose them, over those that full attention would have "
           "read; "
           "peak tokens: the most held at once (mean over windows).");
    static const struct table_column columns[] = {{"policy", 0},
                                                  {"windows", CELL_NUMBER},
                                                  {"bits per byte", CELL_NUMBER},
                                                  {"difference", CELL_NUMBER},
                                                  {"Holm p", CELL_NUMBER},
                                                  {"KL", CELL_NUMBER},
                                                  {"top-1", CELL_NUMBER},
                                                  {"total reads", CELL_NUMBER},
                                                  {"attended", CELL_NUMBER},
                                                  {"to choose", CELL_NUMBER},
                                                  {"peak tokens", CELL_NUMBER}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int panel = 0; panel < r->n_panels; panel++) {
        if (!r->panels[panel].task->is_text)
            continue;
        table_group(d, t, r->panels[panel].title);
        for (int i = 0; i < r->run->n_cells; i++)
            if (r->cells[i].panel == panel)
                text_row(d, t, r, i);
    }
    report_add_figures(d, r);
}
