#ifndef EVALCORE_REPORT_REPORT_TRANSCRIPTS_H
#define EVALCORE_REPORT_REPORT_TRANSCRIPTS_H

#include "evalcore/report/data/report_data.h"

/* Transcripts: beside the page, transcripts/CELL/PROBLEM.html with the prompt, the reference answers, and
 * each completion with its verdict. Only on demand, for they hold the texts of problems; restricted tasks
 * (run_task_is_restricted) have none. */
#define TRANSCRIPTS "transcripts"

/* Names of a cell's folder and of a problem's file: letters, digits, '-', '_' and '.', whatever the ids hold;
 * no two cells of a run, or problems of a task, have the same. In the arena. */
const char *transcript_folder(struct arena *a, const struct run *r, int cell);
const char *transcript_file(struct arena *a, const struct run_task *t, int problem);
/* Deletes the folder of transcripts below `folder`, the report's, and where r->has_transcripts is set writes
 * them anew. Returns 0, ERR_IO when something cannot be written or deleted, or ERR_IO or ERR_FORMAT when a
 * completion cannot be read from its journal. */
int transcripts_write(const char *folder, const struct report *r, struct err *e);

#endif
