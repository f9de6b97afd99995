/* Writing CSV (contracts: csv_tables.h and csv_write.h). */
#include "evalcore/export/csv_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An assertion that holds in every build: a value in the wrong column would pass silently. */
static void expect_column(const struct csv *c, const char *column, enum csv_type type, int any_type)
{
    const struct csv_column *next = &c->table->columns[c->row.column];
    if (next->name && !strcmp(next->name, column) && (any_type || next->type == type))
        return;
    fprintf(stderr, "kveval: internal error: %s has column %s next, not %s\n", c->table->file,
            next->name ? next->name : "(none)", column);
    abort();
}

void csv_text(struct csv *c, const char *column, const char *s)
{
    expect_column(c, column, CSV_TEXT, 0);
    csv_row_text(&c->row, s);
}

void csv_int(struct csv *c, const char *column, long v)
{
    expect_column(c, column, CSV_INT, 0);
    csv_row_int(&c->row, v);
}

void csv_float(struct csv *c, const char *column, double v)
{
    expect_column(c, column, CSV_FLOAT, 0);
    csv_row_number(&c->row, v);
}

void csv_bool(struct csv *c, const char *column, double v)
{
    expect_column(c, column, CSV_BOOL, 0);
    csv_row_text(&c->row, isnan(v) ? NULL : v > 0 ? "1" : "0");
}

void csv_p(struct csv *c, const char *column, double p)
{
    expect_column(c, column, CSV_FLOAT, 0);
    csv_row_p(&c->row, p);
}

void csv_none(struct csv *c, const char *column)
{
    expect_column(c, column, CSV_TEXT, 1);
    csv_row_text(&c->row, NULL);
}

void csv_end(struct csv *c)
{
    if (c->table->columns[c->row.column].name)
        expect_column(c, "the end of the row", CSV_TEXT, 1);
    csv_row_end(&c->row);
}

void csv_print(struct str *out, const struct csv_table *t, const struct report *r)
{
    struct csv c = {{out, 0}, t};
    for (int i = 0; t->columns[i].name; i++)
        str_printf(out, "%s%s", i ? "," : "", t->columns[i].name);
    str_putc(out, '\n');
    t->write(&c, r);
}

/* ---- values that several tables have */

void csv_cell(struct csv *c, const struct cell *cell)
{
    csv_text(c, "cell", cell->id);
    csv_text(c, "label", cell->label);
}

/* Options are kept as text, which may come from a program with other options: what is no whole number is left
 * out. */
static void csv_count_text(struct csv *c, const char *column, const char *s)
{
    size_t n = strspn(s, "0123456789");
    if (n && !s[n] && n < 10)
        csv_int(c, column, strtol(s, NULL, 10));
    else
        csv_none(c, column);
}

void csv_budget(struct csv *c, const struct cell_stats *s)
{
    csv_count_text(c, "k_pages", s->cell->k_pages);
    csv_count_text(c, "l_pages", s->cell->l_pages);
    csv_float(c, "budget_tokens", s->has_budget ? s->budget_tokens : NAN);
}

void csv_kind(struct csv *c, const struct cell_stats *s)
{
    csv_text(c, "budget_kind", s->cell->budget_key);
    csv_text(c, "budget_value", s->cell->budget);
    csv_float(c, "budget_beside", s->has_budget && isfinite(s->budget_tokens) ? s->budget_beside : NAN);
}

void csv_likelihood_fields(struct csv *c, const struct likelihood *l)
{
    struct likelihood_figures f = report_likelihood_figures(l);
    csv_float(c, "bits_per_byte", f.bits_per_byte);
    csv_float(c, "kl", f.kl);
    csv_float(c, "top1", f.top1);
}

void csv_marks(struct csv *c, const struct pair *p, double margin)
{
    static const char *const names[] = {"", "lower", "higher", "within", "open", "too_few"};
    int has_mark = p && p->mark != MARK_NONE;
    csv_float(c, "margin", has_mark ? margin : NAN);
    csv_p(c, "p_noninferior", has_mark ? p->noninferior : NAN);
    csv_p(c, "p_noninferior_holm", has_mark ? p->noninferior_holm : NAN);
    csv_text(c, "mark", has_mark ? (p->is_incomplete ? "incomplete" : names[p->mark]) : NULL);
    if (has_mark && p->enough >= 0)
        csv_int(c, "enough_problems", p->enough);
    else
        csv_none(c, "enough_problems");
}

const char *csv_activity(enum activity a)
{
    static const char *const names[] = {"", "active", "budget not reached", "policy inactive", ""};
    return names[a];
}

/* ---- The list of CSV files, and what their columns mean. */

static const struct csv_table *const tables[] = {
    &csv_settings, &csv_accuracy,  &csv_pairs,     &csv_lengths, &csv_likelihood,
    &csv_against,  &csv_published, &csv_longbench, &csv_ruler,   &csv_samples,
};

const struct csv_table *csv_table_at(int i)
{
    return i >= 0 && i < (int)(sizeof tables / sizeof *tables) ? tables[i] : NULL;
}

/* Appends text for a cell of a markdown table. */
static void add_escaped(struct str *out, const char *s)
{
    for (; *s; s++) {
        if (*s == '|')
            str_putc(out, '\\');
        str_putc(out, *s);
    }
}

void csv_columns_md(struct str *out)
{
    static const char *const types[] = {"text", "int", "float", "bool"};
    const struct csv_table *t;
    str_puts(
        out,
        "# What the columns mean\n\n"
        "Files are UTF-8 with a header line, commas, quotes as in RFC 4180, and \"\\n\" at the end of lines. "
        "An "
        "empty field is a value that does not exist. Types: text; int, a whole number; float; bool, 1 or 0. "
        "Accuracies, scores, differences and shares are fractions from 0 to 1. A file that is not there does "
        "not "
        "apply to the run.\n\n"
        "A text that begins with `=`, `+`, `-`, `@`, `'`, a tab or a carriage return, and is no number, has "
        "a `'` "
        "before it, so that a spreadsheet takes it for text and not for a formula: a label `=1+2` is written "
        "`'=1+2`. With pandas, `column.str.replace(r\"^'\", \"\", regex=True)` gives the text. Columns of "
        "other "
        "types never have it.\n\n"
        "With pandas, int and bool columns with empty fields need types that can be empty: "
        "`pandas.read_csv(file, dtype={\"k_pages\": \"Int64\"})`, and `\"boolean\"` after `.map({1: True, 0: "
        "False})`.\n");
    for (int i = 0; (t = csv_table_at(i)) != NULL; i++) {
        str_printf(out, "\n## %s\n\n%s\n\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n",
                   t->file, t->about);
        for (const struct csv_column *c = t->columns; c->name; c++) {
            str_printf(out, "| %s | %s | ", c->name, types[c->type]);
            add_escaped(out, c->unit);
            str_puts(out, *c->unit ? " | " : "| ");
            add_escaped(out, c->meaning);
            str_puts(out, " |\n");
        }
    }
}
