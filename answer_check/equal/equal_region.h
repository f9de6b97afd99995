#ifndef ANSWER_CHECK_EQUAL_EQUAL_REGION_H
#define ANSWER_CHECK_EQUAL_EQUAL_REGION_H

#include "answer_check/equal/equal.h"

/* A subset of the real line: a union of at most so many pieces, which may overlap. */
enum { PIECES_MAX = 32 };

struct piece {
    const struct math_node *low, *high; /* NULL: without end */
    int open_low, open_high;
};

struct region {
    int n;
    struct piece piece[PIECES_MAX];
    const char *variable; /* NULL: written without one */
};

/* All return 0, or -1 where there are too many pieces or an order of ends is not known. */
int region_add(struct region *r, const struct math_node *low, const struct math_node *high, int open_low,
               int open_high);
int region_intersect(struct comparison *e, struct region *out, const struct region *a,
                     const struct region *b);
int region_unite(struct region *out, const struct region *b);
int region_complement(struct comparison *e, struct region *out, const struct region *a);

/* From writing: an interval, a union, inequalities in one variable, a set builder, points. -1: it is none. */
int region_read(struct comparison *e, struct region *out, const struct math_node *m);

#endif
