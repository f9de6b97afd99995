#ifndef EVALCORE_FETCH_FETCH_H
#define EVALCORE_FETCH_FETCH_H

#include <stddef.h>

#include "evalcore/base/err.h"

/* The room that gets data sets from the network: what is fetched from where, and one file at a time. */

enum { FETCH_PARTS_MAX = 2 };

/* A data file, made of its parts one behind the other. All parts have a known hash: a file with another one
 * is refused, whoever served it. */
struct fetch_source {
    const char *task;     /* "aime25" */
    const char *repo;     /* a data set's id on the Hub; NULL: the parts are whole addresses */
    const char *revision; /* commit */
    const char *part[FETCH_PARTS_MAX], *sha256[FETCH_PARTS_MAX];
    const char *file; /* below the data folder */
    const char *licence;
    int is_gated; /* 1: needs a token and an agreement on the data set's page */
};

const struct fetch_source *fetch_source_at(size_t i); /* NULL past the end */
const struct fetch_source *fetch_source_find(const char *task);

struct fetch_options {
    const char *endpoint; /* of the Hub: "https://huggingface.co", without a slash at the end */
    const char *token;    /* NULL: none. Goes to the endpoint's host alone, and into no message */
    int retries;          /* after a failure that may pass; what has arrived is kept */
    double wait_s;        /* before the first of them, then doubled; a server's Retry-After counts for more */
    int stall_s;          /* without a byte for that long the connection counts as broken */
};

/* Makes data/<source's file>. Parts are kept as FILE.N.incomplete until all have their hash, so that a
 * repeated call goes on where the last one ended. *signal: that of stop.h which ended it early, then the
 * return value is 0 and there is no file. ERR_USAGE: the server wants a token or an agreement; ERR_IO:
 * network, disk, no such file; ERR_FORMAT: wrong hash; ERR_BUSY: another process fetches it. */
int fetch_source_get(const struct fetch_source *s, const char *data, const struct fetch_options *o,
                     int *signal, struct err *e);

#endif
