/* Where an answer section states an answer: one row for each rule of the extractors. A section of the row
 * that is left out is not asked; "(none)" and "(cut)" stand for what is not found. */
#include "answer_check/strict/extract.h"
#include "answer_check/strict/sentence.h"
#include "tests/answer_check/answer_case.h"

static const char *text_of(struct arena *a, int found, struct span s)
{
    return found ? arena_strndup(a, s.s, s.n) : "(none)";
}

/* The contents of all boxes, one a line. */
static const char *boxes_of(struct arena *a, struct span section)
{
    struct box_list boxes;
    struct str s = {0};
    extract_boxes(&boxes, section, a);
    for (size_t i = 0; i < boxes.n; i++) {
        CHECK(boxes.box[i].end <= section.n && strchr("}>", section.s[boxes.box[i].end - 1]));
        CHECK(strchr("\\<", section.s[boxes.box[i].start]));
        str_printf(&s, "%s%.*s", i ? "\n" : "", (int)boxes.box[i].content.n, boxes.box[i].content.s);
    }
    const char *out = boxes.n ? arena_strndup(a, s.data, s.len) : "(none)";
    str_release(&s);
    return out;
}

static void run_row(const struct test_case *t)
{
    const char *text = case_need(t, "section");
    struct arena a = {0};
    struct math_work w = {.arena = &a, .steps = MATH_STEPS};
    struct span section = {text, strlen(text)}, found;
    struct declared d = {.text = {"", 0}, .line = {"", 0}};
    enum finish finish = case_text(t, "finish") ? FINISH_LENGTH : FINISH_STOP;
    if (case_text(t, "boxes"))
        CASE_STR(t, "boxes", boxes_of(&a, section));
    if (case_text(t, "declared")) {
        enum declared_status status = extract_declared(&d, section, finish, &w);
        CASE_STR(t, "declared",
                 status == DECLARED_CUT ? "(cut)" : text_of(&a, status == DECLARED_FOUND, d.text));
    }
    if (case_text(t, "line_of_it")) /* of the declaration */
        CASE_STR(t, "line_of_it", text_of(&a, 1, d.line));
    if (case_text(t, "formula")) {
        int is_found = extract_formula(&found, section);
        CASE_STR(t, "formula", text_of(&a, is_found, found));
    }
    if (case_text(t, "result")) {
        int is_found = sentence_last_result(&found, section, &w);
        CASE_STR(t, "result", text_of(&a, is_found, found));
    }
    if (case_text(t, "last_line")) {
        int is_found = extract_last_line(&found, section);
        CASE_STR(t, "last_line", text_of(&a, is_found, found));
    }
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    cases_each(argv[1], run_row);
    return check_done();
}
