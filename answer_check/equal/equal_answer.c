/* Reads both answers and compares the trees; what cannot be read is compared as text. */
#include "answer_check/equal/equal_answer.h"
#include "answer_check/equal/equal_parts.h"

#include <string.h>

#include "answer_check/text/respell.h"
#include "evalcore/base/str.h"

#include "answer_check/read/math_read.h"
#include "answer_check/text/latex_clean.h"

static const char *form_of(struct arena *a, const struct math_node *m, struct span text)
{
    struct str s = {0};
    const char *form;
    if (!m)
        return grade_form(a, text.s, text.n);
    math_print_infix(&s, m);
    form = grade_form(a, str_text(&s), s.len);
    str_release(&s);
    return form;
}

/* ---- letters whose case means something ---- */

/* The next run of letters from *i on that is no command; empty at the end. */
static struct span next_letters(struct span t, size_t *i)
{
    while (*i < t.n && !ascii_is_letter(t.s[*i])) {
        size_t skipped = 1;
        if (t.s[*i] == '\\')
            while (*i + skipped < t.n && ascii_is_letter(t.s[*i + skipped]))
                skipped++;
        *i += skipped;
    }
    size_t from = *i;
    while (*i < t.n && ascii_is_letter(t.s[*i]))
        ++*i;
    return (struct span){t.s + from, *i - from};
}

static int is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Short words of English, which are no symbols. */
static int is_short_word(struct span word)
{
    static const char words[] = " no ok or an is in on at of to up so it he we go do my by as if ";
    char key[] = {' ', ascii_lower(word.s[0]), word.n > 1 ? ascii_lower(word.s[1]) : ' ', ' ', '\0'};
    return word.n == 2 && strstr(words, key) != NULL;
}

/* Is the case of this word's letters its meaning: one or two letters, or a capital behind a small letter? */
static int is_symbol_word(struct span word)
{
    if (word.n <= 2)
        return !is_short_word(word);
    for (size_t i = 1; i < word.n; i++)
        if (is_capital(word.s[i]) && !is_capital(word.s[i - 1]))
            return 1;
    return 0;
}

/* Do two texts with the same words differ in letters whose case means something: in symbols of one or two
 * letters ("Aa" and "AA", "CO" and "Co"), or in words that mix cases ("AaBb", "NaCl")? Case at the start of
 * a word and words in capitals mean nothing. Commands are passed over. */
static int letter_case_differs(struct span a, struct span b)
{
    for (size_t i = 0, k = 0;;) {
        struct span x = next_letters(a, &i), y = next_letters(b, &k);
        if (!x.n || x.n != y.n)
            return 0;
        int same = !memcmp(x.s, y.s, x.n), folded = 1;
        for (size_t c = 0; c < x.n; c++)
            folded &= ascii_lower(x.s[c]) == ascii_lower(y.s[c]);
        if (!folded)
            return 0; /* other words: nothing to say */
        if (!same && (is_symbol_word(x) || is_symbol_word(y)))
            return 1;
    }
}

/* ---- digits under a bar ---- */

/* The next \overline{ab} from *i on whose content is digits and small letters, which then are digits; empty
 * at the end. A line over capitals is a segment, and over z and w a conjugate. */
static struct span next_bar(struct span t, size_t *i)
{
    static const char bar[] = "\\overline{";
    for (; *i < t.n; ++*i) {
        if (!span_at(t, *i, bar))
            continue;
        size_t from = *i + strlen(bar), to = from, n = 0, letters = 0;
        for (; to < t.n && t.s[to] != '}'; to++) {
            letters += t.s[to] >= 'a' && t.s[to] <= 'v';
            n += t.s[to] != ' ';
            if (!ascii_is_digit(t.s[to]) && !(t.s[to] >= 'a' && t.s[to] <= 'y' && t.s[to] != 'w') &&
                t.s[to] != ' ')
                break;
        }
        *i = to;
        if (to < t.n && t.s[to] == '}' && n > 1 && letters)
            return (struct span){t.s + from, to - from};
    }
    return (struct span){0};
}

