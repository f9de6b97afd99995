/* Laws that hold for every registered policy: a budget of at least the context is full attention; reads
 * follow the closed forms; a completion does not depend on its company. A policy that is missing from the
 * tables here fails the test. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/rng.h"
#include "tests/check.h"
#include "tests/engine/decode.h"
#include "tests/engine/gates.h"

#if defined(__SANITIZE_ADDRESS__)
enum {
    SANITIZED = 1,
    STEPS = 10,
    COMPANY = 10
}; /* that build looks for bad accesses and takes ten times as long */
#else
enum { SANITIZED = 0, STEPS = 40, COMPANY = 32 };
#endif
static const char *const families[] = {"relay20", "algebra16", "choice18", "lookup60"}; /* the longest last */
static struct prompts prompts[4];

static void load_prompts(struct engine *en)
{
    for (int f = 0; f < 4; f++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/data/pocket/problems/%s.jsonl", SOURCE_DIR, families[f]);
        prompts_load(&prompts[f], en, path, 4);
    }
}

static struct item item_of(struct policy *p, int k, int steps)
{
    const struct token_list *t = &prompts[k % 4].ids[k / 4 % 4];
    struct item it;
    memset(&it, 0, sizeof it);
    it.req = (struct request){.prompt = t->id,
                              .n_prompt = (int)t->n,
                              .policy = p,
                              .max_new_tokens = steps,
                              .end_token = -1,
                              .want_logprobs = 1};
    return it;
}

/* ---- a budget of at least the context gives full attention ---- */

/* Specs that drop pages even then are not here: quest's token budgets (ratio, cr) and its presets hf, kascade
 * and dms take floor(S / 16) pages, which leaves out one when the last is partial. Kascade scans and re-reads
 * in its anchors: tokens, not bits. */
static const struct {
    const char *spec;
    int bits;
} generous[] = {
    {"full", 1},
    {"quest:k_pages=256", 1},
    {"quest:k_pages=256,scope=kv_max", 1},
    {"quest:k_pages=256,scope=kv_sum,force_last=extra,dense_layers=0", 1},
    {"quest:k_pages=64,page_tokens=64,force_last=false", 1},
    {"raas:budget_tokens=4096", 1},
    {"raas:budget_tokens=4096,pin_prefill=false,pin_counts=true", 1},
    {"raas:preset=hf_repo,budget_tokens=4096", 1},
    {"delta:k_pages=256", 1},
    {"delta:preset=release,k_pages=256", 1},
    {"delta:k_pages=64,page_tokens=64,head_reduce=sum", 1},
    {"kascade:ratio=1", 0},
    {"kascade:ratio=1,anchor_output=full,pool=all", 0},
    {"dms:gate=never.safetensors", 1},
};

static void law_generous(struct engine *en)
{
    enum { N = sizeof generous / sizeof *generous, K = 3 };
    struct item items[N * K];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < K; k++)
            items[i * K + k] = item_of(decode_policy(en, generous[i].spec), k, STEPS);
    decode_all(en, items, N * K, NULL);
    for (int i = 1; i < N; i++)
        for (int k = 0; k < K; k++) {
            struct item *full = &items[k], *it = &items[i * K + k];
            int same =
                it->n_ids == full->n_ids && !memcmp(it->ids, full->ids, (size_t)it->n_ids * sizeof *it->ids);
            if (!same || (generous[i].bits && !items_equal(it, full)))
                printf("%s differs from full on %s\n", generous[i].spec, families[k]);
            CHECK(same);
            CHECK(!generous[i].bits || items_equal(it, full));
            if (it->kv.reads != full->kv.reads)
                printf("%s reads %.3f of %.3f on %s\n", generous[i].spec, it->kv.reads, full->kv.reads,
                       families[k]);
            CHECK_NEAR(it->kv.reads, full->kv.reads, 0);
        }
    for (size_t p = 0; policy_at(p); p++) {
        int found = 0;
        for (int i = 0; i < N; i++)
            found |= !strncmp(generous[i].spec, policy_name(policy_at(p)), strlen(policy_name(policy_at(p))));
        CHECK(found);
    }
    items_release(items, N * K);
}

/* ---- reads ---- */

static double tokens_of_pages(double s, double k)
{
    double n = ceil(s / 16);
    return n <= k ? s : k * 16 - (n * 16 - s); /* the last page is one of them */
}

