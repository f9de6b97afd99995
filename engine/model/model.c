/* Opens models: which tensors they have, by the plan, and the tables of positions. */
#include "engine/model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/model_load.h"
#include "engine/model/model_parts.h"
#include "engine/pocket/pocket.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"

/* Where each channel of a head of q and k goes. The kernels turn channel i with channel i + d/2. A family's
 * pair i of those that rotate is (2i, 2i + 1), or (i, i + pairs); channels that do not rotate fill what is
 * left. */
static void order_channels(struct loader *l)
{
    const struct model_config *c = &l->m->config;
    int half = c->head_dim / 2, pairs = c->rope[0].pairs;
    for (int i = 0; i < pairs; i++) {
        int interleaved = (c->family->switches & FAMILY_INTERLEAVED) != 0;
        l->order[interleaved ? 2 * i : i] = i;
        l->order[interleaved ? 2 * i + 1 : i + pairs] = half + i;
    }
    for (int i = 2 * pairs, to = pairs; i < c->head_dim; i += 2, to++) {
        l->order[i] = to;
        l->order[i + 1] = half + to;
    }
    for (int i = 0; i < c->head_dim; i++)
        l->is_ordered |= l->order[i] != i;
}

/* A tensor of layer i, without ".weight". */
static const char *layer_name(const struct loader *l, char name[96], int i, const char *of)
{
    snprintf(name, 96, "%slayers.%d.%s", l->root, i, of);
    return name;
}

static int load_norm(struct loader *l, int i, const char *of, int n, int is_rotated, float **out)
{
    char name[96], whole[112];
    snprintf(whole, sizeof whole, "%s.weight", layer_name(l, name, i, of));
    return load_vector(l, whole, n, 1, is_rotated, out);
}

static int load_layer_matrices(struct loader *l, int i)
{
    const struct model_config *c = &l->m->config;
    struct model_layer *y = &l->m->layer[i];
    char names[7][96];
    static const char *const apart[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                        "self_attn.o_proj", "mlp.gate_proj",    "mlp.up_proj",
                                        "mlp.down_proj"};
    static const char *const fused[] = {"self_attn.qkv_proj", "self_attn.qkv_proj", "self_attn.qkv_proj",
                                        "self_attn.o_proj",   "mlp.gate_up_proj",   "mlp.gate_up_proj",
                                        "mlp.down_proj"};
    int is_fused = (c->family->switches & FAMILY_FUSED) != 0;
    for (int j = 0; j < 7; j++)
        layer_name(l, names[j], i, is_fused ? fused[j] : apart[j]);
    int q = c->n_q * c->head_dim, kv = c->n_kv * c->head_dim, all = is_fused ? q + 2 * kv : 0;
    struct part qkv[] = {{names[0], q, 0, all, 1}, {names[1], kv, q, all, 1}, {names[2], kv, q + kv, all, 0}};
    struct part o[] = {{names[3], c->hidden, 0, 0, 0}}, down[] = {{names[6], c->hidden, 0, 0, 0}};
    struct part gu[] = {{names[4], c->ffn, 0, is_fused ? 2 * c->ffn : 0, 0},
                        {names[5], c->ffn, c->ffn, is_fused ? 2 * c->ffn : 0, 0}};
    if (load_matrix(l, &y->qkv, qkv, 3, c->hidden, c->qkv_bias) ||
        load_matrix(l, &y->o, o, 1, q, c->o_bias) ||
        load_matrix(l, &y->gate_up, gu, 2, c->hidden, c->ffn_bias) ||
        load_matrix(l, &y->down, down, 1, c->ffn, c->ffn_bias))
        return l->e->code;
    return 0;
}

/* The norm after attention has one name in two places: before the feed-forward part where norms stand before
 * parts only, else behind attention. */
