/* Grades mathematical answers. Where the answer stands, strongest first: the last box; the last declaration
 * ("the final answer is", "Answer:"); the whole section or else its last line, if that is one value; the last
 * formula; the last number. Only the first two are statements; at the length limit the others do not count.
 *
 * Several boxes: the last one wins. Boxes on its line that only commas, "and" or names join to it are one
 * statement: the parts of a list, or else, if they contradict one another, the answer is ambiguous. */
#include "answer_check/strict/grade_strict.h"

#include "answer_check/equal/equal_answer.h"
#include "answer_check/strict/extract.h"
#include "answer_check/text/latex_clean.h"

#include <string.h>

enum { ANSWER_MAX = 16384 };

/* $5$, \(5\), \[5\] and \boxed{5} as a whole mean 5. latex_clean drops the former; boxes may stand in text.
 */
static struct span unwrap_gold(struct span gold, struct arena *a)
{
    struct box_list boxes;
    gold = span_trim(gold);
    extract_boxes(&boxes, gold, a);
    return boxes.n == 1 ? boxes.box[0].content : gold;
}

/* What one response is graded against. */
struct grading {
    struct grade *out;
    struct span gold;
    const struct grade_policies *policies;
    struct math_work *w;
};

static int decide(const struct grading *g, struct span pred, const char *where)
{
    struct arena *a = g->w->arena;
    if (pred.n > ANSWER_MAX) {
        grade_set(g->out, VERDICT_WRONG, "The answer is longer than 16384 bytes.");
        g->out->pred_form = grade_form(a, pred.s, pred.n);
        g->out->gold_form = grade_form(a, g->gold.s, g->gold.n);
        return 0;
    }
    struct math_match m;
    math_compare(&m, g->w, g->gold, pred, g->policies);
    grade_set(g->out, m.equal ? VERDICT_CORRECT : VERDICT_WRONG,
              arena_printf(a, "%s %s the reference, compared %s.", where, m.equal ? "equals" : "differs from",
                           m.how));
    g->out->gold_form = m.gold_form;
    g->out->pred_form = m.pred_form;
    return 0;
}

/* "x =", "y_2 =": a name in front of a box in a run of boxes. 0 when there is none. */
static size_t assignment_length(struct span s)
{
    size_t i = 0;
    if (!s.n || !ascii_is_letter(s.s[0]))
        return 0;
    while (i < s.n && i < 8 && (ascii_is_letter(s.s[i]) || ascii_is_digit(s.s[i]) || strchr("_{}", s.s[i])))
        i++;
    while (i < s.n && s.s[i] == ' ')
        i++;
    return i < s.n && s.s[i] == '=' ? i + 1 : 0;
}

/* Is the text between two boxes nothing but separators, so that the boxes are the parts of one answer? */
static int is_separator(struct span between, struct arena *a)
{
    enum { SEPARATOR_MAX = 1000 };
    if (between.n > SEPARATOR_MAX)
        return 0;
    struct span s = latex_clean(a, between);
    for (size_t i = 0; i < s.n; i++) {
        struct span rest = {s.s + i, s.n - i};
        size_t word = span_starts(rest, "\\text{") ? 6
                      : span_starts(rest, "and")   ? 3
                      : span_starts(rest, "or")    ? 2
                                                   : assignment_length(rest);
        if (!word && !strchr(" ,;}", s.s[i]))
            return 0;
        i += word ? word - 1 : 0;
    }
    return 1;
}

/* First box of the run that the last box ends: boxes on one line with nothing but separators between them, or
 * with "and" or "or" on a line of its own, and together no longer than an answer may be. */
static size_t first_of_run(const struct box_list *boxes, struct span section, struct arena *a)
{
    enum { RUN_MAX = 16 };
    size_t first = boxes->n - 1;
    while (first && boxes->n - first < RUN_MAX) {
        size_t from = boxes->box[first - 1].end, to = boxes->box[first].start;
        if (boxes->box[boxes->n - 1].end - boxes->box[first - 1].start > ANSWER_MAX)
            break;
        struct span between = span_trim((struct span){section.s + from, to - from});
        int word =
            (between.n == 3 && span_starts(between, "and")) || (between.n == 2 && span_starts(between, "or"));
        if (!word && (memchr(section.s + from, '\n', to - from) ||
                      !is_separator((struct span){section.s + from, to - from}, a)))
            break;
        first--;
    }
    return first;
}

/* Do two boxes state the same? In either order: x = 5 and 5 agree. */
static int boxes_agree(const struct grading *g, const struct box *b, const struct box *last)
{
    struct math_match m;
    if (b->content.n == last->content.n && !memcmp(b->content.s, last->content.s, b->content.n))
        return 1;
    math_compare(&m, g->w, b->content, last->content, g->policies);
    if (!m.equal)
        math_compare(&m, g->w, last->content, b->content, g->policies);
    return m.equal;
}

