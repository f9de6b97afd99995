/* Block table, free list and reference counts of the KV cache (contract: kvcache.h). Only the backend knows
 * how a block is laid out. */
#include "engine/memory/kvcache.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory/device.h"
#include "evalcore/base/arena.h"

int kvcache_init(struct kvcache *c, const struct backend *be, struct device *dev, const struct kv_view *sizes,
                 const int32_t *window, struct err *e)
{
    memset(c, 0, sizeof *c);
    c->be = be;
    c->dev = dev;
    c->view = *sizes;
    c->heads_per_seq = sizes->n_layers * sizes->n_kv;
    size_t heads = (size_t)sizes->n_seqs * (size_t)c->heads_per_seq, pages = heads * (size_t)sizes->max_pages;
    size_t per_seq = (size_t)c->heads_per_seq * (size_t)sizes->max_pages;
    struct kv_view *v = &c->view;
    v->block_table = be->alloc(dev, pages * sizeof *v->block_table);
    v->live = be->alloc(dev, pages * sizeof *v->live);
    v->n_slots = be->alloc(dev, heads * sizeof *v->n_slots);
    v->n_live = be->alloc(dev, heads * sizeof *v->n_live);
    v->tail = be->alloc(dev, heads * sizeof *v->tail);
    v->reads = be->alloc(dev, heads * sizeof *v->reads);
    v->not_chosen = be->alloc(dev, heads * sizeof *v->not_chosen);
    v->aux_half = be->alloc(dev, heads * sizeof *v->aux_half);
    v->aux_values = be->alloc(dev, heads * sizeof *v->aux_values);
    v->prefill_reads = be->alloc(dev, heads * sizeof *v->prefill_reads);
    v->prefill_scans = be->alloc(dev, heads * sizeof *v->prefill_scans);
    v->keys_moved = be->alloc(dev, heads * sizeof *v->keys_moved);
    v->key_elements = be->alloc(dev, heads * sizeof *v->key_elements);
    v->peak = be->alloc(dev, (size_t)sizes->n_seqs * sizeof *v->peak);
    c->copy_src = be->alloc(dev, per_seq * sizeof *c->copy_src);
    c->copy_dst = be->alloc(dev, per_seq * sizeof *c->copy_dst);
    if (!v->block_table || !v->live || !v->n_slots || !v->n_live || !v->tail || !v->reads || !v->not_chosen ||
        !v->aux_half || !v->aux_values || !v->prefill_reads || !v->prefill_scans || !v->keys_moved ||
        !v->key_elements || !v->peak || !c->copy_src || !c->copy_dst)
        return err_set(e, ERR_DEVICE,
                       "no device memory for the KV cache's tables (%d sequences of %d pages); use a smaller "
                       "--max-batch",
                       sizes->n_seqs, sizes->max_pages);
    c->block_table = xcalloc(pages, sizeof *c->block_table);
    c->mapped = xcalloc(heads, sizeof *c->mapped);
    c->first = xcalloc(heads, sizeof *c->first);
    c->window = window;
    c->scratch = xcalloc(per_seq ? per_seq : 1, sizeof *c->scratch);
    c->put_at = xcalloc(per_seq ? per_seq : 1, sizeof *c->put_at);
    c->put_block = xcalloc(per_seq ? per_seq : 1, sizeof *c->put_block);
    return 0;
}

int kvcache_bounds(struct kvcache *c, struct err *e)
{
    struct kv_view *v = &c->view;
    size_t bytes = (size_t)c->n_blocks * kv_bounds_bytes(v);
    if (!v->bounds && !(v->bounds = c->be->alloc(c->dev, bytes)))
        return err_set(e, ERR_DEVICE, "no device memory for page bounds of %d KV blocks (%.1f MiB)",
                       c->n_blocks, (double)bytes / 1048576);
    return 0;
}

