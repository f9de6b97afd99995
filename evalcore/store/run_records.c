/* Journals into records (contract: run.h). Every expected job's key is computed from the configuration; a
 * journal record belongs to every cell that expects its key. */
#include "evalcore/store/run_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/store/completion_json.h"
#include "evalcore/store/job_key.h"
#include "evalcore/store/grades.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/option_grade.h"
#include "evalcore/store/run.h"
#include "tasks/task.h"

struct expected { /* one job of one cell, in cell order */
    char key[JOB_KEY_HEX + 1];
    int cell;
    long record; /* index into loader.records of the job's key, -1: none yet; kept at the key's first job */
    long first;  /* index of the first expected job with this key */
};

struct loader {
    struct run *run;
    struct expected *jobs;
    struct record *records;
    char (*digest)[17]; /* of each record's tokens */
    long n_jobs;
    size_t n_records, cap, digest_cap;
    struct keymap map; /* key -> first expected job */
    int journal;
    const char *zh_dict;     /* of the options */
    struct zh_segmenter *zh; /* opened when a grade needs it; NULL then: there is none */
    int zh_opened;
    struct ungraded *ungraded; /* records without a kept grade */
    size_t n_ungraded, ungraded_cap;
    const struct run_problem *problem; /* whose digest of the reference answers `gold` is */
    const char *gold;
};

void run_expected_key(const struct cell *c, int i, char *out)
{
    const struct run_problem *p = &c->task->problems[i / c->samples];
    int asked = run_limit_asked(c, i / c->samples);
    struct job_inputs in = {
        .identity = c->identity,
        .prompt_sha256 = p->prompt_sha256,
        .problem = p->id,
        .own_max_new = p->own_max_new,
        .own_stop = p->own_stop,
        .sample = i % c->samples,
        .context = c->task->option_metrics
                       ? 0
                       : job_context(asked, c->max_total_tokens, c->max_context, p->prompt_tokens)};
    job_key(&in, out);
}

/* The keys of a cell's jobs. */
static void expect_cell(struct expected *jobs, const struct cell *cell, int c)
{
    for (int i = 0; i < cell->n_expected; i++) {
        run_expected_key(cell, i, jobs[i].key);
        jobs[i].cell = c;
        jobs[i].record = -1;
    }
}

static void expect_jobs(struct loader *l)
{
    const struct run *r = l->run;
    long *first = xcalloc((size_t)r->n_cells + 1, sizeof *first);
    for (int c = 0; c < r->n_cells; c++)
        first[c + 1] = first[c] + r->cells[c].n_expected;
    l->n_jobs = first[r->n_cells];
    l->jobs = xcalloc((size_t)l->n_jobs + 1, sizeof *l->jobs);
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < r->n_cells; c++)
        expect_cell(l->jobs + first[c], &r->cells[c], c);
    for (long i = 0; i < l->n_jobs; i++)
        l->jobs[i].first = keymap_add(&l->map, l->jobs[i].key, i);
    free(first);
}

/* What is read of a line; strings are those of its head. */
struct line_fields {
    long job; /* -1: none that is expected */
    int prompt_tokens, withdrawn;
    struct flat_text device;
    char digest[17];
    struct completion completion;
};

static struct flat_text text_of(const char *s)
{
    return (struct flat_text){s, s ? strlen(s) : 0};
}

/* The fields that stand beside the completion's; 0: the job is not expected. */
static int read_fields(const struct loader *l, struct line_fields *fields, struct flat_text key,
                       struct flat_text ids)
{
    char text[JOB_KEY_HEX + 1] = ""; /* all that a map of keys looks at */
    fields->job = -1;
    if (!key.data)
        return 0;
    memcpy(text, key.data, key.n < sizeof text ? key.n : sizeof text - 1);
    fields->job = keymap_find(&l->map, text);
    memset(fields->digest, 0, sizeof fields->digest);
    if (ids.data)
        memcpy(fields->digest, ids.data, ids.n < 16 ? ids.n : 16);
    memset(&fields->completion, 0, sizeof fields->completion);
    return fields->job >= 0;
}

static void read_line(void *context, const struct journal_line *line, void *item)
{
    const struct loader *l = context;
    struct line_fields *fields = item;
    if (!read_fields(l, fields, text_of(json_string_value(json_object_get(line->head, "key"))),
                     text_of(json_string_value(json_object_get(line->head, "ids_sha256")))))
        return;
    fields->prompt_tokens = (int)json_number_value(json_object_get(line->head, "prompt_tokens"));
    fields->withdrawn = (int)json_number_value(json_object_get(line->head, "withdrawn"));
    fields->device = text_of(json_string_value(json_object_get(line->head, "device")));
    completion_json_read(line->head, &fields->completion);
}

