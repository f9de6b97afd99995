/* The nightly gate on simulated problems: a frozen baseline of 64 samples a problem, a new build that is as
 * good, worse or better by a known number of points, and stat_look_decide at the gate's looks. */
#include <math.h>

#include "evalcore/bench/sim.h"
#include "evalcore/stats/stats.h"

enum { PROBLEMS_MAX = 120, BASELINE = 64, FROZEN = 50, FROZEN_NIGHTS = 400 };
static const double margin = 0.05;

/* Where the change lies: every problem loses the same share of its rate (gains the same share of what it
 * lacks), or some problems are lost altogether and the others untouched. */
enum change { SPREAD, COLLAPSE };

static const struct scene {
    int problems;
    double change;
    enum change where;
    const char *name;
    double fails; /* promised, in percent: at most 5, or at least 85; 0: nothing */
} scenes[] = {
    {60, 0, SPREAD, "no change", 5},
    {60, -0.03, SPREAD, "3 points lower", 0},
    {60, -0.05, SPREAD, "5 points lower", 85},
    {60, -0.05, COLLAPSE, "5 points lower on few problems", 85},
    {60, -0.10, SPREAD, "10 points lower", 85},
    {60, 0.05, SPREAD, "5 points higher", 5},
    {30, 0, SPREAD, "no change", 5},
    {30, -0.05, SPREAD, "5 points lower", 0},
    {30, -0.10, SPREAD, "10 points lower", 0},
    {120, 0, SPREAD, "no change", 5},
    {120, -0.05, SPREAD, "5 points lower", 85},
};
enum { N_SCENES = sizeof scenes / sizeof *scenes };

struct problems {
    int n;
    double before[PROBLEMS_MAX], after[PROBLEMS_MAX]; /* the true rates */
    struct stratum s[PROBLEMS_MAX];                   /* with the baseline's answers */
};

/* Rates of Beta(1/2, 1/2), most of them near 0 or 1 as on AIME; the change is exact on these problems. */
static void draw_problems(struct rng *r, const struct scene *scene, struct problems *p)
{
    double mean = 0, left = -scene->change * scene->problems;
    p->n = scene->problems;
    for (int i = 0; i < p->n; i++)
        mean += p->before[i] = sim_beta(r, 0.5, 1);
    mean /= p->n;
    for (int i = 0; i < p->n; i++) {
        double rate = p->before[i];
        if (scene->where == COLLAPSE) {
            double lost = fmin(rate, left);
            p->after[i] = rate - lost;
            left -= lost;
        } else if (scene->change < 0) {
            p->after[i] = rate * fmax(0, 1 + scene->change / mean);
        } else {
            p->after[i] = rate + (1 - rate) * fmin(1, scene->change / (1 - mean));
        }
    }
    for (int i = 0; i < p->n; i++)
        p->s[i] = (struct stratum){.a = sim_binomial(r, BASELINE, p->before[i]), .n_a = BASELINE};
}

/* One night: answers are drawn look by look until the gate knows. */
static enum stat_decision run_night(struct rng *r, const struct problems *p, int *samples)
{
    struct stratum s[PROBLEMS_MAX];
    for (int i = 0; i < p->n; i++)
        s[i] = p->s[i];
    enum stat_decision d = STAT_UNDECIDED;
    *samples = 0;
    for (int k = 0; k < STAT_LOOKS && d == STAT_UNDECIDED; k++) {
        int more = stat_looks[k].samples - *samples;
        *samples = stat_looks[k].samples;
        for (int i = 0; i < p->n; i++) {
            s[i].b += sim_binomial(r, more, p->after[i]);
            s[i].n_b = *samples;
        }
        d = stat_look_decide(&stat_looks[k], s, (size_t)p->n, margin);
    }
    return d;
}

static void print_figure(const struct sim *sim, const struct scene *scene, double value, const char *unit,
                         double target, const char *what)
{
    sim_print(sim, value, unit, target, "gate, %d problems, %s: %s", scene->problems, scene->name, what);
}

enum { FAILS, PASSES, SAMPLES };

static void count_night(struct rng *r, const struct problems *p, double sums[SIM_SUMS])
{
    int used;
    enum stat_decision d = run_night(r, p, &used);
    sums[FAILS] += d == STAT_REGRESSION;
    sums[PASSES] += d == STAT_WITHIN;
    sums[SAMPLES] += used;
}

/* Every night has problems and a baseline of its own, so the sums are averages over both. */
static void new_night(struct rng *r, const void *scene, double sums[SIM_SUMS])
{
    struct problems p;
    draw_problems(r, scene, &p);
    count_night(r, &p, sums);
}

static void frozen_night(struct rng *r, const void *problems, double sums[SIM_SUMS])
{
    count_night(r, problems, sums);
}

static void run_scene(const struct sim *sim, int at)
{
    const struct scene *scene = &scenes[at];
    double sums[SIM_SUMS];
    sim_count(sim, 1 + at, sim->nights, new_night, scene, sums);
    double share = 100.0 / sim->nights;
    double fail = share * sums[FAILS], pass = share * sums[PASSES], none = 100 - fail - pass;
    double mean = sums[SAMPLES] / sim->nights;
    sim_say("%8d  %-31s %10.1f %10.1f %10.1f %10.1f", scene->problems, scene->name, fail, pass, fmax(0, none),
            mean);
    print_figure(sim, scene, fail, "%", scene->fails, "called a regression");
    print_figure(sim, scene, pass, "%", 0, "called within 5 points");
    print_figure(sim, scene, fmax(0, none), "%", 0, "inconclusive");
    print_figure(sim, scene, mean, "samples", 0, "samples until it knows");
}

/* A frozen baseline errs the same way every night. How differently do baselines do without any change? */
static void run_frozen(const struct sim *sim)
{
    int nights = sim->nights < FROZEN_NIGHTS ? sim->nights : FROZEN_NIGHTS;
    double rate[FROZEN];
    for (int k = 0; k < FROZEN; k++) {
        struct rng r;
        struct problems p;
        double sums[SIM_SUMS];
        rng_init(&r, sim->seed, (uint64_t)(100 + k) << 32);
        draw_problems(&r, &scenes[0], &p);
        sim_count(sim, 200 + k, nights, frozen_night, &p, sums);
        rate[k] = 100 * sums[FAILS] / nights;
    }
    double mean = stat_mean(rate, FROZEN);
    stat_sort(rate, FROZEN);
    double high = stat_quantile(rate, FROZEN, 0.9);
    sim_say(
        "%8d  of %d baselines, each frozen for %d nights without a change: false alarms %.1f %% on average, "
        "%.1f %% or more for one in ten",
        scenes[0].problems, FROZEN, nights, mean, high);
    sim_print(sim, mean, "%", 5, "gate, frozen baselines: false alarms, mean of %d", FROZEN);
    sim_print(sim, high, "%", 0, "gate, frozen baselines: false alarms, one in ten has more");
}

void sim_gate(const struct sim *sim)
{
    sim_say("the gate, %d nights a row: baseline of %d samples, looks at %d, %d and %d", sim->nights,
            BASELINE, stat_looks[0].samples, stat_looks[1].samples, stat_looks[2].samples);
    sim_say("problems  truth                           regression     within  undecided    samples");
    for (int i = 0; i < N_SCENES; i++)
        run_scene(sim, i);
    run_frozen(sim);
}
