#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include "tests/check.h"

/* Test cases as data files. Two forms, one per file:
 *
 * Sections, for long texts:         | One line per case, for short ones:
 *     # comment before the first    |     # comment
 *     === name of the case          |     \frac{1}{2}  ==  0.5
 *     --- key                       |
 *     text, any number of lines     |
 *     --- other_key                 |
 *
 * A key is letters, digits and underscores. The newline before the next marker does not belong to the text,
 * nor do blank lines before "===" and at the end of the file. A text line that looks like a marker is written
 * with a backslash in front. A malformed file ends the test with its file and line. */
enum { CASE_SECTIONS_MAX = 16 };

struct test_case {
    const char *path, *name;
    int line; /* of "=== name", or of the case */
    int n;
    struct {
        const char *key, *text;
        int line; /* of "--- key" */
    } section[CASE_SECTIONS_MAX];
};

struct cases {
    char *path, *text, *next;
    int line; /* of what is at next */
};

/* path NULL (the test was started without its data file) is an error too. */
void cases_open(struct cases *c, const char *path);
void cases_close(struct cases *c);

/* The next case of a section file: 1, or 0 at the end. Texts live until cases_close(). */
int cases_next(struct cases *c, struct test_case *out);
/* Runs every case of a section file. */
void cases_each(const char *path, void (*run)(const struct test_case *t));
/* Text of a section; "" is an empty one, NULL a missing one. case_need() ends the test when it is missing. */
const char *case_text(const struct test_case *t, const char *key);
const char *case_need(const struct test_case *t, const char *key);
int case_line(const struct test_case *t, const char *key); /* where the section stands, for messages */

/* The next line of a one-line-per-case file that is neither blank nor a comment, or NULL; c->line - 1 is its
 * number. The caller may cut it up. */
char *cases_line(struct cases *c, int *line);
/* Runs every line of such a file. `run` may cut the text up. */
void cases_each_line(const char *path, void (*run)(const char *path, int line, char *text));
/* Cuts `line` at the first `separator`, trims blanks on both sides of it, returns the right part or NULL. */
char *case_cut(char *line, const char *separator);
/* Turns every "⏎" of a one-line case into a new line, in place. */
void case_newlines(char *text);

/* Compares with a section; a failure names the file and the line of the expectation. */
#define CASE_STR(t, key, got)                                                                                \
    do {                                                                                                     \
        const char *g_ = (got), *w_ = case_need((t), (key));                                                 \
        check_count++;                                                                                       \
        if (!g_ || strcmp(g_, w_) != 0) {                                                                    \
            check_failures++;                                                                                \
            fprintf(stderr, "%s:%d: %s: %s is \"%s\", want \"%s\"\n", (t)->path, case_line((t), (key)),      \
                    (t)->name, (key), g_ ? g_ : "(null)", w_);                                               \
        }                                                                                                    \
    } while (0)

#endif
