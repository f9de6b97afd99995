#ifndef EVALCORE_BASE_JSON_H
#define EVALCORE_BASE_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* Small helpers over jansson: reading JSON, fields with good error messages, and one canonical text for
 * each value. Reference rules are jansson's: json_read_* and json_text* return a new reference. Input that
 * is not UTF-8, and objects with a key that occurs twice, are refused; strings may hold NULs. */

int json_read_file(json_t **out, const char *path, struct err *e); /* error names path:line:column */
int json_read_text(json_t **out, const char *text, size_t n, const char *what, struct err *e);
/* A file that people write: at most JSON_WRITTEN_MAX bytes, and no string holds a NUL, behind which a name
 * would end unseen. */
enum { JSON_WRITTEN_MAX = 64 << 20 };
int json_read_written(json_t **out, const char *path, struct err *e);

/* Field access; errors (ERR_FORMAT) name `where`, for instance "config.json", and the field. The opt_
 * forms leave *out untouched when the field is missing or null. Strings are borrowed from the object; one
 * that holds a NUL is refused. */
int json_get_int(const json_t *o, const char *key, int64_t *out, const char *where, struct err *e);
int json_get_double(const json_t *o, const char *key, double *out, const char *where, struct err *e);
int json_get_str(const json_t *o, const char *key, const char **out, const char *where, struct err *e);
int json_opt_int(const json_t *o, const char *key, int64_t *out, const char *where, struct err *e);
int json_opt_double(const json_t *o, const char *key, double *out, const char *where, struct err *e);
int json_opt_bool(const json_t *o, const char *key, int *out, const char *where, struct err *e);
int json_opt_str(const json_t *o, const char *key, const char **out, const char *where, struct err *e);

/* Canonical text: keys sorted, no spaces, shortest numbers that read back the same. Equal values give
 * equal text, and 8 and 8.0 are equal; job keys are hashes of this text. */
void json_canonical(struct str *out, const json_t *v);

/* Appends n bytes as a JSON string literal with quotes. They may be any bytes: invalid UTF-8 becomes
 * U+FFFD, NUL becomes \u0000. */
void json_quote(struct str *out, const char *s, size_t n);

/* A new reference to a JSON string made of any bytes: invalid UTF-8, as in file names, model output and
 * messages that were cut, becomes U+FFFD. Never returns NULL; s may be NULL, which gives "". */
json_t *json_text(const char *s, size_t n);
json_t *json_text_of(const char *s); /* up to the NUL */

/* Appends the shortest decimal text that reads back as the same double: "0.1", "3", "1e-07"; "null" if v
 * is not finite. */
void json_number(struct str *out, double v);

#endif
