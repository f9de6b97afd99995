/* Without the check of races (races.h). */
#include "tests/emulated/races.h"

void races_begin_kernel(struct kernel *, const struct kernel *, const struct place &)
{
}

void races_begin_block(struct block *)
{
}

void races_end_block(struct block *)
{
}

void races_inputs(void)
{
}

void races_let_go(struct block *)
{
}

void races_warp(struct warp *)
{
}

struct meeting *races_at(struct block *, uint32_t)
{
    return NULL;
}

struct meeting *races_counter(const int *)
{
    return NULL;
}

void races_fresh(struct block *, uint32_t)
{
}

void races_arrive(struct meeting *)
{
}

void races_complete(struct meeting *)
{
}

void races_leave(struct meeting *)
{
}

struct observer races_ask_copy(void)
{
    return {};
}

void races_copy(struct block *, const struct copy *, const void *, void *, size_t)
{
}

void races_access(const void *, size_t, enum access_kind, const void *)
{
}
