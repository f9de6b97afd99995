/* SHA-256 and git's SHA-1 by libcrypto, and CRC-32C (RFC 3720, reflected polynomial 0x82F63B78) from its
 * definition. libcrypto fails here only where memory runs out or it was built without these digests; both end
 * the program. The plain CRC takes four bits at a time: a 16-entry table is easy to check by eye. A report
 * reads a gigabyte of journals, so x86's own instruction does it where there is one. */
#include "evalcore/base/hash.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require_success(int is_done)
{
    if (is_done)
        return;
    fputs("kveval: libcrypto cannot compute a digest (out of memory, or built without SHA-256 or SHA-1)\n",
          stderr);
    abort();
}

void sha256_init(struct sha256 *h)
{
    h->state = EVP_MD_CTX_new();
    require_success(h->state && EVP_DigestInit_ex(h->state, EVP_sha256(), NULL));
}

void sha256_add(struct sha256 *h, const void *data, size_t n)
{
    require_success(EVP_DigestUpdate(h->state, data, n));
}

void sha256_end(struct sha256 *h, unsigned char out[32])
{
    require_success(EVP_DigestFinal_ex(h->state, out, NULL));
    EVP_MD_CTX_free(h->state);
    h->state = NULL;
}

static void sha256_of(const void *data, size_t n, unsigned char out[32])
{
    require_success(EVP_Digest(data, n, out, NULL, EVP_sha256(), NULL));
}

static void write_hex(const unsigned char *digest, char *out, int n_hex)
{
    static const char digit[] = "0123456789abcdef";
    for (int i = 0; i < n_hex; i++)
        out[i] = digit[i % 2 ? digest[i / 2] & 15 : digest[i / 2] >> 4];
    out[n_hex] = 0;
}

void sha256_hex(const void *data, size_t n, char *out, int n_hex)
{
    unsigned char digest[32];
    sha256_of(data, n, digest);
    write_hex(digest, out, n_hex);
}

void git_blob_hex(const void *data, size_t n, char out[41])
{
    char head[40];
    unsigned char digest[20];
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    int n_head = snprintf(head, sizeof head, "blob %zu", n) + 1; /* with its NUL */
    require_success(c && EVP_DigestInit_ex(c, EVP_sha1(), NULL) &&
                    EVP_DigestUpdate(c, head, (size_t)n_head) && EVP_DigestUpdate(c, data, n) &&
                    EVP_DigestFinal_ex(c, digest, NULL));
    EVP_MD_CTX_free(c);
    write_hex(digest, out, 40);
}

uint32_t crc32c_plain(uint32_t crc, const void *data, size_t n)
{
    static const uint32_t nibble[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
        0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
    const unsigned char *p = data;
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        crc = nibble[crc & 15] ^ crc >> 4;
        crc = nibble[crc & 15] ^ crc >> 4;
    }
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_x86(uint32_t crc, const unsigned char *p, size_t n)
{
    uint64_t c = ~crc, eight;
    for (; n >= sizeof eight; n -= sizeof eight, p += sizeof eight) {
        memcpy(&eight, p, sizeof eight);
        c = __builtin_ia32_crc32di(c, eight);
    }
    for (; n; n--)
        c = __builtin_ia32_crc32qi((uint32_t)c, *p++);
    return ~(uint32_t)c;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_x86(crc, data, n) : crc32c_plain(crc, data, n);
}
#else
uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
    return crc32c_plain(crc, data, n);
}
#endif

uint64_t hash_mix64(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

uint64_t hash_bytes64(const void *data, size_t n)
{
    unsigned char d[32];
    uint64_t v = 0;
    sha256_of(data, n, d);
    for (int i = 7; i >= 0; i--)
        v = v << 8 | d[i];
    return v;
}
