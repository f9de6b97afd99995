/* The barrier between phases. Waiting threads spin for some tens of microseconds (a pause takes 40 cycles or
 * more), which covers the usual imbalance, and then yield, because machines may be oversubscribed. */
#include <sched.h>

#include "kernels/cpu/cpu.h"

enum { SPINS = 2000 };

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

void cpu_barrier(struct cpu_ctx *c)
{
    c->ticket = 0;
    if (c->n == 1)
        return;
    struct cpu_team *t = c->team;
    unsigned now = c->generation++;
    if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) == c->n - 1) {
        atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&t->ticket, 0, memory_order_relaxed);
        atomic_store_explicit(&t->generation, now + 1, memory_order_release);
        return;
    }
    for (int i = 0; atomic_load_explicit(&t->generation, memory_order_acquire) == now; i++) {
        if (i < SPINS)
            relax();
        else
            sched_yield();
    }
}
