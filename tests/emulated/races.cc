/* Which accesses are ordered (races.h). */
#include "tests/emulated/races.h"

#include <algorithm>
#include <set>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/emulated/grid.h"

enum { SLOT_BITS = 16, TICK_BITS = 26, KERNEL_BITS = 22 };

/* ---- what is known */

static bool clock_holds(const struct view &all, const struct view &some)
{
    if (some.ended > all.ended)
        return false;
    for (size_t i = 0; i < some.ticks.size(); i++)
        if (some.ticks[i] > (i < all.ticks.size() ? all.ticks[i] : 0))
            return false;
    return true;
}

static void join(struct view *to, const struct view &from)
{
    to->ended = std::max(to->ended, from.ended);
    if (to->ticks.size() < from.ticks.size())
        to->ticks.resize(from.ticks.size());
    for (size_t i = 0; i < from.ticks.size(); i++)
        to->ticks[i] = std::max(to->ticks[i], from.ticks[i]);
}

/* What both know; one of the two itself if it knows all. */
static view_ref is_joined(const view_ref &a, const view_ref &b)
{
    if (a == b || clock_holds(*b, *a))
        return b;
    if (clock_holds(*a, *b))
        return a;
    auto both = std::make_shared<struct view>(*a);
    join(both.get(), *b);
    return both;
}

/* All of a slot before the tick counts as known, what an earlier block's thread did there too. */
static void raise_clock(struct view *v, uint32_t slot, uint32_t tick)
{
    if (v->ticks.size() <= slot)
        v->ticks.resize((slot / EMULATED_LANES + 1) * EMULATED_LANES);
    v->ticks[slot] = std::max(v->ticks[slot], tick);
}

/* Stamps: kernel, slot, tick. */
static uint64_t stamp_of(uint32_t kernel, uint32_t slot, uint32_t tick)
{
    return (uint64_t)kernel << (SLOT_BITS + TICK_BITS) | (uint64_t)slot << TICK_BITS | tick;
}

static uint32_t kernel_of(uint64_t stamp)
{
    return (uint32_t)(stamp >> (SLOT_BITS + TICK_BITS));
}

static uint32_t slot_of(uint64_t stamp)
{
    return (uint32_t)(stamp >> TICK_BITS) & ((1u << SLOT_BITS) - 1);
}

/* Of all kernels, by number. */
static std::vector<struct place> places(1);

/* Does kernel a come before kernel b? As far as streams are concerned: the one before in a stream may not
 * have ended. */
static bool comes_before(uint32_t a, uint32_t b)
{
    const std::vector<uint32_t> &after = *places[b].after;
    return places[a].stream < after.size() && places[a].index <= after[places[a].stream];
}

static bool clock_knows(const struct observer &o, uint64_t stamp)
{
    uint32_t kernel = kernel_of(stamp), slot = slot_of(stamp),
             tick = (uint32_t)stamp & ((1u << TICK_BITS) - 1);
    if (kernel != o.kernel)
        return kernel <= o.seen->ended && comes_before(kernel, o.kernel);
    if (slot / EMULATED_LANES == o.slot / EMULATED_LANES && tick >= o.first &&
        (slot == o.slot ? tick <= o.tick : tick < o.together))
        return true;
    return slot < o.seen->ticks.size() && tick < o.seen->ticks[slot];
}

/* ---- kernels, blocks and threads */

void races_begin_kernel(struct kernel *k, const struct kernel *before, const struct place &at)
{
    static uint32_t kernels;
    struct kernel_races *r = &k->races;
    r->number = ++kernels;
    if (kernels >> KERNEL_BITS)
        emulated_fail("too many launches for the check of races");
    places.push_back(at);
    uint32_t ended = before ? before->races.let_ended : r->number - 1;
    r->start = std::make_shared<const struct view>(view{ended, {}});
    r->waited = std::make_shared<const struct view>(view{r->number - 1, {}});
    r->let_ended = UINT32_MAX;
    r->group_ticks.assign(1, 0);
}

static void forget_grid(const char *p, size_t bytes);

void races_begin_block(struct block *b)
{
    struct kernel_races *r = &b->kernel->races;
    forget_grid(b->arena, ARENA);
    for (struct warp &w : b->warps) {
        uint32_t group;
        if (r->free_groups.empty()) {
            group = (uint32_t)r->group_ticks.size();
            r->group_ticks.push_back(0);
        } else {
            group = r->free_groups.front(); /* free for the longest time: see raise() */
            r->free_groups.pop_front();
        }
        if (group * EMULATED_LANES >> SLOT_BITS)
            emulated_fail("too many threads at once for the check of races");
        for (uint32_t i = 0; i < EMULATED_LANES; i++) {
            uint32_t tick = r->group_ticks[group];
            if (w.lane[i])
                w.lane[i]->races = {r->start, r->number, group * EMULATED_LANES + i, tick, tick, tick};
        }
    }
}

