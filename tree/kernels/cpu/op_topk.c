/* The k best candidates of each list: topk_params.h says how many, evaluated here because the lengths are in
 * device memory; the selection is exact, and of equal scores the lower index is taken. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/scores.h"
#include "kernels/cpu/select.h"
#include "kernels/topk_params.h"

/* Scores as keys; with a bias, which works on masses, not on their logarithms. */
static int make_keys(const struct topk_args *a, const float *v, int n, uint32_t *key)
{
    float mass[LANES], bias = a->params.tie_bias;
    int candidates = 0;
    for (int i = 0; i < n; i++) {
        if (bias != 0 && i % LANES == 0)
            v_store(mass, v_exp(v_loadn(v + i, n - i < LANES ? n - i : LANES)));
        int biased = bias != 0 && v[i] > -INFINITY;
        float shift = bias * (float)i;
        key[i] = select_key(biased ? mass[i % LANES] - shift : v[i]);
        candidates += key[i] != 0;
    }
    return candidates;
}

/* Forced entries that are candidates get the largest key, which no number has; from the highest index down.
 */
static void force_last(uint32_t *key, int n, const struct topk_count *t)
{
    int forced = 0;
    for (int i = n - 1; i >= n - t->last && forced < t->k; i--)
        if (key[i]) {
            key[i] = UINT32_MAX;
            forced++;
        }
}

/* TOPK_MASS: how many of the t->k entries, `forced` of which have the largest key. */
static int count_by_mass(const struct topk_args *a, const float *v, int n, const uint32_t *key,
                         uint64_t *mass, const struct topk_count *t)
{
    float term[LANES];
    uint64_t total = 0, forced = 0;
    int k = 0;
    for (int i = 0; i < n; i++) {
        if (i % LANES == 0)
            v_store(term, v_exp(v_loadn(v + i, n - i < LANES ? n - i : LANES)));
        mass[i] = key[i] ? topk_mass_of(term[i % LANES]) : 0;
        total += mass[i];
        if (key[i] == UINT32_MAX) {
            forced += mass[i];
            k++;
        }
    }
    uint64_t need = topk_mass_needed(&a->params, total);
    if (need > forced)
        k += select_by_mass(key, mass, n, need - forced);
    k = k > a->params.min_k ? k : a->params.min_k;
    return k < t->k ? k : t->k;
}

static void topk_list(const struct topk_args *a, int row, int list, uint32_t *key, uint64_t *mass)
{
    size_t at = (size_t)row * (size_t)a->in.n_rows + (size_t)list;
    const float *v = a->in.v + at * (size_t)a->in.stride;
    int n = a->in.n[at], out = 0, equal = 0, len = a->len_of_seq ? a->len_of_seq[a->rows.seq[row]] : 0;
    struct topk_count t = topk_take(&a->params, n, a->in.m[at], a->rows.pos[row], len, a->cap);
    int32_t *idx = a->idx + at * (size_t)a->cap;
    if (t.dense) {
        a->len[at] = -1;
        return;
    }
    int candidates = make_keys(a, v, n, key), join = a->params.force == FORCE_UNION ? n - t.last : n;
    t.k = t.k < candidates ? t.k : candidates;
    if (a->params.force != FORCE_UNION)
        force_last(key, n, &t);
    if (topk_by_mass(&a->params))
        t.k = count_by_mass(a, v, n, key, mass, &t);
    uint32_t threshold = UINT32_MAX;
    if (t.k > 0)
        select_threshold(key, n, t.k, &threshold, &equal);
    for (int i = 0; i < n && out < a->cap; i++)
        if (key[i] > threshold || (key[i] == threshold && equal-- > 0) || (i >= join && key[i]))
            idx[out++] = i;
    a->len[at] = out;
}

void CPU_SYM(op_topk)(const void *args, struct cpu_ctx *c)
{
    const struct topk_args *a = args;
    size_t stride = (size_t)a->in.stride, tid = (size_t)c->tid;
    int by_mass = a->params.kind == TOPK_MASS; /* the masses of all threads lie before their keys */
    uint64_t *mass = by_mass ? (uint64_t *)c->workspace + tid * stride : NULL;
    uint32_t *key = (uint32_t *)c->workspace + (by_mass ? 2 * (size_t)c->n : 0) * stride + tid * stride;
    FOR_TASKS(c, t, a->rows.cap * a->in.n_rows)
    if (a->rows.seq[t / a->in.n_rows] >= 0)
        topk_list(a, t / a->in.n_rows, t % a->in.n_rows, key, mass);
}

/* ---- choices that are not simply the largest scores: sinks with the recent tokens (StreamingLLM, arXiv
 * 2309.17453), and the union of the query heads' rankings (LessIsMore, arXiv 2508.07101) */

void CPU_SYM(op_window_list)(const void *args, struct cpu_ctx *c)
{
    const struct window_list_args *a = args;
    FOR_TASKS(c, row, a->rows.cap)
    {
        int32_t *idx = a->idx + (size_t)row * (size_t)a->cap;
        if (a->rows.seq[row] < 0)
            continue;
        int pos = a->rows.pos[row], s = pos + 1, k = topk_take(&a->params, s, s, pos, 0, a->cap).k;
        int sinks = a->sinks < k ? a->sinks : k;
        for (int i = 0; i < k; i++)
            idx[i] = i < sinks ? i : s - k + i;
        a->len[row] = k < s ? k : -1;
    }
}

/* Sorts by the upper half, stably, in four digits of 8 bits; the result lies in `v`. */
static void sort_upper(uint64_t *v, uint64_t *workspace, int n)
{
    for (int shift = 32; shift < 64; shift += 8) {
        int start[257] = {0};
        for (int i = 0; i < n; i++)
            start[(v[i] >> shift & 255) + 1]++;
        for (int d = 0; d < 256; d++)
            start[d + 1] += start[d];
        for (int i = 0; i < n; i++)
            workspace[start[v[i] >> shift & 255]++] = v[i];
        uint64_t *t = v;
        v = workspace;
        workspace = t;
    }
}

/* The first `ranks` of one head's ranking of the tokens low .. high - 1 leave their place in the walk. */
static void walk_head(const struct rank_union_args *a, int row, int q, int low, int high, int ranks,
                      float *out, uint64_t *entry, uint64_t *workspace, uint32_t *key)
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
    sort_upper(entry, workspace, n);
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
    uint64_t *entry = (uint64_t *)c->workspace + 2 * tid * stride;
    uint32_t *key = (uint32_t *)((uint64_t *)c->workspace + 2 * n_threads * stride) + tid * stride;
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
        book_statistics(&a->kv, a->rows.seq[row], a->layer, a->n_q, 0);
    }
}
