/* Solved examples in prompts (contract: few_shot.h). An example is read by the task's own kind and fields, so
 * that it looks as the problems do; only its template is another one. */
#include "tasks/few_shot.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "tasks/option_order.h"
#include "tasks/task_list.h"

enum { BYTES_MAX = 4 << 20 };
static const char *const draw_names[] = {"first", "random", NULL};

static const struct param few_shot_params[] = {
    {.name = "file",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_few_shot, file),
     .help = "rows of the examples, beside the task's own"},
    {.name = "count",
     .type = PARAM_INT,
     .offset = offsetof(struct task_few_shot, count),
     .min = 0,
     .max = TASK_EXAMPLES_MAX,
     .help = "how many, where the run file does not say"},
    {.name = "match",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_few_shot, match),
     .help = "column that an example must share with the row"},
    {.name = "text",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_few_shot, text),
     .help = "template of an example"},
    {.name = "join",
     .type = PARAM_STRING,
     .offset = offsetof(struct task_few_shot, join),
     .help = "what stands between two"},
    {.name = "draw",
     .type = PARAM_ENUM,
     .offset = offsetof(struct task_few_shot, draw),
     .choices = draw_names,
     .def = "first",
     .help = "the first rows, or for each row others by Python's random.Random(seed).sample()"},
    {.name = "seed",
     .type = PARAM_INT,
     .offset = offsetof(struct task_few_shot, seed),
     .min = 0,
     .max = 2147483647,
     .help = "of random draws (1234)"},
    {.name = "spare",
     .type = PARAM_BOOL,
     .offset = offsetof(struct task_few_shot, has_spare),
     .def = "false",
     .help = "one more is drawn, and the row itself left out"},
    {.name = NULL},
};

int few_shot_parse(struct task_file *f, const json_t *o, struct arena *a, struct err *e)
{
    struct task_few_shot *s = &f->few_shot;
    const json_t *rows = json_object_get(o, "rows");
    int rc = 0;
    *s = (struct task_few_shot){0};
    if (!o)
        return 0;
    if (!json_is_object(o))
        return err_set(e, ERR_USAGE, "%s: \"few_shot\" must be an object", f->where);
    json_t *rest = json_copy((json_t *)o);
    json_object_del(rest, "rows");
    rc = task_file_table(f, "few_shot", few_shot_params, s, rest, a, e);
    json_decref(rest);
    if (!rc && s->count == PARAM_UNSET_INT)
        rc = err_set(e, ERR_USAGE, "%s: \"few_shot.count\" is missing; say how many examples there are",
                     f->where);
    if (!rc && !s->text)
        rc = err_set(e, ERR_USAGE, "%s: \"few_shot.text\" is missing; it is the template of an example",
                     f->where);
    s->seed = s->seed == PARAM_UNSET_INT ? 1234 : s->seed;
    if (!rc && s->match && (strchr(s->match, ',') || strlen(s->match) >= 64))
        rc = err_set(e, ERR_USAGE,
                     "%s: \"few_shot.match\" must be one column: a text of 1 to 63 bytes without a comma",
                     f->where);
    if (!rc && s->draw == DRAW_RANDOM && s->match)
        rc = err_set(e, ERR_USAGE, "%s: \"few_shot\" draws at random from all rows; remove match", f->where);
    if (!rc && !s->file == !rows)
        rc = err_set(
            e, ERR_USAGE,
            "%s: \"few_shot\" takes its examples from a \"file\" beside the task's rows, or has them as a "
            "list of \"rows\"; write one of the two",
            f->where);
    if (!rc && rows && (!json_is_array(rows) || json_array_size(rows) > TASK_EXAMPLES_MAX))
        rc = err_set(e, ERR_USAGE, "%s: \"few_shot.rows\" must be a list of at most %d rows", f->where,
                     TASK_EXAMPLES_MAX);
    if (!rc && s->file)
        rc = task_file_check_path(f, "few_shot.file", s->file, e);
    if (!rc)
        rc = task_file_check_template(f, "few_shot.text", s->text, 1, e);
    if (!rc && rows) {
        char *text = json_dumps(rows, JSON_COMPACT);
        s->rows = arena_strdup(a, text ? text : "[]");
        free(text);
    }
    return rc;
}

