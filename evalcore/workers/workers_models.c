/* Several models, of which a worker holds one at a time (contract: workers_parts.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/log.h"
#include "evalcore/cli/progress.h"
#include "evalcore/sweep/deadline.h"
#include "evalcore/store/run.h"
#include "evalcore/workers/workers_parts.h"

/* So many deaths in a row while a worker loads a model that it has never loaded speak against that model: it
 * may need more memory than there is, for which nobody gets to give a reason. */
enum { LOAD_DEATHS = 3 };

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

/* Which jobs are done can be told for sure once a worker has said its numerics class. */
static void guess_tokens(struct workers *ws, const struct runplan *p, const char *dir)
{
    const struct run_options o = {.grades = RUN_GRADES_NONE};
    struct run done = {0};
    struct err ignored = {0};
    struct str config = {0};
    file_join(&config, dir, "config.resolved.json");
    int has_run = file_exists(str_text(&config)) && !run_load_with(&done, dir, &o, &ignored);
    for (int i = 0; i < p->n_cells; i++) {
        const struct plan_cell *c = &p->cells[i];
        struct model_part *m = &ws->part[p->loaded[c->loaded_model].model];
        for (size_t q = 0; q < p->sets[c->set].task.n_problems; q++) {
            double limit = runplan_limit(p, c, q), usual = c->task->ops->expected_tokens;
            m->tokens += c->settings->s.samples *
                         (usual < limit && !settings_only_limit(&c->settings->s) ? usual : limit);
        }
    }
    for (int m = 0; m < ws->n_parts && has_run; m++)
        ws->part[m].tokens *= share_left(&done, p->file->models[m].shown);
    if (has_run)
        run_release(&done);
    str_release(&config);
}

/* Two folders may hold the same weights, and jobs of one would be those of the other. */
static int refuse_twins(const struct workers *ws, const char *path, struct err *e)
{
    for (int b = 1; b < ws->n_parts; b++)
        for (int a = 0; a < b; a++)
            if (!strcmp(ws->part[a].weights, ws->part[b].weights))
                return err_set(e, ERR_USAGE,
                               "%s: models \"%s\" and \"%s\" have the same weights; remove one of them", path,
                               ws->part[a].label, ws->part[b].label);
    return 0;
}

int workers_models(struct workers *ws, const struct runplan *p, const char *dir, const char *cache_dir,
                   struct err *e)
{
    ws->n_parts = p->file->n_models;
    ws->part = xcalloc((size_t)ws->n_parts, sizeof *ws->part);
    if (ws->n_parts < 2)
        return 0;
    for (int m = 0; m < ws->n_parts && !e->code; m++) {
        struct model_part *k = &ws->part[m];
        k->label = p->file->models[m].label;
        engine_identity(p->file->models[m].path, cache_dir, k->weights, e);
    }
    if (!e->code && !refuse_twins(ws, p->file->path, e))
        guess_tokens(ws, p, dir);
    return e->code;
}

struct model_part *workers_part(struct workers *ws, long j)
{
    int m = 0;
    while (j >= ws->part[m].end)
        m++;
    return &ws->part[m];
}

void workers_begin_parts(struct workers *ws, struct sweep_progress *t)
{
    const struct runplan *p = ws->plan;
    long at = 0;
    for (int m = 0; m < ws->n_parts; m++) {
        struct model_part *k = &ws->part[m];
        k->first = at;
        while (at < p->n_jobs && runplan_model(p, &p->jobs[at]) == m) /* jobs are sorted by loaded model */
            at++;
        k->end = at;
        k->left = k->end - k->first;
        job_queue_init(&k->queue, p, k->first, k->end, ws->n);
        k->progress = t;
        if (ws->n_parts < 2)
            continue;
        const struct loaded_model *loaded = p->loaded;
        while (loaded->model != m)
            loaded++;
        sweep_progress_part(&k->own_progress, t, k->first, k->end, (double)loaded->info.weight_bytes + 1);
        k->own_deadline = t->deadline ? *t->deadline : (struct deadline){0};
        k->own_progress.deadline = t->deadline ? &k->own_deadline : NULL;
        k->progress = &k->own_progress;
    }
}

/* What a stop is told of is the model of which a job would be over first. */
static void keep_quickest(const struct workers *ws, struct sweep_progress *t)
{
    struct sweep_progress *part[RUNFILE_MODELS_MAX];
    double least = INFINITY, tokens;
    for (int m = 0; m < ws->n_parts; m++)
        part[m] = ws->part[m].progress;
    for (int m = 0; m < ws->n_parts; m++) {
        struct sweep_progress k = *part[m];
        k.eta.speed = sweep_progress_part_speed(part, ws->n_parts, m);
        double seconds = deadline_shortest(&k, &tokens);
        if (seconds < least) {
            least = seconds;
            t->eta = k.eta;
            t->last = k.last;
        }
    }
}

