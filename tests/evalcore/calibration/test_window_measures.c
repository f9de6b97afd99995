/* Calibration of a model whose layers have windows in part: those with full attention alone are measured,
 * proposed and written, by the model's own numbers; recall is asked of them alone, and is a share of what
 * tokens hold, without the sinks. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/json.h"
#include "evalcore/calibration/calibration.h"
#include "tests/check.h"
#include "tests/engine/window_model.h"

enum { PROBLEMS = 2, FULL = 4, K_PAGES = 4, L_PAGES = 1 };

static struct windows f;
static struct dev_problem problems[PROBLEMS];
static struct dev_set dev = {.problems = problems, .n = PROBLEMS, .tokens = PROBLEMS * STREAM_NEW};

static void make_dev(void)
{
    for (int i = 0; i < PROBLEMS; i++) {
        struct stream *s = &f.s[i];
        struct dev_problem *p = &problems[i];
        *p = (struct dev_problem){.task = "windows", .n = s->n + STREAM_NEW, .n_prompt = s->n};
        p->ids = xmalloc((size_t)p->n * sizeof *p->ids);
        memcpy(p->ids, s->prompt, (size_t)s->n * sizeof *p->ids);
        memcpy(p->ids + s->n, s->ids, sizeof s->ids);
    }
}

/* What a layer chooses serves itself best, and everything is above 0. */
static void check_measure(const struct layer_measure *m)
{
    CHECK_INT(m->n_layers, FULL);
    CHECK_INT(m->n_all, f.n_layers);
    for (int a = 0; a < m->n_layers; a++) {
        CHECK_INT(m->number[a], 2 * a + 1);
        CHECK(a == 0 || m->curve[a] > 0);
        for (int b = a; b < m->n_layers; b++) {
            double v = m->similarity[a * FULL + b], own = m->similarity[b * FULL + b];
            CHECK(v > 0 && v <= own + 1e-12);
        }
    }
}

static void check_file(const struct layer_measure *m, const char *policy)
{
    const struct calibration c = {.policy = policy,
                                  .model = "model",
                                  .weights = "none",
                                  .n_choose = 2,
                                  .k_pages = K_PAGES,
                                  .l_pages = L_PAGES,
                                  .max_new = STREAM_NEW,
                                  .dev = &dev,
                                  .measure = m};
    struct err e = {0};
    json_t *o = NULL;
    int proposed[8], first = strcmp(policy, "delta") ? 1 : 3;
    CHECK_INT(calibration_write(&c, "calibration.json", proposed, &e), 0);
    CHECK_INT(json_read_file(&o, "calibration.json", &e), 0);
    const json_t *layers = json_object_get(o, strcmp(policy, "delta") ? "anchors" : "layers");
    CHECK_INT(json_array_size(layers), 2);
    CHECK_INT(proposed[0], first); /* the first that is full, of delta behind layers 0 and 1 */
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(json_integer_value(json_array_get(layers, i)), proposed[i]);
        CHECK(proposed[i] < f.n_layers && !f.window[proposed[i]]);
    }
    for (size_t i = 0; i < FULL; i++)
        CHECK_INT(json_integer_value(json_array_get(json_object_get(o, "full_layers"), i)), 2 * i + 1);
    const char *key;
    json_t *v;
    json_object_foreach(json_object_get(o, "map"), key, v)
    {
        CHECK(strtol(key, NULL, 10) % 2 == 1);
    }
    CHECK(*e.text == 0);
    json_decref(o);
}

static void check_recall(struct engine *en, const struct policy_spec *s, double least, double most)
{
    struct err e = {0};
    double by_layer[STREAM_LAYERS];
    CHECK_INT(measure_recall(by_layer, en, &dev, s, &e), 0);
    for (int l = 0; l < f.n_layers; l++)
        if (f.window[l])
            CHECK(isnan(by_layer[l]));
        else if (l < 2)
            CHECK_NEAR(by_layer[l], 1, 1e-9); /* dense */
        else
            CHECK(by_layer[l] >= least && by_layer[l] <= most);
}

int main(void)
{
    static const char *const policies[] = {"quest:k_pages=4", "oracle:ratio=1,dense_layers=2"};
    struct policy_spec spec[2];
    struct layer_measure m;
    struct arena a = {0};
    struct err e = {0};
    windows_open(&f);
    make_dev();
    struct engine *en = NULL;
    CHECK_INT(
        engine_open(&en,
                    &(struct engine_options){
                        .model = "model", .max_batch = 2, .max_context = STREAM_CONTEXT, .kv_dtype = KV_FP32},
                    &e),
        0);
    if (!en)
        return check_done();
    for (int i = 0; i < 2; i++) {
        struct policy *unused;
        CHECK_INT(policy_spec_text(&spec[i], policies[i], &a, &e), 0);
        CHECK_INT(engine_policy(en, &spec[i], &unused, &e), 0);
    }
    CHECK_INT(measure_kascade(&m, en, &dev, &e), 0);
    check_measure(&m);
    check_file(&m, "kascade");
    layer_measure_release(&m);
    CHECK_INT(measure_delta(&m, en, &dev, K_PAGES, L_PAGES, &e), 0);
    check_measure(&m);
    check_file(&m, "delta");
    layer_measure_release(&m);
    check_recall(en, &spec[0], 0.2, 0.99);
    check_recall(en, &spec[1], 1 - 1e-6, 1 + 1e-6); /* all of what tokens hold */
    for (int i = 0; i < PROBLEMS; i++)
        free(problems[i].ids);
    arena_release(&a);
    engine_close(en);
    windows_release(&f);
    return check_done();
}
