/* Prefill attention on tensor cores, for a bf16 cache. A warp has 16 rows, a block up to 8 warps, which share
 * tiles of 64 keys (4 pages, copied as they are). Queries and weights are sums of PARTS bf16 numbers, so that
 * with 2 parts results are within 1e-5 of exact attention over the cache; 1 part is the usual precision.
 * Products of a tile are added to the output in fp32 by the CUDA cores: tensor cores truncate sums, which
 * over thousands of keys would show. */
#include "kernels/cuda/prefill.cuh"

enum { PARTS = 2, MAX_WARPS = 8, WARP_ROWS = 16, KEYS = 64, STAGES = 4, LAG = 2 };
enum { KEY_GROUPS = KEYS / 8, TILE_PAGES = KEYS / KV_PAGE_TOKENS };

/* What a thread holds of its warp's rows g = lane / 4 and g + 8 (index 0 and 1), in the layout of mma():
 * of every 8 columns 2(lane % 4) and the next. */
template <int DIM, int N> struct mma_rows {
    uint32_t q[DIM / 16][4]; /* scaled; first part */
    uint4 *more;             /* (N - 1, DIM / 16), WARP apart: the other parts, in shared memory */
    float o[DIM / 8][4];
    float top[2], sum[2]; /* sum: of the thread's own columns */
    int pos[2];
};

/* A warp's part of a block's shared memory, behind the tiles. */
template <int DIM, int N> __host__ __device__ static inline int more_bytes(void)
{
    return (N - 1) * (DIM / 16) * WARP * (int)sizeof(uint4);
}

template <int DIM, int N>
__device__ static inline void start_rows(struct mma_rows<DIM, N> &m, const struct prefill_work &w, int head,
                                         int row0)
{
    int lane = threadIdx.x % WARP;
    float scale = w.a.scale * (float)CUDART_L2E;
    const float *q[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = min(row0 + lane / 4 + 8 * r, w.rows - 1);
        q[r] = prefill_q(w, head, row) + 2 * (lane % 4);
        m.pos[r] = prefill_pos(w, row);
        m.top[r] = -CUDART_INF_F;
        m.sum[r] = 0;
    }
#pragma unroll
    for (int k = 0; k < DIM / 16; k++) {
        float x[4], y[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const float *at = q[e % 2] + k * 16 + e / 2 * 8;
            x[e] = at[0] * scale;
            y[e] = at[1] * scale;
            m.q[k][e] = round_pair(x[e], y[e]);
        }
#pragma unroll
        for (int n = 0; n < N - 1; n++) {
            uint32_t part[4];
#pragma unroll
            for (int e = 0; e < 4; e++)
                part[e] = round_pair(x[e], y[e]);
            m.more[(n * (DIM / 16) + k) * WARP] = make_uint4(part[0], part[1], part[2], part[3]);
        }
    }
#pragma unroll
    for (int i = 0; i < DIM / 8; i++)
        m.o[i][0] = m.o[i][1] = m.o[i][2] = m.o[i][3] = 0;
}

/* Logits of a tile. `tile` is its address in shared memory. */
template <int DIM, int N>
__device__ static inline void dot(const struct mma_rows<DIM, N> &m, uint32_t tile, float (&s)[KEY_GROUPS][4])
{
    int lane = threadIdx.x % WARP, row = lane / 16 * 8 + lane % 8;
    /* Chunk 2k + (lane / 8) % 2 of the row, in its swizzled place: 2k is the exclusive or's other half. */
    uint32_t at = tile + row * DIM * 2 + ((lane / 8 % 2) ^ (row & 7)) * 16;
#pragma unroll
    for (int j = 0; j < KEY_GROUPS; j++)
        s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0;
#pragma unroll
    for (int k = 0; k < DIM / 16; k++) {
        uint32_t keys[TILE_PAGES][4];
#pragma unroll
        for (int page = 0; page < TILE_PAGES; page++)
            load_matrices(keys[page], (at ^ (k * 32)) + page * DIM * 64);
#pragma unroll
        for (int n = N - 1; n >= 0; n--) {
            uint32_t q[4] = {m.q[k][0], m.q[k][1], m.q[k][2], m.q[k][3]};
            if (n > 0) {
                uint4 part = m.more[((n - 1) * (DIM / 16) + k) * WARP];
                q[0] = part.x;
                q[1] = part.y;
                q[2] = part.z;
                q[3] = part.w;
            }
#pragma unroll
            for (int page = 0; page < TILE_PAGES; page++) {
                mma(s[2 * page], q, keys[page][0], keys[page][1]);
                mma(s[2 * page + 1], q, keys[page][2], keys[page][3]);
            }
        }
    }
}

