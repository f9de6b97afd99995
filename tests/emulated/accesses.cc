/* With -DKVEVAL_EMULATED_ACCESSES=ON the kernels are compiled with the compiler's hooks for ThreadSanitizer,
 * which call this before every access to memory: another thread may go on there, so that a forgotten atomic
 * or barrier loses an update in some order. */
#include "tests/emulated/grid.h"

static void access()
{
    static unsigned n;
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

void __tsan_read_range(void *, size_t)
{
    access();
}

void __tsan_write_range(void *, size_t)
{
    access();
}

#define HOOK(name)                                                                                           \
    void __tsan_##name(void *)                                                                               \
    {                                                                                                        \
        access();                                                                                            \
    }
#define HOOKS(size) HOOK(read##size) HOOK(write##size) HOOK(unaligned_read##size) HOOK(unaligned_write##size)
HOOKS(1) HOOKS(2) HOOKS(4) HOOKS(8) HOOKS(16)
}
