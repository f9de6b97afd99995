#ifndef EVALCORE_BASE_HASH_H
#define EVALCORE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Hashes for every room but kernels: SHA-256 (FIPS 180-4) for identities, CRC-32C (Castagnoli) for journal
 * records. Data may be any bytes; a state lives in the caller's struct and needs no release. */
struct sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
};
void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t n);
void sha256_end(struct sha256 *h, unsigned char out[32]);
/* Writes the first n_hex (at most 64) hexadecimal digits of the digest of data and a NUL to out, which has
 * room for n_hex + 1 bytes. */
void sha256_hex(const void *data, size_t n, char *out, int n_hex);

uint32_t crc32c(uint32_t crc, const void *data, size_t n); /* start with 0 */
uint64_t hash_mix64(uint64_t x);                           /* splitmix64 finaliser */
uint64_t hash_bytes64(const void *data, size_t n);         /* first 8 bytes of SHA-256, little-endian */

#endif
