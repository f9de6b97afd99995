#ifndef ANSWER_CHECK_EQUAL_EQUAL_ANSWER_H
#define ANSWER_CHECK_EQUAL_EQUAL_ANSWER_H

#include "answer_check/equal/equal.h"

/* The door for strict/: two answers as they stand in a text are read, compared, and shown. Reading is apart
 * from comparing, so that a text which is compared several times, as the reference is, is parsed once. */

/* An answer that was read. It points into the text and into the arena of the work that it was read with. */
struct answer {
    struct span text;
    struct span respelled;        /* the text as respell() made it */
    int is_word;                  /* the text is one plain word */
    const struct math_node *tree; /* NULL when the text cannot be read */
    int ran_out;                  /* ... perhaps only because no steps were left */
};
/* Reads a text. It never fails: a text that cannot be read has the tree NULL. */
struct answer answer_read(struct math_work *w, struct span text);

struct answer_match {
    int equal;
    int unknown;          /* not equal only because steps, precision or limits ran out */
    const char *how;      /* "exactly", "as text", ... */
    const char *evidence; /* what an equality rests on: "exact", "certified", "probed" or "text"; else NULL */
    const struct math_node *gold,
        *pred; /* the readings that were compared, or the usual ones; NULL: as text */
};
/* Compares two answers under the rules, as text where a tree is missing, and returns the result; it never
 * fails. Answers that are not proved equal have equal 0. Sets w->evidence. */
struct answer_match answer_compare(struct math_work *w, const struct answer *gold, const struct answer *pred,
                                   const struct grade_rules *rules);

/* Sets the forms, the LaTeX and `how` of *out from a comparison's result and leaves its other members; the
 * strings live in `a`. */
void answer_forms(struct grade *out, const struct answer *gold, const struct answer *pred,
                  const struct answer_match *m, struct arena *a);

#endif
