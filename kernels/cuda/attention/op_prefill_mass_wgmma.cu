/* The attention mass of tiles of prompt queries on Hopper's tensor cores. A block has a tile and a list: it
 * takes the rows of the list's heads 128 at a time, and reads all keys twice (prefill_pipe.cuh). In the first
 * sweep a team has 64 of the rows, and finds their log-sum-exp; nothing of size rows x keys is kept. In the
 * second, factors change places: a team has 64 keys against the 128 rows, so that a thread adds up most of a
 * key's rows by itself. Exponentials wait for each other more than for products, so there are four teams: a
 * pair for tiles of even numbers, a pair for odd ones.
 *
 * A key's sum is of 2^(logit - log-sum-exp + SHIFT), added up over rows in their order. Where that is too
 * small for fp32, sharp attention to something else, it is computed again relative to the key's largest term.
 */
#include <string.h>

#include "kernels/cuda/attention/prefill_mass.cuh"
#include "kernels/cuda/attention/prefill_pipe.cuh"

enum { SHIFT = 110 };
constexpr float SMALL = 0x1p-96f; /* rows that are nothing beside such a sum are less than 2^-23 of it */

struct mass_work {
    CUtensorMap pool;
    struct prefill_work w; /* a: what both operations have, for prefill_q() and the like */
    int tile, from, heads; /* heads: KV heads of a list */
    float *v;              /* (tiles, lists, stride) */
    size_t stride;
};

/* A block's tile: rows first .. last - 1 of each KV head, keys 0 .. end - 1, KV heads from head0 on. */
struct mass_piece {
    int head0, first, last, end, n_tiles, turns;
};

__device__ static inline struct mass_piece mass_piece_of(const struct mass_work &a)
{
    const struct prefill_attend_args &w = a.w.a;
    int first = blockIdx.x * a.tile, last = min(first + a.tile, w.nq);
    struct mass_piece p = {(int)blockIdx.y * a.heads, max(first, a.from - w.pos0) * a.w.group,
                           last * a.w.group, w.pos0 + last};
    int blocks = (max(p.last - p.first, 0) + 2 * TEAM_ROWS - 1) / (2 * TEAM_ROWS);
    p.n_tiles = (p.end + KEYS - 1) / KEYS;
    p.turns = 2 * p.n_tiles * blocks * a.heads;
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

/* The live bits of the i-th tile of keys: lane l has those of page l % TILE_PAGES, 0 behind the last one. A
 * tile ahead, since a look at memory takes longer than a tile's products. */
__device__ static inline unsigned live_keys(const struct mass_work &a, const struct mass_piece &p, int head,
                                            int i)
{
    const struct prefill_attend_args &w = a.w.a;
    int page = i * TILE_PAGES + threadIdx.x % TILE_PAGES;
    size_t table = kv_head(w.kv, w.seq, w.layer, head) * (size_t)w.kv.max_pages;
    return page * KV_PAGE_TOKENS < p.end ? w.kv.live[table + page] : 0;
}

/* The bits of all pages, of 64 keys each. */
__device__ static inline void join_pages(unsigned live, uint64_t (&all)[KEYS / MASK_KEYS])
{
#pragma unroll
    for (int part = 0; part < KEYS / MASK_KEYS; part++) {
        all[part] = 0;
#pragma unroll
        for (int page = 0; page < MASK_PAGES; page++)
            all[part] |= (uint64_t)__shfl_sync(~0u, live, part * MASK_PAGES + page)
                         << (KV_PAGE_TOKENS * page);
    }
}

/* Does every row of the tile see all keys of this tile of keys? */
__device__ static inline bool all_seen(const struct mass_work &a, int i, unsigned live)
{
    return __all_sync(~0u, live == 0xffff) && (i + 1) * KEYS <= a.w.a.pos0 + (int)blockIdx.x * a.tile;
}

/* Adds a tile's logits of a thread's two rows to e^running max * sum of its columns. */
__device__ static inline void add_logits(const float (&s)[KEY_GROUPS][4], float (&running_max)[2],
                                         float (&sum)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        /* Four chains each: one alone would take longer than the products. */
        float top[4] = {running_max[r], running_max[r], running_max[r], running_max[r]}, all[4] = {};
#pragma unroll
        for (int j = 0; j < KEY_GROUPS; j++)
            top[j % 4] = fmaxf(top[j % 4], fmaxf(s[j][2 * r], s[j][2 * r + 1]));
        float new_max = fmaxf(fmaxf(top[0], top[1]), fmaxf(top[2], top[3]));
        float zero = new_max == -CUDART_INF_F ? 0.0f : new_max;
#pragma unroll
        for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
            for (int e = 0; e < 2; e++)
                all[2 * (j % 2) + e] += power_of_2(s[j][2 * r + e] - zero);
        sum[r] = fmaf(sum[r], power_of_2(running_max[r] - zero), all[0] + all[1] + (all[2] + all[3]));
        running_max[r] = new_max;
    }
}

