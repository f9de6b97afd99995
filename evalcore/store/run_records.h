#ifndef EVALCORE_STORE_RUN_RECORDS_H
#define EVALCORE_STORE_RUN_RECORDS_H

#include "evalcore/store/run.h"

/* For run.c only. */

/* The second half of run_load(): fills the records and counters of a run whose cells and tasks are loaded. */
int run_load_records(struct run *r, const struct run_options *o, struct err *e);
/* Fills the limits of a cell but max_new_tokens, which the configuration of older folders says, too. */
int run_load_limits(const struct run *r, struct cell *c, const json_t *settings, const char *where,
                    struct err *e);

#endif
