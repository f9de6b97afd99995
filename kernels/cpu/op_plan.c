/* The first part of attend: it makes attention lists from selections. It needs no other memory than the array
 * of entries: entry p first collects the heads (or tokens) that want page p, and then the wanted pages are
 * moved to the front, which never overwrites an entry that is still to be read. */
#include "kernels/cpu/ops.h"

static const int32_t *list_of(const struct attend_args *a, int row, int q_head, int *len)
{
    size_t list = (size_t)row * (size_t)a->n_rows + a->row_of_q[q_head];
    *len = a->granularity == SEL_LIVE ? -1 : a->len[list];
    return a->idx + (a->granularity == SEL_LIVE ? 0 : list * (size_t)a->cap);
}

static void want_pages(struct plan_entry *entry, int n_pages, const int32_t *idx, int len, int block,
                       unsigned heads)
{
    for (int i = 0; i < len; i++) {
        int from = idx[i] * block, to = from + block < n_pages ? from + block : n_pages;
        for (int p = from; p < to; p++)
            entry[p].heads |= (uint16_t)heads;
    }
}

/* All heads of the group read the same tokens (checked at launch). */
static void want_tokens(struct plan_entry *entry, int n_pages, const int32_t *idx, int len, unsigned heads)
{
    for (int i = 0; i < len; i++) {
        if (idx[i] / KV_PAGE_TOKENS >= n_pages)
            continue;
        entry[idx[i] / KV_PAGE_TOKENS].tokens |= (uint16_t)(1u << idx[i] % KV_PAGE_TOKENS);
        entry[idx[i] / KV_PAGE_TOKENS].heads |= (uint16_t)heads;
    }
}

static void want_token(const struct attend_args *a, int row, int h, struct plan_entry *entry, int first_page,
                       int n_pages)
{
    int group = a->n_q / a->kv.n_kv, len;
    for (int g = 0; g < group;) {
        int first = g, q = h * group;
        unsigned heads = 0;
        while (g < group && (a->granularity == SEL_LIVE || a->row_of_q[q + g] == a->row_of_q[q + first]))
            heads |= 1u << g++;
        const int32_t *idx = list_of(a, row, q + first, &len);
        if (len < 0) {
            for (int p = first_page; p < n_pages; p++) {
                entry[p].heads |= (uint16_t)heads;
                entry[p].tokens = 0xffff;
            }
        } else if (a->granularity == SEL_PAGES) {
            want_pages(entry, n_pages, idx, len, a->block_pages, heads);
        } else {
            want_tokens(entry, n_pages, idx, len, heads);
        }
    }
}

static void plan_head(const struct attend_args *a, int row, int h)
{
    const struct kv_view *kv = &a->kv;
    size_t head = kv_head(kv, a->rows.seq[row], a->layer, h),
           list = (size_t)row * (size_t)kv->n_kv + (size_t)h;
    struct plan_entry *entry = a->plan.entry + list * (size_t)kv->max_pages;
    const uint16_t *live = kv->live + head * (size_t)kv->max_pages;
    const int32_t *block_table = kv->block_table + head * (size_t)kv->max_pages;
    int n_pages = kv_pages(kv->n_slots[head]), n = 0;
    int64_t reads = 0, not_chosen = 0;
    int group = a->n_q / kv->n_kv, start = window_start(a->window, a->rows.pos[row]),
        first_page = start / KV_PAGE_TOKENS;
    if (first_page < n_pages)
        memset(entry + first_page, 0, (size_t)(n_pages - first_page) * sizeof *entry);
    want_token(a, row, h, entry, first_page, n_pages);
    for (int p = first_page; p < n_pages; p++) {
        struct plan_entry e = entry[p];
        e.tokens = a->granularity == SEL_TOKENS ? (uint16_t)(e.tokens & live[p]) : live[p];
        e.tokens &= p > first_page ? 0xffff : (uint16_t)(0xffff << start % KV_PAGE_TOKENS);
        if (!e.heads || !e.tokens)
            continue;
        e.kv_block = block_table[p];
        e.page = p;
        reads += __builtin_popcount(e.tokens);
        not_chosen += __builtin_popcount(e.tokens) * (group - __builtin_popcount(e.heads));
        entry[n++] = e;
    }
    a->plan.n[list] = n;
    kv->reads[head] += reads;
    kv->not_chosen[head] += not_chosen;
}

void CPU_SYM(attend_plan)(const struct attend_args *a, struct cpu_ctx *c)
{
    FOR_TASKS(c, t, a->rows.cap * a->kv.n_kv)
    {
        if (a->rows.seq[t / a->kv.n_kv] < 0)
            a->plan.n[t] = 0;
        else
            plan_head(a, t / a->kv.n_kv, t % a->kv.n_kv);
    }
}
