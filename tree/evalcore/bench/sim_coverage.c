/* How often the 95 % intervals hold the true value, for 6 to 500 problems and several shapes of the truth.
 * The truth is drawn anew for every sample, within the limits of its shape: coverage at a single value of a
 * proportion jumps up and down with it, and nobody knows the value. */
#include <math.h>

#include "evalcore/bench/sim.h"
#include "evalcore/stats/stats.h"

enum { N_MAX = SIM_PROBLEMS_MAX, SHAPES = 5, SAMPLES = 4, REPLICATES = 1000 };

struct drawn {
    struct interval ci;
    double truth;
};

/* ---- one group */

static struct drawn draw_share(struct rng *r, int n, int shape, int is_exact)
{
    static const double from[SHAPES + 1] = {0, 0.1, 0.3, 0.7, 0.9, 1};
    double p = from[shape] + (from[shape + 1] - from[shape]) * rng_unit(r);
    long k = sim_binomial(r, n, p);
    return (struct drawn){is_exact ? stat_clopper_pearson(k, n) : stat_wilson((double)k, n), p};
}

static struct drawn draw_wilson(struct rng *r, int n, int shape)
{
    return draw_share(r, n, shape, 0);
}

static struct drawn draw_clopper_pearson(struct rng *r, int n, int shape)
{
    return draw_share(r, n, shape, 1);
}

/* Four samples a problem, at the last shape one to seven. */
static struct drawn draw_clustered(struct rng *r, int n, int shape)
{
    static const double mean[SHAPES] = {0.5, 0.25, 0.9, 0.7, 0.5}, weight[SHAPES] = {1, 1, 1, 0, 1};
    double sum[N_MAX];
    long count[N_MAX];
    for (int i = 0; i < n; i++) {
        count[i] = shape == SHAPES - 1 ? 1 + (long)rng_below(r, 7) : SAMPLES;
        sum[i] = (double)sim_binomial(r, count[i], sim_beta(r, mean[shape], weight[shape]));
    }
    return (struct drawn){stat_clustered(sum, count, (size_t)n, 1), mean[shape]};
}

/* Values in any unit: normal; lengths, whose logarithm is normal with a spread of 0.6; uniform; two values a
 * group of normal groups; the same with lengths. */
static void draw_values(struct rng *r, int n, int shape, double *v, int *group)
{
    double of_group = 0;
    for (int i = 0; i < n; i++) {
        if (i % 2 == 0)
            of_group = sim_normal(r);
        double z = sim_normal(r);
        group[i] = shape < 3 ? i : i / 2;
        v[i] = shape == 0   ? z
               : shape == 1 ? exp(0.6 * z)
               : shape == 2 ? rng_unit(r) - 0.5
               : shape == 3 ? of_group + z
                            : exp(0.6 * (of_group + z) / sqrt(2));
    }
}

static double true_mean(int shape)
{
    return shape == 1 || shape == 4 ? exp(0.18) : 0;
}

static struct drawn draw_average(struct rng *r, int n, int shape)
{
    double v[N_MAX];
    int group[N_MAX];
    draw_values(r, n, shape, v, group);
    return (struct drawn){stat_average(v, group, (size_t)n).ci, true_mean(shape)};
}

/* ---- two groups on the same problems: the second solves a share `lost` less of each */

static const struct {
    double mean, weight, lost;
} pairs[SHAPES] = {{0.5, 1, 0}, {0.5, 1, 0.2}, {0.9, 1, 0}, {0.9, 1, 0.1}, {0.3, 0, 0.5}};

static struct drawn draw_newcombe(struct rng *r, int n, int shape)
{
    long table[2][2] = {{0}};
    for (int i = 0; i < n; i++) {
        double p = sim_beta(r, pairs[shape].mean, pairs[shape].weight);
        long a = sim_binomial(r, 1, p), b = sim_binomial(r, 1, p * (1 - pairs[shape].lost));
        table[a][b]++;
    }
    return (struct drawn){stat_paired_newcombe(table[1][1], table[1][0], table[0][1], table[0][0]),
                          -pairs[shape].mean * pairs[shape].lost};
}

