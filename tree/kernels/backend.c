/* The table of backends, and what can be said of an operation without one. To add a backend, add its line
 * here. */
#include "kernels/backend.h"

#include <string.h>

extern const struct backend cpu_backend;
#ifdef KVEVAL_HAVE_CUDA
extern const struct backend cuda_backend;
#endif

static const struct backend *const backends[] = {
    &cpu_backend,
#ifdef KVEVAL_HAVE_CUDA
    &cuda_backend,
#endif
};

const struct backend *backend_at(int i)
{
    return i >= 0 && (size_t)i < sizeof backends / sizeof *backends ? backends[i] : NULL;
}

const struct backend *backend_find(const char *name)
{
    for (int i = 0; name && backend_at(i); i++)
        if (strcmp(backend_at(i)->name, name) == 0)
            return backend_at(i);
    return NULL;
}

size_t backend_op_bytes(enum op op)
{
    static const size_t bytes[OP_COUNT] = {
#define X(name, ...) sizeof(struct name##_args),
        BACKEND_OPS(X)
#undef X
    };
    return (unsigned)op < OP_COUNT ? bytes[op] : 0;
}

const char *backend_op_name(enum op op)
{
    static const char *const names[OP_COUNT] = {
#define X(name, ...) #name,
        BACKEND_OPS(X)
#undef X
    };
    return (unsigned)op < OP_COUNT ? names[op] : "?";
}

enum op_part backend_op_part(enum op op)
{
    static const enum op_part parts[OP_COUNT] = {
#define X(name, check, type, part, ...) OP_PART_##part,
        BACKEND_OPS(X)
#undef X
    };
    return (unsigned)op < OP_COUNT ? parts[op] : OP_PART_OTHER;
}
#include "evalcore/base/err.h"
