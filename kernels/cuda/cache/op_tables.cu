/* Operations on the tables of the cache: copying whole KV blocks, counting what a prompt reads, updating the
 * peak at the end of a step, and writing int32 arrays. */
#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

/* A block a KV block. */
static __global__ void copy_blocks_kernel(struct copy_blocks_args a)
{
    const struct kv_view &kv = a.kv;
    int src = a.src[blockIdx.x], dst = a.dst[blockIdx.x];
    if (src == dst)
        return;
    const uint4 *from = (const uint4 *)kv_block_k(kv, src);
    uint4 *to = (uint4 *)kv_block_k(kv, dst);
    int chunks = (int)(kv_block_bytes(kv.dtype, kv.head_dim) / sizeof(uint4));
    for (int c = threadIdx.x; c < chunks; c += blockDim.x)
        to[c] = from[c];
    size_t bounds = 2 * kv.head_dim * kv_elem(kv.dtype) / sizeof(uint4);
    for (int i = threadIdx.x; kv.bounds && i < (int)bounds; i += blockDim.x)
        ((uint4 *)kv.bounds)[dst * bounds + i] = ((const uint4 *)kv.bounds)[src * bounds + i];
}

int cuda_op_copy_blocks(struct device *d, const struct copy_blocks_args *a)
{
    if (a->n < 1)
        return 0;
    copy_blocks_kernel<<<a->n, 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_copy_blocks);
}

/* A block is one row. */
static __global__ void account_kernel(struct account_args a)
{
    __shared__ int smem[WARP];
    pdl_wait();
    pdl_trigger();
    int seq = a.rows.seq[blockIdx.x], heads = a.kv.n_layers * a.kv.n_kv, sum = 0;
    if (seq < 0)
        return;
    for (int i = threadIdx.x; i < heads; i += blockDim.x) {
        int held = a.kv.n_live[(size_t)seq * heads + i], window = a.window ? a.window[i / a.kv.n_kv] : 0;
        held = window > 0 ? min(held, window) : held;
        sum += held + (a.with_bounds[seq] ? (held + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS : 0);
    }
    sum = block_sum(sum, smem);
    if (threadIdx.x == 0)
        a.kv.peak[seq] = max(a.kv.peak[seq], sum);
}

int cuda_op_account(struct device *d, const struct account_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return cuda_launch_pdl(d, OP_account, account_kernel, a->rows.cap, 128, 0, 1, *a);
}

/* A block is one KV head; its threads share the queries (tiles) or the keys. */
static __global__ void prefill_count_kernel(const __grid_constant__ struct prefill_count_args p)
{
    __shared__ int64_t smem[WARP];
    const struct prefill_attend_args &a = p.read;
    int h = blockIdx.x, last = a.pos0 + a.nq - 1;
    int64_t all = prefill_pairs(a.pos0, a.nq, 0), n = 0;
    for (int i = a.pos0 + threadIdx.x; a.tile && i <= last; i += blockDim.x) {
        int tile = i / a.tile, len = a.len[(tile - a.pos0 / a.tile) * a.n_rows + a.row_of_kv[h]];
        n += (len < 0 ? tile * a.tile : len) + i % a.tile + 1;
    }
    for (int key = threadIdx.x; !a.tile && a.until && key <= last; key += blockDim.x) {
        int from = max(key, a.pos0), to = min(a.until[(size_t)h * a.until_stride + key], last);
        n += max(to - from + 1, 0);
    }
    n = block_sum(n, smem);
    if (threadIdx.x)
        return;
    size_t head = kv_head(a.kv, a.seq, a.layer, h);
    a.kv.prefill_reads[head] += a.tile || a.until ? n : prefill_pairs(a.pos0, a.nq, a.window);
    a.kv.prefill_scans[head] += p.scanned ? all : 0;
}

int cuda_op_prefill_count(struct device *d, const struct prefill_count_args *a)
{
    if (a->read.nq < 1)
        return 0;
    prefill_count_kernel<<<a->read.kv.n_kv, 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_prefill_count);
}

static __global__ void fill_i32_kernel(struct fill_i32_args a)
{
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < a.n;
         i += (int64_t)gridDim.x * blockDim.x)
        a.out[i] = a.value;
}

int cuda_op_fill_i32(struct device *d, const struct fill_i32_args *a)
{
    fill_i32_kernel<<<256, 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_fill_i32);
}

static __global__ void put_i32_kernel(struct put_i32_args a)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < a.n)
        a.out[a.at[i]] = a.value[i];
}

int cuda_op_put_i32(struct device *d, const struct put_i32_args *a)
{
    if (a->n < 1)
        return 0;
    put_i32_kernel<<<(a->n + 255) / 256, 256, 0, d->stream>>>(*a);
    return cuda_launched(d, OP_put_i32);
}
