/* Submissions beside what LiveCodeBench's own grader said of them (judge.test). */
#include "code_check/code_check.h"
#include "tests/cases.h"
#include "tests/code_check/needs_sandbox.h"

enum { TESTS_MAX = 3 };

static const char *said(enum code_end end)
{
    switch (end) {
    case CODE_PASSED:
        return "pass";
    case CODE_WRONG:
        return "-2";
    case CODE_TIME:
        return "-3";
    case CODE_RAISED:
        return "-4";
    default:
        return "died";
    }
}

static void run_row(const struct test_case *t)
{
    const char *want = case_need(t, "said"), *ours = case_text(t, "ours");
    struct code_limits limits = code_limits_default;
    struct code_test test[TESTS_MAX];
    struct code_tests tests = {.test = test, .call = case_text(t, "call")};
    struct code_outcome out = {0};
    struct arena a = {0};
    struct err e = {0};
    if (!strcmp(want, "-3")) { /* it never ends */
        limits.cpu_seconds = 1;
        limits.wall_seconds = 3;
    }
    for (int i = 0; i < TESTS_MAX; i++) {
        char in[8], to[8];
        snprintf(in, sizeof in, "in%d", i + 1);
        snprintf(to, sizeof to, "out%d", i + 1);
        if (!case_text(t, in))
            break;
        const char *input = case_need(t, in), *output = case_need(t, to);
        test[tests.n++] = (struct code_test){input, output, strlen(input), strlen(output)};
    }
    const char *code = case_need(t, "code");
    CHECK_INT(code_run(&out, &tests, code, strlen(code), &limits, &a, &e), 0);
    const char *got = said(out.end);
    /* a SystemExit that ends the original's process is just raised here */
    int same = ours ? !strncmp(ours, got, strlen(got))
                    : !strcmp(got, want) || (!strcmp(want, "died") && out.end == CODE_RAISED);
    if (!same)
        fprintf(stderr, "%s:%d: %s: %s, want %s: %s %s\n", t->path, t->line, t->name, got, ours ? ours : want,
                out.why, out.got);
    CHECK(same);
    CHECK(strstr(out.runtime, "Python 3") != NULL);
    CHECK_INT(out.n_tests, tests.n);
    CHECK(out.end != CODE_PASSED || out.n_passed == tests.n);
    arena_release(&a);
}

int main(int argc, char **argv)
{
    needs_sandbox();
    cases_each(argc > 1 ? argv[1] : NULL, run_row);
    return check_done();
}
