/* A split that exists as parquet only, through the Hub's rows interface (contract: fetch_parts.h):
 * /rows?dataset=REPO&config=CONFIG&split=SPLIT&offset=N&length=100 answers {"rows": [{"row_idx", "row",
 * "truncated_cells"}], "num_rows_total"}. It serves no fixed revision and no hash of a file, so the number of
 * rows and the hash of their answers, sorted, are checked instead, where the task's file has them. Rows are
 * written whole, as canonical JSON. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"
#include "evalcore/base/json.h"
#include "evalcore/fetch/fetch_parts.h"

enum { PAGE_ROWS = 100, PAGE_BYTES_MAX = 64 << 20, ROWS_MAX = 1 << 20 };

struct rows_read {
    const struct task_source *s;
    const char *url;
    struct arena *a;
    const char **answers; /* n of them where their hash is known, else NULL */
    size_t n, total;      /* total: what the server says there are; 0: it was not asked yet */
    struct str *out;
};

/* An answer: a text, or the digits of an integer, without the zeros that some copies have (033). */
static int add_answer(struct rows_read *r, const json_t *row, struct err *e)
{
    const json_t *v = json_object_get(row, "answer");
    const char *text = json_string_value(v);
    if (json_is_integer(v))
        text = arena_printf(r->a, "%lld", (long long)json_integer_value(v));
    else if (!text || !*text || strlen(text) != json_string_length(v))
        return err_set(e, ERR_FORMAT, "%s: row %zu has no text \"answer\"", r->url, r->n);
    r->answers[r->n] = arena_strdup(r->a, text + strspn(text, "0"));
    return 0;
}

static int add_row(struct rows_read *r, const json_t *item, struct err *e)
{
    const json_t *row = json_object_get(item, "row"), *cut = json_object_get(item, "truncated_cells");
    int64_t at = -1;
    int rc = json_get_int(item, "row_idx", &at, r->url, e);
    if (!rc && (at != (int64_t)r->n || json_array_size(cut) || !json_object_size(row)))
        rc = err_set(e, ERR_FORMAT, "%s: row %zu is missing or cut short", r->url, r->n);
    if (!rc && r->answers)
        rc = add_answer(r, row, e);
    if (rc)
        return rc;
    json_canonical(r->out, row);
    str_putc(r->out, '\n');
    r->n++;
    return 0;
}

static int read_page(struct rows_read *r, const struct str *text, struct err *e)
{
    json_t *root = NULL;
    int64_t total = 0;
    int rc = json_read_text(&root, str_text(text), text->len, r->url, e);
    const json_t *rows = json_object_get(root, "rows");
    size_t want = r->total ? r->total : (size_t)r->s->n_rows;
    if (!rc)
        rc = json_get_int(root, "num_rows_total", &total, r->url, e);
    if (!rc && (total < 1 || total > ROWS_MAX || (want && (size_t)total != want)))
        rc = err_set(e, ERR_FORMAT, "%s: %s has %lld rows there, %zu are expected", r->url, r->s->hub,
                     (long long)total, want);
    if (!rc && !json_array_size(rows))
        rc = err_set(e, ERR_FORMAT, "%s: row %zu is missing or cut short", r->url, r->n);
    r->total = rc ? 0 : (size_t)total;
    for (size_t i = 0; i < json_array_size(rows) && !rc && r->n < r->total; i++)
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
                   r->url, r->s->file, hex, r->s->answers);
}

/* Adds the next page of at most 100 rows. */
static int get_page(struct rows_read *r, const struct fetch_options *o, int *signal, struct err *e)
{
    const struct task_source *s = r->s;
    struct str text = {0};
    /* the slash of the id is %2F in a query */
    const char *slash = strchr(s->hub, '/');
    r->url = arena_printf(r->a, "%s/rows?dataset=%.*s%%2F%s&config=%s&split=%s&offset=%zu&length=%d",
                          o->rows_server, (int)(slash - s->hub), s->hub, slash + 1, s->config, s->split, r->n,
                          PAGE_ROWS);
    const struct download d = {.url = r->url, .name = s->file, .text = &text, .max_bytes = PAGE_BYTES_MAX};
    int rc = download(&d, o, signal, e);
    if (!rc && !*signal)
        rc = read_page(r, &text, e);
    if (o->show && !rc && !*signal)
        o->show(o->show_context, s->file, (int64_t)r->out->len, 0);
    str_release(&text);
    return rc;
}

int fetch_rows(const struct task_source *s, const char *data, const struct fetch_options *o, struct str *note,
               int *signal, struct err *e)
{
    struct arena a = {0};
    struct str out = {0}, file = {0};
    struct rows_read r = {.s = s, .a = &a, .out = &out};
    char hex[65];
    int rc = 0;
    if (o->is_offline)
        return err_set(e, ERR_USAGE, "%s cannot be fetched while HF_HUB_OFFLINE forbids it", s->file);
    if (s->answers)
        r.answers = arena_alloc(&a, (size_t)s->n_rows * sizeof *r.answers);
    file_join(&file, data, s->file);
    while (!rc && !*signal && (!r.total || r.n < r.total))
        rc = get_page(&r, o, signal, e);
    if (!rc && !*signal && r.answers)
        rc = check_answers(&r, e);
    if (!rc && !*signal)
        rc = fetch_make_folder_of(file.data, e);
    if (!rc && !*signal)
        rc = file_write_atomic(file.data, out.data, out.len, e);
    if (!rc && !*signal) {
        sha256_hex(out.data, out.len, hex, 64);
        str_printf(note, "%zu rows of the current revision, %s, SHA-256 of the file %s", r.n,
                   s->answers  ? "answers as known"
                   : s->n_rows ? "as many as are known, answers not checked"
                               : "neither their number nor their answers are known",
                   hex);
    }
    str_release(&out);
    str_release(&file);
    arena_release(&a);
    return rc;
}
