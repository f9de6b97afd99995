/* Limits of what the engine takes: a cache of just one sequence, very many policies in a batch, forced tokens
 * beyond the limit, weights that are not numbers, and weights at odd addresses. */
#include <sys/stat.h>
#include <unistd.h>

#include "evalcore/base/file.h"
#include "tests/check.h"
#include "tests/engine/decode.h"

static const int32_t words[] = {5, 9, 30, 31, 32, 40, 41, 42, 50, 51, 52, 60, 61, 62, 70, 71, 72, 80, 81, 82};
enum { N_WORDS = sizeof words / sizeof *words };

static struct item item_of(struct policy *p, int n_prompt, int steps)
{
    struct item it;
    memset(&it, 0, sizeof it);
    it.req = (struct request){.prompt = words,
                              .n_prompt = n_prompt,
                              .policy = p,
                              .max_new_tokens = steps,
                              .end_token = -1,
                              .ignore_eos = 1};
    return it;
}

/* ---- a request that is cancelled ends with the step that is under way, one that waits at once; the others
 * have the bits that they have alone, and its place and blocks are free */

static void cancelled_requests(void)
{
    struct engine *en = decode_open(&(struct engine_options){.max_batch = 2});
    const struct completion *done;
    struct err e = {0};
    struct item alone = item_of(decode_policy(en, "quest:k_pages=1"), 6, 60);
    int n, ended = 0, cut = -1;
    decode_all(en, &alone, 1, NULL);
    for (intptr_t i = 1; i <= 4; i++) { /* two run, two wait */
        struct request r = alone.req;
        r.prompt = words + (i == 2 ? 0 : i);
        r.user = (void *)i;
        r.max_new_tokens = i == 2 ? 60 : 2000;
        CHECK_INT(engine_submit(en, &r, &e), 0);
    }
    for (int step = 0; step < 10; step++)
        CHECK_INT(engine_step(en, &done, &n, &e), 0);
    CHECK_INT(engine_cancel(en, (void *)(intptr_t)9), 0);
    CHECK_INT(engine_cancel(en, (void *)(intptr_t)3), 1);
    CHECK_INT(engine_pending(en), 3);
    CHECK_INT(engine_cancel(en, (void *)(intptr_t)1), 0);
    for (int step = 0; step < 200 && ended < 2; step++) {
        CHECK_INT(engine_step(en, &done, &n, &e), 0);
        for (int i = 0; i < n; i++) {
            intptr_t who = (intptr_t)done[i].user;
            ended++;
            CHECK(who == 1 || who == 2);
            CHECK_INT(done[i].finish, who == 1 ? FINISHED_ERROR : FINISHED_LENGTH);
            if (who == 1)
                cut = step;
            else
                CHECK(done[i].n_ids == alone.n_ids &&
                      !memcmp(done[i].ids, alone.ids, (size_t)alone.n_ids * sizeof *alone.ids));
        }
        if (step == 1)
            CHECK_INT(engine_waiting(en), 0); /* the fourth has the place */
    }
    CHECK_INT(ended, 2);
    CHECK_INT(cut, 0);
    CHECK_INT(engine_cancel(en, (void *)(intptr_t)4), 0);
    for (int step = 0; step < 3; step++)
        CHECK_INT(engine_step(en, &done, &n, &e), 0);
    CHECK_INT(engine_pending(en), 0);
    struct item again = item_of(decode_policy(en, "quest:k_pages=1"), 6, 60);
    decode_all(en, &again, 1, NULL);
    CHECK(again.n_ids == alone.n_ids &&
          !memcmp(again.ids, alone.ids, (size_t)alone.n_ids * sizeof *alone.ids));
    items_release(&alone, 1);
    items_release(&again, 1);
    engine_close(en);
}

/* ---- a pool of exactly one sequence decodes to the context's end, whatever the policy holds ahead */

