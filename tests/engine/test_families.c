/* Every family of models decodes what Hugging Face Transformers decodes (families/make.py): 20 greedy tokens
 * of 20 prompts, and log-probabilities to 1e-3, when weights, K and V are fp32. With weights in bf16 a
 * backend that rounds what feeds linear layers is no farther from fp32 than Transformers in bf16 is. The
 * models are small and random: their weights are made here as make.py makes them.
 *
 * test_engine_families [NAME...]: only these fixtures; NAME may be wide, for all of families/wide, two layers
 * of every family at the widths of a model that people run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "tests/check.h"
#include "tests/engine/decode.h"
#include "tests/engine/made.h"

/* Fixtures whose models do not load yet. One that loads must leave this list. */
static const char *const not_yet[] = {NULL};

enum { MAX_SEQUENCES = 32, NEW = 20, FORCED = 16 };

struct sequence {
    int n, n_new, is_greedy; /* tokens of the prompt, and behind it */
    int32_t ids[256];
    float logprobs[NEW];
};
struct fixture {
    struct str config, saved; /* saved: empty if Transformers does not know the family */
    struct made_tensors model;
    struct sequence s[MAX_SEQUENCES];
    int n, vocab, n_layers;
    double bf16;
};

static void die(const struct err *e)
{
    fprintf(stderr, "%s\n", e->text);
    exit(1);
}

/* ---- reading a fixture */

static void read_line(struct fixture *f, char *line)
{
    static const char *const words[] = {"config ", "saved ",    "tensor ", "prompt ",
                                        "greedy ", "logprobs ", "forced ", "bf16 "};
    struct err e = {0};
    struct sequence *s = &f->s[f->n ? f->n - 1 : 0];
    double v[NEW] = {0};
    size_t which = 0, n_words = sizeof words / sizeof *words;
    while (which < n_words && strncmp(line, words[which], strlen(words[which])) != 0)
        which++;
    const char *text = which < n_words ? line + strlen(words[which]) : line;
    if (which == 0) {
        json_t *o;
        str_puts(&f->config, text);
        if (json_read_text(&o, text, strlen(text), "config", &e))
            die(&e);
        f->vocab = (int)json_integer_value(json_object_get(o, "vocab_size"));
        f->n_layers = (int)json_integer_value(json_object_get(o, "num_hidden_layers"));
        json_decref(o);
    } else if (which == 1) {
        str_puts(&f->saved, text);
    } else if (which == 2) {
        made_add(&f->model, text, f->n_layers);
    } else if (which == 3 || which == 6) {
        s = &f->s[f->n++];
        made_numbers(&text, v, 2);
        s->n = (int)v[0];
        s->is_greedy = which == 3;
        s->n_new = s->is_greedy ? NEW : FORCED;
        made_ids(s->ids, s->n + (s->is_greedy ? 0 : FORCED), (uint64_t)v[1], f->vocab);
    } else if (which == 4) {
        CHECK_INT(made_numbers(&text, v, NEW), NEW);
        for (int i = 0; i < NEW; i++)
            s->ids[s->n + i] = (int32_t)v[i];
    } else if (which == 5) {
        CHECK_INT(made_numbers(&text, v, NEW), s->n_new);
        for (int i = 0; i < s->n_new; i++)
            s->logprobs[i] = (float)v[i];
    } else if (which == 7) {
        made_numbers(&text, &f->bf16, 1);
    } else {
        CHECK(*line == '#');
    }
}

static struct fixture *load(const char *path)
{
    struct err e = {0};
    struct file_lines l;
    struct fixture *f = xmalloc(sizeof *f);
    const char *line;
    size_t len;
    memset(f, 0, sizeof *f);
    if (file_lines_open(&l, path, &e))
        die(&e);
    while (file_lines_next(&l, &line, &len, &e) == 1)
        read_line(f, (char *)line);
    file_lines_close(&l);
    CHECK((f->n == 24 || f->n == 4) && f->model.n > 0 && f->bf16 > 0);
    return f;
}

static void release(struct fixture *f)
{
    str_release(&f->config);
    str_release(&f->saved);
    made_release(&f->model);
    free(f);
}

/* ---- decoding */

static void write_model(const struct fixture *f, const char *folder, enum st_dtype dtype)
{
    struct err e = {0};
    char path[256];
    if (file_mkdirs(folder, &e))
        die(&e);
    snprintf(path, sizeof path, "%s/config.json", folder);
    if (file_write_atomic(path, f->config.data, f->config.len, &e))
        die(&e);
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    if (dtype == ST_BF16)
        made_write_bf16(&f->model, path);
    else
        made_write(&f->model, path, NULL);
}

static struct item item_of(const struct sequence *s, struct policy *full, int is_forced)
{
    struct item it = {.req = {.prompt = s->ids,
                              .n_prompt = s->n,
                              .policy = full,
                              .max_new_tokens = s->n_new,
                              .ignore_eos = 1,
                              .want_logprobs = 1,
                              .end_token = -1}};
    if (is_forced) {
        it.req.forced = s->ids + s->n;
        it.req.n_forced = s->n_new;
    }
    return it;
}

