/* Hooks that no registered policy uses yet, tested by policies made here: one whose prefill reads a list per
 * tile of queries, as Kascade's does, and one that sees the residual stream before and after attention, as
 * calibration needs. Also which part of a prompt a policy sees that looks at its last queries, and what
 * happens to a policy that cannot be bound. */
#include "engine/policies/policy.h"
#include "tests/check.h"
#include "tests/engine/decode.h"

static const struct param no_params[] = {{0}};

static struct policy *bind(struct engine *en, const struct policy_ops *ops)
{
    struct err e = {0};
    struct policy *p = NULL;
    char unused = 0;
    struct policy_spec spec = {.ops = ops, .params = &unused};
    if (engine_policy(en, &spec, &p, &e)) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    return p;
}

static void put(const struct policy_ctx *c, void *dst, const void *src, size_t bytes)
{
    CHECK(c->be->upload(c->dev, dst, src, bytes) == 0);
}

static void get(const struct policy *p, void *dst, const void *src, size_t bytes)
{
    CHECK(p->be->download(p->dev, dst, src, bytes) == 0);
}

/* ---- a list per tile */

enum { TILE = 32, TILES = 128 / TILE, CAP = 512 };

struct tiles {
    int32_t *idx, *len; /* device (TILES, n_kv, CAP), (TILES, n_kv) */
};

static int tiles_init(struct policy *p, struct err *e)
{
    struct tiles *own = p->own = calloc(1, sizeof *own);
    (void)e;
    own->idx = p->be->alloc(p->dev, TILES * CAP * (size_t)p->dims.n_kv * sizeof *own->idx);
    own->len = p->be->alloc(p->dev, TILES * (size_t)p->dims.n_kv * sizeof *own->len);
    CHECK(own->idx && own->len);
    return 0;
}

static void tiles_release(struct policy *p)
{
    struct tiles *own = p->own;
    p->be->release(p->dev, own->idx);
    p->be->release(p->dev, own->len);
    free(own);
}

/* Gives lists of all tokens before the tile, or with all 0 empty ones. */
static void give_lists(const struct policy *p, const struct policy_ctx *c, struct prefill_selection *s,
                       int all)
{
    struct tiles *own = p->own;
    static int32_t idx[TILES * 8 * CAP], len[TILES * 8];
    CHECK(!c->score && !c->stats.logits && !c->list[0].idx && c->nq <= 128 && c->prefill);
    for (int l = 0; l < TILES * c->dims.n_kv; l++) {
        int n = all ? (c->pos0 / TILE + l / c->dims.n_kv) * TILE : 0;
        for (int i = 0; i < n && i < CAP; i++)
            idx[l * CAP + i] = i;
        len[l] = n;
    }
    put(c, own->idx, idx, (size_t)(TILES * c->dims.n_kv * CAP) * sizeof *idx);
    put(c, own->len, len, (size_t)(TILES * c->dims.n_kv) * sizeof *len);
    *s = (struct prefill_selection){.kind = PREFILL_TILES,
                                    .tile = TILE,
                                    .cap = CAP,
                                    .n_rows = c->dims.n_kv,
                                    .idx = own->idx,
                                    .len = own->len};
}

static void select_all(const struct policy *p, const struct policy_ctx *c, int layer,
                       struct prefill_selection *s)
{
    (void)layer;
    give_lists(p, c, s, 1);
}

static void select_own(const struct policy *p, const struct policy_ctx *c, int layer,
                       struct prefill_selection *s)
{
    (void)layer;
    give_lists(p, c, s, 0);
}

#define TILE_POLICY(called, hook)                                                                            \
    {                                                                                                        \
        .name = called, .help = "", .params = no_params, .budget_keys = "", .needs = POLICY_PREFILL,         \
        .init = tiles_init, .release = tiles_release, .select_prefill = hook                                 \
    }
static const struct policy_ops all_tiles = TILE_POLICY("all_tiles", select_all);
static const struct policy_ops own_tile = TILE_POLICY("own_tile", select_own);

