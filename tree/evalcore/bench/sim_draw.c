/* What the simulations share: random draws, the loop over nights, and printing (contract: sim.h). */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "evalcore/bench/sim.h"

const int sim_sizes[SIM_SIZES] = {6, 12, 30, 60, 198, 500};

void sim_count(const struct sim *s, int experiment, int nights, sim_night night, const void *what,
               double sums[SIM_SUMS])
{
    double total[SIM_SUMS] = {0};
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : total)
    for (int k = 0; k < nights; k++) {
        struct rng r;
        rng_init(&r, s->seed, (uint64_t)experiment << 32 | (uint32_t)k);
        night(&r, what, total);
    }
    memcpy(sums, total, sizeof total);
}

long sim_binomial(struct rng *r, long n, double p)
{
    long k = 0;
    double threshold = p * 4294967296.0;
    for (long i = 0; i < n; i++)
        k += (double)rng_u32(r) < threshold;
    return k;
}

/* Box and Muller (1958). */
double sim_normal(struct rng *r)
{
    double radius = sqrt(-2 * log(1 - rng_unit(r)));
    return radius * cos(6.28318530717958647693 * rng_unit(r));
}

/* Johnk (1964): the share x / (x + y) of two powers of uniform numbers, when their sum is at most 1. */
double sim_beta(struct rng *r, double mean, double weight)
{
    if (weight <= 0 || mean <= 0 || mean >= 1)
        return mean;
    for (;;) {
        double x = pow(1 - rng_unit(r), 1 / (mean * weight));
        double y = pow(1 - rng_unit(r), 1 / ((1 - mean) * weight));
        if (x + y > 0 && x + y <= 1)
            return x / (x + y);
    }
}

void sim_print(const struct sim *s, double value, const char *unit, double target, const char *format, ...)
{
    char name[128];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    bench_print(s->b, name, value, unit, target);
}

void sim_print_row(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void sim_heading(const char *title, int width)
{
    fprintf(stderr, "\n%s\n%-20s", title, "problems");
    for (int i = 0; i < SIM_SIZES; i++)
        fprintf(stderr, "%*d", width, sim_sizes[i]);
    fputc('\n', stderr);
}
