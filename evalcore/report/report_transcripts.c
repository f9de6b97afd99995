/* Writing transcripts (contract: report_transcripts.h). */
#include "evalcore/report/report_transcripts.h"

#include <math.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/page/doc.h"
#include "evalcore/report/report_parts.h"

/* The number makes it unique; the slug is for readers. */
const char *transcript_folder(struct arena *a, const struct run *r, int cell)
{
    return arena_printf(a, "%03d-%s", cell, report_slug(a, r->cells[cell].id));
}

const char *transcript_file(struct arena *a, const struct run_task *t, int problem)
{
    return arena_printf(a, "%04d-%s.html", problem, report_slug(a, t->problems[problem].id));
}

static void put_references(struct str *out, const struct run_problem *p)
{
    struct str all = {0};
    for (int i = 0; i < p->n_golds; i++)
        str_printf(&all, "%s\n", p->golds[i]);
    if (!p->n_golds)
        str_puts(&all, p->gold);
    html_text_part(out, p->n_golds > 1 ? "Reference answers" : "Reference answer", NULL, str_text(&all),
                   all.len);
    str_release(&all);
}

static int put_completion(struct str *out, const struct run *run, const struct record *rec, struct arena *a,
                          struct err *e)
{
    struct str text = {0};
    int failed = rec->finish == FINISHED_ERROR;
    int rc = failed ? 0 : run_text(run, rec, &text, e);
    const char *note =
        failed
            ? arena_printf(a, "The job failed: %s", rec->error)
            : arena_printf(a, "%s: %s. Answer read: %s. %d tokens, finish %s%s.", verdict_name(rec->verdict),
                           rec->reason, *rec->pred_form ? rec->pred_form : "none", rec->tokens,
                           finish_name(rec->finish),
                           isnan(rec->kv.reads) ? ""
                                                : arena_printf(a, "; it read %.0f of %.0f KV tokens",
                                                               rec->kv.reads, rec->kv.reads_full));
    if (!rc)
        html_text_part(out, arena_printf(a, "Sample %d: %s", rec->sample, verdict_name(rec->verdict)), note,
                       str_text(&text), text.len);
    str_release(&text);
    return rc;
}

/* The task's text by itself, because it is what is read; what stood around it before and behind. */
static void put_prompt(struct str *out, const struct run_problem *p)
{
    if (!p->before || !p->after) {
        html_text_part(out, p->is_rendered ? "Prompt, as rendered" : "Prompt",
                       "What chat form, prefix and suffix added is not kept in this run folder.", p->prompt,
                       p->prompt_len);
        return;
    }
    if (p->before_len)
        html_text_part(out, "Prompt: added before the problem", NULL, p->before, p->before_len);
    html_text_part(out, p->asked ? "Prompt: what was asked of the problem" : "Prompt: the problem", NULL,
                   p->asked ? p->asked : p->prompt, p->asked ? p->asked_len : p->prompt_len);
    if (p->after_len)
        html_text_part(out, "Prompt: added behind the problem", NULL, p->after, p->after_len);
}

/* Records first .. first + n - 1 are the samples of one problem. */
static int write_problem(const char *folder, const struct report *r, int cell, int first, int n,
                         struct err *e)
{
    struct arena a = {0};
    struct str out = {0}, path = {0};
    const struct cell *c = &r->run->cells[cell];
    int problem = c->records[first].problem, rc = 0;
    const struct run_problem *p = &c->task->problems[problem];
    html_text_begin(&out, arena_printf(&a, "%s: %s", c->label, p->id), "../../index.html");
    put_prompt(&out, p);
    put_references(&out, p);
    for (int i = 0; i < n && !rc; i++)
        rc = put_completion(&out, r->run, &c->records[first + i], &a, e);
    html_text_end(&out);
    file_join(&path, folder, transcript_file(&a, c->task, problem));
    if (!rc)
        rc = file_write_atomic(path.data, out.data, out.len, e);
    str_release(&path);
    str_release(&out);
    arena_release(&a);
    return rc;
}

static int write_cell(const char *folder, const struct report *r, int cell, struct err *e)
{
    struct arena a = {0};
    struct str dir = {0};
    const struct cell *c = &r->run->cells[cell];
    file_join(&dir, folder, transcript_folder(&a, r->run, cell));
    int rc = file_mkdir_own(dir.data, e);
    for (int i = 0, n; i < c->n_records && !rc; i += n) {
        for (n = 1; i + n < c->n_records && c->records[i + n].problem == c->records[i].problem; n++)
            ;
        rc = write_problem(dir.data, r, cell, i, n, e);
    }
    str_release(&dir);
    arena_release(&a);
    return rc;
}

int transcripts_write(const char *folder, const struct report *r, struct err *e)
{
    struct str dir = {0};
    int rc = 0;
    file_join(&dir, folder, TRANSCRIPTS);
    if (file_exists(dir.data)) /* of an earlier report */
        rc = file_remove_tree(dir.data, e);
    if (!rc && r->has_transcripts)
        rc = file_mkdir_own(dir.data, e);
    for (int t = 0; t < r->run->n_tasks && r->has_transcripts; t++)
        if (run_task_is_restricted(&r->run->tasks[t]))
            log_info(
                "no transcripts of %s: its authors ask that no example be published; kveval show prints them",
                r->run->tasks[t].label);
    for (int i = 0; i < r->run->n_cells && !rc && r->has_transcripts; i++)
        if (!r->run->cells[i].task->is_text && !run_task_is_restricted(r->run->cells[i].task))
            rc = write_cell(dir.data, r, i, e);
    str_release(&dir);
    return rc;
}
