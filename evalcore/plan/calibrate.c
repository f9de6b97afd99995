/* Measuring speed before a run (contract: calibrate.h). The sequences of a step have the same prompt. A dense
 * one is run once before, so that its time is that of no policy; its pages are copied, for the sequences of a
 * run have pages of their own.
 *
 * At which contexts: a short one, a long one, and where the policy's budget begins to matter, since a
 * straight line over the bend would be wrong on both sides. A policy that drops tokens is as fast as what it
 * holds, and behind its budget it holds no more, so for it that is the longest. */
#include "evalcore/plan/calibrate.h"

#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/clock.h"

enum { SHORT = 64, PROBE = 512, LONG = 4096, STEPS = 12, WINDOW = 4, WARM_STEPS = 12, FEWEST_STEPS = 4 };
#define DEFAULT_SECONDS 15.0
#define PROMPT_SHARE    0.2  /* of the time for measuring, that the prompts at one context may take */
#define STEP_SHARE      0.07 /* that its steps may, if a few can be timed meanwhile */
#define POOL_SHARE      0.8  /* of the pool, for the tokens of the rows: shared prompts take some, too */

struct bench {
    struct engine *en;
    struct policy *full;
    const int32_t *ids;
    double pool_tokens;
    double seconds, end; /* of the time for measuring */
    int rows;
    int longest; /* tokens of the longest dense prompt that is run */
    int left;    /* policies that are not measured yet, this one included */
};

struct point {
    int n_prompt, rows; /* wanted */
    double context, held, step, admit, in_step;
};

struct span { /* of steps: those that are waited for, and those that are timed after them */
    int warm, timed;
};

/* ---- one point ---- */

static struct budget_at at_context(const struct bench *b, const struct policy_speed *s, double prompt,
                                   double context)
{
    const struct engine_info *info = engine_info(b->en);
    return (struct budget_at){.context = context,
                              .prompt = prompt,
                              .longest = fmax(s->longest - prompt, 1),
                              .n_layers = info->n_layers,
                              .window = engine_windows(info)};
}

/* The first steps, after which a step is captured (engine/graphs.c), are not timed. A policy that drops
 * tokens now and then does so within the steps that are: where a whole period of it is too long, it counts as
 * if it dropped none meanwhile. */
static struct span span_of(const struct bench *b, const struct policy_speed *s, int n_prompt)
{
    struct span span = {WARM_STEPS, STEPS};
    struct budget_at at = at_context(b, s, n_prompt, n_prompt + WARM_STEPS);
    struct policy_period period = policy_period(s->spec, &at);
    double steps = (double)period.first + period.next;
    int drops = n_prompt + WARM_STEPS > policy_budget_at(s->spec, &at).tokens;
    int fits = n_prompt + steps + 2 * STEPS + WARM_STEPS < engine_info(b->en)->max_context;
    if (s->n && drops && fits && period.next > 1 && steps * s->step[0] < b->seconds * PROMPT_SHARE) {
        span.warm = period.first > WARM_STEPS ? period.first : WARM_STEPS;
        span.timed = period.next > STEPS ? period.next : STEPS;
    }
    return span;
}

/* Runs a dense prompt, so that it is there to be shared. */
static int run_prompt(struct bench *b, const int32_t *ids, int n, double *seconds, struct err *e)
{
    struct request r = {.prompt = ids,
                        .n_prompt = n,
                        .policy = b->full,
                        .max_new_tokens = 1,
                        .ignore_eos = 1,
                        .end_token = -1};
    const struct completion *done;
    double start = clock_seconds();
    engine_run_one(b->en, &r, &done, e);
    *seconds = clock_seconds() - start;
    return e->code;
}

/* Budgets may depend on the longest completion, so that is as long as in the run, and cancelled before. */
static int submit_rows(struct bench *b, struct policy *p, const struct point *at, int most, struct err *e)
{
    struct request r = {.prompt = b->ids,
                        .n_prompt = at->n_prompt,
                        .policy = p,
                        .max_new_tokens = most,
                        .ignore_eos = 1,
                        .end_token = -1};
    for (int i = 0; i < at->rows && !e->code; i++) {
        r.user = (void *)(uintptr_t)(i + 1);
        engine_submit(b->en, &r, e);
    }
    return e->code;
}

static void end_rows(struct bench *b, int rows)
{
    const struct completion *done;
    struct err ignored = {0};
    int n;
    for (int i = 0; i < rows; i++)
        engine_cancel(b->en, (void *)(uintptr_t)(i + 1));
    while (engine_pending(b->en) && !engine_step(b->en, &done, &n, &ignored))
        ;
}

/* A sequence that ends here has failed: it was given more tokens than the steps that are timed. */
static int step_once(struct engine *en, struct err *e)
{
    const struct completion *done;
    int n = 0;
    if (engine_step(en, &done, &n, e))
        return e->code;
    return n ? err_set(e, ERR_DEVICE, "%s", done->error ? done->error : "a sequence ended too early") : 0;
}

