/* Statistics against published worked examples and values computed by hand or by exact enumeration. */
#include "tests/check.h"

#include "evalcore/stats/stats.h"

static void test_distributions(void)
{
    CHECK_NEAR(stat_normal_quantile(0.975), 1.959963984540, 1e-11);
    CHECK_NEAR(stat_normal_quantile(0.8), 0.841621233573, 1e-11);
    CHECK_NEAR(stat_normal_quantile(0.5), 0, 1e-12);
    CHECK_NEAR(stat_normal_quantile(1e-6), -4.753424308823, 1e-9);
    CHECK(isnan(stat_normal_quantile(0)));
    /* any table of Student's t */
    CHECK_NEAR(stat_t_quantile(0.975, 1), 12.7062047362, 1e-8);
    CHECK_NEAR(stat_t_quantile(0.975, 2), 4.3026527297, 1e-9);
    CHECK_NEAR(stat_t_quantile(0.975, 10), 2.2281388520, 1e-9);
    CHECK_NEAR(stat_t_quantile(0.975, 29), 2.0452296421, 1e-9);
    CHECK_NEAR(stat_t_quantile(0.025, 29), -2.0452296421, 1e-9);
    CHECK_NEAR(stat_t_cdf(0, 7), 0.5, 1e-12);
    CHECK_NEAR(stat_binomial_cdf(3, 12, 0.5), 299.0 / 4096, 1e-12);
    CHECK_NEAR(stat_binomial_cdf(0, 3, 0.2), 0.512, 1e-12);
    CHECK_NEAR(stat_binomial_cdf(3, 3, 0.2), 1, 0);
    CHECK_NEAR(stat_binomial_cdf(-1, 3, 0.2), 0, 0);
    CHECK_NEAR(stat_binomial_cdf(2, 5, 1), 0, 0);
}

static void test_wilson(void)
{
    /* the three AIME scores of 30 that everybody compares */
    struct interval ci = stat_wilson(15, 30);
    CHECK_NEAR(ci.low, 0.33, 0.005);
    CHECK_NEAR(ci.high, 0.67, 0.005);
    ci = stat_wilson(16, 30);
    CHECK_NEAR(ci.low, 0.36, 0.005);
    CHECK_NEAR(ci.high, 0.70, 0.005);
    ci = stat_wilson(20, 30);
    CHECK_NEAR(ci.low, 0.49, 0.005);
    CHECK_NEAR(ci.high, 0.81, 0.005);
    /* Newcombe 1998, Stat. Med. 17:857, table I, method 3 */
    ci = stat_wilson(81, 263);
    CHECK_NEAR(ci.low, 0.2553, 5e-5);
    CHECK_NEAR(ci.high, 0.3662, 5e-5);
    ci = stat_wilson(15, 148);
    CHECK_NEAR(ci.low, 0.0624, 5e-5);
    CHECK_NEAR(ci.high, 0.1605, 5e-5);
    ci = stat_wilson(0, 20);
    CHECK_NEAR(ci.low, 0, 0);
    CHECK_NEAR(ci.high, 0.1611, 5e-5);
    ci = stat_wilson(1, 29);
    CHECK_NEAR(ci.low, 0.0061, 5e-5);
    CHECK_NEAR(ci.high, 0.1718, 5e-5);
    ci = stat_wilson(7, 7);
    CHECK_NEAR(ci.high, 1, 0);
    ci = stat_wilson(0, 0);
    CHECK(ci.low == 0 && ci.high == 1);
}

