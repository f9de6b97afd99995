#ifndef TASKS_TASK_FILE_H
#define TASKS_TASK_FILE_H

#include "evalcore/base/json.h"
#include "tasks/rows.h"
#include "tasks/task.h"

/* A task that is a JSON file: what it says (docs/tasks.md has the keys), and its kind, which turns a row of
 * data into a problem and grades completions.
 *
 * To add a kind, write tasks/kind_NAME.c with a struct task_kind, put its X(NAME) into TASK_KINDS, and what
 * its "grader" object takes into its own table over struct task_grader. */
enum { TASK_ROLES_MAX = 16, TASK_PROMPTS_MAX = 16, TASK_NAME_MAX = 64 };

/* What a field of a row is for: "problem", and the columns that are looked for where the file names none. */
struct task_role {
    const char *name, *columns; /* comma-separated; the first that a row has counts */
    /* OPTIONAL: a row needs it for a template that names it; FILLED: the kind has a text for a row without
     * it; EACH: a list of columns is one for each item */
    enum { ROLE_NEEDED, ROLE_OPTIONAL, ROLE_FILLED, ROLE_EACH } use;
};

struct task_grader {            /* how answers stand in a row; zeroed is the kind's own way */
    const char *answer_after;   /* math: the answer stands behind the last of this text, where it occurs */
    const char *answer_without; /* math: characters that are left out of it */
    int answer_in_box;          /* math: 1: it stands in the last \boxed{}, where there is one */
    int answer_is;              /* choice: enum answer_form; -1: found out. likelihood: the same, never -1 */
    int metrics, shape;         /* likelihood: which metrics, and what is done to a row first */
    int metric, first_line; /* metric: index of metric_names; 1: only the first line of a completion counts */
    const char *options;    /* likelihood: those of all rows, with commas; NULL: a row has its own */
};

struct task_prompt {
    const char *name;   /* of the variant */
    const char *text;   /* template */
    const char *option; /* choice: template of an option of {options}; likelihood: of what is scored */
};

struct task_few_shot { /* solved examples in front of the problem: {examples} */
    int count;        /* of them, where the run file says no other number; 0 with text NULL: there are none */
    const char *file; /* beside the task's rows; NULL: `rows` has them, a JSON list */
    const char *rows;
    const char *text;  /* template of an example */
    const char *join;  /* between two; NULL: nothing */
    const char *match; /* column that an example shares with the row; NULL: all take the first ones */
    int draw;          /* enum few_shot_draw */
    int seed;          /* of random draws, which go on from row to row */
    int has_spare;     /* one more is drawn, and an example that is the row itself is left out */
};
enum few_shot_draw { DRAW_FIRST, DRAW_RANDOM };

struct task_field {
    const char *role, *columns;
    int is_each;       /* columns are one for each item */
    int is_trimmed;    /* without the white space around it */
    const char *after; /* without this at its beginning; NULL: nothing is left out */
};

struct task_file;
/* What the rows of a task are read with. */
struct task_loading {
    const struct task_file *file;
    const struct task_prompt *prompt;
    int is_example;         /* 1: the row is one of few_shot's, and {answer} is its answer */
    void *few_shot;         /* few_shot.h */
    char *is_in;            /* for each problem 1: it is of the subset that is asked for; NULL: none is */
    size_t cap, n_filtered; /* n_filtered: rows that rows.with and rows.without leave out */
    struct str text;        /* scratch */
    void *own;              /* of the kind's row() and finish(); its release() frees it */
};

struct task_kind {
    const char *name, *help;
    const char *metric;  /* as in struct task_ops */
    int grades_math;     /* the same */
    int expected_tokens; /* where a file says none */
    /* Of a kind whose options are scored: the task's option_metrics; NULL: nothing is scored. */
    const char *(*option_metrics)(const struct task_file *f);
    const struct task_role *roles; /* ends with name NULL */
    const char *example; /* a made-up row as JSON, by roles, for `list tasks NAME`; NULL: none is shown */
    const char *prompts; /* variants where a file has none, as its "prompts" object; NULL: it must */
    const char
        *template_fields; /* what a template may name beside the roles, comma-separated; NULL: nothing */
    const char *example_fields; /* the same, for the template of an example alone */
    const struct param *grader; /* keys of "grader", over struct task_grader; NULL: none */
    const char *options;        /* as in struct task_ops; NULL: those of known sets */
    int grade_seconds;          /* the same */
    /* Adds the problem of one row. Returns 0, or ERR_FORMAT for a row that has not what it needs. */
    int (*row)(struct rows *r, const json_t *row, struct task_loading *l, struct err *e);
    /* Called once after the last row; NULL: nothing to do. */
    int (*finish)(struct rows *r, struct task_loading *l, struct err *e);
    void (*release)(void *own); /* NULL where the kind keeps nothing; own may be NULL */
    /* As in struct task_ops. The problem may be one of a run folder: it has what store/run.h keeps. */
    int (*grade)(struct grade *out, const struct problem *p, const struct response *r, struct arena *a);
    int (*check_machine)(struct err *e); /* as in struct task_ops */
};

