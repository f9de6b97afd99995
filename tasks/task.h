#ifndef TASKS_TASK_H
#define TASKS_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "answer_check/answer_check.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/param.h"
#include "evalcore/base/str.h"

/* The front door of tasks/, for all of evalcore. A task turns a data file (or a seed) into problems with
 * prompts, and a completion into a grade. It knows nothing of models: prompts are plain user text, and the
 * engine adds the chat form unless is_rendered says that it is there. A task that makes problems of a given
 * length in tokens gets a function that counts tokens (struct task_counter).
 *
 * To add a task, write tasks/sets/NAME.json (docs/tasks.md). One that computes its problems is tasks/NAME.c
 * with a struct task_ops, and an X(NAME) in task_list.h. Rows in tests/tasks go with either.
 */

/* An option that is scored by its likelihood (ops->option_metrics). */
struct problem_option {
    const char *context; /* what it follows; NULL: the problem's prompt */
    size_t context_len;
    const char *text; /* what is scored, behind the context, with the space or other text between the two */
    size_t text_len;
    const char *shown; /* for people: the option as the data set has it */
    int length;        /* characters (code points) of that, by which acc_norm divides; at least 1 */
};

struct problem {
    const char *id;     /* unique in the task, stable across runs; part of the job key */
    long line;          /* of its file, from 1; of generated problems the number */
    const char *prompt; /* user text, or the whole prompt when is_rendered */
    size_t prompt_len;
    /* Identity of the problem, however it is asked: 16 hex digits of the SHA-256 of its text before a
     * template, options or a length in tokens change it; of the prompt if nothing does. "": a text window. */
    char hash[17];
    uint64_t same;   /* equal for problems that ask the same; set by rows_finish() and problem_set_hash() */
    uint64_t answer; /* where gold is a letter of an order: equal for equal answers; 0: golds are compared */
    uint32_t row;    /* by which the row is known in a published set (known_sets.h); 0: by nothing */
    int known_row;   /* place in task.set, from 1; 0: it is not of that set */
    int is_rendered; /* 1: tokenized as it stands (special tokens recognised), only begin-of-sentence added */
    /* The beginning of the answer, which the completion continues: it follows the chat form, in the model's
     * turn (RULER). NULL: none, always so when is_rendered. */
    const char *answer_prefix;
    const char *gold; /* reference answer; several answers (LongBench) joined by '\n' in golds */
    size_t gold_len;
    const char *const
        *golds; /* all accepted answers (ruler: all that are asked for), n_golds; golds[0] == gold */
    int n_golds;
    int n_options; /* multiple choice: letters A.. ; 0 otherwise */
    const char
        *option_order; /* multiple choice: "BDAC" = record's option shown as A, B, C, D; NULL otherwise */
    const struct problem_option *options; /* (n_options) where options are scored, else NULL */
    int thinking_open;                    /* 1: a rendered prompt that ends inside <think> */
    int max_new_tokens;                   /* the task's own limit (LongBench); 0: the run's limit holds */
    int no_chat;         /* 1: this task is never wrapped in a chat form (some of LongBench) */
    int truncate_middle; /* 1: a prompt that is too long loses its middle (LongBench) instead of being refused
                          */
    const char *stop; /* the last token of this text ends a completion and cannot be its first; NULL: none */
    int window;       /* index of the text window, from 0; set by evalcore/plan */
    const char *subset;             /* the data set within the task (LongBench: "qasper"), NULL: none */
    const char *const *all_classes; /* LongBench's classifications: n_classes names, else NULL */
    int n_classes;
    /* Where the tests of a program are: "OFFSET+LENGTH" of the row in a file, which is tests_file; both NULL
     * for any other problem. */
    const char *tests, *tests_file;
    const char *metric;            /* kind metric: how it is scored (textscore()), else NULL */
    int first_line;                /* the same: only the first line of a completion counts */
    const struct zh_segmenter *zh; /* set by the caller of ops->grade if ops->needs_segmenter says so */
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
    int chains, hops;   /* ruler's vt; PARAM_UNSET_INT: 1 and 4 */
    int window;         /* text: tokens of a window; PARAM_UNSET_INT: 1024 */
    int prompt_tokens;  /* text: first tokens of a window, not scored; PARAM_UNSET_INT: 128 */
    int few_shot;       /* examples before a problem; PARAM_UNSET_INT: as many as the task's file says */
    int scored;         /* likelihood: enum task_scored; -1: SCORED_STEPS */
    int duplicates;     /* enum task_duplicates; -1: DUPLICATES_REFUSE */
};
/* How an option that is scored by its likelihood is run: its tokens in decode steps under the policy, or in
 * the prompt's pass with what stands before it. */
