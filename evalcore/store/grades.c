/* Grading records and keeping the verdicts (contract: grades.h). */
#include "evalcore/store/grades.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/log.h"
#include "evalcore/store/flat_json.h"
#include "evalcore/store/job_key.h"
#include "evalcore/store/journal.h"
#include "evalcore/store/line_blocks.h"
#include "evalcore/store/runfolder.h"
#include "tasks/task.h"

enum { VERDICT_NAME_MAX = 32 };

static void book_path(struct str *out, const char *dir, const char *version)
{
    struct str name = {0};
    str_printf(&name, "grades/%s.jsonl", version);
    file_join(out, dir, name.data);
    str_release(&name);
}

/* The fields of a kept grade, where they lie in its line or in the tree that was parsed from it. */
enum { KEY, GOLD, VERDICT, SEGMENTER, REASON, GOLD_FORM, PRED_FORM, TEXTS };
static const char *const text_names[TEXTS] = {"key",    "gold",      "verdict",  "segmenter",
                                              "reason", "gold_form", "pred_form"};

struct row_fields {
    struct flat_text text[TEXTS];
    double score, version;
    int is_whole; /* its checksum is right */
    json_t *tree; /* NULL: the row is of plain values */
};

static void read_row(struct row_fields *f, const char *line, size_t n)
{
    struct flat_object flat;
    *f = (struct row_fields){.is_whole = journal_line_is_whole(line, n)};
    if (n && line[n - 1] == '}' && flat_read(&flat, line, n - 1)) {
        for (int i = 0; i < TEXTS; i++)
            f->text[i] = flat_string(&flat, text_names[i]);
        f->score = flat_number(&flat, "score");
        f->version = flat_number(&flat, "v");
        return;
    }
    f->tree = json_loadb(line, n, JSON_ALLOW_NUL, NULL);
    for (int i = 0; i < TEXTS; i++) {
        const char *s = json_string_value(json_object_get(f->tree, text_names[i]));
        f->text[i] = (struct flat_text){s, s ? strlen(s) : 0};
    }
    f->score = json_number_value(json_object_get(f->tree, "score"));
    f->version = json_number_value(json_object_get(f->tree, "v"));
}

/* Rows that follow one another say much the same: one copy of each text is enough. */
static const char *reuse_text(struct flat_text t, const char *last, struct arena *a)
{
    if (!t.n)
        return "";
    return last && !strncmp(last, t.data, t.n) && !last[t.n] ? last : arena_strndup(a, t.data, t.n);
}

static void add_row(struct gradebook *b, const struct row_fields *f, struct arena *a)
{
    static const struct grade_row none;
    const struct grade_row *last = b->n ? &b->rows[b->n - 1] : &none;
    char key[JOB_KEY_HEX + 1] = "", verdict[VERDICT_NAME_MAX] = "";
    const struct flat_text *t = f->text;
    struct grade_row row;
    if (!t[KEY].data || !t[GOLD].data || !t[VERDICT].data || t[VERDICT].n >= sizeof verdict)
        return;
    memcpy(key, t[KEY].data, t[KEY].n < JOB_KEY_HEX ? t[KEY].n : JOB_KEY_HEX);
    memcpy(verdict, t[VERDICT].data, t[VERDICT].n);
    if (!verdict_find(verdict, &row.verdict))
        return;
    row.segmenter = t[SEGMENTER].data ? reuse_text(t[SEGMENTER], last->segmenter, a) : NULL;
    row.gold = reuse_text(t[GOLD], last->gold, a);
    row.score = f->score;
    row.reason = reuse_text(t[REASON], last->reason, a);
    row.gold_form = reuse_text(t[GOLD_FORM], last->gold_form, a);
    row.pred_form = reuse_text(t[PRED_FORM], last->pred_form, a);
    long i = keymap_add(&b->map, key, (long)b->n);
    if (i == (long)b->n) {
        xgrow(&b->rows, &b->cap, b->n + 1, sizeof *b->rows);
        b->n++;
    }
    b->rows[i] = row;
}

/* Reads the rows of a block in parallel and adds them in the order of the file: the last of a key counts. */
static int add_block(struct gradebook *b, const struct line_blocks *lines, struct arena *a, struct err *e)
{
    int rc = 0;
    struct row_fields *row = xmalloc(lines->n * sizeof *row);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lines->n; i++)
        read_row(&row[i], lines->line[i].data, lines->line[i].length);
    for (size_t i = 0; i < lines->n && !rc; i++)
        if (!row[i].is_whole)
            b->n_changed++;
        else if (row[i].version != GRADE_VERSION)
            rc = runfolder_other_version(e, lines->path, (long)row[i].version, GRADE_VERSION);
        else
            add_row(b, &row[i], a);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < lines->n; i++)
        json_decref(row[i].tree);
    free(row);
    return rc;
}

