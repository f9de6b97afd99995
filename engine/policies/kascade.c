/* Kascade (Deshmukh et al., arXiv 2512.16391): anchor layers choose, per KV head, the k tokens with the
 * largest attention probability summed over the group's query heads; they and the layers up to the next
 * anchor attend to these only.
 *
 * Layer 0 always chooses and attends to everything. The other anchors score all keys first and then attend to
 * what they chose, as in the paper's code; with anchor_output=full they attend to everything. In the layers
 * between anchors each KV head reads the list of the anchor head that `map` names for it. Pooled
 * probabilities are kept as logarithms, which have the same order and do not underflow.
 *
 * With prefill=sparse the prompt is read in tiles of tile_tokens queries: a tile attends to itself and to k
 * earlier tokens, chosen as above from the probabilities summed over its queries (docs/policies.md, kascade).
 *
 * Where some layers have a window, the first one with full attention stands for layer 0. A share of the mass
 * (mass) is of what the tokens hold together, without that of a sink. */
#include <math.h>
#include <stdlib.h>

#include "engine/policies/layer_list.h"
#include "engine/policies/model_defaults.h"
#include "engine/policies/policies.h"
#include "engine/policies/policy.h"

enum { OUTPUT_SPARSE, OUTPUT_FULL };
enum { POOL_GROUP, POOL_ALL };
enum { PREFILL_IS_DENSE, PREFILL_IS_SPARSE };
enum { POST_SOFTMAX, PRE_SOFTMAX };
enum { MOST_TILE = 128, PAPERS_TILE = 32 }; /* prefill chunks are multiples of the most */

struct kascade_params {
    struct param_ints anchors;
    struct param_map map;
    int min_tokens, k_minus_tile_tokens, round_tokens, anchor_output, pool, prob_dtype;
    /* unset: dense, and post_softmax, so that such a policy has the identity it had */
    int prefill, tile_tokens, rolling, pooling;
    int first; /* no option: the first layer with full attention, 0 until the model is known */
    double ratio, mass;
};

/* Room on the device: for the tiles of a prefill chunk, with prefill=sparse; for pooled queries. */
struct kascade_own {
    float *q;           /* (max_rows, n_q, d) */
    struct scores mass; /* (tiles, n_kv, max_context) */
    int32_t *idx, *len; /* (tiles, n_kv, max_context), (tiles, n_kv) */
};

static const char *const outputs[] = {"sparse", "full", NULL};
static const char *const pools[] = {"group_sum", "all", NULL};
static const char *const dtypes[] = {"fp32", "bf16", NULL};
static const char *const prefills[] = {"dense", "sparse", NULL};
static const char *const poolings[] = {"post_softmax", "pre_softmax", NULL};

