/* How findings are printed, and what the system's own files say (contract: doctor_parts.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/doctor/doctor_parts.h"

enum { LINE = 100, INDENT = 22 };

void doctor_say(struct patient *p, enum finding f, const char *what, const char *fmt, ...)
{
    static const char *const words[] = {"ok", "warning", "fault"};
    va_list ap;
    va_start(ap, fmt);
    printf("%-8s %-12s ", words[f], what);
    vprintf(fmt, ap);
    printf("\n");
    va_end(ap);
    p->faults += f == FINDING_FAULT;
}

void doctor_note(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%*s", INDENT, "");
    vprintf(fmt, ap);
    printf("\n");
    va_end(ap);
}

void doctor_way_out(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    printf("%*s-> ", INDENT, "");
    vprintf(fmt, ap);
    printf("\n");
    va_end(ap);
}

void doctor_visible(struct str *out, const char *text, size_t n)
{
    struct str clean = {0};
    str_add_utf8(&clean, text, n);
    for (size_t i = 0; i < clean.len; i++) {
        unsigned char c = (unsigned char)clean.data[i];
        if (c == '\n')
            str_puts(out, "\\n");
        else if (c == '\t')
            str_puts(out, "\\t");
        else if (c < 0x20 || c == 0x7f)
            str_printf(out, "\\x%02x", c);
        else
            str_putc(out, (char)c);
    }
    str_release(&clean);
}

void doctor_token(struct str *out, const struct tokenizer *t, int32_t id)
{
    struct str piece = {0};
    if (!t || !tokenizer_has(t, id)) {
        str_printf(out, "%d", (int)id);
        return;
    }
    tokenizer_decode(t, &id, 1, 0, &piece);
    str_printf(out, "%d ", (int)id);
    doctor_visible(out, str_text(&piece), piece.len);
    str_release(&piece);
}

void doctor_tokens(const struct tokenizer *t, const int32_t *id, size_t n)
{
    struct str line = {0}, one = {0};
    for (size_t i = 0; i < n; i++) {
        str_clear(&one);
        doctor_token(&one, t, id[i]);
        if (line.len && line.len + one.len + INDENT + 3 > LINE) {
            doctor_note("%s", str_text(&line));
            str_clear(&line);
        }
        str_printf(&line, "%s%s", line.len ? " | " : "", str_text(&one));
    }
    if (line.len)
        doctor_note("%s", line.data);
    str_release(&line);
    str_release(&one);
}

void doctor_number(struct str *out, double n)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%.0f", n);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            str_putc(out, ',');
        str_putc(out, digits[i]);
    }
}

void system_line(const char *path, const char *name, char separator, char *out, size_t size)
{
    struct str text = {0};
    out[0] = 0;
    if (!file_read(path, &text, NULL)) {
        const char *at = strstr(str_text(&text), name);
        at = at ? strchr(at, separator) : NULL;
        if (at) {
            at += 1 + strspn(at + 1, " \t\"");
            size_t n = strcspn(at, "\"\n");
            n = n < size ? n : size - 1;
            memcpy(out, at, n);
            out[n] = 0;
        }
    }
    str_release(&text);
}
