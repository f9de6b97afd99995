#ifndef EVALCORE_FETCH_FETCH_FORMS_H
#define EVALCORE_FETCH_FETCH_FORMS_H

#include "evalcore/fetch/fetch.h"

/* The forms of a source, which fetch_source_get() chooses between. Arguments, codes and notes as there. */
int fetch_parts(const struct fetch_source *s, const char *data, const struct fetch_options *o, int *signal,
                struct err *e);
int fetch_rows(const struct fetch_source *s, const char *data, const struct fetch_options *o,
               struct str *note, int *signal, struct err *e);
int fetch_zip(const struct fetch_source *s, const char *data, const struct fetch_options *o, struct str *note,
              int *signal, struct err *e);

/* One file that becomes part of a data file: PATH.incomplete while it is fetched, locked by flock. */
struct fetch_part {
    const char *url, *path;   /* path: with .incomplete */
    const char *cached;       /* the same file in the Hub's cache, where it may be; NULL: nowhere */
    const char *sha256;       /* of the whole; NULL: not known */
    const char *name, *token; /* NULL token: none is sent */
    int64_t max_bytes;
    int fd; /* the result, for fetch_part_close() */
};
/* Appends the part's bytes to *whole when they have the hash. Close the part also after an error. */
int fetch_part_get(struct fetch_part *p, const struct fetch_options *o, struct str *whole, int *signal,
                   struct err *e);
void fetch_part_close(struct fetch_part *p, int is_done); /* is_done 1: what arrived is not needed any more */

/* Where the Hub's cache keeps a file of the source's data set, in the arena; NULL without a cache. */
const char *fetch_cached(const struct fetch_source *s, const char *commit, const char *file,
                         const struct fetch_options *o, struct arena *a);

/* Makes the folders above a file. */
int fetch_make_folder_of(const char *path, struct err *e);

#endif