#define P(field) offsetof(struct kascade_params, field)
static const struct param kascade_params[] = {
    {"ratio", PARAM_DOUBLE, P(ratio), NULL, 1e-6, 1, NULL,
     "budget: share of the context's tokens, per KV head"},
    {"mass", PARAM_DOUBLE, P(mass), NULL, 1e-6, 1, NULL,
     "budget: the fewest tokens that hold this share of the pooled attention mass, per KV head"},
    {"min_tokens", PARAM_INT, P(min_tokens), "128", 1, 1e9, NULL, "least tokens"},
    {"anchors", PARAM_INTS, P(anchors), NULL, 0, 1000, NULL,
     "anchor layers; default: those published for the model (run file: model_name)"},
    {"map", PARAM_MAP, P(map), "", 0, 0, NULL,
     "layer: the anchor head that each KV head reads; identity where absent"},
    {"anchor_output", PARAM_ENUM, P(anchor_output), "sparse", 0, 0, outputs,
     "what anchors other than layer 0 attend to"},
    {"k_minus_tile_tokens", PARAM_INT, P(k_minus_tile_tokens), "0", 0, 1e6, NULL,
     "subtracted from k (the released script: 32), less than min_tokens; contexts of at most so many "
     "tokens are read whole"},
    {"round_tokens", PARAM_INT, P(round_tokens), "1", 1, 1e6, NULL, "k is rounded up to a multiple of this"},
    {"pool", PARAM_ENUM, P(pool), "group_sum", 0, 0, pools,
     "probabilities summed over each group, or over all heads into one list"},
    {"prob_dtype", PARAM_ENUM, P(prob_dtype), "fp32", 0, 0, dtypes, "precision of the pooled probabilities"},
    {"prefill", PARAM_ENUM, P(prefill), NULL, 0, 0, prefills,
     "how the prompt is read: dense (default), or in tiles that choose what they attend to"},
    {"tile_tokens", PARAM_INT, P(tile_tokens), NULL, 16, MOST_TILE, NULL,
     "queries of a tile, with prefill=sparse: 16, 32 (default), 64 or 128"},
    {"rolling", PARAM_BOOL, P(rolling), NULL, 0, 0, NULL,
     "with prefill=sparse: k by the tokens before the tile instead of the whole prompt (default false)"},
    {"pooling", PARAM_ENUM, P(pooling), NULL, 0, 0, poolings,
     "what is pooled over a group's query heads and a tile's queries: probabilities (post_softmax, default), "
     "or "
     "the queries themselves, by their mean"},
    {0},
};
#undef P

static const struct preset kascade_presets[] = {
    {"paper", "ratio=0.1", "10 % of the context, at least 128 tokens"},
    {"script", "ratio=0.1,k_minus_tile_tokens=32", "the released AIME script: k less a tile of 32"},
    {"script_prefill", "ratio=0.1,k_minus_tile_tokens=32,prefill=sparse,rolling=true",
     "the same with its sparse, rolling prefill"},
    {"efficient", "ratio=0.1,round_tokens=128", "the released kernel: k in multiples of 128"},
    {"pooled", "ratio=0.1,pool=all", "the paper's ablation: all heads pooled into one list"},
    {"pooled_script", "ratio=0.1,k_minus_tile_tokens=32,pool=all", "the ablation as its script ran it"},
    {"pooled_prefill", "ratio=0.1,k_minus_tile_tokens=32,pool=all,prefill=sparse,rolling=true",
     "the same with its sparse, rolling prefill"},
    {0},
};

static int is_anchor(const struct kascade_params *p, int layer)
{
    return layer == p->first || layer_list_has(&p->anchors, layer);
}

static int tile_of(const struct kascade_params *p)
{
    return p->tile_tokens == PARAM_UNSET_INT ? PAPERS_TILE : p->tile_tokens;
}

static int check_map(const struct kascade_params *p, const struct policy_model *m, struct err *e)
{
    for (int i = 0; i < p->map.n; i++) {
        if (layer_list_check_one(p->map.key[i], "map", m, e))
            return e->code;
        if (is_anchor(p, p->map.key[i]))
            return err_set(e, ERR_USAGE,
                           "map names layer %d, which is an anchor and reads its own choice; leave it out of "
                           "the map",
                           p->map.key[i]);
    }
    return 0;
}

static int kascade_resolve(struct policy_spec *s, const struct policy_model *m, struct arena *a,
                           struct err *e)
{
    struct kascade_params *p = s->params;
    if (p->anchors.n < 0) {
        const struct model_defaults *d = model_defaults_find(m, a, &s->taken);
        if (!d || !d->kascade_anchors)
            return model_defaults_missing("anchors", MODEL_DEFAULT_KASCADE, m, e);
        if (param_set_text(kascade_params, p, a, "anchors", d->kascade_anchors, "policy kascade", e))
            return ERR_USAGE;
        int with_map = !p->map.n && d->kascade_map && p->pool == POOL_GROUP;
        if (with_map && param_set_text(kascade_params, p, a, "map", d->kascade_map, "policy kascade", e))
            return ERR_USAGE;
        s->taken = arena_printf(a, "anchors %s%s, %s", d->kascade_anchors,
                                with_map ? " and their head map" : "", s->taken);
    }
    if (p->prefill == PREFILL_IS_SPARSE) {
        p->tile_tokens = tile_of(p);
        p->rolling = p->rolling == 1;
    }
    p->first = layer_list_first_full(m);
    int rc = layer_list_check(&p->anchors, "anchors", m, e);
    return rc ? rc : check_map(p, m, e);
}

