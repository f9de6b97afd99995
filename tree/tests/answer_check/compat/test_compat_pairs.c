/* Mode compat on pairs of boxed answers: one a line, with the verdict that Math-Verify 0.8.0 gives. */
#include "tests/answer_check/answer_case.h"

static void check_pair(const char *path, int line, char *text)
{
    int equal = strstr(text, "  =>  ") != NULL;
    char *pred = case_cut(text, equal ? "  =>  " : "  !=  ");
    struct arena a = {0};
    struct grade g = {0};
    check_count++;
    if (pred) {
        const char *gold = arena_printf(&a, "\\boxed{%s}", text);
        char *boxed = arena_printf(&a, "\\boxed{%s}", pred);
        struct response r = {boxed, strlen(boxed), THINKING_AUTO, FINISH_STOP};
        grade_math_compat(&g, gold, strlen(gold), &r, &grade_options_default, &a);
    }
    if (!pred || (g.verdict == VERDICT_CORRECT) != equal) {
        check_failures++;
        fprintf(stderr, "%s:%d: %s and %s: %s\n", path, line, text, pred ? pred : "(nothing)",
                pred ? verdict_name(g.verdict) : "the row has no sign between its answers");
    }
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    cases_each_line(argv[1], check_pair);
    return check_done();
}
