/* Prefill attention on Hopper's tensor cores where each tile of queries has a list of keys: its rows read the
 * K and V of the list's keys, in the list's order, and then those of the tile itself. All rows of a block
 * share the list, so what it does not name costs nothing. Where keys expire, the list of a tile is made here:
 * the keys that its first query may still see.
 *
 * A tile's keys are gathered row by row with cp.async into the pipeline that dense prompts fill by TMA
 * (prefill_pipe.cuh): sixteen lanes copy a row of 256 bytes. A row's outputs are those of 128 entries of the
 * list at a time, whatever the chunks of the prompt are, and no list is split: bits depend on the tile
 * alone. */
#include "kernels/cuda/attention/prefill_pipe.cuh"

/* What a block works on: rows row0 .. row_end - 1 of a KV head, whose queries are in one tile. Its keys are
 * the first n of the list, NULL: all of them, and then the positions from `own` on, `total` in all. */
struct list_piece {
    int head, row0, row_end;
    const int32_t *idx, *until;       /* until: of the head's keys, or NULL */
    int n, own, total, n_tiles, last; /* last: position of the last row */
    size_t table;
};

/* What a thread that copies leaves to those that multiply: which of its warp's keys are there, which of them
 * all rows see, and until when its own is seen. */
struct key_words {
    uint32_t there[COPY_WARPS], sure[COPY_WARPS];
    int32_t until[KEYS];
};

/* x: pieces of the rows of a tile, and tiles. y: KV heads. Returns 0 if the tile has no such rows. */
template <class F>
__device__ static inline int find_list_piece(const struct prefill_work &w, int pieces, struct list_piece *p)
{
    int tile = blockIdx.x / pieces, row = blockIdx.x % pieces * F::ROWS;
    p->head = blockIdx.y;
    p->own = (w.a.pos0 / w.a.tile + tile) * w.a.tile;
    int first = max(p->own - w.a.pos0, 0), last = min(p->own + w.a.tile - w.a.pos0, w.a.nq);
    p->row0 = first * w.group + row;
    p->row_end = min(p->row0 + F::ROWS, last * w.group);
    size_t list = (size_t)tile * (size_t)w.a.n_rows + w.a.row_of_kv[p->head];
    int n = w.a.len[list];
    p->idx = n < 0 ? NULL : w.a.idx + list * (size_t)w.a.cap;
    p->n = n < 0 ? p->own : n;
    p->last = prefill_pos(w, max(p->row_end - 1, 0));
    p->until = w.a.until ? w.a.until + (size_t)p->head * (size_t)w.a.until_stride : NULL;
    p->total = p->n + p->last - p->own + 1;
    p->n_tiles = (p->total + KEYS - 1) / KEYS;
    p->table = kv_head(w.a.kv, w.a.seq, w.a.layer, p->head) * (size_t)w.a.kv.max_pages;
    return p->row0 < p->row_end;
}

/* Returns the slot of the i-th key, of the last one for those behind it. */
__device__ static inline int key_at(const struct list_piece &p, int i)
{
    i = min(i, p.total - 1);
    return i >= p.n ? p.own + i - p.n : p.idx ? p.idx[i] : i;
}

/* Where a key's row of K is in the pool, in rows, its V a page behind; the last position that sees it; and
 * the live bits of its page, 0 behind the last key. */
struct place {
    int row, until;
    unsigned live;
};

__device__ static inline struct place place_of(const struct prefill_work &w, const struct list_piece &p,
                                               int i, int key)
{
    const struct kv_view &kv = w.a.kv;
    size_t page = p.table + key / KV_PAGE_TOKENS;
    int t = key % KV_PAGE_TOKENS;
    return {kv.block_table[page] * (2 * KV_PAGE_TOKENS) + t,
            p.until ? p.until[min(key, w.a.until_stride - 1)] : INT32_MAX, i < p.total ? kv.live[page] : 0u};
}

