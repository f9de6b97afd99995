#ifndef ENGINE_TEXT_TOKENIZER_PARTS_H
#define ENGINE_TEXT_TOKENIZER_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "engine/text/pretoken.h"
#include "engine/text/tokenizer.h"
#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* The parts of a tokenizer and their contracts, for the files of this room. `what` is the name of the file in
 * error messages. Functions with a struct err return 0 or an ERR_ code: ERR_FORMAT for a damaged file,
 * ERR_UNSUPPORTED for what is not built, and where a file is read ERR_IO; the caller closes the part in all
 * cases. Functions ending in _close and _release free what the part owns, not the struct. */

/* ---- bpe.c */

/* The vocabulary maps ids to bytes and back. The file of a byte-level tokenizer writes each byte as a
 * printable character (by GPT-2's table, in which a space is U+0120); here tokens are the bytes themselves.
 * Other files write tokens as they are, in UTF-8. */
enum { VOCAB_IDS_MAX = 1 << 22 };

enum vocab_kind { VOCAB_NONE, VOCAB_BYTES, VOCAB_RAW, VOCAB_ADDED, VOCAB_SPECIAL };

struct vocab {
    struct vocab_entry {
        uint32_t at, n; /* in text */
        enum vocab_kind kind;
    } * entry;
    int32_t size; /* one past the largest id */
    size_t cap;
    struct str text;
    int32_t *bucket; /* hash table from bytes to id, open addressing, VOCAB_BYTES only; -1: empty */
    uint64_t mask;
};

/* Reads "model.vocab", an object that maps tokens to ids. */
int vocab_open(struct vocab *v, const json_t *spec, int is_byte_level, const char *what, struct err *e);
void vocab_close(struct vocab *v);
/* Gives the id to an added token. If the vocabulary has the id already, its token still takes part in
 * merges. */
void vocab_put_added(struct vocab *v, int32_t id, const char *text, size_t n, int special);

/* Returns the id of the token with these bytes, or -1. An added token is found only if the vocabulary has it
 * too. */
int32_t vocab_find(const struct vocab *v, const char *bytes, size_t n);

/* Byte-pair merging (Sennrich, Haddow and Birch, arXiv:1508.07909). It starts from one token per byte or
 * character and merges the two neighbours whose pair has the lowest rank, the leftmost of equals, until no
 * pair of neighbours is in the table. */
struct bpe_pair {
    uint64_t key; /* left id << 32 | right id; UINT64_MAX: empty bucket */
    uint32_t rank, merged;
};

struct bpe {
    struct bpe_pair *pair; /* hash table, open addressing, mask + 1 buckets */
    uint64_t mask;
};

/* Makes an empty table with room for n_merges merges. */
void bpe_init(struct bpe *b, size_t n_merges);
void bpe_release(struct bpe *b);
/* Says that left and right merge to `merged`. A pair that is added again gets the later rank, as in Hugging
 * Face's loader. */
void bpe_add(struct bpe *b, uint32_t left, uint32_t right, uint32_t rank, uint32_t merged);

/* Working memory for long pieces; zeroed is empty. */
struct bpe_scratch {
    void *memory;
    size_t bytes;
};
void bpe_scratch_release(struct bpe_scratch *s);

/* Merges the n symbols of one piece (n below 2^31) and appends the ids that are left. */
void bpe_merge(const struct bpe *b, struct bpe_scratch *s, const uint32_t *symbol, size_t n,
               struct token_list *out);

/* ---- added_tokens.c */

/* An added token: a string that is searched for in the text before it is cut into pieces. */
struct added_token {
    char *text; /* owned */
    size_t n;
    int32_t id;
    int special, single_word, lstrip, rstrip, normalized;
};

/* The tokens that are searched for together, in the raw text or in the normalized text; sorted by bytes. */
struct added_set {
    struct added_token *token;
    size_t n, cap;
    unsigned char starts[256]; /* does a token start with this byte? */
};

/* Reads one entry of "added_tokens"; the token owns its text. `where` names file and entry in messages. */
int added_read(struct added_token *t, const json_t *spec, const char *where, struct err *e);
/* Adds a token and takes over its text. */
void added_put(struct added_set *s, const struct added_token *t);
/* Sorts the set; call it after the last added_put(). Returns -1, or the index of a token that is there twice.
 */
long added_sort(struct added_set *s);
void added_release(struct added_set *s);

/* Returns the longest token with which text[0..n) begins, which the set owns; NULL: none. */
const struct added_token *added_at(const struct added_set *s, const char *text, size_t n);

/* Returns 0 if the characters around the token at [*from, *to) forbid it (single_word). Else returns 1 and
 * widens the range over the white space that lstrip and rstrip remove, but not to before `floor`. */
int added_fits(const struct added_token *t, const char *text, size_t n, size_t floor, size_t *from,
               size_t *to);

/* ---- normalizer.c */

