/* The nightly gate on simulated problems: a frozen baseline of 64 samples a problem and a new build that is
 * as good, worse or better by a known number of points, under one setting or several, judged by gate_decide
 * itself. Its guards see nothing: lengths, reads and failures do not change here. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/bench/sim.h"
#include "evalcore/gate/gate.h"

enum { PROBLEMS_MAX = 120, SETTINGS_MAX = 6, BASELINE = 64, FROZEN = 50, FROZEN_NIGHTS = 400 };
enum { ANSWERS_MAX = 16, TASKS = 2 }; /* a setting's problems come from two tasks */
static const double margin = 5;       /* points */

/* Where the change lies: every problem loses the same share of its rate (gains the same share of what it
 * lacks), or some problems are lost altogether and the others untouched. */
enum change { SPREAD, COLLAPSE };

static const struct scene {
    int problems, settings;
    double change; /* under the first setting alone */
    enum change where;
    const char *name;
    double fails; /* promised, in percent: at most 5, or at least 85; 0: nothing */
} scenes[] = {
    {60, 1, 0, SPREAD, "no change", 5},
    {60, 1, -0.03, SPREAD, "3 points lower", 0},
    {60, 1, -0.05, SPREAD, "5 points lower", 85},
    {60, 1, -0.05, COLLAPSE, "5 points lower on few problems", 85},
    {60, 1, -0.10, SPREAD, "10 points lower", 85},
    {60, 1, 0.05, SPREAD, "5 points higher", 5},
    {30, 1, 0, SPREAD, "no change", 5},
    {30, 1, -0.05, SPREAD, "5 points lower", 0},
    {30, 1, -0.10, SPREAD, "10 points lower", 0},
    {120, 1, 0, SPREAD, "no change", 5},
    {120, 1, -0.05, SPREAD, "5 points lower", 85},
    {60, 3, 0, SPREAD, "no change", 5},
    {60, 3, -0.05, SPREAD, "one 5 points lower", 85},
    {60, 6, 0, SPREAD, "no change", 5},
    {60, 6, -0.05, SPREAD, "one 5 points lower", 85},
};
enum { N_SCENES = sizeof scenes / sizeof *scenes };

/* What the problems are like. */
struct world {
    const struct scene *scene;
    double mean, weight; /* of the rates' beta distribution: its mean and a + b */
    double batch_effect; /* of a server: on the log odds of a right answer, a standard deviation */
};
/* A server whose answers vary with their batch. */
static const struct served {
    double batch_effect;
    struct scene scene;
} served[] = {
    {0.25, {60, 1, 0, SPREAD, "no change, batch effect 0.25", 5}},
    {0.25, {60, 1, -0.05, SPREAD, "5 points lower, batch effect 0.25", 85}},
    {0.5, {60, 1, 0, SPREAD, "no change, batch effect 0.5", 0}},
    {0.5, {60, 1, -0.05, SPREAD, "5 points lower, batch effect 0.5", 85}},
    {1, {60, 1, 0, SPREAD, "no change, batch effect 1", 0}},
    {1, {60, 1, -0.05, SPREAD, "5 points lower, batch effect 1", 85}},
};
enum { N_SERVED = sizeof served / sizeof *served };

struct problems {
    int n, settings;
    double batch_effect;
    double before[PROBLEMS_MAX], after[PROBLEMS_MAX]; /* the true rates */
    long base[SETTINGS_MAX][PROBLEMS_MAX];            /* the baseline's right answers */
};

/* The rate in one batch. All answers to a problem that are drawn together have the same batch effect, which
 * is the worst that it can do: one that is new for each answer leaves them independent. */
static double rate_in_batch(struct rng *r, double rate, double batch_effect)
{
    if (batch_effect <= 0 || rate <= 0 || rate >= 1)
        return rate;
    return 1 / (1 + (1 - rate) / rate * exp(-batch_effect * sim_normal(r)));
}

/* The right ones of the baseline's answers, which are drawn sixteen at a time. */
static long draw_base(struct rng *r, double rate, double batch_effect)
{
    long right = 0;
    if (batch_effect <= 0)
        return sim_binomial(r, BASELINE, rate);
    for (int k = 0; k < BASELINE; k += ANSWERS_MAX)
        right += sim_binomial(r, ANSWERS_MAX, rate_in_batch(r, rate, batch_effect));
    return right;
}

/* Rates of Beta(1/2, 1/2), most of them near 0 or 1 as on AIME; the change is exact on these problems. All
 * settings have the same rates before, as policies that lose little do. */
