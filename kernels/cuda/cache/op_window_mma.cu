/* window_mass (SnapKV's observation window) for bf16 keys of 64 or 128 dimensions on tensor cores
 * (window_tiles.cuh).
 *
 * A block holds eight tiles of queries and some pages of keys in shared memory. Two warps share a tile, and
 * each has half of the pages. The first kernel computes the sums of exponentials: the slots are divided into
 * parts, and their number depends on the list alone. The second computes the masses; a block has the pages
 * before and after its own as well, because pooling reaches into them. */
#include "kernels/cuda/cache/window_tiles.cuh"

enum { WARPS = TILES * 2, THREADS = WARPS * WARP };
enum { MAX_QUERIES = 128 };
enum { STAGE = 8 }; /* pages in shared memory */
/* OUT: pages that a block computes masses of. AROUND: these and the page on either side. NEAR: the slots of
 * AROUND. */
enum { OUT = 4, AROUND = OUT + 2, NEAR = AROUND * KV_PAGE_TOKENS };
static_assert(WINDOW_KERNEL_LIMIT / 2 <= KV_PAGE_TOKENS, "pooling reaches into the next page");

static const float LOG2_E = 1.44269504f;

/* What a warp works on: which half of the pages, which set of queries, which head. */
struct place {
    int half, set, head;
};

template <bool LARGEST> static __device__ struct place own_place(void)
{
    int warp = threadIdx.x / WARP, sets = tile_config<LARGEST>::SETS;
    return {warp % 2, warp / 2 % sets, warp / 2 / sets};
}

/* Softmaxes of a query: one for each head of the group, or one for all with largest_first. */
template <bool LARGEST> static __host__ __device__ int passes_of(const struct window_mass_args &a)
{
    return LARGEST ? 1 : a.n_q / a.kv.n_kv;
}

/* A block takes a list's tiles in rounds; the rounds of the same heads follow each other. */
template <bool LARGEST> static __device__ int rounds_of_heads(const struct window_mass_args &a)
{
    return (a.n + tile_config<LARGEST>::AT_A_TIME - 1) / tile_config<LARGEST>::AT_A_TIME;
}

template <bool LARGEST> static __device__ int rounds_of(const struct window_mass_args &a)
{
    int heads = tile_config<LARGEST>::HEADS;
    return (passes_of<LARGEST>(a) + heads - 1) / heads * rounds_of_heads<LARGEST>(a);
}

template <bool LARGEST>
static __device__ struct tile tile_of(const struct window_mass_args &a, const struct place &own, int round)
{
    typedef struct tile_config<LARGEST> F;
    int of_heads = rounds_of_heads<LARGEST>(a);
    return {round % of_heads * F::AT_A_TIME + own.set * F::QUERIES, round / of_heads * F::HEADS + own.head};
}

template <bool LARGEST>
static __device__ bool is_there(const struct window_mass_args &a, const struct tile &t)
{
    return t.i0 < a.n && t.g < passes_of<LARGEST>(a);
}

struct window_work {
    struct window_mass_args a;
    /* (lists, passes, n, 2 MAX_PARTS): the largest logit times log2 e, and the sum of powers of 2 relative
     * to it. A power of 2 takes no branch, which an exponential that must not become a denormal takes. */
    float2 *sums;
};

/* Pages whose slots some query sees. */
static __device__ int seen_pages(const struct window_mass_args &a, int n_slots)
{
    return pages_of(a.causal ? n_slots : n_slots - a.params.recent);
}

static __device__ int pages_a_part(int pages)
{
    return (pages + STAGE * MAX_PARTS - 1) / (STAGE * MAX_PARTS) * STAGE;
}

static __device__ int parts_of(int pages)
{
    int each = pages_a_part(pages);
    return (pages + each - 1) / each;
}

/* Adds two sums of exponentials (running max, sum) into one; see window_work. */
static __device__ float2 join_sums(float2 x, float2 y)
{
    float running_max = fmaxf(x.x, y.x), from = running_max == -CUDART_INF_F ? 0 : running_max;
    return make_float2(running_max, x.y * power_of_2(x.x - from) + y.y * power_of_2(y.x - from));
}

