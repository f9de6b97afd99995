/* What a prompt's queries read (kv_counts.prefill_reads and prefill_aux_reads) beside what each policy's rule
 * says of a query, for prompts in one piece or shared, and for prompts in chunks and alone. That company and
 * preemption change nothing is a law (test_laws.c). */
#include <math.h>
#include <stdio.h>

#include "tests/check.h"
#include "tests/engine/laws.h"

struct query {
    int at, n; /* its position, and the prompt's length */
};

static double dense(struct query q)
{
    return q.at + 1;
}

static double nothing(struct query q)
{
    (void)q;
    return 0;
}

static double last64(struct query q)
{
    return fmin(q.at + 1, 64);
}

/* 4 first tokens and the last ones, together 30 % of the prompt. */
static double third(struct query q)
{
    return fmin(q.at + 1, fmax(128, floor(0.3 * q.n)));
}

/* Layer 0 of 8 reads everything; the others the tile up to the query and a list of earlier tokens, of which
 * a fifth of the prompt less a tile are taken. */
static double tiles16(struct query q)
{
    int tile = q.at / 16 * 16;
    double k = fmax(fmin(fmax(floor(0.2 * q.n), 128), q.n) - 16, 0);
    return (q.at + 1 + 7 * (fmin(k, tile) + q.at - tile + 1)) / 8;
}

/* The anchors 2 and 5 scan keys, half of a token's K and V each. */
static double two_scans(struct query q)
{
    return (q.at + 1) * 2.0 / 2 / 8;
}

/* Each layer looks at the keys once more. */
static double all_scans(struct query q)
{
    return (q.at + 1) / 2.0;
}

/* The anchors 0, 2 and 5 attend to everything. */
static double tiles16_full(struct query q)
{
    int tile = q.at / 16 * 16;
    double k = fmax(fmin(fmax(floor(0.2 * q.n), 128), q.n) - 16, 0);
    return (3 * (q.at + 1.0) + 5 * (fmin(k, tile) + q.at - tile + 1)) / 8;
}

static const struct {
    const char *spec;
    double (*reads)(struct query), (*aux)(struct query);
} rows[] = {
    {"full", dense, nothing},
    {"quest:k_pages=4", dense, nothing},
    {"tova:budget_tokens=60", dense, nothing},
    {"snapkv:budget_tokens=100", dense, nothing},
    {"h2o:budget_tokens=60", dense, all_scans},
    {"kascade:anchors=0+2+5,ratio=0.2", dense, nothing},
    {"kascade:anchors=0+2+5,ratio=0.2,prefill=sparse,tile_tokens=16", tiles16, two_scans},
    {"kascade:anchors=0+2+5,ratio=0.2,prefill=sparse,tile_tokens=16,anchor_output=full", tiles16_full,
     nothing},
    {"streamingllm:form=evict,window_tokens=64", last64, nothing},
    {"streamingllm:preset=kascade", third, nothing},
};
enum { ROWS = sizeof rows / sizeof *rows, STEPS = 3 };

static void check_all(const struct engine_options *o, int families)
{
    struct engine *en = decode_open(o);
    struct item items[ROWS * LAW_FAMILIES];
    const int n = ROWS * families;
    laws_open(en);
    for (int i = 0; i < n; i++)
        items[i] = law_item(decode_policy(en, rows[i / families].spec), i % families, STEPS);
    decode_all(en, items, n, NULL);
    for (int i = 0; i < n; i++) {
        double reads = 0, aux = 0;
        struct query q = {0, items[i].req.n_prompt};
        for (; q.at < q.n; q.at++) {
            reads += rows[i / families].reads(q);
            aux += rows[i / families].aux(q);
        }
        const struct kv_counts *kv = &items[i].kv;
        int fits = fabs(kv->prefill_reads - reads) < 1e-6 && fabs(kv->prefill_aux_reads - aux) < 1e-6;
        if (!fits)
            printf("%s, prompt of %d: %.3f reads, %.3f expected; %.3f aux, %.3f expected\n",
                   rows[i / families].spec, q.n, kv->prefill_reads, reads, kv->prefill_aux_reads, aux);
        CHECK(fits);
    }
    items_release(items, n);
    engine_close(en);
    laws_close();
}

/* DMS's gates decide, so no formula tells: between the window and everything, and less with a higher bias. */
static void dms_reads(void)
{
    struct engine *en = decode_open(&(struct engine_options){.max_batch = 4});
    laws_open(en);
    const int family = check_small() ? 0 : LAW_LONGEST;
    struct item items[2] = {law_item(decode_policy(en, "dms:cr=4"), family, STEPS),
                            law_item(decode_policy(en, "dms:cr=4,bias=1"), family, STEPS)};
    decode_all(en, items, 2, NULL);
    double n = items[0].req.n_prompt, least = n * 16, most = n * (n + 1) / 2;
    CHECK(items[0].kv.prefill_reads < 0.9 * most && items[0].kv.prefill_reads > items[1].kv.prefill_reads);
    CHECK(items[1].kv.prefill_reads > least - 16 * 16);
    items_release(items, 2);
    engine_close(en);
    laws_close();
}

int main(void)
{
    check_all(&(struct engine_options){.max_batch = 64}, check_small() ? 2 : LAW_FAMILIES);
    check_all(&(struct engine_options){.max_batch = 5, .prefill_chunk = 128, .share_prompts = -1},
              check_small() ? 1 : LAW_FAMILIES);
    dms_reads();
    return check_done();
}