/* Lists of all earlier tokens give full attention, bit for bit. With empty lists the last token depends on
 * its own tile only, through every layer. */
static void tiles(struct engine *en)
{
    enum { N = 300, LAST = N / TILE * TILE };
    struct policy *use[] = {decode_policy(en, "full"), bind(en, &all_tiles), bind(en, &own_tile)};
    int32_t prompt[2][N];
    struct item it[6];
    for (int i = 0; i < N; i++) {
        prompt[0][i] = 5 + i * 37 % 90;
        prompt[1][i] = i < LAST ? 5 + i * 53 % 90 : prompt[0][i];
    }
    memset(it, 0, sizeof it);
    for (int i = 0; i < 6; i++)
        it[i].req = (struct request){.prompt = prompt[i % 2],
                                     .n_prompt = N,
                                     .policy = use[i / 2],
                                     .max_new_tokens = 1,
                                     .ignore_eos = 1,
                                     .want_logprobs = 1};
    decode_all(en, it, 6, NULL);
    CHECK(items_equal(&it[0], &it[2]) && items_equal(&it[1], &it[3]));
    CHECK(!items_equal(&it[0], &it[1]));
    CHECK(items_equal(&it[4], &it[5]) && !items_equal(&it[0], &it[4]));
    items_release(it, 6);
}

/* ---- the residual stream */

enum { DIM = 256, LAYERS = 8, ROWS = 6, FORCED = 12, LAUNCHED = 8 };

struct watch {
    float *ones, *before, *after; /* device: (DIM), (LAYERS, DIM) twice: the first row, normed */
    float x[2][ROWS][DIM];        /* a prompt's first rows in layer 0, before and after */
    int prefill[2], decode[2], order,
        last; /* calls of on_qkv and on_attn_out; order: of these, how many out of order */
};

static int watch_init(struct policy *p, struct err *e)
{
    struct watch *own = p->own = calloc(1, sizeof *own);
    float ones[DIM];
    (void)e;
    for (int i = 0; i < DIM; i++)
        ones[i] = 1;
    own->last = -1;
    CHECK(p->dims.hidden == DIM && p->dims.n_layers == LAYERS);
    own->ones = p->be->alloc(p->dev, sizeof ones);
    own->before = p->be->alloc(p->dev, LAYERS * sizeof ones);
    own->after = p->be->alloc(p->dev, LAYERS * sizeof ones);
    CHECK(own->ones && own->before && own->after && p->be->upload(p->dev, own->ones, ones, sizeof ones) == 0);
    return 0;
}

static void watch_release(struct policy *p)
{
    struct watch *own = p->own;
    p->be->release(p->dev, own->ones);
    p->be->release(p->dev, own->before);
    p->be->release(p->dev, own->after);
    free(own);
}

static void watch(const struct policy *p, const struct policy_ctx *c, int layer, int side)
{
    struct watch *own = p->own;
    own->order += own->last != 2 * layer + side - 1;
    own->last = 2 * layer + side == 2 * LAYERS - 1 ? -1 : 2 * layer + side;
    (c->prefill ? own->prefill : own->decode)[side]++;
    struct rmsnorm_args a = {
        c->x, own->ones, (side ? own->after : own->before) + layer * DIM, 1, DIM, 1e-9f, DTYPE_F32, 0};
    policy_launch(c, OP_rmsnorm, &a);
    if (c->prefill && layer == 0 && c->pos0 == 0)
        get(p, own->x[side], c->x, sizeof own->x[side]);
}

static void watch_qkv(const struct policy *p, const struct policy_ctx *c, int layer)
{
    watch(p, c, layer, 0);
}

static void watch_out(const struct policy *p, const struct policy_ctx *c, int layer)
{
    watch(p, c, layer, 1);
}

static const struct policy_ops watcher = {.name = "watcher",
                                          .help = "",
                                          .params = no_params,
                                          .budget_keys = "",
                                          .needs = POLICY_PREFILL,
                                          .init = watch_init,
                                          .release = watch_release,
                                          .on_qkv = watch_qkv,
                                          .on_attn_out = watch_out};