static double min2(double a, double b)
{
    return a < b ? a : b;
}

/* Mean over the 8 layers of what a step with context s reads, exactly (low = high) or between bounds. */
static void reads_full(double s, double prompt, double *low, double *high)
{
    (void)prompt;
    *low = *high = s;
}

static void reads_quest8(double s, double prompt, double *low, double *high)
{
    (void)prompt;
    *low = (2 * s + 6 * tokens_of_pages(s, 8)) / 8;
    *high = (2 * s + 6 * min2(s, 2 * 8 * 16)) / 8; /* union over the group's two query heads */
}

static void reads_quest_kv(double s, double prompt, double *low, double *high)
{
    (void)prompt;
    *low = *high = (2 * s + 6 * tokens_of_pages(s, 8)) / 8;
}

static void reads_delta(double s, double prompt, double *low, double *high)
{
    (void)prompt; /* layers 0, 1 dense, 2, 5, 7 refresh, 3, 4, 6 sparse */
    *low = *high = (5 * s + 3 * tokens_of_pages(s, 16)) / 8;
}

static void reads_kascade(double s, double prompt, double *low, double *high)
{
    (void)prompt;
    double k = floor(0.2 * s) > 128 ? floor(0.2 * s) : 128;
    *low = *high = (s + 7 * min2(s, k)) / 8;
}

static void reads_raas(double s, double prompt, double *low, double *high)
{
    double kept = ceil(prompt / 16) * 16 + 32;
    *low = (2 * s + 6 * min2(s, kept - 16)) / 8;
    *high = (2 * s + 6 * min2(s, kept)) / 8;
}

static void reads_window(double s, double prompt, double *low, double *high)
{
    (void)prompt;
    *low = *high = min2(s, 17);
}

static const struct {
    const char *spec;
    void (*bounds)(double s, double prompt, double *low, double *high);
} reads[] = {
    {"full", reads_full},
    {"quest:k_pages=8", reads_quest8},
    {"quest:k_pages=8,scope=kv_max", reads_quest_kv},
    {"quest:k_pages=8,scope=kv_sum", reads_quest_kv},
    {"delta:k_pages=16", reads_delta},
    {"delta:k_pages=16,head_reduce=mean,tie_bias=1e-7", reads_delta},
    {"kascade:ratio=0.2", reads_kascade},
    {"kascade:ratio=0.2,pool=all", reads_kascade},
    {"raas:budget_tokens=32", reads_raas},
    {"dms:gate=always.safetensors", reads_window},
};

static void law_reads(struct engine *en)
{
    enum { N = sizeof reads / sizeof *reads, K = 4 };
    struct item items[N * K];
    for (int i = 0; i < N * K; i++) {
        items[i] = item_of(decode_policy(en, reads[i / K].spec), i % K, STEPS);
        items[i].req.ignore_eos = 1;
    }
    decode_all(en, items, N * K, NULL);
    for (int i = 0; i < N * K; i++) {
        double low = 0, high = 0, full = 0, a, b, prompt = items[i].req.n_prompt;
        for (int t = 1; t < STEPS; t++) { /* the first token comes from the prompt */
            reads[i / K].bounds(prompt + t, prompt, &a, &b);
            low += a;
            high += b;
            full += prompt + t;
        }
        CHECK_INT(items[i].n_ids, STEPS);
        CHECK_NEAR(items[i].kv.reads_full, full, 0);
        if (!(items[i].kv.reads >= low - 1e-6 && items[i].kv.reads <= high + 1e-6))
            printf("%s on %s: %.3f reads, %.3f to %.3f expected\n", reads[i / K].spec, families[i % K],
                   items[i].kv.reads, low, high);
        CHECK(items[i].kv.reads >= low - 1e-6 && items[i].kv.reads <= high + 1e-6);
        CHECK(items[i].kv.peak_tokens <= prompt + STEPS);
        if (reads[i / K].bounds == reads_window)
            CHECK_NEAR(items[i].kv.peak_tokens, 17, 0);
        if (reads[i / K].bounds == reads_full)
            CHECK_NEAR(items[i].kv.peak_tokens, prompt + STEPS - 1, 0);
    }
    items_release(items, N * K);
}

/* ---- company ---- */

