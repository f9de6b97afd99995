/* The next token: greedy and its ties, Philox against the published vectors (through the draw), top-k, top-p,
 * bans, forced tokens, log-probabilities, and that draws follow the distribution. */
#include "tests/kernels/rig.h"

enum { VOCAB = 1000 };

static float logits[4 * VOCAB];
static int sampled; /* rows so far */

static struct sample_result sample_one(struct rig *r, const float *v, int vocab, struct sample_settings s,
                                       int pos, int *next)
{
    int32_t ids[2] = {0, pos}, after[2];
    struct sample_result out;
    int owned = r->n_owned;
    int32_t *dev = rig_up(r, ids, sizeof ids);
    struct sample_args a = {{1, dev, dev + 1},
                            rig_up(r, v, (size_t)vocab * 4),
                            vocab,
                            vocab,
                            rig_up(r, &s, sizeof s),
                            rig_alloc(r, sizeof out),
                            rig_alloc(r, 4),
                            dev + 1,
                            dev,
                            rig_alloc(r, (size_t)vocab * 4)};
    rig_run(r, OP_sample, &a);
    sampled++;
    rig_get(r, &out, a.out, sizeof out);
    rig_get(r, after, a.row_token, 4);
    CHECK_INT(after[0], out.token);
    rig_get(r, after, dev, sizeof after);
    CHECK_INT(after[1], pos + 1);
    int ends = out.bad;
    for (int i = 0; i < 8; i++)
        ends |= s.ends[i] == out.token;
    CHECK_INT(after[0], ends ? -1 : 0);
    *next = after[1];
    while (r->n_owned > owned)
        r->b->release(r->d, r->owned[--r->n_owned]);
    return out;
}

static struct sample_settings check_plain(void)
{
    struct sample_settings s = {.top_p = 1, .force = -1};
    memset(s.banned, 0xff, sizeof s.banned);
    memset(s.ends, 0xff, sizeof s.ends);
    return s;
}

static void check_greedy(struct rig *r)
{
    struct sample_settings s = check_plain();
    int next;
    const float v[6] = {1, 5, 5, 4, -INFINITY, NAN};
    CHECK_INT(sample_one(r, v, 6, s, 3, &next).token, 1);
    s.banned[3] = 1;
    CHECK_INT(sample_one(r, v, 6, s, 3, &next).token, 2);
    s.banned[7] = 2;
    CHECK_INT(sample_one(r, v, 6, s, 3, &next).token, 3);
    s = check_plain();
    s.force = 5;
    CHECK_INT(sample_one(r, v, 6, s, 3, &next).token, 5);
    CHECK_INT(sample_one(r, v, 6, s, 3, &next).bad, 1);
    CHECK_INT(sample_one(r, v, 5, s, 3, &next).bad, 0);
    s = check_plain();
    s.want_logprob = 1;
    rig_fill(r, logits, VOCAB);
    double sum = 0;
    for (int i = 0; i < VOCAB; i++)
        sum += exp((double)(logits[i] *= 10));
    logits[77] = 11;
    sum = 0;
    for (int i = 0; i < VOCAB; i++)
        sum += exp((double)logits[i]);
    struct sample_result x = sample_one(r, logits, VOCAB, s, 0, &next);
    CHECK_INT(x.token, 77);
    CHECK_INT(x.top, 77);
    CHECK_NEAR((double)x.logprob, 11 - log(sum), 2e-6);
    CHECK(x.top_logprob == x.logprob); /* bit for bit: that a token is the likeliest is told by this */
    float second = -INFINITY;
    for (int i = 0; i < VOCAB; i++)
        second = i != 77 && logits[i] > second ? logits[i] : second;
    CHECK(x.gap == 11 - second);
    s.force = 5;
    x = sample_one(r, logits, VOCAB, s, 0, &next);
    CHECK_NEAR((double)x.logprob, (double)logits[5] - log(sum), 5e-6);
    CHECK(x.token == 5 && x.top == 77);
    CHECK_NEAR((double)x.top_logprob, 11 - log(sum), 2e-6);
    s.banned[2] = 77; /* the likeliest of those that may be taken, among all tokens */
    x = sample_one(r, logits, VOCAB, s, 0, &next);
    CHECK(x.top != 77 && logits[x.top] == second);
    CHECK_NEAR((double)x.top_logprob, (double)second - log(sum), 5e-6);
}

