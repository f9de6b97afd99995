/* Writing and reading journals (contract: journal.h). The one tricky point is the cut between head and body:
 * quotes inside JSON strings are escaped, so the first `,"ids":[` of a line is the field and never part of a
 * string. */
#include "evalcore/store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/store/line_blocks.h"
#include "evalcore/store/runfolder.h"

static const char ids_mark[] = ",\"ids\":[", text_mark[] = "],\"text\":", crc_mark[] = ",\"crc\":\"";
static const char version_mark[] = "{\"v\":";
enum { CRC_TAIL = 8 + 8 + 2, FILES_PER_SECOND = 1000 }; /* ,"crc":"xxxxxxxx"} */
enum { VERSION_DIGITS = 9 };

void journal_init(struct journal *j, const char *run_dir)
{
    struct str dir = {0};
    memset(j, 0, sizeof *j);
    file_join(&dir, run_dir, "journal");
    j->dir = dir.data;
}

/* HOST.PID.TIME.N.jsonl: no two processes on any machine pick the same name. */
void journal_path(struct str *out, const char *journal_dir, int n)
{
    char host[64] = "host";
    if (gethostname(host, sizeof host - 1))
        host[0] = 0;
    for (char *c = host; *c; c++)
        if (*c == '/')
            *c = '_';
    str_printf(out, "%s/%s.%ld.%lld.%d.jsonl", journal_dir, host, (long)getpid(), (long long)time(NULL), n);
}

/* O_EXCL makes sure that nobody else has the name. */
static int make_file(struct journal *j, struct err *e)
{
    int rc = file_mkdir_own(j->dir, e);
    if (rc)
        return rc;
    for (int n = 0; n < FILES_PER_SECOND; n++) {
        struct str path = {0};
        journal_path(&path, j->dir, n);
        j->fd = file_open_new(path.data, O_APPEND);
        if (j->fd > 0) {
            j->path = path.data;
            return file_sync_folder_of(j->path, e);
        }
        j->fd = 0;
        if (errno != EEXIST) {
            rc = err_set(e, file_error_code(errno), "cannot create the journal %s: %s", path.data,
                         err_reason(errno));
            str_release(&path);
            return rc;
        }
        str_release(&path);
    }
    return err_set(e, ERR_IO, "cannot create a new journal in %s", j->dir);
}

/* The fields of an object without its braces. */
static int add_fields(struct str *line, const json_t *o, struct err *e)
{
    char *s = json_dumps(o, JSON_COMPACT);
    if (!s)
        return err_set(e, ERR_FORMAT, "a journal record is not valid JSON: some text in it is not UTF-8");
    str_add(line, s + 1, strlen(s) - 2);
    free(s);
    return 0;
}

void journal_line_seal(struct str *line, size_t from)
{
    uint32_t crc = crc32c(0, line->data + from, line->len - from);
    str_printf(line, "%s%08x\"}", crc_mark, (unsigned)crc);
}

static int build_line(struct str *line, const json_t *head, const int32_t *ids, size_t n_ids,
                      const char *text, size_t n_text, const json_t *tail, struct err *e)
{
    str_putc(line, '{');
    if (add_fields(line, head, e))
        return e->code;
    str_puts(line, ids_mark);
    for (size_t i = 0; i < n_ids; i++)
        str_printf(line, i ? ",%d" : "%d", (int)ids[i]);
    str_puts(line, text_mark);
    json_quote(line, text, n_text);
    if (tail && json_object_size(tail)) {
        str_putc(line, ',');
        if (add_fields(line, tail, e))
            return e->code;
    }
    journal_line_seal(line, 0);
    str_putc(line, '\n');
    return 0;
}

