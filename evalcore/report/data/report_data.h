#ifndef EVALCORE_REPORT_DATA_REPORT_DATA_H
#define EVALCORE_REPORT_DATA_REPORT_DATA_H

#include <stddef.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/report/data/report_steps.h"
#include "evalcore/stats/stats.h"
#include "evalcore/store/run.h"

/* A report's numbers. They are computed once, here; tables, CSV files and figures only print them.
 *
 * None of these functions fails. What they return or fill in lives in the report's arena, unless another is
 * given; returned strings are never NULL. */

enum activity {
    ACTIVITY_FULL,     /* the policy has no budget */
    ACTIVITY_USED,     /* some step read less than full attention would have */
    ACTIVITY_UNNEEDED, /* no context exceeded the budget: the same as full */
    ACTIVITY_INACTIVE, /* contexts exceeded the budget and still everything was read: something is wrong */
    ACTIVITY_UNKNOWN   /* nothing was read yet, or all was and the budget is unknown */
};

enum { ANSWER_MISSING = -1, ANSWER_RIGHT };
struct cell_stats {
    const struct cell *cell;
    /* By record: which answer to its problem it is, ANSWER_MISSING, ANSWER_RIGHT, or 1 and up for the
     * different wrong ones (report_samples.c). NULL where answers have scores, or one sample of a problem was
     * drawn. */
    const int *answer;
    int row, column; /* place in the accuracy table (report.rows, report.columns); column -1: a text */
    int panel;       /* index of report.panels: the figures that the cell is drawn in */
    int count[VERDICT_COUNT];
    int n_length;      /* completions that ended at the length limit */
    int n_cut;         /* completions among those that are not correct */
    double reads_full; /* what full attention would have read, summed over completions */
    double score;      /* sum over finished jobs */
    double accuracy;   /* mean over those that count (see jobs below); NaN when there is none */
    struct interval ci;
    double mean_tokens, median_tokens, p95_tokens; /* and peak_tokens: over jobs that did not fail */
    double kv_density, aux_density;                /* shares of what full attention would have read */
    int is_bound;         /* the bound of other policies (policy_is_bound()): its search is not counted */
    double total_density; /* what a reader is shown as reads: their sum; of a bound kv_density alone */
    /* What the prompts' queries attended to, and the keys scanned for it, over what dense prefills attend to;
     * NaN where a record lacks these counts. */
    double prefill_density, prefill_aux_density;
    double selected_density;    /* what a query head selects, over the same; NaN: a record lacks that count */
    double key_density;         /* key elements to read over all, where the policy holds some; else NaN */
    double peak_tokens;         /* mean over jobs with a decode step */
    double mean_context;        /* tokens that full attention reads in a decode step, mean over steps */
    double budget_tokens;       /* the policy's budget as tokens a step, at mean_context; not finite: none */
    double budget_beside;       /* tokens of the prompt that it reads besides (report_budget.h) */
    int needs_limit;            /* the budget follows from the length limit */
    int has_budget;             /* 0: it reads everything, like full attention */
    const char *unknown_budget; /* why this program cannot tell the policy's budget; NULL: it can */
    enum activity activity;
    int n_answered, n_idle; /* problems with results; idle: no step read less than full attention does, though
                             * the policy has a budget, so the problem says nothing about it */
    struct likelihood likelihood; /* texts: sums over their windows; accuracy is then NaN */
    /* Options that are scored: the second metric of their task, as accuracy and ci are of the first, and by
     * problem; name and sum NULL, second NaN: there is none. */
    const char *second_name;
    double second;
    struct interval second_ci;
    const double *second_sum;
    /* By problem: scores added up, and finished samples. Greedy samples of one problem are the same
     * completion again and count as one. */
    const double *sum;
    const long *jobs;
};

/* The verdict on a difference. LOWER and HIGHER are told apart from none (two-sided p below 5 % after Holm's
 * adjustment over the family of comparisons) and go before WITHIN, which says that the loss is shown to be
 * smaller than the run's margin (one-sided, 5 %, Holm over the same family). */
enum mark {
    MARK_NONE,  /* not compared */
    MARK_LOWER, /* these three are also bits of pair.could */
    MARK_HIGHER,
    MARK_WITHIN,
    MARK_OPEN,   /* not decided, though some outcome would have been; or answers are missing */
    MARK_TOO_FEW /* no outcome of this number of problems could have earned a mark */
};

struct pair {                          /* two cells on the same problems; differences are b - a */
    int a, b;                          /* indices of cells: baseline and cell, or old and new (--against) */
    int problems;                      /* answered in both */
    int both, only_a, only_b, neither; /* solved: a mean score above 1/2 */
    double accuracy_a, accuracy_b, delta; /* means over these problems */
    struct interval ci;
    double p, holm; /* holm: over the comparisons of the same family */
    const char *test;
    double spread;       /* one sample: share of problems that differ; several: sd of the differences */
    double sd;           /* standard deviation of the problems' differences */
    int is_single;       /* one sample a problem in both, right or wrong */
    int is_incomplete;   /* answers of one of them are missing, so no mark is given (MARK_OPEN) */
    int is_below_margin; /* the baseline solves less than the margin above what guessing does: no loss of it
                          * could be seen, so WITHIN is not given */