/* What is timed begins after the warm steps; where these take too long already, after the first ones. The
 * fastest WINDOW of them counts, for other programs slow down and nothing speeds up; of a policy that drops
 * tokens now and then, the whole period. */
static int time_steps(const struct bench *b, struct span span, struct point *p, struct err *e)
{
    struct engine *en = b->en;
    struct engine_stats s, from = {0}, start;
    engine_stats(en, &start);
    double began = clock_seconds(), first = began, best = 0, now;
    for (uint64_t n = 0; n < (uint64_t)(span.warm + span.timed);) {
        if (step_once(en, e))
            return e->code;
        now = clock_seconds();
        engine_stats(en, &s);
        if (s.decode_steps - start.decode_steps == n)
            continue;
        n = s.decode_steps - start.decode_steps;
        if (n > FEWEST_STEPS / 2 && n <= (uint64_t)span.warm &&
            (from.decode_steps == 0 || n == (uint64_t)span.warm)) {
            began = now;
            from = s;
        }
        if (from.decode_steps && s.decode_steps > from.decode_steps) {
            double steps = (double)(s.decode_steps - from.decode_steps), step = (now - began) / steps;
            int is_window = span.timed == STEPS && steps >= WINDOW;
            if (is_window || !(best > 0))
                p->in_step = (double)(s.decode_tokens - from.decode_tokens) / steps;
            if (is_window) {
                best = best > 0 ? fmin(best, step) : step;
                began = now;
                from = s;
            }
            p->step = best > 0 ? best : step;
        }
        if (now - first > b->seconds * STEP_SHARE && n >= FEWEST_STEPS && p->step > 0)
            break;
    }
    return 0;
}

/* All rows are admitted in the first step of the engine, whose decoding is not part of that. */
static int time_admission(struct engine *en, struct point *p, struct err *e)
{
    struct engine_stats before, after;
    engine_stats(en, &before);
    double start = clock_seconds();
    if (step_once(en, e))
        return e->code;
    double seconds = clock_seconds() - start;
    engine_stats(en, &after);
    int admitted = engine_pending(en) - engine_waiting(en);
    seconds -= after.decode_seconds - before.decode_seconds;
    p->admit = admitted > 0 && seconds > 0 ? seconds / admitted : 0;
    return 0;
}

static int measure_point(struct bench *b, const struct policy_speed *s, struct policy *policy,
                         struct point *p, struct err *e)
{
    int most_context = engine_info(b->en)->max_context;
    struct span span = span_of(b, s, p->n_prompt);
    int need = span.warm + span.timed + 2, total = s->longest;
    if (p->n_prompt + need > most_context)
        return err_set(e, ERR_USAGE, "the model's context of %d tokens is too short to measure a step",
                       most_context);
    double ignored;
    if (!speed_own_prompts(s) && run_prompt(b, b->ids, p->n_prompt, &ignored, e))
        return e->code;
    if (total < p->n_prompt + need)
        total = p->n_prompt + need;
    if (total > most_context)
        total = most_context;
    /* Who is admitted first makes kernels load and memory grow, which a run pays once. Prefills of their own
     * take too long to be run twice, and are most of what is timed. */
    if (!s->n && !speed_own_prompts(s)) {
        if (!submit_rows(b, policy, p, total - p->n_prompt, e))
            step_once(b->en, e);
        end_rows(b, p->rows);
    }
    if (!e->code && !submit_rows(b, policy, p, total - p->n_prompt, e) && !time_admission(b->en, p, e))
        time_steps(b, span, p, e);
    end_rows(b, p->rows);
    if (!e->code && p->step <= 0)
        err_set(e, ERR_DEVICE, "no step could be timed");
    p->context = p->n_prompt + span.warm + span.timed / 2.0;
    struct budget_at at = at_context(b, s, p->n_prompt, p->context);
    p->held = policy_held_at(s->spec, &at);
    return e->code;
}

/* ---- the points of a policy ---- */

static int rows_that_fit(const struct bench *b, int n_prompt)
{
    double n = b->pool_tokens * POOL_SHARE / (n_prompt + WARM_STEPS + STEPS) - 1;
    return n < 1 ? 1 : n < b->rows ? (int)n : b->rows;
}

static void keep_point(struct policy_speed *s, const struct point *p)
{
    int i = s->n++;
    s->prompt[i] = p->n_prompt;
    s->context[i] = p->context;
    s->held[i] = p->held;
    s->step[i] = p->step;
    s->admit[i] = p->admit;
}

