/* What can be said of a model before it is loaded: defaults of the options, the shape, and how much memory
 * everything will take. For the memory an engine is put together as engine_open() does it, on a backend that
 * only counts, so that no sum is written down twice. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/memory/counting.h"

enum { DEFAULT_BATCH = 32, DEFAULT_GPU_BATCH = 128 };

_Static_assert((int)ENGINE_MAX_ENDS == (int)MODEL_MAX_EOS, "all end tokens have room");
_Static_assert((int)ENGINE_UNAPPLIED == (int)MODEL_UNAPPLIED, "all names have room");

struct engine_info engine_config_info(const char *model, const struct model_config *c)
{
    struct engine_info info = {.model = model,
                               .family = c->family->name,
                               .n_layers = c->n_layers,
                               .n_q = c->n_q,
                               .n_kv = c->n_kv,
                               .head_dim = c->head_dim,
                               .hidden = c->hidden,
                               .vocab = c->vocab,
                               .max_position = c->max_position,
                               .max_context = c->max_position,
                               .eos = c->n_eos ? c->eos[0] : -1,
                               .n_ends = c->n_eos};
    memcpy(info.ends, c->eos, sizeof info.ends);
    memcpy(info.unapplied, c->unapplied, sizeof info.unapplied);
    return info;
}

static int is_gpu(const struct engine_options *o)
{
    return o->backend && strcmp(o->backend, "cpu");
}

/* A backend that this program was built without is a GPU's, whose default is bf16. */
enum dtype engine_kv_type(const struct engine_options *o)
{
    const struct backend *be = backend_find(o->backend ? o->backend : "cpu");
    return o->kv_dtype != KV_DEFAULT ? (o->kv_dtype == KV_BF16 ? DTYPE_BF16 : DTYPE_F32)
           : be                      ? be->kv_default
                                     : DTYPE_BF16;
}

size_t engine_token_bytes(const struct model_config *c, enum dtype kv)
{
    return (size_t)(c->n_layers * c->n_kv * 2 * c->head_dim) * dtype_bytes(kv);
}

int engine_check_options(struct engine_options *o, const struct model_config *c, struct err *e)
{
    if (!o->max_batch)
        o->max_batch = is_gpu(o) ? DEFAULT_GPU_BATCH : DEFAULT_BATCH;
    if (!o->max_context)
        o->max_context = c->max_position;
    if (o->max_batch < 1 || o->max_batch > MAX_BATCH)
        return err_set(e, ERR_USAGE, "max_batch is %d; 1 to %d is possible", o->max_batch, MAX_BATCH);
    if (o->max_context < 1 || o->max_context > c->max_position)
        return err_set(e, ERR_USAGE, "a context of %d tokens is asked for; this model has 1 to %d",
                       o->max_context, c->max_position);
    if (o->prefill_chunk < 0 || o->prefill_chunk % CHUNK_UNIT || o->prefill_chunk > CHUNK_MAX)
        return err_set(e, ERR_USAGE, "prefill_chunk is %d; multiples of %d up to %d are possible",
                       o->prefill_chunk, CHUNK_UNIT, CHUNK_MAX);
    return 0;
}

int engine_describe(const struct engine_options *options, struct engine_info *out, struct err *e)
{
    struct engine_options o = *options;
    struct model_config c;
    memset(out, 0, sizeof *out);
    if (model_config_open(&c, o.model, e) || engine_check_options(&o, &c, e))
        return e->code;
    *out = engine_config_info(o.model, &c);
    out->max_batch = o.max_batch;
    out->kv_token_bytes = engine_token_bytes(&c, engine_kv_type(&o));
    return 0;
}

/* Puts the engine together and binds the policies; *weights is what the model alone takes. */
static int count_parts(struct engine *en, const struct counting *n, const struct policy_spec *const *specs,
                       int n_specs, size_t *weights, struct err *e)
{
    struct policy *p;
    if (model_open_headers(&en->model, en->model_name, en->be, en->dev, en->options.max_context, e))
        return e->code;
    *weights = n->bytes;
    if (engine_assemble(en, e))
        return e->code;
    for (int i = 0; i < n_specs; i++)
        if (engine_policy(en, specs[i], &p, e))
            return e->code;
    return 0;
}

int engine_measure(const struct engine_options *o, const struct policy_spec *const *specs, int n_specs,
                   struct engine_info *info, struct engine_memory *out, struct err *e)
{
    const struct backend *real = backend_find(o->backend ? o->backend : "cpu");
    struct engine *en = xcalloc(1, sizeof *en);
    struct counting n;
    *out = (struct engine_memory){.is_known = real != NULL};
    en->options = *o;
    en->options.model = en->model_name = xstrdup(o->model ? o->model : "pocket");
    counting_init(&n, real ? real : backend_find("cpu"));
    en->be = &n.be;
    en->dev = counting_device(&n);
    struct model_config c;
    int rc = model_config_open(&c, en->model_name, e);
    if (!rc)
        rc = engine_check_options(&en->options, &c, e);
    if (!rc)
        rc = count_parts(en, &n, specs, n_specs, &out->weights, e);
    if (!rc) {
        *info = engine_config_info(o->model, &c);
        info->max_batch = en->options.max_batch;
        info->max_context = en->options.max_context;
        info->kv_token_bytes = engine_token_bytes(&c, en->cache.view.dtype);
        info->weight_bytes = en->model.bytes;
        info->step_bytes = en->model.step_bytes;
        info->layer_values = model_layer_values(&c);
        out->scratch = n.bytes - out->weights;
        engine_pool_needs(en, out);
    }
    engine_close(en);
    return rc;
}
