/* Heat maps (accuracy over two options) and matrices of small squares (who solved what).
 *
 * The colour scale runs from light to dark in one hue, so that it survives printing and colour blindness;
 * every square also prints its number, and the text's colour follows the square's brightness. */
#include "evalcore/page/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/arena.h"

enum { WIDTH = 480, SQUARE = 14 /* height in a matrix */ };
static const double small = 13, font = 14;

/* Light lilac to deep purple in steps that look equally large. */
static void scale_colour(double at, int rgb[3])
{
    static const int stops[5][3] = {
        {246, 241, 251}, {217, 198, 238}, {177, 142, 219}, {129, 79, 190}, {74, 14, 128}};
    at = at < 0 ? 0 : at > 1 ? 1 : at;
    int i = (int)(at * 4);
    i = i > 3 ? 3 : i;
    double f = at * 4 - i;
    for (int k = 0; k < 3; k++)
        rgb[k] = (int)lround(stops[i][k] + f * (stops[i + 1][k] - stops[i][k]));
}

static double colour_share(const struct svg_heat *h, double v)
{
    return h->high > h->low ? (v - h->low) / (h->high - h->low) : 1;
}

static void square_shape(struct str *out, const struct svg_heat *h, const struct svg_square *q, double x,
                         double y, double w, double tall)
{
    if (isnan(q->value)) {
        str_printf(out, "<rect class=\"kv-none\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", x,
                   y, w, tall);
        return;
    }
    int rgb[3];
    double at = colour_share(h, q->value);
    scale_colour(at, rgb);
    str_printf(out, "<rect fill=\"#%02x%02x%02x\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
               (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2], x, y, w, tall);
    if (q->is_marked)
        str_printf(out, "<rect class=\"kv-mark\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
                   x + 1.6, y + 1.6, w - 3.2, tall - 3.2);
    const char *ink = at > 0.55 ? "kv-b kv-light" : "kv-b kv-dark";
    const char *thin = at > 0.55 ? "kv-light" : "kv-dark";
    double size = w > 62 ? 15 : w > 46 ? 13 : 11;
    if (q->text)
        svg_text(out, x + w / 2, y + tall / 2 + (q->note ? -1 : 5), "middle", ink, size, w - 4, q->text);
    if (q->note)
        svg_text(out, x + w / 2, y + tall / 2 + size, "middle", thin, size - 3, w - 4, q->note);
}

static void heat_square(struct str *out, const struct svg_heat *h, const struct svg_square *q, double x,
                        double y, double w, double tall)
{
    int is_mark = !isnan(q->value) && (q->cell || q->tip);
    if (is_mark)
        svg_mark_begin(out, q->cell, q->tip);
    square_shape(out, h, q, x, y, w, tall);
    if (is_mark)
        svg_mark_end(out);
}

/* The ends of the scale, with as many decimals as tell them apart. */
static void heat_ends(const struct svg_heat *h, char low[32], char high[32])
{
    for (int digits = 0; digits < 3; digits++) {
        snprintf(low, 32, "%.*f %%", digits, 100 * h->low);
        snprintf(high, 32, "%.*f %%", digits, 100 * h->high);
        if (strcmp(low, high) != 0)
            return;
    }
    snprintf(low, 32, "%.3g %%", 100 * h->low);
    snprintf(high, 32, "%s", low);
}

static int is_beyond(const struct svg_heat *h)
{
    for (size_t i = 0; i < h->n_x * h->n_y; i++)
        if (h->squares[i].value > h->high)
            return 1;
    return 0;
}

