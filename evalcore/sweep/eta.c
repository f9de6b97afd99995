/* Playing the rest of a run through (contract: eta.h). */
#include "evalcore/sweep/eta.h"

#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/sweep/eta_parts.h"

/* ---- speed ---- */

/* The latest steps are those of about the last tenth of the run, but no fewer than these. */
enum { RECENT_STEPS = 50, LEAST_STEPS = 1 };
#define RECENT_SHARE 0.1
/* What is taken of a step's time while the steps do not tell: the share of what does not depend on the batch
 * (a GPU reads the weights once for all rows), of rows (a CPU multiplies for each), and of context. And how
 * much that counts, as a share of all steps, at the least: where the time of a step scatters, and rows and
 * context hardly change, more, or the scatter would decide. The shares may be off by PRIOR_SPREAD. */
static const double gpu_prior[3] = {0.65, 0.15, 0.2}, cpu_prior[3] = {0.2, 0.6, 0.2};
#define PRIOR_WEIGHT 0.002
#define PRIOR_SPREAD 0.2
/* The first steps are slow, for they touch all memory for the first time, and have few rows. */
#define FIRST_WEIGHT 0.05

static void add_sample(struct eta_sample *to, const struct eta_sample *x, double keep)
{
    to->steps = to->steps * keep + x->steps;
    to->seconds = to->seconds * keep + x->seconds;
    to->rows = to->rows * keep + x->rows;
    to->context = to->context * keep + x->context;
    to->prompt_seconds = to->prompt_seconds * keep + x->prompt_seconds;
    to->prompts = to->prompts * keep + x->prompts;
    to->wall = to->wall * keep + x->wall;
}

void eta_speed_add(struct eta_speed *s, const struct eta_sample *x)
{
    double window = s->sum.steps * RECENT_SHARE;
    window = window > RECENT_STEPS ? window : RECENT_STEPS;
    add_sample(&s->sum, x, 1);
    add_sample(&s->recent, x, exp(-x->steps / window));
    if (!(x->steps > 0))
        return;
    double n = x->rows / x->steps, c = x->context / x->steps, y = x->seconds / x->steps, w = x->steps;
    w *= s->samples > 0 ? 1 : FIRST_WEIGHT;
    s->weight += w;
    s->y += w * y;
    s->n += w * n;
    s->s += w * c;
    s->nn += w * n * n;
    s->ns += w * n * c;
    s->ss += w * c * c;
    s->ny += w * n * y;
    s->sy += w * c * y;
    s->yy += w * y * y;
    s->samples++;
}

void eta_speed_scale(struct eta_speed *s, double factor)
{
    struct eta_sample *samples[] = {&s->sum, &s->recent};
    s->y *= factor;
    s->ny *= factor;
    s->sy *= factor;
    s->yy *= factor * factor;
    for (int i = 0; i < 2; i++) {
        samples[i]->seconds *= factor;
        samples[i]->prompt_seconds *= factor;
        samples[i]->wall *= factor;
    }
}

/* Least squares for y = k0 + k1 n + k2 s with no k below 0, by coordinates. n and s are taken relative to
 * their means and y to its own, so that all three k are shares of a mean step; the prior holds what the steps
 * do not tell, because rows or context have not changed yet. Returns the variance that is left. */
static double fit_shares(const struct eta_speed *s, double weight, double k[3])
{
    double w = s->weight, n = s->n / w, c = s->s / w, y = s->y / w, rest = s->yy / w / y / y;
    const double xx[3][3] = {
        {1, 1, 1}, {1, s->nn / w / n / n, s->ns / w / n / c}, {1, s->ns / w / n / c, s->ss / w / c / c}};
    const double xy[3] = {1, s->ny / w / n / y, s->sy / w / c / y};
    const double *prior = s->is_gpu ? gpu_prior : cpu_prior;
    for (int i = 0; i < 3; i++)
        k[i] = prior[i];
    for (int round = 0; round < 2000; round++)
        for (int i = 0; i < 3; i++) {
            double v = xy[i] + weight * prior[i];
            for (int j = 0; j < 3; j++)
                v -= j == i ? 0 : xx[i][j] * k[j];
            k[i] = v / (xx[i][i] + weight);
            k[i] = k[i] > 0 ? k[i] : 0;
        }
    for (int i = 0; i < 3; i++) {
        rest -= 2 * k[i] * xy[i];
        for (int j = 0; j < 3; j++)
            rest += k[i] * k[j] * xx[i][j];
    }
    return rest > 0 ? rest : 0;
}

static void fit(const struct eta_speed *s, double k[3])
{
    double left = fit_shares(s, PRIOR_WEIGHT, k);
    double weight = left / (s->samples * PRIOR_SPREAD * PRIOR_SPREAD);
    if (weight > PRIOR_WEIGHT)
        fit_shares(s, weight, k);
    double y = s->y / s->weight;
    k[0] *= y;
    k[1] *= y * s->weight / s->n;
    k[2] *= y * s->weight / s->s;
}

