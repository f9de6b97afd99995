/* Error values (contract: err.h). The first message wins because the deepest cause is reported first; what
 * callers add on the way up is context and goes in front. */
#include "evalcore/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
    if (!e || e->code)
        return code;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->text, sizeof e->text, fmt, ap);
    va_end(ap);
    e->code = code;
    return code;
}

int err_add(struct err *e, const char *fmt, ...)
{
    if (!e || !e->code)
        return e ? e->code : 0;
    char context[sizeof e->text];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(context, sizeof context - 2, fmt, ap);
    va_end(ap);
    size_t head = n < 0 ? 0 : (size_t)n;
    if (head > sizeof context - 3)
        head = sizeof context - 3; /* cut by vsnprintf */
    context[head++] = ':';
    context[head++] = ' ';
    size_t tail = strlen(e->text);
    if (tail > sizeof e->text - 1 - head)
        tail = sizeof e->text - 1 - head;
    memmove(e->text + head, e->text, tail);
    memcpy(e->text, context, head);
    e->text[head + tail] = 0;
    return e->code;
}

const char *err_reason(int cause)
{
    if (cause == EMFILE)
        return "too many open files; raise their limit (ulimit -n)";
    if (cause == ENFILE)
        return "too many open files on this machine; raise its limit (sysctl fs.file-max)";
    return strerror(cause);
}
