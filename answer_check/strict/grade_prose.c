/* Grades declarations and sections that state no answer (contract: grading.h). */
#include "answer_check/strict/grading.h"

#include <string.h>

#include "answer_check/strict/sentence.h"
#include "evalcore/base/str.h"

/* What follows the last copula of Chinese, up to the full stop. */
static int after_wide_is(struct span *out, struct span s)
{
    static const char *const verbs[] = {"\xe4\xb8\xba", "\xe6\x98\xaf", "\xe7\xad\x89\xe4\xba\x8e"};
    size_t at = 0;
    for (size_t i = 0; i + 3 <= s.n; i++)
        for (size_t k = 0; (unsigned char)s.s[i] >= 0xe4 && k < sizeof verbs / sizeof *verbs; k++)
            at = span_at(s, i, verbs[k]) ? i + strlen(verbs[k]) : at;
    if (!at)
        return 0;
    *out = span_trim((struct span){s.s + at, s.n - at});
    if (out->n > 3 && !memcmp(out->s + out->n - 3, "\xe3\x80\x82", 3))
        out->n -= 3;
    return out->n > 0;
}

/* Does the text only set a value to look at it? */
static int only_supposes(struct span s)
{
    return sentence_is_chatter(s) || sentence_begins(s, "let|consider|take|assume|suppose|for example|for "
                                                        "instance|if|try|put|set|假设|如果|假如|设|令|若");
}

/* Reads a text. Returns 1 when it is one mathematical expression, else 0. */
static int read_value(struct answer *out, struct math_work *w, struct span text)
{
    *out = answer_read(w, text);
    return math_is_mathematical(out->tree);
}

/* The value that a clause follows: "42, not 43", "42 (as claimed)", "42 because ..". *left is what stands
 * before the clause, a value or not; it stays empty where there is none. */
static int before_clause(struct answer *out, struct span *left, struct span s, struct math_work *w)
{
    static const char *const words[] = {
        ", ", " (", " because ", " since ", "; ", " \xe2\x80\x94 ", " \xe2\x80\x93 "};
    int depth = 0;
    for (size_t i = 1; i < s.n; i++) {
        depth += (strchr("([{", s.s[i - 1]) != NULL) - (strchr(")]}", s.s[i - 1]) != NULL);
        for (size_t k = 0; k < sizeof words / sizeof *words && depth <= 0; k++) {
            size_t n = strlen(words[k]);
            struct span rest = {s.s + i + n, s.n - i - n};
            if (!k && s.n - i > 4 && s.s[i] == '(' &&
                (unsigned char)s.s[i + 1] >= 0xe3) { /* "8(注意不是9)" */
                *left = (struct span){s.s, i};
                return read_value(out, w, *left);
            }
            if (s.n - i <= n || memcmp(s.s + i, words[k], n) != 0)
                continue;
            *left = span_trim((struct span){s.s, i});
            if (k < 2 && (rest.n < 3 || !ascii_is_letter(rest.s[0]) || !ascii_is_letter(rest.s[1]) ||
                          span_starts(rest, "and") || span_starts(rest, "or")))
                return 0; /* a list, or a pair */
            return read_value(out, w, *left);
        }
    }
    return 0;
}

/* Where the last k words of the text begin. */
static size_t last_words(struct span text, size_t k)
{
    size_t from = text.n;
    for (; k; k--) {
        while (from && ascii_is_space(text.s[from - 1]))
            from--;
        while (from && !ascii_is_space(text.s[from - 1]))
            from--;
    }
    return from;
}

/* Does "the answer" of the text stand first in it: "Yes, such a polynomial exists", "So Alice wins"? */
static int leads_with(struct span text, const char *name)
{
    static const char verbs[] =
        "wins|will win|can win|can always win|always wins|has a winning|is the|must be|was "
        "the|is correct|is right|is guilty";
    static const char leading[] = "so|thus|hence|therefore|then|finally|consequently";
    size_t n = strlen(name);
    int is_judgement =
        !strcmp(name, "yes") || !strcmp(name, "no") || !strcmp(name, "true") || !strcmp(name, "false");
    while (text.n && (ascii_is_space(text.s[0]) || strchr("*_,", text.s[0])))
        text = (struct span){text.s + 1, text.n - 1};
    if (!is_judgement && sentence_begins(text, leading)) {
        while (text.n && ascii_is_letter(text.s[0]))
            text = (struct span){text.s + 1, text.n - 1};
        while (text.n && strchr(", ", text.s[0]))
            text = (struct span){text.s + 1, text.n - 1};
    }
    if (text.n <= n || !span_starts(text, name))
        return 0;
    struct span rest = {text.s + n, text.n - n};
    if (is_judgement)
        return strchr(".,!:;*", rest.s[0]) && !sentence_says(rest, "but|if|unless|wrong|only|not quite");
    return rest.s[0] == ' ' && sentence_begins(rest, verbs) && !sentence_is_doubtful(rest);
}

