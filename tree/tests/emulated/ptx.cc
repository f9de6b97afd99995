/* Barriers in shared memory, copies that come to them, clusters, and products of four warps. */
#include <limits.h>

#include "tests/emulated/grid.h"
#include "tests/emulated/emulated_ptx.h"

void needs_hopper(void)
{
    if (emulated_capability() < 90)
        emulated_fail("a kernel of compute capability 9.0 runs on %d", emulated_capability());
}

/* As it lies in shared memory, 8 bytes. */
struct barrier {
    int32_t bytes;   /* announced but not yet arrived */
    int16_t pending; /* arrivals */
    uint16_t phase : 1, arrivals : 15;
};

static struct barrier *barrier_at(struct block *b, uint32_t address)
{
    return (struct barrier *)(b->arena + address);
}

/* The running thread's, which must have been made. */
static void check_address(uint32_t address)
{
    needs_hopper();
    const struct barrier *at = (const struct barrier *)emulated_at(address, sizeof *at);
    if (address % sizeof *at || !at->arrivals || at->arrivals > 1024)
        emulated_fail("no barrier at %#x", address);
    races_access(at, sizeof *at, ACCESS_ATOMIC, NULL);
}

static void check_barrier(struct block *b, uint32_t address)
{
    struct barrier *at = barrier_at(b, address);
    if (at->pending < 0)
        emulated_fail("more arrivals than the barrier at %#x of %s counts", address, b->kernel->l.name);
    if (at->pending || at->bytes)
        return;
    at->phase ^= 1;
    at->pending = (int16_t)at->arrivals;
    races_complete(races_at(b, address));
    barrier_changed(b, address);
}

void barrier_init(uint32_t address, int arrivals)
{
    struct barrier fresh = {0, (int16_t)arrivals, 0, (uint16_t)arrivals};
    struct barrier *at = (struct barrier *)emulated_at(address, sizeof fresh);
    *at = fresh;
    races_access(at, sizeof *at, ACCESS_WRITE, NULL);
    races_fresh(running->block, address);
}

static void arrive_at(struct block *b, uint32_t address, int bytes)
{
    struct barrier *at = barrier_at(b, address);
    at->bytes += bytes;
    at->pending--;
    check_barrier(b, address);
}

void barrier_arrive(uint32_t address)
{
    emulated_pause();
    check_address(address);
    races_arrive(races_at(running->block, address));
    arrive_at(running->block, address, 0);
}

void barrier_expect(uint32_t address, int bytes)
{
    emulated_pause();
    check_address(address);
    races_arrive(races_at(running->block, address));
    arrive_at(running->block, address, bytes);
}

void barrier_wait(uint32_t address, int parity)
{
    struct thread *t = running;
    emulated_pause();
    check_address(address);
    while (barrier_at(t->block, address)->phase == parity) {
        t->barrier = address;
        t->parity = (uint32_t)parity;
        thread_wait(AT_BARRIER, "barrier_wait");
    }
    races_leave(races_at(t->block, address));
}

/* ---- copies */

static void land_tile(struct block *b, const struct copy *c)
{
    const struct tensor *m = &c->map;
    for (uint32_t row = 0; row < m->rows; row++)
        for (uint32_t column = 0; column < m->columns; column++) {
            uint32_t at = c->to + row * m->columns * 2 + column * 2;
            uint64_t x = (uint64_t)c->x + column, y = (uint64_t)c->y + row;
            uint16_t value = 0;
            if (x < m->width && y < m->height)
                memcpy(&value, m->p + y * m->pitch + x * 2, sizeof value);
            memcpy(b->arena + (m->swizzle ? at ^ (at >> 7 & 7) << 4 : at), &value, sizeof value);
        }
    races_copy(b, c, NULL, b->arena + c->to, c->bytes);
}

static void land_bytes(struct block *b, const struct copy *c)
{
    memcpy(b->arena + c->to, c->from, c->bytes);
    races_copy(b, c, c->from, b->arena + c->to, c->bytes);
}

void copy_land(struct block *b, const struct copy *c)
{
    if (c->map.p)
        land_tile(b, c);
    else
        land_bytes(b, c);
    if (!c->group) {
        barrier_at(b, c->barrier)->bytes -= (int32_t)c->bytes;
        check_barrier(b, c->barrier);
    } else if (--*c->group == 0) {
        arrive_at(b, c->barrier, 0);
    }
}

