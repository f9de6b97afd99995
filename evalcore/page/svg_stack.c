/* Stacked bars: where a whole goes. The name stands above its bar, since names are long. */
#include <math.h>

#include "evalcore/page/svg.h"

enum { WIDTH = 480, ROW = 46, BAR = 18 };
static const double font = 13, left = 14;

static double stack_sum(const struct svg_stacks *s, size_t row)
{
    double sum = 0;
    for (size_t k = 0; k < s->n_parts; k++)
        if (isfinite(s->value[row * s->n_parts + k]))
            sum += s->value[row * s->n_parts + k];
    return sum;
}

/* When out is NULL it only measures; returns the y below. */
static double stack_legend(struct str *out, const struct svg_stacks *s, double y)
{
    double x = left;
    y += 16;
    for (size_t k = 0; k < s->n_parts; k++) {
        double w = 18 + svg_text_width(s->parts[k].name, font);
        if (x > left && x + w > WIDTH - left) {
            x = left;
            y += 21;
        }
        if (out) {
            str_printf(out, "<rect class=\"kv-f%d\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>\n",
                       (int)s->parts[k].colour, x, y - 10.5);
            svg_text(out, x + 18, y, "start", "", font, WIDTH - left - x - 18, s->parts[k].name);
        }
        x += w + 14;
    }
    return y + 12;
}

static void draw_row(struct str *out, const struct svg_stacks *s, size_t row, double y, double unit)
{
    double x = left, sum = stack_sum(s, row);
    svg_mark_begin(out, NULL, s->tips ? s->tips[row] : NULL);
    svg_text(out, left, y + 13, "start", "", font, WIDTH - 2 * left, s->names[row]);
    for (size_t k = 0; k < s->n_parts; k++) {
        double v = s->value[row * s->n_parts + k];
        if (!isfinite(v) || v <= 0)
            continue;
        str_printf(out, "<rect class=\"kv-f%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>\n",
                   (int)s->parts[k].colour, x, y + 19, v * unit, BAR);
        x += v * unit;
    }
    if (s->texts && s->texts[row])
        svg_text(out, left + sum * unit + 6, y + 33, "start", "", font, 0, s->texts[row]);
    svg_mark_end(out);
}

void svg_stacks(struct str *out, const struct svg_stacks *s)
{
    double top = svg_title(NULL, s->title, WIDTH) + 4, most = 0, text = 0;
    double bottom = top + ROW * (double)s->n;
    for (size_t i = 0; i < s->n; i++) {
        most = fmax(most, stack_sum(s, i));
        if (s->texts && s->texts[i])
            text = fmax(text, svg_text_width(s->texts[i], font) + 8);
    }
    svg_begin(out, s->id, s->title, s->desc, WIDTH, stack_legend(NULL, s, bottom));
    svg_title(out, s->title, WIDTH);
    for (size_t i = 0; i < s->n; i++)
        draw_row(out, s, i, top + ROW * (double)i, most > 0 ? (WIDTH - 2 * left - text) / most : 0);
    stack_legend(out, s, bottom);
    str_puts(out, "</svg>\n");
}