/* Bit 8j + e: row r sees the key of s[j][2r + e]. */
__device__ static inline void masks(const struct prefill_work &w, int head, int key0, const int (&pos)[2],
                                    unsigned live, uint64_t (&seen)[2])
{
    int column = 2 * (threadIdx.x % 4);
    uint64_t alive = 0;
#pragma unroll
    for (int page = 0; page < TILE_PAGES; page++)
        alive |= (uint64_t)__shfl_sync(~0u, live, page) << (KV_PAGE_TOKENS * page);
#pragma unroll
    for (int r = 0; r < 2; r++)
        seen[r] = (alive & prefill_seen(w, head, pos[r], key0)) >> column;
    if (!w.a.until)
        return;
    const int32_t *until = w.a.until + (size_t)head * (size_t)w.a.until_stride;
#pragma unroll
    for (int bit = 0; bit < KEYS; bit += bit % 2 ? 7 : 1) {
        int last = until[min(key0 + column + bit, w.a.until_stride - 1)];
#pragma unroll
        for (int r = 0; r < 2; r++)
            seen[r] &= last < pos[r] ? ~(1ull << bit) : ~0ull;
    }
}

__device__ static inline void hide(float (&s)[KEY_GROUPS][4], const uint64_t (&seen)[2])
{
#pragma unroll
    for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
        for (int e = 0; e < 4; e++)
            s[j][e] = seen[e / 2] >> (8 * j + e % 2) & 1 ? s[j][e] : -CUDART_INF_F;
}

