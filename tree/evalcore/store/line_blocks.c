/* Blocks of whole lines (contract: line_blocks.h). */
#include "evalcore/store/line_blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"

enum { BLOCK = 8 << 20 };

int line_blocks_open(struct line_blocks *b, const char *path, struct err *e)
{
    *b = (struct line_blocks){.fd = -1};
    if (file_plain(path, e))
        return ERR_IO;
    b->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (b->fd < 0)
        return err_set(e, file_error_code(errno), "cannot open %s: %s", path, err_reason(errno));
    b->path = xstrdup(path);
    return 0;
}

/* Reads until the buffer is full; 1 when there is more in the file, 0 at its end. */
static int fill_buffer(struct line_blocks *b, struct err *e)
{
    while (b->len < b->cap) {
        ssize_t n = read(b->fd, b->data + b->len, b->cap - b->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(e, file_error_code(errno), "%s: cannot read on: %s", b->path, err_reason(errno));
        if (!n)
            return 0;
        b->len += (size_t)n;
    }
    return 1;
}

static void add_line(struct line_blocks *b, size_t end, int is_torn)
{
    xgrow(&b->line, &b->line_cap, b->n + 1, sizeof *b->line);
    b->data[end] = 0;
    b->line[b->n++] =
        (struct block_line){b->data + b->used, end - b->used, b->at + (int64_t)b->used, is_torn};
    b->used = end + !is_torn;
}

static void split_blocks(struct line_blocks *b)
{
    const char *newline;
    while (b->used < b->len && (newline = memchr(b->data + b->used, '\n', b->len - b->used)))
        add_line(b, (size_t)(newline - b->data), 0);
}

int line_blocks_next(struct line_blocks *b, struct err *e)
{
    int more = 1;
    b->n = 0;
    b->len -= b->used;
    if (b->len)
        memmove(b->data, b->data + b->used, b->len);
    b->at += (int64_t)b->used;
    b->used = 0;
    while (!b->n && more > 0) {
        if (b->len == b->cap) { /* the first block, or a line that is longer than the buffer */
            b->cap = b->cap ? 2 * b->cap : BLOCK;
            b->data = xrealloc(b->data, b->cap + 1);
        }
        more = fill_buffer(b, e);
        if (more >= 0)
            split_blocks(b);
    }
    if (!more && b->used < b->len) /* a torn line: the file ends here */
        add_line(b, b->len, 1);
    return more < 0 ? more : b->n > 0;
}

void line_blocks_close(struct line_blocks *b)
{
    if (b->path)
        close(b->fd);
    free(b->path);
    free(b->data);
    free(b->line);
    *b = (struct line_blocks){0};
}
