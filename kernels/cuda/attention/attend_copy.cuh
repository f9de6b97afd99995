#ifndef KERNELS_CUDA_ATTENTION_ATTEND_COPY_CUH
#define KERNELS_CUDA_ATTENTION_ATTEND_COPY_CUH

/* How K and V get into shared memory for attend_mma.cu: each warp has a software pipeline of stages, which it
 * fills by TMA bulk copies (cp.async.bulk) as its own producer, and reads as its own consumer. Copies run
 * ahead of the sums and continue across the ends of splits and lists. */
#include "kernels/cuda/attention/attend.cuh"
#include "kernels/cuda/device/ptx.cuh"

/* Tile shape of a kernel. A stage of the pipeline holds K and V of 16 tokens, or K alone. DEEP: a block has
 * an SM to itself (occupancy 1 instead of 2), and its pipelines have twice as many stages. */
template <int HEAD_DIM, bool WITH_VALUES, bool DEEP> struct tile_config {
    static const int D = HEAD_DIM, ROW = D * 2, HALF = KV_PAGE_TOKENS * ROW, BLOCKS = DEEP ? 1 : 2;
    static const bool VALUES = WITH_VALUES;
    static const int STAGE = VALUES ? 2 * HALF : HALF;
    static const int STAGES = 6 / BLOCKS * (128 / D) * (VALUES ? 1 : 2),
                     PIPELINE_BYTES = ATTEND_WARPS * STAGES * STAGE;
};

/* Returns the stage that follows in the pipeline. */
template <class F> static __device__ inline int stage_after(int stage)
{
    return stage + 1 == F::STAGES ? 0 : stage + 1;
}

/* What a stage holds. The warp that filled it reads it when the copy has arrived. */
struct stage {
    uint32_t read; /* tokens (bits 0-15), heads (16-31); 0: nothing */
    int32_t slot;  /* of the first token; -1: scattered, as the list says */
};

/* A warp's part of an item: entries first, first + 4, .., n of them. */
struct part {
    int item, i, split, first, n; /* i: list */
    struct list l;
};

/* A lane's token of a tile of listed tokens (lanes 16 and up: the same again). */
struct token {
    int slot, kv_block;
    uint32_t live; /* of its page */
};

/* The producer's position. Whatever it needs next is loaded ahead, so that nothing waits for it: entries of
 * pages an item ahead, slots of listed tokens two tiles ahead, their KV blocks one tile ahead. */
struct cursor {
    struct part now, next;
    struct entry own, own_next; /* the lane's entry of each */
    struct token token;         /* of tile `at` */
    int slot, slot_next[2];     /* of tile at + 1; of the next item's first two tiles */
    int at, stage;
};

template <int STAGES> struct block {
    uint64_t bar[ATTEND_WARPS][STAGES];
    struct stage stage[ATTEND_WARPS][STAGES];
    float running_max[ATTEND_WARPS][8], sum[ATTEND_WARPS][8], all_max[8], all_sum[8];
    float first_max[8], first_sum[8], keep[2][8]; /* of two splits: the first's; by how much each counts */
};

/* Sets *p to the warp's part of an item; n is 0 where there is none. */
template <class Work>
static __device__ void enter_item(const Work &w, const struct lists &all, int item, struct part *p)
{
    int warp = threadIdx.x / WARP;
    p->item = item;
    p->n = 0;
    if (item >= all.items)
        return;
    p->i = list_of(w, all, item, &p->split);
    p->l = list_at(w, all, p->i);
    int per = split_entries(w, p->l.n), from = p->split * per, left = p->l.n - from;
    left = left < per ? left : per;
    p->first = from + warp;
    p->n = left > warp ? (left - warp + ATTEND_WARPS - 1) / ATTEND_WARPS : 0;
}

/* Returns true if the list is one of tokens, whose rows are copied one by one. */
template <class Work> static __device__ bool copy_scattered(const Work &w, const struct list &l)
{
    return w.kind_of() == LIST_TOKENS && l.idx;
}

/* Returns which of the listed tokens is the lane's in a part's tile. */
static __device__ int token_at(const struct part &p, int tile)
{
    return (p.first + tile * ATTEND_WARPS) * KV_PAGE_TOKENS + threadIdx.x % KV_PAGE_TOKENS;
}

/* Returns the slot of that token; beyond the end of the list the last token's, which is then not read. */
static __device__ int slot_of(const struct part &p, int tile)
{
    int at = token_at(p, tile);
    return __ldg(&p.l.idx[at < p.l.len ? at : p.l.len - 1]);
}

