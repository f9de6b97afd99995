/* On which layers policies act where some read a window of tokens: what options may name, which defaults are
 * proposed, how many tokens are held, and which layers forget together. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/policies/evict.h"
#include "tests/check.h"

enum { N = 8 };
static const int32_t every_second[N] = {32, 0, 32, 0, 32, 0, 32, 0}; /* the odd ones are full */
static const int32_t one_in_four[N] = {64, 64, 64, 0, 64, 64, 64, 0};
static const int32_t all[N] = {64, 64, 64, 64, 64, 64, 64, 64};

#define ONLY " tokens, and a policy acts on layers with full attention only; those are "

static void options_name_full_layers(void)
{
    static const struct {
        const char *what;
        const int32_t *window;
        const char *policy, *want; /* parts of the error, or of the canonical options */
    } rows[] = {
        {"a refresh layer", every_second, "delta:k_pages=8,layers=2+5",
         "policy delta: layers names layer 2, which reads a window of 32" ONLY "1, 3, 5, 7"},
        {"refresh layers that are full", every_second, "delta:k_pages=8,layers=3+5", "\"layers\":[3,5]"},
        {"the first layers are the model's own", one_in_four, "delta:k_pages=8,layers=3,dense_layers=4",
         "layers names layer 3, but the first 4 layers are dense"},
        {"a filter layer", one_in_four, "omnikv:ratio=0.1,layers=5",
         "policy omnikv: layers names layer 5, which reads a window of 64" ONLY "3, 7"},
        {"a selection layer", one_in_four, "lessismore:ratio=0.1,layers=3+4",
         "policy lessismore: layers names layer 4, which reads a window of 64" ONLY "3, 7"},
        {"an anchor", every_second, "kascade:ratio=0.1,anchors=0+3",
         "policy kascade: anchors names layer 0, which reads a window of 32" ONLY "1, 3, 5, 7"},
        {"a layer of the head map", every_second, "kascade:ratio=0.1,anchors=1+3,map=4:10",
         "policy kascade: map names layer 4, which reads a window of 32" ONLY "1, 3, 5, 7"},
        {"the first full layer is an anchor anyhow", every_second, "kascade:ratio=0.1,anchors=3,map=1:10",
         "policy kascade: map names layer 1, which is an anchor"},
        {"a layer that the model lacks", every_second, "kascade:ratio=0.1,anchors=1+3,map=9:10",
         "policy kascade: map names layer 9, and the model has layers 0 to 7"},
        {"a map of full layers", every_second, "kascade:ratio=0.1,anchors=1+3,map=5:10",
         "\"map\":{\"5\":[1,0]}"},
        {"placeholders are full", every_second, "kascade:ratio=0.1", "\"anchors\": [1, 3, 5]"},
        {"placeholders are behind the dense layers", every_second, "delta:k_pages=8",
         "\"layers\": [3, 5, 7]"},
        {"placeholders of a model with few full layers", one_in_four, "lessismore:ratio=0.1",
         "\"layers\": [3, 7]"},
        {"no layer is full", all, "quest:k_pages=8",
         "policy quest: policies act on layers with full attention, and all 8 layers of this model have a "
         "window; only policy full can be used"},
        {"full attention needs none", all, "full", "\"name\":\"full\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct policy_model m = {.path = "a/model", .n_layers = N, .window = rows[i].window};
        struct err e = {0};
        struct arena a = {0};
        struct policy_spec spec, full;
        struct str got = {0};
        CHECK_INT(policy_spec_text(&spec, rows[i].policy, &a, &e), 0);
        if (policy_spec_resolve(&full, &spec, &m, &a, &e)) {
            str_puts(&got, e.text);
        } else {
            json_t *o = policy_spec_to_json(&full);
            json_canonical(&got, o);
            json_decref(o);
        }
        if (!strstr(str_text(&got), rows[i].want))
            printf("%s: %s\n  got  %s\n", rows[i].what, rows[i].policy, str_text(&got));
        CHECK(strstr(str_text(&got), rows[i].want) != NULL);
        str_release(&got);
        arena_release(&a);
    }
}

static void first_layer_in_words(void)
{
    const struct policy_model m = {.path = "a/model", .n_layers = N, .window = one_in_four};
    struct err e = {0};
    struct arena a = {0};
    struct policy_spec spec, full;
    struct str text = {0};
    CHECK_INT(policy_spec_text(&spec, "kascade:ratio=0.1,anchors=3+7", &a, &e), 0);
    CHECK_INT(policy_spec_resolve(&full, &spec, &m, &a, &e), 0);
    policy_describe_budget(&full, &text);
    CHECK(strstr(str_text(&text), "layer 3 dense") != NULL);
    str_release(&text);
    arena_release(&a);
}

/* Mean over layers of a context of 1,000 tokens, of which 100 are the prompt. */
static void holds(void)
{
    static const struct {
        const char *policy;
        const int32_t *window;
        double context, tokens;
    } rows[] = {
        {"full", every_second, 1000, (4 * 1000 + 4 * 32) / 8.0},
        {"full", every_second, 20, 20}, /* shorter than the window */
        {"full", all, 1000, 64},
        {"tova:budget_tokens=99", every_second, 1000, (4 * 100 + 4 * 32) / 8.0},
        /* layer 1 is the only dense one: of the first two layers of the model one has a window */
        {"raas:budget_tokens=64", every_second, 1000, (1000 + 3 * 192 + 4 * 32) / 8.0},
        {"raas:budget_tokens=64", one_in_four, 1000, (2 * 192 + 6 * 64) / 8.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct budget_at at = {.context = rows[i].context,
                                     .prompt = 100,
                                     .longest = 900,
                                     .n_layers = N,
                                     .window = rows[i].window};
        struct err e = {0};
        struct arena a = {0};
        struct policy_spec spec;
        CHECK_INT(policy_spec_text(&spec, rows[i].policy, &a, &e), 0);
        CHECK_NEAR(policy_held_at(&spec, &at), rows[i].tokens, 1e-9);
        arena_release(&a);
    }
}

/* Which layers forget after the attention of each, as "first+n", "." where none do; hooks of layers with a
 * window are not called, "-". */
static void layers_that_forget_together(void)
{
    static const float sink = 1;
    static const int32_t two_runs[N] = {0, 0, 0, 64, 0, 0, 64, 0};
    static const struct {
        const int32_t *window;
        int list_layers, prefill, sinks;
        const char *want;
    } rows[] = {
        {NULL, 8, 0, 0, ". . . . . . . 0+8"},
        {NULL, 3, 0, 0, ". . 0+3 . . 3+3 . 6+2"},
        {NULL, 8, 1, 0, "0+1 1+1 2+1 3+1 4+1 5+1 6+1 7+1"},
        {NULL, 8, 0, 1, "0+1 1+1 2+1 3+1 4+1 5+1 6+1 7+1"},
        {every_second, 8, 0, 0, "- 1+1 - 3+1 - 5+1 - 7+1"},
        {one_in_four, 4, 0, 0, "- - - 3+1 - - - 7+1"},
        {two_runs, 8, 0, 0, ". . 0+3 - . 4+2 - 7+1"},
        {two_runs, 2, 0, 0, ". 0+2 2+1 - . 4+2 - 7+1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct policy_ctx c = {
            .dims = {.n_layers = N, .list_layers = rows[i].list_layers, .window = rows[i].window},
            .prefill = rows[i].prefill,
            .softmax = {.sink = rows[i].sinks ? &sink : NULL}};
        struct str got = {0};
        for (int l = 0; l < N; l++) {
            struct evict_layers e = {0, 0};
            int is_full = policy_layer_is_full(&c.dims, l);
            if (is_full)
                e = evict_layers(&c, l);
            str_printf(&got, "%s", l ? " " : "");
            if (e.n)
                str_printf(&got, "%d+%d", e.first, e.n);
            else
                str_puts(&got, is_full ? "." : "-");
        }
        CHECK_STR(str_text(&got), rows[i].want);
        str_release(&got);
    }
}

int main(void)
{
    options_name_full_layers();
    first_layer_in_words();
    holds();
    layers_that_forget_together();
    return check_done();
}
