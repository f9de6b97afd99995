/* See gemm.cuh. cuBLASLt is loaded when the first GPU is opened, so that the program starts without it. */
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cuda/gemm.cuh"

#define LT_FUNCTIONS(X)                                                                                      \
    X(cublasLtCreate)                                                                                        \
    X(cublasLtDestroy)                                                                                       \
    X(cublasLtMatmulDescCreate)                                                                              \
    X(cublasLtMatmulDescDestroy)                                                                             \
    X(cublasLtMatmulDescSetAttribute)                                                                        \
    X(cublasLtMatrixLayoutCreate)                                                                            \
    X(cublasLtMatrixLayoutDestroy)                                                                           \
    X(cublasLtMatmulPreferenceCreate)                                                                        \
    X(cublasLtMatmulPreferenceDestroy)                                                                       \
    X(cublasLtMatmulPreferenceSetAttribute)                                                                  \
    X(cublasLtMatmulAlgoGetHeuristic) X(cublasLtMatmulAlgoConfigGetAttribute) X(cublasLtMatmul)

enum { MAX_SHAPES = 64, N_BUCKETS = 16, CANDIDATES = 12, TIMED = 6, REFERENCE_ROWS = 64 };
static const int bucket_rows[N_BUCKETS] = {1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024};

struct shape {
    int n, k, with_bias, accumulate;
    enum dtype dtype;
    cublasLtMatmulAlgo_t reference, algo[N_BUCKETS];
    char chosen[N_BUCKETS];
};

struct gemm {
    void *library;
    cublasLtHandle_t handle;
#define X(name) decltype(&::name) name;
    LT_FUNCTIONS(X)
#undef X
    cudaStream_t stream; /* for trials, which may happen while a step is recorded */
    cudaEvent_t start, stop;
    struct shape shape[MAX_SHAPES];
    int n_shapes;
};

/* One product as cuBLASLt sees it: column-major out (n x rows) = w' (n x k) times x (k x rows). */
struct call {
    cublasLtMatmulDesc_t op;
    cublasLtMatrixLayout_t a, b, c;
};

static int lt_check(struct device *d, cublasStatus_t s, const char *what)
{
    return s == CUBLAS_STATUS_SUCCESS
               ? 0
               : cuda_error(d, BACKEND_ERR_DEVICE, "cuBLASLt: %s failed with status %d", what, (int)s);
}

int gemm_open(struct device *d)
{
    struct gemm *g = (struct gemm *)calloc(1, sizeof *g);
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so"};
    if (!g)
        return cuda_error(d, BACKEND_ERR_MEMORY, "no memory for the matrix library's state");
    d->gemm = g;
    for (size_t i = 0; i < 2 && !g->library; i++)
        g->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!g->library)
        return cuda_error(
            d, BACKEND_ERR_DEVICE,
            "libcublasLt.so.13 is not there (%s); install cuBLAS of CUDA 13 or set LD_LIBRARY_PATH",
            dlerror());
