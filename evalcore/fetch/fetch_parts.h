#ifndef EVALCORE_FETCH_FETCH_PARTS_H
#define EVALCORE_FETCH_FETCH_PARTS_H

#include <stdint.h>

#include "evalcore/fetch/fetch.h"
#include "evalcore/base/str.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"

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
    const char *sha256;       /* digest of the whole; NULL: not known */
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

/* What a repository on the Hub holds at a revision, by the Hub's API. The answer is untrusted: names that are
 * no plain file names of the root folder are left out, hashes are hexadecimal digits. */
struct hub_file {
    const char *name;
    const char *hash; /* is_lfs: SHA-256, 64 digits; otherwise git's blob hash, 40 */
    int64_t size;
    int is_lfs;
};
struct hub_list {
    char commit[41];
    struct hub_file *files;
    size_t n;
    struct arena arena; /* owns files */
};

/* kind: "models" or "datasets". Release the list also after an error. */
int hub_list_get(struct hub_list *l, const char *kind, const char *repo, const char *revision,
                 const struct fetch_options *o, int *signal, struct err *e);
void hub_list_release(struct hub_list *l);
const struct hub_file *hub_list_find(const struct hub_list *l, const char *name); /* NULL: there is none */

/* Puts into context what to do about a refusal; `page` is the repository's, below the endpoint. */
void hub_add_advice(int rc, const char *page, const struct fetch_options *o, struct err *e);

/* Writing the Hub's cache in the layout of its own library: REPO/blobs/HASH, REPO/snapshots/COMMIT/NAME
 * linked to it, REPO/refs/REVISION, and locks in CACHE/.locks/REPO/HASH.lock. */
struct hub_cache {
    const char *root; /* CACHE */
    const char *repo; /* CACHE/models--owner--name */
    const char *url;  /* address of the repository's files; a name is added */
    int64_t fetched;  /* bytes */
    int n_fetched;
};

/* The blob of a file, fetched unless it is there. */
int hub_cache_blob(struct hub_cache *c, const struct hub_file *f, const struct fetch_options *o, int *signal,
                   struct err *e);
int hub_cache_link(const struct hub_cache *c, const struct hub_file *f, const char *commit, struct err *e);
int hub_cache_set_ref(const struct hub_cache *c, const char *revision, const char *commit, struct err *e);
/* Appends the path of a blob. */
void hub_cache_blob_path(struct str *out, const struct hub_cache *c, const struct hub_file *f);

/* Reads ZIP archives in memory (PKWARE's APPNOTE 6.3: members stored or deflated, one disk, no encryption, no
 * ZIP64). Archives are untrusted: everything is checked against the size of the archive and a limit. */
struct zip {
    const char *path; /* for messages */
    const unsigned char *data;
    size_t size;
    size_t pos; /* offset of the next record in the central directory */
    int left;   /* records */
};
struct zip_member {
    char name[256];
    uint32_t crc, packed, size; /* bytes, as the directory says */
    size_t offset;              /* where its local header begins */
    int method;                 /* 0 stored, 8 deflated */
};

/* The bytes must outlive z. Nothing to release. */
int zip_open(struct zip *z, const char *path, const void *data, size_t size, struct err *e);
int zip_next(struct zip *z, struct zip_member *m,
             struct err *e); /* 1: a member; 0: the end; negative: an error */
/* Appends the member's bytes, at most max of them, and checks their CRC-32. */
int zip_read(struct str *out, const struct zip *z, const struct zip_member *m, size_t max, struct err *e);

#endif
