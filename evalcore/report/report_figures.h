#ifndef EVALCORE_REPORT_FIGURES_REPORT_FIGURES_H
#define EVALCORE_REPORT_FIGURES_REPORT_FIGURES_H

#include "evalcore/report/data/report_data.h"
#include "evalcore/page/doc.h"

/* A report's figures, drawn from its numbers into its document. Each is drawn once per panel (task, model and
 * swept settings). To add one, write a row in the table of report_figures.c and the two functions that it
 * names. None of these functions fails. */
struct report_figure {
    const char *section;                               /* id of the section that it stands in */
    const char *name;                                  /* its files are NAME_PANEL.svg */
    const char *title;                                 /* behind the panel's title */
    int (*applies)(const struct report *r, int panel); /* is there anything to draw? */
    void (*draw)(struct doc *d, const struct report *r, int panel, const struct report_figure *f);
};

/* Adds to the last section of d the figures of that section that apply, kind by kind; to the section
 * "more-figures" also the table of report_add_margins(). Texts have the section "likelihood" for theirs, and
 * are in no other. */
void report_add_figures(struct doc *d, const struct report *r);

/* Adds the first screen's figure to the last section of d, one for each model with two settings to show. */
void report_add_lead(struct doc *d, const struct report *r);

/* Title and file name of a panel's figure: "relay: accuracy against budget", "accuracy_budget_relay.svg"; in
 * the arena. */
const char *report_figure_title(struct arena *a, const struct panel *p, const struct report_figure *f);
const char *report_figure_file(struct arena *a, const struct panel *p, const struct report_figure *f);
/* 1 when cell i is one of the panel and has a finished job, else 0. */
int report_is_shown(const struct report *r, int i, int panel);

/* What a mark says about its cell, one line each: the policy, accuracy, reads and their parts, budget,
 * length, memory; what is unknown is left out. In the report's arena. */
const char *report_tip(const struct report *r, const struct cell_stats *s);

/* Adds the table behind the figures of frontiers to the last section of d; nothing where no panel has a
 * frontier to compare. */
void report_add_margins(struct doc *d, const struct report *r);

/* Adds the figure and words of step times to the last section of d; needs r->steps. */
void report_add_steps(struct doc *d, const struct report *r);

/* The functions of the table. report_has_X() returns 1 when the panel has something to draw: two cells with
 * known reads (reads, frontier), or one cell with results that has what the figure shows. report_draw_X()
 * adds the figure f of the panel to the last section of d, or several, or none where it finds too little. */
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
/* The two forms of it: the panel is the only one of its model and settings with such a map, or one of
 * several, which have a map of all tasks. */
int report_has_only_k_and_l(const struct report *r, int panel);
int report_has_one_of_k_and_l(const struct report *r, int panel);
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
