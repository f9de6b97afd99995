/* Looking at what layers read (engine/watch.c): a step that is watched gives the same bits as one that is
 * replayed, under every policy and whoever shares the batch, and the lists are what the policy promises. */
#include "engine/engine.h"
#include "tests/check.h"
#include "tests/engine/decode.h"

enum { TOKENS = 90, PROMPT = 260 };

/* Long enough that every policy leaves tokens out. */
static int n_prompt(void)
{
    return check_small() ? 150 : PROMPT;
}

static int n_tokens(void)
{
    return check_small() ? 56 : TOKENS;
}

struct look {
    long calls, entries, selective; /* selective: lists that leave something out */
    uint64_t digest;
    int every;
};

static void see(void *context, const struct seen *s)
{
    struct look *l = context;
    l->calls++;
    CHECK_INT(s->step % l->every, 0);
    CHECK(s->n_lists > 0 && s->layer >= 0 && s->layer < 8);
    for (int i = 0; i < s->n_lists; i++) {
        const int32_t *v = s->idx + (size_t)i * (size_t)s->stride;
        CHECK(s->len[i] >= -1 && s->len[i] <= s->stride);
        int tokens = n_prompt() + s->step, units = s->granularity == SEL_PAGES ? kv_pages(tokens) : tokens;
        l->selective += s->len[i] >= 0 && s->len[i] < units;
        for (int k = 0; k < s->len[i]; k++) {
            CHECK(v[k] >= 0 && (k == 0 || v[k] > v[k - 1]));
            CHECK(s->granularity == SEL_LIVE || v[k] < units);
            l->digest = (l->digest ^ (uint64_t)(v[k] + 1)) * 1099511628211u;
            l->entries++;
        }
    }
}

static void fill(struct item *it, struct policy *p, int32_t *ids)
{
    it->req = (struct request){.prompt = ids,
                               .n_prompt = n_prompt(),
                               .policy = p,
                               .forced = ids + n_prompt(),
                               .n_forced = n_tokens(),
                               .want_logprobs = 1,
                               .end_token = -1};
}

/* A policy alone, without and with a watcher, and beside the others. */
static void same_bits(struct engine *en, const char *spec, int reads_less, int32_t *ids)
{
    struct policy *p = decode_policy(en, spec), *other = decode_policy(en, "quest:k_pages=4");
    struct item it[5] = {0};
    struct look alone = {.every = 8}, beside = {.every = 8};
    for (int i = 0; i < 5; i++)
        fill(&it[i], i == 4 ? other : p, ids);
    decode_all(en, &it[0], 1, NULL);
    engine_watch(en, 8, see, &alone);
    decode_all(en, &it[1], 1, NULL);
    engine_watch(en, 1, see, &(struct look){.every = 1});
    decode_all(en, &it[2], 1, NULL);
    engine_watch(en, 8, see, &beside);
    decode_all(en, &it[3], 2, NULL);
    engine_watch(en, 0, NULL, NULL);
    for (int i = 1; i < 4; i++) {
        CHECK(items_equal(&it[0], &it[i]));
        CHECK(it[0].kv.reads == it[i].kv.reads && it[0].kv.aux_reads == it[i].kv.aux_reads &&
              it[0].kv.peak_tokens == it[i].kv.peak_tokens);
    }
    CHECK(reads_less ? alone.selective > 0 && alone.entries > 0 : alone.calls == 0);
    CHECK(beside.calls > alone.calls);
    items_release(it, 5);
}

int main(void)
{
    struct engine *en = decode_open(&(struct engine_options){.model = "pocket", .max_context = 1024});
    int32_t ids[PROMPT + TOKENS];
    for (int i = 0; i < PROMPT + TOKENS; i++)
        ids[i] = 1 + (i * 37 + i / 7) % 440;
    static const struct {
        const char *spec;
        int reads_less;
    } rows[] = {{"full", 0},
                {"quest:k_pages=8", 1},
                {"raas:budget_tokens=32", 1},
                {"dms:cr=8", 1},
                {"delta:k_pages=8", 1}, /* from here on not in small tests */
                {"kascade:ratio=0.2", 1},
                {"streamingllm:form=evict,window_tokens=48", 1},
                {"streamingllm:window_tokens=48", 1},
                {"lessismore:k_tokens=40", 1}};
    const size_t n = check_small() ? 4 : sizeof rows / sizeof *rows;
    for (size_t i = 0; i < n; i++)
        same_bits(en, rows[i].spec, rows[i].reads_less, ids);
    engine_close(en);
    return check_done();
}
