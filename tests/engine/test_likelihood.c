/* The likelihood of given tokens and the divergence from a reference policy (engine/likelihood.c, pairs.c):
 * the arithmetic against the C library's, and that neither batch, order, threads nor preemption move a bit of
 * either. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/likelihood.h"
#include "tests/check.h"
#include "tests/engine/decode.h"

enum { VOCAB = 1000, TOKENS = 180, PROMPT = 40 };

/* ---- divergence_compute() */

static uint64_t state = 1;
static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static void logits(float *v, double scale)
{
    for (int i = 0; i < VOCAB; i++)
        v[i] = (float)(scale * (uniform() + uniform() + uniform() - 1.5));
}

static double log_sum(const float *v, float top)
{
    long double sum = 0;
    for (int i = 0; i < VOCAB; i++)
        sum += expl((long double)v[i] - (long double)top);
    return (double)(logl(sum) + (long double)top);
}

static double slow_kl(const float *p, const float *q)
{
    float tp = p[0], tq = q[0];
    for (int i = 0; i < VOCAB; i++) {
        tp = p[i] > tp ? p[i] : tp;
        tq = q[i] > tq ? q[i] : tq;
    }
    double lp = log_sum(p, tp), lq = log_sum(q, tq), kl = 0;
    for (int i = 0; i < VOCAB; i++)
        kl += exp((double)p[i] - lp) * (((double)p[i] - lp) - ((double)q[i] - lq));
    return kl;
}

static void arithmetic(void)
{
    static float p[VOCAB], q[VOCAB];
    struct divergence d;
    for (double scale = 0.01; scale < 2000; scale *= 10) {
        logits(p, scale);
        logits(q, scale);
        divergence_compute(&d, p, q, VOCAB);
        double want = slow_kl(p, q);
        CHECK(fabs(d.kl - want) <= 1e-13 + 1e-12 * want);
        CHECK(want > 0 && !d.agree);
        divergence_compute(&d, p, p, VOCAB);
        CHECK(d.kl == 0 && d.agree);
        for (int i = 0; i < VOCAB; i++) /* the same distribution under a shift that fp32 holds exactly */
            q[i] = p[i] = roundf(p[i] * 64) / 64;
        for (int i = 0; i < VOCAB; i++)
            q[i] += 8;
        divergence_compute(&d, p, q, VOCAB);
        CHECK(d.kl < 1e-13 && d.agree);
    }
    logits(p, 1);
    logits(q, 1);
    p[7] = -INFINITY; /* p is 0 there: nothing to add */
    divergence_compute(&d, p, q, VOCAB);
    CHECK(isfinite(d.kl));
    divergence_compute(&d, q, p, VOCAB);
    CHECK(isinf(d.kl));
    p[7] = NAN;
    divergence_compute(&d, q, p, VOCAB);
    CHECK(isnan(d.kl));
    p[7] = INFINITY;
    divergence_compute(&d, q, p, VOCAB);
    CHECK(isnan(d.kl));
}

/* ---- buckets */

static void buckets(void)
{
    struct likelihood a = {0}, b = {0};
    const struct divergence d = {0.5, 1};
    for (int at = 3; at < 9; at++)
        likelihood_add(&a, at, 2, -1, &d);
    CHECK_INT(a.n, 3);
    CHECK(a.bucket[0].first == 2 && a.bucket[1].first == 4 && a.bucket[2].first == 8);
    CHECK(a.bucket[0].tokens == 1 && a.bucket[1].tokens == 4 && a.bucket[2].tokens == 1);
    struct likelihood_bucket sum = likelihood_total(&a);
    CHECK(sum.tokens == 6 && sum.bytes == 12 && sum.agree == 6 && sum.kl == 3);
    CHECK(fabs(sum.bits - 6 / log(2)) < 1e-12);
    likelihood_add(&b, 1, 1, 0, &d);
    likelihood_add(&b, 5, 1, 0, &d);
    likelihood_add(&b, 2147483647, 1, 0, &d);
    likelihood_merge(&b, &a);
    CHECK_INT(b.n, 5);
    for (int i = 1; i < b.n; i++)
        CHECK(b.bucket[i - 1].first < b.bucket[i].first);
    CHECK(b.bucket[2].first == 4 && b.bucket[2].tokens == 5 && b.bucket[4].first == 1 << 30);
}

/* ---- requests */

static int32_t ids[TOKENS]; /* what the model itself wrote, and from PROMPT on shifted by a few ids */

static struct item item_of(struct policy *p, struct policy *reference, int n_prompt, int n)
{
    return (struct item){.req = {.prompt = ids,
                                 .n_prompt = n_prompt,
                                 .policy = p,
                                 .reference = reference,
                                 .forced = ids + n_prompt,
                                 .n_forced = n - n_prompt,
                                 .want_logprobs = 1,
                                 .end_token = -1}};
}

