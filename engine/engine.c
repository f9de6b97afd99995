/* Opens a model on a backend and binds policies to it. request.c takes requests; loop.c, batch.c and
 * transformer.c do the work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_impl.h"
#include "engine/pocket/pocket.h"
#include "evalcore/base/file.h"
#include "evalcore/base/foreign_file.h"

static int open_device(struct engine *en, struct err *e)
{
    const char *name = en->options.backend ? en->options.backend : "cpu";
    en->be = backend_find(name);
    if (!en->be) {
        struct str known = {0};
        for (int i = 0; backend_at(i); i++)
            str_printf(&known, "%s%s", i ? ", " : "", backend_at(i)->name);
        int rc = err_set(e, ERR_USAGE, "this program was built without a backend \"%s\"; it has %s%s", name,
                         str_text(&known),
                         strcmp(name, "cuda") ? "" : ": build it where a CUDA 13 toolkit is installed");
        str_release(&known);
        return rc;
    }
    struct device_options o = {en->options.threads, en->options.isa};
    char why[320];
    int rc = en->be->open(&en->dev, en->options.ordinal, &o, why, sizeof why);
    if (rc < 0)
        return err_set(e, rc == BACKEND_ERR_UNSUPPORTED ? ERR_USAGE : ERR_DEVICE, "%s:%d: %s", name,
                       en->options.ordinal, why);
    return 0;
}

const char *engine_random_config(const char *model)
{
    return model_random_config(model);
}

int engine_open_tokenizer(const char *model, struct tokenizer **out, struct err *e)
{
    *out = NULL;
    if (!strcmp(model, "pocket") || model_random_config(model)) {
        size_t n;
        const char *text = pocket_tokenizer(&n);
        return tokenizer_open_text(out, text, n, "embedded tokenizer.json", e);
    }
    if (model_check_folder(model, e))
        return ERR_USAGE;
    struct str path = {0};
    file_join(&path, model, "tokenizer.json");
    int rc = foreign_check_missing(model, "tokenizer.json", e);
    if (!rc && file_exists(str_text(&path)))
        rc = tokenizer_open_folder(out, model, e);
    str_release(&path);
    return rc;
}

int engine_open_chat(const char *model, const struct tokenizer *t, struct chat_own *out, struct err *e)
{
    int is_embedded = !strcmp(model, "pocket") || model_random_config(model);
    return chat_own_open(out, is_embedded ? NULL : model, t, e);
}

static void fill_info(struct engine *en)
{
    const struct model_config *c = &en->model.config;
    const struct engine_options *o = &en->options;
    char text[160];
    snprintf(text, sizeof text, "%s %s", en->be->name, en->be->describe(en->dev));
    en->device_name = xstrdup(text);
    snprintf(text, sizeof text, "%s-%skv-%s", en->be->name,
             en->cache.view.dtype == DTYPE_F32 ? "fp32" : "bf16", en->be->arithmetic(en->dev));
    en->numerics = xstrdup(text);
    struct engine_info *i = &en->info;
    *i = engine_config_info(en->model_name, c);
    i->weights = en->model.identity;
    engine_hash_configuration(c, en->tokenizer, en->configuration);
    i->configuration = en->configuration;
    i->numerics = en->numerics;
    i->device = en->device_name;
    i->is_head_own = en->model.is_head_own;
    i->max_context = o->max_context;
    i->max_batch = o->max_batch;
    i->weight_bytes = en->model.bytes;
    i->step_bytes = en->model.step_bytes;
    i->layer_values = model_layer_values(c);
    i->kv_token_bytes = engine_token_bytes(c, en->cache.view.dtype);
}

/* The cache has a sequence index per row of the batch, and after these one per shared prompt.
 * engine_reserve() adds its blocks. */
static int open_cache(struct engine *en, struct err *e)
{
    const struct model_config *c = &en->model.config;
    const struct engine_options *o = &en->options;
    struct kv_view v = {.dtype = engine_kv_type(o),
                        .n_seqs = o->max_batch + N_PROMPTS,
                        .n_layers = c->n_layers,
                        .n_kv = c->n_kv,
                        .head_dim = c->head_dim,
                        .max_pages = kv_pages(o->max_context)};
    if (kvcache_init(&en->cache, en->be, en->dev, &v, model_windows(c), e))
        return e->code;
    for (int i = 0; i < N_PROMPTS; i++) {
        en->prompts[i].seq = o->max_batch + i;
        en->prompts[i].logits = en->be->alloc(en->dev, (size_t)c->vocab * sizeof(float));
        if (!en->prompts[i].logits)
            return err_set(e, ERR_DEVICE,
                           "no device memory for the logits of shared prompts; use a smaller --max-batch");
    }
    return 0;
}

