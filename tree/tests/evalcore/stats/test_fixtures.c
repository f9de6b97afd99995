/* evalcore/stats against SciPy, statsmodels, exact fractions and plain enumeration: fixtures.py computes the
 * rows of fixtures.test, "NAME ARGUMENTS == RESULTS". */
#include <omp.h>

#include "tests/cases.h"

#include "evalcore/stats/stats.h"

enum { VALUES_MAX = 128 };

static int put_two(double *out, double a, double b)
{
    out[0] = a;
    out[1] = b;
    return 2;
}

static int put_one(double *out, double v)
{
    out[0] = v;
    return 1;
}

static int put_interval(double *out, struct interval ci)
{
    return put_two(out, ci.low, ci.high);
}

/* clang-format off */
static int run_normal_quantile(const double *v, int n, double *out) { (void)n; return put_one(out, stat_normal_quantile(v[0])); }
static int run_t_quantile(const double *v, int n, double *out) { (void)n; return put_one(out, stat_t_quantile(v[0], v[1])); }
static int run_t_cdf(const double *v, int n, double *out) { (void)n; return put_one(out, stat_t_cdf(v[0], v[1])); }
static int run_binomial_cdf(const double *v, int n, double *out) { (void)n; return put_one(out, stat_binomial_cdf((long)v[0], (long)v[1], v[2])); }
static int run_wilson(const double *v, int n, double *out) { (void)n; return put_interval(out, stat_wilson(v[0], v[1])); }
static int run_clopper_pearson(const double *v, int n, double *out) { (void)n; return put_interval(out, stat_clopper_pearson((long)v[0], (long)v[1])); }
static int run_pass_at_k(const double *v, int n, double *out) { (void)n; return put_one(out, stat_pass_at_k((long)v[0], (long)v[1], (long)v[2])); }
static int run_fisher(const double *v, int n, double *out) { (void)n; return put_one(out, stat_fisher((long)v[0], (long)v[1], (long)v[2], (long)v[3])); }
static int run_mcnemar(const double *v, int n, double *out) { (void)n; return put_one(out, stat_mcnemar((long)v[0], (long)v[1])); }
static int run_newcombe(const double *v, int n, double *out) { (void)n; return put_interval(out, stat_paired_newcombe((long)v[0], (long)v[1], (long)v[2], (long)v[3])); }
static int run_noninferior_binary(const double *v, int n, double *out) { (void)n; return put_one(out, stat_noninferior_binary((long)v[0], (long)v[1], (long)v[2], v[3])); }
static int run_noninferior_mean(const double *v, int n, double *out) { return put_one(out, stat_noninferior_mean(v + 1, (size_t)n - 1, v[0])); }
static int run_mdd_mcnemar(const double *v, int n, double *out) { (void)n; return put_one(out, stat_mdd_mcnemar((long)v[0], v[1], v[2])); }
static int run_holm(const double *v, int n, double *out) { stat_holm(v, (size_t)n, out); return n; }
static int run_benjamini_hochberg(const double *v, int n, double *out) { stat_benjamini_hochberg(v, (size_t)n, out); return n; }
/* clang-format on */

static int run_majority(const double *v, int n, double *out)
{
    long votes[VALUES_MAX];
    for (int i = 2; i < n; i++)
        votes[i - 2] = (long)v[i];
    return put_one(out, stat_majority_at_k(votes, (size_t)n - 2, (size_t)v[1], (long)v[0]));
}

static int run_average(const double *v, int n, double *out)
{
    int cluster[VALUES_MAX], m = (int)v[0];
    (void)n;
    for (int i = 0; i < m; i++)
        cluster[i] = (int)v[1 + i];
    struct stat_average a = stat_average(v + 1 + m, cluster, (size_t)m);
    put_two(out, a.mean, a.se);
    put_interval(out + 2, a.ci);
    out[4] = (double)a.n_clusters;
    return 5;
}

static int run_clustered(const double *v, int n, double *out)
{
    long count[VALUES_MAX];
    int m = (int)v[0];
    (void)n;
    for (int i = 0; i < m; i++)
        count[i] = (long)v[2 + m + i];
    return put_interval(out, stat_clustered(v + 2, count, (size_t)m, (int)v[1]));
}

