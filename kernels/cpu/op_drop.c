/* Forgetting: RaaS's stamps and evictions (arXiv 2502.11147) and DMS's delayed eviction (arXiv 2506.05345,
 * 3.1). Dropping a token clears its live bit; its slot is then free for a later token of the same head. */
#include "kernels/cpu/ops.h"

static void drop_page(const struct kv_view *kv, size_t head, int page)
{
    uint16_t *live = kv->live + head * (size_t)kv->max_pages + (size_t)page;
    kv->n_live[head] -= __builtin_popcount(*live);
    *live = 0;
}

static void drop_slot(const struct kv_view *kv, size_t head, int slot)
{
    uint16_t *live = kv->live + head * (size_t)kv->max_pages + (size_t)(slot / KV_PAGE_TOKENS);
    uint16_t bit = (uint16_t)(1u << slot % KV_PAGE_TOKENS);
    if (*live & bit) {
        *live = (uint16_t)(*live & ~bit);
        kv->n_live[head]--;
    }
}

/* The KV heads of all rows that are there, as tasks. */
struct place {
    int row, h;
    size_t head;
};

static int next_head(struct cpu_ctx *c, const struct rows *rows, const struct kv_view *kv, int layer,
                     struct place *at)
{
    FOR_TASKS(c, t, rows->cap * kv->n_kv)
    {
        at->row = t / kv->n_kv;
        at->h = t % kv->n_kv;
        if (rows->seq[at->row] < 0)
            continue;
        at->head = kv_head(kv, rows->seq[at->row], layer, at->h);
        return 1;
    }
    return 0;
}

/* Largest score, and the sum of exp(score - largest), in 16 lanes. */
static float softmax_sum(const float *v, int n, float *largest)
{
    struct v16 lane_max = v_set(-INFINITY), sum = v_set(0);
    for (int i = 0; i < n; i += LANES)
        lane_max = v_max(n - i >= LANES
                             ? v_load(v + i)
                             : v_select(m_bits((1u << (n - i)) - 1), v_loadn(v + i, n - i), v_set(-INFINITY)),
                         lane_max);
    *largest = v_largest(lane_max);
    for (int i = 0; *largest > -INFINITY && i < n; i += LANES) {
        struct v16 x = v_softmax_exp(v_sub(v_loadn(v + i, n - i < LANES ? n - i : LANES), v_set(*largest)));
        sum = v_add(sum, n - i >= LANES ? x : v_select(m_bits((1u << (n - i)) - 1), x, v_set(0)));
    }
    return v_sum(sum);
}

static void stamp_by_mass(const struct stamp_args *a, size_t list, int row, int32_t *stamp)
{
    const float *v = a->s.v + list * (size_t)a->s.stride;
    int n = a->s.n[list];
    float largest, sum = softmax_sum(v, n, &largest);
    for (int i = 0; i < n; i++)
        if (v[i] > -INFINITY && v_first(v_exp(v_set(v[i] - largest))) / sum > a->alpha)
            stamp[i] = a->rows.pos[row] + 1;
}

void CPU_SYM(op_stamp)(const void *args, struct cpu_ctx *c)
{
    const struct stamp_args *a = args;
    size_t max_pages = (size_t)a->kv.max_pages;
    FOR_TASKS(c, list, a->rows.cap * a->s.n_rows)
    {
        int row = list / a->s.n_rows, of_row = list % a->s.n_rows, seq = a->rows.seq[row];
        if (seq < 0)
            continue;
        size_t head = kv_head(&a->kv, seq, a->layer, of_row / (a->s.n_rows / a->kv.n_kv));
        int32_t *stamp = (int32_t *)(void *)(a->state + (size_t)seq * a->state_bytes) +
                         (size_t)(a->layer * a->s.n_rows + of_row) * max_pages;
        if (a->alpha > 0) {
            stamp_by_mass(a, (size_t)list, row, stamp);
            continue;
        }
        for (int i = 0; i < a->len[list]; i++)
            stamp[a->idx[(size_t)list * (size_t)a->cap + (size_t)i]] = a->rows.pos[row] + 1;
        for (int p = 0; a->len[list] < 0 && p < kv_pages(a->kv.n_slots[head]); p++)
            if (a->kv.live[head * max_pages + (size_t)p])
                stamp[p] = a->rows.pos[row] + 1;
    }
}

