#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

/* The test framework: a failed check prints file:line and both values and the test goes on; main ends with
 * `return check_done();`. A test that cannot run here calls check_skip("why") and exits 77. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures, check_count;

#define CHECK(cond)                                                                                          \
    do {                                                                                                     \
        check_count++;                                                                                       \
        if (!(cond)) {                                                                                       \
            check_failures++;                                                                                \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);                               \
        }                                                                                                    \
    } while (0)

#define CHECK_INT(got, want)                                                                                 \
    do {                                                                                                     \
        long long g_ = (long long)(got), w_ = (long long)(want);                                             \
        check_count++;                                                                                       \
        if (g_ != w_) {                                                                                      \
            check_failures++;                                                                                \
            fprintf(stderr, "%s:%d: %s is %lld, want %lld\n", __FILE__, __LINE__, #got, g_, w_);             \
        }                                                                                                    \
    } while (0)

#define CHECK_STR(got, want)                                                                                 \
    do {                                                                                                     \
        const char *g_ = (got), *w_ = (want);                                                                \
        check_count++;                                                                                       \
        if (!g_ || !w_ || strcmp(g_, w_) != 0) {                                                             \
            check_failures++;                                                                                \
            fprintf(stderr, "%s:%d: %s is \"%s\", want \"%s\"\n", __FILE__, __LINE__, #got,                  \
                    g_ ? g_ : "(null)", w_ ? w_ : "(null)");                                                 \
        }                                                                                                    \
    } while (0)

#define CHECK_NEAR(got, want, tolerance)                                                                     \
    do {                                                                                                     \
        double g_ = (got), w_ = (want), t_ = (tolerance);                                                    \
        check_count++;                                                                                       \
        if (!(fabs(g_ - w_) <= t_)) {                                                                        \
            check_failures++;                                                                                \
            fprintf(stderr, "%s:%d: %s is %.9g, want %.9g within %g\n", __FILE__, __LINE__, #got, g_, w_,    \
                    t_);                                                                                     \
        }                                                                                                    \
    } while (0)

__attribute__((unused)) static int check_done(void)
{
    if (check_failures)
        fprintf(stderr, "%d of %d checks failed\n", check_failures, check_count);
    else if (!check_count)
        fprintf(stderr, "no check ran\n");
    return check_failures || !check_count ? 1 : 0;
}

/* 1 under KVEVAL_TEST_SMALL=1 (./kv test and sanitized builds): take fewer and shorter cases of every kind.
 * ./kv test --all takes all of them. */
__attribute__((unused)) static int check_small(void)
{
    const char *small = getenv("KVEVAL_TEST_SMALL");
    return small && strcmp(small, "1") == 0;
}

__attribute__((unused)) static void check_skip(const char *why)
{
    fprintf(stderr, "skipped: %s\n", why);
    exit(77);
}

#endif
