/* The loop of grade, choice, textscore and logprobs (contract: jsonl.h). A line is an error object when it
 * holds "error", or the verdict "error". */
#include "evalcore/cli/jsonl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>

#include "evalcore/cli/command.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/base/arena.h"

static json_t *error_object(const struct jsonl *j, long number, const char *message)
{
    json_t *out = j->error_fields ? json_loads(j->error_fields, 0, NULL) : json_object();
    if (json_object_get(out, "reason"))
        json_object_set_new(out, "reason", json_text_of(message));
    json_object_set_new(out, "error", json_text_of(message));
    json_object_set_new(out, "line", json_integer(number));
    return out;
}

static json_t *answer_object(const struct jsonl *j, const char *line, size_t n, long number)
{
    struct err e = {0};
    json_t *in = NULL, *out = NULL;
    char what[32];
    snprintf(what, sizeof what, "line %ld", number);
    if (!line) {
        err_set(&e, ERR_FORMAT, "%s: longer than %d MiB", what, LINES_MAX_LINE >> 20);
    } else if (!json_read_text(&in, line, n, what, &e)) {
        if (!json_is_object(in))
            err_set(&e, ERR_FORMAT, "%s: a JSON object was expected", what);
        else if (!(out = j->fn(j->context, in, &e)))
            err_add(&e, "%s", what);
    }
    json_decref(in);
    return out ? out : error_object(j, number, e.text);
}

static int is_error(const json_t *out)
{
    const char *verdict = json_string_value(json_object_get(out, "verdict"));
    return json_object_get(out, "error") || (verdict && !strcmp(verdict, "error"));
}

static int answer_line(void *context, const char *line, size_t n, long number, struct str *text)
{
    json_t *out = answer_object(context, line, n, number);
    char *dump = out ? json_dumps(out, JSON_COMPACT) : NULL;
    int bad = !dump || is_error(out);
    str_puts(text, dump ? dump : "{\"error\":\"the answer is not valid UTF-8\"}");
    free(dump);
    json_decref(out);
    return bad;
}

int jsonl_run(const struct jsonl *j, const char *path)
{
    struct jsonl copy = *j;
    const struct lines l = {.fn = answer_line, .context = &copy, .serial = j->serial};
    struct err e = {0};
    long errors = 0;
    int rc = lines_run(&l, path, &errors, &e);
    if (rc)
        return command_fail(&e, rc == ERR_USAGE ? EXIT_USAGE : EXIT_INCOMPLETE);
    return errors ? EXIT_INCOMPLETE : EXIT_DONE;
}

int jsonl_text(const json_t *in, const char *key, const char **out, size_t *n, struct err *e)
{
    const json_t *v = json_object_get(in, key);
    if (!json_is_string(v))
        return err_set(e, ERR_FORMAT, "field \"%s\" must be a string", key);
    *out = json_string_value(v);
    *n = json_string_length(v);
    return 0;
}

int jsonl_word(const json_t *in, const char *key, const char *const *words, int *out, struct err *e)
{
    const json_t *v = json_object_get(in, key);
    struct str list = {0};
    if (!v || json_is_null(v))
        return 0;
    for (int i = 0; words[i]; i++) {
        if (json_is_string(v) && !strcmp(json_string_value(v), words[i])) {
            *out = i;
            return 0;
        }
    }
    for (int i = 0; words[i]; i++)
        str_printf(&list, "%s%s", i ? ", " : "", words[i]);
    int rc = err_set(e, ERR_FORMAT, "field \"%s\" must be one of %s", key, str_text(&list));
    str_release(&list);
    return rc;
}

/* ---- Lines in, lines out. read() returns what is there, which is exactly the block that can be answered
 * without waiting; a file or a full pipe gives large ones. */

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
        return err_set(e, file_error_code(errno), "%s:%ld: cannot read on: %s", path, b->number + 1,
                       err_reason(errno));
    b->len += (size_t)got;
    return got > 0;
}

int lines_run(const struct lines *l, const char *path, long *errors, struct err *e)
{
    struct block b = {0};
    int is_stdin = !path || !strcmp(path, "-"), rc = 1;
    int fd = is_stdin ? STDIN_FILENO : file_open_input(path, e);
    *errors = 0;
    if (fd == ERR_IO)
        return e->code = ERR_USAGE; /* a wrong argument */
    if (fd < 0)
        return fd;
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
