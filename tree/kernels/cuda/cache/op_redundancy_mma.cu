/* How alike the keys of a head are (R-KV, arXiv 2505.24133), for bf16 keys on tensor cores: products of bf16
 * are exact, and sums are fp32.
 *
 * A block has eight pages of 16 own keys and meets them once with all pages, which it copies to shared memory
 * eight at a time; each of sixteen warps has the own keys of a page in registers, and two warps take turns
 * with pairs of the others. The matrix of cosines is symmetric, so a key's row is its column: while its
 * cosines are added up, the warp finds which entry of the row is spared, and how large it is. What is spared
 * is taken off the mean of its column at the end (mix_kernel), from sums of whole numbers, so that the order
 * in which keys come does not count. What warps have seen comes together in the order of lanes and warps, so
 * a list's bits depend on the list alone. */
#include "kernels/cuda/device/share.cuh"
#include "kernels/cuda/cache/redundancy.cuh"
#include "kernels/cuda/cache/key_pages.cuh"

enum { WARPS = 16, THREADS = WARPS * WARP };
enum { OWN = 8, SHARE = WARPS / OWN };    /* own pages of a block; warps with the same */
enum { PAGES = 8, PAIR = 2, STAGES = 4 }; /* pages of a stage; that a warp meets at once; in shared memory */
enum { NORMS = PAGES * KV_PAGE_TOKENS * 4 }; /* bytes of a stage besides */

struct redundancy_work {
    struct key_redundancy_args a;
    float *norm;     /* 1 / (|k| + 1e-8), by list and slot like io.v; where the other form has `spare` */
    int64_t *spared; /* what is spared of a key's column, times SPARED_ONE */
};

static __device__ int slots_of(const struct redundancy_work &w, int list)
{
    return redundancy_head_of(w.a, list / w.a.io.n_rows, list % w.a.io.n_rows).n;
}

/* A warp has a page of an item. D / 8 lanes have a key, 16 bytes each, in whatever order they lie. */
template <int D>
static __global__ void __launch_bounds__(THREADS)
    norm_kernel(const __grid_constant__ struct redundancy_work w)
{
    enum { LANES = D / 8, AT_ONCE = WARP / LANES, LOADS = KV_PAGE_TOKENS / AT_ONCE };
    pdl_wait();
    pdl_trigger();
    const struct key_redundancy_args &a = w.a;
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    share_items<THREADS>(
        a.rows.cap * a.io.n_rows, [&](int list) { return slots_of(w, list); }, [](int, int) {},
        [](int n) { return (pages_of(n) + WARPS - 1) / WARPS; },
        [&](int list, int n, int item) {
            struct redundancy_head s = redundancy_head_of(a, list / a.io.n_rows, list % a.io.n_rows);
            int page = item * WARPS + warp;
            uint4 key[LOADS];
            if (page >= pages_of(n))
                return;
            const uint4 *keys = (const uint4 *)kv_block_k(a.kv, s.block_table[page]);
#pragma unroll
            for (int i = 0; i < LOADS; i++)
                key[i] = keys[i * WARP + lane];
#pragma unroll
            for (int i = 0; i < LOADS; i++) {
                float4 x = four_bf16(make_uint2(key[i].x, key[i].y)),
                       y = four_bf16(make_uint2(key[i].z, key[i].w));
                float sum = x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w + y.x * y.x + y.y * y.y +
                            y.z * y.z + y.w * y.w;
                for (int other = 1; other < LANES; other *= 2)
                    sum += __shfl_xor_sync(~0u, sum, other);
                int slot = page * KV_PAGE_TOKENS + i * AT_ONCE + lane / LANES;
                size_t at = s.list * (size_t)a.io.stride + slot;
                if (lane % LANES == 0 && slot < n) {
                    w.norm[at] = 1 / (sqrtf(sum) + 1e-8f);
                    w.spared[at] = 0;
                }
            }
        });
}

/* c[half]: products of own keys g, g + 8 with keys 8 half + 2t, + 1 of a page. */
template <int D>
static __device__ void key_products(const uint32_t (&own)[D / 16][4], uint32_t page, float (&c)[2][4])
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

