#ifndef EVALCORE_BASE_HASH_H
#define EVALCORE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Hashes for every room but kernels: SHA-256 (libcrypto) for identities, CRC-32C (Castagnoli) for journal
 * records. Data may be any bytes. Where libcrypto cannot compute a digest, the program aborts: no function
 * here returns an error. */

/* A digest in pieces: sha256_init(), sha256_add() any number of times, then sha256_end(), which releases the
 * state. */
struct sha256 {
    void *state; /* NULL after sha256_end() */
};
void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t n);
void sha256_end(struct sha256 *h, unsigned char out[32]);
/* Writes the first n_hex (at most 64) hexadecimal digits of the SHA-256 of data and a NUL to out, which holds
 * n_hex + 1 bytes. */
void sha256_hex(const void *data, size_t n, char *out, int n_hex);

/* git's name of a blob: the SHA-1 of "blob N\0" and the N bytes, as 40 hexadecimal digits and a NUL. */
void git_blob_hex(const void *data, size_t n, char out[41]);

/* Returns the CRC-32C of data that follows bytes with the CRC `crc`; begin with 0. crc32c_plain() is the same
 * without x86's instruction, for processors that lack it. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);
uint32_t crc32c_plain(uint32_t crc, const void *data, size_t n);
uint64_t hash_mix64(uint64_t x);                   /* splitmix64 finaliser */
uint64_t hash_bytes64(const void *data, size_t n); /* first 8 bytes of SHA-256, little-endian */

#endif
