/* Backend calls with a struct err (contract: device.h). */
#include "engine/memory/device.h"

int device_launch(const struct backend *be, struct device *dev, enum op op, const void *args, struct err *e)
{
    if (e->code == 0 && be->launch(dev, op, args) < 0)
        err_set(e, ERR_DEVICE, "%s: %s", backend_op_name(op), be->last_error(dev));
    return e->code;
}

int device_upload(const struct backend *be, struct device *dev, void *dst, const void *src, size_t bytes,
                  struct err *e)
{
    if (e->code == 0 && be->upload(dev, dst, src, bytes) < 0)
        err_set(e, ERR_DEVICE, "upload: %s", be->last_error(dev));
    return e->code;
}

int device_download(const struct backend *be, struct device *dev, void *dst, const void *src, size_t bytes,
                    struct err *e)
{
    if (e->code == 0 && be->download(dev, dst, src, bytes) < 0)
        err_set(e, ERR_DEVICE, "download: %s", be->last_error(dev));
    return e->code;
}

int device_branch(const struct backend *be, struct device *dev, struct err *e)
{
    if (e->code == 0 && be->branch(dev) < 0)
        err_set(e, ERR_DEVICE, "beginning a branch: %s", be->last_error(dev));
    return e->code;
}

int device_join(const struct backend *be, struct device *dev, struct err *e)
{
    if (be->join(dev) < 0 && e->code == 0)
        err_set(e, ERR_DEVICE, "joining branches: %s", be->last_error(dev));
    return e->code;
}
