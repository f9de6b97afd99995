/* A block's shared memory is one arena; a 32-bit address is a place in it. */
#include "tests/emulated/grid.h"

size_t most_static;

void *emulated_static(const void *key, size_t bytes)
{
    struct block *b = running->block;
    struct kernel *k = b->kernel.get();
    for (size_t i = 0; i < k->keys.size(); i++)
        if (k->keys[i] == key)
            return b->arena + k->places[i];
    uint32_t at = (uint32_t)(STATIC_AT + k->n_static);
    k->n_static += (bytes + 15) / 16 * 16 + 16; /* and a gap */
    if (k->n_static > ARENA - STATIC_AT || k->n_static + k->l.bytes > emulated_most_shared())
        emulated_fail("too much shared memory: %zu + %zu bytes", k->l.bytes, k->n_static);
    k->keys.push_back(key);
    k->places.push_back(at);
    most_static = k->n_static > most_static ? k->n_static : most_static;
    memset(b->arena + at, FILL, bytes);
    return b->arena + at;
}

void *emulated_dynamic(uint32_t align)
{
    running->block->kernel->dynamic_at = align;
    return running->block->arena + align;
}

uint32_t emulated_address(const void *p)
{
    ptrdiff_t at = (const char *)p - running->block->arena;
    if (at < 0 || at >= ARENA)
        emulated_fail("no address of shared memory");
    return (uint32_t)at;
}

/* Bits 24 and up of an address are 1 + the number of the block in its cluster, or 0 for the thread's own
 * block. */
void *emulated_at(uint32_t address, size_t bytes)
{
    struct block *b = running->block;
    const struct kernel *k = b->kernel.get();
    uint32_t rank = address >> 24, at = address & 0xffffff;
    if (rank > b->cluster->blocks.size())
        emulated_fail("there is no block %u in this cluster", rank - 1);
    if (rank)
        b = b->cluster->blocks[rank - 1];
    if (!b || !b->began)
        emulated_fail("block %u of the cluster, whose memory is wanted, has %s", rank - 1,
                      b ? "not begun" : "ended");
    uint32_t from = at >= STATIC_AT ? STATIC_AT : k->dynamic_at;
    size_t end = from + (at >= STATIC_AT ? k->n_static : k->l.bytes);
    if (at < from || at + bytes > end)
        emulated_fail("%zu bytes at %#x of shared memory, which goes from %#x to %#zx", bytes, at, from, end);
    return b->arena + at;
}
