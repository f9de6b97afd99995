/* How settings and shares are written, the same in tables, figures and comparisons (contract: report_data.h).
 */
#include "evalcore/report/data/report_data.h"

const char *report_setting_name(struct arena *a, const char *policy_label, const char *settings_label)
{
    return *settings_label ? arena_printf(a, "%s %s", policy_label, settings_label) : policy_label;
}

const char *report_row_name(const struct report *r, int row)
{
    return report_setting_name(r->arena, r->rows[row].policy_label, r->rows[row].settings_label);
}

const char *report_percent(struct arena *a, double mean, struct interval ci)
{
    int digits = ci.high - ci.low < 0.1;
    return arena_printf(a, "%.*f [%.*f-%.*f]", digits, 100 * mean, digits, 100 * ci.low, digits,
                        100 * ci.high);
}
