/* The files of `kveval probe keys` and `probe maps` (contract: calibration.h). */
#include <math.h>
#include <string.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"
#include "evalcore/calibration/calibration.h"
#include "evalcore/page/svg.h"

static const char **numbers(const int *number, int n, struct arena *a)
{
    const char **out = arena_alloc(a, (size_t)n * sizeof *out);
    for (int i = 0; i < n; i++)
        out[i] = arena_printf(a, "%d", number ? number[i] : i);
    return out;
}

/* The colours begin at the tenth below the smallest value. */
static double least_of(const struct svg_square *squares, int n)
{
    double least = 1;
    for (int i = 0; i < n; i++)
        least = squares[i].value < least ? squares[i].value : least;
    return fmin(floor(10 * least) / 10, 0.9);
}

static void draw_heads(struct str *out, const struct keys_measure *m)
{
    struct arena a = {0};
    int n = m->n_layers * m->n_q;
    struct svg_square *squares = arena_alloc(&a, (size_t)n * sizeof *squares);
    for (int i = 0; i < n; i++) {
        int head = i / m->n_layers, layer = i % m->n_layers;
        double share = m->share[layer * m->n_q + head];
        squares[i] = (struct svg_square){
            .value = share,
            .tip = arena_printf(&a, "layer %d, head %d: %.3f", m->number[layer], head, share)};
    }
    svg_heat(out,
             &(struct svg_heat){.id = "keys",
                                .title = arena_printf(&a, "Share of attention in the %d best keys", m->keys),
                                .desc = "by layer and query head, mean over decode steps",
                                .x_label = "layer",
                                .y_label = "query head",
                                .x_names = numbers(m->number, m->n_layers, &a),
                                .y_names = numbers(NULL, m->n_q, &a),
                                .n_x = m->n_layers,
                                .n_y = m->n_q,
                                .squares = squares,
                                .low = least_of(squares, n),
                                .high = 1});
    arena_release(&a);
}

static void draw_similarity(struct str *out, const struct keys_measure *m)
{
    struct arena a = {0};
    int n = m->n_layers;
    struct svg_square *squares = arena_alloc(&a, (size_t)(n * n) * sizeof *squares);
    const char **names = numbers(m->number, n, &a);
    for (int i = 0; i < n * n; i++)
        squares[i] =
            (struct svg_square){.value = i % n < i / n ? NAN : m->similarity[i],
                                .tip = arena_printf(&a, "keys of layer %d in layer %d: %.3f",
                                                    m->number[i / n], m->number[i % n], m->similarity[i])};
    svg_heat(out, &(struct svg_heat){
                      .id = "similarity",
                      .title = arena_printf(&a, "How well one layer's %d best keys serve another", m->keys),
                      .desc = "share of what the reader's own best keys hold, mean over decode steps",
                      .x_label = "layer that reads",
                      .y_label = "layer that chooses",
                      .x_names = names,
                      .y_names = names,
                      .n_x = n,
                      .n_y = n,
                      .squares = squares,
                      .low = least_of(squares, n * n),
                      .high = 1});
    arena_release(&a);
}

static int write_beside(const char *path, const char *ending, struct str *text, struct err *e)
{
    struct str name = {0};
    size_t n = strlen(path), stem = n > 4 && !strcmp(path + n - 4, ".csv") ? n - 4 : n;
    str_add(&name, path, stem);
    str_puts(&name, ending);
    int rc = file_write_output(str_text(&name), str_text(text), text->len, e);
    str_release(&name);
    str_clear(text);
    return rc;
}

