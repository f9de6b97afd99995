/* Several models, of which a worker holds one at a time (contract: worker_pool.h). */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/sweep/worker_pool.h"

/* After this many deaths in a row while a worker loads a model for the first time, the model is left out
 * there: it may need more memory than there is, in which case the process is killed before it can give a
 * reason. */
enum { LOAD_DEATHS = 3 };

static const char *configuration_of(const struct workers *ws, int m)
{
    const struct runplan *p = ws->decoder->plan;
    return p->loaded[m * (p->n_loaded / ws->n_parts)].configuration;
}

/* Two folders may hold the same model, and jobs of one would be those of the other. The same weights under
 * another configuration are another model. */
static int refuse_twins(const struct workers *ws, const char *path, struct err *e)
{
    for (int b = 1; b < ws->n_parts; b++)
        for (int a = 0; a < b; a++)
            if (!strcmp(ws->part[a].weights, ws->part[b].weights) &&
                !strcmp(configuration_of(ws, a), configuration_of(ws, b)))
                return err_set(e, ERR_USAGE,
                               "%s: models \"%s\" and \"%s\" have the same weights and the same "
                               "configuration; remove one of them",
                               path, ws->part[a].label, ws->part[b].label);
    return 0;
}

int workers_find_models(struct workers *ws, const char *cache_dir, struct err *e)
{
    const struct runfile *f = ws->decoder->plan->file;
    ws->n_parts = f->n_models;
    ws->part = xcalloc((size_t)ws->n_parts, sizeof *ws->part);
    for (int m = 0; m < ws->n_parts && ws->n_parts > 1 && !e->code; m++) {
        ws->part[m].label = f->models[m].label;
        engine_identity(f->models[m].path, cache_dir, ws->part[m].weights, e);
    }
    return e->code || ws->n_parts < 2 ? e->code : refuse_twins(ws, f->path, e);
}

static int pick_model(const struct workers *ws, int i, int not_this)
{
    const struct decoder_user *user = &ws->decoder->user;
    return ws->n_parts > 1 ? user->pick_model(user->context, i, not_this) : -1;
}

int worker_first_model(struct workers *ws, int i)
{
    int m = pick_model(ws, i, -1);
    return m < 0 ? 0 : m;
}

static int can_load(const struct worker_link *l, int m)
{
    return !(l->state->cannot >> m & 1);
}

/* Does a worker that is there hold model m, or can one that is there, or comes back, load it? */
static int is_in_reach(const struct workers *ws, int m)
{
    for (int i = 0; i < ws->n; i++) {
        const struct worker_link *l = &ws->link[i];
        int holds = l->state->is_live && l->device && l->state->model == m;
        if (holds || ((l->state->is_live || worker_is_coming(l)) && can_load(l, m)))
            return 1;
    }
    return 0;
}

void workers_check_reach(struct workers *ws, struct err *e)
{
    int lost = -1;
    if (ws->n_parts < 2 || e->code || workers_held(ws))
        return;
    for (int m = 0; m < ws->n_parts; m++) {
        const struct model_part *k = &ws->part[m];
        if (!ws->decoder->left[m])
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
    uint64_t bit = UINT64_C(1) << l->state->model;
    l->has_loaded |= bit;
    l->load_deaths[l->state->model] = 0;
    for (int k = 0; k < ws->n; k++)
        if (k == i || ws->part[l->state->model].refusal.code != ERR_DEVICE) /* it was not the model's fault */
            ws->link[k].state->cannot &= ~bit;
    for (int m = 0; m < ws->n_parts; m++) { /* the device works, so it was not the device's */
        if (l->unsaid[m])
            log_warn("%s", l->unsaid[m]);
        l->unsaid[m] = NULL;
    }
}

/* A model that worker i can load, best one that has jobs for it; -1: none. */
static int pick_any_model(const struct workers *ws, int i)
{
    int next = pick_model(ws, i, -1);
    for (int m = 0; m < ws->n_parts && next < 0; m++)
        next = can_load(&ws->link[i], m) ? m : -1;
    return next;
}

int worker_cannot_load(struct workers *ws, int i, const struct err *loss, struct err *e)
{
    struct worker_link *l = &ws->link[i];
    int m = l->state->model;
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
            ws->link[k].state->cannot |= UINT64_C(1) << m;
    int next = pick_any_model(ws, i);
    if (next < 0 && loss->code == ERR_DEVICE) { /* it is the device that does not work */
        l->state->cannot = 0;
        memset(l->unsaid, 0, sizeof l->unsaid);
        return 0;
    }
    const char *text =
        arena_printf(&ws->arena, "%s; model %s is left out there", loss->text, ws->part[m].label);
    if (loss->code == ERR_DEVICE && !l->has_loaded) /* the next may say the same */
        l->unsaid[m] = text;
    else
        log_warn("%s", text);
    if (next >= 0) {
        l->n_switches++;
        worker_begin_again(ws, i, next);
    }
    workers_check_reach(ws, e);
    return 1;
}

int worker_next_model(const struct workers *ws, int i)
{
    const struct worker_link *l = &ws->link[i];
    int m = -1;
    if (ws->n_parts < 2)
        return 0;
    if (l->load_deaths[l->state->model] >= LOAD_DEATHS) /* another one may load meanwhile */
        m = pick_model(ws, i, l->state->model);
    if (m < 0)
        m = pick_model(ws, i, -1);
    return m < 0 ? l->state->model : m;
}
