#ifndef EVALCORE_REPORT_REPORT_PARTS_H
#define EVALCORE_REPORT_REPORT_PARTS_H

#include "evalcore/report/data/report_data.h"
#include "evalcore/page/doc.h"

/* The parts of a report that the table of report.c lists: a function for what stands in each section of the
 * page. To add one, write the function and its row there. (Figures and CSV files have tables of their own:
 * report_figures.h and csv_tables.h.) */

/* What the sections say, below the heading that report.c has put into d. */
void report_add_summary(struct doc *d, const struct report *r);
void report_add_verdict(struct doc *d, const struct report *r); /* needs tasks with answers */
void report_add_accuracy(struct doc *d, const struct report *r);
void report_add_samples(struct doc *d, const struct report *r); /* needs report_has_samples() */
void report_add_longbench(struct doc *d, const struct report *r);
void report_add_ruler(struct doc *d, const struct report *r);
void report_add_pairs(struct doc *d, const struct report *r);      /* needs pairs */
void report_add_likelihood(struct doc *d, const struct report *r); /* needs texts */
void report_add_against(struct doc *d, const struct report *r);    /* needs r->old */
void report_add_published(struct doc *d, const struct report *r);  /* needs r->n_figures */
void report_add_health(struct doc *d, const struct report *r);
/* Is task i an earlier task again, with the prompts of another model or of other settings? */
int report_task_is_repeated(const struct run *run, int i);
void report_add_config(struct doc *d, const struct report *r);
void report_add_papers(struct doc *d, const struct report *r); /* needs tasks with answers */
/* The problems of each cell, for the page's script. */
void report_add_data(struct doc *d, const struct report *r);

/* What the run file asked for that says less than it seems to, a sentence each; in the arena. */
struct cautions {
    const char **text;
    int n;
};
struct cautions report_cautions(const struct report *r);
void report_add_warnings(struct doc *d, const struct report *r); /* these, and what went wrong */

/* The first twelve digits of a hash; "unknown" when there is none. */
const char *report_short_hash(struct arena *a, const char *hash);
/* s, or "unknown" when it is NULL or empty. */
const char *report_or_unknown(const char *s);

/* Marks: the sign alone ("" without a verdict), the sign with a space in front for behind an accuracy (p may
 * be NULL), the verdict with its sign in words, and what the signs mean, without a full stop. */
const char *report_mark_sign(enum mark m);
const char *report_pair_sign(struct arena *a, const struct pair *p);
const char *report_mark_words(struct arena *a, const struct pair *p, double margin);
const char *report_marks_legend(struct arena *a, double margin);
/* Behind "lower" and "higher" where the test takes the problems as given: " on these problems", else "". */
const char *report_scope(const struct pair *p);
/* CELL_BAD for lower, CELL_GOOD for higher and within, else 0; p may be NULL. */
unsigned report_pair_flags(const struct pair *p);
/* The same for one of the two adjusted p values alone, the one that earned the mark. */
unsigned report_differs_flags(const struct pair *p); /* of holm */
unsigned report_within_flags(const struct pair *p);  /* of noninferior_holm */
/* Why an interval beside "=" may be wider than the margin; a whole sentence. */
extern const char *const report_interval_note;
const char *report_points(struct arena *a, double points);            /* "10 points" */
const char *report_difference(struct arena *a, const struct pair *p); /* "-48 [-58, -37]" in points */
const char *report_share(struct arena *a, double v);                  /* "31 %"; "-" when there is none */
/* "4 of 4 cut off at the limit" where the limit explains most of what is missed; else "". */
const char *report_cut_words(struct arena *a, long cut, long missed, long n);
/* Label of the policy that settings are compared with; "the baseline" when there are several. */
const char *report_baseline_name(const struct report *r);
/* "read everything on 25 of 36 problems": there the policy never came into play, so they say nothing about
 * it.
 * "" where it is on none, and on all, which the activity says. */
const char *report_idle_words(struct arena *a, int idle, int answered);
/* All verdicts in one sentence; "" when nothing is compared. */
const char *report_verdict_sentence(const struct report *r);
const char *report_setting_verdict(const struct report *r, const struct setting *s);
const char *report_setting_notes(const struct report *r,
                                 const struct setting *s); /* "" when there are none */
/* The cell at a place of the accuracy table, -1: none. */
int report_cell_at(const struct report *r, int row, int column);

/* The tables of report_add_papers() as LaTeX, and text with the characters escaped that LaTeX takes for
 * commands. */
void report_tables_tex(struct str *out, const struct report *r);
void report_tex_text(struct str *out, const char *s);

/* The accuracy table and the figures of texts as plain text, at most REPORT_TEXT_COLUMNS characters a line.
 */
enum { REPORT_TEXT_COLUMNS = 100 };
void report_text(struct str *out, const struct report *r);

/* A number in the next cell of the table's last row; "-" when there is none. */
void report_number_cell(struct doc *d, struct table *t, double v, int digits);

#endif