static void test_clustered(void)
{
    double one[] = {1, 0, 1, 1, 0};
    long ones[] = {1, 1, 1, 1, 1}, twos[] = {2, 2, 2};
    struct interval ci = stat_clustered(one, ones, 5, 1), w = stat_wilson(3, 5);
    CHECK(ci.low == w.low && ci.high == w.high);

    /* sums 2, 1, 0 of two samples each: variance 3/2 * 2 / 36 = 1/12, effective size (1/4) / (1/12) = 3, t(2)
     */
    double mixed[] = {2, 1, 0};
    ci = stat_clustered(mixed, twos, 3, 1);
    CHECK_NEAR(ci.low, 0.5 - 0.463829, 1e-5);
    CHECK_NEAR(ci.high, 0.5 + 0.463829, 1e-5);

    /* everything right: three problems are three observations, not six */
    double right[] = {2, 2, 2};
    ci = stat_clustered(right, twos, 3, 1);
    CHECK_NEAR(ci.low, 1 / (1 + 4.3026527297 * 4.3026527297 / 3), 1e-9);
    CHECK_NEAR(ci.high, 1, 0);

    /* samples that agree within a problem carry no more than one sample would; independent ones carry more */
    double agree[40], spread[40], single[40];
    long four[40], unit[40];
    for (int i = 0; i < 40; i++) {
        single[i] = i % 2;
        agree[i] = 4 * (i % 2);
        spread[i] = 2;
        four[i] = 4;
        unit[i] = 1;
    }
    struct interval a = stat_clustered(agree, four, 40, 1), s = stat_clustered(spread, four, 40, 1),
                    u = stat_clustered(single, unit, 40, 1);
    CHECK(a.high - a.low >= u.high - u.low);
    CHECK(s.high - s.low < a.high - a.low);
    CHECK(s.high - s.low > 0.1); /* never narrower than 160 independent answers */

    ci = stat_clustered(mixed, twos, 0, 1);
    CHECK(ci.low == 0 && ci.high == 1);
    /* fractional scores: a single one a problem is not right or wrong, so Wilson's rule does not apply */
    double f1[] = {0.5, 0.5, 0.25, 0.75};
    ci = stat_clustered(f1, ones, 4, 0);
    w = stat_wilson(2, 4);
    CHECK(ci.high - ci.low < w.high - w.low + 0.2 && ci.low > 0.1 && ci.high < 0.9);
}

static void test_mcnemar(void)
{
    CHECK_NEAR(stat_mcnemar(9, 3), 2 * 299.0 / 4096, 1e-12);
    CHECK_NEAR(stat_mcnemar(3, 9), stat_mcnemar(9, 3), 0);
    CHECK_NEAR(stat_mcnemar(5, 0), 0.0625, 1e-12);
    CHECK_NEAR(stat_mcnemar(6, 0), 0.03125, 1e-12);
    CHECK_NEAR(stat_mcnemar(4, 4), 1, 0);
    CHECK_NEAR(stat_mcnemar(0, 0), 1, 0);
}

static void test_paired(void)
{
    /* Bentur et al. 2009 (airway hyper-responsiveness), in Fagerland, Lydersen and Laake's book, table 8.7 */
    struct interval ci = stat_paired_newcombe(1, 1, 7, 12);
    CHECK_NEAR(ci.low, 0.026, 6e-4);
    CHECK_NEAR(ci.high, 0.507, 6e-4);
    struct interval back = stat_paired_newcombe(1, 7, 1, 12);
    CHECK_NEAR(back.low, -ci.high, 1e-12);
    CHECK_NEAR(back.high, -ci.low, 1e-12);
    /* 14 / 5 / 0 / 22: phi = (308 - 20.5) / sqrt(19 * 22 * 14 * 27) = 0.7233 */
    double pa = 19.0 / 41, pb = 14.0 / 41, phi = 287.5 / sqrt(19.0 * 22 * 14 * 27);
    struct interval wa = stat_wilson(19, 41), wb = stat_wilson(14, 41);
    double x = pb - wb.low, y = wa.high - pa;
    ci = stat_paired_newcombe(14, 5, 0, 22);
    CHECK_NEAR(ci.low, pb - pa - sqrt(x * x - 2 * phi * x * y + y * y), 1e-12);
    CHECK(ci.low < pb - pa && ci.high > pb - pa && ci.high < 0);
    /* equal answers are no proof of equality */
    ci = stat_paired_newcombe(63, 0, 0, 1);
    CHECK(ci.low < -0.01 && ci.high > 0.01);
    ci = stat_paired_newcombe(0, 0, 0, 0);
    CHECK(ci.low == -1 && ci.high == 1);

    double d[] = {0.1, 0.2, 0.3}, zero[30] = {0};
    ci = stat_paired_t(d, 3);
    CHECK_NEAR(ci.low, 0.2 - 0.248414, 1e-5);
    CHECK_NEAR(ci.high, 0.2 + 0.248414, 1e-5);
    ci = stat_paired_t(zero, 30);
    CHECK_NEAR(ci.high, 1 - pow(0.05, 1.0 / 30), 1e-12);
    CHECK_NEAR(ci.low, -ci.high, 0);
    ci = stat_paired_t(d, 1);
    CHECK(ci.low == -1 && ci.high == 1);

    /* in any unit: nothing is cut at 1 */
    double wide[] = {10, 20, 30};
    ci = stat_mean_t(wide, 3);
    CHECK_NEAR(ci.low, 20 - 24.8414, 1e-3);
    CHECK_NEAR(ci.high, 20 + 24.8414, 1e-3);
    ci = stat_mean_t(zero, 30);
    CHECK(isnan(ci.low) && isnan(ci.high));
    CHECK(isnan(stat_mean_t(wide, 1).low) && isnan(stat_mean_t(wide, 0).low));
}