/* Adds pages to the sums of a lane: of queries i and i + 8, or LARGEST of i alone. */
template <int N, bool LARGEST>
static __device__ void add_pages(const struct window_mass_args &a, const struct window &w, int i, int first,
                                 const float (&c)[N][2][4], float2 (&sum)[2])
{
    float scale = a.scale * LOG2_E;
#pragma unroll
    for (int mine = 0; mine < (LARGEST ? 1 : 2); mine++) {
        int seen = query_sees(a, w, min(i + mine * 8, a.n - 1));
        float x[N * 4], running_max = sum[mine].x, more = 0;
#pragma unroll
        for (int y = 0; y < N * 4; y++) {
            int slot = slot_of(first + y / 4 * KV_PAGE_TOKENS, y / 2 % 2 * 4 + y % 2);
            x[y] = slot < seen ? c[y / 4][y / 2 % 2][mine * 2 + y % 2] * scale : -CUDART_INF_F;
            running_max = fmaxf(running_max, x[y]);
        }
        float from = running_max == -CUDART_INF_F ? 0 : running_max;
#pragma unroll
        for (int y = 0; y < N * 4; y++)
            more += power_of_2(x[y] - from);
        sum[mine] = make_float2(running_max, sum[mine].y * power_of_2(sum[mine].x - from) + more);
    }
}

/* Adds up the sums of the four lanes that share a query. */
static __device__ float2 of_four(float2 x)
{
    for (int lane = 1; lane < 4; lane *= 2)
        x = join_sums(x, make_float2(__shfl_xor_sync(~0u, x.x, lane), __shfl_xor_sync(~0u, x.y, lane)));
    return x;
}

/* The barrier and phase of the block's next copy of pages. */
struct arrival {
    uint32_t bar;
    int phase;
};

/* Begins to copy pages to shared memory; by the whole block, which is done with those before. */
template <int D>
static __device__ void ask_pages(const struct kv_view &kv, const struct window &w, int first, int n,
                                 int pages, uint32_t smem, const struct arrival &next)
{
    __syncthreads();
    if (threadIdx.x < WARP)
        copy_key_pages<D>(kv, w.block_table, first, n, pages, smem, next.bar);
}

static __device__ void await_pages(struct arrival &next)
{
    barrier_wait(next.bar, next.phase);
    next.phase ^= 1;
}

static __device__ struct arrival first_arrival(uint64_t *bar)
{
    struct arrival next = {shared_address(bar), 0};
    if (threadIdx.x == 0)
        barrier_init(next.bar, 1);
    barrier_init_done();
    __syncthreads();
    return next;
}

/* An item is a part of the slots, for eight tiles. */
template <int D, bool LARGEST>
static __global__ void __launch_bounds__(THREADS, 1)
    window_sums_kernel(const __grid_constant__ struct window_work x)
{
    extern __shared__ __align__(1024) char window_pages[]; /* STAGE pages, then TILES tiles */
    __shared__ uint64_t bar;
    needs_hopper();
    pdl_wait();
    pdl_trigger();
    const struct window_mass_args &a = x.a;
    struct arrival next = first_arrival(&bar);
    struct place own = own_place<LARGEST>();
    uint32_t smem = shared_address(window_pages),
             own_smem = smem + own.half * (STAGE / 2) * key_page<D>::BYTES;
    char *tile = window_pages + STAGE * key_page<D>::BYTES + threadIdx.x / WARP / 2 * query_tile<D>::BYTES;
    int passes = passes_of<LARGEST>(a), lane = threadIdx.x % WARP;
    share_windows<THREADS>(
        a, false, [&](int n_slots) { return rounds_of<LARGEST>(a) * parts_of(seen_pages(a, n_slots)); },
        [&](const struct window &w, int item) {
            int pages = seen_pages(a, w.n_slots), each = pages_a_part(pages), parts = parts_of(pages);
            int part = item % parts, from = part * each;
            struct tile t = tile_of<LARGEST>(a, own, item / parts);
            int i = LARGEST ? t.i0 : t.i0 + lane / 4;
            float2 sum[2] = {{-CUDART_INF_F, 0}, {-CUDART_INF_F, 0}};
            for (int first = from; first < min(pages, from + each); first += STAGE) {
                float c[STAGE / 2][2][4];
                int mine = first + own.half * (STAGE / 2);
                ask_pages<D>(a.kv, w, first, STAGE, pages, smem, next);
                if (first == from) { /* while the pages come */
                    put_half<D>(bring_queries<D, LARGEST>(a, w, t, own.half), own.half, tile);
                    __syncthreads();
                }
                await_pages(next);
                if (!is_there<LARGEST>(a, t) || mine >= pages)
                    continue;
                key_products<D>(tile, own_smem, c);
                if (LARGEST)
                    largest_of_heads(w, c);
                add_pages<STAGE / 2, LARGEST>(a, w, i, mine * KV_PAGE_TOKENS, c, sum);
            }
            for (int mine = 0; mine < (LARGEST ? 1 : 2); mine++) {
                float2 all = of_four(sum[mine]);
                int of = i + mine * 8;
                if (lane % 4 == 0 && (!LARGEST || lane == 0) && t.g < passes && of < a.n)
                    x.sums[((w.list * passes + t.g) * a.n + of) * 2 * MAX_PARTS + part * 2 + own.half] = all;
            }
        });
}

