#ifndef EVALCORE_SERVE_PIECE_TEXT_H
#define EVALCORE_SERVE_PIECE_TEXT_H

#include "engine/engine.h"

/* The text of a completion whose tokens come one by one, and how much of it no later token can change: no
 * character that is still incomplete, and nothing that a stop string may begin with. All that is released is
 * valid UTF-8, and in the end the completion's own text. */
struct piece_text {
    struct str text;        /* as it was decoded */
    struct token_list byte; /* names of bytes in a row, not yet in the text */
    struct str out;         /* the text so far that is certain; invalid bytes are U+FFFD in it */
    size_t taken;           /* bytes of `text` that are in it */
};

/* Adds a token, and to p->out what has become certain. stop: n_stop strings that end the completion. */
void piece_text_add(struct piece_text *p, const struct tokenizer *t, int32_t id, const char *const *stop,
                    int n_stop);
void piece_text_release(struct piece_text *p);

#endif
