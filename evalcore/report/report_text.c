/* Verdicts and accuracies as plain text for a terminal (contract: report_parts.h): the numbers and marks of
 * report.md in REPORT_TEXT_COLUMNS columns. More tasks than fit stand in a second table below. */
#include "evalcore/base/shown.h"
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <string.h>

enum { NAME_MAX_WIDTH = 40, TASK_MAX_WIDTH = 28, GAP = 2 };

struct marks { /* which of them occurred and so need a legend */
    int compared, too_few, would_do, incomplete, inactive;
};

/* Characters, of valid UTF-8. */
static size_t width_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

/* Labels are a person's text: cut to `most` characters, and nothing in them may steer the terminal. */
static const char *shorten_label(struct arena *a, const char *label, size_t max_width)
{
    struct str clean = {0}, out = {0};
    shown_add(&clean, label, strlen(label));
    size_t n = 0, width = width_of(str_text(&clean));
    for (const char *p = str_text(&clean); *p; p++) {
        if (((unsigned char)*p & 0xC0) != 0x80 && n++ == max_width - (width > max_width))
            break;
        str_putc(&out, *p);
    }
    if (width > max_width)
        str_puts(&out, "\xE2\x80\xA6");
    const char *kept = arena_strdup(a, str_text(&out));
    str_release(&clean);
    str_release(&out);
    return kept;
}

static void put_padded(struct str *out, const char *s, size_t width)
{
    size_t n = width_of(s);
    str_printf(out, "%s%*s", s, (int)(n < width ? width - n : 0), "");
}

static void end_line(struct str *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = 0;
    str_putc(out, '\n');
}

static const char *cell_text(const struct report *r, int row, int column, struct marks *m)
{
    int i = report_cell_at(r, row, column);
    if (i < 0 || !r->cells[i].cell->n_records)
        return "-";
    const struct cell_stats *s = &r->cells[i];
    const struct pair *pair = report_pair_of(r, i);
    const char *sign = report_pair_sign(r->arena, pair);
    int incomplete = s->cell->n_records < s->cell->n_expected, inactive = s->activity == ACTIVITY_INACTIVE;
    m->compared |= *sign != 0;
    m->too_few |= pair && pair->mark == MARK_TOO_FEW;
    m->incomplete |= incomplete;
    m->inactive |= inactive;
    const char *percent = report_percent(r->arena, s->accuracy, s->ci);
    size_t whole = strcspn(percent, ". "); /* its digits, at most "100" */
    return arena_printf(r->arena, "%*s%s%s%s%s", (int)(whole < 3 ? 3 - whole : 0), "", percent, sign,
                        incomplete ? " *" : "", inactive ? " !" : "");
}

static const char *row_label(const struct report *r, int row)
{
    return shorten_label(r->arena, report_full_name(r, row), NAME_MAX_WIDTH);
}

static size_t column_width(const struct report *r, int column, struct marks *m)
{
    size_t max_width = width_of(shorten_label(r->arena, r->columns[column], TASK_MAX_WIDTH));
    for (int row = 0; row < r->n_rows; row++) {
        size_t n = width_of(cell_text(r, row, column, m));
        max_width = n > max_width ? n : max_width;
    }
    return max_width;
}

/* Columns from..to of the table. */
static void add_block(struct str *out, const struct report *r, int from, int to, size_t name_width,
                      const size_t *width, struct marks *m)
{
    put_padded(out, "policy", name_width);
    for (int c = from; c < to; c++) {
        str_printf(out, "%*s", GAP, "");
        put_padded(out, shorten_label(r->arena, r->columns[c], TASK_MAX_WIDTH), width[c]);
    }
    end_line(out);
    for (int row = 0; row < r->n_rows; row++) {
        put_padded(out, row_label(r, row), name_width);
        for (int c = from; c < to; c++) {
            str_printf(out, "%*s", GAP, "");
            put_padded(out, cell_text(r, row, c, m), width[c]);
        }
        end_line(out);
    }
}

static const char *decimals_text(const struct report *r, double v, int digits)
{
    return isfinite(v) ? arena_printf(r->arena, "%.*f", digits, v) : "-";
}

/* A line for each cell of a text. */
static void add_texts(struct str *out, const struct report *r, size_t name_width)
{
    int n = 0;
    for (int i = 0; i < r->run->n_cells; i++) {
        const struct cell *c = &r->run->cells[i];
        if (!c->task->is_text)
            continue;
        if (!n++ || strcmp(c->task->label, r->run->cells[i - 1].task->label)) {
            str_puts(out, out->len ? "\n" : "");
            put_padded(out, shorten_label(r->arena, c->task->label, name_width), name_width);
            str_puts(out, "  bits/byte  difference  KL, nats  top-1 %  total reads\n");
        }
        struct likelihood_figures f = report_likelihood_figures(&r->cells[i].likelihood);
        const struct pair *p = report_text_pair_of(r, i);
        put_padded(out, row_label(r, r->cells[i].row), name_width);
        str_printf(out, "  %9s  %10s  %8s  %7s  %11s%s\n", decimals_text(r, f.bits_per_byte, 4),
                   p && p->problems ? arena_printf(r->arena, "%+.4f", p->delta) : "-",
                   decimals_text(r, f.kl, 5), decimals_text(r, 100 * f.top1, 2),
                   report_reads(r->arena, r->cells[i].total_density, r->cells[i].is_bound),
                   c->n_records < c->n_expected ? " *" : "");
    }
}

