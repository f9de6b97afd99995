/* The attention mass of tiles of prompt queries on Hopper's tensor cores. A block has a list of two tiles
 * that follow each other, or of one tile of more than 128 rows, and takes 256 rows at a time, which share the
 * keys that it copies. It reads all keys twice (prefill_pipe.cuh). In the first sweep a team has 64 of the
 * rows, and finds their log-sum-exp; nothing of size rows x keys is kept. In the second, factors change
 * places: a team has 64 keys against 128 rows, so that a thread adds up most of a key's rows by itself. Of
 * two tiles each pair of teams takes one, with all keys; a single tile's rows go to both pairs, which take
 * turns at its keys, 128 at a time. Exponentials wait for each other more than for products, so there are
 * four teams.
 *
 * A key's sum is of 2^(logit - log-sum-exp + SHIFT), added up over rows in their order. Where that is too
 * small for fp32, sharp attention to something else, it is computed again relative to the key's largest term.
 */
#include <string.h>

#include "kernels/cuda/attention/prefill_mass.cuh"
#include "kernels/cuda/attention/prefill_pipe.cuh"

enum { SHIFT = 110 };
constexpr float SMALL = 0x1p-96f; /* rows that are nothing beside such a sum are less than 2^-23 of it */

enum { PAIR_ROWS = 2 * TEAM_ROWS, MOST_TILES = 2 };

struct mass_work {
    CUtensorMap pool;
    struct prefill_work w; /* a: what both operations have, for prefill_q() and the like */
    int tile, from, heads; /* heads: KV heads of a list */
    int tiles;             /* of a block: 1 or 2 */
    float *v;              /* (tiles, lists, stride) */
    size_t stride;
};

/* A tile: its rows first .. last - 1 of each KV head count, for its keys 0 .. end - 1. `start`: position of
 * its first query. There may be no such tile, nor rows. */
struct mass_tile {
    int first, last, end, start;
    float *out;
};

__device__ static inline struct mass_tile mass_tile_of(const struct mass_work &a, int i)
{
    const struct prefill_attend_args &w = a.w.a;
    int n = (int)blockIdx.x * a.tiles + i, first = min(n * a.tile, w.nq), last = min(first + a.tile, w.nq);
    return {max(first, a.from - w.pos0) * a.w.group, last * a.w.group, first < last ? w.pos0 + last : 0,
            w.pos0 + first, a.v + ((size_t)n * gridDim.y + blockIdx.y) * a.stride};
}

/* What a block reads: KV heads from head0 on, each `blocks` times twice, keys 0 .. end - 1. */
struct mass_piece {
    int head0, blocks, end, n_tiles, turns;
};

__device__ static inline struct mass_piece mass_piece_of(const struct mass_work &a)
{
    struct mass_piece p = {(int)blockIdx.y * a.heads, 0, 0, 0, 0};
    int at_once = PAIR_ROWS * MOST_TILES / a.tiles;
    for (int i = 0; i < a.tiles; i++) {
        struct mass_tile t = mass_tile_of(a, i);
        p.blocks = max(p.blocks, (max(t.last - t.first, 0) + at_once - 1) / at_once);
        p.end = max(p.end, t.end);
    }
    p.n_tiles = (p.end + KEYS - 1) / KEYS;
    p.turns = 2 * p.n_tiles * p.blocks * a.heads;
    return p;
}

/* Which KV head comes at a turn: rows of a head follow each other. */
__device__ static inline int head_of(const struct mass_work &a, const struct mass_piece &p, int turn)
{
    return p.head0 + turn / (p.turns / a.heads);
}

