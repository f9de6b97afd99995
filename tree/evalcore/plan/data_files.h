#ifndef EVALCORE_PLAN_DATA_FILES_H
#define EVALCORE_PLAN_DATA_FILES_H

#include "evalcore/runfile/runfile.h"

/* Returns 0, or ERR_USAGE when several problem files of the run file's tasks are missing: names all of them
 * at once, and how to leave their tasks out. data_dir: of --data; NULL: none, and then every default file is
 * missing. A single one is no error here and is left to task_open(), which says the same of one file. */
int data_files_check(const struct runfile *f, const char *data_dir, struct err *e);

#endif
