/* Binding a run file to a model (contract: runplan.h). Everything that can be wrong with the input is found
 * here, before anything is decoded. */
#include "evalcore/plan/runplan_parts.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/plan/data_files.h"
#include "evalcore/store/job_key.h"

int runplan_limit(const struct runplan *p, const struct plan_cell *c, size_t q)
{
    const struct prompt_set *s = &p->sets[c->set];
    const struct settings *t = &c->settings->s;
    int limit = settings_max_new(t, s->task.problems[q].max_new_tokens);
    int total = p->loaded[c->loaded_model].info.max_context;
    if (t->max_total_tokens > 0 && t->max_total_tokens < total)
        total = t->max_total_tokens;
    int left = total - s->rows[q].n;
    return limit < left ? limit : left > 0 ? left : 0;
}

int runplan_model(const struct runplan *p, const struct job *j)
{
    return p->loaded[p->cells[j->cell].loaded_model].model;
}

static void make_jobs(struct runplan *p)
{
    struct keymap seen = {0};
    size_t cap = 0;
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *s = &p->sets[c->set];
        const struct settings *t = &c->settings->s;
        int context = p->loaded[c->loaded_model].info.max_context;
        for (size_t q = 0; q < s->task.n_problems; q++)
            for (int k = 0; k < t->samples; k++) {
                const struct problem *problem = &s->task.problems[q];
                int asked = settings_max_new(t, problem->max_new_tokens);
                struct job_inputs in = {.identity = c->identity,
                                        .prompt_sha256 = s->rows[q].sha256,
                                        .problem = problem->id,
                                        .own_max_new = problem->max_new_tokens,
                                        .own_stop = problem->stop,
                                        .sample = k,
                                        .context = problem->options ? 0
                                                                    : job_context(asked, t->max_total_tokens,
                                                                                  context, s->rows[q].n)};
                struct job j = {.cell = i, .problem = (int)q, .sample = k};
                job_key(&in, j.key);
                if (keymap_add(&seen, j.key, p->n_jobs) != p->n_jobs)
                    continue; /* another cell has the same job */
                xgrow(&p->jobs, &cap, (size_t)p->n_jobs + 1, sizeof *p->jobs);
                p->jobs[p->n_jobs++] = j;
            }
    }
    keymap_release(&seen);
}

/* An end token of a problem's own is no end token of the model, and not all servers take one in a request. */
static int check_endpoint(const struct runplan *p, struct err *e)
{
    for (int i = 0; i < p->n_sets; i++)
        for (size_t q = 0; q < p->sets[i].task.n_problems; q++)
            if (p->sets[i].rows[q].end_token >= 0)
                return err_set(e, ERR_USAGE,
                               "task %s: its completions end at a token of its own, which cannot be asked of "
                               "an endpoint; leave it out with --tasks, or decode it with a model folder",
                               p->sets[i].label);
    return 0;
}

int runplan_build(struct runplan *p, const struct runfile *f, const struct runplan_options *o, struct err *e)
{
    memset(p, 0, sizeof *p);
    p->file = f;
    p->limit = o->limit;
    int rc = data_files_check(f, o->data_dir, e);
    if (!rc)
        rc = runplan_make_cells(p, o, e);
    if (!rc && f->endpoint)
        rc = check_endpoint(p, e);
    else if (!rc && o->dry)
        rc = runplan_measure(p, e);
    if (!rc) {
        runplan_log_chat(p);
        runplan_log_unapplied(p);
        if (!f->endpoint)
            runplan_log_files(p);
    }
    if (!rc)
        rc = runplan_reserve(p, e);
    if (!rc && !o->dry)
        make_jobs(p);
    if (rc)
        runplan_release(p);
    return rc;
}

int runplan_bind(struct runplan *p, const struct model_facts *facts, struct err *e)
{
    int rc = 0;
    for (int i = 0; i < p->n_loaded; i++) {
        struct engine_info *info = &p->loaded[i].info;
        info->weights = arena_strdup(&p->arena, facts[i].weights);
        info->configuration = arena_strdup(&p->arena, facts[i].configuration);
        info->numerics = arena_strdup(&p->arena, facts[i].numerics);
        info->device = arena_strdup(&p->arena, facts[i].device);
    }
    for (int i = 0; i < p->n_cells && !rc; i++)
        rc = runplan_identify(p, &p->cells[i], e);
    if (!rc)
        make_jobs(p);
    return rc;
}

void runplan_release(struct runplan *p)
{
    for (int i = 0; i < p->n_sets; i++)
        prompts_release(&p->sets[i]);
    for (int i = 0; i < p->n_loaded; i++)
        engine_close(p->loaded[i].engine);
    for (int i = 0; i < p->n_loaded; i++)
        tokenizer_close(p->loaded[i].own);
    for (int i = 0; i < p->n_loaded; i++) {
        if (p->loaded[i].own_chat)
            chat_own_release(p->loaded[i].own_chat);
        free(p->loaded[i].own_chat);
    }
    free(p->sets);
    free(p->loaded);
    free(p->cells);
    free(p->jobs);
    arena_release(&p->arena);
    memset(p, 0, sizeof *p);
}
