/* No verdict is offered that no outcome could earn, and none is withheld that one could: stat_can_differ and
 * stat_can_be_within against brute force, for 1 to 20 problems and 1 to 30 comparisons. */
#include "tests/check.h"

#include "evalcore/base/rng.h"
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

static void give_verdict(struct earned *e, double differ, double within, int is_higher)
{
    if (differ <= alpha && is_higher)
        e->higher = 1;
    else if (differ <= alpha)
        e->lower = 1;
    else if (within <= alpha)
        e->within = 1;
}

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
    give_verdict(e, differ[0], within[0], test[0].is_higher);
}

/* Holm's procedure where `others` of the tests have p = q and the rest, test 0 among them, has p. */
static double holm_of_two(double p, double q, int tests, int others)
{
    return fmin(1, !others || p <= q ? tests * p : fmax(tests * q, (tests - others) * p));
}

/* Any outcome of test 0 and as many like it as there may be, any other outcome of the rest. Those that are
 * less clear in both respects change nothing for test 0. */
static struct earned two_groups(int tests, const struct outcome *all, int k)
{
    struct earned e = {0};
    for (int a = 0; a < k && !(e.lower && e.higher && e.within); a++)
        for (int b = 0; b < k; b++) {
            int is_clearer = all[b].differ < all[a].differ || all[b].within < all[a].within;
            for (int others = b ? 1 : 0; others < (is_clearer || !b ? tests : 0); others++)
                give_verdict(&e, holm_of_two(all[a].differ, all[b].differ, tests, others),
                             holm_of_two(all[a].within, all[b].within, tests, others), all[a].is_higher);
        }
    return e;
}

/* Every combination of outcomes of up to three tests. */
static struct earned all_combinations(int tests, const struct outcome *all, int k)
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
    return e;
}

/* Outcomes at random, mostly the clear ones: none may earn what two groups cannot. */
static void some_combinations(struct rng *r, int tests, const struct outcome *all, int k, struct earned *e)
{
    struct outcome t[TESTS];
    for (int draw = 0; draw < 5; draw++) {
        for (int i = 0; i < tests; i++) {
            t[i] = all[rng_below(r, (uint32_t)k)];
            for (int try = 0; try < 6; try++) {
                const struct outcome *o = &all[rng_below(r, (uint32_t)k)];
                t[i] = o->within < t[i].within || o->differ < t[i].differ ? *o : t[i];
            }
        }
        judge(t, tests, e);
    }
}

static void compare(long n, int tests, double margin, struct earned e)
{
    int differ = stat_can_differ(n, 1, tests, alpha);
    int within = stat_can_be_within(n, 1, tests, alpha, margin);
    CHECK_INT(differ, e.lower);
    CHECK_INT(differ, e.higher);
    CHECK_INT(within, e.within);
    if (e.lower != differ || e.higher != differ || e.within != within)
        fprintf(stderr, "  with %ld problems, %d tests, margin %g\n", n, tests, margin);
}

static void test_one_sample(void)
{
    static const double margins[] = {0.05, 0.2};
    struct outcome all[OUTCOMES];
    struct rng r;
    rng_init(&r, 1, 0);
    for (size_t m = 0; m < 2; m++)
        for (long n = 1; n <= PROBLEMS; n++) {
            int k = outcomes_of(n, margins[m], all);
            for (int tests = 1; tests <= TESTS; tests++) {
                struct earned e = two_groups(tests, all, k);
                some_combinations(&r, tests, all, k, &e);
                compare(n, tests, margins[m], e);
            }
            for (int tests = 1; tests <= 3 && n <= (tests < 3 ? 8 : 4); tests++)
                compare(n, tests, margins[m], all_combinations(tests, all, k));
        }
}

/* Several samples: the clearest loss is everything right before and nothing after; without any difference
 * "within" holds where Holm's first step does. */
static void test_several_samples(void)
{
    struct stratum lost[PROBLEMS];
    double same[PROBLEMS] = {0};
    for (long samples = 2; samples <= 8; samples *= 2)
        for (long n = 1; n <= PROBLEMS; n++) {
            for (long i = 0; i < n; i++)
                lost[i] = (struct stratum){samples, samples, 0, samples};
            double differ = stat_stratified(lost, (size_t)n).two_sided;
            double within = stat_noninferior_mean(same, (size_t)n, 0.2);
            for (int tests = 1; tests <= TESTS; tests++) {
                CHECK_INT(stat_can_differ(n, samples, tests, alpha), tests * differ <= alpha);
                CHECK_INT(stat_can_be_within(n, samples, tests, alpha, 0.2), tests * within <= alpha);
            }
        }
}

int main(void)
{
    test_one_sample();
    test_several_samples();
    CHECK(!stat_can_differ(0, 1, 1, alpha) && !stat_can_differ(20, 0, 1, alpha) &&
          !stat_can_differ(20, 1, 0, alpha));
    CHECK(!stat_can_be_within(0, 1, 1, alpha, 0.2) && !stat_can_be_within(20, 1, 1, alpha, 0));
    return check_done();
}
