#ifndef EVALCORE_STORE_RUN_H
#define EVALCORE_STORE_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "answer_check/answer_check.h"
#include "engine/engine.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* The room of run folders: journals, grades, locks, and a folder loaded into memory. The rooms plan, sweep,
 * report and commands come in; each door of the room is one part of the folder. Nothing here plans or
 * decodes.
 *
 * This door loads a folder for reports, exports and comparisons. run_load() reads config.resolved.json,
 * problems/, every journal and the grades, and grades completions that have no grade yet. It needs neither
 * the model nor the data files, works on an unfinished folder, and never writes into it. Completions stay on
 * disk, because a night's run is larger than memory; run_text() and run_ids() fetch one. Everything but
 * `seconds`, `preempted` and `device` is a function of the run file and the weights, so files made from the
 * rest have the same bytes whatever the order, the shards or the restarts were. */

struct run_problem {
    const char *id;
    const char *prompt; /* user text, or the rendered prompt; NULL for a restricted task (tasks/task.h) */
    size_t prompt_len;  /* bytes */
    /* What stood before and behind the task's text when the model got it: chat form, prefix, suffix, answer
     * prefix, tokens that the tokenizer adds. NULL: a folder of a version that did not keep it, a restricted
     * task, or a text. */
    const char *before, *after;
    const char *asked; /* what the model got of `prompt`, where that is not all of it; NULL: all */
    size_t before_len, after_len, asked_len;
    int is_rendered;
    const char *answer_prefix; /* as in struct problem; NULL: none */
    const char *prompt_sha256; /* of the token ids, 64 hex digits */
    int prompt_tokens;
    const char *gold; /* == golds[0]; "" when the task has none */
    const char *const *golds;
    int n_golds;
    int n_options;            /* multiple choice: letters A..; 0 otherwise */
    const char *option_order; /* multiple choice, else NULL */
    /* Of a task that scores options (run_task.option_metrics), else NULL: by which acc_norm divides,
     * (n_options); and the options, n_option_texts, 0 for a restricted task. */
    const int *option_lengths;
    const char *const *option_texts;
    int n_option_texts;
    int thinking_open;    /* the prompt opened the thinking block: the completion begins inside it */
    int has_no_thinking;  /* only an answer is read, never a thinking block; no file says so */
    int own_max_new;      /* the problem's own limit, 0: none */
    const char *own_stop; /* the problem's own stop string, NULL: none */
    const char *tests;    /* as in struct problem; the file is the task's; NULL: none */
    const char *metric;   /* as in struct problem, as is first_line */
    int first_line;
    const char *subset; /* these three as in struct problem: the grader of the task asks for them */
    const char *const *all_classes;
    int n_classes;
};

/* The problems of one task under one chat form: cells with the same ones share it. */
struct run_task {
    const char *name;             /* registered name, whatever "as" says */
    const char *label;            /* its "as", else its name with its swept options */
    const char *version, *metric; /* metric: as in struct task_ops (tasks/task.h) */
    const char *kind;           /* of a task that is a file, by which its completions are graded; else NULL */
    const char *option_metrics; /* as in struct task_ops: its records have options; NULL: no such task */
    int is_text; /* scored by the likelihood of given tokens: its records have that instead of a verdict */
    const char *source;          /* SHA-256 of the data, 64 hex digits */
    const char *options;         /* JSON object as text */
    const char *file;            /* the problems file inside the run folder */
    const char *problems_sha256; /* of that file */
    const char *tests_file;      /* as in struct task; grading a completion anew needs it; NULL: none */
    struct run_problem *problems;
    int n_problems;
    int n_original;  /* before --limit and --sample-ids */
    const char *set; /* what the problems are of the published set of their name ("AIME 2025, all 30"); NULL:
                      * no set is known by it */
    int set_size, set_first; /* size and first of struct task_set_facts (tasks/task.h) */
    int is_misnamed;         /* they are not of that set, and no label says so */
};

