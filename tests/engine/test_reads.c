/* Reads, auxiliary reads and the most tokens held follow formulas (docs/policies.md) for the policies here
 * and the options that change their budgets. Every registered policy reads at least one token per step, and
 * at most what full attention reads. */
#include "tests/check.h"
#include "tests/engine/gates.h"
#include "tests/engine/laws.h"

#if defined(__SANITIZE_ADDRESS__)
enum { STEPS = 10, LONG = 40, FAMILIES = 1 }; /* the sanitized build takes ten times as long */
#else
enum { STEPS = 40, LONG = 100, FAMILIES = LAW_FAMILIES };
#endif

/* One decode step: what the formulas depend on. */
struct step {
    double s, prompt, total; /* context with the current token; prompt; prompt and longest completion */
    double a, b;             /* the row's numbers */
};

/* A formula gives the sum of what the 8 layers read, exactly (low = high) or as bounds. */
struct range {
    double low, high;
};

static double min2(double x, double y)
{
    return x < y ? x : y;
}

static double max2(double x, double y)
{
    return x > y ? x : y;
}

/* Tokens in k pages of `page` tokens, one of which is the last page, which may be partial. */
static double with_last(double s, double k, double page)
{
    double n = ceil(s / page);
    return n <= k ? s : k * page - (n * page - s);
}

static struct range exact(double x)
{
    return (struct range){x, x};
}

/* `dense` of the 8 layers read everything, the others what `sparse` says. */
static struct range layers(double s, double dense, struct range sparse)
{
    return (struct range){(dense * s + (8 - dense) * sparse.low) / 8,
                          (dense * s + (8 - dense) * sparse.high) / 8};
}

static struct range all(struct step t)
{
    return exact(t.s);
}

/* Quest with a pages for each query head. The union over the two heads of a group has a to 2a pages. */
static struct range quest_q(struct step t)
{
    return layers(t.s, 2, (struct range){with_last(t.s, t.a, 16), min2(t.s, 2 * t.a * 16)});
}

static struct range quest_kv(struct step t)
{
    return layers(t.s, 2, exact(with_last(t.s, t.a, 16)));
}

/* When the last page is not forced: a pages, or floor(s / 16) when all would fit. */
static struct range free_pages(double s, double k, double page)
{
    return (struct range){with_last(s, k, page), min2(s, k * page)};
}

static struct range quest_hf(struct step t)
{
    return layers(t.s, 2, free_pages(t.s, max2(3, min2(t.a, floor(t.s / 16))), 16));
}

static struct range quest_ratio(struct step t)
{
    return layers(t.s, 2, exact(with_last(t.s, ceil(max2(floor(t.a * t.s), 128) / 16), 16)));
}

static struct range quest_kascade(struct step t)
{
    double tokens = max2(floor(0.1 * t.s), 128);
    return layers(t.s, 2, t.s <= 128 ? exact(t.s) : free_pages(t.s, max2(3, floor(tokens / 16)), 16));
}

static struct range quest_cr(struct step t)
{
    return layers(t.s, 2, exact(with_last(t.s, ceil(floor(t.total / t.a) / 16), 16)));
}

/* As in the DMS paper, with pages of b tokens. */
static struct range quest_dms(struct step t)
{
    return layers(t.s, 2, free_pages(t.s, max2(3, floor(floor(t.total / t.a) / t.b)), t.b));
}

static struct range quest_frontier(struct step t)
{
    return exact(with_last(t.s, t.a + 1, 16));
}

static struct range quest_seer(struct step t)
{
    return free_pages(t.s, t.a, 64);
}

/* DELTA: layers 0 and 1 are dense, 2, 5 and 7 refresh, 3, 4 and 6 sparse. */
static struct range delta(struct step t)
{
    return layers(t.s, 5, exact(with_last(t.s, t.a, 16)));
}

