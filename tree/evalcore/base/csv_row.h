#ifndef EVALCORE_BASE_CSV_ROW_H
#define EVALCORE_BASE_CSV_ROW_H

#include "evalcore/base/str.h"

/* Rows of CSV for every room but kernels: quoting as in RFC 4180, lines that end in "\n", an empty field for
 * a value that does not exist (NULL, or a number that is not finite). Text may be any bytes: invalid UTF-8
 * and NUL, which readers of CSV stumble over, become U+FFFD. A text that begins with = + - @ ' or a tab or
 * carriage return, and is no number, gets a ' before it, so that no spreadsheet computes it. A zeroed column
 * starts a row. Each function appends one field to `out`, which is borrowed; csv_row_end() ends the row and
 * starts the next. */
struct csv_row {
    struct str *out;
    int column;
};

void csv_row_text(struct csv_row *c, const char *s);            /* NULL: empty */
void csv_row_bytes(struct csv_row *c, const char *s, size_t n); /* a NUL follows the bytes */
void csv_row_int(struct csv_row *c, long v);
void csv_row_number(struct csv_row *c, double v); /* to six decimals, without trailing zeros */
void csv_row_p(struct csv_row *c, double p);      /* to six significant digits */
void csv_row_end(struct csv_row *c);

#endif
