#ifndef EVALCORE_RUNFILE_RUNFILE_PARTS_H
#define EVALCORE_RUNFILE_RUNFILE_PARTS_H

#include <stddef.h>

#include "evalcore/runfile/runfile.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"

/* Shared by runfile*.c only. Functions that take a struct err return 0 or ERR_USAGE for a mistake in the run
 * file or the options, unless said otherwise; e is not NULL. After an error r is only good for
 * runfile_release(). */

/* Always returns ERR_USAGE, "WHERE: unknown key ...": names the nearest of the table's and the other names,
 * else all of them. params and others (ends with NULL) may be NULL. */
int runfile_unknown(const char *where, const char *key, const struct param *params, const char *const *others,
                    struct err *e);
/* A relative path in o[key], or a list of them, becomes one that counts from the run file's folder. Nothing
 * happens without that key; values of other types stay. */
void runfile_rebase(const struct runfile *r, json_t *o, const char *key);
/* The same for every option of the table t that is a file. */
void runfile_rebase_files(const struct runfile *r, json_t *o, const struct param *t);
/* A list entry as an object with a name (a string stands for {"name": string}); NULL and ERR_USAGE in e
 * otherwise. *where becomes "RUN.json: policies.1 (quest)", in r's arena. New reference, whose values are
 * those of v. */
json_t *runfile_entry(const json_t *v, const char *list, size_t i, const char *kind, const char **where,
                      struct runfile *r, struct err *e);

/* Fills r->tasks. ERR_USAGE: no list or an empty one, an unknown task or key, a value that an option refuses,
 * or two tasks that are the same. */
int runfile_read_tasks(struct runfile *r, const json_t *list, struct err *e);
/* Drops all tasks but those that --tasks names, by name or label; their order stays. ERR_USAGE for a name
 * that no task has, or when none is left. */
int runfile_keep_tasks(struct runfile *r, const char *wanted, struct err *e);
/* Puts the layers of the file that "calibration" names into a policy's entry o, in the place of that key, and
 * fills out; without the key out is zeroed. Also returns what json_read_file() does for that file, and
 * ERR_FORMAT when it lacks its policy or model. */
int runfile_take_calibration(struct runfile *r, struct runfile_calibration *out, json_t *o,
                             const struct policy_ops *ops, const char *where, struct err *e);
/* Fills r->policies. ERR_USAGE: no list or an empty one, an unknown policy or key, a value that an option
 * refuses, a "where" that leaves no combination, or two policies that are the same for one model. Also
 * returns what runfile_take_calibration() does. */
int runfile_read_policies(struct runfile *r, const json_t *list, struct err *e);
/* Fills r->published from the object {"file", "where"}, whose path becomes one that counts from the run
 * file's folder; nothing when v is NULL. ERR_USAGE also when a "where" has no figure; ERR_IO when the file
 * cannot be read; ERR_FORMAT for a line that is no figure, or too many of them. */
int runfile_read_published(struct runfile *r, json_t *v, struct err *e);
/* Reads a "model" that is an object into r->endpoint; is_taken 0: the command does not decode through one,
 * which is ERR_USAGE. */
int runfile_read_endpoint(struct runfile *r, json_t *model, int is_taken, struct err *e);
/* Once all is read: ERR_USAGE for what cannot be asked of an endpoint (policies but full, texts, some
 * settings); 0 where there is none. */
int runfile_check_endpoint(const struct runfile *r, struct err *e);

/* runfile_models.c. Reads "model" or "models", before all that refers to them, and --model, which replaces
 * the one or picks among the others. ERR_USAGE also for several models that the command does not take. */
int runfile_read_models(struct runfile *r, json_t *root, const struct runfile_options *o, struct err *e);
/* *out: the models that a policy's entry names, by bit; all of them where it names none. ERR_USAGE for a
 * label that no model has. */
int runfile_read_policy_models(const struct runfile *r, uint64_t *out, const json_t *o, const char *where,
                               struct err *e);
/* Sets what each model is compared with. v NULL: its policy full; a model without one has no baseline.
 * ERR_USAGE when v names no policy of any model, or several of one. */
int runfile_read_baseline(struct runfile *r, const json_t *v, struct err *e);
/* ERR_USAGE when no policy goes with one of the models. */
int runfile_check_models(const struct runfile *r, struct err *e);
/* Once all is read: leaves the model that --model picked, as models[0], and the policies that go with it;
 * changes nothing where it picked none. ERR_USAGE when no policy is left. */
int runfile_keep_model(struct runfile *r, struct err *e);

/* Sweep axes: an option that takes one value is given a list of them. The points of an object are all
 * combinations of its axes' values, in the order the axes are written, the last one fastest. */
struct axis_point {
    json_t *object;    /* one value for each axis, other values as they were */
    const char *swept; /* "k_pages=8 l_pages=2"; "" without axes */
};
struct axis_points {
    struct axis_point *point;
    size_t n;
};

/* Returns nonzero when option `key` takes a list as its value; then only a list of lists is an axis. */
typedef int (*axis_takes_list_fn)(const char *key);

enum { AXIS_POINTS_MAX = 5000 };

/* Returns 0 and the points, at least one (without axes a copy of the object), to be released with
 * axes_release(); `swept` is in the arena. ERR_USAGE, and out is empty: an axis has no value, there are more
 * than 16 axes or more than AXIS_POINTS_MAX points. */
int axes_expand(struct axis_points *out, const json_t *object, axis_takes_list_fn takes_list,
                const char *where, struct arena *a, struct err *e);
void axes_release(struct axis_points *p); /* p is empty again */

/* --set a.b=c on a run file: "seed=3", "policies.1.k_pages=[8,16]", "tasks.0.problems=8". The value is JSON
 * where it parses as JSON, else a string. Numbers in the path count from 0 into lists; a name in a list picks
 * the entry with that "name" ("policies.quest.k_pages=8"). A task or policy written as a plain string becomes
 * an object. Keys are not checked here: the run file's own check follows. What the path lacks in an
 * object is made, also before an error; in a list it is ERR_USAGE, as are a text without "=", a name that no
 * entry or several have, and a path through a value that is neither list nor object. */
int override_set(json_t *root, const char *assignment, struct err *e);

/* The condition of a run file's "where": comparisons (< <= > >= == !=) of sums and products of numbers and
 * names, joined by `and`. Every comparison is evaluated, so that a misspelt name is noticed even when it
 * would not matter. */

/* Sets *out to the value of a name and returns 0; a negative code with a message when there is none. */
typedef int (*expr_lookup_fn)(void *context, const char *name, double *out, struct err *e);

/* *result: 1 when all comparisons hold, else 0; untouched on an error. ERR_USAGE for text of another form and
 * for a division by zero; else what lookup returned. */
int expr_true(const char *text, expr_lookup_fn lookup, void *context, int *result, struct err *e);

#endif