/* One warp copies: a lane half a page of K. */
template <class F>
static __device__ inline void copy_keys(const struct mass_work &a, const struct mass_piece &p,
                                        const struct smem &r)
{
    int lane = threadIdx.x % WARP, page = lane / F::HALVES, half = lane % F::HALVES;
    int last = (p.end - 1) / KV_PAGE_TOKENS;
    uint32_t to = half * F::HALF + page * KV_PAGE_TOKENS * ROW;
    const struct prefill_attend_args &w = a.w.a;
    const int32_t *tables = w.kv.block_table + kv_head(w.kv, w.seq, w.layer, 0) * (size_t)w.kv.max_pages;
    int next = 0;
#pragma unroll 1
    for (int turn = -1; turn < p.turns; turn++) {
        int now = next, at = min(turn + 1, p.turns - 1);
        next = tables[(size_t)head_of(a, p, at) * (size_t)w.kv.max_pages +
                      min(at % p.n_tiles * TILE_PAGES + page, last)];
        if (turn < 0)
            continue;
        wait_for_room(r, turn);
        if (lane == 0)
            barrier_expect(full_of(r, turn), F::TILE);
        __syncwarp();
        if (page < TILE_PAGES)
            tma_tensor_copy(tile_of<F>(r, turn) + to, &a.pool, half * TENSOR_TILE, 2 * now * KV_PAGE_TOKENS,
                            full_of(r, turn));
    }
}

/* Where a thread reads the live bits of a head: page threadIdx.x % TILE_PAGES of each tile of keys. */
__device__ static inline const uint16_t *live_of(const struct mass_work &a, int head)
{
    const struct prefill_attend_args &w = a.w.a;
    size_t table = kv_head(w.kv, w.seq, w.layer, head) * (size_t)w.kv.max_pages;
    return w.kv.live + table + threadIdx.x % TILE_PAGES;
}

/* The live bits of the i-th tile of keys: lane l has those of page l % TILE_PAGES, 0 behind the last one. A
 * tile ahead, since a look at memory takes longer than a tile's products. */
__device__ static inline unsigned live_keys(const struct mass_piece &p, const uint16_t *live, int i)
{
    int page = i * TILE_PAGES + threadIdx.x % TILE_PAGES;
    return page * KV_PAGE_TOKENS < p.end ? live[i * TILE_PAGES] : 0;
}

/* The bits of the pages of a part of a tile's keys. */
__device__ static inline uint64_t part_of(unsigned live, int part)
{
    uint64_t all = 0;
#pragma unroll
    for (int page = 0; page < MASK_PAGES; page++)
        all |= (uint64_t)__shfl_sync(~0u, live, part * MASK_PAGES + page) << (KV_PAGE_TOKENS * page);
    return all;
}

/* Does every query from position `start` on see all keys of this tile of keys? */
__device__ static inline bool all_seen(int start, int i, unsigned live)
{
    return __all_sync(~0u, live == 0xffff) && (i + 1) * KEYS <= start;
}

/* Sets logits to -inf where a thread's two rows at pos do not see the i-th tile's keys. */
__device__ static inline void hide_unseen(float (&s)[KEY_GROUPS][4], const int (&pos)[2], int i,
                                          unsigned live)
{
#pragma unroll
    for (int part = 0; part < KEYS / MASK_KEYS; part++) {
        uint64_t alive = part_of(live, part), seen[2];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            int n = pos[k] + 1 - i * KEYS - part * MASK_KEYS;
            seen[k] = (alive & (n >= 64 ? ~0ull : n > 0 ? (1ull << n) - 1 : 0)) >> 2 * (threadIdx.x % 4);
        }
        hide_keys(s, part * MASK_GROUPS, seen);
    }
}

/* Returns the sum of 2^(logits - reference) of a thread's row r. Four chains: one alone would take longer
 * than the products. */
__device__ static inline float sum_logits(const float (&s)[KEY_GROUPS][4], int r, float reference)
{
    float all[4] = {};
#pragma unroll
    for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
        for (int e = 0; e < 2; e++)
            all[2 * (j % 2) + e] += power_of_2(s[j][2 * r + e] - reference);
    return all[0] + all[1] + (all[2] + all[3]);
}

