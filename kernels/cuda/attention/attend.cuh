#ifndef KERNELS_CUDA_ATTENTION_ATTEND_CUH
#define KERNELS_CUDA_ATTENTION_ATTEND_CUH

#include "kernels/cuda/device/cuda.cuh"
#include "kernels/cuda/device/kv.cuh"
#include "kernels/cuda/device/math.cuh"
#include "kernels/cuda/device/ptx.cuh"

/* What the kernels of decode attention share: lists, their splits, and how the results of splits are
 * combined.
 *
 * This is split-KV attention (flash-decoding): the keys and values of one head are divided among thread
 * blocks. A list belongs to a (row, KV head), and all query heads of the group read it (grouped-query
 * attention). Its entries are pages, found through the block table, or tiles of 16 listed tokens. Entries are
 * cut into splits, which hold a number of entries that follows from the list's length and the kernel alone;
 * an item is one split, and the blocks of a persistent grid take items in order. Each split has an online
 * softmax: a running max, the sum of exponentials relative to it, and the sum over V, rescaled when the
 * running max rises. Where a list has several splits, combine_kernel adds them up in order. So a list's bits
 * depend on the list alone. */
enum list_kind {
    LIST_LIVE,
    LIST_PAGES,
    LIST_TOKENS,
    LIST_MERGED,
    LIST_WINDOW /* the pages that hold the last tokens, of which the first page has some before the window */
};
/* Which code adds up the splits of a list. Where no list has more than two, its blocks can do it. */
enum share {
    APART, /* combine_kernel; the blocks of the grid take splits in turn */
    PAIR,  /* two blocks, a cluster, have one list, a split each */
    SOLO   /* a block has both splits of each of its lists: where there are too many lists for pairs */
};

/* What attend_mma.cu writes beside sums: nothing, logits, or log-sum-exps of pages. */
enum dump { NO_DUMP, LOGITS, PAGE_SUMS };

/* When the kernel calls pdl_trigger (programmatic dependent launch). AT_ENDS: not at all, so that the next
 * kernel starts as blocks end; beside long lists it would take bandwidth (measured: 1 to 2 % of decoding at
 * batch 64). AT_ONCE: beside short lists, which wait for memory anyway. AFTER_READING: when everything has
 * been read; for lists with several splits, where waiting blocks of combine_kernel beside those that read
 * cost up to 1 %. */
enum next { AT_ENDS, AT_ONCE, AFTER_READING };

enum {
    ATTEND_THREADS = 128,
    ATTEND_WARPS = 4,
    MAX_SPLIT_ENTRIES = 128,
    MAX_SPLITS = 128,
    FEW_HEADS_LIMIT = 2
};

struct attend_work {
    struct rows rows;
    struct kv_view kv;
    int layer, n_q, group;
    const float *q;
    int q_stride;
    void *out; /* (rows, n_q, d) of `type`; NULL: logits and their log-sum-exp alone */
    enum dtype type;
    float scale, softcap; /* softcap: only attend_plain.cu knows it */
    const float *sink;    /* (n_q) or NULL */
    int window;           /* LIST_WINDOW */
    enum list_kind kind;
    int n_rows, cap, block_pages;
    uint64_t by_kv, by_block;             /* reciprocals of n_kv and block_pages */
    uint8_t list_of[BACKEND_MAX_Q_HEADS]; /* by KV head */
    const int32_t *idx, *len;
    struct plan plan; /* LIST_MERGED */
    struct stats stats;
    float *part;          /* (lists, max_splits, group, head_dim): sums of exp(logit - running max) V */
    float2 *part_max_sum; /* (lists, max_splits, group): running max, sum of exp(logit - running max) */
    int max_splits;
    enum share shared;
    int plain;    /* attend_plain.cu has it */
    int in_order; /* each token's slot is its position: how many pages there are is known before this step's
                   * token is appended */
    int pdl;      /* lists may be read before pdl_wait: the kernel before this one only appends to them */
    int deep;     /* each split has an SM: see struct tile_config */
    enum next next;
    /* The device functions below take this or an attend_kind, which answers at compile time. */
    __host__ __device__ enum list_kind kind_of() const
    {
        return kind;
    }
    __host__ __device__ bool has_idx() const
    {
        return kind == LIST_PAGES || kind == LIST_TOKENS;
    }
    __host__ __device__ bool is_plain() const
    {
        return plain;
    }
    __host__ __device__ static constexpr enum share sharing()
    {
        return APART;
    }
    __host__ __device__ bool dumps_logits() const
    {
        return stats.logits && !stats.by_page;
    }
};

