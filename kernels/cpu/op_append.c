/* Appending K and V to the cache, alone or after norms and rotation. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/unit.h"

static void append_token(const struct append_args *a, size_t head, int slot, const float *k, const float *v)
{
    const struct kv_view *kv = &a->kv;
    size_t page = head * (size_t)kv->max_pages + (size_t)(slot / KV_PAGE_TOKENS);
    int t = slot % KV_PAGE_TOKENS, unit = kv->unit[page], fresh = kv->live[page] == 0;
    if (fresh)
        unit_clear_v(kv, unit);
    unit_put(kv, unit, t, k, v);
    if (kv->bounds)
        bounds_add(kv, unit, t, fresh);
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
