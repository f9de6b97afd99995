/* Collects the places where an answer may stand, one priority at a time, in the order in which they are
 * tried: the match that ends last comes first, and among those with the same end the one that starts
 * first. */
#include "answer_check/compat/compat.h"

#include <stdlib.h>
#include <string.h>

struct found_list {
    struct compat_found *at;
    size_t n, cap;
    size_t first; /* index of the first match of this pattern */
};

/* Marks the bytes that may begin a match, so that most of a long text is skipped quickly. */
static void starts_of(unsigned char byte[256], enum compat_start start)
{
    memset(byte, 0, 256);
    for (const char *p = start == COMPAT_FORMULA ? "$\\-" : start == COMPAT_BOX ? "\\" : "="; *p; p++)
        byte[(unsigned char)*p] = 1;
    if (start == COMPAT_BOX)
        return;
    for (int c = 0; c < 256; c++) /* white space, and the first bytes of longer forms of it */
        byte[c] |= c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f) || (c >= 0xc2 && c <= 0xe3);
}

/* Tries one place and returns where to go on. */
static size_t try_match(struct found_list *out, struct compat_text *t, const struct compat_pattern *p,
                        int index, size_t i)
{
    struct compat_match m;
    m.end = i;
    if (!compat_pattern_at(p, t, i, &m))
        return i + 1;
    if (out->n == out->first + 2 * COMPAT_TRIED) { /* only the last matches are ever tried */
        out->n = out->first + COMPAT_TRIED;
        memcpy(out->at + out->first, out->at + out->n, COMPAT_TRIED * sizeof *out->at);
    }
    xgrow(&out->at, &out->cap, out->n + 1, sizeof *out->at);
    out->at[out->n++] = (struct compat_found){i, m.end, index};
    return m.end > i ? m.end : i + 1;
}

/* Collects the last matches of a pattern; none overlaps the one before it. */
static void collect_matches(struct found_list *out, struct compat_text *t, const struct compat_pattern *p,
                            int index)
{
    size_t next = 0, end = p->in_box ? t->boxes_end : t->t.n;
    unsigned char starts[256];
    out->first = out->n;
    if (p->start <= COMPAT_ANSWER) {
        for (int k = t->words; k-- > 0;) {
            size_t before = p->start < COMPAT_ANSWER_COLON ? strlen("final ") : 0;
            if (t->word[k] >= next + before)
                next = try_match(out, t, p, index, t->word[k] - before);
        }
        return;
    }
    starts_of(starts, p->start);
    while (next < end)
        if (!next || starts[(unsigned char)t->t.s[next]])
            next = try_match(out, t, p, index, next);
        else
            next++;
}

static int compare_found(const void *a, const void *b)
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
            collect_matches(&list, t, &pattern[k], k);
    struct compat_found *out = arena_alloc(a, (list.n + 1) * sizeof *out);
    if (list.n)
        memcpy(out, list.at, list.n * sizeof *out);
    free(list.at);
    qsort(out, list.n, sizeof *out, compare_found);
    *n = list.n;
    return out;
}
