/* The text that a mark shows when it is pointed at. */
#include <math.h>

#include "evalcore/report/figures/report_figures.h"

static void add_budget(struct str *out, const struct cell_stats *s)
{
    if (!isfinite(s->budget_tokens))
        return;
    str_printf(out, "\nbudget %.0f tokens", s->budget_tokens);
    if (s->budget_beside >= 1)
        str_printf(out, ", and %.0f of the prompt besides", s->budget_beside);
}

static void add_reads(struct str *out, const struct cell_stats *s)
{
    if (isnan(s->total_density))
        return;
    str_printf(out, "\nreads %.1f%% of full attention", 100 * s->total_density);
    if (s->aux_density > 0)
        str_printf(out, ": %.1f%% KV, %.1f%% bounds and scans", 100 * s->kv_density, 100 * s->aux_density);
    if (s->activity == ACTIVITY_INACTIVE)
        str_puts(out, "\nPOLICY INACTIVE: over its budget, and still everything was read");
}

const char *report_tip(const struct report *r, const struct cell_stats *s)
{
    const struct cell *c = s->cell;
    struct str out = {0};
    str_printf(&out, "%s, %s", c->policy_label, c->task->label);
    if (!isnan(s->accuracy))
        str_printf(&out, "\naccuracy %s, n=%d", report_percent(r->arena, s->accuracy, s->ci), c->n_records);
    add_reads(&out, s);
    add_budget(&out, s);
    if (!isnan(s->mean_tokens))
        str_printf(&out, "\nmean length %.0f tokens, %d of %d cut off at the limit", s->mean_tokens,
                   s->n_length, c->n_records);
    if (!isnan(s->peak_tokens))
        str_printf(&out, "\nat most %.0f tokens in the cache", s->peak_tokens);
    const char *text = arena_strdup(r->arena, str_text(&out));
    str_release(&out);
    return text;
}
