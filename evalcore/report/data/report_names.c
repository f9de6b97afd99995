/* How settings and shares are written, the same in tables, figures and comparisons (contract: report_data.h).
 */
#include "evalcore/report/data/report_data.h"

#include <string.h>

const char *report_setting_name(struct arena *a, const char *policy_label, const char *settings_label)
{
    return *settings_label ? arena_printf(a, "%s %s", policy_label, settings_label) : policy_label;
}

const char *report_row_name(const struct report *r, int row)
{
    return report_setting_name(r->arena, r->rows[row].policy_label, r->rows[row].settings_label);
}

int report_several_models(const struct report *r)
{
    for (int i = 1; i < r->n_rows; i++)
        if (strcmp(r->rows[i].model, r->rows[0].model) != 0)
            return 1;
    return 0;
}

static const char *last_part(const char *model)
{
    const char *slash = strrchr(model, '/');
    return slash && slash[1] ? slash + 1 : model;
}

const char *report_model_name(const struct report *r, int row)
{
    const char *model = r->rows[row].model, *name = last_part(model);
    for (int i = 0; i < r->n_rows; i++)
        if (!strcmp(last_part(r->rows[i].model), name) && strcmp(r->rows[i].model, model))
            return model;
    return name;
}

const char *report_full_name(const struct report *r, int row)
{
    const char *name = report_row_name(r, row);
    return report_several_models(r) ? arena_printf(r->arena, "%s on %s", name, report_model_name(r, row))
                                    : name;
}

const char *report_percent(struct arena *a, double mean, struct interval ci)
{
    int digits = ci.high - ci.low < 0.1;
    return arena_printf(a, "%.*f [%.*f-%.*f]", digits, 100 * mean, digits, 100 * ci.low, digits,
                        100 * ci.high);
}
