/* Tier 1 through the server of an endpoint (contract: gate.h): the completions that the baseline keeps stand
 * behind their prompts, and the server tells how likely each of their tokens is. What it tells varies with
 * its batch, so the same is asked several times, one request at a time and all together, and a night is
 * judged by how far repetitions were from each other when the baseline was made. */
#include <math.h>
#include <string.h>

#include "evalcore/gate/gate.h"

/* Half of the repetitions are alone, half together. */
enum { BASE_HALF = (GATE_REFERENCE + GATE_BAND) / 2, NIGHT_HALF = GATE_NIGHT / 2 };

/* Repetition k of the baseline is one of those that make the reference: the first alone and the first
 * together. */
static int is_reference(int k)
{
    return k % BASE_HALF < GATE_REFERENCE / 2;
}

static const double far_nats = 10; /* beyond it a token is as wrong as can be */

struct distance {
    double kl, worst, others, nats;
};

static struct distance distance_of(const struct gate_replay *base, const struct gate_replay *now)
{
    struct distance d = {0};
    int n = base->n < now->n ? base->n : now->n;
    for (int i = 0; i < n; i++) {
        double x = ((double)now->millinats[i] - (double)base->millinats[i]) / 1000;
        x = fmax(-far_nats, fmin(far_nats, x));
        d.kl += (expm1(x) - x) / n;
        d.nats += fabs(x) / n;
        d.worst = fmax(d.worst, fabs(x));
        d.others += !gate_same_top(base, now, i);
    }
    return d;
}

/* Drives out what the server keeps of earlier prompts: a repetition that takes it up again would be no second
 * computation, and after a new start of the server another one. What becomes of it says nothing. */
static int forget_prompt(const struct gate_replay *r, const struct gate_trace *traces, struct sweep *s,
                         const struct process_env *show, int *signal, struct arena *a, struct err *e)
{
    struct gate_replay bare = {.setting = r->setting, .trace = r->trace};
    return gate_replay(&bare, 1, traces, s, 0, show, signal, a, e);
}

/* Scores the n replays of r `half` times alone and `half` times together; repetition k of replay i is
 * out[k * n + i]. What the server does not score the first time has n 0 there, and is not asked again. */
static int score_all(struct gate_replay *out, const struct gate_replay *r, int n, int half,
                     const struct gate_trace *traces, struct sweep *s, const struct process_env *show,
                     int *signal, struct arena *a, struct err *e)
{
    int rc = 0, n_good = 0, at = half * n;
    for (int k = 0; k < 2 * half; k++)
        for (int i = 0; i < n; i++)
            out[k * n + i] = (struct gate_replay){.setting = r[i].setting, .trace = r[i].trace};
    for (int k = 0; k < half; k++)
        for (int i = 0; i < n && !rc && !*signal; i++) {
            if (k && !out[i].n)
                continue;
            rc = forget_prompt(&r[i], traces, s, show, signal, a, e);
            if (!rc && !*signal)
                rc = gate_replay(&out[k * n + i], 1, traces, s, 1, show, signal, a, e);
        }
    struct gate_replay *list = arena_alloc(a, ((size_t)(n * half) + 1) * sizeof *list);
    for (int i = 0; i < n * half; i++)
        if (out[i % n].n)
            list[n_good++] = out[at + i];
    if (!rc && !*signal && n_good)
        rc = gate_replay(list, n_good, traces, s, 1, show, signal, a, e);
    n_good = 0;
    for (int i = 0; i < n * half; i++)
        if (out[i % n].n)
            out[at + i] = list[n_good++];
    for (int i = 0; i < 2 * half * n && !rc && !*signal; i++)
        if (!out[i].n && out[i % n].n)
            rc = err_set(e, ERR_IO, "the server scored a completion, and then no more: %s",
                         out[i].why ? out[i].why : "it was not asked");
    return rc;
}

void gate_noise_band(struct gate_replay *out, const struct gate_replay *rep, struct arena *a)
{
    struct gate_band *b = arena_alloc(a, sizeof *b);
    *out = rep[0];
    *b = (struct gate_band){0};
    out->millinats = arena_alloc(a, (size_t)out->n * sizeof *out->millinats);
    for (int t = 0; t < out->n; t++) {
        double sum = 0;
        for (int k = 0; k < 2 * BASE_HALF; k++)
            sum += is_reference(k) ? rep[k].millinats[t] : 0;
        out->millinats[t] = (int)lrint(sum / GATE_REFERENCE);
    }
    for (int k = 0; k < 2 * BASE_HALF; k++) {
        if (is_reference(k))
            continue;
        struct distance d = distance_of(out, &rep[k]);
        b->kl[b->n] = d.kl;
        b->worst[b->n] = d.worst;
        b->others[b->n++] = d.others;
    }
    out->band = b;
}

