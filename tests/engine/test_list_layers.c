/* In how many layers at once policies forget changes neither completions nor counts: not in one, nor where
 * the layers do not divide into such groups, beside policies that forget otherwise, or with tokens that have
 * to wait for room. */
#include <string.h>

#include "engine/engine_impl.h"
#include "tests/check.h"
#include "tests/engine/laws.h"

static const char *const specs[] = {
    "random:budget_tokens=40,recent=16,every=16",
    "random:cr=4,recent=16,every=16,draw=shared",
    "rkv:budget_tokens=40,every=16",
    "snapkv:budget_tokens=40,window=16,every=16,when=decode",
    "snapkv:budget_tokens=100,window=16",
    "h2o:budget_tokens=60",
    "tova:budget_tokens=60",
    "full",
};
enum { SPECS = sizeof specs / sizeof *specs, EACH = 2, ALL = SPECS * EACH, STEPS = 60 };

/* Requests that are decoded: those of all policies. */
static int n_requests(void)
{
    return check_small() ? SPECS : ALL;
}

/* Two rounds of those that forget every 16 tokens. */
static int n_steps(void)
{
    return check_small() ? 34 : STEPS;
}

/* layers: 0 for as many as the engine takes. Returns how many it was. */
static int decode(struct item *items, int layers, int batch, size_t pool)
{
    struct engine *en = decode_open(&(struct engine_options){.max_batch = batch, .pool_bytes = pool});
    struct transformer *t = &en->tf;
    const struct model_config *f = &t->model->config;
    if (layers) { /* before the first policy has buffers */
        t->list_layers = layers;
        t->lists = f->n_q > layers * f->n_kv ? f->n_q : layers * f->n_kv;
    }
    laws_open(en);
    for (int i = 0; i < n_requests(); i++) {
        items[i] = law_item(decode_policy(en, specs[i % SPECS]), i / SPECS, n_steps());
        items[i].req.ignore_eos = 1;
    }
    decode_all(en, items, n_requests(), NULL);
    int taken = t->list_layers;
    CHECK(f->n_layers % 3 && f->n_layers % 5); /* groups of 3 and 5 leave a smaller one */
    engine_close(en);
    laws_close();
    return taken;
}

int main(void)
{
    static const struct {
        int layers, batch;
        size_t pool;
    } rows[] = {{1, 16, 0}, {3, 16, 0}, {5, 3, 0}, {3, 16, (size_t)4 << 20}};
    static struct item want[ALL], have[ALL];
    CHECK_INT(decode(want, 0, 16, 0), 4);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r += check_small() ? 3 : 1) {
        memset(have, 0, sizeof have);
        decode(have, rows[r].layers, rows[r].batch, rows[r].pool);
        for (int i = 0; i < n_requests(); i++) {
            CHECK(items_equal(&want[i], &have[i]));
            CHECK_INT(have[i].kv.reads, want[i].kv.reads);
            CHECK_INT(have[i].kv.aux_reads, want[i].kv.aux_reads);
            CHECK_INT(have[i].kv.peak_tokens, want[i].kv.peak_tokens);
        }
        items_release(have, n_requests());
    }
    items_release(want, n_requests());
    return check_done();
}