    double noninferior, noninferior_holm; /* one-sided p of "the loss is at least the margin" */
    enum mark mark;
    unsigned could; /* 1 << MARK_LOWER and so on: what some outcome of the whole family would have earned */
    /* MARK_OPEN: about how many problems decide it if the shares stay as they are. MARK_TOO_FEW: the fewest
     * with which a mark could be earned. -1: no number below PROBLEMS_LIMIT does, or else none is needed. */
    long enough;
    struct pair_best { /* the smallest p that an outcome on these problems would have had, given a's results
                        */
        double lower, higher;    /* everything that a solved lost; everything else gained */
        double even, gained;     /* noninferior: no difference at all; everything gained */
        long can_lose, can_gain; /* problems */
        /* If `one_way` problems all went one way, the p: those that differ, or where several samples of one
         * count apart those that could go the way that the mean goes. */
        double one_way_p;
        long one_way;
    } best;
};
enum { PROBLEMS_LIMIT = 100000 };

/* A policy setting over all its tasks with answers, compared with the baseline's row on all their problems.
 * The tasks weigh the same, and the problems of a task do. Several greedy samples of a problem count as one.
 */
struct setting {
    int row;          /* index of report.rows */
    int baseline_row; /* -1: it is a baseline, or has none */
    int is_baseline;
    int n_tasks;        /* on which both have answers to a shared problem */
    struct pair pooled; /* a and b are -1; mark MARK_NONE without a baseline */
    double accuracy;    /* mean over its tasks; NaN without results */
    struct interval ci;
    int is_bound;                      /* and reads, as in cell_stats */
    double reads, kv_share, aux_share; /* shares of full attention's reads; reads: both together */
    enum activity activity;            /* ACTIVITY_INACTIVE where it is so on some task */
    int n_inactive;                    /* tasks */
    int n_answered, n_idle;            /* problems, as in cell_stats, over its tasks */
    long n_records, n_expected;
    long n_cut;    /* completions that the length limit cut off and that are not correct */
    long n_missed; /* completions that are not correct */
};

struct row { /* a row of the accuracy table */
    const char *model, *policy_label, *settings_label;
    int cell; /* index of its first cell */
};
struct panel { /* cells with the same task, model and swept settings share their figures */
    const struct run_task *task;
    const char *model, *settings_label;
    const char *title; /* task label, with what else tells panels apart */
    const char *slug;  /* for file names, unique */
};

/* A cell of another run compared with this run's, for --against. */
struct against {
    struct pair pair;          /* a: index in old, b: index in new */
    int dropped;               /* problems that are not in both */
    double tokens_a, tokens_b; /* mean lengths over the shared problems */
    double length_ratio;       /* geometric mean over problems of new / old length */
    double length_p;           /* sign-flip test of the log ratio */
    const char *differs;       /* settings that are not the same, in words; "" when all agree */
};

/* A figure that a paper printed, beside a cell of this run (or beside the mean over several data sets of
 * LongBench). Values are fractions for accuracy and score, else in the metric's own unit. */
struct published {
    const json_t *figure; /* its entry in config.resolved.json */
    const char *paper, *where, *task, *metric;
    const char *word;          /* "about" or "below" before the number; "" when it is exact */
    double printed, value;     /* as printed, and as a fraction where the unit is percent */
    double problems, samples;  /* the paper's; problems 0: unknown */
    int is_bound;              /* "below": the value is a bound, not a number */
    int is_whole;              /* the value is a whole number of the paper's answers */
    int cell, n_cells;         /* cell: the first of n_cells */
    int is_partial;            /* some class of LongBench has no results, so there is no mean */
    long missing;              /* answers of ours; then nothing is tested */
    double measured;           /* NaN: not run yet */
    struct interval ci;        /* interval of our value */
    struct interval theirs_ci; /* interval of the paper's, by its number of problems; NaN: unknown */
    double p, p_answers;       /* Fisher's test over problems and over answers; NaN: none is possible */
    int is_single;             /* one answer a problem on both sides: the two tests are the same */
    long n_ours;               /* problems of ours in the test */
    struct stat_reach reach;   /* what could be told from the paper's figure, in our problems */
};

