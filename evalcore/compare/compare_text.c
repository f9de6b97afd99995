/* A comparison as text for a terminal. Names and answers are somebody else's text: cut to their place, and
 * nothing in them may steer the terminal. */
#include <math.h>
#include <string.h>

#include "evalcore/base/shown.h"
#include "evalcore/compare/compare_parts.h"

enum { NAME_WIDTH = 28, ANSWER_LINES = 6, NARROWEST = 60, WIDEST = 160 };

/* Appends the text in `width` characters, cut or padded. */
static void put_padded(struct str *out, const char *text, int width)
{
    struct str clean = {0};
    char c[5];
    int n = 0, all = 0;
    str_add_utf8(&clean, text, strlen(text));
    const char *end = clean.data + clean.len;
    for (const char *p = str_text(&clean); *p; p += shown_next(p, end, c))
        all++;
    for (const char *p = str_text(&clean); *p && n < width - (all > width); n++) {
        p += shown_next(p, end, c);
        str_puts(out, c);
    }
    if (all > width) {
        str_puts(out, "\xE2\x80\xA6");
        n++;
    }
    str_printf(out, "%*s", width - n, "");
    str_release(&clean);
}

static void end_line(struct str *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = 0;
    str_putc(out, '\n');
}

/* The last lines of a completion in a column: where the end of the text fits in ANSWER_LINES lines. */
struct column {
    char line[ANSWER_LINES][4 * WIDEST + 1];
    int n;
};

static void wrap_end(struct column *col, const struct str *text, int width)
{
    struct str clean = {0};
    size_t limit = (size_t)(ANSWER_LINES * width * 4), from = text->len > limit ? text->len - limit : 0;
    while (from < text->len && ((unsigned char)text->data[from] & 0xC0) == 0x80)
        from++;
    str_add_utf8(&clean, str_text(text) + from, text->len - from);
    const char *p = str_text(&clean), *end = p + clean.len;
    int lines = 0;
    col->n = 0;
    while (p < end) { /* as a ring: the last lines stay */
        char *line = col->line[lines++ % ANSWER_LINES];
        size_t used = 0;
        for (int k = 0; k < width && p < end; k++) {
            char c[5];
            int is_end = *p == '\n';
            p += shown_next(p, end, c);
            if (is_end)
                break;
            memcpy(line + used, c, strlen(c));
            used += strlen(c);
        }
        line[used] = 0;
        lines -= !used; /* empty lines say nothing here */
    }
    col->n = lines < ANSWER_LINES ? lines : ANSWER_LINES;
    struct column kept = *col;
    for (int i = 0; i < col->n; i++)
        memcpy(col->line[i], kept.line[(lines - col->n + i) % ANSWER_LINES], sizeof col->line[i]);
    str_release(&clean);
}

static void put_two_columns(struct str *out, const char *a, const char *b, int width)
{
    str_puts(out, "  ");
    put_padded(out, a, width);
    str_puts(out, " | ");
    put_padded(out, b, width);
    end_line(out);
}

static int add_flip(struct str *out, struct comparison *c, const struct flip *f, int columns, struct err *e)
{
    struct arena *a = &c->arena;
    struct answer x = {0}, y = {0};
    struct column left, right;
    int width = (columns - 5) / 2, rc = flip_answer(c, f, 0, &x, e);
    if (!rc)
        rc = flip_answer(c, f, 1, &y, e);
    if (!rc) {
        const struct run_problem *p = flip_problem(c, f);
        str_putc(out, '\n');
        put_padded(out,
                   arena_printf(a, "%s, %s: only %s solves it; the reference is %s", flip_task(c, f), p->id,
                                f->is_lost ? "A" : "B", p->gold),
                   columns);
        end_line(out);
        put_two_columns(out, arena_printf(a, "A %s, %d tokens: %s", x.verdict, x.rec->tokens, x.form),
                        arena_printf(a, "B %s, %d tokens: %s", y.verdict, y.rec->tokens, y.form), width);
        wrap_end(&left, &x.text, width);
        wrap_end(&right, &y.text, width);
        for (int i = 0; i < left.n || i < right.n; i++)
            put_two_columns(out, i < left.n ? left.line[i] : "", i < right.n ? right.line[i] : "", width);
    }
    str_release(&x.text);
    str_release(&y.text);
    return rc;
}

