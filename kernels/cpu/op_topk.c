/* How many (the rule, evaluated here where the lengths are) and which: exact selection, ties to the lower
 * index. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/select.h"

struct take {
    int dense, k, first, last; /* k: entries in all; first and last: of those, forced at either end */
};

/* Token budgets in doubles, as the papers' Python does. */
static double budget_tokens(const struct topk_rule *r, int s, int prompt_len)
{
    double tokens;
    if (r->kind == TOPK_RATIO) {
        tokens = floor(r->ratio * (double)s);
        tokens = (tokens > r->min_tokens ? tokens : r->min_tokens) - r->minus_tokens;
    } else {
        tokens = floor(((double)prompt_len + (double)r->max_new) / r->cr);
    }
    if (r->round_tokens > 1)
        tokens = ceil(tokens / r->round_tokens) * r->round_tokens;
    return tokens > 0 ? tokens : 0;
}

static int clamp(double x, int low, int high)
{
    return x < low ? low : x > high ? high : (int)x;
}

static struct take rule_take(const struct topk_rule *r, int n, int m, int pos, int prompt_len, int cap)
{
    int per = r->tokens_per > 1 ? r->tokens_per : 1, s = per > 1 ? pos + 1 : m, most = INT32_MAX / 2;
    int phantom = r->phantom_page && s % KV_PAGE_TOKENS == 0;
    struct take t = {0, r->k, r->force_first, r->force_last};
    if (r->kind == TOPK_RATIO || r->kind == TOPK_CR)
        t.k = clamp(floor(budget_tokens(r, s, prompt_len) / per), 0, most);
    else if (r->kind == TOPK_FLOOR)
        t.k = clamp(floor(r->ratio * (double)m), 0, most);
    else if (r->kind == TOPK_SHORT_FLOOR)
        t.k = s / per < r->k ? s / per : r->k;
    t.k = t.k > r->min_k ? t.k : r->min_k;
    t.dense = r->dense_when_short && n + phantom <= t.k;
    if (phantom) {
        t.k = t.k > 0 ? t.k - 1 : 0;
        t.last = t.last > 0 ? t.last - 1 : 0;
    }
    t.first = t.first < n ? t.first : n;
    t.last = t.last < n - t.first ? t.last : n - t.first;
    if (r->force_extra)
        t.k = t.k < most - t.first - t.last ? t.k + t.first + t.last : most;
    t.k = t.k < m ? t.k : m;
    t.k = t.k < cap ? t.k : cap;
    return t;
}

/* Forced entries that are candidates get the largest key, which no number has; lowest indices first, then
 * from the highest down. */
static void force(uint32_t *key, int n, const struct take *t)
{
    int forced = 0;
    for (int i = 0; i < t->first && forced < t->k; i++)
        if (key[i]) {
            key[i] = UINT32_MAX;
            forced++;
        }
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
    int seq = a->rows.seq[row], n = a->in.n[at], candidates = 0, out = 0, equal = 0;
    int prompt_len = a->rule.kind == TOPK_CR ? a->prompt_len[seq] : 0;
    struct take t = rule_take(&a->rule, n, a->in.m[at], a->rows.pos[row], prompt_len, a->cap);
    int32_t *idx = a->idx + at * (size_t)a->cap;
    if (t.dense) {
        a->len[at] = -1;
        return;
    }
    for (int i = 0; i < n; i++) {
        float bias = a->rule.tie_bias * (float)i;
        key[i] = select_key(v[i] - bias);
        candidates += key[i] != 0;
    }
    t.k = t.k < candidates ? t.k : candidates;
    force(key, n, &t);
    uint32_t threshold = UINT32_MAX;
    if (t.k > 0)
        select_threshold(key, n, t.k, &threshold, &equal);
    for (int i = 0; i < n && out < t.k; i++)
        if (key[i] > threshold || (key[i] == threshold && equal-- > 0))
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
