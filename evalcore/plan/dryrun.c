/* sweep --dry-run (contract: dryrun.h): the table of cells and the model. How long completions will be is not
 * known before; where the expectation comes from is printed beside it. */
#include "evalcore/plan/dryrun.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/plan/dryrun_parts.h"

int dryrun_calibration(const char *name, struct err *e)
{
    static const char *const words[] = {"auto", "yes", "no"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(name ? name : "auto", words[i]))
            return i;
    return err_set(e, ERR_USAGE, "--calibrate takes auto, yes or no, not \"%.40s\"", name);
}

double dryrun_tokens(const struct dryrun *d, int cell, size_t q)
{
    const struct plan_cell *c = &d->plan->cells[cell];
    const struct settings *t = &c->settings->s;
    int limit = runplan_limit(d->plan, c, q);
    if (settings_only_limit(t))
        return limit;
    return d->length[cell] < limit ? d->length[cell] : limit;
}

/* Completions of the same task, and of several models of the same one, in the folder, those of the same
 * policy if there are any. Returns their number, 0 where the task's prior is all there is. */
static int find_length(const struct dryrun *d, const struct plan_cell *c, double *length, int *same_policy)
{
    const struct run *done = d->options->done;
    for (*same_policy = 1; *same_policy >= 0; --*same_policy) {
        double sum = 0;
        int n = 0;
        for (int i = 0; done && i < done->n_cells; i++) {
            const struct cell *k = &done->cells[i];
            if (strcmp(k->task->label, c->task->label) != 0 ||
                (d->plan->file->n_models > 1 && strcmp(k->model, c->model->shown) != 0) ||
                (*same_policy && strcmp(k->policy_label, c->policy->label) != 0))
                continue;
            for (int r = 0; r < k->n_records; r++)
                sum += k->records[r].tokens;
            n += k->n_records;
        }
        if (n) {
            *length = sum / n;
            return n;
        }
    }
    *same_policy = 0;
    *length = c->task->ops->expected_tokens;
    return 0;
}

static void print_table(struct dryrun *d)
{
    const struct runplan *p = d->plan;
    double tokens = 0;
    long jobs = 0;
    int n_prior = 0;
    printf("%-40s %-24s %9s %8s %12s  %s\n", "cell", "task", "problems", "jobs", "tokens", "length from");
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *s = &p->sets[c->set];
        long n = (long)s->task.n_problems * c->settings->s.samples;
        double t = 0;
        int same_policy, known = find_length(d, c, &d->length[i], &same_policy);
        for (size_t q = 0; q < s->task.n_problems; q++)
            t += dryrun_tokens(d, i, q) * c->settings->s.samples;
        if (p->file->n_models > 1 && (!i || c->model != p->cells[i - 1].model))
            printf("model %s\n", c->model->label);
        printf("%-40s %-24s %9zu %8ld %12.0f  ", c->label, c->task->label, s->task.n_problems, n, t);
        if (known)
            printf("%d completions%s\n", known, same_policy ? "" : ", other policies");
        else
            printf("the task's usual %.0f\n", d->length[i]);
        n_prior += !known;
        jobs += n;
        tokens += t;
    }
    printf("%-40s %-24s %9s %8ld %12.0f\n", "total", "", "", jobs, tokens);
    if (n_prior)
        printf("A task's usual length is that of reasoning models, at most the limit: an order of magnitude. "
               "Once there are\ncompletions, a dry run with their folder as -o goes by these.\n");
}

static void say_model(const struct runplan *p, const struct engine_info *info, int model)
{
    int is_named = p->file->n_models > 1 && strcmp(p->file->models[model].label, info->model);
    printf(
        "\nmodel%s%s: %s (%s), %d layers, %d query and %d KV heads of %d, context %d; weights: headers and "
        "shapes are right\n",
        is_named ? " " : "", is_named ? p->file->models[model].label : "", info->model, info->family,
        info->n_layers, info->n_q, info->n_kv, info->head_dim, info->max_position);
}

void dryrun_print(const struct runplan *p, const struct dryrun_options *o)
{
    struct dryrun d = {.plan = p, .options = o};
    int loaded = 0;
    d.length = xcalloc((size_t)p->n_cells + 1, sizeof *d.length);
    print_table(&d);
    if (p->file->endpoint) {
        printf(
            "\nmodel: %s at %s, context %d; prompts are those of %s\nThe server was not asked: whether it is "
            "there, what memory it has and what time it takes are not known.\n",
            p->file->models[0].path, p->file->endpoint->url, p->loaded[0].info.max_context,
            p->file->endpoint->tokenizer);
        free(d.length);
        return;
    }
    for (d.model = 0; d.model < p->file->n_models; d.model++) {
        while (p->loaded[loaded].model != d.model)
            loaded++;
        say_model(p, &p->loaded[loaded].info, d.model);
        dryrun_memory(&d);
        dryrun_time(&d);
    }
    if (p->file->n_models > 1)
        printf("\nA device holds one of the %d models at a time, and the times add up.\n", p->file->n_models);
    free(d.length);
}
