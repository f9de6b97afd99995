#ifndef EVALCORE_STORE_FLAT_JSON_H
#define EVALCORE_STORE_FLAT_JSON_H

#include <stddef.h>
#include <stdint.h>

/* Reads an object of plain values where it lies, many times as fast as building a tree of it: the heads of a
 * journal and the rows of grades are millions of such objects. It takes the form in which the program writes
 * them: no blanks, names and strings of printable ASCII without escapes, numbers, true, false and null, each
 * name once. Anything else is left to the JSON library, which has the last word on what is right; what is
 * taken here has the same values there. */

struct flat_text {
    const char *data; /* not ended by a NUL; NULL: no such field, or it is no string */
    size_t n;
};

enum flat_type { FLAT_STRING, FLAT_INTEGER, FLAT_REAL, FLAT_OTHER };

struct flat_field {
    struct flat_text name, text; /* text: of a string */
    enum flat_type type;
    int64_t integer;
    double number; /* the value, for both kinds of numbers */
};

enum { FLAT_FIELDS_MAX = 48 };

struct flat_object {
    int n;
    struct flat_field field[FLAT_FIELDS_MAX];
};

/* Reads the n bytes at s, an object without its closing brace. Returns 1, and the strings of *o point into s;
 * or 0 when it is not of that form or has more than FLAT_FIELDS_MAX fields: *o then has no meaning, and the
 * JSON library is to be asked. */
int flat_read(struct flat_object *o, const char *s, size_t n);

/* Returns 1 when there is a field of that name, of any type, else 0. */
int flat_has(const struct flat_object *o, const char *name);
/* These return the value of a field. For one that is missing or has another type, flat_string() returns a
 * text whose data is NULL, flat_number() 0, and flat_integer() 0 with *is_integer 0, which is else 1.
 * flat_number() takes integers, too. */
struct flat_text flat_string(const struct flat_object *o, const char *name);
double flat_number(const struct flat_object *o, const char *name);
int64_t flat_integer(const struct flat_object *o, const char *name, int *is_integer);

#endif