/* Adds a tile's logits of a thread's two rows to 2^reference * sum of its columns. The reference is the
 * largest logit of the first tile with any; a row takes the trouble to look for the largest again only where
 * sums get large beside it. */
__device__ static inline void add_logits(const float (&s)[KEY_GROUPS][4], float (&reference)[2],
                                         float (&sum)[2])
{
    const float large = 0x1p60f;
    float tile[2];
#pragma unroll
    for (int r = 0; r < 2; r++)
        tile[r] = sum_logits(s, r, reference[r]);
    bool is_large = !(tile[0] < large && tile[1] < large); /* NaN where there is no reference yet */
    if (__any_sync(~0u, is_large))
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float top = reference[r];
#pragma unroll
            for (int j = 0; j < KEY_GROUPS; j++)
                top = fmaxf(top, fmaxf(s[j][2 * r], s[j][2 * r + 1]));
            if (!(tile[r] < large)) {
                float zero = top == -CUDART_INF_F ? 0.0f : top;
                sum[r] *= power_of_2(reference[r] - zero);
                reference[r] = top;
                tile[r] = sum_logits(s, r, zero);
            }
        }
#pragma unroll
    for (int r = 0; r < 2; r++)
        sum[r] += tile[r];
}

/* What the second sweep reads of the rows that a block takes at a time, in shared memory: the log-sum-exp
 * less SHIFT, which is +inf for rows that do not count, and the position. A thread reads rows 8j + 2t and the
 * next of PAIR_ROWS: they stand one behind the other, and the padding puts those of another t into other
 * banks. */
struct mass_rows {
    float lse[MOST_TILES][4][PAIR_ROWS / 4 + 4];
    int32_t pos[MOST_TILES][4][PAIR_ROWS / 4 + 4];
};

/* Of a pair's rows: the place of a row, which of the four lists and which of its entries. */
__device__ static inline int list_of_row(int row)
{
    return row / 2 % 4;
}
__device__ static inline int entry_of_row(int row)
{
    return row / 8 * 2 + row % 2;
}