/* attend_work for lists of one kind, for attend_mma.cu. A kernel for each kind has half of the instructions
 * of one for all; the instruction caches are small, and a step of decoding goes through a dozen kernels again
 * and again (measured: 5 % of decoding under full attention, 9 % under StreamingLLM's mask). */
template <list_kind KIND, share SHARING, dump DUMP> struct attend_kind : attend_work {
    __host__ __device__ static constexpr enum list_kind kind_of()
    {
        return KIND;
    }
    __host__ __device__ static constexpr bool has_idx()
    {
        return KIND == LIST_PAGES || KIND == LIST_TOKENS;
    }
    __host__ __device__ static constexpr bool is_plain()
    {
        return false;
    }
    __host__ __device__ static constexpr bool dumps_logits()
    {
        return DUMP == LOGITS;
    }
    __host__ __device__ static constexpr enum share sharing()
    {
        return SHARING;
    }
};

/* The number of entries in a split. A change here changes bits, so OWN_BITS in cuda_device.cu must be raised.
 *
 * A list of 64 pages, a common budget, is one split, so that nothing is left to add up; of models with few KV
 * heads two, because the lists of 64 sequences would be too few blocks to fill a GPU. Long lists get larger
 * splits, because each split writes a partial result, and a byte written costs several times as much as a
 * byte read (measured). attend_plain.cu gets smaller splits, because it is bound by latency. */
template <class Work> __host__ __device__ static inline int split_entries(const Work &w, int n)
{
    int per = w.is_plain()                              ? 16
              : n <= 64 && w.kv.n_kv <= FEW_HEADS_LIMIT ? 32
              : n < 2048                                ? 64
                                                        : MAX_SPLIT_ENTRIES;
    while (w.is_plain() && per * 64 < n && per < MAX_SPLIT_ENTRIES)
        per *= 2;
    return per;
}

/* Returns the number of splits of a list of n entries, at least 1. */
template <class Work> __host__ __device__ static inline int splits_of(const Work &w, int n)
{
    int per = split_entries(w, n);
    return n > 0 ? (n + per - 1) / per : 1;
}

/* Returns the factor of a running max: sums are relative to exp(running max * part_scale()). */
template <class Work> __device__ static inline float part_scale(const Work &w)
{
    return w.is_plain() ? 1.0f : w.scale;
}

/* Returns the sum of a list's exponentials with that of the sink of query head q, relative to the running max
 * as `sum` is; infinite where the sink is so large that nothing beside it counts. */
template <class Work>
__device__ static inline float sum_with_sink(const Work &w, int q, float running_max, float sum)
{
    if (!w.sink)
        return sum;
    float above = __ldg(&w.sink[q]) - running_max * part_scale(w);
    return above > 69.0f ? CUDART_INF_F : sum + softmax_exp(above);
}

/* Returns the log of that sum, of all exponentials as they are. */
template <class Work>
__device__ static inline float log_of_sum(const Work &w, int q, float running_max, float sum)
{
    if (w.sink && sum == CUDART_INF_F)
        return __ldg(&w.sink[q]);
    return sum > 0 ? running_max * part_scale(w) + logf(sum) : -CUDART_INF_F;
}

/* One list as the kernels walk it. */
struct list {
    int row, h, n; /* n: entries */
    size_t head;
    const int32_t *idx; /* NULL: all pages, or LIST_MERGED */
    int len;            /* of idx; LIST_WINDOW: the first slot inside the window */
};

/* Index of all lists in a block's shared memory, from which it finds the list of an item without another read
 * of device memory. The lists' last splits are the last n items, in the order of the lists; the items before
 * them are the other splits, which are all full. Blocks take items at equal distances: if the splits of a
 * list followed each other and lists had two, half of the blocks would have the full ones and the others the
 * short ones. PAIR and SOLO have no index: list i has items 2i and 2i + 1, and its size is looked up.
 *
 * What is the same for a row's n_kv lists is kept once, and 16 bits are used wherever they are enough, so
 * that the occupancy of attend_mma.cu stays at two blocks an SM with 512 sequences of a 1.5B model and 256 of
 * an 8B one (225 with lists of tokens). With one block an SM attention took 1.08 to 1.2 times as long. */
