/* Lengths and speed of a sweep (contract: forecast.h). */
#include "evalcore/sweep/forecast.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

/* Steps after which a sample counts for 1/e in the recent ones. */
#define RECENT_STEPS 50.0
/* The share of a step's time that does not depend on the number of rows. */
#define FIXED_GPU 0.8
#define FIXED_CPU 0.25
/* What passes between steps is not taken for more than the steps themselves. */
#define OVERHEAD_MAX 2.0
/* With this many completions of a cell, or else of a task, their lengths replace what was expected. */
enum { ENOUGH = 8 };
#define GROWTH 1.25
/* The length of a typical job: the mean of log-normal lengths with a spread of 0.6 is this percentile. */
#define TYPICAL 0.62

struct forecast_ratios {
    double *ratio; /* (n) length over what was expected, ascending; INFINITY: its limit ended it */
    long n;
};

static void add_sample(struct forecast_sample *to, const struct forecast_sample *x, double keep)
{
    to->steps = to->steps * keep + x->steps;
    to->seconds = to->seconds * keep + x->seconds;
    to->rows = to->rows * keep + x->rows;
    to->prompt_seconds = to->prompt_seconds * keep + x->prompt_seconds;
    to->prompts = to->prompts * keep + x->prompts;
    to->wall = to->wall * keep + x->wall;
}

void forecast_add(struct forecast *f, int model, const struct forecast_sample *x)
{
    struct forecast_speed *s = &f->speed[model];
    add_sample(&s->all, x, 1);
    add_sample(&s->recent, x, exp(-x->steps / RECENT_STEPS));
    f->version++;
}

static int is_known(const struct forecast_speed *s)
{
    return s->recent.steps > 0 && s->recent.seconds > 0 && s->recent.rows > 0;
}

int forecast_speed_of(const struct forecast *f, int model, struct forecast_speed *out)
{
    *out = f->speed[model];
    for (int m = 0; m < f->n_models && !is_known(out); m++) {
        const struct forecast_speed *s = &f->speed[m];
        double factor = s->weight > 0 ? out->weight / s->weight : 1;
        if (!is_known(s))
            continue;
        out->recent = s->recent;
        out->all = s->all;
        struct forecast_sample *sums[] = {&out->recent, &out->all};
        for (int i = 0; i < 2; i++) {
            sums[i]->seconds *= factor;
            sums[i]->prompt_seconds *= factor;
            sums[i]->wall *= factor;
        }
    }
    if (out->devices < 1)
        out->devices = 1;
    return is_known(out);
}

static double overhead_of(const struct forecast_speed *s)
{
    double busy = s->all.seconds + s->all.prompt_seconds;
    double overhead = busy > 0 && s->all.wall > busy ? s->all.wall / busy : 1;
    return overhead < OVERHEAD_MAX ? overhead : OVERHEAD_MAX;
}

double forecast_step(const struct forecast *f, const struct forecast_speed *s, double rows)
{
    double fixed = f->is_gpu ? FIXED_GPU : FIXED_CPU, seen = s->recent.rows / s->recent.steps;
    return s->recent.seconds / s->recent.steps * (fixed + (1 - fixed) * rows / seen) * overhead_of(s);
}

double forecast_prompt(const struct forecast_speed *s, double tokens)
{
    return s->all.prompts > 0 ? tokens * s->all.prompt_seconds / s->all.prompts * overhead_of(s) : 0;
}

/* A job's length over what was expected of it; below 0: it tells nothing. */
static double ratio_of(const struct forecast_job *j)
{
    if (j->state == JOB_WAITING || !isfinite(j->usual) || (j->state == JOB_DONE && !j->tokens))
        return -1;
    if (j->state == JOB_DONE)
        return j->tokens < j->limit ? j->tokens / j->usual : INFINITY;
    double ratio = GROWTH * j->tokens / j->usual;
    return ratio > 1 ? ratio : 1;
}

static int by_size(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return a < b ? -1 : a > b;
}

