#ifndef KERNELS_COPY_WIDE_H
#define KERNELS_COPY_WIDE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies as memcpy does, by up to 16 threads from 1 MiB on. With 0 bytes the pointers may be NULL. */
void copy_wide(void *dst, const void *src, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