/* Decodes some tokens after the prompt and reads what the last step left, which is replayed. The input of the
 * first layer is the embedding of the token that is fed, whatever the prompt was; after attention it depends
 * on the prompt. */
static void run_watch(struct engine *en, struct policy *p, const int32_t *prompt, int n,
                      float x[2][LAYERS * DIM])
{
    int32_t forced[FORCED];
    for (int i = 0; i < FORCED; i++)
        forced[i] = 7 + i;
    struct watch *own = p->own;
    struct item it;
    memset(&it, 0, sizeof it);
    it.req =
        (struct request){.prompt = prompt, .n_prompt = n, .policy = p, .forced = forced, .n_forced = FORCED};
    decode_all(en, &it, 1, NULL);
    get(p, x[0], own->before, LAYERS * DIM * sizeof(float));
    get(p, x[1], own->after, LAYERS * DIM * sizeof(float));
    items_release(&it, 1);
}

static int same(const float *a, const float *b)
{
    return !memcmp(a, b, DIM * sizeof *a);
}

static void residuals(struct engine *en)
{
    static float a[2][LAYERS * DIM], b[2][LAYERS * DIM];
    int32_t prompt[2][200];
    for (int i = 0; i < 200; i++) {
        prompt[0][i] = 5 + i * 37 % 90;
        prompt[1][i] = 5 + i * 53 % 90;
    }
    prompt[0][0] = prompt[0][4];
    struct policy *p = bind(en, &watcher);
    struct watch *own = p->own;
    run_watch(en, p, prompt[0], 200, a);
    CHECK_INT(own->prefill[0], 2 * LAYERS); /* chunks of 128 */
    CHECK_INT(own->prefill[1], 2 * LAYERS);
    CHECK_INT(own->decode[0], (LAUNCHED + 1) * LAYERS); /* the first steps launched, then one recorded */
    CHECK_INT(own->decode[1], (LAUNCHED + 1) * LAYERS);
    CHECK_INT(own->order, 0);
    CHECK(same(own->x[0][0], own->x[0][4]) && !same(own->x[0][0], own->x[0][1]));
    CHECK(!same(own->x[1][0], own->x[1][4]) && !same(own->x[0][0], own->x[1][0]));
    run_watch(en, p, prompt[1], 200, b);
    CHECK_INT(own->decode[1], (LAUNCHED + 1) * LAYERS); /* and replayed */
    CHECK(same(a[0], b[0]) && !same(a[1], b[1]));
    for (int l = 0; l < LAYERS; l++) {
        double cosine = 0;
        for (int i = 0; i < DIM; i++)
            cosine += (double)a[0][l * DIM + i] * (double)a[1][l * DIM + i] / DIM;
        CHECK(cosine < 1 - 1e-6 && cosine > -1); /* attention adds something in every layer */
        CHECK(l + 1 == LAYERS || !same(a[1] + l * DIM, a[0] + (l + 1) * DIM));
    }
}

/* ---- a policy that looks at the last queries */

enum { TAIL = 30 };
static int tail_first, tail_rows,
    tail_ends; /* of the prefill hooks: smallest position, rows, prompts' ends */

static int tail_of(const void *params)
{
    (void)params;
    return TAIL;
}

static void see_tail(const struct policy *p, const struct policy_ctx *c, int layer)
{
    (void)p;
    if (!c->prefill || layer > 0)
        return;
    tail_first = c->pos0 < tail_first ? c->pos0 : tail_first;
    tail_rows += c->nq;
    tail_ends += policy_at_end(c);
}

