/* The lock on a run folder, with real processes: refused while held, free after kill -9, not inherited by
 * children. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/runlock.h"
#include "tests/check.h"

static const char dir[] = "locked";

/* A process that takes the lock, starts a child that outlives it (*grandchild), says so, and waits to be
 * killed. */
static pid_t start_holder(pid_t *grandchild)
{
    int out[2];
    char go = 0;
    if (pipe(out))
        return -1;
    pid_t holder = fork();
    if (!holder) {
        struct runlock l;
        struct err e = {0};
        if (runlock_take(&l, dir, 0, 0, &e))
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

static void held_and_killed(void)
{
    struct runlock l;
    struct err e = {0};
    char pid[40], host[64] = "";
    pid_t grandchild = 0, holder = start_holder(&grandchild);
    gethostname(host, sizeof host - 1);
    CHECK_INT(runlock_take(&l, dir, 0, 0, &e), ERR_BUSY);
    snprintf(pid, sizeof pid, "pid %ld", (long)holder);
    CHECK(strstr(e.text, pid) != NULL);
    CHECK(strstr(e.text, host) != NULL);
    CHECK(strstr(e.text, dir) != NULL);
    struct err other = {0};
    CHECK_INT(runlock_take(&l, dir, 1, 4, &other), 0); /* another shard has its own */
    runlock_drop(&l);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
    CHECK_INT(kill(grandchild, 0), 0); /* the holder's child is still alive, and does not hold the lock */
    struct err again = {0};
    CHECK_INT(runlock_take(&l, dir, 0, 0, &again), 0);
    runlock_drop(&l);
    kill(grandchild, SIGKILL);
}

static void missing_folder(void)
{
    struct runlock l;
    struct err e = {0};
    CHECK_INT(runlock_take(&l, "no/such/folder", 0, 0, &e), ERR_IO);
    CHECK(strstr(e.text, "no/such/folder/lock") != NULL);
}

int main(void)
{
    struct err e = {0};
    CHECK_INT(file_mkdirs(dir, &e), 0);
    held_and_killed();
    missing_folder();
    return check_done();
}
