/* Kascade's sparse prefill: the token streams of the NumPy reference
 * (engine/pocket/recipe/reference_prefill.py), whatever the chunks in which a prompt is read.
 *
 * Two correct programs may part after a step whose gap between the two best logits is below 1e-3, since a
 * tile's last kept and first dropped token may differ by less than rounding; the reference's smallest gap of
 * each stream is in its line, and a stream may part only where it is that small. */
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "tests/check.h"
#include "tests/engine/decode.h"
#include "tests/engine/laws.h"

enum { PER_FAMILY = 8, FAMILIES = 4, STEPS = 48 };
static const char *const families[FAMILIES] = {"relay20", "algebra16", "lookup60", "choice18"};
static struct prompts prompts[FAMILIES];

static void request_of(struct item *it, const struct token_list *t, struct policy *p, int steps)
{
    memset(it, 0, sizeof *it);
    it->req = (struct request){.prompt = t->id,
                               .n_prompt = (int)t->n,
                               .policy = p,
                               .max_new_tokens = steps,
                               .end_token = -1,
                               .want_logprobs = 1};
}

static int family_of(const char *name)
{
    for (int f = 0; f < FAMILIES; f++)
        if (!strcmp(families[f], name))
            return f;
    return -1;
}

/* 1: the stream is the reference's, or parts where it may. */
static int compare(const struct item *it, const json_t *want)
{
    const json_t *ids = json_object_get(want, "ids");
    int same = (size_t)it->n_ids == json_array_size(ids);
    for (int i = 0; same && i < it->n_ids; i++)
        same = json_integer_value(json_array_get(ids, (size_t)i)) == it->ids[i];
    double gap = json_number_value(json_object_get(want, "min_gap"));
    if (!same)
        printf("parts: %s %lld, smallest gap %g\n", json_string_value(json_object_get(want, "task")),
               (long long)json_integer_value(json_object_get(want, "problem")), gap);
    return same || gap < 1e-3;
}

static void streams(struct engine *en, const char *spec, const char *name, int per)
{
    struct item items[FAMILIES * PER_FAMILY];
    struct policy *p = decode_policy(en, spec);
    struct err e = {0};
    struct file_lines lines;
    char path[4096];
    const char *line;
    size_t len;
    int n = 0;
    for (int i = 0; i < FAMILIES * per; i++)
        request_of(&items[i], &prompts[i / per].ids[i % per], p, STEPS);
    decode_all(en, items, FAMILIES * per, NULL);
    snprintf(path, sizeof path, "%s/tests/data/pocket/prefill/%s.jsonl", SOURCE_DIR, name);
    CHECK_INT(file_lines_open(&lines, path, &e), 0);
    while (file_lines_next(&lines, &line, &len, &e) == 1) {
        json_t *want = NULL;
        CHECK_INT(json_read_text(&want, line, len, path, &e), 0);
        int f = family_of(json_string_value(json_object_get(want, "task")));
        int problem = (int)json_integer_value(json_object_get(want, "problem"));
        CHECK(f >= 0 && problem < PER_FAMILY);
        if (problem < per)
            CHECK(compare(&items[f * per + problem], want));
        n += problem < per;
        json_decref(want);
    }
    file_lines_close(&lines);
    CHECK_INT(n, FAMILIES * per);
    items_release(items, FAMILIES * per);
}

/* The longest prompt in chunks of several sizes; and dense, which must not give the same. */
static void chunks(void)
{
    static const int sizes[] = {128, 256, 1024, 1024};
    static const char spec[] = "kascade:ratio=0.1,min_tokens=32,prefill=";
    struct item items[4];
    for (int i = 0; i < 4; i++) {
        struct engine *en = decode_open(
            &(struct engine_options){.max_batch = 2, .max_context = 1536, .prefill_chunk = sizes[i]});
        char text[128];
        snprintf(text, sizeof text, "%s%s", spec, i < 3 ? "sparse,tile_tokens=64" : "dense");
        request_of(&items[i], &prompts[2].ids[0], decode_policy(en, text), 8);
        decode_all(en, &items[i], 1, NULL);
        engine_close(en);
    }
    CHECK(items_equal(&items[0], &items[1]) && items_equal(&items[0], &items[2]));
    CHECK(!items_equal(&items[0], &items[3]));
    items_release(items, 4);
}

int main(int argc, char **argv)
{
    int per = argc > 1 && !strcmp(argv[1], "all") ? PER_FAMILY : 1;
    struct engine *en = decode_open(&(struct engine_options){.max_batch = 8, .max_context = 1536});
    for (int f = 0; f < FAMILIES; f++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/data/pocket/problems/%s.jsonl", SOURCE_DIR, families[f]);
        prompts_load(&prompts[f], en, path, PER_FAMILY);
    }
    streams(en, "kascade:ratio=0.2,min_tokens=48,prefill=sparse", "kascade", per);
    streams(
        en,
        "kascade:ratio=0.3,min_tokens=80,k_minus_tile_tokens=32,prefill=sparse,rolling=true,map=3:10+4:00",
        "kascade_rolling", per);
    streams(en, "kascade:ratio=0.05,min_tokens=24,prefill=sparse,tile_tokens=16,pooling=pre_softmax",
            "kascade_pre", per);
    engine_close(en);
    chunks();
    for (int f = 0; f < FAMILIES; f++)
        prompts_release(&prompts[f]);
    return check_done();
}
