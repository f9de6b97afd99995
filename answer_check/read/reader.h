#ifndef ANSWER_CHECK_READ_READER_H
#define ANSWER_CHECK_READ_READER_H

#include "answer_check/read/lex.h"
#include "answer_check/read/math_read.h"

/* Shared by the files of the reader (read_*.c), whose entry is math_read() in math_read.h.
 *
 * The reader is a recursive descent over tokens whose brackets are already paired. Every read_... function
 * that returns a node reads what its name says from `pos` on and leaves `pos` behind it. It returns NULL
 * where that does not stand there, or when the limits of one tree or the steps are used up; after NULL the
 * value of `pos` means nothing, so a caller that wants to try something else restores the position it
 * remembered.
 *
 * `options` decide between several meanings of a writing. The reader collects in `seen` which options would
 * make a difference for this text, and math_read() reads the text again with these options, one at a time and
 * in pairs. One choice thus holds at all places of a text. */

/* The other readings, each the opposite of the usual one, in the order in which they are tried. */
enum read_option {
    READ_INTERVAL = 1 << 0,        /* (a, b): an open interval, not a pair */
    READ_COMMA = 1 << 1,           /* 3,333: a list, not a number; for 3, 333 the other way round */
    READ_DECIMAL_COMMA = 1 << 2,   /* 3,14: one number */
    READ_LETTER_UNIT = 1 << 3,     /* 3m: metres, not m times 3 */
    READ_TIME = 1 << 4,            /* 12:30: a time, not a ratio */
    READ_NATURAL_LOG = 1 << 5,     /* \log x: base e, not 10 */
    READ_NAMES = 1 << 6,           /* AB: a product, not a name; abc: a name, not a product */
    READ_WORDS = 1 << 7,           /* a word alone: the product of its letters, or the other way round */
    READ_PRODUCT = 1 << 8,         /* f(x): f times x */
    READ_APPLICATION = 1 << 9,     /* a(n): a of n, not a times n */
    READ_SLASH = 1 << 10,          /* 1/2x: 1 over 2x, not half of x */
    READ_TEX_DIGITS = 1 << 11,     /* x^23: x^2 times 3 as TeX sets it; \sqrt12: the root of 12 */
    READ_SCIENTIFIC = 1 << 12,     /* 3e-5: 3 times 10^-5, not 3e minus 5 */
    READ_FUNCTION_SLASH = 1 << 13, /* sin x/2: how far the argument goes */
    READ_E_SYMBOL = 1 << 14,
    READ_I_SYMBOL = 1 << 15,
    READ_CHOOSE = 1 << 16, /* C_9^2, C(9, 2): a binomial coefficient */
    READ_FLOOR = 1 << 17,  /* [x]: the integer part, not a parenthesis */
    READ_OPTIONS = 18
};

struct math_reader {
    struct math_work *w;
    const struct token *t;
    struct span text;
    int64_t start; /* steps left at the beginning */
    int pos;
    int skip; /* how many letters or digits of the token at pos are already read */
    int depth;
    unsigned options, seen;
    int bound_i, bound_e; /* inside a sum over i (or e) it is a symbol, not the constant */
    int in_bracket;       /* inside ( ) and the like: commas separate there */
    int no_mid;           /* a | here means "such that", not "divides" */
    int commas;           /* number of commas in the whole text */
    int in_integral;      /* dx ends the argument of a function */
    int in_rows;          /* inside an environment, where \\ ends a row and does not separate statements */
};

enum { READ_ITEMS = 4000 }; /* elements of one list */

/* A sequence: its elements, and what stands before each. Zeroed it is empty; reader_add() appends. */
struct read_items {
    const struct math_node **node;
    enum token_kind *separator; /* T_COMMA, T_SEMICOLON, T_AND, T_OR; T_ROW for a new line */
    unsigned char *comma;       /* whether a comma stood before "or" or "and" */
    int n, cap;
    int logical; /* joined by \land or \lor: statements, whatever they look like */
};

