/* Writing a report: load, compute, build the document, print it twice, write the files. What a report
 * consists of stands in the table of sections here, and in those of figures (report_figures.c) and of CSV
 * files (csv_write.c).
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
#include "evalcore/export/csv_tables.h"
#include "evalcore/report/report_figures.h"
#include "evalcore/report/data/report_frontier.h"
#include "evalcore/report/data/report_group.h"
#include "evalcore/report/data/report_merge.h"
#include "evalcore/report/data/report_papers.h"
#include "evalcore/report/report_parts.h"
#include "evalcore/report/data/report_samples.h"
#include "evalcore/report/report_transcripts.h"

/* Tasks with answers. */
static int has_tasks(const struct report *r)
{
    return r->n_columns > 0;
}

static int has_texts(const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->run->cells[i].task->is_text)
            return 1;
    return 0;
}

static int has_seconds(const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].second_name)
            return 1;
    return 0;
}

static int has_pairs(const struct report *r)
{
    return r->n_pairs > 0;
}

static int has_old(const struct report *r)
{
    return r->old != NULL;
}

static int has_steps(const struct report *r)
{
    return r->steps != NULL;
}

static int has_published(const struct report *r)
{
    return r->n_figures > 0;
}

static int has_results(const struct report *r)
{
    return has_tasks(r) && r->run->n_done > 0;
}

/* Several settings, so that one may be the best. */
static int has_settings(const struct report *r)
{
    return r->n_settings > 1 && r->run->n_done > 0;
}

/* The sections of the page, in their order: the answer, figures, tables, and folded what says the same again
 * or more than most readers want. */
