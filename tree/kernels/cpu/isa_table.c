/* The table of operations for one instruction set. This file is compiled once for each. */
#include "kernels/cpu/ops.h"
#include "kernels/cpu/isa_peak.h"

#define TEXT2(x) #x
#define TEXT(x)  TEXT2(x)

extern const struct cpu_isa CPU_SYM(cpu_isa);

const struct cpu_isa CPU_SYM(cpu_isa) = {
    .name = TEXT(CPU_ISA),
    .op =
        {
#define X(name, ...) [OP_##name] = CPU_SYM(op_##name),
            BACKEND_OPS(X)
#undef X
        },
    .peak_read = CPU_SYM(peak_read),
    .peak_fma = CPU_SYM(peak_fma),
    .peak_flop = PEAK_FLOP,
};
