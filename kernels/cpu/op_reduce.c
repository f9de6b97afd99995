/* Logarithms of attention weights as scores, from which selections are made. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/scores.h"

/* The heads that make up one out list, their logits and extents. */
struct mass {
    const struct reduce_stats_args *a;
    const float *logits[BACKEND_MAX_Q_HEADS];
    float lse[BACKEND_MAX_Q_HEADS];
    int slots[BACKEND_MAX_Q_HEADS];
    int heads, extent; /* extent: slots of the longest head */
};

static void mass_of(struct mass *m, const struct reduce_stats_args *a, int row, int list)
{
    int group = a->n_q / a->kv.n_kv;
    m->a = a;
    m->heads = a->n_q / a->out.n_rows;
    m->extent = 0;
    for (int i = 0; i < m->heads; i++) {
        int q = list * m->heads + i;
        size_t at = (size_t)row * (size_t)a->n_q + (size_t)q;
        m->slots[i] = a->kv.n_slots[kv_head(&a->kv, a->rows.seq[row], a->layer, q / group)];
        m->logits[i] = a->in.logits + (a->in.by_page ? stats_page(&a->in, a->n_q, a->kv.n_kv, row, q)
                                                     : at * (size_t)a->in.stride);
        m->lse[i] = a->in.lse[at];
        m->extent = m->slots[i] > m->extent ? m->slots[i] : m->extent;
    }
}

/* Log-probability of 16 slots under head i; -inf beyond its extent and where nothing was read. */
INLINE struct v16 log_prob(const struct mass *m, int i, int slot)
{
    int n = m->slots[i] - slot;
    if (n <= 0 || m->lse[i] == -INFINITY)
        return v_set(-INFINITY);
    struct v16 x = v_sub(v_load(m->logits[i] + slot), v_set(m->lse[i]));
    return n >= LANES ? x : v_select(m_bits((1u << n) - 1), x, v_set(-INFINITY));
}

INLINE struct v16 round_bf16(struct v16 x)
{
    float t[LANES];
    v_store(t, x);
    for (int i = 0; i < LANES; i++)
        t[i] = bf16_to_f32(f32_to_bf16(t[i]));
    return v_load(t);
}

/* Keeps a token whose mass was rounded to 0 a candidate. It is below the logarithm of every float. */
#define BF16_FLOOR (-104.0f)

/* log of the sum (or mean) of the exponentials over heads, or the largest, for 16 slots. */
static struct v16 over_heads(const struct mass *m, int slot)
{
    const struct reduce_stats_args *a = m->a;
    struct v16 largest = v_set(-INFINITY), sum = v_set(0), scale = v_set((float)m->heads);
    for (int i = 0; i < m->heads; i++)
        largest = v_max(log_prob(m, i, slot), largest);
    struct m16 read = m_less(v_set(-INFINITY), largest);
    if (a->bf16) {
        for (int i = 0; i < m->heads; i++)
            sum = v_add(sum, round_bf16(v_exp(log_prob(m, i, slot))));
        sum = a->mode == REDUCE_MAX    ? round_bf16(v_exp(largest))
              : a->mode == REDUCE_MEAN ? v_div(sum, scale)
                                       : sum;
        return v_select(read, v_max(v_log(sum), v_set(BF16_FLOOR)), v_set(-INFINITY));
    }
    if (a->mode == REDUCE_MAX)
        return largest;
    struct v16 base = v_select(read, largest, v_set(0));
    for (int i = 0; i < m->heads; i++)
        sum = v_add(sum, v_softmax_exp(v_sub(log_prob(m, i, slot), base)));
    return v_add(base, v_log(a->mode == REDUCE_MEAN ? v_div(sum, scale) : sum));
}

static float over_block(const struct mass *m, int slot, int n)
{
    struct v16 largest = v_set(-INFINITY), sum = v_set(0);
    for (int t = slot; t < slot + n; t += LANES)
        largest = v_max(over_heads(m, t), largest);
    float lane_max = v_largest(largest);
    if (lane_max == -INFINITY)
        return lane_max;
    for (int t = slot; t < slot + n; t += LANES)
        sum = v_add(sum, v_softmax_exp(v_sub(over_heads(m, t), v_set(lane_max))));
    return lane_max + v_first(v_log(v_set(v_sum(sum))));
}

/* Statistics of pages: log of the mass of page `page` of blocks `block` to `block` + 15 under head i; -inf
 * where there is none. */
static struct v16 page_mass(const struct mass *m, int i, int block, int page)
{
    float x[LANES];
    int group = m->a->n_q / m->a->kv.n_kv, pages = kv_pages(m->slots[i]);
    for (int b = 0; b < LANES; b++) {
        int p = (block + b) * m->a->block_pages + page;
        x[b] = p < pages ? m->logits[i][(size_t)p * (size_t)group] : -INFINITY;
    }
    return v_sub(v_load(x), v_set(m->lse[i] == -INFINITY ? 0 : m->lse[i]));
}

