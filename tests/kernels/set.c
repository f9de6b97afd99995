/* See set.h. */
#include "tests/kernels/set.h"

int set_length(int seq)
{
    static const int lengths[SEQS] = {1, 16, 17, 513, 1500, 4400};
    return !rig_small() ? lengths[seq] : seq == 4 ? 2070 : seq == 5 ? 1100 : lengths[seq];
}

static const struct {
    int n_q, n_kv, d;
    enum dtype t;
    int punch;
} shapes[SET_ALL] = {{4, 2, 64, DTYPE_F32, 0},  {4, 2, 64, DTYPE_BF16, 1},  {2, 2, 128, DTYPE_BF16, 0},
                     {7, 1, 128, DTYPE_F32, 1}, {8, 1, 32, DTYPE_BF16, 1},  {6, 2, 48, DTYPE_F32, 1},
                     {5, 1, 16, DTYPE_F32, 0},  {7, 1, 128, DTYPE_BF16, 1}, {8, 1, 64, DTYPE_BF16, 0},
                     {2, 1, 256, DTYPE_F32, 0}, {16, 1, 64, DTYPE_BF16, 0}, {7, 1, 128, DTYPE_BF16, 0}};

void set_open(struct set *s, struct rig *r, int shape)
{
    int n_q = shapes[shape].n_q, n_kv = shapes[shape].n_kv, d = shapes[shape].d;
    s->punch = shapes[shape].punch;
    s->r = r;
    cache_open(&s->c, r, SEQS, LAYERS, n_q, n_kv, d, PAGES, shapes[shape].t);
    for (int i = 0; i < SEQS; i++) {
        int n = set_length(i);
        cache_prefill(&s->c, r, i, 0, n / 2);
        cache_prefill(&s->c, r, i, n / 2, n - n / 2);
        if (s->punch)
            cache_punch(&s->c, r, i, i == 4 ? 97 : 30);
    }
    /* Rows in another order than sequences, one of them padding. */
    for (int i = 0; i <= SEQS; i++) {
        s->seq[i] = i == 3 ? -1 : (i < 3 ? i : i - 1) * 5 % SEQS;
        s->pos[i] = i == 3 ? 0 : set_length(s->seq[i]) - 1;
    }
    s->rows = (struct rows){ROWS, rig_up(r, s->seq, sizeof s->seq), rig_up(r, s->pos, sizeof s->pos)};
    s->stride = n_q * d + 3;
    s->host_q = malloc((size_t)(ROWS * s->stride) * sizeof(float));
    rig_fill(r, s->host_q, (size_t)(ROWS * s->stride));
    s->q = rig_up(r, s->host_q, (size_t)(ROWS * s->stride) * sizeof(float));
    size_t lists = (size_t)(ROWS * n_kv);
    s->plan.entry = rig_alloc(r, lists * PAGES * sizeof *s->plan.entry);
    s->plan.n = rig_alloc(r, lists * sizeof *s->plan.n);
}

void set_close(struct set *s)
{
    cache_close(&s->c);
    free(s->host_q);
}

void set_each(void (*test)(struct set *s, int shape))
{
    static struct set s;
    for (int i = 0; i < SET_SHAPES; i++) {
        struct rig r;
        rig_open(&r, NULL, 2);
        set_open(&s, &r, i);
        test(&s, i);
        set_close(&s);
        rig_close(&r);
    }
}

void set_forget(struct set *s, int n_owned)
{
    while (s->r->n_owned > n_owned)
        s->r->b->release(s->r->d, s->r->owned[--s->r->n_owned]);
}

int set_head(const struct set *s, int row, int q)
{
    return s->seq[row] < 0 ? 0 : cache_head(&s->c, s->seq[row], LAYER, q / (s->c.n_q / s->c.kv.n_kv));
}

const float *set_query(const struct set *s, int row, int q)
{
    return s->host_q + row * s->stride + q * s->c.kv.head_dim;
}

double plain_softmax(struct set *s, int head, const float *q, const uint8_t *read, double scale, double sink,
                     double cap, double *out)
{
    int d = s->c.kv.head_dim;
    size_t base = (size_t)head * SLOTS;
    double top = sink, sum = 0;
    for (int t = 0; t < SLOTS; t++) {
        s->logit[t] = -INFINITY;
        if (!read[t])
            continue;
        double x = 0;
        for (int i = 0; i < d; i++)
            x += (double)q[i] * (double)s->c.k[(base + (size_t)t) * (size_t)d + (size_t)i];
        s->logit[t] = cap > 0 ? cap * tanh(x * scale / cap) : x * scale;
        top = s->logit[t] > top ? s->logit[t] : top;
    }
    for (int i = 0; i < d; i++)
        out[i] = 0;
    for (int t = 0; t < SLOTS; t++)
        sum += read[t] ? exp(s->logit[t] - top) : 0;
    sum += sink > -INFINITY ? exp(sink - top) : 0;
    for (int t = 0; t < SLOTS && sum > 0; t++) {
        double p = read[t] ? exp(s->logit[t] - top) / sum : 0;
        for (int i = 0; read[t] && i < d; i++)
            out[i] += p * (double)s->c.v[(base + (size_t)t) * (size_t)d + (size_t)i];
    }
    return sum > 0 ? top + log(sum) : -INFINITY;
}

double plain_attend(struct set *s, int head, const float *q, const uint8_t *read, double scale, double *out)
{
    return plain_softmax(s, head, q, read, scale, -INFINITY, 0, out);
}

double rounded_attend(struct set *s, int head, const float *q, const uint8_t *read, float scale, double *out,
                      double *slack)
{
    enum { MOST_DIM = 256, MOST_VALUE = 1 }; /* outputs are means of values up to 1 */
    /* Of a weight, relative: fp32 logits of up to 20 are off by 2e-6 or so, and the exponential by 2 ulp. */
    const double error = 4e-6;
    int d = s->c.kv.head_dim;
    float rounded[MOST_DIM];
    double sum = 0, top = -INFINITY;
    for (int i = 0; i < d; i++)
        rounded[i] = rig_bf16(q[i] * (scale * 1.44269504088896340736f));
    plain_attend(s, head, rounded, read, 1, out); /* for its logits, in base 2 */
    for (int t = 0; t < SLOTS; t++)
        top = fmax(top, s->logit[t]);
    for (int i = 0; i < d; i++)
        out[i] = slack[i] = 0;
    for (int t = 0; t < SLOTS && top > -INFINITY; t++) {
        double p = exp2(s->logit[t] - ceil(top)), rounded_p = (double)rig_bf16((float)p);
        double low = (double)rig_bf16((float)(p * (1 - error))),
               high = (double)rig_bf16((float)(p * (1 + error)));
        const float *v = s->c.v + ((size_t)head * SLOTS + (size_t)t) * (size_t)d;
        sum += rounded_p;
        for (int i = 0; read[t] && i < d; i++) {
            out[i] += rounded_p * (double)v[i];
            slack[i] += (high - low) * (fabs((double)v[i]) + MOST_VALUE);
        }
    }
    for (int i = 0; i < d && sum > 0; i++) {
        out[i] /= sum;
        slack[i] /= sum;
    }
    return sum > 0 ? (ceil(top) + log2(sum)) * log(2) : -INFINITY;
}

double set_log_sum(const double *x, int n)
{
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]);
    for (int i = 0; i < n && top > -INFINITY; i++)
        sum += exp(x[i] - top);
    return top > -INFINITY ? top + log(sum) : top;
}