int gradebook_load(struct gradebook *b, const char *dir, const char *version, struct arena *a, struct err *e)
{
    struct str path = {0};
    struct line_blocks lines;
    int rc = 0;
    memset(b, 0, sizeof *b);
    book_path(&path, dir, version);
    if (file_exists(path.data) && !(rc = line_blocks_open(&lines, path.data, e))) {
        while ((rc = line_blocks_next(&lines, e)) > 0 && !(rc = add_block(b, &lines, a, e)))
            ;
        line_blocks_close(&lines);
    }
    if (!rc && b->n_changed == 1)
        log_warn("%s: a row was changed since kveval wrote it; what it is about is graded anew", path.data);
    else if (!rc && b->n_changed)
        log_warn("%s: %ld rows were changed since kveval wrote them; what they are about is graded anew",
                 path.data, b->n_changed);
    str_release(&path);
    return rc;
}

const struct grade_row *gradebook_find(const struct gradebook *b, const char *key, const char *gold)
{
    long i = keymap_find(&b->map, key);
    if (i < 0 || strcmp(b->rows[i].gold, gold) != 0)
        return NULL;
    return &b->rows[i];
}

void gradebook_release(struct gradebook *b)
{
    keymap_release(&b->map);
    free(b->rows);
    memset(b, 0, sizeof *b);
}

static enum thinking thinking_of(const struct run_problem *p)
{
    return p->has_no_thinking ? THINKING_NONE : p->thinking_open ? THINKING_OPEN : THINKING_AUTO;
}

const char *grade_gold_digest(const struct run_problem *p, struct arena *a)
{
    struct str text = {0};
    char hex[17];
    for (int i = 0; i < p->n_golds; i++)
        str_add(&text, p->golds[i], strlen(p->golds[i]) + 1);
    str_printf(&text, "%d %d", p->n_options, (int)thinking_of(p));
    if (p->subset)
        str_printf(&text, " %s", p->subset);
    for (int i = 0; i < p->n_classes; i++)
        str_add(&text, p->all_classes[i], strlen(p->all_classes[i]) + 1);
    sha256_hex(text.data, text.len, hex, 16);
    str_release(&text);
    return arena_strdup(a, hex);
}

/* Forms and reasons come from model output: whatever they hold, the files stay valid UTF-8. */
static const char *arena_copy(struct arena *a, const char *s)
{
    struct str clean = {0};
    str_add_utf8(&clean, s ? s : "", s ? strlen(s) : 0);
    const char *kept = arena_strdup(a, str_text(&clean));
    str_release(&clean);
    return kept;
}

int grade_needs_segmenter(const struct run_task *t, const struct run_problem *p)
{
    const struct task_ops *ops = task_of_run(t->name, t->kind);
    return ops && ops->needs_segmenter && ops->needs_segmenter(p->subset);
}

int grade_seconds(const struct run_task *t)
{
    const struct task_ops *ops = task_of_run(t->name, t->kind);
    return ops ? ops->grade_seconds : 0;
}

void grade_record(struct record *rec, const struct run_task *t, const struct run_problem *p, const char *text,
                  size_t n, const struct zh_segmenter *zh, struct arena *a)
{
    struct grade g = {.verdict = VERDICT_ERROR, .reason = "the task is not known to this version"};
    struct arena scratch = {0};
    const struct task_ops *ops = task_of_run(t->name, t->kind);
    struct problem problem = {.id = p->id,
                              .gold = p->gold,
                              .gold_len = strlen(p->gold),
                              .golds = p->golds,
                              .n_golds = p->n_golds,
                              .n_options = p->n_options,
                              .option_order = p->option_order,
                              .is_rendered = p->is_rendered,
                              .thinking_open = p->thinking_open,
                              .subset = p->subset,
                              .tests = p->tests,
                              .metric = p->metric,
                              .first_line = p->first_line,
                              .tests_file = t->tests_file,
                              .all_classes = p->all_classes,
                              .n_classes = p->n_classes,
                              .zh = zh};
    struct response response = {.text = text,
                                .len = n,
                                .thinking = thinking_of(p),
                                .finish = rec->finish == FINISHED_LENGTH ? FINISH_LENGTH : FINISH_STOP};
    if (ops && ops->grade(&g, &problem, &response, &scratch))
        g = (struct grade){.verdict = VERDICT_ERROR, .reason = "the grader refused the problem"};
    rec->verdict = g.verdict;
    rec->score = g.score;
    rec->segmenter = g.runtime ? arena_strdup(a, g.runtime) : g.segmenter;
    rec->is_ungraded = g.is_open;
    rec->reason = arena_copy(a, g.reason);
    rec->gold_form = arena_copy(a, g.gold_form);
    rec->pred_form = arena_copy(a, g.pred_form);
    arena_release(&scratch);
}

static grades_maker made_by; /* NULL: this process */

void grades_made_by(grades_maker maker)
{
    made_by = maker;
}

/* Can this machine grade all of them? Each kind of task is asked once. */
static int check_machine(const struct ungraded *list, size_t n, struct err *e)
{
    int (*asked)(struct err *) = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct task_ops *ops = i && list[i].task == list[i - 1].task
                                         ? NULL
                                         : task_of_run(list[i].task->name, list[i].task->kind);
        if (!ops || !ops->check_machine || ops->check_machine == asked)
            continue;
        asked = ops->check_machine;
        int rc = asked(e);
        if (rc)
            return rc;
    }
    return 0;
}

