/* Lock files with signs of life (contract: lockfile.h). */
#include "evalcore/store/lockfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/log.h"

enum { TRIES = 4, PAUSE_US = 50000, MACHINE_MAX = 160 };
static const char suffix[] = ".held";

struct lockfile {
    int fd, is_over, is_running;
    char *path, *run_dir;
    const char *name; /* of path, without the folder */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
};

/* Which machine and which of its process numbers this is: containers may share a host's name and neither. "":
 * not known, as where there is no /proc. */
static void this_machine(char out[MACHINE_MAX])
{
    struct str boot = {0};
    char pids[64] = "";
    ssize_t n = readlink("/proc/self/ns/pid", pids, sizeof pids - 1);
    *out = 0;
    if (n > 0 && !file_read("/proc/sys/kernel/random/boot_id", &boot, NULL) && boot.len) {
        boot.data[strcspn(boot.data, "\n")] = 0;
        snprintf(out, MACHINE_MAX, "machine %.60s %.60s", boot.data, pids);
    }
    str_release(&boot);
}

/* When a process began, in the kernel's ticks; 0: it is not there or cannot be asked; ENDED: it has ended,
 * and its parent has not asked for its exit code yet. */
#define ENDED ULLONG_MAX
static unsigned long long start_of(long pid)
{
    enum { START = 22 - 2 }; /* fields behind the name, which may hold anything */
    struct str path = {0}, text = {0};
    unsigned long long ticks = 0;
    str_printf(&path, "/proc/%ld/stat", pid);
    const char *at = file_read(path.data, &text, NULL) ? NULL : strrchr(str_text(&text), ')');
    int has_ended = at && (!strncmp(at, ") Z", 3) || !strncmp(at, ") X", 3));
    for (int i = 0; i < START && at; i++)
        at = strchr(at + 1, ' ');
    if (has_ended)
        ticks = ENDED;
    else if (at)
        ticks = strtoull(at, NULL, 10);
    str_release(&path);
    str_release(&text);
    return ticks;
}

int lockfile_name(const char *name, int *i, int *n)
{
    size_t length = strlen(name), tail = strlen(suffix);
    if (length < tail || strcmp(name + length - tail, suffix) != 0)
        return 0;
    *i = *n = 0;
    return !strncmp(name, "lock.all.", 9) || (sscanf(name, "lock.%d-of-%d.", i, n) == 2 && *n > 0);
}

/* The process that wrote the file, where it is one of this machine and has ended. */
static int is_gone(const char *text)
{
    char machine[MACHINE_MAX];
    this_machine(machine);
    const char *pid = strstr(text, " pid "), *where = strchr(text, '\n');
    const char *start = where ? strstr(where, "\nstarted ") : NULL;
    if (!*machine || !pid || !start || strncmp(where + 1, machine, strlen(machine)) != 0 ||
        where[1 + strlen(machine)] != '\n')
        return 0;
    long process = strtol(pid + 5, NULL, 10);
    unsigned long long began = strtoull(start + 9, NULL, 10), now = start_of(process);
    if (process > 0 && kill((pid_t)process, 0) && errno == ESRCH)
        return 1;
    return began && now && began != now; /* the number is another process's by now */
}

/* Seconds since the file was touched, by the server's time now. Opening it fetches its time anew from a
 * server. */
static double age_of(const char *path, const struct timespec *now)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    double age = fd < 0 || fstat(fd, &st) ? 0
                                          : (double)(now->tv_sec - st.st_mtim.tv_sec) +
                                                1e-9 * (double)(now->tv_nsec - st.st_mtim.tv_nsec);
    if (fd >= 0)
        close(fd);
    return age;
}

