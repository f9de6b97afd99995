/* kveval bench prefill: a prompt alone, from its admission to its first token, at some lengths. The limit is
 * that of the products of all its tokens and of causal attention, at the machine's peak; a policy that also
 * prefills sparsely (DMS) leaves out some of the latter and may go beyond it. */
#include "evalcore/base/clock.h"
#include "evalcore/bench/bench_engine.h"

enum { RUNS = 5 };

static const int lengths[] = {1024, 4096, 16384}; /* on the CPU the first */

/* Seconds of one prompt. */
static int time_prompt(struct bench_engine *x, int tokens, double *seconds, struct err *e)
{
    if (bench_submit(x, 1, tokens, 0, 1, 0, e))
        return e->code;
    double start = clock_seconds();
    if (engine_run(x->en, NULL, 0, NULL, NULL, e))
        return err_add(e, "a prompt of %d tokens", tokens), e->code;
    *seconds = clock_seconds() - start;
    return 0;
}

/* Seconds at the peak. The output head takes the last token alone. */
static double bound_seconds(const struct bench_engine *x, double tokens)
{
    const struct engine_info *i = engine_info(x->en);
    double head = (double)i->vocab * i->hidden, pairs = tokens * (tokens + 1) / 2;
    double products = 2 * ((double)i->layer_values * tokens + head);
    return (products + pairs * i->n_layers * i->n_q * 4 * i->head_dim) / x->peak;
}

/* The median run; the first, which also finds its way, does not count. */
static int measure_prompt(struct bench *b, struct bench_engine *x, int tokens, struct err *e)
{
    double run[RUNS], first;
    int rc = time_prompt(x, tokens, &first, e);
    for (int i = 0; i < RUNS && !rc; i++)
        rc = time_prompt(x, tokens, run + i, e);
    if (rc)
        return rc;
    char name[400];
    double seconds = limits_median(run, RUNS);
    snprintf(name, sizeof name, "prefill %s %s of %d tokens, %.4g ms", b->model,
             b->policy ? b->policy : "full", tokens, seconds * 1e3);
    bench_print(b, name, tokens / seconds, "tok/s", tokens / bound_seconds(x, tokens));
    return 0;
}

int bench_prefill(struct bench *b, struct err *e)
{
    const int *length = b->tokens ? &b->tokens : lengths;
    int n = b->device->is_gpu && !b->tokens ? (int)(sizeof lengths / sizeof *lengths) : 1;
    struct bench_engine x;
    int rc = bench_engine_open(&x, b, 1, 0, -1, e);
    int room = rc ? 0 : engine_info(x.en)->max_context;
    if (!rc && length[0] >= room)
        rc = err_set(
            e, ERR_USAGE,
            "prefill: a prompt of %d tokens and its first token do not fit into this model's context of "
            "%d; give fewer --tokens",
            length[0], room);
    for (int i = 0; i < n && !rc && length[i] < room; i++)
        rc = measure_prompt(b, &x, length[i], e);
    bench_engine_close(&x);
    return rc;
}