static void pool_of_one_sequence(void)
{
    static const char *const specs[] = {"full", "dms:cr=2", "raas:budget_tokens=4096"};
    struct engine *en = decode_open(&(struct engine_options){.max_context = 64});
    const struct engine_info *m = engine_info(en);
    struct engine_options o = {.max_context = 64, .max_batch = 2};
    o.pool_bytes = backend_find("cpu")->kv_block_bytes(DTYPE_F32, m->head_dim) *
                   (size_t)(m->n_layers * m->n_kv) * (size_t)kv_pages(64);
    engine_close(en);
    en = decode_open(&o);
    struct item it[6];
    for (int i = 0; i < 6; i++)
        it[i] = item_of(decode_policy(en, specs[i / 2]), N_WORDS, 1000);
    decode_all(en, it, 6, NULL);
    for (int i = 0; i < 6; i++)
        CHECK_INT(it[i].n_ids, 64 - N_WORDS);
    items_release(it, 6);
    engine_close(en);
}

/* A pool with a page less cannot hold it. The request is refused at once, and the message has the numbers. */
static void pool_too_small(void)
{
    struct err e = {0};
    struct engine *en = decode_open(
        &(struct engine_options){.max_context = 64,
                                 .max_batch = 1,
                                 .kv_dtype = KV_FP32,
                                 .pool_bytes = 63 * backend_find("cpu")->kv_block_bytes(DTYPE_F32, 64)});
    struct item it = item_of(decode_policy(en, "full"), N_WORDS, 1000);
    CHECK_INT(engine_submit(en, &it.req, &e), ERR_USAGE);
    CHECK(strstr(e.text, "a sequence of 64 tokens needs 64 KV blocks and the cache has 63") != NULL);
    engine_close(en);
}

/* ---- kascade's script takes 32 tokens off a context: of one that has no more, it read nothing */

static void tile_off_a_short_context(void)
{
    enum { SHORT = 12, LONG = 14 }; /* the last contexts are of 31 and 33 tokens */
    struct engine *en = decode_open(&(struct engine_options){.max_context = 64});
    struct item it[2];
    for (int i = 0; i < 2; i++)
        it[i] = item_of(decode_policy(en, "kascade:preset=script"), N_WORDS, i ? LONG : SHORT);
    decode_all(en, it, 2, NULL);
    CHECK_NEAR(it[0].kv.reads, it[0].kv.reads_full, 1e-9);
    CHECK_NEAR(it[1].kv.reads, it[1].kv.reads_full - 32 * 7 / 8.0, 1e-9); /* layer 0 of 8 is dense */
    items_release(it, 2);
    engine_close(en);
}

/* ---- engine_run: every completion comes once, and the first error ends it */

struct runs {
    int n, n_tokens, fail_at; /* fail_at: the call that returns an error, from 1; 0: none */
};

static int count_run(void *context, const struct completion *c, struct err *e)
{
    struct runs *r = context;
    r->n_tokens += c->n_ids;
    return ++r->n == r->fail_at ? err_set(e, ERR_FORMAT, "enough") : 0;
}

static void runs_lists(void)
{
    struct engine *en = decode_open(&(struct engine_options){.max_context = 64, .max_batch = 2});
    struct policy *full = decode_policy(en, "full");
    const struct completion *done = NULL;
    struct request r[3];
    struct runs all = {0}, stopped = {.fail_at = 2};
    struct err e = {0};
    for (int i = 0; i < 3; i++)
        r[i] = item_of(full, N_WORDS, i + 1).req;
    CHECK_INT(engine_run(en, r, 3, count_run, &all, &e), 0);
    CHECK_INT(all.n, 3);
    CHECK_INT(all.n_tokens, 6);
    CHECK_INT(engine_run(en, r, 2, NULL, NULL, &e), 0);
    CHECK_INT(engine_submit(en, &r[0], &e), 0);
    all = (struct runs){0};
    CHECK_INT(engine_run(en, NULL, 0, count_run, &all, &e), 0);
    CHECK_INT(all.n, 1);
    CHECK_INT(engine_run_one(en, &r[2], &done, &e), 0);
    CHECK_INT(done->n_ids, 3);
    CHECK_INT(engine_run(en, r, 3, count_run, &stopped, &e), ERR_FORMAT);
    CHECK_INT(stopped.n, 2);
    CHECK(!strcmp(e.text, "enough"));
    e = (struct err){0};
    CHECK_INT(engine_run(en, NULL, 0, NULL, NULL, &e), 0); /* the third */
    r[1].n_prompt = 0;
    CHECK_INT(engine_run(en, r, 2, NULL, NULL, &e), ERR_USAGE);
    CHECK_INT(engine_pending(en), 1);
    engine_close(en);
}

