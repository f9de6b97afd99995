/* Texts against their baseline. They are compared window by window, since the same window is hard or easy for
 * all: the differences of bits per byte get a t interval and a sign-flip test, as scores of problems do. */
#include "evalcore/report/data/report_data.h"

#include <math.h>
#include <stdlib.h>

struct likelihood_figures report_likelihood_figures(const struct likelihood *l)
{
    struct likelihood_bucket sum = likelihood_total(l);
    return (struct likelihood_figures){sum.bytes ? sum.bits / (double)sum.bytes : NAN,
                                       sum.tokens ? sum.kl / sum.tokens : NAN,
                                       sum.tokens ? (double)sum.agree / sum.tokens : NAN};
}

/* Both cells have the same windows, because they have the same task. */
static void compare_windows(struct pair *out, const struct cell_stats *a, const struct cell_stats *b)
{
    size_t n = 0, windows = (size_t)b->cell->task->n_problems;
    double *d = xmalloc((windows + 1) * sizeof *d);
    enum signflip how;
    for (size_t i = 0; i < windows; i++)
        if (a->jobs[i] && b->jobs[i])
            d[n++] = b->sum[i] / (double)b->jobs[i] - a->sum[i] / (double)a->jobs[i];
    *out = (struct pair){.problems = (int)n,
                         .is_incomplete = a->cell->n_records < a->cell->n_expected ||
                                          b->cell->n_records < b->cell->n_expected,
                         .delta = stat_mean(d, n),
                         .ci = stat_mean_t(d, n),
                         .p = n ? stat_signflip(d, n, 0, &how) : NAN,
                         .holm = NAN};
    free(d);
}

void report_text_pairs(struct report *r)
{
    int *group = arena_alloc(r->arena, ((size_t)r->run->n_cells + 1) * sizeof *group);
    r->text_pairs = arena_alloc(r->arena, ((size_t)r->run->n_cells + 1) * sizeof *r->text_pairs);
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = &r->run->cells[i];
        if (!c->task->is_text || c->baseline < 0 || c->baseline == i)
            continue;
        struct pair *p = &r->text_pairs[r->n_text_pairs];
        compare_windows(p, &r->cells[c->baseline], &r->cells[i]);
        p->a = c->baseline;
        p->b = i;
        group[r->n_text_pairs++] = r->cells[i].panel;
    }
    report_holm(r->text_pairs, r->n_text_pairs, group);
}

const struct pair *report_text_pair_of(const struct report *r, int cell)
{
    for (int i = 0; i < r->n_text_pairs; i++)
        if (r->text_pairs[i].b == cell)
            return &r->text_pairs[i];
    return NULL;
}
