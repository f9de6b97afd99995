/* Series and their colours (contract: report_series.h). */
#include "evalcore/report/figures/report_series.h"

#include <math.h>
#include <string.h>

#include "engine/policies/policy.h"

struct look {
    enum svg_colour colour;
    enum svg_marker marker;
};

/* Places after the last one here begin again with the second, under other markers: black stays with the
 * first policy, full attention. */
static struct look look_at(size_t place)
{
    static const struct look looks[] = {{SVG_BLACK, SVG_CIRCLE},    {SVG_ORANGE, SVG_SQUARE},
                                        {SVG_VIOLET, SVG_TRIANGLE}, {SVG_PURPLE, SVG_DIAMOND},
                                        {SVG_SKY, SVG_DOWN},        {SVG_GREEN, SVG_CIRCLE},
                                        {SVG_RED, SVG_CROSS},       {SVG_GREY, SVG_SQUARE}};
    enum { LOOKS = sizeof looks / sizeof *looks };
    if (place < LOOKS)
        return looks[place];
    size_t again = place - LOOKS, round = 1 + again / (LOOKS - 1);
    struct look look = looks[1 + again % (LOOKS - 1)];
    look.marker = (enum svg_marker)(((size_t)look.marker + round) % SVG_MARKERS);
    return look;
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
