/* Linear layers alone: the products of a layer of two models by the number of rows, beside the machine's
 * limits and beside the vendor's matrix library at its fastest. The law that the bits of a row must not
 * depend on the rows beside it has its price in the second comparison. Each product is run many times, with
 * several weights of its shape in turn, so that every weight comes from memory as it does in a decode step.
 * Gates and ups with SwiGLU, as a step and a prompt have them, are beside the two one after the other. */
#include <stdlib.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/rng.h"
#include "evalcore/bench/bench_device.h"

enum { MAX_WEIGHTS = 256, BLOCK = 64 };

struct linear_shape {
    const char *name;
    int n, k, accumulate;
    int is_gated; /* gates and ups, which SwiGLU follows */
};

static const struct linear_shape gpu_shapes[] = {
    {"1.5B qkv", 2048, 1536, 0, 0},
    {"1.5B o", 1536, 1536, 1, 0},
    {"1.5B gate and up", 17920, 1536, 0, 1},
    {"1.5B down", 1536, 8960, 1, 0},
    {"7B qkv", 4608, 3584, 0, 0},
    {"8B qkv", 6144, 4096, 0, 0},
    {"8B o", 4096, 4096, 1, 0},
    {"8B gate and up", 28672, 4096, 0, 1},
    {"8B down", 4096, 14336, 1, 0},
};
static const struct linear_shape cpu_shapes[] = {{"1.5B qkv", 2048, 1536, 0, 0},
                                                 {"1.5B down", 1536, 8960, 1, 0}};
/* The last is a chunk of a prompt, the others are decode steps; 96 and 192 do not fill their tiles. */
static const int gpu_rows[] = {1, 16, 64, 96, 128, 192, 256, 512, 2048}, cpu_rows[] = {1, 8, 32};
static const int prompt_rows[] = {256, 1024, 2048};

struct job {
    struct bench_device d;
    struct weight w[MAX_WEIGHTS];
    int n_weights;
    struct linear_args a;
    struct linear_swiglu_args gated; /* the same weights and x */
};

static double weight_bytes(const struct linear_shape *s)
{
    return 2.0 * s->n * s->k;
}

static void release_rows(struct job *j)
{
    if (j->a.x)
        j->d.be->release(j->d.dev, (void *)(uintptr_t)j->a.x);
    if (j->a.out)
        j->d.be->release(j->d.dev, j->a.out);
    j->a = (struct linear_args){.rows = 0};
}

static void release_inputs(struct job *j)
{
    for (int i = 0; i < j->n_weights; i++)
        j->d.be->weight_release(j->d.dev, &j->w[i]);
    j->n_weights = 0;
    release_rows(j);
}

/* Random numbers near 1 in size, as bf16. */
static uint16_t *random_numbers(size_t n)
{
    uint16_t *x = xmalloc(n * sizeof *x);
    struct rng r;
    rng_init(&r, 1, 2);
    for (size_t i = 0; i < n; i++)
        x[i] = (uint16_t)(0x3f00u | (rng_below(&r, 2) << 15) | rng_below(&r, 128));
    return x;
}

static int out_of_memory(const struct linear_shape *s, struct err *e)
{
    return err_set(e, ERR_DEVICE, "no memory for weights of %d x %d", s->n, s->k);
}

static int make_weights(struct job *j, const struct linear_shape *s, int n, struct err *e)
{
    uint16_t *x = random_numbers((size_t)BLOCK * (size_t)s->k);
    while (j->n_weights < n && !e->code) {
        struct weight *w = &j->w[j->n_weights];
        if (j->d.be->weight_alloc(j->d.dev, w, s->n, s->k, DTYPE_BF16, 0)) {
            out_of_memory(s, e);
            break;
        }
        j->n_weights++;
        for (int row = 0; row < s->n && !e->code; row += BLOCK) {
            int rows = s->n - row < BLOCK ? s->n - row : BLOCK;
            bench_check(&j->d, j->d.be->weight_put(j->d.dev, w, row, rows, DTYPE_BF16, x), e);
        }
    }
    free(x);
    return e->code;
}

static int make_rows(struct job *j, const struct linear_shape *s, int rows, struct err *e)
{
    size_t n = (size_t)rows * (size_t)s->k, elem = dtype_bytes(j->d.be->activations);
    void *x = j->d.be->alloc(j->d.dev, n * elem);
    j->a = (struct linear_args){.x = x,
                                .out = j->d.be->alloc(j->d.dev, (size_t)rows * (size_t)s->n * sizeof(float)),
                                .rows = rows,
                                .x_stride = s->k,
                                .out_stride = s->n,
                                .accumulate = s->accumulate,
                                .type = j->d.be->activations};
    if (!j->a.x || !j->a.out)
        return out_of_memory(s, e);
    /* Two bf16 numbers near 1 are an fp32 number near 1. */
    uint16_t *numbers = random_numbers(n * elem / 2);
    int rc = bench_check(&j->d, j->d.be->upload(j->d.dev, x, numbers, n * elem), e);
    free(numbers);
    return rc;
}

static int enqueue_linear(void *context, int i)
{
    struct job *j = context;
    j->a.w = j->w[i % j->n_weights];
    return j->d.be->launch(j->d.dev, OP_linear, &j->a);
}

static int enqueue_gated(void *context, int i)
{
    struct job *j = context;
    j->gated.w = j->w[i % j->n_weights];
    return j->d.be->launch(j->d.dev, OP_linear_swiglu, &j->gated);
}

/* The same as two operations. */
static int enqueue_apart(void *context, int i)
{
    struct job *j = context;
    struct swiglu_args swiglu = swiglu_of(&j->gated);
    int rc = enqueue_linear(j, i);
    return rc ? rc : j->d.be->launch(j->d.dev, OP_swiglu, &swiglu);
}

