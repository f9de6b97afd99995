#ifndef ENGINE_LIKELIHOOD_H
#define ENGINE_LIKELIHOOD_H

#include "engine/engine.h"

/* How far two next-token distributions are apart, and sums of that by position (struct likelihood in
 * engine.h). */
struct divergence {
    double kl; /* Kullback-Leibler divergence KL(p || q) in nats: sum of p_i (log p_i - log q_i) */
    int agree; /* both have their largest logit at the same token; of equal logits the lower id counts */
};

/* p and q: logits (vocab), in host memory. The sums run over the whole vocabulary in the order of ids, in
 * double precision with an exponential and a logarithm of our own, so that every machine gets the same bits.
 * A divergence that rounding made negative is 0, and equal logits give exactly 0. *out is NaN when a logit is
 * not a number or all of one are -inf, and infinite where p is positive and q is 0. */
void divergence_compute(struct divergence *out, const float *p, const float *q, int vocab);

/* Adds a token that has `position` tokens before it and `bytes` bytes of text to its bucket; call it in
 * ascending order of positions. logprob: natural logarithm of its probability. */
void likelihood_add(struct likelihood *l, int position, size_t bytes, double logprob,
                    const struct divergence *d);

#endif
