/* Texts: bits per byte under each policy, and how far its distributions are from those of full attention.
 *
 * A text has no right and wrong, so its cells are in no table of accuracies. They are compared with the
 * baseline window by window, since the same window is hard or easy for all: the differences of bits per byte
 * get a t interval and a sign-flip test, as scores of problems do. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/report/report_figures.h"
#include "evalcore/report/report_parts.h"

/* Both cells have the same windows, because they have the same task. */
static void compare_windows(struct pair *out, const struct cell_stats *a, const struct cell_stats *b)
{
    size_t n = 0, windows = (size_t)b->cell->task->n_problems;
    double *d = xmalloc((windows + 1) * sizeof *d);
    enum signflip how;
    for (size_t i = 0; i < windows; i++)
        if (a->jobs[i] && b->jobs[i])
            d[n++] = b->sum[i] / (double)b->jobs[i] - a->sum[i] / (double)a->jobs[i];
    *out = (struct pair){.problems = (int)n,
                         .delta = stat_mean(d, n),
                         .ci = stat_mean_t(d, n),
                         .p = n ? stat_signflip(d, n, 0, &how) : NAN,
                         .holm = NAN};
    free(d);
}

void report_text_pairs(struct report *r)
{
    int *group = arena_alloc(r->arena, ((size_t)r->run->n_cells + 1) * sizeof *group);
    r->text_pairs = arena_alloc(r->arena, ((size_t)r->run->n_cells + 1) * sizeof *r->text_pairs);
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = &r->run->cells[i];
        if (!c->task->is_text || c->baseline < 0 || c->baseline == i)
            continue;
        struct pair *p = &r->text_pairs[r->n_text_pairs];
        compare_windows(p, &r->cells[c->baseline], &r->cells[i]);
        p->a = c->baseline;
        p->b = i;
        group[r->n_text_pairs++] = r->cells[i].panel;
    }
    report_holm(r->text_pairs, r->n_text_pairs, group);
}

const struct pair *report_text_pair_of(const struct report *r, int cell)
{
    for (int i = 0; i < r->n_text_pairs; i++)
        if (r->text_pairs[i].b == cell)
            return &r->text_pairs[i];
    return NULL;
}

static void difference_cells(struct doc *d, struct table *t, const struct pair *p)
{
    unsigned flags = p && p->holm < 0.05 ? (p->delta > 0 ? CELL_BAD : CELL_GOOD) : 0;
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
    report_number_cell(d, t, s->kv_density, 3);
    report_number_cell(d, t, s->aux_density, 3);
    report_number_cell(d, t, s->peak_tokens, 0);
}

struct likelihood_figures report_likelihood_figures(const struct likelihood *l)
{
    struct likelihood_bucket sum = likelihood_total(l);
    return (struct likelihood_figures){sum.bytes ? sum.bits / (double)sum.bytes : NAN,
                                       sum.tokens ? sum.kl / sum.tokens : NAN,
                                       sum.tokens ? (double)sum.agree / sum.tokens : NAN};
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
           "KV density: KV tokens read over those that full attention would have read; aux: what was read to "
           "choose them, in the same unit; peak tokens: the most held at once (mean over windows).");
    static const struct table_column columns[] = {{"policy", 0},
                                                  {"windows", CELL_NUMBER},
                                                  {"bits per byte", CELL_NUMBER},
                                                  {"difference", CELL_NUMBER},
                                                  {"Holm p", CELL_NUMBER},
                                                  {"KL", CELL_NUMBER},
                                                  {"top-1", CELL_NUMBER},
                                                  {"KV density", CELL_NUMBER},
                                                  {"aux", CELL_NUMBER},
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
