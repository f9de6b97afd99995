#ifndef EVALCORE_BASE_HASH_BLOCKS_H
#define EVALCORE_BASE_HASH_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* For hash.c and its test only. */

/* SHA-256's compression of n blocks of 64 bytes, once as the standard
 * defines it and once with the SHA instructions of x86 processors, which is many times as fast. */
void sha256_blocks(uint32_t state[8], const unsigned char *p, size_t n);
void sha256_blocks_x86(uint32_t state[8], const unsigned char *p, size_t n);
extern const uint32_t sha256_constant[64];
int sha256_has_x86(void); /* does this processor have the SHA instructions? */

/* CRC-32C from its definition; crc32c() takes eight bytes at a time where x86 has the instruction for it. */
uint32_t crc32c_plain(uint32_t crc, const void *data, size_t n);

#endif
