/* Linear layers. Weights are stored in panels of 16 outputs. The k products of an output are added in
 * sequence within blocks of 256, then the sums of the blocks in sequence, then the bias, then what out held.
 * With few rows, several panels are done at once, straight from the weights. With many rows, a block of one
 * panel is widened to fp32 once and used by all rows, 96 at a time. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/tile.h"

enum { K_BLOCK = 256, ROW_BLOCK = 96, GROUP_PANELS = 8, TASK_BYTES = 64 << 10 };

static const char *panel_at(const struct linear_args *a, int p)
{
    return (const char *)a->w.data + (size_t)p * (size_t)a->w.k * LANES * dtype_bytes(a->w.dtype);
}

static const float *x_at(const struct linear_args *a, int row, int j)
{
    return (const float *)a->x + (size_t)row * (size_t)a->x_stride + j;
}

INLINE void write_panel(const struct linear_args *a, int row, int p, struct v16 sum)
{
    int n = a->w.n - p * LANES < LANES ? a->w.n - p * LANES : LANES;
    float *out = a->out + (size_t)row * (size_t)a->out_stride + (size_t)p * LANES;
    if (a->w.bias)
        sum = v_add(sum, v_load(a->w.bias + (size_t)p * LANES));
    if (n == LANES) {
        v_store(out, a->accumulate ? v_add(v_load(out), sum) : sum);
    } else {
        v_storen(out, a->accumulate ? v_add(v_loadn(out, n), sum) : sum, n);
    }
}

/* Panels p0 .. p0+P-1, all R rows. */
INLINE void few_rows(const struct linear_args *a, const int R, const int P, const int bf16, int p0)
{
    struct v16 total[TILE_ROWS * TILE_PANELS], acc[TILE_ROWS * TILE_PANELS];
    const void *at[TILE_PANELS];
    for (int i = 0; i < R * P; i++)
        total[i] = v_set(0);
    for (int j = 0; j < a->w.k; j += K_BLOCK) {
        int k = a->w.k - j < K_BLOCK ? a->w.k - j : K_BLOCK;
        for (int p = 0; p < P; p++)
            at[p] = panel_at(a, p0 + p) + (size_t)j * LANES * (bf16 ? 2 : 4);
        for (int i = 0; i < R * P; i++)
            acc[i] = v_set(0);
        tile_run(R, P, bf16, acc, x_at(a, 0, j), (size_t)a->x_stride, 1, k, at);
        for (int i = 0; i < R * P; i++)
            total[i] = v_add(total[i], acc[i]);
    }
    for (int r = 0; r < R; r++)
        for (int p = 0; p < P; p++)
            write_panel(a, r, p0 + p, total[r * P + p]);
}

static void few_rows_task(const struct linear_args *a, int p0, int p1)
{
    int p = p0;
    switch (a->rows) {
#define CASE(R)                                                                                              \
    case R:                                                                                                  \
        for (; p + TILE_PANELS_OF(R) <= p1; p += TILE_PANELS_OF(R)) {                                        \
            if (a->w.dtype == DTYPE_BF16)                                                                    \
                few_rows(a, R, TILE_PANELS_OF(R), 1, p);                                                     \
            else                                                                                             \
                few_rows(a, R, TILE_PANELS_OF(R), 0, p);                                                     \
        }                                                                                                    \
        for (; p < p1; p++) {                                                                                \
            if (a->w.dtype == DTYPE_BF16)                                                                    \
                few_rows(a, R, 1, 1, p);                                                                     \
            else                                                                                             \
                few_rows(a, R, 1, 0, p);                                                                     \
        }                                                                                                    \
        break;
        TILE_CASES(CASE)
#undef CASE
    }
}

/* Sums of a group of panels over a block of rows, while k advances. */
struct rows_job {
    const struct linear_args *a;
    const float *packed; /* x by tiles, [k][rows of the tile], or NULL: x as it lies */
    int r0, r1;
    struct v16 total[GROUP_PANELS][ROW_BLOCK];
    _Alignas(64) float wide[K_BLOCK * LANES];
};

INLINE void block_tile(struct rows_job *b, const int R, const int bf16, int r, int j, int k, const void *w,
                       struct v16 *total)
{
    struct v16 acc[TILE_ROWS];
    const void *at[1] = {w};
    for (int i = 0; i < R; i++)
        acc[i] = v_set(0);
    if (b->packed)
        tile_run(R, 1, bf16, acc, b->packed + (size_t)r * (size_t)b->a->w.k + (size_t)(j * R), 1, R, k, at);
    else
        tile_run(R, 1, bf16, acc, x_at(b->a, r, j), (size_t)b->a->x_stride, 1, k, at);
    for (int i = 0; i < R; i++)
        total[i] = v_add(total[i], acc[i]);
}

