#ifndef TASKS_TASK_H
#define TASKS_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "answer_check/answer_check.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/param.h"
#include "evalcore/base/str.h"

/* The front door of tasks/, for all of evalcore. A task turns a data file (or a seed) into problems with
 * prompts, and a completion into a grade. It knows nothing of models: prompts are plain user text, and the
 * engine adds the chat form unless is_rendered says that it is there. A task whose problems have a length in
 * tokens is given a function that counts them.
 *
 * To add a task, write tasks/NAME.c with a struct task_ops, put its X(NAME) into task_list.h, and add rows to
 * tests/tasks. A prompt variant is one file tasks/prompts/FAMILY_VARIANT.txt and a word in the task's list.
 */

struct problem {
    const char *id;     /* unique in the task, stable across runs; part of the job key */
    const char *prompt; /* user text, or the whole prompt when is_rendered */
    size_t prompt_len;
    /* What the problem is, however it is asked: 16 digits of the SHA-256 of its text before a template,
     * options or a length in tokens give it a form; of the prompt where nothing does. "": a text's window. */
    char hash[17];
    int is_rendered; /* 1: tokenized as it stands (special tokens recognised), only begin-of-sentence added */
    /* The beginning of the answer, which the completion continues: it stands behind the chat form, in the
     * model's turn (RULER). NULL: none, as when is_rendered. */
    const char *answer_prefix;
    const char *gold; /* reference answer; several answers (LongBench) joined by '\n' in golds */
    size_t gold_len;
    const char *const
        *golds; /* all accepted answers (ruler: all that are asked for), n_golds; golds[0] == gold */
    int n_golds;
    int n_options; /* multiple choice: letters A.. ; 0 otherwise */
    const char
        *option_order;   /* multiple choice: "BDAC" = record's option shown as A, B, C, D; NULL otherwise */
    int thinking_open;   /* 1: a rendered prompt that ends inside <think> */
    int max_new_tokens;  /* the task's own limit (LongBench), 0: the run's */
    int no_chat;         /* 1: this task is never wrapped in a chat form (some of LongBench) */
    int truncate_middle; /* 1: a prompt that is too long loses its middle (LongBench) instead of being refused
                          */
    const char *stop; /* the last token of this text ends a completion and cannot be its first; NULL: none */
    int window;       /* of a text, set by evalcore/plan: which of its windows, from 0 */
    const char *subset;             /* the data set within the task (LongBench: "qasper"), NULL: none */
    const char *const *all_classes; /* LongBench's classifications: n_classes names, else NULL */
    int n_classes;
    const struct zh_segmenter *zh; /* set by who has it graded, when ops->needs_segmenter says so */
};

struct task_options {   /* one table of options, filled from a run file's "tasks" entry */
    const char *file;   /* problems file; NULL: the task's default name in the data folder, or generated */
    const char *prompt; /* prompt variant; NULL: the task's default */
    int problems;       /* limit or number to generate; PARAM_UNSET_INT: all (pocket: 64, ruler: 100) */
    int steps;          /* pocket: size of a problem; PARAM_UNSET_INT: the family's default */
    int seed;           /* of a generator; PARAM_UNSET_INT: 1 */
    const char *subset; /* longbench, ruler: data set name; sets with known ids: "first100"; or NULL */
    int order;          /* gpqa: enum option_rule; -1: by the record */
    int tokens;         /* ruler: length of prompt and completion together; PARAM_UNSET_INT: none */
    int window;         /* text: tokens of a window; PARAM_UNSET_INT: 1024 */
    int prompt_tokens;  /* text: of these, the first that are not scored; PARAM_UNSET_INT: 128 */
};
extern const struct param task_params[]; /* keys of a "tasks" entry beside name and as */

/* How a task that makes its problems to a length asks for one in the model's tokens, of which it knows
 * nothing. Whoever opens it and has the tokenizer fills this. */
struct task_counter {
    /* The tokens of the problem's whole prompt, with chat form and answer prefix, or a negative ERR_. Only
     * prompt, prompt_len, answer_prefix and no_chat of the problem count. */
    int (*count)(void *context, const struct problem *p, struct err *e);
    void *context;
    int limit; /* of prompt and completion together: the model's context or the run's max_total_tokens */
};

