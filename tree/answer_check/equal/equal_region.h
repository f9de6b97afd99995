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

/* All return 0, or -1 where there are more than PIECES_MAX pieces or an order of ends is not known, as
 * when no steps are left. `out` may be a or b. region_add() adds a piece and takes an infinite end as none;
 * it also returns -1 where the low end is plus infinity or the high end minus infinity. */
int region_add(struct region *r, const struct math_node *low, const struct math_node *high, int open_low,
               int open_high);
/* Sets *out to the intersection of a and b; after -1 *out is unchanged. */
int region_intersect(struct comparison *e, struct region *out, const struct region *a,
                     const struct region *b);
int region_unite(struct region *out, const struct region *b); /* adds b's pieces to out */
/* Sets *out to everything outside a; after -1 *out is unchanged. */
int region_complement(struct comparison *e, struct region *out, const struct region *a);

/* Does the piece have no point? 1, 0, or -1: not known. */
int region_is_empty(struct comparison *e, const struct piece *p);

/* Adds what an interval, a union, inequalities in one variable, a set builder or points hold to *out, which
 * the caller zeroes. Returns 0, or -1 where m is none of these, an order of ends is not known or there are
 * too many pieces; *out then means nothing. */
int region_read(struct comparison *e, struct region *out, const struct math_node *m);

#endif