/* 0 where the file is one of a process that has ended, which is said and ends the file. */
static int check_lockfile(const char *run_dir, const char *path, const struct timespec *now, struct err *e)
{
    struct str text = {0};
    int rc = 0;
    if (file_plain(path, NULL) || file_read(path, &text, NULL) ||
        (text.len && strncmp(text.data, "host ", 5))) { /* it may be somebody's: never removed */
        str_release(&text);
        return file_exists(path) ? err_set(e, ERR_BUSY, "%s: the lock %s cannot be read", run_dir, path) : 0;
    }
    double age = age_of(path, now);
    int gone = is_gone(str_text(&text));
    char *holder = xstrdup(str_text(&text));
    holder[strcspn(holder, "\n")] = 0;
    const char *who = *holder ? holder : "a process that is starting";
    if (gone)
        log_warn("%s: the lock of %s is taken over, the process is gone", run_dir, who);
    else if (age > LOCKFILE_STALE_SECONDS)
        log_warn("%s: the lock of %s is taken over, it has given no sign of life for %.0f minutes", run_dir,
                 who, age / 60);
    else
        rc = err_set(e, ERR_BUSY, "%s is in use by %s (lock %s); wait for it, or use another folder", run_dir,
                     who, path);
    if (!rc && unlink(path) && errno != ENOENT)
        rc = err_set(e, file_error_code(errno), "cannot remove %s: %s", path, err_reason(errno));
    free(holder);
    str_release(&text);
    return rc;
}

int lockfile_look(int fd, const char *run_dir, const char *own, int i, int n, struct err *e)
{
    struct file_list files;
    struct stat st;
    int rc = file_list(&files, run_dir, suffix, e);
    if (rc || !files.n)
        return file_list_release(&files), rc;
    if (futimens(fd, NULL) || fstat(fd, &st))
        rc = err_set(e, file_error_code(errno), "%s: a lock cannot be touched: %s", run_dir,
                     err_reason(errno));
    for (size_t k = 0; k < files.n && !rc; k++) {
        int its_i, its_n;
        if ((own && !strcmp(files.name[k], own)) || !lockfile_name(files.name[k], &its_i, &its_n))
            continue;
        if (n && its_n == n && its_i != i) /* another shard of the same n */
            continue;
        struct str path = {0};
        file_join(&path, run_dir, files.name[k]);
        rc = check_lockfile(run_dir, path.data, &st.st_mtim, e);
        str_release(&path);
    }
    file_list_release(&files);
    return rc;
}

int lockfile_is_held(const char *run_dir, int i, int n)
{
    struct file_list files;
    struct timespec now;
    int is_held = 0, its_i, its_n;
    clock_gettime(CLOCK_REALTIME, &now);
    if (file_list(&files, run_dir, suffix, NULL))
        files.n = 0;
    for (size_t k = 0; k < files.n && !is_held; k++) {
        struct str path = {0}, text = {0};
        file_join(&path, run_dir, files.name[k]);
        is_held = lockfile_name(files.name[k], &its_i, &its_n) && its_i == i && its_n == n &&
                  !file_plain(path.data, NULL) && !file_read(path.data, &text, NULL) &&
                  !is_gone(str_text(&text)) && age_of(path.data, &now) <= LOCKFILE_STALE_SECONDS;
        str_release(&path);
        str_release(&text);
    }
    file_list_release(&files);
    return is_held;
}

static int make_file(struct lockfile *l, int i, int n, struct err *e)
{
    char host[64], machine[MACHINE_MAX];
    struct str path = {0}, text = {0};
    int rc = 0;
    file_host_name(host, sizeof host);
    this_machine(machine);
    str_printf(&path, "%s/lock.", l->run_dir);
    if (n)
        str_printf(&path, "%d-of-%d", i, n);
    else
        str_puts(&path, "all");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    str_printf(&path, ".%s.%ld.%lld%09ld%s", host, (long)getpid(), (long long)now.tv_sec, now.tv_nsec,
               suffix);
    str_printf(&text, "host %s pid %ld\n%s\nstarted %llu\n", host, (long)getpid(), machine,
               start_of((long)getpid()));
    l->fd = file_open_new(path.data, 0);
    ssize_t put = l->fd < 0 ? -1 : write(l->fd, text.data, text.len);
    int cause = put < 0 ? errno : ENOSPC;
    if (put != (ssize_t)text.len)
        rc = err_set(e, file_error_code(cause), "cannot write the lock %s: %s", path.data, err_reason(cause));
    l->path = xstrdup(path.data);
    l->name = strrchr(l->path, '/') + 1;
    str_release(&path);
    str_release(&text);
    return rc;
}

