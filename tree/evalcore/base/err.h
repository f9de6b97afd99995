#ifndef EVALCORE_BASE_ERR_H
#define EVALCORE_BASE_ERR_H

/* Errors are values: a code for the program and a sentence for the person. Every room but kernels uses
 * them.
 *
 * A function that can fail returns 0 or a negative ERR_ code and takes the caller's struct err last. The
 * first message wins, so the deepest cause is kept; callers add context on the way up with err_add(),
 * which puts "context: " in front. A sentence names the thing (file, field, number) and the next step; it
 * is cut to the size of `text`. A zeroed struct err is an empty one. e may be NULL where the caller does
 * not need the message. Running out of host memory is no error value: it aborts (see arena.h). */
enum {
    ERR_USAGE = -1,       /* the person's input is wrong: command line, run file, data file (exit 2) */
    ERR_IO = -2,          /* the file system or the network refused */
    ERR_FORMAT = -3,      /* a file does not have the form it should have */
    ERR_UNSUPPORTED = -4, /* well-formed, but not something this program handles */
    ERR_DEVICE = -5,      /* backend: device memory, launch failure */
    ERR_BUSY = -6,        /* another process holds it */
    ERR_DISK = -7 /* a disk that is full or fails, or a process that cannot be started, or a limit of the
                   * system: no mistake, and worth a repetition (exit 3) */
};

struct err {
    int code;
    char text[1000];
};

/* Sets code and message unless e is NULL or holds an error already. Returns `code` in each case, so: return
 * err_set(e, ERR_IO, ...). */
int err_set(struct err *e, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "formatted context: " in front of the message in e; does nothing when there is none. Returns
 * e->code, or 0 when e is NULL or holds no error. */
int err_add(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What strerror() says of an errno value, and the next step where it is a limit of open files. Borrowed. */
const char *err_reason(int cause);

#endif
