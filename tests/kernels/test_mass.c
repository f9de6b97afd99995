/* The attention mass of tiles of prompt queries, against loops in double precision over the host's mirror of
 * the cache (set.h), and that its bits depend on neither the chunks of the prompt nor on threads and
 * instruction sets. */
#include "tests/kernels/set.h"

/* SHARP: a sequence whose logits are so far apart that most masses have no fp32 number. */
enum { TILE = 32, MOST = 50, SHARP = 4 };

static int checked;

/* Room for n_rows lists of each tile. */
static struct scores room_for(struct rig *r, int tiles, int n_rows, int stride)
{
    size_t lists = (size_t)(tiles * n_rows);
    return (struct scores){rig_alloc(r, lists * (size_t)stride * 4), rig_alloc(r, lists * 4),
                           rig_alloc(r, lists * 4), n_rows, stride};
}

/* Are scaled queries rounded to bf16, as wgmma takes them (op_prefill_mass_wgmma.cu)? */
static int rounds_queries(const struct set *s, float softcap)
{
    struct device_facts facts;
    if (softcap > 0 || s->c.kv.dtype != DTYPE_BF16 || !rig_rounds_weights(s->r, s->c.kv.head_dim))
        return 0;
    CHECK_INT(s->r->b->facts(s->r->d, &facts), 0);
    return strstr(facts.kernels, "all kernels") != NULL;
}

/* Adds the probabilities of a query's heads to mass (n_rows, SLOTS). sink: of each head, or NULL. */
static void add_plain(struct set *s, const struct prefill_mass_args *a, int pos, const float *q,
                      const float *sink, double *mass)
{
    int rounds = rounds_queries(s, a->softmax.softcap);
    int n_q = s->c.n_q, group = n_q / s->c.kv.n_kv;
    for (int h = 0; h < n_q; h++) {
        int head = cache_head(&s->c, a->seq, LAYER, h / group);
        uint8_t read[SLOTS];
        double unused[256];
        float rounded[256];
        for (int i = 0; i < s->c.kv.head_dim; i++)
            rounded[i] = rig_bf16(q[h * s->c.kv.head_dim + i] * (a->scale * 1.44269504f));
        for (int t = 0; t < SLOTS; t++)
            read[t] = t <= pos && s->c.live[(size_t)head * SLOTS + (size_t)t];
        double softcap = (double)a->softmax.softcap, of_sink = sink ? (double)sink[h] : -INFINITY;
        double lse = rounds ? plain_softmax(s, head, rounded, read, 0.69314718055994531, of_sink, 0, unused)
                            : plain_softmax(s, head, q + h * s->c.kv.head_dim, read, (double)a->scale,
                                            of_sink, softcap, unused);
        for (int t = 0; t <= pos && lse > -INFINITY; t++)
            mass[h * a->out.n_rows / n_q * SLOTS + t] += exp(s->logit[t] - lse);
    }
}

static void compare_mass(double *worst, float have, double mass)
{
    if (mass <= 0 || have == -INFINITY)
        CHECK(have == -INFINITY && mass <= 0);
    else
        *worst = fmax(*worst, fabs((double)have - log(mass)));
}

/* One tile of a call whose results are v, n, m and own. */
static void check_tile(struct set *s, const struct prefill_mass_args *a, const float *q, const float *sink,
                       int tile, const float *v, const int32_t *n, const int32_t *m, const float *own)
{
    int lists = a->out.n_rows, start = a->pos0 + tile * TILE, end = a->pos0 + a->nq;
    double *mass = calloc((size_t)lists * SLOTS, sizeof *mass), worst = 0;
    end = start + TILE < end ? start + TILE : end;
    for (int pos = start > a->from ? start : a->from; pos < end; pos++)
        add_plain(s, a, pos, q + (pos - a->pos0) * a->q_stride, sink, mass);
    for (int h = 0; h < lists; h++) {
        int list = tile * lists + h, candidates = 0;
        double inside = 0;
        CHECK_INT(n[list], a->before ? start : end);
        for (int t = 0; t < end; t++) {
            compare_mass(&worst, v[list * SLOTS + t], mass[h * SLOTS + t]);
            candidates += t < n[list] && mass[h * SLOTS + t] > 0;
            inside += t >= start ? mass[h * SLOTS + t] : 0;
        }
        CHECK_INT(m[list], candidates);
        compare_mass(&worst, own[list], inside);
    }
    CHECK_NEAR(worst, 0, a->seq == SHARP ? 3e-4 : 1e-5); /* logits of hundreds have fewer digits */
    checked++;
    free(mass);
}

