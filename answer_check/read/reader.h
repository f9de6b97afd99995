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
 * remembered. A function that makes a node from others also returns NULL when one of them is NULL. Functions
 * whose comment is a question return 1 or 0 and read nothing. Nodes and strings live in the arena of w.
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

/* The token at pos, never NULL; a T_END at the end. */
static inline const struct token *reader_token(const struct math_reader *r)
{
    return &r->t[r->pos];
}

/* Is the token at pos of that kind? */
static inline int reader_is(const struct math_reader *r, enum token_kind kind)
{
    return r->t[r->pos].kind == kind;
}

/* Moves pos on by one token, but not behind T_END. */
static inline void reader_next(struct math_reader *r)
{
    r->skip = 0;
    if (r->t[r->pos].kind != T_END)
        r->pos++;
}

/* Notes in `seen` that the option makes a difference for this text. Returns 1 when it is chosen in this
 * reading, else 0. */
int reader_option(struct math_reader *r, enum read_option o);
/* Goes one level deeper. Returns 0, after which the caller undoes it with r->depth--, or -1 when that is too
 * deep or no steps are left. */
int reader_enter(struct math_reader *r);
/* The writing from token `from` to what was read last; empty when nothing was read since. */
struct span reader_source(const struct math_reader *r, int from);
/* A leaf with a name; a node with one or two children; a function of one or two arguments (b: NULL for one
 * argument). They return NULL when a (or b of reader_two()) is NULL or no steps are left. */
const struct math_node *reader_named(struct math_reader *r, enum math_kind kind, int from, const char *name);
const struct math_node *reader_one(struct math_reader *r, enum math_kind kind, int from,
                                   const struct math_node *a);
const struct math_node *reader_two(struct math_reader *r, enum math_kind kind, int from,
                                   const struct math_node *a, const struct math_node *b);
const struct math_node *reader_function(struct math_reader *r, enum math_function f, int from,
                                        const struct math_node *a, const struct math_node *b);
/* A whole number of n digits, leading zeros dropped, whose source is the token at pos; NULL when no steps are
 * left. `digits` is not copied. */
const struct math_node *reader_integer(struct math_reader *r, const char *digits, int n);
/* The tokens from..to-1 as one name without blanks and braces; "" when no steps are left. */
const char *reader_flat(struct math_reader *r, int from, int to);
const unsigned char *reader_bytes(struct math_reader *r, const unsigned char *bytes, int n); /* a copy */
/* a and b as one new string. */
const char *reader_join_names(struct math_reader *r, const char *a, const char *b);
/* Appends an element. Returns 0, or -1 when m is NULL or the list is full. */
int reader_add(struct math_reader *r, struct read_items *list, const struct math_node *m,
               enum token_kind separator, int comma);
/* A node of that kind with the elements of the list as its children; NULL when no steps are left. */
const struct math_node *reader_list(struct math_reader *r, enum math_kind kind, int from,
                                    const struct read_items *list);

/* ---- looking ahead, without reading (reader.c). A length is a number of tokens, 0 for none. ---- */

int read_opens_condition(const struct math_reader *r); /* a parenthesis with a relation inside */
/* Returns the index of the closing token when a remark without effect stands at pos, as "(about 18.9)" or
 * "(square units)" behind a value, else 0. */
int read_remark(const struct math_reader *r);
int read_can_be_end(const struct math_node *m);   /* can m be the end of an interval: perhaps a number? */
int read_ratio_word(const struct math_reader *r); /* the "to" of "3 to 4": between digits and blanks? */
int read_half_of_day(const struct token *t,
                     const char **name); /* length of "am", "p.m."; *name is "am" or "pm" where it is not 0 */
int read_base_words(const struct token *t); /* length of "base 7", "(base 7)" behind a number */
int read_base_length(
    const struct math_reader *r); /* length of A5 in A5_{16}, the digits of a base above ten */
/* Length of the strokes behind a name or a number: ', ^\prime, ^{\prime\prime}; *n is how many strokes, 0
 * when there are none. */
int read_strokes_length(const struct token *t, int *n);
int read_has_vowel(struct span word); /* has the word a vowel, y included, or a character beyond ASCII? */

/* ---- statements and relations (read_statement.c, read_relation.c) ---- */

const struct math_node *read_statements(struct math_reader *r); /* everything up to the end of the group */
/* The same in pieces: appends the elements and what separates them to *out, which the caller zeroes. Returns
 * 0, or -1 when they cannot be read; *out then means nothing. */
int read_items(struct math_reader *r, struct read_items *out);
/* Joins the pieces to one node: the only element itself, else a list, or statements joined by "and" or "or".
 * NULL where they cannot stand together. */
const struct math_node *read_join(struct math_reader *r, int from, const struct read_items *list);
const struct math_node *read_relation(struct math_reader *r); /* one statement, or a value */

/* ---- scalars (read_sum.c, read_atom.c) ---- */

/* A sum; a product of factors with their marks; a product behind at most one minus sign. */
const struct math_node *read_sum(struct math_reader *r);
const struct math_node *read_product(struct math_reader *r);
const struct math_node *read_signed_product(struct math_reader *r);
const struct math_node *read_power(struct math_reader *r); /* an atom with exponents and the like */
/* m with the exponents, factorials and degrees behind it, or m itself where there are none. m was read from
 * token `from` on; NULL gives NULL. */
