#ifndef EVALCORE_FETCH_HUB_LIST_H
#define EVALCORE_FETCH_HUB_LIST_H

#include "evalcore/base/arena.h"
#include "evalcore/fetch/fetch.h"

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

#endif