void races_end_block(struct block *b)
{
    struct kernel_races *r = &b->kernel->races;
    uint32_t ended = 0;
    for (const struct thread &t : b->threads)
        ended = std::max(ended, t.races.seen->ended);
    if (ended < r->number - 1)
        emulated_fail("a block of %s, which began early, has not waited for its inputs", b->kernel->l.name);
    for (const struct warp &w : b->warps) {
        uint32_t group = w.lane[0]->races.slot / EMULATED_LANES, *tick = &r->group_ticks[group];
        for (const struct thread *t : w.lane)
            *tick = t ? std::max(*tick, t->races.tick + 1) : *tick;
        if (*tick >> TICK_BITS)
            emulated_fail("too many turns for the check of races");
        r->free_groups.push_back(group);
    }
}

void races_inputs(void)
{
    struct observer *o = &running->races;
    const struct kernel_races *r = &running->block->kernel->races;
    o->seen = is_joined(o->seen, r->waited);
}

/* The next kernel may begin now for all this block cares. It then knows what the thread that said so knows of
 * kernels before, though not what this kernel does. */
void races_let_go(struct block *b)
{
    uint32_t ended = running ? running->races.seen->ended : b->kernel->races.number - 1;
    b->kernel->races.let_ended = std::min(b->kernel->races.let_ended, ended);
}

/* ---- barriers */

void races_warp(struct warp *w)
{
    uint32_t tick = 0;
    view_ref seen;
    for (const struct thread *t : w->lane)
        if (t && t->state != ENDED) {
            tick = std::max(tick, t->races.tick + 1);
            seen = seen ? is_joined(seen, t->races.seen) : t->races.seen;
        }
    for (struct thread *t : w->lane)
        if (t && t->state != ENDED) {
            t->races.tick = t->races.together = tick;
            t->races.seen = seen;
        }
}

struct meeting *races_at(struct block *b, uint32_t barrier)
{
    return &b->races.barriers[barrier];
}

struct meeting *races_counter(const int *counter)
{
    return &running->block->kernel->races.counters[counter];
}

void races_fresh(struct block *b, uint32_t barrier)
{
    b->races.barriers.erase(barrier);
}

void races_arrive(struct meeting *m)
{
    struct observer *o = &running->races;
    if (m->last != o->seen) {
        join(&m->arrived, *o->seen);
        m->last = o->seen;
    }
    uint32_t lane0 = o->slot / EMULATED_LANES * EMULATED_LANES;
    if (o->together > o->first)
        for (uint32_t i = 0; i < EMULATED_LANES; i++)
            raise_clock(&m->arrived, lane0 + i, o->together);
    raise_clock(&m->arrived, o->slot, ++o->tick);
}

void races_complete(struct meeting *m)
{
    m->done = std::make_shared<const struct view>(m->arrived);
}

void races_leave(struct meeting *m)
{
    struct observer *o = &running->races;
    if (!m->done)
        return;
    if (m->from != o->seen || m->to != m->done) {
        view_ref both = is_joined(o->seen, m->done);
        if (both == m->done) {
            m->from = o->seen;
            m->to = both;
        }
        o->seen = both;
        return;
    }
    o->seen = m->to;
}

/* ---- accesses */

/* Of 4 bytes: the last accesses that matter. */
struct trace {
    uint64_t stamp; /* 0: none */
    uint32_t where;
    uint8_t mask, kind;
};
enum { TRACES = 4, GRAIN = 4, PAGE_BITS = 16, ADDRESS_BITS = 47 };
struct cell {
    struct trace of[TRACES];
};

static void *map_pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        emulated_fail("no memory for the check of races");
    return p;
}

static struct cell *cells_of(uintptr_t address)
{
    enum { PER_PAGE = (1 << PAGE_BITS) / GRAIN };
    static struct cell **pages;
    if (!pages)
        pages = (struct cell **)map_pages(sizeof *pages << (ADDRESS_BITS - PAGE_BITS));
    struct cell **page = &pages[address >> PAGE_BITS];
    if (!*page)
        *page = (struct cell *)map_pages(PER_PAGE * sizeof **page);
    return *page + (address & ((1 << PAGE_BITS) - 1)) / GRAIN;
}

/* Of whole pages of the host. */
static void forget_grid(const char *p, size_t bytes)
{
    uintptr_t at = (uintptr_t)p, end = at + bytes;
    while (at < end) {
        uintptr_t next = std::min(end, ((at >> PAGE_BITS) + 1) << PAGE_BITS);
        madvise(cells_of(at), (next - at) / GRAIN * sizeof(struct cell), MADV_DONTNEED);
        at = next;
    }
}

