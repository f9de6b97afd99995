/* The accuracy table in the form of the papers: in the page, and as LaTeX (tables.tex, booktabs). */
#include "evalcore/report/data/report_papers.h"

#include <math.h>
#include <string.h>

#include "evalcore/report/report_parts.h"

#define RULE                                                                                                 \
    "Bold: the best of a column, and every setting that a paired test on the same problems does not tell "   \
    "apart from it (p of at least 0.05 after Holm's adjustment over the column). A column without bold has " \
    "too few problems to tell any setting apart, or its answers are not complete"

static int starts_model(const struct report *r, int row)
{
    return !row || strcmp(r->rows[row].model, r->rows[row - 1].model) != 0;
}

/* "relay 64 x 1, lookup 64 x 1": problems and samples. */
static const char *task_sizes(const struct report *r, const char *times)
{
    const char *out = "";
    for (int col = 0; col < r->n_columns; col++)
        for (int i = 0; i < r->run->n_cells; i++) {
            const struct cell *c = r->cells[i].cell;
            if (r->cells[i].column != col)
                continue;
            out = arena_printf(r->arena, "%s%s%s %d%s%d", out, *out ? ", " : "", r->columns[col],
                               c->task->n_problems, times, c->samples);
            break;
        }
    return out;
}

void report_add_papers(struct doc *d, const struct report *r)
{
    const struct paper_cell *cells = r->papers;
    struct table *t =
        doc_table(d, arena_printf(d->arena,
                                  "Percent correct by method and budget; the average is the plain mean over "
                                  "the tasks, as in the verdict, reads are total KV "
                                  "reads as a share of full attention's. " RULE
                                  ". Problems and samples: %s. The same table as LaTeX is in tables.tex.",
                                  task_sizes(r, "\xC3\x97")));
    table_column(d, t, "method", 0);
    table_column(d, t, "budget", 0);
    for (int col = 0; col < r->n_columns; col++)
        table_column(d, t, r->columns[col], CELL_NUMBER);
    table_column(d, t, "average", CELL_NUMBER);
    table_column(d, t, "reads", CELL_NUMBER);
    for (int row = 0; row < r->n_rows; row++) {
        const struct setting *s = report_setting_of(r, row);
        if (!s)
            continue;
        if (report_several_models(r) && starts_model(r, row))
            table_group(d, t, r->rows[row].model);
        table_row(d, t);
        table_add(d, t, 0, "%s", report_paper_method(r, row));
        table_add(d, t, 0, "%s", report_paper_budget(r, row));
        for (int col = 0; col <= r->n_columns; col++) {
            const struct paper_cell *x = &cells[row * (r->n_columns + 1) + col];
            if (!isfinite(x->value)) {
                table_add(d, t, CELL_MUTED, "-");
                continue;
            }
            table_add(d, t, x->is_top ? CELL_STRONG : 0, "%.1f", 100 * x->value);
            if (x->cell >= 0)
                table_cell_of(d, t, r->cells[x->cell].cell->id);
            if (x->is_partial)
                table_small(d, t, "incomplete");
        }
        table_add(d, t, 0, "%s", report_share(d->arena, s->reads));
    }
}

void report_tex_text(struct str *out, const char *s)
{
    static const struct {
        char c;
        const char *tex;
    } special[] = {{'\\', "\\textbackslash{}"},
                   {'~', "\\textasciitilde{}"},
                   {'^', "\\textasciicircum{}"},
                   {'<', "\\textless{}"},
                   {'>', "\\textgreater{}"},
                   {'|', "\\textbar{}"},
                   {'"', "''"},
                   {'`', "{`}"},
                   {'&', "\\&"},
                   {'%', "\\%"},
                   {'$', "\\$"},
                   {'#', "\\#"},
                   {'_', "\\_"},
                   {'{', "\\{"},
                   {'}', "\\}"}};
    struct str clean = {0};
    str_add_utf8(&clean, s, strlen(s));
    for (const char *p = str_text(&clean); *p; p++) {
        unsigned char c = (unsigned char)*p;
        const char *tex = NULL;
        for (size_t i = 0; i < sizeof special / sizeof *special && !tex; i++)
            tex = special[i].c == *p ? special[i].tex : NULL;
        /* Letters of U+00C0 to U+017F are there in every font; other characters stop an engine that has no
         * font for them. */
        int is_letter = c >= 0xC3 && c <= 0xC5 && (p[1] & 0xC0) == 0x80 &&
                        !(c == 0xC3 && (unsigned char)p[1] == 0x97) &&
                        !(c == 0xC3 && (unsigned char)p[1] == 0xB7);
        if (tex)
            str_puts(out, tex);
        else if (is_letter) {
            str_add(out, p, 2);
            p++;
        } else if (c < 0x80)
            str_putc(out, c < 0x20 || c == 0x7F ? ' ' : *p);
        else if (c >= 0xC0)
            str_putc(out, '?');
    }
    str_release(&clean);
}

