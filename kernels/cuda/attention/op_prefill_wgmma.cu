/* Prefill attention on Hopper's tensor cores, for a bf16 cache: keys in the order of their positions, which
 * TMA copies page by page (prefill_pipe.cuh).
 *
 * Outputs stay in the tensor cores' sums over a split's keys: what these truncate is little beside the
 * rounding of the weights. What was tried, with its times, is in the body of commit b65e1a7. */
#include <string.h>

#include "kernels/cuda/attention/prefill_pipe.cuh"

struct wgmma_work {
    CUtensorMap pool; /* rows of all KV blocks: K of 16 tokens, then V */
    struct prefill_work w;
};

/* The part of the block's copies of a warp that copies: of K or V of each tile, every fourth half of a page.
 * A lane has one at most, and knows its page's KV block a tile ahead. */
template <class F, bool WINDOW>
static __device__ inline void copy_tiles(const struct wgmma_work &a, const struct piece &p,
                                         const struct smem &r)
{
    int copy = threadIdx.x % WARP * COPY_WARPS + threadIdx.x / WARP % COPY_WARPS;
    int page = copy / F::HALVES, half = copy % F::HALVES, last = 2 * p.n_tiles - 1;
    uint32_t to = half * F::HALF + page * KV_PAGE_TOKENS * ROW;
    int keys = unit_of<WINDOW>(a.w, p, page), values = keys,
        next = unit_of<WINDOW>(a.w, p, TILE_PAGES + page);
#pragma unroll 1
    for (int turn = 0; turn <= last; turn++) {
        uint32_t full = full_of(r, turn);
        bool is_keys = turn_is_keys(p.n_tiles, turn);
        if (is_keys && turn) {
            keys = next;
            next = unit_of<WINDOW>(a.w, p, (turn + 3) / 2 * TILE_PAGES + page);
        }
        wait_for_room(r, turn);
        if (threadIdx.x % WARP == 0)
            barrier_expect(full, F::TILE / COPY_WARPS);
        __syncwarp();
        if (page < TILE_PAGES)
            tma_tensor_copy(tile_of<F>(r, turn) + to, &a.pool, half * TENSOR_TILE,
                            is_keys ? 2 * keys * KV_PAGE_TOKENS : (2 * values + 1) * KV_PAGE_TOKENS, full);
        if (!is_keys)
            values = keys;
    }
}

/* What the rows do not see of the piece's tiles (attend_tiles). */
template <int DIM, bool WINDOW> struct hide_by_position {
    const struct prefill_work &w;
    const struct piece &p;
    unsigned live;

    __device__ inline void before(int i)
    {
        live = lives_of(w, p, i, TILE_PAGES);
    }

    __device__ inline void landed()
    {
    }

    __device__ inline void came(const struct out_rows<DIM> &, int, int)
    {
    }

    __device__ inline void hide(const struct out_rows<DIM> &m, int i, float (&s)[KEY_GROUPS][4])
    {
        int key0 = p.from + i * KEYS;
        if (sees_all<WINDOW>(w, p, key0, KEYS, live))
            return;
#pragma unroll
        for (int part = 0; part < KEYS / MASK_KEYS; part++) {
            uint64_t seen[2];
            needs_mask<WINDOW>(w, p.head, key0 + part * MASK_KEYS, m.pos, live, part * MASK_PAGES, seen);
            hide_keys(s, part * MASK_GROUPS, seen);
        }
    }
};

template <class F, bool WINDOW>
static __global__ void __launch_bounds__(F::THREADS, 1)
    wgmma_kernel(const __grid_constant__ struct wgmma_work a)
{
    extern __shared__ __align__(1024) char shared[];
    needs_hopper();
    struct piece p;
    if (!find_piece<WINDOW>(a.w, F::ROWS, KEYS, &p))
        return;
    struct smem r = open_smem<F>(shared_address(shared), COPY_WARPS);
    if (team_of_warp() >= F::TEAMS) {
        if (F::TEAMS > 1)
            give_registers<F::KEPT>();
        copy_tiles<F, WINDOW>(a, p, r);
        return;
    }
    if (F::TEAMS > 1)
        take_registers<F::TAKEN>();
    make_queries<F>(a.w, p.head, p.row0, shared + (r.queries - shared_address(shared)));
    teams_meet(r, 0);
    struct out_rows<F::DIM> m;
    struct hide_by_position<F::DIM, WINDOW> hide = {
        a.w, p, 0
    };
    start_out(m, a.w, p.row0);
    attend_tiles<F>(m, r, p.n_tiles, hide);
    finish_rows(m, a.w, p.split, p.head, p.row0, a.w.rows);
}

template <class F, bool WINDOW>
static int launch_wgmma(struct device *d, const struct prefill_work *w, int blocks)
{
    struct wgmma_work a;
    memset(&a, 0, sizeof a);
    a.w = *w;
    /* How many KV blocks the pool has is not said here; no table names another. */
    int rc = tensor_map(d, &a.pool, w->a.kv.pool, INT32_MAX, F::DIM, F::DIM, KV_PAGE_TOKENS, 0);
    if (!rc)
        rc = allow_smem(d, (const void *)wgmma_kernel<F, WINDOW>, F::BYTES, "prefill_attend");
    if (rc)
        return rc;
    dim3 grid(blocks, w->a.kv.n_kv, w->n_splits);
    wgmma_kernel<F, WINDOW><<<grid, F::THREADS, F::BYTES, d->stream>>>(a);
    return cuda_launched(d, OP_prefill_attend);
}

template <int DIM, bool WINDOW> static int launch_teams(struct device *d, const struct prefill_work *w)
{
    int blocks, warps = prefill_warps(d, w, &blocks);
    return warps * WARP == TEAM ? launch_wgmma<team_config<DIM, 1, 24, 240>, WINDOW>(d, w, blocks)
                                : launch_wgmma<team_config<DIM, 2, 24, 240>, WINDOW>(d, w, blocks);
}

template <int DIM> static int launch_dim(struct device *d, const struct prefill_work *w)
{
    return w->a.window > 0 ? launch_teams<DIM, true>(d, w) : launch_teams<DIM, false>(d, w);
}

int prefill_wgmma(struct device *d, const struct prefill_work *w)
{
    return w->a.kv.head_dim == 64 ? launch_dim<64>(d, w) : launch_dim<128>(d, w);
}
