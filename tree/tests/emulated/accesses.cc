/* With -DKVEVAL_EMULATED_RACES=ON the kernels are compiled with the compiler's hooks for ThreadSanitizer,
 * which call this before every access to memory. It must be ordered after those it depends on (races.cc).
 * Another thread may go on there, too, so that a forgotten atomic loses an update in some order. */
#include "tests/emulated/grid.h"

static void access(const void *p, size_t bytes, enum access_kind kind, const void *where)
{
    static unsigned n;
    races_access(p, bytes, kind, where);
    if (!running || ++n % 16 || grid_random() % 4)
        return;
    if (grid_random() % 8 == 0)
        running->warp->lazy = 3; /* for a long time */
    thread_wait(READY, "");
}

extern "C" {

void __tsan_init(void)
{
}

void __tsan_func_entry(void *)
{
}

void __tsan_func_exit(void)
{
}

void __tsan_vptr_update(void **, void *)
{
}

void __tsan_read_range(void *p, size_t bytes)
{
    access(p, bytes, ACCESS_READ, __builtin_return_address(0));
}

void __tsan_write_range(void *p, size_t bytes)
{
    access(p, bytes, ACCESS_WRITE, __builtin_return_address(0));
}

#define HOOK(name, size, kind)                                                                               \
    void __tsan_##name##size(void *p)                                                                        \
    {                                                                                                        \
        access(p, size, kind, __builtin_return_address(0));                                                  \
    }
#define HOOKS(size)                                                                                          \
    HOOK(read, size, ACCESS_READ)                                                                            \
    HOOK(write, size, ACCESS_WRITE)                                                                          \
    HOOK(unaligned_read, size, ACCESS_READ)                                                                  \
    HOOK(unaligned_write, size, ACCESS_WRITE)
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
}
