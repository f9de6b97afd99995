/* kveval bench decode --tokens N: a batch that decodes from 1 token to N, as in DELTA's Figure 4 (arXiv
 * 2510.09883), under any policy. Figures are tokens per second at some lengths, and of the whole.
 *
 * --sampled decodes a short stretch at each of these lengths instead of all N tokens: one prompt of random
 * tokens is prefilled densely and copied, so that every sequence reads memory of its own, and the whole is
 * estimated from the mean steps by the trapezoid rule. Sequences then hold the same tokens, which no
 * operation's time depends on. Greedy either way. Where a policy forgets periodically, timing begins after
 * the first time, when as much is left as later, and is of whole periods; and sequences begin one after the
 * other over a period, so that each forgets in a step of its own, as in a sweep.
 *
 * Without --sampled there is one more figure, the pool's peak in MiB, whose floor is full attention's. */
#include <math.h>

#include "evalcore/bench/bench_engine.h"

/* Means are over a multiple of the page's 16 tokens and of the policy's period, since a step that maps pages
 * for all sequences, or forgets, counts with its share; a window's first step is not timed. The first steps
 * after an admission record their program. */
enum { WARM = 16, STEPS = 64, MAX_STEPS = 1024, POINTS = 16 };

/* And the last. Powers of two end the chunks into which a GPU's attention cuts contexts, and steps are
 * fastest there: in one whole decode of 64 sequences to 18,432 tokens (a 1.5B model, an H200) the estimate
 * from its own steps at these alone was 0.6 % too fast, with those between them 0.1 %. */
static const int lengths[] = {1, 512, 1024, 1536, 2048, 2816, 4096, 6656, 8192, 11264, 16384, 17408};

struct point {
    double tokens; /* mean context in the window */
    struct bench_window w;
    double bound; /* seconds a step takes at least */
};

struct trace {
    struct bench *b;
    struct bench_engine x;
    int batch;
    int warm, window; /* steps before a sampled window, and of a window */
    int spread;       /* steps over which sequences begin; 0: every step is like the others */
    struct point point[POINTS];
    int n;
    double bandwidth;
};

static const char *policy_text(const struct bench *b)
{
    return b->policy ? b->policy : "full";
}

static void measure_point(struct trace *t, struct point *p)
{
    t->bandwidth = bench_bandwidth(&t->x, p->w.bytes);
    p->bound = bench_step_bound(&t->x, t->batch, p->w.bytes, t->bandwidth);
}

static void print_point(struct trace *t, const struct point *p, int tokens)
{
    char name[400];
    snprintf(name, sizeof name, "decode %s %s batch %d at %d tokens%s", t->b->model, policy_text(t->b),
             t->batch, tokens, t->b->sampled ? ", sampled" : "");
    bench_print(t->b, name, t->batch / p->w.seconds, "tok/s", t->batch / p->bound);
}

static void finish_trace(struct trace *t, double seconds, double bound)
{
    char name[400], how[80] = "";
    double tokens = (double)t->batch * t->b->tokens;
    if (t->b->sampled)
        snprintf(how, sizeof how, ", estimated by the trapezoid rule from %d sampled lengths", t->n);
    snprintf(name, sizeof name, "decode %s %s batch %d, 1 to %d tokens%s", t->b->model, policy_text(t->b),
             t->batch, t->b->tokens, how);
    bench_print(t->b, name, tokens / seconds, "tok/s", tokens / bound);
}

/* ---- sampled ---- */

static int sample_point(struct trace *t, int tokens, struct err *e)
{
    struct point *p = &t->point[t->n++];
    struct bench_window warm;
    int ahead = t->spread / 2, steps = ahead + t->warm + t->window; /* steps of the middle sequence */
    int prompt = tokens > steps ? tokens - steps : 1;
    p->tokens = prompt + ahead + t->warm + t->window / 2.0;
    if (bench_submit(&t->x, t->batch, prompt, 1, steps + t->spread + 2, t->spread, e) ||
        bench_window(&t->x, t->warm, &warm, e) || bench_window(&t->x, t->window, &p->w, e) ||
        engine_run(t->x.en, NULL, 0, NULL, NULL, e))
        return e->code;
    measure_point(t, p);
    print_point(t, p, tokens);
    return 0;
}

/* The sum of step times over all lengths from 1 to N, by the trapezoid rule; step times are constant before
 * the first point and after the last. */
static double sum_over_lengths(const struct trace *t, double (*of)(const struct point *p))
{
    const struct point *p = t->point;
    double sum = of(p) * p->tokens + of(p + t->n - 1) * (t->b->tokens - p[t->n - 1].tokens);
    for (int i = 1; i < t->n; i++)
        sum += (of(p + i) + of(p + i - 1)) / 2 * (p[i].tokens - p[i - 1].tokens);
    return sum;
}

static double measured_seconds(const struct point *p)
{
    return p->w.seconds;
}

static double bound_seconds(const struct point *p)
{
    return p->bound;
}