static int read_flat_line(void *context, const struct flat_object *head, void *item)
{
    struct line_fields *fields = item;
    if (!read_fields(context, fields, flat_string(head, "key"), flat_string(head, "ids_sha256")))
        return 1;
    fields->prompt_tokens = (int)flat_number(head, "prompt_tokens");
    fields->withdrawn = (int)flat_number(head, "withdrawn");
    fields->device = flat_string(head, "device");
    return completion_flat_read(head, &fields->completion);
}

/* Devices repeat: one copy of each is enough. */
static const char *device_name(struct loader *l, struct flat_text t)
{
    if (!t.data)
        return "";
    const char *last = l->n_records ? l->records[l->n_records - 1].device : NULL;
    if (last && !strncmp(last, t.data, t.n) && !last[t.n])
        return last;
    return arena_strndup(&l->run->arena, t.data, t.n);
}

static void fill_record(struct loader *l, struct record *rec, const struct journal_line *line,
                        const struct line_fields *fields)
{
    const struct completion *c = &fields->completion;
    struct likelihood *likelihood = NULL;
    struct option_scores *options = NULL;
    if (c->likelihood.n) {
        likelihood = arena_alloc(&l->run->arena, sizeof *likelihood);
        *likelihood = c->likelihood;
    }
    if (c->options.n) {
        options = arena_alloc(&l->run->arena, sizeof *options);
        *options = c->options;
    }
    *rec = (struct record){.prompt_tokens = fields->prompt_tokens,
                           .tokens = c->n_ids,
                           .finish = c->finish,
                           .kv = c->kv,
                           .likelihood = likelihood,
                           .options = options,
                           .second = NAN,
                           .withdrawn = fields->withdrawn,
                           .error = c->error ? arena_strdup(&l->run->arena, c->error) : "",
                           .seconds = c->seconds,
                           .preempted = c->preempted,
                           .device = device_name(l, fields->device),
                           .reason = "",
                           .gold_form = "",
                           .pred_form = "",
                           .journal = l->journal,
                           .offset = line->offset,
                           .length = line->length};
}

static int add_line(void *context, const struct journal_line *line, void *item)
{
    struct loader *l = context;
    const struct line_fields *fields = item;
    const char *digest = fields->digest;
    long job = fields->job;
    struct record rec;
    if (job < 0) {
        l->run->n_foreign++;
        return 0;
    }
    long at = l->jobs[job].record;
    fill_record(l, &rec, line, fields);
    if (at >= 0) {
        if (rec.withdrawn != l->records[at].withdrawn) {
            l->run->n_withdrawn++;
        } else if (rec.finish == FINISHED_ERROR || l->records[at].finish == FINISHED_ERROR) {
            l->run->n_retried++;
        } else {
            l->run->n_duplicates++;
            l->run->n_conflicts += record_compare(&rec, digest, &l->records[at], l->digest[at]) != 0;
        }
        if (!record_is_better(&rec, digest, &l->records[at], l->digest[at]))
            return 0;
    } else {
        at = (long)l->n_records;
        xgrow(&l->records, &l->cap, l->n_records + 1, sizeof *l->records);
        xgrow(&l->digest, &l->digest_cap, l->n_records + 1, sizeof *l->digest);
        l->n_records++;
        l->jobs[job].record = at;
    }
    rec.key = l->jobs[job].key;
    l->records[at] = rec;
    memcpy(l->digest[at], digest, sizeof fields->digest);
    return 0;
}

static int read_journals(struct loader *l, struct err *e)
{
    static const struct journal_reader reader = {
        .item = sizeof(struct line_fields), .look = read_line, .look_flat = read_flat_line, .take = add_line};
    struct run *r = l->run;
    struct file_list files = {0};
    struct str dir = {0};
    int rc = 0;
    file_join(&dir, r->dir, "journal");
    if (file_is_dir(dir.data))
        rc = file_list(&files, dir.data, ".jsonl", e);
    r->journals = arena_alloc(&r->arena, (files.n + 1) * sizeof *r->journals);
    for (size_t i = 0; i < files.n && !rc; i++) {
        r->journals[i] = arena_printf(&r->arena, "%s/%s", dir.data, files.name[i]);
        l->journal = r->n_journals++;
        rc = journal_read(r->journals[i], &reader, l, &r->n_bad_lines, e);
    }
    file_list_release(&files);
    str_release(&dir);
    return rc;
}