/* Of a block's rows, in shared memory: what the two pairs of teams found, then the log-sum-exp less SHIFT,
 * +inf for rows that do not count, and the position. */
struct mass_rows {
    float2 part[2][2 * TEAM_ROWS]; /* largest logit, sum relative to it */
    float lse[2 * TEAM_ROWS];
    int32_t pos[2 * TEAM_ROWS];
};

/* The first sweep: a team's share of the sums of its rows, every second tile. */
template <class F>
static __device__ inline void sum_rows(const struct mass_work &a, const struct mass_piece &p,
                                       const struct smem &r, int head, int row0, int turn,
                                       struct mass_rows *rows)
{
    int half = threadIdx.x / TEAM % 2, pair = threadIdx.x / TEAM / 2, column = 2 * (threadIdx.x % 4), pos[2];
    int team_row = half * TEAM_ROWS + threadIdx.x / WARP % 4 * WARP_ROWS;
    uint32_t queries = r.queries + half * TEAM_ROWS * ROW;
    float s[KEY_GROUPS][4] = {}, running_max[2] = {-CUDART_INF_F, -CUDART_INF_F}, sum[2] = {};
    unsigned next = live_keys(a, p, head, pair);
#pragma unroll
    for (int k = 0; k < 2; k++)
        pos[k] = prefill_pos(a.w, row0 + own_row(team_row, k));
#pragma unroll 1
    for (int i = pair; i < p.n_tiles; i += 2) {
        unsigned live = next;
        next = live_keys(a, p, head, i + 2);
        wait_for(r, turn + i);
        ask_logits<F>(queries, F::Q_HALF, tile_of<F>(r, turn + i), F::HALF, s);
        wgmma_wait();
        hold_registers(flat_sums(s));
        give_back(r, turn + i);
        if (!all_seen(a, i, live)) {
            uint64_t all[KEYS / MASK_KEYS], seen[2];
            join_pages(live, all);
#pragma unroll
            for (int part = 0; part < KEYS / MASK_KEYS; part++) {
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    int n = pos[k] + 1 - i * KEYS - part * MASK_KEYS;
                    seen[k] = (all[part] & (n >= 64 ? ~0ull : n > 0 ? (1ull << n) - 1 : 0)) >> column;
                }
                hide_keys(s, part * MASK_GROUPS, seen);
            }
        }
        add_logits(s, running_max, sum);
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
        float top = fmaxf(running_max[k], __shfl_xor_sync(~0u, running_max[k], 1));
        top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
        float all = running_max[k] == -CUDART_INF_F ? 0.0f : sum[k] * power_of_2(running_max[k] - top);
        all += __shfl_xor_sync(~0u, all, 1);
        all += __shfl_xor_sync(~0u, all, 2);
        if (threadIdx.x % 4 == 0)
            rows->part[pair][own_row(team_row, k)] = make_float2(top, all);
    }
}

/* Adds up the shares of a row, by the thread of its number. */
__device__ static inline void join_sums(const struct mass_work &a, const struct mass_piece &p, int row0,
                                        struct mass_rows *rows)
{
    int row = threadIdx.x;
    float2 x = rows->part[0][row], y = rows->part[1][row];
    float top = fmaxf(x.x, y.x);
    bool counts = row0 + row < p.last && top > -CUDART_INF_F;
    float zero = counts ? top : 0.0f;
    float all = fmaf(x.y, power_of_2(x.x - zero), y.y * power_of_2(y.x - zero));
    rows->lse[row] = counts ? zero + log2f(all) - SHIFT : CUDART_INF_F;
    rows->pos[row] = prefill_pos(a.w, row0 + row);
}