static int run_sampled(struct trace *t, struct err *e)
{
    /* All stretches that begin with one token are the same. */
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths && lengths[i] < t->b->tokens && !e->code; i++)
        if (i == 0 || lengths[i] > t->spread / 2 + t->warm + t->window)
            sample_point(t, lengths[i], e);
    if (!e->code && !sample_point(t, t->b->tokens, e))
        finish_trace(t, sum_over_lengths(t, measured_seconds), sum_over_lengths(t, bound_seconds));
    return e->code;
}

/* ---- every token ---- */

/* Decodes `steps` steps in a row and adds what they took and read. */
static int decode_stretch(struct trace *t, int steps, struct bench_window *w, double *seconds, double *bytes,
                          struct err *e)
{
    if (steps <= 0 || bench_window(&t->x, steps, w, e))
        return e->code;
    *seconds += steps * w->seconds;
    *bytes += steps * w->bytes;
    return 0;
}

/* Prints the peak memory of the pool. Its floor is the memory that K and V of full attention take; a policy
 * that forgets tokens gives their pages back. */
static void print_pool(struct trace *t)
{
    const struct engine_info *info = engine_info(t->x.en);
    double heads = (double)info->n_layers * info->n_kv;
    double block_mib = (double)info->kv_token_bytes * KV_PAGE_TOKENS / heads / (1 << 20);
    double full = t->batch * heads * ceil(engine_full_tokens(info, t->b->tokens + 2.0) / KV_PAGE_TOKENS);
    struct engine_stats stats;
    char name[400];
    engine_stats(t->x.en, &stats);
    snprintf(name, sizeof name, "pool of %s %s batch %d, 1 to %d tokens, at its peak", t->b->model,
             policy_text(t->b), t->batch, t->b->tokens);
    bench_print(t->b, name, (double)stats.blocks_peak * block_mib, "MiB", full * block_mib);
}

static int run_whole(struct trace *t, struct err *e)
{
    double seconds = 0, bytes = 0;
    int done = 0, last = t->b->tokens;
    if (bench_submit(&t->x, t->batch, 1, 0, last + t->spread + 2, t->spread, e))
        return e->code;
    for (size_t i = 1; done < last && !e->code; i++) {
        int to = i < sizeof lengths / sizeof *lengths && lengths[i] + 1 < last ? lengths[i] : last;
        struct point p;
        struct bench_window before;
        int window = to - done < t->window + 2 ? to - done : t->window; /* no stretch is of one step */
        if (decode_stretch(t, to - done - window, &before, &seconds, &bytes, e) ||
            decode_stretch(t, window, &p.w, &seconds, &bytes, e))
            return e->code;
        done = to;
        measure_point(t, &p);
        if (!t->spread || window == t->window) /* a part of a period is not representative */
            print_point(t, &p, to);
    }
    if (engine_run(t->x.en, NULL, 0, NULL, NULL, e))
        return e->code;
    /* Both phases are proportional to what they read: the bound of the mean step, times the steps. */
    finish_trace(t, seconds, last * bench_step_bound(&t->x, t->batch, bytes / last, t->bandwidth));
    print_pool(t);
    return 0;
}

/* How long windows are, and how much comes before them. */
static int plan_windows(struct trace *t, struct err *e)
{
    const struct budget_at at = {.context = t->b->tokens, .prompt = t->b->tokens, .longest = 2};
    struct policy_spec spec;
    struct arena a = {0};
    struct policy_period period = {1, 1};
    int rc = policy_spec_text(&spec, policy_text(t->b), &a, e), steps = STEPS;
    if (!rc)
        period = policy_period(&spec, &at);
    while (steps % period.next && steps <= MAX_STEPS)
        steps += KV_PAGE_TOKENS;
    if (!rc && steps > MAX_STEPS && t->b->sampled)
        rc = err_set(
            e, ERR_USAGE,
            "decode: policy %s forgets at every %d tokens, and no stretch of up to %d steps has whole "
            "periods and pages; leave --sampled out",
            policy_name(spec.ops), period.next, MAX_STEPS);
    t->spread = period.first > 1 ? period.next : 0;
    t->warm = WARM + (period.first > 1 ? period.first : 0);
    t->window = (steps > MAX_STEPS ? t->b->tokens : steps) + 1;
    arena_release(&a);
    return rc;
}

int bench_length(struct bench *b, struct err *e)
{
    struct trace t = {.b = b, .batch = bench_batch(b)};
    if (plan_windows(&t, e))
        return e->code;
    int stretch = t.spread + t.warm + t.window + 1,
        longest = b->sampled && stretch > b->tokens ? stretch : b->tokens;
    int rc = bench_engine_open(&t.x, b, t.batch, longest + t.spread + 3, b->sampled ? 1 : -1, e);
    if (!rc)
        rc = b->sampled ? run_sampled(&t, e) : run_whole(&t, e);
    bench_engine_close(&t.x);
    return rc ? e->code : 0;
}
