/* What moves before accuracy does: lengths, cut-off and unreadable answers, reads, errors (contract: gate.h).
 * A guard fails when the change is beyond its limit and, where chance is involved, its p value is below 1 %
 * shared among all guards, settings and looks, so that together they fail one night in a hundred without a
 * change. Few problems can earn no such p value; so there are limits without a test, too, far outside of what
 * chance does, and a guard whose test cannot fail says so. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/gate/gate.h"

#define GUARD_ALPHA 0.01
/* Limits without a test: this many times as long; and cut off or unreadable twice as often, if that is beyond
 * twice the limit in points, since one answer of a few can double a small share. */
#define LENGTH_ALWAYS 1.5
#define SHARE_ALWAYS  2

#define AT(field) offsetof(struct gate_limits, field)
const struct param gate_limit_params[] = {
    {"length", PARAM_DOUBLE, AT(length), "10", 0, 1000, NULL, "percent by which answers may get longer"},
    {"cut_off", PARAM_DOUBLE, AT(cut), "5", 0, 100, NULL,
     "points by which the share of cut-off answers may rise"},
    {"unparsed", PARAM_DOUBLE, AT(unparsed), "5", 0, 100, NULL,
     "points by which the share of unreadable answers may rise"},
    {"reads", PARAM_DOUBLE, AT(reads), "15", 0, 1000, NULL,
     "percent by which total reads may change, either way"},
    {"errors", PARAM_INT, AT(errors), "0", 0, 1e6, NULL, "jobs that may fail"},
    {0},
};
#undef AT

struct totals { /* over a setting's problems */
    struct gate_sums base, now;
    struct stratum *cut, *unparsed;
    double *log_length; /* differences of means */
    int n, n_lengths;   /* n_lengths: both sides have an answer that did not fail */
};

static void add_guard(struct gate_sums *to, const struct gate_sums *s)
{
    to->n += s->n;
    to->cut += s->cut;
    to->unparsed += s->unparsed;
    to->errors += s->errors;
    to->reads += s->reads;
    to->aux += s->aux;
    to->full += s->full;
}

static void collect_sums(struct totals *t, const struct gate_side *base, const struct gate_side *now,
                         const char *setting, int samples)
{
    size_t n = 0;
    for (int c = 0; c < base->n_cells; c++)
        n += (size_t)base->cells[c].n_problems;
    *t = (struct totals){.cut = xcalloc(n + 1, sizeof *t->cut),
                         .unparsed = xcalloc(n + 1, sizeof *t->unparsed),
                         .log_length = xcalloc(n + 1, sizeof *t->log_length)};
    for (int c = 0; c < base->n_cells; c++) {
        const struct gate_cell *a = &base->cells[c], *b = now->cells;
        if (strcmp(a->setting, setting))
            continue;
        while (strcmp(b->setting, a->setting) || strcmp(b->task, a->task))
            b++;
        for (int i = 0; i < a->n_problems; i++) {
            struct gate_sums x = gate_sums(&a->problems[i], 0), y = gate_sums(&b->problems[i], samples);
            add_guard(&t->base, &x);
            add_guard(&t->now, &y);
            if (!x.n || !y.n)
                continue;
            t->cut[t->n] = (struct stratum){x.cut, x.n, y.cut, y.n};
            t->unparsed[t->n] = (struct stratum){x.unparsed, x.n, y.unparsed, y.n};
            t->n++;
            long n_x = x.n - x.failed, n_y = y.n - y.failed;
            if (n_x && n_y)
                t->log_length[t->n_lengths++] = y.log_tokens / (double)n_y - x.log_tokens / (double)n_x;
        }
    }
}

static double share_of(long k, long n)
{
    return n ? (double)k / (double)n : NAN;
}

/* The smallest p value of the sign-flip test is that of all n problems on one side: 2^-n; many problems have
 * 99,999 random flips, at least 1/200,000 on one side. */
static int is_length_blind(int n, double alpha)
{
    return fmax(ldexp(1, -n), 0.5e-5) > alpha;
}

/* Could even nothing but such answers earn the p value? */
static int is_share_blind(const struct stratum *s, int n, double alpha)
{
    struct stratum *worst = xcalloc((size_t)n + 1, sizeof *worst);
    for (int i = 0; i < n; i++)
        worst[i] = (struct stratum){s[i].a, s[i].n_a, s[i].n_b, s[i].n_b};
    double p = stat_stratified(worst, (size_t)n).higher;
    free(worst);
    return !(p <= alpha);
}

