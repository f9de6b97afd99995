/* Log-probabilities under teacher forcing: those of full attention are compared with Hugging Face
 * Transformers (tests/engine/hf), those of every policy with the NumPy reference decoder
 * (tests/data/pocket/logprobs).
 *
 * A policy's must equal the reference's to 1e-3 at 99 % of all positions, and at every position before the
 * first selection that rounding may change, that is before the first gap between the last score kept and the
 * first dropped that is as small as rounding. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "tests/check.h"
#include "tests/engine/decode.h"

enum { MAX_SEQUENCES = 16 };

struct sequence_fixture {
    char name[64];
    int prompt_len, n_ids, n;
    int32_t *ids;
    float *logprobs, *gaps; /* gaps: of the selection; NULL when the file has none */
};

static int numbers(const char *text, float **out)
{
    size_t cap = 0, n = 0;
    char *end;
    for (float v; (v = strtof(text, &end)), end != text; text = end) {
        xgrow(out, &cap, n + 1, sizeof **out);
        (*out)[n++] = v;
    }
    return (int)n;
}

static int load(const char *path, struct sequence_fixture *s)
{
    struct err e = {0};
    struct file_lines l;
    const char *line;
    size_t len;
    int n = 0;
    if (file_lines_open(&l, path, &e)) {
        fprintf(stderr, "%s\n", e.text);
        exit(1);
    }
    while (file_lines_next(&l, &line, &len, &e) == 1) {
        struct sequence_fixture *x = &s[n ? n - 1 : 0];
        if (!strncmp(line, "sequence ", 9)) {
            memset(&s[n], 0, sizeof *s);
            snprintf(s[n++].name, sizeof s->name, "%s", line + 9);
        } else if (!strncmp(line, "prompt_len ", 11)) {
            x->prompt_len = (int)strtol(line + 11, NULL, 10);
        } else if (!strncmp(line, "ids ", 4)) {
            float *v = NULL;
            x->n_ids = numbers(line + 4, &v);
            x->ids = malloc((size_t)x->n_ids * sizeof *x->ids);
            for (int i = 0; i < x->n_ids; i++)
                x->ids[i] = (int32_t)v[i];
            free(v);
        } else if (!strncmp(line, "logprobs ", 9)) {
            x->n = numbers(line + 9, &x->logprobs);
        } else if (!strncmp(line, "select_gaps ", 12)) {
            CHECK_INT(numbers(line + 12, &x->gaps), x->n);
        }
    }
    file_lines_close(&l);
    CHECK(n > 0);
    for (int i = 0; i < n; i++)
        CHECK_INT(s[i].n, s[i].n_ids - s[i].prompt_len);
    return n;
}

static void release(struct sequence_fixture *s, int n)
{
    for (int i = 0; i < n; i++) {
        free(s[i].ids);
        free(s[i].logprobs);
        free(s[i].gaps);
    }
}

static void compare(const char *what, const struct sequence_fixture *s, const struct item *it,
                    double gap_limit)
{
    int off = 0, clean = 1, off_clean = 0;
    double worst = 0;
    CHECK_INT(it->n_logprobs, s->n);
    for (int i = 0; i < s->n && i < it->n_logprobs; i++) {
        if (s->gaps && s->gaps[i] < gap_limit)
            clean = 0;
        double d = fabs((double)it->logprobs[i] - (double)s->logprobs[i]);
        if (!(d <= 1e-3)) {
            off++;
            off_clean += clean;
        }
        worst = d > worst ? d : worst;
    }
    if (off)
        printf("%s %s: %d of %d positions off by more than 1e-3 (%d before the first close selection), worst "
               "%.3g\n",
               what, s->name, off, s->n, off_clean, worst);
    CHECK_INT(off_clean, 0);
    CHECK(off <= s->n / 100);
}

/* most: at most this many sequences of the file are compared. */
static void run(struct engine *en, const char *what, const char *policy, const char *path, double gap_limit,
                int most)
{
    static struct sequence_fixture s[MAX_SEQUENCES];
    struct item it[MAX_SEQUENCES];
    int n_loaded = load(path, s), n = n_loaded < most ? n_loaded : most;
    struct policy *p = decode_policy(en, policy);
    memset(it, 0, sizeof it);
    for (int i = 0; i < n; i++)
        it[i].req = (struct request){.prompt = s[i].ids,
                                     .n_prompt = s[i].prompt_len,
                                     .policy = p,
                                     .forced = s[i].ids + s[i].prompt_len,
                                     .n_forced = s[i].n,
                                     .want_logprobs = 1,
                                     .end_token = -1};
    decode_all(en, it, n, NULL);
    for (int i = 0; i < n; i++)
        compare(what, &s[i], &it[i], gap_limit);
    items_release(it, n);
    release(s, n_loaded);
}

