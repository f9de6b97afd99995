/* Option letters: the data file tests extraction, the functions here test verdicts. */
#include "answer_check/answer_check.h"
#include "tests/cases.h"

static enum verdict verdict_of(char gold, const char *text, enum thinking thinking, enum finish finish,
                               int n_options)
{
    struct arena a = {0};
    struct grade g;
    struct response r = {text, strlen(text), thinking, finish};
    CHECK_INT(grade_choice(&g, gold, &r, n_options, &a), 0);
    CHECK(strlen(g.reason) > 5);
    CHECK_NEAR(g.score, g.verdict == VERDICT_CORRECT, 0);
    enum verdict v = g.verdict;
    arena_release(&a);
    return v;
}

static void check_verdicts(void)
{
    CHECK_INT(verdict_of('B', "Answer: B", THINKING_AUTO, FINISH_STOP, 4), VERDICT_CORRECT);
    CHECK_INT(verdict_of('B', "Answer: A", THINKING_AUTO, FINISH_STOP, 4), VERDICT_WRONG);
    CHECK_INT(verdict_of('B', "Answer: A or B", THINKING_AUTO, FINISH_STOP, 4), VERDICT_AMBIGUOUS);
    CHECK_INT(verdict_of('B', "Answer: B", THINKING_OPEN, FINISH_STOP, 4), VERDICT_UNFINISHED);
    CHECK_INT(verdict_of('B', "Answer: B", THINKING_OPEN, FINISH_LENGTH, 4), VERDICT_UNFINISHED);
    CHECK_INT(verdict_of('B', "x</think>Answer: B", THINKING_OPEN, FINISH_LENGTH, 4), VERDICT_CORRECT);
    CHECK_INT(verdict_of('B', "x</think>Option B might", THINKING_OPEN, FINISH_LENGTH, 4), VERDICT_TRUNCATED);
    CHECK_INT(verdict_of('B', "x</think>", THINKING_OPEN, FINISH_LENGTH, 4), VERDICT_TRUNCATED);
    CHECK_INT(verdict_of('B', "x</think>", THINKING_OPEN, FINISH_STOP, 4), VERDICT_UNPARSED);
    /* at the length limit a final "a" may be the start of any word; in marks it is complete */
    CHECK_INT(verdict_of('A', "The mass must be a", THINKING_AUTO, FINISH_LENGTH, 4), VERDICT_TRUNCATED);
    CHECK_INT(verdict_of('A', "Answer: a", THINKING_AUTO, FINISH_LENGTH, 4), VERDICT_TRUNCATED);
    CHECK_INT(verdict_of('A', "Answer: (a", THINKING_AUTO, FINISH_LENGTH, 4), VERDICT_TRUNCATED);
    CHECK_INT(verdict_of('A', "Answer: (a)", THINKING_AUTO, FINISH_LENGTH, 4), VERDICT_CORRECT);
    CHECK_INT(verdict_of('A', "Answer: a", THINKING_AUTO, FINISH_STOP, 4), VERDICT_CORRECT);
    CHECK_INT(verdict_of('E', "Answer: B", THINKING_AUTO, FINISH_STOP, 4), VERDICT_ERROR);
    CHECK_INT(verdict_of('B', "Answer: B", THINKING_AUTO, FINISH_STOP, 0), VERDICT_ERROR);
    CHECK_INT(verdict_of('B', "Answer: B", THINKING_AUTO, FINISH_STOP, 27), VERDICT_ERROR);
}

int main(int argc, char **argv)
{
    (void)argc;
    struct cases cs;
    int line;
    char *want;
    cases_open(&cs, argv[1]);
    while ((want = cases_line(&cs, &line))) {
        char *options = case_cut(want, "|"), *text = options ? case_cut(options, "|") : NULL;
        struct arena a = {0};
        struct choice c = {0};
        check_count++;
        if (!text) {
            fprintf(stderr, "%s:%d: not a case\n", argv[1], line);
            return 1;
        }
        case_newlines(text);
        struct response r = {text, strlen(text), THINKING_AUTO, FINISH_STOP};
        choice_extract(&c, &r, (int)strtol(options, NULL, 10), &a);
        char got[2] = {c.letter, 0};
        const char *is = c.letter ? got : choice_status_name(c.status);
        if (strcmp(want, is) != 0 && (c.letter || strcmp(want, "none") != 0)) {
            check_failures++;
            fprintf(stderr, "%s:%d: want %s, got %s%s (%s)\n", argv[1], line, want, got,
                    choice_status_name(c.status), c.rule);
        }
        arena_release(&a);
    }
    cases_close(&cs);
    check_verdicts();
    return check_done();
}