static int open_segmenter(struct loader *l, struct err *e)
{
    if (l->zh_opened)
        return 0;
    l->zh_opened = 1;
    return segmenter_open(&l->zh, l->zh_dict, e);
}

/* Made by the segmenter that needs no dictionary? */
static int is_by_char(const char *segmenter)
{
    return segmenter && !strcmp(segmenter, zh_segmenter_name(NULL));
}

/* The kept grade of a record, *row NULL when there is none. One that was made by character does not count
 * where there is a dictionary, so that a run's grades come from one segmenter. */
static int find_kept(const struct grade_row **row, struct loader *l, const struct record *rec,
                     const struct cell *c, const struct gradebook *book, struct err *e)
{
    const struct run_problem *p = &c->task->problems[rec->problem];
    if (p != l->problem) { /* the samples of a problem follow one another */
        l->problem = p;
        l->gold = grade_gold_digest(p, &l->run->arena);
    }
    *row = gradebook_find(book, rec->key, l->gold);
    if ((*row && !is_by_char((*row)->segmenter)) || !grade_needs_segmenter(c->task, p))
        return 0;
    int rc = open_segmenter(l, e);
    if (l->zh)
        *row = NULL;
    return rc;
}

/* The record of a text has no answer to grade. */
static void read_likelihood(struct record *rec)
{
    struct likelihood_bucket sum = {0};
    if (rec->likelihood)
        sum = likelihood_total(rec->likelihood);
    if (sum.bytes) {
        rec->score = sum.bits / (double)sum.bytes;
        return;
    }
    rec->likelihood = NULL;
    rec->verdict = VERDICT_ERROR;
    rec->reason = "the record has no likelihood of a text";
}

/* Verdict of one record that is kept; the others are put on the list. */
static int set_grade(struct loader *l, struct record *rec, const struct cell *c, const struct gradebook *book,
                     struct err *e)
{
    const struct run_problem *p = &c->task->problems[rec->problem];
    if (rec->finish == FINISHED_ERROR) {
        rec->verdict = VERDICT_ERROR;
        rec->reason = rec->error;
        return 0;
    }
    if (c->task->is_text) {
        read_likelihood(rec);
        return 0;
    }
    if (c->task->option_metrics) {
        option_grade(rec, c->task, p, &l->run->arena);
        return 0;
    }
    const struct grade_row *row;
    int rc = find_kept(&row, l, rec, c, book, e);
    if (rc)
        return rc;
    if (row) {
        rec->verdict = row->verdict;
        rec->score = row->score;
        rec->reason = row->reason;
        rec->gold_form = row->gold_form;
        rec->pred_form = row->pred_form;
        rec->segmenter = row->segmenter;
        return 0;
    }
    xgrow(&l->ungraded, &l->ungraded_cap, l->n_ungraded + 1, sizeof *l->ungraded);
    l->ungraded[l->n_ungraded++] = (struct ungraded){rec, c->task, p};
    return 0;
}

/* Grades that list. One sentence says what its graders did not survive. */
static int grade_others(struct loader *l, struct err *e)
{
    struct run *r = l->run;
    int rc = grades_make(r, l->ungraded, l->n_ungraded, l->zh, l->zh_dict, e);
    size_t i = 0;
    while (i < l->n_ungraded && !l->ungraded[i].rec->is_ungraded)
        i++;
    if (rc || i == l->n_ungraded)
        return rc;
    const struct ungraded *u = &l->ungraded[i];
    log_warn("%s: %ld completion%s could not be graded and count%s as not correct until a later report can; "
             "first, job %.16s, sample %d of %s of task %s: %s",
             r->dir, r->n_ungraded, r->n_ungraded == 1 ? "" : "s", r->n_ungraded == 1 ? "s" : "", u->rec->key,
             u->rec->sample, u->problem->id, u->task->label, u->rec->reason);
    return 0;
}

