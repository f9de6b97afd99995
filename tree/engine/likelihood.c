/* The likelihood of given tokens and the divergence from another policy's distributions (contract:
 * likelihood.h).
 *
 * With x and y for the logits, and X and Y for the logarithms of the sums of their exponentials,
 *
 *   KL(p || q) = sum of p_i ((x_i - X) - (y_i - Y)) = sum of p_i (x_i - y_i) - (X - Y)
 *
 * so each distribution needs one logarithm and p one exponential a token. Library functions may give other
 * last bits on a processor with fused multiply-add, hence our own. */
#include "engine/likelihood.h"

#include <math.h>
#include <string.h>

#define LN2_HIGH 0x1.62e42feep-1 /* 32 bits, so that a product with a small integer is exact */
#define LN2_LOW  0x1.a39ef35793c76p-33
#define LOG2_E   0x1.71547652b82fep+0

/* exp(x) for x <= 0: 2^k times the Taylor series of the rest, |r| <= ln(2)/2, whose next term is below
 * 5e-18. What is below the smallest normal number is 0. */
static double exp_below(double x)
{
    static const double c[] = {1,
                               1,
                               1.0 / 2,
                               1.0 / 6,
                               1.0 / 24,
                               1.0 / 120,
                               1.0 / 720,
                               1.0 / 5040,
                               1.0 / 40320,
                               1.0 / 362880,
                               1.0 / 3628800,
                               1.0 / 39916800,
                               1.0 / 479001600,
                               1.0 / 6227020800};
    if (!(x > -708))
        return 0;
    int k = (int)(x * LOG2_E - 0.5);
    double r = (x - k * LN2_HIGH) - k * LN2_LOW, sum = c[13], scale;
    for (int i = 12; i >= 0; i--)
        sum = c[i] + sum * r;
    uint64_t bits = (uint64_t)(1023 + k) << 52;
    memcpy(&scale, &bits, sizeof scale);
    return sum * scale;
}

/* log(x) for x >= 1: x = 2^k m with m near 1, and log(m) = 2 artanh((m - 1) / (m + 1)), whose next term is
 * below 1e-19. */
static double log_above(double x)
{
    int k;
    double m = frexp(x, &k);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        k--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int i = 23; i > 0; i -= 2)
        sum = sum * square + 2.0 / i;
    return k * LN2_HIGH + (s * sum + k * LN2_LOW);
}

/* The token with the largest logit; -1 when there is none to choose from. */
static int largest_logit(const float *v, int n)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (isnan(v[i]))
            return -1;
        if (v[i] > -INFINITY && (best < 0 || v[i] > v[best]))
            best = i;
    }
    return best >= 0 && v[best] < INFINITY ? best : -1;
}

void divergence_compute(struct divergence *out, const float *p, const float *q, int vocab)
{
    int bp = largest_logit(p, vocab), bq = largest_logit(q, vocab);
    double sum_p = 0, sum_q = 0, mixed = 0;
    *out = (struct divergence){NAN, 0};
    if (bp < 0 || bq < 0)
        return;
    double top_p = (double)p[bp], top_q = (double)q[bq];
    for (int i = 0; i < vocab; i++) {
        double x = (double)p[i] - top_p, y = (double)q[i] - top_q, w = exp_below(x);
        sum_p += w;
        sum_q += exp_below(y);
        mixed += w > 0 ? w * (x - y) : 0;
    }
    double kl = mixed / sum_p - (log_above(sum_p) - log_above(sum_q));
    *out = (struct divergence){kl > 0 ? kl : 0, bp == bq};
}

static int bucket_of(int position)
{
    int k = 0;
    while (position >> (k + 1))
        k++;
    return k;
}

void likelihood_add(struct likelihood *l, int position, size_t bytes, double logprob,
                    const struct divergence *d)
{
    int first = 1 << bucket_of(position);
    if (!l->n || l->bucket[l->n - 1].first != first)
        l->bucket[l->n++] = (struct likelihood_bucket){.first = first};
    struct likelihood_bucket *b = &l->bucket[l->n - 1];
    b->tokens++;
    b->bytes += (int64_t)bytes;
    b->agree += d->agree;
    b->bits += -logprob * LOG2_E;
    b->kl += d->kl;
}

static void add_bucket(struct likelihood_bucket *to, const struct likelihood_bucket *b)
{
    to->tokens += b->tokens;
    to->bytes += b->bytes;
    to->agree += b->agree;
    to->bits += b->bits;
    to->kl += b->kl;
}

struct likelihood_bucket likelihood_total(const struct likelihood *l)
{
    struct likelihood_bucket sum = {0};
    for (int i = 0; i < l->n; i++)
        add_bucket(&sum, &l->bucket[i]);
    return sum;
}

void likelihood_merge(struct likelihood *into, const struct likelihood *l)
{
    for (int i = 0; i < l->n; i++) {
        int at = 0;
        while (at < into->n && into->bucket[at].first < l->bucket[i].first)
            at++;
        if (at == into->n || into->bucket[at].first != l->bucket[i].first) {
            for (int k = into->n++; k > at; k--)
                into->bucket[k] = into->bucket[k - 1];
            into->bucket[at] = (struct likelihood_bucket){.first = l->bucket[i].first};
        }
        add_bucket(&into->bucket[at], &l->bucket[i]);
    }
}
