/* Linear layers, and gates and ups with SwiGLU, against double-precision loops, over tables of shapes, and
 * rows against the same rows among others. */
#include "tests/kernels/rig.h"

enum { ROOM = 17 << 18, OUTPUTS = 1 << 15 };
static float buf_a[ROOM], buf_b[ROOM], buf_c[ROOM], got[ROOM], bias[OUTPUTS];

static uint16_t half_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return (uint16_t)(u >> 16);
}

/* The same product with x as bf16, which it is already; x_stride a multiple of 8. */
static void linear_bf16(struct rig *r, struct linear_args a, const float *x, int os)
{
    int stride = (a.w.k + 7) / 8 * 8;
    static uint16_t half[ROOM];
    static float again[ROOM];
    for (int i = 0; i < a.rows * a.w.k; i++)
        half[i / a.w.k * stride + i % a.w.k] = half_of(x[i / a.w.k * a.x_stride + i % a.w.k]);
    a.x = rig_up(r, half, (size_t)(a.rows * stride) * 2);
    a.x_stride = stride;
    a.out = rig_up(r, buf_c, (size_t)(a.rows * os) * 4);
    a.type = DTYPE_BF16;
    rig_run(r, OP_linear, &a);
    rig_get(r, again, a.out, (size_t)(a.rows * os) * 4);
    CHECK(memcmp(got, again, (size_t)(a.rows * os) * 4) == 0);
}

/* Some rows by themselves: bit for bit what they are in company. */
static void check_alone(struct rig *r, struct linear_args a, int os)
{
    static float one[OUTPUTS];
    const char *x = a.x;
    int rows = a.rows, pick[3] = {0, rows / 2, rows - 1};
    for (int i = 0; i < 3; i++) {
        a.rows = 1;
        a.x = x + (size_t)pick[i] * (size_t)a.x_stride * dtype_bytes(a.type);
        a.out = rig_up(r, buf_c + pick[i] * os, (size_t)os * 4);
        rig_run(r, OP_linear, &a);
        rig_get(r, one, a.out, (size_t)os * 4);
        CHECK(memcmp(one, got + pick[i] * os, (size_t)os * 4) == 0);
    }
}

static void check_linear(struct rig *r, int rows, int n, int k, enum dtype t, int with_bias, int accumulate,
                         int decode)
{
    int xs = k + 4, os = (n + 3) / 4 * 4 + 8;
    struct weight w = rig_weight(r, n, k, t, buf_a, with_bias ? bias : NULL);
    rig_fill(r, buf_b, (size_t)(rows * xs));
    for (int i = 0; t == DTYPE_BF16 && rig_rounds(r) && i < rows * xs; i++)
        buf_b[i] = rig_bf16(buf_b[i]);
    rig_fill(r, buf_c, (size_t)(rows * os));
    struct linear_args a = {w,
                            rig_up(r, buf_b, (size_t)(rows * xs) * 4),
                            rig_up(r, buf_c, (size_t)(rows * os) * 4),
                            rows,
                            xs,
                            os,
                            accumulate,
                            DTYPE_F32,
                            decode};
    rig_run(r, OP_linear, &a);
    rig_get(r, got, a.out, (size_t)(rows * os) * 4);
    double worst = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < os; j++) {
            double want = buf_c[i * os + j];
            if (j < n) {
                want = accumulate ? want : 0;
                want += with_bias ? bias[j] : 0;
                for (int x = 0; x < k; x++)
                    want += (double)buf_a[(size_t)j * (size_t)k + (size_t)x] * (double)buf_b[i * xs + x];
            }
            double error = fabs(want - (double)got[i * os + j]);
            worst = error > worst ? error : worst;
        }
    CHECK_NEAR(worst, 0, 2e-7 * (k + 10));
    if (t == DTYPE_BF16 && r->b->activations == DTYPE_BF16)
        linear_bf16(r, a, buf_b, os);
    check_alone(r, a, os);
    rig_weight_free(r, &w);
}

/* Some outputs against loops. old: what is added to. */
static void check_sampled(struct rig *r, int rows, int n, int k, const float *x, const float *old)
{
    for (int i = 0; i < 100; i++) {
        int row = rig_below(r, rows), j = rig_below(r, n);
        double want = old[row * n + j] + (double)bias[j];
        for (int e = 0; e < k; e++)
            want += (double)buf_a[(size_t)j * (size_t)k + (size_t)e] * (double)x[row * k + e];
        CHECK_NEAR((double)got[row * n + j], want, 2e-7 * (k + 10));
    }
}

/* Rows of a decode step, all at once and fewer at a time, which forms with other tiles take, and with other
 * parts of a sum a block: the same bits. */
