#ifndef ENGINE_TEXT_TOKENIZER_H
#define ENGINE_TEXT_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* The room of text: tokenizers and chat forms. The room engine comes in, and engine.h passes both doors on to
 * the rooms above it. Nothing here knows of models or devices.
 *
 * This door is BPE as Hugging Face's tokenizer.json describes it, byte-level (GPT-2, Qwen, Llama 3) or with
 * characters and byte_fallback (Llama 2, Mistral): added tokens, the normalizers of normalizer.h, the
 * pre-tokenizers of pretoken_read.c, merges by rank, ignore_merges. Anything else in the file is refused with
 * the name of the field, except truncation and padding, which are ignored. A tokenizer is read-only after
 * opening, so any number of threads may encode with it, each with scratch of its own. */
struct tokenizer;

int tokenizer_open_file(struct tokenizer **out, const char *path, struct err *e);
int tokenizer_open_text(struct tokenizer **out, const char *json, size_t n, const char *what, struct err *e);
void tokenizer_close(struct tokenizer *t);
/* Reads what lies beside tokenizer.json in its folder: which tokens stand around a plain text, where the
 * class of tokenizers decides that (tokenizer_frame.c). Files by which tokens would be others than by
 * tokenizer.json are ERR_UNSUPPORTED (tokenizer_config.c). */
int tokenizer_read_folder(struct tokenizer *t, const char *folder, struct err *e);

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
/* The same with the tokens around it that the tokenizer asks for (begin of sentence), as Transformers encodes
 * a text that has no chat form. */
int tokenizer_encode_plain(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                           size_t from, size_t to, struct token_list *out, struct err *e);
/* What tokenizer_encode_plain() puts in front; returns how many. */
size_t tokenizer_before(const struct tokenizer *t, const int32_t **ids);

/* Appends the bytes of the ids, which may be invalid UTF-8. skip_special leaves out special tokens. Ids
 * outside the vocabulary give no bytes. */
void tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special,
                      struct str *out);
/* The same for a whole text, at whose start some decoders take a space away (Llama 2). */
void tokenizer_decode_text(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special,
                           struct str *out);

int tokenizer_has(const struct tokenizer *t, int32_t id); /* is there a token of this id? */
/* Id of an added token, or of a vocabulary token given by its bytes (" the"), or -1. */
int32_t tokenizer_find(const struct tokenizer *t, const char *token);
int32_t tokenizer_find_added(const struct tokenizer *t, const char *token); /* added tokens only */

#endif
