#ifndef KERNELS_TOPK_PARAMS_H
#define KERNELS_TOPK_PARAMS_H

/* How many candidates a topk_params takes (kernels/backend.h says it in words). All backends share this text,
 * so that none differs by one. It computes in doubles, as the papers' Python does; no product is added to
 * anything, so no compiler can fuse a multiplication and an addition. */
#include <math.h>
#include <stdint.h>

#include "kernels/backend.h"

/* What topk takes of a list. */
struct topk_count {
    int dense, k, last; /* dense: all live tokens; k: number of entries; last: how many of them are forced */
};

/* Returns the budget of TOPK_RATIO or TOPK_CR in tokens, rounded up as round_tokens asks, at least 0. s: the
 * context in tokens; len: len_of_seq. */
BACKEND_INLINE double topk_tokens(const struct topk_params *r, int s, int len)
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

/* Returns x cut off to a whole number, or the limit that it is beyond. */
BACKEND_INLINE int topk_clamp(double x, int low, int high)
{
    return x < low ? low : x > high ? high : (int)x;
}

/* Returns how many entries topk takes of a list of length n with m candidates, at most `cap`; where `dense`
 * is 1 the others have no meaning. For TOPK_MASS k is only an upper limit. pos: the row's position; len:
 * len_of_seq, where the kind needs it. */
BACKEND_INLINE struct topk_count topk_take(const struct topk_params *r, int n, int m, int pos, int len,
                                           int cap)
{
    int per = r->tokens_per > 1 ? r->tokens_per : 1, s = per > 1 ? pos + 1 : m, no_limit = INT32_MAX / 2;
    int phantom = r->phantom_page && s % KV_PAGE_TOKENS == 0;
    struct topk_count t = {0, r->k, r->force_last};
    if (r->kind == TOPK_RATIO || r->kind == TOPK_CR)
        t.k = topk_clamp(floor(topk_tokens(r, s, len) / per), 0, no_limit);
    else if (r->kind == TOPK_FLOOR)
        t.k = topk_clamp(floor(r->ratio * (double)m), 0, no_limit);
    else if (r->kind == TOPK_SHORT_FLOOR)
        t.k = s / per < r->k ? s / per : r->k;
    else if (r->kind == TOPK_LEN)
        t.k = topk_clamp(floor(r->ratio * (double)len), 0, no_limit);
    else if (r->kind == TOPK_MASS)
        t.k = no_limit; /* the functions at the end say how many of these */
    t.k = t.k > r->min_k ? t.k : r->min_k;
    t.dense = (r->dense_when_short && n + phantom <= t.k) || (r->dense_tokens && s <= r->dense_tokens) ||
              (r->dense_first && pos == len) ||
              (r->kind == TOPK_RATIO && r->minus_tokens && topk_tokens(r, s, len) <= 0);
    if (phantom) {
        t.k = t.k > 0 ? t.k - 1 : 0;
        t.last = t.last > 0 ? t.last - 1 : 0;
    }
    if (r->force_after_len && n - len > t.last)
        t.last = n - len;
    t.last = t.last < n ? t.last : n;
    if (r->force == FORCE_BESIDE)
        t.k = t.k < no_limit - t.last ? t.k + t.last : no_limit;
    t.k = t.k < m ? t.k : m;
    t.k = t.k < cap ? t.k : cap;
    return t;
}

/* ---- rank_union: where the middle lies and how many ranks of it count */

struct union_split {
    int s, low, high, ranks; /* the context, the middle low .. high - 1, ranks */
};

/* Returns the split for a row whose token is at position pos. */
BACKEND_INLINE struct union_split union_split(const struct rank_union_args *a, int pos)
{
    int s = pos + 1, k = topk_take(&a->params, s, s, pos, 0, s).k;
    int ranks = topk_clamp(floor(a->middle * (double)k), 0, k), recent = k - ranks;
    int sinks = recent < a->sinks ? 0 : a->sinks;
    struct union_split u = {s, sinks, s - (recent - sinks), ranks};
    return u;
}

/* ---- TOPK_MASS */

/* Returns 1 if entries are taken by their mass, else 0; topk_take() alone then says how many. */
BACKEND_INLINE int topk_by_mass(const struct topk_params *r)
{
    return r->kind == TOPK_MASS && r->ratio < 1;
}

/* Returns the mass of a candidate, given e^score, as a whole number in units of 2^-36, cut off at 128; a sum
 * of 2^20 of them still fits. */
BACKEND_INLINE uint64_t topk_mass_of(float exp_score)
{
    return (uint64_t)((exp_score < 128.0f ? exp_score : 128.0f) * 68719476736.0f);
}

/* Returns the mass that the taken entries must hold at least, if all candidates hold `total`. */
BACKEND_INLINE uint64_t topk_mass_needed(const struct topk_params *r, uint64_t total)
{
    double need = ceil(r->ratio * (double)total);
    return need < (double)total ? (uint64_t)need : total;
}

/* Returns how many entries of mass `one`, which is above 0, together hold `need`. */
BACKEND_INLINE int topk_entries_for(uint64_t need, uint64_t one)
{
    return (int)((need + one - 1) / one);
}

#endif
