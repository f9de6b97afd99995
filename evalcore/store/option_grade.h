#ifndef EVALCORE_STORE_OPTION_GRADE_H
#define EVALCORE_STORE_OPTION_GRADE_H

#include "evalcore/store/run.h"

/* Verdicts on problems whose options are scored: the option with the largest log-likelihood is the answer.
 * They follow from a record's numbers, so none is kept. */

/* What a metric divides the log-likelihoods by: a problem's option_lengths, or nothing. */
enum option_metric { OPTION_ACC, OPTION_ACC_NORM, OPTION_METRICS };
/* Its name, "acc" or "acc_norm". */
const char *option_metric_name(enum option_metric m);
/* Fills *first and *second from a task's option_metrics; *second is OPTION_METRICS where there is one alone.
 * Returns 1, or 0 for names that are not known, or the same twice. */
int option_metrics_read(const char *names, enum option_metric *first, enum option_metric *second);

/* Returns the option that a metric chooses: of equal ones the first, as numpy's argmax. */
int option_choose(const struct option_scores *s, const int *lengths, enum option_metric m);

/* Fills in rec's verdict and score by the first metric of the task, second by the second, and the forms,
 * whose letters lie in the arena. A record that has not a number for each of the problem's options gets the
 * verdict error. */
void option_grade(struct record *rec, const struct run_task *t, const struct run_problem *p, struct arena *a);

#endif