int grades_make(struct run *r, const struct ungraded *list, size_t n, const struct zh_segmenter *zh,
                const char *zh_dict, struct err *e)
{
    struct str text = {0};
    int rc = 0;
    r->n_graded += (long)n;
    if ((rc = check_machine(list, n, e)))
        return rc;
    if (n && made_by)
        return made_by(r, list, n, zh_dict, e);
    for (size_t i = 0; i < n && !rc; i++) {
        rc = run_text(r, list[i].rec, &text, e);
        if (!rc)
            grade_record(list[i].rec, list[i].task, list[i].problem, str_text(&text), text.len, zh,
                         &r->arena);
        r->n_ungraded += !rc && list[i].rec->is_ungraded;
    }
    str_release(&text);
    return rc;
}

int grades_save(const struct run *r, struct err *e)
{
    struct str text = {0}, path = {0}, folder = {0};
    struct arena a = {0};
    struct keymap seen = {0};
    file_join(&folder, r->dir, "grades");
    int rc = file_mkdir_own(folder.data, e);
    for (int c = 0; c < r->n_cells && !rc; c++)
        for (int i = 0; i < r->cells[c].n_records; i++) {
            const struct record *rec = &r->cells[c].records[i];
            if (rec->finish == FINISHED_ERROR || rec->is_ungraded || r->cells[c].task->is_text ||
                r->cells[c].task->option_metrics || keymap_add(&seen, rec->key, 1 + c) != 1 + c)
                continue;
            const struct run_problem *p = &r->cells[c].task->problems[rec->problem];
            json_t *o = json_pack("{s:i, s:s, s:s, s:s, s:f, s:s, s:s, s:s}", "v", GRADE_VERSION, "key",
                                  rec->key, "gold", grade_gold_digest(p, &a), "verdict",
                                  verdict_name(rec->verdict), "score", rec->score, "reason", rec->reason,
                                  "gold_form", rec->gold_form, "pred_form", rec->pred_form);
            if (rec->segmenter)
                json_object_set_new(o, "segmenter", json_string(rec->segmenter));
            size_t from = text.len;
            json_canonical(&text, o);
            text.len--; /* the checksum comes before the brace */
            journal_line_seal(&text, from);
            str_putc(&text, '\n');
            json_decref(o);
        }
    book_path(&path, r->dir, answer_check_version());
    if (!rc)
        rc = file_write_atomic(path.data, str_text(&text), text.len, e);
    keymap_release(&seen);
    arena_release(&a);
    str_release(&folder);
    str_release(&path);
    str_release(&text);
    return rc;
}

/* ---- Which verdicts an older grader gave otherwise. */

static void add_line(struct str *out, const struct cell *c, const struct record *rec, enum verdict before)
{
    const struct run_problem *p = &c->task->problems[rec->problem];
    str_printf(out, "  %s, sample %d of %s: %s, now %s: reference %s, answer %s\n", p->id, rec->sample, c->id,
               verdict_name(before), verdict_name(rec->verdict), rec->gold_form, rec->pred_form);
}

/* Graders are counted up, and a folder may lack some of them. */
static int load_older(struct gradebook *b, const struct run *r, struct arena *a, long *version, struct err *e)
{
    for (*version = strtol(answer_check_version(), NULL, 10) - 1; *version > 0; --*version) {
        int rc = gradebook_load(b, r->dir, arena_printf(a, "%ld", *version), a, e);
        if (rc || b->n)
            return rc;
        gradebook_release(b);
    }
    return 0;
}

int grades_changes(const struct run *r, int most, struct str *out, struct err *e)
{
    struct gradebook older = {0};
    struct arena a = {0};
    struct str lines = {0};
    long version, changed = 0, known = 0;
    int rc = load_older(&older, r, &a, &version, e);
    for (int i = 0; i < r->n_cells && older.n; i++)
        for (int k = 0; k < r->cells[i].n_records; k++) {
            const struct cell *c = &r->cells[i];
            const struct record *rec = &c->records[k];
            const char *gold = grade_gold_digest(&c->task->problems[rec->problem], &a);
            const struct grade_row *row = gradebook_find(&older, rec->key, gold);
            known += row != NULL;
            if (row && row->verdict != rec->verdict && changed++ < most)
                add_line(&lines, c, rec, row->verdict);
        }
    if (!rc && known) {
        str_printf(out, "grader %ld gave %ld of %ld another verdict\n", version, changed, known);
        str_puts(out, str_text(&lines));
        if (changed > most)
            str_printf(out, "  and %ld more\n", changed - most);
    }
    str_release(&lines);
    gradebook_release(&older);
    arena_release(&a);
    return rc;
}

/* ---- The Chinese segmenter, whose data lies beside this program. */

int segmenter_open(struct zh_segmenter **out, const char *zh_dict, struct err *e)
{
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = 0;
    return zh_segmenter_open(out, zh_dict, n > 0 ? program : NULL, e);
}
