/* Sending a step before the host has seen the tokens of the step before (engine/loop.c) changes nothing:
 * tokens, reads, peaks and the reason to end are those of an engine that looks at each token first. A stop
 * string forces an engine to look, so each request is compared with itself under a stop string that never
 * occurs. */
#include "engine/engine_impl.h"
#include "tests/check.h"
#include "tests/engine/laws.h"

enum { N = 7, STEPS = 36, PROMPT = 50 };

static const char *const specs[] = {"full",
                                    "quest:k_pages=2",
                                    "dms:cr=4",
                                    "raas:budget_tokens=64",
                                    "delta:k_pages=4,l_pages=2",
                                    "kascade:ratio=0.2",
                                    "full"};
static const char *const never[] = {"\x01"};

static struct item item_of(struct engine *en, int i)
{
    struct item it = law_item(decode_policy(en, specs[i % N]), i % LAW_LONGEST, STEPS);
    it.req.n_prompt = PROMPT + i; /* short: decoding is what counts here */
    it.req.ignore_eos = 1;
    it.req.sampling = (struct sampling){.temperature = 0.9, .seed = 5, .problem = 3, .sample = (uint32_t)i};
    return it;
}

static int same(const struct item *a, const struct item *b)
{
    return items_equal(a, b) && a->n_logprobs == b->n_logprobs && a->kv.reads == b->kv.reads &&
           a->kv.reads_full == b->kv.reads_full && a->kv.aux_reads == b->kv.aux_reads &&
           a->kv.peak_tokens == b->kv.peak_tokens && a->kv.prefill_peak_tokens == b->kv.prefill_peak_tokens &&
           a->n_text == b->n_text && !memcmp(a->text, b->text, a->n_text);
}

static uint64_t steps_ahead(const struct engine *en)
{
    struct engine_stats s;
    engine_stats(en, &s);
    return s.decode_steps_ahead;
}

/* Decodes the items, and into `want` the same items by an engine that looks at each token. Returns how many
 * steps were sent ahead for the former. */
static uint64_t decode_both(struct engine *en, struct item *it, struct item *want, int n)
{
    uint64_t before = steps_ahead(en);
    int looks = 0;
    for (int i = 0; i < n; i++) {
        want[i] = it[i];
        want[i].req.stop = never;
        want[i].req.n_stop = 1;
        looks |=
            !it[i].req.min_new_tokens; /* before min_new_tokens no stop string counts, so it need not look */
    }
    decode_all(en, want, n, NULL);
    CHECK(!looks || steps_ahead(en) == before);
    before = steps_ahead(en);
    decode_all(en, it, n, NULL);
    return steps_ahead(en) - before;
}

/* ---- where sequences end */

/* Makes the first token from `at` on that has not occurred before the end token of the item. Returns how many
 * tokens the completion then has, or -1. */
static int end_at(struct item *it, const struct item *whole, int at)
{
    for (int i = at; i < whole->n_ids; i++) {
        int first = 1;
        for (int j = 0; j < i; j++)
            first &= whole->ids[j] != whole->ids[i];
        if (!first)
            continue;
        it->req.ignore_eos = 0;
        it->req.end_token = whole->ids[i];
        return i;
    }
    return -1;
}

static void end_tokens(struct item *it, const struct item *whole, int n)
{
    for (int i = 0; i < n; i++)
        end_at(&it[i], &whole[i], 3 + 5 * i);
}

static void end_token_alone(struct item *it, const struct item *whole, int n)
{
    (void)n;
    CHECK(end_at(it, whole, 20) >= 20);
}

/* The same completion n times, so that all end in one step. */
static void end_together(struct item *it, const struct item *whole, int n)
{
    int end = end_at(it, whole, 18);
    CHECK(end >= 18);
    for (int i = 1; i < n; i++)
        it[i] = it[0];
}

