#ifndef ENGINE_MEMORY_DEVICE_H
#define ENGINE_MEMORY_DEVICE_H

#include "evalcore/base/err.h"
#include "kernels/backend.h"

/* Backend calls that put a failure into the caller's struct err as ERR_DEVICE. Once an error is there,
 * nothing more is enqueued: a sequence of calls needs one check, at its end. They return e->code. */
int device_launch(const struct backend *be, struct device *dev, enum op op, const void *args, struct err *e);
int device_upload(const struct backend *be, struct device *dev, void *dst, const void *src, size_t bytes,
                  struct err *e);
int device_download(const struct backend *be, struct device *dev, void *dst, const void *src, size_t bytes,
                    struct err *e);

#endif