/* The first sweep: the log-sum-exp of a team's rows, which begin at row0, of its tile t. */
template <class F>
static __device__ inline void sum_rows(const struct mass_work &a, const struct mass_piece &p,
                                       const struct mass_tile &t, const struct smem &r, int head, int row0,
                                       int turn, struct mass_rows *rows)
{
    int team = team_of_warp(), own = threadIdx.x / WARP * WARP_ROWS, pos[2];
    bool any = row0 < t.last;
    const uint16_t *live_at = live_of(a, head);
    uint32_t queries = r.queries + team * TEAM_ROWS * ROW;
    float s[KEY_GROUPS][4] = {}, reference[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {};
    unsigned next = live_keys(p, live_at, 0);
#pragma unroll
    for (int k = 0; k < 2; k++)
        pos[k] = prefill_pos(a.w, row0 + own_row(own, k) % TEAM_ROWS);
#pragma unroll 1
    for (int i = 0; i < p.n_tiles; i++) {
        unsigned live = next;
        next = live_keys(p, live_at, i + 1);
        wait_for(r, turn + i);
        if (!any) { /* a team without rows */
            give_back(r, turn + i);
            continue;
        }
        ask_logits<F>(queries, F::Q_HALF, tile_of<F>(r, turn + i), F::HALF, s);
        wgmma_wait();
        hold_registers(flat_sums(s));
        give_back(r, turn + i);
        if (!all_seen(t.start, i, live))
            hide_unseen(s, pos, i, live);
        add_logits(s, reference, sum);
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
        float top = fmaxf(reference[k], __shfl_xor_sync(~0u, reference[k], 1));
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
        float all = reference[k] == -CUDART_INF_F ? 0.0f : sum[k] * power_of_2(reference[k] - top);
        all += __shfl_xor_sync(~0u, all, 1);
        all += __shfl_xor_sync(~0u, all, 2);
        if (a.w.a.softmax.sink) {
            int q_head = head * a.w.group + (row0 + own_row(own, k) % TEAM_ROWS) % a.w.group;
            float sink = a.w.a.softmax.sink[q_head] * (float)CUDART_L2E, new_max = fmaxf(top, sink),
                  zero = new_max == -CUDART_INF_F ? 0.0f : new_max;
            all = fmaf(all, power_of_2(top - zero), power_of_2(sink - zero));
            top = new_max;
        }
        bool counts = row0 + own_row(own, k) % TEAM_ROWS < t.last && top > -CUDART_INF_F;
        int row = own_row(own, k) % PAIR_ROWS, list = list_of_row(row), at = entry_of_row(row);
        if (threadIdx.x % 4 == 0) {
            rows->lse[own / PAIR_ROWS][list][at] = counts ? top + log2f(all) - SHIFT : CUDART_INF_F;
            rows->pos[own / PAIR_ROWS][list][at] = pos[k];
        }
    }
}

/* Adds to the sums of a thread's two keys, four chains each, its rows, and sets s to the terms'
 * logarithms; HIDES: not all rows see all keys of the tile. What is added is a step behind, since
 * exponentials take long. */
template <bool HIDES>
__device__ static inline void add_rows(float (&s)[KEY_GROUPS][4], const int (&key)[2], const float *lse,
                                       const int32_t *pos, float (&sum)[2][4])
{
    float x[2][2][4];
    float4 next = *(const float4 *)lse;
#pragma unroll
    for (int step = 0; step <= KEY_GROUPS / 2; step++) {
        float row[4] = {next.x, next.y, next.z, next.w};
        if (step + 1 < KEY_GROUPS / 2)
            next = *(const float4 *)(lse + 4 * (step + 1));
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int k = 0; k < 2; k++) {
                if (step < KEY_GROUPS / 2) {
                    float &logit = s[2 * step + r / 2][2 * k + r % 2];
                    logit -= row[r];
                    if (HIDES)
                        logit = key[k] <= pos[4 * step + r] ? logit : -CUDART_INF_F;
                    x[step % 2][k][r] = power_of_2(logit);
                }
                if (step > 0)
                    sum[k][r] += x[(step + 1) % 2][k][r];
            }
    }
}

/* Returns the logarithm of a key's sum over its terms' logarithms, whose thread's part it was given: where
 * the sum is too small to be exact, relative to the largest of them. In base 2 and without the shift. */
static __device__ inline float small_mass(const float (&s)[KEY_GROUPS][4], int k)
{
    float top = -CUDART_INF_F, sum = 0;
#pragma unroll
    for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
        for (int e = 0; e < 2; e++)
            top = fmaxf(top, s[j][2 * k + e]);
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
    top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
    top = top == -CUDART_INF_F ? 0.0f : top;
#pragma unroll
    for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
        for (int e = 0; e < 2; e++)
            sum += power_of_2(s[j][2 * k + e] - top);
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    return sum > 0 ? top + log2f(sum) - SHIFT : -CUDART_INF_F;
}

/* The logarithm in base 2 of a sum of shifted terms that is not small. */
__device__ static inline float log_mass(float x)
{
    const float half = 1.0f / (1ull << SHIFT / 2);
    bool large = x >= 1.0f; /* scaled first, where that loses nothing: the sum of two logarithms would */
    float y = log_2_of(large ? x * half * half : x);
    return large ? y : y - SHIFT;
}

/* log(e^x + e^y) */
__device__ static inline float add_logs(float x, float y)
{
    float top = fmaxf(x, y), zero = top == -CUDART_INF_F ? 0.0f : top;
    return top == -CUDART_INF_F ? top : top + logf(softmax_exp(x - zero) + softmax_exp(y - zero));
}

/* The second sweep, of the pair's tiles of keys and rows: writes the logarithms of the keys' sums over rows,
 * added to what earlier rows left. SHARES: the pairs share a tile of queries. */
