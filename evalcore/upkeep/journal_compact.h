#ifndef EVALCORE_UPKEEP_JOURNAL_COMPACT_H
#define EVALCORE_UPKEEP_JOURNAL_COMPACT_H

#include "evalcore/upkeep/journal_scan.h"

/* Replaces the journals of a scan by one that holds the record of each key that counts, its line byte for
 * byte. The new file is written beside them, synced, read again and compared, renamed and the folder synced;
 * only then the old ones go. Whenever the process ends, the folder holds every record that counts: before the
 * rename in the old files, after it in both, which says the same twice.
 *
 * The caller holds the folder's lock since before the scan. *path, which the caller releases, is the new
 * journal; it stays empty where one journal holds just these records already. */
int journal_compact(const struct journal_scan *s, const char *run_dir, struct str *path, struct err *e);

#endif