int kvcache_pool(struct kvcache *c, int n_blocks, struct err *e)
{
    struct kv_view *v = &c->view;
    size_t pool = (size_t)n_blocks * c->be->kv_block_bytes(v->dtype, v->head_dim);
    if (!(v->pool = c->be->alloc(c->dev, pool)))
        return err_set(e, ERR_DEVICE,
                       "no device memory for a KV cache of %.1f MiB; use a smaller --max-batch or context",
                       (double)pool / 1048576);
    c->n_blocks = n_blocks;
    c->free_list = xmalloc((size_t)n_blocks * sizeof *c->free_list);
    for (int i = 0; i < n_blocks; i++)
        c->free_list[i] = n_blocks - 1 - i;
    c->n_free = c->min_free = n_blocks;
    c->ref_count = xcalloc((size_t)n_blocks, sizeof *c->ref_count);
    return 0;
}

void kvcache_release(struct kvcache *c)
{
    if (!c->be)
        return;
    struct kv_view *v = &c->view;
    void *device[] = {v->pool,       v->bounds,        v->block_table,   v->live,       v->n_slots,
                      v->n_live,     v->tail,          v->reads,         v->not_chosen, v->aux_half,
                      v->aux_values, v->prefill_reads, v->prefill_scans, v->keys_moved, v->key_elements,
                      v->peak,       c->copy_src,      c->copy_dst};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++)
        c->be->release(c->dev, device[i]);
    free(c->free_list);
    free(c->ref_count);
    free(c->block_table);
    free(c->mapped);
    free(c->first);
    free(c->scratch);
    free(c->put_at);
    free(c->put_block);
    memset(c, 0, sizeof *c);
}

static int take_block(struct kvcache *c)
{
    int u = c->free_list[--c->n_free];
    c->ref_count[u] = 1;
    if (c->n_free < c->min_free)
        c->min_free = c->n_free;
    return u;
}

static void release_block(struct kvcache *c, int u)
{
    if (--c->ref_count[u] == 0)
        c->free_list[c->n_free++] = u;
}

static size_t first_head(const struct kvcache *c, int seq)
{
    return (size_t)seq * (size_t)c->heads_per_seq;
}

/* Sets entry `page` of a head's block table. The device sees it after the next upload_block_table(). */
static void set_block(struct kvcache *c, size_t head, int page, int block)
{
    size_t pages = (size_t)c->view.max_pages;
    c->block_table[head * pages + (size_t)page] = block;
    c->put_at[c->n_put] = (int32_t)(head % (size_t)c->heads_per_seq * pages) + page;
    c->put_block[c->n_put++] = block;
}

/* Sends all changed entries of a sequence to the device at once, since an upload per head would take longer
 * than a step. */
static int upload_block_table(struct kvcache *c, int seq, struct err *e)
{
    size_t bytes = (size_t)c->n_put * sizeof *c->put_at;
    struct put_i32_args a = {c->view.block_table + first_head(c, seq) * (size_t)c->view.max_pages,
                             c->copy_src, c->copy_dst, c->n_put};
    c->n_put = 0;
    if (!a.n)
        return 0;
    device_upload(c->be, c->dev, c->copy_src, c->put_at, bytes, e);
    device_upload(c->be, c->dev, c->copy_dst, c->put_block, bytes, e);
    return device_launch(c->be, c->dev, OP_put_i32, &a, e);
}

static void zero_memory(struct kvcache *c, void *device, size_t bytes, struct err *e)
{
    void *host = xcalloc(1, bytes);
    device_upload(c->be, c->dev, device, host, bytes, e);
    free(host);
}

