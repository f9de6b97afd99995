#ifndef EVALCORE_STORE_RUNFOLDER_H
#define EVALCORE_STORE_RUNFOLDER_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* What lies in a run folder already: whether it is one of ours, and what an earlier configuration left there
 * that the present one has no use for. Only files that our own configuration lists are ever removed: the
 * folder is a person's, and may hold more. */

/* ERR_USAGE when dir is not a run folder and holds something under a name that a sweep writes to. */
int runfolder_check(const char *dir, struct err *e);

/* The folder's configuration, a new reference; NULL when there is none that can be read. */
json_t *runfolder_config(const char *dir);

/* Removes the files of cells that `old` lists and `now` does not; *n receives the
 * number of such cells. Both are configurations. */
int runfolder_drop_cells(const char *dir, const json_t *old, const json_t *now, int *n, struct err *e);
/* The same for problem files. */
int runfolder_drop_problems(const char *dir, const json_t *old, const json_t *now, struct err *e);

#endif
