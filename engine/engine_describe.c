/* What follows from the options and the configuration alone: defaults and the shape. */
#include <math.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "evalcore/base/file.h"
#include "evalcore/base/log.h"

enum { DEFAULT_BATCH = 32, DEFAULT_GPU_BATCH = 128 };

_Static_assert((int)ENGINE_MAX_ENDS == (int)MODEL_MAX_EOS, "all end tokens have room");
_Static_assert((int)ENGINE_UNAPPLIED == (int)MODEL_UNAPPLIED, "all names have room");
_Static_assert((int)ENGINE_MAX_LAYERS == (int)MODEL_MAX_LAYERS, "all layers have room");

struct engine_info engine_config_info(const char *model, const struct model_config *c)
{
    struct engine_info info = {.model = model,
                               .family = model_family_name(c->family),
                               .n_layers = c->n_layers,
                               .n_windows = c->n_windows,
                               .n_q = c->n_q,
                               .n_kv = c->n_kv,
                               .head_dim = c->head_dim,
                               .hidden = c->hidden,
                               .vocab = c->vocab,
                               .max_position = c->max_position,
                               .max_context = c->max_position,
                               .scaled_context = model_scaled_context(c),
                               .eos = c->n_eos ? c->eos[0] : -1,
                               .n_ends = c->n_eos};
    struct str adapter = {0};
    if (model && strcmp(model, "pocket") && !model_random_config(model)) {
        file_join(&adapter, model, "adapter_config.json");
        info.has_adapter = file_exists(adapter.data);
    }
    str_release(&adapter);
    memcpy(info.window, c->window, sizeof info.window);
    memcpy(info.ends, c->eos, sizeof info.ends);
    memcpy(info.unapplied, c->unapplied, sizeof info.unapplied);
    return info;
}

const int32_t *engine_windows(const struct engine_info *info)
{
    return info->n_windows ? info->window : NULL;
}

double engine_full_tokens(const struct engine_info *info, double context)
{
    double sum = 0;
    if (!info->n_windows)
        return context;
    for (int l = 0; l < info->n_layers; l++)
        sum += info->window[l] && info->window[l] < context ? info->window[l] : context;
    return sum / info->n_layers;
}

/* As kvcache_most() has it. */
double engine_chunk_tokens(const struct engine_info *info, double context)
{
    double sum = 0, all = ceil(context / KV_PAGE_TOKENS);
    for (int l = 0; l < info->n_layers && info->window_ahead; l++) {
        double window = info->window[l];
        if (window > 0)
            sum += fmin(all, ceil((window + info->window_ahead) / KV_PAGE_TOKENS) + 1) * KV_PAGE_TOKENS -
                   fmin(window, context);
    }
    return sum / info->n_layers;
}

void engine_context_advice(const struct engine_info *info, struct str *out)
{
    if (info->scaled_context)
        str_printf(
            out,
            "; its rotation is stretched for %d tokens, so raise \"max_position_embeddings\" in config.json "
            "from %d to that",
            info->scaled_context, info->max_position);
}

void engine_log_notices(const struct engine_info *info, const char *label)
{
    struct str who = {0};
    if (label)
        str_printf(&who, "model %s: ", label);
    if (info->is_head_own)
        log_warn("%sconfig.json ties the output head to the embedding, but the weights have another "
                 "lm_head.weight, which is used; set \"tie_word_embeddings\" to false to say so",
                 str_text(&who));
    if (info->has_adapter)
        log_warn(
            "%s%s has an adapter_config.json: the adapter is not applied, the weights are used as they are; "
            "merge it into them (PEFT's merge_and_unload) if it is meant",
            str_text(&who), info->model);
    str_release(&who);
}

int engine_is_on_gpu(const struct engine_options *o)
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
        o->max_batch = engine_is_on_gpu(o) ? DEFAULT_GPU_BATCH : DEFAULT_BATCH;
    if (!o->max_context)
        o->max_context = c->max_position;
    if (o->max_batch < 1 || o->max_batch > MAX_BATCH)
        return err_set(e, ERR_USAGE, "max_batch is %d; 1 to %d is possible", o->max_batch, MAX_BATCH);
    if (o->max_context < 1 || o->max_context > c->max_position) {
        struct engine_info info = engine_config_info(o->model, c);
        struct str advice = {0};
        if (o->max_context > 0)
            engine_context_advice(&info, &advice);
        int rc = err_set(e, ERR_USAGE, "a context of %d tokens is asked for; this model has 1 to %d%s",
                         o->max_context, c->max_position, str_text(&advice));
        str_release(&advice);
        return rc;
    }
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
