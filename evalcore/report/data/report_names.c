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

static int has_models(const struct run *run)
{
    for (int i = 1; i < run->n_cells; i++)
        if (strcmp(run->cells[i].model, run->cells[0].model) != 0)
            return 1;
    return 0;
}

static const char *last_part(const char *model)
{
    const char *slash = strrchr(model, '/');
    return slash && slash[1] ? slash + 1 : model;
}

static const char *short_model(const struct run *run, const char *model)
{
    const char *name = last_part(model);
    for (int i = 0; i < run->n_cells; i++)
        if (!strcmp(last_part(run->cells[i].model), name) && strcmp(run->cells[i].model, model))
            return model;
    return name;
}

int report_several_models(const struct report *r)
{
    return has_models(r->run);
}

const char *report_model_name(const struct report *r, int row)
{
    return short_model(r->run, r->rows[row].model);
}

const char *report_full_name(const struct report *r, int row)
{
    const char *name = report_row_name(r, row);
    return has_models(r->run) ? arena_printf(r->arena, "%s on %s", name, report_model_name(r, row)) : name;
}

const char *report_cell_name(struct arena *a, const struct run *run, const struct cell *c)
{
    const char *name = report_setting_name(a, c->policy_label, c->settings_label);
    return has_models(run) ? arena_printf(a, "%s on %s", name, short_model(run, c->model)) : name;
}

const char *report_percent(struct arena *a, double mean, struct interval ci)
{
    int digits = ci.high - ci.low < 0.1;
    return arena_printf(a, "%.*f [%.*f-%.*f]", digits, 100 * mean, digits, 100 * ci.low, digits,
                        100 * ci.high);
}
