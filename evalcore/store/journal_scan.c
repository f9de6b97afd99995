/* Reading journals for their upkeep (contract: journal_scan.h). */
#include "evalcore/store/journal_scan.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/store/completion_json.h"
#include "evalcore/store/run.h"

/* What is read of a line, by several threads. */
struct scan_item {
    char key[JOB_KEY_HEX + 1]; /* "": the record has none */
    char digest[17];
    enum finish_reason finish;
    int withdrawn;
    struct likelihood likelihood;
    struct option_scores options;
};

static void copy_text(char *out, size_t size, const char *s, size_t n)
{
    memset(out, 0, size);
    if (s)
        memcpy(out, s, n < size ? n : size - 1);
}

static void keep_completion(struct scan_item *item, const struct completion *c)
{
    item->finish = c->finish;
    item->likelihood = c->likelihood;
    item->options = c->options;
}

static void read_line(void *context, const struct journal_line *l, void *out)
{
    struct scan_item *item = out;
    struct completion c = {0};
    const char *key = json_string_value(json_object_get(l->head, "key")),
               *digest = json_string_value(json_object_get(l->head, "ids_sha256"));
    (void)context;
    copy_text(item->key, sizeof item->key, key, key ? strlen(key) : 0);
    copy_text(item->digest, sizeof item->digest, digest, digest ? strlen(digest) : 0);
    item->withdrawn = (int)json_number_value(json_object_get(l->head, "withdrawn"));
    completion_json_read(l->head, &c);
    keep_completion(item, &c);
}

static int read_flat_line(void *context, const struct flat_object *head, void *out)
{
    struct scan_item *item = out;
    struct completion c = {0};
    struct flat_text key = flat_string(head, "key"), digest = flat_string(head, "ids_sha256");
    (void)context;
    copy_text(item->key, sizeof item->key, key.data, key.n);
    copy_text(item->digest, sizeof item->digest, digest.data, digest.n);
    item->withdrawn = (int)flat_number(head, "withdrawn");
    if (!completion_flat_read(head, &c))
        return 0;
    keep_completion(item, &c);
    return 1;
}

static struct scan_place line_place(const struct journal_scan *s, const struct journal_line *l)
{
    return (struct scan_place){s->n_files - 1, l->number, l->offset, l->length};
}

static struct scan_note *add_note(struct journal_scan *s, enum scan_what what, const struct journal_line *l)
{
    xgrow(&s->note, &s->note_cap, s->n_notes + 1, sizeof *s->note);
    struct scan_note *note = &s->note[s->n_notes++];
    *note = (struct scan_note){.what = what, .at = line_place(s, l)};
    return note;
}

static void fill_job(struct journal_scan *s, struct scan_job *job, const struct journal_line *l,
                     const struct scan_item *item)
{
    struct likelihood *likelihood = NULL;
    if (item->likelihood.n) {
        likelihood = arena_alloc(&s->arena, sizeof *likelihood);
        *likelihood = item->likelihood;
    }
    struct option_scores *options = NULL;
    if (item->options.n) {
        options = arena_alloc(&s->arena, sizeof *options);
        *options = item->options;
    }
    *job = (struct scan_job){.record = {.finish = item->finish,
                                        .withdrawn = item->withdrawn,
                                        .likelihood = likelihood,
                                        .options = options},
                             .at = line_place(s, l)};
    memcpy(job->key, item->key, sizeof job->key);
    memcpy(job->digest, item->digest, sizeof job->digest);
}

