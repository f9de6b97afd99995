/* Reads, auxiliary reads and the most tokens held follow formulas (docs/policies.md) for the policies that
 * select, and the options that change their budgets; test_reads_forget.c has those that forget. Every
 * registered policy reads at least one token per step, and at most what full attention reads. */
#include "tests/check.h"
#include "tests/engine/reads.h"

/* Quest with a pages for each query head. The union over the two heads of a group has a to 2a pages. */
static struct range quest_q(struct step t)
{
    return layers(t.s, 2, (struct range){with_last(t.s, t.a, 16), min2(t.s, 2 * t.a * 16)});
}

static struct range quest_kv(struct step t)
{
    return layers(t.s, 2, exact(with_last(t.s, t.a, 16)));
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

/* Bounds of every page, in 6 sparse layers. */
static double pages6(struct step t)
{
    return 6 * ceil(t.s / 16) / 8;
}

static double statistics(struct step t, int layers)
{
    return layers * logits(t.s) / 8;
}

/* A value per page instead of one per token. */
static double page_statistics(struct step t, int layers)
{
    return layers * logits(ceil(t.s / 16)) / 8;
}

static double page_statistics2(struct step t)
{
    return page_statistics(t, 2);
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

/* The same in all layers but layer 0. */
static double half7(struct step t)
{
    return 7 * t.s / 2 / 8 + statistics(t, 7);
}

static double half7_pages(struct step t)
{
    return 7 * t.s / 2 / 8 + page_statistics(t, 7);
}

static const struct reads_row rows[] = {
    {"full", all, none, 0, 0, 0, STEPS, NULL},
    {"quest:k_pages=8", quest_q, pages6, 8, 0, 0, STEPS, pages8},
    {"quest:k_pages=8,scope=kv_max", quest_kv, pages6, 8, 0, 0, STEPS, pages8},
    {"quest:k_pages=8,scope=kv_sum", quest_kv, pages6, 8, 0, 0, STEPS, pages8},
    {"quest:k_pages=8,scope=pair_max", quest_kv, pages6, 8, 0, 0, STEPS, pages8}, /* groups of two heads */
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
    {"delta:k_pages=16,head_reduce=mean,tie_bias=1e-7", delta, page_statistics2, 16, 0, 0, STEPS, NULL},
    {"delta:k_pages=16,head_reduce=sum", delta, page_statistics2, 16, 0, 0, STEPS, NULL},
    {"delta:preset=release,k_pages=16", delta_release, statistics2, 16, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2", kascade, half5, 0.2, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2,pool=all", kascade, half5, 0.2, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2,map=3:10+4:11,prob_dtype=bf16", kascade, half5, 0.2, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2,k_minus_tile_tokens=32", kascade, half5, 0.2, 32, 0, STEPS, NULL},
    {"kascade:ratio=0.2,round_tokens=128", kascade_rounded, half5, 0.2, 0, 0, STEPS, NULL},
    {"kascade:ratio=0.2,anchor_output=full", kascade_full, statistics6, 0.2, 0, 0, STEPS, NULL},
    {"kascade:mass=0.5,min_tokens=48", oracle_mass, half5, 48, 0, 0, STEPS, NULL},
    {"delta:k_tokens=100", delta_tokens, statistics2, 100, 0, 0, STEPS, NULL},
    {"delta:k_tokens=100,head_reduce=sum", delta_tokens, statistics2, 100, 0, 0, STEPS, NULL},
    {"delta:mass=0.5", delta_mass, statistics2, 0, 0, 0, STEPS, NULL},
    {"delta:mass=0.5,head_reduce=sum", delta_mass, page_statistics2, 0, 0, 0, STEPS, NULL},
    {"oracle:budget_tokens=64", oracle, half7, 64, 0, 0, STEPS, NULL},
    {"oracle:ratio=0.2,pool=all", oracle, half7, 0, 0.2, 0, STEPS, NULL},
    {"oracle:ratio=0.2,unit=pages,page_tokens=32,pool=max", oracle_pages, half7, 0, 0.2, 0, STEPS, NULL},
    {"oracle:ratio=0.2,unit=pages,page_tokens=32", oracle_pages, half7_pages, 0, 0.2, 0, STEPS, NULL},
    {"oracle:mass=0.8,min_tokens=48", oracle_mass, half7, 48, 0, 0, STEPS, NULL},
    {"streamingllm:window_tokens=64", streaming, none, 64, 0, 0, STEPS, NULL},
    {"streamingllm:preset=kascade", streaming, none, 128, 0.3, 0, STEPS, NULL},
    {"omnikv:ratio=0.2", omnikv, statistics2, 0.2, 0, 0, STEPS, NULL},
    {"omnikv:preset=OmniKV@5c33cb5-class", omnikv_repo, statistics2, 0.067, 0, 0, STEPS, NULL},
    {"omnikv:preset=OmniKV@5c33cb5", omnikv_repo, statistics2, 0.067, 0, 0, STEPS, NULL},
    {"lessismore:ratio=0.2", lessismore, statistics2, 128, 0.2, 0, STEPS, NULL},
    {"lessismore:k_tokens=50,middle=0.5", lessismore, statistics2, 50, 0, 0, STEPS, NULL},
    {"deltallm:theta=0.6", all, none, 0, 0, 0, STEPS, NULL},
};

static void between_one_and_all(struct engine *en)
{
    char spec[LAW_POLICIES][LAW_SPEC];
    int n = law_tight_specs(spec);
    struct item items[LAW_POLICIES];
    for (int i = 0; i < n; i++) {
        items[i] = law_item(decode_policy(en, spec[i]), check_small() ? 0 : LAW_LONGEST, STEPS);
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

/* At theta 1e6 a step reads the first key and the newest ones; at 0 everything that is not equal to the bit,
 * also of a prompt that is shared with full attention. The rest follows from tests/kernels/test_hold.c. */
static void key_elements(struct engine *en)
{
    struct item items[] = {law_item(decode_policy(en, "full"), 0, STEPS),
                           law_item(decode_policy(en, "deltallm:theta=1e6,window_tokens=7"), 0, STEPS),
                           law_item(decode_policy(en, "deltallm:theta=0"), 0, STEPS),
                           law_item(decode_policy(en, "deltallm:theta=0.6"), 0, STEPS)};
    for (int i = 0; i < 4; i++)
        items[i].req.ignore_eos = 1;
    decode_all(en, items, 4, NULL);
    CHECK_NEAR(items[0].kv.key_elements, 0, 0);
    CHECK_NEAR(items[1].kv.key_elements, 8 * (STEPS - 1), 1e-9);
    double all = items[2].kv.reads_full, some = items[3].kv.key_elements;
    CHECK(items[2].kv.key_elements <= all && items[2].kv.key_elements > 0.99 * all);
    CHECK(some < 0.95 * all && some > 0.5 * all);
    items_release(items, 4);
}

/* Heads that choose for themselves: each reads its own k pages, and their group what any of them chose. Two
 * heads that share a list are the whole group here, so that pair_max is kv_max. */
static void selected(struct engine *en)
{
    struct item items[] = {law_item(decode_policy(en, "quest:k_pages=8"), 0, STEPS),
                           law_item(decode_policy(en, "quest:k_pages=8,scope=kv_max"), 0, STEPS),
                           law_item(decode_policy(en, "quest:k_pages=8,scope=pair_max"), 0, STEPS)};
    double want = 0;
    for (int i = 0; i < 3; i++)
        items[i].req.ignore_eos = 1;
    decode_all(en, items, 3, NULL);
    for (int i = 1; i < STEPS; i++)
        want += quest_kv((struct step){.s = items[0].req.n_prompt + i, .a = 8}).low;
    CHECK_NEAR(items[0].kv.selected, want, 1e-6 * want);
    CHECK(items[0].kv.reads > 1.05 * want && items[0].kv.reads <= 2 * want);
    for (int i = 1; i < 3; i++) {
        CHECK_NEAR(items[i].kv.selected, want, 1e-6 * want);
        CHECK_NEAR(items[i].kv.reads, want, 1e-6 * want);
    }
    CHECK(items_equal(&items[1], &items[2]));
    items_release(items, 3);
}

int main(void)
{
    struct engine *en = decode_open(&(struct engine_options){.max_batch = 64});
    laws_open(en);
    between_one_and_all(en);
    key_elements(en);
    selected(en);
    CHECK_INT(reads_check(en, rows, sizeof rows / sizeof *rows), 0);
    engine_close(en);
    laws_close();
    return check_done();
}
