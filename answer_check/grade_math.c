/* Grades mathematical answers. Where the answer stands, strongest first: the last box; the last declaration
 * ("the final answer is", "Answer:"); the whole section or else its last line, if that is one value; the last
 * formula. Only the first two are statements; at the length limit the others do not count.
 *
 * Several boxes: the last one wins. Boxes on the last box's own line are one statement: joined by commas or
 * "and" they may be the parts of a list; if they contradict one another, the answer is ambiguous. */
#include "answer_check/extract.h"
#include "answer_check/latex_clean.h"
#include "answer_check/math_value.h"

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

static int decide(struct grade *out, struct span gold, struct span pred, const char *where, struct arena *a)
{
    if (pred.n > ANSWER_MAX) {
        grade_set(out, VERDICT_WRONG, "The answer is longer than 16384 bytes.");
        out->pred_form = grade_form(a, pred.s, pred.n);
        out->gold_form = grade_form(a, gold.s, gold.n);
        return 0;
    }
    struct math_match m;
    math_compare(&m, gold, pred, a);
    grade_set(out, m.equal ? VERDICT_CORRECT : VERDICT_WRONG,
              arena_printf(a, "%s %s the reference, compared %s.", where, m.equal ? "equals" : "differs from",
                           m.how));
    out->gold_form = m.gold_form;
    out->pred_form = m.pred_form;
    return 0;
}

/* First box of the run of boxes on the last box's line. */
static size_t first_on_line(const struct box_list *boxes, struct span section)
{
    size_t first = boxes->n - 1;
    while (first) {
        size_t from = boxes->box[first - 1].end, to = boxes->box[first].start;
        if (memchr(section.s + from, '\n', to - from))
            break;
        first--;
    }
    return first;
}

static int is_separator(struct span between, struct arena *a)
{
    struct span s = latex_clean(a, between);
    for (size_t i = 0; i < s.n; i++) {
        struct span rest = {s.s + i, s.n - i};
        size_t word = span_starts(rest, "\\text{") ? 6
                      : span_starts(rest, "and")   ? 3
                      : span_starts(rest, "or")    ? 2
                                                   : 0;
        if (!word && !strchr(" ,;}", s.s[i]))
            return 0;
        i += word ? word - 1 : 0;
    }
    return 1;
}

static int grade_boxes(struct grade *out, struct span gold, struct span section, const struct box_list *boxes,
                       struct arena *a)
{
    enum { RUN_MAX = 16 };
    const struct box *last = &boxes->box[boxes->n - 1];
    size_t first = first_on_line(boxes, section);
    if (boxes->n - first > RUN_MAX)
        first = boxes->n - RUN_MAX;
    int conflict = 0, is_list = first < boxes->n - 1;
    struct str joined = {0};
    for (size_t i = first; i < boxes->n; i++) {
        const struct box *b = &boxes->box[i];
        struct math_match m = {.equal = 1};
        if (b->content.n <= ANSWER_MAX && last->content.n <= ANSWER_MAX && b != last) {
            math_compare(&m, b->content, last->content, a);
            if (!m.equal) /* x = 5 and 5 agree in either order */
                math_compare(&m, last->content, b->content, a);
        }
        conflict |= !m.equal;
        if (i > first) {
            size_t from = boxes->box[i - 1].end;
            is_list &= is_separator((struct span){section.s + from, b->start - from}, a);
            str_puts(&joined, ", ");
        }
        str_add(&joined, b->content.s, b->content.n);
    }
    int rc = 0;
    struct span all = {str_text(&joined), joined.len};
    if (conflict && is_list && all.n <= ANSWER_MAX) {
        rc = decide(out, gold, all, "The last line's boxes, read as one list:", a);
        if (out->verdict == VERDICT_CORRECT)
            conflict = 0;
    } else if (!conflict) {
        rc = decide(out, gold, last->content, boxes->n > 1 ? "The last of several boxes" : "The box", a);
    }
    if (conflict) {
        rc = grade_set(out, VERDICT_AMBIGUOUS,
                       "The last line with a box holds boxes that contradict one another.");
        out->pred_form = grade_form(a, all.s, all.n);
        out->gold_form = grade_form(a, gold.s, gold.n);
    }
    str_release(&joined);
    return rc;
}

int grade_math(struct grade *out, const char *gold_text, size_t gold_len, const struct response *r,
               struct arena *a)
{
    struct span gold = unwrap_gold((struct span){gold_text, gold_len}, a), section, found;
    if (!gold.n)
        return grade_set(out, VERDICT_ERROR, "The reference answer is empty.");
    if (gold.n > ANSWER_MAX)
        return grade_set(out, VERDICT_ERROR, "The reference answer is longer than 16384 bytes.");
    if (grade_section(out, r, &section))
        return 0;
    struct box_list boxes;
    extract_boxes(&boxes, section, a);
    if (boxes.n)
        return grade_boxes(out, gold, section, &boxes, a);
    struct declared declared;
    enum declared_status status = extract_declared(&declared, section, r->finish, a);
    if (status == DECLARED_FOUND)
        return decide(out, gold, declared.text, "The last declared answer", a);
    if (status == DECLARED_CUT || r->finish == FINISH_LENGTH)
        return grade_no_answer(out, r);
    section = span_trim(section);
    if (section.n <= MATH_INPUT_MAX) {
        struct math_match m;
        math_compare(&m, gold, section, a);
        if (m.equal || math_is_value(section, a))
            return decide(out, gold, section, "The whole answer section", a);
    }
    if (extract_last_line(&found, section) && math_is_value(found, a))
        return decide(out, gold, found, "The last line", a);
    if (extract_formula(&found, section))
        return decide(out, gold, found, "The last formula, with no box and no declared answer,", a);
    return grade_no_answer(out, r);
}