/* The scores of 16 blocks from the statistics of their pages. */
static struct v16 over_pages(const struct mass *m, int block)
{
    struct v16 largest = v_set(-INFINITY), sum = v_set(0);
    for (int i = 0; i < m->heads; i++)
        for (int j = 0; j < m->a->block_pages; j++)
            largest = v_max(page_mass(m, i, block, j), largest);
    struct v16 base = v_select(m_less(v_set(-INFINITY), largest), largest, v_set(0));
    for (int i = 0; i < m->heads; i++)
        for (int j = 0; j < m->a->block_pages; j++)
            sum = v_add(sum, v_softmax_exp(v_sub(page_mass(m, i, block, j), base)));
    if (m->a->mode == REDUCE_MEAN)
        sum = v_div(sum, v_set((float)m->heads));
    return v_add(base, v_log(sum));
}

void CPU_SYM(op_reduce_stats)(const void *args, struct cpu_ctx *c)
{
    const struct reduce_stats_args *a = args;
    int entry_slots = a->block_pages ? a->block_pages * KV_PAGE_TOKENS : LANES, lists = a->out.n_rows;
    int spans = max_slots_of(&a->rows, &a->kv, a->layer) / (entry_slots * SPAN) + 1;
    FOR_TASKS(c, t, a->rows.cap * lists * spans)
    {
        int span = t / (a->rows.cap * lists), row = t / lists % a->rows.cap, list = t % lists;
        struct mass m;
        if (a->rows.seq[row] < 0)
            continue;
        mass_of(&m, a, row, list);
        float *out = a->out.v + ((size_t)row * (size_t)lists + (size_t)list) * (size_t)a->out.stride;
        for (int i = span * SPAN; i < (span + 1) * SPAN && i * entry_slots < m.extent; i++) {
            if (a->in.by_page) {
                int left = (m.extent + entry_slots - 1) / entry_slots - i;
                v_storen(out + i, over_pages(&m, i), left < LANES ? left : LANES);
                i += LANES - 1;
            } else if (a->block_pages) {
                int left = kv_pages(m.extent) * KV_PAGE_TOKENS - i * entry_slots;
                out[i] = over_block(&m, i * entry_slots, left < entry_slots ? left : entry_slots);
            } else {
                int n = m.extent - i * entry_slots;
                v_storen(out + i * entry_slots, over_heads(&m, i * entry_slots), n < LANES ? n : LANES);
            }
        }
    }
    cpu_barrier(c);
    FOR_TASKS(c, t, a->rows.cap * lists)
    {
        struct mass m;
        if (a->rows.seq[t / lists] < 0)
            continue;
        if (t % lists == 0)
            book_statistics(&a->kv, a->rows.seq[t / lists], a->layer, a->n_q, a->in.by_page);
        mass_of(&m, a, t / lists, t % lists);
        a->out.n[t] = a->block_pages ? (m.extent + entry_slots - 1) / entry_slots : m.extent;
        a->out.m[t] = count_candidates(a->out.v + (size_t)t * (size_t)a->out.stride, a->out.n[t]);
    }
}

static float lse_of(const float *v, int n)
{
    struct v16 lane_max = v_set(-INFINITY), sum = v_set(0);
    for (int t = 0; t < n; t += LANES) {
        struct v16 x = v_load(v + t);
        lane_max =
            v_max(n - t >= LANES ? x : v_select(m_bits((1u << (n - t)) - 1), x, v_set(-INFINITY)), lane_max);
    }
    float largest = v_largest(lane_max);
    if (largest == -INFINITY)
        return largest;
    for (int t = 0; t < n; t += LANES) {
        struct v16 x = v_softmax_exp(v_sub(v_load(v + t), v_set(largest)));
        sum = v_add(sum, n - t >= LANES ? x : v_select(m_bits((1u << (n - t)) - 1), x, v_set(0)));
    }
    return largest + v_first(v_log(v_set(v_sum(sum))));
}

static float with_sink(float lse, float sink)
{
    float largest = lse > sink ? lse : sink;
    struct v16 sum = v_add(v_softmax_exp(v_set(lse - largest)), v_softmax_exp(v_set(sink - largest)));
    return largest + v_first(v_log(sum));
}

void CPU_SYM(op_first_lse)(const void *args, struct cpu_ctx *c)
{
    const struct first_lse_args *a = args;
    FOR_TASKS(c, t, a->rows.cap * a->n_q)
    {
        int seq = a->rows.seq[t / a->n_q];
        if (seq < 0)
            continue;
        float lse = 0;
        if (a->len_of_seq) {
            lse = lse_of(a->io.logits + (size_t)t * (size_t)a->io.stride, a->len_of_seq[seq]);
            lse = a->sink ? with_sink(lse, a->sink[t % a->n_q]) : lse;
        }
        a->io.lse[t] = lse;
    }
}
