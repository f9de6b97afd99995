#ifndef EVALCORE_EXPORT_CSV_TABLES_H
#define EVALCORE_EXPORT_CSV_TABLES_H

#include "evalcore/base/str.h"
#include "evalcore/report/data/report_data.h"

/* A report's CSV files: tidy tables for other programs. A table of columns (name, type, unit,
 * meaning) stands above the code of each; headers, columns.md and the tests follow from it. To add a column,
 * write its row and its value in the same place; to add a file, write its table and its row in csv_write.c.
 *
 * Numbers are rounded once, to six decimals without trailing zeros (p values to six significant digits),
 * lines end in "\n", quoting is RFC 4180's. The files hold no dates and nothing that depends on the order or
 * the speed of the run. Empty fields stand for values that do not exist. */
enum csv_type { CSV_TEXT, CSV_INT, CSV_FLOAT, CSV_BOOL };
struct csv_column {
    const char *name; /* NULL ends a table */
    enum csv_type type;
    const char *unit, *meaning; /* unit "" for words, numbers of things and yes or no */
};
struct csv;
struct csv_table {
    const char *file, *about;
    const struct csv_column *columns;
    void (*write)(struct csv *c, const struct report *r); /* the rows */
};

/* The i-th of all tables, from 0, a constant of the program; NULL for an i without one. */
const struct csv_table *csv_table_at(int i);
/* Appends the whole file of a table, the header line and the rows of a report. It does not ask whether the
 * table applies to this report. */
void csv_print(struct str *out, const struct csv_table *t, const struct report *r);
/* Appends columns.md: what the columns of all files mean, as markdown. */
void csv_columns_md(struct str *out);

#endif
