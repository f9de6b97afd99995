/* The document as one self-contained page: style, script and data inside, nothing fetched. Without the script
 * it can be read as it stands; the script sorts, filters, and opens the problems of a cell. */
#include "evalcore/page/html_page.h"

#include <string.h>

#include "evalcore/page/svg.h"

enum {
    FIGURE_MAX = 400000
}; /* bytes; larger figures, curves of very many points, stay files beside the page */

struct page {
    struct str *out;
    int n_tables;
    int has_figure; /* the figures' style is there */
};

/* The figure's SVG without its namespace, which a page does not need: nothing in the page looks like an
 * address. All figures have the same style, and one holds for the whole page. */
static void figure_svg(struct page *p, const struct str *svg)
{
    static const char space[] = " xmlns=\"http://www.w3.org/2000/svg\"", style_end[] = "</style>\n";
    const char *text = str_text(svg), *at = strstr(text, space);
    if (at) {
        str_add(p->out, text, (size_t)(at - text));
        text = at + sizeof space - 1;
    }
    const char *style = p->has_figure ? strstr(text, "<style>") : NULL;
    const char *end = style ? strstr(style, style_end) : NULL;
    if (end) {
        str_add(p->out, text, (size_t)(style - text));
        text = end + sizeof style_end - 1;
    }
    str_puts(p->out, text);
    p->has_figure = 1;
}

static void put_figure(struct page *p, const struct doc_item *it)
{
    if (it->body->len > FIGURE_MAX) {
        str_puts(p->out, "<figure><figcaption><a href=\"");
        svg_escape(p->out, it->file);
        str_puts(p->out, "\">");
        svg_escape(p->out, it->title);
        str_printf(p->out, "</a> (%zu KB, beside the page). ", it->body->len / 1000);
        svg_escape(p->out, it->text);
        str_puts(p->out, "</figcaption></figure>\n");
        return;
    }
    str_printf(p->out, "<figure%s>", it->is_wide ? " class=\"wide\"" : "");
    if (it->is_wide) {
        str_puts(p->out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"");
        svg_escape(p->out, it->title);
        str_puts(p->out, "\">");
    }
    figure_svg(p, it->body);
    if (it->is_wide)
        str_puts(p->out, "</div>");
    str_puts(p->out, "<figcaption>");
    svg_escape(p->out, it->text);
    str_puts(p->out, "</figcaption></figure>\n");
}

static void put_words(struct str *out, const struct doc_item *it)
{
    str_puts(out, it->kind == DOC_WARNING ? "<p class=\"warn\"><b>Warning:</b> " : "<p>");
    svg_escape(out, it->text);
    str_puts(out, "</p>\n");
}

static void put_literal(struct str *out, const struct doc_item *it)
{
    str_puts(out, "<details class=\"raw\"><summary>");
    svg_escape(out, it->text);
    str_puts(out, "</summary><pre tabindex=\"0\">");
    svg_escape(out, str_text(it->body));
    str_puts(out, "</pre></details>\n");
}

static void put_item(struct page *p, const struct doc_section *s, const struct doc_item *it)
{
    switch (it->kind) {
    case DOC_PARAGRAPH:
    case DOC_WARNING:
        put_words(p->out, it);
        break;
    case DOC_TABLE:
        html_table(p->out, it->table, ++p->n_tables, s->title);
        break;
    case DOC_FIGURE:
        put_figure(p, it);
        break;
    case DOC_LITERAL:
        put_literal(p->out, it);
        break;
    case DOC_FOLD:
        str_puts(p->out, "<details class=\"part\"><summary>");
        svg_escape(p->out, it->text);
        str_puts(p->out, "</summary>\n");
        break;
    case DOC_FOLD_END:
        str_puts(p->out, "</details>\n");
        break;
    }
}

/* Which neighbours stand in one box: figures in a grid, and in the first screen words beside it. */
static const char *box_of(const struct doc_section *s, const struct doc_item *it)
{
    if (it->kind == DOC_FIGURE)
        return "figures";
    return s->is_lead && (it->kind == DOC_PARAGRAPH || it->kind == DOC_WARNING) ? "words" : NULL;
}

static void put_section(struct page *p, const struct doc_section *s)
{
    const char *box = NULL;
    str_printf(p->out, "<section id=\"%s\"%s%s>\n", s->id, s->is_lead ? " class=\"lead\"" : "",
               s->title ? "" : " aria-label=\"Summary\"");
    if (s->title) {
        str_puts(p->out, "<h2>");
        svg_escape(p->out, s->title);
        str_puts(p->out, "</h2>\n");
    }
    for (int k = 0; k < s->n_items; k++) {
        const char *next = box_of(s, &s->items[k]);
        if (next != box) {
            if (box)
                str_puts(p->out, "</div>\n");
            if (next)
                str_printf(p->out, "<div class=\"%s\">\n", next);
            box = next;
        }
        put_item(p, s, &s->items[k]);
    }
    str_puts(p->out, box ? "</div>\n</section>\n" : "</section>\n");
}

/* JSON inside a script element: "<" would let a text end it, and what turns the direction of text
 * (svg_escape()) would disguise it. */
static void put_data(struct str *out, const struct doc *d)
{
    if (!d->data)
        return;
    str_puts(out, "<script type=\"application/json\" id=\"data\">");
    for (size_t i = 0; i < d->data->len; i++) {
        const unsigned char *c = (const unsigned char *)d->data->data + i;
        unsigned code =
            c[0] == 0xE2 && (c[1] == 0x80 || c[1] == 0x81) ? 0x2000u + (c[1] & 1) * 64u + (c[2] & 63) : 0;
        if (*c == '<') {
            str_puts(out, "\\u003c");
        } else if ((code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069)) {
            str_printf(out, "\\u%04x", code);
            i += 2;
        } else {
            str_putc(out, (char)*c);
        }
    }
    str_puts(out, "</script>\n");
}

void doc_html(struct str *out, const struct doc *d)
{
    struct page p = {.out = out};
    html_begin(out, d->title, 1);
    str_puts(out, "<header>\n<h1>");
    svg_escape(out, d->title);
    str_puts(out, "</h1>\n<nav aria-label=\"Sections\">");
    for (int i = 0; i < d->n_sections; i++) {
        if (!d->sections[i].title)
            continue;
        str_printf(out, "<a href=\"#%s\">", d->sections[i].id);
        svg_escape(out, d->sections[i].title);
        str_puts(out, "</a>\n");
    }
    str_puts(out, "</nav>\n</header>\n<main>\n");
    for (int i = 0; i < d->n_sections; i++)
        put_section(&p, &d->sections[i]);
    str_puts(out, "</main>\n");
    put_data(out, d);
    str_printf(out, "<script>%s</script>\n</body>\n</html>\n", page_script);
}
