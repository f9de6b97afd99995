/* Grades boxes (contract: grading.h). Of several boxes the last one wins. Boxes on its line that only commas,
 * "and" or names join to it are one statement: the parts of a list, or else, if they contradict one another,
 * the answer is ambiguous. */
#include "answer_check/strict/grading.h"

#include <string.h>

#include "answer_check/strict/sentence.h"
#include "answer_check/text/latex_clean.h"

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

/* Grades boxes of labelled parts, "(a) \boxed{3} (b) \boxed{5}", as one list. Returns 1 when it decides: they
 * are the reference, or the last one alone would be. */
static int grade_parts(struct grading *g, struct span section, const struct box_list *boxes)
{
    struct str joined = {0};
    int differ = 0;
    size_t n = grading_box_parts(section, boxes), first = boxes->n - n;
    if (!n || boxes->box[boxes->n - 1].content.n > ANSWER_MAX)
        return 0;
    struct answer last = answer_read(g->w, boxes->box[boxes->n - 1].content);
    for (size_t i = first; i < boxes->n; i++) {
        str_printf(&joined, "%s\\text{(%c) }%.*s", i > first ? ",\\ " : "", 'a' + (int)(i - first),
                   (int)boxes->box[i].content.n, boxes->box[i].content.s);
        differ |= !boxes_agree(g, boxes->box[i].content, &last);
    }
    struct span all = {arena_strndup(g->w->arena, str_text(&joined), joined.len), joined.len};
    str_release(&joined);
    if (all.n > ANSWER_MAX)
        return 0;
    struct answer pred = answer_read(g->w, all);
    struct answer_match m = grading_compare(g, &pred);
    if (m.equal)
        return !grading_decide(g, &pred, &m, "The boxes of the parts, read as one list,");
    if (!differ || !grading_compare(g, &last).equal)
        return 0;
    return !grading_as_text(g, all, VERDICT_AMBIGUOUS, "The box is one of several labelled parts.");
}

/* Grades the run of boxes that the last box ends. */
static int grade_run(struct grading *g, struct span section, const struct box_list *boxes)
{
    struct arena *a = g->w->arena;
    struct span last_text =
        grading_parts_as_list(grading_without_announcement(boxes->box[boxes->n - 1].content), a);
    struct str joined = {0};
    int conflict = 0, rc = 0;
    if (last_text.n > ANSWER_MAX) /* which is a run by itself */
        return grading_too_long(g, last_text);
    struct answer last = answer_read(g->w, extract_single_backslashes(last_text, a));
    for (size_t i = first_of_run(boxes, section, a); i < boxes->n; i++) {
        const struct box *b = &boxes->box[i];
        conflict = conflict || (i + 1 < boxes->n && !boxes_agree(g, b->content, &last));
        if (joined.len)
            str_puts(&joined, ", ");
        str_add(&joined, b->content.s, b->content.n);
    }
    struct span all = {str_text(&joined), joined.len};
    if (!conflict) {
        rc = grading_answer(g, &last, boxes->n > 1 ? "The last of several boxes" : "The box");
    } else {
        rc = grading_text(g, all, "The last line's boxes, read as one list:");
        if (g->out->verdict != VERDICT_CORRECT)
            rc = grading_as_text(g, all, VERDICT_AMBIGUOUS,
                                 "The last line with a box holds boxes that contradict one another.");
    }
    str_release(&joined);
    return rc;
}

/* Grades the text if it is the reference. Returns 1 where it is. */
static int passes(struct grading *g, struct span text, const char *what)
{
    struct answer pred = answer_read(g->w, text);
    struct answer_match m = grading_compare(g, &pred);
    return m.equal ? !grading_decide(g, &pred, &m, what) : 0;
}

/* Grades the box with the percent sign behind it, if the reference has one too. Returns 1 where both are
 * equal. */
static int grade_percent(struct grading *g, struct span section, const struct box *box)
{
    size_t i = box->end;
    while (i < section.n && strchr("$ ,", section.s[i]) && i - box->end < 4)
        i++;
    i += i < section.n && section.s[i] == '\\';
    if (i >= section.n || section.s[i] != '%' || !memchr(g->gold.s, '%', g->gold.n) ||
        box->content.n > ANSWER_MAX)
        return 0;
    const char *text = arena_printf(g->w->arena, "%.*s\\%%", (int)box->content.n, box->content.s);
    return passes(g, (struct span){text, strlen(text)}, "The box with the percent sign behind it");
}