static const char *const tight[] = {"full",
                                    "quest:k_pages=8",
                                    "quest:preset=frontier,k_pages=6",
                                    "raas:budget_tokens=32",
                                    "raas:preset=hf_repo,budget_tokens=64",
                                    "delta:k_pages=16",
                                    "kascade:ratio=0.2",
                                    "dms:cr=8"};
enum { TIGHT = sizeof tight / sizeof *tight };

static void sampled(struct item *it, int k)
{
    if (k % 2) {
        it->req.sampling = (struct sampling){
            .temperature = 0.8, .top_p = 0.9, .top_k = 40, .seed = 7, .problem = 11, .sample = (uint32_t)k};
    }
}

/* n requests over all policies in one engine; of 32, two have long prompts. */
static void run_company(const struct engine_options *o, struct item *items, int n, int steps,
                        const int *order, int alone)
{
    struct engine *en = decode_open(o);
    for (int i = 0; i < n; i++) {
        items[i] = item_of(decode_policy(en, tight[i % TIGHT]), i % 13 == 12 ? 3 : i / 2 % 3, steps);
        sampled(&items[i], i / TIGHT);
    }
    if (alone)
        for (int i = 0; i < n; i++)
            decode_all(en, &items[i], 1, NULL);
    else
        decode_all(en, items, n, order);
    engine_close(en);
}

static void compare_company(const char *what, const struct item *a, const struct item *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (!items_equal(&a[i], &b[i]))
            printf("%s changes %s, request %d\n", what, tight[i % TIGHT], i);
        CHECK(items_equal(&a[i], &b[i]));
        CHECK_NEAR(a[i].kv.reads, b[i].kv.reads, 0);
        CHECK_NEAR(a[i].kv.peak_tokens, b[i].kv.peak_tokens, 0);
    }
}