enum task_scored { SCORED_STEPS, SCORED_BLOCK };
/* What becomes of a problem that stands in a file more than once. */
enum task_duplicates { DUPLICATES_REFUSE, DUPLICATES_FOLD };
extern const struct param task_params[]; /* keys of a "tasks" entry beside name and as */

/* Counts tokens for a task that makes problems of a given length. The caller of task_open(), who has the
 * tokenizer, fills it. */
struct task_counter {
    /* Returns the number of tokens of the problem's whole prompt, with chat form and answer prefix, or a
     * negative ERR_. Only prompt, prompt_len, answer_prefix and no_chat of the problem count. */
    int (*count)(void *context, const struct problem *p, struct err *e);
    void *context;
    int limit; /* tokens of prompt and completion together: the model's context or the run's max_total_tokens
                */
};

struct task {
    const struct task_ops *ops;
    struct task_options options;
    const char *label; /* what a run file calls it, perhaps after a published set; NULL: its name */
    struct problem *problems;
    size_t n_problems;
    size_t n_rows;               /* of a task that is a file: the rows that were read */
    size_t n_folded;             /* rows that were left out since they repeat another */
    const struct known_set *set; /* the published set that the task is called after; NULL: none is known */
    const struct task_counter *counter; /* during ops->load; NULL: nobody counts */
    const char *tests_file; /* the file that the tests of its programs are read from; NULL: it has none */
    char source[65];    /* SHA-256 of the data the problems came from (file bytes, or generator settings) */
    struct arena arena; /* owns problems */
};

/* A data file that `kveval fetch` makes. With split: rows of a parquet set through the Hub's rows interface;
 * with members: an archive of JSONL files; else the parts, one behind the other. */
enum { TASK_PARTS_MAX = 8 };
struct task_member { /* "qasper" stands for data/qasper.jsonl in the archive and FILE/qasper.jsonl beside us
                      */
    const char *name;
    int n_rows;
};
struct task_source {
    const char *file;     /* below the data folder; of an archive a folder. NULL: the end of a list */
    const char *hub;      /* a data set's id on the Hub; NULL: the parts are whole addresses */
    const char *revision; /* a commit; NULL: the current one */
    /* Files of the Hub's data set or whole addresses, and the SHA-256 of each; NULL: as the Hub lists it */
    const char *part[TASK_PARTS_MAX], *sha256[TASK_PARTS_MAX];
    const char *config, *split;
    int n_rows;          /* of the split; 0: not known */
    const char *answers; /* of the split: SHA-256 of the answers without leading zeros, sorted, each with a
                          * line end; NULL: not known */
    const struct task_member *members; /* files that must be in the archive; ends with name NULL */
    const char *licence;
    int is_gated; /* 1: needs a token and an agreement on the data set's page */
};

