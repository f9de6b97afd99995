/* samples.csv: what several answers to a problem say about each cell. */
#include "evalcore/export/csv_write.h"
#include "evalcore/report/data/report_samples.h"

static const struct csv_column columns[] = {
    CSV_CELL_COLUMNS,
    CSV_MODEL_COLUMN,
    CSV_POLICY_COLUMN,
    CSV_TASK_COLUMN,
    {"samples", CSV_INT, "", "answers to each problem"},
    {"problems", CSV_INT, "problems", "that have all their answers; the others are left out"},
    {"measure", CSV_TEXT, "",
     "avg (mean of all answers), pass (one of k is right, over all choices of k answers) or maj (the "
     "commonest "
     "of k is right; a tie of t counts 1/t)"},
    {"k", CSV_INT, "", "answers that the measure is about"},
    {"value", CSV_FLOAT, "fraction", "mean over problems"},
    {"standard_error", CSV_FLOAT, "fraction", "of value, across problems; empty with one problem"},
    CSV_SETTINGS_COLUMN,
    {0}};

static void write_sample_row(struct csv *c, const struct cell *cell, const struct sample_stats *s,
                             const struct sample_value *v)
{
    csv_cell(c, cell);
    csv_text(c, "model", cell->model);
    csv_text(c, "policy", cell->policy);
    csv_text(c, "task", cell->task->name);
    csv_int(c, "samples", s->n);
    csv_int(c, "problems", s->n_problems);
    csv_text(c, "measure", sample_kind_name(v->kind));
    csv_int(c, "k", v->k);
    csv_float(c, "value", v->over.mean);
    csv_float(c, "standard_error", v->over.se);
    csv_text(c, "settings", cell->settings);
    csv_end(c);
}

static void write_samples(struct csv *c, const struct report *r)
{
    for (int i = 0; i < r->run->n_cells; i++) {
        struct sample_stats s;
        report_samples(&s, &r->cells[i]);
        for (int k = 0; k < s.n_values; k++)
            write_sample_row(c, r->cells[i].cell, &s, &s.value[k]);
    }
}

const struct csv_table csv_samples = {
    "samples.csv", "A row per cell with several answers to a problem, and measure.", columns, write_samples};
