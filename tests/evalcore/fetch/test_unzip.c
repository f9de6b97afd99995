/* Archives: what they would become is counted before anything of it is written. */
#include <string.h>

#include "evalcore/fetch/fetch_parts.h"
#include "tests/check.h"

static void put(struct str *out, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++, v >>= 8)
        str_putc(out, (char)v);
}

/* An archive's directory alone, as a bomb has it: n members of `size` bytes each. */
static void directory(struct str *out, int n, uint32_t size)
{
    for (int i = 0; i < n; i++) {
        str_add(out, "PK\1\2", 4);
        put(out, 0, 6);
        put(out, 8, 2); /* deflated */
        put(out, 0, 4);
        put(out, 0, 4);
        put(out, 1000, 4);
        put(out, size, 4);
        put(out, 1, 2);
        put(out, 0, 16);
        str_putc(out, 'a');
    }
    uint32_t end = (uint32_t)out->len;
    str_add(out, "PK\5\6", 4);
    put(out, 0, 4);
    put(out, (uint32_t)n, 2);
    put(out, (uint32_t)n, 2);
    put(out, end, 4);
    put(out, 0, 4); /* where it begins */
    put(out, 0, 2);
}

static const struct {
    const char *what;
    int n;
    uint32_t size;
    int code;
    const char *says;
} rows[] = {
    {"nothing", 0, 0, 0, ""},
    {"just as many", 10, 100, 0, ""},
    {"one member more", 11, 1, ERR_FORMAT, "has 11 files; at most 10"},
    {"a byte more in all", 10, 101, ERR_FORMAT, "1010 bytes; at most 1000"},
    {"more than 32 bits hold", 4, 0xfffffff0, ERR_FORMAT, "17179869120 bytes"},
    {"an endless directory", 60000, 0, ERR_FORMAT, "has 60000 files"},
};

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str text = {0};
        struct err e = {0};
        struct zip z;
        struct zip_member m;
        directory(&text, rows[i].n, rows[i].size);
        CHECK_INT(zip_open(&z, "archive.zip", text.data, text.len, &e), 0);
        CHECK_INT(zip_check_size(&z, 10, 1000, &e), rows[i].code);
        CHECK(strstr(e.text, rows[i].says) != NULL);
        CHECK(!rows[i].code || strstr(e.text, "archive.zip: "));
        if (rows[i].n)
            CHECK_INT(zip_next(&z, &m, &e), 1); /* it still stands at the first */
        str_release(&text);
    }
    /* a directory that ends early is damage and no small archive */
    struct str text = {0};
    struct err e = {0};
    struct zip z;
    directory(&text, 3, 1);
    text.data[47] = 'x';
    CHECK_INT(zip_open(&z, "archive.zip", text.data, text.len, &e), 0);
    CHECK_INT(zip_check_size(&z, 10, 1000, &e), ERR_FORMAT);
    str_release(&text);
    return check_done();
}
