#ifndef EVALCORE_SWEEP_FORECAST_H
#define EVALCORE_SWEEP_FORECAST_H

#include "evalcore/runfile/runfile.h"

/* How long completions get and how fast the devices decode now, from what a sweep has seen so far.
 *
 * Length: a percentile of the completions of the same cell, of which those are left out that were over before
 * this one got as far as it is. Lengths are divided by what was expected of their job, so that jobs with
 * different expectations can be compared. A completion that is still running counts as a quarter longer than
 * it is now, but at least as long as expected: those that end first are the short ones. Where a cell has
 * too few, those of its task count, and where these are too few, the expectation.
 *
 * Speed: seconds of the latest decode steps, and of all prompts. A step with more or fewer rows than the
 * latest is scaled in the part of its time that rows are assumed to take: most of it on a CPU, which
 * multiplies for each row, less on a GPU, which reads the weights once for all rows. */
enum forecast_state { JOB_WAITING, JOB_RUNNING, JOB_DONE };

struct forecast_job {
    enum forecast_state state;
    int cell, task, model; /* model: index into runfile.models */
    int prompt;            /* tokens */
    int limit;             /* most tokens of the completion */
    int tokens;            /* of the completion so far */
    double usual;          /* tokens expected before anything was seen; INFINITY: only the limit ends it */
};

/* What happened since the last sample, summed over the devices with one model. */
struct forecast_sample {
    double steps, seconds; /* of decoding */
    double rows;           /* tokens decoded in these steps */
    double prompt_seconds; /* of running prompts */
    double prompts;        /* tokens of the prompts of jobs that were started */
    double wall;           /* seconds that passed, times the number of devices that decoded */
};

struct forecast_speed {
    struct forecast_sample recent, all; /* recent: of about the last 50 steps */
    int devices;                        /* that decode this model now */
    double weight; /* bytes that a step reads, relative to other models; 0: there is one model */
};

struct forecast_ratios; /* lengths of one cell or task, sorted */

struct forecast {
    struct forecast_job *job; /* (n_jobs) */
    long n_jobs;
    int n_cells, n_tasks, n_models;
    int is_gpu;
    int devices, places; /* that are there, and how many sequences they decode together */
    struct forecast_speed speed[RUNFILE_MODELS_MAX];
    long version;                              /* goes up when a sample or a finished completion is added */
    struct forecast_ratios *of_cell, *of_task; /* NULL before forecast_update() */
};

/* Adds a sample to the speed of a model, an index into runfile.models. */
void forecast_add(struct forecast *f, int model, const struct forecast_sample *x);
/* Fills *out with the speed of the devices with a model. Before that was seen, its steps take as long as
 * those of a model that was, scaled by the size of their weights. Returns 1, or 0 while none was seen; *out
 * is no speed then. */
int forecast_speed_of(const struct forecast *f, int model, struct forecast_speed *out);
/* These return the seconds that one device takes for a decode step with `rows` sequences, and for a prompt of
 * so many tokens (0: no prompt was seen yet). Both include the time that passes between steps. s: of
 * forecast_speed_of(), which returned 1. */
double forecast_step(const struct forecast *f, const struct forecast_speed *s, double rows);
double forecast_prompt(const struct forecast_speed *s, double tokens);

/* Looks at the lengths of all jobs again, in place of what was found before; some milliseconds for 100,000
 * jobs. */
void forecast_update(struct forecast *f);
/* Returns the tokens that the completion of job j will have: the length that a share (0 to 1) of those like
 * it do not exceed. More than it has now, at most its limit. After forecast_update(). */
double forecast_tokens(const struct forecast *f, const struct forecast_job *j, double share);
/* Returns the seconds until the last job is done; 0 when all are, below 0 while the speed is not known. After
 * forecast_update(). */
double forecast_seconds(const struct forecast *f);
/* Frees what forecast_update() made; f->job is the caller's. f may be zeroed. */
void forecast_release(struct forecast *f);

#endif
