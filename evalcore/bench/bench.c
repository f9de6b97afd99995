/* A benchmark's figure as a line of JSON, and of CSV where that is wanted. */
#include "evalcore/bench/bench.h"

#include <string.h>

#include "evalcore/base/json.h"

/* Names hold commas. */
static void csv_quote(struct str *s, const char *text)
{
    str_putc(s, '"');
    for (; *text; text++)
        str_puts(s, *text == '"' ? "\"\"" : (const char[]){*text, 0});
    str_putc(s, '"');
}

void bench_print(struct bench *b, const char *name, double value, const char *unit, double floor)
{
    struct str s = {0};
    str_puts(&s, "{\"name\": ");
    json_quote(&s, name, strlen(name));
    str_printf(&s, ", \"value\": %.6g, \"unit\": ", value);
    json_quote(&s, unit, strlen(unit));
    if (floor > 0)
        str_printf(&s, ", \"floor\": %.6g, \"share\": %.3f", floor, value / floor);
    else
        str_puts(&s, ", \"floor\": null, \"share\": null");
    str_puts(&s, ", \"command\": ");
    json_quote(&s, b->command, strlen(b->command));
    str_puts(&s, "}\n");
    fputs(str_text(&s), stdout);
    fflush(stdout);
    if (b->csv && !b->n_printed)
        fputs("name,value,unit,floor,share,command\n", b->csv);
    str_clear(&s);
    csv_quote(&s, name);
    str_printf(&s, ",%.6g,%s,", value, unit);
    if (floor > 0)
        str_printf(&s, "%.6g,%.3f,", floor, value / floor);
    else
        str_puts(&s, ",,");
    csv_quote(&s, b->command);
    if (b->csv)
        fprintf(b->csv, "%s\n", str_text(&s));
    b->n_printed++;
    str_release(&s);
}