int kvcache_clear(struct kvcache *c, int seq, struct err *e)
{
    size_t h0 = first_head(c, seq), n = (size_t)c->heads_per_seq, pages = (size_t)c->view.max_pages;
    for (size_t h = h0; h < h0 + n; h++) {
        for (int p = c->first[h]; p < c->mapped[h]; p++)
            release_block(c, c->block_table[h * pages + (size_t)p]);
        c->mapped[h] = c->first[h] = 0;
    }
    for (size_t i = 0; i < n; i++)
        c->scratch[i] = -1;
    struct kv_view *v = &c->view;
    zero_memory(c, v->live + h0 * pages, n * pages * sizeof *v->live, e);
    zero_memory(c, v->n_slots + h0, n * sizeof *v->n_slots, e);
    zero_memory(c, v->n_live + h0, n * sizeof *v->n_live, e);
    zero_memory(c, v->reads + h0, n * sizeof *v->reads, e);
    zero_memory(c, v->not_chosen + h0, n * sizeof *v->not_chosen, e);
    zero_memory(c, v->aux_half + h0, n * sizeof *v->aux_half, e);
    zero_memory(c, v->aux_values + h0, n * sizeof *v->aux_values, e);
    zero_memory(c, v->prefill_reads + h0, n * sizeof *v->prefill_reads, e);
    zero_memory(c, v->prefill_scans + h0, n * sizeof *v->prefill_scans, e);
    zero_memory(c, v->keys_moved + h0, n * sizeof *v->keys_moved, e);
    zero_memory(c, v->key_elements + h0, n * sizeof *v->key_elements, e);
    zero_memory(c, v->peak + seq, sizeof *v->peak, e);
    return device_upload(c->be, c->dev, v->tail + h0, c->scratch, n * sizeof *v->tail, e);
}

/* Pages that head i of a sequence has blocks for at most, of n_pages. */
static int most_pages(const struct kvcache *c, int i, int n_pages)
{
    int window = c->window ? c->window[i / c->view.n_kv] : 0;
    int64_t held = kv_pages(window + c->ahead) + 1;
    return window && held < n_pages ? (int)held : n_pages;
}

int kvcache_needs(const struct kvcache *c, int seq, int n_pages)
{
    size_t h0 = first_head(c, seq);
    int need = 0;
    for (int i = 0; i < c->heads_per_seq; i++) {
        size_t h = h0 + (size_t)i;
        int more = most_pages(c, i, n_pages) - (c->mapped[h] - c->first[h]), grow = n_pages - c->mapped[h];
        more = more < grow ? more : grow;
        need += more > 0 ? more : 0;
    }
    return need;
}

int64_t kvcache_most(const struct kvcache *c, int n_pages)
{
    int64_t n = 0;
    for (int i = 0; i < c->heads_per_seq; i++)
        n += most_pages(c, i, n_pages);
    return n;
}

static void map_head(struct kvcache *c, size_t head, int n_pages)
{
    for (; c->mapped[head] < n_pages; c->mapped[head]++)
        set_block(c, head, c->mapped[head], take_block(c));
}

static int unmapped_pages(const struct kvcache *c, int seq, int n_pages)
{
    int n = 0;
    for (size_t h = first_head(c, seq); h < first_head(c, seq + 1); h++)
        n += n_pages > c->mapped[h] ? n_pages - c->mapped[h] : 0;
    return n;
}

int kvcache_map(struct kvcache *c, int seq, int n_pages, struct err *e)
{
    if (n_pages > c->view.max_pages)
        return err_set(e, ERR_USAGE, "a sequence of %d pages is longer than the cache's %d", n_pages,
                       c->view.max_pages);
    if (unmapped_pages(c, seq, n_pages) > c->n_free)
        return KVCACHE_FULL;
    for (int i = 0; i < c->heads_per_seq; i++)
        map_head(c, first_head(c, seq) + (size_t)i, n_pages);
    return upload_block_table(c, seq, e);
}

/* The first page that a query at pos reads of head i of a sequence. */
static int first_page(const struct kvcache *c, int i, int pos)
{
    int window = c->window ? c->window[i / c->view.n_kv] : 0;
    return window && pos >= window ? (pos - window + 1) / KV_PAGE_TOKENS : 0;
}

void kvcache_slide(struct kvcache *c, int seq, int pos)
{
    for (int i = 0; c->window && i < c->heads_per_seq; i++) {
        size_t h = first_head(c, seq) + (size_t)i;
        int to = first_page(c, i, pos);
        for (; c->first[h] < to && c->first[h] < c->mapped[h]; c->first[h]++)
            release_block(c, c->block_table[h * (size_t)c->view.max_pages + (size_t)c->first[h]]);
    }
}

int kvcache_reaches(const struct kvcache *c, int seq, int pos)
{
    for (int i = 0; c->window && i < c->heads_per_seq; i++)
        if (c->first[first_head(c, seq) + (size_t)i] > first_page(c, i, pos))
            return 0;
    return 1;
}