int journal_add(struct journal *j, const json_t *head, const int32_t *ids, size_t n_ids, const char *text,
                size_t n_text, const json_t *tail, struct err *e)
{
    struct str line = {0};
    int rc = j->fd ? 0 : make_file(j, e);
    if (!rc)
        rc = build_line(&line, head, ids, n_ids, text, n_text, tail, e);
    if (rc)
        return str_release(&line), rc;
    ssize_t n;
    do
        n = write(j->fd, line.data, line.len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        rc = err_set(e, file_error_code(errno),
                     "cannot write to the journal %s: %s; repeat the command when that is fixed", j->path,
                     err_reason(errno));
    else if ((size_t)n != line.len)
        rc = err_set(
            e, ERR_DISK,
            "cannot write to the journal %s: the disk is full; free some space and repeat the command",
            j->path);
    else
        j->records++;
    str_release(&line);
    return rc;
}

int journal_sync(struct journal *j, struct err *e)
{
    while (j->fd && fdatasync(j->fd) && errno != EINVAL)
        if (errno != EINTR)
            return err_set(e, file_error_code(errno), "cannot write the journal %s to disk: %s", j->path,
                           err_reason(errno));
    return 0;
}

void journal_close(struct journal *j)
{
    if (j->fd)
        close(j->fd);
    free(j->path);
    free(j->dir);
    memset(j, 0, sizeof *j);
}

/* The line up to its checksum, or 0 when the checksum is missing or wrong. */
static size_t checked_length(const char *line, size_t n)
{
    char want[CRC_TAIL + 1];
    if (n < CRC_TAIL + 2 || line[0] != '{')
        return 0;
    size_t body = n - CRC_TAIL;
    snprintf(want, sizeof want, "%s%08x\"}", crc_mark, (unsigned)crc32c(0, line, body));
    return memcmp(line + body, want, CRC_TAIL) ? 0 : body;
}

int journal_line_is_whole(const char *line, size_t length)
{
    return checked_length(line, length) > 0;
}

/* 1 where the line says none, as hand-made ones do. */
static long version_of(const char *line, size_t n)
{
    size_t at = strlen(version_mark), digits = 0;
    long v = 0;
    if (n < at || memcmp(line, version_mark, at))
        return 1;
    for (; at + digits < n && line[at + digits] >= '0' && line[at + digits] <= '9'; digits++)
        if (digits < VERSION_DIGITS)
            v = 10 * v + (line[at + digits] - '0');
    return digits ? v : 1;
}

/* The head without its closing brace; 0: there is none. */
static size_t head_length(const char *line, size_t n)
{
    const char *cut = memmem(line, n, ids_mark, strlen(ids_mark));
    return cut ? (size_t)(cut - line) : 0;
}

static json_t *parse_head(const char *line, size_t n)
{
    struct str head = {0};
    str_add(&head, line, n);
    str_putc(&head, '}');
    json_t *o = json_loadb(head.data, head.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    str_release(&head);
    return o;
}

/* The lines of a block, the parsed heads beside them. */
struct block {
    struct line_blocks lines;
    struct journal_line *line; /* `line` is NULL in one that is left out */
    json_t **head;
    char *items;
    enum journal_flaw *flaw;
    size_t cap;
    long first; /* number of lines before the block */
};

static void make_room(struct block *b, size_t item)
{
    if (b->lines.n <= b->cap)
        return;
    b->cap = b->lines.n;
    b->line = xrealloc(b->line, b->cap * sizeof *b->line);
    b->head = xrealloc(b->head, b->cap * sizeof *b->head);
    b->items = xrealloc(b->items, b->cap * item);
    b->flaw = xrealloc(b->flaw, b->cap * sizeof *b->flaw);
}

static void check_entry(struct block *b, long i, const struct journal_reader *how, void *context)
{
    const struct block_line *at = &b->lines.line[i];
    struct flat_object flat;
    void *item = b->items + (size_t)i * how->item;
    size_t body = checked_length(at->data, at->length), head = body ? head_length(at->data, body) : 0;
    b->head[i] = NULL;
    b->flaw[i] = JOURNAL_DAMAGED;
    b->line[i] = (struct journal_line){at->data, at->length, at->offset, b->first + i + 1, NULL};
    if (at->is_torn) {
        b->flaw[i] = JOURNAL_TORN;
        b->line[i].line = NULL;
        return;
    }
    if (body && version_of(at->data, body) > JOURNAL_VERSION) {
        b->flaw[i] = JOURNAL_NEWER;
        b->line[i].line = NULL;
        return;
    }
    if (head && how->look_flat && flat_read(&flat, at->data, head) && how->look_flat(context, &flat, item))
        return;
    b->line[i].head = b->head[i] = head ? parse_head(at->data, head) : NULL;
    if (!b->head[i])
        b->line[i].line = NULL;
    else if (how->look)
        how->look(context, &b->line[i], item);
}

/* A line that is no record. */
static int leave_out(struct block *b, long i, const struct journal_reader *how, void *context, long *bad,
                     struct err *e)
{
    const char *line = b->lines.line[i].data;
    struct journal_line l = b->line[i];
    *bad += b->flaw[i] == JOURNAL_DAMAGED;
    if (how->flaw) {
        l.line = line;
        how->flaw(context, &l, b->flaw[i]);
    } else if (b->flaw[i] == JOURNAL_NEWER) {
        char where[600];
        snprintf(where, sizeof where, "%.500s:%ld", b->lines.path, l.number);
        return runfolder_other_version(e, where, version_of(line, l.length), JOURNAL_VERSION);
    }
    return 0;
}

/* Checks and parses in parallel, takes in the file's order, and frees in parallel. */
static int read_block(struct block *b, const struct journal_reader *how, void *context, long *bad,
                      struct err *e)
{
    long n = (long)b->lines.n;
    int rc = 0;
    make_room(b, how->item);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        check_entry(b, i, how, context);
    for (long i = 0; i < n && !rc; i++)
        if (b->line[i].line)
            rc = how->take(context, &b->line[i], b->items + (size_t)i * how->item);
        else
            rc = leave_out(b, i, how, context, bad, e);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        json_decref(b->head[i]);
    b->first += n;
    return rc;
}

int journal_read(const char *path, const struct journal_reader *how, void *context, long *bad, struct err *e)
{
    struct block b = {0};
    int rc = line_blocks_open(&b.lines, path, e);
    while (!rc && (rc = line_blocks_next(&b.lines, e)) > 0)
        rc = read_block(&b, how, context, bad, e);
    line_blocks_close(&b.lines);
    free(b.line);
    free(b.head);
    free(b.items);
    free(b.flaw);
    return rc;
}

static int damaged_line(struct err *e)
{
    return err_set(e, ERR_FORMAT, "a journal record is damaged");
}

/* `rest` begins with the comma before the tail's first field, or is empty. */
static int parse_tail(const char *rest, size_t n, json_t **tail, struct err *e)
{
    struct str object = {0};
    str_putc(&object, '{');
    if (n)
        str_add(&object, rest + 1, n - 1);
    str_putc(&object, '}');
    *tail = json_loadb(object.data, object.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    str_release(&object);
    return *tail ? 0 : damaged_line(e);
}

/* The length of the JSON string that begins at s, its quotes included; 0: it has no end. */
static size_t string_length(const char *s, size_t n)
{
    for (size_t i = 1; n && *s == '"' && i < n; i++) {
        if (s[i] == '\\')
            i++;
        else if (s[i] == '"')
            return i + 1;
    }
    return 0;
}

/* A report fetches the tail alone of each record, whose text may be long. */
static int skip_text(const char *quoted, size_t n, json_t **tail, struct err *e)
{
    size_t end = string_length(quoted, n);
    return end ? parse_tail(quoted + end, n - end, tail, e) : damaged_line(e);
}

static int parse_text(const char *quoted, size_t n, struct str *text, json_t **tail, struct err *e)
{
    json_error_t at;
    json_t *v = json_loadb(quoted, n, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &at);
    int rc = json_is_string(v) ? 0 : damaged_line(e);
    if (!rc) {
        str_clear(text);
        str_add(text, json_string_value(v), json_string_length(v));
    }
    json_decref(v);
    size_t end = (size_t)at.position;
    return rc || !tail ? rc : parse_tail(quoted + end, n - end, tail, e);
}

static int journal_body(const char *line, size_t n, struct str *ids, struct str *text, json_t **tail,
                        struct err *e)
{
    size_t body = checked_length(line, n);
    const char *from = body ? memmem(line, body, ids_mark, strlen(ids_mark)) : NULL;
    const char *cut = from ? memmem(from, (size_t)(line + body - from), text_mark, strlen(text_mark)) : NULL;
    if (!cut)
        return damaged_line(e);
    from += strlen(ids_mark) - 1; /* at "[" */
    if (ids) {
        str_clear(ids);
        str_add(ids, from, (size_t)(cut + 1 - from));
    }
    const char *quoted = cut + strlen(text_mark);
    size_t rest = (size_t)(line + body - quoted);
    if (!text)
        return tail ? skip_text(quoted, rest, tail, e) : 0;
    return parse_text(quoted, rest, text, tail, e);
}

int journal_fetch(const char *path, int64_t offset, size_t length, struct str *ids, struct str *text,
                  json_t **tail, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(e, file_error_code(errno), "cannot open %s: %s", path, err_reason(errno));
    char *line = xmalloc(length + 1);
    size_t have = 0;
    ssize_t n = 1;
    while (have < length && n > 0) {
        n = pread(fd, line + have, length - have, (off_t)(offset + (int64_t)have));
        if (n > 0)
            have += (size_t)n;
    }
    close(fd);
    int rc = have < length ? err_set(e, ERR_IO, "cannot read %s: it became shorter", path)
                           : journal_body(line, length, ids, text, tail, e);
    free(line);
    return rc ? err_add(e, "%s", path), rc : 0;
}
