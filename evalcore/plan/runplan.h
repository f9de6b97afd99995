#ifndef EVALCORE_PLAN_RUNPLAN_H
#define EVALCORE_PLAN_RUNPLAN_H

#include "engine/engine.h"
#include "evalcore/plan/cell_identity.h"
#include "evalcore/plan/prompts.h"
#include "evalcore/runfile/runfile.h"

/* The room of plans: from a run file, a model and data files to jobs in the order in which they start. The
 * rooms sweep and commands come in; nothing here decodes or grades.
 *
 * A plan binds a run file to its models and data: cells with identities, prompts as ids, jobs with keys. A
 * plan of several models is a dry one: each of them is opened by a process that was told --model. */
struct loaded_model { /* one engine: cells of one model and KV type share it */
    int model; /* index into runfile.models; loaded models are in their order, and each has the same KV types
                */
    enum kv_dtype kv_dtype;
    struct engine *engine; /* NULL in a dry plan */
    struct engine_info info;
    char configuration[65]; /* in a dry plan: of the folder, as its worker must find it */
    struct tokenizer *own;  /* in a dry plan: of the model's folder, without its weights */
    const struct tokenizer *tokenizer;
    struct chat_own *own_chat;   /* in a dry plan, as `own` */
    const struct chat_own *chat; /* the model's own template */
    struct engine_options options;
    struct engine_memory memory; /* in a dry plan */
};

struct plan_cell {
    const struct runfile_model *model;
    const struct runfile_task *task;
    const struct runfile_policy *policy;
    const struct runfile_settings *settings;
    struct policy_spec spec;  /* resolved for the model */
    struct policy *instance;  /* of the loaded model's engine; NULL in a dry plan */
    struct policy *reference; /* of a text: whose distributions are compared with the policy's, full attention
                               * or policy_spec_reference(); NULL for other tasks and in a dry plan */
    int set, loaded_model;    /* indices into runplan.sets and runplan.loaded models */
    int baseline;             /* cell to compare with, -1: none */
    const char *id, *label;
    char identity[JOB_IDENTITY_HEX + 1];
};

struct replay_tokens;
struct job_request;
struct job {
    char key[JOB_KEY_HEX + 1];
    int cell, problem, sample;
    double expected; /* tokens of the completion, as far as one can tell beforehand */
    double usual;    /* the same, its limit left aside; INFINITY: nothing but the limit ends it */
    double hint;     /* tokens that the problem took in another run (queue_hint()); 0: not known */
    int bucket;      /* of its expected length: jobs of about the same length have the same */
    int policy;      /* 1 + index into runfile.policies, where jobs of the same bucket may be taken policy by
                      * policy; 0: they are taken in their order (queue_families.h) */
    int withdrawn;   /* of its next record (record_compare() in run.h) */
    const struct replay_tokens
        *replay; /* evalcore/sweep/replay.h: decode these tokens again; NULL: an ordinary job */
    const struct job_request *request; /* evalcore/sweep/decoder.h: decode this instead of the problem; NULL:
                                        * an ordinary job */
};

struct runplan {
    const struct runfile *file;
    struct loaded_model *loaded;
    struct prompt_set *sets;
    struct plan_cell *cells;
    struct job *jobs; /* every job once, even when two cells share it; in cell order */
    int n_loaded, n_sets, n_cells;
    long n_jobs;
    int limit; /* --limit, 0: none */
    struct arena arena;
};

struct runplan_options {
    const char *data_dir;   /* NULL: none */
    const char *sample_ids; /* NULL: all */
    int limit;              /* problems per task; 0: all */
    const char *backend;    /* NULL: the CPU */
    int ordinal;            /* device of that backend */
    int threads, max_batch; /* 0: default */
    const char *cache_dir;
    int dry; /* configuration and prompts only: no weights, policy instances or keys, see runplan_bind(). The
              * plan of a run file with an endpoint or with several models must be so */
};

/* Builds a plan into *p, whose earlier contents do not matter, and finds every mistake in the input before
 * anything is decoded. f must outlive p. Returns 0, and the caller releases p; or an error, and p is released
 * already: ERR_USAGE for what the run file or an option asks and cannot have, such as a missing problem file
 * or a prompt that is too long; else an error of opening a task, a model or a device (ERR_IO, ERR_FORMAT,
 * ERR_UNSUPPORTED, ERR_DEVICE). */
int runplan_build(struct runplan *p, const struct runfile *f, const struct runplan_options *o, struct err *e);
/* Frees what p owns, its engines included, and zeroes it; it may be zeroed already. */
void runplan_release(struct runplan *p);
/* Returns the most tokens that a completion of problem q may have in a cell: its limit, and what the context
 * and max_total_tokens leave after the prompt; 0 when they leave nothing. */
int runplan_limit(const struct runplan *p, const struct plan_cell *c, size_t q);
/* Tells people which layers the model has given to policies and how it was recognised, a line for each
 * choice. */
void runplan_log_layers(const struct runplan *p);
/* Says of each task, once, what its problems are of the published set of its name, with a warning where they
 * are not of it; and how many rows were folded. */
void runplan_log_sets(const struct runplan *p);
/* Warns of settings under which completions say less than they seem to: samples of greedy decoding, and
 * limits that the context cuts short. And of a prefix whose begin token the tokenizer adds again. */
void runplan_warn_risks(const struct runplan *p);

/* What only an open engine, or the server of an endpoint, knows of its loaded model. */
struct model_facts {
    const char *weights, *configuration, *numerics, *device; /* as in struct engine_info; configuration "": of
                                                              * a server, which has its own */
};
/* Adds identities and jobs with keys to a dry plan, the same as in a plan whose engines have these facts (one
 * per loaded model). Engines and policy instances stay NULL; the facts are copied. Returns 0, or an error of
 * job_identity(), and the caller releases p. */
int runplan_bind(struct runplan *p, const struct model_facts *facts, struct err *e);
/* Returns the model of a job, as an index into runfile.models. */
int runplan_model(const struct runplan *p, const struct job *j);

/* Writes problems/, config.resolved.json and manifest.json, in this order, for run_load() and for people, and
 * removes problem files that are no longer used. dir is made if missing. Returns 0, or ERR_IO or ERR_DISK at
 * the first file that cannot be written or removed; what was written before stays. *n_dropped receives the
 * number of cells of the folder's earlier configuration that this one lacks. */
int runplan_write(const struct runplan *p, const char *dir, int *n_dropped, struct err *e);

#endif
