/* The measurements against NumPy's (engine/pocket/recipe/reference_calibration.py), for one text: the
 * similarity of Kascade's layers, the distance and recall of DELTA's, and the recall of policies. Of the
 * model with windows and sinks they are those of the layers with full attention. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/json.h"
#include "evalcore/calibration/calibration.h"
#include "tests/check.h"

#define ORACLE "oracle:budget_tokens=3,pool=all,dense_layers=0"

static struct dev_set one_text(const json_t *want, struct dev_problem *p)
{
    const json_t *ids = json_object_get(want, "ids");
    *p = (struct dev_problem){.task = "relay", .n = (int)json_array_size(ids)};
    p->n_prompt = (int)json_integer_value(json_object_get(want, "prompt_len"));
    p->ids = xmalloc((size_t)p->n * sizeof *p->ids);
    for (int i = 0; i < p->n; i++)
        p->ids[i] = (int32_t)json_integer_value(json_array_get(ids, (size_t)i));
    return (struct dev_set){.problems = p, .n = 1, .tokens = p->n - p->n_prompt};
}

/* Both in fp32: sums in another order. */
static void check_same(const json_t *want, const double *have, int n, const char *what)
{
    double worst = 0;
    CHECK_INT(json_array_size(want), n);
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(json_number_value(json_array_get(want, (size_t)i)) - have[i]));
    printf("%s: within %.1e\n", what, worst);
    CHECK_NEAR(worst, 0, 1e-5);
}

static void same_matrix(const json_t *want, const struct layer_measure *m, const char *what)
{
    CHECK_INT(json_array_size(want), m->n_layers);
    for (int a = 0; a < m->n_layers; a++)
        check_same(json_array_get(want, (size_t)a), m->similarity + a * m->n_layers, m->n_layers, what);
}

static void check_recalls(const json_t *want, struct engine *en, const struct dev_set *d)
{
    const struct engine_info *info = engine_info(en);
    const char *text;
    json_t *v;
    int n = 0;
    json_object_foreach((json_t *)want, text, v)
    {
        struct policy_spec spec;
        struct arena a = {0};
        struct err e = {0};
        double by_layer[64];
        CHECK_INT(policy_spec_text(&spec, text, &a, &e), 0);
        CHECK_INT(measure_recall(by_layer, en, d, &spec, &e), 0);
        int n_full = 0;
        for (int l = 0; l < info->n_layers; l++)
            if (!info->window[l])
                by_layer[n_full++] = by_layer[l];
        check_same(v, by_layer, n_full, text);
        double sum = 0;
        for (int l = 0; l < n_full; l++)
            sum += by_layer[l];
        CHECK(sum > 0.5 * n_full && sum < n_full - 0.1);
        arena_release(&a);
        n++;
    }
    CHECK(n >= 3);
}

/* The same text under two tasks, one of them twice: three curves that are the one of the text. */
static void curves_by_task(const json_t *want, struct engine *en, const struct dev_problem *p)
{
    struct dev_problem three[] = {*p, *p, *p};
    struct dev_set d = {.problems = three, .n = 3, .tokens = 3 * (p->n - p->n_prompt)};
    struct layer_measure m;
    struct err e = {0};
    three[0].task = three[2].task = "first";
    three[1].task = "second";
    CHECK_INT(measure_delta(&m, en, &d, 4, 2, &e), 0);
    check_same(want, m.curve, m.n_layers, "distance over all");
    CHECK_INT(m.n_tasks, 2);
    for (int i = 0; i < m.n_tasks; i++) {
        CHECK_STR(m.by_task[i].task, i ? "second" : "first");
        check_same(want, m.by_task[i].curve, m.n_layers, "distance by task");
    }
    layer_measure_release(&m);
}

/* The best keys of the heads' mean hold what the oracle reads that pools all heads; and each head's own hold
 * more. */
static void best_keys(struct engine *en, const struct dev_set *d)
{
    enum { KEYS = 3 };
    struct keys_measure m;
    struct policy_spec spec;
    struct arena a = {0};
    struct err e = {0};
    double recall[64];
    CHECK_INT(measure_keys(&m, en, d, KEYS, &e), 0);
    CHECK_INT(policy_spec_text(&spec, ORACLE, &a, &e), 0);
    CHECK_INT(measure_recall(recall, en, d, &spec, &e), 0);
    CHECK_STR(e.text, "");
    for (int l = 0; l < m.n_layers; l++) {
        double mean = 0;
        for (int h = 0; h < m.n_q; h++)
            mean += m.share[l * m.n_q + h] / m.n_q;
        /* behind layer 0 the policy that reads so little chooses by another residual stream */
        CHECK(l ? m.pooled[l] >= recall[l] - 1e-6 : fabs(m.pooled[l] - recall[l]) < 1e-6);
        CHECK(mean >= m.pooled[l] - 1e-9);
        CHECK_NEAR(m.similarity[l * m.n_layers + l], 1, 1e-12);
    }
    keys_measure_release(&m);
    arena_release(&a);
}

static void check_model(const char *file, const char *model)
{
    struct engine_options o = {.model = model, .max_batch = 2, .max_context = 1024, .kv_dtype = KV_FP32};
    struct dev_problem p;
    struct layer_measure m;
    struct engine *en = NULL;
    struct err e = {0};
    json_t *want = NULL;
    CHECK(!json_read_file(&want, file, &e) && !engine_open(&en, &o, &e));
    CHECK_STR(e.text, "");
    if (!en)
        return;
    struct dev_set d = one_text(want, &p);
    /* All policies are bound before recall is measured. */
    const char *text;
    json_t *v;
    json_object_foreach(json_object_get(want, "policies"), text, v)
    {
        struct policy_spec spec;
        struct policy *unused;
        struct arena a = {0};
        CHECK(!policy_spec_text(&spec, text, &a, &e) && !engine_policy(en, &spec, &unused, &e));
        arena_release(&a);
    }
    struct policy_spec oracle;
    struct policy *bound;
    struct arena a = {0};
    CHECK(!policy_spec_text(&oracle, ORACLE, &a, &e) && !engine_policy(en, &oracle, &bound, &e));
    arena_release(&a);
    CHECK_INT(measure_kascade(&m, en, &d, &e), 0);
    same_matrix(json_object_get(want, "similarity"), &m, "similarity of kascade");
    check_same(json_object_get(want, "weights"), m.curve, m.n_layers, "weights");
    layer_measure_release(&m);
    CHECK_INT(measure_delta(&m, en, &d, 4, 2, &e), 0);
    same_matrix(json_object_get(want, "delta_recall"), &m, "recall of delta");
    check_same(json_object_get(want, "distance"), m.curve, m.n_layers, "distance");
    CHECK_INT(m.n_tasks, 0); /* the curve of the only task is the whole */
    layer_measure_release(&m);
    curves_by_task(json_object_get(want, "distance"), en, &p);
    check_recalls(json_object_get(want, "policies"), en, &d);
    if (!model)
        best_keys(en, &d);
    CHECK_STR(e.text, "");
    json_decref(want);
    free(p.ids);
    engine_close(en);
}

int main(void)
{
    check_model(SOURCE_DIR "/tests/data/pocket/calibration.json", NULL);
    check_model(SOURCE_DIR "/tests/engine/windows/calibration.json",
                SOURCE_DIR "/tests/engine/windows/trained");
    return check_done();
}
