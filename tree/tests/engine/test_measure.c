/* What engine_measure() says without reading weights is what an open engine has. That damaged folders are
 * found is in tests/cli/model_folder.sh. */
#include <stdio.h>

#include "engine/engine.h"
#include "tests/check.h"

static void same(const char *model)
{
    static const char *const policies[] = {"full", "quest:k_pages=4", "raas:budget_tokens=64"};
    struct engine_options o = {.model = model, .max_batch = 3, .max_context = 512};
    struct policy_spec spec[3];
    const struct policy_spec *specs[3];
    struct engine_info said;
    struct engine_memory full, all;
    struct engine *en = NULL;
    struct arena a = {0};
    struct err e = {0};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(policy_spec_text(&spec[i], policies[i], &a, &e), 0);
        specs[i] = &spec[i];
    }
    CHECK_INT(engine_measure(&o, specs, 1, &said, &full, &e), 0);
    CHECK_INT(engine_measure(&o, specs, 3, &said, &all, &e), 0);
    CHECK(full.weights == all.weights && full.weights >= said.weight_bytes);
    CHECK(full.scratch > 0 && full.scratch < all.scratch); /* selections and RaaS's stamps */
    CHECK(!full.bounds_token_bytes && all.bounds_token_bytes > 0);
    CHECK_INT(engine_open(&en, &o, &e), 0);
    CHECK_INT(engine_reserve(en, 1, &e), 0);
    CHECK_STR(e.text, "");
    const struct engine_info *is = engine_info(en);
    CHECK(said.weight_bytes == is->weight_bytes && said.step_bytes == is->step_bytes);
    CHECK(said.kv_token_bytes == is->kv_token_bytes && said.layer_values == is->layer_values);
    CHECK(said.max_batch == is->max_batch && said.max_context == is->max_context);
    CHECK(all.pool == is->pool_bytes);
    engine_close(en);
    arena_release(&a);
}

static double scratch(const char *const *policies, int n)
{
    struct engine_options o = {.model = "pocket", .max_batch = 3, .max_context = 512};
    struct policy_spec spec[2];
    const struct policy_spec *specs[2];
    struct engine_info said;
    struct engine_memory m;
    struct arena a = {0};
    struct err e = {0};
    for (int i = 0; i < n; i++) {
        CHECK_INT(policy_spec_text(&spec[i], policies[i], &a, &e), 0);
        specs[i] = &spec[i];
    }
    CHECK_INT(engine_measure(&o, specs, n, &said, &m, &e), 0);
    arena_release(&a);
    return (double)m.scratch;
}

/* Statistics of pages take a value for each 16 of those of tokens, and both forms one for each query head. */
static void statistics(void)
{
    static const char *const delta[] = {"delta:k_pages=9", "delta:k_pages=9,head_reduce=sum",
                                        "delta:k_tokens=99,head_reduce=sum",
                                        "delta:mass=0.9,head_reduce=mean", "oracle:ratio=0.1,unit=pages"};
    double both = scratch(delta, 2), by_token = both - scratch(delta + 1, 1),
           by_page = both - scratch(delta, 1);
    CHECK(by_page > 0);
    CHECK_NEAR(by_token / (512 + 1), by_page / (512 / 16 + 1), 1);
    CHECK_NEAR(scratch(delta + 2, 1), scratch(delta, 1), 0);
    CHECK_NEAR(scratch(delta + 3, 1), scratch(delta + 1, 1), 0);
    CHECK_NEAR(scratch(delta + 4, 1), scratch(delta + 1, 1), 0);
}

int main(void)
{
    static const char *const folders[] = {"qwen3", "llama31", "qwen2_yarn"};
    char model[4096];
    same("pocket");
    for (int i = 0; i < 3; i++) {
        snprintf(model, sizeof model, "%s/tests/engine/hf/%s", SOURCE_DIR, folders[i]);
        same(model);
    }
    statistics();
    struct engine_device d;
    struct err e = {0};
    CHECK_INT(engine_device_memory(NULL, 0, &d, &e), 0);
    CHECK(d.free_bytes > 0 && d.free_bytes <= d.total_bytes);
    return check_done();
}