static int load_layer(struct loader *l, int i)
{
    static const char after[] = "post_attention_layernorm";
    const struct model_config *c = &l->m->config;
    struct model_layer *y = &l->m->layer[i];
    int before = (c->norms & NORM_BEFORE) != 0, behind = (c->norms & NORM_BEHIND) != 0;
    if (load_layer_matrices(l, i) ||
        (before && load_norm(l, i, "input_layernorm", c->hidden, 0, &y->norm_attn)) ||
        (before &&
         load_norm(l, i, behind ? "pre_feedforward_layernorm" : after, c->hidden, 0, &y->norm_ffn)) ||
        (behind && load_norm(l, i, after, c->hidden, 0, &y->norm_attn_out)) ||
        (behind && load_norm(l, i, "post_feedforward_layernorm", c->hidden, 0, &y->norm_ffn_out)))
        return l->e->code;
    int is_wide = c->qk_norm == QK_NORM_WIDE, is_late = c->qk_norm == QK_NORM_HEAD_AFTER;
    int q = is_wide ? c->n_q * c->head_dim : c->head_dim, k = is_wide ? c->n_kv * c->head_dim : c->head_dim;
    if (c->qk_norm &&
        (load_norm(l, i, is_late ? "self_attn.query_layernorm" : "self_attn.q_norm", q, 1, &y->q_norm) ||
         load_norm(l, i, is_late ? "self_attn.key_layernorm" : "self_attn.k_norm", k, 1, &y->k_norm)))
        return l->e->code;
    char name[96];
    return c->has_sinks ? load_vector(l, layer_name(l, name, i, "self_attn.sinks"), c->n_q, 0, 0, &y->sinks)
                        : 0;
}

static int send_table(struct loader *l, const float *host, size_t n, float **out)
{
    if (!(*out = l->m->be->alloc(l->m->dev, n * sizeof *host)) ||
        (!l->only_headers && l->m->be->upload(l->m->dev, *out, host, n * sizeof *host) < 0))
        return load_device_error(l, "rotation table");
    return 0;
}

/* Angles are doubles. Their cosines and sines are computed in long double, for which every x86-64 machine
 * runs the same code, and rounded to fp32. With 131,072 positions they take one core two seconds. */
static int load_rope(struct loader *l, const struct model_rope *r, int max_context, float **out)
{
    int half = l->m->config.head_dim / 2;
    size_t n = (size_t)max_context * 2 * (size_t)half;
    float *host = xmalloc(n * sizeof *host);
    double *frequency = xmalloc((size_t)half * sizeof *frequency);
    for (int i = 0; i < half; i++)
        frequency[i] = model_rope_frequency(r, i);
#pragma omp parallel for schedule(static)
    for (int p = 0; p < (l->only_headers ? 0 : max_context); p++) {
        float *cosines = host + (size_t)p * 2 * (size_t)half, *sines = cosines + half;
        for (int i = 0; i < half; i++) {
            double angle = p * frequency[i], by = i < r->pairs ? r->attention : 1;
            cosines[i] = (float)(by * cosl((long double)angle));
            sines[i] = (float)(by * sinl((long double)angle));
        }
    }
    free(frequency);
    int rc = send_table(l, host, n, out);
    free(host);
    return rc;
}

/* Tables by position: one for each rotation that a layer has, and what queries are multiplied by. */
static int load_tables(struct loader *l, int max_context)
{
    const struct model_config *c = &l->m->config;
    int is_used[MODEL_ROPES] = {0}, rc = 0;
    for (int i = 0; i < c->n_layers; i++)
        if (c->rope_of[i] >= 0)
            is_used[c->rope_of[i]] = 1;
    for (int i = 0; i < c->n_ropes && !rc; i++)
        if (is_used[i])
            rc = load_rope(l, &c->rope[i], max_context, &l->m->cos_sin[i]);
    if (rc || !c->query_beta)
        return rc;
    float *scale = xmalloc((size_t)max_context * sizeof *scale);
    for (int p = 0; p < max_context; p++)
        scale[p] = (float)model_query_scale(c, p);
    rc = send_table(l, scale, (size_t)max_context, &l->m->query_scale);
    free(scale);
    return rc;
}

/* A lower bound of the bytes that the weights take. When that does not fit, the user need not wait for the
 * loading to fail. */
static size_t least_bytes(const struct model_config *c)
{
    size_t tables = (c->tie_embeddings ? 1 : 2) * (size_t)c->vocab * (size_t)c->hidden;
    return 2 * (model_layer_values(c) + tables);
}

static int check_room(struct loader *l)
{
    size_t need = least_bytes(&l->m->config), left = l->m->be->free_bytes(l->m->dev);
    if (!left || need <= left)
        return 0;
    return err_set(l->e, ERR_DEVICE,
                   "the weights take %.1f GiB and %.1f GiB of GPU memory are free: use a smaller model, or a "
                   "GPU that nobody else uses (nvidia-smi shows who does)",
                   (double)need / 1073741824, (double)left / 1073741824);
}

/* What config.json says of the output head, against what the file has, as Transformers 5 takes it: a head
 * that is tied but stands in the file with other values is one of its own, and where only the head is there
 * the embedding is tied to it. */