static struct range delta_release(struct step t)
{
    return layers(t.s, 5, exact(fmod(t.s, 16) != 0 ? with_last(t.s, t.a, 16) : min2(t.s, (t.a - 1) * 16)));
}

/* Kascade: a share a of the context, at least 128 tokens, less b tokens. */
static double kascade_k(struct step t)
{
    return min2(t.s, max2(floor(t.a * t.s), 128)) - t.b;
}

static struct range kascade(struct step t)
{
    return layers(t.s, 1, exact(kascade_k(t)));
}

static struct range kascade_full(struct step t)
{
    return layers(t.s, 6, exact(kascade_k(t)));
}

static struct range kascade_rounded(struct step t)
{
    return layers(t.s, 1, exact(min2(t.s, ceil(kascade_k(t) / 128) * 128)));
}

/* RaaS keeps a pages besides those of the prompt: the current one and full ones. Which ones these are does
 * not change the count. */
static double raas_kept(double s, double pinned_pages, double pages)
{
    double before = floor((s - 1) / 16) - pinned_pages, current = s - floor((s - 1) / 16) * 16;
    return before < 0 ? s : 16 * pinned_pages + 16 * min2(before, pages - 1) + current;
}

static struct range raas(struct step t)
{
    return layers(t.s, 2, exact(raas_kept(t.s, ceil(t.prompt / 16), t.a)));
}

static struct range raas_unpinned(struct step t)
{
    return layers(t.s, 2, exact(raas_kept(t.s, 0, t.a)));
}

/* RaaS with a mask: everything in the first step, then a pages, not always with the current one. */
static struct range raas_repo(struct step t)
{
    if (t.s == t.prompt + 1 || t.s <= t.a * 16)
        return exact(t.s);
    return free_pages(t.s, max2(3, t.a), 16);
}

/* The oracle: layer 0 dense, k elsewhere; in pages, which need not hold the last one. */
static struct range oracle(struct step t)
{
    return layers(t.s, 1, exact(min2(t.s, max2(t.a, floor(t.b * t.s)))));
}

static struct range oracle_pages(struct step t)
{
    return layers(t.s, 1, free_pages(t.s, ceil(floor(t.b * t.s) / 32), 32));
}

/* By mass: at least a tokens, and how many is not known. */
static struct range oracle_mass(struct step t)
{
    return layers(t.s, 1, (struct range){min2(t.s, t.a), t.s});
}

static struct range delta_tokens(struct step t)
{
    return layers(t.s, 5, exact(min2(t.s, t.a)));
}

static struct range delta_mass(struct step t)
{
    return layers(t.s, 5, (struct range){with_last(t.s, 4, 16), t.s});
}

/* StreamingLLM: sinks and recent tokens, W in all, in every layer. */
static struct range streaming(struct step t)
{
    return exact(min2(t.s, max2(t.a, floor(t.b * t.s))));
}

/* OmniKV: layers 4 and 7 are sparse; LessIsMore: 3, 4, 6 and 7. */
static struct range omnikv(struct step t)
{
    return layers(t.s, 6, exact(min2(t.s, max2(128, floor(t.a * t.s)))));
}

static struct range omnikv_repo(struct step t)
{
    return layers(t.s, 6, exact(floor(t.a * t.prompt) + t.s - t.prompt));
}

static struct range lessismore(struct step t)
{
    return layers(t.s, 4, exact(min2(t.s, max2(t.a, floor(t.b * t.s)))));
}

static struct range window(struct step t)
{
    return exact(min2(t.s, 17));
}

/* What a head holds in each step when it is cut to b tokens whenever it has more, and a multiple of `every`.
 * As the policy reads: before the cut. */
static double rounds(struct step t, double b, double every)
{
    double live = t.prompt;
    for (double s = t.prompt + 1; s <= t.s; s++) {
        live++;
        if (s < t.s && live > b && fmod(live, every) == 0)
            live = b;
    }
    return live;
}

