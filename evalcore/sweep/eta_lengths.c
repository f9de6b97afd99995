/* Distributions of lengths from finished and running completions (eta.h says how). Lengths are divided by
 * what was expected of the job, so that jobs of which different lengths are expected can be pooled. The
 * chance of ending per unit of such a length is constant within a step, and steps grow by a constant factor.
 *
 * In each step a task's chance is what was seen there, and, as if a few more had been seen, that of
 * log-normal lengths. Their median and spread are weighed by how well they explain all that was seen and how
 * usual they are, so that a few endings tell where the others will be. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/sweep/eta_parts.h"

enum { STEPS = 32 };
#define FIRST  0.01 /* end of the first step; the last one has no end */
#define FACTOR 1.3
/* How many endings of what is known otherwise count in each step: the log-normal for a task, the task for a
 * cell. */
#define CURVE_ENDINGS 3.0
#define TASK_ENDINGS  8.0
/* Medians, as logarithms, and spreads of the log-normal lengths that are tried, and what is usual: a mean
 * as expected, give or take a factor of 1.5, and a spread of 0.6. */
enum { MEDIANS = 60, SPREADS = 12 };
#define MEDIAN_FIRST -4.6
#define MEDIAN_STEP  0.12
#define USUAL_FACTOR 0.4
#define USUAL_SPREAD 0.6
static const double spreads[SPREADS] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4};

struct hazard {
    double endings[STEPS], survived[STEPS]; /* in units of expected lengths */
    double rate[STEPS];
};

struct curve {    /* log-normal lengths */
    double usual; /* logarithm of how usual they are */
    double rate[STEPS];
};

struct eta_lengths {
    double end[STEPS];
    struct hazard *cell, *task;
    struct curve curve[MEDIANS * SPREADS];
};

/* The logarithm of the share of log-normal lengths above x. */
static double log_above(double x, double median, double spread)
{
    double z = (log(x) - median) / spread;
    /* Far out the share is too small for erfc; this is the first term of its expansion. */
    return z < 20 ? log(erfc(z / sqrt(2)) / 2) : -z * z / 2 - log(z * 2.5066282746310002);
}

static void fill_curve(const struct eta_lengths *l, struct curve *c, double median, double spread)
{
    double mean = median + spread * spread / 2, from = 0, above = 0;
    c->usual = -1.5 * log1p(mean * mean / (2 * USUAL_FACTOR * USUAL_FACTOR)) -
               log(spread / USUAL_SPREAD) * log(spread / USUAL_SPREAD) / 2;
    for (int i = 0; i < STEPS; i++) {
        double to = i + 1 < STEPS ? l->end[i] : 2 * from, next = log_above(to, median, spread);
        c->rate[i] = (above - next) / (to - from);
        if (c->rate[i] < 1e-9)
            c->rate[i] = 1e-9;
        above = next;
        from = to;
    }
}

static void add(const struct eta_lengths *l, struct hazard *h, double length, int is_ending, double weight)
{
    double from = 0;
    for (int i = 0; i < STEPS; i++) {
        double to = length < l->end[i] ? length : l->end[i];
        if (to > from)
            h->survived[i] += weight * (to - from);
        if (length <= l->end[i]) {
            h->endings[i] += weight * is_ending;
            return;
        }
        from = l->end[i];
    }
}

/* The curve that explains the endings of h best (a Poisson number in each step), how usual it is counting
 * too. */
static const struct curve *best_curve(const struct eta_lengths *l, const struct hazard *h)
{
    const struct curve *best = l->curve;
    double most = -INFINITY;
    for (int c = 0; c < MEDIANS * SPREADS; c++) {
        double fits = l->curve[c].usual;
        for (int i = 0; i < STEPS; i++)
            if (h->survived[i] > 0)
                fits += h->endings[i] * log(l->curve[c].rate[i]) - h->survived[i] * l->curve[c].rate[i];
        if (fits > most) {
            most = fits;
            best = &l->curve[c];
        }
    }
    return best;
}

static void task_rates(const struct eta_lengths *l, struct hazard *h)
{
    const struct curve *c = best_curve(l, h);
    for (int i = 0; i < STEPS; i++)
        h->rate[i] = (h->endings[i] + CURVE_ENDINGS) / (h->survived[i] + CURVE_ENDINGS / c->rate[i]);
}

static void cell_rates(struct hazard *h, const struct hazard *task)
{
    for (int i = 0; i < STEPS; i++)
        h->rate[i] = (h->endings[i] + TASK_ENDINGS) / (h->survived[i] + TASK_ENDINGS / task->rate[i]);
}

struct eta_lengths *eta_lengths_of(const struct eta_run *r)
{
    struct eta_lengths *l = xcalloc(1, sizeof *l);
    int *task_of = xcalloc((size_t)r->n_cells + 1, sizeof *task_of);
    l->cell = xcalloc((size_t)r->n_cells + 1, sizeof *l->cell);
    l->task = xcalloc((size_t)r->n_tasks + 1, sizeof *l->task);
    for (int i = 0; i < STEPS; i++)
        l->end[i] = i + 1 < STEPS ? FIRST * pow(FACTOR, i) : INFINITY;
    for (int i = 0; i < MEDIANS * SPREADS; i++)
        fill_curve(l, &l->curve[i], MEDIAN_FIRST + MEDIAN_STEP * (i / SPREADS), spreads[i % SPREADS]);
    for (long i = 0; i < r->n_jobs; i++) {
        const struct eta_job *j = &r->job[i];
        task_of[j->cell] = j->task;
        if (j->state == ETA_WAITING || !isfinite(j->usual))
            continue;
        int is_ending = j->state == ETA_DONE && j->tokens < j->limit;
        add(l, &l->cell[j->cell], j->tokens / j->usual, is_ending, 1);
        add(l, &l->task[j->task], j->tokens / j->usual, is_ending, j->weight);
    }
    for (int i = 0; i < r->n_tasks; i++)
        task_rates(l, &l->task[i]);
    for (int i = 0; i < r->n_cells; i++)
        cell_rates(&l->cell[i], &l->task[task_of[i]]);
    free(task_of);
    return l;
}

void eta_lengths_release(struct eta_lengths *l)
{
    free(l->cell);
    free(l->task);
    free(l);
}

double eta_lengths_at(const struct eta_lengths *l, const struct eta_job *j, double u)
{
    if (!isfinite(j->usual))
        return j->limit;
    const struct hazard *h = &l->cell[j->cell];
    double x = j->tokens / j->usual, left = -log1p(-u);
    for (int i = 0; i < STEPS; i++) {
        if (x >= l->end[i])
            continue;
        double passed = (l->end[i] - x) * h->rate[i];
        if (left <= passed) {
            x += left / h->rate[i];
            break;
        }
        left -= passed;
        x = l->end[i];
    }
    double tokens = ceil(x * j->usual);
    tokens = tokens > j->tokens ? tokens : j->tokens + 1;
    return tokens < j->limit ? tokens : j->limit;
}