static void check_together(struct rig *r, int rows, int n, int k)
{
    static const int at_once[] = {1, 8, 20, 33, 65, 80, 129, 200, 300, 450};
    static float some[ROOM];
    static uint16_t half[ROOM];
    size_t bytes = (size_t)(rows * n) * 4, elem = dtype_bytes(r->b->activations);
    CHECK(k % 16 == 0 && n % 8 == 0); /* or it would be the plain kernel's work, a row at a time */
    struct weight w = rig_weight(r, n, k, DTYPE_BF16, buf_a, bias);
    rig_fill(r, buf_b, (size_t)(rows * k));
    for (int i = 0; i < rows * k; i++) {
        buf_b[i] = rig_bf16(buf_b[i]);
        half[i] = half_of(buf_b[i]);
    }
    rig_fill(r, buf_c, (size_t)(rows * n));
    const char *x = rig_up(r, elem == 2 ? (void *)half : (void *)buf_b, (size_t)(rows * k) * elem);
    float *out = rig_up(r, buf_c, bytes);
    struct linear_args a = {w, x, out, rows, k, n, 1, r->b->activations, 1};
    rig_run(r, OP_linear, &a);
    rig_get(r, got, out, bytes);
    check_sampled(r, rows, n, k, buf_b, buf_c);
    for (size_t s = 0; s < sizeof at_once / sizeof *at_once && at_once[s] < rows; s++) {
        rig_put(r, out, buf_c, bytes);
        for (int row = 0; row < rows; row += at_once[s]) {
            a.rows = rows - row < at_once[s] ? rows - row : at_once[s];
            a.x = x + (size_t)(row * k) * elem;
            a.out = out + row * n;
            rig_run(r, OP_linear, &a);
        }
        rig_get(r, some, out, bytes);
        CHECK(memcmp(got, some, bytes) == 0);
    }
    rig_weight_free(r, &w);
}

/* What the gates, ups and SwiGLU of row i must give at output j, and how far off it may be. */
static double gated_value(const float *x, int i, int j, int n, int k, enum dtype t, int with_bias,
                          enum glu glu, double *margin)
{
    double gate = with_bias ? (double)bias[j] : 0, up = with_bias ? (double)bias[n + j] : 0;
    for (int e = 0; e < k; e++) {
        double one = x[i * k + e];
        gate += one * (double)buf_a[(size_t)j * (size_t)k + (size_t)e];
        up += one * (double)buf_a[(size_t)(n + j) * (size_t)k + (size_t)e];
    }
    double want = rig_glu(glu, gate, up);
    *margin = 4e-7 * (k + 10) * (1 + fabs(gate) + fabs(up)) + (t == DTYPE_BF16 ? fabs(want) / 256 : 0);
    return want;
}

/* linear_swiglu against loops, and some rows alone. t: of the weight, type: of x and what comes out. */
static void check_gated(struct rig *r, int rows, int n, int k, enum dtype t, enum dtype type, int decode,
                        int with_bias, enum glu glu)
{
    static uint16_t half[ROOM], out[ROOM], one[OUTPUTS];
    static float whole[ROOM], alone_out[OUTPUTS];
    size_t size = dtype_bytes(type), width = (size_t)n * size;
    struct weight w = rig_weight(r, 2 * n, k, t, buf_a, with_bias ? bias : NULL);
    rig_fill(r, buf_b, (size_t)(rows * k));
    for (int i = 0; i < rows * k; i++) {
        buf_b[i] = t == DTYPE_BF16 ? rig_bf16(buf_b[i]) : buf_b[i];
        half[i] = half_of(buf_b[i]);
    }
    struct linear_swiglu_args a = {.w = w, .rows = rows, .type = type, .decode = decode, .glu = glu};
    a.x = rig_up(r, type == DTYPE_BF16 ? (void *)half : (void *)buf_b, (size_t)(rows * k) * size);
    a.workspace = rig_up(r, buf_c, (size_t)(rows * 2 * n) * 4);
    a.out = rig_up(r, buf_c, (size_t)rows * width);
    void *all = type == DTYPE_BF16 ? (void *)out : (void *)whole;
    rig_run(r, OP_linear_swiglu, &a);
    rig_get(r, all, a.out, (size_t)rows * width);
    for (int i = 0; i < rows * n; i++) {
        double margin, want = gated_value(buf_b, i / n, i % n, n, k, type, with_bias, glu, &margin);
        uint32_t u = (uint32_t)out[i] << 16;
        float have = whole[i];
        if (type == DTYPE_BF16)
            memcpy(&have, &u, 4);
        CHECK_NEAR((double)have, want, margin);
    }
    int pick[3] = {0, rows / 2, rows - 1};
    const char *x = a.x;
    for (int i = 0; i < 3; i++) {
        void *single = type == DTYPE_BF16 ? (void *)one : (void *)alone_out;
        a.rows = 1;
        a.x = x + (size_t)pick[i] * (size_t)k * size;
        rig_run(r, OP_linear_swiglu, &a);
        rig_get(r, single, a.out, width);
        CHECK(memcmp(single, (char *)all + (size_t)pick[i] * width, width) == 0);
    }
    rig_weight_free(r, &w);
}

