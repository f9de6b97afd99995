#ifndef EVALCORE_FETCH_BLOB_HASH_H
#define EVALCORE_FETCH_BLOB_HASH_H

#include "evalcore/base/err.h"

/* The name under which the Hub knows a file's content: SHA-256 for large files (LFS), git's blob hash, which
 * is the SHA-1 of "blob SIZE\0" and the bytes (gitformat-pack, git-hash-object), for the others. */
enum { BLOB_HASH_MAX = 64 };
int blob_hash(char hex[BLOB_HASH_MAX + 1], const char *path, int is_lfs, struct err *e);

#endif