/* A token that ends the sequence makes its row a padding row (see one()), wherever it stands in the list and
 * however it was chosen; the next step leaves such a row as it is. */
static void check_endings(struct rig *r)
{
    static const float v[4] = {1, 3, 2, 0};
    int next, over = 0, draws = rig_small() ? 2 : 8, apart = rig_small() ? 7 : 1;
    for (int at = 0; at < 8; at += apart)
        for (int id = 0; id < 4; id++) {
            struct sample_settings s = check_plain();
            s.ends[at] = id;
            CHECK_INT(sample_one(r, v, 4, s, 3, &next).token, 1);
            s.force = 2;
            CHECK_INT(sample_one(r, v, 4, s, 3, &next).token, 2);
            s.force = -1;
            s.temperature = 1;
            for (int pos = 0; pos < draws; pos++)
                over += sample_one(r, v, 4, s, pos, &next).token == id;
        }
    CHECK(over > 0 && over < (7 / apart + 1) * 4 * draws);
    struct sample_settings two[2] = {check_plain(), check_plain()};
    struct sample_result out[2];
    int32_t ids[6] = {0, 1, 5, 5, 7, 7}; /* places, positions, tokens */
    two[0].ends[3] = 1;
    int32_t *dev = rig_up(r, ids, sizeof ids);
    const float both[8] = {1, 3, 2, 0, 1, 3, 2, 0};
    struct sample_args a = {{2, dev, dev + 2},
                            rig_up(r, both, sizeof both),
                            4,
                            4,
                            rig_up(r, two, sizeof two),
                            rig_alloc(r, sizeof out),
                            dev + 4,
                            dev + 2,
                            dev,
                            rig_alloc(r, sizeof both)};
    for (int step = 0; step < 3; step++)
        rig_run(r, OP_sample, &a);
    rig_get(r, ids, dev, sizeof ids);
    CHECK(ids[0] == -1 && ids[1] == 1 && ids[2] == 6 && ids[3] == 8 && ids[4] == 1 && ids[5] == 1);
}

/* Logits that nothing can be drawn from are reported, wherever the odd one stands, on every instruction set.
 */
static void check_broken(struct rig *r)
{
    static const float odd[] = {NAN, -NAN, INFINITY, -INFINITY, 0};
    struct sample_settings s = check_plain();
    int next;
    for (int k = 0; k < 5; k++)
        for (int at = 0; at < 70; at += 23) {
            for (int i = 0; i < 70; i++)
                logits[i] = k == 3 ? -INFINITY : -3;
            logits[at] = odd[k];
            s.temperature = (float)(at % 2);
            CHECK_INT(sample_one(r, logits, 70, s, 0, &next).bad, k < 4);
        }
}

/* Which ids can be drawn at all? Small: a few draws, all of ids that can. */
static void check_support(struct rig *r, const float *v, int vocab, struct sample_settings s, const int *may,
                          int n)
{
    int seen[16] = {0}, next;
    for (int pos = 0; pos < (rig_small() ? 2 : 300); pos++) {
        int token = sample_one(r, v, vocab, s, pos, &next).token, known = 0;
        for (int i = 0; i < n; i++)
            if (may[i] == token) {
                seen[i]++;
                known = 1;
            }
        CHECK(known);
    }
    for (int i = 0; i < n; i++)
        CHECK(seen[i] > 0 || rig_small());
}