static void begin_copy(const struct copy *c)
{
    emulated_at(c->to, c->bytes); /* is there room? */
    check_address(c->barrier);
    running->block->copies.push_back(*c);
}

void tma_bulk_copy(uint32_t to, const void *from, int bytes, uint32_t barrier)
{
    if (to % 16 || (uintptr_t)from % 16 || bytes % 16 || bytes <= 0)
        emulated_fail("bulk_copy of %d bytes from %p to %#x: not multiples of 16", bytes, from, to);
    struct copy c = {to, barrier, (uint32_t)bytes, from, {}, 0, 0, nullptr, races_ask_copy()};
    begin_copy(&c);
}

void tma_tensor_copy(uint32_t to, const void *map, int x, int y, uint32_t barrier)
{
    const struct tensor *m = (const struct tensor *)map;
    if (to % 1024)
        emulated_fail("tensor_copy to %#x: not a multiple of 1024", to);
    struct copy c = {to, barrier, m->columns * m->rows * 2, NULL, *m, x, y, nullptr, races_ask_copy()};
    begin_copy(&c);
}

void async_copy_16(uint32_t to, const void *from)
{
    if (to % 16 || (uintptr_t)from % 16)
        emulated_fail("copy_16 from %p to %#x: not multiples of 16", from, to);
    emulated_at(to, 16);
    struct copy c = {to, 0, 16, from, {}, 0, 0, nullptr, races_ask_copy()};
    running->own_copies.push_back(c);
}

/* They land one by one, or, which is faster, all but the last now. */
void arrive_after_copies(uint32_t barrier)
{
    struct block *b = running->block;
    std::vector<struct copy> *own = &running->own_copies;
    std::shared_ptr<int> group(new int(1));
    bool apart = grid_random() % 8 == 0;
    check_address(barrier);
    if (own->empty())
        own->push_back({0, 0, 0, b->arena, {}, 0, 0, nullptr, races_ask_copy()});
    for (size_t i = 0; i < own->size(); i++) {
        struct copy *c = &(*own)[i];
        c->barrier = barrier;
        c->group = group;
        if (i + 1 == own->size()) {
            b->copies.push_back(*c);
        } else if (apart) {
            ++*group;
            b->copies.push_back(*c);
        } else {
            land_bytes(b, c);
        }
    }
    own->clear();
}

/* ---- order among kernels and blocks */

void pdl_wait(void)
{
    const struct kernel *k = running->block->kernel.get();
    while (k->after && !k->after->done)
        thread_wait(FOR_INPUTS, "wait_for_inputs");
    races_inputs();
}

void may_be_old_begin(void)
{
    running->reads_old = true;
}

void may_be_old_end(void)
{
    running->reads_old = false;
}

void pdl_trigger(void)
{
    block_let_go(running->block);
}

int count_in_order(int *counter)
{
    struct meeting *m = races_counter(counter);
    int before = atomicAdd(counter, 1);
    races_arrive(m);
    races_complete(m);
    races_leave(m);
    return before;
}

static void arrive_at_cluster(void)
{
    needs_hopper();
    struct thread *t = running;
    if (t->in_cluster_phase)
        emulated_fail("a thread arrives at its cluster's barrier twice");
    t->in_cluster_phase = true;
    t->cluster_phase = t->block->cluster->phase;
    cluster_arrived(t->block->cluster.get());
}

void cluster_arrive(void)
{
    races_arrive(&running->block->cluster->races);
    arrive_at_cluster();
}

void cluster_begin(void)
{
    arrive_at_cluster();
}

void cluster_wait(void)
{
    struct thread *t = running;
    if (!t->in_cluster_phase)
        emulated_fail("a thread waits for its cluster and has not arrived");
    t->in_cluster_phase = false;
    while (t->block->cluster->phase == t->cluster_phase)
        thread_wait(IN_CLUSTER, "cluster_wait");
    races_leave(&t->block->cluster->races);
}

uint32_t address_in(uint32_t address, int block)
{
    return address | (uint32_t)(block + 1) << 24;
}

void store_far(uint32_t to, float x, float y)
{
    float pair[2] = {x, y};
    void *at = emulated_at(to, sizeof pair);
    races_access(at, sizeof pair, ACCESS_WRITE, NULL);
    memcpy(at, pair, sizeof pair);
}

/* ---- wgmma */