static const struct {
    const char *stem, *policy;
    double gap_limit;
} policies[] = {
    {"full", "full", 1e-4},
    {"quest_k8", "quest:k_pages=8", 1e-2},
    {"quest_k16", "quest:k_pages=16", 1e-2},
    {"delta_k16_l4", "delta:k_pages=16,l_pages=4", 1e-4},
    {"delta_k16_l8", "delta:k_pages=16,l_pages=8", 1e-4},
    {"kascade_r20", "kascade:ratio=0.2", 1e-4},
    {"kascade_r50", "kascade:ratio=0.5", 1e-4},
    {"raas_512", "raas:budget_tokens=512", 1e-2},
    {"raas_768", "raas:budget_tokens=768", 1e-2},
    {"dms_cr2", "dms:cr=2", 1e-4},
    {"dms_cr4", "dms:cr=4", 1e-4},
    {"dms_cr8", "dms:cr=8", 1e-4},
};

/* DMS gates that are a channel of the queries, against Transformers' modules
 * (tests/engine/hf/make_neuron.py): alone, and in company of full attention, whose rows then have their norms
 * in an operation of their own. */
static const struct {
    const char *stem, *policy;
} neurons[] = {
    {"neuron_last", "dms:neuron=last"},
    {"neuron_last_kept", "dms:neuron=last,evict=false"},
    {"neuron_first", "dms:neuron=first,shift=0"},
};

static void run_neuron(const char *stem, const char *policy)
{
    static struct sequence_fixture s[2];
    char path[4200], model[4096];
    snprintf(model, sizeof model, "%s/tests/engine/hf/qwen3", SOURCE_DIR);
    struct engine *en = decode_open(&(struct engine_options){.model = model});
    snprintf(path, sizeof path, "%s/%s.txt", model, stem);
    run(en, stem, policy, path, 0, MAX_SEQUENCES);
    CHECK_INT(load(path, s), 1);
    snprintf(path, sizeof path, "%s/logprobs.txt", model);
    CHECK_INT(load(path, s + 1), 1);
    struct item it[2] = {0}, alone = {0};
    for (int i = 0; i < 2; i++)
        it[i].req = (struct request){.prompt = s[i].ids,
                                     .n_prompt = s[i].prompt_len,
                                     .policy = decode_policy(en, i ? "full" : policy),
                                     .forced = s[i].ids + s[i].prompt_len,
                                     .n_forced = s[i].n,
                                     .want_logprobs = 1,
                                     .end_token = -1};
    alone.req = it[1].req;
    decode_all(en, it, 2, NULL);
    decode_all(en, &alone, 1, NULL);
    compare(stem, &s[0], &it[0], 0);
    compare("full beside it", &s[1], &it[1], 0);
    CHECK_INT(it[1].n_logprobs, alone.n_logprobs);
    CHECK(memcmp(it[1].logprobs, alone.logprobs, (size_t)alone.n_logprobs * sizeof *alone.logprobs) == 0);
    items_release(it, 2);
    items_release(&alone, 1);
    release(s, 2);
    engine_close(en);
}

/* test_engine_logprobs [all]: without "all" only the first FEW sequences of each policy's file are compared.
 */
int main(int argc, char **argv)
{
    enum { FEW = 2 };
    int most = argc > 1 && !strcmp(argv[1], "all") ? MAX_SEQUENCES : check_small() ? 1 : FEW;
    static const char *const tiny[] = {"qwen3", "llama", "llama31", "qwen2_yarn", "llama_linear"};
    char path[4200], model[4096];
    struct engine *en = decode_open(&(struct engine_options){0});
    snprintf(path, sizeof path, "%s/tests/engine/hf/pocket.txt", SOURCE_DIR);
    run(en, "transformers", "full", path, 0, MAX_SEQUENCES);
    /* Small: one budget of each policy. */
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i += check_small() ? 2 : 1) {
        snprintf(path, sizeof path, "%s/tests/data/pocket/logprobs/%s.txt", SOURCE_DIR, policies[i].stem);
        run(en, policies[i].stem, policies[i].policy, path, policies[i].gap_limit, most);
    }
    engine_close(en);
    for (size_t i = 0; i < sizeof tiny / sizeof *tiny; i++) {
        snprintf(model, sizeof model, "%s/tests/engine/hf/%s", SOURCE_DIR, tiny[i]);
        snprintf(path, sizeof path, "%s/logprobs.txt", model);
        en = decode_open(&(struct engine_options){.model = model});
        run(en, tiny[i], "full", path, 0, MAX_SEQUENCES);
        engine_close(en);
    }
    for (size_t i = 0; i < sizeof neurons / sizeof *neurons; i++)
        run_neuron(neurons[i].stem, neurons[i].policy);
    return check_done();
}
