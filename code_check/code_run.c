/* Running a submission (contract: code_check.h). The harness in the sandbox (harness.py) gets one input after
 * the other and sends back what came of it. It shares its process with the submission, which may therefore
 * send anything in its place. That gains nothing: whatever comes is compared here with an output that was
 * never there, and every number that it says is checked before it is believed. */
#include "code_check/code_check.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "code_check/sandbox.h"
#include "evalcore/base/clock.h"

enum {
    HEAD_BYTES = 9,
    LENGTH_BYTES = 8,
    CHUNK = 64 << 10,
    LOOK_MS = 20,
    BEGIN_SECONDS = 60,
    GOT_BYTES = 200
};
enum { SPARE_CPU_SECONDS = 10, NAME_BYTES_MAX = 80 };

extern const char code_harness[];

const struct code_limits code_limits_default = {
    .cpu_seconds = 6, .wall_seconds = 30, .total_seconds = 900, .memory_mib = 2048, .output_mib = 32};

struct talk {
    struct sandbox box;
    struct str in;
    const struct code_limits *limits;
    double started;
    int has_begun;     /* it has its own /tmp */
    enum code_end end; /* why a wait failed */
};

/* A message of the harness: kind 0 when there is none, and why is in t->end. The text is borrowed until the
 * next. */
struct message {
    char kind;
    const char *text;
    size_t n;
};

static uint64_t get_8(const char *p)
{
    uint64_t x = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--)
        x = x << 8 | (unsigned char)p[i];
    return x;
}

/* The bytes of the first message if it is whole, 0 if it is not, -1 if it claims more than the limit. */
static int64_t first_message(const struct talk *t)
{
    uint64_t most = (uint64_t)t->limits->output_mib << 20;
    if (t->in.len < HEAD_BYTES)
        return 0;
    uint64_t n = get_8(t->in.data + 1);
    if (n > most)
        return -1;
    return t->in.len >= HEAD_BYTES + n ? (int64_t)(HEAD_BYTES + n) : 0;
}

/* Takes what is there. Returns 0, or -1 at the end. */
static int take(struct talk *t)
{
    char chunk[CHUNK];
    ssize_t n = recv(t->box.fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (n > 0)
        str_add(&t->in, chunk, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)) ? 0 : -1;
}

static int fail(struct talk *t, enum code_end end)
{
    t->end = end;
    return -1;
}

/* Sends n bytes, if there are any, and waits for a message. Either goes on while the other does, for a
 * submission may write without reading. cpu, wall: limits from now on. */
static int exchange(struct talk *t, const char *data, size_t n, double cpu, double wall)
{
    double began = clock_seconds(), cpu_began = sandbox_cpu_seconds(&t->box);
    for (;;) {
        int64_t whole = first_message(t);
        if (whole < 0)
            return fail(t, CODE_OUTPUT);
        if (whole && !n)
            return 0;
        if (t->in.len > ((size_t)t->limits->output_mib << 20) + HEAD_BYTES)
            return fail(t, CODE_OUTPUT);
        struct pollfd p = {.fd = t->box.fd, .events = (short)(POLLIN | (n ? POLLOUT : 0))};
        if (poll(&p, 1, LOOK_MS) < 0 && errno != EINTR)
            return fail(t, CODE_DIED);
        if ((p.revents & (POLLIN | POLLHUP | POLLERR)) && take(t))
            return fail(t, CODE_DIED);
        if (n && (p.revents & POLLOUT)) {
            ssize_t sent = send(t->box.fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN && errno != EINTR)
                return fail(t, CODE_DIED);
            data += sent > 0 ? sent : 0;
            n -= sent > 0 ? (size_t)sent : 0;
        }
        if (t->has_begun && sandbox_tmp_files(&t->box) > SANDBOX_TMP_FILES)
            return fail(t, CODE_OUTPUT);
        double now = clock_seconds();
        if (sandbox_cpu_seconds(&t->box) - cpu_began > cpu || now - began > wall ||
            now - t->started > t->limits->total_seconds)
            return fail(t, CODE_TIME);
    }
}

static struct message cut(const struct talk *t)
{
    return (struct message){t->in.data[0], t->in.data + HEAD_BYTES, (size_t)get_8(t->in.data + 1)};
}

static void drop(struct talk *t)
{
    size_t n = HEAD_BYTES + (size_t)get_8(t->in.data + 1);
    t->in.len -= n;
    memmove(t->in.data, t->in.data + n, t->in.len);
}

static void add_block(struct str *out, const char *data, size_t n)
{
    for (int i = 0; i < LENGTH_BYTES; i++)
        str_putc(out, (char)((uint64_t)n >> 8 * i));
    str_add(out, data, n);
}