/* Runs no more positions at once than a context has. */
static void set_chunk(struct engine *en)
{
    struct engine_options *o = &en->options;
    int all = (o->max_context + CHUNK_UNIT - 1) / CHUNK_UNIT * CHUNK_UNIT;
    if (!o->prefill_chunk)
        o->prefill_chunk = en->be->prefill_chunk;
    if (o->prefill_chunk > all)
        o->prefill_chunk = all;
}

int engine_assemble(struct engine *en, struct err *e)
{
    if (open_cache(en, e))
        return e->code;
    set_chunk(en);
    en->cache.ahead = en->options.prefill_chunk + SHARED_TAIL;
    return transformer_init(&en->tf, &en->model, &en->cache, en->options.max_batch, en->options.max_context,
                            en->options.prefill_chunk, e);
}

int engine_kv_dtype(enum kv_dtype *out, const char *name, struct err *e)
{
    if (name && strcmp(name, "fp32") && strcmp(name, "bf16"))
        return err_set(e, ERR_USAGE, "the type of K and V is fp32 or bf16, not \"%s\"", name);
    *out = !name ? KV_DEFAULT : name[0] == 'b' ? KV_BF16 : KV_FP32;
    return 0;
}

int engine_open(struct engine **out, const struct engine_options *o, struct err *e)
{
    struct engine *en = xcalloc(1, sizeof *en);
    struct model_config c;
    *out = NULL;
    en->options = *o;
    en->model_name = xstrdup(o->model ? o->model : "pocket");
    int rc = model_config_open(&c, en->model_name, e);
    if (!rc)
        rc = engine_check_options(&en->options, &c, e);
    if (!rc)
        rc = open_device(en, e);
    if (!rc)
        rc =
            model_open(&en->model, en->model_name, en->be, en->dev, en->options.max_context, o->cache_dir, e);
    if (!rc)
        rc = engine_open_tokenizer(en->model_name, &en->tokenizer, e);
    if (!rc)
        rc = engine_open_chat(en->model_name, en->tokenizer, &en->chat, e);
    if (!rc)
        rc = engine_assemble(en, e);
    if (rc) {
        engine_close(en);
        return rc;
    }
    size_t rows = (size_t)en->options.max_batch + 1;
    en->active = xcalloc(rows, sizeof *en->active);
    en->finished = xcalloc(2 * rows, sizeof *en->finished);
    en->out = xcalloc(2 * rows, sizeof *en->out);
    en->batch.row = xcalloc((size_t)en->tf.max_rows, sizeof *en->batch.row);
    en->batch.result = xcalloc((size_t)en->tf.max_rows, sizeof *en->batch.result);
    fill_info(en);
    *out = en;
    return 0;
}

/* Frees what the engine itself gave an instance. */
static void policy_free(struct engine *en, struct policy *p)
{
    en->be->release(en->dev, p->state);
    arena_release(&p->arena);
    free(p);
}

static void policy_close(struct engine *en, struct policy *p)
{
    if (p->ops->release)
        p->ops->release(p);
    policy_free(en, p);
}

void engine_close(struct engine *en)
{
    if (!en)
        return;
    engine_watch(en, 0, NULL, NULL);
    for (int i = 0; i < en->n_active; i++)
        sequence_release(en->active[i]);
    for (int i = 0; i < en->n_waiting; i++)
        sequence_release(en->waiting[i]);
    for (int i = 0; i < en->n_finished; i++)
        sequence_release(en->finished[i]);
    if (en->dev) {
        graphs_clear(en);
        for (int i = 0; i < en->n_policies; i++)
            policy_close(en, en->policies[i]);
        for (int i = 0; i < N_PROMPTS; i++) {
            free(en->prompts[i].ids);
            en->be->release(en->dev, en->prompts[i].logits);
        }
        transformer_release(&en->tf);
        kvcache_release(&en->cache);
        model_close(&en->model);
        en->be->close(en->dev);
    }
    chat_own_release(&en->chat);
    tokenizer_close(en->tokenizer);
    free(en->policies);
    free(en->waiting);
    free(en->active);
    free(en->finished);
    free(en->out);
    free(en->batch.row);
    free(en->batch.result);
    free(en->model_name);
    free(en->device_name);
    free(en->numerics);
    free(en);
}

const struct engine_info *engine_info(const struct engine *en)
{
    return &en->info;
}

const struct tokenizer *engine_tokenizer(const struct engine *en)
{
    return en->tokenizer;
}

const struct chat_own *engine_chat(const struct engine *en)
{
    return &en->chat;
}

/* Page bounds are kept from the first policy on that needs them. Shared prompts made before have none, and
 * graphs captured before do not maintain them, so both are discarded. */
