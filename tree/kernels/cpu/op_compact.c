/* Forgetting all tokens but some. At the end of a sparse prefill (DMS), tokens that the last query no longer
 * sees are dropped, the others move down to the first slots, and the rings of the last `reach` tokens are
 * filled; `keep` keeps those of a list. Tokens only move to lower slots and keep their order. */
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
    FOR_TASKS(c, t, a->kv.n_layers * a->kv.n_kv)
    compact_head(a, t / a->kv.n_kv, t % a->kv.n_kv);
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
