#ifndef EVALCORE_WORKERS_SWEEP_WORKERS_H
#define EVALCORE_WORKERS_SWEEP_WORKERS_H

#include "evalcore/cli/device_list.h"
#include "evalcore/store/keymap.h"
#include "evalcore/sweep/sweep_progress.h"
#include "evalcore/sweep/job_queue.h"
#include "evalcore/sweep/deadline.h"
#include "evalcore/workers/canary.h"
#include "evalcore/workers/restart_rules.h"
#include "evalcore/workers/worker_messages.h"
#include "evalcore/process/worker_process.h"

/* The door of the room of workers: the coordinator's side of a sweep on several devices. Each
 * device has a worker process, which gets jobs as it asks for them. The coordinator opens no device and is
 * the only one that writes.
 *
 *   workers_models -> workers_start -> workers_load (with a dry plan) -> workers_run -> workers_release
 *
 * When a worker ends, or reports that its device failed, or says nothing for `timeouts.silence` seconds (a
 * thread of its own says every second that it is there, so a long step is no silence, but a stopped process
 * is), or does not finish a step for `timeouts.step` seconds, only the jobs that it was decoding are lost.
 * They decode again, and the worker is started again (restart_rules.h: how often, and when the jobs
 * themselves come under suspicion). A worker that was started again first decodes a job that is finished, and
 * must find the same tokens; if it does not, what it finished before does not count any more and is decoded
 * again. A sweep does not end before the last such test has. A device that does not work at the start of the
 * sweep is left out. An error that every worker would run into (a mistake in the input) ends the sweep at
 * once. */
struct timeouts {
    int silence, step; /* seconds; step 0: no limit */
};
enum { LOAD_TIMEOUT = 1800 }; /* seconds until a worker has loaded everything */

/* A model of the run file, and its jobs. A worker holds one model at a time and gets jobs of that one only.
 * At the start workers are spread over the models by expected tokens. One that has no job to start any more
 * ends in order and is started anew with the model that has the most expected tokens left per worker serving
 * it, so that a model is loaded no more often than it keeps workers busy. A model that a device cannot load
 * is left out there, or everywhere when its own files are the reason. One that was loaded before in this
 * sweep is not: that it cannot be now is a death like any other. */
struct model_part {
    const char *label;              /* NULL: the only one */
    char weights[65];               /* identity, of several */
    double tokens;                  /* expected, before jobs are known */
    double load;                    /* seconds that it took to load, at most; 0: not known */
    struct err refusal;             /* why a worker could not load it, last */
    struct worker_progress earlier; /* sums over lives that are over */
    /* from here on: during workers_run */
    long first, end;                 /* plan.jobs[first .. end-1] */
    long left;                       /* of these, not done */
    struct sweep_progress *progress; /* NULL before and after */
    struct sweep_progress own_progress;
    struct deadline own_deadline;
    struct job_queue queue;
    struct canary canary;
};

struct worker_link {
    struct worker_process process;
    char name[DEVICE_NAME_MAX];             /* "cuda:1" */
    const char *device;                     /* as its hello calls it; NULL before that */
    const char *in_records;                 /* the same, and which of them it is */
    int is_live, has_worked;                /* has_worked: it was ready once */
    int model;                              /* that it holds or loads: index into workers.part */
    int is_leaving, next;                   /* it was told to end for the model `next` */
    double leaving;                         /* seconds since then */
    long n_switches;                        /* how often it got another model */
    uint64_t cannot;                        /* models that it could not load, by bit */
    uint64_t has_loaded;                    /* models that it has loaded, by bit */
    int load_deaths[RUNFILE_MODELS_MAX];    /* while it loaded each, in a row */
    const char *untold[RUNFILE_MODELS_MAX]; /* why it cannot, as long as all may fail there; NULL: told */
    int needs_check;                        /* it died since it has last decoded a canary */
    int check;                              /* CHECK_NONE, or the canary is due or runs */
    const struct canary_job *canary;        /* that it is judged by, from its hello on */
    int canary_by;                          /* the worker that finished it */
    int n_lives;
    int deaths; /* in a row, without a finished job between them */
    double died[RESTARTS_PER_HOUR +
                1]; /* when it did, the latest times; n_died % (RESTARTS_PER_HOUR + 1) is next */
    int n_died;
    double back_at;                 /* when it is started again; 0: not */
    int is_out;                     /* it is tried again, but not counted on */
    double loading;                 /* seconds since it was started, until its hello */
    double silent;                  /* seconds that it has said nothing */
    int64_t turn;                   /* of its loop, as it said last */
    double stuck;                   /* seconds that it has jobs and this has not changed */
    int wanted;                     /* jobs it asked for and did not get yet */
    int n_held;                     /* jobs it got and has not finished */
    int n_finished;                 /* jobs it has finished in this life */
    int company;                    /* the most that it may hold now; 0: any number */
    struct worker_progress earlier; /* sums over its earlier lives */
    struct worker_progress decoded; /* as it said last; its `running` is in the next two */
    struct running_job *running;    /* (n_running) */
    int n_running;
    size_t cap_running;
    struct err last_words; /* why it gave up, in its own words */
};

struct workers {
    struct worker_link *link;
    int n, n_live;
    const char **args; /* of a worker; args[2] is its index */
    struct timeouts timeouts;
    double watched; /* when that was looked at last */
    struct runplan *plan;
    struct model_part *part; /* (n_parts), one for each model of the run file */
    int n_parts;
    struct model_facts *facts; /* (plan->n_loaded), of the first worker that was ready; NULL before that */
    struct arena arena;
    struct err last_loss; /* why the worker that was lost last was lost */
    /* from here on: during workers_run */
    struct sweep_progress *progress; /* of all; NULL also when nothing may be journalled any more */
    struct keymap keys;
    int *holder;           /* by job: worker, HELD_BY_NOBODY or HELD_DONE */
    struct job_fate *fate; /* by job */
    long *suspect;         /* (n_suspects): jobs that come last, in little company */
    long n_suspects;
    size_t cap_suspects;
    long left; /* jobs not done */
    int is_unsynced, is_stopping;
    struct running_job *running; /* of all workers, for the status line */
    size_t cap_running;
};

/* What is known of the models of a dry plan: of several the identities of their weights, whose hashes are
 * kept in cache_dir, and from the run folder how much is left of each. workers_release() also after an error.
 */
int workers_models(struct workers *ws, const struct runplan *p, const char *dir, const char *cache_dir,
                   struct err *e);
/* argv: of the sweep, its name first; the workers read the same options. */
int workers_start(struct workers *ws, const struct device_list *devices, struct timeouts timeouts, int argc,
                  char **argv, struct err *e);
/* Waits for the first worker that has loaded everything and binds the plan to what it says. ERR_DEVICE: no
 * worker is left. A signal ends the process meanwhile (stopper.h). */
int workers_load(struct workers *ws, struct runplan *p, struct err *e);
/* Decodes the jobs in the plan's order. Returns 0 when all are in the journal, or when a signal or the end of
 * the time stopped it (*signal, else 0). After an error, what was journalled so far stays. */
int workers_run(struct workers *ws, const struct runplan *p, struct sweep_progress *t, int *signal,
                struct err *e);
void workers_release(struct workers *ws); /* ends those that are left */

#endif
