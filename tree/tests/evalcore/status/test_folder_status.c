/* Sweeps seen from outside, with real processes and locks: at work, ended by kill -9, finished and begun
 * again, on another machine, and shards that nobody has begun. */
#include "evalcore/status/folder_status.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/store/runlock.h"
#include "tests/check.h"

static const char dir[] = "looked_at";

static void write_status(enum status_state state, const char *host, int shard, int n_shards, long done)
{
    struct status s = {.state = state,
                       .why = state == STATUS_FAILED ? "no worker is left" : "",
                       .model = "m",
                       .host = host,
                       .pid = 1,
                       .shard = shard,
                       .n_shards = n_shards,
                       .done = done,
                       .total = 10,
                       .rate = 5,
                       .left = 20 + shard};
    struct str path = {0}, text = {0};
    struct err e = {0};
    status_path(&path, dir, shard, n_shards);
    json_t *o = status_json(&s);
    json_canonical(&text, o);
    CHECK_INT(file_replace(path.data, text.data, text.len, &e), 0);
    json_decref(o);
    str_release(&path);
    str_release(&text);
}

/* A process that holds the lock. */
static pid_t hold(int i, int n)
{
    int out[2];
    char go;
    if (pipe(out))
        return -1;
    pid_t pid = fork();
    if (!pid) {
        struct runlock l;
        struct err e = {0};
        if (runlock_take(&l, dir, i, n, &e) || write(out[1], "g", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(out[1]);
    CHECK_INT(read(out[0], &go, 1), 1);
    close(out[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* What view k says, `later` seconds from now. */
static enum sweep_sign sign(int k, int later)
{
    struct folder_status f;
    struct err e = {0};
    CHECK_INT(folder_status(&f, dir, (double)time(NULL) + later, "here", 0, &e), 0);
    enum sweep_sign s = k < f.n ? f.view[k].sign : SIGN_ABSENT;
    CHECK(k < f.n);
    folder_status_release(&f);
    return s;
}

/* The same of another machine's sweep, whose file is watched; with is_alive it is renewed meanwhile. */
static enum sweep_sign watched(int later, int is_alive)
{
    struct folder_status f;
    struct err e = {0};
    pid_t pid = is_alive ? fork() : -1;
    if (!pid) {
        usleep(300000);
        write_status(STATUS_RUNNING, "elsewhere", 0, 0, 4);
        _exit(0);
    }
    CHECK_INT(folder_status(&f, dir, (double)time(NULL) + later, "here", is_alive ? 10 : 0.6, &e), 0);
    CHECK_INT(f.view[0].watch, is_alive ? WATCH_RENEWED : WATCH_SAME);
    enum sweep_sign s = f.view[0].sign;
    folder_status_release(&f);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return s;
}

static void whole(void)
{
    struct folder_status f;
    struct err e = {0};
    CHECK_INT(folder_status(&f, dir, 0, "here", 0, &e), 0);
    CHECK_INT(f.n, 0);
    folder_status_release(&f);
    pid_t pid = hold(0, 0);
    CHECK_INT(sign(0, 0), SIGN_STARTING);
    write_status(STATUS_RUNNING, "here", 0, 0, 3);
    CHECK_INT(sign(0, 0), SIGN_RUNNING);
    CHECK_INT(sign(0, 600), SIGN_RUNNING); /* stopped, or its disk hangs: it is there all the same */
    write_status(STATUS_GRADING, "here", 0, 0, 10);
    CHECK_INT(sign(0, 0), SIGN_GRADING);
    write_status(STATUS_FINISHED, "here", 0, 0, 10);
    CHECK_INT(sign(0, 0), SIGN_FINISHED);
    CHECK_INT(sign(0, 10), SIGN_STARTING); /* another holds the folder by now */
    write_status(STATUS_RUNNING, "here", 0, 0, 3);
    end(pid);
    CHECK_INT(sign(0, 0), SIGN_SILENT);
    write_status(STATUS_FAILED, "here", 0, 0, 3);
    CHECK_INT(sign(0, 0), SIGN_FAILED);
    write_status(STATUS_STOPPED, "here", 0, 0, 3);
    CHECK_INT(sign(0, 0), SIGN_STOPPED);
    /* On another machine, whose locks may not be seen here, the file's age tells. */
    write_status(STATUS_RUNNING, "elsewhere", 0, 0, 3);
    CHECK_INT(sign(0, 30), SIGN_RUNNING);
    CHECK_INT(sign(0, 90), SIGN_SILENT);
    /* Where clocks differ it does not, and whether the file is renewed does. */
    CHECK_INT(watched(90, 1), SIGN_RUNNING);
    CHECK_INT(watched(-7200, 1), SIGN_RUNNING);
    CHECK_INT(watched(90, 0), SIGN_SILENT);
    CHECK_INT(watched(-7200, 0), SIGN_RUNNING); /* nobody knows; kveval status says so */
}

static void shards(void)
{
    struct folder_status f;
    struct err e = {0};
    CHECK_INT(unlink("looked_at/status.json"), 0);
    write_status(STATUS_RUNNING, "here", 2, 4, 4);
    write_status(STATUS_FINISHED, "here", 0, 4, 10);
    pid_t one = hold(2, 4), two = hold(3, 4);
    CHECK_INT(file_write_atomic("looked_at/status.7-of-4.json", "x", 1, &e), 0); /* no shard of ours */
    CHECK_INT(folder_status(&f, dir, (double)time(NULL), "here", 0, &e), 0);
    static const enum sweep_sign want[] = {SIGN_FINISHED, SIGN_ABSENT, SIGN_RUNNING, SIGN_STARTING};
    CHECK_INT(f.n, 4);
    for (int i = 0; i < 4 && f.n == 4; i++) {
        CHECK_INT(f.view[i].s.shard, i);
        CHECK_INT(f.view[i].sign, want[i]);
    }
    CHECK_INT(f.sum.done, 14);
    CHECK_INT(f.sum.total, 20);
    CHECK_NEAR(f.sum.rate, 5, 0); /* of those at work */
    CHECK_NEAR(f.sum.left, 22, 0);
    folder_status_release(&f);
    end(one);
    end(two);
    CHECK_INT(sign(2, 0), SIGN_SILENT);
    CHECK_INT(sign(3, 0), SIGN_ABSENT);
    /* A file that says nothing is left out with a warning. */
    CHECK_INT(file_write_atomic("looked_at/status.2-of-4.json", "{}", 2, &e), 0);
    log_set_quiet(LOG_ERRORS);
    CHECK_INT(sign(2, 0), SIGN_ABSENT);
    log_set_quiet(LOG_ALL);
    CHECK_INT(folder_status(&f, "no_such_folder", 0, "here", 0, &e), ERR_USAGE);
    CHECK_STR(e.text, "no_such_folder is not a folder");
}

int main(void)
{
    struct err e = {0};
    file_remove_tree(dir, &e);
    CHECK_INT(file_mkdirs(dir, &e), 0);
    whole();
    shards();
    file_remove_tree(dir, &e);
    return check_done();
}
