/* Text that a terminal may show (contract: shown.h). */
#include "evalcore/base/shown.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evalcore/base/arena.h"
#include "evalcore/base/file.h"

int shown_turns(const char *s)
{
    const unsigned char *c = (const unsigned char *)s;
    return c[0] == 0xE2 &&
           ((c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) || (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
}

int shown_next(const char *s, const char *end, char out[5])
{
    int n = 1;
    unsigned char c = (unsigned char)*s;
    while (s + n < end && n < 4 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n++;
    memcpy(out, s, (size_t)n);
    out[n] = 0;
    if (c < 0x20 || c == 0x7F || (c == 0xC2 && n == 2 && (unsigned char)s[1] < 0xA0))
        memcpy(out, " ", 2);
    else if (n == 3 && shown_turns(s))
        memcpy(out, "\xEF\xBF\xBD", 4);
    return n;
}

void shown_add(struct str *out, const char *text, size_t n)
{
    struct str clean = {0};
    char c[5];
    str_add_utf8(&clean, text, n);
    for (const char *p = str_text(&clean), *end = p + clean.len; p < end;) {
        p += shown_next(p, end, c);
        str_puts(out, c);
    }
    str_release(&clean);
}

static uint32_t code_point(const unsigned char *p, int n)
{
    uint32_t c = n == 1 ? p[0] : p[0] & (0x7FU >> n);
    for (int i = 1; i < n; i++)
        c = c << 6 | (p[i] & 0x3FU);
    return c;
}

static int is_steering(uint32_t c)
{
    return (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200B || c == 0x200E || c == 0x200F ||
           (c >= 0x2028 && c <= 0x202E) || c == 0x2060 || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

/* Does the character complete an order to GitHub Actions? White space before it does not matter there. */
static int is_order(struct shown_state *s, uint32_t c)
{
    int is_blank = c == ' ' || c == '\t' || c >= 0x80;
    int order = s->is_github && ((c == ':' && s->colons == 1) || (c == '[' && s->hashes >= 2));
    if (c == '\n')
        s->colons = 0;
    else if (c == ':' && s->colons >= 0)
        s->colons++;
    else if (!is_blank || s->colons)
        s->colons = -1;
    s->hashes = c == '#' ? s->hashes + 1 : 0;
    return order;
}

size_t shown_escape(struct shown_state *s, struct str *out, const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t at = 0, from = 0; /* from: where the run that is not yet copied begins */
    while (at < n) {
        int step = str_utf8_step(p + at, n - at);
        if ((step < 0 && (size_t)-step == n - at && p[at] >= 0xC2 && p[at] <= 0xF4) ||
            (p[at] == '\r' && at + 1 == n))
            break; /* more may come */
        uint32_t c = step > 0 ? code_point(p + at, step) : 0;
        int is_kept = c == '\n' || c == '\t' || (c == '\r' && p[at + 1] == '\n');
        int order = is_order(s, c), bytes = step > 0 ? step : -step;
        if (order || step < 0 || (!is_kept && (c < 0x20 || is_steering(c)))) {
            if (at > from)
                str_add(out, text + from, at - from);
            if (step > 0 && (order || c >= 0x20))
                str_printf(out, "\\u%04x", (unsigned)c);
            else
                for (int i = 0; i < bytes; i++)
                    str_printf(out, "\\x%02x", p[at + (size_t)i]);
            from = at + (size_t)bytes;
        }
        at += (size_t)bytes;
    }
    if (at > from)
        str_add(out, text + from, at - from);
    return at;
}

/* ---- a stream ---- */

struct shown_sink {
    int fd;
    struct shown_state state;
    struct str text; /* what has not been taken yet, at first its incomplete end */
};

static ssize_t sink_write(void *cookie, const char *bytes, size_t n)
{
    struct shown_sink *s = cookie;
    struct str out = {0};
    str_add(&s->text, bytes, n);
    size_t taken = shown_escape(&s->state, &out, s->text.data, s->text.len);
    memmove(s->text.data, s->text.data + taken, s->text.len - taken);
    s->text.len -= taken;
    int failed = file_put(s->fd, str_text(&out), out.len);
    str_release(&out);
    return failed ? 0 : (ssize_t)n;
}

/* What is left is no character: its bytes. */
static int sink_close(void *cookie)
{
    struct shown_sink *s = cookie;
    char hex[32] = "";
    size_t n = 0;
    for (size_t i = 0; i < s->text.len; i++)
        n += (size_t)snprintf(hex + n, sizeof hex - n, "\\x%02x", (unsigned char)s->text.data[i]);
    int rc = file_put(s->fd, hex, n);
    str_release(&s->text);
    free(s);
    return rc;
}

FILE *shown_stream(int fd, int is_github)
{
    struct shown_sink *s = xcalloc(1, sizeof *s);
    s->fd = fd;
    s->state.is_github = is_github;
    FILE *f = fopencookie(s, "w", (cookie_io_functions_t){.write = sink_write, .close = sink_close});
    if (!f)
        free(s);
    else
        setvbuf(f, NULL, isatty(fd) ? _IOLBF : _IOFBF, BUFSIZ);
    return f;
}
