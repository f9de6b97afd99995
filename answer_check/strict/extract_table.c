/* Answers in tables (contract: extract.h). */
#include "answer_check/strict/extract.h"

#include <string.h>

#include "answer_check/strict/sentence.h"
#include "answer_check/text/answer_object.h"
#include "evalcore/base/str.h"

/* The text of cell k of a line "| a | b |", without marks of Markdown; empty when there is none. */
static struct span cell_of(struct span line, int k)
{
    size_t from = 0;
    for (size_t i = 0; i < line.n; i++) {
        if (line.s[i] != '|' || (i && line.s[i - 1] == '\\'))
            continue;
        if (from && k-- == 0) {
            struct span cell = span_trim((struct span){line.s + from, i - from});
            while (cell.n && strchr("*_`: ", cell.s[0]))
                cell = (struct span){cell.s + 1, cell.n - 1};
            while (cell.n && strchr("*_`: ", cell.s[cell.n - 1]))
                cell.n--;
            return cell;
        }
        from = i + 1;
    }
    return (struct span){0};
}

/* The line of a table that ends before *end; empty when it is none. *end moves before it. */
static struct span table_line(struct span s, size_t *end)
{
    size_t from = *end;
    while (from && s.s[from - 1] != '\n')
        from--;
    struct span line = span_trim((struct span){s.s + from, *end - from});
    *end = from ? from - 1 : 0;
    return line.n > 2 && line.s[0] == '|' && line.s[line.n - 1] == '|' ? line : (struct span){0};
}

/* The line below the head of a table? */
static int is_rule(struct span line)
{
    for (size_t i = 0; i < line.n; i++)
        if (!strchr("|-: +=", line.s[i]))
            return 0;
    return line.n > 0;
}

/* Does the cell hold mathematics, not the name of a column? */
static int is_value_cell(struct span cell)
{
    return cell.n && (ascii_is_digit(cell.s[0]) || strchr("($\\-[{", cell.s[0]) || (cell.s[0] & 0x80));
}

/* Which part the first cell of a row names, "(b)" or "b" in a column "Part": 2; else 0. */
static int part_of_row(struct span line, int is_named)
{
    struct span cell = cell_of(line, 0);
    size_t from = cell.n && cell.s[0] == '(';
    int has_mark = from && cell.n == 3 && cell.s[2] == ')';
    if (!has_mark && !(is_named && cell.n == 1))
        return 0;
    char c = ascii_lower(cell.s[from]);
    return ascii_is_digit(c) ? c - '0' : c >= 'a' && c <= 'h' ? c - 'a' + 1 : 0;
}

/* The cells of the column in the rows that name parts (a), (b) and so on up to the last, as a list. */
static void list_parts(struct span *list, struct span head, struct span last, int column, struct arena *a)
{
    struct str all = {0};
    int is_named = span_starts(cell_of(head, 0), "part"), parts = part_of_row(last, is_named), n = 0;
    struct span rows = {head.s + head.n, (size_t)(last.s + last.n - head.s) - head.n};
    while (parts > 1 && rows.n) {
        const char *end = memchr(rows.s, '\n', rows.n);
        struct span line = span_trim((struct span){rows.s, end ? (size_t)(end - rows.s) : rows.n});
        rows = end ? (struct span){end + 1, rows.n - (size_t)(end + 1 - rows.s)} : (struct span){rows.s, 0};
        if (!line.n || is_rule(line))
            continue;
        struct span cell = cell_of(line, column);
        if (part_of_row(line, is_named) != ++n || !cell.n)
            parts = 0;
        str_printf(&all, "%s(%c) %.*s", n > 1 ? ", " : "", 'a' + n - 1, (int)cell.n, cell.s);
    }
    if (parts > 1 && n == parts)
        *list = (struct span){arena_strndup(a, str_text(&all), all.len), all.len};
    str_release(&all);
}

int extract_table(struct span *out, struct span *list, struct span s, struct arena *a)
{
    enum { LINES = 200, CELLS = 12 };
    struct span last = {0}, head = {0}, line;
    int is_head = 0;
    int answer_column = -1;
    *list = (struct span){0};
    s = sentence_without_chatter(s);
    for (size_t end = s.n, n = 0; end && n < LINES; n++) {
        line = table_line(s, &end);
        if (!line.n)
            break;
        if (is_rule(line)) {
            is_head = last.n > 0;
            continue;
        }
        struct span name = cell_of(line, 0), value = cell_of(line, 1);
        if (!last.n)
            last = line;
        if (!is_head && answer_name_rank(name) < ANSWER_NAMES && value.n && !cell_of(line, 2).n &&
            answer_name_rank(value) == ANSWER_NAMES && !span_starts(value, "value") &&
            !span_starts(value, "result")) {
            *out = value;
            return 1;
        }
        head = line;
        is_head = 0;
    }
    for (int k = 0; head.n && k < CELLS; k++)
        if (answer_name_rank(cell_of(head, k)) < ANSWER_NAMES)
            answer_column = k;
    if (answer_column < 0 || head.s == last.s)
        return head.n ? -1 : 0;
    *out = cell_of(last, answer_column);
    struct span title = cell_of(head, 1);
    if (!answer_column && is_value_cell(title) && !is_value_cell(*out) && !cell_of(head, 2).n) {
        *out = title; /* the row of the answer is the head */
        return 1;
    }
    list_parts(list, head, last, answer_column, a);
    return out->n > 0 ? 1 : -1;
}
