#ifndef EVALCORE_BASE_JSON_H
#define EVALCORE_BASE_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* Small helpers over jansson: reading JSON, fields with good error messages, and one canonical text for
 * each value. Reference rules are jansson's: json_read_* and json_text* return a new reference. Input that
 * is not UTF-8, and objects with a key that occurs twice, are refused; strings may hold NULs. The read
 * functions return 0, ERR_FORMAT when the text is no JSON value (an empty one is none), or what file_read()
 * returns; *out is NULL on an error. */

int json_read_file(json_t **out, const char *path, struct err *e); /* error names path:line:column */
/* Reads n bytes; `what` stands for the path in messages. */
int json_read_text(json_t **out, const char *text, size_t n, const char *what, struct err *e);
/* A file that people write, perhaps behind a byte order mark: more than JSON_WRITTEN_MAX bytes, or a string
 * with a NUL, behind which a name would end unseen, is ERR_FORMAT. */
enum { JSON_WRITTEN_MAX = 64 << 20 };
int json_read_written(json_t **out, const char *path, struct err *e);

/* Field access. They return 0, or ERR_FORMAT when o is no object or the field has another type; messages name
 * `where`, for instance "config.json", and the field. For json_get_* a missing or null field is an error too;
 * for json_opt_* it is none. Where no value is stored, *out is untouched. An integer is also a double,
 * but 8.0 is no integer. Strings are borrowed from the object; one that holds a NUL is ERR_FORMAT. */
int json_get_int(const json_t *o, const char *key, int64_t *out, const char *where, struct err *e);
int json_get_double(const json_t *o, const char *key, double *out, const char *where, struct err *e);
int json_get_str(const json_t *o, const char *key, const char **out, const char *where, struct err *e);
int json_opt_int(const json_t *o, const char *key, int64_t *out, const char *where, struct err *e);
int json_opt_double(const json_t *o, const char *key, double *out, const char *where, struct err *e);
int json_opt_bool(const json_t *o, const char *key, int *out, const char *where, struct err *e);
int json_opt_str(const json_t *o, const char *key, const char **out, const char *where, struct err *e);

/* Appends the canonical text of v (NULL: "null"): keys sorted, no spaces, shortest numbers that read back the
 * same. Equal values give equal text, and 8 and 8.0 are equal; job keys are hashes of this text. */
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
void json_number(struct str *out, double v); /* minus zero: "-0.0" */

#endif
