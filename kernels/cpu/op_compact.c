/* Forgetting all tokens but some. At the end of a sparse prefill (DMS), tokens that the last query no longer
 * sees are dropped, the others move down to the first slots, and the rings of the last `reach` tokens are
 * filled; `keep` keeps those of a list. Tokens only move to lower slots and keep their order, which
 * sort_slots then may change. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/kv_block.h"

/* The head's first n slots are live now, and no others. */
static void first_slots(const struct kv_view *kv, size_t head, int n)
{
    const int32_t *block_table = kv->block_table + head * (size_t)kv->max_pages;
    uint16_t *live = kv->live + head * (size_t)kv->max_pages;
    for (int p = 0; p < kv_pages(kv->n_slots[head]); p++) {
        int left = n - p * KV_PAGE_TOKENS;
        live[p] = left >= KV_PAGE_TOKENS ? 0xffff : left > 0 ? (uint16_t)((1u << left) - 1) : 0;
        for (int t = 0; kv->bounds && t < KV_PAGE_TOKENS && t < left; t++)
            bounds_add(kv, block_table[p], t, t == 0);
    }
    kv->n_slots[head] = kv->n_live[head] = n;
    kv->tail[head] = n - 1;
}

static void compact_head(const struct compact_args *a, int layer, int h)
{
    const struct kv_view *kv = &a->kv;
    size_t head = kv_head(kv, a->seq, layer, h), list = (size_t)layer * (size_t)kv->n_kv + (size_t)h;
    const int32_t *until = a->until + list * (size_t)a->until_stride;
    const int32_t *block_table = kv->block_table + head * (size_t)kv->max_pages;
    uint16_t *live = kv->live + head * (size_t)kv->max_pages;
    int32_t *ring_slot = a->ring_slot + list * (size_t)a->reach,
            *ring_flag = a->ring_flag + list * (size_t)a->reach;
    int to = 0;
    for (int t = 0; t < a->n; t++) {
        int seen = until[t] >= a->n - 1 && live[t / KV_PAGE_TOKENS] >> t % KV_PAGE_TOKENS & 1;
        if (t >= a->n - a->reach) {
            ring_slot[t % a->reach] = seen ? to : -1;
            ring_flag[t % a->reach] = until[t] != INT32_MAX;
        }
        if (!seen)
            continue;
        if (to != t)
            move_token(kv, block_table[t / KV_PAGE_TOKENS], t % KV_PAGE_TOKENS,
                       block_table[to / KV_PAGE_TOKENS], to % KV_PAGE_TOKENS);
        to++;
    }
    first_slots(kv, head, to);
}

void CPU_SYM(op_compact)(const void *args, struct cpu_ctx *c)
{
    const struct compact_args *a = args;
    FOR_TASKS(c, t, a->n_layers * a->kv.n_kv)
    compact_head(a, a->layer + t / a->kv.n_kv, t % a->kv.n_kv);
}

/* The slots in the list that are live, moved down. */
static void squeeze_head(const struct keep_args *a, int seq, int layer, int h, const int32_t *idx, int len)
{
    const struct kv_view *kv = &a->kv;
    size_t head = kv_head(kv, seq, layer, h), slots = (size_t)kv->max_pages * KV_PAGE_TOKENS;
    const int32_t *block_table = kv->block_table + head * (size_t)kv->max_pages;
    const uint16_t *live = kv->live + head * (size_t)kv->max_pages;
    int to = 0;
    for (int i = 0; i < len; i++) {
        int t = idx[i];
        if (!(live[t / KV_PAGE_TOKENS] >> t % KV_PAGE_TOKENS & 1))
            continue;
        if (to != t)
            move_token(kv, block_table[t / KV_PAGE_TOKENS], t % KV_PAGE_TOKENS,
                       block_table[to / KV_PAGE_TOKENS], to % KV_PAGE_TOKENS);
        for (int c = 0; c < a->carry && to != t; c++) {
            size_t heads = (size_t)(kv->n_layers * kv->n_kv), at = (size_t)(layer * kv->n_kv + h);
            int32_t *table = (int32_t *)(void *)(a->state + (size_t)seq * a->state_bytes) +
                             ((size_t)c * heads + at) * slots;
            table[to] = table[t];
        }
        to++;
    }
    first_slots(kv, head, to);
}

/* Clears the bits of all slots that are not in the list. */
static void clear_others(const struct kv_view *kv, size_t head, const int32_t *idx, int len)
{
    uint16_t *live = kv->live + head * (size_t)kv->max_pages;
    int n = 0;
    for (int p = 0, i = 0; p < kv_pages(kv->n_slots[head]); p++) {
        unsigned kept = 0;
        for (; i < len && idx[i] < (p + 1) * KV_PAGE_TOKENS; i++)
            kept |= 1u << idx[i] % KV_PAGE_TOKENS;
        live[p] = (uint16_t)(live[p] & kept);
        n += __builtin_popcount(live[p]);
    }
    kv->n_live[head] = n;
}