/* Of a row of 128 bytes with the 128-byte swizzle. */
static const char *element_at(const struct block *b, uint64_t tile, int row, int column)
{
    uint32_t apart = (uint32_t)(tile >> 16 & 0x3fff) << 4; /* of columns beyond 64 */
    uint32_t at = (uint32_t)((tile & 0x3fff) << 4) + (uint32_t)column / 64 * apart +
                  (uint32_t)(row / 8 * 1024 + row % 8 * 128 + column % 64 * 2);
    return b->arena + (at ^ (at >> 7 & 7) << 4);
}

static float element_of(const struct block *b, uint64_t tile, int row, int column)
{
    uint16_t half;
    memcpy(&half, element_at(b, tile, row, column), sizeof half);
    return bf16_float(half);
}

enum { K = 16 };

static void multiply_tiles(const struct wgmma_product *p)
{
    const struct thread *t = running;
    int thread = (int)(t->index.x % 128), lane = thread % EMULATED_LANES;
    float w[2][K];
    for (int half = 0; half < 2; half++)
        for (int k = 0; k < K; k++)
            w[half][k] = p->registers ? p->row[half][k]
                                      : element_of(t->block, p->w,
                                                   thread / EMULATED_LANES * 16 + lane / 4 + half * 8, k);
    for (int i = 0; i < p->n; i++) {
        float sum = p->add ? p->c[i] : 0;
        int half = i >> 1 & 1, column = i / 4 * 8 + lane % 4 * 2 + (i & 1);
        for (int k = 0; k < K; k++)
            sum += w[half][k] * (p->registers ? element_of(t->block, p->x, k, column)
                                              : element_of(t->block, p->x, column, k));
        p->c[i] = sum;
    }
}

/* The tiles are under way until they are waited for, whenever they were read here. */
static void read_tiles(const struct wgmma_product *p)
{
    enum { UNIT = 8 }; /* neighbours that the swizzle keeps together */
    const struct block *b = running->block;
    int row = (int)(running->index.x % 128) / EMULATED_LANES * 16 + own_lane() / 4, columns = p->n * 2;
    for (int half = 0; half < 2 && !p->registers; half++)
        for (int k = 0; k < K; k += UNIT)
            races_access(element_at(b, p->w, row + half * 8, k), UNIT * 2, ACCESS_READ, NULL);
    for (int column = 0; column < columns; column += p->registers ? UNIT : 1)
        for (int k = 0; k < K; k += p->registers ? 1 : UNIT)
            races_access(p->registers ? element_at(b, p->x, k, column) : element_at(b, p->x, column, k),
                         UNIT * 2, ACCESS_READ, NULL);
}

/* Those not yet made. */
static void multiply_all(void)
{
    for (struct wgmma_product &p : running->products) {
        if (!p.done)
            multiply_tiles(&p);
        p.done = true;
    }
}

/* Those of all committed groups but the last `but` are over. */
static void finish_groups(unsigned but)
{
    std::vector<struct wgmma_product> &all = running->products;
    size_t n = 0;
    for (; n < all.size() && all[n].group + but < running->wgmma_groups; n++) {
        if (!all[n].done)
            multiply_tiles(&all[n]);
        read_tiles(&all[n]);
    }
    all.erase(all.begin(), all.begin() + (long)n);
}

static void ask_copy(struct wgmma_product p)
{
    p.group = running->wgmma_groups;
    running->products.push_back(p);
    if (grid_random() % 2)
        multiply_all();
}

void wgmma_tiles(float *c, int n, uint64_t w, uint64_t x, int add)
{
    ask_copy({c, n, w, {}, false, x, add, 0, false});
}

void wgmma_registers(float *c, int n, const uint32_t (&w)[4], uint64_t x, int add)
{
    struct wgmma_product p = {c, n, 0, {}, true, x, add, 0, false};
    const slot *all = emulated_exchange("wgmma", ~0u, w, sizeof w);
    for (int half = 0; half < 2; half++)
        for (int k = 0; k < 16; k++)
            p.row[half][k] =
                bf16_float(all[own_lane() / 4 * 4 + k % 8 / 2][k / 8 * 2 + half] >> k % 2 * 16 & 0xffff);
    ask_copy(p);
}

void wgmma_commit(void)
{
    running->wgmma_groups++;
}

static void wait_for_groups(unsigned but)
{
    emulated_pause();
    finish_groups(but);
    emulated_exchange("wgmma_wait", ~0u, NULL, 0); /* the warp's products, not the lane's */
}

void wgmma_wait(void)
{
    wait_for_groups(0);
}

void wgmma_wait_but_one(void)
{
    wait_for_groups(1);
}