static int check_head(struct loader *l, struct part *embed)
{
    struct model_config *c = &l->m->config;
    if (!l->st)
        return 0;
    char name[112];
    snprintf(name, sizeof name, "%s.weight", embed->name);
    const struct st_tensor *rows = safetensors_find(l->st, name);
    snprintf(name, sizeof name, "%s.weight", l->head);
    const struct st_tensor *head = safetensors_find(l->st, name);
    if (!c->tie_embeddings && !head)
        return err_set(l->e, ERR_FORMAT,
                       "the tensor \"%s\" is missing; if the model has no output head of its own, "
                       "set \"tie_word_embeddings\" in config.json to true",
                       name);
    if (c->tie_embeddings && head && !rows)
        embed->name = l->head;
    if (c->tie_embeddings && head && rows && !st_is_equal(head, rows)) {
        c->tie_embeddings = 0;
        l->m->is_head_own = 1;
    }
    return 0;
}

/* What names of tensors begin with. A model that also takes images has its language model under a name of its
 * own. */
static void find_root(struct loader *l)
{
    static const char *const roots[][2] = {{"model.", "lm_head"},
                                           {"language_model.model.", "language_model.lm_head"},
                                           {"model.language_model.", "lm_head"}};
    size_t found = 0, n = l->st && l->m->config.is_part ? sizeof roots / sizeof *roots : 1;
    for (size_t i = 0; i < n; i++) {
        char name[96];
        snprintf(name, sizeof name, "%snorm.weight", roots[i][0]);
        if (l->st && safetensors_find(l->st, name))
            found = i;
    }
    l->root = roots[found][0];
    l->head = roots[found][1];
}

static int load_all(struct loader *l, int max_context)
{
    struct model *m = l->m;
    const struct model_config *c = &m->config;
    char rows[96], norm[112];
    find_root(l);
    order_channels(l);
    snprintf(rows, sizeof rows, "%sembed_tokens", l->root);
    snprintf(norm, sizeof norm, "%snorm.weight", l->root);
    struct part embed[] = {{rows, c->vocab, 0, 0, 0}}, head[] = {{l->head, c->vocab, 0, 0, 0}};
    if (check_head(l, embed))
        return l->e->code;
    if (load_matrix(l, &m->embed, embed, 1, c->hidden, 0))
        return l->e->code;
    size_t gathered = c->tie_embeddings ? 0 : m->bytes;
    if (c->tie_embeddings)
        m->head = m->embed;
    else if (load_matrix(l, &m->head, head, 1, c->hidden, 0))
        return l->e->code;
    if (load_vector(l, norm, c->hidden, 1, 0, &m->norm) || load_tables(l, max_context))
        return l->e->code;
    m->layer = xcalloc((size_t)c->n_layers, sizeof *m->layer);
    for (int i = 0; i < c->n_layers; i++)
        if (load_layer(l, i))
            return l->e->code;
    m->step_bytes = m->bytes - gathered;
    return 0;
}

static int starts_with(const char *name, const char *root)
{
    return !strncmp(name, root, strlen(root));
}

/* Beside the weights there may be buffers that early versions of Transformers saved, and a head that is tied:
 * Transformers does not read them either. A model that also takes images has parts that text does not run
 * through. */
