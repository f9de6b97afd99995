/* Lists of sinks and recent tokens, and the union of the heads' rankings, against their definitions done
 * plainly. */
#include <stdlib.h>

#include "tests/kernels/rig.h"

enum { ROWS = 3, STRIDE = 4096, CAP = STRIDE, LONG = 12288 };

static void check_window(struct rig *r)
{
    static const struct {
        int fixed, sinks;
        double ratio;
        int s, w; /* the context, and what is seen of it; w 0: all */
    } cases[] = {{8, 4, 0, 5, 0},   {8, 4, 0, 8, 0},       {8, 4, 0, 9, 8},       {8, 0, 0, 20, 8},
                 {8, 7, 0, 20, 8},  {0, 4, 0.3, 400, 0},   {0, 4, 0.3, 129, 128}, {0, 4, 0.3, 1000, 300},
                 {0, 4, 1, 900, 0}, {0, 4, 0.3, 999, 299}, {2, 1, 0, 3, 2},       {8, 9, 0, 20, 8}};
    static int32_t idx[ROWS * CAP];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int s = cases[i].s, w = cases[i].w, sinks = cases[i].sinks < w ? cases[i].sinks : w;
        int32_t ids[2 * ROWS] = {0, -1, 1, s - 1, 3, s - 1}, len[ROWS] = {-7, -7, -7};
        int owned = r->n_owned;
        int32_t *dev = rig_up(r, ids, sizeof ids);
        struct window_list_args a = {.rows = {ROWS, dev, dev + ROWS},
                                     .params = {.kind = TOPK_FIXED, .k = cases[i].fixed},
                                     .sinks = cases[i].sinks,
                                     .idx = rig_alloc(r, sizeof idx),
                                     .len = rig_up(r, len, sizeof len),
                                     .cap = CAP};
        if (!cases[i].fixed)
            a.params = (struct topk_params){.kind = TOPK_RATIO, .ratio = cases[i].ratio, .min_tokens = 128};
        if (s == 400) /* at least as many as the context has */
            a.params.min_tokens = 400;
        rig_run(r, OP_window_list, &a);
        rig_get(r, idx, a.idx, sizeof idx);
        rig_get(r, len, a.len, sizeof len);
        CHECK_INT(len[1], -7);
        for (int row = 0; row < ROWS; row += 2) {
            CHECK_INT(len[row], w ? w : -1);
            for (int k = 0; k < w; k++)
                CHECK_INT(idx[row * CAP + k], k < sinks ? k : s - w + k);
        }
        while (r->n_owned > owned)
            r->b->release(r->d, r->owned[--r->n_owned]);
    }
}

static const float *sorted;

static int by_logit(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return sorted[a] != sorted[b] ? (sorted[a] < sorted[b] ? 1 : -1) : a - b;
}

/* What LessIsMore reads of s tokens under n_q heads: k in all. */
static int union_reference(const float *logits, int n_q, int stride, int s, int k, double middle, int sinks,
                           char *in)
{
    static int rank[128 * STRIDE];
    int m = (int)(middle * k), recent = k - m, n = 0, found = 0;
    sinks = recent < sinks ? 0 : sinks;
    memset(in, 0, (size_t)s);
    for (int t = 0; t < s; t++)
        n += in[t] = t < sinks || t >= s - (recent - sinks);
    for (int q = 0; q < n_q; q++) {
        int c = 0;
        for (int t = sinks; t < s - (recent - sinks); t++)
            rank[q * stride + c++] = t;
        sorted = logits + q * stride;
        qsort(rank + q * stride, (size_t)c, sizeof(int), by_logit);
    }
    for (int i = 0; i < m; i++)
        for (int q = 0; q < n_q && found < m; q++)
            if (!in[rank[q * stride + i]]) {
                in[rank[q * stride + i]] = 1;
                found++;
            }
    return n + found;
}

static void rank_union(struct rig *r)
{
    /* The last: 9,900 ranks are more than a GPU with 99 KiB of shared memory sorts there. */
    static const struct {
        int n_q, s, k, sinks;
        double middle;
        int distinct;
    } cases[] = {
        {4, 40, 16, 4, 0.75, 1000},     {12, 333, 128, 4, 0.75, 9}, {1, 100, 30, 4, 0.75, 50},
        {8, 50, 50, 4, 0.75, 7},        {3, 64, 8, 4, 0.75, 100},   {8, 4000, 1024, 4, 0.75, 1 << 20},
        {32, 3000, 600, 0, 1, 40},      {2, 200, 64, 4, 0, 100},    {128, 1500, 150, 4, 0.5, 1 << 20},
        {6, 1, 128, 4, 0.75, 1 << 9},   {6, 130, 128, 4, 0.75, 1},  {5, 2047, 2000, 16, 0.9, 1 << 20},
        {3, 12000, 11000, 4, 0.9, 5000}};
    static float logits[ROWS * 128 * STRIDE], out[ROWS * LONG];
    static int32_t idx[ROWS * LONG];
    static char in[LONG];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int s = cases[i].s, n_q = cases[i].n_q, k = cases[i].k < s ? cases[i].k : s;
        int stride = s > STRIDE ? LONG : STRIDE;
        int32_t ids[2 * ROWS] = {0, -1, 1, s - 1, 3, s - 1}, len[ROWS];
        for (int x = 0; x < ROWS * n_q * stride; x++)
            logits[x] = (float)(rig_below(r, cases[i].distinct) - cases[i].distinct / 2) * 0.03f;
        int owned = r->n_owned;
        int32_t *dev = rig_up(r, ids, sizeof ids), *n = rig_alloc(r, 2 * sizeof len);
        size_t bytes = (size_t)(ROWS * n_q * stride) * sizeof(float);
        struct rank_union_args u = {.rows = {ROWS, dev, dev + ROWS},
                                    .n_q = n_q,
                                    .in = {rig_up(r, logits, bytes), NULL, stride, 0},
                                    .params = {.kind = TOPK_FIXED, .k = cases[i].k},
                                    .middle = cases[i].middle,
                                    .sinks = cases[i].sinks,
                                    .out = {rig_alloc(r, sizeof out), n, n + ROWS, 1, stride}};
        rig_run(r, OP_rank_union, &u);
        struct topk_args a = {.rows = u.rows,
                              .in = u.out,
                              .params = u.params,
                              .idx = rig_alloc(r, sizeof idx),
                              .len = rig_alloc(r, sizeof len),
                              .cap = stride};
        rig_run(r, OP_topk, &a);
        rig_get(r, idx, a.idx, sizeof idx);
        rig_get(r, len, a.len, sizeof len);
        for (int row = 0; row < ROWS; row += 2) {
            CHECK_INT(union_reference(logits + row * n_q * stride, n_q, stride, s, k, cases[i].middle,
                                      cases[i].sinks, in),
                      k);
            CHECK_INT(len[row], k);
            for (int j = 0; j < len[row]; j++)
                CHECK(idx[row * stride + j] < s && in[idx[row * stride + j]]);
        }
        while (r->n_owned > owned)
            r->b->release(r->d, r->owned[--r->n_owned]);
    }
}

int main(void)
{
    struct rig r;
    rig_open(&r, NULL, 2);
    check_window(&r);
    rank_union(&r);
    rig_close(&r);
    return check_done();
}
