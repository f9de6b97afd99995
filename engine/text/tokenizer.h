#ifndef ENGINE_TEXT_TOKENIZER_H
#define ENGINE_TEXT_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* The room of text: tokenizers and chat forms. The room engine comes in, and engine.h passes both doors on to
 * the rooms above it. Nothing here knows of models or devices.
 *
 * This door is byte-level BPE as Hugging Face's tokenizer.json describes it: added tokens, optional NFC,
 * Split and ByteLevel pre-tokenizers, merges by rank, ignore_merges. Anything else in the file is refused
 * with the name of the field, except post_processor, truncation and padding, which are ignored: who renders a
 * prompt also adds the begin-of-sentence token. A tokenizer is read-only after opening, so any number of
 * threads may encode with it, each with scratch of its own. */
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

/* Working memory of one caller: match data and stack of the regular expressions, and a cache of pieces.
 * Zeroed is empty. */
struct tokenizer_scratch {
    void *state;
};
void tokenizer_scratch_release(struct tokenizer_scratch *s);

/* Appends the ids of the text, in which invalid UTF-8 is first replaced by U+FFFD. with_special 1, for
 * prompts that we render: all added tokens are recognised. 0: those marked special are not, so that the text
 * of a problem cannot forge a turn. */
int tokenizer_encode(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                     int with_special, struct token_list *out, struct err *e);
/* The same for a rendered prompt in which text[from..to) comes from others: special tokens are recognised,
 * except those with a byte in that range. The text is still encoded as a whole, so characters on both sides
 * of a border may merge, as they do in a template that was rendered to one text. */
int tokenizer_encode_guarded(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text,
                             size_t n, size_t from, size_t to, struct token_list *out, struct err *e);

/* Appends the bytes of the ids, which may be invalid UTF-8. skip_special leaves out special tokens. Ids
 * outside the vocabulary give no bytes. */
void tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special,
                      struct str *out);

/* Id of an added token, or of a vocabulary token given by its bytes (" the"), or -1. */
int32_t tokenizer_find(const struct tokenizer *t, const char *token);
int32_t tokenizer_find_added(const struct tokenizer *t, const char *token); /* added tokens only */

#endif