#define X(name)                                                                                              \
    g->name = (decltype(g->name))dlsym(g->library, #name);                                                   \
    if (!g->name)                                                                                            \
        return cuda_error(d, BACKEND_ERR_DEVICE, "libcublasLt has no " #name "; cuBLAS of CUDA 13 is needed");
    LT_FUNCTIONS(X)
#undef X
    int rc = lt_check(d, g->cublasLtCreate(&g->handle), "opening it");
    if (!rc)
        rc = cuda_check(d, cudaStreamCreateWithFlags(&g->stream, cudaStreamNonBlocking), "creating a stream");
    if (!rc)
        rc = cuda_check(d, cudaEventCreate(&g->start), "creating an event");
    return rc ? rc : cuda_check(d, cudaEventCreate(&g->stop), "creating an event");
}

void gemm_close(struct device *d)
{
    struct gemm *g = d->gemm;
    if (!g)
        return;
    if (g->handle)
        g->cublasLtDestroy(g->handle);
    if (g->stop)
        cudaEventDestroy(g->stop);
    if (g->start)
        cudaEventDestroy(g->start);
    if (g->stream)
        cudaStreamDestroy(g->stream);
    if (g->library)
        dlclose(g->library);
    free(g);
    d->gemm = NULL;
}

int gemm_fits(const struct weight *w)
{
    return w->k % 16 == 0 && w->n % 8 == 0;
}

static void call_close(struct gemm *g, struct call *c)
{
    if (c->op)
        g->cublasLtMatmulDescDestroy(c->op);
    cublasLtMatrixLayout_t all[] = {c->a, c->b, c->c};
    for (int i = 0; i < 3; i++)
        if (all[i])
            g->cublasLtMatrixLayoutDestroy(all[i]);
}

static int call_open(struct device *d, struct call *c, const struct product *p)
{
    struct gemm *g = d->gemm;
    cublasOperation_t transposed = CUBLAS_OP_T;
    cublasLtEpilogue_t bias = CUBLASLT_EPILOGUE_BIAS;
    cudaDataType_t in = p->dtype == DTYPE_BF16 ? CUDA_R_16BF : CUDA_R_32F;
    memset(c, 0, sizeof *c);
    cublasStatus_t s = g->cublasLtMatmulDescCreate(&c->op, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    if (!s)
        s = g->cublasLtMatmulDescSetAttribute(c->op, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                              sizeof transposed);
    if (!s && p->bias)
        s = g->cublasLtMatmulDescSetAttribute(c->op, CUBLASLT_MATMUL_DESC_EPILOGUE, &bias, sizeof bias);
    if (!s && p->bias)
        s = g->cublasLtMatmulDescSetAttribute(c->op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->bias,
                                              sizeof p->bias);
    if (!s)
        s = g->cublasLtMatrixLayoutCreate(&c->a, in, p->k, p->n, p->k);
    if (!s)
        s = g->cublasLtMatrixLayoutCreate(&c->b, in, p->k, p->rows, p->x_stride);
    if (!s)
        s = g->cublasLtMatrixLayoutCreate(&c->c, CUDA_R_32F, p->n, p->rows, p->out_stride);
    if (s)
        call_close(g, c);
    return lt_check(d, s, "describing a product");
}

static cublasStatus_t run(struct gemm *g, const struct call *c, const struct product *p,
                          const cublasLtMatmulAlgo_t *algo, cudaStream_t stream)
{
    float one = 1, beta = p->accumulate ? 1.0f : 0.0f;
    return g->cublasLtMatmul(g->handle, c->op, &one, p->w, c->a, p->x, c->b, &beta, p->out, c->c, p->out,
                             c->c, algo, NULL, 0, stream);
}

/* Does the algorithm sum a whole row of k in one block? */
static int unsplit(struct gemm *g, const cublasLtMatmulAlgo_t *algo)
{
    int32_t split = 0;
    uint32_t scheme = 0;
    size_t n;
    if (g->cublasLtMatmulAlgoConfigGetAttribute(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &split, sizeof split,
                                                &n))
        return 0;
    if (g->cublasLtMatmulAlgoConfigGetAttribute(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                                                sizeof scheme, &n))
        return 0;
    return split <= 1 && scheme == CUBLASLT_REDUCTION_SCHEME_NONE;
}

/* Up to `most` unsplit algorithms without workspace, best guess first. */
static int candidates(struct device *d, const struct call *c, cublasLtMatmulAlgo_t *out, int most)
{
    struct gemm *g = d->gemm;
    cublasLtMatmulPreference_t pref = NULL;
    cublasLtMatmulHeuristicResult_t found[4 * CANDIDATES];
    uint64_t none = 0;
    uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_NONE, bytes = 16;
    int n = 0, kept = 0;
    cublasStatus_t s = g->cublasLtMatmulPreferenceCreate(&pref);
    const struct {
        cublasLtMatmulPreferenceAttributes_t name;
        const void *value;
        size_t size;
    } set[] = {{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &none, sizeof none},
               {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &scheme, sizeof scheme},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &bytes, sizeof bytes},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &bytes, sizeof bytes},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &bytes, sizeof bytes},
               {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &bytes, sizeof bytes}};
    for (size_t i = 0; !s && i < sizeof set / sizeof *set; i++)
        s = g->cublasLtMatmulPreferenceSetAttribute(pref, set[i].name, set[i].value, set[i].size);
    if (!s)
        s = g->cublasLtMatmulAlgoGetHeuristic(g->handle, c->op, c->a, c->b, c->c, c->c, pref, 4 * CANDIDATES,
                                              found, &n);
    for (int i = 0; !s && i < n && kept < most; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS && found[i].workspaceSize == 0 &&
            unsplit(g, &found[i].algo))
            out[kept++] = found[i].algo;
    if (pref)
        g->cublasLtMatmulPreferenceDestroy(pref);
    return kept;
}

