/* kveval journal verify|compact: whether the journals of a run folder are sound, and one journal out of many.
 */
#include <stdio.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/commands/commands.h"
#include "evalcore/store/journal_scan.h"
#include "evalcore/store/run.h"
#include "evalcore/store/runfolder.h"
#include "evalcore/store/runlock.h"

enum { NOTES_SHOWN = 50 }; /* notes printed for one file */

static const struct cli_option journal_table[] = {{0}};

static const char *plural_s(long n)
{
    return n == 1 ? "" : "s";
}

static void print_note(const struct journal_scan *s, const struct scan_note *n)
{
    printf("  line %ld (byte %lld, %zu bytes): ", n->at.line, (long long)n->at.offset, n->at.length);
    if (n->what == SCAN_DAMAGED)
        printf("damaged, its checksum or its form is wrong\n");
    else if (n->what == SCAN_NEWER)
        printf("a record of a later version of kveval\n");
    else if (n->what == SCAN_TORN)
        printf("torn, the process ended while it was written; it does not count\n");
    else
        printf("key %s has another result than line %ld of %s\n", n->key, n->other.line,
               s->file[n->other.file].path);
}

static void print_counts(const struct scan_file *f, int knows_keys)
{
    printf("%ld record%s, %ld repeated, %ld retried, ", f->records, plural_s(f->records), f->repeated,
           f->retried);
    if (f->withdrawn)
        printf("%ld withdrawn, ", f->withdrawn);
    printf("%ld conflict%s, %ld damaged line%s, %s%ld newer", f->conflicts, plural_s(f->conflicts),
           f->damaged, plural_s(f->damaged), f->torn ? "a torn end, " : "", f->newer);
    if (knows_keys)
        printf(", %ld of no cell", f->foreign);
    printf("\n");
}

static void print_files(const struct journal_scan *s, int knows_keys)
{
    size_t at = 0;
    for (int i = 0; i < s->n_files; i++) {
        int shown = 0;
        printf("%s: ", s->file[i].path);
        print_counts(&s->file[i], knows_keys);
        for (; at < s->n_notes && s->note[at].at.file == i; at++)
            if (shown++ < NOTES_SHOWN)
                print_note(s, &s->note[at]);
        if (shown > NOTES_SHOWN)
            printf("  and %d more\n", shown - NOTES_SHOWN);
    }
    printf("%d journal%s: ", s->n_files, plural_s(s->n_files));
    print_counts(&s->total, knows_keys);
}

/* Every key of the configuration; returns their number. */
static long expect_jobs(struct keymap *keys, const struct run *r)
{
    long n = 0;
    for (int c = 0; c < r->n_cells; c++)
        for (int i = 0; i < r->cells[c].n_expected; i++) {
            char key[JOB_KEY_HEX + 1];
            run_expected_key(&r->cells[c], i, key);
            n += keymap_add(keys, key, n) == n;
        }
    return n;
}

/* What to do next, and the exit code. folder: the code for the rest of the folder, which was told. */
static int conclude_scan(const struct journal_scan *s, const char *dir, long missing, int folder)
{
    const struct scan_file *t = &s->total;
    if (t->newer)
        log_error("%s has records of a later version: use the kveval that wrote them; nothing was changed",
                  dir);
    if (t->damaged)
        log_error(
            "the jobs of damaged lines count as missing: the same kveval sweep decodes them again, then "
            "kveval journal compact %s leaves the lines out",
            dir);
    if (t->conflicts)
        log_error("results are not reproducible here: of records that differ, the one whose tokens have the "
                  "smaller digest counts (of a text, the one with fewer bits)");
    if (missing)
        log_info("%ld job%s of the configuration %s missing: the same kveval sweep decodes them", missing,
                 plural_s(missing), missing == 1 ? "is" : "are");
    int is_sound = !t->newer && !t->damaged && !t->conflicts;
    int can_shrink = t->repeated || t->retried || t->withdrawn || t->torn || s->n_files > 1;
    if (is_sound && folder)
        log_info("the journals are sound, the folder is not");
    else if (is_sound)
        log_info("all is sound%s%s%s", can_shrink ? "; kveval journal compact " : "", can_shrink ? dir : "",
                 can_shrink ? " writes one journal of the records that count" : "");
    return is_sound ? EXIT_DONE : t->newer ? EXIT_USAGE : EXIT_INCOMPLETE;
}

/* The keys that the configuration has, where it can be read. *code: what that is worth. */
static int load_keys(struct keymap *keys, long *n, const char *dir, int *code)
{
    struct run r;
    struct err e = {0};
    int rc = run_load_plan(&r, dir, &e);
    if (!rc) {
        *n = expect_jobs(keys, &r);
        run_release(&r);
        return 1;
    }
    *code = command_fail(&e, EXIT_USAGE);
    log_info("the journals are looked at without the configuration's keys");
    return 0;
}

