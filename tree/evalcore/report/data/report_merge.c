/* Merging runs (contract: report_merge.h). */
#include "evalcore/report/data/report_merge.h"

#include <string.h>

struct merge {
    struct run *out;
    const struct run *runs;
    const char **names; /* by run */
    int n;
    int *first;           /* by run: index of its first cell in out */
    struct str differing; /* labels of tasks that differ, with the run */
    int twice;            /* cells that are in more than one run */
};

static const char *last_part(struct arena *a, const char *dir)
{
    size_t n = strlen(dir), from;
    while (n > 1 && dir[n - 1] == '/')
        n--;
    for (from = n; from && dir[from - 1] != '/';)
        from--;
    return arena_strndup(a, dir + from, n - from);
}

static void name_runs(struct merge *m)
{
    struct arena *a = &m->out->arena;
    m->names = arena_alloc(a, (size_t)m->n * sizeof *m->names);
    for (int i = 0; i < m->n; i++) {
        int alone = 1;
        m->names[i] = last_part(a, m->runs[i].dir);
        for (int k = 0; k < m->n; k++)
            alone &= k == i || strcmp(m->names[i], last_part(a, m->runs[k].dir)) != 0;
        if (!alone)
            m->names[i] = m->runs[i].dir;
    }
}

static int same_task(const struct run_task *a, const struct run_task *b)
{
    if (strcmp(a->name, b->name) || strcmp(a->version, b->version) || strcmp(a->metric, b->metric) ||
        strcmp(a->options, b->options) || a->n_problems != b->n_problems)
        return 0;
    for (int i = 0; i < a->n_problems; i++)
        if (strcmp(a->problems[i].id, b->problems[i].id) ||
            strcmp(a->problems[i].prompt_sha256, b->problems[i].prompt_sha256))
            return 0;
    return 1;
}

/* The task in out that stands for this one of run i; a new one where none does. */
static const struct run_task *merged_task(struct merge *m, int i, const struct run_task *t)
{
    struct run *out = m->out;
    int taken = 0;
    for (int k = 0; k < out->n_tasks; k++) {
        int same_name = !strcmp(out->tasks[k].label, t->label);
        if ((same_name || out->tasks[k].problems == t->problems) && same_task(&out->tasks[k], t))
            return &out->tasks[k];
        taken |= same_name;
    }
    struct run_task *added = &out->tasks[out->n_tasks++];
    *added = *t;
    if (taken) {
        added->label = arena_printf(&out->arena, "%s (%s)", t->label, m->names[i]);
        str_printf(&m->differing, "%s%s", m->differing.len ? ", " : "", added->label);
    }
    return added;
}

static int same_setting(const struct cell *a, const struct cell *b)
{
    return a->task == b->task && !strcmp(a->model, b->model) && !strcmp(a->settings, b->settings);
}

/* Would a reader see two cells under one name? */
static int same_place(const struct cell *a, const struct cell *b)
{
    return a->task == b->task && !strcmp(a->model, b->model) && !strcmp(a->policy_label, b->policy_label) &&
           !strcmp(a->settings_label, b->settings_label);
}

static void merge_cell(struct merge *m, int i, const struct cell *c)
{
    struct run *out = m->out;
    struct cell *added = &out->cells[out->n_cells++];
    *added = *c;
    added->task = merged_task(m, i, c->task);
    added->weights = c->weights ? c->weights : m->runs[i].weights;
    added->configuration = c->configuration ? c->configuration : m->runs[i].configuration;
    if (added->baseline >= 0)
        added->baseline += m->first[i];
    struct record *list = arena_alloc(&out->arena, ((size_t)c->n_records + 1) * sizeof *list);
    for (int k = 0; k < c->n_records; k++) {
        list[k] = c->records[k];
        list[k].journal += out->n_journals;
    }
    added->records = list;
}