/* Adds to the sums of a thread's two keys their rows; HIDES: not all rows see all keys of the tile. */
template <bool HIDES>
__device__ static inline void add_rows(const float (&s)[KEY_GROUPS][4], const int (&key)[2],
                                       const struct mass_rows *rows, float (&sum)[2])
{
#pragma unroll
    for (int j = 0; j < KEY_GROUPS; j++) {
        int row = 8 * j + 2 * (threadIdx.x % 4);
        float2 lse = *(const float2 *)&rows->lse[row];
#pragma unroll
        for (int e = 0; e < 2; e++)
#pragma unroll
            for (int k = 0; k < 2; k++) {
                float x = power_of_2(s[j][2 * k + e] - (e ? lse.y : lse.x));
                if (HIDES)
                    x = key[k] <= rows->pos[row + e] ? x : 0.0f;
                sum[k] += x;
            }
    }
}

/* What a thread's part of a key's mass is, in base 2 and without the shift: of columns that a key's row lets
 * through, relative to the largest of them, for keys whose sums are too small to be exact. */
static __device__ inline float small_mass(const float (&s)[KEY_GROUPS][4], int k, int key,
                                          const struct mass_rows *rows)
{
    float top = -CUDART_INF_F, sum = 0;
#pragma unroll
    for (int pass = 0; pass < 2; pass++) {
#pragma unroll
        for (int j = 0; j < KEY_GROUPS; j++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                int row = 8 * j + 2 * (threadIdx.x % 4) + e;
                float x =
                    key <= rows->pos[row] ? (k ? s[j][2 + e] : s[j][e]) - rows->lse[row] : -CUDART_INF_F;
                if (pass == 0)
                    top = fmaxf(top, x);
                else
                    sum += power_of_2(x - top);
            }
        if (pass == 0) {
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
            top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
            top = top == -CUDART_INF_F ? 0.0f : top;
        }
    }
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    return sum > 0 ? top + log2f(sum) - SHIFT : -CUDART_INF_F;
}

/* The natural logarithm of a sum of shifted terms that is not small. */
__device__ static inline float log_mass(float x)
{
    const float half = 1.0f / (1ull << SHIFT / 2);
    bool large = x >= 1.0f; /* scaled first, where that loses nothing: the sum of two logarithms would */
    float y = logf(large ? x * half * half : x);
    return large ? y : y - SHIFT * 0.69314718f;
}

/* log(e^x + e^y) */
__device__ static inline float add_logs(float x, float y)
{
    float top = fmaxf(x, y), zero = top == -CUDART_INF_F ? 0.0f : top;
    return top == -CUDART_INF_F ? top : top + logf(softmax_exp(x - zero) + softmax_exp(y - zero));
}

/* The second sweep, of every second tile: writes the logarithms of the keys' sums over rows, added to what
 * earlier rows left. */
template <class F>
static __device__ inline void sum_keys(const struct mass_work &a, const struct mass_piece &p,
                                       const struct smem &r, int head, int turn, const struct mass_rows *rows,
                                       float *out, bool is_first)
{
    int half = threadIdx.x / TEAM % 2, pair = threadIdx.x / TEAM / 2;
    int own = threadIdx.x / WARP % 4 * WARP_ROWS + threadIdx.x % WARP / 4;
    float s[KEY_GROUPS][4] = {};
    unsigned next = live_keys(a, p, head, pair);
#pragma unroll 1
    for (int i = pair; i < p.n_tiles; i += 2) {
        int key0 = i * KEYS + half * TEAM_ROWS + own, key[2] = {key0, key0 + 8};
        float sum[2] = {}, mass[2], before[2] = {-CUDART_INF_F, -CUDART_INF_F};
        unsigned live = next;
        next = live_keys(a, p, head, i + 2);
        if (!is_first)
#pragma unroll
            for (int k = 0; k < 2; k++)
                before[k] = key[k] < p.end ? out[key[k]] : -CUDART_INF_F;
        wait_for(r, turn + i);
        ask_logits<F>(tile_of<F>(r, turn + i) + half * TEAM_ROWS * ROW, F::HALF, r.queries, F::Q_HALF, s);
        wgmma_wait();
        hold_registers(flat_sums(s));
        give_back(r, turn + i);
        bool lives[2] = {true, true};
        if (all_seen(a, i, live)) {
            add_rows<false>(s, key, rows, sum);
        } else {
            uint64_t all[KEYS / MASK_KEYS];
            join_pages(live, all);
            add_rows<true>(s, key, rows, sum);
            lives[0] = (half ? all[1] : all[0]) >> own & 1;
            lives[1] = (half ? all[1] : all[0]) >> (own + 8) & 1;
        }
#pragma unroll
        for (int k = 0; k < 2; k++) {
            sum[k] += __shfl_xor_sync(~0u, sum[k], 1);
            sum[k] += __shfl_xor_sync(~0u, sum[k], 2);
            mass[k] = log_mass(sum[k]);
            if (__any_sync(~0u, sum[k] < SMALL)) {
                float small = small_mass(s, k, key[k], rows) * 0.69314718f;
                mass[k] = sum[k] < SMALL ? small : mass[k];
            }
            mass[k] = lives[k] ? mass[k] : -CUDART_INF_F;
            if (!is_first)
                mass[k] = add_logs(before[k], mass[k]);
            if (threadIdx.x % 4 == 0 && key[k] < p.end)
                out[key[k]] = mass[k];
        }
    }
}

