/* Exact match of text. */
#include "answer_check/answer_check.h"
#include "tests/cases.h"

static void run(const struct test_case *t)
{
    const char *thinking = case_text(t, "thinking"), *finish = case_text(t, "finish"),
               *text = case_need(t, "response");
    struct arena a = {0};
    struct response r = {text, strlen(text), THINKING_AUTO, FINISH_STOP};
    struct grade g;
    if (thinking)
        r.thinking = !strcmp(thinking, "open") ? THINKING_OPEN : THINKING_NONE;
    if (finish)
        r.finish = FINISH_LENGTH;
    CHECK_INT(grade_exact(&g, case_need(t, "gold"), strlen(case_need(t, "gold")), &r, &a), 0);
    CASE_STR(t, "verdict", verdict_name(g.verdict));
    if (case_text(t, "reason"))
        CASE_STR(t, "reason", g.reason);
    CHECK_NEAR(g.score, g.verdict == VERDICT_CORRECT, 0);
    CHECK(g.gold_form && g.pred_form && strlen(g.reason) > 5);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    struct cases c;
    struct test_case t;
    cases_open(&c, argv[1]);
    while (cases_next(&c, &t))
        run(&t);
    cases_close(&c);
    return check_done();
}
