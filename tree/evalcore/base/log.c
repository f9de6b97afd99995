/* Messages for the person at the terminal (contract: log.h). Each line is assembled first and written with
 * one call, so that the lines of several threads or processes do not mix. What is printed, and what is
 * written before it, are the only mutable globals of the program. */
#include "evalcore/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "evalcore/base/shown.h"
#include "evalcore/base/str.h"

static int quiet = LOG_ALL;
static const char *line_lead = "";

__attribute__((format(printf, 2, 0))) static void log_line(const char *head, const char *fmt, va_list ap)
{
    char text[2000];
    vsnprintf(text, sizeof text, fmt, ap);
    struct shown_state state = {.is_github = 1}; /* here without a question: who reads it is not known */
    struct str s = {0}, shown = {0};
    shown_escape(&state, &shown, text, strlen(text)); /* a character that was cut at the end is left out */
    str_printf(&s, "%skveval: %s", line_lead, head);
    for (const char *p = str_text(&shown); *p; p++)
        if (*p == '\n') /* one message is one line */
            str_puts(&s, "\\n");
        else
            str_putc(&s, *p);
    str_putc(&s, '\n');
    fwrite(s.data, 1, s.len, stderr);
    str_release(&s);
    str_release(&shown);
}

void log_info(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (quiet == LOG_ALL)
        log_line("", fmt, ap);
    va_end(ap);
}

void log_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (quiet != LOG_ERRORS)
        log_line("warning: ", fmt, ap);
    va_end(ap);
}

void log_error(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    log_line("", fmt, ap);
    va_end(ap);
}

void log_set_quiet(int wanted)
{
    quiet = wanted;
}

void log_set_lead(const char *lead)
{
    line_lead = lead;
}
