/* The files of a calibration: JSON, CSV and SVG (contract: calibration.h, docs/calibration.md). Numbers are
 * rounded to six places, so that the last bits of a device's sums do not show. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/json.h"
#include "evalcore/calibration/calibration.h"
#include "evalcore/page/svg.h"

static int is_kascade(const struct calibration *c)
{
    return !strcmp(c->policy, "kascade");
}

/* The index of the first layer that may choose: DELTA's first refresh layer is 2 in all published sets,
 * Kascade's first anchor is the first layer. Layers are indices of the measure here, and written as numbers.
 */
static int first_layer(const struct calibration *c)
{
    const struct layer_measure *m = c->measure;
    int first = 0;
    while (!is_kascade(c) && first < m->n_layers && m->number[first] < 2)
        first++;
    return first;
}

/* Draws how well each layer chooses for each one after it; the proposed layers are marked. */
static void draw_heat(const struct calibration *c, const int *proposed, struct str *out)
{
    const struct layer_measure *m = c->measure;
    size_t n = (size_t)m->n_layers;
    struct arena a = {0};
    const char **names = arena_alloc(&a, n * sizeof *names);
    struct svg_square *squares = arena_alloc(&a, n * n * sizeof *squares);
    double high = 0;
    for (size_t i = 0; i < n; i++)
        names[i] = arena_printf(&a, "%d", m->number[i]);
    for (size_t i = 0; i < n * n; i++) {
        size_t chooser = i / n, reader = i % n;
        int is_proposed = 0;
        for (int k = 0; k < c->n_choose; k++)
            is_proposed |=
                (size_t)proposed[k] == chooser && (k + 1 == c->n_choose || (size_t)proposed[k + 1] > reader);
        double v = m->similarity[i];
        high = v > high ? v : high;
        squares[i] = (struct svg_square){.value = reader < chooser ? NAN : v,
                                         .is_marked = is_proposed && reader >= chooser,
                                         .tip = arena_printf(&a, "layer %d chooses for layer %d: %.3f",
                                                             m->number[chooser], m->number[reader], v)};
    }
    struct svg_heat h = {.id = "calibration",
                         .title = is_kascade(c) ? "Kascade: weighted recall of a layer's own choice"
                                                : "DELTA: share of a layer's page mass",
                         .desc =
                             arena_printf(&a, "%s: how well a layer chooses for those after it", c->model),
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

static struct svg_point *curve_points(const struct layer_measure *m, const double *curve, const char *task,
                                      struct arena *a)
{
    struct svg_point *all = arena_alloc(a, (size_t)m->n_layers * sizeof *all);
    for (int i = 0; i < m->n_layers; i++)
        all[i] = (struct svg_point){.x = m->number[i],
                                    .y = curve[i],
                                    .low = NAN,
                                    .high = NAN,
                                    .tip = arena_printf(a, "%s%slayer %d: %.3f", task ? task : "",
                                                        task ? ", " : "", m->number[i], curve[i])};
    return all;
}

/* Draws what is measured of each layer alone: the distance from the layer before (DELTA), over all problems
 * and of each task, or the weight (Kascade). */
static void draw_curve(const struct calibration *c, const int *proposed, struct str *out)
{
    static const enum svg_colour colours[] = {SVG_PINK, SVG_GREEN, SVG_RED,   SVG_OLIVE,
                                              SVG_BLUE, SVG_WINE,  SVG_LILAC, SVG_MOSS};
    enum { COLOURS = sizeof colours / sizeof *colours };
    const struct layer_measure *m = c->measure;
    int first = is_kascade(c) ? 0 : 1; /* layer 0 has none before it */
    size_t n = 0;
    struct arena a = {0};
    struct svg_point *all = curve_points(m, m->curve, NULL, &a);
    struct svg_point *chosen = arena_alloc(&a, (size_t)c->n_choose * sizeof *chosen);
    struct svg_series *series = arena_alloc(&a, (size_t)(m->n_tasks + 2) * sizeof *series);
    for (int k = 0; k < c->n_choose; k++)
        chosen[k] = all[proposed[k]];
    for (int i = 0; i < m->n_tasks; i++)
        series[n++] = (struct svg_series){
            .name = m->by_task[i].task,
            .kind = SVG_LINE,
            .colour = colours[i % COLOURS],
            .marker = SVG_NONE,
            .dash = (enum svg_dash)(i / COLOURS % SVG_DASHES),
            .points = curve_points(m, m->by_task[i].curve, m->by_task[i].task, &a) + first,
            .n = (size_t)(m->n_layers - first),
            .cut_x = NAN};
    series[n++] = (struct svg_series){.name = m->n_tasks ? "all" : NULL,
                                      .kind = SVG_LINE,
                                      .colour = SVG_PURPLE,
                                      .marker = SVG_CIRCLE,
                                      .points = all + first,
                                      .n = (size_t)(m->n_layers - first),
                                      .cut_x = NAN};
    series[n++] = (struct svg_series){.name = "proposed",
                                      .kind = SVG_POINTS,
                                      .colour = SVG_GOLD,
                                      .marker = SVG_SQUARE,
                                      .points = chosen,
                                      .n = (size_t)c->n_choose,
                                      .cut_x = NAN};
    struct svg_chart chart = {.id = "curve",
                              .title = is_kascade(c) ? "Kascade: how far attention moves the residual stream"
                                                     : "DELTA: cosine distance from the layer before",
                              .desc = arena_printf(&a, "%s: what is measured of each layer alone", c->model),
                              .x = {.label = "layer", .low = 0, .high = m->n_all - 1},
                              .y = {.label = "1 - cosine", .low = 0, .high = NAN},
                              .series = series,
                              .n_series = n};
    svg_chart(out, &chart);
    arena_release(&a);
}

static json_t *rounded_json(double x)
{
    return json_real(floor(x * 1e6 + 0.5) / 1e6 + 0.0);
}

static json_t *layer_list(const struct layer_measure *m, const int *layers, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer(m->number[layers ? layers[i] : i]));
    return list;
}

/* {"3": [1, 0], ...} for the layers between anchors, where it is not the identity. */
static json_t *head_map(const struct layer_measure *m, const int *anchors, int n)
{
    json_t *map = json_object();
    for (int l = 0, anchor = 0; l < m->n_layers; l++) {
        char key[16];
        int other = 0;
        while (anchor + 1 < n && anchors[anchor + 1] <= l)
            anchor++;
        if (anchors[anchor] == l)
            continue;
        const int *best =
            m->best + ((size_t)anchors[anchor] * (size_t)m->n_layers + (size_t)l) * (size_t)m->n_kv;
        json_t *heads = json_array();
        for (int h = 0; h < m->n_kv; h++) {
            other |= best[h] != h;
            json_array_append_new(heads, json_integer(best[h]));
        }
        snprintf(key, sizeof key, "%d", m->number[l]);
        if (other)
            json_object_set(map, key, heads);
        json_decref(heads);
    }
    return map;
}

/* The sets of 1 to 8 layers with their sums. */
static json_t *all_sets(const struct calibration *c)
{
    const struct layer_measure *m = c->measure;
    json_t *list = json_array();
    int first = first_layer(c), layers[8];
    for (int n = 1; n <= 8 && first + n <= m->n_layers; n++) {
        double sum = choose_layers(m->similarity, m->n_layers, first, n, layers);
        json_array_append_new(
            list, json_pack("{s:o, s:o}", "layers", layer_list(m, layers, n), "sum", rounded_json(sum)));
    }
    return list;
}

static json_t *dev_json(const struct dev_set *d)
{
    json_t *tasks = json_array(), *hashes = json_array();
    for (int i = 0; i < d->n; i++) {
        if (!i || strcmp(d->problems[i].task, d->problems[i - 1].task))
            json_array_append_new(tasks, json_text_of(d->problems[i].task));
        json_array_append_new(hashes, json_string(d->problems[i].hash));
    }
    return json_pack("{s:o, s:I, s:o}", "tasks", tasks, "tokens", (json_int_t)d->tokens, "contents", hashes);
}

static double mean_distance(const struct layer_measure *m, const double *curve)
{
    double mean = 0;
    for (int l = 1; l < m->n_layers; l++)
        mean += curve[l] / (m->n_layers - 1);
    return mean;
}

/* {"aime24": {"mean_distance": ..., "curve": [...]}, ...} */
static json_t *task_curves(const struct layer_measure *m)
{
    json_t *o = json_object();
    for (int i = 0; i < m->n_tasks; i++) {
        const struct task_curve *t = &m->by_task[i];
        json_t *curve = json_array();
        for (int l = 0; l < m->n_layers; l++)
            json_array_append_new(curve, rounded_json(t->curve[l]));
        json_object_set_new(o, t->task,
                            json_pack("{s:o, s:o}", "mean_distance", rounded_json(mean_distance(m, t->curve)),
                                      "curve", curve));
    }
    return o;
}

static json_t *matrix_json(const struct layer_measure *m)
{
    json_t *rows = json_array();
    for (int a = 0; a < m->n_layers; a++) {
        json_t *row = json_array();
        for (int b = 0; b < m->n_layers; b++)
            json_array_append_new(row, rounded_json(m->similarity[a * m->n_layers + b]));
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *calibration_json(const struct calibration *c, const int *proposed)
{
    const struct layer_measure *m = c->measure;
    json_t *curve = json_array(), *o = json_object(), *options;
    for (int l = 0; l < m->n_layers; l++)
        json_array_append_new(curve, rounded_json(m->curve[l]));
    json_object_set_new(o, "policy", json_string(c->policy));
    json_object_set_new(o, "model", json_string(c->weights));
    json_object_set_new(o, "model_name", json_text_of(c->model));
    json_object_set_new(o, is_kascade(c) ? "anchors" : "layers", layer_list(m, proposed, c->n_choose));
    if (is_kascade(c)) {
        json_object_set_new(o, "map", head_map(m, proposed, c->n_choose));
        options = json_pack("{s:i, s:i, s:i}", "k", 64, "tile_tokens", 32, "max_new_tokens", c->max_new);
    } else {
        options = json_pack("{s:i, s:i, s:i}", "k_pages", c->k_pages, "l_pages", c->l_pages, "max_new_tokens",
                            c->max_new);
        json_object_set_new(o, "mean_distance", rounded_json(mean_distance(m, m->curve)));
    }
    if (m->n_layers < m->n_all) /* the rows of curve and matrix */
        json_object_set_new(o, "full_layers", layer_list(m, NULL, m->n_layers));
    json_object_set_new(o, "options", options);
    json_object_set_new(o, "units", json_integer(m->samples));
    json_object_set_new(o, "dev", dev_json(c->dev));
    json_object_set_new(o, "sets", all_sets(c));
    json_object_set_new(o, is_kascade(c) ? "weights" : "curve", curve);
    if (m->n_tasks)
        json_object_set_new(o, "by_task", task_curves(m));
    json_object_set_new(o, is_kascade(c) ? "similarity" : "recall", matrix_json(m));
    return o;
}

/* A row for each pair of layers, and the curve of the reader. */
static void write_csv_rows(const struct calibration *c, struct str *out)
{
    const struct layer_measure *m = c->measure;
    str_printf(out, "chooser,reader,%s,%s\n", is_kascade(c) ? "similarity" : "recall",
               is_kascade(c) ? "reader_weight" : "reader_distance");
    for (int a = 0; a < m->n_layers; a++)
        for (int b = a; b < m->n_layers; b++)
            str_printf(out, "%d,%d,%.6f,%.6f\n", m->number[a], m->number[b],
                       m->similarity[a * m->n_layers + b], m->curve[b]);
}

static int write_beside(const char *path, const char *ending, const struct str *text, struct err *e)
{
    struct str name = {0};
    size_t n = strlen(path), stem = n > 5 && !strcmp(path + n - 5, ".json") ? n - 5 : n;
    str_add(&name, path, stem);
    str_puts(&name, ending);
    int rc = file_write_atomic(str_text(&name), str_text(text), text->len, e);
    str_release(&name);
    return rc;
}

int calibration_write(const struct calibration *c, const char *path, int *proposed, struct err *e)
{
    const struct layer_measure *m = c->measure;
    struct str text = {0};
    if (isnan(choose_layers(m->similarity, m->n_layers, first_layer(c), c->n_choose, proposed)))
        return err_set(
            e, ERR_USAGE,
            "the model has %d layers with full attention, of which %d from layer %d on cannot be chosen",
            m->n_layers, c->n_choose, is_kascade(c) ? 0 : 2);
    json_t *o = calibration_json(c, proposed);
    char *dumped = json_dumps(o, JSON_REAL_PRECISION(9) | JSON_INDENT(1));
    str_printf(&text, "%s\n", dumped);
    free(dumped);
    json_decref(o);
    int rc = file_write_atomic(path, str_text(&text), text.len, e);
    str_clear(&text);
    write_csv_rows(c, &text);
    if (!rc)
        rc = write_beside(path, ".csv", &text, e);
    str_clear(&text);
    draw_heat(c, proposed, &text);
    if (!rc)
        rc = write_beside(path, ".svg", &text, e);
    str_clear(&text);
    draw_curve(c, proposed, &text);
    if (!rc)
        rc = write_beside(path, ".curve.svg", &text, e);
    for (int k = 0; k < c->n_choose; k++)
        proposed[k] = m->number[proposed[k]];
    str_release(&text);
    return rc;
}
