#ifndef EVALCORE_RUNFILE_OVERRIDES_H
#define EVALCORE_RUNFILE_OVERRIDES_H

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* --set a.b=c on a run file: "seed=3", "policies.1.k_pages=[8,16]", "tasks.0.problems=8". The value is JSON
 * where it parses as JSON, else a string. Numbers in the path count from 0 into lists; a name in a list picks
 * the entry with that "name" ("policies.quest.k_pages=8"). A task or policy written as a plain string becomes
 * an object. Keys are not checked here: the run file's own check follows. */
int override_set(json_t *root, const char *assignment, struct err *e);

#endif
