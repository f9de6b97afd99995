#ifndef ENGINE_TEXT_TOKENIZER_PARTS_H
#define ENGINE_TEXT_TOKENIZER_PARTS_H

#include "engine/text/added_tokens.h"
#include "engine/text/bpe.h"
#include "engine/text/pretoken.h"
#include "engine/text/tokenizer.h"
#include "engine/text/vocab.h"

/* What a tokenizer is made of; for tokenizer.c (file to structure) and tokenizer_encode.c (text to ids) only.
 */
struct tokenizer {
    struct vocab vocab;
    struct bpe bpe;
    struct pretoken pretoken;
    struct added_set raw, normalized; /* looked for before and after normalization */
    int use_nfc, ignore_merges;
    uint64_t identity; /* of the file: tells whose pieces a scratch has cached */
};

#endif