/* Shortens the prompt to what can be run within the time, with an eighth of the rows at least. */
static struct point within_time(const struct bench *b, const struct policy_speed *s, int n_prompt)
{
    struct point p = {.n_prompt = n_prompt, .rows = rows_that_fit(b, n_prompt)};
    if (!speed_own_prompts(s)) {
        p.n_prompt = n_prompt < b->longest ? n_prompt : b->longest;
        return p;
    }
    int fewest = (b->rows + 7) / 8;
    double seconds = fmin(b->seconds * PROMPT_SHARE, (b->end - clock_seconds()) / b->left), tokens;
    tokens = s->admit[0] > 0 ? seconds * s->prompt[0] / s->admit[0] : 0;
    if (p.rows > fewest && p.rows * (double)n_prompt > tokens)
        p.rows = tokens / n_prompt > fewest ? (int)(tokens / n_prompt) : fewest;
    if (p.rows * (double)n_prompt > tokens)
        p.n_prompt = (int)(tokens / p.rows);
    return p;
}

/* Measures at a longer context, unless that takes too long or says no more. With fewer rows, where memory or
 * time are short, what a row takes more than at the short context counts for all of them. */
static int measure_longer(struct bench *b, struct policy_speed *s, struct policy *policy, int n_prompt,
                          struct err *e)
{
    struct point p = within_time(b, s, n_prompt);
    double last = s->held[s->n - 1], more = 0;
    struct budget_at at = at_context(b, s, p.n_prompt, p.n_prompt + WARM_STEPS + STEPS / 2.0);
    if (p.n_prompt < 2 * s->prompt[s->n - 1] && p.n_prompt < n_prompt)
        return 0;
    if (policy_held_at(s->spec, &at) < 1.1 * last || clock_seconds() > b->end || last > 0.9 * s->most_held ||
        s->step[0] * FEWEST_STEPS > b->seconds * PROMPT_SHARE)
        return 0;
    if (measure_point(b, s, policy, &p, e))
        return e->code;
    if (p.in_step < s->rows - 0.5) {
        struct point few = {.n_prompt = (int)s->prompt[0], .rows = (int)(p.in_step + 0.5)};
        if (measure_point(b, s, policy, &few, e))
            return e->code;
        more = fmax(p.step - few.step, 0) * s->rows / p.in_step;
        p.step = s->step[0] + more;
    }
    keep_point(s, &p);
    return 0;
}

static int measure_policy(struct bench *b, struct policy_speed *s, struct policy *policy, struct err *e)
{
    int most = engine_info(b->en)->max_context - STEPS - WARM_STEPS - 2;
    int longest = s->longest < LONG ? s->longest : LONG;
    longest = longest < most ? longest : most;
    int first = longest < SHORT ? longest : SHORT;
    struct point p = {.n_prompt = first > 1 ? first : 1, .rows = b->rows};
    if (p.rows > rows_that_fit(b, p.n_prompt))
        p.rows = rows_that_fit(b, p.n_prompt);
    if (measure_point(b, s, policy, &p, e))
        return e->code;
    s->rows = p.in_step;
    keep_point(s, &p);
    struct budget_at at = at_context(b, s, SHORT, longest);
    double whole = policy_budget_at(s->spec, &at).whole;
    if (whole > 2 * SHORT && whole < 0.75 * longest && measure_longer(b, s, policy, (int)whole, e))
        return e->code;
    return longest > 2 * SHORT ? measure_longer(b, s, policy, longest, e) : 0;
}

/* ---- all policies ---- */

/* How fast dense prompts are, and so how long one may be. The first prompt of a length meets memory that was
 * never used, and on a GPU products whose algorithms are not chosen yet. A run pays that once, so a second
 * prompt of the length is timed, unless the two would take too long. */
static int time_prompts(struct calibration *c, struct bench *b, struct err *e)
{
    int longest = 0, most = engine_info(b->en)->max_context - STEPS - WARM_STEPS - 2, n = SHORT;
    double speed = 0, ignored;
    for (int i = 0; i < c->n; i++)
        if (!speed_own_prompts(&c->policy[i]) && c->policy[i].longest > longest)
            longest = c->policy[i].longest;
    longest = longest < LONG ? longest : LONG;
    b->longest = longest < most ? longest : most;
    n = n < b->longest ? n : b->longest;
    while (n > 0 && c->n_prompts < SPEED_POINTS) {
        double *seconds = &c->prompt_seconds[c->n_prompts];
        if ((n <= speed || !c->n_prompts) && run_prompt(b, b->ids + 1, n, &ignored, e))
            break;
        if (run_prompt(b, b->ids, n, seconds, e))
            break;
        c->prompt[c->n_prompts++] = n;
        speed = *seconds > 0 ? n / *seconds : speed;
        int next = n < PROBE && PROBE < b->longest / 2 ? PROBE : b->longest, last = n;
        n = next < speed * b->seconds * PROMPT_SHARE ? next : (int)(speed * b->seconds * PROMPT_SHARE);
        if (n < 2 * last)
            break;
    }
    b->longest = c->n_prompts ? (int)c->prompt[c->n_prompts - 1] : 0;
    return e->code;
}

