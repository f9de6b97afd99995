/* Exact match of text. */
#include "tests/answer_check/answer_case.h"

static void run_row(const struct test_case *t)
{
    struct response r = case_response(t);
    struct arena a = {0};
    struct grade g;
    CHECK_INT(grade_exact(&g, case_need(t, "gold"), strlen(case_need(t, "gold")), &r, &a), 0);
    check_grade(t, &g);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    cases_each(argv[1], run_row);
    return check_done();
}