static void law_company(void)
{
    enum { N = COMPANY };
    static struct item base[N], other[N];
    int order[N];
    struct rng r;
    rng_init(&r, 1, 1);
    for (int i = 0; i < N; i++)
        order[i] = i;
    for (int i = N - 1; i > 0; i--) {
        int j = (int)rng_below(&r, (uint32_t)i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    run_company(&(struct engine_options){.threads = 2}, base, N, STEPS, NULL, 0);
    run_company(&(struct engine_options){.threads = 2}, other, N, STEPS, order, 0);
    compare_company("another order", base, other, N);
    items_release(other, N);
    run_company(&(struct engine_options){.threads = 1}, other, N, STEPS, NULL, 0);
    compare_company("one thread", base, other, N);
    items_release(other, N);
    run_company(&(struct engine_options){.threads = 2, .max_batch = 7, .share_prompts = -1}, other, N, STEPS,
                order, 0);
    compare_company("a batch of 7 without shared prompts", base, other, N);
    items_release(other, N);
    run_company(&(struct engine_options){.threads = 2}, other, N, STEPS, NULL, 1);
    compare_company("being alone", base, other, N);
    items_release(other, N);
    /* room for little more than two long sequences: most requests are preempted */
    run_company(&(struct engine_options){.threads = 2, .max_context = 2048, .pool_bytes = (size_t)40 << 20},
                other, N, STEPS, NULL, 0);
    compare_company("a small cache", base, other, N);
    items_release(other, N);
    items_release(base, N);
}

static void law_isa(void)
{
    enum { N = 8, FEW = 6 };
    static struct item base[N], other[N];
    static const char *const isas[] = {"avx2", "avx512"};
    run_company(&(struct engine_options){.isa = "scalar"}, base, N, FEW, NULL, 0);
    for (int i = 0; i < 2; i++) {
        struct engine *en;
        struct err e = {0};
        if (engine_open(&en, &(struct engine_options){.isa = isas[i]}, &e)) {
            printf("notice: %s is not compared: %s\n", isas[i], e.text);
            continue;
        }
        engine_close(en);
        run_company(&(struct engine_options){.isa = isas[i]}, other, N, FEW, NULL, 0);
        compare_company(isas[i], base, other, N);
        items_release(other, N);
    }
    items_release(base, N);
}

/* ---- DMS: the visibility rule depends on positions only ---- */

static void law_dms_prefill(struct engine *en)
{
    static const char *const specs[] = {"dms:cr=2", "dms:cr=8", "dms:cr=4,shift=1",
                                        "dms:cr=4,window=5,window_inclusive=false"};
    enum { N = 200, M = 40 };
    for (int k = 0; k < 4; k++) {
        struct policy *p = decode_policy(en, specs[k]);
        const struct token_list *t = &prompts[3].ids[k];
        struct item it[2];
        memset(it, 0, sizeof it);
        it[0].req = (struct request){.prompt = t->id,
                                     .n_prompt = N,
                                     .policy = p,
                                     .forced = t->id + N,
                                     .n_forced = M,
                                     .want_logprobs = 1,
                                     .end_token = -1};
        it[1].req = it[0].req;
        it[1].req.n_prompt = 1;
        it[1].req.forced = t->id + 1;
        it[1].req.n_forced = N - 1 + M;
        decode_all(en, it, 2, NULL);
        double worst = 0;
        for (int i = 0; i < M; i++) {
            double d = fabs((double)it[0].logprobs[i] - (double)it[1].logprobs[N - 1 + i]);
            worst = d > worst ? d : worst;
        }
        CHECK_NEAR(worst, 0, 2e-4);
        items_release(it, 2);
    }
}

/* ---- forgotten pages return to the pool ---- */

static void law_pool(void)
{
    static const char *const specs[] = {"full", "dms:cr=8", "raas:budget_tokens=32"};
    struct engine_stats st[3];
    for (int k = 0; k < 3; k++) {
        struct engine *en = decode_open(&(struct engine_options){.share_prompts = -1});
        struct item items[8];
        for (int i = 0; i < 8; i++) {
            items[i] = item_of(decode_policy(en, specs[k]), 4 * i, 160);
            items[i].req.ignore_eos = 1;
        }
        decode_all(en, items, 8, NULL);
        engine_stats(en, &st[k]);
        CHECK_INT(st[k].units_free, st[k].units_total);
        items_release(items, 8);
        engine_close(en);
    }
    CHECK(st[1].units_peak < st[0].units_peak * 7 / 10);
    CHECK(st[2].units_peak < st[0].units_peak * 9 / 10);
}

/* ---- where a completion ends ---- */

static void law_ends(struct engine *en)
{
    struct policy *full = decode_policy(en, "full");
    struct item it[7];
    const char *stop[] = {"rule 3", "room"};
    for (int i = 0; i < 7; i++)
        it[i] = item_of(full, 3, 200); /* lookup60: about 50 tokens */
    it[1].req.max_new_tokens = 5;
    it[2].req.max_total_tokens = it[2].req.n_prompt + 7;
    it[3].req.min_new_tokens = 120;
    it[4].req.ignore_eos = 1;
    it[5].req.stop = stop;
    it[5].req.n_stop = 2;
    it[6].req.stop = stop;
    it[6].req.n_stop = 2;
    it[6].req.min_new_tokens = 20;
    decode_all(en, it, 7, NULL);
    CHECK(it[0].finish == FINISHED_STOP && it[0].n_ids < 120);
    CHECK(it[0].n_logprobs == it[0].n_ids + 1);
    CHECK(it[1].finish == FINISHED_LENGTH && it[1].n_ids == 5);
    CHECK(it[2].finish == FINISHED_LENGTH && it[2].n_ids == 7);
    CHECK(it[3].n_ids >= 120);
    CHECK(it[4].finish == FINISHED_LENGTH && it[4].n_ids == 200);
    CHECK(it[5].finish == FINISHED_STOP && !strstr(it[5].text, "room") && it[5].n_ids < 20);
    CHECK(it[6].n_ids >= 20);
    items_release(it, 7);
}

int main(void)
{
    gates_write("never.safetensors", 8, 2, 256, -1);
    gates_write("always.safetensors", 8, 2, 256, 1);
    struct engine *en = decode_open(&(struct engine_options){0});
    load_prompts(en);
    law_generous(en);
    law_reads(en);
    law_dms_prefill(en);
    law_ends(en);
    engine_close(en);
    law_company();
    if (!SANITIZED) /* there kernels/bits compares the instruction sets */
        law_isa();
    law_pool();
    for (int f = 0; f < 4; f++)
        prompts_release(&prompts[f]);
    remove("never.safetensors");
    remove("always.safetensors");
    return check_done();
}