static void test_signflip(void)
{
    enum signflip how;
    double three[] = {1, 1, 1}, d[64];
    CHECK_NEAR(stat_signflip(three, 3, 1, &how), 0.25, 1e-12);
    CHECK_INT(how, SIGNFLIP_EXACT);
    CHECK_NEAR(stat_signflip(three, 3, 0, &how), 0.25, 1e-12);
    double none[] = {0, 0};
    CHECK_NEAR(stat_signflip(none, 2, 1, &how), 1, 0);
    CHECK_NEAR(stat_signflip(none, 0, 1, &how), 1, 0);

    /* one sample a problem: it is McNemar's test */
    for (int lost = 0; lost <= 20; lost += 4)
        for (int won = 0; won <= 12; won += 3) {
            for (int i = 0; i < 64; i++)
                d[i] = i < lost ? -1 : i < lost + won ? 1 : 0;
            CHECK_NEAR(stat_signflip(d, 64, 1, &how), stat_mcnemar(lost, won), 1e-12);
        }

    /* a difference that is unknown is no hit of any size */
    double unknown[] = {1, NAN, -1};
    CHECK(isnan(stat_signflip(unknown, 3, 1, &how)) && isnan(stat_signflip(unknown, 3, 0, &how)));

    /* quarters, 15 problems: convolution equals enumeration; 40 problems: random flips come close */
    for (int i = 0; i < 40; i++)
        d[i] = ((i * 7) % 9 - 3) * 0.25;
    double exact = stat_signflip(d, 15, 0.25, &how);
    CHECK_NEAR(stat_signflip(d, 15, 0, &how), exact, 1e-12);
    CHECK_INT(how, SIGNFLIP_EXACT);
    exact = stat_signflip(d, 40, 0.25, &how);
    CHECK_INT(how, SIGNFLIP_EXACT);
    double random = stat_signflip(d, 40, 0, &how);
    CHECK_INT(how, SIGNFLIP_MONTE_CARLO);
    CHECK_NEAR(random, exact, 0.006);
    CHECK_NEAR(stat_signflip(d, 40, 0, &how), random, 0); /* the key is fixed */
}