struct lists {
    int n, items;
    int *start;       /* (rows + 1): whole splits in the rows before */
    void *size;       /* (n): see store_size */
    uint16_t *before; /* (n): whole splits of the row's lists before it */
    uint16_t *seq;    /* (rows): NO_SEQ for a padding row */
};

enum { NO_SEQ = UINT16_MAX, LISTED = 1 << 15 };
static_assert((int)MAX_SPLIT_ENTRIES * MAX_SPLITS < LISTED, "the number of a list's pages, in 15 bits");

/* Returns the bytes of a stored list size: the length of a list of tokens, or what a window is the end of,
 * may need more than 15 bits. */
template <class Work> __host__ __device__ static inline int size_bytes(const Work &w)
{
    return w.kind_of() == LIST_TOKENS || w.kind_of() == LIST_WINDOW ? 4 : 2;
}

/* Returns the bytes of shared memory that find_lists() needs for an index. */
template <class Work> __host__ __device__ static inline size_t lists_bytes(const Work &w)
{
    size_t rows = (size_t)w.rows.cap, n = rows * w.kv.n_kv;
    return (rows + 1) * sizeof(int) + n * (size_t)size_bytes(w) + (n + rows) * sizeof(uint16_t);
}

/* A list's size is its entries, or -1 - len where there is a list of pages or tokens; in 16 bits that is
 * LISTED + len. LIST_WINDOW: it is the tokens of the sequence, which say where the window begins.
 * store_size() stores the size of list i, and stored_size() returns it. */
template <class Work>
__device__ static inline void store_size(const Work &w, const struct lists *all, int i, int size)
{
    if (size_bytes(w) == 4)
        ((int *)all->size)[i] = size;
    else
        ((uint16_t *)all->size)[i] = (uint16_t)(size >= 0 ? size : LISTED - 1 - size);
}

template <class Work> __device__ static inline int stored_size(const Work &w, const struct lists &all, int i)
{
    if (size_bytes(w) == 4)
        return ((const int *)all.size)[i];
    int size = ((const uint16_t *)all.size)[i];
    return size < LISTED ? size : LISTED - 1 - size;
}

/* Returns the entries of a list of that size (see store_size). */
template <class Work> __device__ static inline int list_entries(const Work &w, int size)
{
    if (w.kind_of() == LIST_WINDOW)
        return pages_of(size) - window_start(w.window, size - 1) / KV_PAGE_TOKENS;
    return size >= 0 || !w.has_idx()    ? size
           : w.kind_of() == LIST_TOKENS ? pages_of(-1 - size)
                                        : (-1 - size) * w.block_pages;
}

/* Returns the size of list i, looked up in memory, and sets *seq to its sequence; a padding row has none
 * (negative), and size 0. */
template <class Work> __device__ static inline int list_size(const Work &w, int i, int *seq)
{
    int row = quotient_of(i, w.by_kv), h = i - row * w.kv.n_kv, len = -1;
    *seq = __ldcg(&w.rows.seq[row]);
    if (w.kind_of() == LIST_MERGED) {
        int n = __ldcg(&w.plan.n[i]); /* without a wait for seq */
        return *seq >= 0 ? n : 0;
    }
    if (w.kind_of() == LIST_WINDOW) {
        int tokens = __ldcg(&w.rows.pos[row]) + 1;
        return *seq >= 0 ? tokens : 0;
    }
    if (w.has_idx())
        len = __ldcg(&w.len[(size_t)row * w.n_rows + w.list_of[h]]);
    if (*seq < 0)
        return 0;
    if (len >= 0)
        return -1 - len;
    return pages_of(w.in_order ? __ldcg(&w.rows.pos[row]) + 1
                               : __ldcg(&w.kv.n_slots[kv_head(w.kv, *seq, w.layer, h)]));
}

/* Returns list i. n is -1 for a padding row: nothing of the cache is read for its items, and nothing written.
 */
template <class Work>
__device__ static inline struct list list_at(const Work &w, const struct lists &all, int i)
{
    int row = quotient_of(i, w.by_kv), seq, size;
    if (w.sharing() != APART) {
        size = list_size(w, i, &seq);
    } else {
        size = stored_size(w, all, i);
        seq = all.seq[row] == NO_SEQ ? -1 : all.seq[row];
    }
    struct list l = {row, i - row * w.kv.n_kv, -1, 0, NULL, 0};
    if (seq < 0)
        return l;
    l.n = list_entries(w, size);
    l.head = kv_head(w.kv, seq, w.layer, l.h);
    if (w.kind_of() == LIST_WINDOW)
        l.len = window_start(w.window, size - 1);
    if (w.has_idx() && size < 0) {
        l.idx = w.idx + ((size_t)l.row * w.n_rows + w.list_of[l.h]) * (size_t)w.cap;
        l.len = -1 - size;
    }
    return l;
}