template <class F, bool SHARES>
static __device__ inline void sum_keys(const struct mass_work &a, const struct mass_piece &p,
                                       const struct mass_tile &t, const struct smem &r, int head, int n_rows,
                                       int turn, const struct mass_rows *rows, bool is_first)
{
    int half = team_of_warp() % 2, pair = team_of_warp() / 2;
    int own = threadIdx.x / WARP % 4 * WARP_ROWS + threadIdx.x % WARP / 4;
    int first = SHARES ? 0 : pair, last = SHARES ? (n_rows + PAIR_ROWS - 1) / PAIR_ROWS : pair + 1;
    const uint16_t *live_at = live_of(a, head);
    float s[KEY_GROUPS][4] = {};
    unsigned next = live_keys(p, live_at, 0);
#pragma unroll 1
    for (int i = 0; i < p.n_tiles; i++) {
        int key0 = i * KEYS + half * TEAM_ROWS + own, key[2] = {key0, key0 + 8};
        float before[2] = {-CUDART_INF_F, -CUDART_INF_F};
        unsigned live = next;
        next = live_keys(p, live_at, i + 1);
        if (SHARES && i % 2 != pair) {
            wait_for(r, turn + i);
            give_back(r, turn + i);
            continue;
        }
        if (!is_first)
#pragma unroll
            for (int k = 0; k < 2; k++)
                before[k] = key[k] < t.end ? t.out[key[k]] : -CUDART_INF_F;
        wait_for(r, turn + i);
#pragma unroll 1
        for (int row = first; row < last; row++) {
            const float *lse = rows->lse[row][threadIdx.x % 4];
            const int32_t *pos = rows->pos[row][threadIdx.x % 4];
            float chains[2][4] = {}, sum[2], mass[2];
            ask_logits<F>(tile_of<F>(r, turn + i) + half * TEAM_ROWS * ROW, F::HALF,
                          r.queries + row * PAIR_ROWS * ROW, F::Q_HALF, s);
            wgmma_wait();
            hold_registers(flat_sums(s));
            if (row + 1 == last)
                give_back(r, turn + i);
            if (all_seen(t.start, i, live))
                add_rows<false>(s, key, lse, NULL, chains);
            else
                add_rows<true>(s, key, lse, pos, chains);
            uint64_t alive = part_of(live, half);
            bool lives[2] = {(bool)(alive >> own & 1), (bool)(alive >> (own + 8) & 1)};
#pragma unroll
            for (int k = 0; k < 2; k++)
                sum[k] = (chains[k][0] + chains[k][1]) + (chains[k][2] + chains[k][3]);
#pragma unroll
            for (int step = 1; step < 4; step *= 2)
#pragma unroll
                for (int k = 0; k < 2; k++)
                    sum[k] += __shfl_xor_sync(~0u, sum[k], step);
#pragma unroll
            for (int k = 0; k < 2; k++)
                mass[k] = log_mass(sum[k]);
            if (__any_sync(~0u, fminf(sum[0], sum[1]) < SMALL))
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    float small = small_mass(s, k);
                    mass[k] = sum[k] < SMALL ? small : mass[k];
                }
#pragma unroll
            for (int k = 0; k < 2; k++) {
                mass[k] = lives[k] ? mass[k] * 0.69314718f : -CUDART_INF_F;
                before[k] = is_first && row == first ? mass[k] : add_logs(before[k], mass[k]);
            }
        }
#pragma unroll
        for (int k = 0; k < 2; k++)
            if (threadIdx.x % 4 == 0 && key[k] < t.end)
                t.out[key[k]] = before[k];
    }
}

