#ifndef ENGINE_TEXT_TOKENIZER_H
#define ENGINE_TEXT_TOKENIZER_H

#include <stddef.h>
#include <stdint.h>

#include "evalcore/base/err.h"
#include "evalcore/base/str.h"

/* The room of text: tokenizers and chat forms. The room engine includes both doors, tokenizer.h and chat.h,
 * and engine.h passes them on to the rooms above. Nothing here knows of models or devices.
 *
 * The tokenizer is BPE as Hugging Face's tokenizer.json describes it, byte-level (GPT-2, Qwen, Llama 3) or
 * with characters and byte_fallback (Llama 2, Mistral): added tokens, the normalizers of tokenizer_parts.h,
 * the pre-tokenizers of pretoken_read.c, merges by rank, ignore_merges. Anything else in the file is refused
 * with the name of the field, except truncation and padding, which are ignored. A tokenizer is read-only
 * after opening, so any number of threads may encode with it, each with scratch of its own. */
struct tokenizer;

/* Reads a tokenizer.json from a file or from memory (`what` names it in messages), which is not kept. Returns
 * 0 and *out, which the caller closes; or, with *out NULL, ERR_IO (the file cannot be read), ERR_FORMAT (it
 * is damaged) or ERR_UNSUPPORTED (it asks for something that is not built). */
int tokenizer_open_file(struct tokenizer **out, const char *path, struct err *e);
int tokenizer_open_text(struct tokenizer **out, const char *json, size_t n, const char *what, struct err *e);
/* Frees a tokenizer; NULL is allowed. */
void tokenizer_close(struct tokenizer *t);
/* Reads tokenizer.json of a model's folder with the files beside it, where there are any: by them some
 * classes of tokenizers decide which tokens stand around a plain text, and Transformers whether a space is
 * put before a text and whether special tokens are recognised. Returns as tokenizer_open_file(), and
 * ERR_UNSUPPORTED if these files contradict tokenizer.json. */
int tokenizer_open_folder(struct tokenizer **out, const char *folder, struct err *e);

struct token_list {
    int32_t *id;
    size_t n, cap;
};
/* Appends an id. A zeroed list is empty; token_list_release() frees it. */
void token_list_add(struct token_list *l, int32_t id);
void token_list_release(struct token_list *l);

/* Working memory of one thread: match data and stack of the regular expressions, and a cache of pieces. A
 * zeroed struct is empty. */
struct tokenizer_scratch {
    void *state;
};
/* Frees the memory; the scratch is empty again. */
void tokenizer_scratch_release(struct tokenizer_scratch *s);

/* Appends the ids of text[0..n) to out; invalid UTF-8 counts as U+FFFD. with_special 1 recognises all added
 * tokens, for prompts that we render. 0 recognises none that is marked special, so that the text of a problem
 * cannot forge a turn. Returns 0, ERR_USAGE for a text above 256 MiB, or ERR_UNSUPPORTED for one at which the
 * split pattern gives up; out may then have some of the ids. A scratch serves any tokenizer, one after the
 * other. */
int tokenizer_encode(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                     int with_special, struct token_list *out, struct err *e);
/* The same for a rendered prompt that holds foreign text in text[from..to): recognises special tokens, except
 * those with a byte in that range. The text is still encoded as a whole, so characters on both sides of a
 * border may merge, as they do in a template that was rendered to one text. */
int tokenizer_encode_guarded(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text,
                             size_t n, size_t from, size_t to, struct token_list *out, struct err *e);
/* The same, and adds the tokens that the tokenizer puts around a text (begin of sentence), as Transformers
 * does for a text without a chat form. */
int tokenizer_encode_plain(const struct tokenizer *t, struct tokenizer_scratch *s, const char *text, size_t n,
                           size_t from, size_t to, struct token_list *out, struct err *e);
/* Sets *ids to the ids that tokenizer_encode_plain() puts in front (owned by t) and returns their number. */
size_t tokenizer_before(const struct tokenizer *t, const int32_t **ids);

/* Appends the bytes of the ids to out, which may be invalid UTF-8. skip_special leaves out special tokens,
 * but for the marks of thinking (evalcore/base/thinking_marks.h), which tell an answer from thoughts. Ids
 * outside the vocabulary give no bytes. */
void tokenizer_decode(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special,
                      struct str *out);
/* For text that tokenizer_decode() has made of these ids, without special tokens, one after the other: makes
 * it anew where the tokenizer has names of bytes ("<0x0A>") and a run of them is no UTF-8. Each byte of such
 * a run is U+FFFD then, as in the tokenizers library, which only the end of the run decides. */
void tokenizer_settle(const struct tokenizer *t, const int32_t *ids, size_t n, struct str *text);
/* Returns 1 where the token is the name of a byte: what it and its neighbours of that kind give is settled
 * with the next token that is none, or with the end. */
int tokenizer_is_byte(const struct tokenizer *t, int32_t id);
/* The same as tokenizer_decode() for a whole text: runs of bytes are settled, and some decoders remove a
 * space at its start (Llama 2). */
void tokenizer_decode_text(const struct tokenizer *t, const int32_t *ids, size_t n, int skip_special,
                           struct str *out);

/* Writes a hash, 64 hex digits and a NUL, of all that the two functions above make text from with
 * skip_special: the bytes of each id, which are special, and the decoder's steps. */
void tokenizer_hash_decoding(const struct tokenizer *t, char out[65]);

/* Returns 1 if a token has this id, else 0. */
int tokenizer_has(const struct tokenizer *t, int32_t id);
/* Returns the id of the added token with this text, or else of the vocabulary token with these bytes ("
 * the"); -1: neither. */
int32_t tokenizer_find(const struct tokenizer *t, const char *token);
/* The same among added tokens only. */
int32_t tokenizer_find_added(const struct tokenizer *t, const char *token);

#endif