/* What was withdrawn is no record. Its number is kept for what is decoded in its place. */
static void keep_withdrawals(struct loader *l)
{
    struct run *r = l->run;
    r->withdrawals = arena_alloc(&r->arena, (l->n_records + 1) * sizeof *r->withdrawals);
    for (long i = 0; i < l->n_jobs; i++) {
        long at = l->jobs[i].first == i ? l->jobs[i].record : -1;
        if (at < 0 || !record_is_withdrawal(&l->records[at]))
            continue;
        r->withdrawals[r->n_withdrawals++] =
            (struct withdrawal){arena_strdup(&r->arena, l->jobs[i].key), l->records[at].withdrawn};
        l->jobs[i].record = -1;
    }
}

/* Records by cell, in the order of problems and samples. book: the kept grades; NULL: nothing is graded. */
static int spread_grades(struct loader *l, const struct gradebook *book, struct err *e)
{
    struct run *r = l->run;
    long job = 0;
    int rc = 0;
    for (int c = 0; c < r->n_cells && !rc; c++) {
        struct cell *cell = &r->cells[c];
        struct record *list = arena_alloc(&r->arena, ((size_t)cell->n_expected + 1) * sizeof *list);
        for (int i = 0; i < cell->n_expected && !rc; i++, job++) {
            const struct expected *x = &l->jobs[job];
            long at = l->jobs[x->first].record;
            if (at < 0)
                continue;
            struct record *rec = &list[cell->n_records++];
            *rec = l->records[at];
            rec->key = arena_strdup(&r->arena, x->key);
            rec->problem = i / cell->samples;
            rec->sample = i % cell->samples;
            if (book)
                rc = set_grade(l, rec, cell, book, e);
        }
        cell->records = list;
        r->n_done += cell->n_records;
    }
    return rc ? rc : grade_others(l, e);
}

static int is_runtime(const char *segmenter)
{
    return segmenter && !strncmp(segmenter, "Python", strlen("Python"));
}

/* "Python 3.11.2", or all of several, in the order in which they are met. */
static void list_runtime(struct str *out, const char *name)
{
    if (!out->len || !strstr(out->data, name))
        str_printf(out, "%s%s", out->len ? " and " : "", name);
}

/* The grader's name: its version and, where scores depend on them, the rules, the segmenters and what ran
 * programs. */
static const char *grader_name(struct run *r)
{
    const char *name = answer_check_version();
    int by_word = 0, by_char = 0, by_rule = 0;
    struct str runtimes = {0};
    for (int c = 0; c < r->n_cells; c++) {
        const struct run_task *t = r->cells[c].task;
        const struct task_ops *ops = task_of_run(t->name, t->kind);
        by_rule |= ops && ops->grades_math;
        for (int i = 0; i < r->cells[c].n_records; i++) {
            const char *s = r->cells[c].records[i].segmenter;
            if (is_runtime(s))
                list_runtime(&runtimes, s);
            by_char |= is_by_char(s);
            by_word |= s && !is_by_char(s) && !is_runtime(s);
        }
    }
    if (by_rule)
        name = arena_printf(&r->arena, "%s, %s", name,
                            grade_rules_text(&grade_options_default.rules, &r->arena));
    if (by_word || by_char)
        name = arena_printf(&r->arena, "%s, segmenter=%s%s%s", name, by_word ? "jieba" : "",
                            by_word && by_char ? " and " : "", by_char ? zh_segmenter_name(NULL) : "");
    if (runtimes.len)
        name = arena_printf(&r->arena, "%s, programs by %s", name, runtimes.data);
    str_release(&runtimes);
    return name;
}

int run_load_records(struct run *r, const struct run_options *o, struct err *e)
{
    struct loader l = {.run = r, .zh_dict = o->zh_dict};
    struct gradebook book = {0};
    expect_jobs(&l);
    int rc = read_journals(&l, e);
    if (!rc && o->zh_dict) /* a folder that is named must be right, needed or not */
        rc = open_segmenter(&l, e);
    if (!rc && o->grades == RUN_GRADES_KEPT)
        rc = gradebook_load(&book, r->dir, answer_check_version(), &r->arena, e);
    r->n_changed_grades = book.n_changed;
    keep_withdrawals(&l);
    if (!rc)
        rc = spread_grades(&l, o->grades == RUN_GRADES_NONE ? NULL : &book, e);
    if (!rc && o->grades != RUN_GRADES_NONE)
        r->grader = grader_name(r);
    zh_segmenter_close(l.zh);
    gradebook_release(&book);
    keymap_release(&l.map);
    free(l.jobs);
    free(l.records);
    free(l.digest);
    free(l.ungraded);
    return rc;
}
