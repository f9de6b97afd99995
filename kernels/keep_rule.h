#ifndef KERNELS_KEEP_RULE_H
#define KERNELS_KEEP_RULE_H

/* When a keep_rule acts and what it keeps (kernels/backend.h says it in words). All backends share this text.
 */
#include <stdint.h>

#include "kernels/topk_rule.h"

/* Tokens that a KV head keeps. */
RULE_FUNCTION int keep_budget(const struct keep_rule *r, const int32_t *len_of_seq, int seq)
{
    int n = r->cr > 0 ? rule_clamp(floor((double)len_of_seq[seq] / r->cr), 0, INT32_MAX / 2) : r->tokens;
    return n > r->least ? n : r->least;
}

/* Of `live` tokens, the last one at position pos: 1 where some are to go. */
RULE_FUNCTION int keep_acts(const struct keep_rule *r, int budget, int live, int pos)
{
    return live > budget && (r->of_context ? pos + 1 : live) % r->every == 0;
}

/* How many of the prompt's tokens are pinned: they leave room for the recent ones and for one more. */
RULE_FUNCTION int keep_pinned(const struct keep_rule *r, int budget, int prompt)
{
    int room = budget - r->recent - 1;
    return prompt < room ? prompt : room;
}

#endif
