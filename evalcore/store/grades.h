#ifndef EVALCORE_STORE_GRADES_H
#define EVALCORE_STORE_GRADES_H

#include "evalcore/store/job_key.h"
#include "evalcore/store/run.h"
#include "answer_check/answer_check.h"

/* Verdicts by job key, kept in DIR/grades/VERSION.jsonl (the grader's version) so that a report need not
 * grade again. The file can be rebuilt from the journals at any time. A kept verdict counts only as long as
 * the reference answers are those that it was graded against, and its row is as it was written: each ends
 * with a checksum, as the lines of journals do. */
struct grade_row {
    const char *gold; /* digest of the reference answers */
    enum verdict verdict;
    double score;
    const char *reason, *gold_form, *pred_form;
    const char *segmenter; /* as in struct record */
};

struct gradebook {
    struct keymap map; /* key -> index into rows */
    struct grade_row *rows;
    size_t n, cap;
    long n_changed; /* rows without a right checksum, which do not count */
};

/* Loads the kept verdicts of run folder dir; their texts live in the arena. version: of the grader,
 * answer_check_version() for this one. Returns 0, ERR_UNSUPPORTED when a row is of another version, ERR_IO or
 * ERR_DISK when the file cannot be read. A missing file is an empty book. Rows that are damaged or were
 * changed are left out, with a warning, and of several rows of a key the last one counts. The caller releases
 * b, also after an error. */
int gradebook_load(struct gradebook *b, const char *dir, const char *version, struct arena *a, struct err *e);
/* Returns the verdict that is kept for the key, borrowed until b is released, or NULL when there is none or
 * it was graded against other reference answers than those of `gold`, a grade_gold_digest(). */
const struct grade_row *gradebook_find(const struct gradebook *b, const char *key, const char *gold);
/* Frees what b owns and zeroes it; it may be zeroed already. */
void gradebook_release(struct gradebook *b);

/* Appends to `out` what the newest older grader whose verdicts the folder keeps said otherwise: a line with
 * its version and the number, which may be 0, then up to `most` lines, one for each such completion, and a
 * line that counts the others. Appends nothing where no such verdicts are kept. Returns 0, or an error of
 * gradebook_load(), and appends nothing then. */
int grades_changes(const struct run *r, int most, struct str *out, struct err *e);

/* Replaces the file of this grader's verdicts by those of a loaded run. Failed jobs, texts, options, and
 * records whose grader was killed are left out. Returns 0, or ERR_IO or ERR_DISK when it cannot be written;
 * the old file then stays. */
int grades_save(const struct run *r, struct err *e);

/* Grades one completion, of n bytes of text: sets rec's verdict, score, segmenter, reason and forms, which
 * live in the arena. A task that this version does not know, or a problem that the grader refuses, gets the
 * verdict error; nothing else can fail. zh: the Chinese segmenter; NULL: by character. */
void grade_record(struct record *rec, const struct run_task *t, const struct run_problem *p, const char *text,
                  size_t n, const struct zh_segmenter *zh, struct arena *a);
/* What is to be graded; the record says where its text is. */
struct ungraded {
    struct record *rec;
    const struct run_task *task;
    const struct run_problem *problem;
};
/* Grades n records of r, in this process unless grades_made_by() said who does it. zh: as for grade_record();
 * zh_dict: the option that it was opened by. Adds n to r->n_graded. Returns 0 or the first error, after which
 * the remaining records are not graded: that of run_text(), or what the maker returned (ERR_DISK where no
 * process can be started, or where this machine cannot grade one of the tasks: a program without a sandbox).
 */
int grades_make(struct run *r, const struct ungraded *list, size_t n, const struct zh_segmenter *zh,
                const char *zh_dict, struct err *e);
/* The program says at its beginning who grades for it (evalcore/graders/grader_pool.h): a maker fills the
 * records of the list as grades_make() does and returns 0 or an ERR_ code. NULL, as at the start: this
 * process grades. */
typedef int (*grades_maker)(struct run *r, const struct ungraded *list, size_t n, const char *zh_dict,
                            struct err *e);
void grades_made_by(grades_maker maker);
/* Returns 1 when the problem's grade depends on the Chinese segmenter, else 0, as for a task that this
 * version does not know. */
int grade_needs_segmenter(const struct run_task *t, const struct run_problem *p);
/* Returns how many seconds a grade of the task may take on the clock: 0 where it takes moments, as for a task
 * that this version does not know. */
int grade_seconds(const struct run_task *t);
/* Returns 16 hex digits, in the arena, over the reference answers and what else of the problem the grade
 * depends on: number of options, thinking, subset and classes. */
const char *grade_gold_digest(const struct run_problem *p, struct arena *a);

/* The option of every command that may grade Chinese texts. */
#define ZH_DICT_HELP "jieba's dictionary for Chinese metrics: a folder with dict.txt and finalseg/"

/* Opens the Chinese segmenter from zh_dict, the option's value, or for NULL from where zh_segmenter_open()
 * looks, beside this program's file first. Returns 0, with *out NULL when zh_dict is NULL and there are no
 * data; else ERR_IO or ERR_FORMAT for data that cannot be read or are damaged, and *out is NULL. The caller
 * gives *out to zh_segmenter_close(). */
int segmenter_open(struct zh_segmenter **out, const char *zh_dict, struct err *e);

#endif
