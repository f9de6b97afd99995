/* Decode attention over tens of thousands of tokens, against loops in double precision. The lists, of all
 * tokens or of two thirds of the pages or of their tokens, have lengths around the one from which lists are
 * cut into larger chunks; of tokens one has more than fit into 15 bits. */
#include <math.h>
#include <stdlib.h>

#include "tests/kernels/rig.h"

enum { N_SEQS = 2, D = 64, N_Q = 2, TURN = 2048, MOST_PAGES = TURN * 3 / 2 + 3, MOST = MOST_PAGES * 16 };

/* Pages of the sequences, and of a list of two pages in three: at TURN and one less. */
static const int pages[2][N_SEQS] = {{TURN - 1, TURN}, {TURN * 3 / 2 - 2, TURN * 3 / 2}};

/* every: the last of so many pages is left out, 0: none is. MERGED: head h reads one page of three, another
 * one than its neighbours, and some pages no head reads. */
enum { MERGED = -1 };

static int check_reads(int every, int h, int page)
{
    if (every == MERGED)
        return page % 5 != 4 && (page + h) % 3 == 0;
    return !every || page % every != every - 1;
}

/* Query head h over the slots of the pages that it reads: its output, its logits; returns the log-sum-exp. */
static double plain_attention(const struct cache *c, int head, int n, int every, int h, const float *q,
                              double scale, double *out, double *weight)
{
    const float *k = c->k + (size_t)head * (size_t)c->max_slots * D,
                *v = c->v + (size_t)head * (size_t)c->max_slots * D;
    double top = -INFINITY, sum = 0;
    for (int t = 0; t < n; t++) {
        weight[t] = check_reads(every, h, t / 16) ? 0 : -INFINITY;
        for (int x = 0; x < D && weight[t] > -INFINITY; x++)
            weight[t] += scale * (double)q[x] * (double)k[(size_t)t * D + (size_t)x];
        top = fmax(top, weight[t]);
    }
    memset(out, 0, D * sizeof *out);
    for (int t = 0; t < n; t++) {
        double e = exp(weight[t] - top);
        sum += e;
        for (int x = 0; x < D; x++)
            out[x] += e * (double)v[(size_t)t * D + (size_t)x];
    }
    for (int x = 0; x < D; x++)
        out[x] /= sum;
    return top + log(sum);
}

/* Logits of a head with n slots, and -inf up to the end of its last page. */
static void check_logits(const float *have, const double *want, int n)
{
    int wrong = 0;
    for (int t = 0; t < kv_pages(n) * 16; t++) {
        double x = t < n ? want[t] : -INFINITY, y = (double)have[t];
        wrong += x != y && !(fabs(y - x) <= 5e-5); /* also where y is not a number */
    }
    CHECK_INT(wrong, 0);
}

/* The pages of n tokens without every `every`-th, or their tokens. Returns how many. */
static int make_list(int32_t *idx, int n, int every, int tokens)
{
    int len = 0;
    for (int t = 0; every && t < n; t += tokens ? 1 : 16)
        if (check_reads(every, 0, t / 16))
            idx[len++] = tokens ? t : t / 16;
    return len;
}

/* every: of so many pages the last is left out; 0: none. */
static void check_long(struct rig *r, enum dtype type, int every, int tokens)
{
    int cap = tokens ? MOST : MOST_PAGES;
    int32_t seq[N_SEQS] = {0, 1}, pos[N_SEQS], len[N_SEQS],
            *idx = calloc((size_t)(N_SEQS * cap), sizeof *idx);
    float q[N_SEQS * N_Q * D], out[N_SEQS * N_Q * D], lse[N_SEQS * N_Q];
    struct cache c;
    cache_open(&c, r, N_SEQS, 1, N_Q, 1, D, MOST_PAGES, type);
    rig_fill(r, q, N_SEQS * N_Q * D);
    for (int s = 0; s < N_SEQS; s++) {
        pos[s] = pages[every != 0][s] * 16 - 7 * s;
        cache_prefill(&c, r, s, 0, pos[s]);
        len[s] = make_list(idx + (size_t)(s * cap), pos[s], every, tokens);
        CHECK(!every || len[s] == pages[0][s] * (tokens ? 16 : 1));
    }
    struct attend_args a = {
        .rows = {N_SEQS, rig_up(r, seq, sizeof seq), rig_up(r, pos, sizeof pos)},
        .kv = c.kv,
        .n_q = N_Q,
        .q = rig_up(r, q, sizeof q),
        .q_stride = N_Q * D,
        .out = rig_alloc(r, sizeof out),
        .scale = 0.5f,
        .granularity = tokens  ? SEL_TOKENS
                       : every ? SEL_PAGES
                               : SEL_LIVE,
        .n_rows = 1,
        .cap = cap,
        .block_pages = 1,
        .idx = rig_up(r, idx, (size_t)(N_SEQS * cap) * sizeof *idx),
        .len = rig_up(r, len, sizeof len),
        .plan = {rig_alloc(r, N_SEQS * MOST_PAGES * sizeof(struct plan_entry)),
                 rig_alloc(r, N_SEQS * sizeof(int32_t))},
        .stats = {rig_alloc(r, (size_t)N_SEQS * N_Q * MOST * 4), rig_alloc(r, sizeof lse), MOST, 0}};
    rig_run(r, OP_attend, &a);
    rig_get(r, out, a.out, sizeof out);
    rig_get(r, lse, a.stats.lse, sizeof lse);
    double *weight = malloc(MOST * sizeof *weight);
    float *logits = malloc((size_t)N_SEQS * N_Q * MOST * sizeof *logits);
    rig_get(r, logits, a.stats.logits, (size_t)N_SEQS * N_Q * MOST * sizeof *logits);
    for (int i = 0; i < N_SEQS * N_Q; i++) {
        double want[D],
            l = plain_attention(&c, i / N_Q, pos[i / N_Q], every, 0, q + i * D, 0.5, want, weight);
        CHECK_NEAR(lse[i], l, 2e-5);
        check_logits(logits + (size_t)i * MOST, weight, pos[i / N_Q]);
        for (int x = 0; x < D; x++)
            CHECK_NEAR(out[i * D + x], want[x], rig_rounds(r) && type == DTYPE_BF16 ? 2e-5 : 2e-6);
    }
    /* Without statistics another kernel runs, with the same arithmetic. */
    float again[N_SEQS * N_Q * D];
    a.stats = (struct stats){0};
    a.out = rig_alloc(r, sizeof again);
    rig_run(r, OP_attend, &a);
    rig_get(r, again, a.out, sizeof again);
    CHECK(memcmp(out, again, sizeof out) == 0);
    free(idx);
    free(logits);
    free(weight);
    cache_close(&c);
}

