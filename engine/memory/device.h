#ifndef ENGINE_MEMORY_DEVICE_H
#define ENGINE_MEMORY_DEVICE_H

#include "evalcore/base/err.h"
#include "kernels/backend.h"

/* A door of engine/memory, the room of device memory: this door calls the backend, and kvcache.h holds K and
 * V. The rooms engine/policies and engine include it. Nothing here knows of models.
 *
 * These functions call the function of the same name in struct backend. They return e->code: 0, or ERR_DEVICE
 * with the backend's sentence. When e, which must not be NULL, holds an error already they do nothing and
 * return its code, so one check after a sequence of calls is enough. After a failed download dst has no
 * meaning. */
int device_launch(const struct backend *be, struct device *dev, enum op op, const void *args, struct err *e);
int device_upload(const struct backend *be, struct device *dev, void *dst, const void *src, size_t bytes,
                  struct err *e);
int device_download(const struct backend *be, struct device *dev, void *dst, const void *src, size_t bytes,
                    struct err *e);
int device_branch(const struct backend *be, struct device *dev, struct err *e);
/* This one ends the branches even when e holds an error already. */
int device_join(const struct backend *be, struct device *dev, struct err *e);

#endif