const struct math_node *read_postfix(struct math_reader *r, const struct math_node *m, int from);
const struct math_node *read_script(struct math_reader *r);   /* what stands behind ^ */
int read_starts_factor(const struct math_reader *r);          /* does an operand begin here? */
const struct math_node *read_primary(struct math_reader *r);  /* an atom: a number, a name, a bracket, ... */
const struct math_node *read_argument(struct math_reader *r); /* {..} of a command, or its next token */

/* Reads the bounds of a sum or an integral, _ and ^ in either order, into *b, which the caller zeroes.
 * Returns 0, also where none are written, or -1 when they cannot be read. */
struct read_bounds {
    const struct math_node *variable, *from, *to; /* i = 1 below, n above; NULL where not written */
    const struct math_node *condition;            /* anything else below */
    const char *name;                             /* the variable's */
};
int read_bounds(struct math_reader *r, struct read_bounds *b);

/* ---- numbers and names (read_number.c, read_name.c) ---- */

/* A number with its exponent and base, a mixed number in plain writing, or the rest of a run of digits. */
const struct math_node *read_number(struct math_reader *r);
/* Reads the fraction at pos, which may follow a whole number. Where both form a mixed number, it returns
 * their sum and sets *joined to 1; otherwise it returns the fraction only and leaves *joined as it was. */
const struct math_node *read_mixed(struct math_reader *r, const struct math_node *whole, int from,
                                   int *joined);
/* Reads the base behind digits, at the underscore of 1101_2. Returns a MATH_BASE of the digits. */
const struct math_node *read_base(struct math_reader *r, const struct math_node *digits, int from);
const struct math_node *read_based(struct math_reader *r,
                                   int tokens); /* A5_{16}: its digits are `tokens` long */
/* Reads a name, or one letter of a run that is a product. NULL for words of prose. */
const struct math_node *read_letters(struct math_reader *r);
/* Reads what belongs to a name that is already read: subscript, strokes, arguments. Returns the symbol, or
 * the function applied to its arguments. plain_letter: x1 is x_1. */
const struct math_node *read_name(struct math_reader *r, const char *name, int from, int plain_letter);
int read_subscript(struct math_reader *r);            /* passes over _x or _{..}: 0; -1: there is none */
int read_is_composition(const struct math_reader *r); /* does (f \circ g)(x) stand here? */
const struct math_node *read_composition(struct math_reader *r); /* reads it, as f(g(x)) */

/* ---- functions and calculus (read_function.c) ---- */

/* A function at its token, with subscript, exponent and arguments; the name alone where nothing follows. */
const struct math_node *read_function(struct math_reader *r);
/* What stands behind \int (up to the end of the sum) or \lim (up to the end of the product); `name` is the
 * token's s, "integral" or "limit". */
const struct math_node *read_opaque(struct math_reader *r, const char *name, int from);
int read_differential_follows(const struct math_reader *r); /* does dx stand here, inside an integral? */
int read_is_derivative(const struct math_reader *r);        /* does dy/dx stand behind \frac? */
/* Reads dy/dx behind \frac, as a name, or d/dx and the product that it is applied to. */
const struct math_node *read_derivative(struct math_reader *r, int from);

/* ---- brackets and environments (read_bracket.c) ---- */

/* What a bracket at pos means: a parenthesis' content, a tuple, set, interval, absolute value and so on. */
const struct math_node *read_bracket(struct math_reader *r);
/* The content of {..}; a set where commas or semicolons separate it, except in \boxed. */
const struct math_node *read_group(struct math_reader *r);
/* An environment at its \begin: layout, cases, a matrix or a determinant. NULL for any other. */
const struct math_node *read_environment(struct math_reader *r);
const struct math_node *read_cases(struct math_reader *r, int from); /* an environment of cases, at \begin */

/* ---- words and units (read_word.c, read_unit.c) ---- */

int read_is_word(const struct token *t); /* could the token stand in prose? */
/* read_phrase_length() returns how many tokens from pos on are words and no mathematics, 0 for none and when
 * no steps are left; read_phrase() reads n tokens as a MATH_TEXT. */
int read_phrase_length(struct math_reader *r);
const struct math_node *read_phrase(struct math_reader *r, int n);
/* The tokens from..to-1 as text in lower case, with a single blank where the source has space; "" when no
 * steps are left. Points, commas, colons, semicolons, "!", primes, quotation marks and minus signs at the
 * ends are left out: "-5" becomes "5". */
const char *read_folded(struct math_reader *r, int from, int to);
/* Reads the whole text of n tokens, wherever pos is, when it consists of words only: a sentence or a name
 * with a number, with `last_resort` any words. Returns NULL for any other text. */
const struct math_node *read_prose(struct math_reader *r, int n, int last_resort);
/* Reads percent signs, units, currencies and ordinals behind the value m, which was read from `from` on.
 * Returns m itself where there are none, and NULL for NULL. */
const struct math_node *read_marks(struct math_reader *r, const struct math_node *m, int from);
/* Does a unit, an ordinal or the words of a base stand behind m? 0 also for NULL. */
int read_unit_follows(struct math_reader *r, const struct math_node *m, int from);
/* A node of that kind with the name, around the value; NULL when value is NULL or no steps are left. */
const struct math_node *read_named_mark(struct math_reader *r, enum math_kind kind, int from,
                                        const char *name, const struct math_node *value);
int read_ordinal_length(const struct token *t); /* length of "th", "^{th}", 0 for none */

#endif
