/* Loads the tensors of a model into the layouts of the backend. Every shape is checked against the
 * configuration. */
#include "engine/model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/safetensors.h"
#include "engine/pocket/pocket.h"
#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"

/* ---- random weights of a given shape, for measuring speed without the files of a model. Values are uniform,
 * with a spread that keeps activations near 1. Each is a function of its matrix, row and column. */

enum { ROWS_AT_ONCE = 4096 };

static uint16_t to_bf16(float x)
{
    union {
        float f;
        uint32_t u;
    } v = {x};
    return (uint16_t)((v.u + 0x7fff + (v.u >> 16 & 1)) >> 16);
}

/* Each value takes sixteen random bits, which give a number from -1 to 1, and is that times the spread. */
static void fill_row(uint16_t *to, int k, uint64_t key, float spread)
{
    for (int j = 0; j < k; j += 4) {
        uint64_t bits = hash_mix64(key + (uint64_t)j);
        for (int i = 0; i < 4 && j + i < k; i++)
            to[j + i] = to_bf16(((float)(bits >> 16 * i & 0xffff) / 32767.5f - 1) * spread);
    }
}

/* An (n, k) matrix whose values follow from `key`. 0 or a negative backend code. */
static int model_random_matrix(const struct backend *be, struct device *dev, struct weight *w, int n, int k,
                               uint64_t key, int with_bias)
{
    const float spread = sqrtf(3.0f / (float)k);
    size_t rows = (size_t)(n < ROWS_AT_ONCE ? n : ROWS_AT_ONCE);
    uint16_t *host = xmalloc(rows * (size_t)k * sizeof *host);
    int rc = be->weight_alloc(dev, w, n, k, DTYPE_BF16, with_bias);
    for (int r0 = 0; r0 < n && rc >= 0; r0 += ROWS_AT_ONCE) {
        int m = n - r0 < ROWS_AT_ONCE ? n - r0 : ROWS_AT_ONCE;
#pragma omp parallel for
        for (int r = 0; r < m; r++)
            fill_row(host + (size_t)r * (size_t)k, k, hash_mix64(key) + hash_mix64((uint64_t)(r0 + r)),
                     spread);
        rc = be->weight_put(dev, w, r0, m, DTYPE_BF16, host);
    }
    free(host);
    return rc;
}

/* The n weights of a norm, all 1; NULL: no memory. */
static float *model_random_ones(const struct backend *be, struct device *dev, int n)
{
    float *host = xmalloc((size_t)n * sizeof *host), *p = be->alloc(dev, (size_t)n * sizeof *host);
    for (int i = 0; i < n; i++)
        host[i] = 1;
    if (p && be->upload(dev, p, host, (size_t)n * sizeof *host) < 0) {
        be->release(dev, p);
        p = NULL;
    }
    free(host);
    return p;
}

/* ---- loading */

struct loader {
    struct model *m;
    struct safetensors *st; /* NULL: random weights */
    int only_headers;       /* allocates and checks, but reads and sends no values */
    struct err *e;
};

static int device_error(struct loader *l, const char *name)
{
    return err_set(l->e, ERR_DEVICE, "loading %s: %s", name, l->m->be->last_error(l->m->dev));
}

static const struct st_tensor *need_tensor(struct loader *l, const char *name, int n_dims, int64_t a,
                                           int64_t b)
{
    int64_t shape[2] = {a, b};
    const struct st_tensor *t = NULL;
    return safetensors_need(l->st, name, n_dims, shape, &t, l->e) ? NULL : t;
}

/* Loads a vector as fp32. */
static int load_vector(struct loader *l, const char *name, int n, float **out)
{
    l->m->bytes += (size_t)n * sizeof **out;
    const struct st_tensor *t = l->st ? need_tensor(l, name, 1, n, 0) : NULL;
    if (l->st && !t)
        return l->e->code;
    if (l->only_headers)
        return (*out = l->m->be->alloc(l->m->dev, (size_t)n * sizeof **out)) ? 0 : device_error(l, name);
    if (!l->st)
        return (*out = model_random_ones(l->m->be, l->m->dev, n)) ? 0 : device_error(l, name);
    float *host = xmalloc((size_t)n * sizeof *host);
    int rc = st_to_f32(t, host, (size_t)n, l->e);
    if (!rc) {
        *out = l->m->be->alloc(l->m->dev, (size_t)n * sizeof *host);
        if (!*out || l->m->be->upload(l->m->dev, *out, host, (size_t)n * sizeof *host) < 0)
            rc = device_error(l, name);
    }
    free(host);
    return rc;
}

/* Copies one tensor into rows of a fused matrix. bf16 stays bf16; fp16 and fp32 become fp32, which is exact.
 */
static int put_rows(struct loader *l, struct weight *w, int row0, int n, const struct st_tensor *t)
{
    enum dtype src = DTYPE_BF16;
    const void *data = t->data;
    float *wide = NULL;
    int rc = 0;
    if (t->dtype != ST_BF16 || w->dtype == DTYPE_F32) {
        size_t count = (size_t)n * (size_t)w->k;
        wide = xmalloc(count * sizeof *wide);
        rc = st_to_f32(t, wide, count, l->e);
        src = DTYPE_F32;
        data = wide;
    }
    if (!rc && l->m->be->weight_put(l->m->dev, w, row0, n, src, data) < 0)
        rc = device_error(l, t->name);
    free(wide);
    return rc;
}

