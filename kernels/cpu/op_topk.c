/* How many (the rule, evaluated here where the lengths are) and which: exact selection, ties to the lower
 * index. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/select.h"

struct take {
    int dense, k, last; /* k: entries in all; last: of those, forced at the end */
};

/* Token budgets in doubles, as the papers' Python does. */
static double budget_tokens(const struct topk_rule *r, int s, int len)
{
    double tokens;
    if (r->kind == TOPK_RATIO) {
        tokens = floor(r->ratio * (double)s);
        tokens = tokens > r->min_tokens ? tokens : r->min_tokens;
        tokens = (tokens < s ? tokens : s) - r->minus_tokens;
    } else {
        tokens = floor((double)len / r->cr);
    }
    if (r->round_tokens > 1)
        tokens = ceil(tokens / r->round_tokens) * r->round_tokens;
    return tokens > 0 ? tokens : 0;
}

static int clamp(double x, int low, int high)
{
    return x < low ? low : x > high ? high : (int)x;
}

static struct take rule_take(const struct topk_rule *r, int n, int m, int pos, int len, int cap)
{
    int per = r->tokens_per > 1 ? r->tokens_per : 1, s = per > 1 ? pos + 1 : m, most = INT32_MAX / 2;
    int phantom = r->phantom_page && s % KV_PAGE_TOKENS == 0;
    struct take t = {0, r->k, r->force_last};
    if (r->kind == TOPK_RATIO || r->kind == TOPK_CR)
        t.k = clamp(floor(budget_tokens(r, s, len) / per), 0, most);
    else if (r->kind == TOPK_FLOOR)
        t.k = clamp(floor(r->ratio * (double)m), 0, most);
    else if (r->kind == TOPK_SHORT_FLOOR)
        t.k = s / per < r->k ? s / per : r->k;
    t.k = t.k > r->min_k ? t.k : r->min_k;
    t.dense = (r->dense_when_short && n + phantom <= t.k) || (r->dense_tokens && s <= r->dense_tokens) ||
              (r->dense_first && pos == len);
    if (phantom) {
        t.k = t.k > 0 ? t.k - 1 : 0;
        t.last = t.last > 0 ? t.last - 1 : 0;
    }
    t.last = t.last < n ? t.last : n;
    if (r->force == FORCE_BESIDE)
        t.k = t.k < most - t.last ? t.k + t.last : most;
    t.k = t.k < m ? t.k : m;
    t.k = t.k < cap ? t.k : cap;
    return t;
}

/* Scores as keys; with a bias, which works on masses, not on their logarithms. */
static int make_keys(const struct topk_args *a, const float *v, int n, uint32_t *key)
{
    float mass[LANES], bias = a->rule.tie_bias;
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
static void force(uint32_t *key, int n, const struct take *t)
{
    int forced = 0;
    for (int i = n - 1; i >= n - t->last && forced < t->k; i--)
        if (key[i]) {
            key[i] = UINT32_MAX;
            forced++;
        }
}

static void topk_list(const struct topk_args *a, int row, int list, uint32_t *key)
{
    size_t at = (size_t)row * (size_t)a->in.n_rows + (size_t)list;
    const float *v = a->in.v + at * (size_t)a->in.stride;
    int n = a->in.n[at], out = 0, equal = 0, len = a->len_of_seq ? a->len_of_seq[a->rows.seq[row]] : 0;
    struct take t = rule_take(&a->rule, n, a->in.m[at], a->rows.pos[row], len, a->cap);
    int32_t *idx = a->idx + at * (size_t)a->cap;
    if (t.dense) {
        a->len[at] = -1;
        return;
    }
    int candidates = make_keys(a, v, n, key), join = a->rule.force == FORCE_UNION ? n - t.last : n;
    t.k = t.k < candidates ? t.k : candidates;
    if (a->rule.force != FORCE_UNION)
        force(key, n, &t);
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
    uint32_t *key = (uint32_t *)c->scratch + (size_t)c->tid * (size_t)a->in.stride;
    FOR_TASKS(c, t, a->rows.cap * a->in.n_rows)
    if (a->rows.seq[t / a->in.n_rows] >= 0)
        topk_list(a, t / a->in.n_rows, t % a->in.n_rows, key);
}
