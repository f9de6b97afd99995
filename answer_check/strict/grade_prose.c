/* Grades declarations and sections that state no answer (contract: grading.h). */
#include "answer_check/strict/grading.h"

#include <string.h>

#include "answer_check/strict/sentence.h"

/* What follows the last " is " of a sentence. */
static int after_is(struct span *out, struct span s)
{
    for (size_t i = s.n; i-- > 4;)
        if (!memcmp(s.s + i - 4, " is ", 4)) {
            *out = span_trim((struct span){s.s + i, s.n - i});
            return out->n > 0;
        }
    return 0;
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
    static const char *const words[] = {", ", " (", " because ", " since ", "; "};
    int depth = 0;
    for (size_t i = 1; i < s.n; i++) {
        depth += (strchr("([{", s.s[i - 1]) != NULL) - (strchr(")]}", s.s[i - 1]) != NULL);
        for (size_t k = 0; k < sizeof words / sizeof *words && depth <= 0; k++) {
            size_t n = strlen(words[k]);
            struct span rest = {s.s + i + n, s.n - i - n};
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

/* Are the last words of the text the reference's, which is in words, and does a word that leads up to an
 * answer stand before them: "Hence it is an ellipse", "therefore no solution"? */
static int own_words(struct grading *g, struct span text, struct answer *out, struct answer_match *m)
{
    static const char leading[] =
        "is|are|be|an|a|the|get|gets|obtain|find|have|has|gives|so|hence|thus|therefore|"
        "conclude|simply|clearly|that|indeed|just|then|conclusion|result|called|exists|exist|"
        "answer|there";
    static const char suffix[] = " is the answer";
    const struct answer *reference = grading_reference(g);
    size_t words = 1;
    if (!reference->tree || reference->tree->kind != MATH_TEXT || sentence_is_doubtful(text))
        return 0;
    while (text.n && strchr(".!*_:", text.s[text.n - 1]))
        text.n--;
    if (text.n > sizeof suffix &&
        span_starts((struct span){text.s + text.n - (sizeof suffix - 1), sizeof suffix - 1}, suffix))
        text.n -= sizeof suffix - 1;
    for (const char *c = reference->tree->name; *c; c++)
        words += *c == ' ';
    size_t from = text.n;
    for (size_t k = 0; k < words; k++) {
        while (from && ascii_is_space(text.s[from - 1]))
            from--;
        while (from && !ascii_is_space(text.s[from - 1]))
            from--;
    }
    size_t end = from, start;
    while (end && (ascii_is_space(text.s[end - 1]) || strchr(",:", text.s[end - 1])))
        end--;
    for (start = end; start && ascii_is_letter(text.s[start - 1]);)
        start--;
    if (from && !sentence_begins((struct span){text.s + start, end - start}, leading))
        return 0;
    *out = answer_read(g->w, (struct span){text.s + from, text.n - from});
    *m = grading_compare(g, out);
    return m->equal;
}

/* A declaration may be a sentence ("The largest n is 34", "Jane started 3 hours ago"): its words may be the
 * answer; otherwise what follows "is", or what the sentence presents as its result. */
int grade_declared(struct grading *g, struct span declared)
{
    static const char *const where = "The last declared answer";
    struct span text = extract_single_backslashes(sentence_plain(declared, g->w), g->w->arena);
    if (span_starts(text, "not ")) { /* "not 5 but 6" */
        const char *but = memmem(text.s, text.n, " but ", 5);
        text = but ? span_trim((struct span){but + 5, text.n - (size_t)(but + 5 - text.s)}) : text;
    }
    struct answer whole = answer_read(g->w, text), value;
    struct answer_match m = grading_compare(g, &whole);
    struct span found, left = {0};
    if (!m.equal && !math_is_mathematical(whole.tree)) {
        int is_clause = before_clause(&value, &left, text, g->w);
        if (!is_clause && own_words(g, left.n ? left : text, &value, &m))
            return grading_decide(g, &value, &m, where);
        m = grading_compare(g, &whole);
        if (is_clause || (after_is(&found, text) && read_value(&value, g->w, found)))
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
        "result|solution|total|value|output|final result|final value|conclusion|simplified|"
        "结果|解";
    const char *colon = memchr(line.s, ':', line.n < 40 ? line.n : 40);
    size_t n = colon ? (size_t)(colon - line.s) : 0;
    if (!colon || !sentence_begins(line, labels))
        return 0;
    *out = span_trim((struct span){line.s + n + 1, line.n - n - 1});
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
    struct span said, line = sentence_plain(marked, g->w);
    if (line.n > UNDECLARED_BYTES)
        return 0;
    int is_value = read_value(&value, g->w, line), is_doubtful = sentence_is_doubtful(line);
    if (!is_value && (after_label(&said, line) || (!is_doubtful && after_is(&said, line)))) {
        while (said.n && strchr(".*_", said.s[said.n - 1]))
            said.n--;
        while (said.n && strchr("*_", said.s[0]))
            said = (struct span){said.s + 1, said.n - 1};
        struct span left; /* "the minimum is 12, attained at x = 3" */
        is_value = read_value(&value, g->w, said) || before_clause(&value, &left, said, g->w);
    }
    struct answer_match m = {0};
    if (!is_value && own_words(g, line, &value, &m)) {
        grading_note(g, "last line", marked);
        grading_decide(g, &value, &m, where);
        return 1;
    }
    if (!is_value && value.text.n > g->gold.n + 16) /* words: only the reference's own */
        return 0;
    m = grading_compare(g, &value);
    if ((!is_value && !m.equal) || (sentence_rejects(line) && strcmp(m.how, "as text") != 0))
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

/* A section that states no answer: what it ends with is searched, since that takes longer than what came
 * before. */
int grade_undeclared(struct grading *g, struct span section, const struct response *r)
{
    enum { SEARCHED_MAX = 1 << 17 };
    struct span found;
    section = span_trim(section);
    if (section.n <= UNDECLARED_BYTES) {
        struct answer whole = answer_read(g->w, extract_single_backslashes(section, g->w->arena));
        struct answer_match m = grading_compare(g, &whole);
        if ((m.equal || math_is_mathematical(whole.tree)) &&
            !(sentence_rejects(section) && (!m.equal || strcmp(m.how, "as text") != 0))) {
            grading_note(g, "whole section", section);
            return grading_decide(g, &whole, &m, "The whole answer section");
        }
    }
    section = sentence_without_chatter(span_end(section, SEARCHED_MAX));
    if (memmem(section.s, section.n, "```", 3) && fenced_value(&found, section, g->w)) {
        grading_note(g, "fenced", found);
        return grading_text(g, found, "The value in the last fence of code");
    }
    if (extract_last_line(&found, section) && grade_last_line(g, found))
        return 0;
    if (sentence_last_result(&found, section, g->w)) {
        grading_note(g, "last sentence", found);
        return grading_text(g, found, "What the last sentence presents as its result");
    }
    return grade_no_answer(g->out, r);
}