/* The entry of a key's row that is spared: of the last key above the threshold, or the first, so far, or else
 * of slot 0. value: its cosine, where `slot` is not negative; else that of slot 0 if the lane has met it. */
struct spare {
    int slot;
    float value;
};

template <bool FIRST> static __device__ struct spare spare_of(struct spare x, struct spare y)
{
    if (x.slot < 0 && y.slot < 0)
        return {-1, x.value + y.value}; /* one has met slot 0 at most */
    return x.slot < 0 || (y.slot >= 0 && (y.slot > x.slot) != FIRST) ? y : x;
}

/* What a lane knows of its own keys g and g + 8 of the warp's page. Cosines lack the factor of the own norm
 * until they are put. */
struct seen {
    int slot[2];
    float above[2], sum[2];
    struct spare spare[2];
};

/* A page's cosines with the own keys. norm: of the four keys of the page that the lane has products with.
 * EDGE: the page has slot 0, own keys or the end of the list. */
template <bool FIRST, bool EDGE>
static __device__ void add_page(int n, int page, const float (&c)[2][4], const float (&norm)[4],
                                struct seen *own)
{
#pragma unroll
    for (int x = 0; x < 8; x++) {
        int mine = x >> 1 & 1, other = slot_of(page * KV_PAGE_TOKENS, x);
        float cosine = c[x / 4][x % 4] * norm[x / 4 * 2 + x % 2];
        struct spare *s = &own->spare[mine];
        if (EDGE && other >= n)
            continue;
        if (EDGE && other == own->slot[mine])
            cosine = 0; /* the diagonal */
        if (EDGE && other == 0)
            s->value = cosine;
        own->sum[mine] += cosine;
        if (cosine > own->above[mine] && (!FIRST || s->slot < 0))
            *s = {other, cosine};
    }
}

/* The four lanes of a key come together, then the SHARE warps of a page. */
template <bool FIRST>
static __device__ void put_keys(const struct redundancy_work &w, const struct redundancy_head &s, int first,
                                struct seen own, float (&sum)[WARPS][KV_PAGE_TOKENS],
                                struct spare (&spare)[WARPS][KV_PAGE_TOKENS])
{
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    for (int mine = 0; mine < 2; mine++) {
        struct spare x = own.spare[mine];
        for (int other = 1; other < 4; other *= 2) {
            own.sum[mine] += __shfl_xor_sync(~0u, own.sum[mine], other);
            x = spare_of<FIRST>(x,
                                {__shfl_xor_sync(~0u, x.slot, other), __shfl_xor_sync(~0u, x.value, other)});
        }
        if (lane % 4 == 0) {
            sum[warp][lane / 4 + mine * 8] = own.sum[mine];
            spare[warp][lane / 4 + mine * 8] = x;
        }
    }
    __syncthreads();
    int page = threadIdx.x / KV_PAGE_TOKENS, key = threadIdx.x % KV_PAGE_TOKENS, from = page * SHARE;
    int slot = (first + page) * KV_PAGE_TOKENS + key;
    if (page < OWN && slot < s.n) {
        size_t list = s.list * (size_t)w.a.io.stride;
        float norm = w.norm[list + slot], all = sum[from][key];
        struct spare x = spare[from][key];
        for (int i = 1; i < SHARE; i++) {
            all += sum[from + i][key];
            x = spare_of<FIRST>(x, spare[from + i][key]);
        }
        w.a.mean[list + slot] = all * norm / (float)s.n;
        atomicAdd((unsigned long long *)(w.spared + list + max(x.slot, 0)),
                  (unsigned long long)llrintf(x.value * norm * SPARED_ONE));
    }
    __syncthreads();
}

template <int D> static __host__ __device__ constexpr int stage_bytes(void)
{
    return PAGES * key_page<D>::BYTES + NORMS;
}

/* A block's copies: smem for STAGES stages and the own pages, with barriers, and how many stages the warp has
 * asked for and met. */
struct copies {
    const char *smem;
    uint32_t full, empty, own_bar;
    int begun, met, own_phase;
};

