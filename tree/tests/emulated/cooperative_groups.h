#ifndef TESTS_EMULATED_COOPERATIVE_GROUPS_H
#define TESTS_EMULATED_COOPERATIVE_GROUPS_H

/* The part of the toolkit's header that the kernels use: a cluster's barrier and the memory of its blocks. */
#include "tests/emulated/emulated_ptx.h"

namespace cooperative_groups
{
struct cluster_group {
    void sync() const
    {
        cluster_arrive();
        cluster_wait();
    }
    template <typename T> T *map_shared_rank(T *mine, unsigned rank) const
    {
        return (T *)emulated_at(address_in(emulated_address(mine), (int)rank), sizeof *mine);
    }
};

static inline struct cluster_group this_cluster()
{
    return cluster_group();
}
} // namespace cooperative_groups

#endif