static void check_filters(struct rig *r)
{
    /* probabilities .4 .2 .2 .1 .1 (times any constant) */
    const float v[5] = {logf(2), logf(4), logf(1), logf(2), logf(1)};
    struct sample_settings s = check_plain();
    s.temperature = 1;
    s.seed = 9;
    check_support(r, v, 5, s, (const int[]){0, 1, 2, 3, 4}, 5);
    s.top_k = 2;
    check_support(r, v, 5, s, (const int[]){0, 1}, 2); /* ids 0 and 3 tie: the lower one */
    s.top_k = 3;
    check_support(r, v, 5, s, (const int[]){0, 1, 3}, 3);
    s.top_k = 0;
    s.top_p = 0.41f;
    check_support(r, v, 5, s, (const int[]){0, 1}, 2);
    s.top_p = 0.79f;
    check_support(r, v, 5, s, (const int[]){0, 1, 3}, 3);
    s.top_p = 0.01f;
    check_support(r, v, 5, s, (const int[]){1}, 1);
    s.top_p = 0.6f; /* of the .8 that top-k leaves: .4, then .2 more */
    s.top_k = 3;
    check_support(r, v, 5, s, (const int[]){0, 1}, 2);
    s.banned[0] = 1;
    s.top_p = 1;
    s.top_k = 0;
    check_support(r, v, 5, s, (const int[]){0, 2, 3, 4}, 4);
    s.temperature = 0.01f;
    check_support(r, v, 5, s, (const int[]){0, 3}, 2);
}

/* Frequencies over many positions; top-p over a vocabulary where the first few hundred do not suffice. Small:
 * too few positions to tell frequencies. */
static void check_frequencies(struct rig *r)
{
    struct sample_settings s = check_plain();
    int count[4] = {0}, next, low = 0, small = rig_small();
    const float v[4] = {0, logf(2), logf(3), logf(4)};
    s.temperature = 1;
    for (s.sample = 0; s.sample < 4; s.sample++)
        for (int pos = 0; pos < (small ? 2 : 1000); pos++)
            count[sample_one(r, v, 4, s, pos, &next).token]++;
    for (int i = 0; i < 4 && !small; i++)
        CHECK_NEAR(count[i], 400.0 * (i + 1), 130);
    for (int i = 0; i < VOCAB; i++)
        logits[i] = i < 700 ? 0 : -20;
    s.top_p = 0.5f;
    for (int pos = 0; pos < (small ? 2 : 300); pos++) {
        int token = sample_one(r, logits, VOCAB, s, pos, &next).token;
        CHECK(token <= 350); /* half the mass takes 350 equal ones and a little; the lower ids first */
        low += token < 175;
    }
    if (!small)
        CHECK_NEAR(low, 150, 40);
}

/* Known answers of Philox4x32-10 (Random123's kat_vectors) that fit our counter: key and counter of zeros
 * give 6627e8d5 e169c58d ..., so u = 0.399...; pos + 1 = 0 needs pos -1. */
static void philox_reference(struct rig *r)
{
    struct sample_settings s = check_plain();
    int next;
    float v[4096];
    s.temperature = 1;
    for (int i = 0; i < 4096; i++)
        v[i] = 0;
    CHECK_INT(sample_one(r, v, 4096, s, -1, &next).token, 0x6627e8d5u >> 20);
    s.seed = 0xffffffffffffffffu;
    s.problem = 0xffffffffffffffffu;
    s.sample = 0xffffffffu;
    CHECK_INT(sample_one(r, v, 4096, s, -2, &next).token, 0x408f276du >> 20);
}

static void sample_part(struct rig *r, const char *name, void (*run)(struct rig *r))
{
    int before = sampled;
    run(r);
    rig_ran(name, sampled - before);
}

int main(void)
{
    struct rig r;
    rig_each_isa(check_broken);
    rig_ran("broken logits", sampled);
    rig_open(&r, NULL, 1);
    sample_part(&r, "greedy", check_greedy);
    sample_part(&r, "endings", check_endings);
    sample_part(&r, "filters", check_filters);
    sample_part(&r, "frequencies", check_frequencies);
    sample_part(&r, "Philox", philox_reference);
    rig_close(&r);
    return check_done();
}