/* Logits become weights; keep: what there is of the rows' outputs is scaled by. */
template <int DIM, int N>
__device__ static inline void soften(struct mma_rows<DIM, N> &m, float (&s)[KEY_GROUPS][4], float (&keep)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float most = fmaxf(s[0][2 * r], s[0][2 * r + 1]), sum = 0;
#pragma unroll
        for (int j = 1; j < KEY_GROUPS; j++)
            most = fmaxf(most, fmaxf(s[j][2 * r], s[j][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
        most = fmaxf(most, m.top[r]);
        float zero = most == -CUDART_INF_F ? 0.0f : most;
#pragma unroll
        for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                s[j][2 * r + e] = term2(s[j][2 * r + e] - zero);
                sum += s[j][2 * r + e];
            }
        keep[r] = term2(m.top[r] - zero);
        m.sum[r] = fmaf(m.sum[r], keep[r], sum);
        m.top[r] = most;
    }
}

/* Outputs = themselves * keep + weights . V. The layout of mma()'s results is that of its left operand. */
template <int DIM, int N>
__device__ static inline void add_values(struct mma_rows<DIM, N> &m, uint32_t tile, float (&s)[KEY_GROUPS][4],
                                         const float (&keep)[2])
{
    enum { WIDE = 4 }; /* groups of 8 columns at a time: independent sums that hide the latency */
    int lane = threadIdx.x % WARP, row = lane % 16;
    uint32_t at = tile + DIM * 32 + row * DIM * 2 + ((lane / 16) ^ (row & 7)) * 16;
    uint32_t p[N][TILE_PAGES][4];
#pragma unroll
    for (int page = 0; page < TILE_PAGES; page++)
#pragma unroll
        for (int e = 0; e < 4; e++)
#pragma unroll
            for (int n = 0; n < N; n++)
                p[n][page][e] =
                    round_pair(s[2 * page + e / 2][e % 2 * 2], s[2 * page + e / 2][e % 2 * 2 + 1]);
#pragma unroll
    for (int i = 0; i < DIM / 8; i += WIDE) {
        float add[WIDE][4] = {};
#pragma unroll
        for (int page = 0; page < TILE_PAGES; page++)
#pragma unroll
            for (int x = 0; x < WIDE; x += 2) {
                uint32_t v[4];
                load_transposed(v, (at ^ ((i + x) * 16)) + page * DIM * 64);
#pragma unroll
                for (int n = N - 1; n >= 0; n--) {
                    mma(add[x], p[n][page], v[0], v[1]);
                    mma(add[x + 1], p[n][page], v[2], v[3]);
                }
            }
#pragma unroll
        for (int x = 0; x < WIDE; x++)
#pragma unroll
            for (int e = 0; e < 4; e++)
                m.o[i + x][e] = fmaf(m.o[i + x][e], keep[e / 2], add[x][e]);
    }
}

template <int DIM, int N>
__device__ static inline void finish(struct mma_rows<DIM, N> &m, const struct prefill_work &w, int split,
                                     int head, int row0)
{
    int lane = threadIdx.x % WARP;
    bool whole = w.n_splits == 1;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int row = row0 + lane / 4 + 8 * r;
        float sum = m.sum[r] + __shfl_xor_sync(~0u, m.sum[r], 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        if (row >= w.rows)
            continue;
        size_t part = prefill_part(w, split, head, row);
        float scale = whole ? prefill_inverse(m.top[r], sum) : 1.0f;
        void *out = whole ? w.a.out : w.o;
        enum dtype type = whole ? w.a.type : DTYPE_F32;
        size_t at = (whole ? prefill_out(w, head, row) : part * DIM) + 2 * (lane % 4);
#pragma unroll
        for (int i = 0; i < DIM / 8; i++)
            put2_as(out, type, at + i * 8, m.o[i][2 * r] * scale, m.o[i][2 * r + 1] * scale);
        if (!whole && lane % 4 == 0)
            w.top_sum[part] = make_float2(m.top[r], sum);
    }
}

/* Tiles on their way: copies fill `full`, threads that are done with a tile empty `empty`. */
struct pipe {
    uint32_t room, full, empty; /* (STAGES) each */
    const char *pool;
    const int32_t *unit;
    int page0, last_page;
};

/* Starts copying tile i; one warp's work. Pages past the last repeat it: no weight falls on them, but 0 *
 * what was in shared memory before could be NaN. */
template <int DIM> __device__ static inline void fetch(const struct pipe &p, int i)
{
    const int unit_bytes = 2 * KV_PAGE_TOKENS * DIM * 2;
    int lane = threadIdx.x % WARP, stage = i % STAGES;
    if (lane == 0)
        barrier_expect(p.full + stage * 8, TILE_PAGES * unit_bytes);
    __syncwarp();
    if (lane < TILE_PAGES) {
        int page = min(p.page0 + i * TILE_PAGES + lane, p.last_page);
        bulk_copy(p.room + (stage * TILE_PAGES + lane) * unit_bytes,
                  p.pool + (size_t)p.unit[page] * unit_bytes, unit_bytes, p.full + stage * 8);
    }
    __syncwarp();
}

template <int DIM> __device__ static inline void open_pipe(struct pipe &p, char *shared, int n_tiles)
{
    p.room = shared_address(shared);
    p.full = p.room + STAGES * KEYS * DIM * 4 + blockDim.x / WARP * more_bytes<DIM, PARTS>();
    p.empty = p.full + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(p.full + i * 8, 1);
            barrier_init(p.empty + i * 8, blockDim.x);
        }
        barrier_init_done();
    }
    __syncthreads();
    for (int i = 0; threadIdx.x < WARP && i < min(STAGES, n_tiles); i++)
        fetch<DIM>(p, i);
}

template <int DIM, int N>
__device__ static inline void run_tile(struct mma_rows<DIM, N> &m, const struct prefill_work &w, int head,
                                       uint32_t tile, int key0, unsigned live, bool whole)
{
    uint64_t seen[2] = {~0ull, ~0ull};
    float s[KEY_GROUPS][4], keep[2];
    if (!whole)
        masks(w, head, key0, m.pos, live, seen);
    if (!__any_sync(~0u, (seen[0] | seen[1]) != 0))
        return;
    dot(m, tile, s);
    if (!whole)
        hide(s, seen);
    soften(m, s, keep);
    add_values(m, tile, s, keep);
}

