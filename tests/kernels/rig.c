/* See rig.h. KV blocks are handed out in a scattered order, so that a kernel that mixes up pages is found
 * out. */
#include "tests/kernels/rig.h"

#define MUST(x)                                                                                              \
    do {                                                                                                     \
        if (!(x)) {                                                                                          \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x);                                          \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

int rig_open(struct rig *r, const char *isa, int threads)
{
    struct device_options o = {threads, isa};
    char why[320];
    memset(r, 0, sizeof *r);
    const char *name = getenv("KVEVAL_TEST_BACKEND");
    r->b = backend_find(name ? name : "cpu");
    r->random = 1;
    if (!r->b || r->b->count() < 1) {
        printf("skipped: no device of backend %s\n", name ? name : "cpu");
        exit(77);
    }
    int rc = r->b->open(&r->d, 0, &o, why, sizeof why);
    MUST(rc == 0 || rc == BACKEND_ERR_UNSUPPORTED);
    const char *fault = name ? getenv("KVEVAL_CUDA_FAULT") : NULL; /* kernels/fault.h; was it understood? */
    if (rc == 0 && fault && strncmp(fault, "few", 3) == 0)
        MUST(strstr(r->b->describe(r->d), "few multiprocessors") != NULL);
    if (rc == 0 && fault && strncmp(fault, "nowgmma", 7) == 0)
        MUST(strstr(r->b->describe(r->d), "no wgmma") != NULL);
    if (rc == 0 && fault && strncmp(fault, "card", 4) == 0)
        MUST(strstr(r->b->describe(r->d), "older GPU") != NULL);
    return rc == 0;
}

void rig_close(struct rig *r)
{
    while (r->n_owned)
        r->b->release(r->d, r->owned[--r->n_owned]);
    if (!r->is_guest)
        r->b->close(r->d);
}

void rig_join(struct rig *r, const struct rig *host)
{
    memset(r, 0, sizeof *r);
    r->b = host->b;
    r->d = host->d;
    r->random = 1;
    r->is_guest = 1;
}

void rig_each_isa(void (*test)(struct rig *r))
{
    static const char *const isas[] = {"scalar", "avx2", "avx512"};
    struct rig r;
    if (rig_small()) {
        rig_open(&r, NULL, 2);
        test(&r);
        rig_close(&r);
        return;
    }
    for (int i = 0; i < 3; i++) {
        if (!rig_open(&r, isas[i], 2)) {
            fprintf(stderr, "notice: %s is not there, not tested\n", isas[i]);
            continue;
        }
        test(&r);
        rig_close(&r);
    }
}

int rig_small(void)
{
    const char *small = getenv("KVEVAL_TEST_SMALL");
    return small && strcmp(small, "1") == 0;
}

void rig_ran(const char *kind, int n)
{
    if (rig_small())
        fprintf(stderr, "notice: small: %d x %s\n", n, kind);
    if (n < 1) {
        fprintf(stderr, "nothing was run: %s\n", kind);
        exit(1);
    }
}

int rig_rounds(const struct rig *r)
{
    return r->b->activations == DTYPE_BF16;
}

int rig_own_products(const struct rig *r)
{
    struct device_facts facts;
    if (!rig_rounds(r) || strstr(r->b->describe(r->d), "emulated GPU"))
        return 0;
    MUST(r->b->facts(r->d, &facts) == 0);
    return strstr(facts.kernels, "all kernels") != NULL;
}

int rig_rounds_weights(const struct rig *r, int head_dim)
{
    struct device_facts facts;
    if (!rig_rounds(r) || (head_dim != 64 && head_dim != 128))
        return 0;
    MUST(r->b->facts(r->d, &facts) == 0);
    return !strstr(facts.kernels, "plain kernels");
}

static uint32_t next_random(struct rig *r)
{
    uint64_t z = r->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)(z >> 32);
}

float rig_uniform(struct rig *r)
{
    return (float)((double)next_random(r) / 2147483648.0 - 1);
}

int rig_below(struct rig *r, int n)
{
    return (int)(next_random(r) % (unsigned)n);
}

