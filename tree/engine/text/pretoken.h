#ifndef ENGINE_TEXT_PRETOKEN_H
#define ENGINE_TEXT_PRETOKEN_H

#include <stddef.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* The pre-tokenizer cuts text into pieces; byte-pair merging never crosses their borders. Its stages run in
 * order, each inside the pieces of the stage before. Read-only after opening. */
enum { PRETOKEN_STAGES = 8 };
enum pretoken_kind {
    PRETOKEN_SPLIT,        /* at the matches of a regular expression */
    PRETOKEN_PREFIX_SPACE, /* puts a space before the piece unless it starts with one */
    PRETOKEN_METASPACE,    /* writes spaces as `mark`, and cuts before each */
};
/* A match becomes a piece of its own, nothing, or a part of a neighbour; or a run of matches becomes a piece.
 */
enum pretoken_behavior {
    PRETOKEN_ISOLATED,
    PRETOKEN_REMOVED,
    PRETOKEN_WITH_PREVIOUS,
    PRETOKEN_WITH_NEXT,
    PRETOKEN_CONTIGUOUS
};
enum pretoken_prepend { PRETOKEN_ALWAYS, PRETOKEN_FIRST, PRETOKEN_NEVER };
struct pretoken {
    int n;
    int is_byte_level; /* tokens are bytes, written by GPT-2's printable names in the file */
    struct pretoken_stage {
        enum pretoken_kind kind;
        void *regex;  /* SPLIT: pcre2_code */
        int compiled; /* 1: PCRE2's JIT compiled it */
        enum pretoken_behavior behavior;
        int invert;                    /* matches and what lies between them change roles */
        char mark[8];                  /* METASPACE: one character */
        enum pretoken_prepend prepend; /* METASPACE: does a mark stand before a piece that has none? */
        int is_whole;                  /* METASPACE: does not cut */
    } stage[PRETOKEN_STAGES];
};

/* Reads the "pre_tokenizer" of tokenizer.json (pretoken_read.c): null, one of the kinds in its table, or a
 * Sequence of these; ByteLevel stands last. `what` names the file in messages. Returns 0, ERR_FORMAT for a
 * damaged entry, or ERR_UNSUPPORTED for a kind, an option or a pattern that is not built; the caller closes p
 * in all cases. */
int pretoken_open(struct pretoken *p, const json_t *spec, const char *what, struct err *e);
/* Frees the compiled patterns. */
void pretoken_close(struct pretoken *p);

/* Working memory of one thread; a zeroed struct is empty. */
struct pretoken_scratch {
    void *match, *context, *stack; /* pcre2 match data, match context, JIT stack */
    struct str spaced[PRETOKEN_STAGES];
    struct pretoken_part *part[PRETOKEN_STAGES];
    size_t part_cap[PRETOKEN_STAGES];
};
/* Frees the memory. */
void pretoken_scratch_release(struct pretoken_scratch *s);

/* Calls piece() for each piece of the text, from left to right. The text must be valid UTF-8; pieces are
 * never empty, and valid during the call. is_first: nothing stands before the text (Metaspace asks). Returns
 * 0, or ERR_UNSUPPORTED if a pattern exceeds its limits on steps or memory; pieces before that have been
 * given. */
typedef void pretoken_piece_fn(void *context, const char *piece, size_t n);
int pretoken_split(const struct pretoken *p, struct pretoken_scratch *s, const char *text, size_t n,
                   int is_first, pretoken_piece_fn *piece, void *context, struct err *e);

/* Translates a pattern of the file, written for Oniguruma, to PCRE2 (pretoken_pattern.c) and appends it to
 * out. Returns 0, or ERR_UNSUPPORTED, with the place in the pattern, for what cannot be translated. */
int pretoken_pattern(struct str *out, const char *pattern, size_t n, const char *what, struct err *e);

#endif
