/* What layers read during a replay (contract: replay.h). */
#include "evalcore/sweep/replay.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/base/str.h"

/* Adds a list's entries as hex digits of a bit set. */
static void add_bit_set(struct str *out, const struct seen *s, int list)
{
    const int32_t *v = s->idx + (size_t)list * (size_t)s->stride;
    int n = s->len[list], bits = 0, at = 0;
    if (n < 0) {
        str_puts(out, "all");
        return;
    }
    for (int digit = 0; at < n; digit++, bits = 0) {
        for (; at < n && v[at] < 4 * (digit + 1); at++)
            bits |= 1 << (v[at] - 4 * digit);
        str_printf(out, "%x", bits);
    }
    if (!n)
        str_putc(out, '0');
}

/* The digest covers the entries in their order; the sets are for people and for the overlap. */
void replay_see(struct decoder_replay *r, int n, int first, const struct seen *s)
{
    struct str sets = {0}, all = {0};
    int last = (n - 1) / REPLAY_KEEP_EVERY * REPLAY_KEEP_EVERY;
    if (s->step % REPLAY_KEEP_EVERY)
        return;
    xgrow(&r->seen, &r->cap, (size_t)r->n_seen + 1, sizeof *r->seen);
    struct replay_seen *out = &r->seen[r->n_seen++];
    *out = (struct replay_seen){.step = first + s->step, .layer = s->layer};
    str_printf(&all, "%d %d %d", (int)s->granularity, s->block_pages, s->n_lists);
    for (int i = 0; i < s->n_lists; i++) {
        int len = s->len[i] > 0 ? s->len[i] : 0;
        str_printf(&all, " %d:", s->len[i]);
        str_add(&all, (const char *)(s->idx + (size_t)i * (size_t)s->stride), (size_t)len * sizeof *s->idx);
        if (s->step == last) {
            str_puts(&sets, i ? " " : "");
            add_bit_set(&sets, s, i);
        }
    }
    sha256_hex(all.data, all.len, out->digest, 8);
    if (s->step == last) {
        out->sets = xmalloc(sets.len + 1);
        memcpy(out->sets, str_text(&sets), sets.len + 1);
    }
    str_release(&sets);
    str_release(&all);
}

static int compare_steps(const void *a, const void *b)
{
    const struct replay_seen *x = a, *y = b;
    return x->step != y->step ? (x->step > y->step) - (x->step < y->step) : x->layer - y->layer;
}

void replay_sort(struct decoder_replay *r)
{
    if (r->n_seen)
        qsort(r->seen, (size_t)r->n_seen, sizeof *r->seen, compare_steps);
}

void replay_release(struct decoder_replay *r)
{
    for (int i = 0; i < r->n_seen; i++)
        free(r->seen[i].sets);
    free(r->seen);
    memset(r, 0, sizeof *r);
}