/* Of pages and norms of the next stage of an item, where there is one; by the first warp. */
template <int D>
static __device__ void ask_stage(const struct redundancy_work &w, const struct redundancy_head &s, int stage,
                                 struct copies &c)
{
    int pages = pages_of(s.n), first = stage * PAGES, at = c.begun % STAGES;
    int norms = min(pages - first, (int)PAGES) * KV_PAGE_TOKENS * 4;
    uint32_t smem = shared_address(c.smem) + at * stage_bytes<D>(), bar = c.full + at * 8;
    if (first >= pages)
        return;
    if (c.begun >= STAGES)
        barrier_wait(c.empty + at * 8, (c.begun / STAGES - 1) & 1);
    copy_key_pages<D>(w.a.kv, s.block_table, first, PAGES, pages, smem, bar, norms);
    if (threadIdx.x == 0)
        tma_bulk_copy(smem + PAGES * key_page<D>::BYTES,
                      w.norm + s.list * (size_t)w.a.io.stride + first * KV_PAGE_TOKENS, norms, bar);
    c.begun++;
}

/* Meets the own keys with a stage's pages in shared memory: with this warp's pairs. */
template <int D, bool FIRST>
static __device__ void meet_stage(const uint32_t (&keys)[D / 16][4], int n, int first, const char *stage,
                                  struct seen *own)
{
    int own_page = own->slot[0] / KV_PAGE_TOKENS, pages = pages_of(n), t = threadIdx.x % 4;
    uint32_t smem = shared_address(stage);
    const float *norms = (const float *)(stage + PAGES * key_page<D>::BYTES);
#pragma unroll 1
    for (int p = threadIdx.x / WARP % SHARE * PAIR; p < PAGES && first + p < pages; p += SHARE * PAIR) {
        float c[PAIR][2][4];
#pragma unroll
        for (int e = 0; e < PAIR; e++)
            key_products<D>(keys, smem + (p + e) * key_page<D>::BYTES, c[e]);
#pragma unroll
        for (int e = 0; e < PAIR; e++) {
            int page = first + p + e;
            float2 low = *(const float2 *)(norms + (p + e) * KV_PAGE_TOKENS + t * 2);
            float2 high = *(const float2 *)(norms + (p + e) * KV_PAGE_TOKENS + 8 + t * 2);
            float norm[4] = {low.x, low.y, high.x, high.y};
            if (page > 0 && page != own_page && (page + 1) * KV_PAGE_TOKENS <= n)
                add_page<FIRST, false>(n, page, c[e], norm, own);
            else
                add_page<FIRST, true>(n, page, c[e], norm, own);
        }
    }
}

/* Meets own pages from `first` on with all pages. The first warp asks for a stage as soon as all warps have
 * met the one that had its room, STAGES before it. */
template <int D, bool FIRST>
static __device__ struct seen meet_all(const struct redundancy_work &w, const struct redundancy_head &s,
                                       int first, struct copies &c)
{
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, pages = pages_of(s.n),
        page = first + warp / SHARE;
    int stages = (pages + PAGES - 1) / PAGES;
    uint32_t keys[D / 16][4], own_smem = shared_address(c.smem) + STAGES * stage_bytes<D>();
    struct seen own = {{0, 0}, {0, 0}, {0, 0}, {{-1, 0}, {-1, 0}}};
    if (warp == 0)
        copy_key_pages<D>(w.a.kv, s.block_table, first, OWN, pages, own_smem, c.own_bar);
    for (int i = 0; warp == 0 && i < STAGES - 1; i++)
        ask_stage<D>(w, s, i, c);
    for (int mine = 0; mine < 2; mine++) {
        own.slot[mine] = page * KV_PAGE_TOKENS + lane / 4 + mine * 8;
        own.above[mine] =
            w.a.threshold / w.norm[s.list * (size_t)w.a.io.stride + min(own.slot[mine], s.n - 1)];
    }
    barrier_wait(c.own_bar, c.own_phase);
    c.own_phase ^= 1;
#pragma unroll
    for (int k = 0; k < D / 16; k++)
        load_keys<D>(keys[k], own_smem + warp / SHARE * key_page<D>::BYTES, k);
    for (int i = 0; i < stages; i++, c.met++) {
        int at = c.met % STAGES;
        if (warp == 0)
            ask_stage<D>(w, s, i + STAGES - 1, c);
        barrier_wait(c.full + at * 8, c.met / STAGES & 1); /* by all, so that none arrives twice in a phase */
        if (page < pages)
            meet_stage<D, FIRST>(keys, s.n, i * PAGES, c.smem + at * stage_bytes<D>(), &own);
        /* All threads: racecheck does not know that one may speak for a warp. */
        barrier_arrive(c.empty + at * 8);
    }
    return own;
}