struct task_rows { /* where rows come from */
    const char *file, *format, *hub, *revision, *path, *licence;
    const char *with, *without;        /* only rows that have this column, or lack it; NULL: all */
    const struct task_source *sources; /* what "fetch" says; NULL: nothing */
};
struct task_facts {    /* what a file of the set has */
    int rows, repeats; /* repeats: of them, how many repeat an earlier one */
    const char *answers_sha256, *source;
};

struct task_file {
    struct task_ops ops; /* its name is the task's */
    const struct task_kind *kind;
    const char *where; /* for messages: the path, or where it stands */
    const char
        *dir; /* of an own task: what its paths count from; NULL: a task of the program, the data folder */
    const char *written;    /* the object as JSON, in its order */
    const char *definition; /* canonical JSON of what decides prompts and grades */
    const char *name, *about, *version, *unchecked;
    const char *subsets; /* columns whose values the option "subset" may name, comma-separated; NULL: none */
    int limit, expected_tokens, is_restricted, truncate_middle;
    struct task_rows rows;
    struct task_facts facts;
    struct task_grader grader;
    struct task_few_shot few_shot;
    struct task_field field[TASK_ROLES_MAX];
    int n_fields;
    struct task_prompt prompt[TASK_PROMPTS_MAX];
    int n_prompts;
};

#define TASK_KINDS(X) X(math) X(choice) X(likelihood) X(code) X(metric)
#define X(name)       extern const struct task_kind task_kind_##name;
TASK_KINDS(X)
#undef X
/* The kind of that name; NULL: there is none. */
const struct task_kind *task_kind_find(const char *name);
/* Kind i; NULL past the end. */
const struct task_kind *task_kind_at(size_t i);
/* Appends the names of all kinds: "math, choice". */
void task_kinds_list(struct str *out);

/* Fills f from a task's object. where: for messages; dir: as in struct task_file. All texts are copied into
 * the arena, where f must lie, too. ERR_USAGE for a key, type or text that cannot be; the message names where
 * and the key. */
int task_file_parse(struct task_file *f, const json_t *o, const char *where, const char *dir, struct arena *a,
                    struct err *e);

/* Parts of it, for few_shot.c: fills a struct from an object of the file by its table; a path that stays in
 * the folder; a template that names fields only, an example's {answer} too. 0, or ERR_USAGE with the key. */
int task_file_table(const struct task_file *f, const char *key, const struct param *table, void *base,
                    const json_t *o, struct arena *a, struct err *e);
int task_file_check_path(const struct task_file *f, const char *key, const char *path, struct err *e);
/* Refuses a link in the folder that leads out of it; a file that is not there is none. */
int task_file_check_link(const struct task_file *f, const char *key, const char *folder, const char *path,
                         struct err *e);
int task_file_check_template(const struct task_file *f, const char *key, const char *text, int is_example,
                             struct err *e);

/* The ops->load of all such tasks (task_load.c). */
int task_file_load(struct task *t, const char *path, struct err *e);
/* The kind's role of that name; NULL: it has none. */
const struct task_role *task_role_find(const struct task_kind *k, const char *name);
/* The field of that role, NULL: the file has none and the kind no default. */
const struct task_field *task_field_find(const struct task_file *f, const char *role);
/* Reads a role's text of a row (row_text()); of an optional role that the row lacks out->s is NULL. */
int task_row_text(struct row_text *out, const struct rows *r, const json_t *row, const struct task_loading *l,
                  const char *role, struct err *e);
/* Renders the prompt of a row by the loading's template: fields are the kind's own, behind which the file's
 * further fields are added from the row. Sets the prompt, the hash (of `problem`) and the id of p. */
int task_row_problem(struct problem *p, struct rows *r, const json_t *row, struct task_loading *l,
                     const struct prompt_field *fields, int n_fields, struct row_text problem, struct err *e);

#endif
