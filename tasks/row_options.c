/* The options of rows (contract: row_options.h). */
#include "tasks/row_options.h"

#include <stdlib.h>
#include <string.h>

#include "tasks/duplicates.h"

const char *const answer_form_names[] = {"letter", "from0", "from1", "text", NULL};

int row_options_add(struct row_options *o, const struct rows *r, struct row_text text, struct err *e)
{
    if (o->n < ROW_OPTIONS_MAX)
        o->raw[o->n] = text;
    text = row_trim(text);
    if (!text.n || memchr(text.s, 0, text.n))
        return err_set(e, ERR_FORMAT, "%s:%ld: option %d is empty or holds a NUL character", r->path, r->line,
                       o->n + 1);
    if (o->n == ROW_OPTIONS_MAX)
        return err_set(e, ERR_FORMAT, "%s:%ld: there are more than %d options", r->path, r->line,
                       ROW_OPTIONS_MAX);
    for (int i = 0; i < o->n && !o->may_repeat; i++)
        if (o->text[i].n == text.n && !memcmp(o->text[i].s, text.s, text.n))
            return err_set(e, ERR_FORMAT, "%s:%ld: options %d and %d are the same", r->path, r->line, i + 1,
                           o->n + 1);
    o->text[o->n++] = text;
    return 0;
}

static int read_list(struct row_options *o, const struct rows *r, const json_t *list, const char *column,
                     struct err *e)
{
    int rc = 0;
    for (size_t i = 0; i < json_array_size(list) && !rc; i++) {
        struct row_text text = row_json_text(json_array_get(list, i), &r->task->arena);
        rc = text.s ? row_options_add(o, r, text, e)
                    : err_set(e, ERR_FORMAT, "%s:%ld: field \"%s\" must hold texts; item %zu is none",
                              r->path, r->line, column, i + 1);
    }
    return rc;
}

/* An option from each column; the last ones may lack. */
static int read_columns(struct row_options *o, const struct rows *r, const json_t *row, const char *columns,
                        struct err *e)
{
    int rc = 0, n_lost = 0;
    char name[LIST_NAME_BYTES];
    while (!rc && (columns = list_next(columns, name))) {
        struct row_text text;
        rc = row_text(&text, r, row, name, 1, e);
        if (rc || !text.s) {
            n_lost++;
            continue;
        }
        rc = n_lost ? err_set(e, ERR_FORMAT, "%s:%ld: field \"%s\" is there and one before it is missing",
                              r->path, r->line, name)
                    : row_options_add(o, r, text, e);
    }
    return rc;
}

int row_options_read(struct row_options *o, const struct rows *r, const json_t *row,
                     const struct task_field *f, struct err *e)
{
    char name[LIST_NAME_BYTES] = "";
    const json_t *list = f->is_each ? NULL : row_first_value(row, f->columns, name);
    if (list && !json_is_array(list))
        return err_set(
            e, ERR_FORMAT,
            "%s:%ld: field \"%s\" must be a list of options; where each has a column, fields.options is the "
            "list of these",
            r->path, r->line, name);
    int rc = list ? read_list(o, r, list, name, e)
                  : read_columns(o, r, row, f->is_each ? f->columns : "A,B,C,D,E,F,G,H,I,J", e);
    if (!rc && o->n < 2)
        rc = err_set(e, ERR_FORMAT,
                     "%s:%ld: %s; at least two options are needed, as a list in %s, or a column for each "
                     "(fields.options "
                     "says which)",
                     r->path, r->line, o->n ? "there is one option" : "no option was found", f->columns);
    return rc;
}

void row_options_name(signed char at[N_ANSWER_FORMS], const struct row_options *o, struct row_text answer)
{
    struct row_text a = row_trim(answer), core = a;
    memset(at, -1, N_ANSWER_FORMS);
    if (core.n > 1 && *core.s == '(')
        core = (struct row_text){core.s + 1, core.n - 1};
    if (core.n == 2 && strchr(").:", core.s[1]))
        core.n = 1;
    if (core.n == 1) {
        int letter = *core.s >= 'a' && *core.s <= 'z' ? *core.s - 'a' : *core.s - 'A';
        if (letter >= 0 && letter < o->n)
            at[ANSWER_LETTER] = (signed char)letter;
    }
    if (a.n && a.n <= 2 && strspn(a.s, "0123456789") >= a.n) {
        int number = (int)strtol(a.s, NULL, 10);
        if (number < o->n)
            at[ANSWER_FROM_0] = (signed char)number;
        if (number >= 1 && number <= o->n)
            at[ANSWER_FROM_1] = (signed char)(number - 1);
    }
    for (int i = 0; i < o->n && at[ANSWER_TEXT] < 0; i++)
        if (o->text[i].n == a.n && !memcmp(o->text[i].s, a.s, a.n))
            at[ANSWER_TEXT] = (signed char)i;
}

uint64_t row_options_same(const struct row_options *o, const char *text, size_t n)
{
    struct str both = {0};
    uint64_t options = 0;
    for (int i = 0; i < o->n; i++)
        options += duplicates_hash(o->raw[i].s, o->raw[i].n);
    str_printf(&both, "%016llx%016llx", (unsigned long long)duplicates_hash(text, n),
               (unsigned long long)options);
    uint64_t hash = duplicates_hash(both.data, both.len);
    str_release(&both);
    return hash;
}