static void heat_legend(struct str *out, const struct svg_heat *h, double left, double y)
{
    char low[32], high[32];
    heat_ends(h, low, high);
    int is_one = !strcmp(low, high); /* a scale from 100 to 100 would say nothing */
    const double wide = is_one ? 8 : 120, step = 8;
    double x = left;
    if (!is_one) {
        svg_text(out, left, y + 11, "start", "kv-m", font - 1, 0, low);
        x += svg_text_width(low, font - 1) + 6;
    }
    for (int i = 0; i * step < wide; i++) {
        int rgb[3];
        scale_colour(is_one ? 1 : (i + 0.5) * step / wide, rgb);
        str_printf(out, "<rect fill=\"#%02x%02x%02x\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"13\"/>\n",
                   (unsigned)rgb[0], (unsigned)rgb[1], (unsigned)rgb[2], x + i * step, y, step + 0.3);
    }
    if (is_one) {
        char all[64];
        snprintf(all, sizeof all, "all squares: %s", high);
        svg_text(out, x + wide + 8, y + 11, "start", "kv-m", font - 1, 0, all);
    } else {
        char end[64];
        snprintf(end, sizeof end, "%s%s", high, is_beyond(h) ? " and more" : "");
        svg_text(out, x + wide + 6, y + 11, "start", "kv-m", font - 1, 0, end);
    }
    if (!h->mark_label)
        return;
    str_printf(out, "<rect class=\"kv-mark\" x=\"%.1f\" y=\"%.1f\" width=\"15\" height=\"12\"/>\n", left + 2,
               y + 25.0);
    svg_text(out, left + 26, y + 36, "start", "kv-m", font - 1, WIDTH - left - 30, h->mark_label);
}

/* Of many columns, such as layers, only every second, fifth or tenth is named where the widest name does not
 * fit. */
static size_t name_step(const struct svg_heat *h, double w)
{
    enum { FEW = 12 };
    static const size_t steps[] = {1, 2, 5, 10, 20};
    double widest = 0;
    for (size_t x = 0; x < h->n_x; x++) {
        double width = svg_text_width(h->x_names[x], font);
        widest = width > widest ? width : widest;
    }
    size_t k = 0;
    while (h->n_x > FEW && k + 1 < sizeof steps / sizeof *steps && widest > w * (double)steps[k] - 2)
        k++;
    return steps[k];
}

void svg_heat(struct str *out, const struct svg_heat *h)
{
    double left = 44;
    for (size_t i = 0; i < h->n_y; i++) {
        double w = svg_text_width(h->y_names[i], font) + 38;
        left = w > left ? w : left;
    }
    left = left > 130 ? 130 : left;
    double top = svg_title(NULL, h->title, WIDTH) + 8, right = WIDTH - 14;
    double w = (right - left) / (double)(h->n_x ? h->n_x : 1), tall = w < 34 ? 34 : w > 58 ? 58 : w;
    double bottom = top + tall * (double)h->n_y, height = bottom + 52 + 14 + (h->mark_label ? 38 : 14);
    svg_begin(out, h->id, h->title, h->desc, WIDTH, height);
    svg_title(out, h->title, WIDTH);
    for (size_t y = 0; y < h->n_y; y++) {
        double at = bottom - tall * (double)(y + 1);
        svg_text(out, left - 8, at + tall / 2 + 5, "end", "kv-m", font, left - 34, h->y_names[y]);
        for (size_t x = 0; x < h->n_x; x++)
            heat_square(out, h, &h->squares[y * h->n_x + x], left + w * (double)x + 1, at + 1, w - 2,
                        tall - 2);
    }
    size_t every = name_step(h, w);
    for (size_t x = 0; x < h->n_x; x += every)
        svg_text(out, left + w * ((double)x + 0.5), bottom + 18, "middle", "kv-m", font,
                 w * (double)every - 2, h->x_names[x]);
    svg_text(out, (left + right) / 2, bottom + 38, "middle", "", font, right - left, h->x_label);
    str_printf(out, "<g transform=\"translate(17 %.1f) rotate(-90)\">\n", (top + bottom) / 2);
    svg_text(out, 0, 0, "middle", "", font, bottom - top + 30, h->y_label);
    str_puts(out, "</g>\n");
    heat_legend(out, h, left, bottom + 52);
    str_puts(out, "</svg>\n");
}

