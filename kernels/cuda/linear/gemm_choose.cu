/* Chooses among cuBLASLt's algorithms: only those that sum a row in one block are tried, compared with the
 * reference bit for bit, and timed. */
#include <cuda_bf16.h>
#include <string.h>

#include "kernels/cuda/linear/gemm_lt.cuh"

static const int bucket_rows[N_BUCKETS] = {1,  2,   4,   8,   16,  24,  32,   48,           64,
                                           96, 128, 192, 256, 384, 512, 1024, GEMM_MAX_ROWS};

/* Does the algorithm sum a whole row of k in one block? */
static int is_unsplit(struct gemm *g, const cublasLtMatmulAlgo_t *algo)
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

enum { TIMED = 8, ROUNDS = 4, MAX_COPIES = 7 }; /* launches of a trial, trials, copies of a weight */

/* Up to `max_n` unsplit algorithms without workspace, best guess first. */
static int find_candidates(struct device *d, const struct call *c, cublasLtMatmulAlgo_t *out, int max_n)
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
    for (int i = 0; !s && i < n && kept < max_n; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS && found[i].workspaceSize == 0 &&
            is_unsplit(g, &found[i].algo))
            out[kept++] = found[i].algo;
    if (pref)
        g->cublasLtMatmulPreferenceDestroy(pref);
    return kept;
}

/* ---- trials */

static __device__ uint32_t mix_bits(uint64_t x)
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
        float x = (float)mix_bits(i + seed) / 2147483648.0f - 0.5f;
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

/* What a trial works on: x and two outputs of the bucket's rows, and the reference's first rows; then copies
 * of the weight. */
struct trial {
    struct product p;
    char *block, *copies;
    int n_copies;
    float *want, *have, *first;
    int *different;
};

static int trial_open(struct device *d, struct trial *t, const struct product *like, int rows)
{
    struct gemm *g = d->gemm;
    size_t elem = like->dtype == DTYPE_BF16 ? 2 : 4, max_rows = rows > REFERENCE_ROWS ? rows : REFERENCE_ROWS;
    size_t x = max_rows * (size_t)like->k * elem,
           out = max_rows * (size_t)gemm_stride(like->n) * sizeof(float);
    size_t own = (x + 3 * out + 511) / 256 * 256, w = (size_t)like->n * (size_t)like->k * elem;
    int cache = 0;
    memset(t, 0, sizeof *t);
    /* Trials have a stream of their own, and the weight may still be on its way. While a step is captured it
     * is there: prompts came before. */
    cudaError_t e = d->capturing ? cudaSuccess : cudaStreamSynchronize(d->stream);
    if (e != cudaSuccess)
        return cuda_check(d, e, "trying matrix algorithms");
    t->p = *like;
    t->p.rows = rows;
    t->p.x_stride = like->k;
    t->p.out_stride = gemm_stride(like->n);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, d->ordinal);
    t->n_copies = min((int)MAX_COPIES, (int)(2 * (size_t)cache / w));
    if (e == cudaSuccess)
        e = cudaMalloc((void **)&t->block, own + (size_t)t->n_copies * w);
    if (e != cudaSuccess)
        return cuda_check(d, e, "memory to try matrix algorithms");
    t->p.x = t->block;
    t->want = (float *)(t->block + x);
    t->have = (float *)(t->block + x + out);
    t->first = (float *)(t->block + x + 2 * out);
    t->different = (int *)(t->block + x + 3 * out);
    t->copies = t->block + own;
    fill_random<<<1024, 256, 0, g->stream>>>(t->block, max_rows * (size_t)like->k, 12345,
                                             like->dtype == DTYPE_BF16);
    return cuda_check(d, cudaGetLastError(), "trying matrix algorithms");
}

/* Runs an algorithm for `rows` rows into out, which first gets the same random values each time. */
static int run_algorithm(struct device *d, struct trial *t, const cublasLtMatmulAlgo_t *algo, int rows,
                         float *out)
{
    struct gemm *g = d->gemm;
    struct product p = t->p;
    struct call c;
    p.rows = rows;
    p.out = out;
    int rc = call_open(d, &c, &p);
    if (rc)
        return rc;
    fill_random<<<1024, 256, 0, g->stream>>>(out, (size_t)rows * (size_t)p.out_stride, 77, 0);
    rc = lt_check(d, call_run(g, &c, &p, algo, NULL, 0, g->stream), "a trial");
    call_close(g, &c);
    return rc;
}

