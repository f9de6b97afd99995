/* Sweeps seen from outside (contract: folder_status.h). */
#include "evalcore/status/folder_status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/clock.h"
#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/store/runlock.h"

/* A sweep on another machine writes every three seconds, but caches of shared disks are slow. */
#define SILENT_SECONDS 60.0
enum { WATCH_PAUSE_US = 250000 };

static const char *const signs[] = {"absent",   "starting", "running", "grading",
                                    "finished", "stopped",  "failed",  "silent"};

const char *sweep_sign_name(enum sweep_sign s)
{
    return signs[s];
}

int sweep_sign_goes_on(enum sweep_sign s)
{
    return s == SIGN_STARTING || s == SIGN_RUNNING || s == SIGN_GRADING;
}

/* "status.json" is the whole (n 0), "status.I-of-N.json" a shard. */
static int read_name(const char *name, int *i, int *n)
{
    int at = 0;
    *i = *n = 0;
    if (!strcmp(name, "status.json"))
        return 1;
    return sscanf(name, "status.%d-of-%d%n", i, n, &at) == 2 && at && !strcmp(name + at, ".json") && *n > 0 &&
           *n <= RUNLOCK_SHARDS_MAX && *i >= 0 && *i < *n;
}

static struct sweep_view *view_of(struct folder_status *f, int i, int n)
{
    for (int k = 0; k < f->n; k++)
        if (f->view[k].s.shard == i && f->view[k].s.n_shards == n)
            return &f->view[k];
    return NULL;
}

static struct sweep_view *add_view(struct folder_status *f, const struct status *s)
{
    f->view = xrealloc(f->view, (size_t)(f->n + 1) * sizeof *f->view);
    f->view[f->n] = (struct sweep_view){.s = *s, .age = -1};
    return &f->view[f->n++];
}

static enum sweep_sign judge_sign(const struct sweep_view *v, const char *dir, const char *host)
{
    int is_held = runlock_is_held(dir, v->s.shard, v->s.n_shards);
    if (v->s.state == STATUS_FINISHED || v->s.state == STATUS_STOPPED || v->s.state == STATUS_FAILED) {
        /* Its last word is the last thing that it writes: whoever holds the folder a while later is another.
         */
        if (is_held && v->age > 2)
            return SIGN_STARTING;
        return v->s.state == STATUS_FINISHED  ? SIGN_FINISHED
               : v->s.state == STATUS_STOPPED ? SIGN_STOPPED
                                              : SIGN_FAILED;
    }
    if (!is_held && (!strcmp(v->s.host, host) || v->age > SILENT_SECONDS))
        return SIGN_SILENT;
    return v->s.state == STATUS_GRADING ? SIGN_GRADING : SIGN_RUNNING;
}

static void read_file(struct folder_status *f, const char *dir, const char *name, double now,
                      const char *host)
{
    struct str path = {0};
    struct err e = {0};
    struct status s;
    struct stat st;
    json_t *o = NULL;
    file_join(&path, dir, name);
    if (file_plain(path.data, &e) || json_read_file(&o, path.data, &e) ||
        status_read(&s, o, &f->arena, path.data, &e)) {
        log_warn("%s; it is left out", e.text);
    } else {
        struct sweep_view *v = add_view(f, &s);
        v->age = now - (stat(path.data, &st) ? s.time : (double)st.st_mtime);
        v->age = v->age > 0 ? v->age : 0;
        v->sign = judge_sign(v, dir, host);
    }
    json_decref(o);
    str_release(&path);
}

/* Only the file tells whether it runs. While results are written, no file is renewed. */
static int is_doubtful(const struct sweep_view *v, const char *host)
{
    return (v->sign == SIGN_RUNNING || v->sign == SIGN_SILENT) && v->s.state == STATUS_RUNNING &&
           strcmp(v->s.host, host) != 0 && v->age >= 0;
}

