/* The vendor's library at its best, for benchmarks: any of its algorithms, with a workspace, and with sums
 * split over blocks where that is faster. What our products take longer is the price of rows whose bits do
 * not depend on the rows beside them. */
#include <string.h>

#include "kernels/cuda/linear/gemm_lt.cuh"

enum { ASKED = 64, WORKSPACE = 64 << 20, PASSES = 5 };

struct contest {
    const struct weight *w; /* (n) */
    int n, launches;
    struct product p;
    void *memory, *workspace;
};

static int open_contest(struct device *d, struct contest *t, int rows, int accumulate)
{
    size_t x = (size_t)rows * (size_t)t->w->k * 2, out = (size_t)rows * (size_t)gemm_stride(t->w->n) * 4;
    cudaError_t e = cudaMalloc(&t->memory, x + out + WORKSPACE + 512);
    if (e != cudaSuccess)
        return cuda_check(d, e, "memory for a product");
    size_t at = (x + 255) / 256 * 256, work = (at + out + 255) / 256 * 256;
    struct product p = {t->w->n,
                        t->w->k,
                        rows,
                        DTYPE_BF16,
                        NULL,
                        t->memory,
                        t->w->k,
                        gemm_stride(t->w->n),
                        accumulate,
                        NULL,
                        (float *)((char *)t->memory + at)};
    t->p = p;
    t->workspace = (char *)t->memory + work;
    /* Any numbers will do, but zeros would take less power than a model's. */
    size_t have = (size_t)t->w->n * (size_t)t->w->k * 2;
    return cuda_check(
        d, cudaMemcpyAsync(t->memory, t->w->data, x < have ? x : have, cudaMemcpyDeviceToDevice, d->stream),
        "filling a product");
}

static int ask_heuristic(struct gemm *g, const struct call *c, cublasLtMatmulHeuristicResult_t *found)
{
    cublasLtMatmulPreference_t pref = NULL;
    uint64_t bytes = WORKSPACE;
    int n = 0;
    cublasStatus_t s = g->cublasLtMatmulPreferenceCreate(&pref);
    if (!s)
        s = g->cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                                    sizeof bytes);
    if (!s)
        s = g->cublasLtMatmulAlgoGetHeuristic(g->handle, c->op, c->a, c->b, c->c, c->c, pref, ASKED, found,
                                              &n);
    if (pref)
        g->cublasLtMatmulPreferenceDestroy(pref);
    return s ? 0 : n;
}

/* All launches in one graph, as a decode step has them. NULL: the algorithm does not take this product. */
static cudaGraphExec_t capture_runs(struct device *d, struct contest *t, const struct call *c,
                                    const cublasLtMatmulAlgo_t *algo)
{
    struct gemm *g = d->gemm;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t run = NULL;
    cublasStatus_t s = CUBLAS_STATUS_SUCCESS;
    cudaStreamBeginCapture(g->stream, cudaStreamCaptureModeRelaxed);
    for (int i = 0; i < t->launches && !s; i++) {
        t->p.w = t->w[i % t->n].data;
        s = call_run(g, c, &t->p, algo, t->workspace, WORKSPACE, g->stream);
    }
    if (cudaStreamEndCapture(g->stream, &graph) == cudaSuccess && !s)
        cudaGraphInstantiate(&run, graph, 0);
    if (graph)
        cudaGraphDestroy(graph);
    cudaGetLastError();
    return run;
}

/* Seconds of one launch, of the fastest pass; 0: it failed. */
static double time_graph(struct device *d, cudaGraphExec_t run, int launches)
{
    struct gemm *g = d->gemm;
    double best = 0;
    for (int i = -1; i < PASSES; i++) {
        float ms = 0;
        cudaEventRecord(g->start, g->stream);
        cudaGraphLaunch(run, g->stream);
        cudaEventRecord(g->stop, g->stream);
        if (cudaEventSynchronize(g->stop) != cudaSuccess || cudaEventElapsedTime(&ms, g->start, g->stop))
            return 0;
        if (i >= 0 && (best == 0 || ms / 1e3 / launches < best))
            best = ms / 1e3 / launches;
    }
    return best;
}

double gemm_fastest(struct device *d, const struct weight *w, int n, int launches, int rows, int accumulate)
{
    struct contest t = {w, n, launches};
    cublasLtMatmulHeuristicResult_t found[ASKED];
    struct call c;
    double best = 0;
    if (w->dtype != DTYPE_BF16 || !gemm_fits(w, gemm_stride(w->n)) || open_contest(d, &t, rows, accumulate) ||
        cudaStreamSynchronize(d->stream) != cudaSuccess || call_open(d, &c, &t.p)) {
        cudaFree(t.memory);
        return 0;
    }
    int n_found = ask_heuristic(d->gemm, &c, found);
    for (int i = 0; i < n_found; i++) {
        if (found[i].state != CUBLAS_STATUS_SUCCESS)
            continue;
        cudaGraphExec_t run = capture_runs(d, &t, &c, &found[i].algo);
        double seconds = run ? time_graph(d, run, launches) : 0;
        if (run)
            cudaGraphExecDestroy(run);
        if (seconds > 0 && (best == 0 || seconds < best))
            best = seconds;
    }
    call_close(d->gemm, &c);
    cudaFree(t.memory);
    return best;
}
