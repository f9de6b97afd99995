/* The parts that all figures share: escaping, text that fits, ticks, the style sheet.
 *
 * No font metrics are available, so text widths are estimated from Helvetica's, plus a margin for the
 * wider fonts that "sans-serif" may mean. Everything that must not overlap is laid out with these
 * estimates. */
#include "evalcore/page/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/shown.h"

static const char *const colours[SVG_COLOURS][2] = {
    [SVG_BLACK] = {"#000000", "#ffffff"},   [SVG_PINK] = {"#ff43c1", "#984987"},
    [SVG_GOLD] = {"#bb8b00", "#f7e300"},    [SVG_GREEN] = {"#6a9f65", "#06ff78"},
    [SVG_PURPLE] = {"#7e48bd", "#0056f6"},  [SVG_RED] = {"#ff334f", "#ec7b04"},
    [SVG_OLIVE] = {"#716201", "#6d673d"},   [SVG_WINE] = {"#6b1c2c", "#efa998"},
    [SVG_ROSE] = {"#a9365a", "#cd1400"},    [SVG_LILAC] = {"#b572f4", "#b373ff"},
    [SVG_MAGENTA] = {"#933c88", "#f336c0"}, [SVG_VIOLET] = {"#4c1f82", "#c3d3f0"},
    [SVG_SKY] = {"#359dc6", "#028ebd"},     [SVG_BLUE] = {"#465df3", "#69bffe"},
    [SVG_NAVY] = {"#0f23af", "#8842ca"},    [SVG_PLUM] = {"#5e2251", "#b04b6b"},
    [SVG_MOSS] = {"#384100", "#b19554"},    [SVG_GREY] = {"#7a7f87", "#9aa1aa"},
    [SVG_PALE] = {"#c3cad2", "#4d5661"},
};

const char *svg_colour_text(enum svg_colour c, int is_dark)
{
    return colours[c][is_dark != 0];
}

static void put_colours(struct str *out, int is_dark)
{
    for (int c = 0; c < SVG_COLOURS; c++)
        str_printf(out, ".kv-s%d{stroke:%s}.kv-f%d{fill:%s}", c, colours[c][is_dark], c, colours[c][is_dark]);
}

/* The style sheet of a figure. */
static void put_style(struct str *out)
{
    static const char style[] =
        ".kv-bg{fill:#fff}.kv-t{fill:#1c2127;font-family:Helvetica,Arial,'Liberation Sans',sans-serif}"
        ".kv-t.kv-light{fill:#fff}.kv-t.kv-dark{fill:#1c2127}.kv-m{fill:#59616b}.kv-b{font-weight:600}"
        ".kv-ax{stroke:#59616b;stroke-width:1.2;fill:none}.kv-g{stroke:#e3e6ea;stroke-width:1;fill:none}"
        ".kv-l{fill:none;stroke-width:2;stroke-linejoin:round}.kv-w{stroke-width:8;opacity:.4}"
        ".kv-p{stroke-width:1.2;opacity:.35}.kv-e{fill:none;stroke-width:1.3}.mark:focus-visible{outline:2px "
        "solid #e98020}"
        ".kv-whisker{fill:none;stroke:#8a929c;stroke-width:1.4}.kv-band{opacity:.13}"
        ".kv-halo{stroke:#fff;stroke-width:1}.kv-hollow{fill:#fff;stroke-width:1.8}"
        ".kv-mark{fill:none;stroke:#e98020;stroke-width:3.2}"
        ".kv-none{fill:#f1f3f5}.kv-wrong{fill:#d3d9e0}.kv-cut{fill:#e98020}.kv-right{fill:#600aa6}";
    static const char dark[] =
        "@media(prefers-color-scheme:dark){"
        ".kv-bg{fill:#16191d}.kv-t{fill:#e8eaed}.kv-m{fill:#a3abb5}.kv-ax{stroke:#a3abb5}.kv-g{stroke:#"
        "2c3239}"
        ".kv-halo{stroke:#16191d}.kv-hollow{fill:#16191d}.kv-none{fill:#22272d}.kv-wrong{fill:#434b55}"
        ".kv-right{fill:#b57bea}";
    str_puts(out, style);
    put_colours(out, 0);
    str_puts(out, dark);
    put_colours(out, 1);
    str_putc(out, '}');
}

void svg_escape(struct str *out, const char *s)
{
    struct str clean = {0};
    str_add_utf8(&clean, s, strlen(s));
    for (size_t i = 0; i < clean.len; i++) {
        unsigned char c = (unsigned char)clean.data[i];
        switch (c) {
        case '&':
            str_puts(out, "&amp;");
            break;
        case '<':
            str_puts(out, "&lt;");
            break;
        case '>':
            str_puts(out, "&gt;");
            break;
        case '"':
            str_puts(out, "&quot;");
            break;
        case '\'':
            str_puts(out, "&#39;");
            break;
        case 0xE2:
            if (shown_turns(clean.data + i)) {
                str_puts(out, "\xEF\xBF\xBD");
                i += 2;
                break;
            }
            str_putc(out, (char)c);
            break;
        case 0xC2:
            if ((unsigned char)clean.data[i + 1] < 0xA0) {
                i++; /* a control character of one byte more */
                break;
            }
            /* fall through */
        default:
            if (c >= 0x20 || c == '\n' || c == '\t')
                str_putc(out, (char)c);
        }
    }
    str_release(&clean);
}

