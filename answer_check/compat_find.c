/* Collects the places where an answer may stand, one priority at a time, in the order in which they are
 * tried: whatever ends last, of those the one that starts first. */
#include "answer_check/compat.h"

#include <stdlib.h>
#include <string.h>

struct found_list {
    struct compat_found *at;
    size_t n, cap;
};

/* Which bytes may begin a match: most of a long text is passed over by them. */
static void starts_of(unsigned char byte[256], enum compat_start start)
{
    static const char *const of[] = {"fF", "fF", "fF", "aA", "aA", "$\\-", "\\", "="};
    memset(byte, 0, 256);
    for (const char *p = of[start]; *p; p++)
        byte[(unsigned char)*p] = 1;
    if (start != COMPAT_FORMULA && start != COMPAT_BLANK)
        return;
    for (int c = 0; c < 256; c++) /* white space, and the first bytes of longer forms of it */
        byte[c] |= c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f) || (c >= 0xc2 && c <= 0xe3);
}

/* All matches of a pattern, none overlapping the one before it. */
static void collect(struct found_list *out, struct compat_text *t, const struct compat_pattern *p, int index)
{
    unsigned char starts[256];
    struct compat_match m;
    starts_of(starts, p->start);
    for (size_t i = 0; i < t->t.n;) {
        m.end = i;
        if ((i && !starts[(unsigned char)t->t.s[i]]) || !compat_pattern_at(p, t, i, &m)) {
            i++;
            continue;
        }
        xgrow(&out->at, &out->cap, out->n + 1, sizeof *out->at);
        out->at[out->n++] = (struct compat_found){i, m.end, index};
        i = m.end > i ? m.end : i + 1;
    }
}

static int order(const void *a, const void *b)
{
    const struct compat_found *x = a, *y = b;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->pattern - y->pattern;
}

struct compat_found *compat_find(struct compat_text *t, const struct compat_pattern *pattern, int patterns,
                                 int priority, size_t *n, struct arena *a)
{
    struct found_list list = {0};
    for (int k = 0; k < patterns; k++)
        if (pattern[k].priority == priority)
            collect(&list, t, &pattern[k], k);
    struct compat_found *out = arena_alloc(a, (list.n + 1) * sizeof *out);
    if (list.n)
        memcpy(out, list.at, list.n * sizeof *out);
    free(list.at);
    qsort(out, list.n, sizeof *out, order);
    *n = list.n;
    return out;
}