static int kascade_check(const void *params, struct err *e)
{
    const struct kascade_params *p = params;
    if (p->pool == POOL_ALL && p->map.n)
        return err_set(e, ERR_USAGE,
                       "policy kascade: \"map\" has no meaning with pool \"all\", where there is one list; "
                       "leave it out");
    if (p->pool == POOL_ALL && p->pooling == PRE_SOFTMAX)
        return err_set(
            e, ERR_USAGE,
            "policy kascade: \"pooling\" pre_softmax has no meaning with pool \"all\": queries of heads "
            "with other keys have no mean; leave one of them out");
    if (!isnan(p->mass) && (p->k_minus_tile_tokens || p->round_tokens > 1))
        return err_set(e, ERR_USAGE,
                       "policy kascade: with \"mass\" k follows from the probabilities; leave "
                       "k_minus_tile_tokens and round_tokens out");
    if (!isnan(p->mass) && p->prefill == PREFILL_IS_SPARSE)
        return err_set(e, ERR_USAGE,
                       "policy kascade: a sparse prefill takes its k from \"ratio\"; with \"mass\" leave "
                       "prefill out");
    if (p->k_minus_tile_tokens >= p->min_tokens)
        return err_set(e, ERR_USAGE,
                       "policy kascade: k_minus_tile_tokens (%d) would leave nothing of min_tokens (%d); it "
                       "must be smaller",
                       p->k_minus_tile_tokens, p->min_tokens);
    if (MOST_TILE % tile_of(p) || tile_of(p) % KV_PAGE_TOKENS)
        return err_set(e, ERR_USAGE, "policy kascade: tile_tokens is %d; it must be 16, 32, 64 or 128",
                       p->tile_tokens);
    if (p->prefill == PREFILL_IS_SPARSE && p->prob_dtype)
        return err_set(e, ERR_USAGE,
                       "policy kascade: a sparse prefill pools probabilities in fp32; leave prob_dtype out");
    if (p->tile_tokens != PARAM_UNSET_INT && p->prefill != PREFILL_IS_SPARSE)
        return err_set(
            e, ERR_USAGE,
            "policy kascade: \"tile_tokens\" is about a sparse prefill; write prefill=sparse beside it");
    if (p->rolling == 1 && p->prefill != PREFILL_IS_SPARSE)
        return err_set(
            e, ERR_USAGE,
            "policy kascade: \"rolling\" is about a sparse prefill; write prefill=sparse beside it");
    return 0;
}

static unsigned kascade_needs(const void *params)
{
    const struct kascade_params *p = params;
    return p->prefill == PREFILL_IS_SPARSE ? POLICY_PREFILL : 0;
}

/* Refuses a map that does not fit the heads of the model. */
static int check_map_heads(const struct policy *pol, const struct kascade_params *p, struct err *e)
{
    for (int i = 0; i < p->map.n; i++) {
        if (p->map.count[i] != pol->dims.n_kv)
            return err_set(e, ERR_USAGE,
                           "policy kascade: map gives layer %d %d heads, and the model has %d KV heads",
                           p->map.key[i], p->map.count[i], pol->dims.n_kv);
        for (int h = 0; h < p->map.count[i]; h++)
            if (p->map.v[i][h] < 0 || p->map.v[i][h] >= pol->dims.n_kv)
                return err_set(
                    e, ERR_USAGE,
                    "policy kascade: map of layer %d names head %d, and the model has KV heads 0 to %d",
                    p->map.key[i], p->map.v[i][h], pol->dims.n_kv - 1);
    }
    return 0;
}

