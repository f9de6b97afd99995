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

/* Where "box" first stands in the text, which all names of boxes hold, or the end of the text. */
static size_t first_name(struct span s)
{
    for (const char *x = s.s; (x = memchr(x, 'x', s.n - (size_t)(x - s.s))); x++)
        if (x - s.s > 1 && x[-1] == 'o' && x[-2] == 'b')
            return (size_t)(x - s.s) - 2;
    return s.n;
}

/* Where the first box may start: what stands before it changes nothing, not even a brace that stays open.
 * `name` is where its name may. */
static size_t first_box(struct span s, size_t name)
{
    enum { BEFORE = 6 }; /* "\frame" */
    size_t from = name > BEFORE ? name - BEFORE : 0, first = s.n;
    for (int k = 0; k < BOX_NAMES && first > from; k++) {
        const char *found = memmem(s.s + from, first - from, box_names[k], strlen(box_names[k]));
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
    size_t name = s.n ? first_name(s) : 0;
    *out = found;
    if (name == s.n)
        return;
    for (size_t i = first_box(s, name); i < s.n; i++) {
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

/* Is a formula open at i that begins on the same line? */
static int in_formula(struct span s, size_t i)
{
    int dollars = 0, open = 0;
    for (size_t k = i; k-- > 0 && s.s[k] != '\n';) {
        dollars += s.s[k] == '$';
        open |= span_at(s, k, "\\(") || span_at(s, k, "\\[");
    }
    return dollars % 2 || open;
}

/* No word in it but commands: "1/2", not "7 and so". */
static int is_without_words(struct span s)
{
    for (size_t i = 0, run = 0; i < s.n; i++) {
        if (s.s[i] == '\\')
            while (i + 1 < s.n && ascii_is_letter(s.s[i + 1]))
                i++;
        run = ascii_is_letter(s.s[i]) && s.s[i] != '\\' ? run + 1 : 0;
        if (run > 1)
            return 0;
    }
    return 1;
}

int extract_open_box(struct box *out, struct span s)
{
    for (size_t i = s.n; i-- > 0;) {
        size_t n = s.s[i] == '\\' && i + 1 < s.n && s.s[i + 1] != '\\' ? box_open(s, i) : 0, end = i + n;
        int depth = 0, line_ends = 0;
        if (!n)
            continue;
        for (; end < s.n && depth >= 0 && !line_ends; end++) {
            if (s.s[end] == '$' || span_at(s, end, "\\)") || span_at(s, end, "\\]") || s.s[end] == '\n')
                line_ends = 1;
            else if (s.s[end] == '\\')
                end++;
            else
                depth += (s.s[end] == '{') - (s.s[end] == '}');
        }
        end -= (size_t)line_ends;
        end = end < s.n ? end : s.n;
        struct span content = span_trim((struct span){s.s + i + n, end - i - n});
        if (content.n && content.s[content.n - 1] == '.')
            content = span_trim((struct span){content.s, content.n - 1});
        int is_whole = content.n && (content.s[content.n - 1] == '}' || (end < s.n && s.s[end] != '\n') ||
                                     (is_without_words(content) && !in_formula(s, i)));
        *out = (struct box){i, end, content};
        return depth == 0 && is_whole;
    }
    return 0;
}

/* Is the command at i, behind its backslashes, one that stands in answers? */
static int is_usual_command(struct span s, size_t i)
{
    static const char *const names[] = {"boxed", "frac",  "dfrac", "tfrac", "sqrt", "text", "pi",
                                        "left",  "cdot",  "times", "fbox",  "(",    "[",    "mathbb",
                                        "infty", "theta", "pmod",  "log",   "ln",   "sin",  "cos",
                                        "tan",   "le",    "ge",    "ne",    "in"};
    int may_be = i < s.n && (ascii_is_letter(s.s[i]) || s.s[i] == '(' || s.s[i] == '[');
    for (size_t k = 0; may_be && k < sizeof names / sizeof *names; k++)
        if (span_at(s, i, names[k]))
            return 1;
    return 0;
}

struct span extract_single_backslashes(struct span s, struct arena *a)
{
    int doubled = 0;
    const char *next = s.s;
    for (size_t i = 0; i < s.n && (next = memchr(s.s + i, '\\', s.n - i)); i++) {
        i = (size_t)(next - s.s);
        int is_double = i + 1 < s.n && s.s[i + 1] == '\\';
        size_t name = i + 1 + (size_t)is_double;
        if (!is_double && (is_usual_command(s, name) || span_at(s, name, "begin")))
            return s;
        doubled |= is_double && is_usual_command(s, name);
        i += (size_t)is_double;
    }
    if (!doubled)
        return s;
    char *out = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        i += s.s[i] == '\\' && i + 1 < s.n && s.s[i + 1] == '\\';
        out[n++] = s.s[i];
    }
    return (struct span){out, n};
}