/* Are the last words of the text the reference's, which is in words, and does a word that leads up to an
 * answer stand before them: "Hence it is an ellipse", "therefore no solution"? Or are they its first? */
static int own_words(struct grading *g, struct span text, struct answer *out, struct answer_match *m)
{
    enum { MORE = 4 };
    static const char leading[] =
        "is|are|be|an|a|the|get|gets|obtain|find|have|has|gives|so|hence|thus|therefore|"
        "conclude|simply|clearly|that|indeed|just|then|conclusion|result|called|exists|exist|"
        "answer|there|ist|sind|hat|lautet|gibt es|est|es|tiene|son|a";
    static const char suffix[] = " is the answer";
    const struct answer *reference = grading_reference(g);
    size_t words = 1;
    if (!reference->tree || reference->tree->kind != MATH_TEXT || text.n > UNDECLARED_BYTES)
        return 0;
    if (leads_with(text, reference->tree->name)) {
        *out = *reference;
        *m = grading_compare(g, out);
        return m->equal;
    }
    int is_quantified = sentence_begins((struct span){reference->tree->name, strlen(reference->tree->name)},
                                        "all|every|any|each|no");
    while (text.n && strchr(".!*_:", text.s[text.n - 1]))
        text.n--;
    if (text.n > sizeof suffix &&
        span_starts((struct span){text.s + text.n - (sizeof suffix - 1), sizeof suffix - 1}, suffix))
        text.n -= sizeof suffix - 1;
    for (const char *c = reference->tree->name; *c; c++)
        words += *c == ' ';
    for (size_t k = words > 3 ? words - 3 : 1; k <= words + MORE; k++) {
        size_t from = last_words(text, k), end = from, start;
        while (end && (ascii_is_space(text.s[end - 1]) || strchr(",:", text.s[end - 1])))
            end--;
        for (start = end; start && ascii_is_letter(text.s[start - 1]);)
            start--;
        struct span before = {text.s, from}, own = {text.s + from, text.n - from};
        int is_led = !from || sentence_begins(own, "no tiene|no hay|non ha|não tem|não há") ||
                     sentence_begins((struct span){text.s + start, end - start}, leading) ||
                     (is_quantified && span_is((struct span){text.s + start, end - start}, "for")) ||
                     (end - start == 2 && span_starts((struct span){text.s + start, 2}, "on") &&
                      sentence_says(before, "land on|lands on|fall on|falls on|landing on|falling on"));
        if (!is_led || sentence_is_doubtful(before))
            continue;
        *out = answer_read(g->w, (struct span){text.s + from, text.n - from});
        *m = grading_compare(g, out);
        if (m->equal)
            return 1;
        if (!from)
            break;
    }
    return 0;
}

/* What an operation in words is as a formula: "5 factorial", "the square root of 5", "5 over 6"; empty: none.
 */
static struct span words_as_formula(struct span s, struct arena *a)
{
    static const struct {
        const char *before, *behind, *open, *close;
    } forms[] = {{"the square root of ", "", "\\sqrt{", "}"},
                 {"square root of ", "", "\\sqrt{", "}"},
                 {"the cube root of ", "", "\\sqrt[3]{", "}"},
                 {"", " factorial", "(", ")!"},
                 {"", " squared", "(", ")^2"},
                 {"", " cubed", "(", ")^3"},
                 {"twice ", "", "2(", ")"},
                 {"half of ", "", "(", ")/2"}};
    static const char over[] = " over ";
    const char *bar = memmem(s.s, s.n, over, strlen(over));
    const char *text = NULL;
    for (size_t k = 0; k < sizeof forms / sizeof *forms && !text; k++) {
        size_t n = strlen(forms[k].before), m = strlen(forms[k].behind);
        if (s.n > n + m && s.n < 64 && span_starts(s, forms[k].before) &&
            span_starts((struct span){s.s + s.n - m, m}, forms[k].behind)) {
            struct span inner = {s.s + n, s.n - n - m};
            int has_word = 0;
            for (size_t i = 0; i + 1 < inner.n; i++)
                has_word |= inner.s[i] == ' ' && ascii_is_letter(inner.s[i + 1]);
            text = has_word
                       ? NULL
                       : arena_printf(a, "%s%.*s%s", forms[k].open, (int)inner.n, inner.s, forms[k].close);
        }
    }
    if (!text && bar && s.n < 64) {
        size_t n = (size_t)(bar - s.s), m = s.n - n - strlen(over);
        text = arena_printf(a, "(%.*s)/(%.*s)", (int)n, s.s, (int)m, bar + strlen(over));
    }
    return text ? (struct span){text, strlen(text)} : (struct span){0};
}

