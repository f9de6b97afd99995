#ifndef TASKS_CSV_H
#define TASKS_CSV_H

#include <stddef.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* RFC 4180 records of a text in memory, with commas or another separator between the fields: quoted fields
 * may hold separators, line ends and doubled quotes; LF, CRLF and CR end a record; a byte order mark is
 * skipped, as are blank lines. Errors name path:line, never a field's text. */
struct csv_field {
    const char *s; /* not NUL-terminated by the text; len counts */
    size_t len;
};
struct csv {
    const char *path, *data;
    size_t size, pos;
    char separator; /* csv_open() sets a comma */
    long line;      /* where the record last returned starts, from 1 */
    long next_line;
    int n_fields;
    struct csv_field *fields; /* valid until the next call */
    size_t cap;
    struct str text;
};
enum { CSV_FIELDS_MAX = 1024, CSV_FIELD_BYTES_MAX = 16 << 20 };

/* Starts to read a text, which must outlive c, as must path. */
void csv_open(struct csv *c, const char *path, const char *data, size_t size);
/* Reads the next record into fields and line. Returns 1, 0 at the end, or ERR_FORMAT for a quote that is
 * never closed or stands in the wrong place, a field above CSV_FIELD_BYTES_MAX or a record of more than
 * CSV_FIELDS_MAX fields. Records may differ in their number of fields. */
int csv_next(struct csv *c, struct err *e);
/* Frees the fields and zeroes c. */
void csv_close(struct csv *c);

#endif
