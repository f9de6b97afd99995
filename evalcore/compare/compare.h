#ifndef EVALCORE_COMPARE_COMPARE_H
#define EVALCORE_COMPARE_COMPARE_H

#include "evalcore/report/report_parts.h"
#include "evalcore/store/run.h"

/* kveval compare: compares two cells, two policy settings over all their tasks, or two runs, problem by
 * problem. The tests are those of the reports (report_match.h). Nothing is written into a run folder. */

/* Differences between the sides beside the policy. compare_open() refuses them unless they are allowed. */
enum {
    COMPARE_PROBLEMS = 1, /* problems, tasks or reference answers that only one side has */
    COMPARE_PROMPTS = 2,  /* the same problem under another prompt */
    COMPARE_GRADER = 4,   /* graded by other rules or another segmenter */
    COMPARE_PARTIAL = 8   /* answers are missing */
};

struct compare_options {
    const char *dir;   /* NULL: a and b name their runs */
    const char *a, *b; /* with dir a cell or setting of it; else RUN, RUN:CELL, or for b a cell of a's run */
    unsigned allowed;  /* COMPARE_ bits */
    double margin;     /* points; 0: that of b's run */
    const char *zh_dict;
};

struct compared { /* a pair of cells; in `lengths` only the fields on lengths are filled */
    int a, b;     /* cells of the two runs */
    struct pair pair;
    struct against lengths;
};
struct compared_setting { /* a policy setting over the tasks that both sides have */
    const char *name;     /* B's */
    int n_tasks;
    struct pair pair; /* the tasks weigh the same; the settings are a family */
};
struct flip {  /* a problem that one side solved and the other did not (by more than half of its samples) */
    int cells; /* index into comparison.cells */
    int problem_a, problem_b;
    int is_lost; /* A solved it */
};

struct comparison {
    struct run runs[2];
    int n_runs; /* 1: both sides are in runs[0] */
    struct arena arena;
    struct report reports[2];
    const struct report *a, *b;
    const char *name_a, *name_b;
    struct compared *cells;
    int n_cells;
    struct compared_setting *settings;
    int n_settings;
    const struct pair
        *all; /* the test of the one setting; NULL where there are several, which are not pooled */
    double reads_a, reads_b; /* shares of what full attention would have read; NaN: unknown */
    struct flip *flips;      /* lost ones first, in the order of the problems */
    int n_flips;
    const char **notes; /* what is not the same, a sentence each */
    int n_notes;
    double margin;
};

/* Loads the runs, compares them and fills *c. Returns 0; ERR_USAGE when a side names no cell or setting, or
 * several, and for differences that were not allowed; ERR_BUSY for missing answers that were not allowed;
 * ERR_FORMAT, ERR_IO or another code of run_load_with() for a run folder that cannot be read. Call
 * compare_release() in any case. */
int compare_open(struct comparison *c, const struct compare_options *o, struct err *e);
void compare_release(struct comparison *c);

/* The result in one sentence, in the comparison's arena: "B solves 4.2 points fewer [...]". With several
 * settings it is that of compare_settings_verdict(). */
const char *compare_verdict(struct comparison *c);

/* Append the comparison: as text for a terminal of `columns` characters, as sections of a document, as a line
 * of JSON. At most n_flips flipped problems are shown (negative: all). Completions of restricted tasks
 * (run_task_is_restricted) are left out. They return 0, or ERR_IO or ERR_FORMAT when a completion cannot be
 * read from its journal; the text is then not complete. */
int compare_text(struct str *out, struct comparison *c, int columns, int n_flips, struct err *e);
int compare_doc(struct doc *d, struct comparison *c, int n_flips, struct err *e);
int compare_json(struct str *out, struct comparison *c, int n_flips, struct err *e);

#endif
