/* How often each test errs at a nominal 5 % where its hypothesis holds, and how often it finds a difference
 * where there is one. Non-inferiority is tried where the loss is exactly the margin, the hardest case. */
#include <math.h>

#include "evalcore/bench/sim.h"
#include "evalcore/stats/stats.h"

enum { N_MAX = SIM_PROBLEMS_MAX, SHAPES = 3 };
static const double level = 0.05, margin = 0.05;

/* ---- the data: rates of Beta(1/2, 1/2) before; after, by shape
 *   0  every problem loses the same share of its rate
 *   1  few problems lose everything
 *   2  many gain as many others lose, and `loss` besides */
static void draw_rates(struct rng *r, int n, int shape, double loss, double *before, double *after)
{
    for (int i = 0; i < n; i++) {
        double p = sim_beta(r, 0.5, 1);
        before[i] = after[i] = p;
        if (shape == 0)
            after[i] = p * (1 - 2 * loss);
        else if (shape == 1)
            after[i] = rng_unit(r) < 2 * loss ? 0 : p;
        else
            after[i] = (1 - 2 * loss) * sim_beta(r, 0.5, 1);
    }
}

/* The same rates on both sides of each problem, or with shape 2 those that are the same only on average. */
static void draw_strata(struct rng *r, int n, int shape, double loss, long n_a, long n_b, struct stratum *s)
{
    double before[N_MAX], after[N_MAX];
    draw_rates(r, n, shape, loss, before, after);
    for (int i = 0; i < n; i++)
        s[i] = (struct stratum){sim_binomial(r, n_a, before[i]), n_a, sim_binomial(r, n_b, after[i]), n_b};
}

/* For tests that take the problems as given: the loss is exact on them. */
static void draw_given(struct rng *r, int n, int shape, long n_a, long n_b, struct stratum *s)
{
    double before[N_MAX], mean = 0, left = margin * n;
    for (int i = 0; i < n; i++)
        mean += (before[i] = sim_beta(r, 0.5, 1)) / n;
    for (int i = 0; i < n; i++) {
        double lost = shape == 0 ? before[i] * fmin(1, margin / mean) : fmin(before[i], left);
        left -= lost;
        s[i] = (struct stratum){sim_binomial(r, n_a, before[i]), n_a,
                                sim_binomial(r, n_b, fmax(0, before[i] - lost)), n_b};
    }
}

static void stratum_differences(const struct stratum *s, int n, double *d)
{
    for (int i = 0; i < n; i++)
        d[i] = (double)s[i].b / (double)s[i].n_b - (double)s[i].a / (double)s[i].n_a;
}

static void count_discordant(const struct stratum *s, int n, long *only_a, long *only_b)
{
    *only_a = *only_b = 0;
    for (int i = 0; i < n; i++) {
        *only_a += s[i].a > s[i].b;
        *only_b += s[i].b > s[i].a;
    }
}

/* ---- the tests: the p value of one simulated comparison */

static double p_mcnemar(struct rng *r, int n, int shape)
{
    struct stratum s[N_MAX];
    long a, b;
    draw_strata(r, n, shape, 0, 1, 1, s);
    count_discordant(s, n, &a, &b);
    return stat_mcnemar(a, b);
}

/* Its hypothesis is the same rate on every problem: shapes are numbers of samples. */
static double p_stratified(struct rng *r, int n, int shape)
{
    static const long before[SHAPES] = {1, 8, 64}, after[SHAPES] = {1, 8, 16};
    struct stratum s[N_MAX];
    draw_strata(r, n, 0, 0, before[shape], after[shape], s);
    return stat_stratified(s, (size_t)n).two_sided;
}

static double p_signflip(struct rng *r, int n, int shape)
{
    struct stratum s[N_MAX];
    double d[N_MAX];
    enum signflip how;
    draw_strata(r, n, shape, 0, 4, 4, s);
    stratum_differences(s, n, d);
    return stat_signflip(d, (size_t)n, 0.25, &how);
}

static double p_noninferior_binary(struct rng *r, int n, int shape)
{
    struct stratum s[N_MAX];
    long a, b;
    draw_strata(r, n, shape, margin, 1, 1, s);
    count_discordant(s, n, &a, &b);
    return stat_noninferior_binary(a, b, n, margin);
}

static double p_noninferior_mean(struct rng *r, int n, int shape)
{
    struct stratum s[N_MAX];
    double d[N_MAX];
    draw_strata(r, n, shape, margin, 4, 4, s);
    stratum_differences(s, n, d);
    return stat_noninferior_mean(d, (size_t)n, margin);
}

static double p_noninferior_strata(struct rng *r, int n, int shape)
{
    struct stratum s[N_MAX];
    draw_given(r, n, shape == 1, shape == 2 ? 8 : 64, shape == 2 ? 8 : 16, s);
    return stat_noninferior_strata(s, (size_t)n, margin);
}

static double p_null_range(struct rng *r, int n, int shape)
{
    double score[6 * N_MAX];
    for (int i = 0; i < n; i++) {
        double p = sim_beta(r, 0.5, shape);
        for (int c = 0; c < 6; c++)
            score[c * n + i] = (double)sim_binomial(r, 1, p);
    }
    return stat_null_range(score, 6, (size_t)n).p;
}

static const struct {
    const char *name;
    double (*p)(struct rng *r, int n, int shape);
    int divisor; /* comparisons drawn: 2 * nights / divisor, so that slow tests have fewer */
    int largest; /* problems */
} tests[] = {{"mcnemar", p_mcnemar, 1, N_MAX},
             {"stratified", p_stratified, 1, N_MAX},
             {"signflip", p_signflip, 1, N_MAX},
             {"noninferior_binary", p_noninferior_binary, 2, N_MAX},
             {"noninferior_mean", p_noninferior_mean, 1, N_MAX},
             {"noninferior_strata", p_noninferior_strata, 1, N_MAX},
             {"null_range", p_null_range, 4, 60}};
enum { TESTS = sizeof tests / sizeof *tests };

struct column {
    int test, n, shape;
};

static void compare_one(struct rng *r, const void *what, double sums[SIM_SUMS])
{
    const struct column *c = what;
    sums[0] += tests[c->test].p(r, c->n, c->shape) <= level;
}

static double rejected_percent(const struct sim *sim, int test, int size, int shape)
{
    struct column c = {test, sim_sizes[size], shape};
    double sums[SIM_SUMS];
    int draws = sim->nights * 2 / tests[test].divisor;
    if (c.n > 100)
        draws /= 2;
    sim_count(sim, 2000 + (test * SIM_SIZES + size) * SHAPES + shape, draws, compare_one, &c, sums);
    return 100 * sums[0] / draws;
}

void sim_errors(const struct sim *sim)
{
    sim_heading("what the tests call at 5 % although it is not so, in percent: the highest of three shapes",
                10);
    for (int test = 0; test < TESTS; test++) {
        char line[160];
        int at = snprintf(line, sizeof line, "%-20s", tests[test].name);
        for (int size = 0; size < SIM_SIZES && sim_sizes[size] <= tests[test].largest; size++) {
            double worst = 0;
            for (int shape = 0; shape < SHAPES; shape++)
                worst = fmax(worst, rejected_percent(sim, test, size, shape));
            at += snprintf(line + at, sizeof line - (size_t)at, "%10.1f", worst);
            sim_print(sim, worst, "%", 100 * level, "error of %s, %d problems, highest of %d shapes",
                      tests[test].name, sim_sizes[size], SHAPES);
        }
        sim_print_row("%s", line);
    }
}