struct task {
    const struct task_ops *ops;
    struct task_options options;
    struct problem *problems;
    size_t n_problems;
    const struct task_counter *counter; /* during ops->load; NULL: nobody counts */
    char source[65];    /* SHA-256 of the data the problems came from (file bytes, or generator settings) */
    struct arena arena; /* owns problems */
};

/* Facts by which a published problem file is told from damaged and reordered copies. Ends of lists: name
 * NULL. */
struct known_set {
    int n_problems;
    const int *answers;         /* of n_problems, where they are integers; NULL: not checked */
    const struct known_damage { /* a text that only a damaged copy has, and what is wrong with it */
        const char *text, *what;
    } * damage;
    const struct known_subset { /* the first n problems, by the SHA-256 of their ids, each with a line end; or
                                 * of the whole file */
        const char *name;
        int n;
        const char *ids, *source;
    } * subsets;
};

struct task_ops {
    const char *name; /* "aime24" */
    const char *help;
    const char *version;      /* part of the job key: a change of prompt or problems changes it */
    const char *default_file; /* under the data folder, e.g. "aime/aime24.jsonl"; NULL: generated. "SUBSET" in
                               * it stands for the option's value (LongBench) */
    const char *fields;       /* what a row of its file must have, for `list tasks`; NULL: it reads no file */
    const char *options;      /* keys of task_params that mean something here, comma-separated, beside file,
                               * prompt and problems; NULL: none */
    /* "accuracy", or "score" for text metrics, or "bits_per_byte": no answer is asked for, but how likely the
     * tokens of a text are. Such a task loads one problem, the whole text, which evalcore/plan cuts into
     * windows of tokens; it has no grade(). */
    const char *metric;
    const char *prompts; /* comma-separated variants, the first is the default; NULL: none */
    /* 1: its authors ask that no example be published, so prompts are written neither to disk nor to a log.
     * Ids, option orders and reference answers are kept, and must hold no text of the problem. */
    int is_restricted;
    int grades_math;     /* 1: graded by grade_math, so that its rules move the scores */
    int expected_tokens; /* prior for scheduling: typical completion length */
    const char *(*subset)(
        size_t i); /* the data sets that `subset` may name, NULL past the end; hook NULL: none */
    int (*needs_segmenter)(
        const char *subset);       /* its grades depend on the Chinese segmenter; hook NULL: no */
    const struct known_set *known; /* what is known of the published file; NULL: nothing */
    int (*load)(struct task *t, const char *path, struct err *e);
    int (*grade)(struct grade *out, const struct problem *p, const struct response *r, struct arena *a);
};

const struct task_ops *task_at(size_t i);           /* NULL past the end */
const struct task_ops *task_find(const char *name); /* NULL when unknown */
int task_unknown(const char *name, struct err *e);  /* ERR_USAGE, with the nearest name or all of them */
int task_is_text(const char *metric);               /* is it bits_per_byte? */

/* Where a task that has a default file looks for it: under data_dir (NULL: relative to it), with SUBSET
 * replaced when a subset is given. */
void task_default_file(struct str *out, const struct task_ops *ops, const char *data_dir, const char *subset);

/* Sets what is not given and depends on the task: the seed of generated problems, the windows of a text.
 * task_open does it too; a run file does it at once, so that its record has the effective values. */
void task_options_default(const struct task_ops *ops, struct task_options *o);

/* Opens a task: options were filled by param_* on task_params. data_dir may be NULL (then a task that needs a
 * file and has no `file` is an error that says where it expected it and how to give one). counter may be NULL
 * (then a task that makes problems to a length is an error) and is not kept. */
int task_open(struct task *t, const char *name, const struct task_options *o, const char *data_dir,
              const struct task_counter *counter, struct err *e);
void task_close(struct task *t);

/* Text of a prompt template, compiled in from tasks/prompts/NAME.txt; NULL when there is none. */
const char *task_prompt_text(const char *name);

#endif