void workers_end_parts(struct workers *ws, struct sweep_progress *t)
{
    if (ws->n_parts > 1 && t->deadline)
        keep_quickest(ws, t);
    for (int m = 0; m < ws->n_parts; m++) {
        struct model_part *k = &ws->part[m];
        if (ws->n_parts > 1 && k->progress) {
            t->finished += k->progress->finished;
            t->tokens += k->progress->tokens;
            deadline_release(&k->own_deadline);
        }
        k->progress = NULL;
    }
}

static int can_load(const struct worker_link *l, int m)
{
    return !(l->cannot >> m & 1);
}

/* Workers that hold a model, load it, or are about to. */
static int serving(const struct workers *ws, int m)
{
    int n = 0;
    for (int i = 0; i < ws->n; i++)
        n += ws->link[i].is_live && (ws->link[i].is_leaving ? ws->link[i].next : ws->link[i].model) == m;
    return n;
}

/* Seconds that loading takes: as the slowest so far, and longer for a model that is larger than that one. */
static double load_seconds(const struct workers *ws, int m)
{
    double most = 0;
    for (int k = 0; k < ws->n_parts; k++) {
        double larger =
            ws->part[k].progress ? ws->part[m].progress->weight / ws->part[k].progress->weight : 1;
        double seconds = ws->part[k].load * (larger > 1 && !(ws->part[m].load > 0) ? larger : 1);
        most = seconds > most ? seconds : most;
    }
    return most;
}

/* Expected tokens of the jobs of model m that nobody holds and worker i may have; *shortest is one of those.
 */
static double tokens_for(const struct workers *ws, int i, int m, long *shortest)
{
    const struct model_part *k = &ws->part[m];
    const struct job *jobs = ws->plan->jobs;
    double tokens = 0;
    *shortest = -1;
    for (long j = k->first; j < k->end && k->left; j++) {
        if (ws->holder[j] != HELD_BY_NOBODY ||
            (ws->fate[j].company && !fate_allows(&ws->fate[j], i, workers_others(ws, i, m))))
            continue;
        tokens += jobs[j].expected;
        if (*shortest < 0 || jobs[j].expected < jobs[*shortest].expected)
            *shortest = j;
    }
    return tokens;
}

/* May job j of model m still end in time when the model is loaded first? */
static int has_time(const struct workers *ws, int m, long j)
{
    struct sweep_progress *part[RUNFILE_MODELS_MAX], *t = ws->part[m].progress;
    if (!deadline_is_limited(t->deadline))
        return 1;
    for (int k = 0; k < ws->n_parts; k++)
        part[k] = ws->part[k].progress;
    struct eta_speed own = t->eta.speed;
    t->eta.speed = sweep_progress_part_speed(part, ws->n_parts, m);
    int is_in_time = deadline_has_time(t, j, load_seconds(ws, m));
    t->eta.speed = own;
    return is_in_time;
}

int workers_pick(const struct workers *ws, int i, int not_this)
{
    int best = -1;
    double most = 0;
    for (int m = 0; m < ws->n_parts; m++) {
        const struct model_part *k = &ws->part[m];
        long j = -1;
        if (m == not_this || !can_load(&ws->link[i], m))
            continue;
        double tokens = (k->progress ? tokens_for(ws, i, m, &j) : k->tokens) / (serving(ws, m) + 1);
        if (tokens > most && (j < 0 || has_time(ws, m, j))) {
            most = tokens;
            best = m;
        }
    }
    return best;
}

static int is_idle(const struct worker_link *l)
{
    return l->is_live && l->device && !l->is_leaving && l->check == CHECK_NONE && !l->n_held && l->wanted > 0;
}

void workers_move_on(struct workers *ws)
{
    if (ws->n_parts < 2 || ws->left == workers_busy(ws))
        return;
    for (int i = 0; i < ws->n; i++) {
        struct worker_link *l = &ws->link[i];
        int next = is_idle(l) ? workers_pick(ws, i, l->model) : -1;
        if (next < 0)
            continue;
        l->is_leaving = 1;
        l->leaving = 0;
        l->next = next;
        l->n_switches++;
        wire_send(&l->process.wire, message_stop(), NULL);
        log_info("%s has nothing more to start of %s and goes on with %s", l->name, ws->part[l->model].label,
                 ws->part[next].label);
    }
}

