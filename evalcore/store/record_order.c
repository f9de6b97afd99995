/* Two records of one job (contract: record_order.h). */
#include "evalcore/store/record_order.h"

#include <string.h>

static int by_value(double a, double b)
{
    return (a > b) - (a < b);
}

/* The tokens of a text are given, so its results differ in what is summed over them. */
static int compare_likelihoods(const struct likelihood *a, const struct likelihood *b)
{
    if (!a || !b)
        return (a != NULL) - (b != NULL);
    struct likelihood_bucket x = likelihood_total(a), y = likelihood_total(b);
    int bits = by_value(x.bits, y.bits), kl = by_value(x.kl, y.kl);
    return bits ? bits : kl ? kl : by_value((double)x.agree, (double)y.agree);
}

int record_compare(const struct record *a, const char *digest_a, const struct record *b, const char *digest_b)
{
    int ids = strcmp(digest_a, digest_b);
    return ids ? ids : compare_likelihoods(a->likelihood, b->likelihood);
}

int record_is_withdrawal(const struct record *r)
{
    return r->withdrawn & 1;
}

int record_is_better(const struct record *a, const char *digest_a, const struct record *b,
                     const char *digest_b)
{
    if (a->withdrawn != b->withdrawn)
        return a->withdrawn > b->withdrawn;
    if ((a->finish == FINISHED_ERROR) != (b->finish == FINISHED_ERROR))
        return b->finish == FINISHED_ERROR;
    return record_compare(a, digest_a, b, digest_b) < 0;
}