/* The last tiles of every sequence, with all queries or the last few, with or without the tile's own keys.
 * Sinks lie among the logits, far below them or far above; small: every shape has some sort, with or without
 * a softcap. */
static void check_softmax(struct set *s, int shape, int sinks, float softcap)
{
    static const float level[] = {0, 0, -90, 60};
    float sink[MAX_Q];
    int n_q = s->c.n_q, d = s->c.kv.head_dim, stride = n_q * d + 1, most = 2 * (MOST / TILE + 1);
    float *q = malloc((size_t)(MOST * stride) * 4);
    float *v = malloc((size_t)(most * s->c.kv.n_kv) * SLOTS * 4), own[64];
    for (int seq = 0; seq < SEQS; seq += rig_small() ? 2 : 1) {
        int n = set_length(seq), owned = s->r->n_owned, pos0 = n > MOST ? (n - MOST + TILE) / TILE * TILE : 0;
        int nq = n - pos0, tiles = (nq + TILE - 1) / TILE, n_rows = shape % 3 == 2 ? 1 : s->c.kv.n_kv;
        int32_t length[64], candidates[64];
        rig_fill(s->r, q, (size_t)(MOST * stride));
        struct prefill_mass_args a = {.kv = s->c.kv,
                                      .seq = seq,
                                      .layer = LAYER,
                                      .n_q = n_q,
                                      .pos0 = pos0,
                                      .nq = nq,
                                      .q = rig_up(s->r, q, (size_t)(MOST * stride) * 4),
                                      .q_stride = stride,
                                      .scale = seq == SHARP ? 16 : 0.25f,
                                      .tile = TILE,
                                      .from = (seq + shape) % 3 ? 0 : n - 9,
                                      .before = (seq + shape) % 2,
                                      .out = room_for(s->r, tiles, n_rows, SLOTS),
                                      .own = rig_alloc(s->r, sizeof own),
                                      .softmax.softcap = softcap};
        rig_fill(s->r, sink, MAX_Q);
        for (int h = 0; h < MAX_Q; h++)
            sink[h] = sink[h] * 3 + level[sinks];
        a.softmax.sink = sinks ? rig_up(s->r, sink, sizeof sink) : NULL;
        size_t lists = (size_t)(tiles * n_rows);
        rig_run(s->r, OP_prefill_mass, &a);
        rig_get(s->r, v, a.out.v, lists * SLOTS * 4);
        rig_get(s->r, length, a.out.n, lists * 4);
        rig_get(s->r, candidates, a.out.m, lists * 4);
        rig_get(s->r, own, a.own, lists * 4);
        for (int tile = 0; tile < tiles; tile++)
            check_tile(s, &a, q, a.softmax.sink ? sink : NULL, tile, v, length, candidates, own);
        set_forget(s, owned);
    }
    free(q);
    free(v);
}

static void check_shape(struct set *s, int shape)
{
    check_softmax(s, shape, 0, 0);
    for (int sinks = 0; sinks < 4; sinks++)
        for (int cap = 0; cap < 2; cap++)
            if ((sinks || cap) && (!rig_small() || (2 * sinks + cap + shape) % 4 == 0))
                check_softmax(s, shape, sinks, cap ? 2.5f : 0);
}

/* A prompt of 300 tokens in chunks of `chunk`: the bytes of all lists. */
enum { PROMPT = 300, TILES = (PROMPT + TILE - 1) / TILE, KV = 2, BYTES = TILES * KV * PROMPT * 4 };

