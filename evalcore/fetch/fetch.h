#ifndef EVALCORE_FETCH_FETCH_H
#define EVALCORE_FETCH_FETCH_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"
#include "evalcore/cli/hub_model.h"
#include "tasks/task.h"

/* The room that gets data sets and models from the network. What a task's data files are made of its task
 * says (struct task_source).
 *
 * Functions that fetch return 0 or ERR_USAGE: the server wants a token or an agreement; ERR_IO: network,
 * disk, no such file; ERR_DISK: the disk is full or fails when the finished file is written; ERR_FORMAT: not
 * the bytes that were expected; ERR_UNSUPPORTED: an archive that is encrypted or packed in another way;
 * ERR_BUSY: another process fetches it. *signal: that of stop.h which ended them early; the return value is 0
 * then, and a repeated call goes on. */

/* What fetch_source_look() finds in the folder `data`. FETCH_THERE: the file, or all files of an archive, are
 * there; FETCH_MISSING: they are not. FETCH_OTHER: a file of that name whose hash is another
 * one than the source's; that can be told where it is made of one part whose hash the source has. */
enum fetch_state { FETCH_MISSING, FETCH_THERE, FETCH_OTHER };
enum fetch_state fetch_source_look(const struct task_source *s, const char *data);

/* Called while bytes arrive, in the calling thread: `have` of `size` bytes are there; size 0: not known. */
typedef void (*fetch_show_fn)(void *context, const char *name, int64_t have, int64_t size);

struct fetch_options {
    const char *endpoint;    /* the Hub's address, "https://huggingface.co", without a slash at the end */
    const char *rows_server; /* address of the rows interface, the same way */
    const char *cache;       /* the Hub's cache; NULL: there is none */
    const char *token;       /* NULL: none. Goes to the endpoint's host alone, and into no message */
    int is_offline;          /* 1: only what the Hub's cache holds */
    int verifies;            /* 1: blobs that are there are hashed, too */
    int retries;             /* after a failure that may pass; what has arrived is kept */
    double wait_s;      /* before the first of them, then doubled; a server's Retry-After counts for more */
    int stall_s;        /* without a byte for that long the connection counts as broken */
    fetch_show_fn show; /* NULL: nothing is shown */
    void *show_context;
};

/* What fetch_source_get() checks, in a few words: "35dc41080a", the beginning of part i's SHA-256, "by the
 * Hub", "answers", "rows", their number, or "not known". n: bytes of out. */
void fetch_source_check(char *out, size_t n, const struct task_source *s, int i);

/* Makes data/<source's file>, never under its name before it is whole. Files that the Hub's cache holds are
 * taken from there; offline it is ERR_USAGE when that does not hold them. What arrived before an error or a
 * signal is kept for the next call, except bytes of another hash and rows. Adds to *note how what was taken
 * is known to be right. */
int fetch_source_get(const struct task_source *s, const char *data, const struct fetch_options *o,
                     struct str *note, int *signal, struct err *e);

/* Gets what kveval, Transformers and vLLM read of a model (configuration, tokenizer, chat template, licence,
 * safetensors weights) into the Hub's cache, under the locks of the Hub's own library. Blobs that are there
 * with the size that the Hub lists, and with its hash where o->verifies, are not fetched again. refs/REVISION
 * and config.json's link come last: until everything is there, a revision names what it named before.
 * ERR_FORMAT also for a repository without config.json, tokenizer.json or safetensors weights, ERR_IO also
 * when the disk has too little room. o->cache is not NULL, and o->is_offline is not looked at. When all is
 * there it adds the commit and what was fetched to *note. */
int fetch_model_get(const struct hub_id *id, const struct fetch_options *o, struct str *note, int *signal,
                    struct err *e);

#endif