struct machine {
    double bandwidth, peak; /* GB/s, GFLOP/s */
};

/* Prints the speed in the unit of the limit that binds: bytes or operations per second. */
static void print_linear(struct bench *b, const struct linear_shape *s, int rows, double seconds,
                         double fastest, const struct machine *m)
{
    char name[160];
    double bytes = weight_bytes(s), flops = 2.0 * rows * s->n * s->k;
    int is_read = bytes / m->bandwidth > flops / m->peak;
    snprintf(name, sizeof name, "linear %s, %d x %d, %d rows: %.1f us", s->name, s->n, s->k, rows,
             seconds * 1e6);
    bench_print(b, name, (is_read ? bytes : flops) / seconds / 1e9, is_read ? "GB/s" : "GFLOP/s",
                is_read ? m->bandwidth : m->peak);
    if (!(fastest > 0))
        return;
    snprintf(name, sizeof name, "linear %s, %d rows: beside the library at its fastest, %.1f us", s->name,
             rows, fastest * 1e6);
    bench_print(b, name, fastest / seconds, "of its speed", 1);
}

static int run_gated(struct bench *b, struct job *j, const struct linear_shape *s, int rows, int decode,
                     int launches, const struct machine *m, struct err *e)
{
    char name[160];
    const char *what = decode ? "" : " of a prompt";
    double bytes = weight_bytes(s), flops = 2.0 * rows * s->n * s->k, one = 0, two = 0;
    int is_read = bytes / m->bandwidth > flops / m->peak;
    if (make_rows(j, s, rows, e))
        return e->code;
    void *out = j->d.be->alloc(j->d.dev, (size_t)rows * (size_t)s->n / 2 * dtype_bytes(j->a.type));
    if (!out)
        out_of_memory(s, e);
    j->a.decode = decode;
    j->gated = (struct linear_swiglu_args){.w = j->w[0],
                                           .x = j->a.x,
                                           .workspace = j->a.out,
                                           .out = out,
                                           .rows = rows,
                                           .type = j->a.type,
                                           .decode = decode};
    if (!e->code && !bench_replay(&j->d, out, enqueue_gated, j, launches, &one, e) &&
        !bench_replay(&j->d, out, enqueue_apart, j, launches, &two, e)) {
        snprintf(name, sizeof name, "linear %s with SwiGLU, %d x %d, %d rows%s: %.1f us", s->name, s->n, s->k,
                 rows, what, one * 1e6);
        bench_print(b, name, (is_read ? bytes : flops) / one / 1e9, is_read ? "GB/s" : "GFLOP/s",
                    is_read ? m->bandwidth : m->peak);
        snprintf(name, sizeof name, "linear %s with SwiGLU, %d rows%s: beside the two apart, %.1f us",
                 s->name, rows, what, two * 1e6);
        bench_print(b, name, two / one, "of their speed", 0);
    }
    j->d.be->release(j->d.dev, out);
    release_rows(j);
    return e->code;
}

static int run_shape(struct bench *b, struct job *j, const struct linear_shape *s, const struct machine *m,
                     struct err *e)
{
    int is_gpu = b->device->is_gpu;
    double bytes = weight_bytes(s), set = is_gpu ? 600e6 : 100e6, work = is_gpu ? 4.5e9 : 100e6;
    int n = (int)(set / bytes) + 2, launches = (int)(work / bytes) + 4;
    size_t n_rows = is_gpu ? sizeof gpu_rows / sizeof *gpu_rows : sizeof cpu_rows / sizeof *cpu_rows;
    make_weights(j, s, n < MAX_WEIGHTS ? n : MAX_WEIGHTS, e);
    for (size_t i = 0; i < n_rows && !e->code; i++) {
        int rows = is_gpu ? gpu_rows[i] : cpu_rows[i];
        double seconds = 0, fastest = 0;
        if (make_rows(j, s, rows, e))
            break;
        j->a.decode = !is_gpu || i + 1 < n_rows;
        if (bench_replay(&j->d, j->a.out, enqueue_linear, j, launches, &seconds, e))
            break;
        if (j->d.limits->fastest_product)
            fastest =
                j->d.limits->fastest_product(j->d.dev, j->w, j->n_weights, launches, rows, s->accumulate);
        print_linear(b, s, rows, seconds, fastest, m);
        release_rows(j);
    }
    for (size_t i = 0; i + 1 < n_rows && s->is_gated && !e->code; i++)
        run_gated(b, j, s, gpu_rows[i], 1, launches, m, e);
    for (size_t i = 0; i < sizeof prompt_rows / sizeof *prompt_rows && s->is_gated && !e->code; i++)
        run_gated(b, j, s, prompt_rows[i], 0, launches, m, e);
    release_inputs(j);
    return e->code;
}

int bench_linear(struct bench *b, struct err *e)
{
    int is_gpu = b->device->is_gpu;
    const struct linear_shape *s = is_gpu ? gpu_shapes : cpu_shapes;
    size_t n = is_gpu ? sizeof gpu_shapes / sizeof *gpu_shapes : sizeof cpu_shapes / sizeof *cpu_shapes;
    struct job j = {.n_weights = 0};
    if (bench_device_open(&j.d, b, e))
        return e->code;
    struct machine m = {j.d.limits->read_bandwidth(j.d.dev, (size_t)512 << 20), j.d.limits->peak(j.d.dev)};
    for (size_t i = 0; i < n && !e->code; i++)
        run_shape(b, &j, &s[i], &m, e);
    bench_device_close(&j.d);
    return e->code;
}