/* ---- tools (reader.c). `from` is the first token of what a new node was read from; it ends before pos. ----
 */

const struct token *reader_token(const struct math_reader *r); /* the one at pos */
int reader_is(const struct math_reader *r, enum token_kind kind);
/* Notes that the option makes a difference for this text. Is it chosen in this reading? */
int reader_option(struct math_reader *r, enum read_option o);
void reader_next(struct math_reader *r); /* moves pos on by one token, but not behind T_END */
/* Goes one level deeper. Returns 0, after which the caller undoes it with r->depth--, or -1 when that is too
 * deep or no steps are left. */
int reader_enter(struct math_reader *r);
struct span reader_source(const struct math_reader *r, int from);
/* A leaf with a name; a node with one or two children; a function of one or two arguments (b: or NULL). */
const struct math_node *reader_named(struct math_reader *r, enum math_kind kind, int from, const char *name);
const struct math_node *reader_one(struct math_reader *r, enum math_kind kind, int from,
                                   const struct math_node *a);
const struct math_node *reader_two(struct math_reader *r, enum math_kind kind, int from,
                                   const struct math_node *a, const struct math_node *b);
const struct math_node *reader_function(struct math_reader *r, enum math_function f, int from,
                                        const struct math_node *a, const struct math_node *b);
const struct math_node *reader_integer(struct math_reader *r, const char *digits, int n);
/* The tokens from..to-1 as one name without blanks and braces; "" when no steps are left. */
const char *reader_flat(struct math_reader *r, int from, int to);
const unsigned char *reader_bytes(struct math_reader *r, const unsigned char *bytes, int n); /* a copy */
const char *reader_join_names(struct math_reader *r, const char *a, const char *b);
/* Appends an element. Returns 0, or -1 when m is NULL or the list is full. */
int reader_add(struct math_reader *r, struct read_items *list, const struct math_node *m,
               enum token_kind separator, int comma);
const struct math_node *reader_list(struct math_reader *r, enum math_kind kind, int from,
                                    const struct read_items *list);

/* ---- looking ahead, without reading (reader.c). A length is a number of tokens, 0 for none. ---- */

int read_opens_condition(const struct math_reader *r); /* a parenthesis with a relation inside */
/* "(about 18.9)", "(square units)" behind a value, which have no effect: the index of the closing token, or
 * 0. */
int read_remark(const struct math_reader *r);
int read_can_be_end(const struct math_node *m);   /* can m be the end of an interval: perhaps a number? */
int read_ratio_word(const struct math_reader *r); /* the "to" of "3 to 4" */
int read_half_of_day(const struct token *t,
                     const char **name);    /* length of "am", "p.m."; *name is am or pm */
int read_base_words(const struct token *t); /* length of "base 7", "(base 7)" behind a number */
int read_base_length(
    const struct math_reader *r); /* length of A5 in A5_{16}, the digits of a base above ten */
/* Length of the strokes behind a name or a number: ', ^\prime, ^{\prime\prime}; *n is how many strokes. */
int read_strokes_length(const struct token *t, int *n);
int read_has_vowel(struct span word); /* or a character beyond ASCII */

/* ---- statements and relations (read_statement.c, read_relation.c) ---- */

const struct math_node *read_statements(struct math_reader *r); /* everything up to the end of the group */
/* The same in pieces: the elements and what separates them. Returns 0, or -1 when they cannot be read. */
int read_items(struct math_reader *r, struct read_items *out);
const struct math_node *read_join(struct math_reader *r, int from, const struct read_items *list);
const struct math_node *read_relation(struct math_reader *r); /* one statement, or a value */

/* ---- scalars (read_sum.c, read_atom.c) ---- */

