/* Job keys: stable, sensitive to everything that changes tokens, blind to everything else. */
#include "evalcore/base/file.h"
#include "evalcore/plan/cell_identity.h"
#include "evalcore/store/job_key.h"
#include "tests/check.h"

static struct arena arena;

static const char *identity_of(const char *policy, const struct settings *s, const char *weights,
                               const char *configuration, int end_token, int own_reference)
{
    struct policy_spec spec;
    struct err e = {0};
    char *hex = arena_alloc(&arena, JOB_IDENTITY_HEX + 1);
    CHECK_INT(policy_spec_text(&spec, policy, &arena, &e), 0);
    struct cell_identity c = {weights, configuration, "cpu-fp32kv-1", &spec,        s,
                              "relay", "1",           end_token,      own_reference};
    CHECK_INT(job_identity(&c, hex, &e), 0);
    return hex;
}

static const char *identity(const char *policy, const struct settings *s, const char *weights, int end_token)
{
    return identity_of(policy, s, weights, "config", end_token, 0);
}

static void identities(void)
{
    struct settings base, s;
    settings_defaults(&base);
    const char *first = identity("quest:k_pages=8", &base, "w", -1);
    /* A change of this constant, or of the gate's below, makes every old run folder decode again. */
    CHECK_STR(first, "db66aea3f0287509a648a0e555fa1c8c419e9688e1b69e386417ec1a1543c9aa");
    CHECK_STR(identity("quest:k_pages=8,dense_layers=2", &base, "w", -1), first); /* a default spelled out */
    CHECK(strcmp(identity("quest:k_pages=9", &base, "w", -1), first));
    CHECK(strcmp(identity("quest:k_pages=8", &base, "x", -1), first));
    CHECK(strcmp(identity("quest:k_pages=8", &base, "w", 3), first));
    CHECK(strcmp(identity_of("quest:k_pages=8", &base, "w", "config", -1, 1), first));
    CHECK(strcmp(identity_of("quest:k_pages=8", &base, "w", "other", -1, 0), first));
    s = base;
    s.samples = 64;
    s.chat = "pocket"; /* in the prompt's ids */
    CHECK_STR(identity("quest:k_pages=8", &s, "w", -1), first);
    s = base;
    s.temperature = 0.6;
    CHECK(strcmp(identity("quest:k_pages=8", &s, "w", -1), first));
    s = base;
    s.seed = 1;
    CHECK(strcmp(identity("quest:k_pages=8", &s, "w", -1), first));
    s = base;
    s.max_new_tokens = 100;
    CHECK(strcmp(identity("quest:k_pages=8", &s, "w", -1), first));
    const char *stop[] = {"\n"};
    s = base;
    s.stop = stop;
    s.n_stop = 1;
    CHECK(strcmp(identity("quest:k_pages=8", &s, "w", -1), first));
}

/* A gate file counts by its contents, not by its name. */
static void gates(void)
{
    struct settings s;
    struct err e = {0};
    settings_defaults(&s);
    CHECK_INT(file_write_atomic("gate_a.bin", "one", 3, &e), 0);
    CHECK_INT(file_write_atomic("gate_b.bin", "one", 3, &e), 0);
    CHECK_INT(file_write_atomic("gate_c.bin", "two", 3, &e), 0);
    const char *a = identity("dms:gate=gate_a.bin,scale=1,bias=0", &s, "w", -1); /* as they are resolved */
    CHECK_STR(a, "6a000e4f256ce676d343725f525323d41ae9930fd802961888886f6d2a2ede3f");
    CHECK_STR(identity("dms:gate=gate_b.bin,scale=1,bias=0", &s, "w", -1), a);
    CHECK(strcmp(identity("dms:gate=gate_c.bin,scale=1,bias=0", &s, "w", -1), a));
}

static void keys(void)
{
    char first[JOB_KEY_HEX + 1], other[JOB_KEY_HEX + 1];
    const struct job_inputs base = {.identity = "i", .prompt_sha256 = "p", .problem = "relay-1"};
    job_key(&base, first);
    /* A change of this constant makes every old run folder decode again: it must be meant. */
    CHECK_STR(first, "1fa9bff64152ee8b0d07427e3ea32a42");
    struct job_inputs in[8] = {base, base, base, base, base, base, base, base};
    in[1].identity = "j";
    in[2].prompt_sha256 = "q";
    in[3].problem = "relay-2";
    in[4].own_max_new = 5;
    in[5].own_stop = "\n";
    in[6].sample = 1;
    in[7].context = 4096;
    for (int i = 0; i < 8; i++) {
        job_key(&in[i], other);
        CHECK(!strcmp(first, other) == (i == 0));
    }
}

/* A context is part of a key only where it ends the completion. */
static void contexts(void)
{
    static const struct {
        const char *what;
        int asked, max_total, context, prompt, want;
    } rows[] = {
        {"the limit comes first", 100, 0, 4096, 50, 0},
        {"the context leaves just the limit", 100, 0, 150, 50, 0},
        {"the context leaves one token less", 101, 0, 150, 50, 150},
        {"max_total_tokens comes first", 1000, 140, 150, 50, 0},
        {"max_total_tokens is the context", 1000, 150, 150, 50, 0},
        {"max_total_tokens lies beyond the context", 1000, 151, 150, 50, 150},
        {"an unknown context", 1000, 0, 0, 50, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int got = job_context(rows[i].asked, rows[i].max_total, rows[i].context, rows[i].prompt);
        CHECK_INT(got, rows[i].want);
        if (got != rows[i].want)
            fprintf(stderr, "  %s\n", rows[i].what);
    }
}

static void id_hash(void)
{
    const int32_t ids[] = {1, 2, -1};
    char hex[65];
    job_hash_ids(ids, 3, hex);
    CHECK_STR(hex, "0a1ce634879f6a487527c9a185b1a4a3de7f41238ad4139e3c6d9e0da723628c");
    job_hash_ids(ids, 0, hex);
    CHECK_STR(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void maps(void)
{
    struct keymap m = {0};
    char key[40];
    CHECK_INT(keymap_find(&m, "x"), -1);
    for (long i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "%032lx", i * 7919);
        CHECK_INT(keymap_add(&m, key, i), i);
    }
    for (long i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "%032lx", i * 7919);
        CHECK_INT(keymap_add(&m, key, -5), i);
        CHECK_INT(keymap_find(&m, key), i);
    }
    CHECK_INT(keymap_find(&m, "short"), -1);
    CHECK_INT(keymap_find(&m, ""), -1);
    CHECK_INT(keymap_add(&m, "", 7), 7);
    CHECK_INT(keymap_find(&m, ""), 7);
    keymap_release(&m);
}

int main(void)
{
    identities();
    gates();
    keys();
    contexts();
    id_hash();
    maps();
    arena_release(&arena);
    return check_done();
}
