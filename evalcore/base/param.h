#ifndef BASE_PARAM_H
#define BASE_PARAM_H

#include <stddef.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* The option table. One line describes an option once; run files, "name:key=value" on the command line,
 * --help, the record of effective values and the job key all come from it.
 *
 * A table is an array of struct param ended by a row with name NULL; values live in a plain struct at
 * `offset`. C type by kind:  INT int | DOUBLE double | BOOL int | STRING const char * | ENUM int (index into
 * choices) INTS struct param_ints | MAP struct param_map. */
enum param_type { PARAM_INT, PARAM_DOUBLE, PARAM_BOOL, PARAM_STRING, PARAM_ENUM, PARAM_INTS, PARAM_MAP };

enum { PARAM_LIST_MAX = 128, PARAM_MAP_HEADS = 64 };
/* What an option without a default holds until it is given: INT this, DOUBLE NaN, BOOL and ENUM -1, STRING
 * NULL, INTS n -1, MAP n 0. */
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
    const char *def;            /* text form of the default; NULL = none (unset until given) */
    double min, max;            /* INT, DOUBLE and elements of INTS; both 0 = no bounds */
    const char *const *choices; /* ENUM: NULL-ended. JSON true/false match the choices "true"/"false" */
    const char *help;
};

/* All options to their defaults. `arena` owns strings set later. */
void param_defaults(const struct param *t, void *base);
const struct param *param_find(const struct param *t, const char *name);
/* The nearest name for "did you mean", or NULL when nothing is near. */
const char *param_nearest(const struct param *t, const char *name);

/* Sets one option. `where` names the owner for messages ("policy delta"). Unknown key, wrong type, out of
 * range: ERR_USAGE with the nearest known key or the allowed values. Text forms: 8 | 0.5 | true | name |
 * 2+5+7 | none (an empty list) | 4:11+6:01 (map, one digit a head; with points between the heads, 4:1.12, any
 * number). */
int param_set_json(const struct param *t, void *base, struct arena *a, const char *key, const json_t *v,
                   const char *where, struct err *e);
int param_set_text(const struct param *t, void *base, struct arena *a, const char *key, const char *text,
                   const char *where, struct err *e);
/* "key=value,key=value" */
int param_set_pairs(const struct param *t, void *base, struct arena *a, const char *pairs, const char *where,
                    struct err *e);
/* `size` bytes of options, strings included, so that `to` needs `a` and nothing of what `from` came from. */
void param_copy(const struct param *t, void *to, const void *from, size_t size, struct arena *a);
int param_is_set(const struct param *p, const void *base);

/* Effective values as a new JSON object (unset options left out): provenance and identity. */
json_t *param_json(const struct param *t, const void *base);
/* One option's effective value as text, for tables and labels ("2+5+7"); "" when unset. */
void param_text(const struct param *p, const void *base, struct str *out);
/* Help lines: name, type, default, range, help. */
void param_help(const struct param *t, struct str *out);

#endif