struct part {
    const char *name; /* without ".weight" */
    int rows;
};

/* Only the matrix of queries, keys and values has three parts. */
static int has_bias(const struct loader *l, int n_parts)
{
    return n_parts == 3 && l->m->config.family->qkv_bias;
}

static int random_matrix(struct loader *l, struct weight *w, const struct part *parts, int n_parts, int k)
{
    int n = 0, with_bias = has_bias(l, n_parts);
    for (int i = 0; i < n_parts; i++)
        n += parts[i].rows;
    l->m->bytes += (size_t)n * (size_t)k * 2;
    if (l->only_headers)
        return l->m->be->weight_alloc(l->m->dev, w, n, k, DTYPE_BF16, with_bias) < 0
                   ? device_error(l, parts[0].name)
                   : 0;
    uint64_t key = hash_bytes64(parts[0].name, strlen(parts[0].name));
    return model_random_matrix(l->m->be, l->m->dev, w, n, k, key, with_bias) < 0
               ? device_error(l, parts[0].name)
               : 0;
}

/* The tensors of a matrix's part, their shapes checked; the bias is NULL where the family has none. */
static int find_part(struct loader *l, const struct part *part, int k, int with_bias,
                     const struct st_tensor **weight, const struct st_tensor **bias)
{
    char name[160];
    *bias = NULL;
    snprintf(name, sizeof name, "%s.weight", part->name);
    if (!(*weight = need_tensor(l, name, 2, part->rows, k)))
        return l->e->code;
    snprintf(name, sizeof name, "%s.bias", part->name);
    if (with_bias && !(*bias = need_tensor(l, name, 1, part->rows, 0)))
        return l->e->code;
    return 0;
}

/* Loads a matrix whose parts are stacked by rows, with their biases where the family has some. */
static int load_matrix(struct loader *l, struct weight *w, const struct part *parts, int n_parts, int k)
{
    int n = 0, with_bias = has_bias(l, n_parts);
    enum dtype dtype = DTYPE_BF16;
    const struct st_tensor *t[3], *b[3];
    if (!l->st)
        return random_matrix(l, w, parts, n_parts, k);
    for (int i = 0; i < n_parts; i++) {
        if (find_part(l, &parts[i], k, with_bias, &t[i], &b[i]))
            return l->e->code;
        if (t[i]->dtype != ST_BF16)
            dtype = DTYPE_F32;
        n += parts[i].rows;
    }
    if (l->m->be->weight_alloc(l->m->dev, w, n, k, dtype, with_bias) < 0)
        return device_error(l, parts[0].name);
    l->m->bytes += (size_t)n * (size_t)k * (dtype == DTYPE_BF16 ? 2 : 4);
    if (l->only_headers)
        return 0;
    float *bias = with_bias ? xcalloc((size_t)n, sizeof *bias) : NULL;
    int rc = 0;
    for (int i = 0, row = 0; i < n_parts && !rc; row += parts[i++].rows) {
        rc = put_rows(l, w, row, parts[i].rows, t[i]);
        if (!rc && with_bias)
            rc = st_to_f32(b[i], bias + row, (size_t)parts[i].rows, l->e);
    }
    if (!rc && with_bias && l->m->be->upload(l->m->dev, w->bias, bias, (size_t)n * sizeof *bias) < 0)
        rc = device_error(l, parts[0].name);
    free(bias);
    return rc;
}

static int load_layer(struct loader *l, int i)
{
    const struct model_config *c = &l->m->config;
    struct model_layer *y = &l->m->layer[i];
    char names[9][96];
    static const char *const suffix[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                         "self_attn.o_proj", "mlp.gate_proj",    "mlp.up_proj",
                                         "mlp.down_proj"};
    for (int j = 0; j < 7; j++)
        snprintf(names[j], sizeof names[j], "model.layers.%d.%s", i, suffix[j]);
    int q = c->n_q * c->head_dim, kv = c->n_kv * c->head_dim;
    struct part qkv[] = {{names[0], q}, {names[1], kv}, {names[2], kv}};
    struct part o[] = {{names[3], c->hidden}}, gu[] = {{names[4], c->ffn}, {names[5], c->ffn}},
                down[] = {{names[6], c->hidden}};
    if (load_matrix(l, &y->qkv, qkv, 3, c->hidden) || load_matrix(l, &y->o, o, 1, q) ||
        load_matrix(l, &y->gate_up, gu, 2, c->hidden) || load_matrix(l, &y->down, down, 1, c->ffn))
        return l->e->code;
    snprintf(names[7], sizeof names[7], "model.layers.%d.input_layernorm.weight", i);
    snprintf(names[8], sizeof names[8], "model.layers.%d.post_attention_layernorm.weight", i);
    if (load_vector(l, names[7], c->hidden, &y->norm_in) ||
        load_vector(l, names[8], c->hidden, &y->norm_post))
        return l->e->code;
    if (!c->family->qk_norm)
        return 0;
    snprintf(names[7], sizeof names[7], "model.layers.%d.self_attn.q_norm.weight", i);
    snprintf(names[8], sizeof names[8], "model.layers.%d.self_attn.k_norm.weight", i);
    if (load_vector(l, names[7], c->head_dim, &y->q_norm) ||
        load_vector(l, names[8], c->head_dim, &y->k_norm))
        return l->e->code;
    return 0;
}