static void *device_room(const struct policy *pol, size_t n, size_t item, struct err *e)
{
    void *p = pol->be->alloc(pol->dev, n * item);
    if (!p)
        err_set(e, ERR_DEVICE,
                "policy kascade: no device memory for the tiles of a sparse prefill; use a smaller context");
    return p;
}

static int kascade_init(struct policy *pol, struct err *e)
{
    const struct kascade_params *p = pol->params;
    if (check_map_heads(pol, p, e) || (p->prefill != PREFILL_IS_SPARSE && p->pooling != PRE_SOFTMAX))
        return e->code;
    struct kascade_own *own = pol->own = xcalloc(1, sizeof *own);
    if (p->pooling == PRE_SOFTMAX)
        own->q = device_room(pol, (size_t)pol->dims.max_rows * (size_t)(pol->dims.n_q * pol->dims.head_dim),
                             sizeof(float), e);
    if (p->prefill != PREFILL_IS_SPARSE)
        return e->code;
    size_t tiles = (size_t)(pol->dims.max_rows / p->tile_tokens + 1), lists = tiles * (size_t)pol->dims.n_kv;
    size_t context = (size_t)pol->dims.max_context;
    own->mass = (struct scores){device_room(pol, lists * context, sizeof(float), e),
                                device_room(pol, lists, sizeof(int32_t), e),
                                device_room(pol, lists, sizeof(int32_t), e), 0, pol->dims.max_context};
    own->idx = device_room(pol, lists * context, sizeof(int32_t), e);
    own->len = device_room(pol, lists, sizeof(int32_t), e);
    return e->code;
}

static void kascade_release(struct policy *pol)
{
    struct kascade_own *own = pol->own;
    if (!own)
        return;
    void *all[] = {own->q, own->mass.v, own->mass.n, own->mass.m, own->idx, own->len};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pol->be->release(pol->dev, all[i]);
    free(own);
}

static double round_budget(const struct kascade_params *p, double tokens)
{
    return p->round_tokens > 1 ? ceil(tokens / p->round_tokens) * p->round_tokens : tokens;
}

static struct policy_budget kascade_budget(const void *params, const struct budget_at *at)
{
    const struct kascade_params *p = params;
    if (!isnan(p->mass))
        return policy_mass_budget(p->mass, p->min_tokens, at);
    double k = fmax(p->ratio * at->context, p->min_tokens), minus = p->k_minus_tile_tokens;
    double tokens = round_budget(p, k - minus), here = round_budget(p, fmin(k, at->context) - minus);
    if (minus > 0) /* contexts above it are short of a tile, unless rounding makes up for it */
        return (struct policy_budget){tokens, here < at->context ? minus : at->context};
    return (struct policy_budget){tokens, tokens};
}

/* Results from when contexts of at most k_minus_tile_tokens read nothing are not those of today. */
static const void *kascade_data(const void *params, size_t *n)
{
    static const char text[] = "a k below 1 reads everything";
    const struct kascade_params *p = params;
    *n = sizeof text - 1;
    return p->k_minus_tile_tokens ? text : NULL;
}