/* Do both texts hold digits under a bar, and not the same ones? */
static int bars_differ(struct span a, struct span b)
{
    for (size_t i = 0, k = 0;;) {
        struct span x = next_bar(a, &i), y = next_bar(b, &k);
        if (!x.n || !y.n)
            return 0;
        size_t m = 0, n = 0;
        for (;; m++, n++) {
            while (m < x.n && x.s[m] == ' ')
                m++;
            while (n < y.n && y.s[n] == ' ')
                n++;
            if (m >= x.n || n >= y.n)
                break;
            if (x.s[m] != y.s[n])
                return 1;
        }
        if (m < x.n || n < y.n)
            return 1;
    }
}

/* The text with the digits under its bars as a sum, \overline{abc} as 100a+10b+c in brackets. */
static struct span spelled_bars(struct math_work *w, struct span t)
{
    enum { DIGITS_MAX = 9 };
    struct str out = {0};
    size_t done = 0;
    for (size_t i = 0;;) {
        struct span digits = next_bar(t, &i);
        if (!digits.n || digits.n > DIGITS_MAX)
            break;
        size_t from = (size_t)(digits.s - t.s) - strlen("\\overline{");
        str_add(&out, t.s + done, from - done);
        str_puts(&out, "(");
        for (size_t k = 0; k < digits.n; k++)
            str_printf(&out, "%s1%.*s\\cdot %c", k ? "+" : "", (int)(digits.n - 1 - k), "00000000",
                       digits.s[k]);
        str_puts(&out, ")");
        done = i + 1;
    }
    str_add(&out, t.s + done, t.n - done);
    struct span copy = {arena_strndup(w->arena, str_text(&out), out.len), out.len};
    str_release(&out);
    return copy;
}

/* ---- reading and comparing ---- */

/* Is it a date, "2024-01-15"? */
static int is_date(struct span t)
{
    static const char shape[] = "dddd-dd-dd";
    t = span_trim(t);
    for (size_t i = 0; i < t.n && i < sizeof shape - 1; i++)
        if (shape[i] == 'd' ? !ascii_is_digit(t.s[i]) : t.s[i] != '-')
            return 0;
    return t.n == sizeof shape - 1;
}

static size_t count_digits(struct span s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += (size_t)ascii_is_digit(s.s[i]);
    return n;
}

struct answer answer_read(struct math_work *w, struct span text)
{
    struct answer out = {.text = text, .respelled = respell(w->arena, text)};
    out.tree = is_date(text) ? NULL : math_read_respelled(w, out.respelled); /* no difference */
    out.is_word = !count_digits(out.respelled) && latex_is_word(latex_clean(w->arena, out.respelled));
    out.ran_out = w->ran_out;
    return out;
}

/* Two words are compared as text: "no" and "on" are not the same product. */
static int are_words(const struct answer *gold, const struct answer *pred)
{
    return gold->is_word && pred->is_word;
}

static int same_bytes(const struct answer *gold, const struct answer *pred)
{
    return gold->text.n == pred->text.n && !memcmp(gold->text.s, pred->text.s, gold->text.n);
}

/* Are the texts the same but for layout, which holds no digits? */
static int same_text(const struct answer *gold, const struct answer *pred, struct arena *a)
{
    if (count_digits(gold->respelled) != count_digits(pred->respelled))
        return 0;
    struct span g = latex_flatten(a, latex_clean(a, gold->respelled)),
                p = latex_flatten(a, latex_clean(a, pred->respelled));
    return g.n && g.n == p.n && !memcmp(g.s, p.s, g.n);
}

/* Comparison as text drops degree and currency signs: where they count, it is for what has no tree. */
static int marks_count(const struct grade_rules *p)
{
    return p->units == MARK_KEEP || p->degrees == MARK_KEEP;
}

/* Does the tree hold words or units? */
static int has_words(const struct math_node *m)
{
    if (m->kind == MATH_TEXT || m->kind == MATH_UNIT)
        return 1;
    for (int i = 0; i < m->n; i++)
        if (has_words(m->child[i]))
            return 1;
    return 0;
}

/* Are the parts of the answer labelled, "(a) 3, (b) 5", so that their order counts? */
static int is_labelled(struct span t)
{
    return (memmem(t.s, t.n, "(a)", 3) && memmem(t.s, t.n, "(b)", 3)) ||
           (memmem(t.s, t.n, "(i)", 3) && memmem(t.s, t.n, "(ii)", 4));
}

