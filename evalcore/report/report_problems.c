/* What the page's script needs to open a cell's problems (page.js says the form): every completion where that
 * is little, else a line for each problem, so that the page stays small whatever the run. No text of a
 * problem is in it, and of tasks whose examples must not be published no answer and no reference either. */
#include "evalcore/report/report_parts.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/report/report_transcripts.h"
#include "evalcore/store/job_key.h"

enum {
    DATA_MAX = 900000, /* bytes of the data */
    SAMPLE_BYTES = 8,  /* of a completion, at least */
    ANSWER_MAX = 80,   /* longer answers and names are cut */
    ANSWER_NONE = -1
};
enum level { BY_SAMPLE, BY_PROBLEM, BY_PROBLEM_ONLY, LEVELS }; /* the last: without answers */

struct answers { /* of one task, each once */
    struct keymap map;
    struct str list; /* of JSON strings */
    long n;
};
struct writer {
    const struct report *r;
    struct str *out;
    struct answers *answers; /* by task */
    int *place;              /* by cell of the run: which of the written cells it is, -1: not written */
    enum level level;
};

static void put_text(struct str *out, const char *s)
{
    size_t n = strlen(s), cut = n;
    struct str part = {0};
    if (n > ANSWER_MAX)
        for (cut = ANSWER_MAX; cut && ((unsigned char)s[cut] & 0xC0) == 0x80;)
            cut--;
    str_add(&part, s, cut);
    if (cut < n)
        str_puts(&part, "\xE2\x80\xA6");
    json_quote(out, part.data, part.len);
    str_release(&part);
}

static long answer_number(struct answers *a, const char *form)
{
    char key[33];
    if (!*form)
        return ANSWER_NONE;
    sha256_hex(form, strlen(form), key, 32);
    long i = keymap_add(&a->map, key, a->n);
    if (i == a->n) {
        str_puts(&a->list, a->n++ ? "," : "");
        put_text(&a->list, form);
    }
    return i;
}

/* ,"name":[1,2,3]; with one value where all are the same. */
static void put_list(struct str *out, const char *name, const long *v, int n)
{
    int same = 1;
    for (int i = 1; i < n; i++)
        same &= v[i] == v[0];
    str_printf(out, ",\"%s\":[", name);
    for (int i = 0; i < (same && n ? 1 : n); i++)
        str_printf(out, i ? ",%ld" : "%ld", v[i]);
    str_putc(out, ']');
}

/* The same of one digit each, as a string. */
static void put_digits(struct str *out, const char *name, const char *v, int n)
{
    int same = 1;
    for (int i = 1; i < n; i++)
        same &= v[i] == v[0];
    str_printf(out, ",\"%s\":\"%.*s\"", name, same && n ? 1 : n, v);
}

static int has_scores(const struct cell *c)
{
    return strcmp(c->task->metric, "accuracy") != 0;
}

static int has_answers(const struct writer *w, const struct run_task *t)
{
    return w->level != BY_PROBLEM_ONLY && !run_task_is_restricted(t);
}

static void by_sample(struct writer *w, const struct cell *c)
{
    int n = c->n_expected;
    char *verdict = xmalloc((size_t)n + 1), *finish = xmalloc((size_t)n + 1);
    long *length = xcalloc((size_t)n + 1, sizeof *length), *found = xcalloc((size_t)n + 1, sizeof *found),
         *score = xcalloc((size_t)n + 1, sizeof *score);
    memset(verdict, '-', (size_t)n);
    memset(finish, '0', (size_t)n);
    for (int i = 0; i < n; i++)
        found[i] = ANSWER_NONE;
    for (int i = 0; i < c->n_records; i++) {
        const struct record *rec = &c->records[i];
        int at = rec->problem * c->samples + rec->sample;
        verdict[at] = (char)('0' + (int)rec->verdict);
        finish[at] = (char)('0' + (int)rec->finish);
        length[at] = rec->finish == FINISHED_ERROR ? 0 : rec->tokens;
        score[at] = (long)(100 * rec->score + 0.5);
        if (has_answers(w, c->task))
            found[at] = answer_number(&w->answers[c->task - w->r->run->tasks], rec->pred_form);
    }
    put_digits(w->out, "verdict", verdict, n);
    put_digits(w->out, "finish", finish, n);
    put_list(w->out, "length", length, n);
    if (has_answers(w, c->task))
        put_list(w->out, "answer", found, n);
    if (has_scores(c))
        put_list(w->out, "score", score, n);
    free(verdict);
    free(finish);
    free(length);
    free(found);
    free(score);
}

