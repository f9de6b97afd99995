/* ZIP archives (contract: fetch_parts.h). The central directory at the end is what counts; of a member's
 * local header only the lengths are taken, which say where its bytes begin. */
#include "evalcore/fetch/fetch_parts.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "evalcore/base/arena.h"

enum {
    END_BYTES = 22,
    RECORD_BYTES = 46,
    LOCAL_BYTES = 30,
    COMMENT_MAX = 65535,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1
};

static uint32_t little_endian(const unsigned char *p, int bytes)
{
    uint32_t n = 0;
    for (int i = bytes - 1; i >= 0; i--)
        n = n << 8 | p[i];
    return n;
}

static int broken_archive(const struct zip *z, const char *what, struct err *e)
{
    return err_set(e, ERR_FORMAT, "%s: %s", z->path, what);
}

int zip_open(struct zip *z, const char *path, const void *data, size_t size, struct err *e)
{
    *z = (struct zip){.path = path, .data = data, .size = size};
    size_t end = size;
    for (size_t i = END_BYTES; i <= size && i <= END_BYTES + COMMENT_MAX && end == size; i++)
        if (!memcmp(z->data + size - i, "PK\5\6", 4))
            end = size - i;
    if (end == size)
        return broken_archive(z, "this is no ZIP archive, or its end is missing", e);
    const unsigned char *p = z->data + end;
    uint32_t directory = little_endian(p + 16, 4);
    if (directory == 0xffffffff || little_endian(p + 10, 2) == 0xffff)
        return broken_archive(z, "ZIP64 archives are not read", e);
    if (little_endian(p + 4, 2) || little_endian(p + 8, 2) != little_endian(p + 10, 2))
        return broken_archive(z, "archives of several parts are not read", e);
    z->left = (int)little_endian(p + 10, 2);
    z->pos = directory;
    return 0;
}

int zip_next(struct zip *z, struct zip_member *m, struct err *e)
{
    if (!z->left)
        return 0;
    if (z->pos > z->size || z->size - z->pos < RECORD_BYTES || memcmp(z->data + z->pos, "PK\1\2", 4))
        return broken_archive(z, "its directory is damaged", e);
    const unsigned char *p = z->data + z->pos;
    size_t n = little_endian(p + 28, 2), after = n + little_endian(p + 30, 2) + little_endian(p + 32, 2);
    if (z->size - z->pos - RECORD_BYTES < after || n >= sizeof m->name || memchr(p + RECORD_BYTES, 0, n))
        return broken_archive(z, "its directory is damaged", e);
    *m = (struct zip_member){.method = (int)little_endian(p + 10, 2),
                             .crc = little_endian(p + 16, 4),
                             .packed = little_endian(p + 20, 4),
                             .size = little_endian(p + 24, 4),
                             .offset = little_endian(p + 42, 4)};
    memcpy(m->name, p + RECORD_BYTES, n);
    if (little_endian(p + 8, 2) & ENCRYPTED)
        return err_set(e, ERR_UNSUPPORTED, "%s: %s is encrypted", z->path, m->name);
    z->pos += RECORD_BYTES + after;
    z->left--;
    return 1;
}

int zip_check_size(const struct zip *z, int members, uint64_t bytes, struct err *e)
{
    struct zip walk = *z;
    struct zip_member m;
    uint64_t sum = 0;
    int more;
    if (z->left > members)
        return err_set(e, ERR_FORMAT, "%s: has %d files; at most %d are unpacked", z->path, z->left, members);
    while ((more = zip_next(&walk, &m, e)) > 0)
        sum += m.size;
    if (!more && sum > bytes)
        return err_set(e, ERR_FORMAT, "%s: would become %llu bytes; at most %llu are unpacked", z->path,
                       (unsigned long long)sum, (unsigned long long)bytes);
    return more;
}

/* Inflates into memory of the size that the directory states; another size is damage. */
static int inflate_to(unsigned char *to, size_t size, const unsigned char *from, size_t n)
{
    z_stream s = {.next_in = (unsigned char *)(uintptr_t)from,
                  .avail_in = (uInt)n,
                  .next_out = to,
                  .avail_out = (uInt)size};
    if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
        return 0;
    int is_whole = inflate(&s, Z_FINISH) == Z_STREAM_END && s.total_out == size;
    inflateEnd(&s);
    return is_whole;
}

int zip_read(struct str *out, const struct zip *z, const struct zip_member *m, size_t max, struct err *e)
{
    if (m->size > max)
        return err_set(e, ERR_FORMAT, "%s: %s has %u bytes; at most %zu are read", z->path, m->name, m->size,
                       max);
    if (m->offset > z->size || z->size - m->offset < LOCAL_BYTES || memcmp(z->data + m->offset, "PK\3\4", 4))
        return err_set(e, ERR_FORMAT, "%s: %s is damaged", z->path, m->name);
    const unsigned char *p = z->data + m->offset;
    size_t skip = LOCAL_BYTES + little_endian(p + 26, 2) + little_endian(p + 28, 2);
    if (z->size - m->offset < skip || z->size - m->offset - skip < m->packed)
        return err_set(e, ERR_FORMAT, "%s: %s is cut off", z->path, m->name);
    p += skip;
    if (m->method == STORED && m->packed == m->size) {
        str_add(out, (const char *)p, m->size);
    } else if (m->method == DEFLATED) {
        unsigned char *bytes = xmalloc((size_t)m->size + 1); /* inflate needs an address also for no byte */
        int is_whole = inflate_to(bytes, m->size, p, m->packed);
        if (is_whole)
            str_add(out, (const char *)bytes, m->size);
        free(bytes);
        if (!is_whole)
            return err_set(e, ERR_FORMAT, "%s: %s cannot be unpacked, its bytes are damaged", z->path,
                           m->name);
    } else {
        return err_set(e, ERR_UNSUPPORTED, "%s: %s is packed in a way that is not read", z->path, m->name);
    }
    const char *bytes = m->size ? out->data + out->len - m->size : "";
    if (crc32(0, (const Bytef *)bytes, m->size) != m->crc)
        return err_set(e, ERR_FORMAT, "%s: %s has another CRC-32 than the archive says", z->path, m->name);
    return 0;
}