/* Rows of a decode step, 300 at once and fewer at a time, where kernels with rows as the first factor and as
 * the second meet: the same bits. The second half of k takes from an up what the first has added, so that all
 * of it is rounding, which another order of summation would change. */
static void few_and_many(struct rig *r, int gates)
{
    enum { ROWS = 300, MOST = 304, K = 336 };
    static const int at_once[] = {1, 8, 32, 64, 128, 129};
    static uint16_t ups[MOST * K], x[ROWS * K], all[ROWS * MOST], some[ROWS * MOST];
    size_t bytes = (size_t)(ROWS * gates) * 2;
    if (r->b->activations != DTYPE_BF16)
        return;
    struct weight w = rig_weight(r, 2 * gates, K, DTYPE_BF16, buf_a, NULL);
    rig_fill(r, buf_b, ROWS * K);
    for (int i = 0; i < gates * K; i++) /* the sign is the highest bit */
        ups[i] = half_of(buf_a[gates * K + (i % K < K / 2 ? i : i - K / 2)]) ^ (i % K < K / 2 ? 0 : 0x8000);
    for (int i = 0; i < ROWS * K; i++)
        x[i] = half_of(rig_bf16(buf_b[i % K < K / 2 ? i : i - K / 2]));
    CHECK_INT(r->b->weight_put(r->d, &w, gates, gates, DTYPE_BF16, ups), 0);
    struct linear_swiglu_args a = {.w = w, .rows = ROWS, .type = DTYPE_BF16, .decode = 1};
    char *rows = rig_up(r, x, sizeof x), *out = rig_up(r, all, bytes);
    a.x = rows;
    a.workspace = rig_up(r, buf_c, 4 * bytes);
    a.out = out;
    rig_run(r, OP_linear_swiglu, &a);
    rig_get(r, all, out, bytes);
    for (size_t s = 0; s < sizeof at_once / sizeof *at_once; s++) {
        rig_put(r, out, x, bytes < sizeof x ? bytes : sizeof x); /* so that the last results are gone */
        for (int row = 0; row < ROWS; row += at_once[s]) {
            a.rows = ROWS - row < at_once[s] ? ROWS - row : at_once[s];
            a.x = rows + (size_t)row * K * 2;
            a.out = out + (size_t)(row * gates) * 2;
            rig_run(r, OP_linear_swiglu, &a);
        }
        rig_get(r, some, out, bytes);
        CHECK(memcmp(all, some, bytes) == 0);
    }
    rig_weight_free(r, &w);
}

/* Small, on a GPU: without what cuBLASLt multiplies. compute-sanitizer's racecheck takes all memory while its
 * algorithms are tried, and ends. */
static int ours_alone(const struct rig *r)
{
    return rig_small() && rig_rounds(r);
}

/* Other units, and biases, which are added before the unit: of weights whose gates and ups a GPU does at once
 * where there is neither, of one that it never does so, and of fp32. */
static void units_and_biases(struct rig *r)
{
    static const struct {
        int rows, n, k;
        enum dtype w;
        int decode;
    } row[] = {{70, 72, 64, DTYPE_BF16, 0},
               {70, 72, 64, DTYPE_BF16, 1},
               {5, 68, 144, DTYPE_BF16, 1},
               {3, 20, 48, DTYPE_F32, 0}};
    int ran = 0;
    for (size_t i = 0; i < 6 * sizeof row / sizeof *row; i++) {
        int at = (int)i / 6, with_bias = (int)i % 2;
        enum glu glu = (enum glu)(i / 2 % 3);
        if (ours_alone(r) && !row[at].decode)
            continue;
        check_gated(r, row[at].rows, row[at].n, row[at].k, row[at].w, DTYPE_F32, row[at].decode, with_bias,
                    glu);
        if (row[at].w == DTYPE_BF16 && r->b->activations == DTYPE_BF16)
            check_gated(r, row[at].rows, row[at].n, row[at].k, row[at].w, DTYPE_BF16, row[at].decode,
                        with_bias, glu);
        ran++;
    }
    rig_ran("other gated units, and biases", ran);
}