static int same_bits(struct device *d, struct trial *t, const float *a, const float *b, int rows, int *same)
{
    struct gemm *g = d->gemm;
    int n = 1;
    cudaMemsetAsync(t->different, 0, sizeof n, g->stream);
    count_different<<<1024, 256, 0, g->stream>>>((const uint32_t *)a, (const uint32_t *)b,
                                                 (size_t)rows * (size_t)t->p.out_stride, t->different);
    cudaMemcpyAsync(&n, t->different, sizeof n, cudaMemcpyDeviceToHost, g->stream);
    int rc = cuda_check(d, cudaStreamSynchronize(g->stream), "trying matrix algorithms");
    *same = n == 0;
    return rc;
}

/* Some runs one after the other, each with another copy of the weight: a step finds it in memory, and what of
 * it a run left in the second-level cache would favour other algorithms. */
static int time_of(struct device *d, struct trial *t, const cublasLtMatmulAlgo_t *algo, float *ms)
{
    struct gemm *g = d->gemm;
    struct product p = t->p;
    struct call c;
    size_t w = (size_t)p.n * (size_t)p.k * dtype_bytes(p.dtype);
    p.out = t->have;
    int rc = call_open(d, &c, &p);
    if (rc)
        return rc;
    cudaEventRecord(g->start, g->stream);
    for (int i = 0; i < TIMED && !rc; i++) {
        int copy = i % (t->n_copies + 1);
        p.w = copy ? t->copies + (size_t)(copy - 1) * w : t->p.w;
        rc = lt_check(d, call_run(g, &c, &p, algo, NULL, 0, g->stream), "a trial");
    }
    cudaEventRecord(g->stop, g->stream);
    call_close(g, &c);
    if (!rc)
        rc = cuda_check(d, cudaEventSynchronize(g->stop), "trying matrix algorithms");
    return rc ? rc : cuda_check(d, cudaEventElapsedTime(ms, g->start, g->stop), "trying matrix algorithms");
}

/* Moves the fastest to the list's front. They run in turn, so that a moment in which the GPU is slow is not
 * one algorithm's alone, and each counts by its best. */
static int fastest_candidate(struct device *d, struct trial *t, cublasLtMatmulAlgo_t *list, int n)
{
    float best[CANDIDATES + 1];
    int rc = 0, first = 0;
    for (int i = 0; i < t->n_copies; i++) {
        size_t w = (size_t)t->p.n * (size_t)t->p.k * dtype_bytes(t->p.dtype);
        cudaMemcpyAsync(t->copies + (size_t)i * w, t->p.w, w, cudaMemcpyDeviceToDevice, d->gemm->stream);
    }
    for (int round = 0; round < ROUNDS && !rc; round++)
        for (int i = 0; i < n && !rc; i++) {
            float ms = 0;
            rc = time_of(d, t, &list[i], &ms);
            best[i] = round == 0 || ms < best[i] ? ms : best[i];
        }
    for (int i = 1; i < n; i++)
        if (best[i] < best[first])
            first = i;
    list[0] = list[first];
    return rc;
}

/* The fastest algorithm for the bucket that has the reference's bits. */
static int choose_algorithm(struct device *d, struct shape *s, const struct product *like, int bucket)
{
    struct trial t;
    struct call c;
    cublasLtMatmulAlgo_t found[CANDIDATES], fit[CANDIDATES + 1] = {s->reference};
    int rows = bucket_rows[bucket], few = rows < REFERENCE_ROWS ? rows : REFERENCE_ROWS, same = 0, n = 0;
    int n_fit = 1, rc = trial_open(d, &t, like, rows);
    if (!rc)
        rc = run_algorithm(d, &t, &s->reference, REFERENCE_ROWS, t.first);
    if (!rc)
        rc = run_algorithm(d, &t, &s->reference, rows, t.want);
    if (!rc)
        rc = same_bits(d, &t, t.first, t.want, few, &same);
    if (!rc && !same)
        rc = cuda_error(
            d, BACKEND_ERR_UNSUPPORTED,
            "cuBLASLt has no algorithm for a weight of %d x %d whose rows have the same bits for %d and "
            "%d rows",
            like->n, like->k, REFERENCE_ROWS, rows);
    if (!rc && !(rc = call_open(d, &c, &t.p))) {
        n = find_candidates(d, &c, found, CANDIDATES);
        call_close(d->gemm, &c);
    }
    for (int i = 0; i < n && !rc; i++) {
        rc = run_algorithm(d, &t, &found[i], rows, t.have);
        if (!rc)
            rc = same_bits(d, &t, t.want, t.have, rows, &same);
        if (!rc && same)
            fit[n_fit++] = found[i];
    }
    if (!rc)
        rc = fastest_candidate(d, &t, fit, n_fit);
    s->algo[bucket] = fit[0];
    cudaStreamSynchronize(d->gemm->stream);
    cudaFree(t.block);
    s->chosen[bucket] = rc == 0;
    return rc;
}

