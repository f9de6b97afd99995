#ifndef EVALCORE_FETCH_FETCH_PARTS_H
#define EVALCORE_FETCH_FETCH_PARTS_H

#include <stdint.h>

#include "evalcore/fetch/fetch.h"
#include "evalcore/base/str.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/err.h"

/* The forms of a source, which fetch_source_get() chooses between. Arguments, codes and notes as there;
 * *signal is 0 before the call. */
int fetch_parts(const struct task_source *s, const char *data, const struct fetch_options *o,
                struct str *note, int *signal, struct err *e);
int fetch_rows(const struct task_source *s, const char *data, const struct fetch_options *o, struct str *note,
               int *signal, struct err *e);
int fetch_zip(const struct task_source *s, const char *data, const struct fetch_options *o, struct str *note,
              int *signal, struct err *e);

/* One file that becomes part of a data file: PATH.incomplete while it is fetched, locked by flock. */
struct fetch_part {
    const char *url, *path;   /* path: with .incomplete */
    const char *cached;       /* the same file in the Hub's cache, where it may be; NULL: nowhere */
    const char *sha256;       /* digest of the whole; NULL: not known */
    const char *name, *token; /* NULL token: none is sent */
    int64_t max_bytes;
    struct file_map map; /* the result: its bytes */
    int fd;              /* for fetch_part_close() */
};
/* Maps the part's bytes when they have the hash, from the cache or the network. Close the part also after an
 * error. Codes and *signal as fetch_source_get(), *signal being 0 before the call: ERR_USAGE
 * also when offline and not in the cache; ERR_FORMAT for another hash, and what arrived is removed. */
int fetch_part_get(struct fetch_part *p, const struct fetch_options *o, int *signal, struct err *e);
void fetch_part_close(struct fetch_part *p, int is_done); /* is_done 1: removes PATH.incomplete */

/* Returns where the Hub's cache keeps a file of the source's data set, in the arena, whether it is there or
 * not; NULL without a cache. */
const char *fetch_cached(const struct task_source *s, const char *commit, const char *file,
                         const struct fetch_options *o, struct arena *a);

/* Offline: the commit that the Hub's cache took last for the source's data set; NULL where it says none. */
const char *fetch_cached_commit(const struct task_source *s, const struct fetch_options *o, struct arena *a);

/* Makes the folders above a file, whose path has a slash. Codes as file_mkdirs(). */
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

/* Tries again as the options say; tries that brought new bytes to a file are not counted. Returns 0 when all
 * is there, or when a signal ended it: *signal is that one, else 0. ERR_USAGE: the server refuses access
 * (401, 403); ERR_FORMAT: it sends more than max_bytes; ERR_IO: all else, a full disk too. What has arrived
 * stays. */
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

/* kind: "models" or "datasets". Release the list also after an error. Codes and *signal as download(), with
 * advice for ERR_USAGE; ERR_FORMAT also when the answer is no such list. After a signal the list is empty. */
int hub_list_get(struct hub_list *l, const char *kind, const char *repo, const char *revision,
                 const struct fetch_options *o, int *signal, struct err *e);
void hub_list_release(struct hub_list *l);
/* The file of that name, borrowed from the list; NULL: there is none. */
const struct hub_file *hub_list_find(const struct hub_list *l, const char *name);

/* Puts in front of e's message what to do about a refusal, when rc is ERR_USAGE; else nothing. `page` is the
 * repository's, below the endpoint. */
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

/* Returns 1 if the file at path is whole: it has the size that the Hub lists, and with by_hash its hash. 0:
 * it is not, or there is none. */
int hub_is_whole(const char *path, const struct hub_file *f, int by_hash);
/* Fetches the blob of a file unless it is there and whole, and counts it in c. Codes and *signal as
 * fetch_source_get(), *signal being 0 before the call: ERR_BUSY when another process has its lock; ERR_FORMAT
 * for another hash, and what arrived is removed. */
int hub_cache_blob(struct hub_cache *c, const struct hub_file *f, const struct fetch_options *o, int *signal,
                   struct err *e);
/* Links the file's name in the snapshot to its blob, unless the name leads to a whole file already. Returns
 * 0, or what file_mkdirs() does, or ERR_IO. */
int hub_cache_link(const struct hub_cache *c, const struct hub_file *f, const char *commit,
                   const struct fetch_options *o, struct err *e);
/* Makes refs/REVISION name the commit. Codes as file_mkdirs() and file_write_atomic(). */
int hub_cache_set_ref(const struct hub_cache *c, const char *revision, const char *commit, struct err *e);
/* Appends the path of a blob, which need not be there. */
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

/* Path and bytes are borrowed and must outlive z. Nothing to release. ERR_FORMAT: no ZIP archive, one whose
 * end is missing, ZIP64, or one of several parts. */
int zip_open(struct zip *z, const char *path, const void *data, size_t size, struct err *e);
/* Returns 1 and the next member, 0 at the end, ERR_FORMAT when the directory is damaged, or ERR_UNSUPPORTED
 * when the member is encrypted. */
int zip_next(struct zip *z, struct zip_member *m, struct err *e);
/* Returns 0 when the members that are left are at most `members` and have at most `bytes` together, as the
 * directory says, which zip_read() holds them to; else ERR_FORMAT. z stays where it is. Codes as zip_next(),
 * too. */
int zip_check_size(const struct zip *z, int members, uint64_t bytes, struct err *e);
/* Appends the member's bytes and returns 0. ERR_FORMAT: it has more than max bytes, is damaged or cut off, or
 * has another CRC-32 (its bytes are in `out` then); ERR_UNSUPPORTED: neither stored nor deflated. */
int zip_read(struct str *out, const struct zip *z, const struct zip_member *m, size_t max, struct err *e);

#endif