static void kascade_describe_budget(const void *params, struct str *out)
{
    const struct kascade_params *p = params;
    if (isnan(p->mass))
        str_printf(out, "%g of the context's tokens, at least %d", p->ratio, p->min_tokens);
    else
        str_printf(out, "the fewest tokens that hold %g of the attention mass, at least %d", p->mass,
                   p->min_tokens);
    if (p->k_minus_tile_tokens)
        str_printf(out, ", less %d (all where that leaves none)", p->k_minus_tile_tokens);
    if (p->round_tokens > 1)
        str_printf(out, ", in multiples of %d", p->round_tokens);
    str_printf(out, ", %s; layer %d dense, anchors %s, ",
               p->pool == POOL_ALL ? "one list for all heads" : "per KV head", p->first,
               p->anchor_output == OUTPUT_FULL ? "dense" : "scan all keys and read their own choice");
    if (p->pooling == PRE_SOFTMAX)
        str_puts(out, "chosen by the mean of queries, ");
    if (p->prefill != PREFILL_IS_SPARSE)
        str_puts(out, "dense prefill");
    else
        str_printf(out, "prefill in tiles of %d that read themselves and a%s budget of earlier tokens",
                   tile_of(p), p->rolling == 1 ? " growing" : "");
}

static int n_lists(const struct kascade_params *p, const struct policy_ctx *c)
{
    return p->pool == POOL_ALL ? 1 : c->dims.n_kv;
}

/* The context with each query replaced by the mean of its tile and group. Then all of a tile's softmaxes have
 * one order of keys, and so has their sum, which is what is chosen by. */
static struct policy_ctx with_pooled(const struct policy *pol, const struct policy_ctx *c, int rows, int tile)
{
    const struct kascade_own *own = pol->own;
    struct policy_ctx pooled = *c;
    struct pool_queries_args a = {.q = c->q,
                                  .q_stride = c->qkv_stride,
                                  .out = own->q,
                                  .rows = rows,
                                  .n_q = c->dims.n_q,
                                  .n_kv = c->dims.n_kv,
                                  .dim = c->dims.head_dim,
                                  .tile = tile};
    policy_launch(c, OP_pool_queries, &a);
    pooled.q = own->q;
    pooled.qkv_stride = c->dims.n_q * c->dims.head_dim;
    return pooled;
}

static void choose_tokens(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct kascade_params *p = pol->params;
    struct scores pooled = policy_reduce_stats(
        c, layer,
        (struct reduce_stats_args){.mode = REDUCE_SUM,
                                   .bf16 = p->prob_dtype == 1,
                                   .out = policy_scores(c, n_lists(p, c), c->stats.stride)});
    struct topk_params topk = {.kind = TOPK_RATIO,
                               .ratio = p->ratio,
                               .min_tokens = p->min_tokens,
                               .minus_tokens = p->k_minus_tile_tokens,
                               .round_tokens = p->round_tokens,
                               .tokens_per = 1};
    if (!isnan(p->mass))
        topk = (struct topk_params){.kind = TOPK_MASS, .ratio = p->mass, .min_k = p->min_tokens};
    policy_topk(c, pooled, &topk, NULL, 0);
}

/* Which list each KV head reads; NULL: its own. */
static const int *map_of(const struct kascade_params *p, int layer)
{
    for (int i = 0; i < p->map.n; i++)
        if (p->map.key[i] == layer)
            return p->map.v[i];
    return NULL;
}

static void kascade_select(const struct policy *pol, const struct policy_ctx *c, int layer,
                           struct selection *s)
{
    const struct kascade_params *p = pol->params;
    int reads_all = layer == p->first || (is_anchor(p, layer) && p->anchor_output == OUTPUT_FULL);
    if (reads_all && p->pooling != PRE_SOFTMAX) {
        s->want_stats = STATS_TOKENS;
        return;
    }
    if (is_anchor(p, layer)) {
        struct policy_ctx pooled = p->pooling == PRE_SOFTMAX ? with_pooled(pol, c, c->rows.cap, 1) : *c;
        policy_qk_stats(&pooled, layer, c->stats);
        choose_tokens(pol, c, layer);
    }
    if (reads_all)
        return;
    policy_read_tokens(c, n_lists(p, c), s);
    s->kv_map = map_of(p, layer);
}

static void kascade_observe(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    choose_tokens(pol, c, layer);
}

