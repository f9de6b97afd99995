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
#include "answer_check/text/value_words.h"

#include <string.h>

enum { ANSWER_MAX = 16384 };

/* $5$, \(5\), \[5\] and \boxed{5} as a whole mean 5. latex_clean drops the former; boxes may stand in
 * text. */
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
    struct answer reference; /* the gold as read, once reference_read is set */
    int reference_read;
    const struct grade_rules *rules;
    struct math_work *w;
};

/* Parses the reference when it is first needed: a response without an answer needs no tree of it. */
static const struct answer *read_reference(struct grading *g)
{
    if (!g->reference_read)
        g->reference = answer_read(g->w, g->gold);
    g->reference_read = 1;
    return &g->reference;
}

static struct answer_match compare_answer(struct grading *g, const struct answer *pred)
{
    return answer_compare(g->w, read_reference(g), pred, g->rules);
}

/* The verdict of an answer that is shown as text, not as the tree that it was read as. */
static int decide_as_text(const struct grading *g, struct span pred, enum verdict v, const char *reason)
{
    grade_set(g->out, v, reason);
    g->out->pred_form = grade_form(g->w->arena, pred.s, pred.n);
    g->out->gold_form = grade_form(g->w->arena, g->gold.s, g->gold.n);
    return 0;
}

static int decide_too_long(const struct grading *g, struct span pred)
{
    return decide_as_text(g, pred, VERDICT_WRONG, "The answer is longer than 16384 bytes.");
}

/* The verdict of an answer that was compared already. */
static int decide_match(struct grading *g, const struct answer *pred, const struct answer_match *m,
                        const char *where)
{
    struct arena *a = g->w->arena;
    if (pred->text.n > ANSWER_MAX)
        return decide_too_long(g, pred->text);
    grade_set(g->out, m->equal ? VERDICT_CORRECT : VERDICT_WRONG,
              arena_printf(a, "%s %s the reference, compared %s.", where,
                           m->equal ? "equals" : "differs from", m->how));
    answer_forms(g->out, read_reference(g), pred, m, a);
    return 0;
}

/* The verdict of an answer that was read but not compared. */
static int decide_answer(struct grading *g, const struct answer *pred, const char *where)
{
    struct answer_match m = compare_answer(g, pred);
    return decide_match(g, pred, &m, where);
}

/* Reads, compares and grades a text. */
static int decide_text(struct grading *g, struct span text, const char *where)
{
    if (text.n > ANSWER_MAX)
        return decide_too_long(g, text);
    struct answer pred = answer_read(g->w, text);
    return decide_answer(g, &pred, where);
}

/* The length of a name and equals sign, "x =", "y_2 =", in front of a box in a run of boxes; 0 when there
 * is none. */
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
static int boxes_agree(struct grading *g, struct span box, const struct answer *last)
{
    if (box.n == last->text.n && !memcmp(box.s, last->text.s, box.n))
        return 1;
    struct answer b = answer_read(g->w, box);
    return answer_compare(g->w, &b, last, g->rules).equal || answer_compare(g->w, last, &b, g->rules).equal;
}

/* Grades the run of boxes that the last box ends. */
static int grade_run(struct grading *g, struct span section, const struct box_list *boxes)
{
    struct arena *a = g->w->arena;
    struct span last_text = boxes->box[boxes->n - 1].content;
    struct str joined = {0};
    int conflict = 0, rc = 0;
    if (last_text.n > ANSWER_MAX) /* which is a run by itself */
        return decide_too_long(g, last_text);
    struct answer last = answer_read(g->w, last_text);
    for (size_t i = first_of_run(boxes, section, a); i < boxes->n; i++) {
        const struct box *b = &boxes->box[i];
        conflict = conflict || (i + 1 < boxes->n && !boxes_agree(g, b->content, &last));
        if (joined.len)
            str_puts(&joined, ", ");
        str_add(&joined, b->content.s, b->content.n);
    }
    struct span all = {str_text(&joined), joined.len};
    if (!conflict) {
        rc = decide_answer(g, &last, boxes->n > 1 ? "The last of several boxes" : "The box");
    } else {
        rc = decide_text(g, all, "The last line's boxes, read as one list:");
        if (g->out->verdict != VERDICT_CORRECT)
            rc = decide_as_text(g, all, VERDICT_AMBIGUOUS,
                                "The last line with a box holds boxes that contradict one another.");
    }
    str_release(&joined);
    return rc;
}

/* The boxes, alone and as the formulas around them make them. Where only the boxes alone are the reference,
 * the box and its surroundings state two things. */
