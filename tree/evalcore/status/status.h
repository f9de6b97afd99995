#ifndef EVALCORE_STATUS_STATUS_H
#define EVALCORE_STATUS_STATUS_H

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* The room of figures about a running sweep: how far it is, how fast, until when, and what each device does.
 * A sweep fills one struct status and gives it to a board (board.h), which shows it on standard error, keeps
 * it in a file of the run folder for `kveval status`, and in one for Prometheus. Nothing here decides
 * anything: a sweep without a board decodes the same. */
enum status_state {
    STATUS_RUNNING,
    STATUS_GRADING, /* everything is decoded; grades and report are being written */
    STATUS_FINISHED,
    STATUS_STOPPED, /* by a signal, after saving */
    STATUS_FAILED
};
enum status_life { STATUS_LOADING, STATUS_LIVE, STATUS_LOST, STATUS_ENDED };
const char *status_state_name(enum status_state s); /* a constant, "running" */
const char *status_life_name(enum status_life l);   /* a constant, "loading" */

/* Tokens per second over about the last ten seconds. */
enum { STATUS_RATE_SAMPLES = 24 };
struct status_rate {
    double at[STATUS_RATE_SAMPLES], tokens[STATUS_RATE_SAMPLES]; /* the oldest first */
    int n;
};
/* Adds a sample, the tokens so far at `clock` (clock_seconds()), and returns the tokens per second since the
 * oldest sample that is kept; 0 for the first one. A count that went down starts anew. A zeroed *r has no
 * samples. */
double status_rate(struct status_rate *r, double clock, double tokens);

struct status_device {
    const char *name; /* "cuda:1" */
    enum status_life life;
    int running;           /* sequences that it decodes */
    double tokens, rate;   /* decoded since the start, per second */
    long lost, restarts;   /* how often its worker ended, and was started again */
    const char *model;     /* of several, the one that it holds or loads; NULL */
    long switches;         /* how often it went from one to another */
    struct status_rate of; /* from here on: what status_device_now() needs */
    long pid;
};

/* What a device's worker says now. A new pid tells of a new process. */
struct status_worker {
    const char *name;
    enum status_life life;
    long pid; /* 0: none */
    int running;
    double tokens;     /* of all processes that the device had */
    const char *model; /* as in struct status_device */
    long switches;     /* a new process after one of these is no loss */
};
/* Brings *d, zeroed at first, up to date with what its worker says at `clock` (clock_seconds()): state,
 * tokens, rate, and counts of deaths, restarts and changes of model. Texts are borrowed. */
void status_device_now(struct status_device *d, const struct status_worker *w, double clock);

struct status {
    enum status_state state;
    const char *why;      /* it failed; "" otherwise */
    const char *model;    /* as the run file says */
    const char *host;     /* where it runs */
    long pid;             /* there */
    int shard, n_shards;  /* n_shards 0: the whole */
    double started, time; /* seconds since 1970: of the process, of these figures */
    long done, total;     /* jobs of the whole or the shard, those of earlier processes among them */
    long failed;          /* of the done ones: ended in an error */
    double tokens, rate;  /* decoded by this process, per second */
    int running;          /* sequences */
    double left;          /* seconds; below 0: not known */
    double kv_reads, kv_reads_full; /* of completions of this process (engine.h, kv_counts); 0: none */
    struct status_device *device;   /* (n_devices) */
    int n_devices;
};

/* Sets tokens, rate and running to the sums over the devices. */
void status_add_up(struct status *s);

/* Returns a new reference: one object with all of it, in which unknown times are null. */
json_t *status_json(const struct status *s);
/* Reads such an object. Texts and devices are the arena's. Returns 0, or ERR_FORMAT, which names `where`,
 * when a field is missing or has a wrong value, or the version is another. Of reads only their ratio is kept:
 * kv_reads is the density, and kv_reads_full 1, or 0 where it is not known. */
int status_read(struct status *s, const json_t *o, struct arena *a, const char *where, struct err *e);

/* For people; both append a line without its newline. The line of a total, "120 of 256 jobs, 2 failed, 12.3k
 * tokens/s, about 4 min 10 s left", or a shorter one where that is longer than `columns`, which may be longer
 * still; and the line of a device. */
void status_total_text(struct str *out, const struct status *s, int columns);
void status_device_text(struct str *out, const struct status_device *d);

/* Appends the figures for Prometheus, in its text format; `run` is the value of the label of that name. */
void status_metrics(struct str *out, const struct status *s, const char *run);

/* Appends the path of the file in a run folder: status.json, or status.I-of-N.json for a shard (n_shards
 * above 0). */
void status_path(struct str *out, const char *run_dir, int shard, int n_shards);
/* Removes the files of runs that divided the folder's jobs in another way. The caller holds the folder's lock
 * (evalcore/store/runlock.h), so that none of them runs. What cannot be listed, read as a status or removed
 * stays. */
void status_drop_others(const char *run_dir, int n_shards);

#endif