static int find_shape(const struct gemm *g, const struct product *p)
{
    for (int i = 0; i < g->n_shapes; i++) {
        const struct shape *s = &g->shape[i];
        if (s->n == p->n && s->k == p->k && s->dtype == p->dtype && s->accumulate == p->accumulate &&
            s->with_bias == (p->bias != NULL))
            return i;
    }
    return -1;
}

/* Are rows the same in small company as among REFERENCE_ROWS? Some algorithms take another way for few. */
static int keeps_bits(struct device *d, const struct product *like, const cublasLtMatmulAlgo_t *algo,
                      int *same)
{
    static const int few[] = {1, 8, 24};
    struct trial t;
    int rc = trial_open(d, &t, like, REFERENCE_ROWS);
    if (!rc)
        rc = run_algorithm(d, &t, algo, REFERENCE_ROWS, t.first);
    *same = 1;
    for (size_t i = 0; i < sizeof few / sizeof *few && !rc && *same; i++) {
        *same =
            run_algorithm(d, &t, algo, few[i], t.have) == 0; /* one that takes no such count will not do */
        if (*same)
            rc = same_bits(d, &t, t.first, t.have, few[i], same);
    }
    cudaStreamSynchronize(d->gemm->stream);
    cudaFree(t.block);
    return rc;
}

static int add_shape(struct device *d, const struct product *p)
{
    struct gemm *g = d->gemm;
    struct product like = *p;
    struct call c;
    cublasLtMatmulAlgo_t list[CANDIDATES];
    if (g->n_shapes == MAX_SHAPES)
        return cuda_error(d, BACKEND_ERR_UNSUPPORTED, "more than %d shapes of weights", MAX_SHAPES);
    struct shape *s = &g->shape[g->n_shapes];
    like.rows = REFERENCE_ROWS;
    like.x_stride = p->k;
    like.out_stride = gemm_stride(p->n);
    int rc = call_open(d, &c, &like), same = 0, n;
    if (rc)
        return rc;
    n = find_candidates(d, &c, list, CANDIDATES);
    call_close(g, &c);
    memset(s, 0, sizeof *s);
    for (int i = 0; i < n && !same && !rc; i++) {
        s->reference = list[i];
        rc = keeps_bits(d, &like, &list[i], &same);
    }
    if (!rc && !same)
        rc = cuda_error(
            d, BACKEND_ERR_UNSUPPORTED,
            "cuBLASLt has no algorithm for a weight of %d x %d whose rows have the same bits in any "
            "company",
            p->n, p->k);
    s->n = p->n;
    s->k = p->k;
    s->dtype = p->dtype;
    s->accumulate = p->accumulate;
    s->with_bias = p->bias != NULL;
    g->n_shapes += rc == 0;
    return rc;
}

/* The algorithm for this shape and number of rows. *out stays valid until the device closes. */
static int algorithm_for(struct device *d, const struct product *p, const cublasLtMatmulAlgo_t **out)
{
    struct gemm *g = d->gemm;
    int i = find_shape(g, p), bucket = 0, rc = 0;
    if (i < 0) {
        i = g->n_shapes;
        rc = add_shape(d, p);
    }
    while (bucket < N_BUCKETS - 1 && bucket_rows[bucket] < p->rows)
        bucket++;
    if (!rc && !g->shape[i].chosen[bucket])
        rc = choose_algorithm(d, &g->shape[i], p, bucket);
    *out = &g->shape[i].algo[bucket];
    return rc;
}

int gemm_run(struct device *d, const struct product *p)
{
    const cublasLtMatmulAlgo_t *algo;
    struct call c;
    int rc = algorithm_for(d, p, &algo);
    if (!rc)
        rc = call_open(d, &c, p);
    if (rc)
        return rc;
    d->pdl = OP_COUNT;
    d->no_pdl = 0;
    rc = lt_check(d, call_run(d->gemm, &c, p, algo, NULL, 0, d->stream), "a product");
    call_close(d->gemm, &c);
    return rc;
}