static void tex_begin(struct str *out, const struct report *r, const char *label, const char *caption,
                      int has_average)
{
    str_puts(out, "\\begin{table}[t]\n\\centering\\small\n\\caption{");
    report_tex_text(out, caption);
    str_printf(out, "}\n\\label{tab:%s}\n\\begin{tabular}{ll", label);
    for (int col = 0; col < r->n_columns + 2 * has_average; col++)
        str_putc(out, 'r');
    str_puts(out, "}\n\\toprule\nMethod & Budget");
    for (int col = 0; col < r->n_columns; col++) {
        str_puts(out, " & ");
        report_tex_text(out, r->columns[col]);
    }
    str_puts(out, has_average ? " & Avg. & Reads \\\\\n" : " \\\\\n");
    if (!report_several_models(r))
        str_puts(out, "\\midrule\n");
}

static void tex_row_begin(struct str *out, const struct report *r, int row, int columns)
{
    if (report_several_models(r) && starts_model(r, row)) {
        str_printf(out, "\\midrule\n\\multicolumn{%d}{l}{", columns);
        report_tex_text(out, r->rows[row].model);
        str_puts(out, "} \\\\\n");
    }
    report_tex_text(out, report_paper_method(r, row));
    str_puts(out, " & ");
    report_tex_text(out, report_paper_budget(r, row));
}

static void tex_end(struct str *out)
{
    str_puts(out, "\\bottomrule\n\\end{tabular}\n\\end{table}\n");
}

static void tex_accuracy(struct str *out, const struct report *r)
{
    const struct paper_cell *cells = r->papers;
    tex_begin(
        out, r, "kveval-accuracy",
        arena_printf(r->arena,
                     "Percent correct by method and budget; Avg. is the plain mean over the tasks, Reads are "
                     "total KV reads as a share of full attention's. " RULE
                     ". Problems x samples: %s. Incomplete cells have a star.",
                     task_sizes(r, " x ")),
        1);
    for (int row = 0; row < r->n_rows; row++) {
        const struct setting *s = report_setting_of(r, row);
        if (!s)
            continue;
        tex_row_begin(out, r, row, r->n_columns + 4);
        for (int col = 0; col <= r->n_columns; col++) {
            const struct paper_cell *x = &cells[row * (r->n_columns + 1) + col];
            if (!isfinite(x->value))
                str_puts(out, " & --");
            else
                str_printf(out, x->is_top ? " & \\textbf{%.1f}%s" : " & %.1f%s", 100 * x->value,
                           x->is_partial ? "*" : "");
        }
        str_puts(out, " & ");
        report_tex_text(out, report_share(r->arena, s->reads));
        str_puts(out, " \\\\\n");
    }
    tex_end(out);
}

static void tex_lengths(struct str *out, const struct report *r)
{
    tex_begin(out, r, "kveval-lengths", "Mean length of a completion in tokens, cut off at the limit.", 0);
    for (int row = 0; row < r->n_rows; row++) {
        if (!report_setting_of(r, row))
            continue;
        tex_row_begin(out, r, row, r->n_columns + 2);
        for (int col = 0; col < r->n_columns; col++) {
            int i = report_cell_at(r, row, col);
            if (i < 0 || !isfinite(r->cells[i].mean_tokens))
                str_puts(out, " & --");
            else
                str_printf(out, " & %.0f", r->cells[i].mean_tokens);
        }
        str_puts(out, " \\\\\n");
    }
    tex_end(out);
}

void report_tables_tex(struct str *out, const struct report *r)
{
    str_puts(out, "% Needs \\usepackage{booktabs}, and \\usepackage[T1]{fontenc} for letters with accents; "
                  "then \\input{tables.tex}.\n");
    tex_accuracy(out, r);
    tex_lengths(out, r);
}

