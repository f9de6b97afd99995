/* The table of figures (contract: report_figures.h), in the order of the page: each kind for all panels, so
 * that tasks stand beside each other. */
#include "evalcore/report/report_figures.h"

#include <string.h>

static const struct report_figure figures[] = {
    {"figures", "accuracy_reads", "accuracy against KV reads", report_has_reads, report_draw_reads},
    {"figures", "length_cdf", "completion lengths", report_has_lengths, report_draw_lengths},
    {"figures", "heat", "over K and L", report_has_k_and_l, report_draw_pooled_k_and_l},
    {"figures", "heat", "over K and L", report_has_only_k_and_l, report_draw_k_and_l},
    {"more-figures", "accuracy_budget", "accuracy against the budget", report_has_budgets,
     report_draw_budgets},
    {"more-figures", "frontier_reads", "frontier over reads, limits and votes", report_has_frontier,
     report_draw_frontier_reads},
    {"more-figures", "frontier_peak", "frontier over memory, limits and votes", report_has_frontier,
     report_draw_frontier_peak},
    {"more-figures", "bars", "accuracy and length as bars", report_has_lengths, report_draw_bars},
    {"more-figures", "heat", "over K and L", report_has_one_of_k_and_l, report_draw_k_and_l},
    {"more-figures", "compression", "compression by length", report_has_compression, report_draw_compression},
    {"more-figures", "heads", "by head", report_has_heads, report_draw_heads},
    {"more-figures", "length_quantiles", "lengths by share", report_has_lengths, report_draw_quantiles},
    {"likelihood", "divergence", "divergence by position", report_has_positions, report_draw_divergence},
    {"likelihood", "bits", "bits per byte by position", report_has_positions, report_draw_bits},
    {"problems", "problems", "problem by problem", report_has_matrix, report_draw_matrix},
};

void report_add_figures(struct doc *d, const struct report *r)
{
    const char *section = d->sections[d->n_sections - 1].id;
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        for (int panel = 0; panel < r->n_panels; panel++)
            if (r->panels[panel].task->is_text == !strcmp(section, "likelihood") &&
                !strcmp(figures[i].section, section) && figures[i].applies(r, panel))
                figures[i].draw(d, r, panel, &figures[i]);
    if (!strcmp(section, "more-figures"))
        report_add_margins(d, r);
}