/* Returns where a listed token is; for one that the table does not reach, which is not read, the first. */
template <class Work> static __device__ struct token find_token(const Work &w, const struct list &l, int slot)
{
    bool inside = slot / KV_PAGE_TOKENS < pages_of(w.kv.n_slots[l.head]);
    size_t at = l.head * (size_t)w.kv.max_pages + (inside ? slot / KV_PAGE_TOKENS : 0);
    struct token t = {slot, w.kv.block_table[at], inside ? w.kv.live[at] : 0u};
    return t;
}

/* Moves the cursor to the next item and looks up the one after it. */
template <class Work>
static __device__ void turn_page(const Work &w, const struct lists &all, struct cursor *c)
{
    int lane = threadIdx.x % WARP;
    c->now = c->next;
    c->own = c->own_next;
    c->at = 0;
    if (c->now.n > 0 && copy_scattered(w, c->now.l)) {
        c->token = find_token(w, c->now.l, c->slot_next[0]);
        c->slot = c->slot_next[1];
    }
    enter_item(w, all, next_item(w, c->now.item), &c->next);
    if (c->next.n <= 0)
        return;
    if (!copy_scattered(w, c->next.l)) {
        if (lane < c->next.n)
            c->own_next = list_entry(w, c->next.l, c->next.i, c->next.first + lane * ATTEND_WARPS);
        return;
    }
    for (int tile = 0; tile < 2; tile++)
        c->slot_next[tile] = slot_of(c->next, tile);
}

/* Producer: copies a tile of listed tokens row by row, 16 bytes a lane, so that the loads of a row are
 * coalesced. The 16-byte chunks go where those of a page would lie. */
template <class F, class Work>
static __device__ void copy_tokens(const Work &w, struct cursor *c, struct stage *s, uint32_t to,
                                   uint32_t bar)
{
    const int CHUNKS = F::ROW / 16, ROWS = WARP / CHUNKS; /* of a row; rows at once */
    int lane = threadIdx.x % WARP, chunk = lane % CHUNKS;
    struct token own = c->token;
    bool there = token_at(c->now, c->at) < c->now.l.len;
    uint32_t read = __ballot_sync(~0u, there && (own.live >> own.slot % KV_PAGE_TOKENS & 1)) & 0xffff;
    if (c->at + 1 < c->now.n)
        c->token = find_token(w, c->now.l, c->slot);
    if (c->at + 2 < c->now.n)
        c->slot = slot_of(c->now, c->at + 2);
    if (lane == 0) {
        s->read = read ? read | 0xffff0000u : 0;
        s->slot = -1;
    }
    __syncwarp();
    for (int r = 0; read && r < KV_PAGE_TOKENS; r += ROWS) {
        int row = r + lane / CHUNKS, slot = __shfl_sync(~0u, own.slot, row);
        const char *from = kv_block_k(w.kv, __shfl_sync(~0u, own.kv_block, row)) +
                           (slot % KV_PAGE_TOKENS) * F::ROW + (chunk ^ (slot & 7)) * 16;
        uint32_t at = to + row * F::ROW + (chunk ^ (row & 7)) * 16;
        async_copy_16(at, from);
        if (F::VALUES)
            async_copy_16(at + F::HALF, from + F::HALF);
    }
    arrive_after_copies(bar);
}

/* Producer: starts the copy of the page of this lane's entry into a stage. One lane calls it. */
template <class F, class Work>
static __device__ void copy_page(const Work &w, const struct entry &own, int i, struct block<F::STAGES> *b,
                                 uint32_t pipeline)
{
    int warp = threadIdx.x / WARP;
    uint32_t bar = shared_address(&b->bar[warp][i]);
    struct stage *s = &b->stage[warp][i];
    bool read = own.tokens && own.heads;
    s->read = read ? own.tokens | own.heads << 16 : 0;
    s->slot = own.page < w.kv.max_pages ? own.page * KV_PAGE_TOKENS : INT32_MAX;
    barrier_expect(bar, read ? F::STAGE : 0);
    if (read && w.dumps_logits()) /* what is written then is not to stay in the cache for longer */
        tma_bulk_copy(pipeline + (warp * F::STAGES + i) * F::STAGE, kv_block_k(w.kv, own.kv_block), F::STAGE,
                      bar);
    else if (read)
        tma_bulk_copy_once(pipeline + (warp * F::STAGES + i) * F::STAGE, kv_block_k(w.kv, own.kv_block),
                           F::STAGE, bar);
}

