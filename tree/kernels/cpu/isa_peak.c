/* See isa_peak.h: reading memory, and fused multiply-add. */
#include "kernels/cpu/isa_peak.h"

double CPU_SYM(peak_read)(const float *p, size_t n)
{
    struct v16 a = v_set(0), b = a, c = a, d = a;
    for (size_t i = 0; i + 64 <= n; i += 64) {
        a = v_add(a, v_load(p + i));
        b = v_add(b, v_load(p + i + 16));
        c = v_add(c, v_load(p + i + 32));
        d = v_add(d, v_load(p + i + 48));
    }
    return (double)v_sum(v_add(v_add(a, b), v_add(c, d)));
}

double CPU_SYM(peak_fma)(long rounds)
{
    volatile float start = 0.5f; /* volatile, and every lane different: nothing can be simplified or shared */
    struct v16 acc[PEAK_CHAINS], x, y = v_set(1);
    float total = 0, lane[(PEAK_CHAINS + 1) * LANES];
    for (int i = 0; i < (PEAK_CHAINS + 1) * LANES; i++)
        lane[i] = start - (float)i * 0x1p-10f;
    x = v_load(lane);
    UNROLL
    for (int i = 0; i < PEAK_CHAINS; i++)
        acc[i] = v_load(lane + (i + 1) * LANES);
    for (long r = 0; r < rounds; r++) {
        UNROLL
        for (int i = 0; i < PEAK_CHAINS; i++)
            acc[i] = v_fma(acc[i], x, y);
    }
    UNROLL
    for (int i = 0; i < PEAK_CHAINS; i++)
        total += v_sum(acc[i]);
    return (double)total;
}