/* Prefills one request of n tokens and checks what of it the policy sees. */
static void tail_sees(struct engine *en, struct policy *p, const int32_t *prompt, int n, int first, int ends)
{
    struct item it[2];
    memset(it, 0, sizeof it);
    for (int i = 0; i < 2; i++)
        it[i].req = (struct request){.prompt = prompt,
                                     .n_prompt = n,
                                     .policy = i ? decode_policy(en, "full") : p,
                                     .max_new_tokens = 8,
                                     .ignore_eos = 1,
                                     .want_logprobs = 1};
    tail_first = n;
    tail_rows = tail_ends = 0;
    decode_all(en, it, 2, NULL);
    CHECK(items_equal(&it[0], &it[1]));
    CHECK_INT(tail_first, first);
    CHECK_INT(tail_rows, n - first);
    CHECK_INT(tail_ends, ends);
    items_release(it, 2);
}

/* The rest is shared, up to a multiple of 128 tokens, whether others prefilled it before or nobody did. */
static void tails(struct engine *en)
{
    static const struct policy_ops ops[] = {{.name = "tail",
                                             .help = "",
                                             .params = no_params,
                                             .budget_keys = "",
                                             .prompt_tail = tail_of,
                                             .on_qkv = see_tail},
                                            {.name = "tail2",
                                             .help = "",
                                             .params = no_params,
                                             .budget_keys = "",
                                             .needs = POLICY_DROP,
                                             .prompt_tail = tail_of,
                                             .on_qkv = see_tail}};
    int32_t prompt[300];
    for (int i = 0; i < 300; i++)
        prompt[i] = 5 + i * 41 % 90;
    for (int i = 0; i < 2; i++) {
        struct policy *p = bind(en, &ops[i]);
        struct engine_stats before, after;
        engine_stats(en, &before);
        tail_sees(en, p, prompt + i, 299, 256, 1);
        tail_sees(en, p, prompt + i, 299, 256, 1);
        engine_stats(en, &after);
        /* once by nobody, and twice what is not shared */
        CHECK_INT(after.prefill_tokens - before.prefill_tokens, 299 + 2 * 43);
        tail_sees(en, p, prompt + i, 256 + TAIL, 256, 1);
        tail_sees(en, p, prompt + i, 256 + TAIL - 1, 128, 1);
        tail_sees(en, p, prompt + i, 128 + TAIL - 1, 0, 1); /* too short to share any */
    }
}

/* ---- a policy that cannot be bound */

static int inits, releases;

static int half_init(struct policy *p, struct err *e)
{
    inits++;
    p->own = p->be->alloc(p->dev, 64);
    return err_set(e, ERR_DEVICE, "policy half: no device memory for its second table");
}

static void half_release(struct policy *p)
{
    CHECK(p->own != NULL);
    releases++;
    p->be->release(p->dev, p->own);
}

static int refuse_model(struct policy_spec *s, const struct policy_model *m, struct arena *a, struct err *e)
{
    (void)s;
    (void)a;
    return err_set(e, ERR_USAGE, "model %s has no default", m->path);
}

/* After an init that failed half way release is called once, and never for a policy that was not initialised.
 */
static void unbound(struct engine *en)
{
    static const struct policy_ops half = {.name = "half",
                                           .help = "",
                                           .params = no_params,
                                           .budget_keys = "",
                                           .init = half_init,
                                           .release = half_release};
    struct policy_ops refused = half;
    refused.resolve = refuse_model;
    static const struct {
        int code, inits;
        const char *message;
    } want[] = {{ERR_DEVICE, 1, "policy half: no device memory for its second table"},
                {ERR_USAGE, 0, "policy half: model pocket has no default"}};
    for (int i = 0; i < 2; i++) {
        struct err e = {0};
        char unused = 0;
        struct policy *p = NULL;
        struct policy_spec spec = {.ops = i ? &refused : &half, .params = &unused};
        inits = releases = 0;
        CHECK_INT(engine_policy(en, &spec, &p, &e), want[i].code);
        CHECK_STR(e.text, want[i].message);
        CHECK(p == NULL);
        CHECK_INT(inits, want[i].inits);
        CHECK_INT(releases, want[i].inits);
    }
}

int main(void)
{
    struct engine *en = decode_open(&(struct engine_options){.max_context = 512, .prefill_chunk = 128});
    tiles(en);
    residuals(en);
    tails(en);
    unbound(en);
    engine_close(en);
    return check_done();
}
