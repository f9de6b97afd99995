#ifndef ANSWER_CHECK_SCALAR_SCALAR_SAMPLE_H
#define ANSWER_CHECK_SCALAR_SCALAR_SAMPLE_H

#include "answer_check/scalar/scalar_compare.h"

/* What the sample points of scalar_points.c have to be like for two trees: which values each symbol takes,
 * and where a side may have a corner or a jump. */

enum symbol_kind { SYMBOL_REAL, SYMBOL_INTEGER, SYMBOL_COMPLEX };
enum { SAMPLE_CORNERS = 8 };

struct samples {
    struct math_work *w;
    const struct math_node *a, *b;
    int is_ratio; /* compare a(p) b(q) with b(p) a(q) instead */
    int n;
    const char *const *names;
    uint64_t hash[SAMPLE_SYMBOLS];
    enum symbol_kind kind[SAMPLE_SYMBOLS];
    int n_complex;
    int has_corner; /* an absolute value, a maximum, a sign: a side is not one formula everywhere */
    int has_jump;   /* a floor or ceiling */
    int n_corners;
    int64_t corner[SAMPLE_CORNERS]; /* numbers in the text, near which a corner may be */
};

/* Sets all of it but w, a, b, is_ratio, n and names. */
void samples_scan(struct samples *p);

#endif
