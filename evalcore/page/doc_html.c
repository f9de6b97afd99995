/* The document as one self-contained page: style, script and data inside, nothing fetched. Without the script
 * it can be read as it stands; the script sorts, filters, and opens the problems of a cell. */
#include "evalcore/page/doc.h"

#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/base/shown.h"
#include "evalcore/page/svg.h"

extern const char page_style[], page_script[]; /* page.css and page.js, put in by page_files.S */

/* ---- The head that all pages share, and the pages of problems' texts. */

/* RFC 4648. */
static void put_base64(struct str *out, const unsigned char *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)data[i] << 16;
        v |= i + 1 < n ? (unsigned)data[i + 1] << 8 : 0;
        v |= i + 2 < n ? (unsigned)data[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            str_putc(out, i + k > n ? '=' : digits[v >> (18 - 6 * k) & 63]);
    }
}

/* Content Security Policy Level 3, section 2.3.1: 'sha256-...' names the one script that may run. */
static void put_script_policy(struct str *out, int has_script)
{
    str_puts(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                  "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'");
    if (has_script) {
        struct sha256 h;
        unsigned char sum[32];
        sha256_init(&h);
        sha256_add(&h, page_script, strlen(page_script));
        sha256_end(&h, sum);
        str_puts(out, "; script-src 'sha256-");
        put_base64(out, sum, sizeof sum);
        str_putc(out, '\'');
    }
    str_puts(out, "\">\n");
}

/* From the doctype to <body>. Nothing may be fetched, and no script may run but page.js, by its hash,
 * whatever the page's text holds; has_script 0: no script at all. */
