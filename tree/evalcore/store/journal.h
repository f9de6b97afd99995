#ifndef EVALCORE_STORE_JOURNAL_H
#define EVALCORE_STORE_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"
#include "evalcore/store/flat_json.h"

/* The raw truth of a run: append-only JSONL under DIR/journal, one file per coordinator process and one
 * writer per file, so that nothing depends on how a shared file system orders appends. Readers take the union
 * of all files, in any order.
 *
 * A record is one line {"v":1, head fields..., "ids":[...], "text":"...", tail fields..., "crc":"8 hex"}:
 * written with one write(), its CRC-32C over all bytes before `,"crc"`. A line without its newline is torn
 * (the process died in the write) and does not count; a line whose CRC is wrong is counted and left out.
 * Every version keeps the beginning {"v":N, and the checksum at the end, so that a line of a later one can be
 * told from a damaged one.
 * `ids`, `text` and the tail come last, so that a reader who needs the head only need not parse them. */
enum { JOURNAL_VERSION = 1 };
struct journal {
    int fd;           /* 0: not open yet */
    char *path, *dir; /* dir: DIR/journal */
    int64_t records;
};

/* Prepares *j for run folder run_dir and cannot fail: the file is made with the first record. */
void journal_init(struct journal *j, const char *run_dir);
/* Appends the path of the n-th journal that this process may make in this second,
 * journal_dir/HOST.PID.TIME.N.jsonl. journal_dir: the folder DIR/journal. */
void journal_path(struct str *out, const char *journal_dir, int n);
/* Appends one record. head: an object; ids: n_ids token ids; text: any bytes; tail: an object, or NULL for
 * none; all are borrowed. Returns 0; ERR_FORMAT when head or tail cannot be written as JSON, and nothing is
 * written then; ERR_IO or ERR_DISK when the file cannot be made or written. The earlier records are readable
 * after a failure, but part of a line may stand behind them, which the next record would continue. */
int journal_add(struct journal *j, const json_t *head, const int32_t *ids, size_t n_ids, const char *text,
                size_t n_text, const json_t *tail, struct err *e);
/* After this the records added so far survive a power cut. Returns 0, also where nothing was added, or ERR_IO
 * or ERR_DISK when the file cannot be synced. */
int journal_sync(struct journal *j, struct err *e);
/* Closes the file, without a sync, and zeroes *j, which may be zeroed already. */
void journal_close(struct journal *j);

struct journal_line {
    const char *line; /* without newline, CRC checked */
    size_t length;
    int64_t offset;
    long number;        /* line number, from 1 */
    const json_t *head; /* parsed, without ids and text; NULL where look_flat() took it */
};
/* What is no record, or none that can be read here. */
enum journal_flaw {
    JOURNAL_TORN, /* the last line, without its newline */
    JOURNAL_DAMAGED,
    JOURNAL_NEWER /* its version is above JOURNAL_VERSION */
};
/* What is done with each record of a file. */
struct journal_reader {
    size_t item; /* bytes of an item, what look() finds out about one record for take() */
    /* Called for several records at once, by several threads: it must change nothing but *item, which is not
     * cleared before. NULL: there is nothing to look for. */
    void (*look)(void *context, const struct journal_line *l, void *item);
    /* Called instead of look(), in the same way, for a head of plain values, which is not parsed then.
     * Returns 0 for a head that has to be parsed after all. NULL: every head is. */
    int (*look_flat)(void *context, const struct flat_object *head, void *item);
    /* Called for one record after another in the order of the file, so that results do not depend on threads.
     * The line, its head and what *item borrows from them are gone afterwards. Returns nonzero to stop with
     * that value. */
    int (*take)(void *context, const struct journal_line *l, void *item);
    /* Called instead of take() for what is no record. NULL: torn and damaged lines are left out, and a newer
     * record is an error, because it must not be decoded again or believed. */
    void (*flaw)(void *context, const struct journal_line *l, enum journal_flaw what);
};

/* Looks at and takes each record of a file. Damaged lines, whose checksum or form is wrong, are left out and
 * added to *bad; torn and newer ones are not counted there. Returns 0 at the end of the file, the value by
 * which take() stopped it, ERR_IO or ERR_DISK when the file cannot be read, or ERR_UNSUPPORTED for a newer
 * record where how->flaw is NULL. */
int journal_read(const char *path, const struct journal_reader *how, void *context, long *bad, struct err *e);

/* Appends the checksum and the closing brace to the line that begins at byte `from` of *line and lacks its
 * brace. Tables of grades have such lines, too. */
void journal_line_seal(struct str *line, size_t from);
/* Returns 1 for a line, given without its newline, with the right checksum at its end, else 0. */
int journal_line_is_whole(const char *line, size_t length);

/* Fetches the parts of a line that journal_read() leaves out, by the line's place in its file: the ids as the
 * text of a JSON array, the text, and the tail, an object that the caller gives back with json_decref() and
 * that is empty where the record has none. Each may be NULL: that part is not wanted. What ids and text hold
 * is replaced. Returns 0, ERR_IO when the file cannot be read or is too short, or ERR_FORMAT when the line is
 * damaged; the outputs then have no meaning, and there is no tail to give back. */
int journal_fetch(const char *path, int64_t offset, size_t length, struct str *ids, struct str *text,
                  json_t **tail, struct err *e);

#endif
