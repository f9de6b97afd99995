/* The operations of one instruction set; compiled once for each. */
#include "kernels/cpu/isa_probe.h"
#include "kernels/cpu/ops.h"

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
    .probe_read = CPU_SYM(probe_read),
    .probe_fma = CPU_SYM(probe_fma),
    .probe_flop = PROBE_FLOP,
};