static void merge_run(struct merge *m, int i)
{
    const struct run *r = &m->runs[i];
    struct run *out = m->out;
    m->first[i] = out->n_cells;
    for (int c = 0; c < r->n_cells; c++)
        merge_cell(m, i, &r->cells[c]);
    for (int k = 0; k < r->n_journals; k++)
        out->journals[out->n_journals++] = r->journals[k];
    out->n_expected += r->n_expected;
    out->n_done += r->n_done;
    out->n_duplicates += r->n_duplicates;
    out->n_conflicts += r->n_conflicts;
    out->n_retried += r->n_retried;
    out->n_withdrawn += r->n_withdrawn;
    out->n_bad_lines += r->n_bad_lines;
    out->n_foreign += r->n_foreign;
}

static int run_of(const struct merge *m, int cell)
{
    int i = m->n - 1;
    while (cell < m->first[i])
        i--;
    return i;
}

/* The names are looked at before any is changed. */
static void distinguish_cells(struct merge *m)
{
    struct run *out = m->out;
    struct arena *a = &out->arena;
    char *twice = arena_alloc(a, (size_t)out->n_cells + 1),
         *same_id = arena_alloc(a, (size_t)out->n_cells + 1);
    for (int c = 0; c < out->n_cells; c++)
        for (int k = 0; k < out->n_cells; k++)
            if (run_of(m, k) != run_of(m, c)) {
                twice[c] |= (char)same_place(&out->cells[c], &out->cells[k]);
                same_id[c] |= !strcmp(out->cells[c].id, out->cells[k].id);
            }
    for (int c = 0; c < out->n_cells; c++) {
        struct cell *cell = &out->cells[c];
        const char *name = m->names[run_of(m, c)];
        m->twice += twice[c];
        if (twice[c]) {
            cell->policy_label = arena_printf(a, "%s (%s)", cell->policy_label, name);
            cell->label = arena_printf(a, "%s (%s)", cell->label, name);
        }
        if (same_id[c])
            cell->id = arena_printf(a, "%s.%s", name, cell->id);
    }
}

static void find_baselines(struct merge *m)
{
    struct run *out = m->out;
    for (int c = 0; c < out->n_cells; c++) {
        struct cell *cell = &out->cells[c];
        const struct run *own = &m->runs[run_of(m, c)];
        for (int k = 0; k < out->n_cells && cell->baseline < 0 && !cell->is_baseline; k++) {
            const struct run *other = &m->runs[run_of(m, k)];
            if (other != own && out->cells[k].is_baseline && same_setting(cell, &out->cells[k]) &&
                !strcmp(cell->weights, out->cells[k].weights) &&
                !strcmp(cell->configuration, out->cells[k].configuration) &&
                !strcmp(own->numerics, other->numerics))
                cell->baseline = k;
        }
    }
}

/* Every model that a cell has, once: a name may be a part of another. */
static const char *merged_models(struct merge *m)
{
    const struct cell *c = m->out->cells;
    const char *all = "";
    for (int i = 0; i < m->out->n_cells; i++) {
        int k = 0;
        while (strcmp(c[k].model, c[i].model) != 0)
            k++;
        if (k == i)
            all = arena_printf(&m->out->arena, "%s%s%s", all, *all ? ", " : "", c[i].model);
    }
    return all;
}

/* What all runs say of themselves: once, or each by its run's name. */
static const char *agreed_text(struct merge *m, size_t offset)
{
    struct arena *a = &m->out->arena;
    const char *all = "", *first = NULL;
    int same = 1;
    for (int i = 0; i < m->n; i++) {
        const char *s = *(const char *const *)(const void *)((const char *)&m->runs[i] + offset);
        s = s ? s : "";
        first = first ? first : s;
        same &= !strcmp(first, s);
        all = arena_printf(a, "%s%s%s in %s", all, i ? ", " : "", s, m->names[i]);
    }
    return same ? first : all;
}

/* Those of all runs; a model that several have is named by each. */
static void merge_changed_models(struct merge *m)
{
    struct run *out = m->out;
    int n = 0;
    for (int i = 0; i < m->n; i++)
        n += m->runs[i].n_changed_models;
    const char **all = arena_alloc(&out->arena, ((size_t)n + 1) * sizeof *all);
    for (int i = 0; i < m->n; i++)
        for (int k = 0; k < m->runs[i].n_changed_models; k++)
            all[out->n_changed_models++] =
                arena_printf(&out->arena, "%s: %s", m->names[i], m->runs[i].changed_models[k]);
    out->changed_models = all;
}

