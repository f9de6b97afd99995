#ifndef EVALCORE_GRADERS_GRADER_MESSAGES_H
#define EVALCORE_GRADERS_GRADER_MESSAGES_H

#include "evalcore/store/grades.h"

/* The messages between a pool of graders and its children.
 *
 *   pool     {items: [{journal, offset, length, finish, task, kind, tests_file, problem}, ...]}
 *                a batch; journal is a file's name, and an item without a problem has that of the item before
 *   grader   {ready}
 *                the first one, when its limits are set
 *            {verdict, score, reason, gold_form, pred_form, segmenter, open}
 *                of each item, in their order; open: it could not be graded here, and may be later
 *            {code, error}
 *                the last one: it gives up
 *
 * Grades come one by one, so the first item without one is the item that a dead child was at. Those that read
 * return 0, or ERR_FORMAT for a message of another form; those that write return a new reference, or NULL
 * where a text is not UTF-8, which wire_send() refuses. */
enum { GRADER_NO_MEMORY = 83 }; /* exit code of a child that ran out of memory */

/* The batch of the n completions, whose texts are not in it. */
json_t *grader_batch(const struct run *r, const struct ungraded *list, size_t n);
/* One item as the child has it. Texts live as long as the message, lists in the arena. */
struct grader_item {
    const char *journal;
    struct run_task task; /* its name only */
    struct run_problem problem;
    struct record rec;
};
/* item: holds the item before it, or zeros; a message without a problem leaves that of the item before, and
 * is ERR_FORMAT where there was none. */
int grader_read_item(const json_t *o, struct grader_item *item, struct arena *a, struct err *e);

/* The record's grade, and the error, as messages. */
json_t *grader_grade(const struct record *rec);
json_t *grader_error(const struct err *error);
/* Sets the grade of a record, with texts in the arena. A message with an error is returned as that error: e
 * gets its text and the result is its code, ERR_FORMAT where that is not negative. */
int grader_read_grade(const json_t *m, struct record *rec, struct arena *a, struct err *e);

#endif
