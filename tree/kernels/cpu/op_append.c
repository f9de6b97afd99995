/* Appending K and V to the cache, alone or after norms and rotation, and writing over old keys. */
#include <math.h>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/kv_block.h"

static void append_token(const struct append_args *a, size_t head, int slot, const float *k, const float *v)
{
    const struct kv_view *kv = &a->kv;
    size_t page = head * (size_t)kv->max_pages + (size_t)(slot / KV_PAGE_TOKENS);
    int t = slot % KV_PAGE_TOKENS, kv_block = kv->block_table[page], fresh = kv->live[page] == 0;
    if (fresh)
        clear_values(kv, kv_block);
    put_token(kv, kv_block, t, k, v);
    if (kv->bounds)
        bounds_add(kv, kv_block, t, fresh);
    kv->n_live[head] += !(kv->live[page] >> t & 1);
    kv->live[page] |= (uint16_t)(1u << t);
    if (kv->n_slots[head] <= slot)
        kv->n_slots[head] = slot + 1;
    kv->tail[head] = slot;
}

void CPU_SYM(op_append)(const void *args, struct cpu_ctx *c)
{
    const struct append_args *a = args;
    const struct kv_view *kv = &a->kv;
    int n_kv = kv->n_kv, cap = a->rows.cap;
    FOR_TASKS(c, t, a->prefill ? n_kv : cap * n_kv)
    {
        int h = t % n_kv, from = a->prefill ? 0 : t / n_kv, to = a->prefill ? cap : from + 1;
        for (int r = from; r < to; r++) {
            if (a->rows.seq[r] < 0)
                continue;
            size_t head = kv_head(kv, a->rows.seq[r], a->layer, h);
            size_t at = (size_t)r * (size_t)a->stride + (size_t)h * (size_t)kv->head_dim;
            append_token(a, head, a->prefill ? a->rows.pos[r] : cpu_next_slot(kv, head), a->k + at,
                         a->v + at);
        }
    }
}

void CPU_SYM(op_rope_append)(const void *args, struct cpu_ctx *c)
{
    const struct rope_append_args *a = args;
    struct append_args p = {a->rows, a->kv, a->layer, a->prefill, a->k, a->v, a->stride};
    CPU_SYM(rope_rows)(a, c);
    cpu_barrier(c);
    CPU_SYM(op_append)(&p, c);
}

/* Channels of keys that change little keep their value (DeltaLLM, arXiv 2507.19608). Counts the others. */
static void hold_head(const struct hold_keys_args *a, int seq, int h, int from, int to)
{
    const struct kv_view *kv = &a->kv;
    const int32_t *block_table = kv->block_table + kv_head(kv, seq, a->layer, h) * (size_t)kv->max_pages;
    float *held = (float *)(void *)(a->state + (size_t)seq * a->state_bytes) +
                  (size_t)(a->layer * kv->n_kv + h) * (size_t)kv->head_dim;
    int64_t *moved = kv->keys_moved + kv_head(kv, seq, a->layer, h);
    for (int t = from; t < to; t++)
        for (int i = 0; i < kv->head_dim; i++) {
            int u = block_table[t / KV_PAGE_TOKENS], slot = t % KV_PAGE_TOKENS;
            float k = key_element(kv, u, slot, i);
            if (t == 0 || fabsf(k - held[i]) > a->theta) {
                held[i] = k;
                ++*moved;
            } else {
                put_key_element(kv, u, slot, i, held[i]);
            }
        }
}

void CPU_SYM(op_hold_keys)(const void *args, struct cpu_ctx *c)
{
    const struct hold_keys_args *a = args;
    const struct kv_view *kv = &a->kv;
    int n_kv = kv->n_kv;
    FOR_TASKS(c, t, (a->n ? 1 : a->rows.cap) * n_kv)
    {
        int row = t / n_kv, h = t % n_kv;
        if (a->n) {
            hold_head(a, a->seq, h, 0, a->n - a->window);
        } else if (a->rows.seq[row] >= 0) {
            int at = a->rows.pos[row] - a->window, whole = at < 0 ? a->rows.pos[row] + 1 : a->window;
            size_t head = kv_head(kv, a->rows.seq[row], a->layer, h);
            hold_head(a, a->rows.seq[row], h, at < 0 ? 0 : at, at + 1);
            kv->key_elements[head] += kv->keys_moved[head] + (int64_t)whole * kv->head_dim;
        }
    }
}