static void test_detectable(void)
{
    /* by enumerating the trinomial distribution in exact arithmetic */
    CHECK_NEAR(stat_mdd_mcnemar(30, 0.2, 0.05), 0.2508, 5e-4);
    CHECK_NEAR(stat_mdd_mcnemar(64, 0.1, 0.05), 0.1207, 5e-4);
    CHECK_NEAR(stat_mdd_mcnemar(64, 0.3, 0.05), 0.1947, 5e-4);
    CHECK(isnan(stat_mdd_mcnemar(5, 0, 0.05)));      /* five problems can never reach 5 % */
    CHECK(isnan(stat_mdd_mcnemar(6, 0, 0.05 / 18))); /* six cannot beside 17 other comparisons: 10 can */
    /* six problems: all six must go one way, with probability ((discordance + loss) / 2)^6 */
    CHECK_NEAR(stat_mdd_mcnemar(6, 1, 0.05), 2 * pow(0.8, 1 / 6.0) - 1, 5e-4);
    CHECK_NEAR(stat_mdd_mcnemar(6, 0.5, 0.05), pow(0.8, 1 / 6.0), 5e-4);
    CHECK(stat_problems_to_differ(0.05) == 6 && stat_problems_to_differ(0.05 / 18) == 10);
    CHECK(stat_problems_to_differ(0) == -1 && stat_problems_to_differ(NAN) == -1);
    CHECK(stat_mdd_mcnemar(500, 0.06, 0.05) < 0.045);
    CHECK(isnan(stat_mdd_mcnemar(0, 0.1, 0.05)));
    CHECK_NEAR(stat_mdd_paired(30, 0.2, 0.05), (2.0452296421 + 0.8416212336) * 0.2 / sqrt(30), 1e-9);
    CHECK(isnan(stat_mdd_paired(1, 0.2, 0.05)));
}

static void test_holm(void)
{
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005}, adjusted[5];
    stat_holm(p, 5, adjusted);
    CHECK_NEAR(adjusted[0], 0.03, 1e-12);
    CHECK_NEAR(adjusted[1], 0.06, 1e-12);
    CHECK(isnan(adjusted[2]));
    CHECK_NEAR(adjusted[3], 0.06, 1e-12);
    CHECK_NEAR(adjusted[4], 0.02, 1e-12);
    double large[] = {0.9, 0.8};
    stat_holm(large, 2, adjusted);
    CHECK(adjusted[0] == 1 && adjusted[1] == 1);
}

static void test_order(void)
{
    double v[] = {1, 2, 3, 4};
    CHECK_NEAR(stat_quantile(v, 4, 0.5), 2.5, 0);
    CHECK_NEAR(stat_quantile(v, 4, 0.95), 3.85, 1e-12);
    CHECK_NEAR(stat_quantile(v, 4, 1), 4, 0);
    CHECK_NEAR(stat_quantile(v, 1, 0.3), 1, 0);
    CHECK(isnan(stat_quantile(v, 0, 0.5)));
    CHECK_NEAR(stat_sd(v, 4), sqrt(5.0 / 3), 1e-12);
    CHECK(isnan(stat_sd(v, 1)) && isnan(stat_mean(v, 0)));

    /* one of four cut off at the cap: the curve ends at 3/4 */
    struct ecdf_item cap[] = {{30, 1}, {20, 0}, {10, 0}, {20, 0}};
    struct ecdf_step steps[4];
    CHECK_INT(stat_ecdf(cap, 4, steps), 2);
    CHECK_NEAR(steps[0].x, 10, 0);
    CHECK_NEAR(steps[0].share, 0.25, 1e-12);
    CHECK_NEAR(steps[1].x, 20, 0);
    CHECK_NEAR(steps[1].share, 0.75, 1e-12);
    /* cut off in the middle: whoever is left counts for those that were cut */
    struct ecdf_item early[] = {{20, 0}, {15, 1}, {10, 0}};
    CHECK_INT(stat_ecdf(early, 3, steps), 2);
    CHECK_NEAR(steps[0].share, 1.0 / 3, 1e-12);
    CHECK_NEAR(steps[1].share, 1, 1e-12);
    /* Kaplan and Meier's own example (1958, section 2): eight times in months, four of them losses */
    struct ecdf_item months[] = {{0.8, 0}, {1.0, 1}, {2.7, 1}, {3.1, 0},
                                 {5.4, 0}, {7.0, 1}, {9.2, 0}, {12.1, 1}};
    struct ecdf_step curve[8];
    CHECK_INT(stat_ecdf(months, 8, curve), 4);
    CHECK_NEAR(1 - curve[0].share, 7.0 / 8, 1e-12);
    CHECK_NEAR(1 - curve[1].share, 7.0 / 10, 1e-12);
    CHECK_NEAR(1 - curve[2].share, 21.0 / 40, 1e-12);
    CHECK_NEAR(1 - curve[3].share, 21.0 / 80, 1e-12);
    CHECK_INT(stat_ecdf(early, 0, steps), 0);
}

