#ifndef EVALCORE_FETCH_DOWNLOAD_H
#define EVALCORE_FETCH_DOWNLOAD_H

#include "evalcore/base/str.h"
#include "evalcore/fetch/fetch.h"

/* One address over HTTP(S), into an open file or a text. */
struct download {
    const char *url;
    const char *token; /* NULL: none is sent */
    const char *name;  /* for the progress line */
    int fd;            /* what is missing is appended to this file, which may hold the beginning already; */
    const char *path;  /* its name for messages; NULL: no file, the bytes go to */
    struct str *text;  /* this one, which is empty */
    int64_t size;      /* bytes of the whole, 0 when not known */
    int64_t max_bytes; /* a longer answer is refused */
};

/* Tries again as the options say; tries that brought new bytes are not counted. Codes and *signal as
 * fetch_source_get(). */
int download(const struct download *d, const struct fetch_options *o, int *signal, struct err *e);

#endif
