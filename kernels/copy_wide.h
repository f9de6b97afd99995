#ifndef KERNELS_COPY_WIDE_H
#define KERNELS_COPY_WIDE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* memcpy, by several threads where the piece is large. */
void copy_wide(void *dst, const void *src, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
