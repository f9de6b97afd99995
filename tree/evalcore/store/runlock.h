#ifndef EVALCORE_STORE_RUNLOCK_H
#define EVALCORE_STORE_RUNLOCK_H

#include "evalcore/base/err.h"

/* Who may decode into a run folder: one coordinator for the whole, or one for each shard
 * of the same n. Everything else overlaps and is refused, including shards of another n, which divide the
 * jobs differently. The locks are POSIX record locks on DIR/lock: the kernel drops them when the process
 * ends, also after kill -9, and no child inherits them. The host and pid in DIR/lock or DIR/lock.I-of-N only
 * serve the message to whoever is refused. On a file system without such locks a file with signs of life
 * takes their place (lockfile.h), which is said; it also counts where there are locks. */
struct lockfile;
struct runlock {
    int fd;                /* of DIR/lock; 0: not held */
    struct lockfile *file; /* NULL: the file system has locks */
};

enum { RUNLOCK_SHARDS_MAX = 100000 };

/* Locks shard i of n (at most RUNLOCK_SHARDS_MAX); n 0: the whole. The folder must exist. Returns 0; or
 * ERR_BUSY, which names the holder, ERR_IO or ERR_DISK, and nothing is held then. */
int runlock_take(struct runlock *l, const char *run_dir, int i, int n, struct err *e);
/* Gives the lock back and zeroes *l; a zeroed one holds nothing. */
void runlock_drop(struct runlock *l);

/* Returns 1 when a process holds just the lock of shard i of n (n 0: of the whole), or a lock file in its
 * place, as far as this machine can see; else 0, also where nothing can be read. Only reads. Not for a
 * process that holds one itself: it would lose it. */
int runlock_is_held(const char *run_dir, int i, int n);
/* Returns 1 and the shard in *i and *n (n 0: the whole) when a file of that name in a run folder belongs to a
 * lock; else 0, and *i and *n have no meaning. */
int runlock_name(const char *name, int *i, int *n);

#endif