static void in_chunks(struct rig *r, enum dtype kv, int d, int chunk, int softens, unsigned char *to)
{
    static const float sink[4] = {1, -0.5f, 2, 0.25f};
    struct cache c;
    uint64_t random = r->random;
    static float q[PROMPT * 4 * 64];
    r->random = 7; /* the same values for every device */
    cache_open(&c, r, 1, 1, 4, KV, d, 20, kv);
    cache_prefill(&c, r, 0, 0, PROMPT);
    rig_fill(r, q, (size_t)(PROMPT * 4 * d));
    memset(to, 0, BYTES);
    for (int pos0 = 0; pos0 < PROMPT; pos0 += chunk) {
        int n = PROMPT - pos0 < chunk ? PROMPT - pos0 : chunk, lists = (n + TILE - 1) / TILE * KV;
        struct prefill_mass_args a = {.kv = c.kv,
                                      .n_q = 4,
                                      .pos0 = pos0,
                                      .nq = n,
                                      .q = rig_up(r, q + pos0 * 4 * d, (size_t)(n * 4 * d) * 4),
                                      .q_stride = 4 * d,
                                      .scale = 0.3f,
                                      .tile = TILE,
                                      .out = room_for(r, (n + TILE - 1) / TILE, KV, PROMPT)};
        if (softens)
            a.softmax = (struct softmax_args){rig_up(r, sink, sizeof sink), kv == DTYPE_F32 ? 1.5f : 0};
        rig_run(r, OP_prefill_mass, &a);
        rig_get(r, to + (size_t)(pos0 / TILE * KV * PROMPT) * 4, a.out.v, (size_t)(lists * PROMPT) * 4);
    }
    cache_close(&c);
    r->random = random;
}

/* Of bf16 on tensor cores only the chunks do not matter; they round queries, as others do not. */
static void same_bits(struct rig *r)
{
    static unsigned char first[4][BYTES], have[BYTES];
    static int known;
    for (int kind = 0; kind < 4; kind++) {
        int bf16 = kind % 2, softens = kind / 2, d = bf16 ? 64 : 32;
        enum dtype kv = bf16 ? DTYPE_BF16 : DTYPE_F32;
        if (!known || (bf16 && rig_rounds(r)))
            in_chunks(r, kv, d, PROMPT, softens, first[kind]);
        for (int chunk = 128; chunk < 2 * PROMPT; chunk *= 2) {
            in_chunks(r, kv, d, chunk, softens, have);
            CHECK(memcmp(first[kind], have, BYTES) == 0);
        }
    }
    CHECK(memcmp(first[0], first[2], BYTES) && memcmp(first[1], first[3], BYTES));
    known = 1;
}

static void check_refusals(struct rig *r)
{
    struct cache c;
    cache_open(&c, r, 1, 1, 4, 2, 16, 4, DTYPE_F32);
    struct prefill_mass_args a = {
        .kv = c.kv, .n_q = 4, .nq = 1, .tile = 24, .out = {.n_rows = 2, .stride = 64}};
    CHECK_INT(r->b->launch(r->d, OP_prefill_mass, &a), BACKEND_ERR_UNSUPPORTED);
    a.tile = 32;
    a.pos0 = 16;
    CHECK_INT(r->b->launch(r->d, OP_prefill_mass, &a), BACKEND_ERR_UNSUPPORTED);
    a.pos0 = 32;
    a.nq = 33;
    CHECK_INT(r->b->launch(r->d, OP_prefill_mass, &a), BACKEND_ERR_UNSUPPORTED);
    CHECK_STR(r->b->last_error(r->d), "prefill_mass: room for 64 keys of 65");
    a.nq = 1;
    a.softmax.softcap = -1;
    CHECK_INT(r->b->launch(r->d, OP_prefill_mass, &a), BACKEND_ERR_UNSUPPORTED);
    cache_close(&c);
}

int main(void)
{
    struct rig r;
    set_each(check_shape);
    rig_each_isa(same_bits);
    rig_open(&r, NULL, 1);
    same_bits(&r);
    check_refusals(&r);
    rig_close(&r);
    rig_ran("tiles of prompt queries", checked);
    return check_done();
}