/* ---- trials */

static __device__ uint32_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return (uint32_t)(x >> 33);
}

/* Random values of row and column alone: row r is the same however many rows there are. */
static __global__ void fill_random(void *p, size_t n, uint64_t seed, int bf16)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        float x = (float)mix(i + seed) / 2147483648.0f - 0.5f;
        if (bf16)
            ((__nv_bfloat16 *)p)[i] = __float2bfloat16_rn(x);
        else
            ((float *)p)[i] = x;
    }
}

static __global__ void count_different(const uint32_t *a, const uint32_t *b, size_t n, int *different)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        if (a[i] != b[i])
            atomicAdd(different, 1);
}

/* What a trial works on: x and two outputs of the bucket's rows, and the reference's first rows. */
struct trial {
    struct product p;
    char *block;
    float *want, *have, *first;
    int *different;
};

static int trial_open(struct device *d, struct trial *t, const struct product *like, int rows)
{
    struct gemm *g = d->gemm;
    size_t elem = like->dtype == DTYPE_BF16 ? 2 : 4, most = rows > REFERENCE_ROWS ? rows : REFERENCE_ROWS;
    size_t x = most * (size_t)like->k * elem, out = most * (size_t)like->n * sizeof(float);
    memset(t, 0, sizeof *t);
    t->p = *like;
    t->p.rows = rows;
    t->p.x_stride = like->k;
    t->p.out_stride = like->n;
    cudaError_t e = cudaMalloc((void **)&t->block, x + 3 * out + 256);
    if (e != cudaSuccess)
        return cuda_check(d, e, "memory to try matrix algorithms");
    t->p.x = t->block;
    t->want = (float *)(t->block + x);
    t->have = (float *)(t->block + x + out);
    t->first = (float *)(t->block + x + 2 * out);
    t->different = (int *)(t->block + x + 3 * out);
    fill_random<<<1024, 256, 0, g->stream>>>(t->block, most * (size_t)like->k, 12345,
                                             like->dtype == DTYPE_BF16);
    return cuda_check(d, cudaGetLastError(), "trying matrix algorithms");
}

/* Runs an algorithm for `rows` rows into out, which first gets the same random values each time. */
static int attempt(struct device *d, struct trial *t, const cublasLtMatmulAlgo_t *algo, int rows, float *out)
{
    struct gemm *g = d->gemm;
    struct product p = t->p;
    struct call c;
    p.rows = rows;
    p.out = out;
    int rc = call_open(d, &c, &p);
    if (rc)
        return rc;
    fill_random<<<1024, 256, 0, g->stream>>>(out, (size_t)rows * (size_t)p.n, 77, 0);
    rc = lt_check(d, run(g, &c, &p, algo, g->stream), "a trial");
    call_close(g, &c);
    return rc;
}

static int same_bits(struct device *d, struct trial *t, const float *a, const float *b, int rows, int *same)
{
    struct gemm *g = d->gemm;
    int n = 1;
    cudaMemsetAsync(t->different, 0, sizeof n, g->stream);
    count_different<<<1024, 256, 0, g->stream>>>((const uint32_t *)a, (const uint32_t *)b,
                                                 (size_t)rows * (size_t)t->p.n, t->different);
    cudaMemcpyAsync(&n, t->different, sizeof n, cudaMemcpyDeviceToHost, g->stream);
    int rc = cuda_check(d, cudaStreamSynchronize(g->stream), "trying matrix algorithms");
    *same = n == 0;
    return rc;
}

static int time_of(struct device *d, struct trial *t, const cublasLtMatmulAlgo_t *algo, float *ms)
{
    struct gemm *g = d->gemm;
    struct product p = t->p;
    struct call c;
    p.out = t->have;
    int rc = call_open(d, &c, &p);
    if (rc)
        return rc;
    cudaEventRecord(g->start, g->stream);
    for (int i = 0; i < TIMED && !rc; i++)
        rc = lt_check(d, run(g, &c, &p, algo, g->stream), "a trial");
    cudaEventRecord(g->stop, g->stream);
    call_close(g, &c);
    if (!rc)
        rc = cuda_check(d, cudaEventSynchronize(g->stop), "trying matrix algorithms");
    return rc ? rc : cuda_check(d, cudaEventElapsedTime(ms, g->start, g->stop), "trying matrix algorithms");
}

