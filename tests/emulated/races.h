#ifndef TESTS_EMULATED_RACES_H
#define TESTS_EMULATED_RACES_H

#include <deque>
#include <memory>
#include <stdint.h>
#include <unordered_map>
#include <vector>

/* With -DKVEVAL_EMULATED_RACES=ON: which accesses to memory are ordered by barriers, in whatever order they
 * happened to be made here. Each access leaves a stamp at its bytes. Of two, one of which writes, the later
 * must know of the first, or the program names both places, and fails when it exits. Vector clocks as in
 * Flanagan and Freund, FastTrack (PLDI 2009), with kernels that begin early and with copies, which are no
 * thread's.
 * Kernels of different streams are ordered where events order these, in whatever order they run here.
 * A warp's shuffles and votes count as __syncwarp does, though CUDA promises no order of memory for them.
 * Without the option all of it does nothing (races_off.cc). */

struct thread;
struct warp;
struct block;
struct kernel;
struct copy;

enum access_kind { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };

enum { RACES_FOUND = 9 }; /* a program's exit status */

/* What is known: all kernels up to number `ended`, and of the own kernel's threads the accesses before
 * `ticks`, by slot. */
struct view {
    uint32_t ended;
    std::vector<uint32_t> ticks;
};
typedef std::shared_ptr<const struct view> view_ref;

/* A thread, or a copy with what its thread knew when it asked for it. Slots of a warp are neighbours. */
struct observer {
    view_ref seen;
    uint32_t kernel, slot;
    uint32_t first, tick; /* of its accesses so far */
    uint32_t together;    /* accesses of its warp's other lanes from `first` to before this are known */
};

/* What arrivals at a barrier bring, and what the last phase that is over has brought. */
struct meeting {
    struct view arrived;
    view_ref done;
    view_ref last;     /* the last that was joined into `arrived` */
    view_ref from, to; /* the last answer of races_leave */
};

/* Which launch of which stream a kernel is, and how many of each stream come before it, itself included. */
struct place {
    uint32_t stream, index;
    std::shared_ptr<const std::vector<uint32_t>> after;
};

struct block_races {
    std::unordered_map<uint32_t, struct meeting> barriers; /* by their address in shared memory */
};

struct kernel_races {
    uint32_t number;
    uint32_t let_ended;     /* what the kernel that begins when all blocks have allowed it may know of */
    view_ref start, waited; /* what threads know at their start, and after pdl_wait */
    std::vector<uint32_t> group_ticks; /* slots by warp; group 0 is for copies */
    std::deque<uint32_t> free_groups;
    std::unordered_map<const void *, struct meeting> counters; /* where blocks add in order */
};

void races_begin_kernel(struct kernel *k, const struct kernel *before, const struct place &at);
void races_begin_block(struct block *b);
void races_end_block(struct block *b);
void races_inputs(void);
void races_let_go(struct block *b);
void races_warp(struct warp *w);                             /* all its lanes have met */
struct meeting *races_at(struct block *b, uint32_t barrier); /* of a barrier in shared memory */
struct meeting *races_counter(const int *counter);           /* of the running thread's kernel */
void races_fresh(struct block *b, uint32_t barrier);         /* which is new */
void races_arrive(struct meeting *m);
void races_complete(struct meeting *m);
void races_leave(struct meeting *m);
struct observer races_ask_copy(void);
/* The copy reads and writes its bytes now, and the barrier it reports to learns of it. */
void races_copy(struct block *b, const struct copy *c, const void *from, void *to, size_t bytes);
void races_access(const void *p, size_t bytes, enum access_kind kind, const void *where);

#endif
