#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* Small helpers over jansson. Reference rules are jansson's: json_load_* return a new reference. */

int json_read_file(json_t **out, const char *path, struct err *e); /* error names path:line:column */
int json_read_text(json_t **out, const char *text, size_t n, const char *what, struct err *e);

/* Field access with errors that name `where` (say "config.json") and the field. The opt_ forms leave *out
 * untouched when the field is missing or null. Strings are borrowed from the object. */
int json_get_int(const json_t *o, const char *key, int64_t *out, const char *where, struct err *e);
int json_get_double(const json_t *o, const char *key, double *out, const char *where, struct err *e);
int json_get_bool(const json_t *o, const char *key, int *out, const char *where, struct err *e);
int json_get_str(const json_t *o, const char *key, const char **out, const char *where, struct err *e);
int json_opt_int(const json_t *o, const char *key, int64_t *out, const char *where, struct err *e);
int json_opt_double(const json_t *o, const char *key, double *out, const char *where, struct err *e);
int json_opt_bool(const json_t *o, const char *key, int *out, const char *where, struct err *e);
int json_opt_str(const json_t *o, const char *key, const char **out, const char *where, struct err *e);

/* Canonical text: keys sorted, no spaces, shortest numbers that read back the same. Equal values give equal
 * text; this is what job keys are hashed from. */
void json_canonical(struct str *out, const json_t *v);

/* A JSON string literal with quotes. Any bytes: invalid UTF-8 becomes U+FFFD, NUL becomes \u0000. */
void json_quote(struct str *out, const char *s, size_t n);

/* A JSON string of any bytes: invalid UTF-8 (file names, model output, cut messages) becomes U+FFFD. Never
 * NULL; s NULL is "". New reference. */
json_t *json_text(const char *s, size_t n);
json_t *json_text_of(const char *s); /* up to the NUL */

/* Shortest decimal text that reads back to the same double: "0.1", "3", "1e-07"; "null" if not finite. */
void json_number(struct str *out, double v);

#endif