/* An item is OWN pages. */
template <int D, bool FIRST>
static __global__ void __launch_bounds__(THREADS, 1)
    redundancy_kernel(const __grid_constant__ struct redundancy_work w)
{
    extern __shared__ __align__(1024) char redundancy_pages[];
    __shared__ uint64_t bar[2 * STAGES + 1]; /* full, empty, own pages */
    __shared__ float sum[WARPS][KV_PAGE_TOKENS];
    __shared__ struct spare spare[WARPS][KV_PAGE_TOKENS];
    needs_hopper();
    pdl_wait();
    pdl_trigger();
    struct copies c = {redundancy_pages,
                       shared_address(bar),
                       shared_address(&bar[STAGES]),
                       shared_address(&bar[2 * STAGES]),
                       0,
                       0,
                       0};
    for (int i = 0; threadIdx.x == 0 && i <= 2 * STAGES; i++)
        barrier_init(shared_address(&bar[i]), i >= STAGES && i < 2 * STAGES ? THREADS : 1);
    barrier_init_done();
    __syncthreads();
    share_items<THREADS>(
        w.a.rows.cap * w.a.io.n_rows, [&](int list) { return slots_of(w, list); }, [](int, int) {},
        [](int n) { return (pages_of(n) + OWN - 1) / OWN; },
        [&](int list, int, int item) {
            struct redundancy_head s = redundancy_head_of(w.a, list / w.a.io.n_rows, list % w.a.io.n_rows);
            struct seen own = meet_all<D, FIRST>(w, s, item * OWN, c);
            put_keys<FIRST>(w, s, item * OWN, own, sum, spare);
        });
}

template <int D> static int run_redundancy(struct device *d, const struct redundancy_work *w)
{
    int bytes = STAGES * stage_bytes<D>() + OWN * key_page<D>::BYTES;
    int rc = cuda_launch_pdl(d, OP_key_redundancy, norm_kernel<D>, d->n_sm, THREADS, 0, 1, *w);
    return rc ? rc
              : cuda_launch_pdl(d, OP_key_redundancy,
                                w->a.first ? redundancy_kernel<D, true> : redundancy_kernel<D, false>,
                                d->n_sm, THREADS, bytes, 1, *w);
}

int redundancy_mma_fits(const struct key_redundancy_args *a)
{
    return a->kv.dtype == DTYPE_BF16 && (a->kv.head_dim == 64 || a->kv.head_dim == 128) &&
           a->io.stride % KV_PAGE_TOKENS == 0;
}

/* The same of `n` rows from row0 on. */
static struct key_redundancy_args rows_from(const struct key_redundancy_args *a, int row0, int n)
{
    struct key_redundancy_args part = *a;
    size_t lists = (size_t)row0 * a->io.n_rows, slots = lists * a->io.stride;
    part.rows.cap = min(n, a->rows.cap - row0);
    part.rows.seq += row0;
    part.rows.pos += row0;
    part.io.v += slots;
    part.io.n += lists;
    part.io.m += lists;
    part.spare += slots;
    part.mean += slots;
    return part;
}

int redundancy_mma(struct device *d, const struct key_redundancy_args *a)
{
    size_t row = (size_t)a->io.n_rows * a->io.stride * sizeof(int64_t);
    int rows = cuda_rows_at_once(d, a->rows.cap, row), rc = 0;
    int64_t *spared = (int64_t *)cuda_workspace(d, rows * row);
    if (!spared)
        return BACKEND_ERR_MEMORY;
    for (int row0 = 0; row0 < a->rows.cap && !rc; row0 += rows) {
        struct key_redundancy_args part = rows_from(a, row0, rows);
        struct redundancy_work w = {part, (float *)(void *)part.spare, spared};
        rc = a->kv.head_dim == 128 ? run_redundancy<128>(d, &w) : run_redundancy<64>(d, &w);
        rc = rc ? rc : redundancy_mix(d, &part, spared);
    }
    return rc;
}
