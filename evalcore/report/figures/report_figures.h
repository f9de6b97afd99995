#ifndef EVALCORE_REPORT_FIGURES_REPORT_FIGURES_H
#define EVALCORE_REPORT_FIGURES_REPORT_FIGURES_H

#include "evalcore/report/data/report_data.h"
#include "evalcore/page/doc.h"

/* A report's figures, drawn from its numbers into its document. Each is drawn once per panel (task, model and
 * swept settings). To add one, write a row in the table of report_figures.c and the two functions that it
 * names. */
struct report_figure {
    const char *section;                               /* id of the section that it stands in */
    const char *name;                                  /* its files are NAME_PANEL.svg */
    const char *title;                                 /* behind the panel's title */
    int (*applies)(const struct report *r, int panel); /* is there anything to draw? */
    void (*draw)(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
};

/* Draws those figures of the section that d was given last which apply. Texts have the section "likelihood"
 * for theirs, and are in no other. */
void report_add_figures(struct doc *d, const struct report *r);

/* The first screen's figure, where there are two settings to show. */
void report_add_lead(struct doc *d, const struct report *r);

/* "relay: accuracy against budget", "accuracy_budget_relay.svg"; in the arena. */
const char *report_figure_title(struct arena *a, const struct panel *p, const struct report_figure *f);
const char *report_figure_file(struct arena *a, const struct panel *p, const struct report_figure *f);
/* Is cell i one of the panel, and has it results? */
int report_is_shown(const struct report *r, int i, int panel);

/* What a mark says about its cell, one line each: the policy, accuracy, reads and their parts, budget,
 * length, memory. In the arena. */
const char *report_tip(const struct report *r, const struct cell_stats *s);

/* The table behind the figures of frontiers. */
void report_add_margins(struct doc *d, const struct report *r);

/* The section of step times; needs r->steps. */
void report_add_steps(struct doc *d, const struct report *r);

/* The functions of the table. */
int report_has_budgets(const struct report *r, int panel);
void report_draw_budgets(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
int report_has_reads(const struct report *r, int panel);
void report_draw_reads(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
int report_has_frontier(const struct report *r, int panel);
void report_draw_frontier_reads(struct doc *d, const struct report *r, int panel,
                                const struct report_figure *f);
void report_draw_frontier_peak(struct doc *d, const struct report *r, int panel,
                               const struct report_figure *f);
int report_has_lengths(const struct report *r, int panel);
void report_draw_lengths(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
void report_draw_quantiles(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
void report_draw_bars(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
int report_has_k_and_l(const struct report *r, int panel);
void report_draw_k_and_l(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
void report_draw_pooled_k_and_l(struct doc *d, const struct report *r, int panel,
                                const struct report_figure *f);
int report_has_compression(const struct report *r, int panel);
void report_draw_compression(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
int report_has_heads(const struct report *r, int panel);
void report_draw_heads(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
int report_has_positions(const struct report *r, int panel);
void report_draw_divergence(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
void report_draw_bits(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
int report_has_matrix(const struct report *r, int panel);
void report_draw_matrix(struct doc *d, const struct report *r, int panel, const struct report_figure *f);

#endif
