/* Contents of boxes. The original goes through the boxes from the right. An earlier box belongs to the
 * answer when it stands close to the next one ("\boxed{1}, \boxed{2}"), or not far from it with a joining
 * word between them. */
#include "answer_check/compat/compat.h"

#include <stdlib.h>
#include <string.h>

enum { NEAR = 10, FAR = 70 }; /* characters between two boxes */

/* Start of the last box command in [0, end), or -1; *behind: where its name ends. */
static long last_command(struct span t, size_t end, size_t *behind)
{
    for (size_t i = end; i-- > 0;) {
        if (t.s[i] != '\\')
            continue;
        size_t n = span_at(t, i, "\\boxed") ? 6 : span_at(t, i, "\\fbox") ? 5 : 0;
        if (n && i + n <= end) {
            *behind = i + n;
            return (long)i;
        }
    }
    return -1;
}

/* The "}" that closes the "{" at `open`, before `end`, or -1. */
static long closing_brace(struct span t, size_t open, size_t end)
{
    int depth = 1;
    for (size_t i = open + 1; i < end; i++) {
        depth += t.s[i] == '{' ? 1 : t.s[i] == '}' ? -1 : 0;
        if (!depth)
            return (long)i;
    }
    return -1;
}

static int has_separator(struct span t)
{
    for (size_t i = 0; i < t.n; i++)
        if (t.s[i] == ',' || t.s[i] == ';' || span_at(t, i, "and") || span_at(t, i, "or"))
            return 1;
    return 0;
}

/* Does a box belong to the answer, when the next one does? */
static int is_joined(struct span between, struct span content, struct span next)
{
    if (between.n > 4 * FAR)
        return 0;
    size_t n = compat_length(between);
    int same = content.n == next.n && !memcmp(content.s, next.s, next.n);
    return n < NEAR || (!same && n < FAR && has_separator(between));
}

struct boxes {
    struct span *content; /* from the last to the first */
    size_t n, cap;
};

static void collect_boxes(struct boxes *out, struct span t, int all)
{
    size_t end = t.n, behind;
    long start;
    while ((start = last_command(t, end, &behind)) >= 0) {
        size_t open = compat_skip_space(t, behind);
        if (open >= end)
            break;
        long close = t.s[open] == '{' ? closing_brace(t, open, end) : -1;
        xgrow(&out->content, &out->cap, out->n + 1, sizeof *out->content);
        if (close < 0) { /* an unclosed box holds the rest of the text if it is the last one */
            if (!out->n)
                out->content[out->n++] = (struct span){t.s + open, t.n - open};
            break;
        }
        struct span content = compat_trim((struct span){t.s + open + 1, (size_t)close - open - 1});
        struct span between = {t.s + close + 1, end - (size_t)close - 1};
        if (!all && out->n && !is_joined(between, content, out->content[out->n - 1]))
            break;
        out->content[out->n++] = content;
        end = (size_t)start;
    }
}

struct span compat_join_boxes(struct span t, int all, struct arena *a)
{
    struct boxes boxes = {0};
    collect_boxes(&boxes, t, all);
    if (boxes.n == 1)
        t = boxes.content[0];
    if (boxes.n > 1) {
        size_t n = boxes.n - 1;
        for (size_t i = 0; i < boxes.n; i++)
            n += boxes.content[i].n;
        char *out = arena_alloc(a, n + 1), *p = out;
        for (size_t i = boxes.n; i-- > 0;) {
            if (boxes.content[i].n)
                memcpy(p, boxes.content[i].s, boxes.content[i].n);
            p += boxes.content[i].n;
            if (i)
                *p++ = ',';
        }
        t = (struct span){out, n};
    }
    free(boxes.content);
    return t;
}
