/* Every policy on a model in which every other layer reads a window of 32 tokens and each query head has a
 * sink (windows/make.py): tokens and reads are those of the NumPy reference decoder, whatever else is in the
 * batch, with any number of threads, and where tokens wait for room. With a budget of at least the context
 * the bits are those of full attention, and layers with a window read what the model itself reads. */
#include "engine/engine_impl.h"
#include "evalcore/base/hash.h"
#include "tests/check.h"
#include "tests/engine/laws.h"
#include "tests/engine/window_model.h"

enum { PREFILL_CHUNK = 128 }; /* a prompt of 139 tokens takes two */

static struct windows f;

static struct item item_of(const struct stream *s, struct policy *p)
{
    return (struct item){.req = {.prompt = s->prompt,
                                 .n_prompt = s->n,
                                 .policy = p,
                                 .sampling = {.seed = 1, .problem = s->problem},
                                 .max_new_tokens = STREAM_NEW,
                                 .ignore_eos = 1,
                                 .end_token = -1,
                                 .want_logprobs = 1}};
}

/* All streams together, in the order given (NULL: the file's). */
static void decode_streams(struct item *items, int threads, int batch, size_t pool, const int *order)
{
    struct engine *en = decode_open(&(struct engine_options){.model = "model",
                                                             .max_context = STREAM_CONTEXT,
                                                             .prefill_chunk = PREFILL_CHUNK,
                                                             .threads = threads,
                                                             .max_batch = batch,
                                                             .pool_bytes = pool});
    for (int i = 0; i < f.n; i++)
        items[i] = item_of(&f.s[i], decode_policy(en, f.s[i].policy));
    decode_all(en, items, f.n, order);
    engine_close(en);
}

/* What the model itself reads in the decode steps of a stream, mean over layers. The first new token comes
 * from the prompt. */
static double reads_of_model(const struct stream *s)
{
    long sum = 0;
    for (int step = 1; step < STREAM_NEW; step++)
        for (int l = 0; l < f.n_layers; l++) {
            int context = s->n + step;
            sum += f.window[l] && f.window[l] < context ? f.window[l] : context;
        }
    return (double)sum / f.n_layers;
}

static void check_stream(const struct stream *s, const struct item *it)
{
    int same = 0;
    while (same < it->n_ids && same < STREAM_NEW && it->ids[same] == s->ids[same])
        same++;
    if (same < STREAM_NEW)
        printf("%s, prompt of %d tokens: parts from the reference at token %d\n", s->policy, s->n, same);
    CHECK_INT(same, STREAM_NEW);
    CHECK_NEAR(it->kv.reads_full, s->reads_full, 1e-6);
    CHECK_NEAR(it->kv.reads_full, reads_of_model(s), 1e-6);
    CHECK_NEAR(it->kv.reads, s->reads, 1e-6);
    CHECK_NEAR(it->kv.key_elements, s->key_elements, 1e-3 * s->key_elements);
}

/* Of all streams as they are in `want`, decoded in another company. */
static void same_as(const struct item *want, struct item *have)
{
    for (int i = 0; i < f.n; i++) {
        if (!items_equal(&want[i], &have[i]) || want[i].kv.reads != have[i].kv.reads)
            printf("%s, prompt of %d tokens: differs in another company\n", f.s[i].policy, f.s[i].n);
        CHECK(items_equal(&want[i], &have[i]));
        CHECK_NEAR(have[i].kv.reads, want[i].kv.reads, 0);
        CHECK_NEAR(have[i].kv.aux_reads, want[i].kv.aux_reads, 0);
        CHECK_NEAR(have[i].kv.peak_tokens, want[i].kv.peak_tokens, 0);
    }
    items_release(have, f.n);
}

/* In the other order, a few at a time, on one thread; and where blocks run out. */
static void company(const struct item *want)
{
    static struct item have[MAX_STREAMS];
    int order[MAX_STREAMS];
    for (int i = 0; i < f.n; i++)
        order[i] = f.n - 1 - i;
    decode_streams(have, 1, 5, 0, order);
    same_as(want, have);
    if (check_small())
        return;
    decode_streams(have, 0, 16, (size_t)4 << 20, NULL);
    same_as(want, have);
}

