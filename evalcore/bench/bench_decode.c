/* Whole decode steps under full attention at about 1k tokens of context, batch 1 and 32 (64 on a GPU); with
 * --tokens another measurement, bench_length.c. */
#include "evalcore/bench/bench_engine.h"

#include "evalcore/base/clock.h"

enum { PROMPT = 960, STEPS = 128, DECODE_RUNS = 4 };

/* Seconds of the median step once all sequences decode. */
static int measure_step(struct bench_engine *x, int batch, double *seconds, struct err *e)
{
    double step[STEPS];
    int n = 0;
    if (bench_submit(x, batch, PROMPT, 0, STEPS, 0, e))
        return e->code;
    while (engine_pending(x->en)) {
        const struct completion *c;
        struct engine_stats before, after;
        int n_done;
        engine_stats(x->en, &before);
        if (engine_step(x->en, &c, &n_done, e))
            return e->code;
        engine_stats(x->en, &after);
        if (after.decode_steps > before.decode_steps && n < STEPS)
            step[n++] = after.decode_seconds - before.decode_seconds;
    }
    *seconds = limits_median(step, n);
    return 0;
}

/* Runs and measurements of the bandwidth in turns; the best of each counts. */
static int compare_with_bandwidth(struct bench *b, struct bench_engine *x, int batch, struct err *e)
{
    double best = 0, bandwidth = 0;
    const struct engine_info *i = engine_info(x->en);
    double kv = batch * engine_full_tokens(i, PROMPT + STEPS / 2.0) * (double)i->kv_token_bytes;
    for (int run = 0; run < DECODE_RUNS; run++) {
        double s = 0, now = bench_bandwidth(x, kv);
        bandwidth = now > bandwidth ? now : bandwidth;
        if (measure_step(x, batch, &s, e))
            return e->code;
        best = !run || s < best ? s : best;
    }
    char name[160];
    snprintf(name, sizeof name, "decode %s batch %d context 1k", b->model, batch);
    bench_print(b, name, batch / best, "tok/s", batch / bench_step_bound(x, batch, kv, bandwidth));
    return 0;
}

int bench_decode(struct bench *b, struct err *e)
{
    if (b->tokens)
        return bench_length(b, e);
    if (b->policy || b->batch || b->sampled)
        return err_set(e, ERR_USAGE, "decode: --policy, --batch and --sampled go with --tokens");
    int batches[] = {1, bench_batch(b)};
    struct bench_engine x;
    int rc = bench_engine_open(&x, b, 0, PROMPT + STEPS + 16, -1, e);
    for (size_t i = 0; i < sizeof batches / sizeof *batches && !rc; i++)
        rc = compare_with_bandwidth(b, &x, batches[i], e);
    bench_engine_close(&x);
    return rc ? e->code : 0;
}

/* Figures of one thing, which the title names. */
struct title {
    struct bench *b;
    char text[400];
};

static void print_figure(struct title *t, const char *what, int n_ops, const char *suffix, double value,
                         const char *unit)
{
    char name[512], ops[40] = "";
    if (n_ops)
        snprintf(ops, sizeof ops, ", %d operation%s", n_ops, n_ops == 1 ? "" : "s");
    snprintf(name, sizeof name, "%s: %s%s%s", t->text, what, ops, suffix);
    bench_print(t->b, name, value, unit, 0);
}

/* ---- kveval bench prefill: a prompt alone, from its admission to its first token, at some lengths, and the
 * time of each operation in one more run, in which each is waited for: attention apart from products. The
 * limit is that of the products of all its tokens and of causal attention, at the machine's peak; a policy
 * that also prefills sparsely (DMS) leaves out some of the latter and may go beyond it. */

enum { PREFILL_RUNS = 5 };

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
    double head = (double)i->vocab * i->hidden, pairs = 0;
    for (double context = 1; context <= tokens; context++)
        pairs += engine_full_tokens(i, context);
    double products = 2 * ((double)i->layer_values * tokens + head);
    return (products + pairs * i->n_layers * i->n_q * 4 * i->head_dim) / x->peak;
}

static void print_operation(void *context, const char *name, int n, double seconds)
{
    print_figure(context, name, n, "", seconds * 1e3, "ms");
}