static struct gate_guard length_guard(const struct totals *t, double limit, double alpha, struct arena *a)
{
    enum signflip how;
    double mean = t->n_lengths ? stat_mean(t->log_length, (size_t)t->n_lengths) : 0;
    struct gate_guard g = {.name = "length", .base = 1, .now = exp(mean), .limit = 1 + limit / 100};
    g.p = mean > 0 ? stat_signflip(t->log_length, (size_t)t->n_lengths, 0, &how) / 2 : 1;
    g.failed = g.now > g.limit && (g.p <= alpha || g.now >= LENGTH_ALWAYS);
    g.is_blind = is_length_blind(t->n_lengths, alpha);
    if (g.is_blind && !g.failed)
        g.words = arena_printf(a, "whether answers are %g %% longer cannot be told with %d problems", limit,
                               t->n_lengths);
    else
        g.words = arena_printf(a, "answers are %.0f %% longer; %g %% are allowed", 100 * (g.now - 1), limit);
    return g;
}

static struct gate_guard share_guard(const char *name, const struct stratum *s, const struct totals *t,
                                     long base, long now, double limit, double alpha, struct arena *a)
{
    struct gate_guard g = {.name = name,
                           .base = share_of(base, t->base.n),
                           .now = share_of(now, t->now.n),
                           .limit = share_of(base, t->base.n) + limit / 100,
                           .p = stat_stratified(s, (size_t)t->n).higher};
    double always = fmax(SHARE_ALWAYS * g.base, g.base + SHARE_ALWAYS * limit / 100);
    g.failed = g.now > g.limit && (g.p <= alpha || g.now > always);
    g.is_blind = is_share_blind(s, t->n, alpha);
    if (g.is_blind && !g.failed) {
        g.words = arena_printf(a, "whether %g points more are %s cannot be told with %d problems", limit,
                               name, t->n);
        return g;
    }
    g.words =
        arena_printf(a, "%.0f %% of the answers are %s, in the baseline %.0f %%; %g points more are allowed",
                     100 * g.now, name, 100 * g.base, limit);
    return g;
}

/* is_served: most servers do not count them, and decode with full attention. */
static struct gate_guard reads_guard(const struct totals *t, double limit, int is_served, struct arena *a)
{
    struct gate_guard g = {.name = "reads",
                           .base = t->base.full > 0 ? (t->base.reads + t->base.aux) / t->base.full : NAN,
                           .now = t->now.full > 0 ? (t->now.reads + t->now.aux) / t->now.full : NAN,
                           .limit = limit / 100,
                           .p = NAN};
    int is_known = !isnan(g.base) && !isnan(g.now), is_none = isnan(g.base) && isnan(g.now);
    g.failed = is_known ? !(fabs(g.now - g.base) <= g.limit * g.base) : !is_none && !is_served;
    if (isnan(g.base) || isnan(g.now)) {
        g.words = isnan(g.base) && isnan(g.now) ? "reads are not counted"
                  : isnan(g.now)                ? "reads are not counted, in the baseline they are"
                                                : "reads are counted, in the baseline they are not";
        return g;
    }
    g.words =
        arena_printf(a,
                     "it reads %.1f %% of what full attention would, in the baseline %.1f %%; %g %% of that "
                     "may change",
                     100 * g.now, 100 * g.base, limit);
    return g;
}

void gate_guards(struct gate_setting *s, const struct gate_side *base, const struct gate_side *now,
                 const struct gate_limits *limits, int samples, int n_settings, struct arena *a)
{
    struct totals t;
    double alpha = GUARD_ALPHA / (3.0 * 3.0 * (n_settings > 0 ? n_settings : 1));
    collect_sums(&t, base, now, s->label, samples);
    s->guard[0] = length_guard(&t, limits->length, alpha, a);
    s->guard[1] = share_guard("cut off", t.cut, &t, t.base.cut, t.now.cut, limits->cut, alpha, a);
    s->guard[2] =
        share_guard("unparsed", t.unparsed, &t, t.base.unparsed, t.now.unparsed, limits->unparsed, alpha, a);
    s->guard[3] = reads_guard(&t, limits->reads, gate_is_served(base) || gate_is_served(now), a);
    s->guard[4] = (struct gate_guard){.name = "errors",
                                      .base = (double)t.base.errors,
                                      .now = (double)t.now.errors,
                                      .limit = limits->errors,
                                      .p = NAN,
                                      .failed = t.now.errors > limits->errors};
    s->guard[4].words = arena_printf(a, "%ld jobs failed; %d are allowed", t.now.errors, limits->errors);
    free(t.cut);
    free(t.unparsed);
    free(t.log_length);
}