/* Without a mark of credit behind it: "12 [10 points]". */
static struct span without_credit(struct span s)
{
    char last = s.n ? s.s[s.n - 1] : 0, open = last == ')' ? '(' : '[';
    size_t i = s.n;
    if (last != ')' && last != ']')
        return s;
    while (i && s.s[i - 1] != open)
        i--;
    return i > 1 && sentence_is_chatter((struct span){s.s + i - 1, s.n - i + 1})
               ? span_trim((struct span){s.s, i - 1})
               : s;
}

/* "0.5 (or 1/2)" as "0.5 or 1/2", both of which must hold. */
static struct span with_equal_writing(struct span s, struct arena *a)
{
    static const char or [] = " (or ";
    const char *open = s.n < 200 && s.n && s.s[s.n - 1] == ')' ? memmem(s.s, s.n, or, sizeof or -1) : NULL;
    if (!open)
        return s;
    const char *inner = open + sizeof or -1;
    const char *text =
        arena_printf(a, "%.*s or %.*s", (int)(open - s.s), s.s, (int)(s.s + s.n - 1 - inner), inner);
    return (struct span){text, strlen(text)};
}

/* A declaration may be a sentence ("The largest n is 34", "Jane started 3 hours ago"): its words may be the
 * answer; otherwise what follows "is", or what the sentence presents as its result. */
int grade_declared(struct grading *g, struct span declared)
{
    declared = with_equal_writing(without_credit(grading_parts_as_list(declared, g->w->arena)), g->w->arena);
    static const char *const where = "The last declared answer";
    struct span text = extract_single_backslashes(sentence_plain(declared, g->w), g->w->arena);
    if (span_starts(text, "not ")) { /* "not 5 but 6" */
        const char *but = memmem(text.s, text.n, " but ", 5);
        text = but ? span_trim((struct span){but + 5, text.n - (size_t)(but + 5 - text.s)}) : text;
    }
    struct span found, left = {0}, formula = words_as_formula(text, g->w->arena);
    struct answer whole, value;
    if (formula.n && read_value(&value, g->w, formula))
        return grading_answer(g, &value, where);
    whole = answer_read(g->w, text);
    struct answer_match m = grading_compare(g, &whole);
    int has_cases = sentence_gives_cases(text) && !sentence_gives_cases(g->gold);
    if (has_cases && !(whole.tree && whole.tree->kind == MATH_CASES && whole.tree->n > 2))
        return grading_as_text(g, text, VERDICT_WRONG, "The answer is another one in another case.");
    if (!m.equal && !math_is_mathematical(whole.tree)) {
        int is_clause = before_clause(&value, &left, text, g->w);
        if (!is_clause && own_words(g, left.n ? left : text, &value, &m))
            return grading_decide(g, &value, &m, where);
        m = grading_compare(g, &whole);
        if (is_clause || (grading_after_is(&found, text) && read_value(&value, g->w, found)))
            return grading_answer(g, &value, where);
        if (sentence_result(&found, text, g->w)) /* not "at least 5" */
            return grading_text(g, found, where);
    }
    return grading_decide(g, &whole, &m, where);
}