/* Angles are doubles. Their cosines and sines are computed in long double, for which every x86-64 machine
 * runs the same code, and rounded to fp32. With 131,072 positions they take one core two seconds. */
static int load_rope(struct loader *l, int max_context)
{
    const struct model_config *c = &l->m->config;
    int half = c->head_dim / 2;
    size_t n = (size_t)max_context * 2 * (size_t)half;
    l->m->cos_sin = l->m->be->alloc(l->m->dev, n * sizeof *l->m->cos_sin);
    if (!l->m->cos_sin)
        return device_error(l, "rotation table");
    if (l->only_headers)
        return 0;
    float *host = xmalloc(n * sizeof *host);
    double *frequency = xmalloc((size_t)half * sizeof *frequency);
    for (int i = 0; i < half; i++)
        frequency[i] = model_rope_frequency(c, i);
#pragma omp parallel for schedule(static)
    for (int p = 0; p < max_context; p++) {
        float *cosines = host + (size_t)p * 2 * (size_t)half, *sines = cosines + half;
        for (int i = 0; i < half; i++) {
            double angle = p * frequency[i];
            cosines[i] = (float)(c->rope_attention * cosl((long double)angle));
            sines[i] = (float)(c->rope_attention * sinl((long double)angle));
        }
    }
    free(frequency);
    int rc = 0;
    if (l->m->be->upload(l->m->dev, l->m->cos_sin, host, n * sizeof *host) < 0)
        rc = device_error(l, "rotation table");
    free(host);
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
    const struct st_tensor *rows = safetensors_find(l->st, "model.embed_tokens.weight"),
                           *head = safetensors_find(l->st, "lm_head.weight");
    if (!c->tie_embeddings && !head)
        return err_set(
            l->e, ERR_FORMAT,
            "the tensor \"lm_head.weight\" is missing; if the model has no output head of its own, "
            "set \"tie_word_embeddings\" in config.json to true");
    if (c->tie_embeddings && head && !rows)
        embed->name = "lm_head";
    if (c->tie_embeddings && head && rows && !st_is_equal(head, rows)) {
        c->tie_embeddings = 0;
        l->m->is_head_own = 1;
    }
    return 0;
}

static int load_all(struct loader *l, int max_context)
{
    struct model *m = l->m;
    const struct model_config *c = &m->config;
    struct part embed[] = {{"model.embed_tokens", c->vocab}}, head[] = {{"lm_head", c->vocab}};
    if (check_head(l, embed))
        return l->e->code;
    if (load_matrix(l, &m->embed, embed, 1, c->hidden))
        return l->e->code;
    size_t gathered = c->tie_embeddings ? 0 : m->bytes;
    if (c->tie_embeddings)
        m->head = m->embed;
    else if (load_matrix(l, &m->head, head, 1, c->hidden))
        return l->e->code;
    if (load_vector(l, "model.norm.weight", c->hidden, &m->norm) || load_rope(l, max_context))
        return l->e->code;
    m->layer = xcalloc((size_t)c->n_layers, sizeof *m->layer);
    for (int i = 0; i < c->n_layers; i++)
        if (load_layer(l, i))
            return l->e->code;
    m->step_bytes = m->bytes - gathered;
    return 0;
}

/* Beside the weights there may be buffers that early versions of Transformers saved, and a head that is tied:
 * Transformers does not read them either. */
static int is_spare(const struct model_config *c, const char *name)
{
    static const char *const buffers[] = {".rotary_emb.inv_freq", ".masked_bias"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (n > strlen(buffers[i]) && !strcmp(name + n - strlen(buffers[i]), buffers[i]))
            return 1;
    return c->tie_embeddings && !strcmp(name, "lm_head.weight");
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
        if (!safetensors_is_read(l->st, i) && !is_spare(c, t->name) && !n++)
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
        m->be->weight_release(m->dev, &y->qkv);
        m->be->weight_release(m->dev, &y->o);
        m->be->weight_release(m->dev, &y->gate_up);
        m->be->weight_release(m->dev, &y->down);
        m->be->release(m->dev, y->norm_in);
        m->be->release(m->dev, y->norm_post);
        m->be->release(m->dev, y->q_norm);
        m->be->release(m->dev, y->k_norm);
    }
    if (m->head.data != m->embed.data)
        m->be->weight_release(m->dev, &m->head);
    m->be->weight_release(m->dev, &m->embed);
    m->be->release(m->dev, m->norm);
    m->be->release(m->dev, m->cos_sin);
    free(m->layer);
    memset(m, 0, sizeof *m);
}
#include "engine/engine.h"
static int f = open("f", O_RDWR | O_CREAT, 0666);