static void lengths(struct item *it, const struct item *whole, int n)
{
    (void)whole;
    static const int most[N] = {1, 2, 3, 16, 17, 18, 35};
    for (int i = 0; i < n; i++)
        it[i].req.max_new_tokens = most[i];
}

static void least_lengths(struct item *it, const struct item *whole, int n)
{
    for (int i = 0; i < n; i++) {
        end_at(&it[i], &whole[i], 2 + i);
        it[i].req.min_new_tokens = 1 + 4 * i;
    }
}

/* Beside ordinary requests, some have their tokens forced: one all of them, the others only one. */
static void forced(struct item *it, const struct item *whole, int n)
{
    end_tokens(it, whole, n);
    for (int i = 1; i < n; i += 3) {
        it[i].req.forced = whole[n - 1].ids;
        it[i].req.n_forced = i == 1 ? STEPS : 1;
    }
}

static const struct {
    const char *name;
    void (*shape)(struct item *, const struct item *whole, int n);
    int n, max_batch, all_look; /* all_look: nothing can be sent ahead */
} rows[] = {
    {"end tokens in the middle of a batch", end_tokens, N, N, 0},
    {"more requests than places", end_tokens, N, 3, 0},
    {"one place for all", end_tokens, N, 1, 0},
    {"one sequence", end_token_alone, 1, 4, 0},
    {"all end in the same step", end_together, 5, 5, 0},
    {"the last tokens", lengths, N, N, 0},
    {"the last tokens, few places", lengths, N, 2, 0},
    {"nothing beyond the first two tokens", lengths, 2, 2, 1},
    {"least lengths", least_lengths, N, N, 0},
    {"forced tokens", forced, N, N, 0},
};

static void endings(void)
{
    struct item whole[N], it[N], want[N];
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        struct engine *en =
            decode_open(&(struct engine_options){.threads = 1, .max_batch = rows[r].max_batch});
        int n = rows[r].n, stops = 0, bad = 0;
        for (int i = 0; i < n; i++)
            whole[i] = it[i] = item_of(en, i);
        decode_all(en, whole, n, NULL);
        rows[r].shape(it, whole, n);
        uint64_t ahead = decode_both(en, it, want, n);
        for (int i = 0; i < n; i++) {
            if (!same(&it[i], &want[i]) && ++bad)
                printf("%s: request %d under %s differs\n", rows[r].name, i, specs[i]);
            stops += it[i].finish == FINISHED_STOP;
        }
        CHECK_INT(bad, 0);
        CHECK_INT(ahead > 0, !rows[r].all_look);
        CHECK_INT(stops > 0, rows[r].shape != lengths);
        CHECK_INT(engine_pending(en), 0);
        items_release(whole, n);
        items_release(it, n);
        items_release(want, n);
        engine_close(en);
    }
}

/* ---- requests that come while a step is in flight; pages that run out */

/* Does one step and compares what it hands out. */
static int step(struct engine *en, struct item *it, const struct item *want, int *done, struct err *e)
{
    const struct completion *c;
    int n = 0, rc = engine_step(en, &c, &n, e);
    for (int k = 0; k < n; k++) {
        long i = (const struct item *)c[k].user - it;
        CHECK(c[k].n_ids == want[i].n_ids && c[k].kv.reads == want[i].kv.reads &&
              c[k].kv.peak_tokens == want[i].kv.peak_tokens && c[k].finish == want[i].finish &&
              !memcmp(c[k].ids, want[i].ids, (size_t)c[k].n_ids * sizeof *c[k].ids));
        ++*done;
    }
    return rc;
}

