/* A table of the page (contract: html_page.h). Rows of a group that say the same stand together under a line
 * that names it, which the script folds; a long table folds by groups. */
#include "evalcore/page/html_page.h"

#include <string.h>

#include "evalcore/page/svg.h"

enum {
    LONG_ROWS = 40,     /* a longer table of several groups folds by groups */
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

void html_table(struct str *out, const struct table *t, int number, const char *label)
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
