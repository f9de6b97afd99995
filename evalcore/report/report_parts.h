#ifndef EVALCORE_REPORT_REPORT_PARTS_H
#define EVALCORE_REPORT_REPORT_PARTS_H

#include "evalcore/report/data/report_data.h"
#include "evalcore/page/doc.h"

/* The parts of a report that the table of report.c lists: a function for what stands in each section of the
 * page. To add one, write the function and its row there. (Figures and CSV files have tables of their own:
 * report_figures.h and csv_tables.h.)
 *
 * None of these functions fails. Strings that they return are constants or live in the arena that is given,
 * or else in the report's; none is NULL. */

/* Append what the section says to the last section of d, below the heading that report.c has put there. A
 * function that needs something may only be called where the report has it. */
void report_add_summary(struct doc *d, const struct report *r);
void report_add_verdict(struct doc *d, const struct report *r); /* needs tasks with answers */
void report_add_accuracy(struct doc *d, const struct report *r);
void report_add_samples(struct doc *d, const struct report *r); /* needs report_has_samples() */
void report_add_longbench(struct doc *d, const struct report *r);
void report_add_ruler(struct doc *d, const struct report *r);
void report_add_pairs(struct doc *d, const struct report *r);      /* needs pairs */
void report_add_likelihood(struct doc *d, const struct report *r); /* needs texts */
/* report_options.c: both metrics of options beside each other; the text appends nothing where there are none
 */
void report_add_options(struct doc *d, const struct report *r); /* needs a second metric */
void report_options_text(struct str *out, const struct report *r);
void report_add_against(struct doc *d, const struct report *r);   /* needs r->old */
void report_add_published(struct doc *d, const struct report *r); /* needs r->n_figures */
void report_add_health(struct doc *d, const struct report *r);
/* 1 when task i is an earlier task again (the same label, name, source and number of problems), with the
 * prompts of another model or of other settings; else 0. */
int report_task_is_repeated(const struct run *run, int i);
void report_add_config(struct doc *d, const struct report *r);
void report_add_papers(struct doc *d, const struct report *r); /* needs r->papers */
/* Sets the data of d for the page's script: the problems of each cell. */
void report_add_data(struct doc *d, const struct report *r);

/* What the run file asked for that says less than it seems to, a sentence each, none when n is 0; in the
 * report's arena. */
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

/* Marks: the sign alone ("" for MARK_NONE and MARK_TOO_FEW), the sign with a space in front for behind an
 * accuracy
 * ("" without a sign; p may be NULL), the verdict with its sign in words ("not compared" for MARK_NONE), and
 * what the signs mean, without a full stop. margin is in points. */
const char *report_mark_sign(enum mark m);
const char *report_pair_sign(struct arena *a, const struct pair *p);
const char *report_mark_words(struct arena *a, const struct pair *p, double margin);
const char *report_marks_legend(struct arena *a, double margin);
/* Behind "lower" and "higher" where the test takes the problems as given: " on these problems", else "". */
const char *report_scope(const struct pair *p);
/* CELL_BAD for lower, CELL_GOOD for higher and within, else 0; p may be NULL. */
unsigned report_pair_flags(const struct pair *p);
/* The flags of one of the two adjusted p values: those of the mark when this p earned it, else 0. p may not
 * be NULL. */
unsigned report_differs_flags(const struct pair *p); /* holm, which earns lower and higher */
unsigned report_within_flags(const struct pair *p);  /* noninferior_holm, which earns within */
/* Why an interval beside "=" may be wider than the margin; a whole sentence. */
extern const char *const report_interval_note;
const char *report_points(struct arena *a, double points);            /* "10 points" */
const char *report_difference(struct arena *a, const struct pair *p); /* "-48 [-58, -37]" in points */
const char *report_share(struct arena *a, double v); /* "31 %" for the fraction 0.31; "-" when not finite */
/* The same of reads, which says when they are those of a bound: "31 %, a bound". */
const char *report_reads(struct arena *a, double share, int is_bound);
/* "4 of 4 cut off at the limit" (cut of n) where the limit explains most of what is missed (2 cut > missed)
 * and cut off at least a tenth of n; else "". */
const char *report_cut_words(struct arena *a, long cut, long missed, long n);
/* Label of the policy that settings are compared with; "the baseline" when there are several or none. */
const char *report_baseline_name(const struct report *r);
/* "read everything on 25 of 36 problems": there the policy never came into play, so they say nothing about
 * it.
 * "" where it is on none, and on all, which the activity says. */
const char *report_idle_words(struct arena *a, int idle, int answered);
/* How many settings have each verdict, in one sentence; "" when nothing is compared. */
const char *report_verdict_sentence(const struct report *r);
/* A line for each policy of a model that is compared: the cheapest setting that is as good as the baseline
 * with its reads, cheapest first, then policies without one. */
struct verdict_lines {
    struct verdict_line {
        const char *name, *text; /* the setting, or the policy without a good one; what is said of it */
        const char *more;        /* where its other settings lose, or what became of them; NULL: nothing */
    } * line;
    int n, n_good; /* n_good: policies that have one, the first lines */
};
struct verdict_lines report_verdict_lines(const struct report *r);
/* "over 300 problems of 4 tasks"; "over 240 to 300 problems" where settings do not have the same, and then
 * *is_same is 0. */
const char *report_problem_basis(const struct report *r, int *is_same);
/* A sentence on how bounds are shown, with a space in front; "" in a run without one. */
const char *report_bound_note(const struct report *r);
/* A policy as a legend names it: a bound says that it is one. */
const char *report_series_name(const struct report *r, const char *policy);
/* What stands for all cells of a row where the page opens problems (page.js): "row 5". */
const char *report_row_cell(const struct report *r, int row);
/* The verdict on one setting: report_mark_words(), or "baseline", "not run yet" or "no shared problem yet".
 */
const char *report_setting_verdict(const struct report *r, const struct setting *s);
/* What takes from that verdict (missing answers, an inactive policy, cut-off completions), joined by "; "; ""
 * when nothing does. */
const char *report_setting_notes(const struct report *r, const struct setting *s);
/* The index of the cell at a place of the accuracy table, the last one where several are; -1: none. */
int report_cell_at(const struct report *r, int row, int column);

/* Append to out: the tables of report_add_papers() as LaTeX (it needs r->papers), and text with the
 * characters escaped that LaTeX takes for commands. */
void report_tables_tex(struct str *out, const struct report *r);
void report_tex_text(struct str *out, const char *s);

/* Appends the accuracy table and the figures of texts as plain text, at most REPORT_TEXT_COLUMNS characters a
 * line.
 */
enum { REPORT_TEXT_COLUMNS = 100 };
void report_text(struct str *out, const struct report *r);

/* Add the next cell to the table's last row: v with this many decimals, or as a share (report_share()); "-"
 * when it is not finite. */
void report_number_cell(struct doc *d, struct table *t, double v, int digits);
void report_share_cell(struct doc *d, struct table *t, double v);

#endif