/* Of prompts: tiles of 128 rows and 64 to 128 gates on a GPU, and what is left at their ends; fewer tiles of
 * k than a ring has stages, and more; more tiles than blocks. Of decode steps: tiles of 8, 32, 64 and 128
 * rows with 64, 96 (up to 288 gates on three multiprocessors, to 12,672 on 132) and 128 gates, and then those
 * of prompts. With three multiprocessors 390 rows have tiles of 256 rows, with 72 gates where there are 200
 * and 96 where there are 92, and 130 rows and 200 gates tiles of 72 gates. */
static void all_gated(struct rig *r)
{
    static const struct {
        int rows, n, k;
        enum dtype w;
        int decode;
    } row[] = {{1, 64, 64, DTYPE_BF16, 0},     {3, 20, 48, DTYPE_F32, 0},      {5, 68, 144, DTYPE_BF16, 0},
               {128, 196, 80, DTYPE_BF16, 0},  {130, 132, 384, DTYPE_BF16, 0}, {300, 260, 336, DTYPE_BF16, 0},
               {257, 1000, 64, DTYPE_BF16, 0}, {520, 1720, 48, DTYPE_BF16, 0}, {520, 3328, 48, DTYPE_BF16, 0},
               {1, 64, 64, DTYPE_BF16, 1},     {3, 20, 48, DTYPE_F32, 1},      {7, 200, 144, DTYPE_BF16, 1},
               {5, 68, 144, DTYPE_BF16, 1},    {8, 72, 512, DTYPE_BF16, 1},    {9, 136, 336, DTYPE_BF16, 1},
               {32, 64, 400, DTYPE_BF16, 1},   {33, 200, 272, DTYPE_BF16, 1},  {64, 72, 336, DTYPE_BF16, 1},
               {65, 72, 272, DTYPE_BF16, 1},   {130, 264, 336, DTYPE_BF16, 1}, {300, 72, 80, DTYPE_BF16, 1},
               {3, 17000, 16, DTYPE_BF16, 1},  {130, 200, 272, DTYPE_BF16, 1}, {390, 200, 272, DTYPE_BF16, 1},
               {6, 304, 272, DTYPE_BF16, 1},   {20, 208, 400, DTYPE_BF16, 1},  {31, 304, 272, DTYPE_BF16, 1},
               {64, 208, 400, DTYPE_BF16, 1},  {40, 304, 336, DTYPE_BF16, 1},  {70, 304, 272, DTYPE_BF16, 1},
               {4, 9000, 208, DTYPE_BF16, 1},  {60, 9000, 80, DTYPE_BF16, 1},  {50, 13000, 80, DTYPE_BF16, 1},
               {390, 92, 272, DTYPE_BF16, 1},  {100, 208, 272, DTYPE_BF16, 1}};
    int ran[2] = {0};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (rig_small() && row[i].rows * row[i].n > (row[i].decode ? 80000 : 40000))
            continue;
        if (ours_alone(r) && (row[i].w != DTYPE_BF16 || row[i].n > 16000))
            continue;
        if (!ours_alone(r))
            check_gated(r, row[i].rows, row[i].n, row[i].k, row[i].w, DTYPE_F32, row[i].decode, 0, GLU_SILU);
        if (row[i].w == DTYPE_BF16 && r->b->activations == DTYPE_BF16)
            check_gated(r, row[i].rows, row[i].n, row[i].k, row[i].w, DTYPE_BF16, row[i].decode, 0, GLU_SILU);
        ran[row[i].decode]++;
    }
    few_and_many(r, 72);
    few_and_many(r, 304);
    units_and_biases(r);
    rig_ran("gates, ups and SwiGLU", ran[0]);
    rig_ran("gates, ups and SwiGLU in decode steps", ran[1]);
}

/* Weights whose sums have 1, 2, 4 and 8 parts, and one with long sums. Then, on a GPU itself, so many outputs
 * that all forms are fastest for some number of rows, and long sums of 1, 2 and 4 parts; cuBLASLt has no room
 * for that many shapes. */
static void all_together(struct rig *r)
{
    static const struct {
        int rows, n, k;
    } row[] = {{300, 136, 112},  {210, 136, 208},  {140, 200, 400},   {300, 72, 608},   {40, 72, 8192},
               {512, 6144, 512}, {512, 6400, 256}, {512, 4288, 256},  {72, 4296, 976},  {512, 4096, 1024},
               {72, 2120, 2000}, {512, 2880, 256}, {512, 2176, 1536}, {512, 832, 4096}, {512, 2048, 1536},
               {72, 1032, 4048}, {512, 1472, 512}, {512, 1088, 2048}, {512, 768, 2048}, {512, 832, 3072},
               {512, 320, 8192}};
    enum { QUICK = 5 };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        if (i < QUICK || (rig_own_products(r) && !rig_small()))
            check_together(r, row[i].rows, row[i].n, row[i].k);
}

