/* Which job is next (contract: queue.h). */
#include "evalcore/base/clock.h"
#include "evalcore/sweep/queue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"

/* The percentile of lengths that the deadline counts on. */
#define SURE 0.75
/* A running job that needs more than this many times the time left is not waited for. One that needs a little
 * more is waited for: speeds vary, and a job started beside it would make it late for good. */
#define HOPELESS       2
#define UPDATE_SECONDS 1.0

/* ---- begin and end ---- */

/* The share of a model's jobs that an earlier sweep of the folder has left, as far as its configuration
 * tells. */
static double share_left(const struct run *done, const char *model)
{
    double expected = 0, left = 0;
    for (int c = 0; c < done->n_cells; c++)
        if (!strcmp(done->cells[c].model, model)) {
            expected += done->cells[c].n_expected;
            left += done->cells[c].n_expected - done->cells[c].n_records;
        }
    return expected > 0 ? left / expected : 1;
}

void queue_guess(struct queue *q, const struct runplan *p, const char *dir)
{
    const struct run_options o = {.grades = RUN_GRADES_NONE};
    struct run done = {0};
    struct err ignored = {0};
    struct str config = {0};
    q->plan = p;
    q->n_models = p->file->n_models > 0 ? p->file->n_models : 1;
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        struct queue_model *m = &q->model[p->loaded[c->loaded_model].model];
        for (size_t k = 0; k < p->sets[c->set].task.n_problems; k++) {
            double limit = runplan_limit(p, c, k), usual = task_usual_tokens(c->task->ops, &c->task->options);
            m->tokens += c->settings->s.samples *
                         (usual < limit && !settings_only_limit(&c->settings->s) ? usual : limit);
        }
    }
    if (q->n_models < 2 || !dir)
        return;
    file_join(&config, dir, "config.resolved.json");
    int has_run = file_exists(str_text(&config)) && !run_load_with(&done, dir, &o, &ignored);
    for (int m = 0; m < q->n_models && has_run; m++)
        q->model[m].tokens *= share_left(&done, p->file->models[m].shown);
    if (has_run)
        run_release(&done);
    str_release(&config);
}

void queue_begin(struct queue *q, const struct runplan *p, struct forecast *f, struct decoder *d,
                 const struct deadline *deadline)
{
    long at = 0;
    queue_release(q);
    q->plan = p;
    q->forecast = f;
    q->decoder = d;
    q->deadline = deadline;
    q->left = p->n_jobs;
    q->n_models = f->n_models;
    q->fate = xcalloc((size_t)p->n_jobs + 1, sizeof *q->fate);
    q->is_waiting = xmalloc((size_t)p->n_jobs + 1);
    memset(q->is_waiting, 1, (size_t)p->n_jobs);
    for (int m = 0; m < q->n_models; m++) {
        struct queue_model *k = &q->model[m];
        k->first = at;
        while (at < p->n_jobs &&
               (q->n_models < 2 || runplan_model(p, &p->jobs[at]) == m)) /* jobs are sorted by model */
            at++;
        k->end = at;
        k->left = d->left[m] = k->end - k->first;
        k->seen = k->refused = -1;
        families_init(&k->families, p, k->first, k->end, d->n_workers);
    }
}

void queue_release(struct queue *q)
{
    for (int m = 0; m < q->n_models; m++) {
        families_release(&q->model[m].families);
        q->model[m] = (struct queue_model){.tokens = q->model[m].tokens};
    }
    free(q->fate);
    free(q->is_waiting);
    free(q->suspect);
    q->fate = NULL;
    q->is_waiting = NULL;
    q->suspect = NULL;
    q->n_suspects = 0;
    q->cap_suspects = 0;
    memset(q->company, 0, sizeof q->company);
}

static struct queue_model *model_of(const struct queue *q, long j)
{
    int m = 0;
    while (j >= q->model[m].end)
        m++;
    return (struct queue_model *)&q->model[m];
}

static void count_left(struct queue *q, long j, int n)
{
    struct queue_model *k = model_of(q, j);
    q->left += n;
    k->left += n;
    q->decoder->left[k - q->model] = k->left;
}

/* ---- the deadline ---- */

static int is_limited(const struct queue *q)
{
    return q->deadline && deadline_is_limited(q->deadline);
}