static struct range rounds_of(struct step t)
{
    return exact(rounds(t, t.a, t.b));
}

/* By compression: at least one token besides the b recent ones. */
static struct range rounds_cr(struct step t)
{
    return exact(rounds(t, max2(floor(t.total / t.a), t.b + 1), t.b));
}

static struct range after_prompt(struct step t)
{
    return exact(min2(t.prompt, t.a) + t.s - t.prompt);
}

/* R-KV looks at the context, not at what is held. */
static double rkv_live(struct step t)
{
    double live = t.prompt;
    for (double s = t.prompt + 1; s <= t.s; s++) {
        live++;
        if (s < t.s && live > t.a && fmod(s, t.b) == 0)
            live = t.a;
    }
    return live;
}

static struct range rkv(struct step t)
{
    return exact(rkv_live(t));
}

/* a tokens are left after each step. */
static struct range one_more(struct step t)
{
    return exact(min2(t.s, t.a + 1));
}

static struct range one_more_cr(struct step t)
{
    return exact(min2(t.s, floor(t.total / t.a) + 1));
}

/* ---- auxiliary reads, in KV-token equivalents */

static double none(struct step t)
{
    (void)t;
    return 0;
}

/* Bounds of every page, in 6 sparse layers. */
static double pages6(struct step t)
{
    return 6 * ceil(t.s / 16) / 8;
}

static double pages8(struct step t)
{
    return ceil(t.s / 16);
}

/* Bounds of the pages kept. */
static double raas_aux(struct step t)
{
    return 6 * ceil(raas_kept(t.s, ceil(t.prompt / 16), t.a) / 16) / 8;
}

static double raas_unpinned_aux(struct step t)
{
    return 6 * ceil(raas_kept(t.s, 0, t.a) / 16) / 8;
}

/* The logits of a KV head's two query heads, fp32, written and read again in `layers` of the 8: 16 bytes per
 * token, where K and V have 128 values. */
static double logits(double tokens)
{
    return tokens * 16 / (decode_rounds() ? 256 : 512);
}

static double statistics(struct step t, int layers)
{
    return layers * logits(t.s) / 8;
}

/* Layers 2 and 5 choose; layer 7 has nobody above it to choose for. */
static double statistics2(struct step t)
{
    return statistics(t, 2);
}

static double statistics6(struct step t)
{
    return statistics(t, 6);
}

/* Keys without values, in the five anchors above layer 0. */
static double half5(struct step t)
{
    return 5 * t.s / 2 / 8 + statistics(t, 6);
}

/* ---- page bounds held, a token's worth for each page */

static double raas_bounds(struct step t)
{
    return 2 * ceil(t.s / 16) / 8 + raas_aux(t);
}

static double raas_unpinned_bounds(struct step t)
{
    return 2 * ceil(t.s / 16) / 8 + raas_unpinned_aux(t);
}

/* ... in all layers but layer 0. */
static double half7(struct step t)
{
    return 7 * t.s / 2 / 8 + statistics(t, 7);
}

/* The end of the prompt: one query over its keys, if more than a tokens are there. */
static double prompt_once(struct step t)
{
    return t.s == t.prompt + 1 && t.prompt > t.a ? t.prompt / 2 : 0;
}

/* In each step the logits of everything that is held. */
static double held_logits(struct step t)
{
    return logits(one_more(t).low);
}

static double held_cr_logits(struct step t)
{
    return logits(one_more_cr(t).low);
}

/* ... and the prompt's. */
static double tova_aux(struct step t)
{
    return prompt_once(t) + (prompt_once(t) > 0 ? logits(t.prompt) : 0) + logits(one_more(t).low);
}

static double tova_cr_aux(struct step t)
{
    return prompt_once(t) + (prompt_once(t) > 0 ? logits(t.prompt) : 0) + logits(one_more_cr(t).low);
}

