/* Words and marks that several sections use (contract: report_parts.h). */
#include "evalcore/report/report_parts.h"

#include <math.h>

const char *report_row_name(const struct report *r, int row)
{
    const struct row *x = &r->rows[row];
    return *x->settings_label ? arena_printf(r->arena, "%s %s", x->policy_label, x->settings_label)
                              : x->policy_label;
}

const char *report_short_hash(struct arena *a, const char *hash)
{
    return hash && *hash ? arena_printf(a, "%.12s", hash) : "unknown";
}

const char *report_or_unknown(const char *s)
{
    return s && *s ? s : "unknown";
}

const char *report_percent(struct arena *a, double mean, struct interval ci)
{
    int digits = ci.high - ci.low < 0.1;
    return arena_printf(a, "%.*f [%.*f-%.*f]", digits, 100 * mean, digits, 100 * ci.low, digits,
                        100 * ci.high);
}

int report_cell_at(const struct report *r, int row, int column)
{
    int found = -1;
    for (int i = 0; i < r->run->n_cells; i++)
        if (r->cells[i].row == row && r->cells[i].column == column)
            found = i;
    return found;
}

void report_number_cell(struct doc *d, struct table *t, double v, int digits)
{
    if (isfinite(v))
        table_add(d, t, 0, "%.*f", digits, v);
    else
        table_add(d, t, CELL_MUTED, "-");
}