struct example {
    const char *text;
    struct row_text match; /* of the column that is asked for */
    uint64_t row;          /* hash of the whole row */
};

struct few_shot {
    struct task task; /* owns the texts */
    struct task_loading loading;
    struct example *example;
    size_t n, cap;
    int count; /* that stand before a row */
    struct python_random random;
    struct str text; /* of the row that was asked for last */
};

/* The row's text in the column `match`, which lives as long as the row or the task's arena. */
static int match_of(struct row_text *out, const struct task_few_shot *s, const struct rows *r,
                    const json_t *row, struct err *e)
{
    *out = (struct row_text){"", 0};
    int rc = s->match ? row_text(out, r, row, s->match, 1, e) : 0;
    if (!rc && !out->s)
        rc = err_set(e, ERR_FORMAT,
                     "%s:%ld: field \"%s\" is missing, which examples must share with the row "
                     "(few_shot.match)",
                     r->path, r->line, s->match);
    return rc;
}

static int is_same(struct row_text a, struct row_text b)
{
    return a.n == b.n && !memcmp(a.s, b.s, a.n);
}

static uint64_t hash_row(const json_t *row)
{
    struct str text = {0};
    json_canonical(&text, row);
    uint64_t hash = hash_bytes64(str_text(&text), text.len);
    str_release(&text);
    return hash;
}

static int add_example(struct rows *r, const json_t *row, void *context, struct err *e)
{
    struct few_shot *k = context;
    const struct task_few_shot *s = &k->loading.file->few_shot;
    struct row_text match;
    int rc = k->loading.file->kind->row(r, row, &k->loading, e);
    if (!rc)
        rc = match_of(&match, s, r, row, e);
    if (rc)
        return rc;
    match.s = arena_strndup(&k->task.arena, match.s, match.n);
    xgrow(&k->example, &k->cap, k->n + 1, sizeof *k->example);
    k->example[k->n++] =
        (struct example){.text = r->problems[r->n - 1].prompt, .match = match, .row = hash_row(row)};
    return 0;
}

static int read_inline(struct few_shot *k, const char *rows, struct err *e)
{
    struct rows r = {.task = &k->task, .path = k->loading.file->where};
    json_t *list = NULL;
    int rc = json_read_text(&list, rows, strlen(rows), r.path, e);
    for (size_t i = 0; i < json_array_size(list) && !rc; i++) {
        r.line = (long)i + 1;
        rc = json_is_object(json_array_get(list, i))
                 ? add_example(&r, json_array_get(list, i), k, e)
                 : err_set(e, ERR_FORMAT, "%s: \"few_shot.rows\": item %zu is no object", r.path, i + 1);
    }
    json_decref(list);
    rows_release(&r);
    return rc;
}

static int read_file(struct few_shot *k, const char *file, const char *beside, struct err *e)
{
    const char *slash = strrchr(beside, '/');
    const char *path =
        slash ? arena_printf(&k->task.arena, "%.*s/%s", (int)(slash - beside), beside, file) : file;
    if (!file_exists(path))
        return err_set(
            e, ERR_USAGE,
            "task %s: there is no file %s, which has the examples of its prompt; %s%s, or choose a "
            "prompt without examples",
            k->loading.file->name, path,
            k->loading.file->rows.sources ? "get it with kveval fetch " : "put it there",
            k->loading.file->rows.sources ? k->loading.file->name : "");
    const char *folder =
        slash ? arena_strndup(&k->task.arena, beside, (size_t)(slash - beside) + (slash == beside)) : "";
    if (k->loading.file->dir && task_file_check_link(k->loading.file, "few_shot.file", folder, file, e))
        return e->code;
    return rows_read(&k->task, path, NULL, add_example, NULL, k, e);
}

