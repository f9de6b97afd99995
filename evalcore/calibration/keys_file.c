/* The files of `kveval probe keys` (contract: calibration.h). */
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
