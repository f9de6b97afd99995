/* How alike the keys of a head are (R-KV, arXiv 2505.24133), for bf16 keys on tensor cores: products of bf16
 * are exact, and sums are fp32.
 *
 * A block has two pages of 16 own keys and meets them with all pages, which it copies to shared memory 16 at
 * a time; each of eight warps has the own keys of a page in registers and meets them with two of the 16. What
 * they have seen comes together at the end, in the order of lanes and warps, so a list's bits depend on the
 * list alone. */
#include "kernels/cuda/device/share.cuh"
#include "kernels/cuda/select/alike.cuh"
#include "kernels/cuda/select/key_pages.cuh"

enum { WARPS = 16, THREADS = WARPS * WARP };
enum { OWN = 2, SHARE = WARPS / OWN };               /* own pages of a block; warps with the same */
enum { EACH = 2, PAGES = SHARE * EACH, STAGES = 2 }; /* pages of a stage for a warp, and for all; in flight */

struct alike_work {
    struct key_redundancy_args a;
    float *norm; /* 1 / (|k| + 1e-8), by list and slot like io.v */
};

static __device__ int slots_of(const struct alike_work &w, int list)
{
    return alike_of(w.a, list / w.a.io.n_rows, list % w.a.io.n_rows).n;
}

/* A warp has AT_ONCE slots of an item. */
static __global__ void __launch_bounds__(THREADS) norm_kernel(const __grid_constant__ struct alike_work w)
{
    enum { AT_ONCE = 2 };
    wait_for_inputs();
    let_next_begin();
    const struct key_redundancy_args &a = w.a;
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    share_items<THREADS>(
        a.rows.cap * a.io.n_rows, [&](int list) { return slots_of(w, list); }, [](int, int) {},
        [](int n) { return (n + WARPS * AT_ONCE - 1) / (WARPS * AT_ONCE); },
        [&](int list, int n, int item) {
            struct alike s = alike_of(a, list / a.io.n_rows, list % a.io.n_rows);
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                int t = (item * AT_ONCE + i) * WARPS + warp, there = min(t, n - 1);
                const char *k = kv_unit_k(a.kv, s.unit[there / KV_PAGE_TOKENS]);
                float sum = 0;
                for (int x = lane; x < a.kv.head_dim; x += WARP) {
                    float v = kv_get(a.kv, k, there % KV_PAGE_TOKENS, x);
                    sum = fmaf(v, v, sum);
                }
                sum = warp_sum(sum);
                if (lane == 0 && t < n)
                    w.norm[s.list * (size_t)a.io.stride + t] = 1 / (sqrtf(sum) + 1e-8f);
            }
        });
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

/* The keys of a page that a lane has products with, by its value of the product. */
static __device__ int other_of(int page, int x)
{
    return page * KV_PAGE_TOKENS + (x & 4) * 2 + threadIdx.x % 4 * 2 + (x & 1);
}

/* What is known of them: norms, and which key their row spares. */
struct others {
    float norm[4];
    int spare[4];
};

template <bool MEAN>
static __device__ struct others ask_others(const struct alike_work &w, const struct alike &s, int page)
{
    size_t list = s.list * (size_t)w.a.io.stride;
    struct others o;
#pragma unroll
    for (int x = 0; x < 4; x++) {
        int other = min(other_of(page, x % 2 + x / 2 * 4), s.n - 1);
        o.norm[x] = w.norm[list + other];
        o.spare[x] = MEAN ? w.a.spare[list + other] : 0;
    }
    return o;
}

/* A page's cosines with the own keys. MEAN: the page has rows i of the matrix, else columns j. */
template <bool MEAN>
static __device__ void add_page(const struct alike_work &w, const struct alike &s, int page,
                                const float (&c)[2][4], const struct others &o, struct seen *own)
{
#pragma unroll
    for (int x = 0; x < 8; x++) {
        int mine = x >> 1 & 1, other = other_of(page, x), of = x / 4 * 2 + x % 2;
        if (other >= s.n)
            continue;
        float cosine = c[x / 4][x % 4] * (own->norm[mine] * o.norm[of]);
        if (MEAN) {
            if (other != own->slot[mine] && o.spare[of] != own->slot[mine])
                own->sum[mine] += cosine;
        } else if ((other == own->slot[mine] ? 0.0f : cosine) > w.a.threshold) { /* the diagonal is 0 */
            if (!w.a.first || own->spare[mine] < 0)
                own->spare[mine] = other;
        }
    }
}

