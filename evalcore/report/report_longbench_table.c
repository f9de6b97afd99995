/* The section "LongBench by class": its table. */
#include <math.h>

#include "evalcore/report/data/report_longbench.h"
#include "evalcore/report/report_parts.h"

void report_add_longbench(struct doc *d, const struct report *r)
{
    struct table *t = doc_table(
        d, "Mean score over the data sets of a class (arXiv 2308.14508, table 1) [95 % interval]; "
           "average: the mean of the six classes, as papers print it, once no answer is missing. Below: how "
           "many of the class's data sets "
           "have results, and the difference from the baseline in points, weighed like the mean, which the "
           "mark is about.");
    const struct pair *pairs = longbench_pairs(r);
    table_column(d, t, "policy", 0);
    for (int k = 0; k <= LONGBENCH_CLASSES; k++)
        table_column(d, t, longbench_title(k), 0);
    for (int row = 0; row < r->n_rows; row++) {
        if (!longbench_mean(r, LONGBENCH_CLASSES, row).n)
            continue;
        table_row(d, t);
        table_add(d, t, 0, "%s", report_full_name(r, row));
        for (int k = 0; k <= LONGBENCH_CLASSES; k++) {
            struct longbench_mean m = longbench_mean(r, k, row);
            const struct pair *p = &pairs[row * (LONGBENCH_CLASSES + 1) + k];
            if (isnan(m.mean))
                table_add(d, t, CELL_MUTED, "-");
            else
                table_add(d, t, report_pair_flags(p), "%s%s", report_percent(d->arena, m.mean, m.ci),
                          report_pair_sign(d->arena, p));
            table_small(d, t, "%d of %d%s%s%s", m.n, m.n_sets, m.missing ? ", answers are missing" : "",
                        p->mark ? ", " : "", p->mark ? report_difference(d->arena, p) : "");
        }
    }
}
