/* Horizontal bars with a name in front, in groups side by side: one row per cell, so that names stay readable
 * however many there are. */
#include <math.h>

#include "evalcore/page/svg.h"

enum { WIDTH = 480, ROW = 24 };
static const double font = 13, gap = 18;

static double label_width(const struct svg_bars *b, size_t column)
{
    double widest = 0;
    for (size_t i = 0; i < b->n; i++) {
        const char *text = b->bars[i * b->n_columns + column].text;
        double w = text ? svg_text_width(text, font) : 0;
        widest = w > widest ? w : widest;
    }
    return widest + 6;
}

/* The value at the end of a column: the one that is given, else the largest. */
static double column_top(const struct svg_bars *b, size_t column)
{
    double top = b->columns[column].top;
    if (isnan(top))
        for (size_t i = 0; i < b->n; i++)
            top = fmax(top, b->bars[i * b->n_columns + column].value);
    return top > 0 ? top : 1;
}

static void draw_bar(struct str *out, const struct svg_bar *q, double x, double y, double width,
                     double max_width, double top)
{
    if (!isfinite(q->value))
        return;
    double unit = max_width / top, w = q->value * unit;
    w = w < 0 ? 0 : w > max_width ? max_width : w;
    str_printf(out, "<rect class=\"kv-f%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\"/>\n",
               (int)q->colour, x, y + 4, w > 1 ? w : 1, ROW - 8);
    double end = w;
    if (isfinite(q->low) && isfinite(q->high)) {
        double low = fmax(0, q->low * unit), high = fmin(max_width, q->high * unit);
        str_printf(out, "<path class=\"kv-whisker\" d=\"M%.1f %.1fv8m0-4H%.1fm0-4v8\"/>\n", x + low,
                   y + ROW / 2.0 - 4, x + high);
        end = fmax(end, high);
    }
    if (q->text)
        svg_text(out, x + end + 5, y + ROW / 2.0 + 4.5, "start", "", font, width - end - 3, q->text);
}

static double names_width(const struct svg_bars *b)
{
    double left = 60;
    for (size_t i = 0; i < b->n; i++)
        left = fmax(left, svg_text_width(b->names[i], font) + 20);
    return fmin(left, 236);
}

void svg_bars(struct str *out, const struct svg_bars *b)
{
    double left = names_width(b), top = svg_title(NULL, b->title, WIDTH) + 26;
    double bottom = top + ROW * (double)b->n;
    double width = (WIDTH - 14 - left - gap * (double)(b->n_columns - 1)) / (double)b->n_columns;
    svg_begin(out, b->id, b->title, b->desc, WIDTH, bottom + 12);
    svg_title(out, b->title, WIDTH);
    for (size_t c = 0; c < b->n_columns; c++) {
        double x = left + (width + gap) * (double)c;
        svg_text(out, x, top - 8, "start", "kv-m", font, width + gap - 4, b->columns[c].label);
        str_printf(out, "<path class=\"kv-ax\" d=\"M%.1f %.1fV%.1f\"/>\n", x, top, bottom);
    }
    for (size_t i = 0; i < b->n; i++) {
        double y = top + ROW * (double)i;
        const struct svg_bar *row = &b->bars[i * b->n_columns];
        svg_mark_begin(out, row->cell, row->tip);
        svg_text(out, left - 8, y + ROW / 2.0 + 4.5, "end", "", font, left - 16, b->names[i]);
        for (size_t c = 0; c < b->n_columns; c++)
            draw_bar(out, &row[c], left + (width + gap) * (double)c, y, width,
                     fmax(20, width - label_width(b, c)), column_top(b, c));
        svg_mark_end(out);
    }
    str_puts(out, "</svg>\n");
}

/* ---- Stacked bars: where a whole goes. The name stands above its bar, since names are long. */

enum { STACK_WIDTH = 480, STACK_ROW = 46, BAR = 18 };
static const double stack_font = 13, left = 14;

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
        double w = 18 + svg_text_width(s->parts[k].name, stack_font);
        if (x > left && x + w > STACK_WIDTH - left) {
            x = left;
            y += 21;
        }
        if (out) {
            str_printf(out, "<rect class=\"kv-f%d\" x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\"/>\n",
                       (int)s->parts[k].colour, x, y - 10.5);
            svg_text(out, x + 18, y, "start", "", stack_font, STACK_WIDTH - left - x - 18, s->parts[k].name);
        }
        x += w + 14;
    }
    return y + 12;
}

static void draw_row(struct str *out, const struct svg_stacks *s, size_t row, double y, double unit)
{
    double x = left, sum = stack_sum(s, row);
    svg_mark_begin(out, NULL, s->tips ? s->tips[row] : NULL);
    svg_text(out, left, y + 13, "start", "", stack_font, STACK_WIDTH - 2 * left, s->names[row]);
    for (size_t k = 0; k < s->n_parts; k++) {
        double v = s->value[row * s->n_parts + k];
        if (!isfinite(v) || v <= 0)
            continue;
        str_printf(out, "<rect class=\"kv-f%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"/>\n",
                   (int)s->parts[k].colour, x, y + 19, v * unit, BAR);
        x += v * unit;
    }
    if (s->texts && s->texts[row])
        svg_text(out, left + sum * unit + 6, y + 33, "start", "", stack_font, 0, s->texts[row]);
    svg_mark_end(out);
}

void svg_stacks(struct str *out, const struct svg_stacks *s)
{
    double top = svg_title(NULL, s->title, STACK_WIDTH) + 4, max_sum = 0, text = 0;
    double bottom = top + STACK_ROW * (double)s->n;
    for (size_t i = 0; i < s->n; i++) {
        max_sum = fmax(max_sum, stack_sum(s, i));
        if (s->texts && s->texts[i])
            text = fmax(text, svg_text_width(s->texts[i], stack_font) + 8);
    }
    svg_begin(out, s->id, s->title, s->desc, STACK_WIDTH, stack_legend(NULL, s, bottom));
    svg_title(out, s->title, STACK_WIDTH);
    for (size_t i = 0; i < s->n; i++)
        draw_row(out, s, i, top + STACK_ROW * (double)i,
                 max_sum > 0 ? (STACK_WIDTH - 2 * left - text) / max_sum : 0);
    stack_legend(out, s, bottom);
    str_puts(out, "</svg>\n");
}