/* A sentence in lines of at most `columns` characters. */
static void add_paragraph(struct str *out, const char *text, int columns)
{
    for (const char *p = text; *p;) {
        int n = (int)strlen(p) <= columns ? (int)strlen(p) : columns;
        int cut = n;
        while (p[n] && cut > 0 && p[cut] != ' ')
            cut--;
        cut = cut > 0 ? cut : n;
        str_add(out, p, (size_t)cut);
        str_putc(out, '\n');
        p += cut;
        p += strspn(p, " ");
    }
}

static const char *p_text(struct arena *a, double p)
{
    return isnan(p) ? "-" : p < 0.001 ? "<0.001" : arena_printf(a, "%.3f", p);
}

static void add_row(struct str *out, struct comparison *c, const char *name, int width, const struct pair *p)
{
    struct arena *a = &c->arena;
    put_padded(out, name, width);
    str_printf(out, " %4d %4d %6d %6d %7d  ", p->problems, p->both, p->only_a, p->only_b, p->neither);
    put_padded(out, p->problems ? report_difference(a, p) : "-", 18);
    str_printf(out, " %-6s %-6s %s", p_text(a, p->holm), p_text(a, p->noninferior_holm),
               report_mark_sign(p->mark));
    end_line(out);
}

static void add_tables(struct str *out, struct comparison *c, int columns)
{
    struct arena *a = &c->arena;
    int is_runs = !c->all;
    int width = is_runs ? NAME_WIDTH + 10 : NAME_WIDTH / 2 - 2;
    put_padded(out, "", width);
    str_puts(out, "    n both only A only B neither  B - A [95 %]       p*     p(=)*\n");
    for (int i = 0; i < c->n_cells; i++) {
        const struct cell *cell = &c->b->run->cells[c->cells[i].b];
        const char *name = is_runs ? arena_printf(a, "%s, %s", cell->task->label,
                                                  report_full_name(c->b, c->b->cells[c->cells[i].b].row))
                                   : cell->task->label;
        add_row(out, c, name, width, &c->cells[i].pair);
    }
    if (c->all && c->n_cells > 1)
        add_row(out, c, "all", width, c->all);
    if (!c->all)
        str_puts(out, "\nover all tasks\n");
    for (int i = 0; i < c->n_settings && !c->all; i++)
        add_row(out, c, c->settings[i].name, width, &c->settings[i].pair);
    add_paragraph(out,
                  arena_printf(a,
                               "p: two-sided; p(=): one-sided, of a loss of %s or more; *: adjusted for the "
                               "number of %s (Holm). Over several tasks all of them weigh the same. %s",
                               report_points(a, c->margin), c->all ? "cells" : "cells or of policy settings",
                               report_interval_note),
                  columns);
    str_putc(out, '\n');
    for (int i = 0; i < c->n_cells; i++) {
        const struct against *x = &c->cells[i].lengths;
        const struct cell *cell = &c->b->run->cells[c->cells[i].b];
        const struct cell_stats *side_a = &c->a->cells[c->cells[i].a], *side_b = &c->b->cells[c->cells[i].b];
        if (!isfinite(x->length_ratio))
            continue;
        put_padded(out, cell->task->label, width);
        str_printf(out, " tokens A %.0f, B %.0f (%+.0f %%, p = %.2g); reads A %s, B %s\n", x->tokens_a,
                   x->tokens_b, 100 * (x->length_ratio - 1), x->length_p,
                   report_reads(a, side_a->total_density, side_a->is_bound),
                   report_reads(a, side_b->total_density, side_b->is_bound));
    }
}

int compare_text(struct str *out, struct comparison *c, int columns, int n_flips, struct err *e)
{
    struct arena *a = &c->arena;
    int rc = 0, shown = flips_shown(c, n_flips);
    columns = columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns;
    put_padded(out, arena_printf(a, "A  %s, reads %s", c->name_a, report_share(a, c->reads_a)), columns);
    end_line(out);
    put_padded(out, arena_printf(a, "B  %s, reads %s", c->name_b, report_share(a, c->reads_b)), columns);
    end_line(out);
    for (int i = 0; i < c->n_notes; i++) {
        put_padded(out, arena_printf(a, "!  %s", c->notes[i]), columns);
        end_line(out);
    }
    str_putc(out, '\n');
    add_tables(out, c, columns);
    str_putc(out, '\n');
    add_paragraph(out, compare_verdict(c), columns);
    if (c->n_flips)
        str_printf(out, "\n%d problem%s flipped%s\n", c->n_flips, c->n_flips == 1 ? "" : "s",
                   shown < c->n_flips ? arena_printf(a, "; %d of them, --flips -1 shows all:", shown) : ":");
    for (int i = 0; i < shown && !rc; i++)
        rc = add_flip(out, c, &c->flips[i], columns, e);
    return rc;
}
