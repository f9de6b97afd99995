#ifndef CODE_CHECK_H
#define CODE_CHECK_H

#include <stddef.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* The room of programs that a model wrote: finding one in a completion, the tests of a problem, and running
 * it against them. A submission runs in a sandbox alone (sandbox.h), never in this process or beside it;
 * where there is no sandbox nothing is run. Only inputs enter the sandbox, one after the other. Expected
 * outputs stay here, where what comes back is compared with them, so no submission can read them or pass
 * judgement on itself.
 *
 * The rules are those of LiveCodeBench's evaluation/testing_util.py (commit 28fef95), accidents included;
 * docs/tasks.md lists where they are stricter. A change of verdicts here needs a new answer_check_version().
 */

/* ---- tests */

struct code_test {
    const char *input, *output;
    size_t input_len, output_len;
};
struct code_tests {
    struct code_test *test; /* public ones first */
    int n;
    const char *call; /* the method to be called; NULL: the submission is a program, which reads its input */
    json_t *owned[2]; /* the lists that the texts are in */
};
enum { CODE_TESTS_BYTES_MAX = 256 << 20 /* of a problem's private tests, as JSON */ };

/* Reads a problem's tests from two fields of a row of LiveCodeBench: JSON lists of {input, output, testtype},
 * where the second may also be base64 of zlib of a pickled text of that list. Nothing of the pickle is
 * executed: it may hold one text and what Python writes around it (pickle_text.h). call: the method's name,
 * NULL or "": none. The caller gives *out to code_tests_release() when this succeeds, and keeps `call`.
 * Returns 0, or ERR_FORMAT with a message that names the field and what is wrong with it: no test, another
 * form, a kind of test that does not fit `call`, too long. `where` stands in front of it. */
int code_tests_read(struct code_tests *out, const char *public_tests, size_t n_public,
                    const char *private_tests, size_t n_private, const char *call, const char *where,
                    struct err *e);
void code_tests_release(struct code_tests *t);
/* Writes the first 16 hex digits of the SHA-256 of the two fields as they stand in the row, and a NUL. */
void code_tests_digest(char out[17], const char *public_tests, size_t n_public, const char *private_tests,
                       size_t n_private);

/* ---- the submission */

/* Finds the submission in a response: what stands between the last two lines that have three backticks.
 * Returns 1 and sets *code, a part of the text, or 0 when there are fewer than two such lines. */
int code_find(const char **code, size_t *n, const char *text, size_t len);

struct code_limits {
    double cpu_seconds;   /* processor time of one test, and before the first one */
    double wall_seconds;  /* of one test on the clock, for what sleeps or waits */
    double total_seconds; /* of a submission on the clock */
    long memory_mib;      /* address space */
    int output_mib;       /* what comes back of one test */
};
extern const struct code_limits
    code_limits_default; /* 6 s (LiveCodeBench's), 30 s, 900 s, 2048 MiB, 32 MiB */

enum code_end {
    CODE_PASSED, /* every test */
    CODE_WRONG,  /* a wrong output */
    CODE_RAISED, /* it does not compile, or raised something */
    CODE_TIME,   /* a limit of time */
    CODE_OUTPUT, /* more output than the limit, or more files */
    CODE_DIED    /* the process ended, by itself or by a signal */
};
struct code_outcome {
    enum code_end end;
    int n_passed, n_tests; /* tests run in their order, and the first that fails is the last */
    const char *why;       /* a sentence; lives in the arena */
    const char *got;       /* beginning of the failed test's output as UTF-8, or ""; in the arena */
    const char *runtime;   /* "Python 3.11.2 with NumPy"; in the arena */
};

/* Runs a submission against all tests. limits NULL: the default. Returns 0 and fills *out, or ERR_DISK when
 * there is no sandbox to run it in: nothing is known of the submission then. */
int code_run(struct code_outcome *out, const struct code_tests *t, const char *code, size_t n,
             const struct code_limits *limits, struct arena *a, struct err *e);

/* Starts the sandbox once and looks whether it is tight: no network, nothing to read but Python, no further
 * process. Returns 0 and appends what it is ("bubblewrap, Python 3.11.2 with NumPy"); else ERR_DISK with the
 * reason and the advice. */
int code_sandbox_check(struct str *what, struct err *e);

/* ---- comparisons, for the tests of this room */

/* Is what a program wrote the expected output? Both are stripped and split into lines; two lines are equal as
 * text without the white space around them, or when all their words are decimal numbers (Python's Decimal) of
 * the same values. Returns 0 if so, else the number of the first line that differs, from 1. */
long code_output_differs(const char *got, size_t n_got, const char *want, size_t n_want);
/* Is the JSON text of a value equal to the expected one, as Python's == has it after json.loads()? */
int code_value_equal(const char *got, size_t n_got, const char *want, size_t n_want);

#endif
