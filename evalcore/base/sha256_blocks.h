#ifndef BASE_SHA256_BLOCKS_H
#define BASE_SHA256_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/* Inside hash.c and its test: n blocks of 64 bytes through SHA-256's compression, by its definition, and with
 * the instructions that x86 processors have for it, many times as fast. */
void sha256_blocks(uint32_t state[8], const unsigned char *p, size_t n);
void sha256_blocks_x86(uint32_t state[8], const unsigned char *p, size_t n);
extern const uint32_t sha256_constant[64];
int sha256_has_x86(void); /* does this processor have them? */

#endif
