/* Compression of K and V against the length of the context, and by head at the end (DMS, arXiv 2506.05345,
 * Figure 6), of the cells that forget tokens. */
#include <math.h>
#include <string.h>

#include "evalcore/base/log.h"
#include "evalcore/report/data/report_curve.h"
#include "evalcore/report/report_series.h"

int report_has_compression(const struct report *r, int panel)
{
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel) && report_forgets(r->cells[i].cell))
            return 1;
    return 0;
}

/* 0 where the cell forgets nothing, or its completions have no curves. */
static int compression_of(const struct report *r, int i, int panel, struct compression *out)
{
    struct err e = {0};
    if (!report_is_shown(r, i, panel) || !report_forgets(r->cells[i].cell))
        return 0;
    if (!report_compression(r, r->cells[i].cell, out, &e))
        return out->n > 0;
    log_warn("the compression of %s is not drawn: %s", r->cells[i].cell->label, e.text);
    return 0;
}

static void add_curve(struct series_set *set, const struct cell *c, const struct compression *x)
{
    struct arena *a = set->report->arena;
    struct svg_point *points = arena_alloc(a, (size_t)x->n * sizeof *points);
    for (int k = 0; k < x->n; k++) {
        const struct compression_point *p = &x->point[k];
        points[k] = (struct svg_point){
            .x = p->context,
            .y = p->own / p->live,
            .low = NAN,
            .high = NAN,
            .cell = c->id,
            .tip = arena_printf(a, "%s\n%.1fx at %.0f tokens, of which %.0f are held%s\n%d completion%s",
                                c->policy_label, p->own / p->live, p->context, p->live,
                                c->windows ? arena_printf(a, ", %.0f by the model itself", p->own) : "",
                                p->completions, p->completions == 1 ? "" : "s")};
    }
    struct svg_series *curve = series_add(set, c->policy_label, c->policy, SVG_LINE);
    curve->points = points;
    curve->n = (size_t)x->n;
}

void report_draw_compression(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    struct svg_chart chart = {.id = "compression",
                              .desc =
                                  "Tokens of the context that the model itself holds divided by those "
                                  "still held, mean over layers and KV heads, against the context's length.",
                              .x = {"tokens of the context", NAN, NAN, 0, 0},
                              .y = {"compression of K and V", 1, NAN, 0, 0}};
    struct series_set set = series_begin(r);
    struct compression x;
    for (int i = 0; i < r->run->n_cells; i++)
        if (compression_of(r, i, panel, &x) && x.n > 1) /* short answers have one point, which is no curve */
            add_curve(&set, r->cells[i].cell, &x);
    if (set.n)
        series_draw(d, &set, chart, panel, f,
                    "Tokens of prompt and completion divided by those that are held, of the first sample of "
                    "each problem, of 200 at most; of layers with windows only what the windows hold counts, "
                    "since the model drops the rest by itself. A curve ends where less than a tenth of them "
                    "is so long. "
                    "Policies that "
                    "keep everything stay at 1 and are not drawn.");
}

static const char *const *number_labels(struct arena *a, int n)
{
    const char **names = arena_alloc(a, (size_t)(n + 1) * sizeof *names);
    for (int i = 0; i < n; i++)
        names[i] = arena_printf(a, "%d", i);
    return names;
}

static void add_heads(struct doc *d, const struct report *r, int panel, const struct cell *c,
                      const struct compression *x, const struct report_figure *f)
{
    const struct panel *p = &r->panels[panel];
    int n_kv = x->heads / x->layers;
    struct svg_square *squares = arena_alloc(r->arena, (size_t)x->heads * sizeof *squares);
    struct str svg = {0};
    double low = 1, high = 0;
    for (int h = 0; h < x->heads; h++) {
        squares[h] = (struct svg_square){
            .value = x->live[h],
            .text = arena_printf(r->arena, "%.1fx", 1 / x->live[h]),
            .cell = c->id,
            .tip = arena_printf(r->arena, "%s\nlayer %d, KV head %d: %.0f %% of the tokens are held",
                                c->policy_label, h / n_kv, h % n_kv, 100 * x->live[h])};
        low = fmin(low, x->live[h]);
        high = fmax(high, x->live[h]);
    }
    const char *title = arena_printf(d->arena, "%s: %s %s", p->title, c->policy_label, f->title);
    const char *slug = arena_printf(d->arena, "%s_%s", report_slug(d->arena, c->policy_label), p->slug);
    struct svg_heat map = {.id = arena_printf(d->arena, "heads-%s", slug),
                           .title = title,
                           .desc =
                               "Share of the tokens that the model itself holds of the context which each "
                               "KV head of each layer holds at the end of a completion.",
                           .x_label = "KV head",
                           .y_label = "layer",
                           .x_names = number_labels(d->arena, n_kv),
                           .y_names = number_labels(d->arena, x->layers),
                           .n_x = (size_t)n_kv,
                           .n_y = (size_t)x->layers,
                           .squares = squares,
                           .low = low,
                           .high = high};
    svg_heat(&svg, &map);
    doc_figure(d, arena_printf(d->arena, "%s_%s.svg", f->name, slug), title, &svg, 0,
               "Compression by head at the end of the completions; the colour is the share of tokens that "
               "the head holds. Drawn for the task with the longest contexts.");
}

/* Where a policy keeps equally many tokens in all heads of a layer, a map by head shows nothing. */
static int heads_differ(const struct compression *x)
{
    int n_kv = x->layers ? x->heads / x->layers : 0;
    for (int h = 0; x->live && h < x->heads; h++)
        if (x->live[h] < x->live[h / n_kv * n_kv] || x->live[h] > x->live[h / n_kv * n_kv])
            return 1;
    return 0;
}

static double longest_context(const struct report *r, int panel)
{
    double longest = 0;
    for (int i = 0; i < r->run->n_cells; i++)
        if (report_is_shown(r, i, panel) && report_forgets(r->cells[i].cell))
            longest = fmax(longest, r->cells[i].mean_context);
    return longest;
}

/* The panel with the longest contexts of its model and settings: one map says it for all tasks. */
static int is_longest(const struct report *r, int panel)
{
    const struct panel *p = &r->panels[panel];
    double own = longest_context(r, panel);
    for (int i = 0; i < r->n_panels; i++) {
        double other = longest_context(r, i);
        if (!strcmp(r->panels[i].model, p->model) &&
            !strcmp(r->panels[i].settings_label, p->settings_label) &&
            (other > own || (i < panel && other >= own)))
            return 0;
    }
    return 1;
}

int report_has_heads(const struct report *r, int panel)
{
    return report_has_compression(r, panel) && is_longest(r, panel);
}

void report_draw_heads(struct doc *d, const struct report *r, int panel, const struct report_figure *f)
{
    struct compression x;
    for (int i = 0; i < r->run->n_cells; i++)
        if (compression_of(r, i, panel, &x) && heads_differ(&x))
            add_heads(d, r, panel, r->cells[i].cell, &x, f);
}