/* What stands behind a label at the start of a line: "Result: [-2, 7]". */
static int after_label(struct span *out, struct span line)
{
    static const char labels[] =
        "result|solution|total|value|output|final result|final value|conclusion|simplified|trying again|"
        "redoing|recomputing|recalculating|second try|correction|corrected|"
        "结果|解";
    const char *colon = memchr(line.s, ':', line.n < 40 ? line.n : 40);
    const char *arrow = colon ? NULL : memmem(line.s, line.n < 40 ? line.n : 40, "\xe2\x86\x92", 3);
    if ((!colon && !arrow) || !sentence_begins(line, labels))
        return 0;
    size_t n = colon ? (size_t)(colon - line.s) + 1 : (size_t)(arrow - line.s) + 3;
    *out = span_trim((struct span){line.s + n, line.n - n});
    while (out->n && strchr("*_ ", out->s[0]))
        *out = (struct span){out->s + 1, out->n - 1};
    return out->n > 0;
}

/* Grades the last line if it states its value and nothing more, or is a sentence that ends in "is" and a
 * value, perhaps in words ("The day is Friday.") that are the reference's. Returns 1 when it does, else 0. */
static int grade_last_line(struct grading *g, struct span marked)
{
    static const char *const where = "The last line";
    struct answer value;
    struct span said, line = sentence_without_arrow(sentence_plain(marked, g->w));
    if (line.n > UNDECLARED_BYTES || only_supposes(line))
        return 0;
    int is_value = read_value(&value, g->w, line), is_doubtful = sentence_is_doubtful(line);
    int is_label = !is_value && after_label(&said, line);
    if (!is_value && sentence_gives_cases(line))
        return 0;
    struct span clause = line; /* not "12, where the base is 3" */
    if (!is_value && (is_label || (!is_doubtful && sentence_clause(&clause, line) &&
                                   (grading_after_is(&said, clause) || after_wide_is(&said, clause))))) {
        while (said.n && strchr(".*_", said.s[said.n - 1]))
            said.n--;
        while (said.n && strchr("*_", said.s[0]))
            said = (struct span){said.s + 1, said.n - 1};
        struct span left; /* "the minimum is 12, attained at x = 3" */
        is_value = read_value(&value, g->w, said) || before_clause(&value, &left, said, g->w);
    }
    if (!is_value && is_doubtful && memmem(line.s, line.n, "\xe6\x88\x96", 3) &&
        !memmem(line.s, line.n, "\xe7\xba\xa6", 3) && after_wide_is(&said, line) &&
        !sentence_is_doubtful((struct span){line.s, (size_t)(said.s - line.s)}))
        is_label = is_value = read_value(&value, g->w, said); /* all solutions, which "or" joins */
    struct answer_match m = {0};
    static const char *const reasons[] = {", since ", " since ", " because ", ", as "};
    struct span left = line; /* "the last marble is blue, since .." */
    for (size_t k = 0; k < sizeof reasons / sizeof *reasons; k++) {
        const char *reason = memmem(left.s, left.n, reasons[k], strlen(reasons[k]));
        left.n = reason ? (size_t)(reason - left.s) : left.n;
    }
    struct span last = line; /* "Dora was in Paris. So it is Carla." */
    for (size_t i = 0, next; i < line.n && (next = sentence_next(line, i)) < line.n; i = next)
        last = span_trim((struct span){line.s + next, line.n - next});
    if (!is_value && last.n && last.n < line.n && own_words(g, last, &value, &m)) {
        grading_note(g, "last line", marked);
        grading_decide(g, &value, &m, where);
        return 1;
    }
    if (!is_value &&
        (own_words(g, line, &value, &m) || (left.n < line.n && own_words(g, left, &value, &m)))) {
        grading_note(g, "last line", marked);
        grading_decide(g, &value, &m, where);
        return 1;
    }
    if (!is_value && value.text.n > g->gold.n + 16) /* words: only the reference's own */
        return 0;
    m = grading_compare(g, &value);
    if ((!is_value && !m.equal) || (!is_label && sentence_rejects(line) && strcmp(m.how, "as text") != 0))
        return 0;
    grading_note(g, "last line", marked);
    grading_decide(g, &value, &m, where);
    return 1;
}

