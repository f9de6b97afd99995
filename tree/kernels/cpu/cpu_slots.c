/* Where a head's next token goes. While the page of the last token has room, it is the slot after that token,
 * so that a page fills in the order in which tokens come. Otherwise it is the lowest slot that a dropped
 * token has left free, or else a new slot at the end. */
#include "kernels/cpu/cpu.h"

int cpu_next_slot(const struct kv_view *kv, size_t head)
{
    const uint16_t *live = kv->live + head * (size_t)kv->max_pages;
    int n = kv->n_slots[head], next = kv->tail[head] + 1;
    if (next > 0 && next % KV_PAGE_TOKENS && next <= n &&
        (next == n || !(live[next / KV_PAGE_TOKENS] >> next % KV_PAGE_TOKENS & 1)))
        return next;
    if (kv->n_live[head] == n)
        return n;
    for (int p = 0; p < kv_pages(n); p++) {
        unsigned used =
            live[p] | (n - p * KV_PAGE_TOKENS < KV_PAGE_TOKENS ? 0xffffu << n % KV_PAGE_TOKENS : 0);
        if ((used & 0xffff) != 0xffff)
            return p * KV_PAGE_TOKENS + __builtin_ctz(~used);
    }
    return n;
}