/* lse: (passes, n), of all queries of a head; by the whole block. */
static __device__ void gather_masses(const struct window_work &x, const struct window &w, int passes,
                                     float *lse)
{
    enum { AT_ONCE = 8 };
    int n = 2 * parts_of(seen_pages(x.a, w.n_slots)), all = passes * x.a.n;
    for (int i = threadIdx.x; i < all; i += THREADS) {
        const float2 *sums = x.sums + (w.list * all + i) * 2 * MAX_PARTS;
        float2 sum = {-CUDART_INF_F, 0};
        for (int p = 0; p < n; p += AT_ONCE) {
            float2 more[AT_ONCE];
#pragma unroll
            for (int y = 0; y < AT_ONCE; y++)
                more[y] = sums[min(p + y, n - 1)];
#pragma unroll
            for (int y = 0; y < AT_ONCE; y++)
                if (p + y < n)
                    sum = join_sums(sum, more[y]);
        }
        if (x.a.softmax.sink)
            sum = join_sums(sum, make_float2(sink_of(x.a, w, i / x.a.n) * LOG2_E, 1));
        lse[i] = sum.x + log2f(sum.y);
    }
}

/* Adds what a tile's queries attend to: by the lane's keys of its pages. lse: the head's. */
template <int N, bool LARGEST>
static __device__ void add_masses(const struct window_mass_args &a, const struct window &w, int i0, int first,
                                  const float (&c)[N][2][4], const float *lse, float (&sum)[N][4])
{
    float scale = a.scale * LOG2_E;
#pragma unroll
    for (int mine = 0; mine < (LARGEST ? 1 : 2); mine++) {
        int i = LARGEST ? i0 : i0 + threadIdx.x % WARP / 4 + mine * 8;
        float all = i < a.n ? lse[i] : CUDART_INF_F;
#pragma unroll
        for (int y = 0; y < N * 4; y++) {
            int slot = slot_of(first + y / 4 * KV_PAGE_TOKENS, y / 2 % 2 * 4 + y % 2);
            float x = c[y / 4][y / 2 % 2][mine * 2 + y % 2] * scale - all;
            sum[y / 4][y % 4] += power_of_2(slot >= 0 && slot < w.before ? x : -CUDART_INF_F);
        }
    }
}

/* part: the place of the warp's pages among NEAR slots. */
template <int N, bool LARGEST> static __device__ void put_masses(float (&sum)[N][4], float *part)
{
#pragma unroll
    for (int y = 0; y < N * 4; y++) {
        for (int other = 4; other < WARP && !LARGEST; other *= 2)
            sum[y / 4][y % 4] += __shfl_xor_sync(~0u, sum[y / 4][y % 4], other);
        if (threadIdx.x % WARP < 4)
            part[slot_of(y / 4 * KV_PAGE_TOKENS, y / 2 % 2 * 4 + y % 2)] = sum[y / 4][y % 4];
    }
}

