#ifndef EVALCORE_BASE_PARAM_H
#define EVALCORE_BASE_PARAM_H

#include <stddef.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* The option table. An option is described once, in one row; run files, "name:key=value" on the command
 * line, --help, the record of effective values and the job key all come from that row.
 *
 * A table is an array of struct param that ends with a row whose name is NULL. The values live in a plain
 * struct, each at its `offset`. C types by kind: INT int | DOUBLE double | BOOL int | STRING and FILE
 * const char * | ENUM int (index into choices) | INTS struct param_ints | MAP struct param_map.
 *
 * FILE is the name of a file that is read. It is a kind of its own because a run file's relative names count
 * from the run file's folder, and because a job depends on what the file holds and not on its name. */
enum param_type {
    PARAM_INT,
    PARAM_DOUBLE,
    PARAM_BOOL,
    PARAM_STRING,
    PARAM_FILE,
    PARAM_ENUM,
    PARAM_INTS,
    PARAM_MAP
};

enum { PARAM_LIST_MAX = 128, PARAM_MAP_HEADS = 64 };
/* Until it is given, an option without a default holds: INT this value, DOUBLE NaN, BOOL and ENUM -1,
 * STRING and FILE NULL, INTS n = -1, MAP n = 0. */
#define PARAM_UNSET_INT (-2147483647 - 1)

struct param_ints {
    int n; /* -1: unset */
    int v[PARAM_LIST_MAX];
};
struct param_map {           /* layer -> a list, e.g. the anchor head that each KV head reads */
    int n;                   /* 0: empty */
    int key[PARAM_LIST_MAX]; /* ascending */
    int count[PARAM_LIST_MAX];
    int v[PARAM_LIST_MAX][PARAM_MAP_HEADS];
};

struct param {
    const char *name;
    enum param_type type;
    size_t offset;
    const char *def;            /* text form of the default; NULL: none, unset until it is given */
    double min, max;            /* INT, DOUBLE and elements of INTS; no bounds when both are 0 */
    const char *const *choices; /* ENUM: ends with NULL; JSON true and false match "true", "false" */
    const char *help;
};

/* Sets all options to their defaults. Default strings are borrowed from the table. A default that the
 * table's own checks refuse aborts the program. In all functions a table that is NULL has no options. */
void param_defaults(const struct param *t, void *base);
/* The row of that name, borrowed from the table; NULL: there is none. */
const struct param *param_find(const struct param *t, const char *name);
/* The nearest name for "did you mean", or NULL when nothing is near. */
const char *param_nearest(const struct param *t, const char *name);

/* Sets one option and returns 0. `where` names the owner for messages ("policy delta"); strings are copied
 * into the arena. An unknown key, a wrong type, a value out of range or a string with a NUL is ERR_USAGE with
 * the nearest known key or the allowed values, and leaves the option as it was. In a list of integers no
 * number may occur twice. Text forms: 8 | 0.5 | true | name | 2+5+7 | none (an empty list) | 4:11+6:01 (a
 * map, one digit for each head; with points between the heads, as in 4:1.12, they may have two digits). */
int param_set_json(const struct param *t, void *base, struct arena *a, const char *key, const json_t *v,
                   const char *where, struct err *e);
int param_set_text(const struct param *t, void *base, struct arena *a, const char *key, const char *text,
                   const char *where, struct err *e);
/* Sets options from "key=value,key=value" ("": none). Returns 0 or ERR_USAGE, also for a part without "=";
 * options before a bad one stay set. */
int param_set_pairs(const struct param *t, void *base, struct arena *a, const char *pairs, const char *where,
                    struct err *e);
/* Copies the `size` bytes of an options struct and, into the arena, its strings, so that `to` does not
 * depend on the memory that `from` used. */
void param_copy(const struct param *t, void *to, const void *from, size_t size, struct arena *a);
/* Returns 0 while the option holds what PARAM_UNSET_INT's comment says, else 1: a default is a value too. */
int param_is_set(const struct param *p, const void *base);

/* Returns the effective values as a new JSON object, without unset options; recorded for provenance and
 * identity. */
json_t *param_json(const struct param *t, const void *base);
/* Appends one option's effective value as text, for tables and labels ("2+5+7"); nothing when it is unset. */
void param_text(const struct param *p, const void *base, struct str *out);
/* Appends one help line for each option: name, help, type, range and default. */
void param_help(const struct param *t, struct str *out);

#endif
