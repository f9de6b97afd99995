/* How K and V share the memory of a device with all else. The device is the CPU, with a function in its table
 * of operations that reports as much free memory as a test wants. */
#include <string.h>

#include "engine/engine_impl.h"
#include "tests/check.h"
#include "tests/engine/decode.h"

enum { CONTEXT = 256, BATCH = 64 };
#define MARGIN ((size_t)3 << 30)

static size_t left; /* free bytes that the device reports */
static struct backend told;

static size_t say_left(struct device *d)
{
    (void)d;
    return left;
}

static struct engine *open_told(void)
{
    struct engine *en = decode_open(&(struct engine_options){.max_context = CONTEXT, .max_batch = BATCH});
    told = *en->be;
    told.free_bytes = say_left;
    en->be = &told;
    return en;
}

static size_t pool_of(size_t bytes, double share, const char *policy)
{
    struct engine *en = open_told();
    struct err e = {0};
    if (policy)
        decode_policy(en, policy);
    CHECK_INT(engine_info(en)->pool_bytes, 0);
    left = bytes;
    CHECK_INT(engine_reserve(en, share, &e), 0);
    CHECK_INT(engine_reserve(en, 1, &e), 0); /* a second call changes nothing */
    size_t pool = engine_info(en)->pool_bytes;
    CHECK_INT((en->cache.view.bounds != NULL), policy && !strncmp(policy, "quest", 5));
    engine_close(en);
    return pool;
}

static void shares(size_t of_one, size_t unit)
{
    size_t all = (BATCH + 1) * of_one;
    CHECK_INT(pool_of(MARGIN + 2 * all, 1, NULL), all);
    CHECK_INT(pool_of(MARGIN + all / 2, 1, NULL), all / 2 / unit * unit);
    CHECK_NEAR((double)pool_of(MARGIN + all, 0.5, "full"), (double)all / 2, (double)unit);
    size_t with = pool_of(MARGIN + all / 2, 1, "quest:k_pages=4");
    CHECK(with < all / 2 && with > all / 4); /* page bounds come out of the same memory */
}

static void too_little(size_t of_one)
{
    struct engine *en = open_told();
    struct err e = {0};
    int32_t prompt[2] = {5, 9};
    struct request r = {.prompt = prompt, .n_prompt = 2, .max_new_tokens = 4, .end_token = -1};
    r.policy = decode_policy(en, "full");
    left = MARGIN + of_one / 2;
    CHECK_INT(engine_submit(en, &r, &e), ERR_DEVICE);
    CHECK(strstr(e.text, "those of one sequence of 256 tokens take") &&
          strstr(e.text, "use a smaller --max-batch"));
    e = (struct err){0};
    left = MARGIN / 2;
    CHECK_INT(engine_submit(en, &r, &e), ERR_DEVICE);
    e = (struct err){0};
    left = MARGIN + 2 * of_one; /* another program has freed memory */
    CHECK_INT(engine_submit(en, &r, &e), 0);
    CHECK_INT(engine_info(en)->pool_bytes, 2 * of_one);
    engine_close(en);
}

/* Page bounds are added to a pool that exists. */
static void late_policy(void)
{
    struct engine *en = open_told();
    struct err e = {0};
    left = 0; /* as on a CPU */
    CHECK_INT(engine_reserve(en, 1, &e), 0);
    CHECK(en->cache.view.bounds == NULL);
    decode_policy(en, "quest:k_pages=4");
    CHECK(en->cache.view.bounds != NULL);
    engine_close(en);
}

/* The state of a sequence is small: the scratch of a prefill exists once, not per sequence. */
static void state_of_dms(void)
{
    struct engine *en = open_told();
    struct policy *p = decode_policy(en, "dms:cr=4");
    size_t until = (size_t)en->info.n_layers * (size_t)en->info.n_kv * CONTEXT * sizeof(int32_t);
    CHECK(p->state_bytes > 0 && p->state_bytes < until);
    engine_close(en);
}

/* A run of more than 256 settings was refused; only memory limits their number. */
static void many_policies(void)
{
    enum { MANY = 300 };
    struct engine *en = open_told();
    struct policy *last = NULL;
    char text[40];
    for (int i = 1; i <= MANY; i++) {
        snprintf(text, sizeof text, "quest:k_pages=%d", i);
        last = decode_policy(en, text);
    }
    CHECK(last && last->id == MANY - 1);
    CHECK(decode_policy(en, "quest:k_pages=7")->id == 6 && decode_policy(en, text) == last);
    engine_close(en);
}

int main(void)
{
    struct engine *en = open_told();
    size_t of_one = engine_info(en)->kv_token_bytes * CONTEXT;
    size_t unit = en->be->kv_block_bytes(en->cache.view.dtype, engine_info(en)->head_dim);
    engine_close(en);
    shares(of_one, unit);
    too_little(of_one);
    late_policy();
    state_of_dms();
    many_policies();
    return check_done();
}
