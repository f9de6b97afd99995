#ifndef TESTS_ENGINE_READS_H
#define TESTS_ENGINE_READS_H

#include <math.h>

#include "tests/engine/laws.h"

/* What test_reads.c and test_reads_forget.c share: rows of policies with formulas (docs/policies.md) of what
 * they read and hold on the embedded model, and the check that decodes the rows and compares. */

#if defined(__SANITIZE_ADDRESS__)
enum { STEPS = 10, LONG = 40, FAMILIES = 1 }; /* the sanitized build takes ten times as long */
#else
enum { STEPS = 40, LONG = 100, FAMILIES = LAW_FAMILIES };
#endif

/* One decode step: what the formulas depend on. */
struct step {
    double s, prompt, total; /* context with the current token; prompt; prompt and longest completion */
    double a, b;             /* the row's numbers */
};

/* A formula gives the mean of what the 8 layers read, exactly (low = high) or as bounds. */
struct range {
    double low, high;
};

struct reads_row {
    const char *spec;
    struct range (*reads)(struct step t);
    double (*aux)(struct step t);
    double a, b;
    /* What it holds after a step. 0: everything; 1: what it has read; 2: what it reads in the next step, less
     * the token that the next step adds. */
    int forgets;
    int steps;
    double (*bounds)(
        struct step t); /* page bounds held, a token's worth for each page; NULL: it needs none */
};

/* Decodes FAMILIES problems under each of n rows and compares reads, auxiliary reads and the most tokens held
 * with the formulas. Prints the completions that do not fit and returns how many. */
int reads_check(struct engine *en, const struct reads_row *rows, int n);

double min2(double x, double y);
double max2(double x, double y);
/* Tokens in k pages of `page` tokens, one of which is the last page, which may be partial. */
double with_last(double s, double k, double page);
struct range exact(double x);
/* `dense` of the 8 layers read everything, the others what `sparse` says. */
struct range layers(double s, double dense, struct range sparse);
struct range all(struct step t);
/* When the last page is not forced: a pages, or floor(s / 16) when all would fit. */
struct range free_pages(double s, double k, double page);
/* StreamingLLM: sinks and recent tokens, W in all, in every layer. */
struct range streaming(struct step t);
double none(struct step t);
double pages8(struct step t);
/* The logits of a KV head's two query heads, fp32, written and read again in `layers` of the 8: 16 bytes per
 * token, where K and V have 128 values. */
double logits(double tokens);

#endif