struct answer_match answer_compare(struct math_work *w, const struct answer *gold, const struct answer *pred,
                                   const struct grade_rules *rules)
{
    static const char *const evidence[] = {"exact", "certified", "probed"};
    static const char exactly[] = "exactly";
    static const char *const by[] = {exactly, "by certified intervals", "at sample points"};
    const struct math_node *g = gold->tree, *p = pred->tree;
    if (are_words(gold, pred))
        g = p = NULL;
    w->evidence = MATH_EXACT;
    struct comparison e = {.w = w, .rules = rules, .how = exactly};
    enum math_truth r = g && p ? equal_trees(&e, g, p) : MATH_FALSE;
    if (r == MATH_TRUE && (g->kind == MATH_TEXT || p->kind == MATH_TEXT) &&
        letter_case_differs(gold->text, pred->text))
        r = MATH_FALSE; /* Aa and AA */
    const struct math_node *list = e.reading[0] ? e.reading[0] : g, *parts = e.reading[1] ? e.reading[1] : p;
    if (r == MATH_TRUE && list->kind == MATH_LIST && parts->kind == MATH_TUPLE && is_labelled(pred->text))
        r = equal_items(&e, list, parts, 1);
    if (r == MATH_TRUE && (bars_differ(gold->text, pred->text) ||
                           equal_order_differs(w, e.reading[0] ? e.reading[0] : g, gold->text,
                                               e.reading[1] ? e.reading[1] : p, pred->text)))
        r = MATH_FALSE;
    if (r == MATH_FALSE && g && p && equal_order_agrees(w, g, gold->text, p, pred->text)) {
        r = MATH_TRUE;
        w->evidence = MATH_PROBED;
    }
    size_t in_gold = 0, in_pred = 0;
    if (r == MATH_FALSE && g && p && !next_bar(gold->text, &in_gold).n != !next_bar(pred->text, &in_pred).n) {
        const struct math_node *a = math_read(w, spelled_bars(w, gold->text)),
                               *b = math_read(w, spelled_bars(w, pred->text));
        r = a && b ? equal_trees(&e, a, b) : r;
    }
    /* Text that is the same but for layout counts only where a tree is missing or holds words, as in "square
     * feet" and "squarefeet": without \vec and the like, a cross product looks as a dot product does. */
    int has_trees = (g && p && (equal_joined_apart(g, p) || (!has_words(g) && !has_words(p)))) ||
                    gold->ran_out || pred->ran_out;
    if (r != MATH_TRUE && (!g || !p || !marks_count(rules)) &&
        (same_bytes(gold, pred) ||
         (!has_trees && same_text(gold, pred, w->arena) && !letter_case_differs(gold->text, pred->text))))
        return (struct answer_match){.equal = 1, .how = "as text", .evidence = "text"};
    struct answer_match out = {.equal = r == MATH_TRUE, .unknown = r == MATH_UNKNOWN, .how = e.how};
    out.gold = e.reading[0] ? e.reading[0] : g;
    out.pred = e.reading[1] ? e.reading[1] : p;
    if (!g || !p || g->kind == MATH_TEXT || p->kind == MATH_TEXT)
        out.how = "as text";
    if (r == MATH_UNKNOWN)
        out.how = "as far as the limits of arithmetic reach";
    if (r == MATH_TRUE) {
        out.evidence = !strcmp(out.how, "as text") ? "text" : evidence[w->evidence];
        out.how = out.how == exactly ? by[w->evidence] : out.how;
    }
    return out;
}

/* The tree as LaTeX, or the text where there is none. */
static const char *latex_of(struct arena *a, const struct math_node *m, struct span text)
{
    struct str s = {0};
    if (!m)
        return grade_form(a, text.s, text.n);
    math_print_latex(&s, m);
    const char *latex = arena_strndup(a, str_text(&s), s.len);
    str_release(&s);
    return latex;
}

void answer_forms(struct grade *out, const struct answer *gold, const struct answer *pred,
                  const struct answer_match *m, struct arena *a)
{
    int words = are_words(gold, pred);
    out->gold_form = form_of(a, words ? NULL : gold->tree, gold->text);
    out->pred_form = form_of(a, words ? NULL : pred->tree, pred->text);
    out->gold_latex = latex_of(a, m->gold, gold->text);
    out->pred_latex = latex_of(a, m->pred, pred->text);
    out->how = m->evidence;
}