/* Returns the sum of the differences of its log-probabilities; `is_rounded`: they may differ. */
static double compare(const char *name, const struct sequence *s, const struct item *it, int is_rounded)
{
    double sum = 0;
    int off = -1, worst = 0;
    CHECK_INT(it->n_logprobs, s->n_new);
    if (it->n_logprobs != s->n_new || it->n_ids != s->n_new)
        return INFINITY;
    for (int i = 0; i < s->n_new; i++) {
        double d = fabs((double)it->logprobs[i] - (double)s->logprobs[i]);
        sum += d;
        off = off < 0 && it->ids[i] != s->ids[s->n + i] ? i : off;
        worst = !(d <= fabs((double)it->logprobs[worst] - (double)s->logprobs[worst])) ? i : worst;
    }
    if (is_rounded)
        return sum;
    if (off >= 0)
        printf("%s, prompt of %d tokens: token %d is %d, want %d\n", name, s->n, off, it->ids[off],
               s->ids[s->n + off]);
    CHECK_INT(off, -1);
    if (off < 0 && !(fabs((double)it->logprobs[worst] - (double)s->logprobs[worst]) <= 1e-3))
        printf("%s, prompt of %d tokens, token %d:\n", name, s->n, worst);
    if (off < 0)
        CHECK_NEAR(it->logprobs[worst], s->logprobs[worst], 1e-3);
    return sum;
}

static void decode(const char *name, const struct fixture *f, const char *folder, int is_rounded)
{
    struct item it[MAX_SEQUENCES], alone;
    /* A prompt of 150 tokens takes two chunks. */
    struct engine *en = decode_open(&(struct engine_options){.model = folder,
                                                             .kv_dtype = is_rounded ? KV_BF16 : KV_FP32,
                                                             .max_context = 256,
                                                             .max_batch = MAX_SEQUENCES,
                                                             .prefill_chunk = 128});
    struct policy *full = decode_policy(en, "full");
    double sum = 0;
    int n = 0, n_tokens = 0, of[MAX_SEQUENCES];
    for (int i = 0; i < f->n; i++)
        if (!check_small() || f->n == 4 ||
            i % 4 == 3) { /* greedy ones of 12, 31, 48, 80 and 150 tokens, forced ones of 140 */
            of[n] = i;
            it[n++] = item_of(&f->s[i], full, !f->s[i].is_greedy || is_rounded);
        }
    decode_all(en, it, n, NULL);
    for (int i = 0; i < n; i++) {
        sum += compare(name, &f->s[of[i]], &it[i], is_rounded);
        n_tokens += f->s[of[i]].n_new;
    }
    if (is_rounded) {
        printf("%s: log-probabilities are off by %.4f, those of Transformers in bf16 by %.4f\n", name,
               sum / n_tokens, f->bf16);
        CHECK(sum / n_tokens <= f->bf16);
    }
    /* Alone as in company. */
    for (int i = n / 2; i < n; i += n / 2) {
        alone = (struct item){.req = it[i].req};
        decode_all(en, &alone, 1, NULL);
        CHECK(items_equal(&it[i], &alone));
        items_release(&alone, 1);
    }
    items_release(it, n);
    engine_close(en);
}

/* What Transformers makes of config.json means the same: the fields that it left out, this year's form of
 * others. */
static void check_saved(const struct fixture *f, const char *folder)
{
    struct err e = {0};
    char path[256], own[65] = "", saved[65] = "";
    snprintf(path, sizeof path, "%s/config.json", folder);
    CHECK_INT(engine_configuration(folder, NULL, own, &e), 0);
    if (file_write_atomic(path, f->saved.data, f->saved.len, &e))
        die(&e);
    if (engine_configuration(folder, NULL, saved, &e))
        printf("as saved: %s\n", e.text);
    CHECK_STR(saved, own);
}

static int is_known(const char *name, const char *folder)
{
    struct err e = {0};
    struct engine_info info;
    int is_listed = 0, rc = engine_describe(&(struct engine_options){.model = folder}, &info, &e);
    for (size_t i = 0; not_yet[i]; i++)
        is_listed |= !strcmp(not_yet[i], name);
    if (is_listed && rc == 0)
        printf("%s loads: take it out of not_yet\n", name);
    if (!is_listed && rc)
        printf("%s\n", e.text);
    CHECK((rc == 0) == !is_listed);
    return rc == 0;
}

static void run(const char *name)
{
    struct err e = {0};
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/engine/families/%s.txt", SOURCE_DIR, name);
    struct fixture *f = load(path);
    write_model(f, name, ST_F32);
    if (is_known(name, name)) {
        decode(name, f, name, 0);
        if (decode_rounds()) {
            write_model(f, name, ST_BF16);
            decode(name, f, name, 1);
        }
        if (f->saved.len)
            check_saved(f, name);
    }
    release(f);
    if (file_remove_tree(name, &e))
        die(&e);
}

/* All fixtures of a folder within families. */
static void run_folder(const char *folder)
{
    struct err e = {0};
    struct file_list l;
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/engine/families/%s", SOURCE_DIR, folder);
    if (file_list(&l, path, ".txt", &e))
        die(&e);
    CHECK(l.n > 0);
    for (size_t i = 0; i < l.n; i++) {
        *strrchr(l.name[i], '.') = 0;
        snprintf(path, sizeof path, "%s%s", folder, l.name[i]);
        run(path);
    }
    file_list_release(&l);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "wide"))
            run_folder("wide/");
        else
            run(argv[i]);
    if (argc < 2)
        run_folder("");
    return check_done();
}
