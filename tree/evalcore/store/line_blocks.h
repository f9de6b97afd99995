#ifndef EVALCORE_STORE_LINE_BLOCKS_H
#define EVALCORE_STORE_LINE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"

/* Walks a large file in blocks of whole lines, so that the lines of a block can be looked at by several
 * threads. Memory: one block of 8 MiB, or the longest line where that is longer. */
struct block_line {
    const char *data; /* without its "\n", followed by a NUL; may hold any bytes */
    size_t length;
    int64_t offset; /* in the file */
    int is_torn;    /* the file's last line, without "\n" */
};

struct line_blocks {
    struct block_line *line; /* of the present block; valid until the next call */
    size_t n;
    /* The rest is private. */
    int fd;
    char *path, *data;
    size_t len, cap, used, line_cap;
    int64_t at; /* offset of data in the file */
};

/* Opens a regular file. Returns 0, or ERR_IO or ERR_DISK when it cannot be opened. line_blocks_close() may be
 * called after an error, too. */
int line_blocks_open(struct line_blocks *b, const char *path, struct err *e);
/* Returns 1 and a block of at least one line, 0 at the end, or ERR_IO or ERR_DISK when the file cannot be
 * read on. */
int line_blocks_next(struct line_blocks *b, struct err *e);
/* Closes the file, frees the block and zeroes *b. */
void line_blocks_close(struct line_blocks *b);

#endif