static void fill_ids(struct engine *en)
{
    static const int32_t start[] = {1, 20, 21, 22};
    struct item it = {.req = {.prompt = start,
                              .n_prompt = 4,
                              .policy = decode_policy(en, "full"),
                              .sampling = {.temperature = 1.5, .seed = 3},
                              .ignore_eos = 1,
                              .end_token = -1,
                              .max_new_tokens = TOKENS - 4}};
    decode_all(en, &it, 1, NULL);
    memcpy(ids, start, sizeof start);
    CHECK_INT(it.n_ids, TOKENS - 4);
    memcpy(ids + 4, it.ids, (size_t)it.n_ids * sizeof *ids);
    items_release(&it, 1);
}

static int same(const struct item *a, const struct item *b)
{
    return items_equal(a, b) && a->likelihood.n == b->likelihood.n &&
           !memcmp(a->likelihood.bucket, b->likelihood.bucket,
                   (size_t)a->likelihood.n * sizeof *a->likelihood.bucket) &&
           a->kv.reads == b->kv.reads && a->kv.aux_reads == b->kv.aux_reads &&
           a->kv.peak_tokens == b->kv.peak_tokens;
}

/* The bits are those of the log-probabilities, and these are the same without a reference beside. */
static void bits_are_logprobs(struct engine *en, const struct item *it)
{
    struct item plain = item_of(it->req.policy, NULL, it->req.n_prompt, it->req.n_prompt + it->req.n_forced);
    double bits = 0;
    decode_all(en, &plain, 1, NULL);
    CHECK(items_equal(&plain, it));
    CHECK_INT(plain.likelihood.n, 0);
    for (int i = 0; i < plain.n_logprobs; i++)
        bits -= (double)plain.logprobs[i] / log(2);
    struct likelihood_bucket sum = likelihood_total(&it->likelihood);
    CHECK(fabs(sum.bits - bits) < 1e-9 * (1 + bits));
    CHECK_INT(sum.tokens, it->req.n_forced);
    CHECK_INT(sum.bytes, it->n_text);
    items_release(&plain, 1);
}

static void policies(void)
{
    enum { N = 7 };
    static const char *const specs[N] = {"full",
                                         "quest:k_pages=3",
                                         "raas:budget_tokens=4096",
                                         "kascade:ratio=0.2",
                                         "quest:k_pages=1000", /* from here on not in small tests */
                                         "raas:budget_tokens=64",
                                         "delta:k_pages=1000,l_pages=4"};
    static const int is_tight[N] = {0, 1, 0, 1, 0, 1, 0};
    const int n = check_small() ? 4 : N;
    static struct item it[N];
    struct engine *en = decode_open(&(struct engine_options){.threads = 1});
    struct policy *full = decode_policy(en, "full");
    fill_ids(en);
    for (int i = 0; i < n; i++)
        it[i] = item_of(decode_policy(en, specs[i]), full, PROMPT, TOKENS);
    decode_all(en, it, n, NULL);
    int n_differ = 0;
    for (int i = 0; i < n; i++) {
        struct likelihood_bucket sum = likelihood_total(&it[i].likelihood);
        CHECK(it[i].finish == FINISHED_LENGTH && !it[i].error);
        bits_are_logprobs(en, &it[i]);
        CHECK((sum.kl > 0) == is_tight[i]);
        CHECK((sum.bits != likelihood_total(&it[0].likelihood).bits) == is_tight[i]);
        CHECK(is_tight[i] || sum.agree == sum.tokens);
        n_differ += sum.agree < sum.tokens;
    }
    CHECK(n_differ > 0); /* another likeliest token somewhere; not every tight budget changes one */
    items_release(it, n);
    engine_close(en);
}

/* ---- company */

