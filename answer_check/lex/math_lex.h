#ifndef ANSWER_CHECK_LEX_MATH_LEX_H
#define ANSWER_CHECK_LEX_MATH_LEX_H

#include "answer_check/tree/math_tree.h"

/* Tokens of mathematical writing. Fonts, sizes, spacing and the marks of math mode ($, \(, \[, \boxed) are
 * no tokens; they are noted on the token that follows them. The reader (math_read*.c) sees tokens only.
 * The door of answer_check/lex, for answer_check/math. */

enum token_kind {
    T_END,
    T_DIGITS,   /* a run of 0 to 9 */
    T_WORD,     /* a run of letters; read letter by letter where it is a product */
    T_NAME,     /* a symbol with a name: \alpha */
    T_CONSTANT, /* value: enum math_constant */
    T_FUNCTION, /* value: enum math_function; `s` is the word when it was written plainly */
    T_OPERATOR, /* a function of which only the name is known: \det */
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

/* What a command (without its backslash) or a word means. The functions return NULL for one that is
 * unknown. */
struct token_meaning {
    const char *name;
    enum token_kind kind;
    short value;
    const char *s; /* NULL: the name itself */
};
const struct token_meaning *math_command(struct span name);
const struct token_meaning *math_plain_word(struct span word); /* "sqrt", "pi", "or"; case ignored */

/* Decodes the character at s (n > 0) into *c, -1 for invalid UTF-8, and returns its length in bytes, at
 * least 1. The functions below say which command or ASCII character it stands for. */
int math_character(const char *s, size_t n, int *c);
const char *math_character_command(int c);          /* "pi" for U+03C0; NULL when there is none */
int math_character_ascii(int c);                    /* '+' for U+FF0B; 0 when there is none */
int math_character_script(int c, int *superscript); /* the character that c raises or lowers, or 0 */
int math_character_is_letter(int c);

/* Cuts the text into tokens, which live in the arena; out[n] is T_END. Returns the number of tokens, or -1
 * for invalid UTF-8, unknown commands, unclosed groups, or when the steps are used up. */
int math_lex(struct math_work *w, struct span text, struct token **out);

/* Pairs the brackets and decides what each | and [ is. Returns 0, or -1 when anything stays open. */
int math_match(struct math_work *w, struct token *t, int n);

#endif