static int verify_journal(const char *dir, struct err *e)
{
    struct journal_scan s = {0};
    struct keymap keys = {0};
    long n_keys = 0, missing = 0;
    int code = EXIT_DONE, knows_keys = load_keys(&keys, &n_keys, dir, &code);
    int rc = journal_scan(&s, dir, knows_keys ? &keys : NULL, e);
    if (!rc) {
        print_files(&s, knows_keys);
        if (knows_keys) {
            missing = n_keys;
            for (size_t i = 0; i < s.n_jobs; i++)
                missing -= s.job[i].key[0] && !record_is_withdrawal(&s.job[i].record) &&
                           keymap_find(&keys, s.job[i].key) >= 0;
            printf("%ld of the configuration's %ld jobs have a record\n", n_keys - missing, n_keys);
        }
        fflush(stdout);
        int found = conclude_scan(&s, dir, missing, code);
        code = code ? code : found;
    }
    journal_scan_release(&s);
    keymap_release(&keys);
    return rc ? command_fail(e, EXIT_INCOMPLETE) : code;
}

static void print_compacted(const struct journal_scan *s, const struct str *path)
{
    const struct scan_file *t = &s->total;
    printf("%s: %zu record%s of %d journal%s\n", path->data, s->n_jobs, plural_s((long)s->n_jobs), s->n_files,
           plural_s(s->n_files));
    if (!t->repeated && !t->retried && !t->withdrawn && !t->conflicts && !t->damaged && !t->torn)
        return;
    printf("left out: %ld repeated, %ld retried, ", t->repeated, t->retried);
    if (t->withdrawn)
        printf("%ld withdrawn, ", t->withdrawn);
    printf("%ld with another result than the one that counts, %ld damaged line%s%s\n", t->conflicts,
           t->damaged, plural_s(t->damaged), t->torn ? ", a torn end" : "");
}

/* A later version may count other records than this one. */
static int check_config(const char *dir, struct err *e)
{
    struct str path = {0};
    json_t *config = runfolder_config(dir);
    file_join(&path, dir, "config.resolved.json");
    int rc = config ? runfolder_config_version(config, path.data, e) : 0;
    json_decref(config);
    str_release(&path);
    return rc;
}

static int compact_journal(const char *dir, struct err *e)
{
    struct runlock lock;
    struct journal_scan s = {0};
    struct str path = {0};
    int rc = runlock_take(&lock, dir, 0, 0, e);
    if (rc)
        return command_fail(e, EXIT_INCOMPLETE);
    rc = check_config(dir, e);
    if (!rc) {
        runfolder_drop_abandoned(dir);
        rc = journal_scan(&s, dir, NULL, e);
    }
    if (!rc && s.total.newer)
        rc = err_set(
            e, ERR_UNSUPPORTED,
            "%s has %ld record%s of a later version: use the kveval that wrote them; nothing was changed",
            dir, s.total.newer, plural_s(s.total.newer));
    if (!rc)
        rc = journal_compact(&s, dir, &path, e);
    if (!rc && path.len)
        print_compacted(&s, &path);
    else if (!rc)
        printf("nothing to do: %s has %d journal%s, of %zu record%s, all of which count\n", dir, s.n_files,
               plural_s(s.n_files), s.n_jobs, plural_s((long)s.n_jobs));
    journal_scan_release(&s);
    runlock_drop(&lock);
    str_release(&path);
    return rc ? command_fail(e, rc == ERR_UNSUPPORTED ? EXIT_USAGE : EXIT_INCOMPLETE) : EXIT_DONE;
}

static int run_journal(const struct process_env *p, int argc, char **argv)
{
    struct err e = {0};
    struct str folder = {0};
    const char *args[2];
    int n, code = command_parse(&cmd_journal, NULL, argc, argv, args, 2, 2, &n);
    (void)p;
    if (code >= 0)
        return code;
    int is_verify = !strcmp(args[0], "verify");
    file_join(&folder, args[1], "journal");
    if (!is_verify && strcmp(args[0], "compact") != 0)
        err_set(&e, ERR_USAGE, "journal takes verify or compact, not \"%s\"", args[0]);
    else if (!file_check_entered(args[1], &e) && !file_is_dir(folder.data))
        err_set(&e, ERR_USAGE,
                "%s has no journals: there is no folder %s; name a folder that kveval sweep has "
                "written with -o",
                args[1], folder.data);
    str_release(&folder);
    if (e.code)
        return command_fail(&e, EXIT_USAGE);
    return is_verify ? verify_journal(args[1], &e) : compact_journal(args[1], &e);
}

const struct command cmd_journal = {
    .name = "journal",
    .usage = "verify|compact DIR",
    .help = "say whether the journals of a run folder are sound, or write one out of many",
    .details =
        "verify reads every journal and prints for each: records, those that repeat an earlier one with the "
        "same\n"
        "result, those of jobs that were tried again after an error, conflicts (the same job with another "
        "result),\n"
        "damaged lines, a torn end, records of a later version, and those that no cell of the configuration "
        "has.\n"
        "Exit code 0: all is sound (repetitions and a torn end are); 3: there are damaged lines or "
        "conflicts;\n"
        "2: there are records of a later version, or the configuration cannot be read. Nothing is written.\n"
        "\n"
        "compact writes one journal with the record of each job that counts, byte for byte, also of jobs "
        "that the\n"
        "run file no longer has, and then removes the others. The results stay as they are; notices of "
        "repeated\n"
        "and damaged records go. It is refused while a sweep runs in the folder. Ended at any point, it "
        "loses\n"
        "nothing: repeat it.",
    .options = journal_table,
    .run = run_journal,
};