/* Copies the 32 rows of the pool that the warp's lanes name to the warp's rows of the tile at `to`. The cache
 * has turned a row's chunks by its place in the page, wgmma wants them by that in the tile. */
template <class F> static __device__ inline void copy_rows(const struct kv_view &kv, int row, uint32_t to)
{
    enum { CHUNKS = F::DIM / 8, AT_ONCE = WARP / CHUNKS, BATCH = 8 };
    int lane = threadIdx.x % WARP, own = lane / CHUNKS, chunk = lane % CHUNKS;
    const char *pool = (const char *)kv.pool + chunk * 16;
    keep_address(pool); /* each row then adds to it in one instruction */
    to += chunk / 8 * F::HALF + (threadIdx.x / WARP % COPY_WARPS * WARP + own) * ROW;
#pragma unroll
    for (int i = 0; i < WARP; i += BATCH * AT_ONCE) {
        unsigned from[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; b++)
            from[b] = __shfl_sync(~0u, row, i + b * AT_ONCE + own);
#pragma unroll
        for (int b = 0; b < BATCH; b++) {
            int at = i + b * AT_ONCE, turned = (from[b] & 7) ^ (chunk % 8 ^ own ^ (at & 7));
            async_copy_16(to + at * ROW + turned * 16, pool + from[b] * (size_t)(F::DIM * 2));
        }
    }
}

/* By the warps that copy, 32 keys of a tile each: a lane knows a key's place a tile ahead, and its number
 * two. words: one for each stage. */
template <class F, bool EXPIRES>
static __device__ inline void gather_tiles(const struct prefill_work &w, const struct list_piece &p,
                                           const struct smem &r, struct key_words *words)
{
    int warp = threadIdx.x / WARP % COPY_WARPS, lane = threadIdx.x % WARP, i = warp * WARP + lane;
    struct place keys = place_of(w, p, i, key_at(p, i)), values = keys,
                 next = place_of(w, p, i + KEYS, key_at(p, i + KEYS));
    int after = key_at(p, i + 2 * KEYS);
#pragma unroll 1
    for (int turn = 0; turn < 2 * p.n_tiles; turn++) {
        bool is_keys = turn_is_keys(p.n_tiles, turn);
        if (is_keys && turn) {
            i += KEYS;
            keys = next;
            next = place_of(w, p, i + KEYS, after);
            after = key_at(p, i + 2 * KEYS);
        }
        wait_for_room(r, turn);
        copy_rows<F>(w.a.kv, is_keys ? keys.row : values.row + KV_PAGE_TOKENS, tile_of<F>(r, turn));
        unsigned there = __ballot_sync(~0u, keys.live >> keys.row % KV_PAGE_TOKENS & 1),
                 sure = __ballot_sync(~0u, keys.until >= p.last);
        struct key_words *to = words + turn % STAGES;
        if (EXPIRES)
            to->until[warp * WARP + lane] = keys.until;
        if (lane == 0) {
            to->there[warp] = there;
            to->sure[warp] = sure;
        }
        __syncwarp();
        if (lane == 0)
            barrier_arrive(full_of(r, turn));
        arrive_after_copies(full_of(r, turn));
        if (!is_keys)
            values = keys;
    }
}