/* A second record of a job. */
static void compare_jobs(struct journal_scan *s, struct scan_job *old, const struct journal_line *l,
                         const struct scan_item *item)
{
    struct scan_file *file = &s->file[s->n_files - 1];
    struct scan_job job;
    fill_job(s, &job, l, item);
    if (job.record.withdrawn != old->record.withdrawn) {
        file->withdrawn++;
    } else if (job.record.finish == FINISHED_ERROR || old->record.finish == FINISHED_ERROR) {
        file->retried++;
    } else if (record_compare(&job.record, job.digest, &old->record, old->digest)) {
        struct scan_note *note = add_note(s, SCAN_CONFLICT, l);
        note->other = old->at;
        memcpy(note->key, job.key, sizeof note->key);
        file->conflicts++;
    } else {
        file->repeated++;
    }
    if (record_is_better(&job.record, job.digest, &old->record, old->digest))
        *old = job;
}

static int add_line(void *context, const struct journal_line *l, void *out)
{
    struct journal_scan *s = context;
    const struct scan_item *item = out;
    struct scan_file *file = &s->file[s->n_files - 1];
    long n = (long)s->n_jobs;
    file->records++;
    file->foreign += s->expected && (!item->key[0] || keymap_find(s->expected, item->key) < 0);
    /* one without a key is no duplicate of another */
    long at = item->key[0] ? keymap_add(&s->map, item->key, n) : n;
    if (at < n) {
        compare_jobs(s, &s->job[at], l, item);
        return 0;
    }
    xgrow(&s->job, &s->job_cap, s->n_jobs + 1, sizeof *s->job);
    fill_job(s, &s->job[s->n_jobs++], l, item);
    return 0;
}

static void note_flaw(void *context, const struct journal_line *l, enum journal_flaw what)
{
    struct journal_scan *s = context;
    struct scan_file *file = &s->file[s->n_files - 1];
    add_note(s, what == JOURNAL_TORN ? SCAN_TORN : what == JOURNAL_NEWER ? SCAN_NEWER : SCAN_DAMAGED, l);
    file->damaged += what == JOURNAL_DAMAGED;
    file->newer += what == JOURNAL_NEWER;
    if (what == JOURNAL_TORN)
        file->torn = (int64_t)l->length;
}

static int scan_one(struct journal_scan *s, const char *path, struct err *e)
{
    static const struct journal_reader reader = {sizeof(struct scan_item), read_line, read_flat_line,
                                                 add_line, note_flaw};
    struct scan_file *file = &s->file[s->n_files++];
    long bad = 0;
    *file = (struct scan_file){.path = arena_strdup(&s->arena, path)};
    int rc = journal_read(path, &reader, s, &bad, e);
    s->total.records += file->records;
    s->total.repeated += file->repeated;
    s->total.retried += file->retried;
    s->total.withdrawn += file->withdrawn;
    s->total.conflicts += file->conflicts;
    s->total.foreign += file->foreign;
    s->total.damaged += file->damaged;
    s->total.newer += file->newer;
    s->total.torn += file->torn;
    return rc;
}

int journal_scan(struct journal_scan *s, const char *run_dir, const struct keymap *expected, struct err *e)
{
    struct file_list files = {0};
    struct str dir = {0};
    int rc = 0;
    *s = (struct journal_scan){.expected = expected};
    file_join(&dir, run_dir, "journal");
    if (file_is_dir(dir.data))
        rc = file_list(&files, dir.data, ".jsonl", e);
    s->file = arena_alloc(&s->arena, (files.n + 1) * sizeof *s->file);
    for (size_t i = 0; i < files.n && !rc; i++) {
        struct str path = {0};
        file_join(&path, dir.data, files.name[i]);
        rc = scan_one(s, path.data, e);
        str_release(&path);
    }
    file_list_release(&files);
    str_release(&dir);
    return rc;
}

int journal_scan_file(struct journal_scan *s, const char *path, struct err *e)
{
    *s = (struct journal_scan){0};
    s->file = arena_alloc(&s->arena, sizeof *s->file);
    return scan_one(s, path, e);
}

void journal_scan_release(struct journal_scan *s)
{
    keymap_release(&s->map);
    free(s->job);
    free(s->note);
    arena_release(&s->arena);
    *s = (struct journal_scan){0};
}
