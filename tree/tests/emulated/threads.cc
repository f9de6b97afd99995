/* Threads of kernels run as fibers on one thread of the host. This file switches between them when they wait
 * for each other. */
#include "tests/emulated/grid.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct thread *running;
dim3 threadIdx, blockIdx, blockDim, gridDim;
static void *host_sp;

/* Saves the registers a function must keep on the stack, and goes on where `to` was saved. */
extern "C" void fiber_switch(void **from, void *to);
asm(".text\n.type fiber_switch,@function\nfiber_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
    ".size fiber_switch,.-fiber_switch\n");

static const char *const state_names[] = {"ready",
                                          "waits for its warp",
                                          "waits for its block",
                                          "waits at a barrier",
                                          "waits for its cluster",
                                          "waits for inputs",
                                          "has ended"};

void thread_show(const struct thread *t)
{
    const struct block *b = t->block;
    fprintf(stderr, "emulated: %s, block (%u, %u, %u), thread %td (%s %s", b->kernel->l.name, b->index.x,
            b->index.y, b->index.z, t - b->threads.data(), state_names[t->state], t->what ? t->what : "");
    if (t->state == AT_BARRIER)
        fprintf(stderr, " at %#x, parity %u", t->barrier, t->parity);
    fprintf(stderr, ")\n");
}

void emulated_fail(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fprintf(stderr, "emulated: ");
    vfprintf(stderr, format, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    if (running)
        thread_show(running);
    abort();
}

void thread_wait(enum thread_state why, const char *what)
{
    struct thread *t = running;
    t->state = why;
    t->what = what;
    fiber_switch(&t->sp, host_sp);
}

void emulated_pause(void)
{
    if (running && grid_random() % 8 == 0)
        thread_wait(READY, "");
}

void emulated_atomic(const void *p, size_t bytes)
{
    emulated_pause();
    races_access(p, bytes, ACCESS_ATOMIC, __builtin_return_address(0));
}

void threads_wake(struct block *b, enum thread_state why)
{
    for (struct thread &t : b->threads)
        if (t.state == why)
            t.state = READY;
}

static void check_block(struct block *b)
{
    if (!b->alive || b->arrived < b->alive)
        return;
    b->arrived = 0;
    b->result = b->all;
    b->all = true;
    races_complete(&b->together);
    threads_wake(b, IN_BLOCK);
}

static void check_warp(struct warp *w)
{
    if (!w->present || w->arrived != w->present)
        return;
    w->arrived = 0;
    w->what = NULL;
    races_warp(w);
    for (int i = 0; i < EMULATED_LANES; i++)
        if (w->lane[i] && w->lane[i]->state == IN_WARP)
            w->lane[i]->state = READY;
}

static void check_cluster(struct cluster *c)
{
    if (!c->threads || c->arrived < c->threads)
        return;
    c->arrived = 0;
    c->phase++;
    races_complete(&c->races);
    for (struct block *b : c->blocks)
        if (b)
            threads_wake(b, IN_CLUSTER);
}

void cluster_arrived(struct cluster *c)
{
    c->arrived++;
    check_cluster(c);
}

const slot *emulated_exchange(const char *what, unsigned mask, const void *words, size_t bytes)
{
    struct thread *t = running;
    struct warp *w = t->warp;
    slot *all = w->words[t->exchanges++ & 1];
    if (bytes)
        memcpy(all[t->lane], words, bytes);
    if ((mask & w->present) != w->present)
        emulated_fail("%s names lanes %#x of %#x; only whole warps are emulated", what, mask, w->present);
    if (w->what && strcmp(w->what, what))
        emulated_fail("lanes of a warp meet in %s and %s", w->what, what);
    w->what = what;
    w->arrived |= 1u << t->lane;
    t->state = IN_WARP;
    check_warp(w);
    if (t->state != READY)
        thread_wait(IN_WARP, what);
    return all;
}

bool emulated_syncthreads(bool p)
{
    struct thread *t = running;
    struct block *b = t->block;
    b->all = b->all && p;
    b->arrived++;
    races_arrive(&b->together);
    t->state = IN_BLOCK;
    check_block(b);
    if (t->state != READY)
        thread_wait(IN_BLOCK, "__syncthreads");
    races_leave(&b->together);
    return b->result;
}

void barrier_changed(struct block *b, uint32_t barrier)
{
    for (struct thread &t : b->threads)
        if (t.state == AT_BARRIER && t.barrier == barrier)
            t.state = READY;
}

static void thread_end(struct thread *t)
{
    struct block *b = t->block;
    if (!t->own_copies.empty() || !t->products.empty())
        emulated_fail("a thread ends while its copies or products are under way");
    if (t->in_cluster_phase)
        emulated_fail("a thread ends that has arrived at its cluster's barrier and not waited");
    t->state = ENDED;
    t->warp->present &= ~(1u << t->lane);
    b->alive--;
    b->cluster->threads--;
    check_warp(t->warp);
    check_block(b);
    check_cluster(b->cluster.get());
}

static void fiber_main(void)
{
    running->block->kernel->l.body();
    thread_end(running);
    void *unused;
    fiber_switch(&unused, host_sp);
}

void thread_run(struct thread *t)
{
    running = t;
    t->block->began = true;
    threadIdx = t->index;
    blockIdx = t->block->index;
    blockDim = t->block->kernel->l.block;
    gridDim = t->block->kernel->l.grid;
    fiber_switch(&host_sp, t->sp);
    running = NULL;
}

void thread_prepare(struct thread *t)
{
    *(uint64_t *)t->stack = STACK_END;
    void **sp = (void **)(t->stack + STACK_BYTES - 64);
    *--sp = NULL; /* the stack as a call leaves it: 8 bytes off a multiple of 16 */
    *--sp = (void *)fiber_main;
    t->sp = sp - 6;
}
