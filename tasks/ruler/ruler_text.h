#ifndef TASKS_RULER_RULER_TEXT_H
#define TASKS_RULER_RULER_TEXT_H

#include "evalcore/base/rng.h"
#include "evalcore/base/str.h"

/* The words and the filler text of the task ruler, all written for it. */
extern const char *const ruler_adjectives[], *const ruler_nouns[], *const ruler_verbs[];
extern const int ruler_n_adjectives, ruler_n_nouns, ruler_n_verbs;

/* Sentences one after the other: the first n are the same however many follow. */
enum { RULER_FRAMES = 100 };
struct ruler_essay {
    struct rng draws;
    int deck[RULER_FRAMES], left; /* the frames that this round has not used yet */
};
void ruler_essay_init(struct ruler_essay *x, uint64_t key, uint64_t stream);
void ruler_essay_next(struct ruler_essay *x, struct str *out); /* appends one */

#endif
