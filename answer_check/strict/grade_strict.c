/* Grades mathematical answers. Where an answer may stand, what takes it back and what ends it is written down
 * in answer_check/PLACES.md; grade_places() follows that page. */
#include "answer_check/strict/grade_strict.h"

#include <string.h>

#include "answer_check/strict/grading.h"
#include "answer_check/strict/sentence.h"
#include "answer_check/text/answer_object.h"

/* $5$, \(5\), \[5\] and \boxed{5} as a whole mean 5. latex_clean drops the former; boxes may stand in
 * text. */
static struct span unwrap_gold(struct span gold, struct arena *a)
{
    struct box_list boxes;
    gold = span_trim(gold);
    extract_boxes(&boxes, gold, a);
    return grading_parts_as_list(grading_without_announcement(boxes.n == 1 ? boxes.box[0].content : gold), a);
}

/* ---- the places, strongest first (answer_check/PLACES.md) ---- */

/* Where an answer was found. */
struct place {
    const char *rule;  /* NULL: nowhere */
    size_t start, end; /* the bytes of the statement in the section */
    struct span text;  /* what is compared, unless it is boxed */
    struct box_list boxes;
    int is_cut;   /* a statement was begun that the text ends in */
    int is_block; /* the text is a section of its own, of several lines */
};

/* The last box, or one whose last brace is missing. */
static int find_box(struct place *out, struct grading *g, struct span section, const struct response *r)
{
    struct box open;
    extract_boxes(&out->boxes, section, g->w->arena);
    if (!out->boxes.n && r->finish != FINISH_LENGTH && extract_open_box(&open, section)) {
        out->boxes = (struct box_list){arena_alloc(g->w->arena, sizeof open), 1};
        out->boxes.box[0] = open;
    }
    if (!out->boxes.n)
        return 0;
    const struct box *last = &out->boxes.box[out->boxes.n - 1];
    out->rule = "boxed";
    out->start = last->start;
    out->end = last->end;
    out->text = last->content;
    return 1;
}

/* Tags and declarations. */
static int find_declared(struct place *out, struct grading *g, struct span section, const struct response *r)
{
    struct declared declared;
    enum declared_status status = extract_declared(&declared, section, r->finish, g->w);
    out->is_cut = status == DECLARED_CUT;
    if (status != DECLARED_FOUND)
        return 0;
    out->rule = declared.rule;
    out->text = declared.text;
    out->is_block = declared.is_block;
    out->text.n = out->is_block ? declared.text.n : sentence_before_second_thought(declared.text);
    out->start = (size_t)(declared.place.s - section.s);
    out->end = out->start + (declared.place.s == out->text.s ? out->text.n : declared.place.n);
    return 1;
}

/* An object of JSON, unless a declaration follows it. *section loses an object without an answer. */
static int find_object(struct place *out, struct grading *g, struct span *section, const struct response *r)
{
    size_t start, end;
    struct span value;
    int is_cut = r->finish == FINISH_LENGTH;
    int found = memchr(section->s, '{', section->n)
                    ? answer_object(&value, &start, &end, *section, is_cut, g->w->arena)
                    : 0;
    if (!found)
        return 0;
    struct span rest = {section->s + end, section->n - end};
    if (find_declared(out, g, rest, r)) {
        out->start += end;
        out->end += end;
        return 1;
    }
    if (found < 0) {
        int is_fence = span_trim(rest).n < 4;
        *section = is_fence ? (struct span){section->s, 0} : rest;
        return 0;
    }
    *out = (struct place){.rule = "structured", .start = end, .end = end, .text = value};
    return 1;
}

/* Does the box stand in an object of JSON, as a part of what is said there beside the answer? */
static int is_box_in_object(const struct place *box, struct grading *g, struct span section,
                            const struct response *r)
{
    size_t start, end;
    struct span value;
    return span_find(section, "\":") &&
           answer_object(&value, &start, &end, section, r->finish == FINISH_LENGTH, g->w->arena) > 0 &&
           start < box->start && box->end <= end && !span_find(value, "boxed");
}

static int find_table(struct place *out, struct span *section, struct arena *a)
{
    struct span cell, list, trimmed = span_trim(*section);
    int found = trimmed.n && memchr(trimmed.s, '|', trimmed.n) ? extract_table(&cell, &list, trimmed, a) : 0;
    if (found < 0)
        return 0;
    if (!found)
        return 0;
    size_t start = (size_t)(cell.s - section->s);
    *out = (struct place){.rule = "table", .start = start, .end = section->n, .text = list.n ? list : cell};
    return 1;
}

/* Is the text a value, or one with a clause behind it: "7, not 8"? */
static int begins_with_value(struct grading *g, struct span s)
{
    static const char *const ends[] = {", ", " (", "; ", " because ", " since "};
    if (math_is_value(g->w, s))
        return 1;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        const char *end = memmem(s.s, s.n, ends[k], strlen(ends[k]));
        if (end && math_is_value(g->w, (struct span){s.s, (size_t)(end - s.s)}))
            return 1;
    }
    return 0;
}

/* Is the answer at the place taken back? What only prepares that counts where an answer follows in *rest. */
static int is_taken_back(struct grading *g, struct span *rest, struct span *by, struct span section,
                         const struct place *p, const struct response *r)
{
    struct place next = {0};
    struct span result;
    enum taken_back back = sentence_takes_back(rest, by, section, p->start, p->end, p->text);
    if (back == TAKEN_BACK_NOT || back == TAKEN_BACK)
        return back == TAKEN_BACK;
    if (find_declared(&next, g, *rest, r) && begins_with_value(g, sentence_plain(next.text, g->w)))
        return 1;
    return back == TAKEN_BACK_BY_RESULT &&
           (next.rule || sentence_last_result(&result, sentence_behind_fixing(*rest), g->w));
}

