/* Messages for the person at the terminal (contract: log.h). Each line is assembled first and written with
 * one call, so that the lines of several threads or processes do not mix. The quiet flag is the only
 * mutable global of the program. */
#include "evalcore/base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "evalcore/base/str.h"

static int is_quiet;

__attribute__((format(printf, 2, 0))) static void line(const char *head, const char *fmt, va_list ap)
{
    char text[2000];
    vsnprintf(text, sizeof text, fmt, ap);
    struct str s = {0};
    str_printf(&s, "kveval: %s%s\n", head, text);
    fwrite(s.data, 1, s.len, stderr);
    str_release(&s);
}

void log_info(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!is_quiet)
        line("", fmt, ap);
    va_end(ap);
}

void log_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (!is_quiet)
        line("warning: ", fmt, ap);
    va_end(ap);
}

void log_error(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    line("", fmt, ap);
    va_end(ap);
}

void log_set_quiet(int quiet)
{
    is_quiet = quiet;
}