static void check_all(struct rig *r)
{
    int ran[2][2] = {{0}}; /* by weight (bf16?) and decode */
    static const struct {
        int rows, n, k;
        enum dtype w;
        int with_bias, accumulate, decode;
    } row[] = {
        {1, 64, 64, DTYPE_F32, 1, 0, 0},       {1, 512, 256, DTYPE_BF16, 0, 1, 0},
        {2, 48, 300, DTYPE_F32, 0, 0, 0},      {3, 17, 513, DTYPE_BF16, 1, 0, 0},
        {4, 1, 7, DTYPE_F32, 0, 0, 0},         {5, 96, 256, DTYPE_BF16, 0, 1, 0},
        {6, 33, 257, DTYPE_F32, 1, 0, 0},      {7, 64, 768, DTYPE_BF16, 0, 0, 0},
        {13, 40, 100, DTYPE_F32, 0, 0, 0},     {33, 80, 90, DTYPE_BF16, 1, 1, 0},
        {97, 24, 300, DTYPE_F32, 0, 0, 0},     {200, 64, 40, DTYPE_BF16, 0, 0, 0},
        {1100, 64, 48, DTYPE_BF16, 0, 1, 0},   {2048, 72, 64, DTYPE_BF16, 1, 0, 0},
        {1, 70, 600, DTYPE_BF16, 1, 1, 0},     {31, 70, 600, DTYPE_BF16, 1, 0, 0},
        {1, 64, 64, DTYPE_BF16, 0, 0, 1},      {3, 17, 513, DTYPE_BF16, 1, 0, 1},
        {5, 96, 256, DTYPE_F32, 0, 1, 1},      {7, 64, 768, DTYPE_BF16, 1, 1, 1},
        {65, 264, 1200, DTYPE_BF16, 1, 0, 1},  {64, 1536, 256, DTYPE_BF16, 0, 1, 1},
        {130, 136, 2048, DTYPE_BF16, 0, 0, 1}, {33, 136, 8192, DTYPE_BF16, 1, 1, 1},
        {6, 2056, 144, DTYPE_BF16, 1, 1, 1},   {9, 8200, 272, DTYPE_BF16, 1, 1, 1},
        {66, 12296, 336, DTYPE_BF16, 1, 1, 1}, {3, 12424, 48, DTYPE_BF16, 0, 0, 1},
        {20, 264, 1200, DTYPE_BF16, 1, 1, 1},  {128, 136, 2048, DTYPE_BF16, 1, 1, 1},
        {300, 72, 4096, DTYPE_BF16, 1, 1, 1},  {257, 6200, 144, DTYPE_BF16, 1, 1, 1},
        {130, 2112, 256, DTYPE_BF16, 1, 1, 1}, {400, 1600, 256, DTYPE_BF16, 1, 1, 1},
        {130, 1152, 512, DTYPE_BF16, 1, 1, 1}, {40, 64, 96, DTYPE_BF16, 1, 1, 0},
        {12, 64, 64, DTYPE_F32, 1, 1, 0},      {5, 91, 48, DTYPE_F32, 1, 0, 0},
        {40, 1003, 256, DTYPE_BF16, 1, 0, 1},  {33, 331, 64, DTYPE_BF16, 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        /* Small: every third row before those of decode steps, and of these small weights: what is left takes
         * 1, 2, 4 and 8 blocks a sum on a GPU. */
        if (rig_small() && (row[i].decode ? row[i].n * row[i].k > 600000 : i % 3 != 1))
            continue;
        if (ours_alone(r) && (!row[i].decode || row[i].w != DTYPE_BF16 || row[i].n > 12000))
            continue;
        check_linear(r, row[i].rows, row[i].n, row[i].k, row[i].w, row[i].with_bias, row[i].accumulate,
                     row[i].decode);
        ran[row[i].w == DTYPE_BF16][row[i].decode]++;
    }
    if (!ours_alone(r)) {
        rig_ran("fp32 weights", ran[0][0]);
        rig_ran("fp32 weights in decode steps", ran[0][1]);
        rig_ran("bf16 weights", ran[1][0]);
    }
    rig_ran("bf16 weights in decode steps", ran[1][1]);
    all_together(r);
    all_gated(r);
}

int main(void)
{
    rig_each_isa(check_all);
    return check_done();
}
