#ifndef EVALCORE_PLAN_CALIBRATE_H
#define EVALCORE_PLAN_CALIBRATE_H

#include "engine/engine.h"

enum { SPEED_POINTS = 3 };

/* The speed of a device under one policy, measured with a few decode steps of it alone at up to three
 * contexts. */
struct policy_speed {
    const struct policy_spec *spec; /* given: the policy, resolved */
    int longest;                    /* given: tokens of its longest sequence */
    double most_held;               /* given: the most that policy_held_at() is in the run */
    int n;                          /* points, in ascending order; 0: not measured */
    double rows;                    /* sequences in a step */
    double prompt[SPEED_POINTS];    /* tokens of the prompts */
    double admit[SPEED_POINTS]; /* seconds until one of them is in the batch, a dense prefill left aside */
    double context[SPEED_POINTS], held[SPEED_POINTS]; /* tokens in the steps; policy_held_at() there */
    double step[SPEED_POINTS];                        /* seconds */
    struct err why; /* with n 0: what failed; code 0: the time for measuring was up */
};

struct calibration {
    const struct engine_options *options;
    struct policy_speed *policy; /* (n), in the order in which they are measured */
    int n, rows;                 /* rows: how many sequences the run decodes together */
    double seconds; /* how long measuring may take besides loading, about; 0: the default, 15 s. The first
                     * policy is measured at one context at least */
    int n_prompts;  /* found: points of dense prompts in ascending order; 0: no policy has such prompts */
    double prompt[SPEED_POINTS], prompt_seconds[SPEED_POINTS]; /* tokens of one, and what it took */
};

/* Loads the model, binds all policies, as a run does, and measures them one after another. Returns 0 when at
 * least one was measured; the error of the first policy when none was; or an error of engine_open(). */
int calibrate(struct calibration *c, struct err *e);

/* Returns 1 when each sequence of the policy has a prefill of its own, so that `admit` is the whole prompt.
 */
int speed_own_prompts(const struct policy_speed *s);
/* These return the seconds that a completion takes of a batch of s->rows, of a policy that was measured: to
 * decode `tokens` tokens, and before that to be admitted. at: prompt, longest completion and the model's
 * layers. The time of a step follows the tokens that the policy holds: between two points and beyond the last
 * one along a straight line. So it is flat where the policy holds no more, and beyond a budget where nothing
 * else of the policy grows with the context. */
double speed_completion(const struct policy_speed *s, struct budget_at at, double tokens);
double speed_admission(const struct policy_speed *s, double prompt);
/* Returns the seconds of a dense prompt, 0 where there was none to measure. */
double speed_prompt(const struct calibration *c, double prompt);

#endif