/* Grades the box of a name with the value that stands behind it, "\\boxed{x} = 12". Returns 1 where it is the
 * reference. */
static int grade_named(struct grading *g, struct span section, const struct box *box)
{
    enum { NAME_MAX = 12, VALUE_MAX = 200 };
    struct span formula, name = box->content, rest = {section.s + box->end, section.n - box->end};
    int has_sign = name.n && name.s[name.n - 1] == '=';
    for (size_t i = 0; i < name.n; i++)
        if (!ascii_is_letter(name.s[i]) && !ascii_is_digit(name.s[i]) && !strchr("_{}\\= ", name.s[i]))
            return 0;
    if (!name.n || name.n > NAME_MAX || ascii_is_digit(name.s[0]))
        return 0;
    if (extract_formula_around(&formula, section, box->start, box->end))
        rest.n = (size_t)(formula.s + formula.n - rest.s);
    const char *line = memchr(rest.s, '\n', rest.n);
    rest.n = line ? (size_t)(line - rest.s) : rest.n;
    rest = span_trim(rest);
    while (rest.n && (rest.s[0] == '$' || ascii_is_space(rest.s[0])))
        rest = (struct span){rest.s + 1, rest.n - 1};
    while (rest.n && strchr("$.* ", rest.s[rest.n - 1]))
        rest.n--;
    if (!rest.n || rest.n > VALUE_MAX || (!has_sign && rest.s[0] != '='))
        return 0;
    const char *text = arena_printf(g->w->arena, "%.*s%.*s", (int)name.n, name.s, (int)rest.n, rest.s);
    struct span whole = {text, strlen(text)};
    if (!math_is_value(g->w, whole))
        return 0;
    return passes(g, whole, "The name in the box with the value behind it");
}

/* Grades boxes that colons join, "\\boxed{3}:\\boxed{4}", as a ratio, and what stands behind "yes" in the
 * last one. Returns 1 where it is the reference. */
static int grade_joined(struct grading *g, struct span section, const struct box_list *boxes)
{
    static const char yes[] = "\\text{yes, }";
    struct span text = boxes->box[boxes->n - 1].content;
    if (text.n > sizeof yes && span_starts(text, yes)) {
        text = span_trim((struct span){text.s + sizeof yes - 1, text.n - (sizeof yes - 1)});
    } else {
        const char *ratio = NULL;
        for (size_t k = boxes->n - 1; k > 0; k--) {
            const struct box *b = &boxes->box[k - 1];
            struct span between = span_trim((struct span){section.s + b->end, boxes->box[k].start - b->end});
            if (!span_is(between, ":") && !span_is(between, "\\colon") && !span_is(between, "$:$"))
                break;
            if (!ratio)
                ratio = arena_strndup(g->w->arena, text.s, text.n);
            ratio = arena_printf(g->w->arena, "%.*s:%s", (int)b->content.n, b->content.s, ratio);
        }
        if (!ratio)
            return 0;
        text = (struct span){ratio, strlen(ratio)};
    }
    if (text.n > ANSWER_MAX)
        return 0;
    return passes(g, text, "The last line's boxes");
}

/* Grades the box with what stands around it in its formula where the reference is a congruence,
 * "x \\equiv \\boxed{5} \\pmod{11}". Returns 1 where it is the reference. */
static int grade_congruence(struct grading *g, struct span section, const struct box *box)
{
    struct span formula;
    if (!memmem(g->gold.s, g->gold.n, "mod", 3) ||
        !extract_formula_around(&formula, section, box->start, box->end) || formula.n > ANSWER_MAX)
        return 0;
    struct span behind = {section.s + box->end, (size_t)(formula.s + formula.n - section.s) - box->end};
    if (!memmem(behind.s, behind.n, "mod", 3))
        return 0;
    const char *text = arena_printf(g->w->arena, "%.*s%.*s%.*s", (int)(section.s + box->start - formula.s),
                                    formula.s, (int)box->content.n, box->content.s, (int)behind.n, behind.s);
    return passes(g, (struct span){text, strlen(text)}, "The box in its congruence");
}