static void put_head(struct str *out, const char *title, int has_script)
{
    str_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put_script_policy(out, has_script);
    str_puts(out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>");
    svg_escape(out, title);
    str_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", page_style);
}

void html_text_begin(struct str *out, const char *title, const char *back)
{
    put_head(out, title, 0);
    str_puts(out, "<header><nav aria-label=\"Back\"><a href=\"");
    svg_escape(out, back);
    str_puts(out, "\">Report</a></nav></header>\n<main>\n<h1>");
    svg_escape(out, title);
    str_puts(out, "</h1>\n");
}

void html_text_part(struct str *out, const char *title, const char *note, const char *text, size_t n)
{
    struct str shown = {0};
    str_puts(out, "<h2>");
    svg_escape(out, title);
    str_puts(out, "</h2>\n");
    if (note && *note) {
        str_puts(out, "<p>");
        svg_escape(out, note);
        str_puts(out, "</p>\n");
    }
    for (size_t i = 0; i < n && i < TEXT_MAX; i++) /* a NUL would end the text early */
        if (text[i])
            str_putc(&shown, text[i]);
        else
            str_puts(&shown, "\xEF\xBF\xBD");
    str_puts(out, "<pre class=\"text\">\n"); /* HTML drops the first newline of a pre */
    svg_escape(out, str_text(&shown));
    str_puts(out, "</pre>\n");
    if (n > TEXT_MAX)
        str_printf(
            out,
            "<p class=\"warn\">Cut here: the first %d of %zu bytes are shown; kveval show prints all.</p>\n",
            TEXT_MAX, n);
    str_release(&shown);
}

void html_text_end(struct str *out)
{
    str_puts(out, "</main>\n</body>\n</html>\n");
}

/* ---- A table of the page. Rows of a group that say the same stand together under a
 * line that names it, which the script folds; a long table folds by groups. */

enum {
    LONG_ROWS = 40,     /* a longer table of several groups folds by groups */
    FOLDED_ROWS = 1000, /* of a table in a folded section the page holds no more */
    DENSE_COLUMNS = 11, /* wider ones are set smaller */
    WRAP_BYTES = 48     /* longer texts are wrapped */
};

static void put_classes(struct str *out, unsigned flags, int is_long)
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

static void table_cell(struct str *out, const struct table_cell *c, int is_head)
{
    const char *text = c->text ? c->text : "";
    str_puts(out, is_head ? "<th scope=\"row\"" : "<td");
    put_classes(out, c->flags, !is_head && strlen(text) > WRAP_BYTES);
    if (c->cell) {
        str_puts(out, " data-cell=\"");
        svg_escape(out, c->cell);
        str_putc(out, '"');
    }
    str_putc(out, '>');
    svg_escape(out, text);
    if (c->small && *c->small) {
        str_puts(out, "<small>");
        svg_escape(out, c->small);
        str_puts(out, "</small>");
    }
    str_puts(out, is_head ? "</th>" : "</td>");
}

static void table_row_html(struct str *out, const struct table *t, const struct table_row *row)
{
    str_puts(out, "<tr>");
    for (int i = 0; i < row->n; i++)
        table_cell(out, &row->cells[i], i == 0);
    for (int i = row->n; i < t->n_columns; i++)
        str_puts(out, "<td></td>");
    str_puts(out, "</tr>\n");
}

static void put_full_row(struct str *out, const struct table *t, const char *class_name, const char *text)
{
    str_printf(out, "<tr class=\"%s\"><th colspan=\"%d\" scope=\"rowgroup\">", class_name, t->n_columns);
    svg_escape(out, text);
    str_puts(out, "</th></tr>\n");
}

static int row_says(const struct table_row *row, const char *same)
{
    return row->same && !strcmp(row->same, same);
}

/* Rows from .. to - 1, which belong to one group: those that say what an earlier one said stand below it. */
static void rows_html(struct str *out, const struct table *t, int from, int to)
{
    str_puts(out, "<tbody>\n");
    for (int r = from; r < to; r++) {
        const struct table_row *row = &t->rows[r];
        int before = 0, after = 0;
        for (int k = from; k < to && row->same; k++) {
            before += k < r && row_says(&t->rows[k], row->same);
            after += k > r && row_says(&t->rows[k], row->same);
        }
        if (before)
            continue;
        if (!after) {
            table_row_html(out, t, row);
            continue;
        }
        struct str line = {0};
        str_printf(&line, "%d: %s", after + 1, row->same);
        str_puts(out, "</tbody>\n<tbody class=\"same\">\n");
        put_full_row(out, t, "same", str_text(&line));
        str_release(&line);
        for (int k = r; k < to; k++)
            if (row_says(&t->rows[k], row->same))
                table_row_html(out, t, &t->rows[k]);
        str_puts(out, "</tbody>\n<tbody>\n");
    }
    str_puts(out, "</tbody>\n");
}

/* What a frame that scrolls is called: the caption's id, or its label. */
static void table_begin(struct str *out, const struct table *t, int number, const char *label)
{
    str_puts(out, "<div class=\"scroll\" tabindex=\"0\" role=\"group\" ");
    if (t->caption && *t->caption && !label) {
        str_printf(out, "aria-labelledby=\"caption-%d\"", number);
    } else {
        str_puts(out, "aria-label=\"");
        svg_escape(out, label && *label ? label : "Table");
        str_putc(out, '"');
    }
    str_printf(out, "><table%s>\n<thead><tr>", t->n_columns > DENSE_COLUMNS ? " class=\"dense\"" : "");
    for (int i = 0; i < t->n_columns; i++) {
        str_puts(out, "<th scope=\"col\"");
        put_classes(out, t->flags[i], 0);
        str_putc(out, '>');
        svg_escape(out, t->columns[i]);
        str_puts(out, "</th>");
    }
    str_puts(out, "</tr></thead>\n");
}

static void table_end(struct str *out)
{
    str_puts(out, "</table></div>\n");
}

static int group_end(const struct table *t, int from)
{
    while (from < t->n_rows && !t->rows[from].group)
        from++;
    return from;
}

static void folded_groups(struct str *out, const struct table *t, int number)
{
    for (int r = 0, end; r < t->n_rows; r = end) {
        const char *name = t->rows[r].group ? t->rows[r].group : "";
        int from = r + (t->rows[r].group != NULL);
        end = group_end(t, from);
        str_puts(out, "<details><summary>");
        svg_escape(out, name);
        str_printf(out, " (%d row%s)</summary>\n", end - from, end - from == 1 ? "" : "s");
        table_begin(out, t, number, name);
        rows_html(out, t, from, end);
        table_end(out);
        str_puts(out, "</details>\n");
    }
}

/* number: of the tables of the page, from 1, for its id; label: what it is called where it has no caption. */
static void whole_table(struct str *out, const struct table *t, int number, const char *label)
{
    int has_caption = t->caption && *t->caption, groups = 0;
    if (has_caption) {
        str_printf(out, "<p class=\"cap\" id=\"caption-%d\">", number);
        svg_escape(out, t->caption);
        str_puts(out, "</p>\n");
    }
    for (int r = 0; r < t->n_rows; r++)
        groups += t->rows[r].group != NULL;
    if (groups > 1 && t->n_rows > LONG_ROWS) {
        folded_groups(out, t, number);
        return;
    }
    table_begin(out, t, number, has_caption ? NULL : label);
    for (int r = 0, end; r < t->n_rows; r = end) {
        if (t->rows[r].group) {
            str_puts(out, "<tbody class=\"group\">\n");
            put_full_row(out, t, "group", t->rows[r].group);
            str_puts(out, "</tbody>\n");
        }
        int from = r + (t->rows[r].group != NULL);
        end = group_end(t, from);
        rows_html(out, t, from, end);
    }
    table_end(out);
}

/* The same. What is folded says again what stands open, or more than most readers want: of a very long table
 * there the beginning is enough. */
static void put_table(struct str *out, const struct table *t, int number, const char *label, int is_folded)
{
    if (!is_folded || t->n_rows <= FOLDED_ROWS) {
        whole_table(out, t, number, label);
        return;
    }
    struct table part = *t;
    part.n_rows = FOLDED_ROWS;
    whole_table(out, &part, number, label);
    str_printf(out, "<p>The first %d of %d rows; report.md and the CSV files beside the page have all.</p>\n",
               FOLDED_ROWS, t->n_rows);
}

/* ---- The document. */

/* Bytes. Larger figures, curves of very many points, stay files beside the page; so do all those behind the
 * ones that fill it, and texts that stand in a file anyway. */
enum { FIGURE_MAX = 400000, FIGURES_MAX = 1500000, LITERAL_MAX = 200000 };

struct page {
    struct str *out;
    int n_tables;
    int has_figure;      /* the figures' style is there */
    size_t figure_bytes; /* so far */
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
    if (it->is_beside || it->body->len > FIGURE_MAX || p->figure_bytes + it->body->len > FIGURES_MAX) {
        str_puts(p->out, "<figure class=\"beside\"><figcaption><a href=\"");
        svg_escape(p->out, it->file);
        str_puts(p->out, "\">");
        svg_escape(p->out, it->title);
        str_printf(p->out, "</a> (%zu KB, beside the page). ", (it->body->len + 999) / 1000);
        svg_escape(p->out, it->text);
        str_puts(p->out, "</figcaption></figure>\n");
        return;
    }
    p->figure_bytes += it->body->len;
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

static void put_line(struct str *out, const struct doc_item *it)
{
    str_puts(out, "<li><b>");
    svg_escape(out, it->title);
    str_puts(out, "</b>: ");
    svg_escape(out, it->text);
    if (it->small) {
        str_puts(out, "<small>");
        svg_escape(out, it->small);
        str_puts(out, "</small>");
    }
    str_puts(out, "</li>\n");
}

static void put_literal(struct str *out, const struct doc_item *it)
{
    if (it->body->len > LITERAL_MAX) {
        str_puts(out, "<p>Too long for the page: ");
        svg_escape(out, it->text);
        str_printf(out, " has %zu KB; report.md holds it.</p>\n", it->body->len / 1000);
        return;
    }
    str_puts(out, "<details class=\"raw\"><summary>");
    svg_escape(out, it->text);
    str_puts(out, "</summary><pre tabindex=\"0\">");
    svg_escape(out, str_text(it->body));
    str_puts(out, "</pre></details>\n");
}

static void put_item(struct page *p, const struct doc_section *s, const struct doc_item *it)
{
    int is_first_line = it == s->items || it[-1].kind != DOC_LINE;
    int is_last_line = it + 1 == s->items + s->n_items || it[1].kind != DOC_LINE;
    switch (it->kind) {
    case DOC_PARAGRAPH:
    case DOC_WARNING:
        put_words(p->out, it);
        break;
    case DOC_LINE:
        if (is_first_line)
            str_puts(p->out, "<ul class=\"lines\">\n");
        put_line(p->out, it);
        if (is_last_line)
            str_puts(p->out, "</ul>\n");
        break;
    case DOC_TABLE:
        put_table(p->out, it->table, ++p->n_tables, s->title, s->fold != NULL);
        break;
    case DOC_FIGURE:
        put_figure(p, it);
        break;
    case DOC_LITERAL:
        put_literal(p->out, it);
        break;
    }
}

/* Which neighbours stand in one box: figures in a grid, and in the first screen words beside it. */
static const char *box_of(const struct doc_section *s, const struct doc_item *it)
{
    if (it->kind == DOC_FIGURE)
        return "figures";
    int is_words = it->kind == DOC_PARAGRAPH || it->kind == DOC_WARNING || it->kind == DOC_LINE;
    return s->is_lead && is_words ? "words" : NULL;
}

static void put_section(struct page *p, const struct doc_section *s)
{
    const char *box = NULL;
    str_printf(p->out, "<section id=\"%s\"%s%s>\n", s->id, s->is_lead ? " class=\"lead\"" : "",
               s->title ? "" : " aria-label=\"Summary\"");
    if (s->fold)
        str_puts(p->out, "<details class=\"part\"><summary>");
    if (s->title) {
        str_puts(p->out, "<h2>");
        svg_escape(p->out, s->title);
        str_puts(p->out, "</h2>\n");
    }
    if (s->fold) {
        str_puts(p->out, "<span>");
        svg_escape(p->out, s->fold);
        str_puts(p->out, "</span></summary>\n");
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
    str_puts(p->out, box ? "</div>\n" : "");
    str_puts(p->out, s->fold ? "</details>\n</section>\n" : "</section>\n");
}

/* JSON inside a script element: "<" would let a text end it, and what turns the direction of text would
 * disguise it (shown.h; its escapes are JSON's own). */
static void put_data(struct str *out, const struct doc *d)
{
    struct str shown = {0};
    if (!d->data)
        return;
    str_puts(out, "<script type=\"application/json\" id=\"data\">");
    shown_escape(&(struct shown_state){0}, &shown, str_text(d->data), d->data->len);
    for (const char *p = str_text(&shown); *p; p++)
        if (*p == '<')
            str_puts(out, "\\u003c");
        else
            str_putc(out, *p);
    str_puts(out, "</script>\n");
    str_release(&shown);
}

void doc_html(struct str *out, const struct doc *d)
{
    struct page p = {.out = out};
    put_head(out, d->title, 1);
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