/* Starts the copy of the warp's next entry, if there is one, into the stage after the last. */
template <class F, class Work>
static __device__ void copy_next(const Work &w, const struct lists &all, struct cursor *c,
                                 struct block<F::STAGES> *b, uint32_t pipeline)
{
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, items = all.items;
    while (c->now.item < items && c->at == c->now.n)
        turn_page(w, all, c);
    if (c->now.item >= items)
        return;
    uint32_t bar = shared_address(&b->bar[warp][c->stage]);
    if (copy_scattered(w, c->now.l)) {
        copy_tokens<F>(w, c, &b->stage[warp][c->stage], pipeline + (warp * F::STAGES + c->stage) * F::STAGE,
                       bar);
    } else {
        if (lane == c->at) /* it looked this entry up */
            copy_page<F>(w, c->own, c->stage, b, pipeline);
        else if (w.kind_of() == LIST_TOKENS) /* whose barriers count all lanes */
            barrier_arrive(bar);
        __syncwarp();
    }
    c->at++;
    c->stage = stage_after<F>(c->stage);
}

/* The same for n entries, when as many have been read: two at once where both are pages of the item that is
 * being copied. */
template <class F, class Work>
static __device__ void copy_after(const Work &w, const struct lists &all, int n, struct cursor *c,
                                  struct block<F::STAGES> *b, uint32_t pipeline)
{
    int lane = threadIdx.x % WARP, second = stage_after<F>(c->stage);
    if (w.kind_of() == LIST_TOKENS || n != 2 || c->at + 2 > c->now.n) {
#pragma unroll 1
        for (int p = 0; p < n; p++)
            copy_next<F>(w, all, c, b, pipeline);
        return;
    }
    if (lane == c->at || lane == c->at + 1)
        copy_page<F>(w, c->own, lane == c->at ? c->stage : second, b, pipeline);
    __syncwarp();
    c->at += 2;
    c->stage = stage_after<F>(second);
}

/* On to the block's first item. */
template <class Work>
static __device__ void find_first(const Work &w, const struct lists &all, struct cursor *c)
{
    c->now.item = first_item(w) - 2 * (int)gridDim.x;
    c->next.item = next_item(w, c->now.item);
#pragma unroll 1
    for (int i = 0; i < 2; i++)
        turn_page(w, all, c);
}

/* Returns true if a kernel that appends may still be writing the page of the lane's entry. In a cache from
 * which nothing was dropped the row's pos tells the page. */
template <class Work>
static __device__ bool may_change(const Work &w, const struct part &p, const struct entry &own)
{
    int lane = threadIdx.x % WARP;
    return lane < p.n && own.page >= __ldcg(&w.rows.pos[p.l.row]) / KV_PAGE_TOKENS;
}

/* While the last kernel may still append: copies of the first item's pages begin, except of a list's last
 * page, whose copy begins when that kernel has ended. Once memory is busy with copies whatever is looked up
 * takes microseconds, so nothing is that need not be. */
template <class F, class Work>
static __device__ void copy_early(const Work &w, struct cursor *c, struct block<F::STAGES> *b,
                                  uint32_t pipeline)
{
    int lane = threadIdx.x % WARP;
    bool now = may_change(w, c->now, c->own), next = may_change(w, c->next, c->own_next);
    c->at = c->now.n < F::STAGES ? c->now.n : F::STAGES;
    c->stage = c->at % F::STAGES;
    if (lane < c->at && !now)
        copy_page<F>(w, c->own, lane, b, pipeline);
    pdl_wait();
    if (now)
        c->own = page_entry(w, c->now.l, c->own.page);
    if (next)
        c->own_next = page_entry(w, c->next.l, c->own_next.page);
    if (lane < c->at && now)
        copy_page<F>(w, c->own, lane, b, pipeline);
    __syncwarp();
}

/* Makes the index of lists in shared memory at `smem` and finds the block's first item; early: looked up
 * before the last kernel has ended. It may have appended then: tokens in order change a list's last page at
 * most, else everything is looked up again, in tables that are in the second-level cache by now. All threads
 * of the block call it. */
template <class F, class Work>
static __device__ void begin_copies(const Work &w, void *smem, struct lists *all, struct cursor *c,
                                    struct block<F::STAGES> *b, uint32_t pipeline)
{
    const bool pages =
        F::VALUES && (w.kind_of() == LIST_LIVE || w.kind_of() == LIST_PAGES || w.kind_of() == LIST_WINDOW);
#pragma unroll 1
    for (bool early = pages && w.pdl;; early = false) {
        if (early)
            may_be_old_begin();
        else
            pdl_wait();
        find_lists(w, smem, all);
        find_first(w, *all, c);
        may_be_old_end();
        if (pages && early && w.in_order)
            copy_early<F>(w, c, b, pipeline);
        if (!early || w.in_order)
            return;
        __syncthreads(); /* another warp may still be looking */
    }
}

#endif
