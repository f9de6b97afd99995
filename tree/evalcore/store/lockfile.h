#ifndef EVALCORE_STORE_LOCKFILE_H
#define EVALCORE_STORE_LOCKFILE_H

#include "evalcore/base/err.h"

/* Locks for file systems that have none (contract of who excludes whom: runlock.h). A holder has a file of
 * its own, DIR/lock.all.HOST.PID.TIME.held or DIR/lock.I-of-N.HOST.PID.TIME.held, with its host, process and
 * start, and touches it every LOCKFILE_BEAT_SECONDS. Whoever wants the lock makes its own file first and then
 * looks at the others: of two that come at once both may see the other and step back, but never does either
 * overlook it. As no two processes share a name, removing a file of one that has ended cannot hit one that
 * has just begun.
 *
 * A holder has ended when its process is gone, if that can be seen from here, or when its file was not
 * touched for LOCKFILE_STALE_SECONDS, counted by the file server alone: the file's time against that of one
 * just touched. */
enum { LOCKFILE_BEAT_SECONDS = 5, LOCKFILE_STALE_SECONDS = 300 };

struct lockfile;

/* Takes the lock of shard i of n (n 0: of the whole), within a second and a few tries. Returns 0 and the lock
 * in *out, which the caller gives to lockfile_drop(); or ERR_BUSY, which names the holder, ERR_IO or
 * ERR_DISK, and *out is not touched. */
int lockfile_take(struct lockfile **out, const char *run_dir, int i, int n, struct err *e);
/* Removes the file and frees l; NULL: nothing is held. */
void lockfile_drop(struct lockfile *l);

/* Returns 0 when shard i of n (n 0: the whole) is free, ERR_BUSY where a file of another living process, or
 * one that cannot be read, is in the way, else ERR_IO or ERR_DISK. Files of ended processes are removed with
 * a warning. fd: a file in the folder, open for writing, which is touched for the time; own: the name of a
 * file that is the caller's, NULL: none. */
int lockfile_look(int fd, const char *run_dir, const char *own, int i, int n, struct err *e);

/* Returns 1 and the shard in *i and *n (n 0: the whole) when `name`, without its folder, is that of a lock
 * file; else 0. */
int lockfile_name(const char *name, int *i, int *n);
/* Returns 1 when a file of a living process holds just shard i of n (n 0: the whole), else 0, also where the
 * folder cannot be read. Only reads, so that the time of a file of another machine is compared with this
 * one's clock. */
int lockfile_is_held(const char *run_dir, int i, int n);
/* Returns the microseconds that process pid waits before its try k, when two stepped back: others for each
 * process, at least 50,000 and below 200,000. */
unsigned lockfile_pause(long pid, int k);

#endif
