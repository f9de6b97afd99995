#ifndef KERNELS_CPU_SIMD_ISA_PEAK_H
#define KERNELS_CPU_SIMD_ISA_PEAK_H

#include <stddef.h>

#include "kernels/cpu/simd.h"

/* Loops that show what one instruction set can reach here. Twelve independent chains hide the latency of
 * fused multiply-add (4 or 5 cycles, two a cycle). */
#if defined(__AVX512F__)
enum { PEAK_CHAINS = 12 };
#elif defined(__AVX2__)
enum { PEAK_CHAINS = 6 };
#else
enum { PEAK_CHAINS = 1 };
#endif
#define PEAK_FLOP (PEAK_CHAINS * LANES * 2.0)

/* peak_read() reads n floats, a multiple of 64, and returns their sum. peak_fma() does `rounds` times
 * PEAK_FLOP floating point operations and returns a value that depends on all of them. */
double CPU_SYM(peak_read)(const float *p, size_t n);
double CPU_SYM(peak_fma)(long rounds);

#endif
