#ifndef ANSWER_CHECK_EQUAL_EQUAL_REGION_H
#define ANSWER_CHECK_EQUAL_EQUAL_REGION_H

#include "answer_check/equal/equal_parts.h"

/* Subsets of the real line (equal_region.c), for answer_check/equal only. A region is a union of at most
 * PIECES_MAX pieces, which may overlap. Ends are trees that the region borrows. */
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

/* All return 0, or -1 where there are too many pieces or an order of ends is not known. `out` may be a or
 * b. */
int region_add(struct region *r, const struct math_node *low, const struct math_node *high, int open_low,
               int open_high);
int region_intersect(struct comparison *e, struct region *out, const struct region *a,
                     const struct region *b);
int region_unite(struct region *out, const struct region *b); /* adds b's pieces to out */
int region_complement(struct comparison *e, struct region *out, const struct region *a);

/* Does the piece have no point? 1, 0, or -1: not known. */
int region_is_empty(struct comparison *e, const struct piece *p);

/* Reads an interval, a union, inequalities in one variable, a set builder or points. Returns 0, or -1 where m
 * is none of these. */
int region_read(struct comparison *e, struct region *out, const struct math_node *m);

#endif