static int run_ecdf(const double *v, int n, double *out)
{
    struct ecdf_item item[VALUES_MAX];
    struct ecdf_step step[VALUES_MAX];
    int m = (int)v[0];
    (void)n;
    for (int i = 0; i < m; i++)
        item[i] = (struct ecdf_item){v[1 + i], v[1 + m + i] != 0};
    int steps = (int)stat_ecdf(item, (size_t)m, step);
    for (int i = 0; i < steps; i++)
        put_two(out + 2 * i, step[i].x, step[i].share);
    return 2 * steps;
}

static int run_fisher_reach(const double *v, int n, double *out)
{
    struct stat_reach r = stat_fisher_reach((long)v[0], (long)v[1], (long)v[2]);
    (void)n;
    return put_two(out, (double)r.low, (double)r.high);
}

static double mean_of(const void *data, const unsigned *pick, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((const double *)data)[pick[i]];
    return sum / (double)n;
}

static int run_bootstrap(const double *v, int n, double *out)
{
    return put_interval(out, stat_bootstrap(mean_of, v, (size_t)n, 400000, 3));
}

static size_t read_strata(const double *v, int n, struct stratum *s)
{
    for (int i = 0; i + 3 < n; i += 4)
        s[i / 4] = (struct stratum){(long)v[i], (long)v[i + 1], (long)v[i + 2], (long)v[i + 3]};
    return (size_t)n / 4;
}

static int run_stratified(const double *v, int n, double *out)
{
    struct stratum s[VALUES_MAX];
    struct stat_tails t = stat_stratified(s, read_strata(v, n, s));
    out[2] = t.two_sided;
    put_two(out, t.lower, t.higher);
    return 3;
}

static int run_noninferior_strata(const double *v, int n, double *out)
{
    struct stratum s[VALUES_MAX];
    return put_one(out, stat_noninferior_strata(s, read_strata(v + 1, n - 1, s), v[0]));
}

/* Exact by convolution, and by enumeration where the unit is unknown. */
static int run_signflip(const double *v, int n, double *out)
{
    enum signflip how;
    double by_grid = stat_signflip(v + 1, (size_t)n - 1, v[0], &how);
    CHECK_NEAR(stat_signflip(v + 1, (size_t)n - 1, 0, &how), by_grid, 1e-12);
    return put_one(out, by_grid);
}

static size_t read_points(const double *v, int n, struct stat_point *p)
{
    for (int i = 0; i + 1 < n; i += 2)
        p[i / 2] = (struct stat_point){v[i], v[i + 1]};
    return (size_t)n / 2;
}

static int run_frontier(const double *v, int n, double *out)
{
    struct stat_point p[VALUES_MAX];
    size_t kept = stat_frontier(p, read_points(v, n, p));
    for (size_t i = 0; i < kept; i++)
        put_two(out + 2 * i, p[i].x, p[i].y);
    return 2 * (int)kept;
}

static int run_frontier_margin(const double *v, int n, double *out)
{
    struct stat_point p[VALUES_MAX];
    size_t all = read_points(v + 1, n - 1, p), first = (size_t)v[0];
    return put_one(out, stat_frontier_margin(p, first, p + first, all - first));
}

static int run_cusum(const double *v, int n, double *out)
{
    struct stat_cusum c = {v[0], v[1], 0, 0};
    int alarm = 0;
    for (int i = 2; i < n; i++)
        alarm = stat_cusum_add(&c, v[i]);
    return put_two(out, alarm, fmax(c.low, c.high));
}

/* Tolerances are relative to results above 1. Those of an optimiser, a bisection of 12 steps, resamples at
 * random and a printed table are wider. */
static const struct {
    const char *name;
    int (*run)(const double *v, int n, double *out);
    double tolerance;
} functions[] = {
#define F(name, tolerance)                                                                                   \
    {                                                                                                        \
#name, run_##name, tolerance                                                                         \
    }
    F(normal_quantile, 1e-10),
    F(t_quantile, 1e-9),
    F(t_cdf, 1e-11),
    F(binomial_cdf, 1e-11),
    F(wilson, 1e-11),
    F(clopper_pearson, 1e-10),
    F(pass_at_k, 1e-11),
    F(majority, 1e-11),
    F(average, 1e-9),
    F(bootstrap, 1e-2),
    F(clustered, 1e-9),
    F(ecdf, 1e-11),
    F(fisher, 1e-9),
    F(fisher_reach, 0),
    F(mcnemar, 1e-11),
    F(stratified, 1e-11),
    F(signflip, 1e-11),
    F(newcombe, 1e-11),
    F(noninferior_binary, 1e-7),
    F(noninferior_mean, 1e-7),
    F(noninferior_strata, 1e-6),
    F(mdd_mcnemar, 3e-4),
    F(holm, 1e-11),
    F(benjamini_hochberg, 1e-11),
    F(frontier, 1e-11),
    F(frontier_margin, 1e-11),
    F(cusum, 5e-3),
#undef F
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };
static int rows[FUNCTIONS];

