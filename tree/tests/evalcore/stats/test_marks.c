/* No difference is offered that no outcome could earn, and none is withheld that one could: stat_can_differ
 * against brute force, for 1 to 20 problems and 1 to 30 comparisons. What reports mark is tested in
 * ../report/test_report_marks.c. */
#include "tests/check.h"

#include "evalcore/stats/stats.h"

enum { PROBLEMS = 20, TESTS = 30, OUTCOMES = (PROBLEMS + 1) * (PROBLEMS + 2) / 2 };
static const double alpha = 0.05;

struct outcome {
    double p;
    int is_higher; /* which way the difference points */
};

static int outcomes_of(long n, struct outcome *out)
{
    int k = 0;
    for (long x = 0; x <= n; x++)
        for (long y = 0; x + y <= n; y++)
            out[k++] = (struct outcome){stat_mcnemar(x, y), y > x};
    return k;
}

struct earned {
    int lower, higher;
};

/* The verdict of test 0, by Holm's procedure itself. */
static void judge_outcomes(const struct outcome *test, int n, struct earned *e)
{
    double p[TESTS], adjusted[TESTS];
    for (int i = 0; i < n; i++)
        p[i] = test[i].p;
    stat_holm(p, (size_t)n, adjusted);
    e->higher |= adjusted[0] <= alpha && test[0].is_higher;
    e->lower |= adjusted[0] <= alpha && !test[0].is_higher;
}

/* Any outcome of test 0, any other of `others` tests and that of test 0 of the rest. */
static struct earned two_groups(int tests, const struct outcome *all, int k)
{
    struct earned e = {0};
    for (int a = 0; a < k; a++)
        for (int b = 0; b < k && all[a].p <= alpha; b++)
            for (int others = 0; others<tests; others += tests> 4 ? tests / 4 : 1) {
                struct outcome t[TESTS];
                for (int i = 0; i < tests; i++)
                    t[i] = i && i <= others ? all[b] : all[a];
                judge_outcomes(t, tests, &e);
            }
    return e;
}

/* Every combination of outcomes of up to three tests. */
static struct earned all_combinations(int tests, const struct outcome *all, int k)
{
    struct earned e = {0};
    for (int a = 0; a < k; a++)
        for (int b = 0; b < (tests > 1 ? k : 1); b++)
            for (int c = 0; c < (tests > 2 ? k : 1); c++) {
                struct outcome t[] = {all[a], all[b], all[c]};
                judge_outcomes(t, tests, &e);
            }
    return e;
}

static void compare_earned(long n, int tests, struct earned e)
{
    int differ = stat_can_differ(n, 1, tests, alpha);
    CHECK_INT(differ, e.lower);
    CHECK_INT(differ, e.higher);
    if (e.lower != differ || e.higher != differ)
        fprintf(stderr, "  with %ld problems, %d tests\n", n, tests);
}

static void test_one_sample(void)
{
    struct outcome all[OUTCOMES];
    for (long n = 1; n <= PROBLEMS; n++) {
        int k = outcomes_of(n, all);
        for (int tests = 1; tests <= TESTS; tests += check_small() ? 7 : 1)
            compare_earned(n, tests, two_groups(tests, all, k));
        for (int tests = 1; tests <= 3 && n <= (tests < 3 ? 8 : 4); tests++)
            compare_earned(n, tests, all_combinations(tests, all, k));
    }
}

/* Several samples: the clearest loss is everything right before and nothing after. */
static void test_several_samples(void)
{
    struct stratum lost[PROBLEMS];
    for (long samples = 2; samples <= 8; samples *= 2)
        for (long n = 1; n <= PROBLEMS; n++) {
            for (long i = 0; i < n; i++)
                lost[i] = (struct stratum){samples, samples, 0, samples};
            double differ = stat_stratified(lost, (size_t)n).two_sided;
            for (int tests = 1; tests <= TESTS; tests++)
                CHECK_INT(stat_can_differ(n, samples, tests, alpha), tests * differ <= alpha);
        }
}

int main(void)
{
    test_one_sample();
    test_several_samples();
    CHECK(!stat_can_differ(0, 1, 1, alpha) && !stat_can_differ(20, 0, 1, alpha) &&
          !stat_can_differ(20, 1, 0, alpha));
    return check_done();
}