/* ---- one batch with more policy instances than any run file has had */

static void many_policies(void)
{
    enum { N = 150 };
    static struct item it[N], alone[2];
    struct engine *en = decode_open(&(struct engine_options){.max_batch = N, .max_context = 64});
    char spec[64];
    for (int i = 0; i < N; i++) {
        snprintf(spec, sizeof spec, "quest:k_pages=%d", i + 1);
        it[i] = item_of(decode_policy(en, spec), N_WORDS, 3);
        it[i].req.want_logprobs = 1;
    }
    alone[0] = it[0];
    alone[1] = it[N - 1];
    decode_all(en, it, N, NULL);
    decode_all(en, alone, 2, NULL);
    CHECK(items_equal(&it[0], &alone[0]) && items_equal(&it[N - 1], &alone[1]));
    for (int i = 0; i < N; i++)
        CHECK(it[i].n_ids == 3 && (i < 2 || items_equal(&it[i], &it[N - 1])));
    items_release(it, N);
    items_release(alone, 2);
    engine_close(en);
}

/* ---- requests that cannot be */

static void refusals(void)
{
    struct engine *en = decode_open(&(struct engine_options){.max_context = 64});
    struct policy *full = decode_policy(en, "full");
    static const struct {
        int n_prompt, n_forced, max_new, max_total;
        const char *words; /* of the refusal; NULL: it is taken */
    } rows[] = {
        {10, 6, 0, 15, "6 forced tokens after a prompt of 10 do not fit max_total_tokens 15"},
        {10, 5, 0, 15, NULL},
        {10, 5, 0, 0, NULL},
        {10, 0, 0, 0, "max_new_tokens is 0; at least 1 is needed"},
        {10, 0, 9, 10, "a prompt of 10 tokens leaves no room in max_total_tokens 10"},
        {0, 0, 9, 0, "the prompt is empty"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err e = {0};
        struct item it = item_of(full, rows[i].n_prompt, rows[i].max_new);
        it.req.max_total_tokens = rows[i].max_total;
        it.req.forced = rows[i].n_forced ? words + 10 : NULL;
        it.req.n_forced = rows[i].n_forced;
        if (rows[i].words) {
            CHECK_INT(engine_submit(en, &it.req, &e), ERR_USAGE);
            CHECK_STR(e.text, rows[i].words);
            continue;
        }
        decode_all(en, &it, 1, NULL);
        CHECK(it.n_ids == rows[i].n_forced && !memcmp(it.ids, words + 10, (size_t)it.n_ids * sizeof *it.ids));
        items_release(&it, 1);
    }
    engine_close(en);
}

/* ---- a tiny model's file, changed */

static void copy_model(const char *to, struct str *weights)
{
    struct err e = {0};
    struct str config = {0};
    char path[4200];
    snprintf(path, sizeof path, "%s/config.json", to);
    mkdir(to, 0777);
    CHECK_INT(file_read(SOURCE_DIR "/tests/engine/hf/qwen3/config.json", &config, &e), 0);
    CHECK_INT(file_read(SOURCE_DIR "/tests/engine/hf/qwen3/model.safetensors", weights, &e), 0);
    CHECK_INT(file_write_atomic(path, config.data, config.len, &e), 0);
    str_release(&config);
}

static void decode_model(const char *folder, const struct str *weights, struct item *it)
{
    struct err e = {0};
    char path[4200];
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    CHECK_INT(file_write_atomic(path, weights->data, weights->len, &e), 0);
    struct engine *en = decode_open(&(struct engine_options){.model = folder});
    *it = item_of(decode_policy(en, "full"), 4, 0);
    it->req.forced = words + 4;
    it->req.n_forced = 8;
    it->req.want_logprobs = 1;
    decode_all(en, it, 1, NULL);
    if (it->error) { /* engine_run() gives the sentence as an error, and no completion */
        const struct completion *none = NULL;
        CHECK_INT(engine_run_one(en, &it->req, &none, &e), ERR_DEVICE);
        CHECK(!none);
        CHECK_STR(e.text, it->error);
    }
    engine_close(en);
}

/* One value in the embedding of the fifth forced token is NaN, so all logits after it are NaN. */
static void no_number(const struct str *weights, const char *folder)
{
    struct str bad = {0};
    struct item it, good;
    uint64_t header;
    str_add(&bad, weights->data, weights->len);
    memcpy(&header, bad.data, sizeof header);
    const char *entry = strstr(bad.data + 8, "\"model.embed_tokens.weight\"");
    const char *offset = entry ? strstr(entry, "data_offsets\":[") : NULL;
    CHECK(offset != NULL);
    size_t row = offset ? (size_t)strtol(offset + 15, NULL, 10) + (size_t)words[8] * 64 * 2 : 0;
    memcpy(bad.data + 8 + header + row, "\xc0\x7f", 2);
    decode_model(folder, weights, &good);
    decode_model(folder, &bad, &it);
    CHECK_INT(good.finish, FINISHED_LENGTH);
    CHECK(!good.error);
    CHECK_INT(it.finish, FINISHED_ERROR);
    CHECK_INT(it.n_ids, 5);
    CHECK_INT(it.n_logprobs, 5);
    CHECK_STR(it.error, "the logits of token 6 of the completion are not finite");
    CHECK(!memcmp(it.logprobs, good.logprobs, 5 * sizeof *it.logprobs));
    items_release(&it, 1);
    items_release(&good, 1);
    str_release(&bad);
}

/* A header of odd length puts every bf16 value at an odd address. */
static void odd_addresses(const struct str *weights, const char *folder)
{
    struct str odd = {0};
    struct item even, it;
    uint64_t header;
    memcpy(&header, weights->data, sizeof header);
    size_t end = 8 + (size_t)header;
    header++;
    str_add(&odd, (const char *)&header, sizeof header);
    str_add(&odd, weights->data + 8, end - 8);
    str_add(&odd, " ", 1);
    str_add(&odd, weights->data + end, weights->len - end);
    decode_model(folder, weights, &even);
    decode_model(folder, &odd, &it);
    CHECK(header % 2 == 1 && even.n_logprobs == 8 && items_equal(&even, &it));
    items_release(&even, 1);
    items_release(&it, 1);
    str_release(&odd);
}

static void changed_weights(void)
{
    char folder[] = "requests_XXXXXX";
    struct err e = {0};
    struct str weights = {0};
    if (!mkdtemp(folder))
        exit(1);
    copy_model(folder, &weights);
    no_number(&weights, folder);
    odd_addresses(&weights, folder);
    str_release(&weights);
    CHECK_INT(file_remove_tree(folder, &e), 0);
}

static void pieces_of_prompts(void)
{
    static const int none[] = {100, -128, 4096};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        struct engine *en;
        struct err e = {0};
        char want[100];
        snprintf(want, sizeof want, "prefill_chunk is %d; multiples of 128 up to 2048 are possible", none[i]);
        CHECK_INT(engine_open(&en, &(struct engine_options){.prefill_chunk = none[i]}, &e), ERR_USAGE);
        CHECK_STR(e.text, want);
    }
}

int main(void)
{
    pool_of_one_sequence();
    cancelled_requests();
    pool_too_small();
    tile_off_a_short_context();
    runs_lists();
    many_policies();
    refusals();
    pieces_of_prompts();
    changed_weights();
    return check_done();
}