/* The fastest algorithm for the bucket that has the reference's bits. */
static int choose(struct device *d, struct shape *s, const struct product *like, int bucket)
{
    struct trial t;
    struct call c;
    cublasLtMatmulAlgo_t list[CANDIDATES];
    int rows = bucket_rows[bucket], few = rows < REFERENCE_ROWS ? rows : REFERENCE_ROWS, same = 0, n = 0;
    int rc = trial_open(d, &t, like, rows);
    if (!rc)
        rc = attempt(d, &t, &s->reference, REFERENCE_ROWS, t.first);
    if (!rc)
        rc = attempt(d, &t, &s->reference, rows, t.want);
    if (!rc)
        rc = same_bits(d, &t, t.first, t.want, few, &same);
    if (!rc && !same)
        rc = cuda_error(
            d, BACKEND_ERR_UNSUPPORTED,
            "cuBLASLt has no algorithm for a weight of %d x %d whose rows have the same bits for %d and "
            "%d rows",
            like->n, like->k, REFERENCE_ROWS, rows);
    s->algo[bucket] = s->reference;
    float best = 0, ms = 0;
    if (!rc)
        rc = time_of(d, &t, &s->reference, &best);
    if (!rc && !(rc = call_open(d, &c, &t.p))) {
        n = candidates(d, &c, list, CANDIDATES);
        call_close(d->gemm, &c);
    }
    for (int i = 0; i < n && !rc; i++) {
        rc = attempt(d, &t, &list[i], rows, t.have);
        if (!rc)
            rc = same_bits(d, &t, t.want, t.have, rows, &same);
        if (rc || !same)
            continue;
        rc = time_of(d, &t, &list[i], &ms);
        if (!rc && ms < best) {
            best = ms;
            s->algo[bucket] = list[i];
        }
    }
    cudaStreamSynchronize(d->gemm->stream);
    cudaFree(t.block);
    s->chosen[bucket] = rc == 0;
    return rc;
}

static int shape_of(struct device *d, const struct product *p, struct shape **out)
{
    struct gemm *g = d->gemm;
    for (int i = 0; i < g->n_shapes; i++) {
        struct shape *s = *out = &g->shape[i];
        if (s->n == p->n && s->k == p->k && s->dtype == p->dtype && s->accumulate == p->accumulate &&
            s->with_bias == (p->bias != NULL))
            return 0;
    }
    if (g->n_shapes == MAX_SHAPES)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "more than %d shapes of weights", MAX_SHAPES);
    struct shape *s = *out = &g->shape[g->n_shapes];
    struct product like = *p;
    struct call c;
    like.rows = REFERENCE_ROWS;
    like.x_stride = p->k;
    like.out_stride = p->n;
    int rc = call_open(d, &c, &like);
    if (rc)
        return rc;
    memset(s, 0, sizeof *s);
    if (!candidates(d, &c, &s->reference, 1))
        rc = cuda_error(d, BACKEND_ERR_UNSUPPORTED,
                        "cuBLASLt has no unsplit algorithm for a weight of %d x %d", p->n, p->k);
    call_close(g, &c);
    s->n = p->n;
    s->k = p->k;
    s->dtype = p->dtype;
    s->accumulate = p->accumulate;
    s->with_bias = p->bias != NULL;
    g->n_shapes += rc == 0;
    return rc;
}

int gemm_run(struct device *d, const struct product *p)
{
    struct shape *s;
    struct call c;
    int bucket = 0, rc = shape_of(d, p, &s);
    while (bucket < N_BUCKETS - 1 && bucket_rows[bucket] < p->rows)
        bucket++;
    if (!rc && !s->chosen[bucket])
        rc = choose(d, s, p, bucket);
    if (!rc)
        rc = call_open(d, &c, p);
    if (rc)
        return rc;
    rc = lt_check(d, run(d->gemm, &c, p, &s->algo[bucket], d->stream), "a product");
    call_close(d->gemm, &c);
    return rc;
}
