/* What benchmarks ask of the engine: bytes read, compared with a count by hand; the operations of a step by
 * part; prompts whose prefill is shared while their pages are copied; and what a prompt takes. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine_impl.h"
#include "tests/check.h"
#include "tests/engine/decode.h"

enum { PROMPT = 600, STEPS = 4, LIMIT = 24 };

static int n_prompt(void)
{
    return check_small() ? 200 : PROMPT;
}

static struct request request(struct policy *p, const int32_t *prompt)
{
    struct request r = {.prompt = prompt,
                        .n_prompt = n_prompt(),
                        .policy = p,
                        .max_new_tokens = LIMIT,
                        .ignore_eos = 1,
                        .end_token = -1};
    return r;
}

static const int32_t *prompt(void)
{
    static int32_t ids[PROMPT];
    for (int i = 0; i < PROMPT; i++)
        ids[i] = (i * 37 + 11) % 400;
    return ids;
}

/* Two sequences under `spec`, after a few steps. */
static struct engine *decoding(const struct engine_options *o, const char *spec)
{
    struct engine *en = decode_open(o);
    struct request r = request(decode_policy(en, spec), prompt());
    const struct completion *c;
    struct err e = {0};
    int n = 0;
    CHECK_INT(engine_submit(en, &r, &e) || engine_submit(en, &r, &e), 0);
    for (int i = 0; i < STEPS && !e.code; i++)
        engine_step(en, &c, &n, &e);
    CHECK_STR(e.text, "");
    CHECK_INT(engine_pending(en), 2);
    return en;
}

/* The first token is the prefill's; step i of full attention then reads PROMPT + i tokens. */
static void test_bytes(void)
{
    struct engine *en = decoding(&(struct engine_options){0}, "full");
    struct err e = {0};
    double bytes = 0, tokens = 0;
    for (int i = 1; i <= STEPS; i++)
        tokens += n_prompt() + i;
    CHECK_INT(engine_read_bytes(en, &bytes, &e), 0);
    CHECK_NEAR(bytes, 2 * tokens * (double)engine_info(en)->kv_token_bytes, 0.5);
    /* tied embeddings: a step reads all weights */
    CHECK_INT(engine_info(en)->step_bytes, engine_info(en)->weight_bytes);
    engine_close(en);
}

/* Eight layers: 0 and 1 dense, 2 and 5 refresh, the others read what these chose. */
static void test_parts(void)
{
    static const int want[STEP_PARTS] = {[STEP_LINEAR] = 8 * 4,
                                         [STEP_HEAD] = 1,
                                         [STEP_ATTENTION_DENSE] = 2,
                                         [STEP_ATTENTION_REFRESH] = 2,
                                         [STEP_APPEND] = 8,
                                         [STEP_ATTENTION_SPARSE] = 4,
                                         [STEP_SELECTION] = 2 * 2,
                                         [STEP_SAMPLING] = 1,
                                         [STEP_OTHER] = 1 + 8 * 2 + 1 +
                                                        1 /* embedding; two norms a layer; norm, accounts */};
    struct engine *en = decoding(&(struct engine_options){0}, "delta:layers=2+5,k_pages=8,l_pages=2");
    struct err e = {0};
    struct step_times t;
    CHECK_INT(engine_time_step(en, &t, &e), 0);
    CHECK_STR(e.text, "");
    CHECK(t.whole > 0);
    for (int p = 0; p < STEP_PARTS; p++) {
        if (t.part[p].n_ops != want[p])
            fprintf(stderr, "%s:\n", step_part_name((enum step_part)p));
        CHECK_INT(t.part[p].n_ops, want[p]);
        CHECK(t.part[p].seconds > 0);
    }
    engine_close(en);
}

static void test_refused(void)
{
    struct engine *en = decode_open(&(struct engine_options){0});
    struct step_times t;
    struct err e = {0}, e2 = {0};
    CHECK(engine_time_step(en, &t, &e) < 0);
    CHECK_STR(e.text, "no sequence is decoding; submit some and step first");
    engine_close(en);
    en = decoding(&(struct engine_options){0}, "raas:budget_tokens=512");
    CHECK(engine_time_step(en, &t, &e2) < 0);
    CHECK(strstr(e2.text, "policy raas drops tokens"));
    engine_close(en);
}

static void decode_two(int share, struct item *it, struct engine_stats *st)
{
    struct engine *en = decode_open(&(struct engine_options){.share_prompts = share});
    for (int i = 0; i < 2; i++) {
        it[i] = (struct item){.req = request(decode_policy(en, "full"), prompt())};
        it[i].req.want_logprobs = 1;
    }
    decode_all(en, it, 2, NULL);
    engine_stats(en, st);
    engine_close(en);
}

/* With copied pages there are still the same bits and one prefill, and each sequence has its own pages. */
static void test_copied(void)
{
    struct item shared[2], copied[2];
    struct engine_stats a, b;
    decode_two(0, shared, &a);
    decode_two(1, copied, &b);
    for (int i = 0; i < 2; i++)
        CHECK(items_equal(&shared[i], &copied[i]));
    CHECK_INT(b.prefill_tokens, n_prompt());
    CHECK_INT(b.prefill_shared_tokens, n_prompt());
    CHECK(b.blocks_peak > 2 * a.blocks_peak);
    items_release(shared, 2);
    items_release(copied, 2);
}

/* A device that works asynchronously: what it was given takes until it is waited for. */
static const struct backend *behind;

static int slow_download(struct device *d, void *dst, const void *src, size_t bytes)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    return behind->download(d, dst, src, bytes);
}

/* What a prompt takes is known when its first token is. */
static void test_prompt_seconds(void)
{
    struct engine *en = decode_open(&(struct engine_options){0});
    struct backend slow = *en->be;
    struct item it = {.req = request(decode_policy(en, "full"), prompt())};
    struct engine_stats s;
    behind = en->be;
    slow.download = slow_download;
    en->be = &slow;
    it.req.n_prompt = 20; /* which take the CPU little */
    it.req.max_new_tokens = 1;
    decode_all(en, &it, 1, NULL);
    engine_stats(en, &s);
    CHECK(s.prefill_seconds >= 0.05);
    items_release(&it, 1);
    en->be = behind;
    engine_close(en);
}

int main(void)
{
    test_prompt_seconds();
    test_bytes();
    test_parts();
    test_refused();
    test_copied();
    return check_done();
}
