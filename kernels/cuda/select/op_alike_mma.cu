/* How alike the keys of a head are (R-KV, arXiv 2505.24133), for bf16 keys on tensor cores: products of bf16
 * are exact, and sums are fp32.
 *
 * A warp has a page of 16 own keys in registers and meets them with all pages, which its block copies to
 * shared memory four at a time, two such stages in turn. What a lane has seen of its keys meets that of the
 * three others with the same keys at the end. So a list's bits depend on the list alone. */
#include "kernels/cuda/device/ptx.cuh"
#include "kernels/cuda/select/alike.cuh"

enum { WARPS = 8, THREADS = WARPS * WARP, PAGES = 4, STAGES = 2 };
static_assert(WARPS <= STAGES * PAGES, "own pages come through the stages first");

template <int D> struct form {
    static const int ROW = D * 2, PAGE = KV_PAGE_TOKENS * ROW;
};

struct alike_work {
    struct key_redundancy_args a;
    float *norm; /* |k| + 1e-8, by list and slot like io.v */
};

/* A warp a slot. Grid (parts, KV heads, rows), like the next. */
static __global__ void __launch_bounds__(THREADS) norm_kernel(const __grid_constant__ struct alike_work w)
{
    wait_for_inputs();
    let_next_begin();
    const struct key_redundancy_args &a = w.a;
    struct alike s = alike_of(a, blockIdx.z, blockIdx.y);
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, step = (int)gridDim.x * WARPS;
    for (int t = (int)blockIdx.x * WARPS + warp; t < s.n; t += step) {
        const char *k = kv_unit_k(a.kv, s.unit[t / KV_PAGE_TOKENS]);
        float sum = 0;
        for (int x = lane; x < a.kv.head_dim; x += WARP) {
            float v = kv_get(a.kv, k, t % KV_PAGE_TOKENS, x);
            sum = fmaf(v, v, sum);
        }
        sum = warp_sum(sum);
        if (lane == 0)
            w.norm[s.list * (size_t)a.io.stride + t] = sqrtf(sum) + 1e-8f;
    }
}

/* Starts the copies of `n` pages from `first` on, those that there are. One thread's work. */
template <int D>
static __device__ void copy_pages(const struct key_redundancy_args &a, const struct alike &s, int first,
                                  int n, uint32_t to, uint32_t bar)
{
    int left = pages_of(s.n) - first;
    n = left < n ? left : n;
    barrier_expect(bar, n > 0 ? n * form<D>::PAGE : 0);
    for (int p = 0; p < n; p++)
        bulk_copy(to + p * form<D>::PAGE, kv_unit_k(a.kv, s.unit[first + p]), form<D>::PAGE, bar);
}

/* 16 keys x 16 dimensions from dimension 16k on, of a page in shared memory: as the first factor, or as the
 * second one of keys 0-7 (r[0], r[2]) and 8-15 (r[1], r[3]). */
template <int D> static __device__ void load_keys(uint32_t (&r)[4], uint32_t page, int k)
{
    int lane = threadIdx.x % WARP, row = lane & 15;
    load_matrices(r, (page + row * form<D>::ROW + ((lane >> 4) ^ (row & 7)) * 16) ^ k * 32);
}

/* c[half]: products of own keys g, g + 8 with keys 8 half + 2t, + 1 of a page. */
template <int D>
static __device__ void products(const uint32_t (&own)[D / 16][4], uint32_t page, float (&c)[2][4])
{
#pragma unroll
    for (int x = 0; x < 8; x++)
        c[x / 4][x % 4] = 0;
#pragma unroll
    for (int k = 0; k < D / 16; k++) {
        uint32_t b[4];
        load_keys<D>(b, page, k);
        mma(c[0], own[k], b[0], b[2]);
        mma(c[1], own[k], b[1], b[3]);
    }
}

/* What a lane knows of its own keys g and g + 8 of the warp's page. */
struct seen {
    int slot[2];
    float norm[2], sum[2]; /* mean: over rows i of c(i, slot) */
    int spare[2];          /* spare: of the keys so far, -1 if there is none */
};

/* A page's cosines with the own keys. MEAN: the page has rows i of the matrix, else columns j. */
template <bool MEAN>
static __device__ void add_page(const struct alike_work &w, const struct alike &s, int page,
                                const float (&c)[2][4], struct seen *own)
{
    size_t list = s.list * (size_t)w.a.io.stride;
#pragma unroll
    for (int x = 0; x < 8; x++) {
        int mine = x >> 1 & 1, other = page * KV_PAGE_TOKENS + (x & 4) * 2 + threadIdx.x % 4 * 2 + (x & 1);
        if (other >= s.n)
            continue;
        float cosine = c[x / 4][x % 4] / (own->norm[mine] * w.norm[list + other]);
        if (MEAN) {
            if (other != own->slot[mine] && w.a.spare[list + other] != own->slot[mine])
                own->sum[mine] += cosine;
        } else if ((other == own->slot[mine] ? 0.0f : cosine) > w.a.threshold) { /* the diagonal is 0 */
            if (!w.a.first || own->spare[mine] < 0)
                own->spare[mine] = other;
        }
    }
}

