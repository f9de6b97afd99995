/* The nightly gate beside three rules of engines' own tests, on simulated questions. Each rule asks every
 * question once and compares the share of right answers with a number: vLLM with that of a run less 8 points
 * (tests/evals/gsm8k, 1,319 questions), SGLang with the mean of earlier runs less three of their standard
 * deviations (200 questions in most of its tests), TensorRT-LLM with that of a run less
 * 1.645 * sqrt(2 * 0.25 / n) (tests/integration/defs/accuracy, alpha 0.05, sigma 0.5; 3.2 points of 1,319).
 * None knows which question was answered before. */
#include <math.h>
#include <string.h>

#include "evalcore/bench/sim.h"

enum { QUESTIONS_MAX = 6000, EARLIER = 20, STEPS = 14 };

static const struct population { /* rates of Beta with this mean and a + b = weight */
    const char *name;
    double mean, weight;
} populations[] = {
    {"sampled answers, rates of Beta(1/2, 1/2)", 0.5, 1},
    /* A standard deviation of 0.3 points between runs of 1,319 questions, as SGLang's were measured. */
    {"greedy answers of a server, 92 % right", 0.92, 0.22},
};

enum kind { BY_POINTS, BY_SIGMA, BY_TEST };
static const struct peer {
    const char *name;
    enum kind kind;
    int questions;
    double by; /* points / 100, or standard deviations */
} peers[] = {
    {"vLLM, 8 points", BY_POINTS, 1319, 0.08},
    {"SGLang, 3 sigma", BY_SIGMA, 200, 3},
    {"TensorRT-LLM, test", BY_TEST, 1319, 1.6448536},
};
enum { N_PEERS = sizeof peers / sizeof *peers };

struct trial {
    const struct peer *peer;
    const struct population *of;
    int questions;
    double by, change;
};

static double run_share(struct rng *r, const double *rate, int n)
{
    long right = 0;
    for (int i = 0; i < n; i++)
        right += sim_binomial(r, 1, rate[i]);
    return (double)right / n;
}

/* What a run has to reach. */
static double threshold_of(struct rng *r, const struct trial *t, const double *rate)
{
    double run[EARLIER], mean = 0, squares = 0;
    int n = t->peer->kind == BY_SIGMA ? EARLIER : 1;
    for (int i = 0; i < n; i++)
        mean += (run[i] = run_share(r, rate, t->questions)) / n;
    for (int i = 0; i < n; i++)
        squares += (run[i] - mean) * (run[i] - mean);
    switch (t->peer->kind) {
    case BY_SIGMA:
        return mean - t->by * sqrt(squares / (EARLIER - 1));
    case BY_TEST:
        return mean - t->by * sqrt(0.5 / t->questions);
    default:
        return mean - t->by;
    }
}

static void one_night(struct rng *r, const void *what, double sums[SIM_SUMS])
{
    const struct trial *t = what;
    double rate[QUESTIONS_MAX], mean = 0;
    for (int i = 0; i < t->questions; i++)
        mean += (rate[i] = sim_beta(r, t->of->mean, t->of->weight)) / t->questions;
    double least = threshold_of(r, t, rate);
    for (int i = 0; i < t->questions; i++)
        rate[i] *= fmax(0, 1 + t->change / mean);
    sums[0] += run_share(r, rate, t->questions) < least;
}

static double alarms(const struct sim *s, int experiment, struct trial t, double change)
{
    double sums[SIM_SUMS];
    t.change = change;
    sim_count(s, experiment, s->nights, one_night, &t, sums);
    return sums[0] / s->nights;
}

/* How far below a rule's number has to be so that false alarms are at most `level`: as the rule's own `by`.
 */
static double equal_by(const struct sim *s, int experiment, struct trial t, double level)
{
    double low = 0, high = t.peer->kind == BY_POINTS ? 0.25 : 12;
    for (int i = 0; i < STEPS; i++) {
        t.by = (low + high) / 2;
        if (alarms(s, experiment, t, 0) <= level)
            high = t.by;
        else
            low = t.by;
    }
    return high;
}

/* The questions with which a loss of 5 points is found in 85 % of the nights at this level. */
static int needed(const struct sim *s, int experiment, struct trial t, double level)
{
    static const int sizes[] = {50,  75,  100,  150,  200,  300,  400,  500,  600, 700,
                                800, 900, 1000, 1200, 1319, 1600, 2000, 3000, 4000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        t.questions = sizes[i];
        t.by = equal_by(s, experiment, t, level);
        if (alarms(s, experiment + 1, t, -0.05) >= 0.85)
            return sizes[i];
    }
    return 0;
}

static void run_peer(const struct sim *s, int experiment, const struct population *of,
                     const struct peer *peer, double level)
{
    struct trial t = {peer, of, peer->questions, peer->by, 0};
    double false_alarms = 100 * alarms(s, experiment, t, 0),
           missed = 100 - 100 * alarms(s, experiment + 1, t, -0.05);
    t.by = equal_by(s, experiment + 2, t, level);
    double equal = 100 - 100 * alarms(s, experiment + 3, t, -0.05);
    int questions = needed(s, experiment + 4, t, level);
    sim_print_row("%-22s %10d %10d %13.1f %13.1f %13.1f %10d", peer->name, peer->questions, peer->questions,
                  false_alarms, missed, equal, questions);
    sim_print(s, false_alarms, "%", 0, "%s, %s: false alarms", peer->name, of->name);
    sim_print(s, missed, "%", 0, "%s, %s: misses 5 points", peer->name, of->name);
    sim_print(s, equal, "%", 0, "%s, %s: misses at the gate's rate", peer->name, of->name);
    sim_print(s, questions, "questions", 0, "%s, %s: for 85 %%", peer->name, of->name);
}

void sim_peers(const struct sim *s)
{
    for (int p = 0; p < (int)(sizeof populations / sizeof *populations); p++) {
        const struct population *of = &populations[p];
        int first = 4000 + 100 * p;
        struct sim_gate_rate same = sim_gate_rate(s, first, of->mean, of->weight, 0),
                             lower = sim_gate_rate(s, first + 1, of->mean, of->weight, -0.05);
        sim_print_row(
            "\nrules beside the gate, %s: a night's questions and answers, false alarms, losses of 5 points "
            "that are missed, the same at the gate's rate of false alarms, questions for 85 %%",
            of->name);
        sim_print_row("%-22s %10s %10s %13s %13s %13s %10s", "rule", "questions", "answers", "false alarms",
                      "missed", "missed, equal", "for 85 %");
        sim_print_row("%-22s %10d %10.0f %13.1f %13.1f %13.1f %10s", "kveval gate", 60, 60 * same.answers,
                      100 * same.fails, 100 - 100 * lower.fails, 100 - 100 * lower.fails, "60");
        sim_print(s, 100 * same.fails, "%", 5, "gate, %s: false alarms", of->name);
        sim_print(s, 100 - 100 * lower.fails, "%", 15, "gate, %s: misses 5 points", of->name);
        sim_print(s, 60 * same.answers, "answers", 0, "gate, %s: answers a night", of->name);
        for (int i = 0; i < N_PEERS; i++)
            run_peer(s, first + 10 + 10 * i, of, &peers[i], fmax(same.fails, 1.0 / s->nights));
    }
}
