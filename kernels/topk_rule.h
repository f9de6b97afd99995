#ifndef KERNELS_TOPK_RULE_H
#define KERNELS_TOPK_RULE_H

/* How many candidates a topk_rule takes (kernels/backend.h says it in words). All backends share this text,
 * so that none differs by one. It computes in doubles, as the papers' Python does; no product is added to
 * anything, so no compiler can fuse a multiplication and an addition. */
#include <math.h>
#include <stdint.h>

#include "kernels/backend.h"

#ifdef __CUDACC__
#define RULE_FUNCTION __host__ __device__ static inline
#else
#define RULE_FUNCTION static inline
#endif

struct take {
    int dense, k, last; /* dense: all live tokens; k: number of entries; last: how many of them are forced */
};

RULE_FUNCTION double rule_tokens(const struct topk_rule *r, int s, int len)
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

RULE_FUNCTION int rule_clamp(double x, int low, int high)
{
    return x < low ? low : x > high ? high : (int)x;
}

/* What the rule takes of a list of length n with m candidates. The result has room for `cap` entries. */
RULE_FUNCTION struct take rule_take(const struct topk_rule *r, int n, int m, int pos, int len, int cap)
{
    int per = r->tokens_per > 1 ? r->tokens_per : 1, s = per > 1 ? pos + 1 : m, most = INT32_MAX / 2;
    int phantom = r->phantom_page && s % KV_PAGE_TOKENS == 0;
    struct take t = {0, r->k, r->force_last};
    if (r->kind == TOPK_RATIO || r->kind == TOPK_CR)
        t.k = rule_clamp(floor(rule_tokens(r, s, len) / per), 0, most);
    else if (r->kind == TOPK_FLOOR)
        t.k = rule_clamp(floor(r->ratio * (double)m), 0, most);
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

#endif
