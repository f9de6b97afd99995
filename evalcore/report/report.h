#ifndef EVALCORE_REPORT_REPORT_H
#define EVALCORE_REPORT_REPORT_H

#include "evalcore/base/err.h"

/* Writes DIR/report/: index.html, report.md, accuracy.csv, pairs.csv, lengths.csv and the figures as *.svg,
 * each file whole or not at all; figures that the earlier report showed and this one does not go away. Works
 * on an unfinished run folder and says how much is missing. `against` names another run folder, or is NULL:
 * then a section and against.csv compare cells with the same label, task and swept settings. `table`, when
 * not NULL, receives the accuracy table as plain text for a terminal. */
struct str;
int report_write(const char *dir, const char *against, struct str *table, struct err *e);

/* The same from loaded runs into a folder of the caller's choice; `against` may be NULL. */
struct run;
int report_write_run(const struct run *run, const struct run *against, const char *folder, struct str *table,
                     struct err *e);

#endif
