/* SHA-256 (FIPS 180-4) and CRC-32C (RFC 3720, reflected polynomial 0x82F63B78), from their definitions.
 * The plain CRC takes four bits at a time: a 16-entry table is easy to check by eye. A report reads a
 * gigabyte of journals, so x86's own instruction does it where there is one. */
#include "evalcore/base/hash.h"

#include <string.h>

#include "evalcore/base/hash_blocks.h"

const uint32_t sha256_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        uint32_t t1 =
            h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + sha256_constant[i] + w[i];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void sha256_blocks(uint32_t state[8], const unsigned char *p, size_t n)
{
    for (; n; n--, p += 64)
        compress(state, p);
}

void sha256_init(struct sha256 *h)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(h, 0, sizeof *h);
    memcpy(h->state, start, sizeof start);
}

void sha256_add(struct sha256 *h, const void *data, size_t n)
{
    const unsigned char *p = data;
    size_t held = h->bytes % 64;
    void (*blocks)(uint32_t *, const unsigned char *, size_t) =
        sha256_has_x86() ? sha256_blocks_x86 : sha256_blocks;
    h->bytes += n;
    if (held) {
        size_t take = 64 - held < n ? 64 - held : n;
        if (take)
            memcpy(h->block + held, p, take);
        if (held + take < 64)
            return;
        blocks(h->state, h->block, 1);
        p += take;
        n -= take;
    }
    blocks(h->state, p, n / 64);
    if (n % 64)
        memcpy(h->block, p + n / 64 * 64, n % 64);
}

void sha256_end(struct sha256 *h, unsigned char out[32])
{
    uint64_t bits = h->bytes * 8;
    unsigned char pad[72] = {0x80};
    size_t n = 64 - (size_t)((h->bytes + 8) % 64); /* 0x80, zeros, then the length ends a block */
    for (int i = 0; i < 8; i++)
        pad[n + (size_t)i] = (unsigned char)(bits >> (56 - 8 * i));
    sha256_add(h, pad, n + 8);
    for (int i = 0; i < 32; i++)
        out[i] = (unsigned char)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const void *data, size_t n, char *out, int n_hex)
{
    static const char digit[] = "0123456789abcdef";
    struct sha256 h;
    unsigned char d[32];
    sha256_init(&h);
    sha256_add(&h, data, n);
    sha256_end(&h, d);
    for (int i = 0; i < n_hex; i++)
        out[i] = digit[i % 2 ? d[i / 2] & 15 : d[i / 2] >> 4];
    out[n_hex] = 0;
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
    struct sha256 h;
    unsigned char d[32];
    sha256_init(&h);
    sha256_add(&h, data, n);
    sha256_end(&h, d);
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | d[i];
    return v;
}
