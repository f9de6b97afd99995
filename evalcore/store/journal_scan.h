#ifndef EVALCORE_STORE_JOURNAL_SCAN_H
#define EVALCORE_STORE_JOURNAL_SCAN_H

#include "evalcore/store/job_key.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/run.h"

/* All journals of a folder, line by line: which record of each key counts, by the rule of
 * record_compare() as run_load() applies it, and everything that is not as it should be. It
 * needs no configuration: records of cells that a run file no longer has are kept as others are. */
struct scan_place {
    int file; /* index into journal_scan.file */
    long line;
    int64_t offset;
    size_t length; /* without the newline */
};

/* A key, and its record that counts. */
struct scan_job {
    char key[JOB_KEY_HEX + 1];
    char digest[17];      /* first digits of the tokens' SHA-256 */
    struct record record; /* finish, withdrawn, likelihood and options alone */
    struct scan_place at;
};

struct scan_file {
    char *path;
    long records;   /* whole ones, of a version that is known */
    long repeated;  /* of a key that an earlier line has, with the same result */
    long retried;   /* one of the two is an error */
    long withdrawn; /* one of the two was withdrawn, says so, or stands in its place */
    long conflicts; /* the results differ */
    long foreign;   /* of a key that no cell has, or without one; 0 when that was not asked */
    long damaged, newer;
    int64_t torn; /* bytes of the last line, which has no newline */
};

struct scan_note {
    enum scan_what { SCAN_DAMAGED, SCAN_TORN, SCAN_NEWER, SCAN_CONFLICT } what;
    struct scan_place at, other; /* other: of a conflict, the record that counted so far */
    char key[JOB_KEY_HEX + 1];
};

struct journal_scan {
    struct scan_file *file; /* sorted by name */
    int n_files;
    struct scan_job *job; /* in the order in which their keys are first met */
    size_t n_jobs;
    struct scan_note *note; /* in the order of files and lines */
    size_t n_notes;
    struct scan_file total; /* path NULL */
    /* The rest is private. */
    size_t job_cap, note_cap;
    struct keymap map; /* key -> index into job */
    const struct keymap *expected;
    struct arena arena;
};

/* expected: the keys that the configuration's cells have; borrowed until the scan is released; NULL: not
 * asked. Returns 0, or ERR_IO or ERR_DISK when a file cannot be read. Damaged, torn, newer and conflicting
 * lines are notes and no error, and a folder without journals is an empty scan. Release it after a failure,
 * too. */
int journal_scan(struct journal_scan *s, const char *run_dir, const struct keymap *expected, struct err *e);
/* The same of one file, without expected keys; a file that is missing is an error. */
int journal_scan_file(struct journal_scan *s, const char *path, struct err *e);
/* Frees all that the scan owns and zeroes it. */
void journal_scan_release(struct journal_scan *s);

/* Replaces the journals of a scan by one that holds the record of each key that counts, its line byte for
 * byte. The new file is written beside them, synced, read again and compared, renamed and the folder synced;
 * only then the old ones go. Whenever the process ends, the folder holds every record that counts: before the
 * rename in the old files, after it in both, which says the same twice.
 *
 * The caller holds the folder's lock since before the scan. *path, which the caller releases, is the new
 * journal; it stays empty where one journal holds just these records already. Returns 0, or ERR_IO or
 * ERR_DISK: what cannot be written, reads differently afterwards or changed meanwhile leaves the journals as
 * they were, and *path then names no file; an old journal that cannot be removed stays beside the new one,
 * which is whole. */
int journal_compact(const struct journal_scan *s, const char *run_dir, struct str *path, struct err *e);

#endif
