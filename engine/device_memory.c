/* What a device has before anything is loaded: of a GPU what its driver says, of the CPU what the kernel
 * counts as available (MemAvailable in /proc/meminfo, described in proc(5)). */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "evalcore/base/file.h"

static size_t meminfo_field(const char *text, const char *key)
{
    unsigned long long kib = 0;
    const char *line = strstr(text, key);
    return line && sscanf(line + strlen(key), ": %llu kB", &kib) == 1 ? (size_t)kib * 1024 : 0;
}

static int cpu_memory(struct engine_device *out, struct err *e)
{
    struct str text = {0};
    int rc = file_read("/proc/meminfo", &text, e);
    snprintf(out->name, sizeof out->name, "this machine's memory");
    out->total_bytes = meminfo_field(str_text(&text), "MemTotal");
    out->free_bytes = meminfo_field(str_text(&text), "MemAvailable");
    str_release(&text);
    if (!rc && !out->free_bytes)
        rc = err_set(e, ERR_UNSUPPORTED, "/proc/meminfo has no MemAvailable");
    return rc;
}

int engine_device_memory(const char *backend, int ordinal, struct engine_device *out, struct err *e)
{
    const struct backend *be = backend_find(backend ? backend : "cpu");
    struct device *dev = NULL;
    struct device_facts f;
    char why[320];
    memset(out, 0, sizeof *out);
    if (!be)
        return err_set(e, ERR_UNSUPPORTED, "this program was built without %s", backend);
    if (!be->facts)
        return cpu_memory(out, e);
    if (be->open(&dev, ordinal, NULL, why, sizeof why) < 0)
        return err_set(e, ERR_DEVICE, "%s:%d: %s", be->name, ordinal, why);
    if (be->facts(dev, &f) < 0)
        err_set(e, ERR_DEVICE, "%s:%d: %s", be->name, ordinal, be->last_error(dev));
    else
        *out = (struct engine_device){.total_bytes = f.total_bytes, .free_bytes = f.free_bytes};
    snprintf(out->name, sizeof out->name, "%s", e->code ? "" : f.name);
    be->close(dev);
    return e->code;
}
