#ifndef ENGINE_MEMORY_COUNTING_H
#define ENGINE_MEMORY_COUNTING_H

#include "kernels/backend.h"

/* The third door of engine/memory (device.h says what the room is for): a backend that allocates nothing and
 * adds up the bytes it was asked for. Uploads succeed and do nothing; it cannot run operations. Its addresses
 * must not be followed. */
struct counting {
    struct backend be; /* the table, with the sizes and types of the real backend */
    size_t bytes;      /* allocated so far; releasing does not subtract */
};

/* Makes c a backend with the name, sizes and types of `real` and nothing allocated. Functions of the table
 * that would run operations or download are NULL. */
void counting_init(struct counting *c, const struct backend *real);
/* Returns the device of c, which is c itself; it needs no closing. */
struct device *counting_device(struct counting *c);

#endif