static double draw_differences(struct rng *r, int n, int shape, double *d)
{
    for (int i = 0; i < n; i++) {
        double p = sim_beta(r, pairs[shape].mean, pairs[shape].weight);
        long a = sim_binomial(r, SAMPLES, p), b = sim_binomial(r, SAMPLES, p * (1 - pairs[shape].lost));
        d[i] = (double)(b - a) / SAMPLES;
    }
    return -pairs[shape].mean * pairs[shape].lost;
}

static struct drawn draw_paired_t(struct rng *r, int n, int shape)
{
    double d[N_MAX], truth = draw_differences(r, n, shape, d);
    return (struct drawn){stat_paired_t(d, (size_t)n), truth};
}

static double mean_of_picked(const void *data, const unsigned *pick, size_t n)
{
    const double *v = data;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[pick[i]];
    return sum / (double)n;
}

/* Three shapes of single values, two of differences. */
static struct drawn draw_bootstrap(struct rng *r, int n, int shape)
{
    double v[N_MAX], truth = true_mean(shape);
    int group[N_MAX];
    if (shape < 3)
        draw_values(r, n, shape, v, group);
    else
        truth = draw_differences(r, n, shape == 3 ? 0 : 1, v);
    uint64_t seed = (uint64_t)rng_u32(r) << 32 | rng_u32(r);
    return (struct drawn){stat_bootstrap(mean_of_picked, v, (size_t)n, REPLICATES, seed), truth};
}

static const struct {
    const char *name;
    struct drawn (*draw)(struct rng *r, int n, int shape);
    int per_night; /* samples for each night asked for */
} intervals[] = {{"wilson", draw_wilson, 10},           {"clopper_pearson", draw_clopper_pearson, 10},
                 {"clustered", draw_clustered, 5},      {"average", draw_average, 5},
                 {"paired_newcombe", draw_newcombe, 5}, {"paired_t", draw_paired_t, 5},
                 {"bootstrap", draw_bootstrap, 1}};
enum { INTERVALS = sizeof intervals / sizeof *intervals };

struct column {
    int interval, n, shape;
};

static void draw_one(struct rng *r, const void *what, double sums[SIM_SUMS])
{
    const struct column *c = what;
    struct drawn d = intervals[c->interval].draw(r, c->n, c->shape);
    sums[0] += d.ci.low - 1e-9 <= d.truth && d.truth <= d.ci.high + 1e-9;
    sums[1] += !isnan(d.ci.low);
}

/* Percent of the samples whose interval holds the truth; samples that give no interval do not count. */
static double coverage_percent(const struct sim *sim, int interval, int size, int shape)
{
    struct column c = {interval, sim_sizes[size], shape};
    double sums[SIM_SUMS];
    int samples = sim->nights * intervals[interval].per_night;
    /* nobody waits for the last digits of the largest ones */
    sim_count(sim, 1000 + (interval * SIM_SIZES + size) * SHAPES + shape, c.n > 100 ? samples / 2 : samples,
              draw_one, &c, sums);
    return 100 * sums[0] / sums[1];
}

void sim_coverage(const struct sim *sim)
{
    sim_heading("coverage of the 95 % intervals in percent: mean over five shapes of the truth (lowest)", 14);
    for (int which = 0; which < INTERVALS; which++) {
        char line[160];
        int at = snprintf(line, sizeof line, "%-20s", intervals[which].name);
        for (int size = 0; size < SIM_SIZES; size++) {
            double sum = 0, lowest = 100;
            for (int shape = 0; shape < SHAPES; shape++) {
                double c = coverage_percent(sim, which, size, shape);
                sum += c;
                lowest = fmin(lowest, c);
            }
            at += snprintf(line + at, sizeof line - (size_t)at, "%7.1f (%4.1f)", sum / SHAPES, lowest);
            sim_print(sim, sum / SHAPES, "%", 95, "coverage of %s, %d problems", intervals[which].name,
                      sim_sizes[size]);
            sim_print(sim, lowest, "%", 0, "coverage of %s, %d problems, lowest of %d shapes",
                      intervals[which].name, sim_sizes[size], SHAPES);
        }
        sim_print_row("%s", line);
    }
}