/* Opened, for a network file system then asks its server. */
static int stat_status(struct stat *st, const char *dir, const struct sweep_view *v)
{
    struct str path = {0};
    status_path(&path, dir, v->s.shard, v->s.n_shards);
    int fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK), ok = fd >= 0 && !fstat(fd, st);
    if (fd >= 0)
        close(fd);
    str_release(&path);
    return ok;
}

/* Those in doubt, until each was renewed or the time is over. */
static void watch_folder(struct folder_status *f, const char *dir, const char *host, double seconds)
{
    struct stat *first = xcalloc((size_t)f->n + 1, sizeof *first);
    double until = clock_seconds() + seconds;
    int n = 0;
    for (int k = 0; k < f->n && seconds > 0; k++)
        if (is_doubtful(&f->view[k], host) &&
            !runlock_is_held(dir, f->view[k].s.shard, f->view[k].s.n_shards) &&
            stat_status(&first[k], dir, &f->view[k])) {
            f->view[k].watch = WATCH_SAME;
            n++;
        }
    while (n && clock_seconds() < until) {
        usleep(WATCH_PAUSE_US);
        for (int k = 0; k < f->n; k++) {
            struct sweep_view *v = &f->view[k];
            struct stat now;
            if (v->watch != WATCH_SAME || !stat_status(&now, dir, v) ||
                (now.st_ino == first[k].st_ino && now.st_mtim.tv_sec == first[k].st_mtim.tv_sec &&
                 now.st_mtim.tv_nsec == first[k].st_mtim.tv_nsec))
                continue;
            v->watch = WATCH_RENEWED;
            v->sign = SIGN_RUNNING;
            v->age = 0;
            n--;
        }
    }
    free(first);
}

static void add_bare(struct folder_status *f, int i, int n, enum sweep_sign sign)
{
    const struct status s = {.why = "", .model = "", .host = "", .shard = i, .n_shards = n, .left = -1};
    if (!view_of(f, i, n))
        add_view(f, &s)->sign = sign;
}

static int by_shard(const void *pa, const void *pb)
{
    const struct sweep_view *a = pa, *b = pb;
    return a->s.n_shards != b->s.n_shards ? a->s.n_shards - b->s.n_shards : a->s.shard - b->s.shard;
}

static void add_up(struct folder_status *f)
{
    struct status *sum = &f->sum;
    *sum = (struct status){.left = -1, .why = "", .model = "", .host = ""};
    for (int k = 0; k < f->n; k++) {
        const struct status *s = &f->view[k].s;
        sum->done += s->done;
        sum->total += s->total;
        sum->failed += s->failed;
        if (!sweep_sign_goes_on(f->view[k].sign))
            continue;
        sum->tokens += s->tokens;
        sum->rate += s->rate;
        sum->running += s->running;
        sum->left = s->left > sum->left ? s->left : sum->left;
    }
}

int folder_status(struct folder_status *f, const char *dir, double now, const char *host, double seconds,
                  struct err *e)
{
    struct file_list list = {0};
    int i, n;
    memset(f, 0, sizeof *f);
    if (!file_is_dir(dir))
        return err_set(e, ERR_USAGE, "%s is not a folder", dir);
    if (file_list(&list, dir, "", e))
        return e->code;
    for (size_t k = 0; k < list.n; k++)
        if (read_name(list.name[k], &i, &n))
            read_file(f, dir, list.name[k], now, host);
    watch_folder(f, dir, host, seconds);
    for (size_t k = 0; k < list.n; k++)
        if (runlock_name(list.name[k], &i, &n) && runlock_is_held(dir, i, n))
            add_bare(f, i, n, SIGN_STARTING);
    file_list_release(&list);
    for (int k = 0; k < f->n; k++)
        for (i = 0, n = f->view[k].s.n_shards; i < n; i++)
            add_bare(f, i, n, SIGN_ABSENT);
    if (f->n)
        qsort(f->view, (size_t)f->n, sizeof *f->view, by_shard);
    add_up(f);
    return 0;
}

void folder_status_release(struct folder_status *f)
{
    free(f->view);
    arena_release(&f->arena);
    memset(f, 0, sizeof *f);
}
