/* Rows of CSV (contract: csv_row.h). */
#include "evalcore/base/csv_row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin_field(struct csv_row *c)
{
    if (c->column++)
        str_putc(c->out, ',');
}

/* A spreadsheet takes such a text for a formula, unless it is a number. The mark before it has one, too, so
 * that taking one away always gives the text. */
static int needs_mark(const char *s)
{
    char *end;
    if (!*s || !strchr("=+-@\t\r'", *s))
        return 0;
    return s[strspn(s, "0123456789.eE+-")] || strtod(s, &end) == HUGE_VAL || *end;
}

void csv_row_bytes(struct csv_row *c, const char *s, size_t n)
{
    struct str clean = {0};
    begin_field(c);
    if (n && needs_mark(s))
        str_putc(&clean, '\'');
    str_add_utf8(&clean, s, n);
    if (strcspn(str_text(&clean), ",\"\r\n") == clean.len) { /* nearly always: nothing to quote, no NUL */
        str_add(c->out, str_text(&clean), clean.len);
        str_release(&clean);
        return;
    }
    int is_quoted = 0;
    for (size_t i = 0; i < clean.len; i++)
        is_quoted |= memchr(",\"\r\n", clean.data[i], 4) != NULL;
    str_puts(c->out, is_quoted ? "\"" : "");
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '"')
            str_putc(c->out, '"');
        if (clean.data[i])
            str_putc(c->out, clean.data[i]);
        else
            str_puts(c->out, "\xEF\xBF\xBD");
    }
    str_puts(c->out, is_quoted ? "\"" : "");
    str_release(&clean);
}

void csv_row_text(struct csv_row *c, const char *s)
{
    csv_row_bytes(c, s ? s : "", s ? strlen(s) : 0);
}

void csv_row_int(struct csv_row *c, long v)
{
    begin_field(c);
    str_printf(c->out, "%ld", v);
}

void csv_row_number(struct csv_row *c, double v)
{
    begin_field(c);
    if (!isfinite(v))
        return;
    char text[400];
    int n = snprintf(text, sizeof text, "%.6f", fabs(v) < 5e-7 ? 0.0 : v);
    while (n > 0 && text[n - 1] == '0')
        n--;
    if (n > 0 && text[n - 1] == '.')
        n--;
    str_add(c->out, text, (size_t)n);
}

void csv_row_p(struct csv_row *c, double p)
{
    begin_field(c);
    if (isfinite(p))
        str_printf(c->out, "%.6g", p);
}

void csv_row_end(struct csv_row *c)
{
    str_putc(c->out, '\n');
    c->column = 0;
}