/* The keys before the 16 recent ones, in rounds of b tokens. */
static double window_aux(struct step t)
{
    double live = rounds(t, t.a, t.b);
    return live > t.a && fmod(live, t.b) == 0 ? (live - 16) / 2 : 0;
}

/* The keys before the 8 recent ones, and all keys. */
static double rkv_aux(struct step t)
{
    double live = rkv_live(t);
    return live > t.a && fmod(t.s, t.b) == 0 ? (live - 8) / 2 + live / 2 : 0;
}

static const struct {
    const char *spec;
    struct range (*reads)(struct step t);
    double (*aux)(struct step t);
    double a, b;
    /* What it holds after a step. 0: everything; 1: what it has read; 2: what it reads in the next step, less
     * the token that the next step adds. */
    int forgets;
    int steps;
    double (*bounds)(struct step t); /* NULL: it needs none */
} rows[] = {
    {"full", all, none, 0, 0, 0, STEPS, NULL},
    {"quest:k_pages=8", quest_q, pages6, 8, 0, 0, STEPS, pages8},
    {"quest:k_pages=8,scope=kv_max", quest_kv, pages6, 8, 0, 0, STEPS, pages8},
    {"quest:k_pages=8,scope=kv_sum", quest_kv, pages6, 8, 0, 0, STEPS, pages8},
    {"quest:preset=hf,k_pages=8,scope=kv_max", quest_hf, pages6, 8, 0, 0, STEPS, pages8},
    {"quest:preset=hf,k_pages=99,scope=kv_max", quest_hf, pages6, 99, 0, 0, STEPS, pages8},
    {"quest:ratio=0.2,scope=kv_max", quest_ratio, pages6, 0.2, 0, 0, STEPS, pages8},
    {"quest:preset=kascade,scope=kv_max", quest_kascade, pages6, 0, 0, 0, STEPS, pages8},
    {"quest:cr=4,scope=kv_max", quest_cr, pages6, 4, 0, 0, STEPS, pages8},
    {"quest:preset=dms,cr=4,scope=kv_max", quest_dms, pages6, 4, 16, 0, STEPS, pages8},
    {"quest:preset=dms,cr=16,min_pages=3,scope=kv_max", quest_dms, pages6, 16, 32, 0, STEPS, pages8},
    {"quest:preset=frontier,k_pages=6", quest_frontier, pages8, 6, 0, 0, STEPS, pages8},
    {"quest:preset=seer,k_pages=3,scope=kv_max", quest_seer, pages8, 3, 0, 0, STEPS, pages8},
    {"delta:k_pages=16", delta, statistics2, 16, 0, 0, STEPS, NULL},
    {"delta:k_pages=16,head_reduce=mean,tie_bias=1e-7", delta, statistics2, 16, 0, 0, STEPS, NULL},
    {"delta:preset=release,k_pages=16", delta_release, statistics2, 16, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2", kascade, half5, 0.2, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2,pool=all", kascade, half5, 0.2, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2,map=3:10+4:11,prob_dtype=bf16", kascade, half5, 0.2, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2,k_minus_tile_tokens=32", kascade, half5, 0.2, 32, 0, STEPS, NULL},
    {"kascade:ratio=0.2,round_tokens=128", kascade_rounded, half5, 0.2, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2,anchor_output=full", kascade_full, statistics6, 0.2, 0, 0, STEPS, NULL},
    {"kascade:mass=0.5,min_tokens=48", oracle_mass, half5, 48, 0, 0, STEPS, NULL},
    {"delta:k_tokens=100", delta_tokens, statistics2, 100, 0, 0, STEPS, NULL},
    {"delta:mass=0.5", delta_mass, statistics2, 0, 0, 0, STEPS, NULL},
    {"oracle:budget_tokens=64", oracle, half7, 64, 0, 0, STEPS, NULL},
    {"oracle:ratio=0.2,pool=all", oracle, half7, 0, 0.2, 0, STEPS, NULL},
    {"oracle:ratio=0.2,unit=pages,page_tokens=32,pool=max", oracle_pages, half7, 0, 0.2, 0, STEPS, NULL},
    {"oracle:mass=0.8,min_tokens=48", oracle_mass, half7, 48, 0, 0, STEPS, NULL},
    {"streamingllm:window_tokens=64", streaming, none, 64, 0, 0, STEPS, NULL},
    {"streamingllm:preset=kascade", streaming, none, 128, 0.3, 0, STEPS, NULL},
    {"streamingllm:preset=evict,window_tokens=64", streaming, none, 64, 0, 1, LONG, NULL},
    {"omnikv:ratio=0.2", omnikv, statistics2, 0.2, 0, 0, STEPS, NULL},
    {"omnikv:preset=repo", omnikv_repo, statistics2, 0.067, 0, 0, STEPS, NULL},
    {"lessismore:ratio=0.2", lessismore, statistics2, 128, 0.2, 0, STEPS, NULL},
    {"lessismore:k_tokens=50,middle=0.5", lessismore, statistics2, 50, 0, 0, STEPS, NULL},
    {"raas:budget_tokens=16", raas, raas_aux, 1, 0, 1, LONG, raas_bounds},
    {"raas:budget_tokens=32", raas, raas_aux, 2, 0, 1, LONG, raas_bounds},
    {"raas:budget_tokens=16,pin_counts=true", raas, raas_aux, 1, 0, 1, STEPS, raas_bounds},
    {"raas:budget_tokens=48,pin_prefill=false", raas_unpinned, raas_unpinned_aux, 3, 0, 1, LONG,
     raas_unpinned_bounds},
    {"raas:preset=hf_repo,budget_tokens=64", raas_repo, pages8, 4, 0, 0, LONG, pages8},
    {"dms:gate=always.safetensors", window, none, 0, 0, 1, STEPS, NULL},
    {"random:budget_tokens=40,recent=16,every=16", rounds_of, none, 40, 16, 2, LONG, NULL},
    {"random:budget_tokens=200,recent=16,every=16,draw=shared", rounds_of, none, 200, 16, 2, LONG, NULL},
    {"random:budget_tokens=41,recent=40,every=10,pin_prompt=false", rounds_of, none, 41, 10, 2, STEPS, NULL},
    {"random:preset=recency_pp,budget_tokens=40,every=16", rounds_of, none, 40, 16, 2, STEPS, NULL},
    {"random:cr=4,recent=16,every=16", rounds_cr, none, 4, 16, 2, LONG, NULL},
    {"deltallm:theta=0.6", all, none, 0, 0, 0, STEPS, NULL},
    {"tova:budget_tokens=60", one_more, tova_aux, 60, 0, 2, LONG, NULL},
    {"tova:budget_tokens=300", one_more, tova_aux, 300, 0, 2, LONG, NULL},
    {"tova:cr=4", one_more_cr, tova_cr_aux, 4, 0, 2, STEPS, NULL},
    {"h2o:budget_tokens=60", one_more, held_logits, 60, 0, 2, LONG, NULL},
    {"h2o:cr=4,recent=1", one_more_cr, held_cr_logits, 4, 0, 2, STEPS, NULL},
    {"snapkv:budget_tokens=100,window=16", after_prompt, prompt_once, 100, 0, 2, STEPS, NULL},
    {"snapkv:preset=paper,budget_tokens=300", after_prompt, prompt_once, 300, 0, 2, STEPS, NULL},
    {"snapkv:budget_tokens=40,window=16,every=16,when=decode", rounds_of, window_aux, 40, 16, 2, LONG, NULL},
    {"rkv:budget_tokens=40,every=16", rkv, rkv_aux, 40, 16, 2, LONG, NULL},
    {"rkv:budget_tokens=200,every=48", rkv, rkv_aux, 200, 48, 2, LONG, NULL},
    {"dms:gate=always.safetensors,evict=false", all, none, 0, 0, 0, STEPS, NULL},
    {"dms:neuron=first,window=16,evict=false", all, none, 0, 0, 0, STEPS, NULL},
};
enum { N = sizeof rows / sizeof *rows, K = FAMILIES };

static void check_item(const struct item *it, int i, const char *family)
{
    double low = 0, high = 0, full = 0, aux = 0, held = 0, prompt = it->req.n_prompt;
    for (int k = 1; k < rows[i].steps; k++) { /* the first token comes from the prompt */
        struct step t = {prompt + k, prompt, prompt + rows[i].steps, rows[i].a, rows[i].b};
        struct range r = rows[i].reads(t);
        low += r.low;
        high += r.high;
        aux += rows[i].aux(t);
        full += t.s;
        struct step next = t;
        next.s++;
        double tokens = rows[i].forgets == 2   ? rows[i].reads(next).low - 1
                        : rows[i].forgets == 1 ? r.low
                                               : t.s;
        held = max2(held, tokens + (rows[i].bounds ? rows[i].bounds(t) : 0));
    }
    CHECK_INT(it->n_ids, rows[i].steps);
    CHECK_NEAR(it->kv.reads_full, full, 0);
    int fits = it->kv.reads >= low - 1e-6 && it->kv.reads <= high + 1e-6;
    if (!fits || fabs(it->kv.aux_reads - aux) > 1e-6 || fabs(it->kv.peak_tokens - held) > 1e-6)
        printf("%s on %s: %.3f reads, %.3f to %.3f expected; %.3f aux, %.3f expected; %.3f held, %.3f "
               "expected\n",
               rows[i].spec, family, it->kv.reads, low, high, it->kv.aux_reads, aux, it->kv.peak_tokens,
               held);
    CHECK(fits);
    CHECK_NEAR(it->kv.aux_reads, aux, 1e-6);
    CHECK_NEAR(it->kv.peak_tokens, held, 1e-6);
}

static void between_one_and_all(struct engine *en)
{
    char spec[LAW_POLICIES][LAW_SPEC];
    int n = law_tight_specs(spec);
    struct item items[LAW_POLICIES];
    for (int i = 0; i < n; i++) {
        items[i] = law_item(decode_policy(en, spec[i]), LAW_LONGEST, STEPS);
        items[i].req.ignore_eos = 1;
    }
    decode_all(en, items, n, NULL);
    for (int i = 0; i < n; i++) {
        const struct kv_counts *kv = &items[i].kv;
        int fits = kv->reads >= STEPS - 1 && kv->reads <= kv->reads_full && kv->aux_reads >= 0 &&
                   kv->peak_tokens >= 1 && kv->peak_tokens <= (items[i].req.n_prompt + STEPS) * 17 / 16 + 1;
        if (!fits)
            printf("%s: %.3f reads of %.3f, %.3f aux, %.3f held\n", spec[i], kv->reads, kv->reads_full,
                   kv->aux_reads, kv->peak_tokens);
        CHECK(fits);
    }
    items_release(items, n);
}

int main(void)
{
    static struct item items[N * K];
    gates_write("always.safetensors", 8, 2, 256, 1);
    struct engine *en = decode_open(&(struct engine_options){.max_batch = 64});
    laws_open(en);
    between_one_and_all(en);
    for (int i = 0; i < N * K; i++) {
        items[i] = law_item(decode_policy(en, rows[i / K].spec), i % K, rows[i / K].steps);
        items[i].req.ignore_eos = 1;
    }
    decode_all(en, items, N * K, NULL);
    for (int i = 0; i < N * K; i++)
        check_item(&items[i], i / K, law_families[i % K]);
    items_release(items, N * K);
    engine_close(en);
    laws_close();
    remove("always.safetensors");
    return check_done();
}
