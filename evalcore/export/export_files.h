#ifndef EVALCORE_EXPORT_EXPORT_FILES_H
#define EVALCORE_EXPORT_EXPORT_FILES_H

#include <stddef.h>

#include "evalcore/base/str.h"
#include "evalcore/base/err.h"

/* Files that appear together. Each is written to a temporary file beside its place, in pieces, since the
 * completions of a night are larger than memory; export_files_keep() renames them all, and
 * export_files_release() removes what was not kept, folders that this object made included. */
struct export_file {
    char *path, *temporary;
};
struct export_files {
    struct export_file *list;
    size_t n, cap;
    char **folders; /* that were made, outermost first */
    size_t n_folders, folder_cap;
    int replace;
    int fd; /* of the open file, -1: none */
    struct str buffer;
};

void export_files_init(struct export_files *f, int replace);
/* Opens the next file; at most one is open. ERR_USAGE when it exists (unless `replace`) or when this export
 * has it already. */
int export_open(struct export_files *f, const char *path, struct err *e);
/* The open file's unwritten end: add to it, and call export_flush() now and then. */
struct str *export_text(struct export_files *f);
int export_flush(struct export_files *f, struct err *e);
int export_close(struct export_files *f, struct err *e);
int export_files_keep(struct export_files *f, struct err *e);
void export_files_release(struct export_files *f);

#endif