/* The normalizer of a tokenizer.json: steps that rewrite the text before it is cut into pieces. Llama 2's
 * puts a U+2581 before the text and replaces every space by one. Read-only after opening. */
enum { NORMALIZER_STEPS = 8 };
enum normalizer_kind { NORMALIZE_NFC, NORMALIZE_STRIP, NORMALIZE_PREPEND, NORMALIZE_REPLACE };
struct normalizer {
    int n;
    struct normalizer_step {
        enum normalizer_kind kind;
        int left, right;     /* STRIP: on which sides */
        struct str from, to; /* REPLACE: every `from` by `to`; PREPEND: `to` */
    } step[NORMALIZER_STEPS];
};

/* Reads "normalizer": null, NFC, Strip, Prepend, Replace of a plain text, or a Sequence of these. Anything
 * else is ERR_UNSUPPORTED. */
int normalizer_open(struct normalizer *z, const json_t *spec, const char *what, struct err *e);
void normalizer_close(struct normalizer *z);

/* Normalizes text[0..n), which must be valid UTF-8. Returns 0 if the text stays as it is, else 1 with the
 * result in buffer[0]; buffer[1] is working memory. mark holds two offsets into the text, which become the
 * offsets of the same characters in the result. A mark inside a rewritten stretch moves to its start (the
 * first mark) or its end (the second). */
int normalizer_apply(const struct normalizer *z, const char *text, size_t n, struct str buffer[2],
                     size_t mark[2]);

/* ---- tokenizer_decode.c */

enum { DECODER_STEPS = 8, NO_SYMBOL = -1 };

struct decoder { /* steps from tokens to text where the vocabulary is not byte-level */
    int n;
    struct decoder_step {
        enum { DECODE_REPLACE, DECODE_BYTES, DECODE_STRIP, DECODE_METASPACE } kind;
        struct str from, to; /* REPLACE; METASPACE: its mark and a space; STRIP: the character */
        int start, stop;     /* STRIP: how many are taken away at most */
        int drops_first;     /* METASPACE: marks of the first token are taken away */
    } step[DECODER_STEPS];
};
/* Reads "decoder" into t->decoder. */
int decoder_open(struct tokenizer *t, const json_t *spec, const char *what, struct err *e);
void decoder_close(struct decoder *d);

/* ---- tokenizer.c */

struct tokenizer {
    struct vocab vocab;
    struct bpe bpe;
    struct normalizer normalizer;
    struct pretoken pretoken;
    struct decoder decoder;
    struct added_set raw, normalized; /* looked for before and after normalization */
    int ignore_merges, byte_fallback, fuse_unk;
    int splits_special;       /* special tokens are not recognised in any text: split_special_tokens */
    int32_t unk;              /* the unknown token, or NO_SYMBOL */
    int32_t byte_symbol[256]; /* the token of each byte: itself if byte-level, else "<0x0A>"; or NO_SYMBOL */
    struct token_list before, after; /* the tokens around a plain text */
    uint64_t identity; /* hash of the file; a scratch keeps it beside the pieces it has cached */
};
/* Reads a tokenizer.json that is parsed already; root is not kept. Returns as tokenizer_open_text(). */
int tokenizer_open_json(struct tokenizer **out, const json_t *root, uint64_t identity, const char *what,
                        struct err *e);

/* ---- tokenizer_config.c: tokenizer_config.json of a model's folder, and what stands around a plain text */

/* Reads "post_processor" of tokenizer.json into t->before and t->after, after the vocabulary and the added
 * tokens; NULL or null gives none. */
int frame_read(struct tokenizer *t, const json_t *spec, const char *what, struct err *e);
/* The names of the special tokens, "bos_token" first and "eos_token" second; ends with NULL. */
extern const char *const tokenizer_token_names[];

/* Reads tokenizer_config.json, updated by special_tokens_map.json where Transformers does so. *out is an
 * object, which the caller releases with json_decref(), or NULL if the folder has neither. */
int tokenizer_config_read(json_t **out, const char *folder, struct err *e);
/* Returns the text of a special token, which lives as long as config: the one in config, else the default of
 * the tokenizer's class, else NULL. config may be NULL, here and below. */
const char *tokenizer_config_token(const json_t *config, const char *name);
/* Returns 1 if config does not name the token and has no class whose defaults are known, else 0. */
int tokenizer_config_is_unsaid(const json_t *config, const char *name);
/* Checks the tokens of tokenizer_config.json, special_tokens_map.json and added_tokens.json against those of
 * t, and reads what the class puts around a plain text. ERR_UNSUPPORTED if these files contradict
 * tokenizer.json. */
int tokenizer_config_apply(struct tokenizer *t, const json_t *config, const char *folder, struct err *e);
/* Returns 1 if the tokenizer's class in config puts its own template, with bos_token and eos_token, around a
 * plain text; else 0, also for config NULL. */
int tokenizer_config_has_frame(const json_t *config);

#endif
