#ifndef ANSWER_CHECK_CHOICE_CHOICE_SCAN_H
#define ANSWER_CHECK_CHOICE_CHOICE_SCAN_H

#include "answer_check/answer_check.h"
#include "answer_check/choice/choice_words.h"
#include "answer_check/text/response.h"

/* Finding option letters in an answer section; for answer_check/choice only, the entry is choice_extract()
 * in answer_check.h. These are the classes of declarations, strongest first. */
enum choice_class {
    CHOICE_DECLARED,
    CHOICE_CHOSEN,
    CHOICE_ALONE,
    CHOICE_LABELLED,
    CHOICE_MENTIONED,
    CHOICE_CLASSES
};

/* Why the last statement of a class names no option. */
enum choice_conflict {
    CHOICE_AGREES,
    CHOICE_SEVERAL,
    CHOICE_TAKEN_BACK,
    CHOICE_UNSTATED /* options are named, and nothing is said of one: "Option A says that" */
};

struct choice_found {
    char letter[CHOICE_CLASSES]; /* the last letter of each class, 0: none */
    enum choice_conflict conflicts[CHOICE_CLASSES];
};

/* Finds the last declaration of each class and always fills *out. n_options is 1 to 26. `finish` tells
 * whether the length limit cut the text: then its last byte may be the start of a word. */
void choice_scan(struct choice_found *out, struct span section, int n_options, enum finish finish,
                 struct arena *a);

/* Returns the section as plainer text, which lives in the arena (choice_plain.c): formatting commands and
 * braces are dropped, and symbols and letters beyond ASCII replaced by ASCII ones. */
struct span choice_plain(struct span section, struct arena *a);

/* How a letter is written: bare, named (behind a colon or "option"), before ")", or in other marks. */
enum choice_dress { CHOICE_BARE, CHOICE_NAMED, CHOICE_BRACKETED, CHOICE_ENCLOSED };

/* The text as tokens (choice_tokens.c), the last of which is a K_END. */
struct choice_token {
    enum choice_kind kind;
    enum choice_dress dress;
    char letter;     /* K_LETTER: the letter in upper case */
    int is_small;    /* it is written as a small letter */
    int is_symbol;   /* K_OTHER: it ends in a letter that is no option, or in a formula */
    int is_rejected; /* set while scanning: the text says that it is not the answer */
    int is_spaced;   /* white space stands before it */
    int is_own;      /* K_FIX: the writer owns to a mistake; K_FAILS: a verb that stands before its object */
};

/* Cuts `text`, which comes from choice_plain(), into tokens. Returns an array of *n tokens in the arena; its
 * first two are K_LINE, so that what looks back needs no check for the start. */
struct choice_token *choice_tokens(size_t *n, struct span text, int n_options, enum finish finish,
                                   struct arena *a);

/* One letter, or several that "and", "or" and commas join. */
struct choice_group {
    size_t first, last; /* its first and last token, both letters */
    size_t limit;       /* the tokens up to this one belong to the group before */
    int is_several;     /* it names different letters */
};

/* What the words on one side of a group say of it (choice_context.c). */
struct choice_view {
    enum choice_class role; /* CHOICE_CLASSES: none */
    enum choice_kind heavy; /* before: the first token that is not light */
    int is_rejected, is_hedged;
    int is_except; /* before: "all but" */
    int is_only;   /* before: "only" */
    size_t until;  /* behind: the last token that says it, or the group's last */
};
/* What the words before the group say, and what those behind it say. k is the whole array of choice_tokens().
 */
struct choice_view choice_before(const struct choice_token *k, const struct choice_group *g);
struct choice_view choice_behind(const struct choice_token *k, const struct choice_group *g);
/* Does the statement that ends before token i say no more than a letter, or only why? 1 or 0. */
int choice_is_lone(const struct choice_token *k, size_t i);

#endif
