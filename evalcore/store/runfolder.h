#ifndef EVALCORE_STORE_RUNFOLDER_H
#define EVALCORE_STORE_RUNFOLDER_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* What a folder holds before a sweep writes into it: whether it is a run folder, and which files an earlier
 * configuration left there that the present one does not use. Only files that our own configuration lists are
 * ever removed, because the folder may hold a person's files too. */

/* A configuration's "schema", and a grade's "v" (journal.h has that of a record). What is of another version
 * is refused: neither believed, nor called damaged, nor written over. */
enum { CONFIG_VERSION = 1, GRADE_VERSION = 1 };
/* Sets and returns ERR_UNSUPPORTED: what `where` names is of another version than the one known here. */
int runfolder_other_version(struct err *e, const char *where, long version, int known);
/* 0, or that error, for the configuration read from path. */
int runfolder_config_version(const json_t *config, const char *path, struct err *e);

/* ERR_USAGE when dir is not a run folder and holds something under a name that a sweep writes to, or
 * ERR_UNSUPPORTED for the configuration of another version. */
int runfolder_check(const char *dir, struct err *e);

/* The folder's configuration, a new reference; NULL when there is none that can be read. */
json_t *runfolder_config(const char *dir);

/* The number of cells that the configuration `old` (NULL: none) lists and `now` does not. */
int runfolder_dropped_cells(const json_t *old, const json_t *now);
/* A model, other than this one, of which the configuration (NULL: none) lists cells; NULL: there is none. */
const char *runfolder_other_model(const json_t *config, const char *model);
/* Removes the files in problems/ that the configuration `old` (NULL: none) lists and `now` does not. One that
 * is gone already is no error; ERR_IO when one cannot be removed. */
int runfolder_drop_problems(const char *dir, const json_t *old, const json_t *now, struct err *e);

/* What a person changed is told from what the program wrote: the configuration holds the digest of its own
 * canonical text without that field, and the digest of each problem file. */
void runfolder_seal(json_t *config);
int runfolder_seal_is_right(const json_t *config);
/* Warns of a configuration and of problem files in dir that are not as the configuration `old` (NULL: none)
 * says. The sweep that calls this writes them anew. */
void runfolder_warn_changed(const char *dir, const json_t *old);

/* Removes temporary files, an hour old, that killed processes left where a sweep or a report writes. What
 * cannot be listed or removed stays. */
void runfolder_drop_abandoned(const char *dir);

#endif
