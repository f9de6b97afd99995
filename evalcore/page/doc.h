#ifndef EVALCORE_PAGE_DOC_H
#define EVALCORE_PAGE_DOC_H

#include <stddef.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/str.h"

/* A page as data, whatever it says: sections of paragraphs, warnings, tables, figures and literal text. It is
 * built once and written twice, as markdown and as HTML, so that the two always say the same. All strings are
 * plain text (the writers escape them). What is formatted or copied here lives in the arena; strings that are
 * called borrowed must live as long as the document. None of these functions fails; a call out of
 * order is an error of the program, which assertions catch in part.
 *
 * Order of calls: doc_init(); for each section doc_section() and then its items, which are added to the last
 * section; doc_markdown() and doc_html(); doc_release(). Functions with fmt take printf's arguments. */

enum { CELL_NUMBER = 1, CELL_STRONG = 2, CELL_BAD = 4, CELL_GOOD = 8, CELL_MUTED = 16 };

struct table_cell {
    const char *text, *small; /* small: second, smaller line; NULL: none */
    const char *cell;         /* id of the run's cell whose number it is; NULL: none */
    unsigned flags;
};
struct table_row {
    const char *group;        /* a heading over the rows that follow; then there are no cells */
    const char *same;         /* what the row says, where neighbours that say the same may fold together */
    struct table_cell *cells; /* n_columns; the first names the row */
    int n;
};
struct table {
    const char *caption;
    const char **columns;
    unsigned *flags; /* flags of each column: CELL_NUMBER */
    int n_columns;
    struct table_row *rows;
    int n_rows;
    size_t cap;
};

enum doc_kind { DOC_PARAGRAPH, DOC_WARNING, DOC_LINE, DOC_TABLE, DOC_FIGURE, DOC_LITERAL };
struct doc_item {
    enum doc_kind kind;
    const char *text;  /* paragraph, warning, line, caption of a figure, title of a literal */
    const char *title; /* figure: what it shows, for readers without images; line: what it is about */
    const char *small; /* line: in smaller type behind it; NULL: none */
    const struct table *table;
    const char *file;       /* figure: file name beside the report */
    const struct str *body; /* figure: SVG text; literal: the text */
    int is_wide;            /* figure: takes the whole width */
    int is_beside;          /* figure: the page links to its file and does not hold it */
};
struct doc_section {
    const char *id, *title;
    const char *fold; /* what a reader finds in it, where the page folds it under its heading; NULL: it stands
                         open */
    int is_lead;      /* the first screen: words and the one figure that carries them stand side by side */
    struct doc_item *items;
    int n_items;
    size_t cap;
};
struct doc {
    struct arena *arena;
    const char *title;
    const struct str *data; /* JSON for the page's script (page.js says what it holds); NULL: none */
    struct doc_section *sections;
    int n_sections;
    size_t cap;
};

/* An empty document. `a` must outlive it; title is borrowed. */
void doc_init(struct doc *d, struct arena *a, const char *title);
/* Frees the arrays and the figures' SVG; strings stay with the arena. */
void doc_release(struct doc *d);

/* Begins a section under a heading (title NULL: none); id is its anchor in the page. Both are borrowed. */
void doc_section(struct doc *d, const char *id, const char *title);
/* Makes the last section the page's first screen. */
void doc_lead(struct doc *d);
/* Folds the last section under its heading; `what` says what a reader finds there, and is borrowed. */
void doc_fold(struct doc *d, const char *what);
/* Add a paragraph, and a paragraph that is set apart as a warning, to the last section. */
void doc_paragraph(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doc_warning(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a line to a list, which neighbouring lines form: title in bold, text behind it, and below in smaller
 * type `small` (NULL: none). All are borrowed. */
void doc_line(struct doc *d, const char *title, const char *text, const char *small);
/* Adds a figure with the caption fmt. Takes over the text of svg and leaves it empty. file: its name beside
 * the page, and title: what it shows, for readers without images, both borrowed; is_wide: it takes the page's
 * whole width. Nothing is written to a file here. */
void doc_figure(struct doc *d, const char *file, const char *title, struct str *svg, int is_wide,
                const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Makes the figure that was added last a file that the page links to: another form of one that it shows. */
void doc_beside(struct doc *d);
/* Adds text that is shown as it is, folded under its title (borrowed); the page leaves out what is too long
 * for it, and markdown holds it. Takes over `text` and leaves it empty. */
void doc_literal(struct doc *d, const char *title, struct str *text);
/* Sets the data for the page's script; call it at most once. Takes over the text of json and leaves it empty.
 */
void doc_data(struct doc *d, struct str *json);

/* Adds a table to the last section and returns it; it belongs to the document. Add its columns first, then
 * its rows. caption: borrowed, NULL for none. */
struct table *doc_table(struct doc *d, const char *caption);
/* Adds one column, or n of them, behind those that are there; names are borrowed. flags: CELL_NUMBER for
 * numbers, or 0. */
void table_column(struct doc *d, struct table *t, const char *name, unsigned flags);
struct table_column {
    const char *name;
    unsigned flags;
};
void table_columns(struct doc *d, struct table *t, const struct table_column *columns, size_t n);
/* Adds a heading over the rows that follow, up to the next heading. Copies the name. */
void table_group(struct doc *d, struct table *t, const char *name);
/* Begins a row without cells, with room for one cell of each column. */
void table_row(struct doc *d, struct table *t);
/* Adds a cell to the last row, with CELL_ flags; CELL_NUMBER is taken over from the column. */
void table_add(struct doc *d, struct table *t, unsigned flags, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Gives the last cell a second line in smaller type. */
void table_small(struct doc *d, struct table *t, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Says that the last cell shows this cell of the run, whose problems the page opens from there. cell: its id,
 * which is copied. */
void table_cell_of(struct doc *d, struct table *t, const char *cell);
/* Sets what the last row says in one line; the page folds rows of a group that say the same together. */
void table_same(struct doc *d, struct table *t, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Append the whole document to out: as GitHub's markdown, whose figures are links to their files, and as one
 * self-contained HTML page with figures, style and script inside. */
void doc_markdown(struct str *out, const struct doc *d);
void doc_html(struct str *out, const struct doc *d);

/* The text of one problem as a page of its own, appended to out: html_text_begin(), any number of
 * html_text_part() and html_text_end(). Texts are escaped, and the page has no script. `back` is the address
 * of the page that leads here. */
void html_text_begin(struct str *out, const char *title, const char *back);
/* Appends the n bytes of text under a heading. At most TEXT_MAX of them, which may be anything, are shown,
 * with a note where more were cut off; note: a paragraph above them, or NULL. */
enum { TEXT_MAX = 1 << 18 };
void html_text_part(struct str *out, const char *title, const char *note, const char *text, size_t n);
void html_text_end(struct str *out);

#endif