template <class F>
static __global__ void __launch_bounds__(F::THREADS, 1)
    mass_kernel(const __grid_constant__ struct mass_work a)
{
    extern __shared__ __align__(1024) char shared[];
    needs_hopper();
    struct mass_piece p = mass_piece_of(a);
    struct smem r = open_smem<F>(shared_address(shared), 1);
    float *out = a.v + ((size_t)blockIdx.x * gridDim.y + blockIdx.y) * a.stride;
    if (threadIdx.x >= F::TEAMS * TEAM) {
        give_registers<F::KEPT>();
        if (threadIdx.x < F::TEAMS * TEAM + WARP && p.turns > 0)
            copy_keys<F>(a, p, r);
        return;
    }
    take_registers<F::TAKEN>();
    for (int key = threadIdx.x; p.turns == 0 && key < p.end; key += F::TEAMS * TEAM)
        out[key] = -CUDART_INF_F;
    struct mass_rows *rows = (struct mass_rows *)(shared + (r.more - shared_address(shared)));
    int turn = 0, met = 0;
    for (int head = p.head0; head < p.head0 + a.heads; head++)
        for (int row0 = p.first; row0 < p.last; row0 += F::ROWS) {
            bool is_first = turn == 0;
            if (threadIdx.x < F::ROWS / TEAM_ROWS * TEAM)
                make_queries<F>(a.w, head, row0 + threadIdx.x / WARP * WARP_ROWS,
                                shared + (r.queries - shared_address(shared)));
            teams_meet(r, met++);
            sum_rows<F>(a, p, r, head, row0, turn, rows);
            turn += p.n_tiles;
            teams_meet(r, met++);
            if (threadIdx.x < F::ROWS)
                join_sums(a, p, row0, rows);
            teams_meet(r, met++);
            sum_keys<F>(a, p, r, head, turn, rows, out, is_first);
            turn += p.n_tiles;
            teams_meet(r, met++); /* before the queries and sums of these rows are overwritten */
        }
}

template <int DIM> static int launch_mass(struct device *d, struct mass_work *a, dim3 grid)
{
    typedef team_config<DIM, 4, 24, 112, 2 * TEAM_ROWS> F;
    enum { BYTES = F::BYTES + sizeof(struct mass_rows) };
    int rc = tensor_map(d, &a->pool, a->w.a.kv.pool, INT32_MAX, F::DIM, F::DIM, KV_PAGE_TOKENS, 0);
    if (!rc)
        rc = allow_smem(d, (const void *)mass_kernel<F>, BYTES, "prefill_mass");
    if (rc)
        return rc;
    mass_kernel<F><<<grid, F::THREADS, BYTES, d->stream>>>(*a);
    return cuda_launched(d, OP_prefill_mass);
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
    a.w.group = m->n_q / m->kv.n_kv;
    a.w.rows = m->nq * a.w.group;
    a.tile = m->tile;
    a.from = m->from;
    a.heads = m->kv.n_kv / m->out.n_rows;
    a.v = m->out.v;
    a.stride = (size_t)m->out.stride;
    dim3 grid((m->nq + m->tile - 1) / m->tile, m->out.n_rows);
    return m->kv.head_dim == 64 ? launch_mass<64>(d, &a, grid) : launch_mass<128>(d, &a, grid);
}
