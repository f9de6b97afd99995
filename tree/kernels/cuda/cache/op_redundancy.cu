/* How alike the keys of a head are: R-KV's redundancy (arXiv 2505.24133); op_redundancy_mma.cu has the common
 * forms of bf16. A block takes 32 keys at a time and meets them with all others, 32 at a time, both in shared
 * memory; a lane has one of the others, a warp four of its own. Sums over rows of the matrix of cosines go
 * over tiles in order and then over warps in order. */
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/cache/redundancy.cuh"

enum { THREADS = 256, WARPS = THREADS / WARP, TILE = WARP, OWN = TILE / WARPS };

/* The keys of a tile, their norms and more: |k| + 1e-8, or 1 past the last. */
struct tile {
    float *key;  /* (TILE, d + 1) */
    float *norm; /* (TILE) */
};

static __device__ void load_tile(const struct kv_view &kv, const struct redundancy_head &s, int first,
                                 struct tile t)
{
    int d = kv.head_dim, warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    for (int e = threadIdx.x; e < TILE * d; e += THREADS) {
        int slot = first + e / d;
        const char *keys = slot < s.n ? kv_block_k(kv, s.block_table[slot / KV_PAGE_TOKENS]) : NULL;
        t.key[e / d * (d + 1) + e % d] = keys ? kv_get(kv, keys, slot % KV_PAGE_TOKENS, e % d) : 0.0f;
    }
    __syncthreads();
    for (int i = warp * OWN; i < (warp + 1) * OWN; i++) {
        float sum = 0;
        for (int x = lane; x < d; x += WARP)
            sum = fmaf(t.key[i * (d + 1) + x], t.key[i * (d + 1) + x], sum);
        sum = warp_sum(sum);
        if (lane == 0)
            t.norm[i] = first + i < s.n ? sqrtf(sum) + 1e-8f : 1.0f;
    }
    __syncthreads();
}

/* Cosines of this warp's keys of `rows` with this lane's key of `columns`. */
static __device__ void add_cosines(int d, struct tile rows, struct tile columns, float c[OWN])
{
    int first = threadIdx.x / WARP * OWN, lane = threadIdx.x % WARP;
    for (int i = 0; i < OWN; i++)
        c[i] = 0;
    for (int x = 0; x < d; x++) {
        float k = columns.key[lane * (d + 1) + x];
#pragma unroll
        for (int i = 0; i < OWN; i++)
            c[i] = fmaf(rows.key[(first + i) * (d + 1) + x], k, c[i]);
    }
    for (int i = 0; i < OWN; i++)
        c[i] = c[i] / (rows.norm[first + i] * columns.norm[lane]);
}

/* Two tiles in dynamic shared memory. */
static __device__ struct tile tile_at(float *smem, int d, int which)
{
    struct tile t;
    t.key = smem + which * TILE * (d + 2);
    t.norm = t.key + TILE * (d + 1);
    return t;
}

/* spare(i): the last or first key above the threshold, or 0. Grid (parts, KV heads, rows), like the next. */
static __global__ void __launch_bounds__(THREADS) spare_kernel(struct key_redundancy_args a)
{
    extern __shared__ float redundancy_smem[];
    pdl_wait();
    pdl_trigger();
    struct redundancy_head s = redundancy_head_of(a, blockIdx.z, blockIdx.y);
    int d = a.kv.head_dim, first = threadIdx.x / WARP * OWN, lane = threadIdx.x % WARP;
    struct tile rows = tile_at(redundancy_smem, d, 0), columns = tile_at(redundancy_smem, d, 1);
    for (int i0 = (int)blockIdx.x * TILE; i0 < s.n; i0 += (int)gridDim.x * TILE) {
        int spare[OWN];
        for (int i = 0; i < OWN; i++)
            spare[i] = -1;
        load_tile(a.kv, s, i0, rows);
        for (int j0 = 0; j0 < s.n; j0 += TILE) {
            float c[OWN];
            load_tile(a.kv, s, j0, columns);
            add_cosines(d, rows, columns, c);
            for (int i = 0; i < OWN; i++) {
                int j = j0 + lane;
                float x = j == i0 + first + i ? 0.0f : c[i]; /* the diagonal is 0, as on the CPU */
                unsigned above = __ballot_sync(~0u, x > a.threshold && j < s.n);
                if (above && !a.first)
                    spare[i] = j0 + 31 - __clz((int)above);
                else if (above && spare[i] < 0)
                    spare[i] = j0 + __ffs((int)above) - 1;
            }
            __syncthreads();
        }
        for (int i = 0; i < OWN; i++)
            if (lane == 0 && i0 + first + i < s.n)
                a.spare[s.list * (size_t)a.io.stride + i0 + first + i] = max(spare[i], 0);
    }
}

/* mean(j): over rows i, but where i or spare(i) is j. */
static __global__ void __launch_bounds__(THREADS) mean_kernel(struct key_redundancy_args a)
{
    extern __shared__ float redundancy_smem[];
    __shared__ float part[WARPS][TILE];
    pdl_wait();
    pdl_trigger();
    struct redundancy_head s = redundancy_head_of(a, blockIdx.z, blockIdx.y);
    int d = a.kv.head_dim, warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    struct tile rows = tile_at(redundancy_smem, d, 0), columns = tile_at(redundancy_smem, d, 1);
    const int32_t *spare = a.spare + s.list * (size_t)a.io.stride;
    for (int j0 = (int)blockIdx.x * TILE; j0 < s.n; j0 += (int)gridDim.x * TILE) {
        float sum = 0;
        load_tile(a.kv, s, j0, columns);
        for (int i0 = 0; i0 < s.n; i0 += TILE) {
            float c[OWN];
            load_tile(a.kv, s, i0, rows);
            add_cosines(d, rows, columns, c);
            for (int i = 0; i < OWN; i++) {
                int row = i0 + warp * OWN + i;
                if (row < s.n && row != j0 + lane && spare[row] != j0 + lane)
                    sum += c[i];
            }
            __syncthreads();
        }
        part[warp][lane] = sum;
        __syncthreads();
        for (int i = 1; warp == 0 && i < WARPS; i++)
            sum += part[i][lane];
        if (warp == 0 && j0 + lane < s.n)
            a.mean[s.list * (size_t)a.io.stride + j0 + lane] = sum / (float)s.n;
        __syncthreads();
    }
}

static int redundancy_plain(struct device *d, const struct key_redundancy_args *a)
{
    int lists = a->rows.cap * a->io.n_rows, bytes = 2 * TILE * (a->kv.head_dim + 2) * (int)sizeof(float);
    dim3 grid(max(1, 4 * d->n_sm / lists), a->io.n_rows, a->rows.cap);
    int rc = cuda_launch_pdl(d, OP_key_redundancy, spare_kernel, grid, THREADS, bytes, 1, *a);
    rc = rc ? rc : cuda_launch_pdl(d, OP_key_redundancy, mean_kernel, grid, THREADS, bytes, 1, *a);
    return rc ? rc : redundancy_mix(d, a, NULL);
}

int cuda_op_key_redundancy(struct device *d, const struct key_redundancy_args *a)
{
    if (a->rows.cap < 1)
        return 0;
    return d->hopper && redundancy_mma_fits(a) ? redundancy_mma(d, a) : redundancy_plain(d, a);
}
