/* kveval bench prefill: a prompt alone, from its submission to its first token, at some lengths. The limit is
 * that of the products of all its tokens and of causal attention, at the machine's peak; a policy that also
 * prefills sparsely (DMS, Kascade) leaves out some of the latter and may go beyond it. */
#include "evalcore/bench_engine.h"
#include "evalcore/progress.h"

enum { RUNS = 5, CPU_TOKENS = 1024 };

static const int gpu_lengths[] = {1024, 4096, 16384};

/* Seconds of one prompt. */
static int once(struct bench_engine *x, int tokens, double *seconds, struct err *e)
{
    if (bench_submit(x, 1, tokens, 0, 1, e))
        return e->code;
    double start = progress_clock();
    while (engine_pending(x->en)) {
        const struct completion *c;
        int n;
        if (engine_step(x->en, &c, &n, e))
            return e->code;
        if (n && c->error)
            return err_set(e, ERR_USAGE, "a prompt of %d tokens: %s", tokens, c->error);
    }
    *seconds = progress_clock() - start;
    return 0;
}

/* Seconds at the peak. The output head takes the last token alone. */
static double bound(const struct bench_engine *x, double tokens)
{
    const struct engine_info *i = engine_info(x->en);
    double head = (double)i->vocab * i->hidden, layers = (double)i->step_bytes / 2 - head; /* parameters */
    double pairs = tokens * (tokens + 1) / 2;
    return (2 * (layers * tokens + head) + pairs * i->n_layers * i->n_q * 4 * i->head_dim) / x->peak;
}

/* The median run; the first, which also finds its way, does not count. */
static int measure(struct bench *b, struct bench_engine *x, int tokens, struct err *e)
{
    double run[RUNS], first;
    int rc = once(x, tokens, &first, e);
    for (int i = 0; i < RUNS && !rc; i++)
        rc = once(x, tokens, run + i, e);
    if (rc)
        return rc;
    char name[400];
    double seconds = probe_median(run, RUNS);
    snprintf(name, sizeof name, "prefill %s %s of %d tokens, %.4g ms", b->model,
             b->policy ? b->policy : "full", tokens, seconds * 1e3);
    bench_print(b, name, tokens / seconds, "tok/s", tokens / bound(x, tokens));
    return 0;
}

int bench_prefill(struct bench *b, struct err *e)
{
    int one = b->tokens ? b->tokens : CPU_TOKENS, many = b->device->is_gpu && !b->tokens;
    const int *length = many ? gpu_lengths : &one;
    int n = many ? (int)(sizeof gpu_lengths / sizeof *gpu_lengths) : 1;
    struct bench_engine x;
    int rc = bench_engine_open(&x, b, 1, many ? 0 : one + 1, -1, e);
    int most = rc ? 0 : engine_info(x.en)->max_context - 1;
    for (int i = 0; i < n && !rc && (!i || length[i - 1] < most); i++)
        rc = measure(b, &x, length[i] < most ? length[i] : most, e);
    bench_engine_close(&x);
    return rc;
}
