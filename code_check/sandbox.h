#ifndef CODE_CHECK_SANDBOX_H
#define CODE_CHECK_SANDBOX_H

#include <sys/types.h>
#include <time.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* A Python process in a sandbox of bubblewrap, with a socket to it. It is process 1 of its own process, user,
 * network, IPC and host name spaces; sees a read-only tree that holds Python, its libraries and /dev/null,
 * nothing of /proc, /etc, /home or /run, and an empty /tmp of SANDBOX_TMP_MIB; has no environment but what
 * Python needs, no descriptor but the socket, no controlling terminal; cannot gain privileges, make
 * processes, sockets, shared memory, mounts or namespaces (sandbox_filter.c); and has limits on processor
 * time, memory, threads, open files and their size. Where kveval runs as root the sandbox is the user
 * nobody's. It ends with the process that started it, and all in it ends with it. */
enum {
    SANDBOX_TMP_MIB = 16,
    SANDBOX_TMP_FILES = 1000,
    SANDBOX_OPEN_FILES = 64,
    SANDBOX_THREADS = 64,
    SANDBOX_USER = 65534
};

struct sandbox {
    pid_t outer; /* bubblewrap; 0: none */
    int fd;      /* socket; its other end is descriptor 0 of the process */
    int errors;  /* what bubblewrap and Python write before `program` redirects it */
    int inner;   /* pidfd of the Python process; -1: not yet known */
    pid_t pid;   /* of that process */
    clockid_t clock;
};

/* Starts Python on the text of a program. cpu_seconds: of the process in all. Returns 0, or ERR_DISK when
 * there is no bubblewrap or no Python, or the system refuses; the message says which and what to do. */
int sandbox_start(struct sandbox *s, const char *program, double cpu_seconds, long memory_mib, struct err *e);
/* Returns the processor time of the Python process, in seconds; 0 when it has ended or not begun. */
double sandbox_cpu_seconds(const struct sandbox *s);
/* Returns how many files and folders its /tmp has, itself included; 0 when that cannot be seen, as when the
 * process has ended. A tmpfs has no limit of files but half of the machine's pages, so whoever waits for the
 * process looks. */
long sandbox_tmp_files(const struct sandbox *s);
/* Ends all that is in the sandbox, waits until it is gone, and frees what s holds; s may be zeroed. Adds to
 * how (may be NULL) how it ended: "ended with exit code 0", "was ended by signal 9 (Killed)". */
void sandbox_end(struct sandbox *s, struct str *how);
/* Appends what bubblewrap has said, cut to one line, to a message about a sandbox that did not begin. */
void sandbox_complaint(const struct sandbox *s, struct str *out);

/* Where bubblewrap is, and Python; NULL: not here. */
const char *sandbox_bwrap(void);
const char *sandbox_python(void);

/* The filter of system calls, in the form that bubblewrap takes: n instructions of the kernel's BPF. */
struct sock_filter;
const struct sock_filter *sandbox_filter(size_t *n);

#endif