int few_shot_load(struct task_loading *l, const struct task *t, const char *path, struct err *e)
{
    const struct task_few_shot *s = &l->file->few_shot;
    int is_said = t->options.few_shot != PARAM_UNSET_INT, count = is_said ? t->options.few_shot : s->count;
    int has_place = strstr(l->prompt->text, "{examples}") != NULL;
    if (is_said && count && !has_place)
        return err_set(
            e, ERR_USAGE,
            "task %s: the prompt \"%s\" has no place for examples; remove few_shot, or choose another",
            l->file->name, l->prompt->name);
    if (!count || !has_place)
        return 0;
    struct few_shot *k = l->few_shot = xcalloc(1, sizeof *k);
    struct task_prompt *prompt = arena_alloc(&k->task.arena, sizeof *prompt);
    *prompt = (struct task_prompt){.name = "examples", .text = s->text, .option = l->prompt->option};
    k->count = count;
    python_random_seed(&k->random, (uint32_t)s->seed);
    k->task.ops = t->ops;
    k->task.options = t->options;
    k->loading = (struct task_loading){.file = l->file, .prompt = prompt, .is_example = 1};
    int rc = s->rows ? read_inline(k, s->rows, e) : read_file(k, s->file, path, e);
    if (!rc && !s->match && k->n < (size_t)count + (s->has_spare != 0))
        rc = err_set(e, ERR_FORMAT, "task %s: its prompt has %d examples%s, and there are only %zu",
                     l->file->name, count, s->has_spare ? ", of one more that is drawn" : "", k->n);
    return rc;
}

void few_shot_release(struct task_loading *l)
{
    struct few_shot *k = l->few_shot;
    if (!k)
        return;
    if (l->file->kind->release)
        l->file->kind->release(k->loading.own);
    str_release(&k->loading.text);
    str_release(&k->text);
    free(k->example);
    arena_release(&k->task.arena);
    free(k);
    l->few_shot = NULL;
}

static int is_example(const struct few_shot *k, uint64_t row)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->example[i].row == row)
            return 1;
    return 0;
}

/* The examples that stand before a row, in their order, never the row itself. Returns how many. A random draw
 * from examples with the row among them has one more, as lm-evaluation-harness draws from the rows it asks;
 * it always has where `spare` says so. */
static int choose(int at[TASK_EXAMPLES_MAX + 1], struct few_shot *k, const struct task_few_shot *s,
                  struct row_text match, uint64_t own)
{
    int n = 0;
    for (size_t i = 0; i < k->n && n < k->count && s->draw == DRAW_FIRST; i++)
        if (k->example[i].row != own && is_same(k->example[i].match, match))
            at[n++] = (int)i;
    if (s->draw == DRAW_RANDOM) {
        int drawn[TASK_EXAMPLES_MAX + 1], wanted = k->count + (s->has_spare || is_example(k, own));
        if ((size_t)wanted > k->n)
            return (int)k->n - 1;
        python_random_pick(&k->random, drawn, (int)k->n, wanted);
        for (int i = 0; i < wanted && n < k->count; i++)
            if (k->example[drawn[i]].row != own)
                at[n++] = drawn[i];
    }
    return n;
}

int few_shot_of_row(struct row_text *out, const struct task_loading *l, const struct rows *r,
                    const json_t *row, struct err *e)
{
    struct few_shot *k = l->few_shot;
    const struct task_few_shot *s = &l->file->few_shot;
    *out = (struct row_text){"", 0};
    if (!k)
        return 0;
    struct row_text match;
    if (match_of(&match, s, r, row, e))
        return e->code;
    int at[TASK_EXAMPLES_MAX + 1], n = choose(at, k, s, match, hash_row(row));
    if (n < k->count)
        return err_set(e, ERR_FORMAT,
                       "%s:%ld: the prompt has %d examples, and there are %d besides the row itself%s%s; add "
                       "examples, or set a smaller few_shot",
                       r->path, r->line, k->count, n, s->match ? " with its " : "", s->match ? s->match : "");
    str_clear(&k->text);
    for (int i = 0; i < n; i++) {
        str_printf(&k->text, "%s%s", i && s->join ? s->join : "", k->example[at[i]].text);
        if (k->text.len > BYTES_MAX)
            return err_set(e, ERR_FORMAT, "task %s: its examples are longer than %d MiB", l->file->name,
                           BYTES_MAX >> 20);
    }
    *out = (struct row_text){str_text(&k->text), k->text.len};
    return 0;
}
