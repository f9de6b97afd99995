/* Finds boxes, declarations and formulas in an answer section. The text is untrusted: a stack of open braces
 * gives all boxes in one pass, so a megabyte of "\boxed{" costs a megabyte of work, not its square. */
#include "answer_check/extract.h"

#include <stdlib.h>
#include <string.h>

static int span_at(struct span s, size_t i, const char *what)
{
    size_t n = strlen(what);
    return i <= s.n && s.n - i >= n && !memcmp(s.s + i, what, n);
}

/* Length of "\boxed{" or "\fbox{" (white space before the brace allowed) at i, 0 if there is none. */
static size_t box_open(struct span s, size_t i)
{
    size_t n = span_at(s, i, "\\boxed") ? 6 : span_at(s, i, "\\fbox") ? 5 : 0;
    if (!n)
        return 0;
    while (i + n < s.n && ascii_is_space(s.s[i + n]))
        n++;
    return i + n < s.n && s.s[i + n] == '{' ? n + 1 : 0;
}

struct open_brace {
    size_t at;     /* first byte after the brace */
    size_t box_at; /* start of the box command; at when it is a plain brace */
};

static void add_box(struct box_list *l, size_t *cap, struct span s, struct open_brace o, size_t close)
{
    struct span content = span_trim((struct span){s.s + o.at, close - o.at});
    while (l->n && l->box[l->n - 1].start > o.box_at)
        l->n--; /* boxes inside this one */
    if (!content.n)
        return;
    xgrow(&l->box, cap, l->n + 1, sizeof *l->box);
    l->box[l->n++] = (struct box){o.box_at, close + 1, content};
}

void extract_boxes(struct box_list *out, struct span s, struct arena *a)
{
    struct box_list found = {0};
    struct open_brace *stack = NULL;
    size_t depth = 0, stack_cap = 0, cap = 0;
    for (size_t i = 0; i < s.n;) {
        size_t n = s.s[i] == '\\' ? box_open(s, i) : s.s[i] == '{';
        if (n) {
            xgrow(&stack, &stack_cap, depth + 1, sizeof *stack);
            stack[depth++] = (struct open_brace){i + n, s.s[i] == '{' ? i + n : i};
            i += n;
        } else if (s.s[i] == '\\') {
            i += 2; /* \{ and \} do not count */
        } else {
            if (s.s[i] == '}' && depth) {
                struct open_brace o = stack[--depth];
                if (o.box_at != o.at)
                    add_box(&found, &cap, s, o, i);
            }
            i++;
        }
    }
    out->n = found.n;
    out->box = found.n ? arena_alloc(a, found.n * sizeof *found.box) : NULL;
    if (found.n)
        memcpy(out->box, found.box, found.n * sizeof *found.box);
    free(found.box);
    free(stack);
}

/* If "answer" at i declares something, the position where its content starts; 0 otherwise. */
static size_t declared_content(struct span s, size_t i)
{
    if (i && ascii_is_letter(s.s[i - 1]))
        return 0;
    size_t back = i;
    while (back && (s.s[back - 1] == ' ' || s.s[back - 1] == '*'))
        back--;
    int is_final = back >= 5 && span_starts((struct span){s.s + back - 5, 5}, "final");
    size_t reach = is_final ? 100 : 0; /* "final answer to the whole problem is": how far "is" may be */
    size_t j = i + 6;
    if (j < s.n && s.s[j] == 's')
        j++;
    for (; j < s.n; j++) {
        struct span rest = {s.s + j, s.n - j};
        if (s.s[j] == ':')
            return j + 1;
        if (span_starts(rest, "\xef\xbc\x9a")) /* full-width colon */
            return j + 3;
        int is_verb = ascii_is_space(s.s[j - 1]) &&
                      (span_starts(rest, "is ") || span_starts(rest, "is:") || span_starts(rest, "is\n") ||
                       span_starts(rest, "is\\") || span_starts(rest, "is$"));
        if (is_verb)
            return j + 2;
        if (s.s[j] == ' ' || s.s[j] == '*' || s.s[j] == '_')
            continue;
        if (!reach || s.s[j] == '\n' || s.s[j] == '.')
            return 0;
        reach--;
    }
    return 0;
}

/* A formula environment that starts at s: its content, and 1. */
static int leading_formula(struct span *out, struct span s)
{
    static const char *const pairs[][2] = {{"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}};
    for (int k = 0; k < 4; k++) {
        size_t n = strlen(pairs[k][0]);
        if (!span_at(s, 0, pairs[k][0]))
            continue;
        for (size_t i = n; i < s.n && i < 4096; i++) {
            if (s.s[i] == '\\' && k < 2) {
                i++;
            } else if (span_at(s, i, pairs[k][1])) {
                *out = span_trim((struct span){s.s + n, i - n});
                return out->n > 0;
            }
        }
        return 0;
    }
    return 0;
}

/* The end of the sentence: ". " or a line end; a point inside a number does not end it. */
static size_t sentence_end(struct span s)
{
    size_t i = 0;
    while (i < s.n && s.s[i] != '\n') {
        if (s.s[i] == '.' && i + 1 < s.n && ascii_is_space(s.s[i + 1]))
            break;
        i++;
    }
    return i;
}

static int is_decoration(char c)
{
    return ascii_is_space(c) || c == '*' || c == '_' || c == ':' || c == '#' || c == '`';
}

int extract_declared(struct span *out, struct span s)
{
    for (size_t i = s.n; i-- > 0;) {
        if ((s.s[i] != 'a' && s.s[i] != 'A') || !span_starts((struct span){s.s + i, s.n - i}, "answer"))
            continue;
        size_t j = declared_content(s, i);
        if (!j)
            continue;
        while (j < s.n && is_decoration(s.s[j]))
            j++;
        struct span rest = {s.s + j, s.n - j};
        if (leading_formula(out, rest))
            return 1;
        rest.n = sentence_end(rest);
        while (rest.n && (is_decoration(rest.s[rest.n - 1]) || strchr(".,;!", rest.s[rest.n - 1])))
            rest.n--;
        *out = rest;
        if (rest.n)
            return 1;
    }
    return 0;
}

int extract_formula(struct span *out, struct span s)
{
    static const char *const pairs[][2] = {{"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}};
    int exhausted[4] = {0}, found = 0;
    for (size_t i = 0; i < s.n;) {
        int k = 0;
        while (k < 4 && !span_at(s, i, pairs[k][0]))
            k++;
        if (k == 4 || exhausted[k]) {
            i += s.s[i] == '\\' ? 2 : 1;
            continue;
        }
        size_t start = i + strlen(pairs[k][0]), j = start;
        while (j < s.n && !span_at(s, j, pairs[k][1]))
            j += s.s[j] == '\\' && k < 2 ? 2 : 1;
        if (j >= s.n) { /* no closer from here on, so none later either */
            exhausted[k] = 1;
            i = start;
            continue;
        }
        struct span content = span_trim((struct span){s.s + start, j - start});
        if (content.n) {
            *out = content;
            found = 1;
        }
        i = j + strlen(pairs[k][1]);
    }
    return found;
}

int extract_last_line(struct span *out, struct span s)
{
    s = span_trim(s);
    size_t start = s.n;
    while (start && s.s[start - 1] != '\n' && s.s[start - 1] != '\r')
        start--;
    *out = span_trim((struct span){s.s + start, s.n - start});
    return out->n > 0;
}
