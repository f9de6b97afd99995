#ifndef ENGINE_TEXT_PRETOKEN_H
#define ENGINE_TEXT_PRETOKEN_H

#include <stddef.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* The pre-tokenizer cuts text into pieces, across whose borders byte-pair merging never merges. It is a row
 * of stages, each of which works inside the pieces of the one before. Read-only after opening. */
enum { PRETOKEN_STAGES = 8 };
enum pretoken_kind {
    PRETOKEN_SPLIT,        /* at the matches of a regular expression */
    PRETOKEN_PREFIX_SPACE, /* puts a space before the piece unless it starts with one */
    PRETOKEN_METASPACE,    /* writes spaces as `mark`, and cuts before each */
};
/* What becomes of a match: a piece of its own, nothing, a part of a neighbour; or runs of matches are pieces.
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
    int is_byte_level; /* the pieces' bytes are looked up by GPT-2's printable names */
    struct pretoken_stage {
        enum pretoken_kind kind;
        void *regex;  /* SPLIT: pcre2_code */
        int compiled; /* to machine code */
        enum pretoken_behavior behavior;
        int invert;                    /* what does not match counts as match, and the other way round */
        char mark[8];                  /* METASPACE: one character */
        enum pretoken_prepend prepend; /* METASPACE: does a mark stand before a piece that has none? */
        int is_whole;                  /* METASPACE: does not cut */
    } stage[PRETOKEN_STAGES];
};

/* From the "pre_tokenizer" of tokenizer.json (pretoken_read.c): null, one of the kinds in its table, or a
 * Sequence of these; ByteLevel stands last. `what` names the file in messages. */
int pretoken_open(struct pretoken *p, const json_t *spec, const char *what, struct err *e);
void pretoken_close(struct pretoken *p);

/* Working memory of one caller; zeroed is empty. */
struct pretoken_scratch {
    void *match, *context, *stack; /* pcre2 match data, match context, JIT stack */
    struct str spaced[PRETOKEN_STAGES];
    struct pretoken_part *part[PRETOKEN_STAGES];
    size_t part_cap[PRETOKEN_STAGES];
};
void pretoken_scratch_release(struct pretoken_scratch *s);

/* Calls piece() for each piece of the text, from left to right. The text must be valid UTF-8; pieces are
 * never empty. is_first: nothing stands before the text, which Metaspace asks. */
typedef void pretoken_piece_fn(void *context, const char *piece, size_t n);
int pretoken_split(const struct pretoken *p, struct pretoken_scratch *s, const char *text, size_t n,
                   int is_first, pretoken_piece_fn *piece, void *context, struct err *e);

/* Rewrites a pattern of the file for PCRE2 (pretoken_pattern.c). The file is written for Oniguruma, so what
 * the two libraries read differently is translated, or refused with its place in the pattern. */
int pretoken_pattern(struct str *out, const char *pattern, size_t n, const char *what, struct err *e);

#endif
