#ifndef EVALCORE_BASE_FOREIGN_FILE_H
#define EVALCORE_BASE_FOREIGN_FILE_H

#include <stddef.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* What lies where a file is expected: what downloads and clones leave in its place, said with the way out. */

/* What ends a sentence on a model's file that must be fetched anew. */
#define FOREIGN_FETCH "`kveval fetch OWNER/NAME`"

/* Looks at the first bytes of a file that could not be read as what it should be. Returns the rest of a
 * sentence that begins with its name ("is a git-lfs pointer and not the file itself; run ..."); NULL: nothing
 * that is known. */
const char *foreign_bytes(const void *data, size_t n);

/* The same of a text that is encoded as UTF-16 (by its mark, or by zeros in every second byte); NULL: it is
 * not. */
const char *foreign_encoding(const void *data, size_t n);

/* Returns what foreign_bytes() says of a message of a server, for JSON that is one: an object with "error".
 */
const char *foreign_message(void);

/* For a file that is not there: appends "; NAME is ..." or so when its name is a link that leads nowhere,
 * when a part of its download is there, or when the folder may not be read; else nothing. */
void foreign_missing(struct str *out, const char *dir, const char *name);

/* The same as an error: returns 0 where there is nothing to say, also when the file is there, or ERR_IO. For
 * files that a folder may do without, so that one that is lost is not taken for one that never was. */
int foreign_check_missing(const char *dir, const char *name, struct err *e);

#endif