/* What the rows do not see of the list's tiles (attend_tiles). */
template <int DIM, bool EXPIRES> struct hide_by_list {
    const struct list_piece &p;
    const struct key_words *words; /* as gather_tiles() leaves them */
    bool all;
    uint64_t seen[KEYS / MASK_KEYS][2]; /* of a part's keys, those of each row; only where not `all` */

    __device__ inline void before(int)
    {
    }

    __device__ inline void landed()
    {
        written_for_products(); /* by cp.async of other threads, which is ordinary memory traffic */
    }

    __device__ inline void came(const struct out_rows<DIM> &m, int i, int turn)
    {
        const struct key_words *from = words + turn % STAGES;
        uint32_t there[COPY_WARPS], common = ~0u;
#pragma unroll
        for (int warp = 0; warp < COPY_WARPS; warp++) {
            there[warp] = from->there[warp];
            common &= there[warp] & (EXPIRES ? from->sure[warp] : ~0u);
        }
        all = (i + 1) * KEYS <= p.n && common == ~0u;
        if (all)
            return;
        int column = 2 * (threadIdx.x % 4);
#pragma unroll
        for (int part = 0; part < KEYS / MASK_KEYS; part++) {
            uint64_t live = there[2 * part] | (uint64_t)there[2 * part + 1] << 32;
#pragma unroll
            for (int row = 0; row < 2; row++) {
                int n = p.n + m.pos[row] - p.own + 1 - i * KEYS - part * MASK_KEYS;
                seen[part][row] = (live & (n >= 64 ? ~0ull : n > 0 ? (1ull << n) - 1 : 0)) >> column;
            }
#pragma unroll
            for (int bit = 0; EXPIRES && bit < MASK_KEYS; bit += bit % 2 ? 7 : 1) {
                int last = from->until[part * MASK_KEYS + column + bit];
#pragma unroll
                for (int row = 0; row < 2; row++)
                    seen[part][row] &= last < m.pos[row] ? ~(1ull << bit) : ~0ull;
            }
        }
    }

    __device__ inline void hide(const struct out_rows<DIM> &, int, float (&s)[KEY_GROUPS][4])
    {
        if (all)
            return;
#pragma unroll
        for (int part = 0; part < KEYS / MASK_KEYS; part++)
            hide_keys(s, part * MASK_GROUPS, seen[part]);
    }
};

template <class F, bool EXPIRES>
static __global__ void __launch_bounds__(F::THREADS, 1)
    list_kernel(const __grid_constant__ struct prefill_work w, int pieces)
{
    extern __shared__ __align__(1024) char shared[];
    needs_hopper();
    struct list_piece p;
    if (!find_list_piece<F>(w, pieces, &p))
        return;
    /* A thread's arrival behind its copies, and one of each warp for its word. */
    struct smem r = open_smem<F>(shared_address(shared), COPY_WARPS * WARP + COPY_WARPS);
    struct key_words *words = (struct key_words *)(shared + (r.more - shared_address(shared)));
    if (team_of_warp() >= F::TEAMS) {
        give_registers<F::KEPT>();
        gather_tiles<F, EXPIRES>(w, p, r, words);
        return;
    }
    take_registers<F::TAKEN>();
    int row0 = p.row0 + threadIdx.x / WARP * WARP_ROWS;
    make_queries<F>(w, p.head, row0, shared + (r.queries - shared_address(shared)));
    teams_meet(r, 0);
    if (p.row0 + (int)threadIdx.x / TEAM * TEAM_ROWS >= p.row_end) { /* a team without rows */
        for (int turn = 0; turn < 2 * p.n_tiles; turn++) {
            wait_for(r, turn);
            give_back(r, turn);
        }
        return;
    }
    struct out_rows<F::DIM> m;
    struct hide_by_list<F::DIM, EXPIRES> hide = {
        p, words
    };
    start_out(m, w, row0);
    attend_tiles<F>(m, r, p.n_tiles, hide);
    finish_rows(m, w, 0, p.head, row0, p.row_end);
}

template <class F, bool EXPIRES> static int launch_lists(struct device *d, const struct prefill_work *w)
{
    enum { BYTES = F::BYTES + STAGES * (int)sizeof(struct key_words) };
    int tile = w->a.tile, tiles = (w->a.pos0 + w->a.nq - 1) / tile - w->a.pos0 / tile + 1;
    int pieces = (min(tile, w->a.nq) * w->group + F::ROWS - 1) / F::ROWS;
    int rc = allow_smem(d, (const void *)list_kernel<F, EXPIRES>, BYTES, "prefill_attend");
    if (rc)
        return rc;
    list_kernel<F, EXPIRES><<<dim3(tiles * pieces, w->a.kv.n_kv), F::THREADS, BYTES, d->stream>>>(*w, pieces);
    return cuda_launched(d, OP_prefill_attend);
}

