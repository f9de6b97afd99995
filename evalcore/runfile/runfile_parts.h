#ifndef EVALCORE_RUNFILE_RUNFILE_PARTS_H
#define EVALCORE_RUNFILE_RUNFILE_PARTS_H

#include <stddef.h>

#include "evalcore/runfile/runfile.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* Shared by runfile*.c only. */

/* "WHERE: unknown key ...": names the nearest of the table's and the other names, else all of them. */
int runfile_unknown(const char *where, const char *key, const struct param *params, const char *const *others,
                    struct err *e);
/* A relative path in o[key], or a list of them, becomes one that counts from the run file's folder. */
void runfile_rebase(const struct runfile *r, json_t *o, const char *key);
/* The same for every option of the table t that is a file. */
void runfile_rebase_files(const struct runfile *r, json_t *o, const struct param *t);
/* A list entry as an object with a name (a string stands for {"name": string}); NULL and a message otherwise.
 * *where becomes "RUN.json: policies.1 (quest)". New reference. */
json_t *runfile_entry(const json_t *v, const char *list, size_t i, const char *kind, const char **where,
                      struct runfile *r, struct err *e);

int runfile_read_tasks(struct runfile *r, const json_t *list, struct err *e);
/* Drops all tasks but those that --tasks names. */
int runfile_keep_tasks(struct runfile *r, const char *wanted, struct err *e);
/* Puts the layers of the file that "calibration" names into a policy's entry, in the place of that key. */
int runfile_take_calibration(struct runfile *r, struct runfile_calibration *out, json_t *o,
                             const struct policy_ops *ops, const char *where, struct err *e);
int runfile_read_policies(struct runfile *r, const json_t *list, struct err *e);
/* Fills r->published from the object {"file", "where"}, whose path becomes one that counts from the run
 * file's folder; nothing when v is NULL. */
int runfile_read_published(struct runfile *r, json_t *v, struct err *e);
/* A "model" that is an object. */
int runfile_read_endpoint(struct runfile *r, json_t *model, int is_taken, struct err *e);
/* Once all is read: what cannot be asked of an endpoint. */
int runfile_check_endpoint(const struct runfile *r, struct err *e);

/* runfile_models.c. "model" or "models", before all that refers to them. */
int runfile_read_models(struct runfile *r, json_t *root, const struct runfile_options *o, struct err *e);
/* The models that a policy's entry names, by bit. */
int runfile_read_policy_models(const struct runfile *r, uint64_t *out, const json_t *o, const char *where,
                               struct err *e);
int runfile_read_baseline(struct runfile *r, const json_t *v, struct err *e);
int runfile_check_models(const struct runfile *r, struct err *e);
/* Once all is read: leaves the model that --model picked. */
int runfile_keep_model(struct runfile *r, struct err *e);

/* Sweep axes: an option that takes one value is given a list of them. The points of an object are all
 * combinations of its axes' values, in the order the axes are written, the last one fastest. */
struct axis_point {
    json_t *object;    /* scalars only */
    const char *swept; /* "k_pages=8 l_pages=2"; "" without axes */
};
struct axis_points {
    struct axis_point *point;
    size_t n;
};

/* Does option `key` take a list as its value? Then only a list of lists is an axis. */
typedef int (*axis_takes_list_fn)(const char *key);

enum { AXIS_POINTS_MAX = 5000 };

int axes_expand(struct axis_points *out, const json_t *object, axis_takes_list_fn takes_list,
                const char *where, struct arena *a, struct err *e);
void axes_release(struct axis_points *p);

/* --set a.b=c on a run file: "seed=3", "policies.1.k_pages=[8,16]", "tasks.0.problems=8". The value is JSON
 * where it parses as JSON, else a string. Numbers in the path count from 0 into lists; a name in a list picks
 * the entry with that "name" ("policies.quest.k_pages=8"). A task or policy written as a plain string becomes
 * an object. Keys are not checked here: the run file's own check follows. */
int override_set(json_t *root, const char *assignment, struct err *e);

/* The condition of a run file's "where": comparisons (< <= > >= == !=) of sums and products of numbers and
 * names, joined by `and`. Every comparison is evaluated, so that a misspelt name is noticed even when it
 * would not matter. */

/* Value of a name; negative with a message when there is none. */
typedef int (*expr_lookup_fn)(void *context, const char *name, double *out, struct err *e);

int expr_true(const char *text, expr_lookup_fn lookup, void *context, int *result, struct err *e);

#endif
