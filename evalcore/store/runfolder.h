#ifndef EVALCORE_STORE_RUNFOLDER_H
#define EVALCORE_STORE_RUNFOLDER_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* What a folder holds before a sweep writes into it: whether it is a run folder, and which files an earlier
 * configuration left there that the present one does not use. Only files that our own configuration lists are
 * ever removed, because the folder may hold a person's files too. */

/* ERR_USAGE when dir is not a run folder and holds something under a name that a sweep writes to. */
int runfolder_check(const char *dir, struct err *e);

/* The folder's configuration, a new reference; NULL when there is none that can be read. */
json_t *runfolder_config(const char *dir);

/* The number of cells that the configuration `old` (NULL: none) lists and `now` does not. */
int runfolder_dropped_cells(const json_t *old, const json_t *now);
/* Removes the problem files that the configuration `old` lists and `now` does not. */
int runfolder_drop_problems(const char *dir, const json_t *old, const json_t *now, struct err *e);

/* Removes temporary files, an hour old, that killed processes left where a sweep or a report writes. What
 * cannot be listed or removed stays. */
void runfolder_drop_abandoned(const char *dir);

#endif
