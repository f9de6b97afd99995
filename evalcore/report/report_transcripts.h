#ifndef EVALCORE_REPORT_REPORT_TRANSCRIPTS_H
#define EVALCORE_REPORT_REPORT_TRANSCRIPTS_H

#include "evalcore/report/data/report_data.h"

/* Transcripts: beside the page, transcripts/CELL/PROBLEM.html with the prompt, the reference answers, and
 * each completion with its verdict. Only on demand, for they hold the texts of problems; restricted tasks
 * (run_task_is_restricted) have none. */
#define TRANSCRIPTS "transcripts"

/* Names of a cell's folder and of a problem's file: letters, digits, '-', '_' and '.', whatever the ids hold;
 * no two are the same. In the arena. */
const char *transcript_folder(struct arena *a, const struct run *r, int cell);
const char *transcript_file(struct arena *a, const struct run_task *t, int problem);
/* Writes them below `folder`, the report's. */
int transcripts_write(const char *folder, const struct report *r, struct err *e);

#endif
