/* Which thread does which task, and the barrier between phases. A waiting thread spins for some tens of
 * microseconds (a pause takes 40 cycles or more), which covers the usual imbalance. Then it yields, because
 * there may be more threads than cores. */
#include <sched.h>

#include "kernels/cpu/cpu.h"

enum { SPINS = 2000 };

static inline void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* The next task of one share, or -1. A share last touched in an earlier phase is full again. */
static int take_from(struct cpu_ctx *c, int owner, int tasks)
{
    int from = (int)((long long)tasks * owner / c->n), to = (int)((long long)tasks * (owner + 1) / c->n);
    atomic_ullong *taken = &c->team->share[owner].taken;
    unsigned long long seen = atomic_load_explicit(taken, memory_order_relaxed), now;
    do {
        now = (unsigned)(seen >> 32) == c->phase ? seen : (unsigned long long)c->phase << 32;
        if ((int)(unsigned)now >= to - from)
            return -1;
    } while (!atomic_compare_exchange_weak_explicit(taken, &seen, now + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    return from + (int)(unsigned)now;
}

/* Looks at our own share, then at those of the threads 1, 2, 4, .. after us. Looking at all shares would cost
 * each of many threads a cache miss per share. No task is left undone, because every thread empties its own
 * share. */
int cpu_take_of_team(struct cpu_ctx *c, int tasks)
{
    for (; c->helped < c->n; c->helped += c->helped ? c->helped : 1) {
        int t = take_from(c, (c->tid + c->helped) % c->n, tasks);
        if (t >= 0)
            return t;
    }
    return -1;
}

void cpu_barrier(struct cpu_ctx *c)
{
    c->ticket = 0;
    c->helped = 0;
    if (c->n == 1)
        return;
    struct cpu_team *t = c->team;
    unsigned now = c->phase++;
    if (atomic_fetch_add_explicit(&t->arrived, 1, memory_order_acq_rel) == c->n - 1) {
        atomic_store_explicit(&t->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&t->phase, now + 1, memory_order_release);
        return;
    }
    for (int i = 0; atomic_load_explicit(&t->phase, memory_order_acquire) == now; i++) {
        if (i < SPINS)
            pause_core();
        else
            sched_yield();
    }
}