/* Brings up to date what is known of running jobs and of lengths. Returns 0 while the speed is not known. */
static int look_at_model(struct queue *q, struct queue_model *k, struct forecast_speed *speed)
{
    struct forecast *f = q->forecast;
    double now = clock_seconds();
    if (!forecast_speed_of(f, (int)(k - q->model), speed))
        return 0;
    if (!f->of_cell || now - q->updated >= UPDATE_SECONDS) {
        forecast_update(f);
        q->updated = now;
        k->seen = -1;
    }
    if (k->seen == f->version)
        return 1;
    k->seen = f->version;
    k->rows = k->last = k->prompts = 0;
    for (long i = k->first; i < k->end; i++)
        k->rows += f->job[i].state == JOB_RUNNING;
    double share = k->rows < speed->devices ? k->rows : speed->devices;
    double step = k->rows > 0 ? forecast_step(f, speed, k->rows / share) : 0;
    for (long i = k->first; i < k->end; i++) {
        const struct forecast_job *j = &f->job[i];
        double left = j->state == JOB_RUNNING ? forecast_tokens(f, j, SURE) - j->tokens : 0;
        if (left * step <= HOPELESS * (q->deadline->end - now) && left > k->last)
            k->last = left;
    }
    return 1;
}

/* Is job j expected to end in time, and what runs beside it, if it starts after `seconds`? */
static int fits_in_time(const struct queue *q, const struct queue_model *k,
                        const struct forecast_speed *speed, long j, double seconds)
{
    const struct forecast_job *job = &q->forecast->job[j];
    double length = forecast_tokens(q->forecast, job, SURE), last = length > k->last ? length : k->last;
    double rows = k->rows + 1, share = rows < speed->devices ? rows : speed->devices;
    double prompts = k->prompts + forecast_prompt(speed, job->prompt) / speed->devices;
    return clock_seconds() + seconds + prompts + last * forecast_step(q->forecast, speed, rows / share) <=
           q->deadline->end;
}

/* Starts job j if it fits. */
static int admit_job(struct queue *q, struct queue_model *k, const struct forecast_speed *speed, long j)
{
    struct forecast_job *job = &q->forecast->job[j];
    if (!fits_in_time(q, k, speed, j, 0))
        return 0;
    double length = forecast_tokens(q->forecast, job, SURE);
    k->rows++;
    k->last = length > k->last ? length : k->last;
    k->prompts += forecast_prompt(speed, job->prompt) / speed->devices;
    job->state = JOB_RUNNING;
    return 1;
}

static int is_refused(const struct queue *q, const struct queue_model *k)
{
    return k->refused == q->forecast->version;
}

static long take_in_time(struct queue *q, struct queue_model *k, int w, int busy)
{
    struct forecast_speed speed;
    if (is_refused(q, k))
        return -1;
    if (!look_at_model(q, k, &speed))
        return busy < k->families.n_workers ? families_take_last(&k->families, q->plan) : -1;
    for (int is_shortest = 0; is_shortest < 2; is_shortest++) {
        long j = is_shortest ? families_take_last(&k->families, q->plan) : families_take(&k->families, w);
        if (j < 0 || admit_job(q, k, &speed, j))
            return j;
        families_give_back(&k->families, j);
    }
    k->refused = q->forecast->version;
    return -1;
}

/* May suspect j start now? It is in no family. */
static int may_start(struct queue *q, struct queue_model *k, long j)
{
    struct forecast_speed speed;
    if (!is_limited(q))
        return 1;
    if (is_refused(q, k))
        return 0;
    if (!look_at_model(q, k, &speed) || admit_job(q, k, &speed, j))
        return 1;
    k->refused = q->forecast->version;
    return 0;
}

double queue_shortest(const struct queue *q, double *tokens)
{
    double least = INFINITY;
    struct forecast_speed speed;
    for (int m = 0; m < q->n_models; m++) {
        if (!forecast_speed_of(q->forecast, m, &speed))
            continue;
        for (long i = q->model[m].first; i < q->model[m].end; i++) {
            struct forecast_job j = q->forecast->job[i];
            if (j.state == JOB_DONE)
                continue;
            j.tokens = 0;
            double n = q->forecast->of_cell ? forecast_tokens(q->forecast, &j, SURE) : j.limit;
            double seconds = forecast_prompt(&speed, j.prompt) + n * forecast_step(q->forecast, &speed, 1);
            if (seconds < least) {
                least = seconds;
                *tokens = n;
            }
        }
    }
    return least;
}

