/* Formulas of reads that several policies share, and their check (contract: reads.h). */
#include "tests/engine/reads.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/check.h"

double min2(double x, double y)
{
    return x < y ? x : y;
}

double max2(double x, double y)
{
    return x > y ? x : y;
}

double with_last(double s, double k, double page)
{
    double n = ceil(s / page);
    return n <= k ? s : k * page - (n * page - s);
}

struct range exact(double x)
{
    return (struct range){x, x};
}

struct range layers(double s, double dense, struct range sparse)
{
    return (struct range){(dense * s + (8 - dense) * sparse.low) / 8,
                          (dense * s + (8 - dense) * sparse.high) / 8};
}

struct range all(struct step t)
{
    return exact(t.s);
}

struct range free_pages(double s, double k, double page)
{
    return (struct range){with_last(s, k, page), min2(s, k * page)};
}

struct range streaming(struct step t)
{
    return exact(min2(t.s, max2(t.a, floor(t.b * t.s))));
}

double none(struct step t)
{
    (void)t;
    return 0;
}

double pages8(struct step t)
{
    return ceil(t.s / 16);
}

double logits(double tokens)
{
    return tokens * 16 / (decode_rounds() ? 256 : 512);
}

static int fits_formulas(const struct item *it, const struct reads_row *row, const char *family)
{
    double low = 0, high = 0, full = 0, aux = 0, held = 0, prompt = it->req.n_prompt;
    for (int k = 1; k < row->steps; k++) { /* the first token comes from the prompt */
        struct step t = {prompt + k, prompt, prompt + row->steps, row->a, row->b};
        struct range r = row->reads(t);
        low += r.low;
        high += r.high;
        aux += row->aux(t);
        full += t.s;
        struct step next = t;
        next.s++;
        double tokens = row->forgets == 2 ? row->reads(next).low - 1 : row->forgets == 1 ? r.low : t.s;
        held = max2(held, tokens + (row->bounds ? row->bounds(t) : 0));
    }
    const struct kv_counts *kv = &it->kv;
    int fits = it->n_ids == row->steps && fabs(kv->reads_full - full) < 1e-9 && kv->reads >= low - 1e-6 &&
               kv->reads <= high + 1e-6 && fabs(kv->aux_reads - aux) <= 1e-6 &&
               fabs(kv->peak_tokens - held) <= 1e-6;
    if (!fits)
        printf("%s on %s: %d tokens of %d; %.3f reads, %.3f to %.3f expected; %.3f aux, %.3f expected; %.3f "
               "held, "
               "%.3f expected\n",
               row->spec, family, it->n_ids, row->steps, kv->reads, low, high, kv->aux_reads, aux,
               kv->peak_tokens, held);
    return fits;
}

int reads_check(struct engine *en, const struct reads_row *rows, int n)
{
    const int families = check_small() ? (FAMILIES + 1) / 2 : FAMILIES;
    int misfits = 0;
    struct item *items = calloc((size_t)n * families, sizeof *items);
    for (int i = 0; i < n * families; i++) {
        const struct reads_row *row = &rows[i / families];
        items[i] = law_item(decode_policy(en, row->spec), i % families, row->steps);
        items[i].req.ignore_eos = 1;
    }
    decode_all(en, items, n * families, NULL);
    for (int i = 0; i < n * families; i++)
        misfits += !fits_formulas(&items[i], &rows[i / families], law_families[i % families]);
    items_release(items, n * families);
    free(items);
    return misfits;
}