/* The commonest answer of n records, the first of several. */
static const char *commonest_answer(const struct record *rec, int n)
{
    int max_same = 0, best = 0;
    for (int i = 0; i < n; i++) {
        int same = 0;
        for (int k = i; k < n; k++)
            same += !strcmp(rec[i].pred_form, rec[k].pred_form);
        if (same > max_same) {
            max_same = same;
            best = i;
        }
    }
    return rec[best].pred_form;
}

static void by_problem(struct writer *w, const struct cell *c)
{
    enum { RIGHT, DONE, LENGTH, CUT, ANSWER, SCORE, COLUMNS };
    static const char *const names[] = {"right", "done", "length", "cut", "answer", "score"};
    int n = c->task->n_problems;
    long *v = xcalloc((size_t)(n + 1) * COLUMNS, sizeof *v);
    for (int p = 0; p < n; p++)
        v[ANSWER * n + p] = ANSWER_NONE;
    for (int i = 0, k; i < c->n_records; i += k) {
        const struct record *rec = &c->records[i];
        double tokens = 0, score = 0;
        int p = rec->problem, n_lengths = 0;
        for (k = 0; i + k < c->n_records && rec[k].problem == p; k++) {
            v[RIGHT * n + p] += rec[k].verdict == VERDICT_CORRECT;
            v[CUT * n + p] += rec[k].finish == FINISHED_LENGTH;
            tokens += rec[k].finish == FINISHED_ERROR ? 0 : rec[k].tokens;
            n_lengths += rec[k].finish != FINISHED_ERROR;
            score += rec[k].score;
        }
        v[DONE * n + p] = k;
        v[LENGTH * n + p] = (long)(n_lengths ? tokens / n_lengths + 0.5 : 0);
        v[SCORE * n + p] = (long)(100 * score / k + 0.5);
        if (has_answers(w, c->task))
            v[ANSWER * n + p] =
                answer_number(&w->answers[c->task - w->r->run->tasks], commonest_answer(rec, k));
    }
    for (int j = 0; j < COLUMNS; j++)
        if ((j != ANSWER || has_answers(w, c->task)) && (j != SCORE || has_scores(c)))
            put_list(w->out, names[j], v + j * n, n);
    free(v);
}

/* The references of a problem, as one text. */
static void put_reference(struct writer *w, const struct run_problem *p)
{
    struct str all = {0};
    for (int i = 0; i < p->n_golds; i++)
        str_printf(&all, "%s%s", i ? " or " : "", p->golds[i]);
    if (!p->n_golds && p->gold)
        str_puts(&all, p->gold);
    put_text(w->out, str_text(&all));
    str_release(&all);
}

static void add_tasks(struct writer *w)
{
    const struct run *run = w->r->run;
    str_puts(w->out, "\"tasks\":[");
    for (int t = 0; t < run->n_tasks; t++) {
        const struct run_task *k = &run->tasks[t];
        str_puts(w->out, t ? ",{\"name\":" : "{\"name\":");
        put_text(w->out, k->label);
        str_puts(w->out, ",\"problems\":[");
        for (int p = 0; p < k->n_problems && !k->is_text; p++) {
            str_puts(w->out, p ? "," : "");
            put_text(w->out, k->problems[p].id);
        }
        if (has_answers(w, k)) {
            str_printf(w->out, "],\"answers\":[%s],\"references\":[", str_text(&w->answers[t].list));
            for (int p = 0; p < k->n_problems && !k->is_text; p++) {
                str_puts(w->out, p ? "," : "");
                put_reference(w, &k->problems[p]);
            }
        }
        if (w->r->has_transcripts && !k->is_text) {
            str_puts(w->out, "],\"files\":[");
            for (int p = 0; p < k->n_problems; p++)
                str_printf(w->out, "%s\"%s\"", p ? "," : "", transcript_file(w->r->arena, k, p));
        }
        str_puts(w->out, "]}");
    }
    str_putc(w->out, ']');
}