/* The one value in the last fence of code, where no conclusion follows; program text is none. */
static int fenced_value(struct span *out, struct span s, struct math_work *w)
{
    static const char languages[] = "python|py|js|javascript|c|cpp|java|matlab|r|julia|bash|sh|sage|sql";
    const char *marks[2] = {NULL, NULL};
    for (size_t i = 0, n = 0; i + 2 < s.n; i++)
        if (span_at(s, i, "```") && (!i || s.s[i - 1] == '\n')) {
            marks[n++ % 2] = s.s + i;
            if (n % 2 == 0 && marks[1] < marks[0])
                return 0;
            i += 2;
        }
    if (!marks[1] || marks[1] < marks[0]) /* none, or one that stays open */
        return 0;
    struct span inside = {marks[0] + 3, (size_t)(marks[1] - marks[0]) - 3};
    struct span after = {marks[1] + 3, s.n - (size_t)(marks[1] + 3 - s.s)};
    const char *line = memchr(inside.s, '\n', inside.n);
    if (!line || sentence_begins(inside, languages) || sentence_concludes(after))
        return 0;
    *out = span_trim((struct span){line, inside.n - (size_t)(line - inside.s)});
    return out->n && !memchr(out->s, '\n', out->n) && math_is_value(w, *out);
}

/* "P(not A) = 0.6" without the words of the event; a copy where there are some. */
static struct span without_events(struct span s, struct arena *a)
{
    if (!memmem(s.s, s.n, "P(", 2))
        return s;
    char *out = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        out[n++] = s.s[i];
        if (!span_at(s, i, "P(") || (i && ascii_is_letter(s.s[i - 1])))
            continue;
        const char *close = memchr(s.s + i, ')', s.n - i < 60 ? s.n - i : 60);
        size_t end = close ? (size_t)(close - s.s) + 1 : 0;
        struct span event = {s.s + i + 2, close ? end - i - 3 : 0};
        int has_word = 0;
        for (size_t k = 0; k + 1 < event.n; k++)
            has_word |= ascii_is_letter(event.s[k]) && ascii_is_letter(event.s[k + 1]);
        if (has_word && !memchr(event.s, '(', event.n) && span_at(s, end, " ="))
            i = end - 1;
    }
    return (struct span){out, n};
}

/* The right side of the last row of aligned equations that the text ends with, if that row goes on from the
 * one before: "s &= 9 \\cdot 5 \\\\ &= 45". Returns 1, or 0. */
static int last_row(struct span *out, struct span s, struct arena *a)
{
    static const char begin[] = "\\begin{align", end[] = "\\end{align";
    const char *open = NULL, *close = NULL, *row = NULL;
    for (size_t i = s.n; i-- > 0 && s.n - i < 4096 && !open;)
        if (s.s[i] == '\\') {
            close = !close && span_at(s, i, end) ? s.s + i : close;
            row = close && !row && span_at(s, i, "\\\\") && i && s.s[i - 1] != '\\' &&
                          span_trim((struct span){s.s + i + 2, (size_t)(close - s.s) - i - 2}).n
                      ? s.s + i
                      : row;
            open = span_at(s, i, begin) ? s.s + i : NULL;
        }
    if (!open || !close || !row || row < open)
        return 0;
    struct span tail = {close, s.n - (size_t)(close - s.s)};
    const char *brace = memchr(tail.s, '}', tail.n);
    for (size_t i = brace ? (size_t)(brace + 1 - tail.s) : 0; i < tail.n; i++)
        if (!strchr(" .$\\])\n", tail.s[i]))
            return 0;
    struct span last = span_trim((struct span){row + 2, (size_t)(close - row) - 2});
    const char *amp = memchr(last.s, '&', last.n);
    struct span left = amp ? span_trim((struct span){last.s, (size_t)(amp - last.s)}) : (struct span){0};
    struct span earlier = {open, (size_t)(row - open)};
    if (!brace || !amp || (left.n && !memmem(earlier.s, earlier.n, left.s, left.n)))
        return 0;
    const char *again = left.n ? memmem(earlier.s, earlier.n, left.s, left.n) : NULL;
    size_t next = again ? (size_t)(again - earlier.s) + left.n : 0;
    while (again && next < earlier.n && earlier.s[next] == ' ')
        next++;
    if (again && !span_at(earlier, next, "&")) /* another unknown */
        return 0;
    last = span_trim((struct span){amp + 1, last.n - (size_t)(amp + 1 - last.s)});
    if (last.s[0] != '=' || memchr(last.s, '&', last.n))
        return 0;
    last = span_trim((struct span){last.s + 1, last.n - 1});
    if (span_at(last, last.n > 2 ? last.n - 2 : 0, "\\\\"))
        last = span_trim((struct span){last.s, last.n - 2});
    while (last.n && strchr(".,", last.s[last.n - 1]))
        last.n--;
    *out = (struct span){arena_strndup(a, last.s, last.n), last.n};
    return last.n > 0;
}

