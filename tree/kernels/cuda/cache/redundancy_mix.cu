/* The last kernel of key_redundancy, after those of op_redundancy.cu or op_redundancy_mma.cu: the softmax of
 * the means, mixed into the scores. */
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/cache/redundancy.cuh"

enum { THREADS = 256 };

/* See redundancy_mix. Grid (KV heads, rows). */
static __global__ void __launch_bounds__(THREADS)
    mix_kernel(struct key_redundancy_args a, const int64_t *spared)
{
    __shared__ float smem[WARP];
    pdl_wait();
    pdl_trigger();
    struct redundancy_head s = redundancy_head_of(a, blockIdx.y, blockIdx.x);
    size_t list = s.list * (size_t)a.io.stride;
    float *mean = a.mean + list, *io = a.io.v + list, largest = -CUDART_INF_F, sum = 0;
    if (s.n == 0)
        return;
    for (int t = threadIdx.x; t < s.n; t += THREADS) {
        if (spared)
            mean[t] -= (float)spared[list + t] * (1 / SPARED_ONE) / (float)s.n;
        largest = fmaxf(largest, mean[t]);
    }
    largest = block_max(largest, smem);
    for (int t = threadIdx.x; t < s.n; t += THREADS)
        sum += softmax_exp(mean[t] - largest);
    sum = block_sum(sum, smem);
    for (int t = threadIdx.x; t < s.n - a.recent; t += THREADS)
        io[t] = a.lambda * io[t] - (1 - a.lambda) * (softmax_exp(mean[t] - largest) / sum);
    if (threadIdx.x == 0)
        a.kv.aux_half[kv_head(a.kv, a.rows.seq[blockIdx.y], a.layer, blockIdx.x)] += s.n;
}

int redundancy_mix(struct device *d, const struct key_redundancy_args *a, const int64_t *spared)
{
    return cuda_launch_pdl(d, OP_key_redundancy, mix_kernel, dim3(a->io.n_rows, a->rows.cap), THREADS, 0, 1,
                           *a, spared);
}
