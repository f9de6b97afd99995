#ifndef EVALCORE_FETCH_HUB_CACHE_H
#define EVALCORE_FETCH_HUB_CACHE_H

#include "evalcore/fetch/hub_list.h"

/* Writing the Hub's cache in the layout of its own library: REPO/blobs/HASH, REPO/snapshots/COMMIT/NAME
 * linked to it, REPO/refs/REVISION, and locks in CACHE/.locks/REPO/HASH.lock. */
struct hub_cache {
    const char *root; /* CACHE */
    const char *repo; /* CACHE/models--owner--name */
    const char *url;  /* of the repository's files: a name is added */
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

#endif
