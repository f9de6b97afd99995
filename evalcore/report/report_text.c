/* The accuracy table as plain text for a terminal (contract: report_parts.h): the numbers and marks of
 * report.md in REPORT_TEXT_COLUMNS columns. More tasks than fit stand in a second table below. */
#include "evalcore/report/report_parts.h"

#include <math.h>
#include <string.h>

enum { NAME_MAX_WIDTH = 40, TASK_MAX_WIDTH = 28, GAP = 2 };

struct marks { /* which of them occurred and so need a legend */
    int compared, incomplete, inactive;
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
static const char *shortened(struct arena *a, const char *label, size_t most)
{
    struct str clean = {0}, out = {0};
    str_add_utf8(&clean, label, strlen(label));
    size_t n = 0, width = width_of(str_text(&clean));
    for (const char *p = str_text(&clean); *p; p++) {
        unsigned char c = (unsigned char)*p;
        if ((c & 0xC0) != 0x80 && n++ == most - (width > most))
            break;
        int is_c1 = c == 0xC2 && (unsigned char)p[1] < 0xA0;
        str_putc(&out, c < 0x20 || c == 0x7F || is_c1 ? ' ' : *p);
        p += is_c1;
    }
    if (width > most)
        str_puts(&out, "\xE2\x80\xA6");
    const char *kept = arena_strdup(a, str_text(&out));
    str_release(&clean);
    str_release(&out);
    return kept;
}

static void put(struct str *out, const char *s, size_t width)
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
    const char *sign = report_pair_sign(report_pair_of(r, i));
    int incomplete = s->cell->n_records < s->cell->n_expected, inactive = s->activity == ACTIVITY_INACTIVE;
    m->compared |= *sign != 0;
    m->incomplete |= incomplete;
    m->inactive |= inactive;
    const char *percent = report_percent(r->arena, s->accuracy, s->ci);
    size_t whole = strcspn(percent, ". "); /* its digits, at most "100" */
    return arena_printf(r->arena, "%*s%s%s%s%s", (int)(whole < 3 ? 3 - whole : 0), "", percent, sign,
                        incomplete ? " *" : "", inactive ? " !" : "");
}

static const char *row_label(const struct report *r, int row)
{
    return shortened(r->arena, report_row_name(r, row), NAME_MAX_WIDTH);
}

static size_t column_width(const struct report *r, int column, struct marks *m)
{
    size_t most = width_of(shortened(r->arena, r->columns[column], TASK_MAX_WIDTH));
    for (int row = 0; row < r->n_rows; row++) {
        size_t n = width_of(cell_text(r, row, column, m));
        most = n > most ? n : most;
    }
    return most;
}

/* Columns from..to of the table. */
static void add_block(struct str *out, const struct report *r, int from, int to, size_t name_width,
                      const size_t *width, struct marks *m)
{
    put(out, "policy", name_width);
    for (int c = from; c < to; c++) {
        str_printf(out, "%*s", GAP, "");
        put(out, shortened(r->arena, r->columns[c], TASK_MAX_WIDTH), width[c]);
    }
    end_line(out);
    for (int row = 0; row < r->n_rows; row++) {
        put(out, row_label(r, row), name_width);
        for (int c = from; c < to; c++) {
            str_printf(out, "%*s", GAP, "");
            put(out, cell_text(r, row, c, m), width[c]);
        }
        end_line(out);
    }
}

static const char *decimals(const struct report *r, double v, int digits)
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
            put(out, shortened(r->arena, c->task->label, name_width), name_width);
            str_puts(out, "  bits/byte  difference  KL, nats  top-1 %  KV density\n");
        }
        struct likelihood_figures f = report_likelihood_figures(&r->cells[i].likelihood);
        const struct pair *p = report_text_pair_of(r, i);
        put(out, row_label(r, r->cells[i].row), name_width);
        str_printf(out, "  %9s  %10s  %8s  %7s  %10s%s\n", decimals(r, f.bits_per_byte, 4),
                   p && p->problems ? arena_printf(r->arena, "%+.4f", p->delta) : "-", decimals(r, f.kl, 5),
                   decimals(r, 100 * f.top1, 2), decimals(r, r->cells[i].kv_density, 3),
                   c->n_records < c->n_expected ? " *" : "");
    }
}

static void add_accuracies(struct str *out, const struct report *r, size_t name_width, struct marks *m)
{
    size_t *width = arena_alloc(r->arena, ((size_t)r->n_columns + 1) * sizeof *width);
    for (int c = 0; c < r->n_columns; c++)
        width[c] = column_width(r, c, m);
    str_puts(out, "Percent correct [95 % interval]\n");
    for (int from = 0, to; from < r->n_columns; from = to) {
        size_t used = name_width + GAP + width[from];
        for (to = from + 1; to < r->n_columns && used + GAP + width[to] <= REPORT_TEXT_COLUMNS; to++)
            used += GAP + width[to];
        str_putc(out, '\n');
        add_block(out, r, from, to, name_width, width, m);
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
    if (r->n_columns)
        add_accuracies(out, r, name_width, &m);
    add_texts(out, r, name_width);
    if (m.compared || m.incomplete || m.inactive)
        str_putc(out, '\n');
    if (m.compared)
        str_puts(out, "\xE2\x96\xBC lower, \xE2\x96\xB2 higher than the baseline beyond chance, ? not "
                      "decided\n");
    if (m.incomplete)
        str_puts(out, "* incomplete: short completions finish first, so it leans towards them\n");
    if (m.inactive)
        str_puts(out, "! policy inactive: it read everything although its budget was exceeded\n");
}
