#ifndef EVALCORE_STATUS_FOLDER_STATUS_H
#define EVALCORE_STATUS_FOLDER_STATUS_H

#include "evalcore/status/status.h"

/* What the sweeps of a run folder are doing, read from outside: by their status files, and by the folder's
 * locks, which tell on their own machine whether they still run. On another machine, where locks may not be
 * seen, it is watched whether the file is renewed, since the age of a file by this machine's clock is wrong
 * where clocks differ. Nothing is written, and no sweep is disturbed. */
enum sweep_sign {
    SIGN_ABSENT,   /* a shard that has left no file */
    SIGN_STARTING, /* it holds the folder and has not begun */
    SIGN_RUNNING,
    SIGN_GRADING,
    SIGN_FINISHED,
    SIGN_STOPPED,
    SIGN_FAILED,
    SIGN_SILENT /* it said that it runs, and does not */
};
const char *sweep_sign_name(enum sweep_sign s); /* a constant, "running" */
int sweep_sign_goes_on(enum sweep_sign s);      /* 1: starting, running or grading; else 0 */

struct sweep_view {
    struct status s; /* of an absent or starting one: shard and n_shards only */
    enum sweep_sign sign;
    double age; /* seconds since it wrote, by this machine's clock; below 0: it did not */
    enum { WATCH_NONE, WATCH_RENEWED, WATCH_SAME } watch; /* was it watched, and what was seen? */
};
/* A sweep renews its file every three seconds. */
#define WATCH_SECONDS 8.0

struct folder_status {
    struct sweep_view *view; /* (n), by shard */
    int n;
    struct status sum; /* over the views with figures; `left` is the longest of those at work */
    struct arena arena;
};

/* Looks at the sweeps of run folder dir. now: seconds since 1970; host: of this machine; seconds: how long a
 * file may be watched, if nothing else tells whether its sweep still runs. One that is renewed is at work,
 * whatever its age; one that is not and is older than a minute is silent. Younger ones count as running, for
 * caches of shared disks are slow. A status file that cannot be read is warned of and left out. Returns 0,
 * also where the folder has no sweep (f->n is 0), ERR_USAGE where dir is no folder, or ERR_IO where it cannot
 * be listed. The caller releases f, also after an error. */
int folder_status(struct folder_status *f, const char *dir, double now, const char *host, double seconds,
                  struct err *e);
/* Frees what f owns and zeroes it. */
void folder_status_release(struct folder_status *f);

#endif