static int time_operations(struct title *t, struct bench_engine *x, int tokens, struct err *e)
{
    if (!bench_submit(x, 1, tokens, 0, 1, 0, e))
        engine_time_operations(x->en, print_operation, t, e);
    return e->code;
}

/* The median run; the first, which also finds its way, does not count. */
static int measure_prompt(struct bench *b, struct bench_engine *x, int tokens, struct err *e)
{
    double run[PREFILL_RUNS], first;
    int rc = time_prompt(x, tokens, &first, e);
    for (int i = 0; i < PREFILL_RUNS && !rc; i++)
        rc = time_prompt(x, tokens, run + i, e);
    if (rc)
        return rc;
    struct title t = {.b = b};
    char name[480];
    double seconds = limits_median(run, PREFILL_RUNS);
    snprintf(t.text, sizeof t.text, "prefill %s %s of %d tokens", b->model, b->policy ? b->policy : "full",
             tokens);
    snprintf(name, sizeof name, "%s, %.4g ms", t.text, seconds * 1e3);
    bench_print(b, name, tokens / seconds, "tok/s", tokens / bound_seconds(x, tokens));
    return time_operations(&t, x, tokens, e);
}

int bench_prefill(struct bench *b, struct err *e)
{
    const int *length = b->tokens ? &b->tokens : lengths;
    int n = b->device->is_gpu && !b->tokens ? (int)(sizeof lengths / sizeof *lengths) : 1;
    struct bench_engine x;
    int rc = bench_engine_open(&x, b, 1, 0, -1, e);
    int max_context_tokens = rc ? 0 : engine_info(x.en)->max_context;
    if (!rc && length[0] >= max_context_tokens)
        rc = err_set(
            e, ERR_USAGE,
            "prefill: a prompt of %d tokens and its first token do not fit into this model's context of "
            "%d; give fewer --tokens",
            length[0], max_context_tokens);
    for (int i = 0; i < n && !rc && length[i] < max_context_tokens; i++)
        rc = measure_prompt(b, &x, length[i], e);
    bench_engine_close(&x);
    return rc;
}

/* ---- Where the time of a decode step goes, as in DELTA's Figures 8 to 10 (arXiv 2510.09883): the operations
 * of each part are captured as a graph of their own and replayed. The sum of the parts stands beside the
 * whole captured step; both contain the gaps between operations. */

enum { WARM = 16, REPLAYED = 128, DEFAULT_TOKENS = 1024 };

static void print_all(struct title *t, const struct step_times *s)
{
    double sum = 0;
    for (int p = 0; p < STEP_PARTS; p++)
        sum += s->part[p].seconds;
    for (int p = 0; p < STEP_PARTS; p++) {
        const char *name = step_part_name((enum step_part)p);
        int n = s->part[p].n_ops;
        if (!n)
            continue;
        print_figure(t, name, n, "", s->part[p].seconds * 1e6, "us");
        if (p >= STEP_ATTENTION_DENSE && p <= STEP_ATTENTION_SPARSE)
            print_figure(t, name, 0, ", one layer", s->part[p].seconds * 1e6 / n, "us");
        print_figure(t, name, 0, ", share of the sum", 100 * s->part[p].seconds / sum, "%");
    }
    print_figure(t, "sum of the parts", 0, "", sum * 1e6, "us");
    print_figure(t, "the whole step as recorded", 0, "", s->whole * 1e6, "us");
}

int bench_components(struct bench *b, struct err *e)
{
    int batch = bench_batch(b), tokens = b->tokens ? b->tokens : DEFAULT_TOKENS;
    struct bench_engine x;
    struct bench_window warm;
    struct step_times s;
    struct title t = {.b = b};
    /* sequences of their own memory, see bench_length.c; space for what the replays append */
    int rc = bench_engine_open(&x, b, batch, tokens + REPLAYED, 1, e);
    if (!rc)
        rc = bench_submit(&x, batch, tokens - WARM, 1, WARM + 2, 0, e);
    if (!rc)
        rc = bench_window(&x, WARM, &warm, e);
    if (!rc)
        rc = engine_time_step(x.en, &s, e);
    if (!rc) {
        snprintf(t.text, sizeof t.text, "components %s %s batch %d at %d tokens", b->model,
                 b->policy ? b->policy : "full", batch, tokens);
        print_all(&t, &s);
    }
    bench_engine_close(&x);
    return rc ? e->code : 0;
}
