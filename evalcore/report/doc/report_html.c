/* The document as one self-contained page: style and figures inside, no script, nothing fetched. Tables
 * scroll in their own frame, so that the page never scrolls sideways on a phone. */
#include "evalcore/report/doc/report_doc.h"

#include <string.h>

#include "evalcore/svg/svg.h"

enum {
    TALL_ROWS = 40,    /* longer tables scroll in a frame of their own under a fixed head */
    DENSE_COLUMNS = 11 /* wider ones are set smaller */
};

static const char *const page_style =
    ":root{--bg:#fff;--ink:#1c2127;--soft:#59616b;--line:#d9dde2;--band:#f5f6f8;--link:#600aa6;--bad:#b3261e;"
    "--good:#1b6b41;--warn:#fff4e5;--warnline:#e98020}"
    "@media(prefers-color-scheme:dark){:root{--bg:#16191d;--ink:#e8eaed;--soft:#a3abb5;--line:#343a42;--band:"
    "#1e2227;"
    "--link:#b57bea;--bad:#ff8a80;--good:#6fd3a0;--warn:#33261a;--warnline:#f0994a}}"
    "*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}"
    "body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe "
    "UI',Helvetica,"
    "Arial,sans-serif}"
    "main{max-width:1160px;margin:0 auto;padding:16px}h1{font-size:1.6rem;margin:.4em 0}"
    "h2{font-size:1.2rem;margin:2em 0 .5em;padding-top:.6em;border-top:1px solid "
    "var(--line)}p{max-width:76ch;margin:.6em 0}"
    "nav{font-size:.9rem;margin:.8em 0}nav "
    "a{color:var(--link);margin-right:1em;white-space:nowrap;line-height:2}"
    ".warn{background:var(--warn);border-left:4px solid var(--warnline);padding:.6em .9em;margin:.7em "
    "0;max-width:none}"
    ".scroll{overflow-x:auto;margin:.8em 0;border:1px solid var(--line);border-radius:6px}"
    ".tall{max-height:min(44rem,75vh);overflow:auto}.tall thead th{position:sticky;top:0;z-index:2}"
    ".cap{color:var(--soft);font-size:.875rem;max-width:none;margin:.8em 0 .4em}.cap+.scroll{margin-top:0}"
    ".dense{font-size:.78rem}.dense th,.dense td{padding:.3em .42em}.dense td:last-child{white-space:normal}"
    "table{border-collapse:separate;border-spacing:0;font-size:.875rem;width:100%;font-variant-numeric:"
    "tabular-nums}"
    "th,td{padding:.35em .7em;text-align:left;vertical-align:top;border-top:1px solid "
    "var(--line);white-space:nowrap}"
    "td.wrap{white-space:normal;min-width:16em;overflow-wrap:anywhere}"
    "thead th{border-top:0;background:var(--band);font-weight:600;white-space:normal;vertical-align:bottom}"
    "tbody th{font-weight:500;position:sticky;left:0;background:var(--bg)}"
    "tbody tr.group th{background:var(--band);font-weight:600;position:static}"
    ".num{text-align:right}small{display:block;color:var(--soft);font-size:.8em;font-weight:400;white-space:"
    "normal;min-width:11em}"
    ".strong{font-weight:700}.bad{color:var(--bad);font-weight:600}.good{color:var(--good);font-weight:600}"
    ".muted{color:var(--soft)}"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:16px;"
    "margin:1em 0}"
    "figure{margin:0;border:1px solid var(--line);border-radius:6px;padding:4px 4px 0;min-width:0}"
    "figure svg{display:block;width:100%;height:auto;margin:0 auto}"
    "figure.wide{grid-column:1/-1}figure.wide .scroll{border:0;margin:0}"
    "figure.wide svg{min-width:480px;margin:0}"
    "figcaption{font-size:.85rem;color:var(--soft);padding:.3em .7em .7em;line-height:1.4}"
    "details{margin:.8em 0}summary{cursor:pointer;color:var(--link)}"
    "pre{overflow-x:auto;background:var(--band);padding:.8em;border-radius:6px;font-size:.8rem;line-height:1."
    "4}"
    "@media(max-width:480px){main{padding:10px}h1{font-size:1.3rem}table,.dense,.cap{font-size:.8rem}th,td{"
    "padding:.3em "
    ".5em}"
    "tbody th{max-width:42vw;white-space:normal}}"
    "@media print{.scroll,.tall{overflow:visible;max-height:none}nav{display:none}}";

static void html_class(struct str *out, unsigned flags, int is_long)
{
    static const struct {
        unsigned flag;
        const char *name;
    } names[] = {{CELL_NUMBER, "num"},
                 {CELL_STRONG, "strong"},
                 {CELL_BAD, "bad"},
                 {CELL_GOOD, "good"},
                 {CELL_MUTED, "muted"}};
    int n = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (flags & names[i].flag)
            str_printf(out, "%s%s", n++ ? " " : " class=\"", names[i].name);
    if (is_long)
        str_printf(out, "%swrap", n++ ? " " : " class=\"");
    if (n)
        str_putc(out, '"');
}

