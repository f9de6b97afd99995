/* Writing a report: load, compute, build the document, print it twice, write the files.
 *
 * Every file is written whole or not at all, and figures that the earlier report showed are removed only
 * after the new files are there, so that a reader never sees a page whose figures are missing. */
#include "evalcore/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/report/report_parts.h"

#define AGAINST_HEADING "## " REPORT_AGAINST_TITLE

static int write_file(const char *folder, const char *name, const struct str *text, struct err *e)
{
    struct str path = {0};
    file_join(&path, folder, name);
    int rc = file_write_atomic(str_text(&path), str_text(text), text->len, e);
    str_release(&path);
    return rc;
}

static void build(struct doc *d, const struct report *r, const struct report *old, const struct against *list,
                  int n)
{
    report_add_summary(d, r);
    report_add_accuracy(d, r);
    report_add_pairs(d, r);
    if (old)
        report_add_against(d, old, r, list, n);
    report_add_health(d, r);
    report_add_plots(d, r);
    report_add_matrix(d, r);
    report_add_config(d, r);
}

static int write_figures(const char *folder, const struct doc *d, struct err *e)
{
    for (int i = 0; i < d->n_sections; i++)
        for (int k = 0; k < d->sections[i].n_items; k++) {
            const struct doc_item *it = &d->sections[i].items[k];
            if (it->kind == DOC_FIGURE && write_file(folder, it->file, it->body, e) < 0)
                return e ? e->code : ERR_IO;
        }
    return 0;
}

static int is_figure(const struct doc *d, const char *name, size_t n)
{
    for (int i = 0; i < d->n_sections; i++)
        for (int k = 0; k < d->sections[i].n_items; k++) {
            const struct doc_item *it = &d->sections[i].items[k];
            if (it->kind == DOC_FIGURE && strlen(it->file) == n && !memcmp(it->file, name, n))
                return 1;
        }
    return 0;
}

static int remove_one(const char *folder, const char *name, size_t n, struct err *e)
{
    struct str file = {0}, path = {0};
    str_add(&file, name, n);
    file_join(&path, folder, file.data);
    int rc = unlink(path.data) && errno != ENOENT
                 ? err_set(e, ERR_IO, "cannot remove %s: %s", path.data, strerror(errno))
                 : 0;
    str_release(&file);
    str_release(&path);
    return rc;
}

/* What the report.md that was there before shows and the new one does not. Other files in the folder are
 * somebody's. Figures stand alone on their line, as doc_markdown() writes them. */
static int remove_old(const char *folder, const char *old_page, const struct doc *d, int has_against,
                      struct err *e)
{
    static const char suffix[] = ".svg)";
    int had_against = 0, rc = 0;
    for (const char *line = old_page; *line && !rc; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t n = strcspn(line, "\n"), k = strlen(suffix);
        had_against |= n == strlen(AGAINST_HEADING) && !memcmp(line, AGAINST_HEADING, n);
        if (n < k + 2 || memcmp(line, "![", 2) || memcmp(line + n - k, suffix, k))
            continue;
        const char *end = line + n - 1, *name = end;
        while (name > line && name[-1] != '(' && name[-1] != '/')
            name--;
        if (name[-1] == '(' && *name != '.' && !is_figure(d, name, (size_t)(end - name)))
            rc = remove_one(folder, name, (size_t)(end - name), e);
    }
    if (!rc && had_against && !has_against)
        rc = remove_one(folder, "against.csv", strlen("against.csv"), e);
    return rc;
}

static int write_all(const char *folder, const struct report *r, const struct report *old,
                     const struct doc *d, const struct against *list, int n, struct err *e)
{
    struct str text = {0}, old_page = {0}, path = {0};
    file_join(&path, folder, "report.md");
    if (file_exists(path.data))
        file_read(path.data, &old_page, NULL);
    int rc = write_figures(folder, d, e);
    const struct {
        const char *name;
        void (*print)(struct str *out, const struct report *r);
    } csv[] = {{"accuracy.csv", report_accuracy_csv},
               {"pairs.csv", report_pairs_csv},
               {"lengths.csv", report_lengths_csv}};
    for (size_t i = 0; rc == 0 && i < sizeof csv / sizeof *csv; i++) {
        str_clear(&text);
        csv[i].print(&text, r);
        rc = write_file(folder, csv[i].name, &text, e);
    }
    if (rc == 0 && old) {
        str_clear(&text);
        report_against_csv(&text, old, r, list, n);
        rc = write_file(folder, "against.csv", &text, e);
    }
    if (rc == 0) {
        str_clear(&text);
        doc_markdown(&text, d);
        rc = write_file(folder, "report.md", &text, e);
    }
    if (rc == 0) {
        str_clear(&text);
        doc_html(&text, d);
        rc = write_file(folder, "index.html", &text, e);
    }
    if (rc == 0)
        rc = remove_old(folder, str_text(&old_page), d, old != NULL, e);
    str_release(&text);
    str_release(&old_page);
    str_release(&path);
    return rc;
}

int report_write_run(const struct run *run, const struct run *against, const char *folder, struct str *table,
                     struct err *e)
{
    struct arena arena = {0};
    struct report now, old;
    struct against *list = NULL;
    struct doc d;
    int n = 0;
    report_compute(&now, run, &arena);
    if (against) {
        report_compute(&old, against, &arena);
        n = report_against(&list, &old, &now);
    }
    doc_init(&d, &arena,
             arena_printf(&arena, "kveval report: %s", run->model && *run->model ? run->model : "run"));
    build(&d, &now, against ? &old : NULL, list, n);
    int rc = file_mkdirs(folder, e);
    if (rc == 0)
        rc = write_all(folder, &now, against ? &old : NULL, &d, list, n, e);
    if (rc == 0 && table)
        report_text(table, &now);
    doc_release(&d);
    arena_release(&arena);
    return rc;
}

int report_write(const char *dir, const char *against, struct str *table, struct err *e)
{
    struct run run = {0}, other = {0};
    struct str folder = {0};
    int rc = run_load(&run, dir, e);
    if (rc == 0 && against)
        rc = run_load(&other, against, e);
    if (rc == 0) {
        file_join(&folder, dir, "report");
        rc = report_write_run(&run, against ? &other : NULL, str_text(&folder), table, e);
    }
    str_release(&folder);
    run_release(&other);
    run_release(&run);
    return rc;
}
