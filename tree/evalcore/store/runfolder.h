#ifndef EVALCORE_STORE_RUNFOLDER_H
#define EVALCORE_STORE_RUNFOLDER_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* What a folder holds before a sweep writes into it: whether it is a run folder, and which files an earlier
 * configuration left there that the present one does not use. Only files that our own configuration lists are
 * ever removed, because the folder may hold a person's files too. */

/* A configuration's "schema", and a grade's "v" (journal.h has that of a record). What is of another version
 * is refused: neither believed, nor called damaged, nor written over. */
enum { CONFIG_VERSION = 2, GRADE_VERSION = 1 };
/* Sets and returns ERR_UNSUPPORTED: what `where` names is of another version than the one known here. */
int runfolder_other_version(struct err *e, const char *where, long version, int known);
/* Returns 0, or that error, for the configuration read from path; one without a version has version 0. */
int runfolder_config_version(const json_t *config, const char *path, struct err *e);

/* Asks whether a sweep may write into dir. Returns 0, also where there is no such folder; ERR_USAGE when dir
 * is not a run folder and holds something under a name that a sweep writes to; ERR_UNSUPPORTED for the
 * configuration of another version; ERR_IO when dir cannot be listed. */
int runfolder_check(const char *dir, struct err *e);

/* Returns the folder's configuration, a new reference, which need not be right; NULL when there is none that
 * can be read and has "cells" and "weights". */
json_t *runfolder_config(const char *dir);

/* Warns of each model that both configurations name (old NULL: none) and that is another in `now`: what was
 * decoded of it before counts no more. */
void runfolder_warn_models(const char *dir, const json_t *old, const json_t *now);
/* Returns the number of cells, told apart by their ids, that the configuration `old` (NULL: none) lists and
 * `now` does not, but for those of models that runfolder_warn_models() has warned of. */
int runfolder_dropped_cells(const json_t *old, const json_t *now);
/* Returns the first model, other than this one, of which the configuration (NULL: none) lists cells, borrowed
 * from it; NULL: there is none. */
const char *runfolder_other_model(const json_t *config, const char *model);
/* Removes the files in problems/ that the configuration `old` (NULL: none) lists and `now` does not. Returns
 * 0, or ERR_IO when one cannot be removed, and the ones after it stay then. One that is gone already is no
 * error. */
int runfolder_drop_problems(const char *dir, const json_t *old, const json_t *now, struct err *e);

/* What a person changed is told from what the program wrote: the configuration holds the digest of its own
 * canonical text without that field, and the digest of each problem file. runfolder_seal() sets the first of
 * these; runfolder_seal_is_right() returns 1 when it is there and right, else 0. */
void runfolder_seal(json_t *config);
int runfolder_seal_is_right(const json_t *config);
/* Warns of a configuration and of problem files in dir that are not as the configuration `old` (NULL: none)
 * says. The sweep that calls this writes them anew. Files that are missing or cannot be read are passed over;
 * nothing fails. */
void runfolder_warn_changed(const char *dir, const json_t *old);

/* Removes temporary files, an hour old, that killed processes left where a sweep or a report writes. What
 * cannot be listed or removed stays. */
void runfolder_drop_abandoned(const char *dir);

#endif