static const struct section {
    const char *id, *title;                 /* title NULL: no heading */
    int (*applies)(const struct report *r); /* NULL: always */
    void (*add)(struct doc *d, const struct report *r);
    const char *fold; /* what is in it, where it is folded; NULL: it stands open */
} sections[] = {
    {"summary", NULL, NULL, report_add_summary, NULL},
    {"figures", "Figures", has_results, report_add_figures, NULL},
    {"options", "Options by their likelihood", has_seconds, report_add_options, NULL},
    {"likelihood", "Likelihood of texts", has_texts, report_add_likelihood, NULL},
    {"steps", "Where the time of a step goes", has_steps, report_add_steps, NULL},
    {"verdict", "Verdict", has_tasks, report_add_verdict, NULL},
    {"accuracy", "Accuracy", has_tasks, report_add_accuracy, NULL},
    {"samples", "Several answers to a problem", report_has_samples, report_add_samples, NULL},
    {"longbench", "LongBench by class", longbench_is_there, report_add_longbench, NULL},
    {"ruler", "RULER by length", ruler_is_there, report_add_ruler, NULL},
    {"against", "Compared with another run", has_old, report_add_against, NULL},
    {"published", "Compared with the paper", has_published, report_add_published, NULL},
    {"pairs", "Compared with the baseline", has_pairs, report_add_pairs,
     "cell by cell: who solves what, p values, and what sets of this size can show"},
    {"health", "Health", has_tasks, report_add_health,
     "what became of the jobs, lengths, and what the engine counted"},
    {"papers", "Table as papers print it", has_settings, report_add_papers,
     "accuracy by method and budget, as in tables.tex"},
    {"more-figures", "More figures", has_results, report_add_figures,
     "budgets, frontiers, lengths as bars, K and L by task, compression"},
    {"problems", "Problem by problem", has_results, report_add_figures, "who solved what"},
    {"config", "Configuration", NULL, report_add_config,
     "budget rules, options, tasks, versions, the run file"},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

/* Files beside the page that are written only when a section is there. */
static const struct {
    const char *file, *section;
} conditions[] = {
    {"likelihood.csv", "likelihood"}, {"against.csv", "against"}, {"published.csv", "published"},
    {"longbench.csv", "longbench"},   {"ruler.csv", "ruler"},     {"settings.csv", "verdict"},
    {"samples.csv", "samples"},
};

static int section_applies(const struct section *s, const struct report *r)
{
    return !s->applies || s->applies(r);
}

/* NULL: the file is always written. */
static const struct section *section_of(const struct csv_table *t)
{
    for (size_t k = 0; k < sizeof conditions / sizeof *conditions; k++)
        for (int i = 0; !strcmp(conditions[k].file, t->file) && i < SECTIONS; i++)
            if (!strcmp(sections[i].id, conditions[k].section))
                return &sections[i];
    return NULL;
}

static void build_doc(struct doc *d, const struct report *r, const struct report_options *o)
{
    for (int i = 0; i < SECTIONS; i++) {
        if (o->add_nights && !strcmp(sections[i].id, "pairs"))
            o->add_nights(d, o->nights);
        if (section_applies(&sections[i], r)) {
            doc_section(d, sections[i].id, sections[i].title);
            if (sections[i].fold)
                doc_fold(d, sections[i].fold);
            if (i == 0)
                doc_lead(d);
            if (o->note && i == 0)
                doc_paragraph(d, "%s", o->note);
            sections[i].add(d, r);
        }
    }
    report_add_data(d, r);
}

static int write_file(const char *folder, const char *name, const struct str *text, struct err *e)
{
    struct str path = {0};
    file_join(&path, folder, name);
    int rc = file_write_atomic(str_text(&path), str_text(text), text->len, e);
    str_release(&path);
    return rc;
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
                 ? err_set(e, file_error_code(errno), "cannot remove %s: %s", path.data, err_reason(errno))
                 : 0;
    str_release(&file);
    str_release(&path);
    return rc;
}

/* Has the page a section with this heading? */
static int has_heading(const char *page, const char *title)
{
    size_t k = strlen(title);
    for (const char *line = page; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strcspn(line, "\n") == k + 3 && !memcmp(line, "## ", 3) && !memcmp(line + 3, title, k))
            return 1;
    return 0;
}

/* Figures that the old page showed and the new one does not. They stand alone on their line, as
 * doc_markdown() writes them. */
static int remove_figures(const char *folder, const char *old_page, const struct doc *d, struct err *e)
{
    static const char suffix[] = ".svg)";
    int rc = 0;
    for (const char *line = old_page; *line && !rc; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t n = strcspn(line, "\n"), k = strlen(suffix);
        if (n < k + 2 || memcmp(line, "![", 2) || memcmp(line + n - k, suffix, k))
            continue;
        const char *end = line + n - 1, *name = end;
        while (name > line && name[-1] != '(' && name[-1] != '/')
            name--;
        if (name[-1] == '(' && *name != '.' && !is_figure(d, name, (size_t)(end - name)))
            rc = remove_one(folder, name, (size_t)(end - name), e);
    }
    return rc;
}

/* What the report that was there before had and the new one has not. Other files in the folder are
 * somebody's. */
static int remove_old(const char *folder, const char *old_page, const struct report *r, const struct doc *d,
                      struct err *e)
{
    int rc = remove_figures(folder, old_page, d, e);
    const struct csv_table *t;
    for (int i = 0; (t = csv_table_at(i)) != NULL && !rc; i++) {
        const struct section *s = section_of(t);
        if (s && !section_applies(s, r) && has_heading(old_page, s->title))
            rc = remove_one(folder, t->file, strlen(t->file), e);
    }
    return rc;
}

static int write_csv(const char *folder, const struct report *r, struct err *e)
{
    struct str text = {0};
    int rc = 0;
    const struct csv_table *t;
    for (int i = 0; (t = csv_table_at(i)) != NULL && !rc; i++) {
        const struct section *s = section_of(t);
        if (s && !section_applies(s, r))
            continue;
        str_clear(&text);
        csv_print(&text, t, r);
        rc = write_file(folder, t->file, &text, e);
    }
    str_clear(&text);
    csv_columns_md(&text);
    if (!rc)
        rc = write_file(folder, "columns.md", &text, e);
    str_release(&text);
    return rc;
}

/* Beside the page where its section is there; `old_page` had it before. */
static int write_tables(const char *folder, const char *old_page, const struct report *r, struct err *e)
{
    struct str text = {0};
    int rc = 0;
    if (has_settings(r)) {
        report_tables_tex(&text, r);
        rc = write_file(folder, "tables.tex", &text, e);
    } else if (has_heading(old_page, "Table as papers print it"))
        rc = remove_one(folder, "tables.tex", strlen("tables.tex"), e);
    str_release(&text);
    return rc;
}

static int write_pages(const char *folder, const struct doc *d, struct err *e)
{
    struct str text = {0};
    doc_markdown(&text, d);
    int rc = write_file(folder, "report.md", &text, e);
    if (!rc) {
        str_clear(&text);
        doc_html(&text, d);
        rc = write_file(folder, "index.html", &text, e);
    }
    str_release(&text);
    return rc;
}

static int write_all(const char *folder, const struct report *r, const struct doc *d, struct err *e)
{
    struct str old_page = {0}, path = {0};
    file_join(&path, folder, "report.md");
    if (!file_plain(path.data, NULL))
        file_read(path.data, &old_page, NULL);
    int rc = write_figures(folder, d, e);
    if (!rc)
        rc = write_csv(folder, r, e);
    if (!rc)
        rc = write_tables(folder, str_text(&old_page), r, e);
    if (!rc)
        rc = transcripts_write(folder, r, e);
    if (!rc)
        rc = write_pages(folder, d, e);
    if (!rc)
        rc = remove_old(folder, str_text(&old_page), r, d, e);
    str_release(&old_page);
    str_release(&path);
    return rc;
}

int report_write_with(const struct run *run, const struct report_options *o, const char *folder,
                      struct str *table, struct err *e)
{
    struct arena arena = {0};
    struct report now, old;
    struct steps steps;
    struct doc d;
    if (o->bench && report_steps_read(&steps, o->bench, &arena, e)) {
        arena_release(&arena);
        return e ? e->code : ERR_FORMAT;
    }
    report_compute(&now, run, &arena);
    report_published(&now);
    now.has_transcripts = o->transcripts;
    now.steps = o->bench ? &steps : NULL;
    now.frontiers = report_frontiers(&now);
    now.papers = has_settings(&now) ? report_papers(&now) : NULL;
    if (o->against) {
        report_compute(&old, o->against, &arena);
        report_against(&now, &old);
    }
    doc_init(&d, &arena,
             arena_printf(&arena, "kveval report: %s", run->model && *run->model ? run->model : "run"));
    build_doc(&d, &now, o);
    int rc = file_mkdirs(folder, e);
    if (rc == 0)
        rc = write_all(folder, &now, &d, e);
    if (rc == 0 && table)
        report_text(table, &now);
    doc_release(&d);
    arena_release(&arena);
    return rc;
}

int report_write_merged(const struct run *runs, int n, double margin, const struct report_options *o,
                        const char *folder, struct str *table, struct err *e)
{
    struct run all;
    struct report_options with = *o;
    int rc = report_merge(&all, runs, n, margin, &with.note, e);
    if (!rc) {
        rc = report_write_with(&all, &with, folder, table, e);
        run_release(&all);
    }
    return rc;
}

int report_write(const struct run *run, struct str *table, struct err *e)
{
    struct str folder = {0};
    file_join(&folder, run->dir, "report");
    int rc = file_mkdir_own(folder.data, e);
    if (!rc)
        rc = report_write_with(run, &(struct report_options){0}, str_text(&folder), table, e);
    str_release(&folder);
    return rc;
}
