/* Options that are looked at before anything is loaded (contract: sweep_options.h). */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/base/log.h"
#include "evalcore/store/runlock.h"
#include "evalcore/status/board.h"
#include "evalcore/store/runfolder.h"
#include "evalcore/sweep/sweep_options.h"

int sweep_parse_shard(const char *text, int *shard, int *n_shards, struct err *e)
{
    const char *slash = text ? strchr(text, '/') : NULL;
    long i = -1, n = -1;
    if (!text)
        return 0;
    struct arena a = {0};
    int bad = !slash || cli_int(arena_strndup(&a, text, (size_t)(slash - text)), 0, RUNLOCK_SHARDS_MAX, &i) ||
              cli_int(slash + 1, 1, RUNLOCK_SHARDS_MAX, &n) || i >= n;
    arena_release(&a);
    if (bad)
        return err_set(e, ERR_USAGE, "--shard takes I/N with I from 0 to N-1, such as 0/4, not \"%s\"", text);
    *shard = (int)i;
    *n_shards = (int)n;
    return 0;
}

int sweep_keep_pipe(const char **path, int argc, char **argv, struct arena *a, struct err *e)
{
    struct stat st;
    struct str text = {0};
    if (stat(*path, &st) || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        return 0; /* what is missing is told by who reads it */
    int fd = memfd_create("run", MFD_CLOEXEC), rc = file_read_most(*path, JSON_WRITTEN_MAX, &text, e);
    for (size_t at = 0; fd >= 0 && !rc && at < text.len;) {
        ssize_t n = write(fd, text.data + at, text.len - at);
        if (n < 0 && errno != EINTR)
            rc = err_set(e, ERR_IO, "%s cannot be kept in memory: %s", *path, strerror(errno));
        at += n > 0 ? (size_t)n : 0;
    }
    str_release(&text);
    if (fd < 0 || rc)
        return rc ? rc : err_set(e, ERR_IO, "%s cannot be kept in memory: %s", *path, strerror(errno));
    char *name = arena_printf(a, "/proc/%ld/fd/%d", (long)getpid(), fd);
    for (int i = 0; i < argc; i++)
        if (argv[i] == *path)
            argv[i] = name;
    *path = name;
    return 0;
}

int sweep_display(const struct sweep_options *o, struct err *e)
{
    int display = board_display(o->display, e);
    if (display < 0)
        return e->code;
    if (o->quiet && (display == BOARD_PLAIN || display == BOARD_JSON))
        return err_set(e, ERR_USAGE, "--quiet shows errors only: leave it or --display %s out", o->display);
    if (o->quiet)
        display = BOARD_NONE;
    else if (display == BOARD_JSON || display == BOARD_NONE)
        log_set_quiet(LOG_WARNINGS);
    if (o->metrics)
        file_check_target("--metrics", o->metrics, e);
    return e->code ? e->code : display;
}

int sweep_check_lengths_from(const struct sweep_options *o, struct err *e)
{
    const char *dir = o->lengths_from;
    json_t *config = dir ? runfolder_config(dir) : NULL;
    if (dir && !config)
        err_set(e, ERR_USAGE, "--lengths-from %s: that is not a run folder", dir);
    json_decref(config);
    return e->code;
}