static void add_accuracies(struct str *out, const struct report *r, size_t name_width, struct marks *m)
{
    size_t *width = arena_alloc(r->arena, ((size_t)r->n_columns + 1) * sizeof *width);
    for (int c = 0; c < r->n_columns; c++)
        width[c] = column_width(r, c, m);
    str_puts(out, "By task, percent correct [95 % interval]\n");
    for (int from = 0, to; from < r->n_columns; from = to) {
        size_t used = name_width + GAP + width[from];
        for (to = from + 1; to < r->n_columns && used + GAP + width[to] <= REPORT_TEXT_COLUMNS; to++)
            used += GAP + width[to];
        str_putc(out, '\n');
        add_block(out, r, from, to, name_width, width, m);
    }
}

/* ---- the verdicts */

/* Shorter than report_mark_words(): behind it in brackets how many problems would do. */
static const char *short_verdict(const struct report *r, const struct setting *s, struct marks *m)
{
    const struct pair *p = &s->pooled;
    struct arena *a = r->arena;
    const char *many = p->enough < 0 ? "" : arena_printf(a, " (%ld)", p->enough);
    int is_open = !p->is_incomplete && (p->mark == MARK_OPEN || p->mark == MARK_TOO_FEW);
    m->compared |= p->mark != MARK_NONE;
    m->would_do |= is_open && p->enough >= 0;
    if (p->mark == MARK_WITHIN)
        return arena_printf(a, "= within %.4g", r->run->margin);
    if (!is_open)
        return report_setting_verdict(r, s);
    return arena_printf(a, "%s%s", p->mark == MARK_OPEN ? "? not decided" : "too few problems", many);
}

/* Columns as wide as their contents; the first gives way where a line would be too long. field: n_rows *
 * n_columns, the headings first. notes, of rows, stand below them. */
static void add_table(struct str *out, const struct report *r, const char *const *field, int n_rows,
                      int n_columns, const char *const *notes)
{
    size_t *width = arena_alloc(r->arena, (size_t)n_columns * sizeof *width), used = 0;
    for (int i = 0; i < n_rows * n_columns; i++) {
        size_t n = width_of(field[i]);
        width[i % n_columns] = n > width[i % n_columns] ? n : width[i % n_columns];
    }
    for (int k = 1; k < n_columns; k++)
        used += GAP + width[k];
    if (used + width[0] > REPORT_TEXT_COLUMNS)
        width[0] = used + 10 < REPORT_TEXT_COLUMNS ? REPORT_TEXT_COLUMNS - used : 10;
    for (int i = 0; i < n_rows; i++) {
        put_padded(out, shorten_label(r->arena, field[i * n_columns], width[0]), width[0]);
        for (int k = 1; k < n_columns; k++) {
            str_printf(out, "%*s", GAP, "");
            put_padded(out, field[i * n_columns + k], width[k]);
        }
        end_line(out);
        if (notes && *notes[i])
            str_printf(out, "  ! %s\n", notes[i]);
    }
}

static void add_verdicts(struct str *out, const struct report *r, struct marks *m)
{
    enum { COLUMNS = 5 };
    static const char *const heading[COLUMNS] = {"policy", "verdict", "% correct", "difference",
                                                 "total reads"};
    size_t rows = (size_t)r->n_settings + 1;
    const char **field = arena_alloc(r->arena, rows * COLUMNS * sizeof *field);
    const char **notes = arena_alloc(r->arena, rows * sizeof *notes);
    memcpy(field, heading, sizeof heading);
    notes[0] = "";
    for (int i = 0; i < r->n_settings; i++) {
        const struct setting *s = &r->settings[i];
        const char **f = field + (i + 1) * COLUMNS;
        f[0] = row_label(r, s->row);
        f[1] = short_verdict(r, s, m);
        f[2] = isnan(s->accuracy) ? "-" : report_percent(r->arena, s->accuracy, s->ci);
        f[3] = s->pooled.mark == MARK_NONE ? "" : report_difference(r->arena, &s->pooled);
        f[4] = report_reads(r->arena, s->reads, s->is_bound);
        notes[i + 1] = report_setting_notes(r, s);
    }
    add_table(out, r, field, (int)rows, COLUMNS, notes);
}

