/* The section "Several answers to a problem": its table. */
#include <math.h>
#include <stdlib.h>

#include "evalcore/report/data/report_samples.h"
#include "evalcore/report/report_parts.h"

enum { KS_MAX = 32 };

struct ks { /* of pass@k, over all cells, ascending */
    int k[KS_MAX], n;
};

static void add_k(struct ks *all, int k)
{
    int at = all->n;
    while (at > 0 && all->k[at - 1] > k)
        at--;
    if ((at > 0 && all->k[at - 1] == k) || all->n == KS_MAX)
        return;
    for (int i = all->n++; i > at; i--)
        all->k[i] = all->k[i - 1];
    all->k[at] = k;
}

static const struct sample_value *find_value(const struct sample_stats *s, enum sample_kind kind, int k)
{
    for (int i = 0; i < s->n_values; i++)
        if (s->value[i].kind == kind && (!k || s->value[i].k == k))
            return &s->value[i];
    return NULL;
}

static void value_cell(struct doc *d, struct table *t, const struct sample_value *v)
{
    report_number_cell(d, t, v ? 100 * v->over.mean : NAN, 1);
}

static void add_samples_row(struct doc *d, struct table *t, const struct report *r,
                            const struct cell_stats *s, const struct sample_stats *x, const struct ks *ks)
{
    const struct sample_value *avg = find_value(x, SAMPLE_AVG, 0);
    table_row(d, t);
    table_add(d, t, 0, "%s", report_row_name(r, s->row));
    table_cell_of(d, t, s->cell->id);
    table_add(d, t, 0, "%d \xC3\x97 %d", x->n_problems, x->n);
    if (x->n_problems < s->cell->task->n_problems)
        table_small(d, t, "%d left out", s->cell->task->n_problems - x->n_problems);
    if (!avg)
        table_add(d, t, CELL_MUTED, "-");
    else if (isnan(avg->over.se))
        table_add(d, t, 0, "%.1f", 100 * avg->over.mean);
    else
        table_add(d, t, 0, "%.1f \xC2\xB1 %.1f", 100 * avg->over.mean, 100 * avg->over.se);
    for (int i = 0; i < ks->n; i++)
        value_cell(d, t, find_value(x, SAMPLE_PASS, ks->k[i]));
    value_cell(d, t, find_value(x, SAMPLE_MAJ, 0));
}

void report_add_samples(struct doc *d, const struct report *r)
{
    struct sample_stats *all = xcalloc((size_t)r->run->n_cells + 1, sizeof *all);
    struct ks ks = {{0}, 0};
    for (int i = 0; i < r->run->n_cells; i++) {
        report_samples(&all[i], &r->cells[i]);
        for (int k = 0; k < all[i].n_values; k++)
            if (all[i].value[k].kind == SAMPLE_PASS)
                add_k(&ks, all[i].value[k].k);
    }
    struct table *t = doc_table(
        d, "In percent. avg@n: the mean of all n answers, and behind \xC2\xB1 its standard error across "
           "problems, "
           "which are taken as independent. pass@k: how often one of k answers is right, over all choices of "
           "k of the n. maj@n: how often the commonest answer is right; a tie of t counts 1/t. Problems that "
           "lack some of their answers are left out.");
    table_column(d, t, "policy", 0);
    table_column(d, t, "problems \xC3\x97 samples", CELL_NUMBER);
    table_column(d, t, "avg@n", CELL_NUMBER);
    for (int i = 0; i < ks.n; i++)
        table_column(d, t, arena_printf(d->arena, "pass@%d", ks.k[i]), CELL_NUMBER);
    table_column(d, t, "maj@n", CELL_NUMBER);
    for (int panel = 0; panel < r->n_panels; panel++) { /* merged runs have a task of several models */
        int n = 0;
        for (int i = 0; i < r->run->n_cells; i++) {
            if (r->cells[i].panel != panel || !all[i].n_values)
                continue;
            if (!n++)
                table_group(d, t, r->panels[panel].title);
            add_samples_row(d, t, r, &r->cells[i], &all[i], &ks);
        }
    }
    free(all);
}