struct task_ops {
    const char *name; /* "aime24" */
    const char
        *short_name; /* what job keys, run folders and labels call it, where that is not its name; NULL */
    const char *help;
    const char *version;      /* part of the job key: a change of prompt or problems changes it */
    const char *default_file; /* under the data folder, e.g. "aime/aime24.jsonl"; NULL: generated. "SUBSET" in
                               * it stands for the option's value (LongBench) */
    const struct task_source *sources; /* the files that can be fetched, ends with file NULL; NULL: none */
    const char *fields;  /* what a row of its file must have, for `list tasks`; NULL: it reads no file */
    const char *options; /* keys of task_params that this task knows, comma-separated, beside file, prompt
                          * and problems; NULL: none */
    /* "accuracy"; "score" for text metrics; or "bits_per_byte", which asks for no answer but measures how
     * likely the tokens of a text are. A task with bits_per_byte loads one problem, the whole text, which
     * evalcore/plan cuts into text windows; it has no grade(). */
    const char *metric;
    /* NULL, or "acc", "acc_norm", or both with a comma, of a task whose options are scored by their
     * likelihood: nothing is generated. The first gives the verdicts, the second stands beside it; golds are
     * letters. Such a task has the metric accuracy and no grade(). */
    const char *option_metrics;
    const char *prompts; /* comma-separated variants, the first is the default; NULL: none */
    /* 1: its authors ask that no example be published, so prompts are written neither to disk nor to a log.
     * Ids, option orders and reference answers are kept, and must hold no text of the problem. */
    int is_restricted;
    int grades_math;     /* 1: graded by grade_math, so its rules change the scores */
    int expected_tokens; /* typical completion length, for scheduling */
    int expected_steps; /* at this option `steps`, with which the length grows; 0: it does not depend on it */
    const char *(*subset)(
        size_t i); /* name of data set i that `subset` may ask for, NULL past the end; hook NULL: none */
    int (*needs_segmenter)(
        const char *subset); /* 1 if grades depend on the Chinese segmenter; hook NULL: no */
    /* Fills problems, n_problems and source from the file; path NULL: generates them. Returns 0, ERR_IO or
     * ERR_FORMAT for the file, ERR_USAGE for an option, or the error of the counter. */
    int (*load)(struct task *t, const char *path, struct err *e);
    /* Grades a completion of p; the strings of *out lie in the arena. Returns 0; a negative ERR_ code means
     * that nothing could be said of it. */
    int (*grade)(struct grade *out, const struct problem *p, const struct response *r, struct arena *a);
    /* Asks whether this machine can grade the task, before anything is decoded or graded: ERR_DISK with the
     * advice where it cannot. Hook NULL: every machine can. */
    int (*check_machine)(struct err *e);
    int grade_seconds;            /* grade() may take as long on the clock; 0: moments */
    const char *kind;             /* of a task that is a file: "math", "choice", ...; NULL: it is C */
    const struct task_file *file; /* what the file says (task_file.h); NULL with kind, or where a kind stands
                                   * for all of its tasks (task_of_run()) */
};

/* Return task i in the order of `kveval list tasks`, NULL past the end; and the task of exactly this name,
 * NULL when unknown. */
const struct task_ops *task_at(size_t i);
const struct task_ops *task_find(const char *name);
/* What job keys, run folders and labels call the task: "relay" is pocket.relay. */
const char *task_short_name(const struct task_ops *ops);
/* The task that a run folder speaks of, for what can be done without its problems: the one of this name, or
 * where the folder says a kind, that kind under any name. NULL: this version knows neither. */
const struct task_ops *task_of_run(const char *name, const char *kind);
/* Always returns ERR_USAGE, with the nearest name or all of them in the message. */
int task_unknown(const char *name, struct err *e);
/* A task that is a file of somebody's own, in the arena, which then owns it. Its paths count from the file's
 * folder. ERR_USAGE: it is no such file, or says what cannot be, with the key; also what json_read_written()
 * returns. */
int task_read_file(const struct task_ops **out, const char *path, struct arena *a, struct err *e);
/* The same of an object that stands in another file at `where`, from whose folder `dir` its paths count. Its
 * "name" may lack: then it is called `name`. */
int task_read_object(const struct task_ops **out, const json_t *o, const char *name, const char *where,
                     const char *dir, struct arena *a, struct err *e);
/* Looks at a file of problems and sets *out to a list of entries for a run file, which name it `shown`: one,
 * or one of each kind where some rows have options and others none. Where an entry needs to be told something
 * it has a value that is refused and a note. ERR_USAGE: no column looks like a problem or an answer; also
 * what task_open() returns for the rows. The caller owns the list. */