void rig_fill(struct rig *r, float *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = rig_uniform(r);
}

float rig_bf16(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &u, 4);
    return x;
}

int rig_is_rounded(struct rig *r, const void *half, const float *want, size_t n)
{
    uint16_t *have = malloc(n * sizeof *have);
    size_t same = 0;
    MUST(have);
    rig_get(r, have, half, n * sizeof *have);
    for (size_t i = 0; i < n; i++) {
        float x = rig_bf16(want[i]);
        uint32_t u;
        memcpy(&u, &x, 4);
        same += have[i] == u >> 16;
    }
    free(have);
    return same == n;
}

double rig_glu(enum glu glu, double z, double u)
{
    double root = 0.79788456080286536; /* sqrt(2 / pi) */
    switch (glu) {
    case GLU_GELU:
        return z / (1 + exp(-2 * root * (z + 0.044715 * z * z * z))) * u;
    case GLU_CLAMPED:
        z = z < 7 ? z : 7;
        u = u < -7 ? -7 : u < 7 ? u : 7;
        return z / (1 + exp(-1.702 * z)) * (u + 1);
    default:
        return z / (1 + exp(-z)) * u;
    }
}

void *rig_alloc(struct rig *r, size_t bytes)
{
    MUST(r->n_owned < (int)(sizeof r->owned / sizeof *r->owned));
    void *p = r->b->alloc(r->d, bytes);
    MUST(p);
    return r->owned[r->n_owned++] = p;
}

void rig_put(struct rig *r, void *dst, const void *src, size_t bytes)
{
    MUST(r->b->upload(r->d, dst, src, bytes) == 0);
}

void *rig_up(struct rig *r, const void *src, size_t bytes)
{
    void *p = rig_alloc(r, bytes);
    rig_put(r, p, src, bytes);
    return p;
}

void rig_get(struct rig *r, void *dst, const void *src, size_t bytes)
{
    int rc = r->b->download(r->d, dst, src, bytes);
    if (rc)
        fprintf(stderr, "%s\n", r->b->last_error(r->d));
    MUST(rc == 0);
}

void rig_run(struct rig *r, enum op op, const void *args)
{
    int rc = r->b->launch(r->d, op, args);
    if (rc)
        fprintf(stderr, "%s: %s\n", backend_op_name(op), r->b->last_error(r->d));
    MUST(rc == 0);
    int32_t any;
    if (r->apart && r->n_owned)
        rig_get(r, &any, r->owned[0], sizeof any);
}

struct weight rig_weight(struct rig *r, int n, int k, enum dtype t, float *host, float *host_bias)
{
    struct weight w;
    size_t count = (size_t)n * (size_t)k;
    uint16_t *half = malloc(count * sizeof *half);
    MUST(half && r->b->weight_alloc(r->d, &w, n, k, t, host_bias != NULL) == 0);
    for (size_t i = 0; i < count; i++) {
        host[i] = t == DTYPE_BF16 ? rig_bf16(rig_uniform(r)) : rig_uniform(r);
        uint32_t u;
        memcpy(&u, host + i, 4);
        half[i] = (uint16_t)(u >> 16);
    }
    /* In two pieces that do not end on a panel. */
    int first = n / 3;
    const char *src = t == DTYPE_BF16 ? (const char *)half : (const char *)host;
    size_t row = (size_t)k * (t == DTYPE_BF16 ? 2 : 4);
    MUST(r->b->weight_put(r->d, &w, 0, first, t, src) == 0);
    MUST(r->b->weight_put(r->d, &w, first, n - first, t, src + (size_t)first * row) == 0);
    MUST(r->b->weight_put(r->d, &w, n, 1, t, src) < 0);
    if (host_bias) {
        rig_fill(r, host_bias, (size_t)n);
        rig_put(r, w.bias, host_bias, (size_t)n * sizeof *host_bias);
    }
    free(half);
    return w;
}

void rig_weight_free(struct rig *r, struct weight *w)
{
    r->b->weight_release(r->d, w);
}

int cache_head(const struct cache *c, int seq, int layer, int kv_head)
{
    return (seq * c->kv.n_layers + layer) * c->kv.n_kv + kv_head;
}