static int read_values(const char *text, double *v)
{
    int n = 0;
    for (char *end; n < VALUES_MAX; text = end) {
        v[n] = strtod(text, &end);
        if (end == text)
            break;
        n++;
    }
    return n;
}

static void run_row(const char *path, int line, char *text)
{
    double in[VALUES_MAX], want[VALUES_MAX], got[VALUES_MAX] = {0};
    char *right = case_cut(text, "=="), *args = case_cut(text, " ");
    int f = 0;
    while (f < FUNCTIONS && strcmp(functions[f].name, text))
        f++;
    CHECK(f < FUNCTIONS && right);
    if (f == FUNCTIONS || !right)
        return;
    int n_in = args ? read_values(args, in) : 0, n_want = read_values(right, want);
    int n = functions[f].run(in, n_in, got), ok = n == n_want && n > 0;
    for (int i = 0; i < n && ok; i++)
        ok = isnan(want[i]) ? isnan(got[i])
                            : fabs(got[i] - want[i]) <= functions[f].tolerance * fmax(1, fabs(want[i]));
    CHECK(ok);
    if (!ok)
        fprintf(stderr, "  %s:%d: %s gives %.12g %.12g %.12g, want %s\n", path, line, text, got[0], got[1],
                got[2], right);
    rows[f]++;
}

/* ---- what is no row */

/* The same bits on any number of threads, and close to Student's interval where that is right. */
static void test_bootstrap(void)
{
    double v[40];
    for (int i = 0; i < 40; i++)
        v[i] = stat_normal_quantile((i + 0.5) / 40);
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    struct interval alone = stat_bootstrap(mean_of, v, 40, 4000, 7);
    omp_set_num_threads(3);
    struct interval three = stat_bootstrap(mean_of, v, 40, 4000, 7);
    omp_set_num_threads(threads);
    CHECK(alone.low == three.low && alone.high == three.high);
    struct interval t = stat_mean_t(v, 40), other = stat_bootstrap(mean_of, v, 40, 4000, 8);
    CHECK_NEAR(alone.low, t.low, 0.06 * (t.high - t.low));
    CHECK_NEAR(alone.high, t.high, 0.06 * (t.high - t.low));
    CHECK(other.low != alone.low);
    CHECK(isnan(stat_bootstrap(mean_of, v, 1, 100, 7).low));
}

/* The boundaries of the gate's looks: a level that is met is a regression, the margin must be ruled out by
 * more than its own, and nothing is never a pass. */
static void test_looks(void)
{
    static const double fail_p[] = {0.0006, 0.015, 0.045}, pass_p[] = {0.02, 0.02, 0.05};
    for (int i = 0; i < STAT_LOOKS; i++) {
        const struct stat_look *look = &stat_looks[i];
        CHECK_INT(look->samples, 4 << i);
        CHECK_INT(stat_look_rule(look, fail_p[i], 0), STAT_REGRESSION);
        CHECK_INT(stat_look_rule(look, fail_p[i] + 1e-9, pass_p[i] - 1e-9), STAT_WITHIN);
        CHECK_INT(stat_look_rule(look, fail_p[i] + 1e-9, pass_p[i] + 1e-9), STAT_UNDECIDED);
        CHECK_INT(stat_look_rule(look, NAN, NAN), STAT_UNDECIDED);
    }
}

int main(int argc, char **argv)
{
    cases_each_line(argc > 1 ? argv[1] : NULL, run_row);
    for (int f = 0; f < FUNCTIONS; f++) {
        CHECK(rows[f] > 0);
        if (!rows[f])
            fprintf(stderr, "  no row tests %s\n", functions[f].name);
    }
    test_bootstrap();
    test_looks();
    return check_done();
}
