#ifndef EVALCORE_CALIBRATION_CALIBRATION_H
#define EVALCORE_CALIBRATION_CALIBRATION_H

#include "evalcore/cli/command.h"
#include "evalcore/cli/device_list.h"
#include "evalcore/plan/runplan.h"

/* Calibration: measures on development problems which layers of a model can choose for the layers after them,
 * and proposes DELTA's refresh layers and Kascade's anchors; and how much attention mass the lists of any
 * policy keep. The commands calibrate and probe come in.
 *
 * The measurements are policies of their own, bound to an engine that decodes nothing else. Their hooks copy
 * what they need to the host, where sums are in double precision and in one order.
 *
 * Functions that return int and take an err return 0 or a negative ERR_ code: those that are named, and what
 * the functions of engine.h that they call return, such as ERR_DEVICE. */

/* The development problems: prompts of a plan, and for each the completion of full attention. */
struct dev_problem {
    const char *task; /* label */
    char hash[17];    /* as in struct problem */
    int32_t *ids;     /* prompt, then completion */
    int n, n_prompt;
};
struct dev_set {
    struct dev_problem *problems;
    int n;
    long tokens; /* tokens of all completions */
};
/* Decodes greedy completions of full attention, of at most max_new tokens or the problem's own smaller limit,
 * for all problems of the plan, by its first loaded model. ERR_USAGE when a task scores a text, and without a
 * problem. The labels are borrowed from the plan. Call dev_set_release() in any case. */
int dev_set_decode(struct dev_set *d, const struct runplan *p, int max_new, struct err *e);
void dev_set_release(struct dev_set *d);

/* A curve over the problems of one task. */
struct task_curve {
    const char *task; /* label, borrowed from the development problems */
    double *curve;    /* (n_layers), as layer_measure's */
};

/* What was measured between the layers, (n_layers, n_layers) matrices by chooser and reader; entries below
 * the diagonal are 0. Layers with a window neither choose nor read lists, so they are left out, and "the
 * layer before" is the last one with full attention. */
struct layer_measure {
    int n_layers, n_kv;
    int n_all;          /* layers of the model */
    int *number;        /* (n_layers): the model's numbers of those that are here, ascending */
    double *similarity; /* what the choice of layers maximises */
    double *curve;      /* (n_layers) kascade: the weights w; delta: cosine distance to the layer before */
    int *best;          /* kascade: (n_layers, n_layers, n_kv), by chooser, reader and KV head: the head whose
                         * list it reads; else NULL */
    long samples;       /* kascade: tiles; delta: steps */
    struct task_curve *by_task; /* delta: the curve of each task alone; NULL: there is one task */
    int n_tasks;
};
/* Frees the matrices and leaves m empty. */
void layer_measure_release(struct layer_measure *m);

/* Kascade (arXiv 2512.16391, microsoft/kascade at 76aea84): the model runs with every layer reading its own
 * 64 tokens of each tile of 32 queries, of which 32 are the tile's own, over prompt and completion alike. For
 * chooser a and reader b, recall r(a,b)[hb][ha] = mass of head hb of b on the list of head ha of a, over that
 * on its own list, both with the tile's own tokens; the smallest of the tiles of a problem, the mean over
 * problems. similarity = w(b) * mean over hb of the best ha, w(b) = 1 - mean cosine between the residual
 * stream before and after b's attention. Fills *m, to be released by layer_measure_release(); on an error m
 * is empty. */
int measure_kascade(struct layer_measure *m, struct engine *en, const struct dev_set *d, struct err *e);

/* DELTA (arXiv 2510.09883): in each step of full attention, the cosine distance between the probabilities of
 * all heads of neighbouring layers (curve), and how much of layer b's page mass, the maximum over heads
 * summed over a page, lies on the k_pages that layer a chooses, the last l_pages among them (similarity).
 * ERR_USAGE when the completions have no tokens, or no context has more than k_pages pages. Fills *m
 * like measure_kascade(). */
int measure_delta(struct layer_measure *m, struct engine *en, const struct dev_set *d, int k_pages,
                  int l_pages, struct err *e);

/* How much of the probability of full attention the tokens that a policy reads hold: means over steps and
 * query heads, without what a sink takes. Writes one for each layer of the model to by_layer, NaN for a layer
 * with a window, where policies choose nothing. ERR_USAGE when the completions have no
 * tokens, and when the policy is bound to the engine for the first time after an earlier measure_recall():
 * bind all before. recall_is_measurable() is 1 when a policy forgets nothing, as it must, else 0. */
int recall_is_measurable(const struct policy_spec *s);
int measure_recall(double *by_layer, struct engine *en, const struct dev_set *d, const struct policy_spec *s,
                   struct err *e);

/* Where full attention lies in steps with more than `keys` keys: means over these steps. */
struct keys_measure {
    int n_layers, n_q, keys;
    int *number;        /* (n_layers): layers with full attention, ascending */
    double *share;      /* (n_layers, n_q): what each query head's own `keys` best keys hold, of all keys'
                           probability */
    double *pooled;     /* (n_layers): what the best keys of the heads' mean hold of it */
    double *similarity; /* (n_layers, n_layers), by chooser a and reader b >= a: with the heads' mean
                         * probabilities, what a's best keys hold in b over what b's own hold; 0 below the
                         * diagonal */
    long steps;
};
/* ERR_USAGE when no context has more than `keys` keys. Fills *m, to be released by keys_measure_release(); on
 * an error m is empty. */
