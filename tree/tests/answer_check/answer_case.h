#ifndef TESTS_ANSWER_CHECK_ANSWER_CASE_H
#define TESTS_ANSWER_CHECK_ANSWER_CASE_H

#include "answer_check/answer_check.h"
#include "tests/cases.h"

/* What the tests of the graders share. They are inline because each test uses only some of them. */

/* The response of a case: its section "response", read as "thinking" says (auto when there is no such
 * section), and cut by the length limit when there is a section "finish". */
static inline struct response case_response(const struct test_case *t)
{
    const char *text = case_need(t, "response"), *thinking = case_text(t, "thinking");
    struct response r = {text, strlen(text), THINKING_AUTO, FINISH_STOP};
    if (thinking)
        r.thinking = !strcmp(thinking, "open") ? THINKING_OPEN : THINKING_NONE;
    if (case_text(t, "finish"))
        r.finish = FINISH_LENGTH;
    return r;
}

/* Compares a grade with the sections "verdict" and, where the case has it, "reason", and checks that its
 * other fields are filled. */
static inline void check_grade(const struct test_case *t, const struct grade *g)
{
    CASE_STR(t, "verdict", verdict_name(g->verdict));
    if (case_text(t, "reason"))
        CASE_STR(t, "reason", g->reason);
    CHECK_NEAR(g->score, g->verdict == VERDICT_CORRECT, 0);
    CHECK(g->gold_form && g->pred_form && strlen(g->reason) > 5);
}

#endif