template <bool EXPIRES> static int launch_dim(struct device *d, const struct prefill_work *w)
{
    return w->a.kv.head_dim == 64 ? launch_lists<team_config<64, 2, 56, 224>, EXPIRES>(d, w)
                                  : launch_lists<team_config<128, 2, 56, 224>, EXPIRES>(d, w);
}

int prefill_lists(struct device *d, const struct prefill_work *w)
{
    return launch_dim<false>(d, w);
}

/* ---- keys that expire */

enum { LIST_THREADS = 512, LIST_WARPS = LIST_THREADS / WARP, LIST_STEP = 4 };

/* The keys before a tile that its first query may see, ascending. x: tile. y: KV head. A thread looks at
 * LIST_STEP neighbours at a time. */
static __global__ void __launch_bounds__(LIST_THREADS)
    young_kernel(struct prefill_work w, int32_t *idx, int32_t *len)
{
    __shared__ int counts[2][LIST_WARPS];
    int own = (w.a.pos0 / w.a.tile + (int)blockIdx.x) * w.a.tile, n = 0, warp = threadIdx.x / WARP;
    const int32_t *until = w.a.until + (size_t)blockIdx.y * (size_t)w.a.until_stride;
    size_t list = (size_t)blockIdx.x * (size_t)w.a.n_rows + blockIdx.y;
    idx += list * (size_t)w.a.cap;
    for (int key0 = 0, turn = 0; key0 < own; key0 += LIST_THREADS * LIST_STEP, turn ^= 1) {
        int key = key0 + threadIdx.x * LIST_STEP, seen = 0;
#pragma unroll
        for (int i = 0; i < LIST_STEP; i++)
            if (key + i < own && until[min(key + i, w.a.until_stride - 1)] >= own)
                seen |= 1 << i;
        int mine = __popc(seen), before = mine;
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            int other = __shfl_up_sync(~0u, before, step);
            before += (int)(threadIdx.x % WARP) >= step ? other : 0;
        }
        if (threadIdx.x % WARP == WARP - 1)
            counts[turn][warp] = before;
        __syncthreads();
        int at = n + before - mine;
        for (int i = 0; i < LIST_WARPS; i++) {
            at += i < warp ? counts[turn][i] : 0;
            n += counts[turn][i];
        }
#pragma unroll
        for (int i = 0; i < LIST_STEP; i++)
            if (seen >> i & 1)
                idx[at++] = key + i;
    }
    if (threadIdx.x == 0)
        len[list] = n;
}

int prefill_expiring(struct device *d, const struct prefill_work *of)
{
    struct prefill_work w = *of;
    int n_kv = w.a.kv.n_kv, last = w.a.pos0 + w.a.nq - 1;
    w.a.tile = max(PREFILL_LIST_ROWS / w.group, 1);
    w.a.cap = last + 1;
    w.a.n_rows = n_kv;
    for (int h = 0; h < n_kv; h++)
        w.a.row_of_kv[h] = (uint8_t)h;
    int tiles = last / w.a.tile - w.a.pos0 / w.a.tile + 1;
    size_t lists = (size_t)tiles * (size_t)n_kv;
    int32_t *idx = (int32_t *)cuda_workspace(d, lists * (size_t)(w.a.cap + 1) * sizeof *idx);
    if (!idx)
        return BACKEND_ERR_MEMORY;
    int32_t *len = idx + lists * (size_t)w.a.cap;
    w.a.idx = idx;
    w.a.len = len;
    young_kernel<<<dim3(tiles, n_kv), LIST_THREADS, 0, d->stream>>>(w, idx, len);
    int rc = cuda_launched(d, OP_prefill_attend);
    return rc ? rc : launch_dim<true>(d, &w);
}