static int grade_boxes(const struct grading *g, struct span section, const struct box_list *boxes)
{
    struct arena *a = g->w->arena;
    const struct box *last = &boxes->box[boxes->n - 1];
    struct str joined = {0};
    int conflict = 0, rc = 0;
    for (size_t i = first_of_run(boxes, section, a); i < boxes->n; i++) {
        const struct box *b = &boxes->box[i];
        conflict = conflict || (b != last && !boxes_agree(g, b, last));
        if (joined.len)
            str_puts(&joined, ", ");
        str_add(&joined, b->content.s, b->content.n);
    }
    struct span all = {str_text(&joined), joined.len};
    if (!conflict) {
        rc = decide(g, last->content, boxes->n > 1 ? "The last of several boxes" : "The box");
    } else {
        rc = decide(g, all, "The last line's boxes, read as one list:");
        if (g->out->verdict != VERDICT_CORRECT) {
            rc = grade_set(g->out, VERDICT_AMBIGUOUS,
                           "The last line with a box holds boxes that contradict one another.");
            g->out->pred_form = grade_form(a, all.s, all.n);
            g->out->gold_form = grade_form(a, g->gold.s, g->gold.n);
        }
    }
    str_release(&joined);
    return rc;
}

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

/* The value that a clause follows: "42, not 43", "42 (as claimed)", "42 because ..". */
static int before_clause(struct span *out, struct span s, struct math_work *w)
{
    static const char *const words[] = {", ", " (", " because ", " since ", "; "};
    for (size_t i = 1; i < s.n; i++)
        for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
            size_t n = strlen(words[k]);
            struct span rest = {s.s + i + n, s.n - i - n};
            if (s.n - i <= n || memcmp(s.s + i, words[k], n) != 0)
                continue;
            if (k < 2 && (rest.n < 3 || !ascii_is_letter(rest.s[0]) || !ascii_is_letter(rest.s[1]) ||
                          span_starts(rest, "and") || span_starts(rest, "or")))
                return 0; /* a list, or a pair */
            *out = span_trim((struct span){s.s, i});
            return math_is_value(w, *out);
        }
    return 0;
}

/* A declaration may be a sentence ("The largest n is 34", "Jane started 3 hours ago"): its words may be the
 * answer; otherwise what follows "is", its last formula, or its last number. */
static int grade_declared(const struct grading *g, struct span text)
{
    static const char *const where = "The last declared answer";
    struct math_match m;
    struct span found;
    math_compare(&m, g->w, g->gold, text, g->policies);
    if (!m.equal && !math_is_value(g->w, text)) {
        if (before_clause(&found, text, g->w) || (after_is(&found, text) && math_is_value(g->w, found)))
            return decide(g, found, where);
        if (extract_formula(&found, text) || extract_last_number(&found, text))
            return decide(g, found, where);
    }
    return decide(g, text, where);
}

/* Does the last line state its value and nothing more, or a sentence that ends in "is" and a value, perhaps
 * in words ("The day is Friday.") that are the reference's? */
static int says_alone(const struct grading *g, struct span *value, struct span line)
{
    struct math_match m;
    *value = line;
    if (line.n > MATH_TREE_BYTES)
        return 0;
    if (math_is_value(g->w, line))
        return 1;
    if (after_is(value, line)) {
        while (value->n && strchr(".*_", value->s[value->n - 1]))
            value->n--;
        while (value->n && strchr("*_", value->s[0]))
            *value = (struct span){value->s + 1, value->n - 1};
        if (math_is_value(g->w, *value))
            return 1;
    } else {
        *value = line;
    }
    if (value->n > g->gold.n + 16) /* words: only the reference's own */
        return 0;
    math_compare(&m, g->w, g->gold, *value, g->policies);
    return m.equal;
}

/* A section that states no answer: what it ends with is searched, since that takes longer than what came
 * before. */
static int grade_undeclared(const struct grading *g, struct span section, const struct response *r)
{
    enum { SEARCHED_MAX = 1 << 17 };
    struct span found, value;
    section = span_trim(section);
    if (section.n <= MATH_TREE_BYTES) {
        struct math_match m;
        math_compare(&m, g->w, g->gold, section, g->policies);
        if (m.equal || math_is_value(g->w, section))
            return decide(g, section, "The whole answer section");
    }
    section = span_end(section, SEARCHED_MAX);
    if (extract_last_line(&found, section) && says_alone(g, &value, found))
        return decide(g, value, "The last line");
    if (extract_formula(&found, section))
        return decide(g, found, "The last formula, with no box and no declared answer,");
    if (extract_last_number(&found, section))
        return decide(g, found, "The last number, with no box, no declared answer and no formula,");
    return grade_no_answer(g->out, r);
}

static int grade_strict(const struct grading *g, const struct response *r)
{
    struct span section;
    if (!g->gold.n)
        return grade_set(g->out, VERDICT_ERROR, "The reference answer is empty.");
    if (g->gold.n > ANSWER_MAX)
        return grade_set(g->out, VERDICT_ERROR, "The reference answer is longer than 16384 bytes.");
    if (grade_section(g->out, r, &section))
        return 0;
    struct box_list boxes;
    extract_boxes(&boxes, section, g->w->arena);
    if (boxes.n)
        return grade_boxes(g, section, &boxes);
    struct declared declared;
    enum declared_status status = extract_declared(&declared, section, r->finish, g->w);
    if (status == DECLARED_FOUND)
        return grade_declared(g, declared.text);
    if (status == DECLARED_CUT || r->finish == FINISH_LENGTH)
        return grade_no_answer(g->out, r);
    return grade_undeclared(g, section, r);
}

int grade_math_strict(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                      const struct grade_policies *policies, struct arena *a)
{
    struct math_work w = {a, MATH_STEPS};
    struct grading g = {out, unwrap_gold((struct span){gold, gold_len}, a), policies, &w};
    int rc = grade_strict(&g, r);
    out->steps = MATH_STEPS - w.steps;
    return rc;
}