/* Grades boxes that one sentence joins, "the mean is \\boxed{6} and the deviation is \\boxed{2}", if they are
 * the reference as one list. Returns 1 when they are. */
static int grade_sentence(struct grading *g, struct span section, const struct box_list *boxes)
{
    enum { BOXES = 4, BETWEEN = 80 };
    static const char turning[] =
        "so|thus|hence|therefore|then|answer|which|that|gives|giving|total|result|if|when|not|"
        "or|case|but|get|we|is wrong|instead|because|since|from|implies";
    struct str joined = {0};
    size_t first = boxes->n - 1;
    if (!memchr(g->gold.s, ',', g->gold.n))
        return 0;
    while (first && boxes->n - first < BOXES) {
        size_t from = boxes->box[first - 1].end;
        struct span between = {section.s + from, boxes->box[first].start - from};
        if (between.n > BETWEEN || memchr(between.s, '\n', between.n) ||
            memmem(between.s, between.n, ". ", 2) || sentence_says(between, turning) ||
            !(sentence_says(between, "and") || (first + 1 < boxes->n && memchr(between.s, ',', between.n))))
            break;
        first--;
    }
    if (first + 1 >= boxes->n)
        return 0;
    for (size_t i = first; i < boxes->n; i++) {
        str_printf(&joined, "%s\\text{(%c) }%.*s", i > first ? ",\\ " : "", 'a' + (int)(i - first),
                   (int)boxes->box[i].content.n, boxes->box[i].content.s);
    }
    struct span all = {arena_strndup(g->w->arena, str_text(&joined), joined.len), joined.len};
    str_release(&joined);
    if (all.n > ANSWER_MAX)
        return 0;
    return passes(g, all, "The boxes of the sentence, read as one list,");
}

/* Does the last box hold in one of several cases, "\\boxed{2} if a > 1, and \\boxed{1} if a < 1"? */
static int is_in_case(struct grading *g, struct span section, const struct box_list *boxes)
{
    enum { REACH = 400 };
    const struct box *last = &boxes->box[boxes->n - 1], *before = last - 1;
    size_t from = before->start, to = last->end;
    struct answer value = answer_read(g->w, last->content);
    if (last->start - before->end > REACH || memchr(g->gold.s, ',', g->gold.n) ||
        boxes_agree(g, before->content, &value))
        return 0;
    while (from && before->start - from < REACH && section.s[from - 1] != '\n')
        from--;
    while (to < section.n && to - last->end < REACH && section.s[to] != '\n')
        to++;
    return sentence_gives_cases((struct span){section.s + from, to - from});
}

/* The boxes, alone and as the formulas around them make them. Where only the boxes alone are the reference,
 * the box and its surroundings state two things. */
int grade_boxes(struct grading *g, struct span section, const struct box_list *boxes)
{
    struct box_list read;
    if (boxes->n > 1 && grade_parts(g, section, boxes))
        return 0;
    int rc = grade_run(g, section, boxes);
    if (boxes->n > 1 && g->out->verdict == VERDICT_CORRECT && is_in_case(g, section, boxes))
        return grading_as_text(g, boxes->box[boxes->n - 1].content, VERDICT_AMBIGUOUS,
                               "The box holds in one of several cases.");
    if (g->out->verdict == VERDICT_WRONG && (grade_percent(g, section, &boxes->box[boxes->n - 1]) ||
                                             grade_named(g, section, &boxes->box[boxes->n - 1]) ||
                                             grade_congruence(g, section, &boxes->box[boxes->n - 1]) ||
                                             (boxes->n > 1 && grade_sentence(g, section, boxes))))
        return 0;
    if (g->out->verdict != VERDICT_CORRECT && grade_joined(g, section, boxes))
        return 0;
    struct grade alone = *g->out;
    if (!extract_box_contexts(&read, section, boxes, g->w))
        return rc;
    grade_run(g, section, &read);
    if (g->out->verdict == VERDICT_CORRECT)
        return rc;
    if (alone.verdict == VERDICT_CORRECT)
        return grading_as_text(g, read.box[read.n - 1].content, VERDICT_AMBIGUOUS,
                               "The box equals the reference, but not with what stands beside it.");
    *g->out = alone;
    return rc;
}
