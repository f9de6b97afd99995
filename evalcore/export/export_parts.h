#ifndef EVALCORE_EXPORT_EXPORT_PARTS_H
#define EVALCORE_EXPORT_EXPORT_PARTS_H

#include "evalcore/base/arena.h"
#include "evalcore/export/export.h"
#include "evalcore/base/str.h"
#include "evalcore/report/data/report_data.h"
#include "evalcore/store/run.h"

/* Functions that return int and take an err return 0 or a negative ERR_ code, unless they say otherwise.
 *
 * Files that appear together. Each is written to a temporary file beside its place, in pieces, since the
 * completions of a night are larger than memory; export_files_commit() renames them all, and
 * export_files_release() removes what was not kept, folders that this object made included. */
struct export_file {
    char *path, *temporary;
};
struct export_files {
    struct export_file *list;
    size_t n, cap;
    char **folders; /* that were made, outermost first */
    size_t n_folders, folder_cap;
    int replace;
    int fd; /* the open file; -1: none */
    struct str buffer;
};

/* An empty set of files. replace 1: files that exist may be replaced. */
void export_files_init(struct export_files *f, int replace);
/* Opens the next file, and makes the folders above it; at most one is open. ERR_USAGE when the path exists
 * (with `replace`: when it is a folder) or when this export has it already; ERR_IO when a folder or the file
 * cannot be made. */
int export_open(struct export_files *f, const char *path, struct err *e);
/* The open file's unwritten end, borrowed: add to it, and call export_flush() now and then, which writes it
 * out and clears it once it has a mebibyte or more. ERR_IO when it cannot be written. */
struct str *export_text(struct export_files *f);
int export_flush(struct export_files *f, struct err *e);
/* Writes the rest of the open file to disk and closes it, also after an error, which is ERR_IO. */
int export_close(struct export_files *f, struct err *e);
/* Gives every closed file its name, and syncs their folders. ERR_IO at the first that cannot be renamed;
 * those before it stay where they are. */
int export_files_commit(struct export_files *f, struct err *e);
/* Closes an open file, deletes the temporary files that were not renamed and the folders made here that are
 * empty, and leaves f empty. */
void export_files_release(struct export_files *f);

/* What the formats share. A *system* is what other tools call a model: one model under one policy setting and
 * one set of generation settings, with a cell for each task. */
struct export
{
    const struct run *run;
    const struct export_options *o;
    struct export_files files;
    struct export_done *done;
    struct arena arena;
    const char
        *time; /* when the run was last written: "2026-01-31T12:00:00", UTC; 1970 when its manifest is lost */
    double seconds; /* the same since 1970 */
};

/* A format writes its files with export_open() and the like: those of one system, whose first cell is
 * `first`, or all of them. One of the two functions is NULL. They return 0 or a negative ERR_ code and need
 * not clean up. */
struct export_format {
    const char *name;
    int (*write_system)(struct export *x, int first, struct err *e);
    int (*write)(struct export *x, struct err *e);
};

extern const struct export_format export_lmeval, export_lighteval, export_inspect, export_csv;

/* ---- cells */
/* The first cell of the next system after cell `from` (-1: of the first one); -1 when there is none. */
int export_next_system(const struct run *r, int from);
/* The next cell of the system of cell `first` after cell `i`; -1 when there is none. */
int export_next_cell(const struct run *r, int first, int i);
/* The system's name: model, policy label and swept settings, as "pocket quest k_pages=8". In the arena. */
const char *export_system_name(struct export *x, const struct cell *c);
/* The task's label, with "_other_problems" behind it when it names a published set whose problems they are
 * not (is_misnamed of struct run_task). Borrowed from the run, or in the arena. */
const char *export_label(struct export *x, const struct run_task *t);
/* This label with every byte but ASCII letters and digits as '_', and "_2" and so on behind it where an
 * earlier cell of the system (whose first is `first`) has the same. In the arena. */
const char *export_task_name(struct export *x, int first, int cell);
/* Replaces what a file name cannot hold as lm-evaluation-harness does (runs of "<>:/|\?*[] become "__"), and
 * control characters; cuts it to 200 bytes, ending in a hash then. In the arena. */
const char *export_file_name(struct export *x, const char *name);

/* ---- samples */
/* How many records from i on, i included, are of the same problem: 1 or more. */
int export_samples(const struct cell *c, int i);
/* 1 when the texts of the cell's task are left out: it is restricted and with_restricted is 0. */
int export_is_withheld(const struct export *x, const struct cell *c);
/* Sets *out to the completion, or to a sentence that says that it is withheld, which it counts in
 * done->withheld. ERR_IO or ERR_FORMAT when it cannot be read from its journal. */
int export_completion(struct export *x, const struct cell *c, const struct record *rec, struct str *out,
                      struct err *e);
/* New references, never NULL; export_number() is JSON's null for a number that is not finite. */
/* Strings; "" when the run folder has no prompt. The question is the task's text, the prompt what the model
 * got; in a folder of a version that did not keep that, the same. */
json_t *export_question(const struct run_problem *p);
json_t *export_prompt(const struct run_problem *p);
json_t *export_golds(const struct run_problem *p); /* an array of all reference answers, at least one */
/* An array of the stop strings of the cell's settings and behind them the problem's own; p NULL: the cell's.
 */
json_t *export_stops(const struct cell *c, const struct run_problem *p);
/* The most new tokens of a completion: the problem's own number where the run file sets none, else the
 * cell's. p NULL: the cell's. */
int export_max_new(const struct cell *c, const struct run_problem *p);
json_t *export_settings(const struct cell *c); /* generation settings, an object; empty when unreadable */
json_t *export_params(const struct cell *c);   /* the policy's options, likewise */
json_t *export_number(double v);
/* Of tasks whose options are scored: the names of the first metric and of the second (NULL: there is one),
 * the second's value, to which a failed job adds nothing, its mean over the cell, and the log-likelihoods. */
const char *export_first_name(const struct cell *c);
const char *export_second_name(const struct cell *c);
double export_second(const struct record *rec);
double export_mean_second(const struct cell *c);
json_t *export_options(const struct option_scores *s);

/* What a cell's records add up to; verdicts and scores are of answers, not of windows of a text. */
struct export_totals {
    double mean, stderr_;    /* over problems; stderr_ is NaN with one problem, both with none */
    int problems, n_lengths; /* n_lengths: jobs that did not fail, so that they have a length */
    int n_peaks;             /* jobs with a decode step, so that they have a peak */
    int verdict[VERDICT_COUNT];
    struct likelihood likelihood;
    double tokens, prompt_tokens, peak, reads, reads_full, aux; /* sums */
};
/* Fills *t from the cell's records. */
void export_count(struct export_totals *t, const struct cell *c);
/* The totals under kveval's own names, with the policy, its options and its budget rule: a new reference. */
json_t *export_kv(const struct cell *c, const struct export_totals *t);

#endif
