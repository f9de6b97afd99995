#ifndef EVALCORE_COMMANDS_FETCH_LIST_H
#define EVALCORE_COMMANDS_FETCH_LIST_H

#include "evalcore/base/str.h"

/* The tables of `kveval fetch --list`, at most 110 columns: problem files, and models in the Hub's cache.
 * data and cache may be NULL. */
void fetch_list_tasks(struct str *out, const char *data);
void fetch_list_models(struct str *out, const char *cache);

#endif