static void merge_config(struct merge *m)
{
    struct run *out = m->out;
    json_t *cells = json_array(), *published = json_array(), *runs = json_object();
    for (int i = 0; i < m->n; i++) {
        const json_t *config = m->runs[i].config;
        json_array_extend(cells, json_object_get(config, "cells"));
        json_array_extend(published, json_object_get(config, "published"));
        json_t *rest = json_copy((json_t *)config);
        json_object_del(rest, "cells");
        json_object_del(rest, "published");
        json_object_set_new(runs, m->names[i], rest);
    }
    out->config = json_pack("{s:o, s:o, s:o}", "runs", runs, "cells", cells, "published", published);
    out->dir = m->runs[0].dir;
    out->model = merged_models(m);
    out->weights = agreed_text(m, offsetof(struct run, weights));
    out->configuration = agreed_text(m, offsetof(struct run, configuration));
    out->numerics = agreed_text(m, offsetof(struct run, numerics));
    merge_changed_models(m);
    out->device = agreed_text(m, offsetof(struct run, device));
    out->version = agreed_text(m, offsetof(struct run, version));
    out->grader = agreed_text(m, offsetof(struct run, grader));
    out->baseline = agreed_text(m, offsetof(struct run, baseline));
}

static int agree_on_margin(struct merge *m, double margin, struct err *e)
{
    m->out->margin = margin > 0 ? margin : m->runs[0].margin;
    for (int i = 1; i < m->n && !(margin > 0); i++)
        if (m->runs[i].margin != m->runs[0].margin)
            return err_set(e, ERR_USAGE,
                           "%s has a margin of %g points and %s one of %g; say which counts with --margin",
                           m->runs[0].dir, m->runs[0].margin, m->runs[i].dir, m->runs[i].margin);
    return 0;
}

static const char *merge_sentences(struct merge *m)
{
    struct arena *a = &m->out->arena;
    struct str s = {0};
    int same_grader = m->out->grader == m->runs[0].grader; /* agreed() returns the first */
    str_printf(&s, "Merged from %d runs: ", m->n);
    for (int i = 0; i < m->n; i++)
        str_printf(&s, "%s%s", i ? ", " : "", m->names[i]);
    str_printf(&s, ". %s by the same grader. ", same_grader ? "All are graded" : "Not all are graded");
    if (!same_grader)
        str_printf(&s, "Differences between runs may be the graders' (%s). ", m->out->grader);
    if (m->differing.len)
        str_printf(&s, "Problems differ under the same name, so these stand apart: %s.",
                   str_text(&m->differing));
    else
        str_puts(&s, "Tasks of the same name have the same problems.");
    if (m->twice)
        str_printf(&s, " %d cells are in more than one run; each carries its run's name.", m->twice);
    const char *kept = arena_strdup(a, str_text(&s));
    str_release(&s);
    str_release(&m->differing);
    return kept;
}

int report_merge(struct run *out, const struct run *runs, int n, double margin, const char **said,
                 struct err *e)
{
    struct merge m = {.out = out, .runs = runs, .n = n};
    size_t cells = 0, tasks = 0, journals = 0;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n; i++) {
        cells += (size_t)runs[i].n_cells;
        tasks += (size_t)runs[i].n_tasks;
        journals += (size_t)runs[i].n_journals;
    }
    out->cells = arena_alloc(&out->arena, (cells + 1) * sizeof *out->cells);
    out->tasks = arena_alloc(&out->arena, (tasks + 1) * sizeof *out->tasks);
    out->journals = arena_alloc(&out->arena, (journals + 1) * sizeof *out->journals);
    m.first = arena_alloc(&out->arena, (size_t)n * sizeof *m.first);
    name_runs(&m);
    int rc = agree_on_margin(&m, margin, e);
    if (rc) {
        run_release(out);
        return rc;
    }
    for (int i = 0; i < n; i++)
        merge_run(&m, i);
    find_baselines(&m);
    distinguish_cells(&m);
    for (int c = 0; c < out->n_cells; c++)
        if (out->cells[c].baseline >= 0)
            out->cells[out->cells[c].baseline].is_baseline = 1;
    merge_config(&m);
    *said = merge_sentences(&m);
    return 0;
}
