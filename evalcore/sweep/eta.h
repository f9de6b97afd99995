#ifndef EVALCORE_SWEEP_ETA_H
#define EVALCORE_SWEEP_ETA_H

/* How long the rest of a sweep will take: pure functions of what has been seen so far.
 *
 * Lengths. The jobs of a cell have a distribution of lengths, kept as the chance of ending per token, in
 * steps of length. A finished completion is an ending at its length; one that is cut by its limit or still
 * running has only survived so far (censoring, as in the estimator of Kaplan and Meier, J. Am. Stat. Assoc.
 * 53, 1958). Where a cell has few endings, those of its task count, and where these are few, the task's usual
 * length. A running job is taken to end later than it is.
 *
 * Speed. A decode step takes a + b rows + c tokens of context, fitted to the steps so far and scaled to the
 * latest. Then the rest of the run is played through: places that become free are taken by the next job, and
 * at the end fewer and fewer sequences are left. */
enum eta_state { ETA_WAITING, ETA_RUNNING, ETA_DONE };

struct eta_job {
    enum eta_state state;
    int cell, task; /* indices of what it shares its length with: at best the first, else the second */
    int prompt;     /* tokens */
    int limit;      /* most tokens of the completion */
    int tokens;     /* of the completion so far */
    double weight; /* 1 over the number of jobs of its task's problem: under other policies these are about as
                    * long, and tell little more than one of them */
    double usual;  /* tokens that are expected before anything was seen; INFINITY: only the limit ends it */
};

/* A stretch of decoding, sums over all devices. */
struct eta_sample {
    double steps, seconds; /* of decoding */
    double rows, context;  /* over the steps: tokens decoded, tokens in the caches of their sequences */
    double prompt_seconds; /* of running prompts */
    double prompts;        /* tokens of the prompts of jobs that were started, whether run or shared */
    double wall;           /* seconds that have passed, times the number of devices */
};

struct eta_speed {
    int is_gpu; /* decides what is assumed as long as the steps so far do not tell */
    double weight, y, n, s, nn, ns, ss, ny, sy, yy; /* sums over steps of seconds y, rows n and context s */
    double samples;                                 /* that they are from */
    struct eta_sample sum, recent;
};

/* Adds what happened since the last call. */
void eta_speed_add(struct eta_speed *s, const struct eta_sample *x);
/* As if all had taken `factor` times as long. */
void eta_speed_scale(struct eta_speed *s, double factor);
/* Seconds of one step of a device. */
double eta_speed_step(const struct eta_speed *s, double rows, double context);

struct eta_run {
    const struct eta_job *job; /* in the order in which they start */
    long n_jobs;
    int n_cells, n_tasks;
    int devices; /* that share the jobs */
    int places;  /* sequences that all devices decode together */
    struct eta_speed speed;
};

/* Seconds until the last job is done; below 0 while too little has been seen. */
double eta_seconds(const struct eta_run *r);

#endif
