#ifndef KERNELS_CPU_SCORES_H
#define KERNELS_CPU_SCORES_H

/* What the operations that write scores share. */
#include <math.h>

#include "kernels/cpu/cpu.h"

enum { SPAN = 64 }; /* how many blocks, or groups of 16 tokens, one task does */

/* Returns the number of scores above -inf. */
static inline int count_candidates(const float *v, int n)
{
    int m = 0;
    for (int i = 0; i < n; i++)
        m += v[i] > -INFINITY;
    return m;
}

/* Returns the number of a head's pages with a live token. */
static inline int live_pages(const struct kv_view *kv, size_t head)
{
    int n = 0;
    for (int p = 0; p < kv_pages(kv->n_slots[head]); p++)
        n += kv->live[head * (size_t)kv->max_pages + (size_t)p] != 0;
    return n;
}

/* Counts the statistics of a row's live keys, or of its pages with live keys, as written and read again: a
 * value per query head. */
static inline void book_statistics(const struct kv_view *kv, int seq, int layer, int n_q, int by_page)
{
    for (int h = 0; h < kv->n_kv; h++) {
        size_t head = kv_head(kv, seq, layer, h);
        int values = by_page ? live_pages(kv, head) : kv->n_live[head];
        kv->aux_values[head] += (int64_t)values * (n_q / kv->n_kv);
    }
}

/* Returns the slots in use of the longest head of the layer in the batch, 0 without rows; it says how many
 * spans there are to do. */
static inline int max_slots_of(const struct rows *rows, const struct kv_view *kv, int layer)
{
    int max_slots = 0;
    for (int r = 0; r < rows->cap; r++)
        for (int h = 0; h < kv->n_kv && rows->seq[r] >= 0; h++) {
            int n = kv->n_slots[kv_head(kv, rows->seq[r], layer, h)];
            max_slots = n > max_slots ? n : max_slots;
        }
    return max_slots;
}

#endif
