/* See limits.h: the most that the GPU reaches when it reads memory once, and in a large bf16 product. */
#include <cuda_bf16.h>
#include <string.h>
#include <unistd.h>

#include "kernels/cuda/linear/gemm.cuh"
#include "kernels/limits.h"

/* Eight loads of 16 bytes a thread are under way at a time. */
static __global__ void read_kernel(const uint4 *p, size_t n, uint32_t *out)
{
    size_t step = (size_t)gridDim.x * blockDim.x, i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
    for (; i + 7 * step < n; i += 8 * step) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            v[k] = __ldcs(p + i + k * step);
#pragma unroll
        for (int k = 0; k < 8; k++)
            sum += v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
    }
    for (; i < n; i += step)
        sum += p[i].x ^ p[i].y ^ p[i].z ^ p[i].w;
    if (sum == 0x12345678) /* never, but the compiler does not know */
        *out = sum;
}

static __global__ void noise_kernel(uint32_t *p, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        p[i] = ((uint32_t)(i * 2654435761u) & 0x007f007fu) | 0x3f003f00u; /* pairs of bf16 from 0.5 to 1 */
}

/* Billions a second of each of n runs that do `work` each; how many there were before one failed. */
template <typename F>
static int time_runs(struct device *d, double *speed, int n, double work, const F &enqueue)
{
    int done = 0;
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    for (; done < n; done++) {
        float ms = 0;
        cudaEventRecord(start, d->stream);
        if (enqueue())
            break;
        cudaEventRecord(stop, d->stream);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&ms, start, stop);
        speed[done] = work / ms * 1e-6;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return done;
}

/* The median launch. */
static double time_reads(struct device *d, const uint4 *p, size_t bytes, int blocks)
{
    enum { PASSES = 21 };
    double speed[PASSES];
    int n = time_runs(d, speed, PASSES, (double)bytes, [=] {
        read_kernel<<<blocks * d->n_sm, 512, 0, d->stream>>>(p, bytes / sizeof *p, (uint32_t *)d->counters);
        return 0;
    });
    return limits_median(speed, n);
}

static double read_bandwidth(struct device *d, size_t bytes)
{
    static const size_t least = (size_t)4 << 30; /* well beyond the second-level cache */
    uint4 *p = NULL;
    double best = 0;
    bytes = bytes > least ? bytes : least;
    if (cudaMalloc((void **)&p, bytes) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    noise_kernel<<<1024, 256, 0, d->stream>>>((uint32_t *)p, bytes / 4);
    for (int blocks = 1; blocks <= 4; blocks *= 2) {
        double speed = time_reads(d, p, bytes, blocks);
        best = speed > best ? speed : best;
    }
    cudaFree(p);
    return best;
}

static double peak_of(struct device *d)
{
    enum { N = 8192, RUNS = 5, REST_US = 300000 };
    size_t bytes = (size_t)N * N * sizeof(uint16_t);
    char *workspace = NULL;
    double best = 0, speed[RUNS];
    if (cudaMalloc((void **)&workspace, 4 * bytes) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    noise_kernel<<<1024, 256, 0, d->stream>>>((uint32_t *)workspace, bytes / 2);
    struct product p = {
        N, N, N, DTYPE_BF16, workspace, workspace + bytes, N, N, 0, NULL, (float *)(workspace + 2 * bytes)};
    int n = 0;
    /* The first product tries algorithms for so long that the GPU meets its power limit, which would then be
     * measured in place of what a short product reaches: so it rests. */
    if (gemm_run(d, &p) == 0 && cudaStreamSynchronize(d->stream) == cudaSuccess && usleep(REST_US) == 0)
        n = time_runs(d, speed, RUNS, 2.0 * N * N * N, [&] { return gemm_run(d, &p); });
    for (int i = 0; i < n; i++)
        best = speed[i] > best ? speed[i] : best;
    cudaFree(workspace);
    return best;
}

static double upload_bandwidth(struct device *d)
{
    enum { COPIES = 9 };
    static const size_t bytes = (size_t)256 << 20;
    char *from = NULL, *to = NULL;
    double speed[COPIES];
    if (cudaMallocHost((void **)&from, bytes) != cudaSuccess ||
        cudaMalloc((void **)&to, bytes) != cudaSuccess) {
        cudaGetLastError();
        cudaFreeHost(from);
        return 0;
    }
    memset(from, 1, bytes);
    int n = time_runs(d, speed, COPIES, (double)bytes,
                      [=] { return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, d->stream); });
    cudaFree(to);
    cudaFreeHost(from);
    return limits_median(speed, n);
}

const struct limits cuda_limits = {read_bandwidth, peak_of, upload_bandwidth, gemm_fastest};