void CPU_SYM(op_keep)(const void *args, struct cpu_ctx *c)
{
    const struct keep_args *a = args;
    int heads = a->n_rows == 1 ? a->kv.n_kv : a->n_rows;
    FOR_TASKS(c, t, a->rows.cap * heads)
    {
        int row = t / heads, of_row = t % heads, seq = a->rows.seq[row];
        int layer = a->layer + of_row / a->kv.n_kv, h = of_row % a->kv.n_kv;
        size_t list = (size_t)row * (size_t)a->n_rows + (size_t)(a->n_rows == 1 ? 0 : of_row);
        if (seq < 0 || a->len[list] < 0)
            continue;
        const int32_t *idx = a->idx + list * (size_t)a->cap;
        if (a->squeeze)
            squeeze_head(a, seq, layer, h, idx, a->len[list]);
        else
            clear_others(&a->kv, kv_head(&a->kv, seq, layer, h), idx, a->len[list]);
    }
}

/* ---- sort_slots */

/* Token a belongs before token b. */
static int goes_before(const float *v, int32_t a, int32_t b)
{
    return v[a] > v[b] || (v[a] == v[b] && a < b);
}

/* Below `at` in a heap of n, whose first entry is the last of the order. */
static void sift_down(const float *v, int32_t *heap, int at, int n)
{
    for (int child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && goes_before(v, heap[child], heap[child + 1]))
            child++;
        if (!goes_before(v, heap[at], heap[child]))
            return;
        int32_t t = heap[at];
        heap[at] = heap[child];
        heap[child] = t;
    }
}

static void sort_order(const float *v, int32_t *order, int n)
{
    for (int at = n / 2 - 1; at >= 0; at--)
        sift_down(v, order, at, n);
    for (int last = n - 1; last > 0; last--) {
        int32_t t = order[0];
        order[0] = order[last];
        order[last] = t;
        sift_down(v, order, 0, last);
    }
}

/* Copies K and V of token t of a KV block to `held`, or from there. */
static void hold_token(const struct kv_view *kv, int kv_block, int t, char *held, int put)
{
    size_t size = dtype_bytes(kv->dtype), d = (size_t)kv->head_dim;
    for (int i = 0; i < kv->head_dim; i++) {
        char *k = (char *)kv_block_k(kv, kv_block) + key_place(kv, t, i) * size, *v;
        v = (char *)kv_block_v(kv, kv_block) + value_place(kv, t, i) * size;
        char *held_k = held + (size_t)i * size, *held_v = held + (d + (size_t)i) * size;
        memcpy(put ? k : held_k, put ? held_k : k, size);
        memcpy(put ? v : held_v, put ? held_v : v, size);
    }
}

/* Slot j gets the token of slot from[j], cycle by cycle; what is done becomes j. */
static void permute_slots(const struct kv_view *kv, const int32_t *block_table, int32_t *from, int n)
{
    char held[2 * BACKEND_MAX_HEAD_DIM * sizeof(float)];
    for (int first = 0; first < n; first++) {
        int j = first;
        if (from[first] == first)
            continue;
        hold_token(kv, block_table[first / KV_PAGE_TOKENS], first % KV_PAGE_TOKENS, held, 0);
        while (from[j] != first) {
            int next = from[j];
            move_token(kv, block_table[next / KV_PAGE_TOKENS], next % KV_PAGE_TOKENS,
                       block_table[j / KV_PAGE_TOKENS], j % KV_PAGE_TOKENS);
            from[j] = j;
            j = next;
        }
        from[j] = j;
        hold_token(kv, block_table[j / KV_PAGE_TOKENS], j % KV_PAGE_TOKENS, held, 1);
    }
}

void CPU_SYM(op_sort_slots)(const void *args, struct cpu_ctx *c)
{
    const struct sort_slots_args *a = args;
    FOR_TASKS(c, t, a->rows.cap * a->in.n_rows)
    {
        int of_row = t % a->in.n_rows, seq = a->rows.seq[t / a->in.n_rows];
        if (seq < 0 || a->in.n[t] == 0)
            continue;
        size_t head = kv_head(&a->kv, seq, a->layer + of_row / a->kv.n_kv, of_row % a->kv.n_kv);
        float *v = a->in.v + (size_t)t * (size_t)a->in.stride;
        int32_t *idx = a->idx + (size_t)t * (size_t)a->in.stride;
        int n = (a->len[t] < 0 ? a->in.n[t] : a->len[t]) - a->recent;
        for (int j = 0; j < n; j++) {
            v[j] = a->len[t] < 0 ? v[j] : v[idx[j]]; /* idx[j] >= j */
            idx[j] = j;
        }
        sort_order(v, idx, n);
        permute_slots(&a->kv, a->kv.block_table + head * (size_t)a->kv.max_pages, idx, n);
    }
}
