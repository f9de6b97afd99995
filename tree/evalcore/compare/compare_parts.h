#ifndef EVALCORE_COMPARE_COMPARE_PARTS_H
#define EVALCORE_COMPARE_COMPARE_PARTS_H

#include "evalcore/compare/compare.h"

/* What the files of this room share. */

/* The cells that a side names, as indices in run-file order. */
struct side {
    const struct run *run;
    const char *name; /* name of a cell or setting; NULL: all cells */
    int *cells;
    int n;
};
/* Fills in cells, from arena a, and n from run and name. Returns 0, or ERR_USAGE when it names nothing or
 * several; the message lists what was meant. */
int side_find(struct side *s, struct arena *a, struct err *e);

/* Looks for differences between the matched cells. Allowed ones become notes; returns 0, or for the first
 * other one ERR_USAGE or, for missing answers, ERR_BUSY. Other models, weights and settings are always
 * allowed. ERR_USAGE too when no cells are matched. unmatched: number of cells of one side without a
 * counterpart. */
int compare_check(struct comparison *c, unsigned allowed, int unmatched, struct err *e);

/* Fills in settings, n_settings and all, from cells. */
void compare_settings(struct comparison *c);
/* The verdict on several settings in one sentence, in the comparison's arena. */
const char *compare_settings_verdict(struct comparison *c);

/* One side of a flipped problem: the sample that shows what the side did. */
struct answer {
    const struct record *rec;
    const char *verdict, *form;
    struct str text; /* the completion, or a sentence that it is withheld */
};
/* Fills in *out for side A or B with the first sample that did what most of the side's did; out->text belongs
 * to the caller, also after an error. Returns 0, or ERR_IO or ERR_FORMAT when the completion cannot be read
 * or there is none. */
int flip_answer(const struct comparison *c, const struct flip *f, int is_b, struct answer *out,
                struct err *e);
/* The problem, and the label of its task, both as B's run has them and borrowed from it. */
const struct run_problem *flip_problem(const struct comparison *c, const struct flip *f);
const char *flip_task(const struct comparison *c, const struct flip *f);
/* The number of flips to show: all when max is negative, else at most max. */
int flips_shown(const struct comparison *c, int max);

#endif
