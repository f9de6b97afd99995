/* Choices that are not simply the largest scores: sinks with the recent tokens (StreamingLLM, arXiv
 * 2309.17453), and the union of the query heads' rankings (LessIsMore, arXiv 2508.07101). */
#include <math.h>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/select.h"

void CPU_SYM(op_window_list)(const void *args, struct cpu_ctx *c)
{
    const struct window_list_args *a = args;
    FOR_TASKS(c, row, a->rows.cap)
    {
        int32_t *idx = a->idx + (size_t)row * (size_t)a->cap;
        if (a->rows.seq[row] < 0)
            continue;
        int pos = a->rows.pos[row], s = pos + 1, k = rule_take(&a->rule, s, s, pos, 0, a->cap).k;
        int sinks = a->sinks < k ? a->sinks : k;
        for (int i = 0; i < k; i++)
            idx[i] = i < sinks ? i : s - k + i;
        a->len[row] = k < s ? k : -1;
    }
}

/* Sorts by the upper half, stably, in four digits of 8 bits; the result lies in `v`. */
static void sort_upper(uint64_t *v, uint64_t *room, int n)
{
    for (int shift = 32; shift < 64; shift += 8) {
        int start[257] = {0};
        for (int i = 0; i < n; i++)
            start[(v[i] >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++)
            start[d + 1] += start[d];
        for (int i = 0; i < n; i++)
            room[start[v[i] >> shift & 255]++] = v[i];
        uint64_t *t = v;
        v = room;
        room = t;
    }
}

/* The first `ranks` of one head's ranking of the tokens low .. high - 1 leave their place in the walk. */
static void walk_head(const struct rank_union_args *a, int row, int q, int low, int high, int ranks,
                      float *out, uint64_t *entry, uint64_t *room, uint32_t *key)
{
    const float *x = a->in.logits + ((size_t)row * (size_t)a->n_q + (size_t)q) * (size_t)a->in.stride;
    uint32_t threshold;
    int equal, n = 0, live = 0;
    for (int t = low; t < high; t++) {
        key[t - low] = select_key(x[t]);
        live += key[t - low] != 0;
    }
    ranks = ranks < live ? ranks : live;
    if (ranks < 1)
        return;
    select_threshold(key, high - low, ranks, &threshold, &equal);
    for (int i = 0; i < high - low; i++)
        if (key[i] > threshold || (key[i] == threshold && equal-- > 0))
            entry[n++] = (uint64_t)~key[i] << 32 | (uint32_t)(i + low);
    sort_upper(entry, room, n);
    for (int r = 0; r < n; r++) {
        int t = (int)(uint32_t)entry[r];
        float place = -(float)(r * a->n_q + q + 1);
        out[t] = out[t] > place ? out[t] : place;
    }
}

void CPU_SYM(op_rank_union)(const void *args, struct cpu_ctx *c)
{
    const struct rank_union_args *a = args;
    size_t stride = (size_t)a->in.stride, tid = (size_t)c->tid, n_threads = (size_t)c->n;
    uint64_t *entry = (uint64_t *)c->scratch + 2 * tid * stride;
    uint32_t *key = (uint32_t *)((uint64_t *)c->scratch + 2 * n_threads * stride) + tid * stride;
    FOR_TASKS(c, row, a->rows.cap)
    {
        if (a->rows.seq[row] < 0)
            continue;
        struct union_split u = union_split(a, a->rows.pos[row]);
        float *out = a->out.v + (size_t)row * (size_t)a->out.stride;
        for (int t = 0; t < u.s; t++)
            out[t] = t < u.low || t >= u.high ? 0 : (float)INT32_MIN;
        for (int q = 0; q < a->n_q; q++)
            walk_head(a, row, q, u.low, u.high, u.ranks, out, entry, entry + stride, key);
        a->out.n[row] = a->out.m[row] = u.s;
    }
}