static int open_talk(struct talk *t, int n_tests, struct arena *a, const char **runtime, struct err *e)
{
    struct str program = {0}, why = {0};
    double cpu = (n_tests + 1) * t->limits->cpu_seconds + SPARE_CPU_SECONDS;
    str_printf(&program, "THREADS = %d\n%s", SANDBOX_THREADS, code_harness);
    int rc = sandbox_start(&t->box, str_text(&program), cpu, t->limits->memory_mib, e);
    str_release(&program);
    t->started = clock_seconds();
    if (rc)
        return rc;
    struct message m = {0};
    if (!exchange(t, NULL, 0, BEGIN_SECONDS, BEGIN_SECONDS))
        m = cut(t);
    t->has_begun = m.kind == 'H';
    if (t->has_begun && !sandbox_tmp_files(&t->box))
        str_puts(&why, "its /tmp cannot be watched from outside");
    else if (t->has_begun) {
        *runtime = arena_printf(a, "Python %.*s", (int)(m.n < 40 ? m.n : 40), m.text);
        drop(t);
        return 0;
    }
    if (!why.len)
        sandbox_complaint(&t->box, &why);
    rc = err_set(e, ERR_DISK, "the sandbox for programs does not begin: %s; see `kveval doctor`",
                 why.len ? why.data : "Python says nothing");
    str_release(&why);
    return rc;
}

/* What a test's output begins with, to be shown. */
static const char *beginning(struct arena *a, const char *text, size_t n)
{
    struct str clean = {0};
    str_add_utf8(&clean, text, n < GOT_BYTES ? n : GOT_BYTES);
    const char *kept = arena_strdup(a, str_text(&clean));
    str_release(&clean);
    return kept;
}

/* The name of what was raised, which the submission chose. */
static const char *name_of(struct arena *a, struct message m)
{
    size_t n = 0;
    while (n < m.n && n < NAME_BYTES_MAX &&
           (m.text[n] == '_' || m.text[n] == '.' || (unsigned)(m.text[n] | 32) - 'a' < 26u ||
            (unsigned char)(m.text[n] - '0') < 10))
        n++;
    return n && n == m.n ? arena_strndup(a, m.text, n) : "something";
}

static const char *describe_fault(const struct talk *t, const char *where, const char *how, struct arena *a)
{
    switch (t->end) {
    case CODE_TIME:
        return arena_printf(a, "%s: it took longer than %g seconds of processor time or %g on the clock.",
                            where, t->limits->cpu_seconds, t->limits->wall_seconds);
    case CODE_OUTPUT:
        return arena_printf(a, "%s: it wrote more than %d MiB, or %d files.", where, t->limits->output_mib,
                            SANDBOX_TMP_FILES);
    default:
        return arena_printf(a, "%s: its process %s.", where, how);
    }
}

/* One test. Returns 1 when it is passed. */
static int pass_test(struct talk *t, const struct code_tests *tests, int i, struct code_outcome *out,
                     struct arena *a)
{
    const struct code_test *test = &tests->test[i];
    struct str input = {0};
    add_block(&input, test->input, test->input_len);
    int rc = exchange(t, str_text(&input), input.len, t->limits->cpu_seconds, t->limits->wall_seconds);
    str_release(&input);
    if (rc)
        return 0;
    struct message m = cut(t);
    int is_right = 0;
    long line = 0;
    if (m.kind != 'O' && m.kind != 'V') {
        t->end = CODE_RAISED;
        out->why = arena_printf(a, "Test %d of %d raised %s.", i + 1, tests->n,
                                m.kind == 'E' ? name_of(a, m) : "something");
    } else {
        if (m.kind == 'O' && tests->call)
            is_right = code_value_equal(m.text, m.n, test->output, test->output_len);
        else if (m.kind == 'O')
            is_right = !(line = code_output_differs(m.text, m.n, test->output, test->output_len));
        t->end = CODE_WRONG;
        out->got = beginning(a, m.text, m.n);
        out->why =
            line ? arena_printf(a, "Test %d of %d: line %ld of the output is wrong.", i + 1, tests->n, line)
                 : arena_printf(a, "Test %d of %d: the value is wrong.", i + 1, tests->n);
    }
    drop(t);
    return is_right;
}

