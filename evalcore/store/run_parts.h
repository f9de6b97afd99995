#ifndef EVALCORE_STORE_RUN_PARTS_H
#define EVALCORE_STORE_RUN_PARTS_H

#include "evalcore/store/run.h"

/* Shared by the sources of run.h only. */

/* The second half of run_load(): fills the records and counters of a run whose cells and tasks are loaded.
 * Returns 0 or an error of run_load_with(); the caller releases r. */
int run_load_records(struct run *r, const struct run_options *o, struct err *e);
/* Fills max_total_tokens, max_context, is_limit_set and windows of a cell from its settings and the model.
 * Returns 0, or ERR_FORMAT, which names `where`, for a limit that is no integer or is out of range. */
int run_load_limits(struct run *r, struct cell *c, const json_t *settings, const char *where, struct err *e);

#endif