/* ---- against another run */

static const char *length_change(const struct report *r, const struct against *x)
{
    return isfinite(x->length_ratio) ? arena_printf(r->arena, "%+.1f %%", 100 * (x->length_ratio - 1)) : "-";
}

static void add_against(struct str *out, const struct report *r)
{
    enum { COLUMNS = 7 };
    static const char *const heading[COLUMNS] = {"cell", "task",       "problems", "old",
                                                 "new",  "difference", "length"};
    size_t rows = (size_t)r->n_against + 1;
    const char **field = arena_alloc(r->arena, rows * COLUMNS * sizeof *field);
    memcpy(field, heading, sizeof heading);
    for (int i = 0; i < r->n_against; i++) {
        const struct pair *p = &r->against[i].pair;
        const struct cell_stats *s = &r->cells[p->b];
        const char **f = field + (i + 1) * COLUMNS;
        f[0] = row_label(r, s->row);
        f[1] = shorten_label(r->arena, s->cell->task->label, TASK_MAX_WIDTH);
        f[2] = arena_printf(r->arena, "%d", p->problems);
        f[3] = decimals_text(r, 100 * p->accuracy_a, 1);
        f[4] = decimals_text(r, 100 * p->accuracy_b, 1);
        f[5] = p->mark == MARK_NONE ? "-"
                                    : arena_printf(r->arena, "%s%s", report_difference(r->arena, p),
                                                   report_pair_sign(r->arena, p));
        f[6] = length_change(r, &r->against[i]);
    }
    str_puts(out, "\nCompared with ");
    str_puts(out, shorten_label(r->arena, r->old->run->dir, 60));
    str_printf(out, ": %d of %d cells have a counterpart there%s\n\n", r->n_against, r->run->n_cells,
               r->n_against ? "" : " (same label, task and swept settings)");
    if (r->n_against)
        add_table(out, r, field, (int)rows, COLUMNS, NULL);
}

/* A sentence, at most REPORT_TEXT_COLUMNS characters a line where its words allow that. */
static void add_wrapped(struct str *out, const struct report *r, const char *text)
{
    size_t column = 0;
    for (const char *p = shorten_label(r->arena, text, strlen(text)); *p; p += strspn(p, " ")) {
        const char *word = arena_strndup(r->arena, p, strcspn(p, " "));
        size_t n = width_of(word);
        if (column && column + 1 + n > REPORT_TEXT_COLUMNS) {
            str_putc(out, '\n');
            column = 0;
        }
        str_printf(out, "%s%s", column ? " " : "", word);
        column += n + (column > 0);
        p += strlen(word);
    }
    str_putc(out, '\n');
}

static void add_legend(struct str *out, const struct report *r, const struct marks *m)
{
    if (m->compared || m->too_few || m->incomplete || m->inactive)
        str_putc(out, '\n');
    if (m->compared)
        add_wrapped(out, r, report_marks_legend(r->arena, r->run->margin));
    if (m->too_few)
        str_puts(out, "no sign behind a task: no outcome of so few problems could have earned one\n");
    if (m->would_do)
        str_puts(out, "(N): so many problems would do, as far as these tell\n");
    if (m->incomplete)
        str_puts(out, "* incomplete: short completions finish first, so it leans towards them\n");
    if (m->inactive)
        str_puts(out, "! policy inactive: it read everything although its budget was exceeded\n");
}

static void add_lines(struct str *out, const struct report *r)
{
    struct verdict_lines l = report_verdict_lines(r);
    for (int i = 0; i < l.n; i++) {
        const struct verdict_line *x = &l.line[i];
        add_wrapped(out, r,
                    arena_printf(r->arena, "- %s: %s%s%s", x->name, x->text, x->more ? "; " : "",
                                 x->more ? x->more : ""));
    }
}

void report_text(struct str *out, const struct report *r)
{
    struct marks m = {0};
    size_t name_width = strlen("policy");
    for (int row = 0; row < r->n_rows; row++) {
        size_t n = width_of(row_label(r, row));
        name_width = n > name_width ? n : name_width;
    }
    if (r->n_columns) {
        const char *sentence = report_verdict_sentence(r);
        if (*sentence) {
            add_wrapped(out, r, sentence);
            add_lines(out, r);
            str_putc(out, '\n');
        }
        add_verdicts(out, r, &m);
        str_putc(out, '\n');
        add_accuracies(out, r, name_width, &m);
    }
    report_options_text(out, r);
    add_texts(out, r, name_width);
    add_legend(out, r, &m);
    struct cautions c = report_cautions(r);
    for (int i = 0; i < c.n; i++)
        add_wrapped(out, r, arena_printf(r->arena, "! %s", c.text[i]));
    if (r->old)
        add_against(out, r);
}