/* How many earlier tokens a tile reads. The released tiles count among the k of the paper: EfficientKascade
 * reads k - 32 beside its own and everything where k covers the prompt; KascadeStrategy always has k less a
 * tile, which is k_minus_tile_tokens. A rolling k is not reduced, but the list has room for no more than k of
 * the whole prompt. */
static struct topk_params tile_topk(const struct kascade_params *p, int n_prompt, int *cap)
{
    double k = fmax(floor(p->ratio * n_prompt), p->min_tokens);
    if (p->round_tokens > 1)
        k = ceil(k / p->round_tokens) * p->round_tokens;
    int most = k < n_prompt ? (int)k : n_prompt;
    most -= p->k_minus_tile_tokens || most == n_prompt ? p->k_minus_tile_tokens : p->tile_tokens;
    most = most > 0 ? most : 0;
    *cap = most > 0 ? most : 1;
    if (p->rolling && most > 0)
        return (struct topk_params){
            .kind = TOPK_RATIO, .ratio = p->ratio, .min_tokens = p->min_tokens, .tokens_per = 1};
    return (struct topk_params){.kind = TOPK_FIXED, .k = most, .tokens_per = 1};
}

static void choose_tiles(const struct policy *pol, const struct policy_ctx *c, int layer)
{
    const struct kascade_params *p = pol->params;
    const struct kascade_own *own = pol->own;
    int cap, tiles = (c->nq + p->tile_tokens - 1) / p->tile_tokens;
    struct topk_params topk = tile_topk(p, c->n_prompt, &cap);
    struct scores mass = own->mass;
    mass.n_rows = n_lists(p, c);
    struct policy_ctx pooled = p->pooling == PRE_SOFTMAX ? with_pooled(pol, c, c->nq, p->tile_tokens) : *c;
    policy_prefill_mass(&pooled, layer,
                        (struct prefill_mass_args){.tile = p->tile_tokens, .before = 1, .out = mass});
    struct topk_args t = {.rows = {tiles, c->rows.seq, c->rows.pos},
                          .in = mass,
                          .params = topk,
                          .idx = own->idx,
                          .len = own->len,
                          .cap = cap};
    policy_launch(c, OP_topk, &t);
}

static void kascade_select_prefill(const struct policy *pol, const struct policy_ctx *c, int layer,
                                   struct prefill_selection *s)
{
    const struct kascade_params *p = pol->params;
    const struct kascade_own *own = pol->own;
    if (p->prefill != PREFILL_IS_SPARSE)
        return;
    if (is_anchor(p, layer))
        choose_tiles(pol, c, layer);
    s->scanned = is_anchor(p, layer) && layer != p->first && p->anchor_output != OUTPUT_FULL;
    if (layer == p->first || (is_anchor(p, layer) && p->anchor_output == OUTPUT_FULL))
        return;
    s->kind = PREFILL_TILES;
    s->tile = p->tile_tokens;
    tile_topk(p, c->n_prompt, &s->cap);
    s->n_rows = n_lists(p, c);
    s->kv_map = map_of(p, layer);
    s->idx = own->idx;
    s->len = own->len;
}

const struct policy_ops policy_kascade = {
    .name = "kascade",
    .help =
        "anchor layers choose tokens per KV head, the layers above reuse them (Kascade, arXiv 2512.16391)",
    .params = kascade_params,
    .params_size = sizeof(struct kascade_params),
    .presets = kascade_presets,
    .budget_keys = "ratio,mass",
    .generous = "ratio=1",
    .tight = "ratio=0.2",
    .needs = POLICY_STATS,
    .needs_of = kascade_needs,
    .check = kascade_check,
    .resolve = kascade_resolve,
    .data = kascade_data,
    .budget = kascade_budget,
    .describe_budget = kascade_describe_budget,
    .init = kascade_init,
    .release = kascade_release,
    .select = kascade_select,
    .observe = kascade_observe,
    .select_prefill = kascade_select_prefill,
};