struct report {
    const struct run *run;
    struct cell_stats *cells; /* run->n_cells, in run-file order */
    struct pair *pairs;       /* every cell that has a baseline, texts apart, in run-file order */
    int n_pairs;
    struct pair *text_pairs; /* those of texts, in bits per byte: problems, delta, ci, p and holm alone */
    int n_text_pairs;
    struct pair *second_pairs; /* by the second metric of options: their families are the same as of pairs */
    int n_second_pairs;
    struct setting *settings; /* every row with answers, in the order of the rows */
    int n_settings;
    struct row *rows;
    int n_rows, n_columns, n_panels;
    const char **columns; /* task labels */
    struct panel *panels;
    int has_transcripts;      /* the texts of its problems are written beside the page */
    const struct report *old; /* the other run's, with --against; else NULL */
    struct against *against;  /* n_against, in run-file order of this run */
    int n_against;
    struct published *published; /* n_published, in the order of the figures; not all figures have a cell */
    int n_published, n_figures;
    int n_other_set; /* comparisons left out, since the cell's problems are not those of the figure */
    const struct frontier *frontiers; /* from report_frontiers(), computed once for all figures */
    const struct paper_cell
        *papers;               /* from report_papers(), computed once for all its tables; NULL: no settings */
    const struct steps *steps; /* from a file of benchmarks (report_steps.h); NULL: none was given */
    struct arena *arena;
};

/* Fills *out from a loaded run, which must outlive it; memory comes from `a`. It computes cells, rows,
 * columns, panels, pairs, text_pairs, settings and the cells' answers; the other members are 0 or NULL until
 * their own functions set them. */
void report_compute(struct report *out, const struct run *r, struct arena *a);

/* Compares two cells problem by problem (matched by id and prompt), on its own: without a margin and a mark.
 * n_dropped, when not NULL, receives the number of problems that only one of them has, answered or not. */
void report_compare(struct pair *out, const struct cell_stats *a, const struct cell_stats *b, int *n_dropped);
/* Fills holm, noninferior_holm, could, mark and enough over families of comparisons: group[i] >= 0 numbers
 * the family of pair i. The margin is in points; NaN leaves WITHIN out. A pair whose p is NaN is in no
 * family and stays as it is. */
void report_mark_pairs(struct pair *pairs, int n, const int *group, double margin);
/* Fills holm alone, over the same families. */
void report_holm(struct pair *pairs, int n, const int *group);

/* Fills in settings and n_settings; part of report_compute(). */
void report_settings(struct report *r);
/* The setting of a row of the accuracy table; NULL for a row of texts alone. */
const struct setting *report_setting_of(const struct report *r, int row);

/* Fills in text_pairs and n_text_pairs; part of report_compute(). */
void report_text_pairs(struct report *r);
/* The comparison of a cell of a text with its baseline; NULL when it is a baseline or has none. */
const struct pair *report_text_pair_of(const struct report *r, int cell);

/* Fills in second_pairs and n_second_pairs; part of report_compute(). The other returns a cell's, or NULL. */
void report_second_pairs(struct report *r);
const struct pair *report_second_pair_of(const struct report *r, int cell);

/* The figures of a text from its sums: means over its bytes and its scored tokens; NaN without any. */
struct likelihood_figures {
    double bits_per_byte, kl, top1;
};
struct likelihood_figures report_likelihood_figures(const struct likelihood *l);

/* The comparison of a cell with its baseline; NULL for a text, a baseline, and a cell that has none. */
const struct pair *report_pair_of(const struct report *r, int cell);

/* Fills in now->old, against and n_against, from now's arena; `old` must outlive it. A cell's counterpart in
 * old has the same policy label, task label and swept settings, and the same model unless neither side leaves
 * a choice; cells without one are left out. The margin is that of now's run. */
void report_against(struct report *now, const struct report *old);

/* Fills in published, n_published and n_figures from the figures that the run folder keeps; nothing when it
 * keeps none. */
void report_published(struct report *r);
/* What a figure and our result say together, in words; in the arena. */
const char *report_published_verdict(const struct report *r, const struct published *x);
/* In which settings the paper and the cell differ, as far as the figure says; "" when in none. */
const char *report_published_differs(const struct report *r, const struct published *x);

/* A policy's label with the swept settings behind it, and the same of a row of the accuracy table. */
const char *report_setting_name(struct arena *a, const char *policy_label, const char *settings_label);
const char *report_row_name(const struct report *r, int row);
/* 1 when the run has cells of several models, else 0. */
int report_several_models(const struct report *r);
/* What the model of a row is called: the last part of its path, or the whole where another model's is the
 * same. */
const char *report_model_name(const struct report *r, int row);
/* The name of a row, or of a cell's row, and in a run of several models which one: "quest k_pages=8 on NAME".
 */
const char *report_full_name(const struct report *r, int row);
const char *report_cell_name(struct arena *a, const struct run *run, const struct cell *c);
/* Fills in the cells' answer; part of report_compute(). */
void report_answers(struct report *r);
/* A fraction with its interval, in percent: "83 [44-97]", with a decimal where the interval is narrower than
 * 10 points. */
const char *report_percent(struct arena *a, double mean, struct interval ci);
/* The label without its option `key`: "quest k_pages=8" without " k_pages=8". Returns label itself when key
 * is "" or not in it. */
const char *report_label_without(struct arena *a, const char *label, const char *key);
/* The text in lower case with every run of other bytes than ASCII letters, digits and '_' as one '-', at most
 * 80 bytes, for file names; "x" when nothing is left. Different texts may have the same. */
const char *report_slug(struct arena *a, const char *text);

#endif