/* ---- The section "Compared with the paper". */

static int is_tokens(const struct published *x)
{
    return !strcmp(x->metric, "mean_tokens");
}

static void value_cell(struct doc *d, struct table *t, const struct published *x, const char *word, double v,
                       struct interval ci)
{
    double scale = is_tokens(x) ? 1 : 100;
    int digits = is_tokens(x) ? 0 : 1;
    if (!isfinite(v)) {
        table_add(d, t, CELL_MUTED, "-");
        return;
    }
    table_add(d, t, 0, "%s%s%.*f", word, *word ? " " : "", digits, scale * v);
    if (isfinite(ci.low) && isfinite(ci.high))
        table_small(d, t, "[%.*f, %.*f]", digits, scale * ci.low, digits, scale * ci.high);
}

static void add_row(struct doc *d, struct table *t, const struct report *r, const struct published *x)
{
    const struct cell_stats *s = &r->cells[x->cell];
    const char *differs = report_published_differs(r, x);
    table_row(d, t);
    table_add(d, t, 0, "%s", report_full_name(r, s->row));
    table_small(d, t, "%s, %s", x->paper, x->where);
    table_add(d, t, 0, "%s", x->n_cells == 1 && strcmp(x->metric, "score") ? s->cell->task->label : x->task);
    table_add(d, t, 0, "%s", is_tokens(x) ? "mean tokens" : x->metric);
    value_cell(d, t, x, x->word, x->value, x->theirs_ci);
    value_cell(d, t, x, "", x->measured, x->ci);
    table_add(d, t, 0, "%s", report_published_verdict(r, x));
    if (*differs)
        table_small(d, t, "%s", differs);
}

static void add_summary(struct doc *d, const struct report *r)
{
    int n = 0, low = 0, answered = 0;
    for (int i = 0; i < r->n_published; i++) {
        const struct published *x = &r->published[i];
        answered += isfinite(x->measured);
        n += isfinite(x->p);
        low += fmax(x->p, x->p_answers) < 0.05;
    }
    doc_paragraph(d,
                  "%d published figures belong to this run; %d comparisons with its cells, %d of them with "
                  "results.",
                  r->n_figures, r->n_published, answered);
    if (n > 1)
        doc_paragraph(d,
                      "%d of %d tested comparisons are told apart; without any true difference chance alone "
                      "would bring up to %.1f.",
                      low, n, 0.05 * n);
}

/* A figure of a whole set beside a part of it, or beside other problems, would compare nothing. */
static void add_other_sets(struct doc *d, const struct report *r)
{
    struct str tasks = {0};
    for (int i = 0; i < r->run->n_tasks; i++) {
        const struct run_task *t = &r->run->tasks[i];
        if (t->set && t->set_first < t->set_size && !report_task_is_repeated(r->run, i))
            str_printf(&tasks, "%s%s: %s", tasks.len ? "; " : "", t->label, t->set);
    }
    if (r->n_other_set)
        doc_warning(d,
                    "%d comparison%s left out, because a figure stands only beside the problems that it was "
                    "measured on (%s).",
                    r->n_other_set, r->n_other_set == 1 ? " is" : "s are", str_text(&tasks));
    str_release(&tasks);
}

void report_add_published(struct doc *d, const struct report *r)
{
    add_summary(d, r);
    add_other_sets(d, r);
    if (!r->n_published && !r->n_other_set) {
        doc_paragraph(d, "No cell has the model, policy, options and task of any of them, so nothing is "
                         "compared. A figure's model is looked for in the path of the run's.");
    }
    if (!r->n_published)
        return;
    struct table *t = doc_table(
        d,
        "The paper's figures and ours: accuracy and scores in percent, with 95 % intervals; the paper's by "
        "its number of problems, as one answer each. Both sides are taken as independent, since a paper "
        "does not say which problems it solved; on the same problems the test is cautious.");
    static const struct table_column columns[] = {{"policy", 0},         {"task", 0},
                                                  {"metric", 0},         {"paper", CELL_NUMBER},
                                                  {"ours", CELL_NUMBER}, {"verdict", 0}};
    table_columns(d, t, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < r->n_published; i++)
        add_row(d, t, r, &r->published[i]);
}
