/* Unicode for the tokenizer: UTF-8 checks, character classes, and normalization form C by utf8proc.
 *
 * NFC works cluster by cluster. A character that NFC leaves alone and that joins nothing before it is a
 * boundary (UAX #15, section 9). So text is copied up to the first character that may be none, and only the
 * cluster around that one is decomposed, ordered and composed. Combining marks are ordered here, by counting,
 * since the ordering of utf8proc takes quadratic time on a long run of marks and the text may come from a
 * downloaded file. */
#include "engine/text/unicode.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "evalcore/base/arena.h"

enum { FEW_MARKS = 24 };

int utf8_is_valid(const char *text, size_t n)
{
    size_t at = 0;
    while (at < n) {
        uint64_t eight;
        if (n - at >= 8) {
            memcpy(&eight, text + at, 8);
            if (!(eight & UINT64_C(0x8080808080808080))) {
                at += 8;
                continue;
            }
        }
        if ((unsigned char)text[at] < 0x80) {
            at++;
            continue;
        }
        utf8proc_int32_t c;
        utf8proc_ssize_t step = utf8proc_iterate((const utf8proc_uint8_t *)text + at,
                                                 n - at < 4 ? (utf8proc_ssize_t)(n - at) : 4, &c);
        if (step <= 0)
            return 0;
        at += (size_t)step;
    }
    return 1;
}

int32_t utf8_after(const char *text, size_t n, size_t at, size_t *bytes)
{
    utf8proc_int32_t c = -1;
    utf8proc_ssize_t step = utf8proc_iterate((const utf8proc_uint8_t *)text + at,
                                             n - at < 4 ? (utf8proc_ssize_t)(n - at) : 4, &c);
    *bytes = step > 0 ? (size_t)step : 1;
    return c;
}

int32_t utf8_before(const char *text, size_t at, size_t *bytes)
{
    size_t from = at - 1;
    while (from > 0 && at - from < 4 && ((unsigned char)text[from] & 0xC0) == 0x80)
        from--;
    int32_t c = utf8_after(text, at, from, bytes);
    *bytes = at - from;
    return c;
}

