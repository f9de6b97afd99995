#ifndef KERNELS_CPU_SCORES_H
#define KERNELS_CPU_SCORES_H

/* What the operations that write scores share. */
#include <math.h>

#include "kernels/cpu/cpu.h"

enum { SPAN = 64 }; /* how many blocks, or groups of 16 tokens, one task does */

static inline int count_candidates(const float *v, int n)
{
    int m = 0;
    for (int i = 0; i < n; i++)
        m += v[i] > -INFINITY;
    return m;
}

/* Slots of the longest head in the batch: how many spans there are to do. */
static inline int most_slots(const struct rows *rows, const struct kv_view *kv, int layer)
{
    int most = 0;
    for (int r = 0; r < rows->cap; r++)
        for (int h = 0; h < kv->n_kv && rows->seq[r] >= 0; h++) {
            int n = kv->n_slots[kv_head(kv, rows->seq[r], layer, h)];
            most = n > most ? n : most;
        }
    return most;
}

#endif
