/* Lines in, lines out (contract: lines.h). read() returns what is there, which is exactly the block that can
 * be answered without waiting; a file or a full pipe gives large ones. */
#include "evalcore/cli/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/arena.h"

enum { BLOCK = 1 << 20 };

struct line {
    const char *text; /* NULL: too long */
    size_t n;
    struct str out;
    int is_error;
};

struct block {
    char *data; /* whole lines, then the start of one */
    size_t len, cap;
    size_t searched; /* bytes of that start which hold no "\n" */
    int skipping;    /* inside a line that was too long and is answered already */
    struct line *line;
    size_t n_lines, cap_lines;
    long number; /* lines answered before this block */
};

static void add_line(struct block *b, const char *text, size_t n)
{
    xgrow(&b->line, &b->cap_lines, b->n_lines + 1, sizeof *b->line);
    b->line[b->n_lines++] = (struct line){.text = text, .n = n};
}

/* Finds the lines of the block; returns the bytes that belong to them. */
static size_t split_lines(struct block *b, int at_end)
{
    size_t start = 0;
    b->n_lines = 0;
    while (start < b->len) {
        const char *text = b->data + start;
        const char *newline = memchr(text + b->searched, '\n', b->len - start - b->searched);
        size_t n = newline ? (size_t)(newline - text) : b->len - start;
        if (!newline && !at_end && n < LINES_MAX_LINE && !b->skipping) {
            b->searched = n;
            break;
        }
        b->searched = 0;
        if (!b->skipping)
            add_line(b, n < LINES_MAX_LINE ? text : NULL, n < LINES_MAX_LINE ? n : 0);
        b->skipping = !newline && !at_end;
        start += n + (newline != NULL);
    }
    return start;
}

/* Answers the block's lines and writes them; 0 when they could not be written. */
static int answer_block(struct block *b, const struct lines *l, long *errors)
{
    long n = (long)b->n_lines;
#pragma omp parallel for schedule(dynamic, 1) if (n > 1 && !l->serial)
    for (long i = 0; i < n; i++) {
        struct line *x = &b->line[i];
        x->is_error = l->fn(l->context, x->text, x->n, b->number + i + 1, &x->out) != 0;
        str_putc(&x->out, '\n');
    }
    for (long i = 0; i < n; i++) {
        *errors += b->line[i].is_error;
        fwrite(b->line[i].out.data, 1, b->line[i].out.len, stdout);
        str_release(&b->line[i].out);
    }
    b->number += n;
    return !fflush(stdout) && !ferror(stdout);
}

/* Reads what is there behind the bytes kept from before. 1, 0 at the end, negative on an error. */
static int fill_block(struct block *b, int fd, const char *path, struct err *e)
{
    ssize_t got;
    xgrow(&b->data, &b->cap, b->len + BLOCK, 1);
    do
        got = read(fd, b->data + b->len, BLOCK);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_set(e, ERR_IO, "%s:%ld: cannot read on: %s", path, b->number + 1, strerror(errno));
    b->len += (size_t)got;
    return got > 0;
}

int lines_run(const struct lines *l, const char *path, long *errors, struct err *e)
{
    struct block b = {0};
    int is_stdin = !path || !strcmp(path, "-"), rc = 1;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    *errors = 0;
    if (fd < 0)
        return err_set(e, ERR_USAGE, "cannot read %s: %s", path, strerror(errno));
    while (rc > 0 && (rc = fill_block(&b, fd, is_stdin ? "standard input" : path, e)) >= 0) {
        size_t used = split_lines(&b, rc == 0);
        if (b.n_lines && !answer_block(&b, l, errors))
            break;
        b.len -= used;
        memmove(b.data, b.data + used, b.len);
    }
    if (!is_stdin)
        close(fd);
    free(b.data);
    free(b.line);
    return rc < 0 ? rc : 0;
}
