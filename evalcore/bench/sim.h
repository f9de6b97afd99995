#ifndef EVALCORE_BENCH_SIM_H
#define EVALCORE_BENCH_SIM_H

#include "evalcore/base/rng.h"
#include "evalcore/bench/bench.h"

/* Shared by the simulations of `kveval bench stats`. Every simulated night has a random stream of its own, so
 * the figures depend on the seed and the number of nights alone. None of these functions fails. */
struct sim {
    struct bench *b;
    int nights;
    uint64_t seed;
};
/* The simulations. Each prints its figures with sim_print(), and tables for people on standard error. */
void sim_gate(const struct sim *s);     /* how often the nightly gate errs and how often it finds a drop */
void sim_noise(const struct sim *s);    /* tier 1 by a server's log-probabilities */
void sim_peers(const struct sim *s);    /* the gate beside rules that engines' own tests have published */
void sim_coverage(const struct sim *s); /* how often each interval holds the true value */
void sim_errors(const struct sim *s);   /* how often each test calls a difference where there is none */

/* The one loop of all simulations: draws `nights` nights, on all threads, and sets sums to what they add up
 * to; a night adds to the sums that it is given. `what` says what is drawn; `experiment` numbers it, and no
 * two may share a number. The sums should be counts, which come out the same in any order. */
enum { SIM_SUMS = 4 };
typedef void (*sim_night)(struct rng *r, const void *what, double sums[SIM_SUMS]);
void sim_count(const struct sim *s, int experiment, int nights, sim_night night, const void *what,
               double sums[SIM_SUMS]);

/* What the gate says of `nights` nights with 60 problems, rates of Beta with this mean and a + b = weight,
 * and a change that many points/100: shares of nights called a regression, and answers a problem. sim_gate.c.
 */
struct sim_gate_rate {
    double fails, answers;
};
struct sim_gate_rate sim_gate_rate(const struct sim *s, int experiment, double mean, double weight,
                                   double change);

/* Numbers of problems: the columns of the tables of intervals and tests. */
enum { SIM_SIZES = 6, SIM_PROBLEMS_MAX = 500 };
extern const int sim_sizes[SIM_SIZES];
/* Prints a table's title and its heading, with columns of this width, on standard error. */
void sim_heading(const char *title, int width);

/* Random draws: the successes of n trials with probability p, and a standard normal value. */
long sim_binomial(struct rng *r, long n, double p);
double sim_normal(struct rng *r);
/* A draw from the beta distribution with a + b = `weight`: small weights put most problems near 0 or 1; 0
 * stands for the mean itself. mean in [0, 1], weight at most 1 / max(mean, 1 - mean). */
double sim_beta(struct rng *r, double mean, double weight);

/* Prints a figure with bench_print(), under the formatted name (at most 127 bytes) and with target as floor;
 * 0: none. */
void sim_print(const struct sim *s, double value, const char *unit, double target, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Prints a line of the table for people on standard error, with a line end behind it. */
void sim_print_row(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
