/* The development problems and their completions under full attention (contract: calibration.h). */
#include <stdlib.h>
#include <string.h>

#include "evalcore/calibration/calibration.h"

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
