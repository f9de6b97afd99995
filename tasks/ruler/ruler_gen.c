/* What the generators of RULER's families share: draws, and needles in a haystack. */
#include "tasks/ruler/ruler_gen.h"

#include <string.h>

void ruler_draft_release(struct ruler_draft *d)
{
    str_release(&d->prompt);
    str_release(&d->answer_prefix);
}

void ruler_rng(struct rng *r, const struct ruler_call *c, enum ruler_stream stream)
{
    rng_init(r, c->key, (uint64_t)c->index * RULER_STREAMS + stream);
}

void ruler_sample(int *out, int k, int n, struct rng *r)
{
    for (int i = 0; i < k;) {
        int v = (int)rng_below(r, (uint32_t)n), at = i;
        while (at > 0 && out[at - 1] > v)
            at--;
        if (at > 0 && out[at - 1] == v)
            continue;
        memmove(out + at + 1, out + at, (size_t)(i - at) * sizeof *out);
        out[at] = v;
        i++;
    }
}

void ruler_mix(struct str *out, const struct ruler_mix *m)
{
    int k = 0;
    for (int i = 0; i <= m->size; i++) {
        for (; k < m->n_needles && m->at[k] == i; k++) {
            str_puts(out, i || k ? m->separator : "");
            str_puts(out, m->needle[k].s);
        }
        if (i == m->size)
            break;
        str_puts(out, i || k ? m->separator : "");
        m->unit(m->context, out);
    }
}

const char *ruler_protocol(const struct ruler_call *c, const char *part, const char *name)
{
    return json_string_value(json_object_get(json_object_get(c->protocol, part), name));
}

const char *ruler_noise(const struct ruler_call *c)
{
    return json_string_value(json_object_get(c->protocol, "noise"));
}