/* One block of k of one panel, all rows of the job. */
static void block_panel(struct rows_job *b, int p, int j, int k, struct v16 *total)
{
    const void *w = panel_at(b->a, p) + (size_t)j * LANES * dtype_bytes(b->a->w.dtype);
    int half = b->a->w.dtype == DTYPE_BF16;
    if (half && b->r1 - b->r0 > 2 * TILE_ROWS) { /* worth widening */
        for (int i = 0; i < k; i++)
            v_store(b->wide + i * LANES, v_load_bf16((const uint16_t *)w + (size_t)i * LANES));
        w = b->wide;
        half = 0;
    }
    for (int r = b->r0, n; r < b->r1; r += n) {
        n = tile_split(r - b->r0, b->r1 - b->r0);
        switch (n) {
#define CASE(R)                                                                                              \
    case R:                                                                                                  \
        if (half)                                                                                            \
            block_tile(b, R, 1, r, j, k, w, total + (r - b->r0));                                            \
        else                                                                                                 \
            block_tile(b, R, 0, r, j, k, w, total + (r - b->r0));                                            \
        break;
            TILE_CASES(CASE)
#undef CASE
        }
    }
}

static void many_rows(struct rows_job *b, int p0, int p1)
{
    for (int p = p0; p < p1; p++)
        for (int r = b->r0; r < b->r1; r++)
            b->total[p - p0][r - b->r0] = v_set(0);
    for (int j = 0; j < b->a->w.k; j += K_BLOCK)
        for (int p = p0; p < p1; p++)
            block_panel(b, p, j, b->a->w.k - j < K_BLOCK ? b->a->w.k - j : K_BLOCK, b->total[p - p0]);
    for (int p = p0; p < p1; p++)
        for (int r = b->r0; r < b->r1; r++)
            write_panel(b->a, r, p, b->total[p - p0][r - b->r0]);
}

/* The tile's rows side by side, k by k, so that a tile reads one stream and not R rows that may share cache
 * sets. */
INLINE void pack_tile(const struct linear_args *a, const int R, int r, float *packed)
{
    float *to = packed + (size_t)r * (size_t)a->w.k;
    for (int j = 0; j < a->w.k; j++) {
        UNROLL
        for (int i = 0; i < R; i++)
            to[j * R + i] = *x_at(a, r + i, j);
    }
}

/* Row blocks are equal, so that tiles are: rows r0 .. r1-1 of block t. */
static void row_block(const struct linear_args *a, int t, int blocks, int *r0, int *r1)
{
    int size = (a->rows + blocks - 1) / blocks;
    *r0 = t * size < a->rows ? t * size : a->rows;
    *r1 = *r0 + size < a->rows ? *r0 + size : a->rows;
}

static void pack_rows(const struct linear_args *a, int blocks, float *packed, struct cpu_ctx *c)
{
    FOR_TASKS(c, t, blocks)
    {
        int r0, r1;
        row_block(a, t, blocks, &r0, &r1);
        for (int r = r0, n; r < r1; r += n) {
            n = tile_split(r - r0, r1 - r0);
            switch (n) {
#define CASE(R)                                                                                              \
    case R:                                                                                                  \
        pack_tile(a, R, r, packed);                                                                          \
        break;
                TILE_CASES(CASE)
#undef CASE
            }
        }
    }
    cpu_barrier(c);
}

/* Panels per task: enough bytes to be worth a task, yet several tasks for each thread. */
static int task_panels(const struct linear_args *a, int panels, int threads, int multiple)
{
    size_t bytes = (size_t)a->w.k * LANES * dtype_bytes(a->w.dtype);
    int by_size = (int)(TASK_BYTES / bytes), by_share = panels / (4 * threads);
    int n = by_size > by_share ? by_share : by_size;
    n = n / multiple * multiple;
    return n > multiple ? n : multiple;
}

void CPU_SYM(op_linear)(const void *args, struct cpu_ctx *c)
{
    const struct linear_args *a = args;
    int panels = (a->w.n + LANES - 1) / LANES;
    if (a->rows <= 0)
        return;
    if (a->rows <= TILE_ROWS) {
        int multiple = TILE_PANELS_OF(a->rows), step = task_panels(a, panels, c->n, multiple);
        while (step > 1 && step * c->n > panels)
            step /= 2;
        FOR_TASKS(c, t, (panels + step - 1) / step)
        few_rows_task(a, t * step, (t + 1) * step < panels ? (t + 1) * step : panels);
        return;
    }
    int blocks = (a->rows + ROW_BLOCK - 1) / ROW_BLOCK, step = panels * blocks / (4 * c->n);
    step = step < 1 ? 1 : step < GROUP_PANELS ? step : GROUP_PANELS;
    int groups = (panels + step - 1) / step;
    struct rows_job b = {.a = a, .packed = linear_packs(a) ? c->workspace : NULL};
    if (b.packed)
        pack_rows(a, blocks, c->workspace, c);
    FOR_TASKS(c, t, groups * blocks)
    {
        int p0 = t % groups * step;
        row_block(a, t / groups, blocks, &b.r0, &b.r1);
        many_rows(&b, p0, p0 + step < panels ? p0 + step : panels);
    }
}
