#ifndef ENGINE_TEXT_BPE_H
#define ENGINE_TEXT_BPE_H

#include <stddef.h>
#include <stdint.h>

#include "engine/text/tokenizer.h"

/* Byte-pair merging (Sennrich, Haddow and Birch, arXiv:1508.07909). It starts from one token per byte or
 * character and merges the two neighbours whose pair has the lowest rank, the leftmost of equals, until no
 * pair of neighbours is in the table. */
struct bpe_pair {
    uint64_t key; /* left id << 32 | right id; UINT64_MAX: empty slot */
    uint32_t rank, merged;
};

struct bpe {
    struct bpe_pair *pair; /* open addressing, mask + 1 slots */
    uint64_t mask;
};

void bpe_init(struct bpe *b, size_t n_merges);
void bpe_release(struct bpe *b);
/* A pair that is added again gets the later rank, as in Hugging Face's loader. */
void bpe_add(struct bpe *b, uint32_t left, uint32_t right, uint32_t rank, uint32_t merged);

/* Working memory for long pieces; zeroed is empty. */
struct bpe_scratch {
    void *memory;
    size_t bytes;
};
void bpe_scratch_release(struct bpe_scratch *s);

/* Merges the n symbols of one piece (less than 2^31) and appends what is left. */
void bpe_merge(const struct bpe *b, struct bpe_scratch *s, const uint32_t *symbol, size_t n,
               struct token_list *out);

#endif
