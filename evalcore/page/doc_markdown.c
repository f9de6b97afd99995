/* The document as markdown: GitHub's tables, figures as images beside the file. Text is escaped so that a
 * label can neither break a table nor turn into markup. */
#include "evalcore/page/doc.h"

#include <string.h>

#include "evalcore/base/shown.h"

static void md_escape(struct str *out, const char *s)
{
    struct str clean = {0};
    str_add_utf8(&clean, s, strlen(s));
    /* Brackets are common in intervals; only where a link could arise are they escaped. */
    const char *special = strstr(s, "](") || strstr(s, "][") ? "|<>*`\\[]" : "|<>*`\\";
    for (size_t i = 0; i < clean.len; i++) {
        char c = clean.data[i];
        if (c == '\n' || c == '\t') {
            str_putc(out, ' ');
        } else if (shown_turns(clean.data + i)) {
            str_puts(out, "\xEF\xBF\xBD");
            i += 2;
        } else if ((unsigned char)c == 0xC2 && (unsigned char)clean.data[i + 1] < 0xA0) {
            i++; /* a control character of one byte more */
        } else if ((unsigned char)c >= 0x20) {
            if (strchr(special, c))
                str_putc(out, '\\');
            str_putc(out, c);
        }
    }
    str_release(&clean);
}

static void md_cell(struct str *out, const struct table_cell *c)
{
    const char *mark = c->text && *c->text && c->flags & (CELL_STRONG | CELL_BAD) ? "**" : "";
    str_puts(out, mark);
    md_escape(out, c->text ? c->text : "");
    str_puts(out, mark);
    if (c->small && *c->small) {
        str_puts(out, "<br><sub>");
        md_escape(out, c->small);
        str_puts(out, "</sub>");
    }
}

static void md_table(struct str *out, const struct table *t)
{
    if (t->caption && *t->caption) {
        md_escape(out, t->caption);
        str_puts(out, "\n\n");
    }
    str_putc(out, '|');
    for (int i = 0; i < t->n_columns; i++) {
        str_putc(out, ' ');
        md_escape(out, t->columns[i]);
        str_puts(out, " |");
    }
    str_puts(out, "\n|");
    for (int i = 0; i < t->n_columns; i++)
        str_puts(out, t->flags[i] & CELL_NUMBER ? " ---: |" : " --- |");
    str_putc(out, '\n');
    for (int r = 0; r < t->n_rows; r++) {
        const struct table_row *row = &t->rows[r];
        str_putc(out, '|');
        if (row->group) {
            str_puts(out, " **");
            md_escape(out, row->group);
            str_puts(out, "** |");
            for (int i = 1; i < t->n_columns; i++)
                str_puts(out, " |");
        } else {
            for (int i = 0; i < t->n_columns; i++) {
                str_putc(out, ' ');
                md_cell(out, &row->cells[i]);
                str_puts(out, " |");
            }
        }
        str_putc(out, '\n');
    }
    str_putc(out, '\n');
}

static void md_literal(struct str *out, const struct doc_item *it)
{
    /* A fence longer than any run of backticks inside cannot be closed from inside. */
    size_t longest = 2, run = 0;
    for (size_t i = 0; i < it->body->len; i++) {
        run = it->body->data[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    md_escape(out, it->text);
    str_puts(out, "\n\n");
    for (size_t i = 0; i <= longest; i++)
        str_putc(out, '`');
    str_putc(out, '\n');
    shown_escape(&(struct shown_state){0}, out, str_text(it->body), it->body->len);
    if (it->body->len && it->body->data[it->body->len - 1] != '\n')
        str_putc(out, '\n');
    for (size_t i = 0; i <= longest; i++)
        str_putc(out, '`');
    str_puts(out, "\n\n");
}

static void md_line(struct str *out, const struct doc_item *it, int is_last)
{
    str_puts(out, "- **");
    md_escape(out, it->title);
    str_puts(out, "**: ");
    md_escape(out, it->text);
    if (it->small) {
        str_puts(out, "; ");
        md_escape(out, it->small);
    }
    str_puts(out, is_last ? "\n\n" : "\n");
}

void doc_markdown(struct str *out, const struct doc *d)
{
    str_puts(out, "# ");
    md_escape(out, d->title);
    str_puts(out, "\n\n");
    for (int i = 0; i < d->n_sections; i++) {
        const struct doc_section *s = &d->sections[i];
        if (s->title) {
            str_puts(out, "## ");
            md_escape(out, s->title);
            str_puts(out, "\n\n");
        }
        for (int k = 0; k < s->n_items; k++) {
            const struct doc_item *it = &s->items[k];
            switch (it->kind) {
            case DOC_WARNING:
                str_puts(out, "> **Warning:** ");
                /* fall through */
            case DOC_PARAGRAPH:
                md_escape(out, it->text);
                str_puts(out, "\n\n");
                break;
            case DOC_TABLE:
                md_table(out, it->table);
                break;
            case DOC_FIGURE:
                str_puts(out, "![");
                md_escape(out, it->title);
                str_printf(out, "](%s)\n\n", it->file);
                md_escape(out, it->text);
                str_puts(out, "\n\n");
                break;
            case DOC_LITERAL:
                md_literal(out, it);
                break;
            case DOC_LINE:
                md_line(out, it, k + 1 == s->n_items || it[1].kind != DOC_LINE);
                break;
            }
        }
    }
    while (out->len > 1 && out->data[out->len - 2] == '\n')
        out->data[--out->len] = 0;
}
