#ifndef ENGINE_TEXT_TOKENIZER_H
#define ENGINE_TEXT_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* Byte-level BPE as Hugging Face's tokenizer.json describes it: added tokens, optional NFC, Split and
 * ByteLevel pre-tokenizers, merges by rank, ignore_merges. Anything else in the file is refused with the
 * field's name, but for post_processor, truncation and padding: whoever renders a prompt adds the
 * begin-of-sentence token. Read-only after open, so any number of threads may encode; scratch is the
 * caller's. */
struct tokenizer;

int tokenizer_open_file(struct tokenizer **out, const char *path, struct err *e);
int tokenizer_open_text(struct tokenizer **out, const char *json, size_t n, const char *what, struct err *e);
void tokenizer_close(struct tokenizer *t);

struct token_list {
    int32_t *id;
    size_t n, cap;
};
void token_list_add(struct token_list *l, int32_t id);
void token_list_release(struct token_list *l);

/* Per-caller scratch: regex match data and JIT stack, piece cache. Zeroed is empty. */
struct tokenizer_scratch {
    void *state;
};
void tokenizer_scratch_release(struct tokenizer_scratch *s);

/* Appends the ids of text. Invalid UTF-8 becomes U+FFFD first. with_special: added tokens that are marked
 * special are recognised in the text (prompts we render); 0: only the non-special ones are, so that a
 * problem's text cannot forge a turn. */
int tokenizer_encode(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                     int with_special, struct token_list *out, struct err *e);
/* The same for a rendered prompt that holds text of others at text[from..to): special tokens are recognised,
 * but none that has a byte in that range. The ids are those of the whole text, so what stands beside the
 * range may merge with it, as in a template that was rendered to one text. */
int tokenizer_encode_guarded(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text,
                             size_t n, size_t from, size_t to, struct token_list *out, struct err *e);

/* Appends the bytes of ids (may be invalid UTF-8). Special tokens are skipped when skip_special. Ids outside
 * the vocabulary give no bytes. */
void tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special,
                      struct str *out);

/* Id of an added token, or of a vocabulary token given by its bytes (" the"), or -1. */
int32_t tokenizer_find(const struct tokenizer *t, const char *token);
int32_t tokenizer_find_added(const struct tokenizer *t, const char *token); /* added tokens only */

#endif