int unicode_is_space(int32_t c)
{
    return (c >= 9 && c <= 13) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

int unicode_is_word(int32_t c)
{
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
        return 1;
    default: /* joiners, and circled and squared letters, which are symbols but Alphabetic */
        return c == 0x200C || c == 0x200D || (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
               (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
    }
}

/* 1 when NFC leaves c alone and c joins nothing before it; 0 is safe where this is not known. The characters
 * of combining class 0 that do join what is before them are spacing marks, Hangul vowels and finals, and the
 * vowel signs of Kirat Rai. */
static int is_boundary(int32_t c)
{
    if (c < 0x300)
        return 1;
    const utf8proc_property_t *p = utf8proc_get_property(c);
    if (p->combining_class || p->category == UTF8PROC_CATEGORY_MN || p->category == UTF8PROC_CATEGORY_MC ||
        p->category == UTF8PROC_CATEGORY_ME || (c >= 0x1160 && c <= 0x11FF) || (c >= 0x16D40 && c <= 0x16D7F))
        return 0;
    if (p->decomp_seqindex == UINT16_MAX || p->decomp_type)
        return 1;
    utf8proc_int32_t part[8];
    int last;
    utf8proc_option_t form = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    utf8proc_ssize_t n = utf8proc_decompose_char(c, part, 8, form, &last);
    return n > 0 && n <= 8 && utf8proc_normalize_utf32(part, n, form) == 1 && part[0] == c;
}

struct marked { /* a character with its canonical combining class */
    int32_t c;
    uint8_t class;
};

/* Sorts a run of marks by combining class, stably. */
static void order_marks(struct marked *m, size_t n)
{
    if (n <= FEW_MARKS) {
        for (size_t i = 1; i < n; i++) {
            struct marked x = m[i];
            size_t j = i;
            for (; j > 0 && m[j - 1].class > x.class; j--)
                m[j] = m[j - 1];
            m[j] = x;
        }
        return;
    }
    size_t start[257] = {0};
    for (size_t i = 0; i < n; i++)
        start[m[i].class + 1]++;
    for (size_t k = 1; k < 257; k++)
        start[k] += start[k - 1];
    struct marked *sorted = xcalloc(n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[start[m[i].class]++] = m[i];
    memcpy(m, sorted, n * sizeof *m);
    free(sorted);
}

static void normalize_cluster(const char *text, size_t n, struct str *out)
{
    struct marked *m = NULL;
    size_t len = 0, cap = 0, run = 0; /* run: where the run of marks at the end begins */
    for (size_t at = 0, step; at < n; at += step) {
        utf8proc_int32_t part[32];
        int last = 0;
        utf8proc_ssize_t parts = utf8proc_decompose_char(utf8_after(text, n, at, &step), part, 32,
                                                         UTF8PROC_STABLE | UTF8PROC_COMPOSE, &last);
        for (utf8proc_ssize_t i = 0; i < parts && i < 32; i++) {
            uint8_t class = (uint8_t)utf8proc_get_property(part[i])->combining_class;
            if (!class) {
                if (len > run)
                    order_marks(m + run, len - run);
                run = len + 1;
            }
            xgrow(&m, &cap, len + 1, sizeof *m);
            m[len++] = (struct marked){part[i], class};
        }
    }
    if (len > run)
        order_marks(m + run, len - run);
    utf8proc_int32_t *c = xcalloc(len + 1, sizeof *c);
    for (size_t i = 0; i < len; i++)
        c[i] = m[i].c;
    utf8proc_ssize_t left =
        utf8proc_normalize_utf32(c, (utf8proc_ssize_t)len, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    for (utf8proc_ssize_t i = 0; i < left; i++) {
        utf8proc_uint8_t bytes[4];
        utf8proc_ssize_t k = utf8proc_encode_char(c[i], bytes);
        str_add(out, (const char *)bytes, (size_t)k);
    }
    free(c);
    free(m);
}

/* Where the first character from `at` on is that is no boundary; n if there is none. *start: the boundary
 * before it. */
static size_t next_doubtful(const char *text, size_t n, size_t at, size_t *start)
{
    *start = at;
    while (at < n) {
        uint64_t eight;
        if (n - at >= 8 && (memcpy(&eight, text + at, 8), !(eight & UINT64_C(0x8080808080808080)))) {
            at += 8;
            *start = at - 1;
            continue;
        }
        if ((unsigned char)text[at] < 0xCC) { /* below U+0300 */
            *start = at;
            at += (unsigned char)text[at] < 0x80 ? 1 : 2;
            continue;
        }
        size_t step;
        if (!is_boundary(utf8_after(text, n, at, &step)))
            return at;
        *start = at;
        at += step;
    }
    return n;
}

int nfc_normalize(const char *text, size_t n, struct str *out, size_t mark[2])
{
    size_t at = 0, from, doubtful = next_doubtful(text, n, 0, &from);
    if (doubtful == n)
        return 0;
    size_t moved[2] = {mark[0], mark[1]};
    str_clear(out);
    while (doubtful < n) {
        size_t end = doubtful, step;
        do {
            utf8_after(text, n, end, &step);
            end += step;
        } while (end < n && !is_boundary(utf8_after(text, n, end, &step)));
        str_add(out, text + at, from - at);
        size_t before = out->len;
        normalize_cluster(text + from, end - from, out);
        for (int i = 0; i < 2; i++)
            if (mark[i] >= end)
                moved[i] = out->len + (mark[i] - end);
            else if (mark[i] > from)
                moved[i] = i == 0 ? before : out->len;
            else if (mark[i] == from)
                moved[i] = before;
        at = end;
        doubtful = next_doubtful(text, n, at, &from);
    }
    str_add(out, text + at, n - at);
    mark[0] = moved[0];
    mark[1] = moved[1];
    return 1;
}
