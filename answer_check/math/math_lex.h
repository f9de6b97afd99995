#ifndef ANSWER_CHECK_MATH_MATH_LEX_H
#define ANSWER_CHECK_MATH_MATH_LEX_H

#include "answer_check/math/math_tree.h"

/* Tokens of mathematical writing. Fonts, sizes, spacing and the marks of math mode ($, \(, \[, \boxed) are no
 * tokens: they leave a mark on the token behind them. The reader (math_read*.c) sees tokens only. */

enum token_kind {
    T_END,
    T_DIGITS,   /* 0-9, one run */
    T_WORD,     /* letters, one run; read letter by letter where it is a product */
    T_NAME,     /* a symbol with a name: \alpha */
    T_CONSTANT, /* value: enum math_constant */
    T_FUNCTION, /* value: enum math_function; `s` is the word when it was written plainly */
    T_OPERATOR, /* a function known by its name only: \det */
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
    T_TIMES,
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
    T_BAR,      /* | until math_match has told what it is */
    T_CUP,
    T_CAP,
    T_SETMINUS,
    T_NUMBER_SET, /* value: 'N' 'Z' 'Q' 'R' 'C' '0' */
    T_OPEN,       /* value: ( [ { S for \{, F floor, C ceiling, < \langle, | , ] for ]a,b[, . for \left. */
    T_CLOSE,      /* the same letters: ) is '(' and so on; match holds the partner */
    T_ROW,        /* \\ */
    T_CELL,       /* & */
    T_BEGIN,      /* \begin{s}; match: its T_FINISH */
    T_FINISH,
    T_AND,
    T_OR,
    T_NOT,
    T_QUANTIFIER, /* s: "forall", "exists" */
    T_CONDITION,  /* where, if, for, when */
    /* Commands that only change what follows; they never leave the lexer. */
    T_DROPPED,
    T_DROPPED_1, /* with its argument */
    T_SPACE,     /* value: enum token_space */
    T_TEXT_FONT,
    T_OLD_FONT, /* {\rm cm}: until the end of the group */
    T_BLACKBOARD,
    T_BOX,
    T_LEFT,
    T_RIGHT,
    T_NEGATED, /* \not */
};

enum token_space { SPACE_NONE, SPACE_NEGATIVE, SPACE_THIN, SPACE_BLANK, SPACE_WIDE };
enum {
    TOKEN_TEXT = 1,  /* inside \text */
    TOKEN_BOX = 2,   /* { of \boxed */
    TOKEN_PLAIN = 4, /* a bare word that mathematics knows */
    TOKEN_FIXED = 8  /* a delimiter behind \left or \right */
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

/* What a command (without its backslash) or a word is; kind T_END when it is none. */
struct token_meaning {
    const char *name;
    enum token_kind kind;
    short value;
    const char *s; /* NULL: the name itself */
};
const struct token_meaning *math_command(struct span name);
const struct token_meaning *math_plain_word(struct span word); /* "sqrt", "pi", "or"; case ignored */

/* Decodes the character at s: its length in bytes (at least 1), and the command it is written for, ASCII it
 * stands for, or neither. *c is -1 for invalid UTF-8. */
int math_character(const char *s, size_t n, int *c);
const char *math_character_command(int c);          /* "pi" for U+03C0; NULL when there is none */
int math_character_ascii(int c);                    /* '+' for U+FF0B; 0 when there is none */
int math_character_script(int c, int *superscript); /* the character that is raised or lowered, or 0 */
int math_character_is_letter(int c);

/* Cuts the text into tokens; out[n] is T_END. Returns the number of tokens, or -1 (invalid UTF-8, unknown
 * commands, unclosed groups, no steps). */
int math_lex(struct math_work *w, struct span text, struct token **out);

/* Pairs the brackets and tells what each | and [ is. -1 when anything stays open. */
int math_match(struct math_work *w, struct token *t, int n);

#endif
