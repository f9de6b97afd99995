/* Scores by which policies that forget tokens choose what `keep` keeps. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/scores.h"
#include "kernels/keep_params.h"
#include "kernels/philox.h"

static void draw_scores(const struct random_scores_args *a, size_t list)
{
    int row = (int)(list / (size_t)a->out.n_rows), of_row = (int)(list % (size_t)a->out.n_rows);
    int seq = a->rows.seq[row], pos = a->rows.pos[row];
    int layer = a->layer + of_row / a->kv.n_kv, h = of_row % a->kv.n_kv;
    const struct sample_settings *s = a->settings + seq;
    float *out = a->out.v + list * (size_t)a->out.stride;
    int n = a->kv.n_slots[kv_head(&a->kv, seq, layer, h)];
    int budget = keep_budget(&a->params, a->len_of_seq, seq), pinned = 0;
    if (!keep_acts(&a->params, budget, n, pos))
        n = 0;
    a->out.n[list] = a->out.m[list] = n;
    if (a->pin_prompt)
        pinned = keep_pinned(&a->params, budget, a->prompt_len[seq]);
    uint32_t key[4] = {0, s->sample, (uint32_t)s->problem, (uint32_t)(s->problem >> 32)};
    philox4x32_10(s->seed, key);
    for (int t = 0; t < n; t++) {
        uint32_t x[4] = {(uint32_t)pos, a->shared ? 0 : (uint32_t)layer, a->shared ? 0 : (uint32_t)h,
                         (uint32_t)t};
        if (t >= pinned && !a->newest)
            philox4x32_10((uint64_t)key[1] << 32 | key[0], x);
        out[t] = t < pinned ? INFINITY : a->newest ? (float)t : (float)(x[0] >> 8) * 0x1p-24f;
    }
}

void CPU_SYM(op_random_scores)(const void *args, struct cpu_ctx *c)
{
    const struct random_scores_args *a = args;
    FOR_TASKS(c, list, a->rows.cap * a->out.n_rows)
    if (a->rows.seq[list / a->out.n_rows] >= 0)
        draw_scores(a, (size_t)list);
}

static void accumulate_list(const struct accumulate_args *a, int row, int h)
{
    const struct kv_view *kv = &a->kv;
    int seq = a->rows.seq[row], pos = a->rows.pos[row];
    size_t list = (size_t)row * (size_t)kv->n_kv + (size_t)h, head = kv_head(kv, seq, a->layer, h);
    size_t slots = (size_t)kv->max_pages * KV_PAGE_TOKENS, heads = (size_t)(kv->n_layers * kv->n_kv);
    const uint16_t *live = kv->live + head * (size_t)kv->max_pages;
    float *io = a->io.v + list * (size_t)a->io.stride;
    float *sum = (float *)(void *)(a->state + (size_t)seq * a->state_bytes) +
                 (size_t)(a->layer * kv->n_kv + h) * slots;
    int32_t *born = (int32_t *)(void *)sum + heads * slots;
    int recent = (int)(a->recent * keep_budget(&a->params, a->len_of_seq, seq)), n = a->io.n[list], m = 0;
    if (!a->prefill) {
        sum[kv->tail[head]] = 0;
        born[kv->tail[head]] = pos;
    }
    for (int t = 0; t < n; t += LANES) {
        float x[LANES];
        v_store(x, v_exp(v_loadn(io + t, n - t < LANES ? n - t : LANES)));
        for (int i = t; i < n && i < t + LANES; i++) {
            born[i] = a->prefill ? i : born[i];
            sum[i] += io[i] > -INFINITY ? x[i - t] : 0;
            int lives = live[i / KV_PAGE_TOKENS] >> i % KV_PAGE_TOKENS & 1;
            io[i] = !lives ? -INFINITY : born[i] > pos - recent ? INFINITY : sum[i];
            m += lives;
        }
    }
    a->io.m[list] = m;
}

void CPU_SYM(op_accumulate)(const void *args, struct cpu_ctx *c)
{
    const struct accumulate_args *a = args;
    FOR_TASKS(c, t, a->rows.cap * a->kv.n_kv)
    if (a->rows.seq[t / a->kv.n_kv] >= 0)
        accumulate_list(a, t / a->kv.n_kv, t % a->kv.n_kv);
}
