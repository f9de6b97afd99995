#ifndef TESTS_KERNELS_SET_H
#define TESTS_KERNELS_SET_H

#include "tests/kernels/rig.h"

/* Sequences in one cache, with lengths around the boundaries of pages and chunks, some of them with dropped
 * tokens, and a query for each. The tests of attention and of scores compare results over them with loops in
 * double precision. In small mode a sequence has at most 2,070 tokens, which are several chunks for decode
 * attention and two splits for a prompt. */
enum { SEQS = 6, PAGES = 280, LAYERS = 2, LAYER = 1, SLOTS = PAGES * 16, MAX_Q = 8, ROWS = SEQS + 1 };
enum { SET_SHAPES = 9 }; /* GQA groups 1 to 8, head sizes 16 to 128, fp32 and bf16 */
/* More, which set_each leaves out: heads, and a group of query heads, as large as they may be; an odd group
 * of bf16 heads whose tokens are all there. */
enum { SET_WIDE = SET_SHAPES, SET_GROUP, SET_ODD, SET_ALL };
int set_length(int seq);

struct set {
    struct rig *r;
    struct cache c;
    int punch; /* tokens are dropped */
    int32_t seq[ROWS], pos[ROWS];
    struct rows rows;
    float *q, *host_q; /* (ROWS, n_q, d) at row stride `stride` */
    int stride;
    struct plan plan;
    double logit[SLOTS]; /* written by the last plain_attend */
};

void set_open(struct set *s, struct rig *r, int shape);
void set_close(struct set *s);
/* The test on a set of each shape, on two threads. */
void set_each(void (*test)(struct set *s, int shape));
/* Releases what was taken from the rig since it held n_owned. */
void set_forget(struct set *s, int n_owned);
/* A row's head in the cache for query head q; 0 for the padding row. */
int set_head(const struct set *s, int row, int q);
const float *set_query(const struct set *s, int row, int q);

/* Softmax attention of one query head over the slots marked in `read`, of which none may be, and a sink
 * (-INFINITY: without); cap: of logits, 0: none. Returns the log-sum-exp, the sink's included. plain_attend()
 * is without sink and cap. */
double plain_softmax(struct set *s, int head, const float *q, const uint8_t *read, double scale, double sink,
                     double cap, double *out);
double plain_attend(struct set *s, int head, const float *q, const uint8_t *read, double scale, double *out);
/* plain_attend with the scaled query and the weights rounded to bf16, the latter relative to a power of 2.
 * slack: what the output may be off by for weights that fp32 may round up or down. */
double rounded_attend(struct set *s, int head, const float *q, const uint8_t *read, float scale, double *out,
                      double *slack);

/* Returns the log-sum-exp of n numbers; -inf of none. */
double set_log_sum(const double *x, int n);

#endif