/* Sorts the ratios of all jobs into n lists, by cell or by task. */
static struct forecast_ratios *collect_ratios(const struct forecast *f, int n, int by_task)
{
    struct forecast_ratios *list = xcalloc((size_t)n + 1, sizeof *list);
    long *count = xcalloc((size_t)n + 1, sizeof *count);
    for (long i = 0; i < f->n_jobs; i++)
        count[by_task ? f->job[i].task : f->job[i].cell] += ratio_of(&f->job[i]) >= 0;
    for (int i = 0; i < n; i++)
        list[i].ratio = xmalloc(((size_t)count[i] + 1) * sizeof *list[i].ratio);
    for (long i = 0; i < f->n_jobs; i++) {
        double ratio = ratio_of(&f->job[i]);
        struct forecast_ratios *l = &list[by_task ? f->job[i].task : f->job[i].cell];
        if (ratio >= 0)
            l->ratio[l->n++] = ratio;
    }
    for (int i = 0; i < n; i++)
        qsort(list[i].ratio, (size_t)list[i].n, sizeof *list[i].ratio, by_size);
    free(count);
    return list;
}

static void release_ratios(struct forecast_ratios *list, int n)
{
    for (int i = 0; list && i < n; i++)
        free(list[i].ratio);
    free(list);
}

void forecast_update(struct forecast *f)
{
    forecast_release(f);
    f->of_cell = collect_ratios(f, f->n_cells, 0);
    f->of_task = collect_ratios(f, f->n_tasks, 1);
}

void forecast_release(struct forecast *f)
{
    release_ratios(f->of_cell, f->n_cells);
    release_ratios(f->of_task, f->n_tasks);
    f->of_cell = f->of_task = NULL;
}

/* The percentile among the ratios above x; below 0: there are too few. */
static double percentile_above(const struct forecast_ratios *l, double x, double share)
{
    long low = 0, high = l->n;
    while (low < high) {
        long middle = (low + high) / 2;
        if (l->ratio[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    long n = l->n - low, at = (long)(share * (double)n);
    if (n < ENOUGH)
        return -1;
    return l->ratio[low + (at < n ? at : n - 1)];
}

double forecast_tokens(const struct forecast *f, const struct forecast_job *j, double share)
{
    if (!isfinite(j->usual))
        return j->limit;
    double x = j->tokens / j->usual, ratio = percentile_above(&f->of_cell[j->cell], x, share);
    if (ratio < 0)
        ratio = percentile_above(&f->of_task[j->task], x, share);
    if (ratio < 0)
        ratio = GROWTH * x > 1 ? GROWTH * x : 1;
    double tokens = isfinite(ratio) ? ceil(ratio * j->usual) : j->limit;
    tokens = tokens > j->tokens ? tokens : j->tokens + 1;
    return tokens < j->limit ? tokens : j->limit;
}

/* Seconds that the jobs of one model take on all devices; below 0 if its speed is not known. */
static double model_seconds(const struct forecast *f, int model)
{
    struct forecast_speed s;
    double left = 0, prompts = 0, longest = 0;
    long n = 0;
    for (long i = 0; i < f->n_jobs; i++)
        n += f->job[i].model == model && f->job[i].state != JOB_DONE;
    if (!n)
        return 0;
    if (!forecast_speed_of(f, model, &s))
        return -1;
    for (long i = 0; i < f->n_jobs; i++) {
        const struct forecast_job *j = &f->job[i];
        if (j->model != model || j->state == JOB_DONE)
            continue;
        double last = forecast_tokens(f, j, 1 - 0.5 / (double)n) - j->tokens;
        left += forecast_tokens(f, j, TYPICAL) - j->tokens;
        longest = last > longest ? last : longest;
        prompts += j->state == JOB_WAITING ? j->prompt : 0;
    }
    double devices = f->devices > 0 ? f->devices : 1, places = f->places > 0 ? f->places : 1;
    double rows = (double)n < places ? (double)n : places;
    /* When the last job has started, the longest under way has about half of its tokens to go, and the others
     * half of a typical job's. */
    double tail = (double)n > rows ? 0.5 * (longest - left / (double)n) : 0;
    double steps = left / rows + (tail > 0 ? tail : 0);
    if (steps < longest)
        steps = longest;
    double together = left / steps, share = together < devices ? together : devices;
    return steps * forecast_step(f, &s, together / share) + forecast_prompt(&s, prompts) / devices;
}

double forecast_seconds(const struct forecast *f)
{
    double sum = 0;
    for (int m = 0; m < f->n_models; m++) {
        double seconds = model_seconds(f, m);
        if (seconds < 0)
            return -1;
        sum += seconds;
    }
    return sum;
}
