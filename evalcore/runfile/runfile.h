#ifndef EVALCORE_RUNFILE_RUNFILE_H
#define EVALCORE_RUNFILE_RUNFILE_H

#include "engine/policies/policy.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/cli/cli.h"
#include "evalcore/cli/hub_model.h"
#include "evalcore/runfile/settings.h"
#include "tasks/task.h"

/* The door of the room of run files, for plans and commands (settings.h is the other): a run file, read
 * strictly and expanded. Its cells are the product
 *
 *   models x tasks (as written, with their axes) x policies (the same) x generation settings (axes)
 *
 * in that order, the last axis fastest: models outermost, generation axes innermost; a policy may go with
 * some of the models only. Two entries that would give identical cells are refused. Neither model
 * nor data files are opened here; files of calibrations and published figures are read. */
struct runfile_task {
    const char *name,
        *label; /* label: its "as", else its (short) name; with its swept options: "relay steps=20" */
    const struct task_ops *ops;
    struct task_options options;
    const char *where; /* "RUN.json: tasks.0 (relay)", for messages */
};
/* What a policy's file of `kveval calibrate` was made with; path NULL: its layers come from elsewhere. */
struct runfile_calibration {
    const char *path, *weights; /* weights: identity of the model */
    const char **problems;      /* hashes of the development problems, as in struct problem */
    int n_problems;
};
struct runfile_policy {
    uint64_t models;          /* it goes with, by bit (runfile_has) */
    const char *name, *label; /* label: its "as", else its name; with its swept options: "quest k_pages=8" */
    struct policy_spec spec;
    struct runfile_calibration calibration;
    const char *swept; /* "k_pages=8" */
    const char *where;
};
struct runfile_settings {
    struct settings s;
    const char *swept; /* "temperature=0.6"; "" */
};

enum { RUNFILE_MODELS_MAX = 32 };
struct runfile_model {
    const char *path;  /* "pocket", a folder (relative paths already resolved), or an id on the Hub; of an
                        * endpoint  its name */
    const char *label; /* its "as", else the last part of its path: what --model and policies call it */
    const char *shown; /* what reports call it: its label in "models", else its path */
    const char *name;  /* "model_name", whose published layers policies take; NULL: found from the folder */
    int baseline_model, baseline_policy; /* what its cells are compared with; -1: nothing */
};

/* A model that an OpenAI-compatible server decodes: "model" is an object then. */
struct runfile_endpoint {
    const char *url;         /* without a slash at its end */
    const char *name;        /* what the server calls the model */
    const char *tokenizer;   /* as runfile.model otherwise: whose tokens and chat template prompts are of */
    const char *api_key_env; /* environment variable with the key; NULL: none is sent */
    int max_context;         /* 0: that of the tokenizer's model */
    int concurrency, timeout, stall, retries;
    double retry_wait;
    int stream;
    int is_text; /* prompts are sent as text, not as token ids */
};

struct runfile {
    const char *path, *dir;
    struct runfile_model models[RUNFILE_MODELS_MAX];
    int n_models, has_models;  /* has_models: it says "models", if only one */
    int picked;                /* index into "models" that --model picked; -1: none */
    const char *lost_baseline; /* --model left out the one that all are compared with, of this model */
    struct runfile_endpoint *endpoint; /* that serves the only model; NULL: this program decodes it */
    const char *baseline;              /* a policy's label or name; "" when there is none */
    double margin; /* points that a policy may lose and still be called as good as the baseline */
    struct runfile_task *tasks;
    struct runfile_policy *policies;
    struct runfile_settings *settings;
    int n_tasks, n_policies, n_settings;
    json_t *source; /* the file after --set, without notes */
    /* Figures of a paper that the report puts beside its cells: a list of objects with paper, where, model,
     * task, policy, metric, value, unit and settings (runs/published/README.md); NULL: none. */
    json_t *published;
    struct arena arena;
};

struct runfile_options {
    const char *model; /* instead of the file's, relative to the working directory; of "models" a label */
    const char *tasks; /* comma-separated names or labels to keep; NULL: all */
    const struct cli_list *set;
    int takes_endpoint; /* 0: a model behind an endpoint is refused */
    int takes_models;   /* 0: several models are refused */
};

/* Reads and checks a run file, after `set` has changed it. Returns 0, or ERR_USAGE for a mistake in it or in
 * the options; for a file that cannot be read, or is no JSON, what json_read_written() returns, for one that
 * it names what json_read_file() returns; out is empty then. e is not NULL. Release it with
 * runfile_release(). */
int runfile_load(struct runfile *out, const char *path, const struct runfile_options *o, struct err *e);
void runfile_release(struct runfile *r); /* frees all in r and zeroes it */
/* Returns 1 when the policy goes with the model (both are indices), else 0. */
int runfile_has(const struct runfile *r, int policy, int model);
const char *runfile_models_text(struct runfile *r); /* how reports call them, "a, b"; in r's arena */
/* Ids of the Hub, of an endpoint its tokenizer's, become the folders of its cache (hub_model.h); paths stay.
 * Returns 0, or ERR_USAGE for an id that is not in the cache; those before it are replaced. e is not NULL. */
int runfile_find_models(struct runfile *r, const struct process_env *p, struct err *e);

#endif