/* ---- suspects ---- */

/* Do workers other than w live, or come back soon, that may load the model? */
static int has_others(const struct queue *q, int w, int model)
{
    for (int i = 0; i < q->decoder->n_workers; i++) {
        const struct decoder_worker *l = &q->decoder->worker[i];
        if (i != w && !(l->cannot >> model & 1) && (l->is_live || l->is_coming))
            return 1;
    }
    return 0;
}

static long find_suspect(const struct queue *q, int w)
{
    const struct decoder_worker *l = &q->decoder->worker[w];
    long found = -1;
    for (long k = 0; k < q->n_suspects; k++) {
        const struct job_fate *than = found < 0 ? NULL : &q->fate[q->suspect[found]];
        if (model_of(q, q->suspect[k]) == &q->model[l->model] &&
            fate_is_next(&q->fate[q->suspect[k]], than, w, l->n_held, l->n_finished,
                         has_others(q, w, l->model)))
            found = k;
    }
    return found;
}

static long take_suspect(struct queue *q, int w)
{
    const struct decoder_worker *l = &q->decoder->worker[w];
    long k = find_suspect(q, w), j = k < 0 ? -1 : q->suspect[k];
    if (j < 0 || !may_start(q, &q->model[l->model], j))
        return -1;
    q->company[w] = fate_company(&q->fate[j], l->n_held, q->company[w]);
    memmove(q->suspect + k, q->suspect + k + 1, (size_t)(--q->n_suspects - k) * sizeof *q->suspect);
    return j;
}

/* ---- the next job ---- */

static int held_of_model(const struct queue *q, int model)
{
    int n = 0;
    for (int i = 0; i < q->decoder->n_workers; i++)
        n += q->decoder->worker[i].model == model ? q->decoder->worker[i].n_held : 0;
    return n;
}

/* A worker gets no more than its share, and than it can decode at once, when the jobs left fit into two
 * rounds of all places, or too few are left to fill every free place and to have some waiting in every
 * engine: what waits in one would start sooner on another device, and the jobs that are handed out first are
 * the longest. */
static int has_its_share(const struct queue *q, const struct decoder_worker *l, int busy)
{
    long left = q->model[l->model].left, n = 0, places = 0, free = 0;
    for (int i = 0; i < q->decoder->n_workers; i++) {
        const struct decoder_worker *x = &q->decoder->worker[i];
        if (!x->is_live || x->model != l->model || x->is_leaving)
            continue;
        n++;
        places += x->places;
        free += x->places > x->n_held ? x->places - x->n_held : 0;
    }
    if (q->decoder->n_workers < 2 || (left > 2 * places && left - busy - free > n * DECODER_WAITING))
        return 0;
    long share = (left + n - 1) / n;
    return l->n_held >= (share < l->places ? share : l->places);
}

long queue_next(struct queue *q, int w)
{
    const struct decoder_worker *l = &q->decoder->worker[w];
    struct queue_model *k = &q->model[l->model];
    int busy = held_of_model(q, l->model);
    if (q->deadline && deadline_is_draining(q->deadline))
        return -1;
    if (!l->n_held)
        q->company[w] = 0;
    if ((q->company[w] && l->n_held >= q->company[w]) || has_its_share(q, l, busy))
        return -1;
    long j = is_limited(q) ? take_in_time(q, k, w, busy) : families_take(&k->families, w);
    if (j < 0)
        j = take_suspect(q, w);
    if (j >= 0)
        q->is_waiting[j] = 0;
    return j;
}

void queue_done(struct queue *q, long j)
{
    count_left(q, j, -1);
}

void queue_give_back(struct queue *q, long j)
{
    q->is_waiting[j] = 1;
    q->forecast->job[j].state = JOB_WAITING;
    families_give_back(&model_of(q, j)->families, j);
}

void queue_reopen(struct queue *q, long j)
{
    count_left(q, j, 1);
    queue_give_back(q, j);
}

int queue_lost(struct queue *q, int w, long j)
{
    const struct decoder_worker *l = &q->decoder->worker[w];
    struct job_fate *f = &q->fate[j];
    q->is_waiting[j] = 1;
    q->forecast->job[j].state = JOB_WAITING; /* it does not run any more */
    if (q->never_blames) {
        families_give_back(&model_of(q, j)->families, j);
    } else if (fate_of_death(f, w, l->n_held, l->n_finished, has_others(q, w, l->model))) {
        q->is_waiting[j] = 0;
        return 1;
    } else if (f->company) {
        xgrow(&q->suspect, &q->cap_suspects, (size_t)q->n_suspects + 1, sizeof *q->suspect);
        q->suspect[q->n_suspects++] = j;
    } else {
        families_give_back(&model_of(q, j)->families, j);
    }
    return 0;
}

