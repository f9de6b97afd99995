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
    const char *segmenter; /* NULL: none */
};

struct gradebook {
    struct keymap map; /* key -> index into rows */
    struct grade_row *rows;
    size_t n, cap;
    long n_changed; /* rows without a right checksum, which do not count */
};

/* version: of the grader, answer_check_version() for this one. A missing file is an empty book; rows that are
 * damaged or were changed are left out, with a warning. ERR_UNSUPPORTED: a row is of another version. */
int gradebook_load(struct gradebook *b, const char *dir, const char *version, struct arena *a, struct err *e);
/* gold: grade_gold_digest() of the problem. NULL when no verdict is kept for both. */
const struct grade_row *gradebook_find(const struct gradebook *b, const char *key, const char *gold);
void gradebook_release(struct gradebook *b);

/* Appends to `out` what the newest older grader whose verdicts the folder keeps said otherwise: a line with
 * its version and the number, then up to `most` lines, one for each such completion. Nothing where no such
 * verdicts are kept. */
int grades_changes(const struct run *r, int most, struct str *out, struct err *e);

/* Writes the grades of every finished record of a loaded run, but not of those whose grader was killed. */
int grades_save(const struct run *r, struct err *e);

/* Grades one completion: sets rec's verdict, score, segmenter, reason and forms, which live in the arena. zh:
 * the Chinese segmenter; NULL: by character. */
void grade_record(struct record *rec, const struct run_task *t, const struct run_problem *p, const char *text,
                  size_t n, const struct zh_segmenter *zh, struct arena *a);
/* What is to be graded; the record says where its text is. */
struct ungraded {
    struct record *rec;
    const struct run_task *task;
    const struct run_problem *problem;
};
/* Grades n records of r, in this process unless grades_made_by() said who does it. zh: as for grade_record();
 * zh_dict: the option that it was opened by. */
int grades_make(struct run *r, const struct ungraded *list, size_t n, const struct zh_segmenter *zh,
                const char *zh_dict, struct err *e);
/* The program says at its beginning who grades for it (evalcore/graders/grader_pool.h). */
typedef int (*grades_maker)(struct run *r, const struct ungraded *list, size_t n, const char *zh_dict,
                            struct err *e);
void grades_made_by(grades_maker maker);
/* Does the problem's grade depend on the Chinese segmenter? */
int grade_needs_segmenter(const struct run_task *t, const struct run_problem *p);
/* 16 hex digits over the reference answers and what else of the problem the grade depends on. */
const char *grade_gold_digest(const struct run_problem *p, struct arena *a);

/* The option of every command that may grade Chinese texts. */
#define ZH_DICT_HELP "jieba's dictionary for Chinese metrics: a folder with dict.txt and finalseg/"

/* zh_segmenter_open() for this program, which also looks beside the program's file. zh_dict: the option's
 * value, NULL when it was not given. */
int segmenter_open(struct zh_segmenter **out, const char *zh_dict, struct err *e);

#endif
