/* Building the document model (contract: doc.h). Arrays grow on the heap, strings live in the arena.
 */
#include "evalcore/page/doc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((format(printf, 2, 0))) static const char *format_text(struct doc *d, const char *fmt,
                                                                     va_list args)
{
    char small[512];
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(small, sizeof small, fmt, args);
    const char *out;
    if (n >= 0 && (size_t)n < sizeof small) {
        out = arena_strndup(d->arena, small, (size_t)n);
    } else {
        char *text = arena_alloc(d->arena, (size_t)n + 1);
        vsnprintf(text, (size_t)n + 1, fmt, again);
        out = text;
    }
    va_end(again);
    return out;
}

void doc_init(struct doc *d, struct arena *a, const char *title)
{
    *d = (struct doc){.arena = a, .title = title};
}

void doc_release(struct doc *d)
{
    for (int i = 0; i < d->n_sections; i++) {
        struct doc_section *s = &d->sections[i];
        for (int k = 0; k < s->n_items; k++) {
            if (s->items[k].body)
                str_release((struct str *)s->items[k].body);
            if (s->items[k].table)
                free(s->items[k].table->rows);
        }
        free(s->items);
    }
    free(d->sections);
    if (d->data)
        str_release((struct str *)d->data);
    *d = (struct doc){0};
}

void doc_section(struct doc *d, const char *id, const char *title)
{
    xgrow(&d->sections, &d->cap, (size_t)d->n_sections + 1, sizeof *d->sections);
    d->sections[d->n_sections++] = (struct doc_section){.id = id, .title = title};
}

void doc_lead(struct doc *d)
{
    assert(d->n_sections > 0);
    d->sections[d->n_sections - 1].is_lead = 1;
}

void doc_fold(struct doc *d, const char *what)
{
    assert(d->n_sections > 0);
    d->sections[d->n_sections - 1].fold = what;
}

static struct doc_item *add_item(struct doc *d, enum doc_kind kind, const char *text)
{
    assert(d->n_sections > 0);
    struct doc_section *s = &d->sections[d->n_sections - 1];
    xgrow(&s->items, &s->cap, (size_t)s->n_items + 1, sizeof *s->items);
    s->items[s->n_items] = (struct doc_item){.kind = kind, .text = text};
    return &s->items[s->n_items++];
}

void doc_paragraph(struct doc *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_item(d, DOC_PARAGRAPH, format_text(d, fmt, args));
    va_end(args);
}

void doc_warning(struct doc *d, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_item(d, DOC_WARNING, format_text(d, fmt, args));
    va_end(args);
}

static struct str *move_text(struct doc *d, struct str *text)
{
    struct str *kept = arena_alloc(d->arena, sizeof *kept);
    *kept = *text;
    *text = (struct str){0};
    return kept;
}

void doc_figure(struct doc *d, const char *file, const char *title, struct str *svg, int is_wide,
                const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct doc_item *it = add_item(d, DOC_FIGURE, format_text(d, fmt, args));
    va_end(args);
    it->file = file;
    it->title = title;
    it->body = move_text(d, svg);
    it->is_wide = is_wide;
}

void doc_beside(struct doc *d)
{
    struct doc_section *s = &d->sections[d->n_sections - 1];
    assert(s->n_items && s->items[s->n_items - 1].kind == DOC_FIGURE);
    s->items[s->n_items - 1].is_beside = 1;
}

void doc_line(struct doc *d, const char *title, const char *text, const char *small)
{
    struct doc_item *it = add_item(d, DOC_LINE, text);
    it->title = title;
    it->small = small;
}

void doc_literal(struct doc *d, const char *title, struct str *text)
{
    add_item(d, DOC_LITERAL, title)->body = move_text(d, text);
}

void doc_data(struct doc *d, struct str *json)
{
    d->data = move_text(d, json);
}

struct table *doc_table(struct doc *d, const char *caption)
{
    enum { COLUMNS_FIRST = 8 };
    struct table *t = arena_alloc(d->arena, sizeof *t);
    t->caption = caption;
    t->columns = arena_alloc(d->arena, COLUMNS_FIRST * sizeof *t->columns);
    t->flags = arena_alloc(d->arena, COLUMNS_FIRST * sizeof *t->flags);
    add_item(d, DOC_TABLE, caption)->table = t;
    return t;
}

void table_column(struct doc *d, struct table *t, const char *name, unsigned flags)
{
    int n = t->n_columns;
    if (n >= 8 && (n & (n - 1)) == 0) { /* full at each power of two from 8 */
        const char **columns = arena_alloc(d->arena, (size_t)n * 2 * sizeof *columns);
        unsigned *kept = arena_alloc(d->arena, (size_t)n * 2 * sizeof *kept);
        for (int i = 0; i < n; i++) {
            columns[i] = t->columns[i];
            kept[i] = t->flags[i];
        }
        t->columns = columns;
        t->flags = kept;
    }
    t->columns[n] = name;
    t->flags[n] = flags;
    t->n_columns++;
}

void table_columns(struct doc *d, struct table *t, const struct table_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        table_column(d, t, columns[i].name, columns[i].flags);
}

static struct table_row *add_row(struct table *t)
{
    xgrow(&t->rows, &t->cap, (size_t)t->n_rows + 1, sizeof *t->rows);
    t->rows[t->n_rows] = (struct table_row){0};
    return &t->rows[t->n_rows++];
}

void table_group(struct doc *d, struct table *t, const char *name)
{
    add_row(t)->group = arena_strdup(d->arena, name);
}

void table_row(struct doc *d, struct table *t)
{
    add_row(t)->cells = arena_alloc(d->arena, (size_t)t->n_columns * sizeof(struct table_cell));
}

void table_add(struct doc *d, struct table *t, unsigned flags, const char *fmt, ...)
{
    struct table_row *r = &t->rows[t->n_rows - 1];
    assert(r->n < t->n_columns);
    va_list args;
    va_start(args, fmt);
    r->cells[r->n].text = format_text(d, fmt, args);
    va_end(args);
    r->cells[r->n].flags = flags | (t->flags[r->n] & CELL_NUMBER);
    r->n++;
}

void table_small(struct doc *d, struct table *t, const char *fmt, ...)
{
    struct table_row *r = &t->rows[t->n_rows - 1];
    va_list args;
    va_start(args, fmt);
    r->cells[r->n - 1].small = format_text(d, fmt, args);
    va_end(args);
}

void table_cell_of(struct doc *d, struct table *t, const char *cell)
{
    struct table_row *r = &t->rows[t->n_rows - 1];
    r->cells[r->n - 1].cell = arena_strdup(d->arena, cell);
}

void table_same(struct doc *d, struct table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    t->rows[t->n_rows - 1].same = format_text(d, fmt, args);
    va_end(args);
}
