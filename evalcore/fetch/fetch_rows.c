/* A data set that exists as parquet only, through the Hub's rows interface (contract: fetch_parts.h):
 * /rows?dataset=REPO&config=default&split=SPLIT&offset=N&length=100 answers {"rows": [{"row_idx", "row",
 * "truncated_cells"}], "num_rows_total"}. It serves no fixed revision and no hash of a file, so the number of
 * rows and the hash of their answers, sorted, are checked instead. Of a row its id, problem and answer are
 * written, as canonical JSON. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"
#include "evalcore/fetch/fetch_parts.h"

enum { PAGE_ROWS = 100, PAGE_BYTES_MAX = 64 << 20 };

struct rows_read {
    const struct fetch_source *s;
    const char *url;
    struct arena *a;
    const char **answers; /* n of them */
    size_t n;
    struct str *out;
};

/* A text, or the digits of an integer. */
static int text_field(const char **out, const struct rows_read *r, const json_t *row, const char *name,
                      struct err *e)
{
    const json_t *v = json_object_get(row, name);
    if (json_is_integer(v))
        *out = arena_printf(r->a, "%lld", (long long)json_integer_value(v));
    else if (json_is_string(v) && json_string_length(v) &&
             strlen(json_string_value(v)) == json_string_length(v))
        *out = json_string_value(v);
    else
        return err_set(e, ERR_FORMAT, "%s: row %zu has no text \"%s\"", r->url, r->n, name);
    return 0;
}

static int add_row(struct rows_read *r, const json_t *item, struct err *e)
{
    static const char *const names[] = {"id", "problem", "answer"};
    const json_t *row = json_object_get(item, "row"), *cut = json_object_get(item, "truncated_cells");
    const char *value[3];
    int64_t at = -1;
    int rc = json_get_int(item, "row_idx", &at, r->url, e);
    if (!rc && (at != (int64_t)r->n || json_array_size(cut)))
        rc = err_set(e, ERR_FORMAT, "%s: row %zu is missing or cut short", r->url, r->n);
    const char *id = json_object_get(row, "id") ? "id" : "problem_idx"; /* MathArena's */
    for (int i = 0; i < 3 && !rc; i++)
        rc = text_field(&value[i], r, row, i ? names[i] : id, e);
    if (rc)
        return rc;
    json_t *o = json_object();
    for (int i = 0; i < 3; i++)
        json_object_set_new(o, names[i], json_text_of(value[i]));
    json_canonical(r->out, o);
    str_putc(r->out, '\n');
    json_decref(o);
    const char *answer = value[2] + strspn(value[2], "0"); /* some copies write 33 as "033" */
    r->answers[r->n++] = arena_strdup(r->a, answer);
    return 0;
}

static int read_page(struct rows_read *r, const struct str *text, struct err *e)
{
    json_t *root = NULL;
    int64_t total = 0;
    int rc = json_read_text(&root, str_text(text), text->len, r->url, e);
    const json_t *rows = json_object_get(root, "rows");
    if (!rc)
        rc = json_get_int(root, "num_rows_total", &total, r->url, e);
    if (!rc && (total != r->s->n_rows || !json_array_size(rows)))
        rc = err_set(e, ERR_FORMAT, "%s: %s has %lld rows there, %d are expected", r->url, r->s->repo,
                     (long long)total, r->s->n_rows);
    for (size_t i = 0; i < json_array_size(rows) && !rc && r->n < (size_t)r->s->n_rows; i++)
        rc = add_row(r, json_array_get(rows, i), e);
    json_decref(root);
    return rc;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_answers(struct rows_read *r, struct err *e)
{
    struct str all = {0};
    char hex[65];
    qsort(r->answers, r->n, sizeof *r->answers, compare_entries);
    for (size_t i = 0; i < r->n; i++)
        str_printf(&all, "%s\n", r->answers[i]);
    sha256_hex(all.data, all.len, hex, 64);
    str_release(&all);
    if (!strcmp(hex, r->s->answers))
        return 0;
    return err_set(e, ERR_FORMAT,
                   "%s: the answers are not those of %s (SHA-256 %s, %s is expected); nothing was kept",
                   r->url, r->s->task, hex, r->s->answers);
}

int fetch_rows(const struct fetch_source *s, const char *data, const struct fetch_options *o,
               struct str *note, int *signal, struct err *e)
{
    struct arena a = {0};
    struct str out = {0}, file = {0};
    struct rows_read r = {.s = s, .a = &a, .out = &out};
    char hex[65];
    int rc = 0;
    if (o->is_offline)
        return err_set(e, ERR_USAGE, "%s cannot be fetched while HF_HUB_OFFLINE forbids it", s->task);
    r.answers = arena_alloc(&a, (size_t)s->n_rows * sizeof *r.answers);
    file_join(&file, data, s->file);
    while (!rc && !*signal && r.n < (size_t)s->n_rows) {
        struct str text = {0};
        /* the slash of the id is %2F in a query */
        const char *slash = strchr(s->repo, '/');
        r.url = arena_printf(&a, "%s/rows?dataset=%.*s%%2F%s&config=default&split=%s&offset=%zu&length=%d",
                             o->rows_server, (int)(slash - s->repo), s->repo, slash + 1, s->split, r.n,
                             PAGE_ROWS);
        const struct download d = {.url = r.url, .name = s->task, .text = &text, .max_bytes = PAGE_BYTES_MAX};
        rc = download(&d, o, signal, e);
        if (!rc && !*signal)
            rc = read_page(&r, &text, e);
        str_release(&text);
    }
    if (!rc && !*signal)
        rc = check_answers(&r, e);
    if (!rc && !*signal)
        rc = fetch_make_folder_of(file.data, e);
    if (!rc && !*signal)
        rc = file_write_atomic(file.data, out.data, out.len, e);
    if (!rc && !*signal) {
        sha256_hex(out.data, out.len, hex, 64);
        str_printf(note, "%zu rows of the current revision, answers as known, SHA-256 of the file %s", r.n,
                   hex);
    }
    str_release(&out);
    str_release(&file);
    arena_release(&a);
    return rc;
}
