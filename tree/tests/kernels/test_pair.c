/* Attention to lists of at most two chunks gives the same bits as attention to the same pages where longer
 * lists would be possible. On a GPU the chunks are read by two blocks at a time, or where these are too many
 * by one block, and otherwise added up by a second kernel. */
#include <stdlib.h>

#include "tests/kernels/rig.h"

enum {
    N_SEQS = 8,
    N_ROWS = N_SEQS + 1,
    N_KV = 2,
    GROUP = 6,
    N_Q = N_KV * GROUP,
    MOST_FLOATS = N_ROWS * N_Q * 128,
    FEW = 128,
    MANY = 200
};

/* Of the sequences, around the lengths at which chunks begin. */
static const int pages[N_SEQS] = {1, 2, 31, 32, 33, 64, 65, FEW};

/* Every page but each `every`-th, or all pages; of list `l` of a row, from the l-th on. */
static void fill_lists(struct rig *r, int n_rows, int every, const int32_t **idx, const int32_t **len)
{
    int32_t *list = calloc((size_t)N_ROWS * (size_t)n_rows * FEW, sizeof *list), n[N_ROWS * N_Q] = {0};
    for (int i = n_rows; i < N_ROWS * n_rows; i++) /* row 0 is padding */
        for (int p = i % n_rows; p < pages[i / n_rows - 1]; p++)
            if (!every || p % every)
                list[i * FEW + n[i]++] = p;
    *idx = rig_up(r, list, (size_t)N_ROWS * (size_t)n_rows * FEW * sizeof *list);
    *len = rig_up(r, n, (size_t)(N_ROWS * n_rows) * sizeof *n);
    free(list);
}

static void launch_attend(struct rig *r, const struct attend_args *a, float *to)
{
    size_t bytes = (size_t)(N_ROWS * N_Q * a->kv.head_dim) * sizeof *to;
    memset(to, 0, bytes);
    rig_put(r, a->out, to, bytes);
    rig_run(r, OP_attend, a);
    rig_get(r, to, a->out, bytes);
}

/* Row `i` of the lists alone. */
static struct attend_args row_alone(const struct attend_args *a, int i)
{
    struct attend_args one = *a;
    one.rows.cap = 1;
    one.rows.seq += i;
    one.rows.pos += i;
    one.q += i * a->q_stride;
    one.idx += i * a->n_rows * a->cap;
    one.len += i * a->n_rows;
    return one;
}

/* By a promise of at most FEW pages, all rows at once and each alone, and without it. */
static void compare_pairs(struct rig *r, const struct cache *c, int n_rows, int every)
{
    static float apart[MOST_FLOATS], together[MOST_FLOATS], alone[MOST_FLOATS];
    int32_t seq[N_ROWS] = {-1, 0, 1, 2, 3, 4, 5, 6, 7}, pos[N_ROWS] = {0};
    int d = c->kv.head_dim;
    size_t row = (size_t)(N_Q * d);
    rig_fill(r, alone, N_ROWS * row);
    struct attend_args a = {.rows = {N_ROWS, rig_up(r, seq, sizeof seq), rig_up(r, pos, sizeof pos)},
                            .kv = c->kv,
                            .n_q = N_Q,
                            .q = rig_up(r, alone, sizeof alone),
                            .q_stride = N_Q * d,
                            .out = rig_alloc(r, N_ROWS * row * sizeof *apart),
                            .scale = 0.1f,
                            .granularity = SEL_PAGES,
                            .n_rows = n_rows,
                            .cap = FEW,
                            .block_pages = 1,
                            .plan = {rig_alloc(r, N_ROWS * N_KV * MANY * sizeof(struct plan_entry)),
                                     rig_alloc(r, N_ROWS * N_KV * sizeof(int32_t))}};
    for (int h = 0; h < N_Q; h++)
        a.row_of_q[h] = (uint8_t)(h * n_rows / N_Q);
    fill_lists(r, n_rows, every, &a.idx, &a.len);
    launch_attend(r, &a, apart);
    a.max_pages_read = FEW;
    launch_attend(r, &a, together);
    CHECK(memcmp(apart, together, sizeof apart) == 0);
    for (int i = 0; i < N_ROWS; i++) {
        struct attend_args one = row_alone(&a, i);
        launch_attend(r, &one, alone);
        CHECK(memcmp(alone, apart + (size_t)i * row, row * sizeof *alone) == 0);
        for (int h = 0; h < N_Q; h++)
            CHECK((apart[(size_t)i * row + (size_t)(h * d) + 7] != 0) ==
                  (i > 0 && (!every || pages[i - 1] > 1)));
    }
}

int main(void)
{
    static const struct {
        int d;
        enum dtype type;
    } rows[] = {{128, DTYPE_BF16}, {64, DTYPE_BF16}, {128, DTYPE_F32}};
    struct rig r;
    rig_open(&r, NULL, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cache c;
        cache_open(&c, &r, N_SEQS, 1, N_Q, N_KV, rows[i].d, MANY, rows[i].type);
        for (int s = 0; s < N_SEQS; s++)
            cache_prefill(&c, &r, s, 0, pages[s] * KV_PAGE_TOKENS - s);
        compare_pairs(&r, &c, 1, 0);
        compare_pairs(&r, &c, 1, 3);
        compare_pairs(&r, &c, N_KV, 2);
        cache_close(&c);
    }
    rig_close(&r);
    return check_done();
}