/* Masses of this warp's pages, of which the first slot is `first`, by head and set to part (passes, SETS,
 * NEAR). The first round's tile is in place; the next one's queries are asked for while this one's are
 * multiplied. */
template <int D, bool LARGEST>
static __device__ void masses_of(const struct window_mass_args &a, const struct window &w,
                                 const struct place &own, int first, uint32_t pages, char *tile,
                                 const float *lse, float *part)
{
    enum { N = AROUND / 2 };
    int rounds = rounds_of<LARGEST>(a), of_heads = rounds_of_heads<LARGEST>(a);
    float sum[N][4];
    for (int r = 0; r < rounds; r++) {
        struct tile t = tile_of<LARGEST>(a, own, r);
        struct brought<D> next;
        if (r + 1 < rounds)
            next = bring_queries<D, LARGEST>(a, w, tile_of<LARGEST>(a, own, r + 1), own.half);
        for (int y = 0; y < N * 4 && r % of_heads == 0; y++)
            sum[y / 4][y % 4] = 0;
        if (is_there<LARGEST>(a, t)) {
            float c[N][2][4];
            key_products<D>(tile, pages, c);
            if (LARGEST)
                largest_of_heads(w, c);
            add_masses<N, LARGEST>(a, w, t.i0, first, c, lse + t.g * a.n, sum);
        }
        if (r % of_heads == of_heads - 1 && t.g < passes_of<LARGEST>(a))
            put_masses<N, LARGEST>(sum, part + (t.g * tile_config<LARGEST>::SETS + own.set) * NEAR +
                                            own.half * (NEAR / 2));
        if (r + 1 == rounds)
            return;
        __syncthreads();
        put_half<D>(next, own.half, tile);
        __syncthreads();
    }
}

/* What slot `at` of NEAR gets from head g, pooled. part: (sets, NEAR). */
static __device__ float pooled_mass(const struct window_mass_args &a, const float *part, int sets, int at,
                                    float queries)
{
    int half = a.kernel / 2;
    float x = 0;
    for (int u = at - half; u <= at + half; u++) {
        float mass = part[u];
        for (int i = 1; i < sets; i++)
            mass += part[i * NEAR + u];
        mass /= queries;
        x = a.pool == WINDOW_MEAN ? x + mass : fmaxf(x, mass); /* masses are not negative */
    }
    return a.pool == WINDOW_MEAN ? x / (float)a.kernel : x;
}

/* An item is OUT pages, for all queries and heads. */
template <int D, bool LARGEST>
static __global__ void __launch_bounds__(THREADS, 1)
    window_masses_kernel(const __grid_constant__ struct window_work x)
{
    /* AROUND pages, TILES tiles, then part (passes, SETS, NEAR) and lse (passes, n) */
    extern __shared__ __align__(1024) char window_around[];
    __shared__ uint64_t bar;
    needs_hopper();
    pdl_wait();
    pdl_trigger();
    typedef struct tile_config<LARGEST> F;
    const struct window_mass_args &a = x.a;
    struct arrival next = first_arrival(&bar);
    uint32_t smem = shared_address(window_around);
    int passes = passes_of<LARGEST>(a);
    struct place own = own_place<LARGEST>();
    char *tiles = window_around + AROUND * key_page<D>::BYTES;
    char *tile = tiles + threadIdx.x / WARP / 2 * query_tile<D>::BYTES;
    float *part = (float *)(tiles + TILES * query_tile<D>::BYTES), *lse = part + passes * F::SETS * NEAR;
    share_windows<THREADS>(
        a, true, [&](int n_slots) { return (pages_of(n_slots - a.params.recent) + OUT - 1) / OUT; },
        [&](const struct window &w, int item) {
            int pages = pages_of(w.before), out = item * OUT, first = max(out - 1, 0);
            int mine = out - 1 + own.half * (AROUND / 2), at = (int)threadIdx.x + KV_PAGE_TOKENS;
            int slot = out * KV_PAGE_TOKENS + (int)threadIdx.x;
            ask_pages<D>(a.kv, w, first, out + OUT + 1 - first, pages,
                         smem + (first - out + 1) * key_page<D>::BYTES, next);
            struct brought<D> queries =
                bring_queries<D, LARGEST>(a, w, tile_of<LARGEST>(a, own, 0), own.half);
            gather_masses(x, w, passes, lse);
            put_half<D>(queries, own.half, tile);
            __syncthreads();
            await_pages(next);
            masses_of<D, LARGEST>(a, w, own, mine * KV_PAGE_TOKENS,
                                  smem + own.half * (AROUND / 2) * key_page<D>::BYTES, tile, lse, part);
            __syncthreads();
            float *to = a.out.v + w.list * (size_t)a.out.stride, sum = 0;
            if (threadIdx.x < OUT * KV_PAGE_TOKENS && slot < w.before) {
                for (int g = 0; g < passes; g++)
                    sum += pooled_mass(a, part + g * F::SETS * NEAR, F::SETS, at, (float)a.n * (float)passes);
                to[slot] = sum;
            }
            for (int t = w.before + (int)threadIdx.x; item == 0 && t < w.n_slots; t += THREADS)
                to[t] = 0;
        });
}

