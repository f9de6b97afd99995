/* Finds the boxes in an answer section. The text is untrusted: a stack of open boxes gives all boxes in one
 * pass, so a megabyte of "\boxed{" costs a megabyte of work, not its square. */
#include "answer_check/strict/extract.h"

#include <stdlib.h>
#include <string.h>

static const char *const box_names[] = {"\\boxed", "\\fbox", "\\framebox"};
enum { BOX_NAMES = sizeof box_names / sizeof *box_names };

size_t extract_box_name(struct span s, size_t i)
{
    for (int k = 0; k < BOX_NAMES; k++)
        if (span_at(s, i, box_names[k]))
            return strlen(box_names[k]);
    return 0;
}

/* The length of a box command at i with its brace, or 0. White space may stand between. */
static size_t box_open(struct span s, size_t i)
{
    size_t n = extract_box_name(s, i);
    if (!n)
        return 0;
    while (i + n < s.n && ascii_is_space(s.s[i + n]))
        n++;
    return i + n < s.n && s.s[i + n] == '{' ? n + 1 : 0;
}

struct open_box {
    size_t start, content; /* where the command begins, and where its content does */
    size_t braces;         /* plain ones that were opened in it and not closed */
};

/* Adds a box that closes at byte `close`, and drops those inside it. */
static void add_box(struct box_list *l, size_t *cap, struct span s, struct open_box o, size_t close)
{
    struct span content = span_trim((struct span){s.s + o.content, close - o.content});
    while (l->n && l->box[l->n - 1].start > o.start)
        l->n--; /* boxes inside this one */
    if (!content.n)
        return;
    xgrow(&l->box, cap, l->n + 1, sizeof *l->box);
    l->box[l->n++] = (struct box){o.start, close + 1, content};
}

/* Where the first box may start: what stands before it changes nothing, not even a brace that stays open. */
static size_t first_box(struct span s)
{
    size_t first = s.n;
    for (int k = 0; k < BOX_NAMES && first; k++) {
        const char *found = memmem(s.s, first, box_names[k], strlen(box_names[k]));
        first = found ? (size_t)(found - s.s) : first;
    }
    while (first < s.n && first && s.s[first - 1] == '\\') /* which of a row of backslashes are escaped? */
        first--;
    return first;
}

/* Finds the last <|begin_of_box|>5<|end_of_box|>, as one family of models writes its boxes. */
static void token_box(struct box_list *out, struct span s, struct arena *a)
{
    static const char open[] = "<|begin_of_box|>", close[] = "<|end_of_box|>";
    size_t end = s.n;
    for (size_t i = s.n; i-- > 0;) {
        if (s.s[i] != '<')
            continue;
        if (span_at(s, i, close)) {
            end = i;
        } else if (span_at(s, i, open) && end < s.n) {
            size_t from = i + strlen(open);
            out->box = arena_alloc(a, sizeof *out->box);
            out->box[0] =
                (struct box){i, end + strlen(close), span_trim((struct span){s.s + from, end - from})};
            out->n = out->box[0].content.n > 0;
            return;
        }
    }
}

/* Finds the last "boxed{5}", which lost its backslash. */
static void bare_box(struct box_list *out, struct span s, struct arena *a)
{
    static const char open[] = "boxed{";
    for (size_t i = s.n; i-- > 0;) {
        if (!span_at(s, i, open) || (i && (s.s[i - 1] == '\\' || ascii_is_letter(s.s[i - 1]))))
            continue;
        size_t from = i + strlen(open), end = from;
        for (int depth = 1; end < s.n; end++) {
            if (s.s[end] == '\\')
                end++;
            else if (s.s[end] == '{' || s.s[end] == '}')
                depth += s.s[end] == '{' ? 1 : -1;
            if (!depth)
                break;
        }
        struct span content = end < s.n ? span_trim((struct span){s.s + from, end - from}) : (struct span){0};
        if (!content.n)
            return;
        out->box = arena_alloc(a, sizeof *out->box);
        out->box[0] = (struct box){i, end + 1, content};
        out->n = 1;
        return;
    }
}

void extract_boxes(struct box_list *out, struct span s, struct arena *a)
{
    struct box_list found = {0};
    struct open_box *stack = NULL;
    size_t depth = 0, stack_cap = 0, cap = 0;
    for (size_t i = first_box(s); i < s.n; i++) {
        if (s.s[i] == '\\') {
            size_t n = box_open(s, i);
            if (n) {
                xgrow(&stack, &stack_cap, depth + 1, sizeof *stack);
                stack[depth++] = (struct open_box){i, i + n, 0};
            }
            i += n ? n - 1 : 1; /* \{ and \} do not count */
        } else if (depth && s.s[i] == '{') {
            stack[depth - 1].braces++;
        } else if (depth && s.s[i] == '}') {
            if (stack[depth - 1].braces)
                stack[depth - 1].braces--;
            else
                add_box(&found, &cap, s, stack[--depth], i);
        }
    }
    out->n = found.n;
    out->box = found.n ? arena_alloc(a, found.n * sizeof *found.box) : NULL;
    if (found.n)
        memcpy(out->box, found.box, found.n * sizeof *found.box);
    else
        token_box(out, s, a);
    if (!out->n)
        bare_box(out, s, a);
    free(found.box);
    free(stack);
}
