/* From a text to the candidates for its answer, at most two: the first match that can be read, and the first
 * match of all, read or not, as a string, which is equal only to the same string. Matches are tried one
 * priority of patterns after the other. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "answer_check/compat/compat_read.h"
#include "evalcore/base/str.h"

typedef const struct math_node *node;

/* ---- where an answer may stand */

enum { TRIED = 1000 }; /* how many matches are tried; if none of them can be read there is no answer */

struct found {
    size_t start, end;
    int pattern;
};

struct found_list {
    struct found *at;
    size_t n, cap;
    size_t first; /* index of the first match of this pattern */
};

/* The bytes that may begin a match of a pattern, so that most of a long text is skipped quickly. */
struct starts {
    unsigned char first[256], second[256]; /* second: what must follow a blank, an equals sign or a minus */
};
enum { STARTS = 1, STARTS_WITH_SECOND };

static struct starts starts_of[COMPAT_NUMBER + 1]; /* by compat_start */
static once_flag starts_are_made = ONCE_FLAG_INIT;

static void make_starts_of(struct starts *out, enum compat_start start)
{
    for (const char *p = start == COMPAT_FORMULA ? "$\\" : start == COMPAT_BOX ? "\\" : "="; *p; p++)
        out->first[(unsigned char)*p] = start == COMPAT_NUMBER ? STARTS_WITH_SECOND : STARTS;
    if (start == COMPAT_BOX)
        return;
    for (int c = 0; c < 256; c++) { /* white space, and the first bytes of longer forms of it */
        if (c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f))
            out->first[c] = start == COMPAT_BLANK ? STARTS : STARTS_WITH_SECOND;
        else if (c >= 0xc2 && c <= 0xe3)
            out->first[c] = STARTS;
        int is_second = start == COMPAT_NUMBER ? compat_may_be_number((char)c) : c == '[' || c == '\\';
        out->second[c] = (unsigned char)is_second;
    }
    if (start == COMPAT_FORMULA)
        out->first['-'] = STARTS_WITH_SECOND;
}

static void make_starts(void)
{
    for (int k = COMPAT_FORMULA; k <= COMPAT_NUMBER; k++)
        make_starts_of(&starts_of[k], (enum compat_start)k);
}

/* The next place from i on where a match may begin; `end`, or behind it, when there is none. */
static size_t next_start(const struct starts *starts, struct span t, size_t i, size_t end)
{
    for (; i < end; i++) {
        int is = starts->first[(unsigned char)t.s[i]];
        if (is == STARTS || (is && i + 1 < t.n && starts->second[(unsigned char)t.s[i + 1]]))
            break;
    }
    return i;
}

/* Tries one place and returns where to go on. */
static size_t try_match(struct found_list *out, struct compat_text *t, const struct compat_pattern *p,
                        int index, size_t i)
{
    struct compat_match m;
    m.end = i;
    if (!compat_pattern_at(p, t, i, &m))
        return i + 1;
    if (out->n == out->first + 2 * TRIED) { /* only the last matches are ever tried */
        out->n = out->first + TRIED;
        memcpy(out->at + out->first, out->at + out->n, TRIED * sizeof *out->at);
    }
    xgrow(&out->at, &out->cap, out->n + 1, sizeof *out->at);
    out->at[out->n++] = (struct found){i, m.end, index};
    return m.end > i ? m.end : i + 1;
}

/* Collects the last matches of a pattern; none overlaps the one before it. */
static void collect_matches(struct found_list *out, struct compat_text *t, const struct compat_pattern *p,
                            int index)
{
    size_t next = 0, end = p->in_box ? t->boxes_end : t->t.n;
    out->first = out->n;
    if (p->start <= COMPAT_ANSWER) {
        for (int k = t->words; k-- > 0;) {
            size_t before = p->start < COMPAT_ANSWER_COLON ? strlen("final ") : 0;
            if (t->word[k] >= next + before)
                next = try_match(out, t, p, index, t->word[k] - before);
        }
        return;
    }
    call_once(&starts_are_made, make_starts);
    if (end)
        next = try_match(out, t, p, index, 0);
    while ((next = next_start(&starts_of[p->start], t->t, next, end)) < end)
        next = try_match(out, t, p, index, next);
}

static int compare_found(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->pattern - y->pattern;
}

/* The last matches of the patterns of one priority, *n of them, in the order in which they are tried: the
 * match that ends last comes first, and among those with the same end the one that starts first. */
static struct found *find_matches(struct compat_text *t, const struct compat_pattern *pattern, int patterns,
                                  int priority, size_t *n, struct arena *a)
{
    struct found_list list = {0};
    for (int k = 0; k < patterns; k++)
        if (pattern[k].priority == priority)
            collect_matches(&list, t, &pattern[k], k);
    struct found *out = arena_alloc(a, (list.n + 1) * sizeof *out);
    if (list.n)
        memcpy(out, list.at, list.n * sizeof *out);
    free(list.at);
    qsort(out, list.n, sizeof *out, compare_found);
    *n = list.n;
    return out;
}

/* ---- what a match means */

/* A row of formulas stands for the set of their values, with lists spread out. If one of them cannot be
 * read, only the first counts. */
