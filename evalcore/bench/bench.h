#ifndef EVALCORE_BENCH_BENCH_H
#define EVALCORE_BENCH_BENCH_H

#include <stdio.h>

#include "evalcore/base/err.h"
#include "evalcore/cli/device_list.h"

/* Benchmarks print one JSON line a figure: name, value, unit, floor (what the machine's own limits allow,
 * measured in the same run), share (value as a share of that limit), command. Adding one: a file bench_NAME.c
 * and a line in cmd_bench.c. */
struct bench {
    const struct device_list *device;
    int threads;         /* 0: all */
    const char *isa;     /* NULL: best */
    const char *model;   /* decode, prefill, components */
    const char *policy;  /* decode, prefill, components; NULL: full */
    int batch, tokens;   /* decode, prefill (tokens), components; 0: their own */
    int sampled;         /* decode */
    const char *pairs;   /* grade, or NULL */
    const char *command; /* as it can be repeated */
    FILE *csv;           /* or NULL */
    int n_printed;
};

typedef int (*bench_fn)(struct bench *b, struct err *e);

int bench_limits(struct bench *b, struct err *e);     /* read bandwidth by working set, FMA peak */
int bench_decode(struct bench *b, struct err *e);     /* whole steps of a model at batch 1 and 32 */
int bench_length(struct bench *b, struct err *e);     /* decode --tokens: from 1 token to that many */
int bench_prefill(struct bench *b, struct err *e);    /* a prompt alone */
int bench_components(struct bench *b, struct err *e); /* where the time of a step goes */
int bench_attention(struct bench *b, struct err *e);  /* paged decode attention, 32/8 heads */
int bench_topk(struct bench *b, struct err *e);       /* scores, their reduction and the best of them */
int bench_load(struct bench *b, struct err *e);       /* a model folder's weights onto the device */
int bench_tokenizer(struct bench *b, struct err *e);  /* MB/s of one core */
int bench_grade(struct bench *b, struct err *e);      /* the math grader: pairs, and hostile texts */

/* share = value / floor; floor 0: a figure without a limit to compare with, both are null. */
void bench_print(struct bench *b, const char *name, double value, const char *unit, double floor);

#endif