int gate_noise_measure(struct gate_replay *r, int n, const struct gate_trace *traces, struct sweep *s,
                       const struct process_env *show, int *signal, struct arena *a, struct err *e)
{
    struct gate_replay *rep = arena_alloc(a, ((size_t)n * 2 * BASE_HALF + 1) * sizeof *rep);
    *signal = 0;
    int rc = score_all(rep, r, n, BASE_HALF, traces, s, show, signal, a, e);
    for (int i = 0; i < n && !rc && !*signal; i++) {
        struct gate_replay own[2 * BASE_HALF];
        for (int k = 0; k < 2 * BASE_HALF; k++)
            own[k] = rep[k * n + i];
        if (own[0].n)
            gate_noise_band(&r[i], own, a);
        else
            r[i] = own[0];
    }
    return rc;
}

static double largest(const double *v, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, v[i]);
    return most;
}

/* The nearest of the repetitions, by each measure: what is the server's change shows in all of them, and what
 * one batch does in one. */
void gate_noise_judge(struct gate_drift *d, const struct gate_replay *base, const struct gate_replay *rep,
                      struct arena *a)
{
    const struct gate_band *b = base->band;
    struct distance best = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int k = 0; k < GATE_NIGHT; k++) {
        struct distance x = distance_of(base, &rep[k]);
        best = (struct distance){fmin(best.kl, x.kl), fmin(best.worst, x.worst), fmin(best.others, x.others),
                                 fmin(best.nats, x.nats)};
    }
    double tokens = base->n, most = GATE_NOISE_TIMES * largest(b->others, b->n);
    most = fmax(most, fmax(1, (1 - GATE_TOP1) * tokens));
    *d = (struct gate_drift){.setting = base->setting,
                             .trace = base->trace,
                             .nats = best.nats,
                             .worst = best.worst,
                             .kl = best.kl,
                             .top1 = 1 - best.others / tokens,
                             .overlap = NAN,
                             .reads = NAN,
                             .wanted = NAN};
    d->kl_limit = fmax(GATE_NOISE_TIMES * largest(b->kl, b->n), GATE_NOISE_KL);
    d->worst_limit = fmax(GATE_NOISE_TIMES * largest(b->worst, b->n), GATE_NOISE_WORST);
    d->top1_limit = 1 - most / tokens;
    if (d->kl > d->kl_limit)
        d->why = arena_printf(
            a,
            "its distribution is %.2g nats a token (KL) from the baseline's; by the noise of the "
            "baseline's night %.2g are allowed",
            d->kl, d->kl_limit);
    else if (d->worst > d->worst_limit)
        d->why = arena_printf(a, "the log-probability of a token differs by %.2g nats; %.2g are allowed",
                              d->worst, d->worst_limit);
    else if (best.others > most)
        d->why = arena_printf(a, "the likeliest token is another at %.0f of %d places; %.0f are allowed",
                              best.others, base->n, floor(most));
    d->failed = d->why != NULL;
}

int gate_noise_night(struct gate_drift *out, const struct gate_side *base, struct sweep *s,
                     const struct process_env *show, int *signal, struct arena *a, struct err *e)
{
    int n = base->n_replays;
    struct gate_replay *rep = arena_alloc(a, ((size_t)n * GATE_NIGHT + 1) * sizeof *rep);
    *signal = 0;
    int rc = score_all(rep, base->replays, n, NIGHT_HALF, base->traces, s, show, signal, a, e);
    for (int i = 0; i < n && !rc && !*signal; i++) {
        if (!rep[i].n)
            return err_set(
                e, ERR_USAGE,
                "%s has log-probabilities of its completions, and the server gives none: %s; set it "
                "up as it was, or make a new base file with --rebaseline",
                base->path, rep[i].why);
        struct gate_replay own[GATE_NIGHT];
        for (int k = 0; k < GATE_NIGHT; k++)
            own[k] = rep[k * n + i];
        gate_noise_judge(&out[i], &base->replays[i], own, a);
    }
    return rc;
}