/* An entry of a list of pages. Loads before pdl_wait bypass the L1 cache, which may hold what an earlier
 * kernel saw. */
struct entry {
    int kv_block, page;
    uint32_t tokens, heads; /* read by at least one head, by which of the group; tokens 0: nothing */
};

/* Loads the entry of one page of a list: its KV block from the block table and its live bits. All loads are
 * issued at once, and nothing here waits for them. A list may name pages that do not exist yet, or that lie
 * beyond the last page of its last block of pages; their `tokens` become 0. */
template <class Work>
__device__ static inline struct entry page_entry(const Work &w, const struct list &l, int page)
{
    bool inside = page < w.kv.max_pages;
    size_t at = l.head * (size_t)w.kv.max_pages + (inside ? page : 0);
    int pages = w.has_idx() ? pages_of(__ldcg(&w.kv.n_slots[l.head])) : w.kv.max_pages;
    struct entry out = {__ldcg(&w.kv.block_table[at]), page, __ldcg(&w.kv.live[at]), 0xffff};
    out.tokens = inside && page < pages ? out.tokens : 0;
    if (w.kind_of() == LIST_WINDOW && page == l.len / KV_PAGE_TOKENS)
        out.tokens &= 0xffffu << l.len % KV_PAGE_TOKENS;
    return out;
}

/* Returns entry e of list i, which l describes; as page_entry() where the list is not a plan's. */
template <class Work>
__device__ static inline struct entry list_entry(const Work &w, const struct list &l, int i, int e)
{
    if (w.kind_of() == LIST_MERGED) {
        struct plan_entry p = w.plan.entry[(size_t)i * w.kv.max_pages + e];
        struct entry out = {p.kv_block, p.page, p.tokens, p.heads};
        return out;
    }
    int block = quotient_of(e, w.by_block), page = e;
    if (w.kind_of() == LIST_WINDOW)
        page += l.len / KV_PAGE_TOKENS;
    else if (l.idx)
        page += (__ldcg(&l.idx[block]) - block) * w.block_pages;
    return page_entry(w, l, page);
}

/* Before the call before[i] is list i's own number of whole splits, after it the sum over the row's lists
 * before it, and start[] the sums over the rows before. All threads of the block call it; ends with a
 * barrier. */
template <class Work> __device__ static inline void add_up_splits(const Work &w, struct lists *all)
{
    __shared__ int sums[ATTEND_WARPS];
    int rows = w.rows.cap, n_kv = w.kv.n_kv, per = (rows + ATTEND_THREADS - 1) / ATTEND_THREADS;
    int t = threadIdx.x, sum = 0, from = t * per, to = from + per < rows ? from + per : rows;
    for (int row = from; row < to; row++) {
        int own = 0;
        for (int i = row * n_kv; i < (row + 1) * n_kv; i++) {
            int chunks = all->before[i];
            all->before[i] = (uint16_t)own;
            own += chunks;
        }
        all->start[row] = sum;
        sum += own;
    }
    int before = sum_before(sum);
    if (t % WARP == WARP - 1)
        sums[t / WARP] = before;
    __syncthreads();
    for (int i = 0; i < t / WARP; i++)
        before += sums[i];
    for (int row = from; row < to; row++)
        all->start[row] += before - sum;
    if (t == ATTEND_THREADS - 1)
        all->start[rows] = before;
    __syncthreads();
}

/* Fills `all` in shared memory at `smem`. All threads of the block call it; ends with a barrier. */
template <class Work> __device__ static inline void find_lists(const Work &w, void *smem, struct lists *all)
{
    int rows = w.rows.cap, n = rows * w.kv.n_kv;
    all->n = n;
    if (w.sharing() != APART) {
        all->items = 2 * n;
        __syncthreads();
        return;
    }
    all->start = (int *)smem;
    all->size = all->start + rows + 1;
    all->before = (uint16_t *)((char *)all->size + (size_t)n * size_bytes(w));
    all->seq = all->before + n;
#pragma unroll 4
    for (int i = threadIdx.x; i < n; i += ATTEND_THREADS) {
        int seq, size = list_size(w, i, &seq), row = quotient_of(i, w.by_kv);
        if (i == row * w.kv.n_kv)
            all->seq[row] = seq < 0 ? (uint16_t)NO_SEQ : (uint16_t)seq;
        store_size(w, all, i, size);
        all->before[i] = (uint16_t)(splits_of(w, list_entries(w, size)) - 1);
    }
    __syncthreads();
    add_up_splits(w, all);
    all->items = all->start[rows] + n;
}

