#ifndef ENGINE_TEXT_TOKENIZER_PARTS_H
#define ENGINE_TEXT_TOKENIZER_PARTS_H

#include "engine/text/added_tokens.h"
#include "engine/text/bpe.h"
#include "engine/text/normalizer.h"
#include "engine/text/pretoken.h"
#include "engine/text/tokenizer.h"
#include "engine/text/vocab.h"

/* What a tokenizer is made of, for the files tokenizer*.c. */
enum { DECODER_STEPS = 8, NO_SYMBOL = -1 };

struct decoder { /* of a vocabulary that is not byte-level */
    int n;
    struct decoder_step {
        enum { DECODE_REPLACE, DECODE_BYTES, DECODE_STRIP, DECODE_METASPACE } kind;
        struct str from, to; /* REPLACE; METASPACE: its mark and a space; STRIP: the character */
        int start, stop;     /* STRIP: how many are taken away at most */
        int drops_first;     /* METASPACE: marks of the first token are taken away */
    } step[DECODER_STEPS];
};

struct tokenizer {
    struct vocab vocab;
    struct bpe bpe;
    struct normalizer normalizer;
    struct pretoken pretoken;
    struct decoder decoder;
    struct added_set raw, normalized; /* looked for before and after normalization */
    int ignore_merges, byte_fallback, fuse_unk;
    int32_t unk;                     /* the unknown token, or NO_SYMBOL */
    int32_t byte_symbol[256];        /* byte-level: the token of a byte; else "<0x0A>"; or NO_SYMBOL */
    struct token_list before, after; /* what stands around a plain text */
    uint64_t identity;               /* of the file; a scratch remembers it with the pieces it has cached */
};

/* tokenizer_symbols.c: the symbols that merging starts from; out has room for n. Returns how many. */
size_t tokenizer_symbols(const struct tokenizer *t, const char *piece, size_t n, uint32_t *out);
/* tokenizer_decode.c: reads "decoder". */
int decoder_open(struct tokenizer *t, const json_t *spec, const char *what, struct err *e);
void decoder_close(struct decoder *d);
/* tokenizer_frame.c: reads "post_processor". The vocabulary and the added tokens are there. */
int frame_read(struct tokenizer *t, const json_t *spec, const char *what, struct err *e);
/* The same for a class that makes its own template, from a tokenizer_config.json. */
int frame_read_config(struct tokenizer *t, const json_t *config, const char *what, struct err *e);

#endif
