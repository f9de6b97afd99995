#ifndef EVALCORE_STORE_RUN_RECORDS_H
#define EVALCORE_STORE_RUN_RECORDS_H

#include "evalcore/store/run.h"

/* For run.c only: the second half of run_load(). Fills the records and counters of a run whose cells and
 * tasks are loaded. */
int run_load_records(struct run *r, const struct run_options *o, struct err *e);

#endif