/* Binary search: returns the index of the last of n ascending numbers that is at most x. numbers[0] must be
 * at most x. */
template <typename T> __device__ static inline int last_up_to(const T *numbers, int n, int x)
{
    int low = 0;
    while (n - low > 1) {
        int middle = (low + n) / 2;
        if (numbers[middle] <= x)
            low = middle;
        else
            n = middle;
    }
    return low;
}

/* Return the block's first item, and the one after `item`. An item at or beyond lists.items is none. */
template <class Work> __device__ static inline int first_item(const Work &w)
{
    return (w.sharing() == SOLO ? 2 : 1) * (int)blockIdx.x;
}

template <class Work> __device__ static inline int next_item(const Work &w, int item)
{
    int all = (int)gridDim.x;
    return w.sharing() != SOLO ? item + all : item & 1 ? item + 2 * all - 1 : item + 1;
}

/* Returns the list of an item, and sets *split to which of the list's splits it is. */
template <class Work>
__device__ static inline int list_of(const Work &w, const struct lists &all, int item, int *split)
{
    if (w.sharing() != APART) {
        *split = item % 2;
        return item / 2;
    }
    int n_kv = w.kv.n_kv, last = item - (all.items - all.n);
    if (last >= 0) {
        *split = splits_of(w, list_entries(w, stored_size(w, all, last))) - 1;
        return last;
    }
    int row = last_up_to(all.start, w.rows.cap, item);
    item -= all.start[row];
    int h = last_up_to(all.before + row * n_kv, n_kv, item);
    *split = item - all.before[row * n_kv + h];
    return row * n_kv + h;
}

/* One item's result goes out: value(h, x) are four sums over V from dimension x of d on, relative to
 * exp(running max[h] * part_scale()), sum[h] their weights. All threads of the block call it, with running
 * max and sum in shared memory. */
template <class Value, class Work>
__device__ static inline void finish_item(const Work &w, const struct list &l, int i, int split, int n_chunks,
                                          int d, const float *running_max, const float *sum, Value value)
{
    int t = threadIdx.x, group = w.group;
    size_t out = (size_t)l.row * w.n_q + (size_t)l.h * group;
    size_t part = ((size_t)i * w.max_splits + split) * group;
    for (int x = 4 * t; w.out && x < group * d; x += 4 * ATTEND_THREADS) {
        int h = x / d;
        float4 v = value(h, x % d);
        if (n_chunks > 1) {
            store_to_stay(&w.part[part * d + x], v);
        } else {
            float all = sum_with_sink(w, l.h * group + h, running_max[h], sum[h]);
            float f = all > 0 ? 1.0f / all : 0.0f;
            put4_as(w.out, w.type, out * d + x, make_float4(v.x * f, v.y * f, v.z * f, v.w * f));
        }
    }
    if (t >= group)
        return;
    if (n_chunks > 1)
        w.part_max_sum[part + t] = make_float2(running_max[t], sum[t]);
    else if (w.stats.logits)
        w.stats.lse[out + t] = log_of_sum(w, l.h * group + t, running_max[t],
                                          sum_with_sink(w, l.h * group + t, running_max[t], sum[t]));
}

/* attend_mma.cu: bf16 K and V, head_dim 64 or 128, groups up to 8, no softcap. attend_plain.cu: everything
 * else. attend_mma_fits() returns 1 if attend_mma() takes this work, else 0. The others, and merge_lists()
 * below, enqueue and return 0 or a negative BACKEND_ERR_ code with d->error set. */
int attend_mma_fits(const struct attend_work *w);
int attend_mma(struct device *d, const struct attend_work *w);
int attend_plain(struct device *d, const struct attend_work *w);

/* merge_lists.cu: fills a->plan with the pages that any head of a group reads. */
int merge_lists(struct device *d, const struct attend_args *a, enum op op);

#endif
