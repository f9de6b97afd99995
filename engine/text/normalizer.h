#ifndef ENGINE_TEXT_NORMALIZER_H
#define ENGINE_TEXT_NORMALIZER_H

#include <stddef.h>

#include "evalcore/base/err.h"
#include "evalcore/base/json.h"
#include "evalcore/base/str.h"

/* The normalizer of a tokenizer.json: a row of steps that rewrite the text before it is cut into pieces.
 * Llama-2's kind puts a U+2581 before the text and in the place of every space. Read-only after opening. */
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

/* From "normalizer": null, NFC, Strip, Prepend, Replace of a plain text, or a Sequence of these. Anything
 * else is ERR_UNSUPPORTED. `what` names the file. */
int normalizer_open(struct normalizer *z, const json_t *spec, const char *what, struct err *e);
void normalizer_close(struct normalizer *z);

/* The normalized form of text[0..n), valid UTF-8: returns 0 when it is the text itself, else 1 and replaces
 * the contents of buffer[0], which holds it then; buffer[1] is working memory. mark holds two offsets into
 * the text, which become the offsets of the same characters; one inside of what was rewritten moves to its
 * start (the first mark) or its end (the second). */
int normalizer_apply(const struct normalizer *z, const char *text, size_t n, struct str buffer[2],
                     size_t mark[2]);

#endif
