#ifndef EVALCORE_GRADERS_GRADER_POOL_H
#define EVALCORE_GRADERS_GRADER_POOL_H

#include "evalcore/base/err.h"

/* The room of graders: grading in processes that may be killed. Completions are texts that nobody has seen
 * before, and a sweep must not end because one of them makes a grader loop, crash or take all memory. So each
 * is graded in a child, the program's hidden command `grader`, with limits on processor time and memory; a
 * child that exceeds one is ended, and the completion that it was at gets the verdict error with the reason.
 * An error of the whole is a child that cannot be started or does not begin (ERR_DISK), or a text that cannot
 * be read; run_load() returns it. */
enum {
    GRADER_SECONDS = 10, /* processor time for one completion; what is bounded by steps needs less than 2 */
    GRADER_SILENT_SECONDS = 60, /* on the clock, where it waits for something that does not come */
    GRADER_MEMORY_MIB = 2048    /* address space */
};

/* From now on run_load() grades in such processes. main.c calls it first; the tests of rooms have no such
 * command, and grade in their own. */
void grader_pool_use(void);

/* The child: takes over fd and grades what comes over it until nobody is there any more. dir: the run folder.
 * zh_dict: the option's value, NULL when it was not given. Returns 0, or the first error, which is told over
 * fd too: ERR_IO when limits cannot be set, else that of the message, the dictionary or the journal. From the
 * call on a process without memory ends with GRADER_NO_MEMORY. e is not NULL. */
int grader_serve(int fd, const char *dir, const char *zh_dict, struct err *e);

#endif
