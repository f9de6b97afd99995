/* Words and marks that several sections use (contract: report_parts.h). */
#include "evalcore/report/report_parts.h"

#include <math.h>

const char *report_short_hash(struct arena *a, const char *hash)
{
    return hash && *hash ? arena_printf(a, "%.12s", hash) : "unknown";
}

const char *report_or_unknown(const char *s)
{
    return s && *s ? s : "unknown";
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
