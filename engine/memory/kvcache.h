#ifndef ENGINE_MEMORY_KVCACHE_H
#define ENGINE_MEMORY_KVCACHE_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "kernels/backend.h"

/* The KV cache's host side: one flat pool of units (one KV head of one page), handed out from a free stack
 * with reference counts, so that uniform and ragged sequences and shared prompt pages carve from the same
 * memory.
 *
 * A place (seq) holds one sequence or one shared prompt. The host decides which units a head has; which slots
 * are live is the device's business (struct kv_view), and the host reads it back where it must: after a
 * prefill and, for sequences that drop, before each step. */
struct kvcache {
    struct kv_view view;
    const struct backend *be;
    struct device *dev;
    int heads_per_seq; /* n_layers * n_kv */
    int n_units;
    int *free; /* stack of free units */
    int n_free, min_free;
    uint16_t *refs;               /* (n_units) */
    int32_t *unit;                /* host copy of view.unit */
    int32_t *mapped;              /* (heads): pages with a unit */
    int32_t *scratch;             /* (heads_per_seq) */
    int32_t *copy_src, *copy_dst; /* device, (heads_per_seq * max_pages): lists for copies and changes */
    int32_t *put_at, *put_unit;   /* (n_put): changes to a place's part of view.unit, not there yet */
    int n_put;
};

/* Tables alone; kvcache_pool gives it units, kvcache_bounds their page bounds, once is enough. */
int kvcache_init(struct kvcache *c, const struct backend *be, struct device *dev, const struct kv_view *sizes,
                 struct err *e);
int kvcache_pool(struct kvcache *c, int n_units, struct err *e);
int kvcache_bounds(struct kvcache *c, struct err *e);
void kvcache_release(struct kvcache *c);

/* Empties a place: its units go back, its tables are zeroed. */
int kvcache_clear(struct kvcache *c, int seq, struct err *e);

/* What the three functions that take units return when too few are free: no error, since the caller can free
 * some and try again. */
enum { KVCACHE_FULL = 1 };

/* Every head of the place gets units for its first n_pages pages. KVCACHE_FULL, with nothing changed, when
 * too few are free. */
int kvcache_map(struct kvcache *c, int seq, int n_pages, struct err *e);

/* Units a map to n_pages would take. */
int kvcache_needs(const struct kvcache *c, int seq, int n_pages);

/* For a place whose live sets are ragged: after dropping and compaction, units above each head's slots go
 * back, but for `spare` pages ahead; heads that are short of them get more. KVCACHE_FULL when too few are
 * free. */
int kvcache_fit_ragged(struct kvcache *c, int seq, int spare, struct err *e);

/* Place `to` becomes a copy of the first n_tokens tokens of `from` (no drops there). Whole pages are shared
 * unless `copy_all`; the last, partial page is copied, since it will be written. KVCACHE_FULL when too few
 * units are free. */
int kvcache_fork(struct kvcache *c, int to, int from, int n_tokens, int copy_all, struct err *e);
int kvcache_fork_needs(const struct kvcache *c, int n_tokens, int copy_all);

/* Sums over the place's layers and KV heads. */
struct kvcache_sums {
    int64_t reads, aux_half, live;
    int32_t peak;
};
int kvcache_sums(const struct kvcache *c, int seq, struct kvcache_sums *out, struct err *e);

#endif
