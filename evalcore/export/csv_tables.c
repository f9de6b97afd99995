/* The list of CSV files, and what their columns mean. */
#include "evalcore/export/csv_write.h"

static const struct csv_table *const tables[] = {
    &csv_settings, &csv_accuracy,  &csv_pairs,     &csv_lengths, &csv_likelihood,
    &csv_against,  &csv_published, &csv_longbench, &csv_ruler,   &csv_samples,
};

const struct csv_table *csv_table_at(int i)
{
    return i >= 0 && i < (int)(sizeof tables / sizeof *tables) ? tables[i] : NULL;
}

/* Of a table cell in markdown. */
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
