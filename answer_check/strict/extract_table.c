/* Answers in tables (contract: extract.h). */
#include "answer_check/strict/extract.h"

#include <string.h>

#include "answer_check/strict/sentence.h"
#include "answer_check/text/answer_object.h"

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

int extract_table(struct span *out, struct span s)
{
    enum { LINES = 200, CELLS = 12 };
    struct span last = {0}, head = {0}, line;
    int is_head = 0;
    int answer_column = -1;
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
    return out->n > 0 ? 1 : -1;
}
