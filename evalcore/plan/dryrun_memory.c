/* What a run takes of a device's memory: weights and buffers as the engine will allocate them, and K and V of
 * as many sequences as can be decoded together, each as long as this run's limits let it become. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/plan/dryrun_parts.h"

static int by_size_down(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a < b) - (a > b);
}

/* Tokens that a KV head holds of a sequence at its limit, never fewer than the prompt's, in whole pages. */
static double tokens_held(const struct plan_cell *c, double prompt, double limit, int n_layers)
{
    struct budget_at at = {
        .context = prompt + limit, .prompt = prompt, .longest = limit, .n_layers = n_layers};
    double n = policy_held_at(&c->spec, &at);
    return ceil((n > prompt ? n : prompt) / KV_PAGE_TOKENS) * KV_PAGE_TOKENS;
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
                tokens[n++] = tokens_held(c, prompt, limit, p->loaded[loaded].info.n_layers);
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

void dryrun_memory(struct dryrun *d)
{
    int n = 0;
    for (int i = 0; i < d->plan->n_loaded; i++) {
        const struct loaded_model *loaded = &d->plan->loaded[i];
        if (loaded->model != d->model)
            continue;
        struct need need = model_need(d->plan, i);
        print_model(loaded, &need);
        if (!n++) {
            d->longest = need.longest;
            d->rows = need.jobs < loaded->info.max_batch ? (double)need.jobs : loaded->info.max_batch;
        }
    }
    if (n > 1)
        printf("Both types of K and V are in memory at the same time.\n");
}