int queue_is_proven(const struct queue *q, long j)
{
    return fate_is_proven(&q->fate[j]);
}

void queue_turn(struct queue *q)
{
    for (int m = 0; m < q->n_models; m++)
        q->model[m].refused = -1;
}

/* ---- models ---- */

/* Workers that hold a model, load it, or are about to. */
static int workers_with(const struct queue *q, int m)
{
    int n = 0;
    for (int i = 0; q->decoder && i < q->decoder->n_workers; i++) {
        const struct decoder_worker *l = &q->decoder->worker[i];
        n += l->is_live && (l->is_leaving ? l->next : l->model) == m;
    }
    return n;
}

/* Seconds that loading takes: as the slowest so far, and longer for a model that is larger than that one. */
static double load_seconds(const struct queue *q, int m)
{
    const struct forecast_speed *s = q->forecast->speed;
    double most = 0;
    for (int k = 0; k < q->n_models; k++) {
        double larger = s[k].weight > 0 ? s[m].weight / s[k].weight : 1;
        double seconds = q->decoder->load[k] * (larger > 1 && !(q->decoder->load[m] > 0) ? larger : 1);
        most = seconds > most ? seconds : most;
    }
    return most;
}

/* Expected tokens of the jobs of model m that wait and worker w may have; *shortest is one of those. */
static double waiting_tokens(const struct queue *q, int w, int m, long *shortest)
{
    const struct queue_model *k = &q->model[m];
    const struct job *jobs = q->plan->jobs;
    int others = has_others(q, w, m);
    double tokens = 0;
    *shortest = -1;
    for (long j = k->first; j < k->end && k->left; j++) {
        if (!q->is_waiting[j] || (q->fate[j].company && !fate_allows(&q->fate[j], w, others)))
            continue;
        tokens += jobs[j].expected;
        if (*shortest < 0 || jobs[j].expected < jobs[*shortest].expected)
            *shortest = j;
    }
    return tokens;
}

/* May job j of model m still end in time when the model is loaded first? */
static int has_time_to_load(const struct queue *q, int m, long j)
{
    struct queue *own = (struct queue *)q; /* what is looked up is kept there */
    struct forecast_speed speed;
    double seconds = load_seconds(q, m);
    if (!is_limited(q))
        return 1;
    if (!look_at_model(own, &own->model[m], &speed))
        return clock_seconds() + seconds < q->deadline->end;
    return fits_in_time(q, &q->model[m], &speed, j, seconds);
}

int queue_pick_model(const struct queue *q, int w, int not_this)
{
    int best = -1;
    double most = 0;
    for (int m = 0; m < q->n_models; m++) {
        long j = -1;
        if (m == not_this || (q->decoder && (q->decoder->worker[w].cannot >> m & 1)))
            continue;
        double tokens = q->fate ? waiting_tokens(q, w, m, &j) : q->model[m].tokens;
        tokens /= workers_with(q, m) + 1;
        if (tokens > most && (j < 0 || has_time_to_load(q, m, j))) {
            most = tokens;
            best = m;
        }
    }
    return best;
}

int queue_busy(const struct queue *q)
{
    int n = 0;
    for (int i = 0; i < q->decoder->n_workers; i++) {
        const struct decoder_worker *l = &q->decoder->worker[i];
        n += l->n_held + l->is_coming + (l->is_live && (!l->is_ready || l->is_leaving || l->is_checked));
    }
    return n;
}

int queue_is_stuck(const struct queue *q)
{
    long j;
    if (!is_limited(q))
        return 0;
    if (q->n_models < 2)
        return is_refused(q, &q->model[0]);
    for (int i = 0; i < q->decoder->n_workers; i++) {
        const struct decoder_worker *l = &q->decoder->worker[i];
        if (!l->is_live)
            continue;
        if (waiting_tokens(q, i, l->model, &j) > 0 && !is_refused(q, &q->model[l->model]))
            return 0;
        if (queue_pick_model(q, i, l->model) >= 0)
            return 0;
    }
    return 1;
}