/* One path for each row and level keeps the file small when a matrix has thousands of squares. */
static void matrix_row(struct str *out, const struct svg_matrix *m, size_t row, double left, double y,
                       double side)
{
    static const char *const look[] = {"kv-wrong",
                                       "kv-right\" opacity=\"0.3",
                                       "kv-right\" opacity=\"0.5",
                                       "kv-right\" opacity=\"0.72",
                                       "kv-right",
                                       "kv-cut"};
    for (int level = 0; level < 6; level++) {
        int want = level == 5 ? -1 : level, n = 0;
        for (size_t c = 0; c < m->n_columns; c++) {
            if (m->level[row * m->n_columns + c] != want)
                continue;
            if (!n++)
                str_printf(out, "<path class=\"%s\" d=\"", look[level]);
            str_putc(out, 'M');
            svg_number(out, left + side * (double)c);
            str_putc(out, ' ');
            svg_number(out, y);
            str_printf(out, "h%.1fv%dh-%.1fz", side - 1, SQUARE, side - 1);
        }
        if (n)
            str_puts(out, "\"/>\n");
    }
}

/* Returns the y of its last row; when out is NULL it only measures. */
static double matrix_legend(struct str *out, int has_shares, double width, double y)
{
    static const struct {
        const char *look, *text;
        int shares;
    } entry[] = {{"kv-right", "correct", 0},
                 {"kv-right\" opacity=\"0.5", "some samples correct", 1},
                 {"kv-wrong", "wrong", 0},
                 {"kv-cut", "cut off or no answer", 0}};
    double x = 12;
    for (size_t i = 0; i < sizeof entry / sizeof *entry; i++) {
        if (entry[i].shares && !has_shares)
            continue;
        double entry_width = 17 + svg_text_width(entry[i].text, small);
        if (x > 12 && x + entry_width > width) {
            x = 12;
            y += 20;
        }
        if (out) {
            str_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"11\" height=\"13\"/>\n",
                       entry[i].look, x, y - 11);
            svg_text(out, x + 17, y, "start", "kv-m", small, 0, entry[i].text);
        }
        x += entry_width + 18;
    }
    return y;
}

void svg_matrix(struct str *out, const struct svg_matrix *m)
{
    double left = 60, side = m->n_columns > 120 ? 6 : m->n_columns > 40 ? 9 : m->n_columns > 20 ? 12 : 18;
    int has_shares = 0;
    for (size_t i = 0; i < m->n_rows; i++) {
        double w = svg_text_width(m->names[i], small) + 20;
        left = w > left ? w : left;
    }
    for (size_t i = 0; i < m->n_rows * m->n_columns; i++)
        has_shares |= m->level[i] > 0 && m->level[i] < 4;
    left = left > 220 ? 220 : left;
    double width = left + side * (double)m->n_columns + 14;
    width = width < WIDTH ? WIDTH : width;
    double top = svg_title(NULL, m->title, width) + 26, row = SQUARE + 3;
    double bottom = top + row * (double)m->n_rows;
    svg_begin(out, m->id, m->title, m->desc, width, matrix_legend(NULL, has_shares, width, bottom + 20) + 14);
    svg_title(out, m->title, width);
    for (size_t c = 0; c < m->n_columns; c++) {
        char text[32];
        if (c && (c + 1) % (m->n_columns > 120 ? 20 : 10) != 0)
            continue;
        snprintf(text, sizeof text, "%zu", c + 1);
        svg_text(out, left + side * ((double)c + 0.5) - 0.5, top - 6, "middle", "kv-m", 11, 0, text);
    }
    for (size_t r = 0; r < m->n_rows; r++) {
        double y = top + row * (double)r;
        svg_text(out, left - 8, y + row / 2 + 3, "end", "", small, left - 16, m->names[r]);
        svg_mark_begin(out, m->cells ? m->cells[r] : NULL, m->tips ? m->tips[r] : NULL);
        matrix_row(out, m, r, left, y, side);
        svg_mark_end(out);
    }
    matrix_legend(out, has_shares, width, bottom + 20);
    str_puts(out, "</svg>\n");
}