extern "C" char __executable_start;

static const char *const kinds[] = {"read", "write", "atomic operation"};

static const char *thread_name(const struct observer &o, uint64_t stamp)
{
    uint32_t slot = slot_of(stamp);
    if (kernel_of(stamp) != o.kernel)
        return kernel_of(stamp) < o.kernel ? "a kernel before" : "a kernel after";
    if (slot < EMULATED_LANES)
        return "a copy";
    return slot / EMULATED_LANES == o.slot / EMULATED_LANES ? "another lane of its warp" : "another warp";
}

static void end_badly(void)
{
    _exit(RACES_FOUND);
}

/* Each pair of places once; the program goes on, and fails when it exits. */
static void report_race(const struct observer &o, const struct trace &mine, enum access_kind kind,
                        const struct trace &old, bool by_copy)
{
    static std::set<std::pair<uint32_t, uint32_t>> told;
    if (told.empty())
        atexit(end_badly);
    if (!told.insert({mine.where, old.where}).second)
        return;
    fprintf(stderr, "emulated: race: %s and %s by %s are not ordered (addr2line -Cpfie PROGRAM %#x %#x)\n",
            kinds[kind], kinds[old.kind], thread_name(o, old.stamp), mine.where, old.where);
    if (by_copy)
        fprintf(stderr, "emulated: the first is a copy's\n");
    else
        thread_show(running);
}

static void access_grain(const struct observer &o, uintptr_t address, uint8_t mask, enum access_kind kind,
                         const struct trace &mine)
{
    struct trace *old = cells_of(address)->of, *to = NULL;
    for (int i = 0; i < TRACES; i++) {
        struct trace *t = &old[i];
        if (!t->stamp) {
            to = to ? to : t;
            continue;
        }
        if (!(t->mask & mask))
            continue;
        bool ordered = clock_knows(o, t->stamp), both_read = kind == ACCESS_READ && t->kind == ACCESS_READ;
        if (!ordered && !both_read && !(kind == ACCESS_ATOMIC && t->kind == ACCESS_ATOMIC))
            report_race(o, mine, kind, *t, slot_of(mine.stamp) < EMULATED_LANES);
        if (t->stamp == mine.stamp && t->kind == kind && (t->mask & mask) == mask)
            return;
        /* What an atomic operation knows of may still meet another that does not. */
        if (ordered && !(t->mask & ~mask) && (kind == ACCESS_WRITE || t->kind == kind)) {
            t->stamp = 0;
            to = t;
        }
    }
    for (int i = 0, from = (int)(grid_random() % TRACES); !to && i < TRACES; i++)
        if (old[(from + i) % TRACES].kind == ACCESS_READ)
            to = &old[(from + i) % TRACES];
    if (!to)
        to = &old[grid_random() % TRACES];
    *to = mine;
    to->mask = mask;
}

static void access_as(const struct observer &o, uint64_t stamp, const void *p, size_t bytes,
                      enum access_kind kind, const void *where)
{
    struct trace mine = {stamp, where ? (uint32_t)((const char *)where - &__executable_start) : 0, 0,
                         (uint8_t)kind};
    uintptr_t at = (uintptr_t)p, end = at + bytes;
    while (at < end) {
        uintptr_t grain = at / GRAIN * GRAIN, to = std::min(end, grain + GRAIN);
        uint8_t mask = (uint8_t)(((1u << (to - grain)) - 1) & ~((1u << (at - grain)) - 1));
        access_grain(o, grain, mask, kind, mine);
        at = to;
    }
}

void races_access(const void *p, size_t bytes, enum access_kind kind, const void *where)
{
    if (!running || ((const char *)p >= running->stack && (const char *)p < running->stack + STACK_BYTES))
        return;
    if (kind == ACCESS_READ && running->reads_old)
        return;
    const struct observer &o = running->races;
    access_as(o, stamp_of(o.kernel, o.slot, o.tick), p, bytes, kind, where);
}

/* ---- copies */

struct observer races_ask_copy(void)
{
    struct observer then = running->races;
    running->races.tick++;
    return then;
}

void races_copy(struct block *b, const struct copy *c, const void *from, void *to, size_t bytes)
{
    struct kernel_races *r = &b->kernel->races;
    struct observer o = c->by;
    uint32_t slot = c->barrier / 8 % EMULATED_LANES, tick = ++r->group_ticks[0];
    uint64_t stamp = stamp_of(o.kernel, slot, tick);
    if (from)
        access_as(o, stamp, from, bytes, ACCESS_READ, NULL);
    access_as(o, stamp, to, bytes, ACCESS_WRITE, NULL);
    raise_clock(&races_at(b, c->barrier)->arrived, slot, tick + 1);
}