/* Appends the prompt as the model got it, special tokens spelled, and sets own to the range of the task's
 * text in it. Returns 1; or 0 where the folder does not hold it, and then appends the task's text alone,
 * which is nothing for a restricted task. */
int run_prompt(const struct run_problem *p, struct str *out, size_t own[2]);
/* Returns the score that one who guesses among the options can expect, 0 where there are none. */
double run_chance(const struct run_problem *p);

struct cell;
/* Returns 1 when both cells are of the same model, by its path where one is known, else by its name; else 0.
 */
int run_same_model(const struct cell *a, const struct cell *b);

/* Do its authors ask that no example be published (tasks/task.h)? Then its completions, which may quote the
 * question, enter neither a file nor the output of a command, unless the user asks for these texts; the
 * sentence stands in their place. Ids, option orders, letters and verdicts are no texts of problems and stay.
 * Returns 1 for such a task, and for one with a prompt that was not kept, so that an unknown one is safe;
 * else 0. */
int run_task_is_restricted(const struct run_task *t);
#define RUN_TEXT_WITHHELD "[withheld: the data set's authors ask that no example be published]"

struct record {                /* one completion */
    int problem, sample;       /* index into task->problems; 0.. */
    const char *key;           /* job key, 32 hex digits */
    int prompt_tokens, tokens; /* tokens: length of the completion, without the end token */
    enum finish_reason finish; /* FINISHED_ERROR: the job failed, verdict is error */
    struct kv_counts kv;
    const char *error; /* why the job failed; "" otherwise */
    int withdrawn;     /* record_compare() */
    enum verdict verdict;
    double score;                        /* 1 or 0; the metric's value for text metrics, a window's
                                          * bits per byte for a text */
    const struct likelihood *likelihood; /* of a text: then verdict has no meaning; NULL: the job failed */
    /* Of a task that scores options, else NULL; NULL also where the job failed. second: 1 or 0 by the second
     * of its metrics, NaN where there is none. */
    const struct option_scores *options;
    double second;
    const char *reason, *gold_form, *pred_form; /* "" when there is none */
    /* What else the grade depends on: "jieba" or "char", the segmenter; of a program "Python 3.11.2 with
     * NumPy"; else NULL */
    const char *segmenter;
    int is_ungraded; /* its grader was killed, or had no sandbox: verdict error, which is not kept */
    /* These three differ from run to run, so reproducible tables must not hold them. */
    double seconds; /* wall time in the batch */
    int preempted;
    const char *device;
    /* Where the completion is: index into run.journals, offset and length of its line. */
    int journal;
    int64_t offset;
    size_t length;
};

/* Which of several records of one key counts must not depend on when they were written: the record with
 * the highest "withdrawn", then a completion before an error, then the record whose digest of the tokens is
 * smaller, then, of a text, the one with fewer bits, of options the one with lower log-likelihoods.
 *
 * A device that is found to be wrong has its completions withdrawn: each gets a record, an error, with
 * "withdrawn": 1, before which records without that field do not count, and what is decoded in its place has
 * 2. Should that be withdrawn, too, the numbers are 3 and 4, and so on. */
/* Returns 1 when the record says that a completion is withdrawn (its number is odd), else 0. */
int record_is_withdrawal(const struct record *r);

/* Compares results alone: the digests of the tokens, then the likelihoods, of texts or options. Returns 0
 * when they are the same, below 0 when the result of a has the smaller digest or, of a text, fewer bits, else
 * above 0. digest_a, digest_b: first 16 hex digits of the tokens' SHA-256. */
int record_compare(const struct record *a, const char *digest_a, const struct record *b,
                   const char *digest_b);
/* Returns 1 when a counts and b does not, by the rule above; 0 when b counts, or when nothing tells them
 * apart. */
int record_is_better(const struct record *a, const char *digest_a, const struct record *b,
                     const char *digest_b);

/* A job whose completion was withdrawn and which has not been decoded again: it has no record. */
struct withdrawal {
    const char *key;
    int number; /* record_compare() */
};

