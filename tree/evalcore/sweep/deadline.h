#ifndef EVALCORE_SWEEP_DEADLINE_H
#define EVALCORE_SWEEP_DEADLINE_H

#include "evalcore/cli/stop.h"

/* When decoding has to end: --time-limit, or the end of the Slurm job. queue.h starts no job that is expected
 * to end later. */
struct deadline {
    struct stopper *stopper; /* NULL: no signals */
    double started;          /* clock_seconds() at deadline_init() */
    double seconds;          /* that it has from then */
    int is_slurm;            /* Slurm says so */
    double report;           /* seconds that grades and report are expected to take */
    double end;              /* of decoding; INFINITY: no limit */
    double decoding;         /* when decoding began; 0: it did not */
};

/* Why decoding ended although jobs are left, where it is no signal. */
enum { DEADLINE_TIME_UP = -1 };

/* Sets no limit; the time counts from this call. stopper: borrowed; NULL: no signals. */
void deadline_init(struct deadline *s, struct stopper *stopper);
/* Reads "3h", "90m", "1h30m", "3600" (seconds) or "2d". Returns 0 and the seconds; or ERR_USAGE, which names
 * the option ("--time-limit"), for another form, less than a second or more than 366 days: *seconds is not
 * touched then. */
int deadline_duration(const char *option, const char *text, double *seconds, struct err *e);
/* Sets the limit from --time-limit, which wins, or without it (NULL) from where Slurm ends the job (seconds
 * since 1970; 0: not known), which it logs. It warns of an end by Slurm that is past and does not use it, nor
 * one more than 30 days away. Returns 0, also where there is no limit, or ERR_USAGE: time_limit is no
 * duration. */
int deadline_limit(struct deadline *s, const char *time_limit, long slurm_end, struct err *e);
/* Decoding begins. Reading the folder took `seconds`, which tells how long the report will take: a limit of
 * time is counted anew with that, and is told to the stopper. */
void deadline_begin(struct deadline *s, double seconds);
/* Returns the seconds to keep, out of a time limit of `seconds`, for grades and report. */
double deadline_reserve(const struct deadline *s, double seconds);
/* They return 1 or 0: whether there is a limit of time; whether a signal has asked for a drain, in which
 * nothing new starts. */
int deadline_is_limited(const struct deadline *s);
int deadline_is_draining(const struct deadline *s);
/* Returns 0: go on; the number of the signal that came; or DEADLINE_TIME_UP once the time is over. With a
 * drain it returns SIGINT when nothing runs any more (busy 0) or the drain's time is over. A signal comes
 * before the time. */
int deadline_poll(const struct deadline *s, int busy);

#endif
