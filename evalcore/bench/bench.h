#ifndef EVALCORE_BENCH_BENCH_H
#define EVALCORE_BENCH_BENCH_H

#include <stdio.h>

#include "evalcore/base/err.h"
#include "evalcore/cli/device_list.h"

/* Benchmarks, for `kveval bench` alone. A benchmark prints one JSON line per figure:
 * name, value, unit, floor (what the machine's own limits allow, measured in the same run), share (value as a
 * share of that limit), command. To add one, write a file that defines bench_NAME, and put X(NAME) below. */
struct bench {
    const struct device_list *device;
    int threads;         /* 0: all */
    const char *isa;     /* NULL: best */
    const char *model;   /* decode, prefill, components */
    const char *policy;  /* decode, prefill, components; NULL: full */
    int batch, tokens;   /* decode, prefill (tokens), components; 0: their own */
    int sampled;         /* decode */
    const char *pairs;   /* grade, or NULL */
    int nights;          /* stats; 0: its own */
    const char *command; /* as it can be repeated */
    FILE *csv;           /* or NULL */
    int n_printed;
};

/* Runs a benchmark and prints its figures. Returns 0 or a negative ERR_ code; figures printed before an error
 * stay. */
typedef int (*bench_fn)(struct bench *b, struct err *e);

/* The benchmarks, in the order in which they run. */
#define BENCHES(X)                                                                                           \
    X(limits)     /* read bandwidth by working set, peak of multiply-adds */                                 \
    X(decode)     /* whole steps of a model at batch 1 and 32; with --tokens N from 1 token to N */          \
    X(prefill)    /* a prompt alone */                                                                       \
    X(components) /* where the time of a step goes */                                                        \
    X(attention)  /* paged decode attention */                                                               \
    X(prompts)    /* attention to prompts, dense and sparse; on a GPU */                                     \
    X(topk)       /* scores, their reduction and the choice of the best */                                   \
    X(forget)     /* what the last queries attend to, where a policy forgets by that */                      \
    X(linear)     /* matrix products, beside the vendor's library without the law of equal bits */           \
    X(load)       /* the weights of a model folder onto the device */                                        \
    X(tokenizer)  /* MB/s of one core */                                                                     \
    X(grade)      /* the math grader: pairs, and hostile texts */                                            \
    X(stats)      /* no speed: the error rates of the statistics, by simulation; only when named */

#define X(name) int bench_##name(struct bench *b, struct err *e);
BENCHES(X)
#undef X
int bench_length(struct bench *b, struct err *e); /* what bench_decode does with --tokens */

/* Prints a figure as a line of JSON on standard output, and where b->csv is given as a row of it, behind the
 * heading when it is the first; counts it in n_printed. share is value / floor; floor 0: the figure has no
 * limit to compare with, and both are null. */
void bench_print(struct bench *b, const char *name, double value, const char *unit, double floor);

#endif
