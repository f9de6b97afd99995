/* The end of a sparse prefill (DMS): tokens that the last query no longer sees are dropped, the others move
 * down to the first slots, and the rings of the last `reach` tokens are filled. Tokens only move to lower
 * slots and keep their order. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/unit.h"

static void compact_head(const struct compact_args *a, int layer, int h)
{
    const struct kv_view *kv = &a->kv;
    size_t head = kv_head(kv, a->seq, layer, h), list = (size_t)layer * (size_t)kv->n_kv + (size_t)h;
    const int32_t *until = a->until + list * (size_t)a->until_stride;
    const int32_t *unit = kv->unit + head * (size_t)kv->max_pages;
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
            unit_move(kv, unit[t / KV_PAGE_TOKENS], t % KV_PAGE_TOKENS, unit[to / KV_PAGE_TOKENS],
                      to % KV_PAGE_TOKENS);
        to++;
    }
    for (int p = 0; p < kv_pages(kv->n_slots[head]); p++) {
        int left = to - p * KV_PAGE_TOKENS;
        live[p] = left >= KV_PAGE_TOKENS ? 0xffff : left > 0 ? (uint16_t)((1u << left) - 1) : 0;
        for (int t = 0; kv->bounds && t < KV_PAGE_TOKENS && t < left; t++)
            bounds_add(kv, unit[p], t, t == 0);
    }
    kv->n_slots[head] = kv->n_live[head] = to;
    kv->tail[head] = to - 1;
}

void CPU_SYM(op_compact)(const void *args, struct cpu_ctx *c)
{
    const struct compact_args *a = args;
    FOR_TASKS(c, t, a->kv.n_layers * a->kv.n_kv)
    compact_head(a, t / a->kv.n_kv, t % a->kv.n_kv);
}