static int is_written(const struct cell *c)
{
    return !c->task->is_text && c->n_records > 0;
}

static void add_cells(struct writer *w)
{
    const struct report *r = w->r;
    int n = 0;
    for (int i = 0, at = 0; i < r->run->n_cells; i++)
        w->place[i] = is_written(&r->run->cells[i]) ? at++ : -1;
    str_puts(w->out, "\"cells\":{");
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = &r->run->cells[i];
        if (!is_written(c))
            continue;
        str_puts(w->out, n++ ? ",\n" : "\n");
        json_quote(w->out, c->id, strlen(c->id));
        str_puts(w->out, ":{\"name\":");
        put_text(w->out, report_full_name(r, r->cells[i].row));
        str_printf(w->out, ",\"task\":%d,\"samples\":%d,\"row\":%d", (int)(c->task - r->run->tasks),
                   c->samples, r->cells[i].row);
        if (c->baseline >= 0 && c->baseline != i && w->place[c->baseline] >= 0 &&
            r->run->cells[c->baseline].task == c->task)
            str_printf(w->out, ",\"base\":%d", w->place[c->baseline]);
        if (r->has_transcripts && !run_task_is_restricted(c->task))
            str_printf(w->out, ",\"folder\":\"%s/%s/\"", TRANSCRIPTS, transcript_folder(r->arena, r->run, i));
        (w->level == BY_SAMPLE ? by_sample : by_problem)(w, c);
        str_putc(w->out, '}');
    }
    str_puts(w->out, "},\n");
}

static void put_names(struct str *out, const struct report *r, enum level level)
{
    str_printf(out, "{\"by\":\"%s\",\"verdicts\":[", level == BY_SAMPLE ? "sample" : "problem");
    for (int v = 0; v < VERDICT_COUNT; v++)
        str_printf(out, "%s\"%s\"", v ? "," : "", verdict_name((enum verdict)v));
    str_puts(out, "],\"finishes\":[");
    for (int f = FINISHED_STOP; f <= FINISHED_ERROR; f++)
        str_printf(out, "%s\"%s\"", f ? "," : "", finish_name((enum finish_reason)f));
    str_puts(out, "],\n");
    if (!r->has_transcripts)
        str_puts(out,
                 "\"texts\":\"kveval show RUN CELL PROBLEM prints a problem's prompt and completions; kveval "
                 "report RUN --transcripts writes them beside the page, and this list then leads to "
                 "them. RUN is the run's folder.\",\n");
}

static void build_data(struct str *out, const struct report *r, enum level level)
{
    struct writer w = {.r = r, .out = out, .level = level};
    w.answers = xcalloc((size_t)r->run->n_tasks + 1, sizeof *w.answers);
    w.place = xcalloc((size_t)r->run->n_cells + 1, sizeof *w.place);
    put_names(out, r, level);
    add_cells(&w);
    add_tasks(&w);
    str_putc(out, '}');
    for (int t = 0; t < r->run->n_tasks; t++) {
        keymap_release(&w.answers[t].map);
        str_release(&w.answers[t].list);
    }
    free(w.answers);
    free(w.place);
}

void report_add_data(struct doc *d, const struct report *r)
{
    struct str json = {0};
    int first = r->run->n_expected > DATA_MAX / SAMPLE_BYTES ? BY_PROBLEM : BY_SAMPLE;
    for (int level = first; level < LEVELS; level++) {
        str_clear(&json);
        build_data(&json, r, (enum level)level);
        if (json.len <= DATA_MAX) {
            doc_data(d, &json);
            return;
        }
    }
    str_release(&json);
    doc_paragraph(d,
                  "The run has too many problems for the page to list them for each cell; kveval show prints "
                  "each of them.");
}