static int load_submission(struct talk *t, const struct code_tests *tests, const char *code, size_t n,
                           struct code_outcome *out, struct arena *a)
{
    struct str first = {0};
    const char *kind = tests->call ? arena_printf(a, "call %s", tests->call) : "program";
    add_block(&first, kind, strlen(kind));
    add_block(&first, code, n);
    int rc = exchange(t, str_text(&first), first.len, t->limits->cpu_seconds, t->limits->wall_seconds);
    str_release(&first);
    if (rc)
        return rc;
    struct message m = cut(t);
    if (m.kind != 'C') {
        t->end = CODE_RAISED;
        out->why = arena_printf(a, "The submission does not begin: %s.",
                                m.kind == 'E' ? name_of(a, m) : "it sent a message");
        rc = -1;
    }
    drop(t);
    return rc;
}

int code_run(struct code_outcome *out, const struct code_tests *tests, const char *code, size_t n,
             const struct code_limits *limits, struct arena *a, struct err *e)
{
    struct talk t = {.limits = limits ? limits : &code_limits_default};
    struct str how = {0}, clean = {0};
    *out = (struct code_outcome){.n_tests = tests->n, .got = "", .runtime = ""};
    int rc = open_talk(&t, tests->n, a, &out->runtime, e);
    if (!rc) {
        str_add_utf8(&clean, code, n); /* the harness reads UTF-8 */
        int is_loaded = !load_submission(&t, tests, str_text(&clean), clean.len, out, a);
        while (is_loaded && out->n_passed < tests->n && pass_test(&t, tests, out->n_passed, out, a))
            out->n_passed++;
        const char *where = is_loaded ? arena_printf(a, "Test %d of %d", out->n_passed + 1, tests->n)
                                      : "Before the first test";
        sandbox_end(&t.box, &how);
        if (out->n_passed == tests->n) {
            out->why = arena_printf(a, "All %d tests passed.", tests->n);
            out->end = CODE_PASSED;
            out->got = "";
        } else {
            out->end = t.end;
            if (!out->why || t.end > CODE_RAISED)
                out->why = describe_fault(&t, where, str_text(&how), a);
        }
    }
    sandbox_end(&t.box, NULL);
    str_release(&how);
    str_release(&clean);
    str_release(&t.in);
    return rc;
}

int code_find(const char **code, size_t *n, const char *text, size_t len)
{
    const char *from = NULL, *to = NULL; /* after the last line but one with a fence, and the last one */
    for (size_t i = 0; i < len;) {
        const char *end = memchr(text + i, '\n', len - i);
        size_t next = end ? (size_t)(end - text) + 1 : len + 1;
        if (memmem(text + i, next - 1 - i, "```", 3)) {
            from = to;
            to = text + i;
        }
        i = next;
    }
    if (!from)
        return 0;
    from = memchr(from, '\n', (size_t)(to - from)); /* it is there: the last fence is on another line */
    from++;
    *code = from;
    *n = to > from ? (size_t)(to - 1 - from) : 0;
    return 1;
}

/* ---- is the sandbox tight? Each of these would succeed on a machine without one, or in a loose one. */

static const char probe[] = "import os, socket\n"
                            "found = []\n"
                            "def allowed(name, what):\n"
                            "    try:\n"
                            "        what()\n"
                            "    except (OSError, ImportError):\n"
                            "        return\n"
                            "    found.append(name)\n"
                            "allowed('sockets', lambda: socket.socket())\n"
                            "allowed('files of the system', lambda: os.stat('/etc/passwd'))\n"
                            "allowed('/proc', lambda: os.stat('/proc/self'))\n"
                            "allowed('homes', lambda: os.listdir('/home'))\n"
                            "allowed('writing outside /tmp', lambda: os.mkdir('/usr/lib/kveval_probe'))\n"
                            "allowed('writing to its root', lambda: os.mkdir('/kveval_probe'))\n"
                            "allowed('processes', lambda: os._exit(0) if os.posix_spawn('/usr/bin/python3', "
                            "['python3', '-c', ''], {}) else 0)\n"
                            "open('/tmp/x', 'w').write('x')\n"
                            "if os.getpid() != 1: found.append('other processes')\n"
                            "print(', '.join(found) or 'tight')\n";

int code_sandbox_check(struct str *what, struct err *e)
{
    static const char input[] = "", want[] = "tight\n";
    struct code_test test = {input, want, 0, sizeof want - 1};
    struct code_tests tests = {.test = &test, .n = 1};
    struct code_outcome out;
    struct arena a = {0};
    int rc = code_run(&out, &tests, probe, sizeof probe - 1, NULL, &a, e);
    if (!rc && out.end != CODE_PASSED)
        rc = err_set(e, ERR_DISK,
                     "the sandbox for programs that a model wrote is not tight, so none is run: %s %s",
                     out.why, out.got);
    if (!rc)
        str_printf(what, "bubblewrap, %s", out.runtime);
    arena_release(&a);
    return rc;
}