static int is_spare(const struct loader *l, const char *name)
{
    const struct model_config *c = &l->m->config;
    static const char *const buffers[] = {".rotary_emb.inv_freq", ".masked_bias"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (n > strlen(buffers[i]) && !strcmp(name + n - strlen(buffers[i]), buffers[i]))
            return 1;
    size_t head = strlen(l->head);
    int is_head = !strncmp(name, l->head, head) && !strcmp(name + head, ".weight");
    return (c->tie_embeddings && is_head) || (c->is_part && !is_head && !starts_with(name, l->root));
}

/* A bias, a norm or a whole layer that is left out would make another model of the same name. */
static int check_all_read(const struct loader *l)
{
    const struct model_config *c = &l->m->config;
    const struct st_tensor *t;
    const char *first = NULL;
    struct str rest = {0};
    size_t n = 0;
    for (size_t i = 0; l->st && (t = safetensors_at(l->st, i)); i++)
        if (!safetensors_is_read(l->st, i) && !is_spare(l, t->name) && !n++)
            first = t->name;
    if (n > 1)
        str_printf(&rest, " and %zu other%s", n - 1, n == 2 ? "" : "s");
    int rc = n ? err_set(l->e, ERR_UNSUPPORTED,
                         "the weights have the tensor \"%.100s\"%s, which a %s model of %d layers "
                         "(num_hidden_layers) does not read: either config.json is of another model, or its "
                         "architecture is not supported",
                         first, str_text(&rest), c->family->name, c->n_layers)
               : 0;
    str_release(&rest);
    return rc;
}

enum { QUICK_BYTES = 256 << 20 }; /* a second where the processor has no instructions for it */

/* Random weights are a function of the shape, so a hash of that is their identity. */
static int random_identity(char out[65], const char *path, struct err *e)
{
    struct str text = {0};
    struct model_config c;
    int rc = model_config_open(&c, path, e);
    str_puts(&text, "random:");
    if (!rc) {
        model_config_shape(&c, &text);
        str_puts(&text, c.tie_embeddings ? "tied\n" : "");
    }
    sha256_hex(text.data, text.len, out, 64);
    str_release(&text);
    return rc;
}

/* *out NULL: random weights, which are in no file. */
static int open_weights(struct safetensors **out, const char *path, struct err *e)
{
    size_t n;
    *out = NULL;
    if (model_random_config(path))
        return 0;
    if (strcmp(path, "pocket") != 0)
        return safetensors_open_folder(out, path, e);
    const void *data = pocket_weights(&n);
    return safetensors_open_memory(out, data, n, "embedded weights", e);
}

static int identify_weights(const struct safetensors *st, const char *path, const char *cache_dir,
                            char out[65], struct err *e)
{
    return st ? safetensors_identity(st, cache_dir, out, e) : random_identity(out, path, e);
}

int model_identity(const char *path, const char *cache_dir, char out[65], struct err *e)
{
    struct safetensors *st;
    int rc = open_weights(&st, path, e);
    if (!rc)
        rc = identify_weights(st, path, cache_dir, out, e);
    safetensors_close(st);
    return rc ? err_add(e, "model %s", path), rc : 0;
}

int model_identity_is_quick(const char *path, const char *cache_dir)
{
    struct safetensors *st;
    struct err e = {0};
    int rc = open_weights(&st, path, &e),
        is_quick = rc || !st || safetensors_unhashed(st, cache_dir) < QUICK_BYTES;
    safetensors_close(st);
    return is_quick;
}

static int open_model(struct loader *l, const char *path, int max_context, const char *cache_dir)
{
    struct model *m = l->m;
    struct err *e = l->e;
    int rc = model_config_open(&m->config, path, e);
    if (!rc)
        rc = open_weights(&l->st, path, e);
    if (!rc)
        rc = check_room(l);
    if (!rc && !l->only_headers)
        rc = identify_weights(l->st, path, cache_dir, m->identity, e);
    if (!rc)
        rc = load_all(l, max_context);
    if (!rc)
        rc = check_all_read(l);
    safetensors_close(l->st);
    if (rc) {
        model_close(m);
        return err_add(e, "model %s", path);
    }
    return 0;
}

int model_open(struct model *m, const char *path, const struct backend *be, struct device *dev,
               int max_context, const char *cache_dir, struct err *e)
{
    *m = (struct model){.be = be, .dev = dev};
    struct loader l = {.m = m, .e = e};
    return open_model(&l, path, max_context, cache_dir);
}

int model_open_headers(struct model *m, const char *path, const struct backend *be, struct device *dev,
                       int max_context, struct err *e)
{
    *m = (struct model){.be = be, .dev = dev};
    struct loader l = {.m = m, .only_headers = 1, .e = e};
    return open_model(&l, path, max_context, NULL);
}

void model_close(struct model *m)
{
    if (!m->be)
        return;
    for (int i = 0; m->layer && i < m->config.n_layers; i++) {
        struct model_layer *y = &m->layer[i];
        struct weight *matrices[] = {&y->qkv, &y->o, &y->gate_up, &y->down};
        float *vectors[] = {y->norm_attn, y->norm_ffn, y->norm_attn_out, y->norm_ffn_out,
                            y->q_norm,    y->k_norm,   y->sinks};
        for (size_t j = 0; j < sizeof matrices / sizeof *matrices; j++)
            m->be->weight_release(m->dev, matrices[j]);
        for (size_t j = 0; j < sizeof vectors / sizeof *vectors; j++)
            m->be->release(m->dev, vectors[j]);
    }
    if (m->head.data != m->embed.data)
        m->be->weight_release(m->dev, &m->head);
    m->be->weight_release(m->dev, &m->embed);
    m->be->release(m->dev, m->norm);
    for (int i = 0; i < MODEL_ROPES; i++)
        m->be->release(m->dev, m->cos_sin[i]);
    m->be->release(m->dev, m->query_scale);
    free(m->layer);
    memset(m, 0, sizeof *m);
}
