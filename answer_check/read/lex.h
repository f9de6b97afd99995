#ifndef ANSWER_CHECK_READ_LEX_H
#define ANSWER_CHECK_READ_LEX_H

#include "answer_check/tree/math_tree.h"

/* Tokens of mathematical writing, for this room only. Fonts, sizes, spacing and the marks of math mode ($,
 * \(, \[, \boxed) are no tokens; they are noted on the token that follows them. */

enum token_kind {
    T_END,
    T_DIGITS,   /* a run of 0 to 9 */
    T_WORD,     /* a run of letters; read letter by letter where it is a product */
    T_NAME,     /* a symbol with a name: \alpha */
    T_CONSTANT, /* value: enum math_constant */
    T_FUNCTION, /* value: enum math_function; `s` is the word when it was written plainly */
    T_OPERATOR, /* a function that is known by its name only: \det */
    T_FRACTION, /* \frac */
    T_ROOT,     /* \sqrt; value 1 where it takes a whole number: √12 */
    T_BINOMIAL, /* \binom */
    T_INFIX,    /* {n \choose k}: value 'C'; {a \over b}: value '/' */
    T_VULGAR,   /* ½: s is "1/2" */
    T_ACCENT,   /* \overline, \hat: s is the name */
    T_SHAPE,    /* \angle, \triangle: s is the name */
    T_BIG_SUM,  /* \sum; value 1: \prod */
    T_OPAQUE,   /* \int, \lim: s is "integral", "limit" */
    T_PLUS,
    T_MINUS,
    T_PLUS_MINUS, /* value 1: \mp */
    T_TIMES,      /* value 1: \times */
    T_SLASH,
    T_MODULO, /* \bmod */
    T_PMOD,   /* \pmod */
    T_CARET,
    T_UNDERSCORE,
    T_BANG,
    T_PRIME,
    T_PERCENT,
    T_CIRC, /* ° and \circ; value 1 when it needs no ^ */
    T_CURRENCY,
    T_COMMA, /* value 1: {,}, which stands inside a number */
    T_SEMICOLON,
    T_COLON,
    T_DOT,
    T_DOTS,     /* \ldots */
    T_RELATION, /* value: enum math_op */
    T_MID,      /* such that, divides: \mid */
    T_BAR,      /* |, until math_match() has found out what it is */
    T_CUP,
    T_CAP,
    T_SETMINUS,
    T_NUMBER_SET, /* value: 'N' 'Z' 'Q' 'R' 'C' '0' */
    T_OPEN,       /* value: ( [ { S for \{, F floor, C ceiling, < \langle, | , ] for ]a,b[, . for \left. */
    T_CLOSE,      /* the same letters: ')' has '(' and so on; `match` is the partner */
    T_ROW,        /* \\ */
    T_CELL,       /* & */
    T_BEGIN,      /* \begin{s}; match: its T_FINISH */
    T_FINISH,
    T_AND, /* value 1: \land */
    T_OR,  /* value 1: \lor */
    T_NOT,
    T_QUANTIFIER, /* s: "forall", "exists" */
    T_CONDITION,  /* where, if, for, when */
    /* Commands that only change what follows them; the lexer returns no such tokens. */
    T_DROPPED,
    T_DROPPED_1, /* dropped together with its argument */
    T_SPACE,     /* value: enum token_space */
    T_TEXT_FONT,
    T_OLD_FONT, /* {\rm cm}: it holds until the end of the group */
    T_BLACKBOARD,
    T_BOX,
    T_LEFT,
    T_RIGHT,
    T_NEGATED, /* \not */
    T_VECTOR,  /* \vec, and fonts for vectors: value 1 */
};

enum token_space { SPACE_NONE, SPACE_NEGATIVE, SPACE_THIN, SPACE_BLANK, SPACE_WIDE };
enum {
    TOKEN_TEXT = 1,   /* inside \text */
    TOKEN_BOX = 2,    /* { of \boxed */
    TOKEN_PLAIN = 4,  /* a bare word with a mathematical meaning, such as "sqrt" */
    TOKEN_FIXED = 8,  /* a delimiter behind \left or \right */
    TOKEN_VECTOR = 16 /* under an arrow, or in a font for vectors */
};

struct token {
    enum token_kind kind;
    short value;
    unsigned char space; /* what stands before it */
    unsigned char flags;
    int match;   /* T_OPEN, T_CLOSE, T_BEGIN, T_FINISH: index of the partner */
    int at, end; /* where it stands in the text */
    int n;
    const char *s;
};

/* The token's s and n as a span; for most kinds its writing, else what the list above says. */
static inline struct span token_text(const struct token *t)
{
    return (struct span){t->s, (size_t)t->n};
}

/* ---- what characters, commands and words mean (lex_words.c, lex_table.c) ---- */

struct token_meaning {
    const char *name;
    enum token_kind kind;
    short value;
    const char *s; /* NULL: the name itself */
};
/* The meaning of a command, given without its backslash, and of a plain word such as "sqrt", "pi" and "or"
 * (case ignored). Returns a row of a constant table, or NULL when it is unknown. */
const struct token_meaning *math_command(struct span name);
const struct token_meaning *math_plain_word(struct span word);

/* Decodes the character at s (n > 0) into *c, -1 for invalid UTF-8, and returns its length in bytes, at
 * least 1. The functions below say what character c stands for. */
int math_character(const char *s, size_t n, int *c);
const char *math_character_command(int c); /* "pi" for U+03C0; NULL when there is none */
int math_character_ascii(int c);           /* '+' for U+FF0B; 0 when there is none */
/* Returns the character that c raises or lowers, and sets *superscript to 1 or 0; returns 0 and sets nothing
 * for any other character. */
int math_character_script(int c, int *superscript);
int math_character_is_letter(int c); /* is it a letter, a combining mark or a number such as a circled one? */

/* Is the word in the list? 1 or 0; ASCII case is ignored. */
int math_word_is_unit(struct span word);   /* a unit of two letters or more */
int math_word_is_degree(struct span word); /* deg, degree, degrees */
int math_word_announces(struct span word); /* answer, solution: only what follows it counts */
int math_word_is_prose(struct span word);  /* is, so: never a product of letters */
int math_word_is_stop(struct span word);   /* is, the, of: a text with it is a sentence, not a name */
int math_word_is_short(struct span word);  /* no, red: a word of two or three letters, not their product */

/* ---- the lexer and the brackets ---- */

/* Cuts the text into tokens, which live in the arena and point into the text; out[n] is T_END. Returns n,
 * which is 0 for a text without tokens, or -1, with nothing in *out, for invalid UTF-8, an unknown command,
 * an unclosed group, a text longer than MATH_TREE_BYTES, and when the steps are used up. */
int math_lex(struct math_work *w, struct span text, struct token **out);

/* Sets `match` of all brackets and environments among the n tokens, and turns every | and [ into what it is:
 * opening, closing, or a sign between two sides. Returns 0, or -1 when anything stays open, brackets are
 * nested deeper than MATH_TREE_DEPTH, or no steps are left; the tokens then may be half changed. */
int math_match(struct math_work *w, struct token *t, int n);

#endif
