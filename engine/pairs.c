/* A request whose likelihood is compared with a reference policy's: two sequences over the same tokens, which
 * are admitted, stepped, preempted and ended together, so that the logits of both are on the device at the
 * same time. The rows of a batch do not see each other, so each of the two has the bits that it has alone.
 *
 * The logits are copied to the host and compared there: vocab values for each of the two and each token. That
 * costs time on a GPU, and needs no operation of a backend that is for this alone. */
#include <omp.h>
#include <stdlib.h>

#include "engine/engine_impl.h"
#include "engine/memory/device.h"

/* The request is its own reference: nothing is decoded beside it. */
static const struct divergence none = {0, 1};

static int download_logits(struct engine *en, float *out, const float *logits, struct err *e)
{
    return device_download(en->be, en->dev, out, logits, (size_t)en->model.config.vocab * sizeof *out, e);
}

int pair_first_token(struct engine *en, struct sequence *s, const float *logits, struct err *e)
{
    size_t bytes = (size_t)en->model.config.vocab * sizeof(float);
    s->next = none;
    if (!s->pair)
        return 0;
    float *own = xmalloc(bytes);
    if (download_logits(en, own, logits, e)) {
        free(own);
        return e->code;
    }
    if (s->is_reference) {
        free(s->first_logits);
        s->first_logits = own;
        return 0;
    }
    divergence_compute(&s->next, s->pair->first_logits, own, en->model.config.vocab);
    free(own);
    return 0;
}

static int row_of(const struct batch *b, const struct sequence *s)
{
    int i = 0;
    while (i < b->n_rows && b->row[i] != s)
        i++;
    return i < b->n_rows ? i : -1;
}

struct compared {
    struct sequence *s;
    int row, other; /* rows of the request and of its reference */
};

static int find_pairs(const struct batch *b, struct compared *out)
{
    int n = 0;
    for (int i = 0; i < b->n_rows; i++) {
        struct sequence *s = b->row[i];
        int other = s && s->pair && !s->is_reference ? row_of(b, s->pair) : -1;
        if (other >= 0)
            out[n++] = (struct compared){s, i, other};
    }
    return n;
}

int pairs_compare(struct engine *en, struct err *e)
{
    struct compared pair[MAX_BATCH];
    size_t vocab = (size_t)en->model.config.vocab, stride = (size_t)en->tf.logits_stride;
    int n = find_pairs(&en->batch, pair), threads = en->options.threads;
    if (!n)
        return 0;
    float *logits = xmalloc(2 * (size_t)n * vocab * sizeof *logits);
    for (int i = 0; i < n && !e->code; i++) {
        float *p = logits + 2 * (size_t)i * vocab;
        if (!download_logits(en, p, en->tf.logits + (size_t)pair[i].other * stride, e))
            download_logits(en, p + vocab, en->tf.logits + (size_t)pair[i].row * stride, e);
    }
    if (!e->code) {
#pragma omp parallel for num_threads(threads > 0 ? threads : omp_get_max_threads()) schedule(dynamic, 1)
        for (int i = 0; i < n; i++) {
            const float *p = logits + 2 * (size_t)i * vocab;
            divergence_compute(&pair[i].s->next, p, p + vocab, (int)vocab);
        }
    }
    free(logits);
    return e->code;
}

void pairs_end(struct engine *en)
{
    for (int i = 0; i < en->n_active; i++) {
        struct sequence *s = en->active[i];
        if (s->pair && s->done)
            s->pair->done = 1;
    }
}

int pairs_are_active(const struct engine *en)
{
    for (int i = 0; i < en->n_active; i++)
        if (en->active[i]->pair)
            return 1;
    return 0;
}