/* Looks for the answer, strongest place first; one that is taken back is looked for behind it. */
static int grade_places(struct grading *g, struct span section, const struct response *r)
{
    enum { TRIES = 8 };
    int is_back = 0;
    for (int tries = 0; tries < TRIES; tries++) {
        struct place p = {0};
        struct span rest, by;
        int found = find_box(&p, g, section, r);
        if (found && is_box_in_object(&p, g, section, r)) {
            p = (struct place){0};
            found = 0;
        }
        found = found || find_object(&p, g, &section, r) || find_declared(&p, g, section, r) ||
                find_table(&p, &section, g->w->arena);
        if (!found && (p.is_cut || r->finish == FINISH_LENGTH))
            return grade_no_answer(g->out, r);
        if (!found)
            break;
        grading_note(g, p.rule, p.text);
        if (!is_taken_back(g, &rest, &by, section, &p, r)) {
            if (p.boxes.n)
                return grade_boxes(g, section, &p.boxes);
            if (p.is_block)
                return grade_undeclared(g, p.text, r);
            grade_declared(g, p.text);
            struct span list = p.text; /* a list of JSON may be a tuple as well as an interval */
            if (g->out->verdict == VERDICT_WRONG && !strcmp(p.rule, "structured") && list.n > 2 &&
                list.s[0] == '[' && list.s[list.n - 1] == ']')
                return grading_text(g, (struct span){list.s + 1, list.n - 2}, "The structured answer");
            return 0;
        }
        grading_note_then(g, "taken back by", span_trim(by));
        section = sentence_behind_fixing(rest);
        is_back = 1;
    }
    grade_undeclared(g, section, r);
    if (is_back && g->out->verdict != VERDICT_CORRECT && g->out->verdict != VERDICT_WRONG)
        return grade_set(g->out, VERDICT_AMBIGUOUS, "The answer is taken back, and no other one follows.");
    return 0;
}

/* The section without what Markdown strikes through, "~~8~~"; a copy in the arena, or the section itself. */
static struct span without_struck(struct span s, struct arena *a)
{
    static const char mark[] = "~~";
    if (!span_find(s, mark))
        return s;
    char *out = arena_room(a, s.n + 1);
    size_t n = 0, end = 0; /* end: of the line of the last mark */
    for (size_t i = 0; i < s.n;) {
        const char *open = span_find((struct span){s.s + i, s.n - i}, mark), *close = NULL;
        size_t next = open ? (size_t)(open - s.s) : s.n;
        if (open && next >= end) {
            const char *line = memchr(open, '\n', s.n - next);
            end = line ? (size_t)(line - s.s) : s.n;
        }
        if (open && end > next + 2)
            close = span_find((struct span){open + 2, end - next - 2}, mark);
        if (open && !close) /* no other mark of the line is closed */
            next = end;
        memcpy(out + n, s.s + i, next - i);
        n += next - i;
        i = close ? (size_t)(close - s.s) + 2 : next;
    }
    return (struct span){out, n};
}

/* The section with the full-width brackets and the commas in them as ASCII ones; a copy in the arena, or the
 * section itself. */
static struct span narrow_brackets(struct span s, struct arena *a)
{
    static const char open[] = "\xef\xbc\x88", close[] = "\xef\xbc\x89", comma[] = "\xef\xbc\x8c";
    if (!span_find(s, open))
        return s;
    char *out = arena_alloc(a, s.n + 1);
    size_t n = 0;
    int depth = 0;
    for (size_t i = 0; i < s.n;) {
        int is_open = span_at(s, i, open), is_close = span_at(s, i, close);
        depth += is_open - (is_close && depth);
        if (is_open || is_close || (depth && span_at(s, i, comma))) {
            out[n++] = is_open ? '(' : is_close ? ')' : ',';
            i += 3;
        } else {
            out[n++] = s.s[i++];
        }
    }
    return (struct span){out, n};
}

/* Checks the reference and cuts thinking off. */
static int grade_strict(struct grading *g, const struct response *r)
{
    struct span section;
    if (!g->gold.n)
        return grade_set(g->out, VERDICT_ERROR, "The reference answer is empty.");
    if (g->gold.n > ANSWER_MAX)
        return grade_set(g->out, VERDICT_ERROR, "The reference answer is longer than 16384 bytes.");
    if (grade_section(g->out, r, &section))
        return 0;
    section = narrow_brackets(without_struck(section, g->w->arena), g->w->arena);
    return grade_places(g, extract_single_backslashes(section, g->w->arena), r);
}

int grade_math_strict(struct grade *out, const char *gold, size_t gold_len, const struct response *r,
                      const struct grade_rules *rules, struct arena *a)
{
    struct math_work w = {.arena = a, .steps = MATH_STEPS};
    struct grading g = {.out = out,
                        .response = r,
                        .gold = unwrap_gold((struct span){gold, gold_len}, a),
                        .rules = rules,
                        .w = &w};
    int rc = grade_strict(&g, r);
    out->steps = MATH_STEPS - w.steps;
    out->places = g.place;
    out->n_places = g.n_places;
    return rc;
}
