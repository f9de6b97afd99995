/* Verdicts of whole responses. */
#include "tests/answer_check/answer_case.h"

static void check_names(void)
{
    static const char *const want[] = {"correct",    "wrong",     "ambiguous", "unparsed",
                                       "unfinished", "truncated", "error"};
    for (int i = 0; i < VERDICT_COUNT; i++) {
        enum verdict v = VERDICT_COUNT;
        CHECK_STR(verdict_name((enum verdict)i), want[i]);
        CHECK(verdict_find(want[i], &v));
        CHECK_INT(v, i);
    }
    enum verdict v;
    CHECK(!verdict_find("right", &v));
    CHECK(strlen(answer_check_version()) > 0);
}

static void run_row(const struct test_case *t)
{
    struct response r = case_response(t);
    struct arena a = {0};
    struct grade g;
    CHECK_INT(grade_math(&g, case_need(t, "gold"), strlen(case_need(t, "gold")), &r, &a), 0);
    check_grade(t, &g);
    if (case_text(t, "pred"))
        CASE_STR(t, "pred", g.pred_form);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    check_names();
    cases_each(argv[1], run_row);
    return check_done();
}
