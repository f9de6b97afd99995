#ifndef ANSWER_CHECK_CHOICE_CHOICE_WORDS_H
#define ANSWER_CHECK_CHOICE_CHOICE_WORDS_H

#include "answer_check/text/span.h"

/* What a token of an answer section does in a statement about option letters. Words of all languages share
 * these kinds, so that one set of rules reads them. For answer_check/choice only. */
enum choice_kind {
    K_OTHER, /* a word or a number that says nothing here */
    K_LETTER,
    K_LIGHT,  /* articles, auxiliaries, adverbs: stand between the others and change nothing */
    K_ANSWER, /* "answer" */
    K_OPTION, /* "option", "choice" */
    K_LIST,   /* "answers", "options": a list of the options may follow */
    K_LABEL,  /* "final", "verdict": declares with a colon */
    K_IS,
    K_ARE,
    K_IT,   /* "it", "that" before K_IS */
    K_ITIS, /* both in one word */
    K_RIGHT,
    K_FITS, /* "fits", "is true": several options may */
    K_CHOOSE,
    K_LEAVE, /* "leaving", "remains" */
    K_GIVES, /* "gives": after what was eliminated */
    K_ONLY,
    K_NOT,
    K_NEITHER, /* negates whatever else negates */
    K_WRONG,   /* adjectives and verbs that reject */
    K_FAILS,   /* verbs that reject their subject, and negations that stand behind */
    K_THAN,    /* "rather than": rejects what follows */
    K_EXCEPT,  /* "all but": rejects what follows unless the rest is rejected */
    K_BUT,     /* what follows replaces what was rejected */
    K_AND,
    K_OR,
    K_BOTH,
    K_HEDGE,
    K_WOULD, /* a hedge behind a letter, nothing before one */
    K_IF,
    K_SO,
    K_THINK,
    K_BREAK, /* "because", "which": another clause */
    K_FIX,   /* "wait", "actually": takes back */
    K_OWN,   /* "I was wrong": the same without a verdict; a token of it is a K_FIX with is_own set */
    K_REST,  /* "the others" */
    K_TOO,   /* "so is": what was said before holds of this too */
    K_PLACE, /* "figure": the letter behind it is a name */
    K_SEEMS,
    K_BOX,
    K_CHECK,
    K_CROSS,
    K_COLON,
    K_COMMA,
    K_DASH,
    K_BAR,
    K_OPEN,
    K_CLOSE,
    K_STOP,
    K_QUESTION,
    K_LINE,
    K_END
};

/* An entry is not terminated; its length counts the star of a stem. */
struct choice_entry {
    const char *word;
    unsigned length;
    char third; /* its third byte as a small letter, or 0 where a text may have another one there */
    enum choice_kind kind;
};

/* The entries by their first two bytes, capitals as small letters; the last five bits of the second one do.
 */
enum { CHOICE_ONE_BYTE = 32, CHOICE_SECONDS }; /* the class of entries of one byte, and how many classes */
struct choice_lexicon {
    struct choice_entry *entries;
    unsigned short start[256 * CHOICE_SECONDS + 1];
};
/* Returns the index of all entries, which lives as long as the program. From any thread. */
const struct choice_lexicon *choice_lexicon(void);

/* Returns the kind of the longest entry that `text` starts with, ASCII case ignored, and sets *length to its
 * bytes in the text; K_OTHER and 0 when there is none. The text comes from choice_plain() and starts at the
 * beginning of a word. */
enum choice_kind choice_word(const struct choice_lexicon *l, struct span text, size_t *length);

#endif
