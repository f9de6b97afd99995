/* Messages for the person at the terminal (contract: log.h). Each line is assembled first and written with
 * one call, so that the lines of several threads or processes do not mix. What is printed, and what is
 * written before it, are the only mutable globals of the program. */
#include "evalcore/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "evalcore/base/str.h"

static int quiet = LOG_ALL;
static const char *line_lead = "";

__attribute__((format(printf, 2, 0))) static void log_line(const char *head, const char *fmt, va_list ap)
{
    char text[2000];
    vsnprintf(text, sizeof text, fmt, ap);
    struct str s = {0};
    str_printf(&s, "%skveval: %s%s\n", line_lead, head, text);
    fwrite(s.data, 1, s.len, stderr);
    str_release(&s);
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
