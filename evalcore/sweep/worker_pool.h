#ifndef EVALCORE_SWEEP_WORKER_POOL_H
#define EVALCORE_SWEEP_WORKER_POOL_H

#include "evalcore/process/worker_process.h"
#include "evalcore/store/job_key.h"
#include "evalcore/sweep/canary.h"
#include "evalcore/sweep/decoder_process.h"
#include "evalcore/sweep/restart_rules.h"
#include "evalcore/sweep/worker_messages.h"

/* What the files of the process decoder share: decoder_process.c (the interface), worker_listen.c (what
 * workers say, and the watchdog), worker_restarts.c, canary.c, worker_models.c and, below them all,
 * worker_pool.c. */
enum { HELD_BY_NOBODY = -1, HELD_DONE = -2 }; /* of workers.holder */
/* Void: the canary still runs, but who finished it before is no longer believed. */
enum { CHECK_NONE, CHECK_DUE, CHECK_RUNS, CHECK_VOID };

struct model_part {                 /* a model of the run file */
    const char *label;              /* NULL: the only one */
    char weights[65];               /* identity, of several */
    struct err refusal;             /* why a worker could not load it, last */
    struct worker_progress earlier; /* sums over workers' lives that are over */
    struct canary canary;
};

struct worker_link {
    struct decoder_worker *state; /* what the queue sees of it */
    struct worker_process process;
    char name[DEVICE_NAME_MAX];             /* "cuda:1" */
    const char *device;                     /* as its hello calls it; NULL before that */
    const char *in_records;                 /* the same, and which of them it is */
    int has_worked;                         /* it was ready once */
    double leaving;                         /* seconds since it was told to end for another model */
    long n_switches;                        /* how often it got another model */
    uint64_t has_loaded;                    /* models that it has loaded, by bit */
    int load_deaths[RUNFILE_MODELS_MAX];    /* while it loaded each, in a row */
    const char *unsaid[RUNFILE_MODELS_MAX]; /* why it cannot, as long as all may fail there; NULL: was said */
    int needs_check;                        /* it died since it has last decoded a canary */
    int check;                              /* CHECK_NONE, or the canary is due or runs */
    const struct canary_job *canary;        /* that it is judged by, from its hello on */
    int canary_by;                          /* the worker that finished it */
    int n_lives;
    int deaths;                         /* in a row, without a finished job between them */
    double died[RESTARTS_PER_HOUR + 1]; /* when it did, the latest times; n_died % size is next */
    int n_died;
    double back_at;                 /* when it is started again; 0: not */
    int is_out;                     /* it is tried again, but not counted on */
    double loading;                 /* seconds since it was started, until its hello */
    double silent;                  /* seconds that it has said nothing */
    int64_t turn;                   /* of its loop, as it said last */
    double stuck;                   /* seconds that it has jobs and this has not changed */
    int wanted;                     /* jobs it asked for and did not get yet */
    struct worker_progress earlier; /* sums over its earlier lives */
    struct worker_progress decoded; /* as it said last; its `running` is in the next two */
    struct running_job *running;    /* (n_running) */
    int n_running;
    size_t cap_running;
    struct err last_words; /* why it gave up, in its own words */
};

struct workers {
    struct decoder *decoder;
    struct worker_link *link;
    int n, n_live;
    const char **args; /* of a worker; args[2] is its index */
    struct timeouts timeouts;
    double watched;          /* when that was looked at last */
    struct model_part *part; /* (n_parts), one for each model of the run file */
    int n_parts;
    struct model_facts *facts; /* (plan->n_loaded), of the first worker that was ready; NULL before that */
    struct arena arena;
    struct err last_loss; /* why the worker that was lost last was lost */
    /* from here on: of the list of jobs that is decoded; NULL before the first */
    struct keymap keys;
    long n_jobs;
    int *holder;      /* by job: worker, HELD_BY_NOBODY or HELD_DONE */
    int *writer;      /* by job: 1 + the worker that finished it; 0: none */
    char *has_failed; /* by job: it is an error */
    int is_broken;    /* the user returned an error: it is told nothing more */
    int is_stopping;
};

/* worker_pool.c: starts the process of worker i. */
void worker_start(struct workers *ws, int i, struct err *e);
/* Starts worker i, which is not there, again with a model. */
void worker_begin_again(struct workers *ws, int i, int model);
/* Worker i has died, or did not start: when is it started again? Adds that to a message, as part of a
 * sentence.
 */
void worker_plan_return(const struct timeouts *limits, struct worker_link *l, struct str *then);
int worker_is_coming(const struct worker_link *l); /* it is started again soon */
int workers_coming(const struct workers *ws);      /* how many are */
int workers_held(const struct workers *ws);        /* jobs that they hold */
long workers_jobs_left(const struct workers *ws);  /* that are not over; before jobs are known 1 */

/* worker_listen.c: waits for messages, a little, and takes those that came. */
void workers_listen(struct workers *ws, struct err *e);

/* worker_restarts.c: worker i is gone, or is ended here, at the latest at `until`. Its jobs go back, and it
 * may be started again. The reason that is given is what it said last, else `why`, else how it died. Sets e
 * when the decoding cannot go on. */
void worker_mark_dead(struct workers *ws, int i, const struct err *why, double until, struct err *e);
/* Starts those again whose back-off is over, while there are jobs that nobody holds. */
void workers_restart(struct workers *ws, struct err *e);

/* canary.c: worker i has finished job j. */
void workers_keep_canary(struct workers *ws, int i, long j, const struct completion *c);
/* Worker i is ready: its canary is due where it needs a check and there is one. */
void worker_begin_check(struct workers *ws, int i);
/* Can worker i decode its canary now? One that was found to be wrong before waits until the worker that it is
 * to be checked against has passed its own check. */
int worker_may_begin_check(const struct workers *ws, int i);
/* Does it decode job j as its canary? */
int worker_is_checked(const struct worker_link *l, long j);
/* Worker i, restarted, has finished the canary. ERR_DEVICE in why: with other tokens. */
int worker_compare_canary(struct workers *ws, int i, const struct completion *c, struct err *why);
/* Worker i failed its check. Withdraws every completion that it finished in this list of jobs, so that they
 * are decoded again, and checks no other worker against them. An error in e is the user's. */
void worker_withdraw_jobs(struct workers *ws, int i, struct err *e);
/* At the end: warns of workers that died and were not checked again. */
void workers_warn_unchecked(const struct workers *ws);

/* worker_models.c. Labels and, of several models, the identities of their weights. */
int workers_find_models(struct workers *ws, const char *cache_dir, struct err *e);
/* The model worker i loads at its start. */
int worker_first_model(struct workers *ws, int i);
/* The model with which worker i begins again: the one that has most for it, which may be another than before.
 */
int worker_next_model(const struct workers *ws, int i);
/* Worker i has loaded its model. */
void worker_has_loaded(struct workers *ws, int i);
/* Has any worker loaded model m in this sweep? That one cannot do so later is no fault of the model. */
int workers_have_loaded(const struct workers *ws, int m);
/* Worker i ended before its hello because of its model, where there are others: it goes on with one of them.
 * 0: it is an ordinary death, as that of a worker whose model was loaded before. */
int worker_cannot_load(struct workers *ws, int i, const struct err *loss, struct err *e);
/* Sets e when jobs are left, and only of models that no worker can load. */
void workers_check_reach(struct workers *ws, struct err *e);

#endif
