#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "tests/check.h"

/* Conformance tests: what reference programs said, as JSON Lines that are not part of this repository.
 * CMake's KVEVAL_ORACLES=DIR names their folder, which the test gets as its argument; without it the test
 * skips itself. A test prints its counts, by which it passes or fails, and rows by number, never by their
 * text. */
typedef void (*oracle_fn)(void *context, const json_t *row, long number);

/* Every row of dir/name; the test ends as skipped when dir is NULL or the file is not there. */
__attribute__((unused)) static void oracle_rows(const char *dir, const char *name, oracle_fn fn,
                                                void *context)
{
    struct file_lines lines;
    struct str path = {0};
    struct err e = {0};
    const char *line;
    size_t n;
    file_join(&path, dir ? dir : "", name);
    if (!dir || !file_exists(path.data))
        check_skip(dir ? "the oracle's file is not there" : "CMake's KVEVAL_ORACLES names no folder");
    int rc = file_lines_open(&lines, path.data, &e);
    while (!rc && (rc = file_lines_next(&lines, &line, &n, &e)) > 0) {
        json_t *row = NULL;
        rc = json_read_text(&row, line, n, name, &e);
        if (!rc)
            fn(context, row, lines.number);
        json_decref(row);
    }
    if (rc)
        fprintf(stderr, "%s\n", e.text);
    CHECK_INT(rc, 0);
    file_lines_close(&lines);
    str_release(&path);
}

/* Right ones of all; `misses` is a list of row numbers, at most the first 40. */
struct oracle_count {
    long right, all;
    struct str misses;
};

__attribute__((unused)) static void oracle_add(struct oracle_count *c, int is_right, long number)
{
    c->right += is_right != 0;
    c->all++;
    if (!is_right && c->all - c->right <= 40)
        str_printf(&c->misses, " %ld", number);
}

/* Prints the count and checks that at least `share` of the rows are right. */
__attribute__((unused)) static void oracle_check(struct oracle_count *c, const char *what, double share)
{
    printf("%-24s %5ld of %5ld, %.2f %%, wanted %.2f %%%s%s\n", what, c->right, c->all,
           c->all ? 100.0 * (double)c->right / (double)c->all : 0.0, 100 * share,
           c->misses.len ? "; misses in rows" : "", str_text(&c->misses));
    CHECK(c->all > 0 && (double)c->right >= share * (double)c->all);
    str_release(&c->misses);
}

#endif
