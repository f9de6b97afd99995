#ifndef ENGINE_MEMORY_KVCACHE_H
#define ENGINE_MEMORY_KVCACHE_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "kernels/backend.h"

/* The second door of engine/memory (device.h says what the room is for): the host's side of the KV cache.
 *
 * Its memory is one pool of units; a unit holds K and V of one KV head of one page. Units have reference
 * counts and are handed out from a stack of free ones, so sequences that keep everything, sequences whose
 * heads keep different numbers of tokens (ragged ones) and shared prompt pages all use the same pool.
 *
 * A place (seq) holds one sequence or one shared prompt. The host decides which units a head has. Which slots
 * of them are live is decided on the device (struct kv_view), and the host reads it back where it must: after
 * a prefill, and for sequences that drop tokens before each step. */
struct kvcache {
    struct kv_view view;
    const struct backend *be;
    struct device *dev;
    int heads_per_seq; /* n_layers * n_kv */
    int n_units;
    int *free; /* stack of free units */
    int n_free, min_free;
    uint16_t *refs;               /* (n_units) */
    int32_t *unit;                /* host copy of view.block_table */
    int32_t *mapped;              /* (heads): pages with a unit */
    int32_t *scratch;             /* (heads_per_seq) */
    int32_t *copy_src, *copy_dst; /* device, (heads_per_seq * max_pages): lists for copies and changes */
    int32_t *put_at,
        *put_unit; /* (n_put): changes to a place's part of view.block_table, not yet on the device */
    int n_put;
};

/* kvcache_init() allocates the tables only. kvcache_pool() adds the units, and kvcache_bounds() page bounds
 * for them, each called once. ERR_DEVICE: no memory. */
int kvcache_init(struct kvcache *c, const struct backend *be, struct device *dev, const struct kv_view *sizes,
                 struct err *e);
int kvcache_pool(struct kvcache *c, int n_units, struct err *e);
int kvcache_bounds(struct kvcache *c, struct err *e);
void kvcache_release(struct kvcache *c);

/* Empties a place: gives its units back and zeroes its tables. */
int kvcache_clear(struct kvcache *c, int seq, struct err *e);

/* What kvcache_map(), kvcache_fit_ragged() and kvcache_fork() return when too few units are free. It is not
 * an error, since the caller can free some and try again. */
enum { KVCACHE_FULL = 1 };

/* Gives every head of the place units for its first n_pages pages. KVCACHE_FULL leaves everything as it was.
 */
int kvcache_map(struct kvcache *c, int seq, int n_pages, struct err *e);

/* How many units kvcache_map() would take. */
int kvcache_needs(const struct kvcache *c, int seq, int n_pages);

/* For a place whose sequence drops tokens: leaves each head with units for the slots it uses and `spare`
 * pages more. Units beyond that go back to the pool, and heads that have fewer get some. May return
 * KVCACHE_FULL. */
int kvcache_fit_ragged(struct kvcache *c, int seq, int spare, struct err *e);

/* Makes place `to` a copy of the first n_tokens tokens of `from`, which has dropped none. Whole pages are
 * shared unless `copy_all`; a last, partial page is copied, since it will be written. May return
 * KVCACHE_FULL. kvcache_fork_needs(): how many units it takes. */
int kvcache_fork(struct kvcache *c, int to, int from, int n_tokens, int copy_all, struct err *e);
int kvcache_fork_needs(const struct kvcache *c, int n_tokens, int copy_all);

/* Sums over the place's layers and KV heads, in tokens. aux: what was read to choose (kv_view.aux_half), and
 * the statistics that were written and read again (aux_values), as many tokens as have so many bytes of K and
 * V. live: NULL, or (heads_per_seq) what each of them holds. */
struct kvcache_sums {
    int64_t reads, live;
    double aux;
    int32_t peak;
};
int kvcache_sums(const struct kvcache *c, int seq, struct kvcache_sums *out, int32_t *live, struct err *e);
/* Sums of kv_view.prefill_reads and prefill_scans over the same heads. */
int kvcache_prefill_sums(const struct kvcache *c, int seq, int64_t *reads, int64_t *scans, struct err *e);
/* The sums of kv_view.not_chosen and key_elements over the same heads. */
int64_t kvcache_not_chosen(const struct kvcache *c, int seq, struct err *e);
int64_t kvcache_key_elements(const struct kvcache *c, int seq, struct err *e);

#endif
