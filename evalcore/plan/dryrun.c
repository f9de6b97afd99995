/* sweep --dry-run (contract: dryrun.h). Completion lengths are the tasks' priors, so the sum is an order of
 * magnitude, and says so. */
#include "evalcore/plan/dryrun.h"

#include <stdio.h>

static void bytes(struct str *out, double n)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    for (; n >= 1024 && u < 4; u++)
        n /= 1024;
    str_printf(out, n >= 100 || u == 0 ? "%.0f %s" : "%.1f %s", n, units[u]);
}

static double expected_tokens(const struct plan_cell *c, const struct prompt_set *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->task.n_problems; i++) {
        int limit = settings_max_new(&c->settings->s, s->task.problems[i].max_new_tokens);
        sum += s->task.ops->expected_tokens < limit ? s->task.ops->expected_tokens : limit;
    }
    return sum * c->settings->s.samples;
}

void dryrun_print(const struct runplan *p)
{
    const struct engine_info *info = &p->lanes[0].info;
    double tokens = 0;
    long jobs = 0;
    struct str memory = {0};
    printf("%-40s %-24s %9s %8s %12s\n", "cell", "task", "problems", "jobs", "tokens");
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        const struct prompt_set *s = &p->sets[c->set];
        long n = (long)s->task.n_problems * c->settings->s.samples;
        double t = expected_tokens(c, s);
        printf("%-40s %-24s %9zu %8ld %12.0f\n", c->label, c->task->label, s->task.n_problems, n, t);
        jobs += n;
        tokens += t;
    }
    printf("%-40s %-24s %9s %8ld %12.0f\n", "total", "", "", jobs, tokens);
    double per_token = (double)info->kv_token_bytes;
    printf("\nmodel: %s (%s), %d layers, %d query and %d KV heads of %d, context %d\n", info->model,
           info->family, info->n_layers, info->n_q, info->n_kv, info->head_dim, info->max_position);
    if (info->weight_bytes) {
        bytes(&memory, (double)info->weight_bytes);
        printf("weights: %s\n", memory.data);
    }
    str_clear(&memory);
    bytes(&memory, per_token);
    printf("KV cache: %s a token", memory.data);
    str_clear(&memory);
    bytes(&memory, per_token * info->max_position);
    printf(", %s a sequence at full context", memory.data);
    str_clear(&memory);
    bytes(&memory, per_token * info->max_position * info->max_batch);
    printf(", %s for %d of them\n", memory.data, info->max_batch);
    printf("Tokens are the tasks' usual completion lengths times jobs: an order of magnitude, before "
           "anything is "
           "decoded.\n");
    printf("Not checked without loading the model: its weights, and files that policies read (gates).\n");
    str_release(&memory);
}
