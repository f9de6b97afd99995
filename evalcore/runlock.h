#ifndef EVALCORE_RUNLOCK_H
#define EVALCORE_RUNLOCK_H

#include "evalcore/base/err.h"

/* One coordinator per run folder and shard. The lock is the kernel's (POSIX record lock): it falls with the
 * process, also after kill -9, and no child inherits it. The file's text, host and pid, only serves the
 * message of the one who is refused. */
struct runlock {
    int fd; /* 0: not held */
};

/* shard i of n; n 0: no shards. ERR_BUSY names the holder. */
int runlock_take(struct runlock *l, const char *run_dir, int i, int n, struct err *e);
void runlock_drop(struct runlock *l);

#endif