/* The four lanes of a key come together. */
template <bool MEAN>
static __device__ void put_keys(const struct alike_work &w, const struct alike &s, struct seen own)
{
    for (int mine = 0; mine < 2; mine++) {
        for (int lane = 1; lane < 4; lane *= 2) {
            int spare = __shfl_xor_sync(~0u, own.spare[mine], lane);
            own.sum[mine] += __shfl_xor_sync(~0u, own.sum[mine], lane);
            if (own.spare[mine] < 0 || (spare >= 0 && (spare > own.spare[mine]) != (w.a.first != 0)))
                own.spare[mine] = spare;
        }
        size_t at = s.list * (size_t)w.a.io.stride + own.slot[mine];
        if (threadIdx.x % 4 || own.slot[mine] >= s.n)
            continue;
        if (MEAN)
            w.a.mean[at] = own.sum[mine] / (float)s.n;
        else
            w.a.spare[at] = own.spare[mine] < 0 ? 0 : own.spare[mine];
    }
}

template <int D, bool MEAN>
static __global__ void __launch_bounds__(THREADS, 3) alike_kernel(const __grid_constant__ struct alike_work w)
{
    extern __shared__ __align__(1024) char alike_pages[];
    __shared__ uint64_t bar[STAGES + 1]; /* the last: own pages */
    const int STAGE = PAGES * form<D>::PAGE;
    needs_hopper();
    wait_for_inputs();
    let_next_begin();
    struct alike s = alike_of(w.a, blockIdx.z, blockIdx.y);
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, pages = pages_of(s.n);
    int stages = (pages + PAGES - 1) / PAGES, begun = 0, own_phase = 0;
    uint32_t room = shared_address(alike_pages);
    if (threadIdx.x == 0)
        for (int i = 0; i <= STAGES; i++)
            barrier_init(shared_address(&bar[i]), 1);
    barrier_init_done();
    __syncthreads();
    for (int first = (int)blockIdx.x * WARPS; first < pages; first += (int)gridDim.x * WARPS) {
        uint32_t keys[D / 16][4];
        struct seen own = {{0, 0}, {1, 1}, {0, 0}, {-1, -1}};
        if (threadIdx.x == 0)
            copy_pages<D>(w.a, s, first, WARPS, room, shared_address(&bar[STAGES]));
        barrier_wait(shared_address(&bar[STAGES]), own_phase);
        own_phase ^= 1;
#pragma unroll
        for (int k = 0; k < D / 16; k++)
            load_keys<D>(keys[k], room + warp * form<D>::PAGE, k);
        for (int mine = 0; mine < 2; mine++) {
            own.slot[mine] = (first + warp) * KV_PAGE_TOKENS + lane / 4 + mine * 8;
            if (own.slot[mine] < s.n)
                own.norm[mine] = w.norm[s.list * (size_t)w.a.io.stride + own.slot[mine]];
        }
        __syncthreads();
        for (int i = 0; threadIdx.x == 0 && i < STAGES && i < stages; i++) {
            int at = (begun + i) % STAGES;
            copy_pages<D>(w.a, s, i * PAGES, PAGES, room + at * STAGE, shared_address(&bar[at]));
        }
        for (int i = 0; i < stages; i++) {
            int at = (begun + i) % STAGES;
            barrier_wait(shared_address(&bar[at]), (begun + i) / STAGES & 1);
            for (int p = 0; p < PAGES && i * PAGES + p < pages && first + warp < pages; p++) {
                float c[2][4];
                products<D>(keys, room + at * STAGE + p * form<D>::PAGE, c);
                add_page<MEAN>(w, s, i * PAGES + p, c, &own);
            }
            __syncthreads();
            if (threadIdx.x == 0 && i + STAGES < stages)
                copy_pages<D>(w.a, s, (i + STAGES) * PAGES, PAGES, room + at * STAGE,
                              shared_address(&bar[at]));
        }
        begun += stages;
        put_keys<MEAN>(w, s, own);
    }
}

template <int D> static int run(struct device *d, const struct alike_work *w)
{
    const struct key_redundancy_args *a = &w->a;
    int lists = a->rows.cap * a->kv.n_kv, bytes = STAGES * PAGES * form<D>::PAGE;
    dim3 grid(max(1, 16 * d->n_sm / lists), a->kv.n_kv, a->rows.cap);
    int rc = cuda_launch_early(d, OP_key_redundancy, norm_kernel, grid, THREADS, 0, 1, *w);
    if (!rc)
        rc = cuda_launch_early(d, OP_key_redundancy, alike_kernel<D, false>, grid, THREADS, bytes, 1, *w);
    return rc ? rc
              : cuda_launch_early(d, OP_key_redundancy, alike_kernel<D, true>, grid, THREADS, bytes, 1, *w);
}

int alike_mma_fits(const struct key_redundancy_args *a)
{
    return a->kv.dtype == DTYPE_BF16 && (a->kv.head_dim == 64 || a->kv.head_dim == 128);
}

int alike_mma(struct device *d, const struct key_redundancy_args *a)
{
    struct alike_work w = {*a, NULL};
    w.norm =
        (float *)cuda_scratch(d, (size_t)a->rows.cap * a->kv.n_kv * (size_t)a->io.stride * sizeof(float));
    if (!w.norm)
        return BACKEND_ERR_MEMORY;
    return a->kv.head_dim == 128 ? run<128>(d, &w) : run<64>(d, &w);
}