/* Layers for policies that want to be told some. */
static const char *layers_for(const char *policy)
{
    static const char *const rows[][2] = {{"delta:", ",layers=3"},
                                          {"omnikv:", ",layers=3"},
                                          {"lessismore:", ",layers=3"},
                                          {"kascade:", ",anchors=3"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strncmp(policy, rows[i][0], strlen(rows[i][0])))
            return rows[i][1];
    return "";
}

static void generous(void)
{
    enum { EACH = 2 };
    static char own[LAW_POLICIES][LAW_SPEC];
    static struct item items[EACH * (LAW_POLICIES + 1)];
    int n = law_generous_specs(own);
    struct engine *en = decode_open(&(struct engine_options){
        .model = "model", .max_context = STREAM_CONTEXT, .prefill_chunk = PREFILL_CHUNK, .max_batch = 32});
    for (int i = 0; i <= n; i++) {
        char spec[2 * LAW_SPEC] = "full";
        if (i && !strncmp(own[i - 1], "dms:", 4))
            snprintf(spec, sizeof spec, "dms:gate=never.safetensors");
        else if (i)
            snprintf(spec, sizeof spec, "%s%s", own[i - 1], layers_for(own[i - 1]));
        struct policy *p = decode_policy(en, spec);
        for (int k = 0; k < EACH; k++)
            items[EACH * i + k] = item_of(&f.s[k], p);
    }
    decode_all(en, items, EACH * (n + 1), NULL);
    for (int i = EACH; i < EACH * (n + 1); i++) {
        const struct item *full = &items[i % EACH];
        if (!items_equal(&items[i], full))
            printf("%s differs from full\n", own[i / EACH - 1]);
        CHECK(items_equal(&items[i], full));
        CHECK_NEAR(items[i].kv.reads, full->kv.reads, 0);
        CHECK_NEAR(items[i].kv.reads, items[i].kv.reads_full, 0);
    }
    items_release(items, EACH * (n + 1));
    engine_close(en);
}

/* A long prompt and its completion, in a pool that has blocks for no more than what layers with windows keep,
 * decode as in a large one, by any chunk; and all blocks come back. */
static void frees_blocks(void)
{
    enum { PROMPT = 430, NEW = 80, CONTEXT = 512 };
    static int32_t ids[PROMPT];
    static struct item want, have;
    for (int i = 0; i < PROMPT; i++)
        ids[i] = (int32_t)(hash_mix64((uint64_t)i) % 300);
    for (int small = 0; small < 4; small++) {
        const struct engine_options o = {.model = "model",
                                         .max_context = CONTEXT,
                                         .prefill_chunk = small == 2 ? 256 : 128,
                                         .max_batch = 2};
        struct engine *en = decode_open(&o);
        size_t block = en->be->kv_block_bytes(en->cache.view.dtype, en->cache.view.head_dim);
        int64_t most = kvcache_most(&en->cache, kv_pages(CONTEXT)),
                all = (int64_t)en->cache.heads_per_seq * kv_pages(CONTEXT);
        CHECK(small == 2 || most < all);
        /* A plan left out the chunk of a prompt, which layers with windows hold, too. */
        struct engine_info said;
        struct engine_memory memory;
        struct err e = {0};
        CHECK_INT(engine_measure(&o, NULL, 0, &said, &memory, &e), 0);
        double planned = engine_full_tokens(&said, CONTEXT) + engine_chunk_tokens(&said, CONTEXT);
        CHECK_NEAR(planned * en->cache.heads_per_seq, (double)(most * KV_PAGE_TOKENS), 1e-6);
        en->options.pool_bytes = (size_t)(small ? most : 4 * all) * block;
        struct item *it = small ? &have : &want;
        *it = (struct item){
            .req = {.prompt = ids,
                    .n_prompt = PROMPT,
                    .max_new_tokens = NEW,
                    .ignore_eos = 1,
                    .end_token = -1,
                    .want_logprobs = 1,
                    .policy = decode_policy(en, small == 3 ? "tova:budget_tokens=64" : "full")}};
        decode_all(en, it, 1, NULL);
        CHECK_INT(it->n_ids, NEW);
        if (small && small < 3)
            CHECK(items_equal(it, &want));
        prompt_cache_clear(en, &e);
        CHECK_INT(en->cache.n_free, en->cache.n_blocks);
        if (small)
            items_release(it, 1);
        engine_close(en);
    }
    items_release(&want, 1);
}

int main(void)
{
    static struct item items[MAX_STREAMS];
    windows_open(&f);
    decode_streams(items, 2, MAX_STREAMS, 0, NULL);
    for (int i = 0; i < f.n && !decode_rounds(); i++)
        check_stream(&f.s[i], &items[i]);
    company(items);
    items_release(items, f.n);
    generous();
    frees_blocks();
    windows_release(&f);
    return check_done();
}