void svg_number(struct str *out, double v)
{
    char text[64];
    snprintf(text, sizeof text, "%.2f", fabs(v) < 0.005 ? 0.0 : v);
    size_t n = strlen(text);
    while (n && text[n - 1] == '0')
        n--;
    if (n && text[n - 1] == '.')
        n--;
    str_add(out, text, n);
}

/* Character widths of Helvetica in thousandths of the font size, by classes of characters. */
static double char_width(unsigned char c)
{
    if (strchr("ijl|'.,:;! ", c))
        return 0.26;
    if (strchr("frtI()[]/\\-`\"", c))
        return 0.34;
    if (strchr("mMW%@", c))
        return 0.88;
    if (c >= 'A' && c <= 'Z')
        return 0.70;
    if (strchr("+=<>~_", c))
        return 0.58;
    return 0.56;
}

/* Bytes of the UTF-8 character at s; never past the end of a string that is cut short. */
static size_t char_bytes(const char *s)
{
    size_t n = 1;
    while (((unsigned char)s[n] & 0xC0) == 0x80)
        n++;
    return n;
}

double svg_text_width(const char *s, double size)
{
    double width = 0;
    for (; *s; s += char_bytes(s)) {
        unsigned char c = (unsigned char)*s;
        width += c < 0x80 ? char_width(c) : c < 0xE3 ? 0.65 : 1.05;
    }
    return width * size * 1.12;
}

/* Bytes of the longest prefix of s (below: of the longest suffix of its n bytes) that is at most max_width
 * wide. */
static size_t head_that_fits(const char *s, double size, double max_width)
{
    size_t n = 0;
    char one[16];
    for (size_t step; s[n]; n += step) {
        step = char_bytes(s + n);
        if (step >= sizeof one)
            break;
        memcpy(one, s + n, step);
        one[step] = 0;
        max_width -= svg_text_width(one, size);
        if (max_width < 0)
            break;
    }
    return n;
}

static size_t tail_that_fits(const char *s, size_t n, double size, double max_width)
{
    size_t from = n;
    while (from) {
        size_t next = from - 1;
        while (next && ((unsigned char)s[next] & 0xC0) == 0x80)
            next--;
        if (svg_text_width(s + next, size) > max_width)
            break;
        from = next;
    }
    return n - from;
}

/* Adds s; where it does not fit, its beginning and its end with "…" between them, since names of settings
 * often differ in the last option only. Returns whether something was left out. */
static int fit_text(struct str *out, const char *s, double size, double max_width)
{
    static const char dots[] = "\xE2\x80\xA6";
    if (max_width <= 0 || svg_text_width(s, size) <= max_width) {
        svg_escape(out, s);
        return 0;
    }
    size_t n = strlen(s);
    max_width -= svg_text_width(dots, size);
    size_t tail = tail_that_fits(s, n, size, max_width / 2);
    size_t head = head_that_fits(s, size, max_width - svg_text_width(s + n - tail, size));
    struct str part = {0};
    str_add(&part, s, head);
    str_puts(&part, dots);
    str_puts(&part, s + n - tail);
    svg_escape(out, str_text(&part));
    str_release(&part);
    return 1;
}

void svg_text(struct str *out, double x, double y, const char *anchor, const char *class_name, double size,
              double max_width, const char *s)
{
    str_puts(out, "<text x=\"");
    svg_number(out, x);
    str_puts(out, "\" y=\"");
    svg_number(out, y);
    str_puts(out, "\" font-size=\"");
    svg_number(out, size);
    str_printf(out, "\" text-anchor=\"%s\" class=\"kv-t%s%s\">", anchor, *class_name ? " " : "", class_name);
    if (fit_text(out, s, size, max_width)) {
        str_puts(out, "<title>");
        svg_escape(out, s);
        str_puts(out, "</title>");
    }
    str_puts(out, "</text>\n");
}

void svg_mark_begin(struct str *out, const char *cell, const char *tip)
{
    str_puts(out, "<g class=\"mark\"");
    if (cell) {
        str_puts(out, " data-cell=\"");
        svg_escape(out, cell);
        str_puts(out, "\" tabindex=\"0\"");
    }
    str_putc(out, '>');
    if (tip) {
        str_puts(out, "<title>");
        svg_escape(out, tip);
        str_puts(out, "</title>");
    }
    str_putc(out, '\n');
}

void svg_mark_end(struct str *out)
{
    str_puts(out, "</g>\n");
}

