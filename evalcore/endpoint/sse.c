/* Server-sent events (contract: sse.h), after the HTML standard, section 9.2.6. */
#include "evalcore/endpoint/sse.h"

#include <string.h>

/* The line is whole. */
static int end_line(struct sse *s, sse_fn *event, void *context)
{
    const char *line = str_text(&s->line);
    size_t n = s->line.len;
    int rc = 0;
    if (!s->is_begun && n >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) { /* a byte order mark */
        line += 3;
        n -= 3;
    }
    s->is_begun = 1;
    if (!n) {
        if (s->has_data)
            rc = event(context, str_text(&s->data), s->data.len);
        str_clear(&s->data);
        s->has_data = 0;
    } else if (n >= 4 && !memcmp(line, "data", 4) && (n == 4 || line[4] == ':')) {
        size_t from = n == 4 ? 4 : 5;
        from += from < n && line[from] == ' ';
        if (s->has_data)
            str_putc(&s->data, '\n');
        str_add(&s->data, line + from, n - from);
        s->has_data = 1;
        if (s->max && s->data.len > s->max)
            rc = SSE_TOO_LONG;
    }
    str_clear(&s->line);
    return rc;
}

int sse_take(struct sse *s, const char *bytes, size_t n, sse_fn *event, void *context)
{
    for (size_t at = 0; at < n;) {
        if (s->after_cr && bytes[at] == '\n') {
            s->after_cr = 0;
            at++;
            continue;
        }
        s->after_cr = 0;
        size_t end = at;
        while (end < n && bytes[end] != '\n' && bytes[end] != '\r')
            end++;
        str_add(&s->line, bytes + at, end - at);
        if (s->max && s->line.len > s->max)
            return SSE_TOO_LONG;
        if (end == n)
            return 0;
        s->after_cr = bytes[end] == '\r';
        at = end + 1;
        int rc = end_line(s, event, context);
        if (rc)
            return rc;
    }
    return 0;
}

void sse_release(struct sse *s)
{
    str_release(&s->line);
    str_release(&s->data);
    *s = (struct sse){0};
}
