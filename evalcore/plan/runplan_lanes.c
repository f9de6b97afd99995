/* The engines of a plan, or what is known of them without their weights (contract: runplan_parts.h). */
#include "evalcore/plan/runplan_parts.h"

#include <stdlib.h>
#include <string.h>

/* Fills what can be known of a model without its weights. */
static int describe_model(struct lane *lane, const struct engine_options *o, struct err *e)
{
    int rc = engine_describe(o, &lane->info, e);
    if (o->max_context)
        lane->info.max_context = o->max_context;
    if (!rc)
        rc = engine_open_tokenizer(o->model, &lane->own, e);
    lane->tokenizer = lane->own;
    lane->chat = lane->own_chat = xcalloc(1, sizeof *lane->own_chat);
    if (!rc)
        rc = engine_open_chat(o->model, lane->own, lane->own_chat, e);
    return rc;
}

int runplan_open_lane(struct runplan *p, int model, enum kv_dtype kv_dtype, const struct runplan_options *o,
                      int *index, struct err *e)
{
    for (int i = 0; i < p->n_lanes; i++)
        if (p->lanes[i].model == model && p->lanes[i].kv_dtype == kv_dtype) {
            *index = i;
            return 0;
        }
    p->lanes = xrealloc(p->lanes, (size_t)(p->n_lanes + 1) * sizeof *p->lanes);
    struct lane *lane = &p->lanes[p->n_lanes];
    memset(lane, 0, sizeof *lane);
    lane->model = model;
    lane->kv_dtype = kv_dtype;
    const struct runfile_model *m = &p->file->models[model];
    const struct runfile_endpoint *endpoint = p->file->endpoint;
    lane->options =
        (struct engine_options){.model = endpoint ? endpoint->tokenizer : m->path,
                                .model_name = m->name,
                                .backend = o->backend,
                                .ordinal = o->ordinal,
                                .threads = o->threads,
                                .max_batch = endpoint && !o->max_batch ? endpoint->concurrency : o->max_batch,
                                .max_context = endpoint ? endpoint->max_context : 0,
                                .kv_dtype = kv_dtype,
                                .cache_dir = o->cache_dir};
    *index = p->n_lanes++;
    int rc = o->dry ? describe_model(lane, &lane->options, e) : engine_open(&lane->engine, &lane->options, e);
    if (rc || o->dry)
        return rc;
    lane->info = *engine_info(lane->engine);
    lane->tokenizer = engine_tokenizer(lane->engine);
    lane->chat = engine_chat(lane->engine);
    return 0;
}

/* Checks the weights of each lane by their headers, binds its policies, and counts its memory. */
int runplan_measure(struct runplan *p, struct err *e)
{
    const struct policy_spec **specs = xcalloc((size_t)p->n_cells + 1, sizeof *specs);
    for (int i = 0; i < p->n_lanes && !e->code; i++) {
        int n = 0;
        for (int c = 0; c < p->n_cells; c++)
            if (p->cells[c].lane == i)
                specs[n++] = &p->cells[c].policy->spec;
        engine_measure(&p->lanes[i].options, specs, n, &p->lanes[i].info, &p->lanes[i].memory, e);
    }
    free(specs);
    return e->code;
}

/* Reserves K and V for the engines of all lanes, which share a device. It comes last because the weights and
 * states of all of them must be loaded by then. */
int runplan_reserve(struct runplan *p, struct err *e)
{
    for (int i = 0; i < p->n_lanes && !e->code; i++)
        if (p->lanes[i].engine)
            engine_reserve(p->lanes[i].engine, 1.0 / (p->n_lanes - i), e);
    return e->code;
}