int cache_slots(const struct cache *c, struct rig *r, int head)
{
    int32_t n;
    rig_get(r, &n, c->kv.n_slots + head, sizeof n);
    return n;
}

void cache_open(struct cache *c, struct rig *r, int n_seqs, int n_layers, int n_q, int n_kv, int d,
                int max_pages, enum dtype t)
{
    memset(c, 0, sizeof *c);
    c->n_q = n_q;
    c->heads = n_seqs * n_layers * n_kv;
    c->max_slots = max_pages * KV_PAGE_TOKENS;
    size_t heads = (size_t)c->heads, kv_blocks = heads * (size_t)max_pages,
           slots = heads * (size_t)c->max_slots;
    struct kv_view *kv = &c->kv;
    kv->dtype = t;
    kv->n_seqs = n_seqs;
    kv->n_layers = n_layers;
    kv->n_kv = n_kv;
    kv->head_dim = d;
    kv->max_pages = max_pages;
    size_t bytes = kv_blocks * r->b->kv_block_bytes(t, d);
    char *noise = malloc(bytes);
    MUST(noise);
    /* An earlier owner's values: finite bf16 and fp32 alike, and NaN in places. */
    memset(noise, 0x42, bytes);
    memset(noise, 0xff, bytes / 7);
    kv->pool = rig_up(r, noise, bytes);
    free(noise);
    kv->bounds = rig_alloc(r, kv_blocks * kv_bounds_bytes(kv));
    kv->live = rig_alloc(r, kv_blocks * sizeof(uint16_t));
    kv->n_slots = rig_alloc(r, heads * sizeof(int32_t));
    kv->n_live = rig_alloc(r, heads * sizeof(int32_t));
    kv->reads = rig_alloc(r, heads * sizeof(int64_t));
    kv->not_chosen = rig_alloc(r, heads * sizeof(int64_t));
    kv->aux_half = rig_alloc(r, heads * sizeof(int64_t));
    kv->aux_values = rig_alloc(r, heads * sizeof(int64_t));
    kv->prefill_reads = rig_alloc(r, heads * sizeof(int64_t));
    kv->prefill_scans = rig_alloc(r, heads * sizeof(int64_t));
    kv->keys_moved = rig_alloc(r, heads * sizeof(int64_t));
    kv->key_elements = rig_alloc(r, heads * sizeof(int64_t));
    kv->peak = rig_alloc(r, (size_t)n_seqs * sizeof(int32_t));
    int32_t *block_table = malloc(kv_blocks * sizeof *block_table), *tail = malloc(heads * sizeof *tail);
    MUST(block_table && tail);
    for (size_t i = 0; i < kv_blocks; i++)
        block_table[i] = (int32_t)(i * 7919 % kv_blocks); /* 7919 is prime and divides no table here */
    for (size_t i = 0; i < heads; i++)
        tail[i] = -1;
    kv->block_table = rig_up(r, block_table, kv_blocks * sizeof *block_table);
    kv->tail = rig_up(r, tail, heads * sizeof *tail);
    free(block_table);
    free(tail);
    c->k = calloc(slots * (size_t)d, sizeof *c->k);
    c->v = calloc(slots * (size_t)d, sizeof *c->v);
    c->live = calloc(slots, 1);
    MUST(c->k && c->v && c->live);
}

void cache_compare(struct rig *rx, const struct kv_view *x, struct rig *ry, const struct kv_view *y)
{
    size_t heads = (size_t)(x->n_seqs * x->n_layers * x->n_kv), kv_blocks = heads * (size_t)x->max_pages;
    const struct {
        const void *x, *y;
        size_t bytes;
    } part[] = {{x->pool, y->pool, kv_blocks * rx->b->kv_block_bytes(x->dtype, x->head_dim)},
                {x->bounds, y->bounds, kv_blocks * kv_bounds_bytes(x)},
                {x->live, y->live, kv_blocks * sizeof *x->live},
                {x->n_slots, y->n_slots, heads * sizeof *x->n_slots},
                {x->n_live, y->n_live, heads * sizeof *x->n_live},
                {x->tail, y->tail, heads * sizeof *x->tail}};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        char *have = malloc(part[i].bytes), *want = malloc(part[i].bytes);
        MUST(have && want);
        rig_get(rx, have, part[i].x, part[i].bytes);
        rig_get(ry, want, part[i].y, part[i].bytes);
        CHECK(memcmp(have, want, part[i].bytes) == 0);
        free(have);
        free(want);
    }
}