struct cell {
    const char *id;    /* readable slug, "-", 8 hex digits */
    const char *label; /* policy_label, with "/" + the task's "as" when it has one */
    /* The policy's "as", else its name; with its swept options: "quest k_pages=8". */
    const char *policy_label;
    const char *model;           /* its path, or what the run file calls it */
    const char *model_path;      /* NULL: model is its path */
    const char *weights;         /* of one of several models; NULL: the run's */
    const char *configuration;   /* as weights */
    const char *policy, *preset; /* registered names; preset "" when none */
    const char *params;          /* JSON object as text, keys sorted: every effective option of the policy */
    const char *k_pages, *l_pages, *budget_tokens; /* as text; "" when the policy lacks the option */
    /* The option that is this policy's budget, and its value as text; "" for full. */
    const char *budget_key, *budget;
    const char *budget_rule;    /* in words, printed with every result */
    const char *settings;       /* JSON object as text: every effective generation setting */
    const char *settings_label; /* swept generation settings, "temperature=0.6"; "" when nothing was swept */
    const char *identity;       /* 64 hex digits: everything of a job key but problem, prompt and sample */
    int samples;                /* per problem */
    int max_new_tokens;         /* the effective limit where a problem has none of its own; see run_limit() */
    int is_limit_set; /* the run file gives max_new_tokens, which goes before a problem's own limit */
    int max_total_tokens, max_context; /* of prompt and completion, and of the model; 0: none, or unknown */
    /* The model's windows by layer (n_layers), 0: the layer reads everything; NULL: no layer has one, or a
     * folder that does not say. */
    const int *windows;
    int n_layers;
    double temperature;
    int task_index;
    const struct run_task *task;
    int baseline;    /* index of the cell to compare with: same task, same generation settings; -1: none */
    int is_baseline; /* 1 when this cell is one that others are compared with */
    int n_expected;  /* jobs: task->n_problems * samples */
    int n_records;   /* finished; complete when equal to n_expected */
    const struct record *records; /* by problem, then sample; missing ones are not there */
};

/* Tokens of a context that the cell's model itself reads in a step, and holds: mean over layers. */
double run_own_tokens(const struct cell *c, double context);
/* The same added up over the first n decode steps behind a prompt, which is what kv.reads_full counts. */
double run_own_reads(const struct cell *c, double prompt, double n);

struct run {
    const char *dir;
    json_t *config;   /* config.resolved.json */
    json_t *manifest; /* manifest.json; NULL when missing */
    const char *model, *weights,
        *configuration, /* of the model's files, as decoding computes it (engine_configuration()) */
        *numerics, *device, *version; /* version: of the program that wrote the config */
    const char *grader;   /* version of the grader that the verdicts are from, its rules and segmenters */
    const char *baseline; /* as the run file says; "" when none */
    double margin;        /* points that a policy may lose and still be called as good as the baseline */
    /* In run-file order: tasks, policies as written, axis values, generation axes; the last axis fastest. */
    struct cell *cells;
    int n_cells;
    struct run_task *tasks;
    int n_tasks;
    long n_expected, n_done; /* jobs over all cells */
    long n_duplicates;       /* journal records beyond the first of a key, errors aside */
    long n_retried;          /* records beyond the first where at least one of the two is an error */
    long n_withdrawn; /* records beyond the first where one of the two was withdrawn, says so, or stands in
                         its place */
    long n_conflicts; /* of those, records whose tokens, or likelihood, differ from the first one's:
                         reproducibility broke */
    long n_bad_lines; /* journal lines with a wrong checksum (a torn last line is not counted) */
    long n_foreign;   /* records of cells that are no longer in the config */
    struct withdrawal *withdrawals;
    long n_withdrawals;
    char **journals; /* paths */
    int n_journals;
    struct arena arena;    /* owns all strings and arrays */
    long n_graded;         /* completions that had no kept grade */
    long n_ungraded;       /* of those, the ones whose grader was killed */
    long n_changed_grades; /* rows of kept grades that were changed by hand and do not count */
    const char *const
        *changed_models; /* sentences of run_changed_models(), which a caller sets; NULL: none */
    int n_changed_models;
};