int task_guess(json_t **out, const char *path, const char *shown, struct err *e);
/* Is it a key of such an object, which is no option of a task (task_params) as well? 1 or 0. */
int task_is_file_key(const char *key);
/* Is it a file of somebody's own, which needs no data folder? 1 or 0. */
int task_is_own(const struct task_ops *ops);
/* What the file says, as JSON; NULL: the task is one of the program. */
const char *task_definition(const struct task_ops *ops);

/* Returns the typical completion length of a task with these options, in tokens. */
double task_usual_tokens(const struct task_ops *ops, const struct task_options *o);
/* Returns 1 for bits_per_byte, else 0. */
int task_is_text(const char *metric);

/* Appends the path of the task's default file, which it must have: under data_dir (NULL: relative to it), of
 * an own task under its own folder, with SUBSET replaced by the subset unless that is NULL. */
void task_default_file(struct str *out, const struct task_ops *ops, const char *data_dir, const char *subset);

/* Sets options that are not given to the task's defaults: the seed of generated problems, the sizes of text
 * windows. task_open does it too; a run file does it at once, so that its record has the effective values. */
void task_options_default(const struct task_ops *ops, struct task_options *o);

/* Opens a task and loads its problems, at most options.problems of them. Two problems that ask the same are
 * an error, unless the options fold them to one or the file is all of a published set, which is taken as it
 * is; two with different answers always. So is another published set than the name's. Fill the options by
 * param_* on task_params; their texts are copied. data_dir may be NULL; then a task that needs a file and is
 * given none is ERR_USAGE, with advice. counter may be NULL; then a task that makes problems of a given
 * length is an error. It is not kept. Returns 0, ERR_USAGE (an unknown task, an option, or a file that is not
 * there), ERR_IO (it cannot be read), ERR_FORMAT (it is damaged) or the error of the counter. The caller
 * closes t if this succeeds; on an error it is closed. */
int task_open(struct task *t, const char *name, const struct task_options *o, const char *data_dir,
              const struct task_counter *counter, struct err *e);
/* The same for a task that is at hand, which a run file calls `label`; that may be the name of a published
 * set. */
int task_open_as(struct task *t, const struct task_ops *ops, const char *label, const struct task_options *o,
                 const char *data_dir, const struct task_counter *counter, struct err *e);
/* Frees the problems and zeroes t. */
void task_close(struct task *t);

/* What the problems that a task holds now are of the published set whose name it bears. */
struct task_set_facts {
    int size;  /* of the published set; 0: none is known by that name, and nothing is said */
    int is_it; /* all problems are of the set */
    int first; /* how many, if they are all of the task's own set or, in its order, the first; else 0, and
                * where answers alone tell them: a translation has the same */
    int is_renamed; /* they are not of the set, and a label says so */
};
/* Fills *f and appends a text for people: "AIME 2025, all 30", "15 of AIME 2024's 30", "not AIME 2024: 3 of
 * 30 answers; name the task otherwise"; nothing when no set is known. */
void task_set_facts(struct task_set_facts *f, struct str *text, const struct task *t);

/* Returns the text of a prompt template, compiled in from tasks/prompts/NAME.txt; NULL when there is none. */
const char *task_prompt_text(const char *name);

/* Appends lines about a task that is a file: kind, source, facts, what nobody checked; nothing of one that is
 * C. */
void task_describe(struct str *out, const struct task_ops *ops);
/* Appends the prompt of a made-up row by the variant (NULL: the default), or of a generated problem. Returns
 * 0, a negative ERR_, or 1 where the task has none to show. */
int task_example(struct str *out, const struct task_ops *ops, const char *variant, struct err *e);

/* A group: one name in a run file that stands for several tasks. */
enum { TASK_GROUP_MAX = 4 };
struct task_group {
    const char *name, *help;
    struct task_group_member {
        const char *task, *subset; /* subset NULL: the whole */
    } member[TASK_GROUP_MAX];      /* ends with task NULL, or is full */
};

/* Return group i of the table, NULL past the end; and the group of exactly this name, NULL when unknown. */
const struct task_group *task_group_at(size_t i);
const struct task_group *task_group_find(const char *name);

#endif
