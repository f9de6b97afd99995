/* One CSV file, a row for each completion with its text: what pandas or a spreadsheet reads. lengths.csv of a
 * report has the same rows without texts. */
#include <math.h>
#include <string.h>

#include "evalcore/base/csv_row.h"
#include "evalcore/export/export_parts.h"

static const char header[] =
    "cell,label,model,policy,policy_label,params,settings,task,task_label,problem,sample,key,prompt_sha256,"
    "prompt_tokens,tokens,finish,verdict,correct,score,answer,reference,reason,kv_reads,aux_reads,kv_reads_"
    "full,"
    "peak_tokens,bits_per_byte,kl,top1,error,completion\n";

static void cell_columns(struct export *x, struct csv_row *row, const struct cell *c)
{
    csv_row_text(row, c->id);
    csv_row_text(row, c->label);
    csv_row_text(row, c->model);
    csv_row_text(row, c->policy);
    csv_row_text(row, c->policy_label);
    csv_row_text(row, c->params);
    csv_row_text(row, c->settings);
    csv_row_text(row, c->task->name);
    csv_row_text(row, export_label(x, c->task));
}

static void verdict_columns(struct csv_row *row, const struct record *rec, const struct run_problem *p)
{
    csv_row_text(row, rec->likelihood ? NULL : verdict_name(rec->verdict));
    csv_row_number(row, rec->likelihood ? NAN : rec->verdict == VERDICT_CORRECT);
    csv_row_number(row, rec->likelihood ? NAN : rec->score);
    csv_row_text(row, rec->pred_form);
    csv_row_text(row, p->gold);
    csv_row_text(row, rec->reason);
}

static void likelihood_columns(struct csv_row *row, const struct record *rec)
{
    struct likelihood_figures f = {NAN, NAN, NAN};
    if (rec->likelihood)
        f = report_likelihood_figures(rec->likelihood);
    csv_row_number(row, f.bits_per_byte);
    csv_row_number(row, f.kl);
    csv_row_number(row, f.top1);
}

static int write_row(struct export *x, const struct cell *c, const struct record *rec, struct str *text,
                     struct err *e)
{
    const struct run_problem *p = &c->task->problems[rec->problem];
    struct csv_row row = {export_text(&x->files), 0};
    int rc = export_completion(x, c, rec, text, e);
    cell_columns(x, &row, c);
    csv_row_text(&row, p->id);
    csv_row_int(&row, rec->sample);
    csv_row_text(&row, rec->key);
    csv_row_text(&row, p->prompt_sha256);
    csv_row_int(&row, rec->prompt_tokens);
    csv_row_int(&row, rec->tokens);
    csv_row_text(&row, finish_name(rec->finish));
    verdict_columns(&row, rec, p);
    csv_row_number(&row, rec->kv.reads);
    csv_row_number(&row, rec->kv.aux_reads);
    csv_row_number(&row, rec->kv.reads_full);
    csv_row_number(&row, rec->kv.peak_tokens);
    likelihood_columns(&row, rec);
    csv_row_text(&row, rec->error);
    csv_row_bytes(&row, str_text(text), text->len);
    csv_row_end(&row);
    return rc ? rc : export_flush(&x->files, e);
}

static int write_csv(struct export *x, struct err *e)
{
    struct str text = {0};
    int rc = export_open(&x->files, x->o->out, e);
    if (!rc)
        str_puts(export_text(&x->files), header);
    for (int i = 0; i < x->run->n_cells && !rc; i++)
        for (int k = 0; k < x->run->cells[i].n_records && !rc; k++)
            rc = write_row(x, &x->run->cells[i], &x->run->cells[i].records[k], &text, e);
    str_release(&text);
    return rc ? rc : export_close(&x->files, e);
}

const struct export_format export_csv = {
    .name = "csv",
    .write = write_csv,
};