template <int D, bool LARGEST> static int run_mass(struct device *d, const struct window_work *w)
{
    const struct window_mass_args *a = &w->a;
    int tiles = TILES * query_tile<D>::BYTES;
    int floats = passes_of<LARGEST>(*a) * (tile_config<LARGEST>::SETS * NEAR + a->n);
    int bytes = AROUND * key_page<D>::BYTES + tiles + floats * (int)sizeof(float);
    int rc = cuda_launch_pdl(d, OP_window_mass, window_sums_kernel<D, LARGEST>, d->n_sm, THREADS,
                             STAGE * key_page<D>::BYTES + tiles, 1, *w);
    return rc ? rc
              : cuda_launch_pdl(d, OP_window_mass, window_masses_kernel<D, LARGEST>, d->n_sm, THREADS, bytes,
                                1, *w);
}

template <int D> static int run_mass(struct device *d, const struct window_work *w)
{
    return w->a.largest_first ? run_mass<D, true>(d, w) : run_mass<D, false>(d, w);
}

int window_mma_fits(const struct window_mass_args *a)
{
    return a->kv.dtype == DTYPE_BF16 && a->softmax.softcap <= 0 &&
           (a->kv.head_dim == 64 || a->kv.head_dim == 128) && a->n <= MAX_QUERIES;
}

/* The same of `n` rows from row0 on. */
static struct window_mass_args rows_from(const struct window_mass_args *a, int row0, int n)
{
    struct window_mass_args part = *a;
    size_t lists = (size_t)row0 * a->out.n_rows;
    part.rows.cap = min(n, a->rows.cap - row0);
    part.rows.seq += row0;
    part.rows.pos += row0;
    part.out.v += lists * (size_t)a->out.stride;
    part.out.n += lists;
    part.out.m += lists;
    return part;
}

/* On an H200 352 rows of the 1.5B shape go at once with 64 queries: heads of four layers have 786 kB. */
int window_mma(struct device *d, const struct window_mass_args *a)
{
    int passes = a->largest_first ? 1 : a->n_q / a->kv.n_kv;
    size_t row = (size_t)a->out.n_rows * passes * a->n * 2 * MAX_PARTS * sizeof(float2);
    int rows = cuda_rows_at_once(d, a->rows.cap, row), rc = 0;
    float2 *sums = (float2 *)cuda_workspace(d, (size_t)rows * row);
    if (!sums)
        return BACKEND_ERR_MEMORY;
    for (int row0 = 0; row0 < a->rows.cap && !rc; row0 += rows) {
        struct window_work w = {rows_from(a, row0, rows), sums};
        rc = a->kv.head_dim == 128 ? run_mass<128>(d, &w) : run_mass<64>(d, &w);
    }
    return rc;
}
