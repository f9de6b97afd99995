/* The one form of pickle that is read (contract: pickle_text.h; the format: Python's Lib/pickletools.py). */
#include "code_check/pickle_text.h"

#include <stdint.h>

#include "evalcore/base/str.h"

enum {
    PROTO = 0x80,
    FRAME = 0x95,
    SHORT_BINUNICODE = 0x8c,
    BINUNICODE = 'X',
    BINUNICODE8 = 0x8d,
    MEMOIZE = 0x94,
    BINPUT = 'q',
    LONG_BINPUT = 'r',
    STOP = '.'
};

struct pickle {
    const unsigned char *p, *end;
    const char *where;
};

/* A number of `bytes` bytes. Returns 0 when they are not there. */
static int read_number(struct pickle *k, int bytes, uint64_t *out)
{
    if (k->end - k->p < bytes)
        return 0;
    *out = 0;
    for (int i = bytes - 1; i >= 0; i--)
        *out = *out << 8 | k->p[i];
    k->p += bytes;
    return 1;
}

static int is_next(struct pickle *k, int opcode)
{
    if (k->p == k->end || *k->p != opcode)
        return 0;
    k->p++;
    return 1;
}

static int cut_short(const struct pickle *k, struct err *e)
{
    return err_set(e, ERR_FORMAT, "%s: the pickle ends before its text does", k->where);
}

static int refuse(const struct pickle *k, const char *wanted, struct err *e)
{
    if (k->p == k->end)
        return cut_short(k, e);
    return err_set(
        e, ERR_FORMAT,
        "%s: the pickle has instruction 0x%02x where %s was expected; only a pickled text is read, "
        "and nothing is executed",
        k->where, *k->p, wanted);
}

int pickle_text(const char **text, size_t *len, const void *data, size_t n, const char *where, struct err *e)
{
    struct pickle k = {data, (const unsigned char *)data + n, where};
    uint64_t version, size, ignored;
    if (!is_next(&k, PROTO))
        return refuse(&k, "its protocol", e);
    if (!read_number(&k, 1, &version))
        return cut_short(&k, e);
    if (version < 2 || version > 5)
        return err_set(e, ERR_FORMAT, "%s: a pickle of protocol %d is not read; 2 to 5 are", where,
                       (int)version);
    if (is_next(&k, FRAME) && (!read_number(&k, 8, &size) || size > (uint64_t)(k.end - k.p)))
        return cut_short(&k, e);
    int bytes = is_next(&k, SHORT_BINUNICODE) ? 1
                : is_next(&k, BINUNICODE)     ? 4
                : is_next(&k, BINUNICODE8)    ? 8
                                              : 0;
    if (!bytes)
        return refuse(&k, "a text", e);
    if (!read_number(&k, bytes, &size) || size > (uint64_t)(k.end - k.p))
        return cut_short(&k, e);
    *text = (const char *)k.p;
    *len = (size_t)size;
    k.p += size;
    /* the text's place in the memo, which nothing asks for */
    bytes = is_next(&k, BINPUT) ? 1 : is_next(&k, LONG_BINPUT) ? 4 : 0;
    if (bytes ? !read_number(&k, bytes, &ignored) : (is_next(&k, MEMOIZE), 0))
        return cut_short(&k, e);
    if (!is_next(&k, STOP))
        return refuse(&k, "its end", e);
    if (k.p != k.end)
        return err_set(e, ERR_FORMAT, "%s: %zu bytes follow the pickle's end", where, (size_t)(k.end - k.p));
    return 0;
}
