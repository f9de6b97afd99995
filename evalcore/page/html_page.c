/* The head that all pages share, and the pages of problems' texts (contract: html_page.h, doc.h). */
#include "evalcore/page/html_page.h"

#include <string.h>

#include "evalcore/base/hash.h"
#include "evalcore/page/svg.h"

/* RFC 4648. */
static void put_base64(struct str *out, const unsigned char *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)data[i] << 16;
        v |= i + 1 < n ? (unsigned)data[i + 1] << 8 : 0;
        v |= i + 2 < n ? (unsigned)data[i + 2] : 0;
        for (size_t k = 0; k < 4; k++)
            str_putc(out, i + k > n ? '=' : digits[v >> (18 - 6 * k) & 63]);
    }
}

/* Content Security Policy Level 3, section 2.3.1: 'sha256-...' names the one script that may run. */
static void put_script_policy(struct str *out, int has_script)
{
    str_puts(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                  "'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'");
    if (has_script) {
        struct sha256 h;
        unsigned char sum[32];
        sha256_init(&h);
        sha256_add(&h, page_script, strlen(page_script));
        sha256_end(&h, sum);
        str_puts(out, "; script-src 'sha256-");
        put_base64(out, sum, sizeof sum);
        str_putc(out, '\'');
    }
    str_puts(out, "\">\n");
}

void html_begin(struct str *out, const char *title, int has_script)
{
    str_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    put_script_policy(out, has_script);
    str_puts(out, "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n"
                  "<link rel=\"icon\" href=\"data:,\">\n<title>");
    svg_escape(out, title);
    str_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", page_style);
}

void html_text_begin(struct str *out, const char *title, const char *back)
{
    html_begin(out, title, 0);
    str_puts(out, "<header><nav aria-label=\"Back\"><a href=\"");
    svg_escape(out, back);
    str_puts(out, "\">Report</a></nav></header>\n<main>\n<h1>");
    svg_escape(out, title);
    str_puts(out, "</h1>\n");
}

void html_text_part(struct str *out, const char *title, const char *note, const char *text, size_t n)
{
    struct str shown = {0};
    str_puts(out, "<h2>");
    svg_escape(out, title);
    str_puts(out, "</h2>\n");
    if (note && *note) {
        str_puts(out, "<p>");
        svg_escape(out, note);
        str_puts(out, "</p>\n");
    }
    for (size_t i = 0; i < n && i < TEXT_MAX; i++) /* a NUL would end the text early */
        if (text[i])
            str_putc(&shown, text[i]);
        else
            str_puts(&shown, "\xEF\xBF\xBD");
    str_puts(out, "<pre class=\"text\">\n"); /* HTML drops the first newline of a pre */
    svg_escape(out, str_text(&shown));
    str_puts(out, "</pre>\n");
    if (n > TEXT_MAX)
        str_printf(
            out,
            "<p class=\"warn\">Cut here: the first %d of %zu bytes are shown; kveval show prints all.</p>\n",
            TEXT_MAX, n);
    str_release(&shown);
}

void html_text_end(struct str *out)
{
    str_puts(out, "</main>\n</body>\n</html>\n");
}
