/* Programs that do harm (sandbox.test): each ends as wrong, raised, dead or too long, none reaches anything
 * outside, and nothing is left: no process, no file, no connection. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code_check/code_check.h"
#include "evalcore/base/clock.h"
#include "evalcore/base/file.h"
#include "evalcore/base/prompt_fill.h"
#include "tests/cases.h"
#include "tests/code_check/needs_sandbox.h"

static const char *const ends[] = {"passed", "wrong", "raised", "time", "output", "died"};
static const char secret[] = "kq7x2mzt40vbwe91";

/* What a program would like to reach. */
static struct {
    char folder[4096], name[64], port[16], parent[16];
    int fd[4]; /* TCP, UDP, a socket in the folder, an abstract one */
} world;

static int listen_on(int family, int kind, struct sockaddr *address, socklen_t n)
{
    int fd = socket(family, kind | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK(fd >= 0);
    CHECK(!bind(fd, address, n));
    CHECK(kind != SOCK_STREAM || !listen(fd, 4));
    return fd;
}

static void open_world(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof in;
    CHECK(getcwd(world.folder, sizeof world.folder) != NULL);
    snprintf(world.name, sizeof world.name, "kveval-test-%d", (int)getpid());
    snprintf(world.parent, sizeof world.parent, "%d", (int)getpid());
    world.fd[0] = listen_on(AF_INET, SOCK_STREAM, (struct sockaddr *)&in, sizeof in);
    CHECK(!getsockname(world.fd[0], (struct sockaddr *)&in, &n));
    world.fd[1] = listen_on(AF_INET, SOCK_DGRAM, (struct sockaddr *)&in, sizeof in);
    snprintf(world.port, sizeof world.port, "%d", ntohs(in.sin_port));
    struct sockaddr_un un = {.sun_family = AF_UNIX, .sun_path = "socket"};
    unlink("socket");
    unlink("left");
    world.fd[2] = listen_on(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&un, sizeof un);
    CHECK(!chmod("socket", 0777));
    memset(un.sun_path, 0, sizeof un.sun_path);
    memcpy(un.sun_path + 1, world.name, strlen(world.name));
    world.fd[3] = listen_on(AF_UNIX, SOCK_STREAM, (struct sockaddr *)&un,
                            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(world.name)));
    CHECK(!file_write_atomic("secret", secret, strlen(secret), NULL));
    CHECK(!chmod("secret", 0666));
    CHECK(!prctl(PR_SET_CHILD_SUBREAPER, 1)); /* whatever outlives its parent becomes ours */
}

/* Nothing that a program could have left behind is there. */
static void check_untouched(const char *name)
{
    char byte;
    int left = waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
    if (left)
        fprintf(stderr, "%s: a process was left behind\n", name);
    CHECK(!left);
    CHECK(access("left", F_OK) != 0);
    for (int i = 0; i < 4; i++) {
        int reached = i == 1 ? recv(world.fd[i], &byte, 1, 0) >= 0 : accept(world.fd[i], NULL, NULL) >= 0;
        if (reached)
            fprintf(stderr, "%s: socket %d was reached\n", name, i);
        CHECK(!reached);
    }
}

static void fill(struct str *out, const char *text)
{
    const struct {
        const char *mark, *value;
    } marks[] = {{"@FOLDER@", world.folder},
                 {"@NAME@", world.name},
                 {"@PORT@", world.port},
                 {"@PARENT@", world.parent},
                 {"@SECRET@", secret}};
    while (*text) {
        size_t i = 0;
        while (i < 5 && strncmp(text, marks[i].mark, strlen(marks[i].mark)) != 0)
            i++;
        if (i < 5) {
            str_puts(out, marks[i].value);
            text += strlen(marks[i].mark);
        } else
            str_putc(out, *text++);
    }
}

static int ends_as(const char *allowed, enum code_end end)
{
    const char *at = strstr(allowed, ends[end]);
    return at != NULL;
}

static void run_row(const struct test_case *t)
{
    struct code_limits limits = {
        .cpu_seconds = 1, .wall_seconds = 20, .total_seconds = 60, .memory_mib = 512, .output_mib = 4};
    struct str code = {0}, output = {0};
    struct arena a = {0};
    struct err e = {0};
    struct code_outcome out = {0};
    const char *wall = case_text(t, "wall"), *input = case_text(t, "input"), *mib = case_text(t, "input_mib"),
               *want = case_text(t, "output");
    if (case_text(t, "slow") && check_small())
        return;
    limits.wall_seconds = wall ? strtod(wall, NULL) : limits.wall_seconds;
    fill(&code, case_need(t, "code"));
    fill(&output, want ? want : "escaped");
    struct code_test test = {.input = input ? input : "",
                             .input_len = input ? strlen(input) : 0,
                             .output = output.data,
                             .output_len = output.len};
    if (mib) {
        test.input_len = (size_t)strtol(mib, NULL, 10) << 20;
        char *big = arena_alloc(&a, test.input_len);
        memset(big, 'x', test.input_len);
        test.input = big;
    }
    struct code_tests tests = {.test = &test, .n = 1, .call = case_text(t, "call")};
    double began = clock_seconds();
    CHECK_INT(code_run(&out, &tests, str_text(&code), code.len, &limits, &a, &e), 0);
    double took = clock_seconds() - began;
    if (e.code)
        fprintf(stderr, "%s:%d: %s: %s\n", t->path, t->line, t->name, e.text);
    int ok = out.end != CODE_PASSED && ends_as(case_need(t, "end"), out.end);
    if (!ok)
        fprintf(stderr, "%s:%d: %s: %s, after %.2f s: %s %s\n", t->path, t->line, t->name, ends[out.end],
                took, out.why, out.got);
    else if (getenv("VERBOSE"))
        fprintf(stderr, "%-50s %-7s %.2f s: %s %s\n", t->name, ends[out.end], took, out.why, out.got);
    CHECK(ok);
    CHECK(took < 60);
    check_untouched(t->name);
    str_release(&code);
    str_release(&output);
    arena_release(&a);
}

/* Who grades may be killed at any moment: its sandbox ends with it, whatever runs there. */
static void test_killed_grader(void)
{
    static const char loop[] = "while True:\n    pass\n";
    struct code_test test = {"", "", 0, 0};
    struct code_tests tests = {.test = &test, .n = 1};
    pid_t child = fork();
    if (!child) {
        struct code_outcome out;
        struct arena a = {0};
        code_run(&out, &tests, loop, sizeof loop - 1, NULL, &a, NULL);
        _exit(0);
    }
    usleep(1000000); /* it is somewhere between its start and the loop's limit of 6 seconds */
    CHECK(!kill(child, SIGKILL));
    double end = clock_seconds() + 60;
    int left = 1;
    while (left && clock_seconds() < end) { /* orphans become ours */
        left = waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
        usleep(10000);
    }
    CHECK(!left);
}

int main(int argc, char **argv)
{
    needs_sandbox();
    open_world();
    test_killed_grader();
    cases_each(argc > 1 ? argv[1] : NULL, run_row);
    return check_done();
}
