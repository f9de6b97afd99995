/* What the GPU gives at most: reading memory once, and a large bf16 product. */
#include <cuda_bf16.h>
#include <string.h>

#include "kernels/cuda/gemm.cuh"
#include "kernels/probe.h"

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

/* Median GB/s of `passes` launches. */
static double time_reads(struct device *d, const uint4 *p, size_t bytes, int blocks)
{
    enum { PASSES = 21 };
    double speed[PASSES];
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    for (int i = 0; i < PASSES; i++) {
        float ms = 0;
        cudaEventRecord(start, d->stream);
        read_kernel<<<blocks * d->n_sm, 512, 0, d->stream>>>(p, bytes / sizeof *p, (uint32_t *)d->counters);
        cudaEventRecord(stop, d->stream);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&ms, start, stop);
        speed[i] = (double)bytes / ms * 1e-6;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    return probe_median(speed, PASSES);
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

static double peak(struct device *d)
{
    enum { N = 8192, RUNS = 5 };
    size_t bytes = (size_t)N * N * sizeof(uint16_t);
    char *room = NULL;
    double best = 0;
    cudaEvent_t start, stop;
    if (cudaMalloc((void **)&room, 4 * bytes) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    noise_kernel<<<1024, 256, 0, d->stream>>>((uint32_t *)room, bytes / 2);
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    struct product p = {N, N, N, DTYPE_BF16, room, room + bytes, N, N, 0, NULL, (float *)(room + 2 * bytes)};
    for (int i = 0; i < RUNS; i++) {
        float ms = 0;
        cudaEventRecord(start, d->stream);
        if (gemm_run(d, &p))
            break;
        cudaEventRecord(stop, d->stream);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&ms, start, stop);
        double speed = 2.0 * N * N * N / ms * 1e-6;
        best = speed > best ? speed : best;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaFree(room);
    return best;
}

static double upload_bandwidth(struct device *d)
{
    enum { COPIES = 9 };
    static const size_t bytes = (size_t)256 << 20;
    char *from = NULL, *to = NULL;
    double speed[COPIES];
    cudaEvent_t start, stop;
    if (cudaMallocHost((void **)&from, bytes) != cudaSuccess ||
        cudaMalloc((void **)&to, bytes) != cudaSuccess) {
        cudaGetLastError();
        cudaFreeHost(from);
        return 0;
    }
    memset(from, 1, bytes);
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    for (int i = 0; i < COPIES; i++) {
        float ms = 0;
        cudaEventRecord(start, d->stream);
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, d->stream);
        cudaEventRecord(stop, d->stream);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&ms, start, stop);
        speed[i] = (double)bytes / ms * 1e-6;
    }
    cudaEventDestroy(start);
    cudaEventDestroy(stop);
    cudaFree(to);
    cudaFreeHost(from);
    return probe_median(speed, COPIES);
}

const struct probe cuda_probe = {read_bandwidth, peak, upload_bandwidth};
