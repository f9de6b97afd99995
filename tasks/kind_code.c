/* The kind code: problems whose answers are programs, as LiveCodeBench's code_generation_lite has them. Tests
 * are megabytes and stay in the data file: a problem knows where its row is and the digest of its tests, and
 * a run folder keeps that. They are read again for each completion that is graded. */
#include "tasks/task_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code_check/code_check.h"
#include "evalcore/base/file.h"

/* ---- windows of contest dates: "2024-08..2025-01" or "2024-08-01..2025-01-31", both ends with all of their
 * day or month. Dates are text that sorts as time does, so a prefix is compared. */

enum { MONTH_BYTES = 7, DAY_BYTES = 10, DATES_BYTES = 64 };

struct window {
    char from[DAY_BYTES + 1], to[DAY_BYTES + 1]; /* "": no bound */
};

static int is_date(const char *s, size_t n)
{
    static const char form[] = "0000-00-00";
    if (n != MONTH_BYTES && n != DAY_BYTES)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (form[i] == '-' ? s[i] != '-' : s[i] < '0' || s[i] > '9')
            return 0;
    int month = (s[5] - '0') * 10 + s[6] - '0', day = n == DAY_BYTES ? (s[8] - '0') * 10 + s[9] - '0' : 1;
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

static int read_window(struct window *w, const struct task *t, struct err *e)
{
    const char *s = t->options.subset, *dots = s ? strstr(s, "..") : NULL;
    *w = (struct window){0};
    if (!s)
        return 0;
    if (!dots || !is_date(s, (size_t)(dots - s)) || !is_date(dots + 2, strlen(dots + 2)))
        return err_set(e, ERR_USAGE,
                       "task %s: subset \"%.40s\" is no window of contest dates, whose months are 01 to 12; "
                       "write \"2024-08..2025-01\" or "
                       "\"2024-08-01..2025-01-31\"",
                       t->ops->name, s);
    memcpy(w->from, s, (size_t)(dots - s));
    memcpy(w->to, dots + 2, strlen(dots + 2));
    size_t n = strlen(w->from) < strlen(w->to) ? strlen(w->from) : strlen(w->to);
    return strncmp(w->from, w->to, n) <= 0
               ? 0
               : err_set(e, ERR_USAGE, "task %s: subset \"%s\" ends before it begins; write \"%s..%s\"",
                         t->ops->name, s, w->to, w->from);
}

static int is_within(const struct window *w, const char *date)
{
    return strncmp(date, w->from, strlen(w->from)) >= 0 && strncmp(date, w->to, strlen(w->to)) <= 0;
}

/* ---- rows */

struct loading {
    struct window window;
    char first[DATES_BYTES], last[DATES_BYTES]; /* dates of the file, for a window without a problem */
};

static int begin(struct rows *r, struct task_loading *l, struct err *e)
{
    if (l->own)
        return 0;
    struct loading *own = l->own = xcalloc(1, sizeof *own);
    struct str path = {0};
    char *real = realpath(r->path, NULL);
    str_puts(&path, real ? real : r->path);
    r->task->tests_file = arena_strdup(&r->task->arena, path.data);
    free(real);
    str_release(&path);
    return read_window(&own->window, r->task, e);
}

/* Is the row's contest outside of the window? 1 also when that cannot be told, with *rc. */
static int is_left_out(struct rows *r, const json_t *row, struct task_loading *l, int *rc, struct err *e)
{
    struct loading *own = l->own;
    struct row_text date;
    if (!*own->window.to)
        return 0;
    *rc = task_row_text(&date, r, row, l, "date", e);
    if (!*rc && (!date.s || date.n < DAY_BYTES || !is_date(date.s, DAY_BYTES)))
        *rc = err_set(e, ERR_FORMAT, "%s:%ld: contest_date is no date, and subset asks for a window of dates",
                      r->path, r->line);
    if (*rc)
        return 1;
    if (!*own->first || strncmp(date.s, own->first, DAY_BYTES) < 0)
        snprintf(own->first, sizeof own->first, "%.*s", DAY_BYTES, date.s);
    if (strncmp(date.s, own->last, DAY_BYTES) > 0)
        snprintf(own->last, sizeof own->last, "%.*s", DAY_BYTES, date.s);
    return !is_within(&own->window, date.s);
}

/* What a row says of its tests. The texts are the row's. */
struct row_tests {
    const char *public_tests, *private_tests, *call;
    size_t n_public, n_private;
    json_t *metadata;
};

static int find_tests(struct row_tests *out, const json_t *row, const char *where, struct err *e)
{
    const json_t *a = json_object_get(row, "public_test_cases"),
                 *b = json_object_get(row, "private_test_cases"), *m = json_object_get(row, "metadata");
    *out = (struct row_tests){.call = ""};
    if (!json_is_string(a) || !json_is_string(b) || !json_is_string(m))
        return err_set(e, ERR_FORMAT,
                       "%s: public_test_cases, private_test_cases and metadata must be texts, as in "
                       "livecodebench/code_generation_lite",
                       where);
    *out = (struct row_tests){.public_tests = json_string_value(a),
                              .n_public = json_string_length(a),
                              .private_tests = json_string_value(b),
                              .n_private = json_string_length(b),
                              .call = ""};
    int rc = json_read_text(&out->metadata, json_string_value(m), json_string_length(m), where, e);
    if (!rc && !json_is_object(out->metadata))
        rc = err_set(e, ERR_FORMAT, "%s: metadata is no JSON object", where);
    if (!rc)
        rc = json_opt_str(out->metadata, "func_name", &out->call, where, e);
    if (rc) {
        json_decref(out->metadata);
        out->metadata = NULL;
    }
    return rc;
}

/* The tests as the row has them. text: what a problem is known by, in the arena. */
static int read_tests(struct code_tests *tests, const char **text, const json_t *row, const char *where,
                      struct arena *a, struct err *e)
{
    struct row_tests found;
    char digest[17];
    int rc = find_tests(&found, row, where, e);
    if (rc)
        return rc;
    const char *call = arena_strdup(a, found.call);
    rc = code_tests_read(tests, found.public_tests, found.n_public, found.private_tests, found.n_private,
                         call, where, e);
    code_tests_digest(digest, found.public_tests, found.n_public, found.private_tests, found.n_private);
    json_decref(found.metadata);
    if (!rc)
        *text = arena_printf(a, "%d test%s, sha256 %s", tests->n, tests->n == 1 ? "" : "s", digest);
    return rc;
}

static int add_row(struct rows *r, const json_t *row, struct task_loading *l, struct err *e)
{
    struct code_tests tests;
    struct row_text problem, starter;
    char where[640];
    const char *gold;
    int rc = begin(r, l, e);
    if (rc)
        return rc;
    if (is_left_out(r, row, l, &rc, e)) {
        r->n_left_out += !rc;
        return rc;
    }
    snprintf(where, sizeof where, "%.580s:%ld", r->path, r->line);
    if (!r->row_bytes)
        return err_set(e, ERR_FORMAT,
                       "%s: a task of programs reads one JSON object a line (JSONL), nothing else", r->path);
    rc = task_row_text(&problem, r, row, l, "problem", e);
    if (!rc)
        rc = task_row_text(&starter, r, row, l, "starter", e);
    if (!rc && !problem.n)
        rc = err_set(e, ERR_FORMAT, "%s: field \"question_content\" is empty", where);
    if (!rc)
        rc = read_tests(&tests, &gold, row, where, &r->task->arena, e);
    if (rc)
        return rc;
    code_tests_release(&tests);
    const char *format = task_prompt_text(starter.n ? "code_format_starter" : "code_format_stdin");
    if (!starter.n)
        starter = (struct row_text){"# YOUR CODE HERE", strlen("# YOUR CODE HERE")};
    struct prompt_field fields[] = {{"problem", problem.s, problem.n},
                                    {"starter", starter.s, starter.n},
                                    {"format", format, strlen(format)}};
    struct problem *p = rows_add(r);
    problem_set_gold(p, r->task, gold, strlen(gold));
    p->tests = arena_printf(&r->task->arena, "%zu+%zu", r->row_at, r->row_bytes);
    p->tests_file = r->task->tests_file;
    return task_row_problem(p, r, row, l, fields, 3, problem, e);
}

static int finish(struct rows *r, struct task_loading *l, struct err *e)
{
    const struct loading *own = l->own;
    if (r->n || !own || !*own->window.to)
        return 0;
    return err_set(e, ERR_USAGE, "%s: no contest is in %s; the file's are from %s to %s", r->path,
                   r->task->options.subset, own->first, own->last);
}

/* ---- grading */

/* Reads the problem's row again. Whatever fails here says nothing about the completion. */
static int read_again(struct code_tests *tests, const struct problem *p, struct arena *a, struct err *e)
{
    size_t at, n;
    char more;
    struct str text = {0};
    json_t *row = NULL;
    const char *gold;
    if (!p->tests || !p->tests_file || sscanf(p->tests, "%zu+%zu%c", &at, &n, &more) != 2 ||
        n > ROW_BYTES_MAX)
        return err_set(e, ERR_FORMAT, "the run folder does not say where the tests are");
    int fd = file_open_input(p->tests_file, e);
    if (fd < 0)
        return fd;
    char *bytes = xmalloc(n + 1);
    ssize_t got = 0, part = 1;
    while ((size_t)got < n && (part = pread(fd, bytes + got, n - (size_t)got, (off_t)(at + (size_t)got))) > 0)
        got += part;
    close(fd);
    str_printf(&text, "%s", p->tests_file);
    int rc = (size_t)got < n
                 ? err_set(e, ERR_FORMAT, "%s: the file is shorter than when the run was planned", text.data)
                 : json_read_text(&row, bytes, n, text.data, e);
    if (!rc)
        rc = read_tests(tests, &gold, row, text.data, a, e);
    if (!rc && strcmp(gold, p->gold)) {
        code_tests_release(tests);
        rc = err_set(e, ERR_FORMAT, "%s: the tests of problem %s are not those of the run: %s, not %s",
                     text.data, p->id, gold, p->gold);
    }
    json_decref(row);
    free(bytes);
    str_release(&text);
    return rc;
}

static int set_grade(struct grade *out, enum verdict v, const char *reason)
{
    *out = (struct grade){
        .verdict = v, .reason = reason, .gold_form = "", .pred_form = "", .score = v == VERDICT_CORRECT};
    return 0;
}

static int grade(struct grade *out, const struct problem *p, const struct response *r, struct arena *a)
{
    const char *text, *code;
    size_t n, n_code;
    struct code_tests tests;
    struct code_outcome outcome;
    struct err e = {0};
    if (response_answer(r, &text, &n))
        return set_grade(out, VERDICT_UNFINISHED, "Thinking was opened and never closed.");
    if (!code_find(&code, &n_code, text, n))
        return set_grade(out, r->finish == FINISH_LENGTH ? VERDICT_TRUNCATED : VERDICT_UNPARSED,
                         r->finish == FINISH_LENGTH
                             ? "The length limit came before a whole block of code."
                             : "There is no block of code between two lines with ```.");
    int rc = read_again(&tests, p, a, &e);
    if (!rc) {
        rc = code_run(&outcome, &tests, code, n_code, NULL, a, &e);
        code_tests_release(&tests);
    }
    if (rc) { /* of the machine or the data, not of the completion */
        set_grade(out, VERDICT_ERROR, arena_strdup(a, e.text));
        out->is_open = 1;
        return 0;
    }
    set_grade(out, outcome.end == CODE_PASSED ? VERDICT_CORRECT : VERDICT_WRONG, outcome.why);
    out->gold_form = p->gold;
    out->runtime = outcome.runtime;
    return 0;
}

static int check_machine(struct err *e)
{
    struct str what = {0};
    int rc = code_sandbox_check(&what, e);
    str_release(&what);
    return rc;
}

static const struct task_role roles[] = {{"problem", "question_content", ROLE_NEEDED},
                                         {"starter", "starter_code", ROLE_FILLED},
                                         {"date", "contest_date", ROLE_OPTIONAL},
                                         {"id", "question_id", ROLE_OPTIONAL},
                                         {0}};

const struct task_kind task_kind_code = {
    .name = "code",
    .help = "problems whose answers are Python programs, run against tests in a sandbox",
    .metric = "accuracy",
    .expected_tokens = 10000,
    .roles = roles,
    .prompts = "{\"livecodebench\": \"code_livecodebench\", \"dms\": \"code_dms\"}",
    .template_fields = "format",
    .options = "subset",
    .grade_seconds = 1000,
    .row = add_row,
    .finish = finish,
    .release = free,
    .grade = grade,
    .check_machine = check_machine,
};