int measure_keys(struct keys_measure *m, struct engine *en, const struct dev_set *d, int keys, struct err *e);
void keys_measure_release(struct keys_measure *m);
/* Writes the shares to path (CSV), and beside it, with .similarity.csv, .svg and .similarity.svg for .csv,
 * the similarities and a figure of each. ERR_IO when a file cannot be written; files written before it stay.
 */
int keys_measure_write(const struct keys_measure *m, const char *path, struct err *e);

/* How the queries of some decode steps spread over all positions. Step s is the one whose query is token s of
 * the completion, from 1. */
enum { MAPS_MAX = 16 };
struct attention_map {
    int step, n; /* n: tokens that are seen, the step's own included */
    double *p;   /* (n_layers, n): probability, the mean over query heads */
};
struct map_measure {
    int n_layers, n_prompt, n_maps;
    int *number; /* (n_layers): layers with full attention, ascending */
    struct attention_map map[MAPS_MAX];
};
/* Of one problem, under full attention; n_steps is from 1 to MAPS_MAX, the steps are distinct and at least 1.
 * ERR_USAGE when the completion has no such step. Fills *m, to be released by map_measure_release(); on an
 * error m is empty. */
int measure_maps(struct map_measure *m, struct engine *en, const struct dev_problem *d, const int *steps,
                 int n_steps, struct err *e);
void map_measure_release(struct map_measure *m);
/* Writes all maps to path (CSV), and beside it a figure of each, with .STEP.svg for .csv. ERR_IO when a file
 * cannot be written; files written before it stay. */
int map_measure_write(const struct map_measure *m, const char *path, struct err *e);

/* The `m` layers, the first of them `first`, that maximise the sum over layers j >= first of s[i][j], where i
 * is the last chosen layer up to j; where sums are equal, the set with the earlier last layer, then the
 * earlier one before it, and so on. s: (n, n). Writes the layers, ascending, to out and
 * returns the sum; NaN, and nothing written, when m < 1, first < 0 or fewer than m layers are there from
 * `first` on. */
double choose_layers(const double *s, int n, int first, int m, int *out);

/* What a calibration is about, for its file (docs/calibration.md). */
struct calibration {
    const char *policy; /* "delta" or "kascade" */
    const char *model, *weights;
    int n_choose; /* how many layers are proposed */
    int k_pages, l_pages;
    int max_new;
    const struct dev_set *dev;
    const struct layer_measure *measure;
};
/* Chooses the layers and writes PATH (JSON), and beside it PATH with .csv, .svg and .curve.svg for .json (or
 * behind a PATH without it). proposed: receives the n_choose layers. ERR_USAGE when the model has too few
 * layers to choose from, ERR_IO when a file cannot be written; files written before it stay. */
int calibration_write(const struct calibration *c, const char *path, int *proposed, struct err *e);

/* What the commands calibrate and probe share: a run file's model and problems, with the completions of full
 * attention. */
struct calibration_options {
    const char *out, *model, *tasks, *data, *device;
    struct cli_list set;
    int limit, threads, max_new;
};
#define CALIBRATION_DEFAULTS                                                                                 \
    {                                                                                                        \
        .max_new = 256                                                                                       \
    }
/* Rows of the table of options; RUN(member) is where a member stands. */
#define CALIBRATION_OPTIONS(RUN)                                                                             \
    {"model", 'M', CLI_STRING, RUN(model), "MODEL", .help = "instead of the run file's"},                    \
        {"tasks", 't', CLI_STRING, RUN(tasks), "TASKS", .help = "only these tasks of the run file"},         \
        {"limit",  'L',                                                                                      \
         CLI_INT,  RUN(limit),                                                                               \
         "N",      .help = "only the first N problems of each task",                                         \
         .min = 1, .max = CLI_INT_MAX},                                                                      \
        {"data", 'd', CLI_STRING, RUN(data), "DIR", .help = "where problem files are"},                      \
        {"set", 0, CLI_LIST, RUN(set), "A.B=C", .help = "override the run file; may be repeated"},           \
        {"device", 0, CLI_STRING, RUN(device), "DEVICE", .help = DEVICE_HELP},                               \
        {"threads", 0, CLI_INT, RUN(threads), "N", .help = "CPU threads", .min = 1, .max = CLI_THREADS_MAX}, \
    {                                                                                                        \
        "max-new-tokens", 0, CLI_INT, RUN(max_new), "N",                                                     \
            .help = "of the completions that are looked at (default 256)", .min = 1, .max = 100000           \
    }

struct calibration_run {
    struct runfile file;
    struct runplan plan;
    struct dev_set dev;
};
/* Reads the run file `path`, opens its model and problems, and decodes the completions. *r must be zero
 * before. Fails as device_list_parse(), runfile_load(), runplan_build() and dev_set_decode() do. Call
 * calibration_run_close() in any case. */
int calibration_run_open(struct calibration_run *r, const struct process_env *p, const char *path,
                         const struct calibration_options *o, struct err *e);
void calibration_run_close(struct calibration_run *r);

#endif
