#ifndef TESTS_EVALCORE_GATE_MADE_SIDE_H
#define TESTS_EVALCORE_GATE_MADE_SIDE_H

/* Sides of the gate made from a few numbers, and a night that compares two of them. */
#include <math.h>
#include <string.h>

#include "evalcore/gate/gate.h"
#include "tests/check.h"

enum { MOST = 80 };

struct made {                     /* a side with one setting on one task */
    int problems, samples, right; /* right: of each problem's samples */
    int cut, unparsed, errors;    /* of each problem's samples; errors in all */
    double tokens, reads;
    int is_plain; /* none is cut or unreadable, so samples can be told one by one */
    const char *setting, *prompt, *gold, *settings, *weights, *configuration, *facts, *policy;
};

static void make_side(struct gate_side *s, const struct made *m, struct arena *a)
{
    struct gate_cell *c = arena_alloc(a, sizeof *c);
    struct gate_problem *p = arena_alloc(a, MOST * sizeof *p);
    *s = (struct gate_side){.path = "made",
                            .model = "pocket",
                            .weights = m->weights ? m->weights : "w",
                            .configuration = m->configuration ? m->configuration : "c",
                            .numerics = "cpu",
                            .grader = "g",
                            .version = "1",
                            .margin = 5,
                            .cells = c,
                            .n_cells = 1};
    *c = (struct gate_cell){.setting = m->setting ? m->setting : "quest",
                            .task = "relay",
                            .policy = m->policy ? m->policy : "{\"k_pages\":16}",
                            .settings = m->settings ? m->settings : "{\"temperature\":0.6}",
                            .facts = m->facts ? m->facts : "{\"version\":\"1\"}",
                            .is_binary = 1,
                            .n_problems = m->problems,
                            .problems = p};
    for (int i = 0; i < m->problems; i++) {
        double n = m->samples;
        struct gate_sums *sample = arena_alloc(a, ((size_t)m->samples + 1) * sizeof *sample);
        for (int k = 0; k < m->samples; k++) { /* right ones are spread evenly */
            int right = (k + 1) * m->right / m->samples - k * m->right / m->samples;
            sample[k] = (struct gate_sums){.n = 1,
                                           .right = right,
                                           .score = right,
                                           .tokens = m->tokens,
                                           .log_tokens = log1p(m->tokens),
                                           .reads = m->reads,
                                           .full = 100};
        }
        p[i] = (struct gate_problem){.id = arena_printf(a, "p%d", i),
                                     .prompt_sha256 = m->prompt ? m->prompt : "0123456789abcdef",
                                     .gold = m->gold ? m->gold : "00000000000000aa",
                                     .n = m->samples,
                                     .sample = m->is_plain ? sample : NULL,
                                     .all = {.n = m->samples,
                                             .right = m->right,
                                             .cut = m->cut,
                                             .unparsed = m->unparsed,
                                             .errors = i ? 0 : m->errors,
                                             .score = m->right,
                                             .tokens = n * m->tokens,
                                             .log_tokens = n * log1p(m->tokens),
                                             .reads = n * m->reads,
                                             .full = n * 100}};
    }
}

#define USUAL .problems = 60, .samples = 4, .right = 4, .tokens = 100, .reads = 30

struct night {
    struct gate_limits limits;
    struct arena a;
    struct gate_side base, now;
    struct gate_result r;
    struct err e;
};

/* Release its arena. */
static inline void night_make(struct night *n, const struct made *base, const struct made *now)
{
    *n = (struct night){.r = {0}};
    param_defaults(gate_limit_params, &n->limits);
    make_side(&n->base, base, &n->a);
    make_side(&n->now, now, &n->a);
}

static inline int night_decide(struct night *n, double margin, int samples, int is_last)
{
    return gate_decide(&n->r, &n->base, &n->now, &n->limits, margin, samples, is_last, &n->a, &n->e);
}

#endif
