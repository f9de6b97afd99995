/* A block's shared memory: one arena, in which 32-bit addresses are places. */
#include "tests/emulated/grid.h"

void *emulated_static(const void *key, size_t bytes)
{
    struct block *b = running->block;
    struct kernel *k = b->kernel.get();
    for (size_t i = 0; i < k->keys.size(); i++)
        if (k->keys[i] == key)
            return b->arena + k->places[i];
    uint32_t at = (uint32_t)(STATIC_AT + k->n_static);
    k->n_static += (bytes + 15) / 16 * 16;
    if (k->n_static > ARENA - STATIC_AT || k->n_static + k->l.bytes > MOST_SHARED)
        emulated_fail("too much shared memory: %zu + %zu bytes", k->l.bytes, k->n_static);
    k->keys.push_back(key);
    k->places.push_back(at);
    memset(b->arena + at, FILL, bytes);
    return b->arena + at;
}

void *emulated_dynamic(void)
{
    return running->block->arena;
}

uint32_t emulated_address(const void *p)
{
    ptrdiff_t at = (const char *)p - running->block->arena;
    if (at < 0 || at >= ARENA)
        emulated_fail("no address of shared memory");
    return (uint32_t)at;
}

/* Bits 24 and up of an address: 1 + the block of the cluster, 0: the thread's own. */
void *emulated_at(uint32_t address, size_t bytes)
{
    struct block *b = running->block;
    if (address >> 24)
        b = b->cluster->blocks[(address >> 24) - 1];
    if (!b)
        emulated_fail("the block whose memory is written to has ended");
    uint32_t at = address & 0xffffff;
    size_t end = at >= STATIC_AT ? STATIC_AT + b->kernel->n_static : b->kernel->l.bytes;
    if (at + bytes > end)
        emulated_fail("%zu bytes at %#x of shared memory, which has %#zx", bytes, at, end);
    return b->arena + at;
}