static void make_room(const struct drop_lowest_args *a, int row, int h, size_t head)
{
    const struct kv_view *kv = &a->kv;
    int seq = a->rows.seq[row];
    const uint16_t *live = kv->live + head * (size_t)kv->max_pages;
    int32_t *state = (int32_t *)(void *)(a->state + (size_t)seq * a->state_bytes);
    size_t at = (size_t)(a->layer * kv->n_kv + h) * (size_t)kv->max_pages;
    int32_t *stamp = state + at, *born = stamp + (size_t)(kv->n_layers * kv->n_kv) * (size_t)kv->max_pages;
    int pinned = a->pin ? kv_pages(a->prompt_len[seq]) : 0, counted = a->pin_counts ? 0 : pinned;
    int n = kv_pages(kv->n_slots[head]), current = cpu_next_slot(kv, head) / KV_PAGE_TOKENS;
    int opens = !live[current], count = opens;
    for (int p = counted; p < n; p++)
        count += live[p] != 0;
    for (; count > a->budget_pages; count--) {
        int worst = -1;
        for (int p = pinned; p < n; p++)
            if (live[p] && (p != current || opens) &&
                (worst < 0 || stamp[p] < stamp[worst] || (stamp[p] == stamp[worst] && born[p] < born[worst])))
                worst = p;
        if (worst < 0)
            break;
        drop_page(kv, head, worst);
    }
    if (opens) {
        int page = cpu_next_slot(kv, head) / KV_PAGE_TOKENS;
        stamp[page] = a->new_stamp ? a->rows.pos[row] + 1 : 0;
        born[page] = a->rows.pos[row] + 1;
    }
}

void CPU_SYM(op_drop_lowest)(const void *args, struct cpu_ctx *c)
{
    const struct drop_lowest_args *a = args;
    struct place at;
    while (next_head(c, &a->rows, &a->kv, a->layer, &at))
        make_room(a, at.row, at.h, at.head);
}

void CPU_SYM(op_drop_list)(const void *args, struct cpu_ctx *c)
{
    const struct drop_list_args *a = args;
    struct place at;
    while (next_head(c, &a->rows, &a->kv, a->layer, &at)) {
        size_t list = (size_t)at.row * (size_t)a->kv.n_kv + (size_t)at.h;
        for (int i = 0; i < a->len[list]; i++)
            drop_slot(&a->kv, at.head, a->idx[list * (size_t)a->cap + (size_t)i]);
    }
}

void CPU_SYM(op_expire)(const void *args, struct cpu_ctx *c)
{
    const struct expire_args *a = args;
    size_t rings = (size_t)(a->kv.n_layers * a->kv.n_kv), reach = (size_t)a->reach;
    struct place at;
    while (next_head(c, &a->rows, &a->kv, a->layer, &at)) {
        int row = at.row, h = at.h;
        int32_t *slot =
            (int32_t *)(void *)(a->state + (size_t)a->rows.seq[row] * a->state_bytes + a->offset) +
            (size_t)(a->layer * a->kv.n_kv + h) * reach;
        int32_t *flag = slot + rings * reach;
        int n = a->rows.pos[row], flagged = !a->flag || a->flag[row * a->kv.n_kv + h];
        int now = flagged && n - a->shift >= a->sinks;
        if (n > 0)
            slot[(n - 1) % a->reach] = a->kv.tail[at.head];
        if (a->shift > 0 && n >= a->shift)
            flag[(n - a->shift) % a->reach] = now;
        if (n >= a->reach && flag[n % a->reach] && slot[n % a->reach] >= 0)
            drop_slot(&a->kv, at.head, slot[n % a->reach]);
        flag[n % a->reach] = a->shift == 0 ? now : 0;
    }
}

void CPU_SYM(op_until)(const void *args, struct cpu_ctx *c)
{
    const struct until_args *a = args;
    FOR_TASKS(c, h, a->n_kv)
    for (int r = 0; r < a->rows.cap; r++) {
        int32_t *until = a->until + (size_t)h * (size_t)a->stride;
        int pos = a->rows.pos[r], key = pos - a->shift;
        if (a->rows.seq[r] < 0)
            continue;
        until[pos] = INT32_MAX;
        if (key >= 0)
            until[key] =
                key >= a->sinks && (!a->flag || a->flag[r * a->n_kv + h]) ? key + a->reach - 1 : INT32_MAX;
    }
}

void CPU_SYM(op_load_stamps)(const void *args, struct cpu_ctx *c)
{
    const struct load_stamps_args *a = args;
    size_t max_pages = (size_t)a->kv.max_pages;
    FOR_TASKS(c, list, a->rows.cap * a->out.n_rows)
    {
        int of_row = list % a->out.n_rows, seq = a->rows.seq[list / a->out.n_rows];
        if (seq < 0)
            continue;
        size_t head = kv_head(&a->kv, seq, a->layer, of_row / (a->out.n_rows / a->kv.n_kv));
        const int32_t *stamp = (const int32_t *)(const void *)(a->state + (size_t)seq * a->state_bytes) +
                               (size_t)(a->layer * a->out.n_rows + of_row) * max_pages;
        float *out = a->out.v + (size_t)list * (size_t)a->out.stride;
        int n = kv_pages(a->kv.n_slots[head]), m = 0;
        for (int p = 0; p < n; p++) {
            int live = a->kv.live[head * max_pages + (size_t)p] != 0;
            out[p] = live ? (float)stamp[p] : -INFINITY;
            m += live;
        }
        a->out.n[list] = n;
        a->out.m[list] = m;
    }
}