void cache_close(struct cache *c)
{
    free(c->k);
    free(c->v);
    free(c->live);
}

void cache_prefill(struct cache *c, struct rig *r, int seq, int pos0, int n)
{
    int width = c->kv.n_kv * c->kv.head_dim, d = c->kv.head_dim;
    size_t floats = (size_t)n * (size_t)width;
    float *k = malloc(floats * sizeof *k), *v = malloc(floats * sizeof *v);
    int32_t *ids = malloc((size_t)n * 2 * sizeof *ids);
    MUST(k && v && ids);
    for (int i = 0; i < n; i++) {
        ids[i] = seq;
        ids[n + i] = pos0 + i;
    }
    int owned = r->n_owned;
    int32_t *dev = rig_up(r, ids, (size_t)n * 2 * sizeof *ids);
    struct append_args a = {.rows = {n, dev, dev + n}, .kv = c->kv, .prefill = 1, .stride = width};
    for (a.layer = 0; a.layer < c->kv.n_layers; a.layer++) {
        rig_fill(r, k, floats);
        rig_fill(r, v, floats);
        a.k = rig_up(r, k, floats * sizeof *k);
        a.v = rig_up(r, v, floats * sizeof *v);
        rig_run(r, OP_append, &a);
        for (int i = 0; i < n; i++)
            for (int h = 0; h < c->kv.n_kv; h++) {
                size_t slot =
                    (size_t)cache_head(c, seq, a.layer, h) * (size_t)c->max_slots + (size_t)(pos0 + i);
                c->live[slot] = 1;
                for (int j = 0; j < d; j++) {
                    float x = k[i * width + h * d + j], y = v[i * width + h * d + j];
                    c->k[slot * (size_t)d + (size_t)j] = c->kv.dtype == DTYPE_BF16 ? rig_bf16(x) : x;
                    c->v[slot * (size_t)d + (size_t)j] = c->kv.dtype == DTYPE_BF16 ? rig_bf16(y) : y;
                }
            }
    }
    while (r->n_owned > owned)
        r->b->release(r->d, r->owned[--r->n_owned]);
    free(k);
    free(v);
    free(ids);
}

void cache_punch(struct cache *c, struct rig *r, int seq, int percent)
{
    int n_kv = c->kv.n_kv, cap = c->max_slots, owned = r->n_owned;
    int32_t *idx = calloc((size_t)(n_kv * cap), sizeof *idx), *len = calloc((size_t)n_kv, sizeof *len);
    int32_t one[2] = {seq, 0};
    MUST(idx && len);
    int32_t *dev = rig_up(r, one, sizeof one);
    struct drop_list_args a = {.rows = {1, dev, dev + 1}, .kv = c->kv, .cap = cap};
    for (a.layer = 0; a.layer < c->kv.n_layers; a.layer++) {
        for (int h = 0; h < n_kv; h++) {
            int head = cache_head(c, seq, a.layer, h), n = cache_slots(c, r, head);
            len[h] = 0;
            for (int s = 0; s + 1 < n; s++)
                if (rig_below(r, 100) < percent) {
                    idx[h * cap + len[h]++] = s;
                    c->live[(size_t)head * (size_t)cap + (size_t)s] = 0;
                }
        }
        a.idx = rig_up(r, idx, (size_t)(n_kv * cap) * sizeof *idx);
        a.len = rig_up(r, len, (size_t)n_kv * sizeof *len);
        rig_run(r, OP_drop_list, &a);
    }
    while (r->n_owned > owned)
        r->b->release(r->d, r->owned[--r->n_owned]);
    free(idx);
    free(len);
}
