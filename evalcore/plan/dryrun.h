#ifndef EVALCORE_PLAN_DRYRUN_H
#define EVALCORE_PLAN_DRYRUN_H

#include "evalcore/plan/runplan.h"
#include "evalcore/store/run.h"

/* sweep --dry-run: what a sweep would do and what it takes. */

enum dryrun_calibration { CALIBRATE_AUTO, CALIBRATE_YES, CALIBRATE_NO };
struct dryrun_options {
    const struct run *done; /* the folder, where one was named and is there: its completions tell lengths;
                             * NULL: none */
    int calibration;        /* enum dryrun_calibration; AUTO does not load large weights */
    int n_devices;
};

/* Returns the enum dryrun_calibration of that name (NULL: auto), or ERR_USAGE for another name. */
int dryrun_calibration(const char *name, struct err *e);

/* Prints cells, jobs, expected tokens, which marks can be earned, memory and time on standard output. p: a
 * dry plan (runplan_options.dry). A speed that cannot be measured is no error, the reason is printed. */
void dryrun_print(const struct runplan *p, const struct dryrun_options *o);

#endif
