/* The engines of a plan, or what is known of them without their weights (contract: runplan_parts.h). */
#include "evalcore/plan/runplan_parts.h"

#include <stdlib.h>
#include <string.h>

/* Fills what can be known of a model without its weights. */
static int describe_model(struct loaded_model *loaded, const struct engine_options *o, struct err *e)
{
    int rc = engine_describe(o, &loaded->info, e);
    if (o->max_context)
        loaded->info.max_context = o->max_context;
    if (!rc)
        rc = engine_open_tokenizer(o->model, &loaded->own, e);
    if (!rc)
        rc = engine_configuration(o->model, loaded->own, loaded->configuration, e);
    loaded->tokenizer = loaded->own;
    loaded->chat = loaded->own_chat = xcalloc(1, sizeof *loaded->own_chat);
    if (!rc)
        rc = engine_open_chat(o->model, loaded->own, loaded->own_chat, e);
    return rc;
}

int runplan_open_model(struct runplan *p, int model, enum kv_dtype kv_dtype, const struct runplan_options *o,
                       int *index, struct err *e)
{
    for (int i = 0; i < p->n_loaded; i++)
        if (p->loaded[i].model == model && p->loaded[i].kv_dtype == kv_dtype) {
            *index = i;
            return 0;
        }
    p->loaded = xrealloc(p->loaded, (size_t)(p->n_loaded + 1) * sizeof *p->loaded);
    struct loaded_model *loaded = &p->loaded[p->n_loaded];
    memset(loaded, 0, sizeof *loaded);
    loaded->model = model;
    loaded->kv_dtype = kv_dtype;
    const struct runfile_model *m = &p->file->models[model];
    const struct runfile_endpoint *endpoint = p->file->endpoint;
    loaded->options =
        (struct engine_options){.model = endpoint ? endpoint->tokenizer : m->path,
                                .model_name = m->name,
                                .backend = o->backend,
                                .ordinal = o->ordinal,
                                .threads = o->threads,
                                .max_batch = endpoint && !o->max_batch ? endpoint->concurrency : o->max_batch,
                                .max_context = endpoint ? endpoint->max_context : 0,
                                .kv_dtype = kv_dtype,
                                .cache_dir = o->cache_dir};
    *index = p->n_loaded++;
    int rc = o->dry ? describe_model(loaded, &loaded->options, e)
                    : engine_open(&loaded->engine, &loaded->options, e);
    if (rc || o->dry)
        return rc;
    loaded->info = *engine_info(loaded->engine);
    loaded->tokenizer = engine_tokenizer(loaded->engine);
    loaded->chat = engine_chat(loaded->engine);
    return 0;
}

/* Checks the weights of each loaded model by their headers, binds its policies, and counts its memory. */
int runplan_measure(struct runplan *p, struct err *e)
{
    const struct policy_spec **specs = xcalloc((size_t)p->n_cells + 1, sizeof *specs);
    for (int i = 0; i < p->n_loaded && !e->code; i++) {
        int n = 0;
        for (int c = 0; c < p->n_cells; c++)
            if (p->cells[c].loaded_model == i)
                specs[n++] = &p->cells[c].policy->spec;
        engine_measure(&p->loaded[i].options, specs, n, &p->loaded[i].info, &p->loaded[i].memory, e);
    }
    free(specs);
    return e->code;
}

/* Reserves K and V for the engines of all loaded models, which share a device. It comes last because the
 * weights and states of all of them must be loaded by then. */
int runplan_reserve(struct runplan *p, struct err *e)
{
    for (int i = 0; i < p->n_loaded && !e->code; i++)
        if (p->loaded[i].engine)
            engine_reserve(p->loaded[i].engine, 1.0 / (p->n_loaded - i), e);
    return e->code;
}
