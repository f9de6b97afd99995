/* The table of engine/pocket/README.md, end to end: accuracy.csv of a run of table.json beside table.csv.
 * Full and quest agree within 1 problem of 64, the others within 2, densities within 0.01.
 *
 *   test_table DATA RUN          DATA: tests/data/pocket; RUN: the folder of a run of DATA/table.json */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "tasks/csv.h"
#include "tests/check.h"

enum { MAX_ROWS = 64, MAX_COLUMNS = 96 };

struct table {
    struct str text;
    struct csv csv;
    char *cell[MAX_ROWS][MAX_COLUMNS];
    int n_rows, n_columns;
};

static void table_read(struct table *t, const char *path)
{
    struct err e = {0};
    memset(t, 0, sizeof *t);
    if (file_read(path, &t->text, &e)) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    csv_open(&t->csv, path, t->text.data, t->text.len);
    while (t->n_rows < MAX_ROWS && csv_next(&t->csv, &e) == 1) {
        t->n_columns = t->csv.n_fields < MAX_COLUMNS ? t->csv.n_fields : MAX_COLUMNS;
        for (int i = 0; i < t->n_columns; i++)
            t->cell[t->n_rows][i] = strndup(t->csv.fields[i].s, t->csv.fields[i].len);
        t->n_rows++;
    }
    CHECK(t->n_rows > 1);
}

static void table_release(struct table *t)
{
    for (int r = 0; r < t->n_rows; r++)
        for (int c = 0; c < MAX_COLUMNS; c++)
            free(t->cell[r][c]);
    csv_close(&t->csv);
    str_release(&t->text);
}

static int column(const struct table *t, const char *name)
{
    for (int i = 0; i < t->n_columns; i++)
        if (!strcmp(t->cell[0][i], name))
            return i;
    fprintf(stderr, "no column %s\n", name);
    exit(1);
}

/* Row of a label and task in accuracy.csv. */
static int find(const struct table *t, const char *label, const char *task)
{
    int l = column(t, "label"), k = column(t, "task");
    for (int r = 1; r < t->n_rows; r++)
        if (!strcmp(t->cell[r][l], label) && !strcmp(t->cell[r][k], task))
            return r;
    return -1;
}

static double number(const struct table *t, int row, const char *name)
{
    return strtod(t->cell[row][column(t, name)], NULL);
}

static void compare(const struct table *got, const struct table *want)
{
    static const char *const tasks[] = {"relay", "algebra", "lookup", "choice"};
    for (int r = 1; r < want->n_rows; r++)
        for (int k = 0; k < 4; k++) {
            const char *label = want->cell[r][0];
            int row = find(got, label, tasks[k]);
            CHECK(row > 0);
            if (row < 0)
                continue;
            int near = !strcmp(label, "full") || !strncmp(label, "quest", 5) ? 1 : 2;
            double correct = number(got, row, "correct"), density = number(got, row, "kv_density");
            double want_correct = strtod(want->cell[r][1 + 2 * k], NULL),
                   want_density = strtod(want->cell[r][2 + 2 * k], NULL);
            printf("%-13s %-8s %3.0f (table %3.0f)  density %.3f (table %.2f)\n", label, tasks[k], correct,
                   want_correct, density, want_density);
            CHECK_INT(number(got, row, "jobs"), 64);
            CHECK_NEAR(correct, want_correct, near);
            CHECK_NEAR(density, want_density, 0.01);
        }
}

int main(int argc, char **argv)
{
    struct table got, want;
    char path[4096];
    if (argc < 3)
        return 1;
    snprintf(path, sizeof path, "%s/report/accuracy.csv", argv[2]);
    table_read(&got, path);
    snprintf(path, sizeof path, "%s/table.csv", argv[1]);
    table_read(&want, path);
    compare(&got, &want);
    table_release(&got);
    table_release(&want);
    return check_done();
}
