/* Verdicts of short responses, one a line: what the writing around an answer makes of it. */
#include "tests/answer_check/answer_case.h"

static void run_row(const char *path, int line, char *text)
{
    struct arena a = {0};
    struct grade g = {0};
    char *gold = case_cut(text, "|"), *pred = gold ? case_cut(gold, "|") : NULL;
    const char *cut = strstr(text, " cut"), *got = "malformed row";
    check_count++;
    if (pred) {
        case_newlines(pred);
        struct response r = {pred, strlen(pred), THINKING_AUTO, cut ? FINISH_LENGTH : FINISH_STOP};
        grade_math(&g, gold, strlen(gold), &r, &a);
        got = verdict_name(g.verdict);
    }
    size_t n = cut ? (size_t)(cut - text) : strlen(text);
    if (strlen(got) != n || strncmp(got, text, n) != 0) {
        check_failures++;
        fprintf(stderr, "%s:%d: want %s, got %s (%s)\n", path, line, text, got, pred ? g.reason : "");
    }
    arena_release(&a);
}

int main(int argc, char **argv)
{
    (void)argc;
    cases_each_line(argv[1], run_row);
    return check_done();
}