/* Loads a folder into *r, whose earlier contents do not matter, with all options at 0. Returns 0, and the
 * caller gives r to run_release(); or an error, and r is released already: ERR_USAGE when dir is not a run
 * folder, ERR_FORMAT for a damaged configuration or a problem file that was changed, ERR_UNSUPPORTED for a
 * file or a journal record of another version, ERR_IO where a file cannot be read, ERR_DISK where the disk
 * fails or no process can be started that grades. Damaged journal lines are counted in n_bad_lines and are no
 * error. A configuration or grades that were changed by hand are warned of. */
int run_load(struct run *r, const char *dir, struct err *e);
enum run_grades {
    RUN_GRADES_KEPT, /* kept grades are used, and completions without one are graded */
    RUN_GRADES_NEW,  /* every completion is graded anew */
    /* Nothing is graded: a planner needs only keys and lengths. Verdicts, scores, reasons and forms of the
     * records, and run.grader, have no meaning. */
    RUN_GRADES_NONE
};
struct run_options {
    enum run_grades grades;
    /* Folder of the Chinese segmenter's data; it must be right even when no grade needs it. NULL: where
     * segmenter_open() looks. */
    const char *zh_dict;
};
/* The same with options, which are borrowed during the call. A zh_dict that cannot be opened is an error,
 * too. */
int run_load_with(struct run *r, const char *dir, const struct run_options *o, struct err *e);
/* Loads what is to be done: the configuration and the problems. Cells have no records, and no journal or
 * table of grades is read. Returns as run_load() does. */
int run_load_plan(struct run *r, const char *dir, struct err *e);
/* Asks whether the folders of a configuration's models are still those that its records are of: by the
 * identities that the configuration has, as far as folders are there. is_quick: weights that would take
 * seconds to hash (engine_identity_is_quick()) count as the same. Sets *out to a sentence for each that was
 * changed, or cannot be read any more, and returns their number; list and sentences are in the arena. */
int run_changed_models(const json_t *config, const char *cache_dir, int is_quick, struct arena *a,
                       const char *const **out);
/* Writes the key of job i, from 0 and below n_expected, of a cell to out, which has room for JOB_KEY_HEX + 1
 * bytes (job_key.h). Jobs are counted by problem, then sample. */
void run_expected_key(const struct cell *c, int i, char *out);
/* Frees all that r owns and zeroes it; r may be zeroed already. */
void run_release(struct run *r);

/* Returns the most tokens that are asked for a completion of a problem (an index): the problem's own limit
 * where it has one and the run file sets none or the task is a text, else the cell's max_new_tokens. */
int run_limit_asked(const struct cell *c, int problem);
/* Returns what max_total_tokens and the context leave of that behind the prompt; 0 when they leave nothing.
 */
int run_limit(const struct cell *c, int problem);

/* Both fetch a part of a completion from its journal and replace what out holds: its text (invalid UTF-8 is
 * U+FFFD already), and its token ids as the text of a JSON array. They return 0, ERR_IO when the journal
 * cannot be read, or ERR_FORMAT when the record is damaged; out then means nothing and is still the caller's
 * to release. A job that failed may have a part of a completion: rec->finish says how it ended. */
int run_text(const struct run *r, const struct record *rec, struct str *out, struct err *e);
int run_ids(const struct run *r, const struct record *rec, struct str *out, struct err *e);
/* Fetches a completion's curve of reads and overwrites *out with it. Returns 0, also where the record has no
 * curve (out->every is then 0), ERR_IO when the journal cannot be read, or ERR_FORMAT when the record or the
 * curve is damaged. The caller gives *out to curve_json_release(). */
int run_curve(const struct run *r, const struct record *rec, struct kv_curve *out, struct err *e);

/* Returns the index of the cell whose id is `name`; else of the only one whose label it is; else of the only
 * one whose id contains it. Returns -1, with ERR_USAGE in e, when there is none or several. */
int run_find_cell(const struct run *r, const char *name, struct err *e);

#endif
