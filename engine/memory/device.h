#ifndef ENGINE_MEMORY_DEVICE_H
#define ENGINE_MEMORY_DEVICE_H

#include "evalcore/base/err.h"
#include "kernels/backend.h"

/* A door of engine/memory, the room of device memory: this door calls the backend, and kvcache.h holds K and
 * V. The rooms engine/policies and engine include it. Nothing here knows of models.
 *
 * These functions return e->code and turn a failure of the backend into ERR_DEVICE with its sentence. When e
 * holds an error already they do nothing, so one check after a sequence of calls is enough. */
int device_launch(const struct backend *be, struct device *dev, enum op op, const void *args, struct err *e);
int device_upload(const struct backend *be, struct device *dev, void *dst, const void *src, size_t bytes,
                  struct err *e);
int device_download(const struct backend *be, struct device *dev, void *dst, const void *src, size_t bytes,
                    struct err *e);

#endif
