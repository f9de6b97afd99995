/* Series, their colours, and what all figures share (contracts: report_series.h, report_figures.h). */
#include "evalcore/report/report_series.h"

#include <math.h>
#include <string.h>

#include "engine/policies/policy.h"
#include "evalcore/report/report_figures.h"
#include "evalcore/report/report_parts.h"

struct look {
    enum svg_colour colour;
    enum svg_marker marker;
};

/* Places behind the last colour begin again with the second, under other markers: black stays with the first
 * policy, full attention. */
static struct look look_at(size_t place)
{
    if (place < SVG_TOLD_APART)
        return (struct look){(enum svg_colour)place, (enum svg_marker)(place % SVG_MARKERS)};
    size_t again = place - SVG_TOLD_APART, at = 1 + again % (SVG_TOLD_APART - 1);
    size_t round = 1 + again / (SVG_TOLD_APART - 1);
    return (struct look){(enum svg_colour)at, (enum svg_marker)((at + round) % SVG_MARKERS)};
}

static int is_known(const char *policy)
{
    return policy_find(policy) != NULL;
}

static size_t place_of(const struct report *r, const char *policy)
{
    size_t place = 0;
    for (; policy_at(place); place++)
        if (!strcmp(policy_name(policy_at(place)), policy))
            return place;
    for (int i = 0; i < r->run->n_cells && strcmp(r->run->cells[i].policy, policy) != 0; i++) {
        int is_new = !is_known(r->run->cells[i].policy);
        for (int k = 0; k < i && is_new; k++)
            is_new = strcmp(r->run->cells[k].policy, r->run->cells[i].policy) != 0;
        place += (size_t)is_new;
    }
    return place;
}

enum svg_colour series_colour(const struct report *r, const char *policy)
{
    return look_at(place_of(r, policy)).colour;
}

struct series_set series_begin(const struct report *r)
{
    size_t n = 2 * (size_t)r->run->n_cells + 1; /* points and a line */
    return (struct series_set){.report = r,
                               .s = arena_alloc(r->arena, n * sizeof(struct svg_series)),
                               .policy = arena_alloc(r->arena, n * sizeof(char *)),
                               .points = arena_alloc(r->arena, n * sizeof(struct svg_point))};
}

struct svg_series *series_add(struct series_set *set, const char *name, const char *policy,
                              enum svg_kind kind)
{
    struct look look = look_at(place_of(set->report, policy));
    int same = 0;
    for (size_t i = 0; i < set->n; i++)
        same += !strcmp(set->policy[i], policy) && set->s[i].kind == kind && set->s[i].name;
    struct svg_series *s = &set->s[set->n];
    set->policy[set->n++] = policy;
    *s = (struct svg_series){.name = name,
                             .kind = kind,
                             .colour = look.colour,
                             .marker = look.marker,
                             .dash = (enum svg_dash)(same % SVG_DASHES),
                             .points = set->points + set->n_points,
                             .cut_x = NAN};
    return s;
}

void series_add_point(struct series_set *set, struct svg_series *s, double x, const struct cell_stats *c)
{
    set->points[set->n_points++] = (struct svg_point){.x = x,
                                                      .y = c->accuracy,
                                                      .low = c->ci.low,
                                                      .high = c->ci.high,
                                                      .cell = c->cell->id,
                                                      .tip = report_tip(set->report, c)};
    s->n++;
}

const char *report_figure_title(struct arena *a, const struct panel *p, const struct report_figure *f)
{
    return arena_printf(a, "%s: %s", p->title, f->title);
}

const char *report_figure_file(struct arena *a, const struct panel *p, const struct report_figure *f)
{
    return arena_printf(a, "%s_%s.svg", f->name, p->slug);
}

int report_is_shown(const struct report *r, int i, int panel)
{
    return r->cells[i].panel == panel && r->cells[i].cell->n_records > 0;
}

void series_draw(struct doc *d, const struct series_set *set, struct svg_chart chart, int panel,
                 const struct report_figure *f, const char *note)
{
    const struct panel *p = &set->report->panels[panel];
    struct str svg = {0};
    chart.id = arena_printf(d->arena, "%s-%s", chart.id, p->slug);
    chart.title = report_figure_title(d->arena, p, f);
    chart.series = set->s;
    chart.n_series = set->n;
    svg_chart(&svg, &chart);
    doc_figure(d, report_figure_file(d->arena, p, f), chart.title, &svg, 0, "%s", note);
}

/* ---- The text that a mark shows when it is pointed at. */

static void add_budget(struct str *out, const struct cell_stats *s)
{
    if (!isfinite(s->budget_tokens))
        return;
    str_printf(out, "\nbudget %.0f tokens", s->budget_tokens);
    if (s->budget_beside >= 1)
        str_printf(out, ", and %.0f of the prompt besides", s->budget_beside);
}

static void add_reads(struct str *out, const struct report *r, const struct cell_stats *s)
{
    if (isnan(s->total_density))
        return;
    str_printf(out, "\nreads %s of full attention's", report_share(r->arena, s->total_density));
    if (s->is_bound)
        str_puts(out, ", a bound: what it reads to choose is not counted");
    else if (s->aux_density > 0)
        str_printf(out, ": %s attended, %s to choose", report_share(r->arena, s->kv_density),
                   report_share(r->arena, s->aux_density));
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
    add_reads(&out, r, s);
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
