/* Keys that stay as they were where they change little (DeltaLLM, arXiv 2507.19608). A block does one KV head
 * of one row, a thread one channel. Counts are integers, so the order of their sums does not matter. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/ptx.cuh"

static __global__ void hold_keys_kernel(struct hold_keys_args a)
{
    __shared__ int moved;
    pdl_wait();
    pdl_trigger();
    const struct kv_view &kv = a.kv;
    int h = blockIdx.y, i = threadIdx.x, seq = a.n ? a.seq : a.rows.seq[blockIdx.x];
    if (seq < 0)
        return;
    if (i == 0)
        moved = 0;
    __syncthreads();
    int at = a.n ? 0 : a.rows.pos[blockIdx.x] - a.window, to = a.n ? a.n - a.window : at + 1;
    size_t head = kv_head(kv, seq, a.layer, h);
    const int32_t *block_table = kv.block_table + head * (size_t)kv.max_pages;
    float *held =
        (float *)(a.state + (size_t)seq * a.state_bytes) + ((size_t)a.layer * kv.n_kv + h) * kv.head_dim + i;
    float last = *held;
    int n = 0;
    for (int t = max(at, 0); t < to; t++) {
        char *keys = kv_block_k(kv, block_table[t / KV_PAGE_TOKENS]);
        float k = kv_get(kv, keys, t % KV_PAGE_TOKENS, i);
        if (t == 0 || fabsf(k - last) > a.theta) {
            last = k;
            n++;
        } else {
            kv_put(kv, keys, t % KV_PAGE_TOKENS, i, last);
        }
    }
    *held = last;
    atomicAdd(&moved, n);
    __syncthreads();
    if (i)
        return;
    kv.keys_moved[head] += moved;
    if (!a.n)
        kv.key_elements[head] +=
            kv.keys_moved[head] + (int64_t)min(a.rows.pos[blockIdx.x] + 1, a.window) * kv.head_dim;
}

int cuda_op_hold_keys(struct device *d, const struct hold_keys_args *a)
{
    int rows = a->n ? 1 : a->rows.cap;
    if (rows < 1)
        return 0;
    return cuda_launch_pdl(d, OP_hold_keys, hold_keys_kernel, dim3(rows, a->kv.n_kv), a->kv.head_dim, 0, 1,
                           *a);
}
