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

/* In these functions an int that is a yes or no is 1 or 0. Those that take a struct err and return nothing
 * set it when the decoding cannot go on.
 *
 * worker_pool.c: starts the process of worker i, which must not have one, with its model,
 * link[i].state->model. Where that fails, e says why and the worker is not live: decoding cannot begin then,
 * but one that is under way goes on when the caller plans the worker's next start. */
void worker_start(struct workers *ws, int i, struct err *e);
/* Starts worker i, which is not there, again with a model. Where that fails, it is warned of and the next
 * start is planned (worker_plan_return()). */
void worker_begin_again(struct workers *ws, int i, int model);
/* The worker of l has died, or did not start: counts the death, sets when it is started again (l->back_at, 0:
 * never; l->is_out), and adds that to a message, as part of a sentence. */
void worker_plan_return(const struct timeouts *limits, struct worker_link *l, struct str *then);
int worker_is_coming(const struct worker_link *l); /* is it started again soon? */
int workers_coming(const struct workers *ws);      /* how many are */
int workers_held(const struct workers *ws);        /* jobs that they hold */
long workers_jobs_left(const struct workers *ws);  /* that are not over; before jobs are known 1 */

/* worker_listen.c: waits for messages, at most 50 ms, takes those that came, and lets the watchdog look. What
 * a worker does wrong ends the worker. An error in e is the user's, or that of worker_mark_dead(). */
void workers_listen(struct workers *ws, struct err *e);

/* worker_restarts.c: worker i is gone, or is ended here, at the latest at `until`, by clock_seconds(). Its
 * jobs go back, and it may be started again. The reason that is given is what it said last, else `why`, else
 * how it died. Sets e when the decoding cannot go on: no worker is left, a mistake in the input that each
 * would find, or an error of the user. */
void worker_mark_dead(struct workers *ws, int i, const struct err *why, double until, struct err *e);
/* Starts those again whose back-off is over, while there are jobs that nobody holds. ERR_DEVICE in e: no
 * worker is there or comes back soon. */
void workers_restart(struct workers *ws, struct err *e);

/* canary.c: worker i has finished job j, which becomes the canary of its device where it is a better one and
 * nobody is being checked against the present one. */
void workers_keep_canary(struct workers *ws, int i, long j, const struct completion *c);
/* Worker i is ready: its canary is due where it needs a check and there is one; else it has no check. */
void worker_begin_check(struct workers *ws, int i);
/* Returns 1 when worker i, whose canary is due, can decode it now: it asked for a job. One that was found to
 * be wrong before waits until the worker that it is to be checked against has passed its own check. */
int worker_may_begin_check(const struct workers *ws, int i);
/* Returns 1 when it decodes job j as its canary, else 0. */
int worker_is_checked(const struct worker_link *l, long j);
/* Worker i, restarted, has finished the canary, and its check is over. Returns 0 when the tokens are the
 * same, or when the canary had become void, and then the next one is due; else ERR_DEVICE, with the reason in
 * why. */
int worker_compare_canary(struct workers *ws, int i, const struct completion *c, struct err *why);
/* Worker i failed its check. Withdraws every completion that it finished in this list of jobs, so that they
 * are decoded again, and checks no other worker against them. Of requests, which were answered, it warns, and
 * pinned ones (decoder.h), which all workers have decoded to the same, go on to check it. An error in e is
 * the user's. */
void worker_withdraw_jobs(struct workers *ws, int i, struct err *e);
/* At the end: warns of workers that died and were not checked again. */
void workers_warn_unchecked(const struct workers *ws);

/* worker_models.c. Fills ws->part: labels and, of several models, the identities of their weights. Returns 0,
 * ERR_USAGE when two models have the same weights, or an error of engine_identity(). */
int workers_find_models(struct workers *ws, const char *cache_dir, struct err *e);
/* Returns the model that worker i loads at its start, as an index into runfile.models. */
int worker_first_model(struct workers *ws, int i);
/* Returns the model with which worker i begins again: the one that has most for it, which may be another than
 * before, or that of before when none has jobs for it. */
int worker_next_model(const struct workers *ws, int i);
/* Notes that worker i has loaded its model, and warns now of the models that it could not load before. */
void worker_has_loaded(struct workers *ws, int i);
/* Returns 1 when any worker has loaded model m in this sweep. That one cannot do so later is no fault of the
 * model. */
int workers_have_loaded(const struct workers *ws, int m);
/* Asks whether worker i, which has ended, ended before its hello because of its model. Returns 1 when it did
 * and there are other models: the model is left out there, the worker begins again with one that it can load,
 * and e is set as by workers_check_reach(). Returns 0 for an ordinary death, as that of a worker whose model
 * was loaded before. */
int worker_cannot_load(struct workers *ws, int i, const struct err *loss, struct err *e);
/* Sets e, to the reason why one cannot be loaded, when jobs are left, only of models that no worker can load,
 * and no worker holds any job. */
void workers_check_reach(struct workers *ws, struct err *e);

#endif