/* Twelve heads of one group, each with its own list, over more pages than are merged at once, in a table of
 * an odd number of them; with in_order the kernel takes the number of pages from the position. */
static void check_merged(struct rig *r, enum dtype type, int n, int in_order)
{
    enum { HEADS = 12, LONGEST = 1500, PAGES = LONGEST + 1 };
    static int32_t idx[HEADS * PAGES];
    int32_t seq = 0, pos = n - 1, len[HEADS] = {0};
    float q[HEADS * D], out[HEADS * D];
    double *weight = malloc((size_t)n * sizeof *weight), worst = 0;
    struct cache c;
    CHECK(kv_pages(n) <= LONGEST);
    cache_open(&c, r, 1, 1, HEADS, 1, D, PAGES, type);
    cache_prefill(&c, r, 0, 0, n);
    rig_fill(r, q, HEADS * D);
    for (int h = 0; h < HEADS; h++)
        for (int page = 0; page < PAGES; page++) /* also pages that are not there */
            if (check_reads(MERGED, h, page))
                idx[h * PAGES + len[h]++] = page;
    struct attend_args a = {
        .rows = {1, rig_up(r, &seq, sizeof seq), rig_up(r, &pos, sizeof pos)},
        .kv = c.kv,
        .n_q = HEADS,
        .q = rig_up(r, q, sizeof q),
        .q_stride = HEADS * D,
        .out = rig_alloc(r, sizeof out),
        .scale = 0.5f,
        .granularity = SEL_PAGES,
        .n_rows = HEADS,
        .cap = PAGES,
        .block_pages = 1,
        .in_order = in_order,
        .idx = rig_up(r, idx, sizeof idx),
        .len = rig_up(r, len, sizeof len),
        .plan = {rig_alloc(r, PAGES * sizeof(struct plan_entry)), rig_alloc(r, sizeof(int32_t))}};
    for (int h = 0; h < HEADS; h++)
        a.row_of_q[h] = (uint8_t)h;
    rig_run(r, OP_attend, &a);
    rig_get(r, out, a.out, sizeof out);
    for (int h = 0; h < HEADS; h++) {
        double want[D];
        plain_attention(&c, 0, n, MERGED, h, q + h * D, 0.5, want, weight);
        for (int x = 0; x < D; x++)
            worst = fmax(worst, fabs((double)out[h * D + x] - want[x]));
    }
    CHECK_NEAR(worst, 0, rig_rounds(r) && type == DTYPE_BF16 ? 2e-5 : 2e-6);
    free(weight);
    cache_close(&c);
}

int main(void)
{
    struct rig r;
    rig_open(&r, NULL, 2);
    for (int every = 0; every <= (rig_small() ? 0 : 3); every += 3) {
        check_long(&r, DTYPE_BF16, every, 0);
        if (!rig_small())
            check_long(&r, DTYPE_F32, every, 0);
    }
    for (int fp32 = 0; fp32 < (rig_small() ? 0 : 2); fp32++)
        check_long(&r, fp32 ? DTYPE_F32 : DTYPE_BF16, 3, 1);
    for (int i = 0; i < 4; i++) /* a full last page, and one with a single token */
        check_merged(&r, i < 2 ? DTYPE_BF16 : DTYPE_F32, (rig_small() ? 1030 : 1490) * 16 + i % 2,
                     i % 3 != 0);
    rig_close(&r);
    return check_done();
}
