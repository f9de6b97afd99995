/* Figures of a calibration (contract: calibration_svg.h). */
#include "evalcore/calibration/calibration_svg.h"

#include <math.h>
#include <string.h>

#include "evalcore/page/svg.h"

void calibration_heat(const struct calibration *c, const int *proposed, struct str *out)
{
    const struct layer_measure *m = c->measure;
    size_t n = (size_t)m->n_layers;
    struct arena a = {0};
    const char **names = arena_alloc(&a, n * sizeof *names);
    struct svg_square *squares = arena_alloc(&a, n * n * sizeof *squares);
    double high = 0;
    for (size_t i = 0; i < n; i++)
        names[i] = arena_printf(&a, "%zu", i);
    for (size_t i = 0; i < n * n; i++) {
        size_t chooser = i / n, reader = i % n;
        int is_proposed = 0;
        for (int k = 0; k < c->n_choose; k++)
            is_proposed |=
                (size_t)proposed[k] == chooser && (k + 1 == c->n_choose || (size_t)proposed[k + 1] > reader);
        double v = m->similarity[i];
        high = v > high ? v : high;
        squares[i] = (struct svg_square){
            .value = reader < chooser ? NAN : v,
            .is_marked = is_proposed && reader >= chooser,
            .tip = arena_printf(&a, "layer %zu chooses for layer %zu: %.3f", chooser, reader, v)};
    }
    struct svg_heat h = {
        .id = "calibration",
        .title = !strcmp(c->policy, "kascade") ? "Kascade: weighted recall of a layer's own choice"
                                               : "DELTA: share of a layer's page mass",
        .desc = arena_printf(&a, "%s: how well a layer chooses for those after it", c->model),
        .x_label = "layer that reads",
        .y_label = "layer that chooses",
        .x_names = names,
        .y_names = names,
        .n_x = n,
        .n_y = n,
        .squares = squares,
        .low = 0,
        .high = high > 0 ? high : 1,
        .mark_label = "proposed"};
    svg_heat(out, &h);
    arena_release(&a);
}

void calibration_curve(const struct calibration *c, const int *proposed, struct str *out)
{
    const struct layer_measure *m = c->measure;
    int is_kascade = !strcmp(c->policy, "kascade"),
        first = is_kascade ? 0 : 1; /* layer 0 has none before it */
    struct arena a = {0};
    struct svg_point *all = arena_alloc(&a, (size_t)m->n_layers * sizeof *all);
    struct svg_point *chosen = arena_alloc(&a, (size_t)c->n_choose * sizeof *chosen);
    for (int i = 0; i < m->n_layers; i++)
        all[i] = (struct svg_point){.x = i,
                                    .y = m->curve[i],
                                    .low = NAN,
                                    .high = NAN,
                                    .tip = arena_printf(&a, "layer %d: %.3f", i, m->curve[i])};
    for (int k = 0; k < c->n_choose; k++)
        chosen[k] = all[proposed[k]];
    const struct svg_series series[] = {{.kind = SVG_LINE,
                                         .colour = SVG_PURPLE,
                                         .marker = SVG_CIRCLE,
                                         .points = all + first,
                                         .n = (size_t)(m->n_layers - first),
                                         .cut_x = NAN},
                                        {.name = "proposed",
                                         .kind = SVG_POINTS,
                                         .colour = SVG_ORANGE,
                                         .marker = SVG_SQUARE,
                                         .points = chosen,
                                         .n = (size_t)c->n_choose,
                                         .cut_x = NAN}};
    struct svg_chart chart = {.id = "curve",
                              .title = is_kascade ? "Kascade: how far attention moves the residual stream"
                                                  : "DELTA: cosine distance from the layer before",
                              .desc = arena_printf(&a, "%s: what is measured of each layer alone", c->model),
                              .x = {.label = "layer", .low = 0, .high = m->n_layers - 1},
                              .y = {.label = "1 - cosine", .low = 0, .high = NAN},
                              .series = series,
                              .n_series = 2};
    svg_chart(out, &chart);
    arena_release(&a);
}
