/* sweep --dry-run (contract: dryrun.h): the table of cells, the model and memory; what can be earned and the
 * time are in dryrun_marks.c and dryrun_time.c. How long completions will be is not known before; where the
 * expectation comes from is printed beside it. */
#include "evalcore/plan/dryrun.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/plan/dryrun_parts.h"
#include "evalcore/plan/runplan_parts.h"

int dryrun_calibration(const char *name, struct err *e)
{
    static const char *const words[] = {"auto", "yes", "no"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(name ? name : "auto", words[i]))
            return i;
    return err_set(e, ERR_USAGE, "--calibrate takes auto, yes or no, not \"%.40s\"", name);
}

/* ---- cells ---- */

/* Completions of the same task, and of several models of the same one, in the folder: those of the same
 * policy, else those of the policy that it is compared with. Returns their number, 0 where the task's prior
 * is all there is. */
static int find_length(const struct dryrun *d, const struct plan_cell *c, double *length, int *same_policy)
{
    const struct run *done = d->options->done;
    const struct plan_cell *base = c->baseline < 0 ? c : &d->plan->cells[c->baseline];
    for (*same_policy = 1; *same_policy >= 0; --*same_policy) {
        double sum = 0;
        int n = 0;
        for (int i = 0; done && i < done->n_cells; i++) {
            const struct cell *k = &done->cells[i];
            if (strcmp(k->task->label, c->task->label) != 0 ||
                (d->plan->file->n_models > 1 && strcmp(k->model, c->model->shown) != 0) ||
                strcmp(k->policy_label, (*same_policy ? c : base)->policy->label) != 0)
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
    *length = task_usual_tokens(c->task->ops, &c->task->options);
    return 0;
}

/* What the problems are of published sets, once for each task. */
static void print_sets(const struct runplan *p)
{
    for (int i = 0; i < p->n_sets; i++) {
        const struct prompt_set *s = &p->sets[i];
        int told = !*s->known;
        for (int k = 0; k < i && !told; k++)
            told = !strcmp(p->sets[k].label, s->label) && !strcmp(p->sets[k].known, s->known);
        if (!told)
            printf("%s: %s\n", s->label, s->known);
    }
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
            t += dryrun_expected(d, i, q) * c->settings->s.samples;
        if (p->file->n_models > 1 && (!i || c->model != p->cells[i - 1].model))
            printf("model %s\n", c->model->label);
        printf("%-40s %-24s %9zu %8ld %12.0f  ", c->label, c->task->label, s->task.n_problems, n, t);
        if (known)
            printf("%d completions%s\n", known, same_policy ? "" : " of the baseline");
        else
            printf("the task's usual %.0f\n", d->length[i]);
        n_prior += !known;
        jobs += n;
        tokens += t;
    }
    printf("%-40s %-24s %9s %8ld %12.0f\n", "total", "", "", jobs, tokens);
    print_sets(p);
    if (n_prior)
        printf("A task's usual length is that of reasoning models, at most the limit: an order of magnitude. "
               "Once there are\ncompletions, a dry run with their folder as -o goes by these.\n");
}

/* ---- memory: weights and buffers as the engine will allocate them, and K and V of as many sequences as can
 * be decoded together, each as long as this run's limits let it become ---- */

static int by_size_down(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a < b) - (a > b);
}

/* Tokens that a KV head holds of a sequence at its limit, never fewer than the prompt's, in whole pages, and
 * what layers with windows hold of a chunk of the prompt. */
static double tokens_held(const struct plan_cell *c, double prompt, double limit,
                          const struct engine_info *info)
{
    struct budget_at at = {.context = prompt + limit,
                           .prompt = prompt,
                           .longest = limit,
                           .n_layers = info->n_layers,
                           .window = engine_windows(info)};
    double n = fmax(policy_held_at(&c->spec, &at), engine_full_tokens(info, prompt));
    return ceil(n / KV_PAGE_TOKENS) * KV_PAGE_TOKENS + engine_chunk_tokens(info, prompt + limit);
}

struct need {
    double longest;  /* tokens of the longest sequence at its limit */
    double one, all; /* held tokens: of the sequence that holds most, of the max_batch that do */
    long jobs;
};