/* Of two keys to spare, the last, or the first. */
static __device__ int spare_of(const struct alike_work &w, int x, int y)
{
    return x < 0 || (y >= 0 && (y > x) != (w.a.first != 0)) ? y : x;
}

/* The four lanes of a key come together, then the SHARE warps of a page. */
template <bool MEAN>
static __device__ void put_keys(const struct alike_work &w, const struct alike &s, int first, struct seen own,
                                float (&sum)[WARPS][KV_PAGE_TOKENS], int (&spare)[WARPS][KV_PAGE_TOKENS])
{
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    for (int mine = 0; mine < 2; mine++) {
        for (int other = 1; other < 4; other *= 2) {
            own.sum[mine] += __shfl_xor_sync(~0u, own.sum[mine], other);
            own.spare[mine] = spare_of(w, own.spare[mine], __shfl_xor_sync(~0u, own.spare[mine], other));
        }
        if (lane % 4 == 0) {
            sum[warp][lane / 4 + mine * 8] = own.sum[mine];
            spare[warp][lane / 4 + mine * 8] = own.spare[mine];
        }
    }
    __syncthreads();
    int page = threadIdx.x / KV_PAGE_TOKENS, key = threadIdx.x % KV_PAGE_TOKENS, from = page * SHARE;
    int slot = (first + page) * KV_PAGE_TOKENS + key;
    if (page >= OWN || slot >= s.n)
        return;
    float all = sum[from][key];
    int one = spare[from][key];
    for (int i = 1; i < SHARE; i++) {
        all += sum[from + i][key];
        one = spare_of(w, one, spare[from + i][key]);
    }
    if (MEAN)
        w.a.mean[s.list * (size_t)w.a.io.stride + slot] = all / (float)s.n;
    else
        w.a.spare[s.list * (size_t)w.a.io.stride + slot] = max(one, 0);
}

/* Barriers and room of a block's copies, and how many stages it has begun. */
struct copies {
    uint32_t bar, own_bar, room, own_room;
    int begun, own_phase;
};

/* Own pages from `first` on. */
template <int D, bool MEAN>
static __device__ struct seen meet_all(const struct alike_work &w, const struct alike &s, int first,
                                       struct copies &c)
{
    const int STAGE = PAGES * key_page<D>::BYTES;
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, pages = pages_of(s.n);
    int stages = (pages + PAGES - 1) / PAGES;
    uint32_t keys[D / 16][4];
    struct seen own = {{0, 0}, {1, 1}, {0, 0}, {-1, -1}};
    if (threadIdx.x == 0)
        copy_key_pages<D>(w.a.kv, s.unit, first, OWN, pages, c.own_room, c.own_bar);
    for (int i = 0; threadIdx.x == 0 && i < min(STAGES, stages); i++) {
        int at = (c.begun + i) % STAGES;
        copy_key_pages<D>(w.a.kv, s.unit, i * PAGES, PAGES, pages, c.room + at * STAGE, c.bar + at * 8);
    }
    for (int mine = 0; mine < 2; mine++) {
        own.slot[mine] = (first + warp / SHARE) * KV_PAGE_TOKENS + lane / 4 + mine * 8;
        if (own.slot[mine] < s.n)
            own.norm[mine] = w.norm[s.list * (size_t)w.a.io.stride + own.slot[mine]];
    }
    barrier_wait(c.own_bar, c.own_phase);
    c.own_phase ^= 1;
#pragma unroll
    for (int k = 0; k < D / 16; k++)
        load_keys<D>(keys[k], c.own_room + warp / SHARE * key_page<D>::BYTES, k);
    struct others next[EACH];
    for (int e = 0; e < EACH; e++)
        next[e] = ask_others<MEAN>(w, s, warp % SHARE * EACH + e);
    for (int i = 0; i < stages; i++) {
        int at = (c.begun + i) % STAGES, page = i * PAGES + warp % SHARE * EACH;
        float x[EACH][2][4];
        struct others now[EACH];
        barrier_wait(c.bar + at * 8, (c.begun + i) / STAGES & 1);
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            now[e] = next[e];
            next[e] = ask_others<MEAN>(w, s, page + PAGES + e);
        }
#pragma unroll
        for (int e = 0; e < EACH; e++)
            if (page + e < pages)
                products<D>(keys, c.room + at * STAGE + (warp % SHARE * EACH + e) * key_page<D>::BYTES, x[e]);
#pragma unroll
        for (int e = 0; e < EACH; e++)
            if (page + e < pages)
                add_page<MEAN>(w, s, page + e, x[e], now[e], &own);
        __syncthreads();
        if (threadIdx.x == 0 && i + STAGES < stages)
            copy_key_pages<D>(w.a.kv, s.unit, (i + STAGES) * PAGES, PAGES, pages, c.room + at * STAGE,
                              c.bar + at * 8);
    }
    c.begun += stages;
    return own;
}