const struct math_node *read_sum(struct math_reader *r);
const struct math_node *read_product(struct math_reader *r);
const struct math_node *read_signed_product(struct math_reader *r);
const struct math_node *read_power(struct math_reader *r); /* an atom with exponents and the like */
/* The exponents, factorials and degrees behind m, which was read from token `from` on. */
const struct math_node *read_postfix(struct math_reader *r, const struct math_node *m, int from);
const struct math_node *read_script(struct math_reader *r);   /* what stands behind ^ */
int read_starts_factor(const struct math_reader *r);          /* does an operand begin here? */
const struct math_node *read_primary(struct math_reader *r);  /* an atom: a number, a name, a bracket, ... */
const struct math_node *read_argument(struct math_reader *r); /* {..} of a command, or its next token */

/* The bounds of a sum or an integral, _ and ^ in either order. Returns 0, or -1 when they cannot be read. */
struct read_bounds {
    const struct math_node *variable, *from, *to; /* i = 1 below, n above; NULL where not written */
    const struct math_node *condition;            /* anything else below */
    const char *name;                             /* the variable's */
};
int read_bounds(struct math_reader *r, struct read_bounds *b);

/* ---- numbers and names (read_number.c, read_name.c) ---- */

const struct math_node *read_number(struct math_reader *r);
/* Reads the fraction at pos, which may follow a whole number. *joined says whether both form a mixed number,
 * which is then returned; otherwise only the fraction is. */
const struct math_node *read_mixed(struct math_reader *r, const struct math_node *whole, int from,
                                   int *joined);
/* Reads the base behind digits, at the underscore of 1101_2. */
const struct math_node *read_base(struct math_reader *r, const struct math_node *digits, int from);
const struct math_node *read_based(struct math_reader *r,
                                   int tokens); /* A5_{16}: its digits are `tokens` long */
const struct math_node *read_letters(struct math_reader *r);
/* Reads what belongs to a name that is already read: subscript, strokes, arguments. plain_letter: x1 is
 * x_1. */
const struct math_node *read_name(struct math_reader *r, const char *name, int from, int plain_letter);
int read_subscript(struct math_reader *r);            /* passes over _x or _{..}; -1: there is none */
int read_is_composition(const struct math_reader *r); /* does (f \circ g)(x) stand here? */
const struct math_node *read_composition(struct math_reader *r);

/* ---- functions and calculus (read_function.c) ---- */

const struct math_node *read_function(struct math_reader *r);
const struct math_node *read_opaque(struct math_reader *r, const char *name, int from); /* integral, limit */
int read_differential_follows(const struct math_reader *r); /* dx, behind an integral sign */
int read_is_derivative(const struct math_reader *r);        /* does dy/dx stand behind \frac? */
const struct math_node *read_derivative(struct math_reader *r, int from);

/* ---- brackets and environments (read_bracket.c) ---- */

const struct math_node *read_bracket(struct math_reader *r);
const struct math_node *read_group(struct math_reader *r); /* {..} */
const struct math_node *read_environment(struct math_reader *r);
const struct math_node *read_cases(struct math_reader *r, int from); /* at \begin */

/* ---- words and units (read_word.c, read_unit.c) ---- */

int read_is_word(const struct token *t); /* could the token stand in prose? */
/* How many words from pos on are no mathematics, and the same as a MATH_TEXT. */
int read_phrase_length(struct math_reader *r);
const struct math_node *read_phrase(struct math_reader *r, int n);
/* The tokens from..to-1 as text in lower case with single blanks, without punctuation at the ends. */
const char *read_folded(struct math_reader *r, int from, int to);
/* Reads the whole text of n tokens when it consists of words only: a sentence or a name with a number, with
 * `last_resort` any words. */
const struct math_node *read_prose(struct math_reader *r, int n, int last_resort);
/* Reads percent signs, units, currencies and ordinals behind the value m, which may have none. */
const struct math_node *read_marks(struct math_reader *r, const struct math_node *m, int from);
int read_unit_follows(struct math_reader *r, const struct math_node *m, int from);
const struct math_node *read_named_mark(struct math_reader *r, enum math_kind kind, int from,
                                        const char *name, const struct math_node *value);
int read_ordinal_length(const struct token *t); /* length of "th", "^{th}" */

#endif