static int grade_boxes(struct grading *g, struct span section, const struct box_list *boxes)
{
    struct box_list read;
    int rc = grade_run(g, section, boxes);
    struct grade alone = *g->out;
    if (!extract_box_contexts(&read, section, boxes, g->w))
        return rc;
    grade_run(g, section, &read);
    if (g->out->verdict == VERDICT_CORRECT)
        return rc;
    if (alone.verdict == VERDICT_CORRECT)
        return decide_as_text(g, read.box[read.n - 1].content, VERDICT_AMBIGUOUS,
                              "The box equals the reference, but not with what stands beside it.");
    *g->out = alone;
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

/* Reads a text. Returns 1 when it is one mathematical expression, else 0. */
static int read_value(struct answer *out, struct math_work *w, struct span text)
{
    *out = answer_read(w, text);
    return math_is_mathematical(out->tree);
}

/* The value that a clause follows: "42, not 43", "42 (as claimed)", "42 because ..". */
static int before_clause(struct answer *out, struct span s, struct math_work *w)
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
            return read_value(out, w, span_trim((struct span){s.s, i}));
        }
    return 0;
}

/* A declaration may be a sentence ("The largest n is 34", "Jane started 3 hours ago"): its words may be the
 * answer; otherwise what follows "is", its last formula, or its last number. */
static int grade_declared(struct grading *g, struct span text)
{
    static const char *const where = "The last declared answer";
    struct answer whole = answer_read(g->w, text), value;
    struct answer_match m = compare_answer(g, &whole);
    struct span found;
    if (!m.equal && !math_is_mathematical(whole.tree)) {
        if (before_clause(&value, text, g->w) || (after_is(&found, text) && read_value(&value, g->w, found)))
            return decide_answer(g, &value, where);
        if ((extract_formula(&found, text) || extract_last_number(&found, text)) &&
            !value_is_qualified(text, found)) /* "at least 5" */
            return decide_text(g, found, where);
    }
    return decide_match(g, &whole, &m, where);
}

/* Grades the last line if it states its value and nothing more, or is a sentence that ends in "is" and a
 * value, perhaps in words ("The day is Friday.") that are the reference's. Returns 1 when it does, else 0. */
static int grade_last_line(struct grading *g, struct span line)
{
    static const char *const where = "The last line";
    struct answer value;
    struct span said;
    if (line.n > MATH_TREE_BYTES)
        return 0;
    int is_value = read_value(&value, g->w, line);
    if (!is_value && after_is(&said, line)) {
        while (said.n && strchr(".*_", said.s[said.n - 1]))
            said.n--;
        while (said.n && strchr("*_", said.s[0]))
            said = (struct span){said.s + 1, said.n - 1};
        is_value = read_value(&value, g->w, said);
    }
    if (!is_value && value.text.n > g->gold.n + 16) /* words: only the reference's own */
        return 0;
    struct answer_match m = compare_answer(g, &value);
    if (!is_value && !m.equal)
        return 0;
    decide_match(g, &value, &m, where);
    return 1;
}

/* A section that states no answer: what it ends with is searched, since that takes longer than what came
 * before. */
static int grade_undeclared(struct grading *g, struct span section, const struct response *r)
{
    enum { SEARCHED_MAX = 1 << 17 };
    struct span found;
    section = span_trim(section);
    if (section.n <= MATH_TREE_BYTES) {
        struct answer whole = answer_read(g->w, section);
        struct answer_match m = compare_answer(g, &whole);
        if (m.equal || math_is_mathematical(whole.tree))
            return decide_match(g, &whole, &m, "The whole answer section");
    }
    section = span_end(section, SEARCHED_MAX);
    if (extract_last_line(&found, section) && grade_last_line(g, found))
        return 0;
    if (extract_formula(&found, section))
        return decide_text(g, found, "The last formula, with no box and no declared answer,");
    if (extract_last_number(&found, section) && !value_is_qualified(section, found))
        return decide_text(g, found, "The last number, with no box, no declared answer and no formula,");
    return grade_no_answer(g->out, r);
}

/* Looks for the answer, strongest place first, and grades it. */
static int grade_strict(struct grading *g, const struct response *r)
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
                      const struct grade_rules *rules, struct arena *a)
{
    struct math_work w = {.arena = a, .steps = MATH_STEPS};
    struct grading g = {
        .out = out, .gold = unwrap_gold((struct span){gold, gold_len}, a), .rules = rules, .w = &w};
    int rc = grade_strict(&g, r);
    out->steps = MATH_STEPS - w.steps;
    return rc;
}