int keys_measure_write(const struct keys_measure *m, const char *path, struct err *e)
{
    struct str text = {0};
    str_puts(&text, "layer,head,share\n");
    for (int i = 0; i < m->n_layers * m->n_q; i++)
        str_printf(&text, "%d,%d,%.6f\n", m->number[i / m->n_q], i % m->n_q, m->share[i]);
    for (int l = 0; l < m->n_layers; l++)
        str_printf(&text, "%d,mean,%.6f\n", m->number[l], m->pooled[l]);
    int rc = file_write_output(path, str_text(&text), text.len, e);
    str_clear(&text);
    str_puts(&text, "chooser,reader,similarity\n");
    for (int a = 0; a < m->n_layers; a++)
        for (int b = a; b < m->n_layers; b++)
            str_printf(&text, "%d,%d,%.6f\n", m->number[a], m->number[b], m->similarity[a * m->n_layers + b]);
    if (!rc)
        rc = write_beside(path, ".similarity.csv", &text, e);
    str_clear(&text);
    draw_heads(&text, m);
    if (!rc)
        rc = write_beside(path, ".svg", &text, e);
    str_clear(&text);
    draw_similarity(&text, m);
    if (!rc)
        rc = write_beside(path, ".similarity.svg", &text, e);
    str_release(&text);
    return rc;
}

enum { MAP_COLUMNS = 60 };

/* Positions are put together to at most MAP_COLUMNS columns. The first of them, which takes most in many
 * layers, does not set the scale: what it holds beyond the others has the colour of the largest. */
static void draw_map(struct str *out, const struct map_measure *m, const struct attention_map *map)
{
    struct arena a = {0};
    int wide = (map->n + MAP_COLUMNS - 1) / MAP_COLUMNS, columns = (map->n + wide - 1) / wide;
    struct svg_square *squares = arena_alloc(&a, (size_t)(m->n_layers * columns) * sizeof *squares);
    const char **starts = arena_alloc(&a, (size_t)columns * sizeof *starts);
    double high = 0;
    for (int c = 0; c < columns; c++)
        starts[c] = arena_printf(&a, "%d", c * wide);
    for (int i = 0; i < m->n_layers * columns; i++) {
        int layer = i / columns, from = i % columns * wide, to = from + wide < map->n ? from + wide : map->n;
        double sum = 0;
        for (int t = from; t < to; t++)
            sum += map->p[(size_t)layer * (size_t)map->n + (size_t)t];
        squares[i] = (struct svg_square){.value = sum,
                                         .tip = arena_printf(&a, "layer %d, positions %d to %d: %.2f %%",
                                                             m->number[layer], from, to - 1, 100 * sum)};
        high = from && sum > high ? sum : high;
    }
    svg_heat(out, &(struct svg_heat){.id = "map",
                                     .title = arena_printf(&a, "Attention in decode step %d", map->step),
                                     .desc = "probability by position and layer, mean over query heads",
                                     .x_label = arena_printf(&a, "position (%d a square), prompt up to %d",
                                                             wide, m->n_prompt - 1),
                                     .y_label = "layer",
                                     .x_names = starts,
                                     .y_names = numbers(m->number, m->n_layers, &a),
                                     .n_x = (size_t)columns,
                                     .n_y = (size_t)m->n_layers,
                                     .squares = squares,
                                     .low = 0,
                                     .high = high});
    arena_release(&a);
}

int map_measure_write(const struct map_measure *m, const char *path, struct err *e)
{
    struct str text = {0};
    str_puts(&text, "step,layer,position,probability\n");
    for (int i = 0; i < m->n_maps; i++)
        for (int l = 0; l < m->n_layers; l++)
            for (int t = 0; t < m->map[i].n; t++)
                str_printf(&text, "%d,%d,%d,%.6g\n", m->map[i].step, m->number[l], t,
                           m->map[i].p[(size_t)l * (size_t)m->map[i].n + (size_t)t]);
    int rc = file_write_output(path, str_text(&text), text.len, e);
    for (int i = 0; i < m->n_maps && !rc; i++) {
        char ending[32];
        snprintf(ending, sizeof ending, ".%d.svg", m->map[i].step);
        str_clear(&text);
        draw_map(&text, m, &m->map[i]);
        rc = write_beside(path, ending, &text, e);
    }
    str_release(&text);
    return rc;
}
