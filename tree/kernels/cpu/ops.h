#ifndef KERNELS_CPU_OPS_H
#define KERNELS_CPU_OPS_H

/* What every op_*.c includes. Such a file defines CPU_SYM(op_NAME) for some operations and is compiled once
 * per instruction set. */
#include "kernels/backend.h"
#include "kernels/cpu/cpu.h"
#include "kernels/cpu/simd.h"

#define X(name, ...) void CPU_SYM(op_##name)(const void *args, struct cpu_ctx *c);
BACKEND_OPS(X)
#undef X

/* op_plan.c: writes the pages that a selection reads into a->plan. The threads share the work; the caller
 * passes the barrier after it. */
void CPU_SYM(attend_plan)(const struct attend_args *a, struct cpu_ctx *c);

/* op_dense.c: applies the norms over heads and RoPE to q and k of the rows, in place. */
void CPU_SYM(rope_rows)(const struct rope_append_args *a, struct cpu_ctx *c);

/* The tasks 0 .. n-1 of a phase that fall to this thread. */
#define FOR_TASKS(c, t, n) for (int t = cpu_take(c, n); t >= 0; t = cpu_take(c, n))

#endif