template <class F, bool SHARES>
static __global__ void __launch_bounds__(F::THREADS, 1)
    mass_kernel(const __grid_constant__ struct mass_work a)
{
    extern __shared__ __align__(1024) char shared[];
    needs_hopper();
    struct mass_piece p = mass_piece_of(a);
    struct smem r = open_smem<F>(shared_address(shared), 1);
    int team = team_of_warp();
    if (team >= F::TEAMS) {
        give_registers<F::KEPT>();
        if (threadIdx.x < F::TEAMS * TEAM + WARP && p.turns > 0)
            copy_keys<F>(a, p, r);
        return;
    }
    take_registers<F::TAKEN>();
    struct mass_tile t = mass_tile_of(a, SHARES ? 0 : team / 2);
    for (int key = threadIdx.x % (2 * TEAM); p.turns == 0 && key < t.end; key += 2 * TEAM)
        t.out[key] = -CUDART_INF_F;
    struct mass_rows *rows = (struct mass_rows *)(shared + (r.more - shared_address(shared)));
    int turn = 0, met = 0, at_once = SHARES ? (int)F::ROWS : (int)PAIR_ROWS,
        team_row = team * TEAM_ROWS % at_once;
    for (int head = p.head0; head < p.head0 + a.heads; head++)
        for (int i = 0; i < p.blocks; i++) {
            int row0 = t.first + i * at_once, warp_row = threadIdx.x % TEAM / WARP * WARP_ROWS;
            make_queries<F>(a.w, head, row0 + team_row + warp_row,
                            shared + (r.queries - shared_address(shared)));
            teams_meet(r, met++);
            sum_rows<F>(a, p, t, r, head, row0 + team_row, turn, rows);
            turn += p.n_tiles;
            teams_meet(r, met++);
            sum_keys<F, SHARES>(a, p, t, r, head, min(t.last - row0, at_once), turn, rows,
                                head == p.head0 && i == 0);
            turn += p.n_tiles;
            teams_meet(r, met++); /* before the queries and sums of these rows are overwritten */
        }
}

template <int DIM, bool SHARES> static int launch_mass(struct device *d, struct mass_work *a, dim3 grid)
{
    typedef team_config<DIM, 4, 24, 112> F;
    enum { BYTES = F::BYTES + sizeof(struct mass_rows) };
    int rc = tensor_map(d, &a->pool, a->w.a.kv.pool, INT32_MAX, F::DIM, F::DIM, KV_PAGE_TOKENS, 0);
    if (!rc)
        rc = allow_smem(d, (const void *)mass_kernel<F, SHARES>, BYTES, "prefill_mass");
    if (rc)
        return rc;
    mass_kernel<F, SHARES><<<grid, F::THREADS, BYTES, d->stream>>>(*a);
    return cuda_launched(d, OP_prefill_mass);
}

template <int DIM> static int launch_dim(struct device *d, struct mass_work *a, dim3 grid)
{
    return a->tiles == 1 ? launch_mass<DIM, true>(d, a, grid) : launch_mass<DIM, false>(d, a, grid);
}

int prefill_mass_wgmma(struct device *d, const struct prefill_mass_args *m)
{
    struct mass_work a;
    memset(&a, 0, sizeof a);
    a.w.a.kv = m->kv;
    a.w.a.seq = m->seq;
    a.w.a.layer = m->layer;
    a.w.a.n_q = m->n_q;
    a.w.a.pos0 = m->pos0;
    a.w.a.nq = m->nq;
    a.w.a.q = m->q;
    a.w.a.q_stride = m->q_stride;
    a.w.a.scale = m->scale;
    a.w.a.softmax = m->softmax;
    a.w.group = m->n_q / m->kv.n_kv;
    a.w.rows = m->nq * a.w.group;
    a.tile = m->tile;
    a.from = m->from;
    a.heads = m->kv.n_kv / m->out.n_rows;
    a.v = m->out.v;
    a.stride = (size_t)m->out.stride;
    a.tiles = m->tile * a.w.group > PAIR_ROWS ? 1 : MOST_TILES;
    dim3 grid((m->nq + m->tile * a.tiles - 1) / (m->tile * a.tiles), m->out.n_rows);
    return m->kv.head_dim == 64 ? launch_dim<64>(d, &a, grid) : launch_dim<128>(d, &a, grid);
}