/* The file goes only while it is ours: its name holds the moment it was made. */
static void remove_file(struct lockfile *l)
{
    if (l->fd >= 0) {
        close(l->fd);
        unlink(l->path);
    }
    l->fd = -1;
    free(l->path);
    l->path = NULL;
}

/* What was said of a lock already. */
enum { TOLD_REMOVED = 1, TOLD_UNTOUCHED = 2 };

/* An NFS server that has lost the file to another client answers ESTALE. */
static void touch_lockfile(struct lockfile *l, int *told)
{
    struct stat st;
    int cause = futimens(l->fd, NULL) || fstat(l->fd, &st) ? errno : 0;
    int is_removed = cause ? cause == ESTALE || cause == ENOENT : !st.st_nlink;
    if (is_removed && !(*told & TOLD_REMOVED)) {
        *told |= TOLD_REMOVED;
        log_warn("the lock %s was removed while it was held: another process may decode into %s, too",
                 l->path, l->run_dir);
    } else if (cause && !is_removed && !(*told & TOLD_UNTOUCHED)) {
        *told |= TOLD_UNTOUCHED;
        log_warn("the lock %s cannot be touched: %s; if that lasts, another process takes %s over in %d "
                 "minutes",
                 l->path, err_reason(cause), l->run_dir, LOCKFILE_STALE_SECONDS / 60);
    }
}

static void *heartbeat_thread(void *context)
{
    struct lockfile *l = context;
    int told = 0;
    pthread_mutex_lock(&l->mutex);
    while (!l->is_over) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec += LOCKFILE_BEAT_SECONDS;
        while (!l->is_over && !pthread_cond_timedwait(&l->ended, &l->mutex, &next))
            ;
        pthread_mutex_unlock(&l->mutex); /* a server that hangs must not hold up the end */
        touch_lockfile(l, &told);
        pthread_mutex_lock(&l->mutex);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* The thread takes no signal: those are for the sweep. */
static int start_beat(struct lockfile *l, struct err *e)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    pthread_mutex_init(&l->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&l->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int cause = pthread_create(&l->thread, NULL, heartbeat_thread, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    l->is_running = !cause;
    return cause ? err_set(e, file_error_code(cause), "cannot start a thread for the lock: %s",
                           err_reason(cause))
                 : 0;
}

unsigned lockfile_pause(long pid, int k)
{
    return PAUSE_US + ((unsigned)pid * 7919U + (unsigned)k * 104729U) % (3U * PAUSE_US);
}

int lockfile_take(struct lockfile **out, const char *run_dir, int i, int n, struct err *e)
{
    struct lockfile *l = xcalloc(1, sizeof *l);
    struct err busy = {0};
    int rc = ERR_BUSY;
    l->run_dir = xstrdup(run_dir);
    for (int k = 0; k < TRIES && rc == ERR_BUSY; k++) { /* two that come at once step back both */
        if (k)
            usleep(lockfile_pause((long)getpid(), k));
        busy = (struct err){0};
        rc = make_file(l, i, n, &busy);
        if (!rc)
            rc = lockfile_look(l->fd, run_dir, l->name, i, n, &busy);
        if (rc)
            remove_file(l);
    }
    if (rc)
        err_set(e, rc, "%s", busy.text);
    else
        rc = start_beat(l, e);
    if (rc) {
        remove_file(l);
        free(l->run_dir);
        free(l);
        return rc;
    }
    *out = l;
    return 0;
}

void lockfile_drop(struct lockfile *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->mutex);
    l->is_over = 1;
    pthread_cond_signal(&l->ended);
    pthread_mutex_unlock(&l->mutex);
    if (l->is_running)
        pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->ended);
    pthread_mutex_destroy(&l->mutex);
    remove_file(l);
    free(l->run_dir);
    free(l);
}
