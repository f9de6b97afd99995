#ifndef ENGINE_TEXT_TOKENIZER_PARTS_H
#define ENGINE_TEXT_TOKENIZER_PARTS_H

#include "engine/text/added_tokens.h"
#include "engine/text/bpe.h"
#include "engine/text/pretoken.h"
#include "engine/text/tokenizer.h"
#include "engine/text/vocab.h"

/* What a tokenizer is made of. Only tokenizer.c, which reads the file, and tokenizer_encode.c include this.
 */
struct tokenizer {
    struct vocab vocab;
    struct bpe bpe;
    struct pretoken pretoken;
    struct added_set raw, normalized; /* looked for before and after normalization */
    int use_nfc, ignore_merges;
    uint64_t identity; /* of the file; a scratch remembers it with the pieces it has cached */
};

#endif
