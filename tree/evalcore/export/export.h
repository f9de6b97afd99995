#ifndef EVALCORE_EXPORT_EXPORT_H
#define EVALCORE_EXPORT_EXPORT_H

#include "evalcore/base/err.h"

/* Exports: a loaded run folder written in the layouts that other evaluation tools read. One file
 * and one row of the table in export.c for each format. Nothing here grades or computes statistics beyond
 * those that the formats ask for, and nothing is written into the run folder.
 *
 * Files appear together, after all of them were written whole; when one cannot be, none does. Two exports of
 * the same run folder have the same bytes: they hold the run's time, not today's, and no durations. */
struct run;

struct export_options {
    const char *format;  /* lm-eval, lighteval, inspect or csv */
    const char *out;     /* a folder, or a file for a format of one file */
    int replace;         /* 1: files of the same names may be replaced; 0: they are an error */
    int allow_partial;   /* 1: jobs may be missing; 0: a missing job is an error */
    int with_restricted; /* 1: also the texts of tasks whose authors ask that no example be published */
};

struct export_done {
    long files, completions;
    long withheld; /* completions of restricted tasks whose text was left out */
};

/* Writes a run in one format. Returns 0 and fills *done (completions: all finished jobs of the run); or
 * ERR_USAGE for an unknown format, a file in the way, or two cells with one file; ERR_BUSY when no job is
 * finished, or jobs are missing and allow_partial is 0; ERR_FORMAT or ERR_IO when a completion cannot be read
 * from its journal; ERR_IO when a file cannot be written. */
int export_run(const struct run *r, const struct export_options *o, struct export_done *done, struct err *e);

#endif
