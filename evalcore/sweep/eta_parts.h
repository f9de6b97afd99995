#ifndef EVALCORE_SWEEP_ETA_PARTS_H
#define EVALCORE_SWEEP_ETA_PARTS_H

#include "evalcore/sweep/eta.h"

/* eta_lengths.c; only eta*.c include this. */
struct eta_lengths; /* the distributions of a run's cells */

struct eta_lengths *eta_lengths_of(const struct eta_run *r);
void eta_lengths_release(struct eta_lengths *l);
/* Tokens that the completion of job j, which is not done, will have: the length that a share u (0 to 1) of
 * those that have got as far as it does not exceed. At least one more than it has, at most its limit. */
double eta_lengths_at(const struct eta_lengths *l, const struct eta_job *j, double u);

#endif
