#ifndef EVALCORE_SWEEP_DECODER_H
#define EVALCORE_SWEEP_DECODER_H

#include "evalcore/cli/device_list.h"
#include "evalcore/plan/runplan.h"
#include "evalcore/status/status.h"

/* Who decodes the jobs of a plan: worker processes, one for each device (decoder_process.h), the server of an
 * endpoint, or the engines of this process (decoder_open_local()). The sweep, the gate and a worker
 * itself use one through this interface, which knows nothing of journals.
 *
 *   open      one of the constructors below; `user` is told what happens
 *   bind      waits until the first worker is ready; fills in identities, makes the plan's jobs
 *   begin     the plan's list of jobs as it is now; again for another list once all jobs of the last are over
 *   capacity  how many jobs worker w takes now; then `submit` one after the other
 *   poll      waits a little; calls user->done, user->lost and user->withdrawn
 *   look      figures for the status line, at any time after begin
 *   drain     submit nothing any more: what is decoded now may end, the rest is dropped; go on with poll
 *   stop      what ends within seconds is still handed to user->done; is_done: nothing is left to wait for
 *   close     also after an error, in any state */
struct decoder_replay; /* replay.h */

/* What struct job.request points to: a request from outside, which is no problem of the plan. Its policy is
 * that of the job's cell, and its `policy`, `user` and `reference` are not looked at. All is borrowed until
 * the job is over. */
struct job_request {
    struct request r;
    int is_streamed; /* user->tokens is told of its tokens as they come; then n_scored is 0 */
    int want_tops;   /* with log-probabilities: also the likeliest tokens and theirs */
};
/* New tokens of a job that streams, behind the first `from` of them. */
struct decoder_tokens {
    int from, n;
    const int32_t *ids;        /* (n) */
    const float *logprobs;     /* (n), or NULL: not asked for */
    const int32_t *tops;       /* (n), or NULL, as in struct completion */
    const float *top_logprobs; /* (n), or NULL */
};

struct decoded_job {
    struct completion c; /* borrowed during the call, as all that is here */
    json_t *more;        /* fields that take the place of the completion's in its record; NULL: none */
    const char *device;  /* for people */
    const struct decoder_replay *replay; /* of a job that is a replay; else NULL */
};

struct decoder_user {
    void *context;
    /* Worker w has decoded job j. An error ends the decoding. */
    int (*done)(void *context, int w, long j, const struct decoded_job *d, struct err *e);
    /* Worker w died while it had job j, with n_held jobs in all. Returns 1 when the job begins anew, 0 when
     * it is over because it is to blame itself. why->code is ERR_DEVICE where the worker failed; another
     * code, or a worker that was told to stop, says nothing about the job. *is_proven: set to 1 where that is
     * certain. */
    int (*lost)(void *context, int w, long j, const struct err *why, int *is_proven, struct err *e);
    /* Job j is over, but what worker w found may be wrong: it begins anew. */
    int (*withdrawn)(void *context, int w, long j, int has_failed, const char *why, const char *device,
                     struct err *e);
    /* The model that worker w loads next, as an index into runfile.models: one it can load, not not_this (-1:
     * any). Returns -1 if none has jobs for it. NULL where there is one model. */
    int (*pick_model)(void *context, int w, int not_this);
    /* Job j, which streams, has these more tokens. The last of them may come with done() alone. A job that
     * begins anew tells its tokens again. NULL: nobody listens. */
    void (*tokens)(void *context, long j, const struct decoder_tokens *t);
};

struct decoder_worker {   /* what the queue may know of a worker */
    int is_live;          /* it is there */
    int is_ready;         /* and has loaded its model */
    int is_coming;        /* it died and is started again soon */
    int is_checked;       /* it decodes a job again to show that it can be trusted */
    int model;            /* that it holds or loads: index into runfile.models */
    int is_leaving, next; /* it ends, to load model `next` */
    int n_held;           /* jobs that it got and has not finished */
    int n_finished;       /* since it was started */
    int places;           /* sequences that it decodes together, as far as memory goes */
    uint64_t cannot;      /* models that it could not load, by bit */
};

/* What all devices with one model have done since the start. */
struct decoder_sums {
    double tokens, steps, decode_seconds, prompt_seconds;
    int devices; /* that decode, or load and will */
    int loading; /* of these */
    int places;
};
struct running_job {
    long job; /* index into plan.jobs */
    int tokens;
};
struct decoder_figures {
    struct decoder_sums model[RUNFILE_MODELS_MAX];
    struct status_worker worker[DEVICES_MAX]; /* (n_workers): each device, also one that is lost */
    int n_workers;
    struct running_job *running; /* (n); xgrow()n, the caller's to free */
    int n;
    size_t cap;
};

/* The functions that return int return 0 or a negative ERR_ code, but capacity(), which returns a count.
 * Those that return nothing and take a struct err set it when the decoding cannot go on. */
struct decoder {
    void *data; /* of the implementation */
    struct runplan *plan;
    struct decoder_user user;
    struct decoder_worker *worker; /* (n_workers) */
    int n_workers;
    double load[RUNFILE_MODELS_MAX]; /* seconds that loading each model took, at most; 0: not known */
    int wake_fd;                     /* poll of worker processes returns when it can be read, too; 0: none */
    int no_wait;                     /* poll of worker processes does not sleep: the user has more to do */
    /* Jobs from this one on are requests that stay as they are, one for each worker: their completions are
     * what a worker is checked by after its restart, and always the same; 0: there are none. */
    long pinned;
    int is_limited; /* the user decides when a job starts: none waits in the decoder; set after opening */
    long left[RUNFILE_MODELS_MAX]; /* jobs of each model that are not over; the user keeps it; -1: unknown */
    int (*bind)(struct decoder *d, struct err *e);
    void (*begin)(struct decoder *d);
    int (*capacity)(struct decoder *d, int w);
    int (*submit)(struct decoder *d, int w, long j, struct err *e);
    /* Ends a job with a `request` before its time: done() is called for it, within a step, with
     * FINISHED_ERROR, or with what it has if it ends meanwhile. */
    int (*cancel)(struct decoder *d, long j, struct err *e);
    int (*poll)(struct decoder *d, struct err *e);
    void (*look)(struct decoder *d, struct decoder_figures *out);
    void (*change_model)(struct decoder *d, int w, int model); /* of a ready worker without jobs */
    void (*drain)(struct decoder *d, struct err *e);
    void (*stop)(struct decoder *d, int is_done, struct err *e);
    void (*close)(struct decoder *d);
};

/* A decoder on the engines of p, which must not be a dry plan. It cannot fail. */
void decoder_open_local(struct decoder *d, struct runplan *p, const struct decoder_user *user);
/* A decoder for a dry plan of a run file with an endpoint. key: sent to the server; NULL: none. Returns 0 or
 * an ERR_ code of endpoint_open(); d->close() also after an error. bind() returns ERR_IO when the server is
 * not there. */
int decoder_open_endpoint(struct decoder *d, struct runplan *p, const struct decoder_user *user,
                          const char *key, struct err *e);

/* How many jobs wait in an engine beyond the running batch: enough to fill a free place at once, and no more,
 * because the engine copies their prompts. */
enum { DECODER_WAITING = 8 };

/* Sequences that a device decodes together: where requests wait, memory is full with those that run. One
 * always goes: a look between two jobs finds none. */
static inline int decoder_places(int is_waiting, int n_running, int max_batch)
{
    int n = is_waiting ? n_running : max_batch;
    return n > 0 ? n : 1;
}

#endif