void svg_begin(struct str *out, const char *id, const char *title, const char *desc, double width,
               double height)
{
    /* A figure may be shown up to a third larger than it was drawn; beyond that a small one looks
     * oversized. */
    str_printf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" ",
        ceil(width), ceil(height), ceil(width), ceil(height));
    /* A group, not an image: readers of the screen may enter it and find the marks. */
    str_printf(out, "style=\"max-width:%.0fpx\" role=\"group\" ", ceil(width * 4 / 3));
    str_printf(out, "aria-labelledby=\"%s-t %s-d\">\n<title id=\"%s-t\">", id, id, id);
    svg_escape(out, title);
    str_printf(out, "</title>\n<desc id=\"%s-d\">", id);
    svg_escape(out, desc);
    str_puts(out, "</desc>\n<style>");
    put_style(out);
    str_puts(out, "</style>\n");
    str_printf(out, "<rect class=\"kv-bg\" width=\"%.0f\" height=\"%.0f\"/>\n", ceil(width), ceil(height));
}

double svg_title(struct str *out, const char *title, double width)
{
    const double size = 17, left = 12, line = 21;
    const double max_width = width - 2 * left;
    size_t split = 0;
    struct str head = {0};
    if (svg_text_width(title, size * 1.06) > max_width) {
        for (size_t i = 0; title[i]; i++) {
            if (title[i] != ' ')
                continue;
            str_clear(&head);
            str_add(&head, title, i);
            if (svg_text_width(str_text(&head), size * 1.06) > max_width)
                break;
            split = i;
        }
    }
    str_clear(&head);
    str_add(&head, title, split ? split : strlen(title));
    if (out) {
        svg_text(out, left, 24, "start", "kv-b", size, max_width / 1.06, str_text(&head));
        if (split)
            svg_text(out, left, 24 + line, "start", "kv-b", size, max_width / 1.06, title + split + 1);
    }
    str_release(&head);
    return split ? 24 + line + 8 : 32;
}

static size_t log_ticks(double low, double high, size_t max, double *ticks)
{
    static const double fine[] = {1, 2, 5}, coarse[] = {1};
    for (int pass = 0; pass < 2; pass++) {
        const double *mantissa = pass ? coarse : fine;
        size_t n = 0, n_mantissa = pass ? 1 : 3;
        for (int e = (int)floor(log10(low)) - 1; e <= (int)ceil(log10(high)); e++)
            for (size_t m = 0; m < n_mantissa; m++) {
                double v = mantissa[m] * pow(10, e);
                if (v < low * (1 - 1e-9) || v > high * (1 + 1e-9))
                    continue;
                if (n < max)
                    ticks[n] = v;
                n++;
            }
        if (n <= max)
            return n;
        if (pass)
            return max;
    }
    return 0;
}

size_t svg_ticks(double low, double high, int is_log, size_t max, double *ticks, double *step)
{
    static const double nice[] = {1, 2, 2.5, 5, 10};
    *step = 0;
    if (!(high > low) || max < 2 || (is_log && !(low > 0)))
        return 0;
    if (is_log)
        return log_ticks(low, high, max, ticks);
    double decade = pow(10, floor(log10((high - low) / (double)max)) - 1);
    for (int e = 0; e < 4; e++, decade *= 10) {
        for (size_t i = 0; i < sizeof nice / sizeof *nice - 1; i++) {
            double s = nice[i] * decade;
            double first = ceil(low / s - 1e-9), last = floor(high / s + 1e-9);
            if (last - first + 1 > (double)max)
                continue;
            size_t n = 0;
            for (double k = first; k <= last; k++)
                ticks[n++] = k * s + 0.0; /* no "-0" */
            *step = s;
            return n;
        }
    }
    return 0;
}

void svg_draw_marker(struct str *out, enum svg_marker m, enum svg_colour c, double x, double y, double scale,
                     int is_hollow)
{
    static const char *const shape[] = {
        [SVG_CIRCLE] = "M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0z",
        [SVG_SQUARE] = "M-4.2-4.2h8.4v8.4h-8.4z",
        [SVG_TRIANGLE] = "M0-5.4L5.2 4H-5.2z",
        [SVG_DIAMOND] = "M0-5.8L5.4 0L0 5.8L-5.4 0z",
        [SVG_DOWN] = "M0 5.4L5.2-4H-5.2z",
        [SVG_CROSS] =
            "M-4.8-2.4L-2.4-4.8L0-2.4L2.4-4.8L4.8-2.4L2.4 0L4.8 2.4L2.4 4.8L0 2.4L-2.4 4.8L-4.8 2.4L-2.4 0z",
    };
    if (m >= SVG_MARKERS)
        return;
    str_puts(out, "<path transform=\"translate(");
    svg_number(out, x);
    str_putc(out, ' ');
    svg_number(out, y);
    if (scale > 1)
        str_printf(out, ") scale(%.2f", scale);
    str_printf(out,
               is_hollow ? ")\" class=\"kv-s%d kv-hollow\" d=\"%s\"/>\n"
                         : ")\" class=\"kv-f%d kv-halo\" d=\"%s\"/>\n",
               (int)c, shape[m]);
}