static struct need model_need(const struct runplan *p, int loaded)
{
    struct need need = {0};
    double *tokens = NULL;
    size_t cap = 0, n = 0, rows = (size_t)p->loaded[loaded].info.max_batch;
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *s = &p->sets[c->set];
        for (size_t q = 0; q < s->task.n_problems && c->loaded_model == loaded; q++) {
            double limit = runplan_limit(p, c, q), prompt = s->rows[q].n;
            need.longest = prompt + limit > need.longest ? prompt + limit : need.longest;
            need.jobs += c->settings->s.samples;
            size_t copies = (size_t)c->settings->s.samples < rows ? (size_t)c->settings->s.samples : rows;
            for (size_t k = 0; k < copies; k++) {
                xgrow(&tokens, &cap, n + 1, sizeof *tokens);
                tokens[n++] = tokens_held(c, prompt, limit, &p->loaded[loaded].info);
            }
        }
    }
    if (n)
        qsort(tokens, n, sizeof *tokens, by_size_down);
    need.one = n ? tokens[0] : 0;
    for (size_t i = 0; i < n && i < rows; i++)
        need.all += tokens[i];
    free(tokens);
    return need;
}

/* How much K and V get, and what that means; bytes: what all that could be decoded together need. */
static void say_pool(const struct loaded_model *loaded, double bytes, double one, double left)
{
    struct str text = {0};
    double pool = loaded->memory.pool ? (double)loaded->memory.pool : left;
    if (pool > bytes)
        pool = bytes;
    str_bytes(&text, pool);
    if (pool < one)
        printf(
            "This is too little: one sequence at its limit does not fit the %s that are left for K and V.\n",
            text.data);
    else if (pool < bytes)
        printf("K and V get %s: about %.0f sequences at their limits, of %d places; the others wait.\n",
               text.data, pool / one, loaded->info.max_batch);
    else
        printf("K and V of all of them fit.\n");
    str_release(&text);
}

static void say_device(const struct loaded_model *loaded, double bytes, double one)
{
    const struct engine_options *o = &loaded->options;
    const struct engine_memory *m = &loaded->memory;
    struct engine_device dev;
    struct err why = {0};
    struct str free_text = {0}, total = {0};
    if (engine_device_memory(o->backend, o->ordinal, &dev, &why)) {
        printf("device: %s\n", why.text);
        return;
    }
    str_bytes(&free_text, (double)dev.free_bytes);
    str_bytes(&total, (double)dev.total_bytes);
    printf("device: %s, %s of %s free\n", dev.name, free_text.data, total.data);
    double left = (double)dev.free_bytes - (double)m->weights - (double)m->scratch - (double)m->spare;
    if (left < 0)
        printf("This is too little for weights and buffers; use a smaller --max-batch, or another device.\n");
    else
        say_pool(loaded, bytes, one, left);
    str_release(&free_text);
    str_release(&total);
}

static void print_line(const char *name, double bytes, const char *what)
{
    struct str text = {0};
    str_bytes(&text, bytes);
    printf("  %-10s %10s  %s\n", name, text.data, what);
    str_release(&text);
}

static void print_model(const struct loaded_model *loaded, const struct need *need)
{
    const struct engine_info *info = &loaded->info;
    const struct engine_memory *m = &loaded->memory;
    double per_token = (double)(info->kv_token_bytes + m->bounds_token_bytes);
    long together = need->jobs < info->max_batch ? need->jobs : info->max_batch;
    struct str kv = {0};
    printf("\nmemory of a device, %ld sequences together:\n", together);
    print_line("weights", (double)m->weights, "");
    str_puts(&kv, "activations, tables and the policies' states, for the model's full context");
    if (!m->is_known)
        str_puts(&kv, ", as on the CPU, since this program lacks the backend");
    print_line("buffers", (double)m->scratch, kv.data);
    str_clear(&kv);
    str_bytes(&kv, per_token);
    str_printf(&kv, " a token; the longest sequence can have %.0f tokens and holds up to %.0f", need->longest,
               need->one);
    print_line("K and V", per_token * need->all, kv.data);
    if (m->spare)
        print_line("spare", (double)m->spare, "left free for what is allocated later");
    print_line("together", (double)m->weights + (double)m->scratch + (double)m->spare + per_token * need->all,
               "");
    say_device(loaded, per_token * need->all, per_token * need->one);
    str_release(&kv);
}

static void print_memory(struct dryrun *d)
{
    int n = 0;
    for (int i = 0; i < d->plan->n_loaded; i++) {
        const struct loaded_model *loaded = &d->plan->loaded[i];
        if (loaded->model != d->model)
            continue;
        struct need need = model_need(d->plan, i);
        print_model(loaded, &need);
        if (!n++)
            d->rows = need.jobs < loaded->info.max_batch ? (double)need.jobs : loaded->info.max_batch;
    }
    if (n > 1)
        printf("Both types of K and V are in memory at the same time.\n");
}

/* ---- all of it ---- */

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
    dryrun_marks(p);
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
        print_memory(&d);
        dryrun_time(&d);
    }
    if (p->file->n_models > 1)
        printf("\nA device holds one of the %d models at a time, and the times add up.\n", p->file->n_models);
    free(d.length);
}