static node row_value(struct math_work *w, const struct compat_match *m, const node *value)
{
    enum { ELEMENTS = 1024 };
    node element[ELEMENTS];
    int n = 0;
    for (int i = 0; i < m->n; i++)
        if (!value[i])
            return value[0];
    if (m->n == 1)
        return value[0];
    for (int i = 0; i < m->n; i++) {
        int spread = value[i]->kind == MATH_SET, k = spread ? value[i]->n : 1;
        if (n + k > ELEMENTS)
            return NULL;
        for (int j = 0; j < k; j++)
            element[n++] = spread ? value[i]->child[j] : value[i];
    }
    return math_node_new(w, MATH_SET, value[0]->source, n, element);
}

/* Sets *out to the tree and the text of a row of formulas. */
static void read_formulas(struct math_work *w, const struct compat_match *m, struct compat_candidate *out)
{
    node value[COMPAT_JOINED];
    struct str text = {0};
    struct span first = {"", 0};
    int all = 1;
    for (int i = 0; i < m->n; i++) {
        struct span t = compat_normalise(m->formula[i].content, m->bare_box, w->arena);
        value[i] = math_step(w, (int64_t)(m->formula[i].content.n / 4)) ? NULL : compat_read(w, t);
        if (value[i] && m->formula[i].percent)
            value[i] = compat_percentage(w, value[i]);
        all &= value[i] != NULL;
        if (i)
            str_puts(&text, " and ");
        else
            first = t;
        str_add(&text, t.s, t.n);
    }
    out->tree = row_value(w, m, value);
    out->text = first;
    if (m->n > 1 && all)
        out->text = (struct span){arena_strndup(w->arena, text.data, text.len), text.len};
    str_release(&text);
}

/* Reads the number without its separators and leading zeros, and with "." before the decimals. */
static void read_number(struct math_work *w, const struct compat_match *m, struct compat_candidate *out)
{
    char *text = arena_alloc(w->arena, m->integer.n + m->decimal.n + 2);
    size_t n = 0;
    for (size_t i = 0; i < m->integer.n; i++)
        if (m->integer.s[i] != ',' && m->integer.s[i] != ' ' && (n || m->integer.s[i] != '0'))
            text[n++] = m->integer.s[i];
    if (!n)
        text[n++] = '0';
    for (size_t i = 0; i < m->decimal.n; i++)
        text[n++] = i ? m->decimal.s[i] : '.';
    out->text = (struct span){text, n};
    int negative = text[0] == '-';
    struct span digits = {text + negative, n - (size_t)negative};
    out->tree =
        math_step(w, (int64_t)(n / 16)) || n > MATH_TREE_BYTES ? NULL : compat_number_node(w, digits, 0);
    if (negative)
        out->tree = compat_negated(w, out->tree);
    if (m->percent && out->tree)
        out->tree = compat_percentage(w, out->tree);
}

/* Sets *out to what a match means. */
static void read_match(struct math_work *w, const struct compat_match *m, struct compat_candidate *out)
{
    *out = (struct compat_candidate){NULL, {"", 0}, {"", 0}};
    if (m->n) {
        read_formulas(w, m, out);
    } else if (m->letter.n) {
        char *lower = arena_strndup(w->arena, m->letter.s, m->letter.n);
        lower[0] = ascii_lower(lower[0]);
        out->word = (struct span){lower, m->letter.n};
        out->text = m->letter;
    } else if (m->arithmetic.n) {
        out->text = m->arithmetic;
        out->tree = m->arithmetic.n > MATH_TREE_BYTES ? NULL : compat_arithmetic(w, m->arithmetic);
    } else {
        read_number(w, m, out);
    }
}

/* ---- priorities */

/* Only the end of a longer text is searched. No response that was ever graded with the original is longer
 * than this. */
enum { TEXT_MAX = 1 << 18 };

enum { TRY_STEPS = MATH_STEPS / TRIED }; /* steps that each match costs */

/* The lowest priority above a given one; INT_MAX if there is none. */
static int lowest_above(const struct compat_pattern *pattern, int n, int above)
{
    int lowest = INT_MAX;
    for (int k = 0; k < n; k++)
        if (pattern[k].priority > above && pattern[k].priority < lowest)
            lowest = pattern[k].priority;
    return lowest;
}

void compat_extract(struct compat_candidate *out, struct math_work *w, struct span text,
                    const struct grade_options *o)
{
    struct compat_pattern pattern[COMPAT_PATTERNS];
    struct compat_text t;
    int patterns = 0, priority = INT_MIN;
    compat_text_of(&t, span_end(text, TEXT_MAX));
    if (o->latex)
        patterns += compat_latex_patterns(pattern + patterns, o->boxed_match_priority);
    if (o->expr)
        patterns += compat_expr_patterns(pattern + patterns);
    if (o->string)
        patterns += compat_string_patterns(pattern + patterns);
    *out = (struct compat_candidate){NULL, {"", 0}, {"", 0}};
    while ((priority = lowest_above(pattern, patterns, priority)) != INT_MAX) {
        size_t n;
        const struct found *found = find_matches(&t, pattern, patterns, priority, &n, w->arena);
        for (size_t k = 0; k < n && w->steps > 0; k++) {
            struct compat_match m = {0};
            struct compat_candidate one;
            if (!compat_pattern_at(&pattern[found[k].pattern], &t, found[k].start, &m) ||
                math_step(w, TRY_STEPS))
                continue;
            read_match(w, &m, &one);
            if (!out->text.n)
                out->text = one.text;
            out->tree = one.tree;
            out->word = one.word;
            if (one.tree || one.word.n)
                return;
        }
    }
}
