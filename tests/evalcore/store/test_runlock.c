/* The lock on a run folder, with real processes: refused while held, free after kill -9, not inherited by
 * children. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/store/lockfile.h"
#include "evalcore/store/runlock.h"
#include "tests/check.h"

static const char dir[] = "locked";

/* A process that takes the lock for shard i of n, starts a child that outlives it (*grandchild), says so, and
 * waits to be killed. */
static pid_t start_holder(int i, int n, pid_t *grandchild)
{
    int out[2];
    char go = 0;
    if (pipe(out))
        return -1;
    pid_t holder = fork();
    if (!holder) {
        struct runlock l;
        struct err e = {0};
        if (runlock_take(&l, dir, i, n, &e))
            _exit(1);
        pid_t child = fork();
        if (!child) {
            execlp("sleep", "sleep", "60", (char *)NULL);
            _exit(1);
        }
        if (write(out[1], &child, sizeof child) != (ssize_t)sizeof child || write(out[1], "g", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    CHECK_INT(read(out[0], grandchild, sizeof *grandchild), sizeof *grandchild);
    CHECK_INT(read(out[0], &go, 1), 1);
    close(out[0]);
    close(out[1]);
    return holder;
}

static void end_holder(pid_t holder, pid_t grandchild)
{
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    kill(grandchild, SIGKILL);
}

static int try(int i, int n, struct err *e)
{
    struct runlock l;
    *e = (struct err){0};
    int rc = runlock_take(&l, dir, i, n, e);
    runlock_drop(&l);
    return rc;
}

/* The whole and a shard, or shards of different n, would decode the same jobs twice; shards of one n would
 * not. */
static void overlaps(void)
{
    static const struct {
        int i, n, held_i, held_n, want;
    } cases[] = {
        {0, 0, 0, 2, ERR_BUSY},
        {0, 2, 0, 0, ERR_BUSY},
        {1, 2, 0, 2, 0},
        {0, 2, 0, 2, ERR_BUSY},
        {0, 3, 1, 2, ERR_BUSY},
        {1, 2, 0, 3, ERR_BUSY},
        {2, 3, 0, 1, ERR_BUSY},
        {0, 1, 0, 0, ERR_BUSY},
        {0, 0, 0, 1, ERR_BUSY},
        {5, 7, 6, 7, 0},
        {0, 100000, 99998, 99999, ERR_BUSY},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct err e;
        char who[60];
        pid_t grandchild = 0, holder = start_holder(cases[k].held_i, cases[k].held_n, &grandchild);
        CHECK_INT(try(cases[k].i, cases[k].n, &e), cases[k].want);
        snprintf(who, sizeof who,
                 cases[k].held_n ? "pid %ld (lock %s/lock.%d-of-%d)" : "pid %ld (lock %s/lock)", (long)holder,
                 dir, cases[k].held_i, cases[k].held_n);
        CHECK(!cases[k].want || strstr(e.text, who) != NULL);
        end_holder(holder, grandchild);
        CHECK_INT(try(cases[k].i, cases[k].n, &e), 0);
    }
}

static void held_and_killed(void)
{
    struct runlock l;
    struct err e = {0};
    char pid[40], host[64] = "";
    pid_t grandchild = 0, holder = start_holder(0, 0, &grandchild);
    gethostname(host, sizeof host - 1);
    CHECK_INT(runlock_take(&l, dir, 0, 0, &e), ERR_BUSY);
    snprintf(pid, sizeof pid, "pid %ld", (long)holder);
    CHECK(strstr(e.text, pid) != NULL);
    CHECK(strstr(e.text, host) != NULL);
    CHECK(strstr(e.text, dir) != NULL);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    CHECK_INT(kill(grandchild, 0), 0); /* the holder's child is still alive, and does not hold the lock */
    struct err again = {0};
    CHECK_INT(runlock_take(&l, dir, 0, 0, &again), 0);
    runlock_drop(&l);
    kill(grandchild, SIGKILL);
}

/* A text that is no holder's, somebody's or a damaged one, is kept; the file locks as any other. */
static void text_that_is_kept(void)
{
    static const char *const texts[] = {"somebody's\nown text\n", "host a pi", "host a pid 17",
                                        "iost a pid 17\n", "precious"};
    char path[40];
    snprintf(path, sizeof path, "%s/lock", dir);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        struct err e = {0};
        struct str text = {0};
        char who[40];
        CHECK_INT(unlink(path), 0);
        CHECK_INT(file_replace(path, texts[k], strlen(texts[k]), &e), 0);
        pid_t grandchild = 0, holder = start_holder(0, 0, &grandchild);
        CHECK_INT(try(0, 0, &e), ERR_BUSY);
        snprintf(who, sizeof who, "by process %ld ", (long)holder);
        CHECK(strstr(e.text, who) != NULL);
        end_holder(holder, grandchild);
        CHECK_INT(try(0, 0, &e), 0);
        CHECK_INT(file_read(path, &text, &e), 0);
        CHECK_STR(str_text(&text), texts[k]);
        str_release(&text);
    }
    CHECK_INT(unlink(path), 0);
}

static void missing_folder(void)
{
    struct runlock l;
    struct err e = {0};
    CHECK_INT(runlock_take(&l, "no/such/folder", 0, 0, &e), ERR_IO);
    CHECK(strstr(e.text, "no/such/folder/lock") != NULL);
}

/* int overflows at pid * 7919 from 271,181 on, and what is negative then was 71 minutes to usleep(). */
static void pause_of_large_pids(void)
{
    static const long pids[] = {1, 271180, 271181, 300000, 4194304};
    for (size_t p = 0; p < sizeof pids / sizeof pids[0]; p++)
        for (int k = 1; k < 4; k++)
            CHECK(lockfile_pause(pids[p], k) >= 50000 && lockfile_pause(pids[p], k) < 200000);
}

static void names(void)
{
    static const struct {
        const char *name;
        int is_one, i, n;
    } cases[] = {
        {"lock", 1, 0, 0},
        {"lock.2-of-3", 1, 2, 3},
        {"lock.3-of-3", 0, 0, 0},
        {"lock.2-of-3.tmp", 0, 0, 0},
        {"lock.all.host.5.17.held", 1, 0, 0},
        {"lock.2-of-3.host.5.17.held", 1, 2, 3},
        {"lock.5-of-3.host.5.17.held", 0, 0, 0},
        {"lock.0-of-2000000000.host.5.17.held", 0, 0, 0}, /* each of them would be listed */
        {"status.json", 0, 0, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        int i, n, is_one = runlock_name(cases[k].name, &i, &n);
        CHECK_INT(is_one, cases[k].is_one);
        CHECK(!is_one || (i == cases[k].i && n == cases[k].n));
    }
}

static void put_held(const char *name, const char *text)
{
    struct err e = {0};
    struct str path = {0};
    file_join(&path, dir, name);
    CHECK_INT(file_write_atomic(path.data, text, strlen(text), &e), 0);
    str_release(&path);
}

/* Where there are no locks, lock files tell: of another machine as long as they are fresh. */
static void held_by_a_file_is_seen_without_locks(void)
{
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    CHECK_INT(runlock_is_held(dir, 0, 0), 0);
    put_held("lock.all.other.5.17.held", "host other pid 5\nmachine other\nstarted 7\n");
    put_held("lock.1-of-2.other.5.17.held", "host other pid 5\nmachine other\nstarted 7\n");
    CHECK_INT(runlock_is_held(dir, 0, 0), 1);
    CHECK_INT(runlock_is_held(dir, 1, 2), 1);
    CHECK_INT(runlock_is_held(dir, 0, 2), 0);
    CHECK_INT(utimensat(AT_FDCWD, "locked/lock.all.other.5.17.held", old, 0), 0);
    CHECK_INT(runlock_is_held(dir, 0, 0), 0);
    CHECK(file_exists("locked/lock.all.other.5.17.held")); /* who looks removes nothing */
    CHECK_INT(unlink("locked/lock.all.other.5.17.held"), 0);
    CHECK_INT(unlink("locked/lock.1-of-2.other.5.17.held"), 0);
}

int main(void)
{
    struct err e = {0};
    CHECK_INT(file_mkdirs(dir, &e), 0);
    held_and_killed();
    overlaps();
    text_that_is_kept();
    missing_folder();
    pause_of_large_pids();
    names();
    held_by_a_file_is_seen_without_locks();
    return check_done();
}
