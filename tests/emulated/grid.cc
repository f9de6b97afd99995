/* Runs the blocks of kernels on one thread of the host. Each turn goes to one warp, drawn at random; its
 * threads run one after the other, each until it waits. Some kernels, blocks and warps are slow, and copies
 * land at random times. In this way tests see many of the orders of events that a GPU allows. The same
 * KVEVAL_EMULATED_SEED gives the same order. */
#include "tests/emulated/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { MAX_BLOCKS = 10, MOST_ALIGN = 1024 };

uint32_t grid_random(void)
{
    static uint64_t state;
    if (!state) {
        const char *seed = getenv("KVEVAL_EMULATED_SEED");
        state = (seed ? strtoull(seed, NULL, 10) : 1) * 0x9e3779b97f4a7c15u | 1;
    }
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

/* ---- blocks */

static std::vector<char *> free_stacks, free_arenas;

static char *take(std::vector<char *> *from, size_t bytes)
{
    if (from->empty()) {
        void *p =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            emulated_fail("no memory for a block");
        return (char *)p;
    }
    char *p = from->back();
    from->pop_back();
    return p;
}

void block_let_go(struct block *b)
{
    if (b->let_go)
        return;
    b->kernel->let_go++;
    b->let_go = true;
    races_let_go(b);
}

/* Most are not lazy at all. */
static int laziness(void)
{
    uint32_t draw = grid_random() % 8;
    return draw < 4 ? 0 : (int)draw - 4;
}

static void begin_thread(struct block *b, size_t i)
{
    struct thread *t = &b->threads[i];
    const struct launch *l = &b->kernel->l;
    t->block = b;
    t->warp = &b->warps[i / EMULATED_LANES];
    t->lane = (int)(i % EMULATED_LANES);
    t->warp->lane[t->lane] = t;
    t->warp->present |= 1u << t->lane;
    t->index = dim3((unsigned)i % l->block.x, (unsigned)i / l->block.x % l->block.y,
                    (unsigned)i / l->block.x / l->block.y);
    t->stack = take(&free_stacks, STACK_BYTES);
    thread_prepare(t);
}

static void begin_block(struct grids *g, const std::shared_ptr<struct kernel> &k,
                        const std::shared_ptr<struct cluster> &c, size_t i)
{
    std::unique_ptr<struct block> b(new struct block());
    const struct launch *l = &k->l;
    size_t n = (size_t)l->block.x * l->block.y * l->block.z;
    b->index = dim3((unsigned)(i % l->grid.x), (unsigned)(i / l->grid.x % l->grid.y),
                    (unsigned)(i / l->grid.x / l->grid.y));
    b->kernel = k;
    b->cluster = c;
    b->rank = (int)c->blocks.size();
    b->all = true;
    b->lazy = laziness();
    b->alive = (int)n;
    b->threads.resize(n);
    b->warps.resize((n + EMULATED_LANES - 1) / EMULATED_LANES);
    for (struct warp &w : b->warps)
        w.lazy = laziness();
    b->arena = take(&free_arenas, ARENA);
    memset(b->arena, FILL, MOST_ALIGN + l->bytes + FENCE); /* NaN as fp32 and as bf16 */
    memset(b->arena + STATIC_AT, FILL, most_static);
    for (size_t t = 0; t < n; t++)
        begin_thread(b.get(), t);
    races_begin_block(b.get());
    c->threads += (int)n;
    c->blocks.push_back(b.get());
    g->blocks.push_back(std::move(b));
}

/* The next cluster of a kernel, whose blocks are neighbours along x. */
static void begin_cluster(struct grids *g, const std::shared_ptr<struct kernel> &k)
{
    std::shared_ptr<struct cluster> c(new struct cluster());
    for (int i = 0; i < k->l.cluster; i++)
        begin_block(g, k, c, k->next * (size_t)k->l.cluster + (size_t)i);
    k->next++;
}

static void check_fence(const struct block *b)
{
    const struct kernel *k = b->kernel.get();
    for (size_t i = k->l.bytes; i < k->l.bytes + FENCE; i++)
        if ((unsigned char)b->arena[k->dynamic_at + i] != FILL)
            emulated_fail("%s wrote to %#zx of its %#zx bytes of shared memory", k->l.name, i, k->l.bytes);
}

static void end_block(struct grids *g, size_t i)
{
    struct block *b = g->blocks[i].get();
    struct kernel *k = b->kernel.get();
    if (!b->copies.empty())
        emulated_fail("a block of %s ends while copies to its memory are under way", k->l.name);
    check_fence(b);
    races_end_block(b);
    for (struct thread &t : b->threads) {
        if (*(uint64_t *)t.stack != STACK_END)
            emulated_fail("a thread of %s needs more than %d bytes of stack", k->l.name, STACK_BYTES);
        free_stacks.push_back(t.stack);
    }
    free_arenas.push_back(b->arena);
    b->cluster->blocks[(size_t)b->rank] = NULL;
    block_let_go(b);
    k->done = ++k->ended == k->blocks;
    g->blocks.erase(g->blocks.begin() + (ptrdiff_t)i);
    for (auto &other : g->blocks)
        if (other->kernel->after == k && k->done) {
            threads_wake(other.get(), FOR_INPUTS);
        }
}

/* ---- kernels */

void grid_add(struct grids *g, const struct launch &l, const struct place &at)
{
    std::shared_ptr<struct kernel> k(new struct kernel());
    k->l = l;
    k->blocks = (int)(l.grid.x * l.grid.y * l.grid.z);
    if (!k->blocks || l.grid.y > 65535 || l.grid.z > 65535 || l.block.x * l.block.y * l.block.z > 1024 ||
        l.grid.x % (unsigned)l.cluster || MOST_ALIGN + l.bytes + FENCE > STATIC_AT ||
        l.bytes > emulated_limit(l.kernel))
        emulated_fail(
            "%s cannot be launched: grid (%u, %u, %u), block (%u, %u, %u), clusters of %d, %zu bytes", l.name,
            l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z, l.cluster, l.bytes);
    k->lazy = laziness();
    k->after = g->kernels.empty() ? NULL : g->kernels.back().get();
    races_begin_kernel(k.get(), k->after, at);
    g->kernels.push_back(k);
}

bool grid_may_add_early(const struct grids *g)
{
    const struct kernel *last = g->kernels.back().get();
    return last->let_go == last->blocks;
}

static bool is_ready(const struct warp &w)
{
    for (int i = 0; i < EMULATED_LANES; i++)
        if (w.lane[i] && w.lane[i]->state == READY)
            return true;
    return false;
}

/* Runs the warp's threads in turn, starting from a random one, for a random number of rounds; one round for a
 * lazy warp. */
static void run_warp(struct warp *w)
{
    int again = 0;
    do {
        int from = (int)(grid_random() % EMULATED_LANES);
        for (int i = 0; i < EMULATED_LANES; i++) {
            struct thread *t = w->lane[(from + i) % EMULATED_LANES];
            if (t && t->state == READY)
                thread_run(t);
        }
    } while (!w->lazy && ++again < 64 && grid_random() % 16 && is_ready(*w));
}

/* Must it wait for a later turn? A lazy one gets only one turn in 4, 16, or 64. */
static bool skips(int lazy)
{
    return grid_random() & ((1u << 2 * lazy) - 1);
}

/* Lazy ones are kept waiting while `others` can go on. */
static bool run_one(struct grids *g, bool others)
{
    size_t n = g->blocks.size(), from = n ? grid_random() % n : 0;
    for (size_t i = 0; i < n; i++) {
        struct block *b = g->blocks[(from + i) % n].get();
        size_t warps = b->warps.size(), first = grid_random() % warps;
        if (others && (skips(b->kernel->lazy) || skips(b->lazy)))
            continue;
        for (size_t k = 0; k < warps; k++) {
            struct warp *w = &b->warps[(first + k) % warps];
            if (!is_ready(*w) || (others && skips(w->lazy)))
                continue;
            run_warp(w);
            return true;
        }
    }
    return false;
}

static bool land_one(struct grids *g)
{
    size_t n = g->blocks.size(), from = n ? grid_random() % n : 0;
    for (size_t i = 0; i < n; i++) {
        struct block *b = g->blocks[(from + i) % n].get();
        if (b->copies.empty())
            continue;
        size_t k = grid_random() % b->copies.size();
        struct copy c = b->copies[k];
        b->copies.erase(b->copies.begin() + (ptrdiff_t)k);
        copy_land(b, &c);
        return true;
    }
    return false;
}

/* Blocks that run at once: few, so that many kernels run in several waves. */
static size_t most_blocks(void)
{
    static const char *const most = getenv("KVEVAL_EMULATED_BLOCKS");
    return most ? strtoull(most, NULL, 10) : MAX_BLOCKS;
}

static bool begin_one(struct grids *g)
{
    for (size_t i = 0; i < g->kernels.size() && g->blocks.size() < most_blocks(); i++) {
        const std::shared_ptr<struct kernel> &k = g->kernels[i];
        if (k->next * (size_t)k->l.cluster < (size_t)k->blocks) {
            begin_cluster(g, k);
            return true;
        }
    }
    return false;
}

/* Removes blocks that have ended, and kernels that have ended, in order. */
static bool clean(struct grids *g)
{
    bool any = false;
    for (size_t i = g->blocks.size(); i-- > 0;)
        if (!g->blocks[i]->alive) {
            end_block(g, i);
            any = true;
        }
    while (!g->kernels.empty() && g->kernels.front()->done) {
        for (auto &k : g->kernels)
            if (k->after == g->kernels.front().get())
                k->after = NULL;
        g->kernels.erase(g->kernels.begin());
        any = true;
    }
    return any;
}

void grid_step(struct grids *g)
{
    uint32_t draw = grid_random() % 8;
    bool did = (draw == 0 && begin_one(g)) || (draw == 1 && land_one(g)) || run_one(g, true) ||
               run_one(g, false) || begin_one(g) || land_one(g);
    did |= clean(g);
    if (!did && !g->kernels.empty()) {
        fprintf(stderr, "emulated: nothing can go on:\n");
        for (auto &b : g->blocks)
            for (struct thread &t : b->threads)
                if (t.state != ENDED && (t.lane == 0 || t.state != t.warp->lane[0]->state))
                    thread_show(&t);
        emulated_fail("deadlock");
    }
}