int kvcache_fit_ragged(struct kvcache *c, int seq, int spare, struct err *e)
{
    size_t h0 = first_head(c, seq);
    int need = 0;
    if (device_download(c->be, c->dev, c->scratch, c->view.n_slots + h0,
                        (size_t)c->heads_per_seq * sizeof *c->scratch, e))
        return e->code;
    for (int i = 0; i < c->heads_per_seq; i++) {
        int want = kv_pages(c->scratch[i]) + spare;
        if (want > c->view.max_pages)
            want = c->view.max_pages;
        c->scratch[i] = want;
        for (int *m = &c->mapped[h0 + (size_t)i]; *m > want;)
            release_block(c, c->block_table[(h0 + (size_t)i) * (size_t)c->view.max_pages + (size_t)-- * m]);
        if (c->mapped[h0 + (size_t)i] < want)
            need += want - c->mapped[h0 + (size_t)i];
    }
    if (need > c->n_free)
        return KVCACHE_FULL;
    for (int i = 0; i < c->heads_per_seq; i++)
        map_head(c, h0 + (size_t)i, c->scratch[i]);
    return upload_block_table(c, seq, e);
}

int kvcache_fork_needs(const struct kvcache *c, int from, int n_tokens, int copy_all)
{
    int shared = copy_all ? 0 : n_tokens / KV_PAGE_TOKENS, all = kv_pages(n_tokens), need = 0;
    for (size_t h = first_head(c, from); h < first_head(c, from + 1); h++) {
        int copies = all - (shared > c->first[h] ? shared : c->first[h]);
        need += copies > 0 ? copies : 0;
    }
    return need;
}

/* Writes the tables of a sequence that holds n tokens in slots 0 to n - 1. */
static int fill_tables(struct kvcache *c, int seq, int n, struct err *e)
{
    size_t h0 = first_head(c, seq), heads = (size_t)c->heads_per_seq, pages = (size_t)c->view.max_pages;
    uint16_t *live = xcalloc(heads * pages, sizeof *live);
    for (size_t h = 0; h < heads; h++)
        for (int p = 0; p < kv_pages(n); p++) {
            int in_page = n - p * KV_PAGE_TOKENS;
            live[h * pages + (size_t)p] = (uint16_t)(in_page >= KV_PAGE_TOKENS ? 0xffff : (1 << in_page) - 1);
        }
    device_upload(c->be, c->dev, c->view.live + h0 * pages, live, heads * pages * sizeof *live, e);
    for (size_t h = 0; h < heads; h++)
        c->scratch[h] = n;
    device_upload(c->be, c->dev, c->view.n_slots + h0, c->scratch, heads * sizeof *c->scratch, e);
    device_upload(c->be, c->dev, c->view.n_live + h0, c->scratch, heads * sizeof *c->scratch, e);
    for (size_t h = 0; h < heads; h++)
        c->scratch[h] = n - 1;
    device_upload(c->be, c->dev, c->view.tail + h0, c->scratch, heads * sizeof *c->scratch, e);
    free(live);
    return e->code;
}

int kvcache_fork(struct kvcache *c, int to, int from, int n_tokens, int copy_all, struct err *e)
{
    int shared = copy_all ? 0 : n_tokens / KV_PAGE_TOKENS, all = kv_pages(n_tokens), n_copies = 0;
    size_t pages = (size_t)c->view.max_pages, capacity = (size_t)c->heads_per_seq * pages;
    if (kvcache_fork_needs(c, from, n_tokens, copy_all) > c->n_free)
        return KVCACHE_FULL;
    int32_t *src = xmalloc(2 * capacity * sizeof *src), *dst = src + capacity;
    for (int i = 0; i < c->heads_per_seq; i++) {
        size_t a = first_head(c, from) + (size_t)i, b = first_head(c, to) + (size_t)i;
        c->first[b] = c->first[a];
        for (int p = c->first[a]; p < all; p++) {
            int u = c->block_table[a * pages + (size_t)p];
            if (p < shared) {
                c->ref_count[u]++;
            } else {
                src[n_copies] = u;
                dst[n_copies++] = u = take_block(c);
            }
            set_block(c, b, p, u);
        }
        c->mapped[b] = all;
    }
    upload_block_table(c, to, e);
    if (n_copies) {
        size_t bytes = (size_t)n_copies * sizeof *src;
        struct copy_blocks_args a = {c->view, c->copy_src, c->copy_dst, n_copies};
        device_upload(c->be, c->dev, c->copy_src, src, bytes, e);
        device_upload(c->be, c->dev, c->copy_dst, dst, bytes, e);
        device_launch(c->be, c->dev, OP_copy_blocks, &a, e);
    }
    free(src);
    return fill_tables(c, to, n_tokens, e);
}