static void latecomers(void)
{
    struct engine *en = decode_open(&(struct engine_options){.threads = 1, .max_batch = N});
    struct item it[N], want[N], whole[N];
    struct err e = {0};
    int done = 0;
    for (int i = 0; i < N; i++)
        whole[i] = it[i] = item_of(en, i);
    decode_all(en, whole, N, NULL);
    end_tokens(it, whole, N);
    memcpy(want, it, sizeof it);
    decode_all(en, want, N, NULL);
    uint64_t before = steps_ahead(en);
    for (int i = 0; i < N; i++) {
        it[i].req.user = &it[i];
        CHECK_INT(engine_submit(en, &it[i].req, &e), 0);
        for (int k = 0; k < 1 + i; k++)
            CHECK_INT(step(en, it, want, &done, &e), 0);
        CHECK(en->batch.begun - en->batch.taken == 1);
    }
    while (engine_pending(en) && !step(en, it, want, &done, &e))
        ;
    CHECK_INT(done, N);
    CHECK(steps_ahead(en) > before);
    /* when no sequence is left, no step may count as in flight, and a new policy can still get page bounds */
    CHECK_INT(en->batch.begun, en->batch.taken);
    items_release(whole, N);
    items_release(want, N);
    engine_close(en);
}

/* Two prompts fit into the cache but not two completions, so sequences are preempted. It must not show. */
static void pages_run_out(void)
{
    enum { M = 4 };
    struct item it[M], want[M];
    struct engine *en = decode_open(&(struct engine_options){.threads = 1, .max_batch = M});
    struct engine_stats s;
    const struct engine_info *m = engine_info(en);
    size_t page =
        backend_find("cpu")->kv_block_bytes(DTYPE_F32, m->head_dim) * (size_t)(m->n_layers * m->n_kv);
    for (int i = 0; i < M; i++)
        want[i] = item_of(en, i);
    decode_all(en, want, M, NULL);
    engine_close(en);
    en = decode_open(
        &(struct engine_options){.threads = 1,
                                 .max_batch = M,
                                 .kv_dtype = decode_rounds() ? KV_DEFAULT : KV_FP32,
                                 .pool_bytes = page * (size_t)(kv_pages(PROMPT + M + STEPS) + 3)});
    for (int i = 0; i < M; i++)
        it[i] = item_of(en, i);
    decode_all(en, it, M, NULL);
    engine_stats(en, &s);
    for (int i = 0; i < M; i++)
        CHECK(same(&it[i], &want[i]));
    CHECK(decode_rounds() || s.preemptions > 0);
    CHECK(s.decode_steps_ahead > 0);
    items_release(it, M);
    items_release(want, M);
    engine_close(en);
}

/* ---- the device fails */

enum failing { STEP, BEGIN, WAIT, AT_A_STEP, CAPTURE = AT_A_STEP, JOIN };
static struct {
    const struct backend *whole;
    enum failing what;
    int left; /* calls that still succeed */
    int capturing;
} broken;

static int fails(enum failing what)
{
    return broken.what == what && broken.left-- <= 0;
}

static int replay(struct device *d, struct op_graph *p)
{
    return fails(STEP) ? BACKEND_ERR_DEVICE : broken.whole->replay(d, p);
}

/* A step that is not replayed is its operations, of which OP_account comes once. */
static int launch(struct device *d, enum op op, const void *args)
{
    int at_step = op == OP_account && !broken.capturing;
    return at_step && fails(STEP) ? BACKEND_ERR_DEVICE : broken.whole->launch(d, op, args);
}

static int capture_begin(struct device *d)
{
    broken.capturing = 1;
    return broken.whole->capture_begin(d);
}

static int capture_end(struct device *d, struct op_graph **out)
{
    broken.capturing = 0;
    int rc = broken.whole->capture_end(d, out);
    if (!fails(CAPTURE))
        return rc;
    if (rc == 0)
        broken.whole->graph_release(d, *out);
    *out = NULL;
    return BACKEND_ERR_DEVICE;
}

static int join(struct device *d)
{
    int rc = broken.whole->join(d);
    return fails(JOIN) ? BACKEND_ERR_DEVICE : rc;
}

static int begin(struct device *d, int slot, const void *src, size_t bytes)
{
    return fails(BEGIN) ? BACKEND_ERR_DEVICE : broken.whole->download_begin(d, slot, src, bytes);
}