static void test_null_range(void)
{
    /* 6 cells, 30 problems. Equal cells: no range. A cell that fails everywhere: far outside of chance. */
    double score[6 * 30];
    for (int c = 0; c < 6; c++)
        for (int p = 0; p < 30; p++)
            score[c * 30 + p] = p % 2;
    struct null_range g = stat_null_range(score, 6, 30);
    CHECK_NEAR(g.observed, 0, 0);
    CHECK_NEAR(g.p, 1, 0);
    CHECK_NEAR(g.median, 0, 0);
    for (int p = 0; p < 30; p++)
        score[p] = 0;
    g = stat_null_range(score, 6, 30);
    CHECK_NEAR(g.observed, 0.5, 1e-12);
    CHECK_NEAR(g.p, 1.0 / 2001, 1e-12);
    CHECK(g.median > 0.05 && g.median < g.q95 && g.q95 < 0.4);
    CHECK(isnan(stat_null_range(score, 1, 30).median));
}

/* scipy.stats.fisher_exact of SciPy 1.17.1; reaches by calling it for every count. */
static void test_fisher(void)
{
    static const struct {
        long k1, n1, k2, n2;
        double p;
    } want[] = {{8, 30, 11, 30, 0.5795597864797081},
                {8, 30, 18, 30, 0.018243850221470598},
                {2, 30, 12, 30, 0.004769170151985977},
                {30, 30, 24, 30, 0.023720703916957266},
                {0, 30, 6, 30, 0.023720703916957266},
                {121, 240, 90, 240, 0.005741398815594114},
                {465, 500, 440, 500, 0.009343937833669482},
                {3, 4, 0, 3, 1 / 7.0},
                {9, 30, 9, 30, 1},
                {15, 30, 2, 3, 1}};
    static const struct {
        long k1, n1, n2, low, high;
    } reach[] = {{11, 30, 30, 3, 20},
                 {0, 30, 30, -1, 6},
                 {15, 30, 3, -1, 4},
                 {465, 500, 500, 446, 481},
                 {1, 2, 2, -1, 3}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        CHECK_NEAR(stat_fisher(want[i].k1, want[i].n1, want[i].k2, want[i].n2), want[i].p, 1e-9);
        CHECK_NEAR(stat_fisher(want[i].k2, want[i].n2, want[i].k1, want[i].n1), want[i].p, 1e-9);
    }
    for (size_t i = 0; i < sizeof reach / sizeof *reach; i++) {
        struct stat_reach r = stat_fisher_reach(reach[i].k1, reach[i].n1, reach[i].n2);
        CHECK_INT(r.low, reach[i].low);
        CHECK_INT(r.high, reach[i].high);
    }
    CHECK(isnan(stat_fisher(4, 3, 0, 3)) && isnan(stat_fisher(0, 0, 0, 3)) &&
          isnan(stat_fisher(0, 3, -1, 3)));
    CHECK_INT(stat_fisher_reach(0, 0, 5).high, 6);
}

/* What follows from the definitions; test_fixtures.c has the rest. */
static void test_within(void)
{
    double same[100] = {0};
    for (long n = 1; n <= 100; n += 9) {
        CHECK_NEAR(stat_noninferior_binary(0, 0, n, 0.05), pow(0.95, (double)n), 1e-9);
        CHECK_NEAR(stat_noninferior_mean(same, (size_t)n, 0.05), pow(0.95, (double)n), 1e-9);
    }
    struct stratum one_each[12];
    for (int i = 0; i < 12; i++)
        one_each[i] = (struct stratum){i < 9, 1, i >= 9, 1};
    struct stat_tails t = stat_stratified(one_each, 12);
    CHECK_NEAR(t.two_sided, stat_mcnemar(9, 3), 1e-14);
    CHECK(isnan(stat_stratified(one_each, 0).lower));
}

int main(void)
{
    test_within();
    test_distributions();
    test_wilson();
    test_clustered();
    test_mcnemar();
    test_paired();
    test_signflip();
    test_detectable();
    test_holm();
    test_order();
    test_null_range();
    test_fisher();
    return check_done();
}