static void draw_problems(struct rng *r, const struct world *world, struct problems *p)
{
    const struct scene *scene = world->scene;
    double mean = 0, left = -scene->change * scene->problems;
    p->n = scene->problems;
    p->settings = scene->settings;
    p->batch_effect = world->batch_effect;
    for (int i = 0; i < p->n; i++)
        mean += p->before[i] = sim_beta(r, world->mean, world->weight);
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
    for (int s = 0; s < p->settings; s++)
        for (int i = 0; i < p->n; i++)
            p->base[s][i] = draw_base(r, p->before[i], p->batch_effect);
}

/* A side whose problems have `answers` samples each, all of them wrong so far. */
static struct gate_side make_side(const struct problems *p, int answers, struct arena *a)
{
    struct gate_side side = {.path = "simulated",
                             .model = "m",
                             .weights = "w",
                             .configuration = "c",
                             .numerics = "cpu",
                             .grader = "g",
                             .version = "1",
                             .margin = margin,
                             .n_cells = p->settings * TASKS};
    side.cells = arena_alloc(a, (size_t)side.n_cells * sizeof *side.cells);
    for (int c = 0; c < side.n_cells; c++) {
        int n = p->n / TASKS;
        struct gate_problem *problems = arena_alloc(a, (size_t)n * sizeof *problems);
        for (int i = 0; i < n; i++)
            problems[i] = (struct gate_problem){
                .id = "p", .prompt_sha256 = "", .gold = "", .n = answers, .all = {.n = answers}};
        side.cells[c] = (struct gate_cell){.setting = arena_printf(a, "setting %d", c / TASKS),
                                           .task = arena_printf(a, "task %d", c % TASKS),
                                           .policy = "{}",
                                           .settings = "{}",
                                           .facts = "{}",
                                           .is_binary = 1,
                                           .n_problems = n,
                                           .problems = problems};
    }
    return side;
}

static struct gate_problem *problem_of(struct gate_side *side, const struct problems *p, int setting, int i)
{
    int n = p->n / TASKS;
    return &side->cells[setting * TASKS + i / n].problems[i % n];
}

static struct gate_side base_side(const struct problems *p, struct arena *a)
{
    struct gate_side side = make_side(p, BASELINE, a);
    for (int s = 0; s < p->settings; s++)
        for (int i = 0; i < p->n; i++) {
            struct gate_sums *all = &problem_of(&side, p, s, i)->all;
            all->score = (double)(all->right = p->base[s][i]);
        }
    return side;
}

static struct gate_side new_side(struct rng *r, const struct problems *p, struct arena *a)
{
    struct gate_side side = make_side(p, ANSWERS_MAX, a);
    for (int s = 0; s < p->settings; s++)
        for (int i = 0; i < p->n; i++) {
            struct gate_problem *q = problem_of(&side, p, s, i);
            struct gate_sums *sample = arena_alloc(a, ANSWERS_MAX * sizeof *sample);
            double rate = s ? p->before[i] : p->after[i], now = rate;
            for (int k = 0; k < ANSWERS_MAX; k++) {
                if (!k || k == stat_looks[0].samples || k == stat_looks[1].samples)
                    now = rate_in_batch(r, rate, p->batch_effect);
                long right = sim_binomial(r, 1, now);
                sample[k] = (struct gate_sums){.n = 1, .right = right, .score = (double)right};
                q->all.right += right;
                q->all.score += (double)right;
            }
            q->sample = sample;
        }
    return side;
}

/* What one night gave: the verdict on its first setting, the verdict on any other, and the answers drawn to
 * each problem. */
enum { FAILS, PASSES, ANSWERS, FIRST_FAILS };

static void count_night(struct rng *r, const struct problems *p, double sums[SIM_SUMS])
{
    static const struct gate_limits limits = {10, 5, 5, 15, 0};
    struct arena a = {0};
    struct err e = {0};
    struct gate_side base = base_side(p, &a), now = new_side(r, p, &a);
    struct gate_result g;
    if (gate_decide(&g, &base, &now, &limits, margin, ANSWERS_MAX, 1, &a, &e) || g.verdict == GATE_ERROR) {
        fprintf(stderr, "kveval: the gate does not judge a simulated night: %s\n", e.code ? e.text : g.words);
        abort();
    }
    sums[FAILS] += g.verdict == GATE_REGRESSION;
    sums[PASSES] += g.verdict == GATE_PASS;
    sums[FIRST_FAILS] += g.settings[0].verdict == GATE_REGRESSION;
    for (int i = 0; i < g.n_settings; i++)
        sums[ANSWERS] += g.settings[i].look[g.settings[i].n_looks - 1].samples;
    arena_release(&a);
}

