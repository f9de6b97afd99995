/* The order of the checks, and how their findings are printed (contract: doctor.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

int doctor_model(const struct doctor_order *o)
{
    struct patient p = {.order = o, .model = o->engine.model};
    doctor_files(&p);
    doctor_memory(&p);
    doctor_tokenizer(&p);
    doctor_chat(&p);
    doctor_answer(&p);
    chat_own_release(&p.chat);
    tokenizer_close(p.tokenizer);
    token_list_release(&p.prompt);
    return p.faults;
}
