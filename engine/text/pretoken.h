#ifndef ENGINE_TEXT_PRETOKEN_H
#define ENGINE_TEXT_PRETOKEN_H

#include <stddef.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* The pre-tokenizer cuts text into pieces, across whose borders byte-pair merging never merges. Read-only
 * after opening. */
enum { PRETOKEN_STAGES = 8 };
enum pretoken_known { PRETOKEN_OTHER, PRETOKEN_GPT2, PRETOKEN_QWEN2, PRETOKEN_LLAMA3 };
struct pretoken {
    int n;
    struct {
        void *regex;  /* pcre2_code; NULL: put a space before the piece unless it starts with one */
        int compiled; /* to machine code */
        enum pretoken_known known;
    } stage[PRETOKEN_STAGES];
};

/* From the "pre_tokenizer" of tokenizer.json: ByteLevel, Split with a regular expression, or a Sequence of
 * these that ends in ByteLevel. `what` names the file in messages. */
int pretoken_open(struct pretoken *p, const json_t *spec, const char *what, struct err *e);
void pretoken_close(struct pretoken *p);

/* Working memory of one caller; zeroed is empty. */
struct pretoken_scratch {
    void *match, *context, *stack; /* pcre2 match data, match context, JIT stack */
    struct str spaced[PRETOKEN_STAGES];
};
void pretoken_scratch_release(struct pretoken_scratch *s);

/* Calls piece() for each piece of the text, from left to right. The text must be valid UTF-8; pieces are
 * never empty. */
typedef void pretoken_piece_fn(void *context, const char *piece, size_t n);
int pretoken_split(const struct pretoken *p, struct pretoken_scratch *s, const char *text, size_t n,
                   pretoken_piece_fn *piece, void *context, struct err *e);

/* Rewrites a pattern of the file for PCRE2 (pretoken_pattern.c). The file is written for Oniguruma, so what
 * the two libraries read differently is translated, or refused with its place in the pattern. */
int pretoken_pattern(struct str *out, const char *pattern, size_t n, const char *what, struct err *e);

/* Patterns that a table can match in ASCII text (pretoken_ascii.c). pretoken_ascii_end() returns where the
 * piece at text[at], at < n, ends, or 0 when a byte above 127 may decide and the regular expression must be
 * asked. */
enum pretoken_known pretoken_recognise(const char *pattern, size_t n);
const char *pretoken_known_pattern(enum pretoken_known known);
size_t pretoken_ascii_end(enum pretoken_known known, const char *text, size_t n, size_t at);

#endif
