/* No verdict is offered that no outcome could earn, and none is withheld that one could: stat_can_differ and
 * stat_can_be_within against brute force, for 2 to 20 problems and 1 to 30 comparisons. */
#include "tests/check.h"

#include "evalcore/stats/stats.h"

enum { PROBLEMS = 20, TESTS = 30, OUTCOMES = (PROBLEMS + 1) * (PROBLEMS + 2) / 2 };
static const double alpha = 0.05;

struct outcome {
    double differ, within;
    int is_higher; /* which way the difference points */
};

static int outcomes_of(long n, double margin, struct outcome *out)
{
    int k = 0;
    for (long x = 0; x <= n; x++)
        for (long y = 0; x + y <= n; y++)
            out[k++] = (struct outcome){stat_mcnemar(x, y), stat_noninferior_binary(x, y, n, margin), y > x};
    return k;
}

struct earned {
    int lower, higher, within;
};

/* The verdict of test 0, by Holm's procedure itself. */
static void judge(const struct outcome *test, int n, struct earned *e)
{
    double p[TESTS], differ[TESTS], within[TESTS];
    for (int i = 0; i < n; i++)
        p[i] = test[i].differ;
    stat_holm(p, (size_t)n, differ);
    for (int i = 0; i < n; i++)
        p[i] = test[i].within;
    stat_holm(p, (size_t)n, within);
    if (differ[0] <= alpha && test[0].is_higher)
        e->higher = 1;
    else if (differ[0] <= alpha)
        e->lower = 1;
    else if (within[0] <= alpha)
        e->within = 1;
}

static void compare(long n, int tests, double margin, struct earned e)
{
    int differ = stat_can_differ(n, 1, tests, alpha);
    int within = stat_can_be_within(n, 1, tests, alpha, margin);
    CHECK_INT(e.lower, differ);
    CHECK_INT(e.higher, differ);
    CHECK_INT(e.within, within);
    if (e.lower != differ || e.within != within)
        fprintf(stderr, "  with %ld problems, %d tests, margin %g\n", n, tests, margin);
}

/* Every combination of outcomes of up to three tests. */
static void test_all_combinations(long n, int tests, double margin, const struct outcome *all, int k)
{
    struct outcome t[3];
    struct earned e = {0};
    for (int a = 0; a < k; a++)
        for (int b = 0; b < (tests > 1 ? k : 1); b++)
            for (int c = 0; c < (tests > 2 ? k : 1); c++) {
                t[0] = all[a];
                t[1] = all[b];
                t[2] = all[c];
                judge(t, tests, &e);
            }
    compare(n, tests, margin, e);
}

/* Every outcome of test 0; no, one, half or all of the others have any other outcome, the rest are like it.
 */
static void test_two_groups(long n, int tests, double margin, const struct outcome *all, int k)
{
    struct outcome t[TESTS];
    struct earned e = {0};
    const int others[] = {0, 1, tests / 2, tests - 1};
    for (int g = 0; g < 4; g++)
        for (int a = 0; a < k; a++)
            for (int b = 0; b < (others[g] ? k : 1); b++) {
                for (int i = 0; i < tests; i++)
                    t[i] = i < tests - others[g] ? all[a] : all[b];
                judge(t, tests, &e);
            }
    compare(n, tests, margin, e);
}

int main(void)
{
    static const double margins[] = {0.05, 0.2};
    struct outcome all[OUTCOMES];
    for (size_t m = 0; m < 2; m++)
        for (long n = 2; n <= PROBLEMS; n++) {
            int k = outcomes_of(n, margins[m], all);
            test_all_combinations(n, 1, margins[m], all, k);
            test_all_combinations(n, 2, margins[m], all, k);
            if (n <= 6)
                test_all_combinations(n, 3, margins[m], all, k);
            for (int tests = 3; tests <= TESTS; tests += n <= 8 ? 1 : 9)
                test_two_groups(n, tests, margins[m], all, k);
        }
    return check_done();
}