int kvcache_sums(const struct kvcache *c, int seq, struct kvcache_sums *out, int32_t *live, struct err *e)
{
    size_t h0 = first_head(c, seq), n = (size_t)c->heads_per_seq;
    int64_t *reads = xmalloc(3 * n * sizeof *reads), *half = reads + n, *values = half + n;
    int64_t halves = 0, both_ways = 0;
    double token = 2 * (double)c->view.head_dim * (double)dtype_bytes(c->view.dtype);
    memset(out, 0, sizeof *out);
    device_download(c->be, c->dev, reads, c->view.reads + h0, n * sizeof *reads, e);
    device_download(c->be, c->dev, half, c->view.aux_half + h0, n * sizeof *half, e);
    device_download(c->be, c->dev, values, c->view.aux_values + h0, n * sizeof *values, e);
    device_download(c->be, c->dev, c->scratch, c->view.n_live + h0, n * sizeof *c->scratch, e);
    device_download(c->be, c->dev, &out->peak, c->view.peak + seq, sizeof out->peak, e);
    for (size_t i = 0; i < n && !e->code; i++) {
        out->reads += reads[i];
        halves += half[i];
        both_ways += 2 * values[i];
        int window = c->window ? c->window[i / (size_t)c->view.n_kv] : 0;
        if (window && c->scratch[i] > window)
            c->scratch[i] = window;
        out->live += c->scratch[i];
    }
    out->aux = (double)halves / 2 + (double)both_ways * sizeof(float) / token;
    if (live)
        memcpy(live, c->scratch, n * sizeof *live);
    free(reads);
    return e->code;
}

/* The sum of one of the counters over the sequence's heads. */
static int64_t sum_of(const struct kvcache *c, int seq, const int64_t *counter, struct err *e)
{
    size_t n = (size_t)c->heads_per_seq;
    int64_t *heads = xcalloc(n, sizeof *heads), sum = 0;
    device_download(c->be, c->dev, heads, counter + first_head(c, seq), n * sizeof *heads, e);
    for (size_t i = 0; i < n; i++)
        sum += heads[i];
    free(heads);
    return sum;
}

int kvcache_prefill_sums(const struct kvcache *c, int seq, int64_t *reads, int64_t *scans, struct err *e)
{
    *reads = sum_of(c, seq, c->view.prefill_reads, e);
    *scans = sum_of(c, seq, c->view.prefill_scans, e);
    return e->code;
}

int64_t kvcache_not_chosen(const struct kvcache *c, int seq, struct err *e)
{
    return sum_of(c, seq, c->view.not_chosen, e);
}

/* What layers with windows have read. */
static int64_t window_reads(const struct kvcache *c, int seq, struct err *e)
{
    size_t n = (size_t)c->heads_per_seq;
    int64_t *heads = xcalloc(n, sizeof *heads), sum = 0;
    device_download(c->be, c->dev, heads, c->view.reads + first_head(c, seq), n * sizeof *heads, e);
    for (size_t i = 0; i < n; i++)
        sum += c->window[i / (size_t)c->view.n_kv] ? heads[i] : 0;
    free(heads);
    return sum;
}

/* Keys are replaced in layers with full attention; the others read theirs as they are. */
int64_t kvcache_key_elements(const struct kvcache *c, int seq, struct err *e)
{
    int64_t sum = sum_of(c, seq, c->view.key_elements, e);
    return c->window ? sum + window_reads(c, seq, e) * c->view.head_dim : sum;
}
