#ifndef EVALCORE_REPORT_REPORT_H
#define EVALCORE_REPORT_REPORT_H

#include "evalcore/base/err.h"

/* Reports: from the records of a run folder to tables, figures and a page. Nothing here decodes, grades or
 * writes into a journal. The functions below return 0, or ERR_IO when a file cannot be written, removed or
 * read, or another negative ERR_ code that is named below; what was written before an error stays.
 *
 * report_write() writes report/ into the folder of a loaded run: index.html, report.md, accuracy.csv,
 * tables.tex, columns.md, the CSV files of csv_tables.h and the figures as *.svg, each file whole or not at
 * all. A file whose section does not apply to the run is left out. Figures, CSV files and transcripts that
 * the earlier report had and this one does not are removed. Works on an incomplete run folder and says how
 * much is missing. `table`, when not NULL, gets the accuracy table as plain text for a terminal appended
 * (report_text() of report_parts.h). */
struct str;
struct run;
struct doc;
int report_write(const struct run *run, struct str *table, struct err *e);

/* report_write_with() does the same with options, into a folder of the caller's choice, which is made if it
 * is not there. ERR_FORMAT when the file `bench` holds no parts of a step, or a completion for a transcript
 * cannot be read. The runs must be loaded and are not changed. */
struct report_options {
    /* NULL, or another run: a section and against.csv compare the cells that have the same label, task and
     * swept settings in both. */
    const struct run *against;
    const char *note; /* said first of all; NULL: nothing */
    int transcripts; /* write the texts of problems and completions beside the page; 0: none, and earlier ones
                        are deleted */
    const char
        *bench; /* NULL, or a file of `kveval bench components`: a section says where a step's time goes */
    /* NULL, or adds the section on nights from `nights`: their history is the gate's, which knows how to draw
     * it */
    void (*add_nights)(struct doc *d, const void *nights);
    const void *nights;
};
int report_write_with(const struct run *run, const struct report_options *o, const char *folder,
                      struct str *table, struct err *e);
/* Merges n loaded runs into one page (report_merge.h) and writes it into the folder like report_write_with().
 * margin in points, 0: that of the runs, and ERR_USAGE when theirs differ. o->note is not used: what the runs
 * agree on stands in its place. */
int report_write_merged(const struct run *runs, int n, double margin, const struct report_options *o,
                        const char *folder, struct str *table, struct err *e);

#endif
