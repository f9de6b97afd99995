#ifndef EVALCORE_PLAN_CALIBRATE_H
#define EVALCORE_PLAN_CALIBRATE_H

#include "engine/engine.h"

/* The speed of a device, measured with a few decode steps of full attention at two contexts. */
struct speed {
    int rows;          /* sequences in the steps */
    double context[2]; /* tokens, the second larger; equal when only one could be measured */
    double step[2];    /* seconds of a step */
    double prompt;     /* tokens of prompts per second; of the longer one */
};

/* Loads the model and measures, within a few seconds besides the loading. rows: how many sequences the run
 * decodes together; longest: tokens of its longest sequence. Returns 0; ERR_DEVICE when no step could be
 * timed or the device fails; or another error of engine_open(). After an error *out is zeroed. */
int calibrate(struct speed *out, const struct engine_options *o, int rows, int longest, struct err *e);

/* Returns the seconds that a completion of `tokens` tokens takes in a batch of s->rows, without its prompt.
 * The step time is taken to grow with the context as between the two that were measured. */
double speed_completion(const struct speed *s, double prompt, double tokens);

#endif
