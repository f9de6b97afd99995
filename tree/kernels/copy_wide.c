/* One thread can neither read a mapped file nor fill pinned memory as fast as a GPU takes it. Blocks are so
 * large that a file's pages are read in long runs. */
#include "kernels/copy_wide.h"

#include <omp.h>
#include <string.h>

enum { BLOCK = 256 << 10, THREADS_MOST = 16 };

void copy_wide(void *dst, const void *src, size_t bytes)
{
    size_t blocks = (bytes + BLOCK - 1) / BLOCK;
    int threads = omp_get_max_threads() < THREADS_MOST ? omp_get_max_threads() : THREADS_MOST;
    if (blocks < 4 || threads < 2) {
        if (bytes)
            memcpy(dst, src, bytes);
        return;
    }
#pragma omp parallel for num_threads(threads) schedule(static)
    for (size_t i = 0; i < blocks; i++) {
        size_t at = i * BLOCK, n = bytes - at < BLOCK ? bytes - at : BLOCK;
        memcpy((char *)dst + at, (const char *)src + at, n);
    }
}
