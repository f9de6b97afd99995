#ifndef TESTS_EMULATED_TENSOR_H
#define TESTS_EMULATED_TENSOR_H

#include <stdint.h>

/* What the emulation keeps in a CUtensorMap (128 bytes): a bf16 matrix, copied by tiles of `rows` rows of
 * `columns`, in shared memory with the 128-byte swizzle. */
struct tensor {
    const char *p;
    uint64_t width, height, pitch; /* elements, rows, bytes */
    uint32_t columns, rows;
};

#endif
