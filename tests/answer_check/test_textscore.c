/* Token F1. */
#include "answer_check/answer_check.h"
#include "tests/cases.h"

int main(int argc, char **argv)
{
    (void)argc;
    struct cases c;
    int line;
    char *want;
    cases_open(&c, argv[1]);
    while ((want = cases_line(&c, &line))) {
        char *pred = case_cut(want, "|"), *gold = pred ? case_cut(pred, "|") : NULL;
        double got = -1;
        if (!gold) {
            fprintf(stderr, "%s:%d: not a case\n", argv[1], line);
            return 1;
        }
        CHECK_INT(textscore(&got, "qa_f1_score", pred, strlen(pred), gold, strlen(gold)), 0);
        check_count++;
        if (fabs(got - strtod(want, NULL)) > 1e-15) {
            check_failures++;
            fprintf(stderr, "%s:%d: want %s, got %.17g\n", argv[1], line, want, got);
        }
    }
    cases_close(&c);

    double s = -1;
    CHECK(textscore_known("qa_f1_score"));
    CHECK(!textscore_known("rouge_score"));
    CHECK(textscore(&s, "rouge_score", "a", 1, "a", 1) != 0);
    CHECK_STR(textscore_names(), "qa_f1_score");
    /* invalid UTF-8 and a NUL are part of a word: one of two words is common */
    CHECK_INT(textscore(&s, "qa_f1_score", "cat \xff\0dog", 9, "cat", 3), 0);
    CHECK_NEAR(s, 2.0 / 3, 1e-15);
    return check_done();
}
