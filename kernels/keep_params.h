#ifndef KERNELS_KEEP_PARAMS_H
#define KERNELS_KEEP_PARAMS_H

/* When a keep_params acts and what it keeps (kernels/backend.h says it in words). All backends share this
 * text.
 */
#include <stdint.h>

#include "kernels/topk_params.h"

/* Returns the budget: the tokens that a KV head of this sequence keeps. len_of_seq may be NULL where cr is 0.
 */
BACKEND_INLINE int keep_budget(const struct keep_params *r, const int32_t *len_of_seq, int seq)
{
    int n = r->cr > 0 ? topk_clamp(floor((double)len_of_seq[seq] / r->cr), 0, INT32_MAX / 2) : r->tokens;
    return n > r->min_tokens ? n : r->min_tokens;
}

/* Returns 1 if r acts on a head that has `live` tokens, the last one at position pos; else 0. */
BACKEND_INLINE int keep_acts(const struct keep_params *r, int budget, int live, int pos)
{
    if (r->late)
        return live >= budget && pos % r->every == 0;
    return live > budget && (r->of_context ? pos + 1 : live) % r->every == 0;
}

/* Returns how many of the prompt's tokens are pinned: no more than leave budget for the recent ones and for
 * one more. */
BACKEND_INLINE int keep_pinned(const struct keep_params *r, int budget, int prompt)
{
    int left = budget - r->recent - 1;
    return prompt < left ? prompt : left;
}

#endif