/* Does a worker that is there hold model m, or can one that is there, or comes back, load it? */
static int is_in_reach(const struct workers *ws, int m)
{
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        int holds = l->is_live && l->device && l->model == m;
        if (holds || ((l->is_live || worker_is_coming(l)) && can_load(l, m)))
            return 1;
    }
    return 0;
}

void workers_check_reach(struct workers *ws, struct err *e)
{
    int lost = -1;
    if (ws->n_parts < 2 || e->code || workers_busy(ws))
        return;
    for (int m = 0; m < ws->n_parts; m++) {
        const struct model_part *k = &ws->part[m];
        if (k->progress && !k->left)
            continue;
        if (is_in_reach(ws, m))
            return;
        lost = lost < 0 && k->refusal.code ? m : lost;
    }
    if (lost >= 0)
        err_set(e, ws->part[lost].refusal.code, "model %s cannot be loaded: %s", ws->part[lost].label,
                ws->part[lost].refusal.text);
}

int workers_have_loaded(const struct workers *ws, int m)
{
    for (int i = 0; i < ws->n; i++)
        if (ws->link[i].has_loaded >> m & 1)
            return 1;
    return 0;
}

void worker_has_loaded(struct workers *ws, int i)
{
    struct worker_link *l = &ws->link[i];
    uint64_t bit = UINT64_C(1) << l->model;
    l->has_loaded |= bit;
    l->load_deaths[l->model] = 0;
    for (int k = 0; k < ws->n; k++)
        if (k == i || ws->part[l->model].refusal.code != ERR_DEVICE) /* it was not the model's fault */
            ws->link[k].cannot &= ~bit;
    for (int m = 0; m < ws->n_parts; m++) { /* the device works, so it was not the device's */
        if (l->untold[m])
            log_warn("%s", l->untold[m]);
        l->untold[m] = NULL;
    }
}

/* A model that worker i can load, best one that has jobs for it; -1: none. */
static int any_other(const struct workers *ws, int i)
{
    int next = workers_pick(ws, i, -1);
    for (int m = 0; m < ws->n_parts && next < 0; m++)
        next = can_load(&ws->link[i], m) ? m : -1;
    return next;
}

int worker_cannot_load(struct workers *ws, int i, const struct err *loss, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    int m = l->model;
    if (ws->n_parts < 2 || l->device)
        return 0;
    int n_deaths = ++l->load_deaths[m];
    int is_known = loss->code == ERR_DEVICE ? (int)(l->has_loaded >> m & 1) : workers_have_loaded(ws, m);
    if (is_known)
        return 0;
    if (!l->last_words.code && n_deaths < LOAD_DEATHS)
        return 0;
    ws->part[m].refusal = *loss;
    for (int k = 0; k < ws->n; k++)
        if (k == i || loss->code != ERR_DEVICE) /* the model's own fault, which all would find */
            ws->link[k].cannot |= UINT64_C(1) << m;
    int next = any_other(ws, i);
    if (next < 0 && loss->code == ERR_DEVICE) { /* it is the device that does not work */
        l->cannot = 0;
        memset(l->untold, 0, sizeof l->untold);
        return 0;
    }
    const char *text =
        arena_printf(&ws->arena, "%s; model %s is left out there", loss->text, ws->part[m].label);
    if (loss->code == ERR_DEVICE && !l->has_loaded) /* the next may say the same */
        l->untold[m] = text;
    else
        log_warn("%s", text);
    if (next >= 0) {
        l->n_switches++;
        worker_begin_again(ws, i, next);
    }
    workers_check_reach(ws, e);
    return 1;
}

int workers_after_death(const struct workers *ws, int i)
{
    const struct worker_link *l = &ws->link[i];
    int m = -1;
    if (ws->n_parts < 2)
        return 0;
    if (l->load_deaths[l->model] >= LOAD_DEATHS) /* another one may load meanwhile */
        m = workers_pick(ws, i, l->model);
    if (m < 0)
        m = workers_pick(ws, i, -1);
    return m < 0 ? l->model : m;
}

int workers_are_stuck(const struct workers *ws)
{
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        long j;
        if (!l->is_live)
            continue;
        if (tokens_for(ws, i, l->model, &j) > 0 && !deadline_is_stuck(ws->part[l->model].progress))
            return 0;
        if (workers_pick(ws, i, l->model) >= 0)
            return 0;
    }
    return 1;
}