struct step_time {
    double base, row, token;
};

static struct step_time step_time(const struct eta_speed *s)
{
    double k[3];
    fit(s, k);
    double steps = s->recent.steps, now = s->recent.seconds / steps;
    double said = k[0] + k[1] * s->recent.rows / steps + k[2] * s->recent.context / steps;
    double scale = said > 0 && now > 0 ? now / said : 1;
    return (struct step_time){k[0] * scale, k[1] * scale, k[2] * scale};
}

double eta_speed_step(const struct eta_speed *s, double rows, double context)
{
    struct step_time t = step_time(s);
    return t.base + t.row * rows + t.token * context;
}

/* ---- the rest of the run ---- */

struct running {
    double end;     /* step in which it ends */
    double context; /* its tokens then */
};

struct play {
    const struct eta_run *run;
    struct step_time step;
    struct running *heap; /* the first to end is on top */
    long n;
    double now, context, seconds; /* steps, tokens in all caches, seconds of decoding */
};

static void push(struct play *p, double end, double context)
{
    long i = p->n++;
    for (long up; i > 0 && p->heap[up = (i - 1) / 2].end > end; i = up)
        p->heap[i] = p->heap[up];
    p->heap[i] = (struct running){end, context};
}

static struct running pop(struct play *p)
{
    struct running top = p->heap[0], last = p->heap[--p->n];
    long i = 0;
    for (long k; (k = 2 * i + 1) < p->n; i = k) {
        if (k + 1 < p->n && p->heap[k + 1].end < p->heap[k].end)
            k++;
        if (p->heap[k].end >= last.end)
            break;
        p->heap[i] = p->heap[k];
    }
    p->heap[i] = last;
    return top;
}

/* Decodes until the first sequence ends. The context grows by one token a row and step. */
static void advance(struct play *p)
{
    double devices = p->run->devices, rows = (double)p->n, steps = p->heap[0].end - p->now;
    double context = p->context + rows * steps / 2;
    /* With fewer sequences than devices some stand still. */
    double share = rows < devices ? rows : devices;
    p->seconds += steps * (p->step.base + (p->step.row * rows + p->step.token * context) / share);
    p->context += rows * steps;
    p->now = p->heap[0].end;
    p->context -= pop(p).context;
}

/* One course that the rest could take; `turn` picks which. Returns seconds of decoding. */
static double play(struct play *p, const struct eta_lengths *l, double turn)
{
    const struct eta_run *r = p->run;
    double u = turn;
    p->n = 0;
    p->now = p->context = p->seconds = 0;
    for (int state = ETA_RUNNING; state >= ETA_WAITING; state--)
        for (long i = 0; i < r->n_jobs; i++) {
            const struct eta_job *j = &r->job[i];
            if ((int)j->state != state)
                continue;
            u = fmod(u + 0.6180339887498949, 1); /* golden ratio: any stretch of these is spread evenly */
            while (p->n >= r->places)
                advance(p);
            double length = eta_lengths_at(l, j, u);
            push(p, p->now + length - j->tokens, j->prompt + length);
            p->context += j->prompt + j->tokens;
        }
    while (p->n)
        advance(p);
    return p->seconds;
}

double eta_seconds(const struct eta_run *r)
{
    const struct eta_sample *sum = &r->speed.sum;
    double prompts = 0, decode = 0, busy = sum->seconds + sum->prompt_seconds;
    long n_left = 0;
    for (long i = 0; i < r->n_jobs; i++) {
        prompts += r->job[i].state == ETA_WAITING ? r->job[i].prompt : 0;
        n_left += r->job[i].state != ETA_DONE;
    }
    if (!n_left)
        return 0;
    if (sum->steps < LEAST_STEPS || !(sum->seconds > 0) || !(sum->rows > 0) || !(sum->context > 0))
        return -1;
    int turns = n_left < 500 ? 16 : n_left < 10000 ? 4 : 1;
    struct eta_lengths *l = eta_lengths_of(r);
    struct play p = {.run = r, .step = step_time(&r->speed)};
    p.heap = xcalloc((size_t)r->places + (size_t)n_left + 1, sizeof *p.heap);
    for (int i = 0; i < turns; i++)
        decode += log(play(&p, l, (i + 0.5) / turns) + 1e-9) / turns;
    decode = exp(decode); /* the geometric mean: what counts is to be right within a factor */
    free(p.heap);
    eta_lengths_release(l);
    prompts *= sum->prompts > 0 ? sum->prompt_seconds / sum->prompts / r->devices : 0;
    double overhead = sum->wall > busy ? sum->wall / busy : 1;
    return (decode + prompts) * overhead;
}
