/* Tier 1 through a server on simulated scores: three completions, their log-probabilities with noise that is
 * new for each request, and a night's server that is the baseline's, was started anew, or has changed. The
 * rules are the gate's own. */
#include <math.h>
#include <string.h>

#include "evalcore/bench/sim.h"
#include "evalcore/gate/gate.h"

enum { COMPLETIONS = 3, REPEATED = GATE_REFERENCE + GATE_BAND };

static const struct server {
    const char *name;
    int tokens;
    double noise;   /* of a log-probability, in nats, for each request anew */
    double heavy;   /* share of the requests in which it is five times as much: another kernel */
    double restart; /* the same for each start of the server anew */
    double change;  /* what the night's build adds, in nats */
    double alarms;  /* promised, in percent: at most 5; 0: nothing */
} servers[] = {
    {"the same server, noise 0.02", 200, 0.02, 0, 0, 0, 5},
    {"the same server, noise 0.05", 200, 0.05, 0, 0, 0, 5},
    {"the same server, completions of 20", 20, 0.05, 0, 0, 0, 5},
    {"the same, 1 of 10 requests five times", 200, 0.02, 0.1, 0, 0, 5},
    {"the same, 1 of 3 requests five times", 200, 0.02, 0.33, 0, 0, 5},
    {"started anew, as much again", 200, 0.05, 0, 0.05, 0, 5},
    {"started anew, twice as much", 200, 0.05, 0, 0.1, 0, 0},
    {"changed by 0.05 nats, noise 0.02", 200, 0.02, 0, 0, 0.05, 0},
    {"changed by 0.1 nats, noise 0.05", 200, 0.05, 0, 0, 0.1, 0},
    {"changed by 0.2 nats, noise 0.05", 200, 0.05, 0, 0, 0.2, 0},
};

/* The likeliest token is the given one where it is more than a half; near a half noise turns it. */
static void score(struct rng *r, const struct server *s, const double *truth, struct gate_replay *out,
                  struct arena *a)
{
    double sd = s->noise * (rng_unit(r) < s->heavy ? 5 : 1);
    *out = (struct gate_replay){.n = s->tokens, .by_server = 1};
    out->millinats = arena_alloc(a, (size_t)s->tokens * sizeof *out->millinats);
    out->tops = arena_alloc(a, (size_t)s->tokens * sizeof *out->tops);
    for (int i = 0; i < s->tokens; i++) {
        double x = fmin(0, truth[i] + sd * sim_normal(r));
        out->millinats[i] = (int)lrint(1000 * x);
        out->tops[i] = x > -0.69;
    }
}

static void one_night(struct rng *r, const void *what, double sums[SIM_SUMS])
{
    const struct server *s = what;
    struct arena a = {0};
    int failed = 0;
    for (int c = 0; c < COMPLETIONS; c++) {
        double *truth = arena_alloc(&a, (size_t)s->tokens * sizeof *truth);
        struct gate_replay rep[REPEATED], base, night[GATE_NIGHT];
        struct gate_drift d;
        for (int i = 0; i < s->tokens; i++)
            truth[i] = 0.3 * log(1 - rng_unit(r)) + s->restart * sim_normal(r);
        for (int k = 0; k < REPEATED; k++)
            score(r, s, truth, &rep[k], &a);
        gate_noise_band(&base, rep, &a);
        for (int i = 0; i < s->tokens; i++)
            truth[i] += s->restart * sim_normal(r) + s->change * sim_normal(r);
        for (int k = 0; k < GATE_NIGHT; k++)
            score(r, s, truth, &night[k], &a);
        gate_noise_judge(&d, &base, night, &a);
        failed |= d.failed;
    }
    sums[0] += failed;
    arena_release(&a);
}

void sim_noise(const struct sim *s)
{
    sim_print_row(
        "\nreplays scored by a server, three completions: nights that are called changed, in percent");
    for (int i = 0; i < (int)(sizeof servers / sizeof *servers); i++) {
        double sums[SIM_SUMS];
        sim_count(s, 300 + i, s->nights, one_night, &servers[i], sums);
        double alarms = 100 * sums[0] / s->nights;
        sim_print_row("%-40s %6.1f", servers[i].name, alarms);
        sim_print(s, alarms, "%", servers[i].alarms, "replays by a server, %s: called changed",
                  servers[i].name);
    }
}