static int enable_bounds(struct engine *en, struct err *e)
{
    if (en->cache.view.bounds || !en->cache.n_blocks)
        return 0;
    if (en->n_active)
        return err_set(e, ERR_USAGE, "a policy that needs page bounds must be known before decoding starts");
    if (kvcache_bounds(&en->cache, e))
        return err_add(e, "a policy that is known before the first request has its memory set aside");
    prompt_cache_clear(en, e);
    graphs_clear(en);
    return e->code;
}

static int bind_policy(struct engine *en, struct policy *p, struct err *e)
{
    const struct policy_ops *ops = p->ops;
    p->be = en->be;
    p->dev = en->dev;
    p->dims = transformer_dims(&en->tf);
    p->params = p->spec.params;
    p->needs = policy_needs(&p->spec);
    if ((p->needs & POLICY_BOUNDS) && enable_bounds(en, e))
        return e->code;
    int lists = (ops->select && !(p->needs & POLICY_NO_LISTS)) || ops->on_attn_out;
    if (transformer_policy_buffers(&en->tf, p->needs, lists, e))
        return e->code;
    p->state_bytes = ops->state_size ? ops->state_size(p) : 0;
    if (p->state_bytes && !(p->state = en->be->alloc(en->dev, p->state_bytes * (size_t)p->dims.max_batch)))
        return err_set(e, ERR_DEVICE,
                       "policy %s: no device memory for %.1f MiB of state; use a smaller --max-batch or "
                       "fewer policies in a run",
                       ops->name, (double)p->state_bytes * p->dims.max_batch / 1048576);
    int rc = ops->init ? ops->init(p, e) : 0;
    if (!rc && p->takes_qk && !model_keeps_channels(&en->model.config))
        rc = err_set(
            e, ERR_UNSUPPORTED,
            "policy %s reads a channel of queries before their rotation, which %s models have in another "
            "order or with norms behind it; use gates that read hidden states",
            ops->name, model_family_name(en->model.config.family));
    if (rc && ops->release)
        ops->release(p);
    return rc;
}

static const char *spec_key(const struct policy_spec *s, struct arena *a)
{
    struct str text = {0};
    json_t *o = policy_spec_to_json(s);
    json_canonical(&text, o);
    json_decref(o);
    const char *key = arena_strdup(a, str_text(&text));
    str_release(&text);
    return key;
}

int engine_policy(struct engine *en, const struct policy_spec *spec, struct policy **out, struct err *e)
{
    struct policy *p = xcalloc(1, sizeof *p);
    struct policy_model m = {en->model_name, en->options.model_name, en->model.config.n_layers,
                             model_windows(&en->model.config)};
    int rc = policy_spec_resolve(&p->spec, spec, &m, &p->arena, e);
    p->ops = spec->ops;
    *out = NULL;
    if (!rc) {
        p->key = spec_key(&p->spec, &p->arena);
        for (int i = 0; i < en->n_policies && !*out; i++)
            if (en->policies[i]->ops == spec->ops && !strcmp(p->key, en->policies[i]->key))
                *out = en->policies[i];
    }
    if (!rc && !*out && !(rc = bind_policy(en, p, e))) {
        xgrow(&en->policies, &en->cap_policies, (size_t)en->n_policies + 1, sizeof *en->policies);
        p->id = en->n_policies;
        en->policies[en->n_policies++] = *out = p;
        p = NULL;
    }
    if (p)
        policy_free(en, p);
    return rc;
}

int engine_pending(const struct engine *en)
{
    return en->n_waiting + en->n_active;
}

int engine_running(const struct engine *en, struct running *out)
{
    int n = 0;
    for (int i = 0; i < en->n_active; i++)
        if (!en->active[i]->is_reference)
            out[n++] =
                (struct running){en->active[i]->req.user, en->active[i]->n_ids, en->active[i]->ids,
                                 en->active[i]->logprobs, en->active[i]->tops,  en->active[i]->top_logprobs};
    return n;
}

int engine_waiting(const struct engine *en)
{
    return en->n_waiting;
}

void engine_withdraw(struct engine *en)
{
    for (int i = 0; i < en->n_waiting; i++)
        sequence_release(en->waiting[i]);
    en->n_waiting = 0;
}

int engine_cancel(struct engine *en, const void *user)
{
    for (int i = 0; i < en->n_active; i++)
        if (en->active[i]->req.user == user)
            en->active[i]->is_cancelled = 1;
    for (int i = 0; i < en->n_waiting; i++)
        if (en->waiting[i]->req.user == user) {
            sequence_release(en->waiting[i]);
            memmove(en->waiting + i, en->waiting + i + 1,
                    (size_t)(--en->n_waiting - i) * sizeof *en->waiting);
            return 1;
        }
    return 0;
}

void engine_stats(const struct engine *en, struct engine_stats *out)
{
    *out = en->stats;
    out->blocks_free = (size_t)en->cache.n_free;
    out->blocks_peak = (size_t)(en->cache.n_blocks - en->cache.min_free);
}
