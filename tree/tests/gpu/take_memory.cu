/* take_memory LEAVE_MIB [ORDINAL]: takes the GPU's memory but for so many MiB, prints "taken", and holds it
 * until standard input ends. What a neighbour on a shared GPU does. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const size_t piece = (size_t)32 << 20;
    size_t left = 0, all = 0, leave = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) << 20 : 0;
    int ordinal = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    cudaError_t e = cudaSetDevice(ordinal);
    if (e == cudaSuccess)
        e = cudaMemGetInfo(&left, &all);
    while (e == cudaSuccess && left >= leave + piece) {
        void *p = NULL;
        /* One large block, then pieces: free memory may lie in several places. */
        size_t n = left > leave + 64 * piece ? (left - leave) / 2 : piece;
        e = cudaMalloc(&p, n);
        if (e == cudaErrorMemoryAllocation && n > piece)
            e = cudaMalloc(&p, piece);
        if (e == cudaSuccess)
            e = cudaMemGetInfo(&left, &all);
    }
    if (e != cudaSuccess && e != cudaErrorMemoryAllocation) {
        fprintf(stderr, "take_memory: %s\n", cudaGetErrorString(e));
        return 1;
    }
    printf("taken\n");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