static void company(void)
{
    enum { N = 6 };
    static const int order[N] = {5, 2, 0, 4, 1, 3}, ends[N] = {180, 41, 90, 150, 70, 180};
    static const char *const specs[N] = {"quest:k_pages=3", "raas:budget_tokens=64", "full",
                                         "quest:k_pages=3", "raas:budget_tokens=64", "raas:budget_tokens=64"};
    static struct item alone[N], it[N];
    struct engine *en = decode_open(&(struct engine_options){.threads = 1});
    const struct engine_options options[] = {
        {.max_batch = 2, .threads = 2},
        {.max_batch = 3, .threads = 1},
        {.max_batch = 32, .threads = 1, .share_prompts = -1},
        {.max_batch = 32,
         .threads = 1,
         .max_context = 512,
         .pool_bytes = 488 * engine_info(en)->kv_token_bytes}, /* two long pairs do not fit */
    };
    for (int i = 0; i < N; i++) {
        alone[i] = item_of(decode_policy(en, specs[i]), decode_policy(en, "full"), PROMPT - i, ends[i]);
        decode_all(en, &alone[i], 1, NULL);
    }
    engine_close(en);
    int preempted = 0;
    for (size_t k = 0; k < sizeof options / sizeof *options; k += check_small() ? 3 : 1) {
        en = decode_open(&options[k]);
        for (int i = 0; i < N; i++)
            it[i] = item_of(decode_policy(en, specs[i]), decode_policy(en, "full"), PROMPT - i, ends[i]);
        decode_all(en, it, N, k % 2 ? order : NULL);
        for (int i = 0; i < N; i++) {
            CHECK(same(&it[i], &alone[i]));
            preempted += it[i].preempted;
        }
        items_release(it, N);
        engine_close(en);
    }
    CHECK(preempted > 0);
    items_release(alone, N);
}

/* Tokens as one block: the prompt's pass scores them as decode steps do but for rounding, whatever its chunks
 * are, and a policy that acts on decode steps alone changes no bit. Where activations are rounded to bf16
 * single tokens differ by more than a nat, each way as far from fp32, and the mean by 0.04 at most (H200). */
static struct item block_item(struct policy *p, int scored)
{
    struct item it = item_of(p, NULL, PROMPT, TOKENS);
    it.req.n_prompt += scored;
    it.req.forced += scored;
    it.req.n_forced -= scored;
    it.req.n_scored = scored;
    it.req.want_logprobs = 1;
    it.req.reference = NULL;
    return it;
}

static void blocks(void)
{
    static const int chunks[] = {0, 128};
    struct item first = {0};
    struct err e = {0};
    for (int k = 0; k < 2; k++) {
        struct engine *en = decode_open(
            &(struct engine_options){.max_batch = 4, .max_context = 256, .prefill_chunk = chunks[k]});
        struct policy *full = decode_policy(en, "full");
        struct item it[3] = {block_item(full, 0), block_item(full, TOKENS - PROMPT - 1),
                             block_item(decode_policy(en, "quest:k_pages=1"), TOKENS - PROMPT - 1)};
        decode_all(en, it, 3, NULL);
        CHECK_INT(it[1].n_ids, 1);
        CHECK(it[1].n_logprobs == TOKENS - PROMPT && it[0].n_logprobs == TOKENS - PROMPT);
        double apart = 0;
        for (int i = 0; i < it[1].n_logprobs && it[1].n_logprobs == it[0].n_logprobs; i++) {
            float d = fabsf(it[1].logprobs[i] - it[0].logprobs[i]);
            CHECK(decode_rounds() || d <= 2e-3f);
            apart += d;
        }
        CHECK(apart <= 0.1 * (TOKENS - PROMPT));
        CHECK(items_equal(&it[1], &it[2]));
        CHECK(!k || items_equal(&first, &it[1]));
        if (!k)
            first = it[1];
        items_release(it, 1);
        items_release(&it[2], 1);
        if (k)
            items_release(&it[1], 1);
        it[0] = block_item(full, PROMPT + 1); /* more than stand in the prompt */
        it[0].req.n_prompt = PROMPT;
        CHECK_INT(engine_submit(en, &it[0].req, &e), ERR_USAGE);
        CHECK(strstr(e.text, "cannot be scored") != NULL);
        engine_close(en);
        memset(&e, 0, sizeof e);
    }
    items_release(&first, 1);
}

static void refusals(void)
{
    struct err e = {0};
    struct engine *en = decode_open(&(struct engine_options){.max_batch = 1, .max_context = 64});
    struct policy *full = decode_policy(en, "full"), *quest = decode_policy(en, "quest:k_pages=3");
    struct item it = item_of(quest, full, 10, 20);
    CHECK_INT(engine_submit(en, &it.req, &e), ERR_USAGE);
    CHECK(strstr(e.text, "two places of the batch") != NULL);
    it = item_of(full, full, 10, 20); /* its own reference: one place is enough */
    decode_all(en, &it, 1, NULL);
    CHECK_INT(likelihood_total(&it.likelihood).tokens, 10);
    items_release(&it, 1);
    memset(&e, 0, sizeof e);
    it.req.n_forced = 0;
    CHECK_INT(engine_submit(en, &it.req, &e), ERR_USAGE);
    CHECK(strstr(e.text, "given tokens") != NULL);
    engine_close(en);
}

int main(void)
{
    arithmetic();
    buckets();
    policies();
    company();
    blocks();
    refusals();
    return check_done();
}