/* An item is OWN pages. */
template <int D, bool MEAN>
static __global__ void __launch_bounds__(THREADS, 1) alike_kernel(const __grid_constant__ struct alike_work w)
{
    extern __shared__ __align__(1024) char alike_pages[];
    __shared__ uint64_t bar[STAGES + 1]; /* the last: own pages */
    __shared__ float sum[WARPS][KV_PAGE_TOKENS];
    __shared__ int spare[WARPS][KV_PAGE_TOKENS];
    needs_hopper();
    wait_for_inputs();
    let_next_begin();
    struct copies c = {
        shared_address(bar), shared_address(&bar[STAGES]), shared_address(alike_pages), 0, 0, 0};
    c.own_room = c.room + STAGES * PAGES * key_page<D>::BYTES;
    if (threadIdx.x == 0)
        for (int i = 0; i <= STAGES; i++)
            barrier_init(c.bar + i * 8, 1);
    barrier_init_done();
    __syncthreads();
    share_items<THREADS>(
        w.a.rows.cap * w.a.io.n_rows, [&](int list) { return slots_of(w, list); }, [](int, int) {},
        [](int n) { return (pages_of(n) + OWN - 1) / OWN; },
        [&](int list, int, int item) {
            struct alike s = alike_of(w.a, list / w.a.io.n_rows, list % w.a.io.n_rows);
            struct seen own = meet_all<D, MEAN>(w, s, item * OWN, c);
            put_keys<MEAN>(w, s, item * OWN, own, sum, spare);
        });
}

template <int D> static int run(struct device *d, const struct alike_work *w)
{
    int bytes = (STAGES * PAGES + OWN) * key_page<D>::BYTES, blocks = d->n_sm;
    int rc = cuda_launch_early(d, OP_key_redundancy, norm_kernel, blocks, THREADS, 0, 1, *w);
    if (!rc)
        rc = cuda_launch_early(d, OP_key_redundancy, alike_kernel<D, false>, blocks, THREADS, bytes, 1, *w);
    return rc ? rc
              : cuda_launch_early(d, OP_key_redundancy, alike_kernel<D, true>, blocks, THREADS, bytes, 1, *w);
}

int alike_mma_fits(const struct key_redundancy_args *a)
{
    return a->kv.dtype == DTYPE_BF16 && (a->kv.head_dim == 64 || a->kv.head_dim == 128);
}

int alike_mma(struct device *d, const struct key_redundancy_args *a)
{
    struct alike_work w = {*a, NULL};
    w.norm =
        (float *)cuda_scratch(d, (size_t)a->rows.cap * a->io.n_rows * (size_t)a->io.stride * sizeof(float));
    if (!w.norm)
        return BACKEND_ERR_MEMORY;
    return a->kv.head_dim == 128 ? run<128>(d, &w) : run<64>(d, &w);
}