/* Every night has problems and a baseline of its own, so the sums are averages over both. */
static void new_night(struct rng *r, const void *world, double sums[SIM_SUMS])
{
    struct problems p;
    draw_problems(r, world, &p);
    count_night(r, &p, sums);
}

static void frozen_night(struct rng *r, const void *problems, double sums[SIM_SUMS])
{
    count_night(r, problems, sums);
}

static void print_figure(const struct sim *sim, const struct scene *scene, double value, const char *unit,
                         double target, const char *what)
{
    char settings[24] = "";
    if (scene->settings > 1)
        snprintf(settings, sizeof settings, "%d settings, ", scene->settings);
    sim_print(sim, value, unit, target, "gate, %d problems, %s%s: %s", scene->problems, settings, scene->name,
              what);
}

static void run_scene(const struct sim *sim, int experiment, const struct scene *scene, double batch_effect)
{
    const struct world world = {scene, 0.5, 1, batch_effect};
    double sums[SIM_SUMS], share = 100.0 / sim->nights;
    sim_count(sim, experiment, sim->nights, new_night, &world, sums);
    double fail = share * sums[FAILS], pass = share * sums[PASSES], none = 100 - fail - pass;
    double answers = sums[ANSWERS] / ((double)sim->nights * scene->settings);
    sim_print_row("%8d %8d  %-33s %10.1f %10.1f %10.1f %10.1f", scene->problems, scene->settings, scene->name,
                  fail, pass, fmax(0, none), answers);
    print_figure(sim, scene, fail, "%", scene->fails, "called a regression");
    if (scene->settings > 1 && scene->change < 0)
        print_figure(sim, scene, share * sums[FIRST_FAILS], "%", scene->fails, "that setting called");
    print_figure(sim, scene, pass, "%", 0, "called within 5 points");
    print_figure(sim, scene, fmax(0, none), "%", 0, "inconclusive");
    print_figure(sim, scene, answers, "samples", 0, "samples until it knows");
}

/* A frozen baseline errs the same way every night. How differently do baselines do without any change? */
static void run_frozen(const struct sim *sim)
{
    int nights = sim->nights < FROZEN_NIGHTS ? sim->nights : FROZEN_NIGHTS;
    double rate[FROZEN];
    const struct world world = {&scenes[0], 0.5, 1, 0};
    for (int k = 0; k < FROZEN; k++) {
        struct rng r;
        struct problems p;
        double sums[SIM_SUMS];
        rng_init(&r, sim->seed, (uint64_t)(100 + k) << 32);
        draw_problems(&r, &world, &p);
        sim_count(sim, 200 + k, nights, frozen_night, &p, sums);
        rate[k] = 100 * sums[FAILS] / nights;
    }
    double mean = stat_mean(rate, FROZEN);
    stat_sort(rate, FROZEN);
    double high = stat_quantile(rate, FROZEN, 0.9);
    sim_print_row(
        "%8d  of %d baselines, each frozen for %d nights without a change: false alarms %.1f %% on average, "
        "%.1f %% or more for one in ten",
        scenes[0].problems, FROZEN, nights, mean, high);
    sim_print(sim, mean, "%", 5, "gate, frozen baselines: false alarms, mean of %d", FROZEN);
    sim_print(sim, high, "%", 0, "gate, frozen baselines: false alarms, one in ten has more");
}

struct sim_gate_rate sim_gate_rate(const struct sim *sim, int experiment, double mean, double weight,
                                   double change)
{
    const struct scene scene = {.problems = 60, .settings = 1, .change = change, .where = SPREAD};
    const struct world world = {&scene, mean, weight, 0};
    double sums[SIM_SUMS];
    sim_count(sim, experiment, sim->nights, new_night, &world, sums);
    return (struct sim_gate_rate){sums[FAILS] / sim->nights, sums[ANSWERS] / sim->nights};
}

void sim_gate(const struct sim *sim)
{
    sim_print_row("the gate, %d nights a row: baseline of %d samples, looks at %d, %d and %d", sim->nights,
                  BASELINE, stat_looks[0].samples, stat_looks[1].samples, stat_looks[2].samples);
    sim_print_row(
        "problems settings  truth                             regression     within  undecided    samples");
    for (int i = 0; i < N_SCENES; i++)
        run_scene(sim, 1 + i, &scenes[i], 0);
    for (int i = 0; i < N_SERVED; i++)
        run_scene(sim, 100 + i, &served[i].scene, served[i].batch_effect);
    run_frozen(sim);
}