static int bind_policies(const struct calibration *c, struct bench *b, struct policy **policy, struct err *e)
{
    struct arena a = {0};
    struct policy_spec full;
    if (!policy_spec_text(&full, "full", &a, e))
        engine_policy(b->en, &full, &b->full, e);
    arena_release(&a);
    for (int i = 0; i < c->n && !e->code; i++) {
        c->policy[i].why = (struct err){0};
        engine_policy(b->en, c->policy[i].spec, &policy[i], &c->policy[i].why);
    }
    if (!e->code && !engine_reserve(b->en, 1, e)) {
        const struct engine_info *info = engine_info(b->en);
        b->pool_tokens = (double)info->pool_bytes / (double)info->kv_token_bytes;
    }
    return e->code;
}

/* A policy that fails half-way is not measured. After a failure of the device the others fail at once. */
static void measure_all(const struct calibration *c, struct bench *b, struct policy **policy)
{
    for (int i = 0; i < c->n; i++) {
        struct policy_speed *s = &c->policy[i];
        b->left = c->n - i;
        if (!s->why.code && (!i || clock_seconds() < b->end) && measure_policy(b, s, policy[i], &s->why))
            s->n = 0;
    }
}

int calibrate(struct calibration *c, struct err *e)
{
    struct engine_options options = *c->options;
    struct bench b = {.rows = c->rows, .seconds = c->seconds > 0 ? c->seconds : DEFAULT_SECONDS};
    struct policy **policy = xcalloc((size_t)c->n + 1, sizeof(struct policy *));
    int32_t *ids = xcalloc(LONG + 1, sizeof *ids);
    int measured = 0;
    options.share_prompts = 1;
    b.ids = ids;
    c->n_prompts = 0;
    for (int i = 0; i < c->n; i++)
        c->policy[i].n = 0;
    int rc = engine_open(&b.en, &options, e);
    if (!rc)
        rc = bind_policies(c, &b, policy, e);
    for (int i = 0; i <= LONG && !rc; i++) /* any tokens do: the speed does not depend on them */
        ids[i] = (int32_t)((uint32_t)i * 2654435761u % (uint32_t)engine_info(b.en)->vocab);
    b.end = clock_seconds() + b.seconds;
    if (!rc)
        rc = time_prompts(c, &b, e);
    if (!rc)
        measure_all(c, &b, policy);
    for (int i = 0; i < c->n; i++)
        measured += c->policy[i].n > 0;
    if (!rc && !measured)
        rc = c->n ? err_set(e, c->policy[0].why.code, "%s", c->policy[0].why.text)
                  : err_set(e, ERR_USAGE, "there is no policy to measure");
    engine_close(b.en);
    free(policy);
    free(ids);
    return rc;
}

/* ---- what was measured ---- */

int speed_own_prompts(const struct policy_speed *s)
{
    return (policy_needs(s->spec) & POLICY_PREFILL) != 0;
}

/* y at x, of n points in ascending order: along straight lines, before the first not below half of it. More
 * is never faster, whatever was measured. */
static double along(const double *xs, const double *measured, int n, double x)
{
    double ys[SPEED_POINTS] = {0};
    int i = 1;
    for (int k = 0; k < n; k++)
        ys[k] = k ? fmax(measured[k], ys[k - 1]) : measured[k];
    while (i < n - 1 && x > xs[i])
        i++;
    double span = n > 1 ? xs[i] - xs[i - 1] : 0, slope = span > 0 ? (ys[i] - ys[i - 1]) / span : 0;
    int from = n > 1 ? i - 1 : 0;
    return fmax(ys[from] + slope * (x - xs[from]), ys[0] / 2);
}

double speed_completion(const struct policy_speed *s, struct budget_at at, double tokens)
{
    at.context = at.prompt + tokens / 2;
    return tokens * along(s->held, s->step, s->n, policy_held_at(s->spec, &at)) / s->rows;
}

/* The same of prompts: of a single point their time goes by their tokens. */
static double along_prompts(const double *tokens, const double *seconds, int n, double prompt)
{
    return n == 1 ? seconds[0] * prompt / tokens[0] : along(tokens, seconds, n, prompt);
}

double speed_admission(const struct policy_speed *s, double prompt)
{
    return speed_own_prompts(s) ? along_prompts(s->prompt, s->admit, s->n, prompt)
                                : along(s->prompt, s->admit, s->n, prompt);
}

double speed_prompt(const struct calibration *c, double prompt)
{
    return c->n_prompts ? along_prompts(c->prompt, c->prompt_seconds, c->n_prompts, prompt) : 0;
}
