#ifndef EVALCORE_RUNFILE_RUNFILE_PARTS_H
#define EVALCORE_RUNFILE_RUNFILE_PARTS_H

#include "evalcore/runfile/runfile.h"

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

#endif
