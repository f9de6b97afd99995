#ifndef EVALCORE_STORE_RUNLOCK_H
#define EVALCORE_STORE_RUNLOCK_H

#include "evalcore/base/err.h"

/* Who may decode into a run folder: one coordinator for the whole, or one for each shard of one n. Everything
 * else overlaps and is refused, also shards of different n, which divide the jobs differently. The locks are
 * the kernel's (POSIX record locks on DIR/lock): they fall with the process, also after kill -9, and no child
 * inherits them. The text in DIR/lock or DIR/lock.I-of-N, host and pid, only serves the message of the one
 * who is refused. */
struct runlock {
    int fd; /* 0: not held */
};

enum { RUNLOCK_SHARDS_MAX = 100000 };

/* shard i of n (at most RUNLOCK_SHARDS_MAX); n 0: the whole. ERR_BUSY names the holder. */
int runlock_take(struct runlock *l, const char *run_dir, int i, int n, struct err *e);
void runlock_drop(struct runlock *l);

#endif