/* What stands behind "A: " where that is the answer to a question, and no option. */
static struct span behind_answer_letter(const struct grading *g, struct span s)
{
    if (!span_at(s, 0, "A: ") || memchr(g->gold.s, ':', g->gold.n) || memmem(s.s, s.n, "\nB: ", 4))
        return s;
    return span_trim((struct span){s.s + 3, s.n - 3});
}

/* Is the reference only the right side of an equation that is still to be solved, "3x = 4", "x + 1 = 4"? */
static int is_unsolved(struct grading *g, struct span s)
{
    const char *sign = memchr(s.s, '=', s.n);
    size_t n = sign ? (size_t)(sign - s.s) : 0, letters = 0, others = 0;
    if (!n || memchr(sign + 1, '=', s.n - n - 1))
        return 0;
    for (size_t i = 0; i < n; i++) {
        letters += ascii_is_letter(s.s[i]);
        others += ascii_is_digit(s.s[i]);
        if (!ascii_is_letter(s.s[i]) && !ascii_is_digit(s.s[i]) && !strchr("+-*^ ", s.s[i]))
            return 0;
    }
    if (letters != 1 || !others)
        return 0;
    struct answer right = answer_read(g->w, span_trim((struct span){sign + 1, s.n - n - 1}));
    return grading_compare(g, &right).equal;
}

/* Does the tree's label hold a whole sentence: "One cannot deduce that x = 4"? */
static int has_long_label(const struct math_node *m)
{
    enum { WORDS = 4 };
    int n = 1;
    if (!m || m->kind != MATH_RELATION || m->child[0]->kind != MATH_TEXT)
        return 0;
    for (const char *c = m->child[0]->name; *c; c++)
        n += *c == ' ';
    return n > WORDS;
}

/* A section that states no answer: what it ends with is searched, since that takes longer than what came
 * before. */
int grade_undeclared(struct grading *g, struct span section, const struct response *r)
{
    enum { SEARCHED_MAX = 1 << 17 };
    struct span found;
    section = grading_without_afterword(g, behind_answer_letter(g, span_trim(section)));
    section = without_events(grading_parts_as_list(section, g->w->arena), g->w->arena);
    if (memmem(section.s, section.n, "\\end{align", 10) && last_row(&found, section, g->w->arena)) {
        grading_note(g, "last line", found);
        return grading_text(g, found, "The last row of the equations that the section ends with");
    }
    int may_list = memchr(section.s, '\n', section.n) || memchr(section.s, ';', section.n);
    if (memchr(g->gold.s, ',', g->gold.n) && section.n < UNDECLARED_BYTES && grade_clauses(g, section))
        return 0;
    if (may_list && grade_listed(g, sentence_without_chatter(span_end(section, SEARCHED_MAX))))
        return 0;
    if (section.n <= UNDECLARED_BYTES) {
        struct answer whole =
            answer_read(g->w, extract_single_backslashes(sentence_without_arrow(section), g->w->arena));
        struct answer_match m = grading_compare(g, &whole);
        int is_sentence = has_long_label(whole.tree);
        if (m.equal && is_unsolved(g, span_trim(section)))
            return grading_as_text(g, section, VERDICT_WRONG, "The equation is still to be solved.");
        if ((m.equal || math_is_mathematical(whole.tree)) && !is_sentence && !only_supposes(section) &&
            !(sentence_rejects(section) && (!m.equal || strcmp(m.how, "as text") != 0))) {
            grading_note(g, "whole section", section);
            return grading_decide(g, &whole, &m, "The whole answer section");
        }
    }
    section = sentence_without_chatter(span_end(section, SEARCHED_MAX));
    if (span_find(section, "```") && fenced_value(&found, section, g->w)) {
        grading_note(g, "fenced", found);
        return grading_text(g, found, "The value in the last fence of code");
    }
    if (grade_sayings(g, section) || (extract_last_line(&found, section) && grade_last_line(g, found)))
        return 0;
    if (sentence_last_result(&found, section, g->w)) {
        grading_note(g, "last sentence", found);
        if (is_unsolved(g, found))
            return grading_as_text(g, found, VERDICT_WRONG, "The equation is still to be solved.");
        return grading_text(g, found, "What the last sentence presents as its result");
    }
    return grade_no_answer(g->out, r);
}