template <int DIM, int N>
static __global__ void __launch_bounds__(MAX_WARPS *WARP, 1)
    mma_kernel(const __grid_constant__ struct prefill_work w)
{
    extern __shared__ __align__(1024) char shared[];
    const struct kv_view &kv = w.a.kv;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, block_rows = blockDim.x / WARP * WARP_ROWS;
    int head = blockIdx.y, split = w.n_splits - 1 - (int)blockIdx.z; /* the longest splits go first */
    int first = blockIdx.x * block_rows, row0 = first + warp * WARP_ROWS;
    int last = prefill_pos(w, min(first + block_rows, w.rows) - 1);
    int from = prefill_split_key(split), to = min(prefill_split_key(split + 1), last + 1);
    if (from >= to)
        return;
    int n_tiles = (to - from + KEYS - 1) / KEYS, nearest = prefill_pos(w, min(row0, w.rows - 1));
    size_t table = kv_head(kv, w.a.seq, w.a.layer, head) * (size_t)kv.max_pages;
    const uint16_t *lives = kv.live + table;
    struct pipe p = {
        0, 0, 0, (const char *)kv.pool, kv.unit + table, from / KV_PAGE_TOKENS, (to - 1) / KV_PAGE_TOKENS};
    struct mma_rows<DIM, N> m;
    m.more = (uint4 *)(shared + STAGES * KEYS * DIM * 4 + warp * more_bytes<DIM, N>()) + lane;
    open_pipe<DIM>(p, shared, n_tiles);
    start_rows(m, w, head, row0);
#pragma unroll 1
    for (int i = 0; i < n_tiles; i++) {
        int stage = i % STAGES, key0 = from + i * KEYS, page = key0 / KV_PAGE_TOKENS + lane % TILE_PAGES;
        unsigned live = page <= p.last_page ? lives[page] : 0;
        /* A stage is refilled LAG tiles after its use, so that this warp need not wait for the others. */
        if (warp == 0 && i >= LAG && i - LAG + STAGES < n_tiles) {
            barrier_wait(p.empty + (i - LAG) % STAGES * 8, (i - LAG) / STAGES & 1);
            fetch<DIM>(p, i - LAG + STAGES);
        }
        bool whole = key0 + KEYS - 1 <= nearest && !w.a.until && !w.listed;
        whole = __all_sync(~0u, live == 0xffff) && whole;
        barrier_wait(p.full + stage * 8, i / STAGES & 1);
        run_tile(m, w, head, p.room + stage * KEYS * DIM * 4, key0, live, whole);
        /* All threads: racecheck does not know that one may speak for a warp. */
        barrier_arrive(p.empty + stage * 8);
    }
    finish(m, w, split, head, row0);
}

template <int DIM> static int launch(struct device *d, const struct prefill_work *w)
{
    /* The warps of a block share its copies. Half a block is faster only where each gets a multiprocessor. */
    int warps = MAX_WARPS / 2, blocks = (w->rows + warps * WARP_ROWS - 1) / (warps * WARP_ROWS);
    if (blocks * w->a.kv.n_kv * w->n_splits > d->n_sm) {
        warps = MAX_WARPS;
        blocks = (blocks + 1) / 2;
    }
    int bytes = STAGES * KEYS * DIM * 4 + warps * more_bytes<DIM, PARTS>() + 2 * STAGES * 8;
    int rc = cuda_check(
        d, cudaFuncSetAttribute(mma_kernel<DIM, PARTS>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "prefill_attend");
    if (rc)
        return rc;
    mma_kernel<DIM, PARTS><<<dim3(blocks, w->a.kv.n_kv, w->n_splits), warps * WARP, bytes, d->stream>>>(*w);
    return cuda_launched(d, OP_prefill_attend);
}

int prefill_mma(struct device *d, const struct prefill_work *w)
{
    return w->a.kv.head_dim == 64 ? launch<64>(d, w) : launch<128>(d, w);
}
