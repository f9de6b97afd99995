/* CSV reader. Fields are unescaped into one growing text; pointers into it are set when the record is
 * complete, since the text may move while it grows. */
#include "tasks/csv.h"

#include <stdlib.h>
#include <string.h>

#include "evalcore/base/arena.h"

void csv_open(struct csv *c, const char *path, const char *data, size_t size)
{
    *c = (struct csv){.path = path, .data = data, .size = size, .next_line = 1, .separator = ','};
    if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))
        c->pos = 3;
}

void csv_close(struct csv *c)
{
    str_release(&c->text);
    free(c->fields);
    *c = (struct csv){0};
}

static int peek_byte(const struct csv *c)
{
    return c->pos < c->size ? (unsigned char)c->data[c->pos] : -1;
}

static void take_byte(struct csv *c)
{
    char ch = c->data[c->pos++];
    int crlf = ch == '\r' && peek_byte(c) == '\n'; /* counted when its \n is taken */
    c->next_line += ch == '\n' || (ch == '\r' && !crlf);
    str_putc(&c->text, ch);
}

static int read_quoted(struct csv *c, struct err *e)
{
    long opened = c->next_line;
    size_t start = c->text.len;
    c->pos++;
    for (;;) {
        int ch = peek_byte(c);
        if (ch < 0)
            return err_set(e, ERR_FORMAT, "%s:%ld: the quote that opens here is never closed", c->path,
                           opened);
        if (c->text.len - start > CSV_FIELD_BYTES_MAX)
            return err_set(e, ERR_FORMAT, "%s:%ld: this field has more than %d bytes", c->path, opened,
                           CSV_FIELD_BYTES_MAX);
        if (ch != '"') {
            take_byte(c);
            continue;
        }
        c->pos++;
        if (peek_byte(c) != '"')
            break;
        take_byte(c);
    }
    int ch = peek_byte(c);
    if (ch >= 0 && ch != c->separator && ch != '\n' && ch != '\r')
        return err_set(e, ERR_FORMAT,
                       "%s:%ld: text follows a closing quote; a quote inside a field is written twice",
                       c->path, c->next_line);
    return 0;
}

static int read_plain(struct csv *c, struct err *e)
{
    size_t start = c->text.len;
    for (int ch = peek_byte(c); ch >= 0 && ch != c->separator && ch != '\n' && ch != '\r';
         ch = peek_byte(c)) {
        if (ch == '"')
            return err_set(e, ERR_FORMAT, "%s:%ld: a quote stands in a field that does not start with one",
                           c->path, c->next_line);
        if (c->text.len - start > CSV_FIELD_BYTES_MAX)
            return err_set(e, ERR_FORMAT, "%s:%ld: this field has more than %d bytes", c->path, c->next_line,
                           CSV_FIELD_BYTES_MAX);
        take_byte(c);
    }
    return 0;
}

static void skip_line_end(struct csv *c)
{
    if (peek_byte(c) == '\r') {
        c->pos++;
        c->next_line += peek_byte(c) != '\n';
    }
    if (peek_byte(c) == '\n') {
        c->pos++;
        c->next_line++;
    }
}

int csv_next(struct csv *c, struct err *e)
{
    for (int ch = peek_byte(c); ch == '\n' || ch == '\r'; ch = peek_byte(c))
        skip_line_end(c);
    if (peek_byte(c) < 0)
        return 0;
    str_clear(&c->text);
    c->line = c->next_line;
    c->n_fields = 0;
    for (;;) {
        size_t start = c->text.len;
        int rc = peek_byte(c) == '"' ? read_quoted(c, e) : read_plain(c, e);
        if (rc)
            return rc;
        if (c->n_fields == CSV_FIELDS_MAX)
            return err_set(e, ERR_FORMAT, "%s:%ld: this row has more than %d fields", c->path, c->line,
                           CSV_FIELDS_MAX);
        xgrow(&c->fields, &c->cap, (size_t)c->n_fields + 1, sizeof *c->fields);
        c->fields[c->n_fields++] = (struct csv_field){NULL, c->text.len - start};
        if (peek_byte(c) != c->separator)
            break;
        c->pos++;
    }
    skip_line_end(c);
    const char *s = str_text(&c->text);
    for (int i = 0; i < c->n_fields; i++) {
        c->fields[i].s = s;
        s += c->fields[i].len;
    }
    return 1;
}
