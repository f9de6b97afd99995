/* The CSV reader on the forms of RFC 4180 and on broken files. */
#include "evalcore/base/arena.h"
#include "tasks/csv.h"
#include "tests/cases.h"

static void unescape(struct str *out, const char *s)
{
    for (; *s; s++)
        str_putc(out, *s == '@' ? '\r' : *s == '%' ? '\n' : *s);
}

static void dump(struct str *out, struct csv *c)
{
    struct err e = {0};
    int rc;
    while ((rc = csv_next(c, &e)) > 0) {
        str_printf(out, "%s%ld ", out->len ? "\n" : "", c->line);
        for (int i = 0; i < c->n_fields; i++) {
            str_putc(out, '<');
            for (size_t k = 0; k < c->fields[i].len; k++)
                str_putc(out, c->fields[i].s[k] == '\r' ? '@' : c->fields[i].s[k]);
            str_putc(out, '>');
        }
    }
    if (rc < 0)
        str_printf(out, "%s%s", out->len ? "\n" : "", e.text);
    CHECK_INT(rc, rc < 0 ? ERR_FORMAT : 0);
}

static void limits(void)
{
    struct csv c;
    struct err e = {0};
    struct str s = {0};
    for (int i = 0; i < CSV_FIELDS_MAX; i++)
        str_putc(&s, ',');
    csv_open(&c, "file.csv", s.data, s.len);
    CHECK_INT(csv_next(&c, &e), ERR_FORMAT);
    CHECK_STR(e.text, "file.csv:1: this row has more than 1024 fields");
    csv_close(&c);
    str_release(&s);

    size_t n = CSV_FIELD_BYTES_MAX + 4;
    char *big = xmalloc(n);
    memset(big, 'x', n);
    for (int quoted = 0; quoted < 2; quoted++) {
        big[0] = quoted ? '"' : 'x';
        e = (struct err){0};
        csv_open(&c, "file.csv", big, n);
        CHECK_INT(csv_next(&c, &e), ERR_FORMAT);
        CHECK_STR(e.text, "file.csv:1: this field has more than 16777216 bytes");
        csv_close(&c);
    }
    free(big);
}

int main(int argc, char **argv)
{
    (void)argc;
    struct cases cs;
    struct test_case t;
    cases_open(&cs, argv[1]);
    while (cases_next(&cs, &t)) {
        struct str in = {0}, out = {0};
        struct csv c;
        unescape(&in, case_need(&t, "in"));
        csv_open(&c, "file.csv", str_text(&in), in.len);
        dump(&out, &c);
        CASE_STR(&t, "want", str_text(&out));
        csv_close(&c);
        str_release(&in);
        str_release(&out);
    }
    cases_close(&cs);
    limits();
    return check_done();
}
