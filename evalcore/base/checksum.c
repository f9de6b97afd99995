/* The hashes that need no libcrypto, which libanswer_check.so does without (contract: hash.h): CRC-32C (RFC
 * 3720, reflected polynomial 0x82F63B78) from its definition, and a mix of 64 bits. The plain CRC takes four
 * bits at a time: a 16-entry table is easy to check by eye. A report reads a gigabyte of journals, so x86's
 * own instruction does it where there is one. */
#include <string.h>

#include "evalcore/base/hash.h"

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
