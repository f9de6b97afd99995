/* Hashes of the Hub's blobs (contract: blob_hash.h). SHA-1 (FIPS 180-4) stands here and not among the hashes
 * of evalcore/base: it says which bytes git means and is no proof against forgery. */
#include "evalcore/fetch/blob_hash.h"

#include <stdio.h>
#include <string.h>

#include "evalcore/base/file.h"
#include "evalcore/base/hash.h"

struct sha1 {
    uint32_t state[5];
    uint64_t bytes;
    unsigned char block[64];
};

static uint32_t rotate(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void add_block(struct sha1 *h)
{
    static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], v[5];
    const unsigned char *p = h->block;
    for (int i = 0; i < 16; i++, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(v, h->state, sizeof v);
    for (int i = 0; i < 80; i++) {
        uint32_t b = v[1], c = v[2], d = v[3], f;
        if (i < 20)
            f = (b & c) | (~b & d);
        else if (i < 40 || i >= 60)
            f = b ^ c ^ d;
        else
            f = (b & c) | (b & d) | (c & d);
        uint32_t next = rotate(v[0], 5) + f + v[4] + constants[i / 20] + w[i];
        v[4] = d;
        v[3] = c;
        v[2] = rotate(b, 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (int i = 0; i < 5; i++)
        h->state[i] += v[i];
}

static void sha1_add(struct sha1 *h, const unsigned char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        h->block[h->bytes++ % 64] = data[i];
        if (h->bytes % 64 == 0)
            add_block(h);
    }
}

static void sha1_end(struct sha1 *h, char *hex)
{
    uint64_t bits = h->bytes * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    sha1_add(h, (const unsigned char *)"\x80", 1);
    while (h->bytes % 64 != 56)
        sha1_add(h, (const unsigned char *)"", 1);
    sha1_add(h, length, 8);
    for (int i = 0; i < 5; i++)
        snprintf(hex + 8 * i, 9, "%08x", h->state[i]);
}

int blob_hash(char hex[BLOB_HASH_MAX + 1], const char *path, int is_lfs, struct err *e)
{
    struct file_map map = {0};
    int rc = file_map_open(&map, path, e);
    if (rc)
        return rc;
    if (is_lfs) {
        sha256_hex(map.data, map.size, hex, 64);
    } else {
        struct sha1 h = {.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
        char head[40];
        int n = snprintf(head, sizeof head, "blob %zu", map.size);
        sha1_add(&h, (const unsigned char *)head, (size_t)n + 1);
        sha1_add(&h, map.data, map.size);
        sha1_end(&h, hex);
    }
    file_map_close(&map);
    return 0;
}
