#ifndef EVALCORE_STORE_RUN_FIELDS_H
#define EVALCORE_STORE_RUN_FIELDS_H

#include "evalcore/store/run.h"

/* The plain fields of the JSON objects that a run folder holds, one row for each: runplan_write() writes them
 * from these tables, and run_load() reads them by the same. Adding a field: a member in run.h, a row in
 * run_fields.c, and its value in runplan_write.c. */
enum run_field_kind {
    FIELD_TEXT,   /* const char *; not written while NULL */
    FIELD_COUNT,  /* int from -1 to 2,000,000,000; an optional one is not written while it is 0 */
    FIELD_NUMBER, /* double */
    FIELD_FLAG    /* int, 0 or 1 */
};
struct run_field {
    const char *name; /* NULL ends a table */
    enum run_field_kind kind;
    size_t offset;
    int is_optional; /* a file may lack it; the member then keeps its value */
};

extern const struct run_field run_config_fields[];  /* of struct run */
extern const struct run_field run_task_fields[];    /* of struct run_task */
extern const struct run_field run_cell_fields[];    /* of struct cell */
extern const struct run_field run_problem_fields[]; /* of struct run_problem: a line of a problem file */

/* A new object with the fields of *base. Texts may be any bytes: what is not UTF-8 becomes U+FFFD. The caller
 * owns the reference. */
json_t *run_fields_json(const struct run_field *fields, const void *base);
/* Reads the fields from o into *base, with texts copied into the arena. Returns 0, or ERR_FORMAT, which names
 * `where` and the field, at the first one that has another type, is out of range, or is missing and not
 * optional; the fields before it are read then. A flag may always be missing. */
int run_fields_read(const struct run_field *fields, void *base, const json_t *o, struct arena *a,
                    const char *where, struct err *e);

#endif