static int wait(struct device *d, int slot, void *dst, size_t bytes)
{
    return fails(WAIT) ? BACKEND_ERR_DEVICE : broken.whole->download_wait(d, slot, dst, bytes);
}

static const char *last_error(struct device *d)
{
    (void)d;
    return "the device has gone";
}

/* Step `at` (from 0) fails, or for CAPTURE the step that is recorded first, for JOIN the first. Completions
 * that ended in an earlier step must be handed out whole. After that every call must return the failure. */
static void fail_at(enum failing what, int at, const struct item *shape, const struct item *want, int n)
{
    struct engine *en = decode_open(&(struct engine_options){.threads = 1, .max_batch = n});
    struct backend table = *en->be;
    struct item it[N];
    struct err e = {0};
    int done = 0, ended = 0;
    broken.whole = en->be;
    broken.what = what;
    broken.left = what < AT_A_STEP ? at : 0;
    table.replay = replay;
    table.launch = launch;
    table.capture_begin = capture_begin;
    table.capture_end = capture_end;
    table.join = join;
    table.download_begin = begin;
    table.download_wait = wait;
    table.last_error = last_error;
    en->be = en->tf.be = &table;
    for (int i = 0; i < n; i++) {
        it[i] = shape[i];
        it[i].req.policy = decode_policy(en, specs[i]);
        it[i].req.user = &it[i];
        CHECK_INT(engine_submit(en, &it[i].req, &e), 0);
        ended += want[i].n_logprobs <= at + 1; /* its first token came from the prompt */
    }
    while (engine_pending(en) && !step(en, it, want, &done, &e))
        ;
    CHECK_INT(e.code, ERR_DEVICE);
    memset(&e, 0, sizeof e);
    CHECK_INT(step(en, it, want, &done, &e), ERR_DEVICE);
    CHECK(!strcmp(e.text, "decode step: the device has gone") ||
          !strcmp(e.text, "decode step: account: the device has gone") ||
          (what == JOIN && !strcmp(e.text, "decode step: joining branches: the device has gone")) ||
          (what == CAPTURE && !strcmp(e.text, "capturing a step: the device has gone")));
    CHECK_INT(done, ended);
    CHECK_INT(engine_pending(en), n - ended);
    engine_close(en);
}

static void failures(void)
{
    enum { M = 3 };
    struct engine *en = decode_open(&(struct engine_options){.threads = 1, .max_batch = M});
    struct item whole[M], it[M], want[M];
    for (int i = 0; i < M; i++)
        whole[i] = it[i] = item_of(en, i);
    decode_all(en, whole, M, NULL);
    it[0].req.max_new_tokens = 13;
    CHECK_INT(end_at(&it[1], &whole[1], 15) > 0, 1);
    memcpy(want, it, sizeof it);
    decode_all(en, want, M, NULL);
    /* Launched steps, the first that is replayed, some that are sent ahead, and those around each end. */
    static const int launched[] = {0, 1, 7, 8, 9, 10, 11, 12, 13};
    for (size_t i = 0; i < sizeof launched / sizeof *launched; i += check_small() ? 3 : 1)
        for (int what = STEP; what < AT_A_STEP; what++)
            fail_at((enum failing)what, launched[i], it, want, M);
    for (int at = want[1].n_logprobs - 2; at < want[1].n_logprobs + 2; at += check_small() ? 2 : 1)
        for (int what = STEP; what < AT_A_STEP; what++)
            fail_at((enum failing)what, at, it, want, M);
    fail_at(CAPTURE, 8, it, want, M);
    fail_at(JOIN, 0, it, want, M);
    items_release(whole, M);
    items_release(want, M);
    engine_close(en);
}

int main(void)
{
    struct engine *en = decode_open(&(struct engine_options){.threads = 1});
    laws_open(en);
    endings();
    latecomers();
    pages_run_out();
    failures();
    laws_close();
    engine_close(en);
    return check_done();
}
