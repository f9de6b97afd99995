/* What calibrate and probe work on: a run file's model, and the development problems with their completions
 * under full attention (contract: calibration.h). */
#include "evalcore/calibration/calibration.h"

#include <stdlib.h>
#include <string.h>

/* One completion: copies it behind the prompt. */
static int decode_one(struct dev_problem *to, struct engine *en, struct policy *full, const int32_t *prompt,
                      int n_prompt, int max_new, int32_t end_token, struct err *e)
{
    const struct completion *done = NULL;
    struct request r = {.prompt = prompt,
                        .n_prompt = n_prompt,
                        .policy = full,
                        .max_new_tokens = max_new,
                        .end_token = end_token};
    if (engine_run_one(en, &r, &done, e))
        return e->code;
    to->n_prompt = n_prompt;
    to->n = n_prompt + done->n_ids;
    to->ids = xmalloc((size_t)to->n * sizeof *to->ids);
    memcpy(to->ids, prompt, (size_t)n_prompt * sizeof *prompt);
    memcpy(to->ids + n_prompt, done->ids, (size_t)done->n_ids * sizeof *done->ids);
    return 0;
}

static int decode_set(struct dev_set *d, struct engine *en, struct policy *full, const struct prompt_set *s,
                      int max_new, struct err *e)
{
    for (size_t q = 0; q < s->task.n_problems; q++) {
        const struct problem *p = &s->task.problems[q];
        const struct prompt_row *row = &s->rows[q];
        struct dev_problem *to = &d->problems[d->n];
        int limit = p->max_new_tokens && p->max_new_tokens < max_new ? p->max_new_tokens : max_new;
        to->task = s->label;
        memcpy(to->hash, p->hash, sizeof to->hash);
        int rc = decode_one(to, en, full, s->ids.id + row->first, row->n, limit, s->end_token, e);
        if (rc)
            return err_add(e, "%s, problem %s", s->label, p->id), rc;
        d->n++;
        d->tokens += to->n - to->n_prompt;
    }
    return 0;
}

int dev_set_decode(struct dev_set *d, const struct runplan *p, int max_new, struct err *e)
{
    struct engine *en = p->loaded[0].engine;
    struct policy *full;
    struct policy_spec spec;
    struct arena a = {0};
    size_t n = 0;
    memset(d, 0, sizeof *d);
    for (int i = 0; i < p->n_sets; i++)
        n += p->sets[i].task.n_problems;
    d->problems = xcalloc(n + 1, sizeof *d->problems);
    int rc = policy_spec_text(&spec, "full", &a, e);
    if (!rc)
        rc = engine_policy(en, &spec, &full, e);
    for (int i = 0; i < p->n_sets && !rc; i++) {
        if (task_is_text(p->sets[i].task.ops->metric))
            rc = err_set(e, ERR_USAGE, "task %s scores a text; calibration needs tasks with problems",
                         p->sets[i].label);
        else if (p->sets[i].task.ops->option_metrics)
            rc = err_set(e, ERR_USAGE,
                         "task %s scores options and generates nothing; calibration needs tasks with answers",
                         p->sets[i].label);
        else
            rc = decode_set(d, en, full, &p->sets[i], max_new, e);
    }
    if (!rc && !d->n)
        rc = err_set(e, ERR_USAGE, "the run file has no problems to calibrate on");
    arena_release(&a);
    return rc;
}

void dev_set_release(struct dev_set *d)
{
    for (int i = 0; i < d->n; i++)
        free(d->problems[i].ids);
    free(d->problems);
    memset(d, 0, sizeof *d);
}

/* ---- The run file. */

int calibration_run_open(struct calibration_run *r, const struct process_env *p, const char *path,
                         const struct calibration_options *o, struct err *e)
{
    struct runfile_options fo = {.model = o->model, .tasks = o->tasks, .set = &o->set};
    struct device_list device;
    int rc = device_list_parse(&device, o->device, 1, e);
    if (!rc)
        rc = runfile_load(&r->file, path, &fo, e);
    if (!rc)
        rc = runfile_find_models(&r->file, p, e);
    struct runplan_options po = {.data_dir = o->data,
                                 .limit = o->limit,
                                 .backend = device.backend,
                                 .ordinal = device.ordinal[0],
                                 .threads = o->threads,
                                 .max_batch = 2, /* a policy, and full attention beside it */
                                 .cache_dir = p->cache_dir};
    if (!rc)
        rc = runplan_build(&r->plan, &r->file, &po, e);
    return rc ? rc : dev_set_decode(&r->dev, &r->plan, o->max_new, e);
}

void calibration_run_close(struct calibration_run *r)
{
    dev_set_release(&r->dev);
    runplan_release(&r->plan);
    runfile_release(&r->file);
}