static void html_cell(struct str *out, const struct table_cell *c, int is_head)
{
    const char *text = c->text ? c->text : "";
    str_puts(out, is_head ? "<th scope=\"row\"" : "<td");
    html_class(out, c->flags, !is_head && strlen(text) > 48);
    str_putc(out, '>');
    svg_escape(out, text);
    if (c->small && *c->small) {
        str_puts(out, "<small>");
        svg_escape(out, c->small);
        str_puts(out, "</small>");
    }
    str_puts(out, is_head ? "</th>" : "</td>");
}

static void html_table(struct str *out, const struct table *t)
{
    if (t->caption && *t->caption) {
        str_puts(out, "<p class=\"cap\">");
        svg_escape(out, t->caption);
        str_puts(out, "</p>\n");
    }
    str_printf(out, "<div class=\"scroll%s\" tabindex=\"0\"><table%s>\n",
               t->n_rows > TALL_ROWS ? " tall" : "", t->n_columns > DENSE_COLUMNS ? " class=\"dense\"" : "");
    str_puts(out, "<thead><tr>");
    for (int i = 0; i < t->n_columns; i++) {
        str_puts(out, "<th scope=\"col\"");
        html_class(out, t->flags[i], 0);
        str_putc(out, '>');
        svg_escape(out, t->columns[i]);
        str_puts(out, "</th>");
    }
    str_puts(out, "</tr></thead>\n<tbody>\n");
    for (int r = 0; r < t->n_rows; r++) {
        const struct table_row *row = &t->rows[r];
        if (row->group) {
            str_printf(out, "<tr class=\"group\"><th colspan=\"%d\" scope=\"colgroup\">", t->n_columns);
            svg_escape(out, row->group);
            str_puts(out, "</th></tr>\n");
            continue;
        }
        str_puts(out, "<tr>");
        for (int i = 0; i < t->n_columns; i++)
            html_cell(out, &row->cells[i], i == 0);
        str_puts(out, "</tr>\n");
    }
    str_puts(out, "</tbody></table></div>\n");
}

/* The figure's SVG without its namespace, which a page does not need: nothing in the page looks like an
 * address. */
static void html_svg(struct str *out, const struct str *svg)
{
    static const char space[] = " xmlns=\"http://www.w3.org/2000/svg\"";
    const char *text = str_text(svg), *at = strstr(text, space);
    if (!at) {
        str_puts(out, text);
        return;
    }
    str_add(out, text, (size_t)(at - text));
    str_puts(out, at + sizeof space - 1);
}

static void html_figure(struct str *out, const struct doc_item *it)
{
    str_printf(out, "<figure%s>", it->is_wide ? " class=\"wide\"" : "");
    if (it->is_wide)
        str_puts(out, "<div class=\"scroll\" tabindex=\"0\">");
    html_svg(out, it->body);
    if (it->is_wide)
        str_puts(out, "</div>");
    str_puts(out, "<figcaption>");
    svg_escape(out, it->text);
    str_puts(out, "</figcaption></figure>\n");
}

static void html_section(struct str *out, const struct doc_section *s)
{
    str_printf(out, "<section id=\"%s\">\n", s->id);
    if (s->title) {
        str_puts(out, "<h2>");
        svg_escape(out, s->title);
        str_puts(out, "</h2>\n");
    }
    int in_figures = 0;
    for (int k = 0; k < s->n_items; k++) {
        const struct doc_item *it = &s->items[k];
        if (in_figures != (it->kind == DOC_FIGURE)) {
            in_figures = it->kind == DOC_FIGURE;
            str_puts(out, in_figures ? "<div class=\"figures\">\n" : "</div>\n");
        }
        switch (it->kind) {
        case DOC_PARAGRAPH:
        case DOC_WARNING:
            str_puts(out,
                     it->kind == DOC_WARNING ? "<p class=\"warn\" role=\"alert\"><b>Warning:</b> " : "<p>");
            svg_escape(out, it->text);
            str_puts(out, "</p>\n");
            break;
        case DOC_TABLE:
            html_table(out, it->table);
            break;
        case DOC_FIGURE:
            html_figure(out, it);
            break;
        case DOC_LITERAL:
            str_puts(out, "<details><summary>");
            svg_escape(out, it->text);
            str_puts(out, "</summary><pre>");
            svg_escape(out, str_text(it->body));
            str_puts(out, "</pre></details>\n");
            break;
        }
    }
    str_puts(out, in_figures ? "</div>\n</section>\n" : "</section>\n");
}

void doc_html(struct str *out, const struct doc *d)
{
    str_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>");
    svg_escape(out, d->title);
    str_printf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>", page_style);
    svg_escape(out, d->title);
    str_puts(out, "</h1>\n<nav>");
    for (int i = 0; i < d->n_sections; i++) {
        if (!d->sections[i].title)
            continue;
        str_printf(out, "<a href=\"#%s\">", d->sections[i].id);
        svg_escape(out, d->sections[i].title);
        str_puts(out, "</a>\n");
    }
    str_puts(out, "</nav>\n");
    for (int i = 0; i < d->n_sections; i++)
        html_section(out, &d->sections[i]);
    str_puts(out, "</main>\n</body>\n</html>\n");
}
