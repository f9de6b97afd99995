#ifndef ENGINE_MEMORY_KVCACHE_H
#define ENGINE_MEMORY_KVCACHE_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "kernels/backend.h"

/* The second door of engine/memory (device.h says what the room is for): the host's side of the paged KV
 * cache.
 *
 * Its memory is one pool of KV blocks (physical pages); a block holds K and V of one page of one KV head.
 * Blocks come from a free list and have reference counts. So all use the same pool: sequences that keep
 * everything, ragged sequences, whose heads keep different numbers of tokens, and shared prompt pages. A
 * shared page is never written: kvcache_fork() copies a page that will be (copy on write, ahead of time).
 *
 * seq is the sequence index: of a decoding sequence or of a shared prompt. The host fills the block table
 * (page table), which says which block holds each page of a head. Which slots are live is decided on the
 * device (struct kv_view), and the host reads it back where it must: after a prefill, and before each step
 * for sequences that drop tokens.
 *
 * Functions with a struct err, which must not be NULL, return 0 or ERR_DEVICE unless said otherwise; when it
 * holds an error already they return its code. */
struct kvcache {
    struct kv_view view;
    const struct backend *be;
    struct device *dev;
    int heads_per_seq; /* n_layers * n_kv */
    int n_blocks;
    int *free_list;        /* free KV blocks: (n_free), used as a stack */
    int n_free, min_free;  /* min_free: the fewest there have been */
    uint16_t *ref_count;   /* (n_blocks) */
    int32_t *block_table;  /* host copy of view.block_table */
    int32_t *mapped;       /* (heads): pages with a block, those below `first` excepted */
    int32_t *first;        /* (heads): the first page that has one still (kvcache_slide) */
    const int32_t *window; /* (n_layers): tokens that a query of the layer reads at most, 0: all; NULL:
                            * no layer has a window */
    int ahead; /* tokens that layers with windows hold at most beside them: a chunk of a prompt, say. The
                * caller sets it, and calls kvcache_slide() often enough */
    int32_t *scratch;             /* (heads_per_seq) */
    int32_t *copy_src, *copy_dst; /* device, (heads_per_seq * max_pages): lists for copies and changes */
    int32_t *put_at,
        *put_block; /* (n_put): changes of a sequence's part of view.block_table, not yet on the device */
    int n_put;
};

/* kvcache_init() allocates the tables only, for dtype and sizes in `sizes`, and keeps `window`, (n_layers) or
 * NULL, which must outlive c. kvcache_pool() then adds the blocks, all of them free, once, and
 * kvcache_bounds() their page bounds unless they are there. ERR_DEVICE: no memory; the caller releases c even
 * if kvcache_init() fails. kvcache_release() frees all and zeroes c; a zeroed struct is allowed. */
int kvcache_init(struct kvcache *c, const struct backend *be, struct device *dev, const struct kv_view *sizes,
                 const int32_t *window, struct err *e);
int kvcache_pool(struct kvcache *c, int n_blocks, struct err *e);
int kvcache_bounds(struct kvcache *c, struct err *e);
void kvcache_release(struct kvcache *c);

/* Empties a sequence index: gives its blocks back and zeroes its tables. */
int kvcache_clear(struct kvcache *c, int seq, struct err *e);

/* Returned by kvcache_map(), kvcache_fit_ragged() and kvcache_fork() when too few blocks are free. It is no
 * error, since the caller can free some and try again. */
enum { KVCACHE_FULL = 1 };

/* Gives every head of the sequence blocks for its first n_pages pages; those it has stay. KVCACHE_FULL leaves
 * everything as it was. ERR_USAGE: more pages than a sequence can have. */
int kvcache_map(struct kvcache *c, int seq, int n_pages, struct err *e);

/* Returns the number of free blocks that a sequence takes at most while it grows to n_pages pages a head, by
 * kvcache_map() and kvcache_slide() in turns; it cannot fail. kvcache_most() is that of an empty one. */
int kvcache_needs(const struct kvcache *c, int seq, int n_pages);
int64_t kvcache_most(const struct kvcache *c, int n_pages);

/* Takes back the blocks that no query from position pos on reads: in layers with windows, of the pages that
 * lie wholly before pos - window + 1. Later steps must not read them; what was enqueued before may. */
void kvcache_slide(struct kvcache *c, int seq, int pos);
/* Returns 1 if the sequence has still all that queries from position pos on read. */
int kvcache_reaches(const struct kvcache *c, int seq, int pos);

/* For a sequence that drops tokens: leaves each head with blocks for the slots it uses and `spare` pages
 * more, at most max_pages. Blocks beyond that go back to the free list, and heads that have fewer get some.
 * May return KVCACHE_FULL: then blocks have gone back, and no head got any. */
int kvcache_fit_ragged(struct kvcache *c, int seq, int spare, struct err *e);

/* Makes sequence index `to` a copy of the first n_tokens tokens of `from`, which has dropped none; pages
 * whose blocks were taken back stay away. Whole pages are shared (their reference counts rise) unless
 * `copy_all`; a last, partial page is copied, since it will be written. `to` must be empty. May return
 * KVCACHE_FULL, which leaves everything as it was. kvcache_fork_needs() returns the number of free blocks it
 * takes. */
int kvcache_fork(struct kvcache *c, int to, int from, int n_tokens, int copy_all, struct err *e);
int kvcache_fork_needs(const struct kvcache *c, int from, int n_tokens, int copy_all);

/* Sums over the sequence's layers and KV heads, in tokens. reads: attended; live: held now; peak: the most
 * that were held. aux: what was read to choose (kv_view.aux_half) and the statistics that were written and
 * read again (aux_values), in bytes divided by those of a token's K and V. Argument live: NULL, or
 * (heads_per_seq) receives the tokens that each head holds. After an error *out has no meaning. */
struct kvcache_sums {
    int64_t reads, live;
    double aux;
    int32_t peak;
};
int kvcache_sums(const struct kvcache *c, int seq, struct kvcache_sums *out, int32_t *live, struct err *e);
/* Sums of kv_view.prefill_reads and prefill_scans over the same heads. */
int kvcache_prefill_sums(const struct kvcache *c, int seq, int64_t *reads, int64_t *scans, struct err *e);
/* Return the sums of kv_view.not_chosen and key_elements over the same heads, the latter with all keys that
 * layers with windows have read; 0 with ERR_DEVICE in e->code if they cannot be read. */
int64_t kvcache_not_chosen(const struct kvcache *c, int seq, struct err *e);
int64_t kvcache_key_elements(const struct kvcache *c, int seq, struct err *e);

#endif
